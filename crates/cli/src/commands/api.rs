//! `codecell api`: the virtual declaration files that `API.list` and `API.read` give to a cell.
//!
//! They describe the tools of MCP servers; the core tools are described by `codecell tools`.

use serde_json::json;

use crate::args::ApiArgs;
use crate::compose::Base;
use crate::error::{CliError, Exit};

/// Lists the files, or prints one.
pub(crate) fn run(base: &Base, args: &ApiArgs) -> Result<Exit, CliError> {
    base.settings(&[])?;
    // Folders are prefixes, as in `API.list`; nothing else exists without MCP servers.
    match args.path.as_deref() {
        None | Some("" | "mcp" | "mcp/") => list(base),
        Some(path) => Err(CliError::NotFound {
            message: format!(
                "there is no declaration file `{}`",
                crate::escape::one_line(path, 120)
            ),
            hint: "codecell api lists the files; codecell tools describe shows a core tool"
                .to_owned(),
        }),
    }
}

fn list(base: &Base) -> Result<Exit, CliError> {
    if base.streams.json() {
        base.streams.out_json(&json!({"files": []}))?;
    } else {
        base.streams.note("there are no declaration files: no MCP servers are connected; codecell tools lists the core tools");
    }
    Ok(Exit::Done)
}
