//! Output: what is too much, what becomes of it, and binary content.

use codecell_codemode::{CodeModeOptions, OutputOverflow};
use codecell_protocol::{CellResult, FailureKind, OutputItem};
use serde_json::Value;

use crate::support::{World, error, kind, run_id, text, value};

fn small(overflow: OutputOverflow) -> World {
    let options = CodeModeOptions {
        max_output_bytes: 1024,
        output_overflow: overflow,
        ..CodeModeOptions::default()
    };
    World::new().with_options(options)
}

#[tokio::test(flavor = "multi_thread")]
async fn exactly_the_limit_fits_and_one_more_is_saved() {
    let world = small(OutputOverflow::Fail);
    assert_eq!(
        world
            .value("return 'x'.repeat(1022)")
            .await
            .as_str()
            .map(str::len),
        Some(1022)
    );
    let outcome = world
        .exec("await tools.echo_w({}); return 'x'.repeat(1023)")
        .await;
    assert_eq!(kind(&outcome), FailureKind::OutputLimitExceeded);
    assert!(
        error(&outcome).contains("must not be repeated"),
        "{}",
        error(&outcome)
    );
    let CellResult::Failed(failed) = &outcome.result else {
        panic!("not failed")
    };
    let saved = failed.failure.saved.as_ref().unwrap();
    assert_eq!(
        (saved.id.as_str(), saved.bytes, saved.shape.as_str()),
        ("r1", 1025, "string")
    );
    assert_eq!(
        world
            .value("return (await results.load('r1')).length")
            .await,
        1023
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn text_and_json_count_and_are_saved_with_the_value() {
    let world = small(OutputOverflow::Fail);
    let outcome = world
        .exec("text('a'.repeat(600)); json(['b'.repeat(600)]); return 7")
        .await;
    assert_eq!(kind(&outcome), FailureKind::OutputLimitExceeded);
    let loaded = world.value("const r = await results.load('r1'); return [r.value, r.output.length, r.output[0].text.length]").await;
    assert_eq!(loaded, serde_json::json!([7, 2, 600]));
}

#[tokio::test(flavor = "multi_thread")]
async fn truncation_gives_valid_json_with_a_reference() {
    let world = small(OutputOverflow::Truncate);
    let outcome = world
        .exec("return Array.from({length: 1000}, (_, i) => ({i}))")
        .await;
    let CellResult::Completed(completed) = &outcome.result else {
        panic!("{}", text(&outcome))
    };
    assert!(completed.value.get().len() <= 1024);
    let cut: Vec<Value> = serde_json::from_str(completed.value.get()).unwrap();
    assert!(
        cut.last()
            .and_then(Value::as_str)
            .is_some_and(|marker| marker.contains("of 1000 elements"))
    );
    assert_eq!(
        completed.saved.as_ref().map(|saved| saved.count),
        Some(1000)
    );
    assert_eq!(
        world
            .value("return (await results.load('r1')).length")
            .await,
        1000
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn output_beyond_what_can_be_kept_throws() {
    let options = CodeModeOptions {
        max_output_bytes: 1024,
        max_snapshot_bytes: 200_000,
        ..CodeModeOptions::default()
    };
    let world = World::new().with_options(options);
    let code = "let e; try { for (;;) text('x'.repeat(50000)) } catch (error) { e = error } return [e instanceof RangeError]";
    let outcome = world.exec(code).await;
    assert_eq!(
        kind(&outcome),
        FailureKind::OutputLimitExceeded,
        "{}",
        text(&outcome)
    );
    let large = world.exec("return 'x'.repeat(300000)").await;
    assert_eq!(kind(&large), FailureKind::OutputLimitExceeded);
    assert!(
        error(&large).contains("could not be saved"),
        "{}",
        error(&large)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_console_fails_nothing() {
    let world = small(OutputOverflow::Fail);
    let outcome = world
        .exec("for (let i = 0; i < 1000; i++) console.log('line', i); return 'x'.repeat(1000)")
        .await;
    let CellResult::Completed(completed) = &outcome.result else {
        panic!("{}", text(&outcome))
    };
    let bytes: usize = completed
        .output
        .iter()
        .map(|item| match item {
            OutputItem::Text { text } => text.len(),
            OutputItem::Json { value } => value.get().len(),
        })
        .sum();
    assert!(bytes < 300, "{bytes}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_fit_into_a_waiting_result_comes_with_the_next() {
    let world = small(OutputOverflow::Fail);
    let first = world
        .exec("text('a'.repeat(800)); text('b'.repeat(800)); await yield_control(); return 1")
        .await;
    assert!(text(&first).contains("aaa") && !text(&first).contains("bbb"));
    let second = world.wait(&run_id(&first)).await;
    assert!(text(&second).contains("bbb"), "{}", text(&second));
    assert_eq!(value(&second), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn binary_content_comes_back_as_the_real_block() {
    let world = World::new();
    let outcome = world.exec("const [text, image] = await tools.image({}); return {image, bytes: image.bytes, hasData: 'data' in image}").await;
    let seen = value(&outcome);
    assert_eq!(
        (seen["bytes"].as_u64(), seen["hasData"].as_bool()),
        (Some(3), Some(false))
    );
    assert_eq!(outcome.content.len(), 1);
    assert_eq!(
        outcome.content[0]
            .binary()
            .map(|(mime, data)| (mime, data.len())),
        Some(("image/png", 3))
    );
    assert!(
        world
            .exec("await tools.image({}); return 1")
            .await
            .content
            .is_empty()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_cell_saves_what_it_cannot_show_and_keeps_its_advice() {
    let world = World::new().with_options(CodeModeOptions {
        max_output_bytes: 1024,
        ..CodeModeOptions::default()
    });
    let outcome = world
        .exec("await tools.echo_w({}); text('first'); text('y'.repeat(2000)); throw new Error('z'.repeat(3000))")
        .await;
    let CellResult::Failed(failed) = &outcome.result else {
        panic!("not failed")
    };
    assert!(
        failed.error.contains("Do not make them again"),
        "{}",
        failed.error
    );
    let saved = failed.failure.saved.as_ref().unwrap();
    assert!(text(&outcome).contains("results.load(\\\"r1\\\")"));
    let code = format!("return (await results.load('{}'))[0].text.length", saved.id);
    assert_eq!(world.value(&code).await, 2000);
}
