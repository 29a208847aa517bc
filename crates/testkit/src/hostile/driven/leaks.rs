//! What one run leaves where another could find it.

use codecell_codemode::CodeModeOptions;
use codecell_protocol::FailureKind;

use super::super::house::{text_of, waiting_id};
use super::super::judge::shown;
use super::super::run::Scene;
use super::{check, driven};

driven! {
    "P/errors/refused-inputs": refused_inputs,
    "P/errors/paths-and-environment": paths_and_environment,
    "P/logs/secrets-in-arguments": secrets_in_arguments,
    "P/logs/secrets-in-failures": secrets_in_failures,
    "P/snapshots/saved-results-of-another": saved_of_another,
    "P/snapshots/references-of-another": references_of_another,
    "P/memory/after-an-end": after_an_end,
    "P/memory/after-a-stop": after_a_stop,
}

/// Fails if the text shows where this process lives.
fn shows_nothing_of_the_machine(text: &str) -> Result<(), String> {
    let here = std::env::current_dir().map_err(|error| error.to_string())?;
    let build = std::env::current_exe().map_err(|error| error.to_string())?;
    let places = [Some(here.as_path()), build.parent()];
    for place in places.into_iter().flatten() {
        let place = place.display().to_string();
        check(place.len() < 2 || !text.contains(&place), || {
            format!("{place} in {text}")
        })?;
    }
    for word in [
        "/rustc/",
        ".cargo/registry",
        "crates/",
        "src/lib.rs",
        "panicked at",
        "0x7f",
    ] {
        check(!text.contains(word), || format!("{word} in {text}"))?;
    }
    Ok(())
}

async fn refused_inputs(scene: &Scene) -> Result<(), String> {
    let visit = scene.house.visit(CodeModeOptions::default())?;
    let texts = [
        "",
        "return (",
        "import 'x'",
        "require('fs')",
        "ls -la",
        "import os",
        "\u{0}",
        "enum",
        "return await import('/etc/passwd')",
    ];
    for text in texts {
        let answer = text_of(&visit.exec(text).await);
        shows_nothing_of_the_machine(&answer)?;
        check(!scene.canaries.seen_in(&answer), || answer.clone())?;
    }
    visit.end();
    Ok(())
}

async fn paths_and_environment(scene: &Scene) -> Result<(), String> {
    let visit = scene.house.visit(CodeModeOptions::default())?;
    let codes = [
        "throw new Error('x')",
        "null.x",
        "const f = () => f(); f()",
        "return new Error('x').stack",
        "try { await tools.fail({}) } catch (e) { return [e.stack, String(e), JSON.stringify(e), Object.getOwnPropertyNames(e).map(k => String(e[k]))] }",
        "try { await tools.panic_w({}) } catch (e) { return [e.stack, e.message, e.code] }",
        "try { await tools.call('nope') } catch (e) { return [e.stack, e.message] }",
        "return [text, tools.call, setTimeout, crypto.randomUUID, Array].map(String)",
        "return Object.getOwnPropertyNames(globalThis).map(k => k + ' ' + String(globalThis[k]))",
        "JSON.parse('{')",
        "return Error.captureStackTrace ? (Error.captureStackTrace(globalThis), globalThis.stack) : 1",
        "Error.prepareStackTrace = (e, s) => s.map(f => [f.getFileName(), f.getFunctionName(), f.getLineNumber()]); return new Error().stack",
    ];
    for code in codes {
        let answer = text_of(&visit.exec(code).await);
        shows_nothing_of_the_machine(&answer)?;
        check(!scene.canaries.seen_in(&answer), || answer.clone())?;
    }
    visit.end();
    Ok(())
}

/// Secrets under the names of secrets are taken out before anything is recorded.
async fn secrets_in_arguments(scene: &Scene) -> Result<(), String> {
    let visit = scene.house.visit(CodeModeOptions::default())?;
    let mark = "s3cr3t-of-a-program";
    let names = [
        "password",
        "token",
        "apiKey",
        "api_key",
        "authorization",
        "Cookie",
        "client_secret",
    ];
    for name in names {
        let code = format!(
            "await tools.note_w({{{name}: '{mark}', deep: [{{{name}: '{mark}'}}]}}); return 1"
        );
        let outcome = visit.exec(&code).await;
        check(
            text_of(&outcome).contains("\"status\":\"completed\""),
            || shown(&outcome),
        )?;
    }
    check(visit.books.heard().contains(mark), || {
        "the tool itself needs it".to_owned()
    })?;
    visit.end();
    let said = scene.log.take();
    check(!scene.canaries.seen_in(&said), || {
        "a canary was logged".to_owned()
    })?;
    check(!said.contains(mark), || "a secret was logged".to_owned())?;
    check(said.contains("note_w"), || {
        "nothing was recorded at all".to_owned()
    })
}

/// What a program says when it fails is its own and the model's: it is not logged.
async fn secrets_in_failures(scene: &Scene) -> Result<(), String> {
    let visit = scene.house.visit(CodeModeOptions {
        timeout_ms: 300,
        ..CodeModeOptions::default()
    })?;
    let mark = "words-of-a-program";
    let codes = [
        format!("throw new Error('{mark}')"),
        format!("console.log('{mark}'); text('{mark}'); return '{mark}'"),
        format!("const {} = '{mark}'; for (;;) {{}}", "x"),
        format!("return '{mark}' +"),
        format!("return (async () => {{}}).constructor('{mark}')"),
    ];
    for code in codes {
        let _ = visit.exec(&code).await;
    }
    visit.end();
    check(!scene.log.take().contains(mark), || {
        "a program's words were logged".to_owned()
    })
}

async fn saved_of_another(scene: &Scene) -> Result<(), String> {
    let thief = scene.house.visit(CodeModeOptions::default())?;
    let owner = scene.house.visit(CodeModeOptions::default())?;
    let saved = owner
        .exec("return (await results.save('private')).id")
        .await;
    let text = text_of(&saved);
    let id = text.split('"').nth(7).unwrap_or_default().to_owned();
    check(!id.is_empty() && text.contains("completed"), || {
        shown(&saved)
    })?;
    let code = format!(
        "try {{ return ['loaded', await results.load('{id}')] }} catch (e) {{ return 'refused' }}"
    );
    let taken = thief.exec(&code).await;
    check(text_of(&taken).contains("\"value\":\"refused\""), || {
        shown(&taken)
    })?;
    let own = owner.exec(&code).await;
    check(text_of(&own).contains("[\"loaded\",\"private\"]"), || {
        shown(&own)
    })?;
    owner.end();
    thief.end();
    Ok(())
}

/// A reference to binary content is worth nothing in another run.
async fn references_of_another(scene: &Scene) -> Result<(), String> {
    let owner = scene.house.visit(CodeModeOptions::default())?;
    let thief = scene.house.visit(CodeModeOptions::default())?;
    let outcome = owner.exec("return await tools.image({})").await;
    check(outcome.content.len() == 1, || shown(&outcome))?;
    let text = text_of(&outcome);
    let value = text
        .split("\"value\":")
        .nth(1)
        .and_then(|rest| rest.split(",\"telemetry\"").next());
    let value = value.ok_or_else(|| shown(&outcome))?;
    let taken = thief.exec(&format!("return {value}")).await;
    check(taken.content.is_empty(), || shown(&taken))?;
    owner.end();
    thief.end();
    Ok(())
}

/// A program that looks through fresh memory of every kind for a byte that is not zero.
const SEARCH: &str = "
    let found = 0; const kept = [];
    for (let round = 0; round < 24; round++) {
      const bytes = new Uint32Array(1 << 18); kept.push(bytes);
      for (let i = 0; i < bytes.length; i += 61) if (bytes[i] !== 0) found++;
    }
    const resizable = new ArrayBuffer(8, {maxByteLength: 1 << 20}); resizable.resize(1 << 20);
    for (const byte of new Uint8Array(resizable)) if (byte !== 0) found++;
    return [found, typeof globalThis.mine]";

async fn left_in_memory(scene: &Scene, fill: &str, options: CodeModeOptions) -> Result<(), String> {
    let owner = scene.house.visit(options)?;
    let mark = scene.canaries.session();
    let _ = owner.exec(&fill.replace("MARK", mark)).await;
    owner.end();
    scene.house.is_empty_but_for(1, 1).await?;
    for _ in 0..4 {
        let thief = scene.house.visit(CodeModeOptions::default())?;
        let outcome = thief.exec(SEARCH).await;
        check(
            text_of(&outcome).contains("\"value\":[0,\"undefined\"]"),
            || shown(&outcome),
        )?;
        thief.end();
    }
    Ok(())
}

const FILL: &str = "globalThis.mine = []; for (let i = 0; i < 200; i++) {
    const b = new Uint8Array(1 << 17); b.fill(0xa5); mine.push(b, 'MARK'.repeat(500) + i) } ";

async fn after_an_end(scene: &Scene) -> Result<(), String> {
    left_in_memory(
        scene,
        &format!("{FILL} return 1"),
        CodeModeOptions::default(),
    )
    .await
}

async fn after_a_stop(scene: &Scene) -> Result<(), String> {
    let options = CodeModeOptions {
        timeout_ms: 300,
        ..CodeModeOptions::default()
    };
    left_in_memory(scene, &format!("{FILL} for (;;) {{}}"), options).await?;
    // Stopped in the middle of an operation that never polls.
    let options = CodeModeOptions {
        timeout_ms: 300,
        ..CodeModeOptions::default()
    };
    let busy = format!("{FILL} const s = 'MARK'.repeat(20000); for (;;) s.split('').join('-')");
    left_in_memory(scene, &busy, options.clone()).await?;
    let visit = scene.house.visit(options)?;
    let suspended = visit
        .exec("globalThis.mine = 1; await yield_control(); for (;;) {}")
        .await;
    let cell = waiting_id(&suspended).ok_or_else(|| shown(&suspended))?;
    let stopped = visit.wait(&cell).await;
    check(
        stopped.result.failure_kind() == Some(FailureKind::GuestDeadline),
        || shown(&stopped),
    )?;
    let next = visit.exec("return typeof globalThis.mine").await;
    check(text_of(&next).contains("\"undefined\""), || shown(&next))?;
    visit.end();
    Ok(())
}
