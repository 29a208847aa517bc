//! Bounds of the TypeScript transform, which runs on the host.

use std::time::Instant;

use codecell_codemode::CodeModeOptions;
use codecell_protocol::Language;

use super::super::house::text_of;
use super::super::run::{Scene, resident_bytes};
use super::{check, driven};

/// The transform may take 500 ms; this is a build without optimisation on a busy machine.
const PATIENCE_SECONDS: u64 = 30;

driven! {
    "L/bounds/wide": wide,
    "L/bounds/deep": deep,
    "L/generics/deep-types": deep_types,
    "L/enums/one-after-another": enums,
}

/// Sends texts of the greatest length; each is refused or runs, in bounded time and memory.
async fn bounded(scene: &Scene, texts: Vec<String>) -> Result<(), String> {
    let visit = scene.house.visit(CodeModeOptions::default())?;
    let before = resident_bytes();
    for text in texts {
        let started = Instant::now();
        let outcome = visit.exec_as(&text, Some(Language::TypeScript)).await;
        let elapsed = started.elapsed();
        let head: String = text.chars().take(40).collect();
        check(elapsed.as_secs() < PATIENCE_SECONDS, || {
            format!("{head}: {elapsed:?}")
        })?;
        let answer = text_of(&outcome);
        check(answer.len() < 80 << 10, || format!("{head}: a long answer"))?;
        check(!answer.contains("\"kind\":\"internal\""), || {
            format!("{head}: {answer}")
        })?;
    }
    let grown = resident_bytes().saturating_sub(before);
    check(grown < 256 << 20, || format!("{} MiB more", grown >> 20))?;
    visit.end();
    Ok(())
}

const ROOM: usize = 255 << 10;

fn repeated(part: &str) -> String {
    part.repeat(ROOM / part.len())
}

async fn wide(scene: &Scene) -> Result<(), String> {
    let parts = [
        "type A = string;\n",
        "interface I { a: 1 }\n",
        "declare const d: number;\n",
        "let x = 1 as any as number;\n",
        "(<T,>(a: T) => a)!;\n",
        "abstract class C<T> { private constructor(public a: T) {} }\n",
    ];
    bounded(scene, parts.iter().map(|part| repeated(part)).collect()).await
}

async fn deep(scene: &Scene) -> Result<(), String> {
    let nested = |open: &str, middle: &str, close: &str, levels: usize| {
        format!("{}{middle}{}", open.repeat(levels), close.repeat(levels))
    };
    let texts = vec![
        nested("namespace N { export ", "const a = 1", " }", 5000),
        nested("(a: any) => ", "1", "", 20_000),
        nested("{ class A { m() ", "{}", "} }", 8000),
        repeated("<"),
        repeated("a as b as "),
        repeated("x ? (y) : "),
    ];
    bounded(scene, texts).await
}

async fn deep_types(scene: &Scene) -> Result<(), String> {
    let nested = |open: &str, middle: &str, close: &str| {
        let levels = ROOM / (open.len() + close.len()) - 64;
        let inner = format!("{}{middle}{}", open.repeat(levels), close.repeat(levels));
        format!("type T = {inner}; return 1")
    };
    let texts = vec![
        nested("Array<", "1", ">"),
        nested("[", "1", "]"),
        nested("{ a: ", "1", "}"),
        nested("(", "1", ")"),
        nested("A extends B ? ", "1", " : 2"),
        format!("type T = 0{}; return 1", " | 1".repeat(ROOM / 4 - 16)),
    ];
    bounded(scene, texts).await
}

async fn enums(scene: &Scene) -> Result<(), String> {
    let members: String = (0..18_000).map(|n| format!("M{n} = {n},")).collect();
    let texts = vec![
        format!("enum E {{ {members} }} return E.M1"),
        repeated("enum E { A = 1 << 2, B = A | 3, C = 'x'.length }\n"),
        repeated("const enum C { A = `a` }\n"),
    ];
    bounded(scene, texts).await
}
