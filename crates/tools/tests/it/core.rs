//! The core tools on real directories, processes and sockets.

mod changes;
mod confinement;
mod files;
mod full_disk;
mod patches;
mod racer;
mod search;
mod shell;
mod texts;
mod web;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use codecell_tools::core::{CoreOptions, CoreTools};
use codecell_tools::{CallContext, Tool, ToolError, ToolInput, ToolOutput, ToolSource};
use serde_json::Value;
use tempfile::TempDir;

/// What only files outside of the workspace hold.
const SENTINEL: &str = "THE-SECRET-OUTSIDE";

/// A workspace beside a directory that nothing may reach.
struct Bench {
    inside: TempDir,
    outside: TempDir,
    tools: CoreTools,
}

impl Bench {
    fn new() -> Self {
        Self::with(|_, _| {})
    }

    /// With options changed; the second argument is the directory outside.
    fn with(change: impl FnOnce(&mut CoreOptions, &Path)) -> Self {
        let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(outside.path().join("secret"), SENTINEL).unwrap();
        let mut options = CoreOptions::new(inside.path());
        options.child_env = vec![("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())];
        change(&mut options, outside.path());
        let tools = CoreTools::new(&options).unwrap();
        Self {
            inside,
            outside,
            tools,
        }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.inside.path().join(name)
    }

    fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn get(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn link(&self, to: impl AsRef<Path>, name: &str) {
        std::os::unix::fs::symlink(to, self.path(name)).unwrap();
    }

    fn tool(&self, name: &str) -> Arc<dyn Tool> {
        let tools = self.tools.tools();
        let found = tools.into_iter().find(|t| t.definition().name() == name);
        found.unwrap()
    }

    async fn raw(
        &self,
        tool: &str,
        args: Value,
        ctx: &CallContext,
    ) -> Result<ToolOutput, ToolError> {
        self.tool(tool).call(ToolInput::new(args), ctx).await
    }

    async fn call(&self, tool: &str, args: Value) -> Result<Value, ToolError> {
        let output = self.raw(tool, args, &context()).await?;
        Ok(output.value(false).into_owned())
    }

    async fn ok(&self, tool: &str, args: Value) -> Value {
        self.call(tool, args).await.unwrap()
    }

    async fn code(&self, tool: &str, args: Value) -> String {
        self.call(tool, args).await.unwrap_err().code().to_owned()
    }

    /// Names in the workspace, to see that nothing was left behind.
    fn names(&self) -> Vec<String> {
        names(self.inside.path())
    }
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let mut names: Vec<String> = entries
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn context() -> CallContext {
    CallContext::new("main", "session", "run")
}

/// Waits for something that another process does.
async fn eventually(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !done() {
        assert!(Instant::now() < deadline, "never happened: {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[test]
fn every_tool_declares_schemas_with_descriptions() {
    let bench = Bench::new();
    let names: Vec<String> = bench
        .tools
        .tools()
        .iter()
        .map(|t| t.definition().id.to_string())
        .collect();
    let expected = [
        "read",
        "write",
        "edit",
        "apply_patch",
        "ls",
        "find",
        "grep",
        "exec",
        "process",
        "web_fetch",
    ];
    assert_eq!(names, expected.map(|name| format!("openclaw:core:{name}")));
    for tool in bench.tools.tools() {
        let definition = tool.definition();
        assert!(definition.output_schema.is_some(), "{}", definition.name());
        for (name, schema) in definition.parameters["properties"].as_object().unwrap() {
            let described = schema["description"].is_string() || schema["enum"].is_array();
            assert!(described, "{}.{name}", definition.name());
        }
    }
}
