//! `codecell api`: the virtual declaration files that `API.list` and `API.read` give to a cell.
//!
//! They describe the tools of MCP servers; the core tools are described by `codecell tools`.

use codecell_catalog::DeclarationFile;
use serde_json::{Value, json};

use crate::args::{ApiArgs, ApproveMode, FilterArgs};
use crate::compose::Base;
use crate::compose::runtime::block_on;
use crate::compose::tooling::{Audience, Tooling};
use crate::error::{CliError, Exit};
use crate::escape::one_line;

/// Lists the files, or prints one.
pub(crate) fn run(base: &Base, args: &ApiArgs) -> Result<Exit, CliError> {
    let settings = base.settings(&[])?;
    let filter = FilterArgs::default();
    let tooling = block_on(async {
        let tooling = Tooling::build(
            base,
            &settings,
            &filter,
            ApproveMode::Never,
            Audience::Person,
        )
        .await?;
        tooling.close_servers().await;
        Ok(tooling)
    })?;
    let files = tooling.set.catalog().declarations();
    let asked = args.path.as_deref().unwrap_or_default();
    if let Some(file) = files.iter().find(|file| file.path == asked) {
        return print(base, file);
    }
    // Folders are prefixes, as in `API.list`.
    let folder = asked.trim_end_matches('/');
    let below = |file: &&DeclarationFile| {
        let rest = file.path.strip_prefix(folder);
        folder.is_empty() || rest.is_some_and(|rest| rest.starts_with('/'))
    };
    let listed: Vec<&DeclarationFile> = files.iter().filter(below).collect();
    if listed.is_empty() && !folder.is_empty() && folder != "mcp" {
        return Err(CliError::NotFound {
            message: format!("there is no declaration file `{}`", one_line(asked, 120)),
            hint: "codecell api lists the files; codecell tools describe shows a core tool"
                .to_owned(),
        });
    }
    list(base, &listed)
}

fn print(base: &Base, file: &DeclarationFile) -> Result<Exit, CliError> {
    if base.streams.json() {
        let mut row = row(file);
        row["content"] = Value::from(file.content.as_str());
        base.streams.out_json(&row)?;
    } else {
        base.streams.out_foreign(&file.content)?;
    }
    Ok(Exit::Done)
}

fn row(file: &DeclarationFile) -> Value {
    json!({"path": file.path, "description": file.description, "bytes": file.content.len()})
}

fn list(base: &Base, files: &[&DeclarationFile]) -> Result<Exit, CliError> {
    if base.streams.json() {
        let rows: Vec<Value> = files.iter().map(|file| row(file)).collect();
        base.streams.out_json(&json!({"files": rows}))?;
    } else if files.is_empty() {
        base.streams.note("there are no declaration files: no MCP servers are connected; codecell tools lists the core tools");
    } else {
        for file in files {
            let words = one_line(&file.description, 120);
            base.streams
                .out_foreign(&format!("{}  {words}", file.path))?;
        }
    }
    Ok(Exit::Done)
}
