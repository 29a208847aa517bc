//! `exec` and `process`: what runs, what it sees, and that nothing is left.

use std::fs;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use codecell_tools::CallContext;
use serde_json::{Value, json};

use super::{Bench, context, eventually};

/// Three kinds of grandchildren: in the group, in a session of its own, and orphaned in a session of its own.
const FAMILY: &str = "sleep 9999 & setsid sleep 9999 & (setsid sh -c 'sleep 9999 & sleep 9999' >/dev/null 2>&1 &) ; touch ready; ";

static NEXT: AtomicU32 = AtomicU32::new(0);

/// A variable by which the test itself recognises the processes of one call.
fn token() -> String {
    format!(
        "codecell-test-{}-{}-end",
        std::process::id(),
        NEXT.fetch_add(1, Ordering::Relaxed)
    )
}

/// Living processes whose environment holds `token`.
fn alive(token: &str) -> Vec<String> {
    let entries = fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    entries
        .filter(|id| id.parse::<u32>().is_ok())
        .filter(|id| {
            let environ = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
            let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
            let dead = stat
                .rsplit(')')
                .next()
                .is_some_and(|rest| rest.trim_start().starts_with(['Z', 'X']));
            !dead
                && environ
                    .windows(token.len())
                    .any(|window| window == token.as_bytes())
        })
        .collect()
}

fn family(token: &str, then: &str) -> Value {
    json!({"command": format!("{FAMILY}{then}"), "env": {"TOKEN": token}})
}

#[tokio::test]
async fn a_command_gives_its_streams_and_status() {
    let bench = Bench::new();
    bench.put("sub/file", "x");
    let result = bench
        .ok(
            "exec",
            json!({"command": "echo out; echo err >&2; ls; cat; exit 3", "cwd": "sub"}),
        )
        .await;
    assert_eq!(
        (&result["exitCode"], &result["stdout"], &result["stderr"]),
        (&json!(3), &json!("out\nfile\n"), &json!("err\n"))
    );
    assert_eq!(
        (&result["truncated"], result["durationMs"].is_u64()),
        (&json!(false), true)
    );
    let killed = bench.ok("exec", json!({"command": "kill -9 $$"})).await;
    assert_eq!(killed["exitCode"], 137);
}

#[tokio::test]
async fn the_environment_is_scrubbed() {
    let bench = Bench::with(|o, _| {
        for (name, value) in [
            ("OPENAI_API_KEY", "sk-1"),
            ("AWS_SECRET_ACCESS_KEY", "2"),
            ("HOME", "/home/me"),
            ("LC_ALL", "C"),
            ("LD_PRELOAD", "x.so"),
        ] {
            o.child_env.push((name.to_owned(), value.to_owned()));
        }
    });
    let result = bench
        .ok(
            "exec",
            json!({"command": "env | cut -d= -f1 | sort", "env": {"MINE": "1"}}),
        )
        .await;
    let names: Vec<&str> = result["stdout"]
        .as_str()
        .unwrap()
        .lines()
        .filter(|name| !["_", "PWD", "OLDPWD", "SHLVL"].contains(name))
        .collect();
    assert_eq!(names, ["CODECELL_JOB", "HOME", "LC_ALL", "MINE", "PATH"]);
    assert_eq!(
        bench
            .code(
                "exec",
                json!({"command": "true", "env": {"CODECELL_JOB": "x"}})
            )
            .await,
        "invalid_arguments"
    );
}

#[tokio::test]
async fn long_output_keeps_its_beginning_and_end() {
    let bench = Bench::with(|o, _| o.limits.exec_output_bytes = 100);
    let exact = bench
        .ok(
            "exec",
            json!({"command": "head -c 100 /dev/zero | tr '\\0' x"}),
        )
        .await;
    assert_eq!(
        (exact["stdout"].as_str().unwrap().len(), &exact["truncated"]),
        (100, &json!(false))
    );
    let flood = bench
        .ok(
            "exec",
            json!({"command": "echo first; yes | head -c 10000000; echo last"}),
        )
        .await;
    let text = flood["stdout"].as_str().unwrap();
    assert!(
        text.starts_with("first\ny\n")
            && text.ends_with("y\nlast\n")
            && text.contains("bytes left out"),
        "{text}"
    );
    assert_eq!(flood["truncated"], true);
}

#[tokio::test]
async fn a_timeout_kills_the_whole_family_and_gives_what_was_said() {
    let bench = Bench::new();
    let token = token();
    let mut args = family(&token, "echo said; wait; sleep 9999");
    args["timeoutMs"] = json!(600);
    let result = bench.ok("exec", args).await;
    assert_eq!(
        (&result["exitCode"], &result["timedOut"], &result["stdout"]),
        (&Value::Null, &json!(true), &json!("said\n"))
    );
    assert!(bench.path("ready").exists());
    assert_eq!(alive(&token), [""; 0]);
}

#[tokio::test]
async fn a_command_that_returns_leaves_nothing_in_the_background() {
    let bench = Bench::new();
    let token = token();
    let result = bench.ok("exec", family(&token, "echo done")).await;
    assert_eq!(
        (&result["exitCode"], &result["stdout"]),
        (&json!(0), &json!("done\n"))
    );
    assert_eq!(alive(&token), [""; 0]);
}

/// Living processes with `token` in their arguments.
fn commands(token: &str) -> usize {
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines
        .filter(|line| {
            line.windows(token.len())
                .any(|window| window == token.as_bytes())
        })
        .count()
}

#[tokio::test]
async fn a_child_that_hides_its_environment_is_found_by_descent() {
    let bench = Bench::new();
    let (token, ctx) = (token(), context());
    let command =
        format!("env -i /usr/bin/setsid /bin/sh -c 'touch ready; sleep 9999; : {token}' & wait");
    let abort = ctx.abort.clone();
    let call = bench.raw("exec", json!({"command": command}), &ctx);
    let stop = async {
        eventually("the child", || bench.path("ready").exists()).await;
        assert!(commands(&token) > 1);
        abort.cancel();
    };
    let (result, ()) = tokio::join!(call, stop);
    assert_eq!(result.unwrap_err().code(), "aborted");
    assert_eq!(commands(&token), 0);
}

#[tokio::test]
async fn abort_kills_the_whole_family() {
    let bench = Bench::new();
    let (token, ctx) = (token(), context());
    let abort = ctx.abort.clone();
    let call = bench.raw("exec", family(&token, "wait"), &ctx);
    let stop = async {
        eventually("the family", || bench.path("ready").exists()).await;
        abort.cancel();
    };
    let (result, ()) = tokio::join!(call, stop);
    assert_eq!(result.unwrap_err().code(), "aborted");
    assert_eq!(alive(&token), [""; 0]);
}

#[tokio::test]
async fn dropping_the_call_kills_the_whole_family() {
    let bench = Bench::new();
    let (token, ctx) = (token(), context());
    tokio::select! {
        _ = bench.raw("exec", family(&token, "wait"), &ctx) => panic!("it was to wait"),
        () = eventually("the family", || bench.path("ready").exists()) => {}
    }
    assert_eq!(alive(&token), [""; 0]);
}

async fn start(bench: &Bench, mut args: Value) -> String {
    args["background"] = json!(true);
    bench.ok("exec", args).await["sessionId"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// Polls until the command has ended; gives the last state and all output.
async fn finish(bench: &Bench, id: &str) -> (Value, String) {
    let mut text = String::new();
    loop {
        let state = bench
            .ok("process", json!({"action": "poll", "sessionId": id}))
            .await;
        text += state["stdout"].as_str().unwrap();
        if state["running"] == false {
            return (state, text);
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_background_command_is_polled_written_to_and_listed() {
    let bench = Bench::new();
    let id = start(
        &bench,
        json!({"command": "read -r line; echo \"got $line\"; exit 4"}),
    )
    .await;
    let listed = bench.ok("process", json!({"action": "list"})).await;
    assert_eq!(
        (
            &listed["sessions"][0]["sessionId"],
            &listed["sessions"][0]["running"]
        ),
        (&json!(id), &json!(true))
    );
    let written = bench
        .ok(
            "process",
            json!({"action": "write", "sessionId": id, "input": "hi\n"}),
        )
        .await;
    assert_eq!(written, json!({"sessionId": id, "written": 3}));
    let (state, text) = tokio::time::timeout(Duration::from_secs(60), finish(&bench, &id))
        .await
        .unwrap();
    assert_eq!((&state["exitCode"], text.as_str()), (&json!(4), "got hi\n"));
    let other = CallContext::new("main", "another session", "run");
    let foreign = bench
        .raw(
            "process",
            json!({"action": "poll", "sessionId": id}),
            &other,
        )
        .await;
    assert_eq!(
        foreign.unwrap_err().message(),
        format!("no background session \"{id}\"; there is none")
    );
    assert_eq!(
        bench
            .code(
                "process",
                json!({"action": "write", "sessionId": id, "input": "x"})
            )
            .await,
        "process"
    );
}

#[tokio::test]
async fn killing_a_background_command_kills_its_family() {
    let bench = Bench::new();
    let token = token();
    let id = start(&bench, family(&token, "echo said; wait")).await;
    eventually("the family", || bench.path("ready").exists()).await;
    let state = bench
        .ok("process", json!({"action": "kill", "sessionId": id}))
        .await;
    assert_eq!(
        (&state["running"], &state["exitCode"]),
        (&json!(false), &Value::Null)
    );
    assert_eq!(alive(&token), [""; 0]);
}

#[tokio::test]
async fn background_commands_end_by_their_timeout_and_with_the_tools() {
    let bench = Bench::new();
    let (first, second) = (token(), token());
    let mut args = family(&first, "wait");
    args["timeoutMs"] = json!(300);
    let id = start(&bench, args).await;
    let (state, _) = tokio::time::timeout(Duration::from_secs(60), finish(&bench, &id))
        .await
        .unwrap();
    assert_eq!(state["exitCode"], Value::Null);
    assert_eq!(alive(&first), [""; 0]);
    fs::remove_file(bench.path("ready")).unwrap();
    start(&bench, family(&second, "wait")).await;
    eventually("the family", || bench.path("ready").exists()).await;
    assert!(!alive(&second).is_empty());
    drop(bench);
    assert_eq!(alive(&second), [""; 0]);
}

#[tokio::test]
async fn the_number_of_background_commands_is_bounded_and_finished_ones_make_room() {
    let bench = Bench::with(|o, _| o.limits.sessions = 2);
    let first = start(&bench, json!({"command": "read -r x"})).await;
    start(&bench, json!({"command": "read -r x"})).await;
    let full = bench
        .call("exec", json!({"command": "true", "background": true}))
        .await;
    assert_eq!(
        full.unwrap_err().message(),
        "2 background sessions run already; kill one with process first"
    );
    bench
        .ok("process", json!({"action": "kill", "sessionId": first}))
        .await;
    start(&bench, json!({"command": "read -r x"})).await;
}

const HOST_DIR: &str = "CODECELL_TEST_HOST_DIR";

/// Not a test by itself: the program that the next test kills.
#[tokio::test]
#[ignore = "is run by killing_the_program_kills_its_commands"]
async fn host() {
    let Some(dir) = std::env::var_os(HOST_DIR) else {
        return;
    };
    let mut options = codecell_tools::core::CoreOptions::new(dir);
    options.child_env = vec![("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())];
    let bench = Bench {
        inside: tempfile::tempdir().unwrap(),
        outside: tempfile::tempdir().unwrap(),
        tools: codecell_tools::core::CoreTools::new(&options).unwrap(),
    };
    let token = std::env::var("HOST_TOKEN").unwrap();
    start(
        &bench,
        json!({"command": "setsid sleep 9999 & wait", "env": {"TOKEN": token}}),
    )
    .await;
    bench.call("exec", family(&token, "wait")).await.unwrap();
}

#[tokio::test]
async fn killing_the_program_kills_its_commands() {
    let dir = tempfile::tempdir().unwrap();
    let token = token();
    let mut host = Command::new(std::env::current_exe().unwrap())
        .args(["core::shell::host", "--exact", "--ignored"])
        .env(HOST_DIR, dir.path())
        .env("HOST_TOKEN", &token)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    eventually("the family", || dir.path().join("ready").exists()).await;
    assert!(alive(&token).len() > 4);
    host.kill().unwrap();
    host.wait().unwrap();
    eventually("the death of all", || alive(&token).is_empty()).await;
}
