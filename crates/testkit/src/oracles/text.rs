//! Texts that a model sends.

use codecell_script::{LanguageSet, PrepareOptions, ScriptError, prepare};

use super::text_of;

/// A text becomes one function expression with as many lines, or an error that a terminal can show,
/// at a place that the text has.
///
/// # Panics
/// When it is otherwise.
pub fn typescript(bytes: &[u8]) {
    let text = text_of(bytes);
    for language in [
        None,
        Some(codecell_script::Language::JavaScript),
        Some(codecell_script::Language::TypeScript),
    ] {
        let options = PrepareOptions {
            language,
            allowed: LanguageSet::ALL,
            ..PrepareOptions::default()
        };
        match prepare(&text, &options) {
            Ok(program) => {
                let unit = program.compile_unit();
                assert!(
                    unit.starts_with("(async function(){") && unit.ends_with("})"),
                    "{unit}"
                );
                let lines = |text: &str| text.matches('\n').count();
                assert_eq!(lines(&program.body), lines(&text), "lines moved");
            }
            Err(error) => {
                let shown = error.to_string();
                assert!(
                    !shown.chars().any(char::is_control),
                    "a control character in {shown}"
                );
            }
        }
    }
}

/// Ways to ask for a module; `~` stands for white space or a comment.
const ACCESSES: &[&str] = &[
    "import~(~'fs'~)",
    "import~(~`fs`~)",
    "import~(~name~)",
    "await ~import~(~'fs'~)",
    "require~(~'fs'~)",
    "import~.~meta",
    "import~.~meta~.~url",
    "(~import~(~'fs'~)~)",
    "[~...~await ~import~(~'fs'~)~]",
];

/// Expressions around an expression, which is `@`.
const AROUND: &[&str] = &[
    "@",
    "`${~@~}`",
    "({ [~@~]: 1 })",
    "({ a:~@~})",
    "(() =>~(@)~)()",
    "(async (a =~@~) => a)()",
    "(class { static a =~@~ })",
    "(class { [~@~]() {} })",
    "f(~@~)",
    "(a ?~@~: 1)",
    "(x ??~(@))",
    "tools.echo({ a: [~@~] })",
    "/a/.test(~@~)",
];

/// Statements around an expression.
const STATEMENTS: &[&str] = &[
    "return ~@",
    "const a =~@~;return a",
    "if (~@~) {}",
    "for (const a of [~@~]) {}",
    "void ~@",
    "label: { x(~@~) }",
    "try { throw ~@~} catch {}",
    "switch (1) { case ~@~: }",
    "x = y ??~(@)",
    "class A { static a =~@~ }",
];

/// Where the same words are harmless; `@` is the text.
const HARMLESS: &[&str] = &[
    "return '@'",
    "return \"@\"",
    "// @\nreturn 1",
    "/* @ */ return 1",
    "return 1 // @",
];

/// What may stand between two tokens.
const GAPS: &[&str] = &[
    "", " ", "\t", "\n", "/**/", "/* ) */", "//x\n", "\u{a0}", "\u{feff}", "\u{2028}",
];

/// A request for a module is refused wherever it stands and however it is spaced; the same words in
/// strings and comments are accepted. The bytes choose.
///
/// # Panics
/// When it is otherwise.
pub fn module_access(bytes: &[u8]) {
    let mut choices = bytes.iter().map(|byte| usize::from(*byte));
    let mut choose = |among: usize| choices.next().unwrap_or(0) % among;
    let access = ACCESSES[choose(ACCESSES.len())];
    let mut text = access.to_owned();
    for _ in 0..choose(3) {
        text = AROUND[choose(AROUND.len())].replace('@', &text);
    }
    let text = STATEMENTS[choose(STATEMENTS.len())].replace('@', &text);
    let mut spaced = String::new();
    for c in text.chars() {
        if c == '~' {
            spaced.push_str(GAPS[choose(GAPS.len())]);
        } else {
            spaced.push(c);
        }
    }
    match prepare(&spaced, &PrepareOptions::default()) {
        Ok(program) => panic!("accepted: {spaced:?} as {:?}", program.body),
        Err(
            ScriptError::ModuleAccess { .. }
            | ScriptError::Syntax { .. }
            | ScriptError::TypeScript { .. },
        ) => {}
        Err(other) => panic!("{spaced:?}: {other}"),
    }
    let harmless = HARMLESS[choose(HARMLESS.len())];
    let words = access.replace(['~', '\'', '`'], "");
    let text = harmless.replace('@', &words);
    if let Err(error) = prepare(&text, &PrepareOptions::default()) {
        panic!("refused: {text:?}: {error}");
    }
}
