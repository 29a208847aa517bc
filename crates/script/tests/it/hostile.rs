//! Texts made to exhaust the stack or the memory: each ends with a program or a reason. A process that
//! lives to report it is the assertion.

use codecell_script::{Language, MAX_SOURCE_BYTES, PrepareOptions, ScriptError, prepare};

/// Repeats `open` and `close` around `middle` up to a length in bytes.
fn nested(open: &str, middle: &str, close: &str, bytes: usize) -> String {
    let depth = (bytes - middle.len()) / (open.len() + close.len());
    format!("{}{middle}{}", open.repeat(depth), close.repeat(depth))
}

/// Every way that is known to make a parser recurse: what opens, the middle, what closes.
const SHAPES: &[(&str, &str, &str)] = &[
    ("(", "1", ")"),
    ("(", "", ""),
    ("[", "", "]"),
    ("[", "", ""),
    ("{", "", "}"),
    ("{", "", ""),
    ("!", "1", ""),
    ("- ", "1", ""),
    ("typeof ", "1", ""),
    ("await ", "1", ""),
    ("new ", "a", ""),
    ("a=>", "1", ""),
    ("(a)=>", "1", ""),
    ("async a=>", "1", ""),
    ("async(", "1", ")"),
    ("(a=", "1", ")"),
    ("(a=(b", "1", "))"),
    ("a?b:", "1", ""),
    ("a?", "1", ":b"),
    ("a?(b):", "1", ""),
    ("x.", "x", ""),
    ("x?.", "x", ""),
    ("x()+", "x", ""),
    ("", "x", "()"),
    ("", "x", "``"),
    ("", "x", "[0]"),
    ("a+", "a", ""),
    ("a**", "a", ""),
    ("a&&", "a", ""),
    ("a??", "a", ""),
    ("a in ", "a", ""),
    ("a=", "a", ""),
    ("a,", "a", ""),
    ("if(1)", ";", ""),
    ("if(1);else ", ";", ""),
    ("while(1)", ";", ""),
    ("do ", ";", ""),
    ("for(;;)", ";", ""),
    ("with(a)", ";", ""),
    ("try{", "", "}finally{}"),
    ("a:", ";", ""),
    ("`${", "1", "}`"),
    ("`${", "", ""),
    ("function f(){", "", "}"),
    ("class A{m(){", "", "}}"),
    ("class extends ", "a", "{}"),
    ("({a:", "1", "})"),
    ("f(", "", ")"),
    ("f({a:[", "", "]})"),
    ("[...", "1", "]"),
    ("let[a=", "1", "]=1"),
    ("/*", "", "*/"),
    ("//", "", "\n"),
    ("/[(/", "", ""),
    ("'(", "", "'"),
    ("<!--", "", "\n"),
    ("f<", "a", ">()"),
    ("f<", "", ""),
    ("a<(", "", ""),
    ("<A>", "x", ""),
    ("x as ", "any", ""),
    ("", "x", " as any"),
    ("", "x", "!"),
    ("let x:A<", "B", ">"),
    ("type A=A<", "B", ">"),
    ("type A=keyof ", "B", ""),
    ("type A=", "B", "[]"),
    ("type A=()=>", "B", ""),
    ("type A=(a:", "B", ")=>B"),
    ("type A=A extends B?C:", "B", ""),
    ("type A={a:", "B", "}"),
    ("type A=[", "B", "]"),
    ("type A=`${", "B", "}`"),
    ("type A=(", "B", ")"),
    ("namespace A{", "", "}"),
    ("namespace A.", "A{}", ""),
    ("(a:b)=>", "1", ""),
    ("(a=(b):c=>", "1", ")"),
    ("a?(b):c=>", "1", ""),
    ("<T>(a)=>", "1", ""),
    ("enum A{a=1}", "", ""),
    ("enum A{a=", "1", "}"),
    ("@a ", "class A{}", ""),
    ("<a>", "", "</a>"),
];

#[test]
fn no_nesting_overflows_the_stack() {
    for language in [None, Some(Language::TypeScript)] {
        for (open, middle, close) in SHAPES {
            for bytes in [4_000, MAX_SOURCE_BYTES] {
                let text = nested(open, middle, close, bytes);
                let options = PrepareOptions {
                    language,
                    ..PrepareOptions::default()
                };
                if let Err(error) = prepare(&text, &options) {
                    assert!(
                        !error.kind().is_empty() && error.to_string().len() < 2000,
                        "{error}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_small_stack_is_enough_for_the_caller() {
    let work = || {
        for (open, middle, close) in SHAPES {
            let _ = prepare(
                &nested(open, middle, close, 30_000),
                &PrepareOptions::default(),
            );
        }
    };
    // What an async runtime gives its workers.
    std::thread::Builder::new()
        .stack_size(2 * 1024 * 1024)
        .spawn(work)
        .unwrap()
        .join()
        .unwrap();
}

#[test]
fn the_source_limit_is_exact() {
    let options = PrepareOptions {
        max_source_bytes: 100,
        ..PrepareOptions::default()
    };
    let inside = format!("return 1;{}", " ".repeat(91));
    assert!(prepare(&inside, &options).is_ok());
    let beyond = format!("{inside} ");
    assert_eq!(
        prepare(&beyond, &options).unwrap_err(),
        ScriptError::TooLarge {
            bytes: 101,
            max: 100
        }
    );
}

#[test]
fn a_large_honest_program_is_accepted() {
    let line = "const v0 = await tools.read({ path: `a/${n}.txt`, limit: (n + 1) * 2 }); if (v0 && n / 2 > 3) text(v0);\n";
    let block = format!("for (const n of [1, 2, 3]) {{\n{}}}\n", line.repeat(20));
    let text = block.repeat(MAX_SOURCE_BYTES / block.len());
    let program = prepare(&text, &PrepareOptions::default()).unwrap();
    assert_eq!(program.body, text);
}
