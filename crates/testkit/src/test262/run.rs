//! One test in one guest.

use std::time::{Duration, Instant};

use codecell_sandbox::{
    Entry, EvalFlags, Frame, GuestThread, Limits, Program, Sandbox, Slice, SliceEnd, StopHandle,
};

use super::{Harness, Outcome, Test};

/// How long one test may take.
const MAX_TEST: Duration = Duration::from_secs(20);

/// The guest's clock when a test starts, microseconds since the Unix epoch.
const START_US: u64 = 1_760_000_000_000_000;

/// What every test needs of the harness.
const ALWAYS: [&str; 2] = ["assert.js", "sta.js"];

/// The line that tells of an error, as the driver prints it.
const THREW: &str = "codecell: threw ";

/// Runs a test.
pub(super) fn run(
    sandbox: &Sandbox,
    thread: &GuestThread,
    harness: &Harness,
    test: &Test,
) -> Outcome {
    let source = compose(harness, test)?;
    let program = Program {
        source: &source,
        injection: "",
        catalog: None,
        limits: Limits::default(),
        first_line: 1,
        flags: EvalFlags {
            dynamic_code: true,
            script: true,
        },
    };
    let mut guest = sandbox
        .start(&program)
        .map_err(|error| format!("start: {error}"))?;
    let entry = Entry {
        now_us: START_US,
        seed: Some([3; 32]),
        deadline: Instant::now() + MAX_TEST,
        guest_budget: MAX_TEST,
    };
    let slice = guest.eval(thread, &entry, &StopHandle::default());
    let slice = slice.map_err(|error| format!("eval: {error}"))?;
    judge(test, &slice)
}

/// The harness, then a driver that evaluates the test as a script of its own and prints what it throws.
fn compose(harness: &Harness, test: &Test) -> Result<String, String> {
    let mut source = String::new();
    let done = test.has_flag("async").then_some("doneprintHandle.js");
    let files = ALWAYS.into_iter().chain(done);
    let files = files.chain(test.includes.iter().map(String::as_str));
    for file in files.filter(|_| !test.has_flag("raw")) {
        let text = harness.get(file);
        source += text.ok_or_else(|| format!("the harness has no {file}"))?;
        source.push('\n');
    }
    let strict = if test.has_flag("onlyStrict") {
        "\"use strict\";\n"
    } else {
        ""
    };
    let text = serde_json::Value::from([strict, &test.source].concat());
    source += &format!(
        "(function (evaluate, print, String) {{ try {{ evaluate({text}); }} catch (error) {{ \
         const known = error !== null && typeof error === 'object'; \
         print('{THREW}' + (known && error.constructor && error.constructor.name || String(error)) \
         + ' ' + (known ? error.message : '')); }} }})($262.evalScript, print, String);\n"
    );
    Ok(source)
}

fn judge(test: &Test, slice: &Slice) -> Outcome {
    if slice.end != SliceEnd::Done {
        return Err(format!("the guest ended as {:?}", slice.end));
    }
    let mut printed = Vec::new();
    for frame in &slice.frames {
        match frame {
            Frame::Print(text) => printed.push(&**text),
            Frame::Error { json, .. } => return Err(format!("the harness failed: {json}")),
            _ => {}
        }
    }
    let threw = printed.iter().find_map(|line| line.strip_prefix(THREW));
    match (&test.negative, threw) {
        (Some(negative), Some(threw)) if threw.split(' ').next() == Some(&*negative.name) => Ok(()),
        (Some(negative), threw) => Err(format!("should throw {}, threw {threw:?}", negative.name)),
        (None, Some(threw)) => Err(threw.trim_end().to_owned()),
        (None, None) if !test.has_flag("async") => Ok(()),
        (None, None)
            if printed
                .iter()
                .any(|line| line.contains("Test262:AsyncTestComplete")) =>
        {
            Ok(())
        }
        (None, None) => Err(format!("never completed: {}", printed.join("; "))),
    }
}
