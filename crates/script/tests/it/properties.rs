//! Random texts and random edits: never a panic, never a moved token.

use codecell_script::{Language, LanguageSet, PrepareOptions, frame, prepare, strip_types};
use proptest::prelude::*;

const SEEDS: &[&str] = &[
    include_str!("texts/accepted.txt"),
    include_str!("texts/typescript.txt"),
    include_str!("texts/wrapper.txt"),
    include_str!("texts/modules.txt"),
];

const PIECES: &[&str] = &[
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    "`",
    "${",
    "'",
    "\"",
    "/",
    "//",
    "/*",
    "*/",
    "<!--",
    "-->",
    "\n",
    "\u{2028}",
    "=>",
    "async ",
    "await ",
    "function ",
    "class ",
    "enum E { A, B = 'x' }",
    "namespace N { export let a = 1 }",
    "as any",
    "!",
    "?",
    ":",
    ": number",
    "<T>",
    "declare ",
    "abstract ",
    "public ",
    "import ",
    "export ",
    "require('x')",
    "interface I {}",
    ";",
    ",",
    "é",
    "😀",
    "return ",
    "x",
    "1",
    "=",
    "@",
    "#",
    "\\",
    "type T = 1",
];

fn program() -> impl Strategy<Value = String> {
    let seeds: Vec<&'static str> = SEEDS
        .iter()
        .flat_map(|seed| seed.split("=====\n"))
        .collect();
    let edits = prop::collection::vec(
        (
            any::<prop::sample::Index>(),
            0..6usize,
            prop::sample::select(PIECES),
        ),
        0..5,
    );
    (prop::sample::select(seeds), edits).prop_map(|(seed, edits)| {
        let mut chars: Vec<char> = seed.chars().collect();
        for (at, cut, piece) in edits {
            let start = at.index(chars.len() + 1);
            let end = (start + cut).min(chars.len());
            chars.splice(start..end, piece.chars());
        }
        chars.into_iter().collect()
    })
}

/// Words of a text with their line and UTF-16 column.
fn words(text: &str) -> Vec<(String, usize, usize)> {
    let mut out = Vec::new();
    for (line, content) in text.split('\n').enumerate() {
        let mut column = 0;
        let mut word = String::new();
        for c in content.chars().chain([' ']) {
            if c.is_alphanumeric() || c == '_' || c == '$' {
                word.push(c);
            } else if !word.is_empty() {
                out.push((std::mem::take(&mut word), line, column));
            }
            column += c.len_utf16();
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn edited_programs_end_with_a_program_or_a_reason(text in program()) {
        for language in [None, Some(Language::JavaScript), Some(Language::TypeScript)] {
            let options = PrepareOptions { language, allowed: LanguageSet::ALL, ..PrepareOptions::default() };
            match prepare(&text, &options) {
                Ok(program) => {
                    let unit = program.compile_unit();
                    let wrapped = unit.starts_with("(async function(){") && unit.ends_with("})");
                    prop_assert!(wrapped, "not wrapped");
                    prop_assert_eq!(program.body.matches('\n').count(), text.matches('\n').count());
                    if program.language == Language::JavaScript {
                        prop_assert_eq!(program.body.len(), text.len());
                        let moved = words(&program.body).into_iter().find(|word| !words(&text).contains(word));
                        prop_assert_eq!(moved, None);
                    }
                }
                Err(error) => {
                    let drives_terminal = error.to_string().chars().any(char::is_control);
                    prop_assert!(!drives_terminal, "a control character in {}", error);
                }
            }
        }
    }

    #[test]
    fn blanking_moves_no_word(text in program()) {
        // Enums, namespaces and parameter properties insert code; everything else only takes away.
        let inserts = ["enum", "namespace", "module", "constructor", "import"].iter().any(|word| text.contains(word));
        // A lone string that a cast made an expression gets parentheses, lest it become a directive.
        let string_cast = text.contains(['"', '\'']) && ["as ", "!", "satisfies", "<"].iter().any(|cast| text.contains(cast));
        if let (false, Ok(javascript)) = (inserts || string_cast, strip_types(&text)) {
            let before = words(&text);
            let moved = words(&javascript).into_iter().find(|word| !before.contains(word));
            prop_assert_eq!(moved, None, "{}", javascript);
        }
    }

    #[test]
    fn frames_stay_in_two_rows(text in "\\PC{0,300}|[\\x00-\\x1f\u{202e}a]{0,50}", line in 0..9u32, column in 0..400u32) {
        let drawn = frame(&text, line, column);
        prop_assert_eq!(drawn.lines().count(), 2);
        prop_assert!(!drawn.chars().any(|c| c.is_control() && c != '\n'));
        prop_assert!(drawn.chars().count() < 1600);
    }
}
