//! `codecell mcp add`, `remove` and `import`: the servers of the configuration file.
//!
//! The rest of the file stays as it is, comments included. Secrets that another client's file takes
//! from the environment stay there: the variable is written down, not its value.

use std::io;
use std::path::{Path, PathBuf};

use codecell_config::{VariableUse, remove_from_text, set_in_text};
use serde_json::{Map, Value, json};

use crate::args::AddArgs;
use crate::commands::config::{replace, unwritable};
use crate::compose::settings::{read_file, refused, refused_value};
use crate::compose::{Base, servers};
use crate::error::{CliError, Exit};
use crate::escape::one_line;

/// The longest name that a message repeats, in characters.
const SHOWN_NAME_CHARS: usize = 100;

/// The configuration file being edited.
struct Edited {
    path: PathBuf,
    text: String,
}

impl Edited {
    fn open(base: &Base) -> Result<Self, CliError> {
        let file = base.config_file()?.ok_or_else(|| CliError::Unavailable {
            message: "there is no configuration file to change".to_owned(),
            hint: "name one with --config FILE, or set CODECELL_STATE_DIR".to_owned(),
        })?;
        let text = match read_file(&file.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(unwritable(&file.path, "read", &error)),
        };
        Ok(Self {
            path: file.path,
            text,
        })
    }

    fn set(&mut self, name: &str, server: &Value) -> Result<(), CliError> {
        let path = servers::server_path(name);
        self.text = set_in_text(&self.path, &self.text, &path, server).map_err(refused_value)?;
        Ok(())
    }

    fn save(&self) -> Result<(), CliError> {
        replace(&self.path, &self.text).map_err(|error| unwritable(&self.path, "write", &error))
    }
}

/// The names that are configured already, in the file or elsewhere.
fn configured(base: &Base) -> Result<Vec<String>, CliError> {
    let loaded = base.load(&[])?;
    Ok(loaded.config.mcp_servers().keys().cloned().collect())
}

/// Adds one server.
pub(crate) fn add(base: &Base, args: &AddArgs) -> Result<Exit, CliError> {
    check_name(&args.name)?;
    if !args.force && configured(base)?.contains(&args.name) {
        return Err(CliError::Argument {
            message: format!("there is an MCP server `{}` already", args.name),
            hint: "choose another name, or replace it with --force".to_owned(),
        });
    }
    let server = described(args)?;
    let mut file = Edited::open(base)?;
    file.set(&args.name, &server)?;
    file.save()?;
    base.streams
        .note(&format!("added `{}` to {}", args.name, file.path.display()));
    let next = if args.oauth { "login" } else { "test" };
    base.streams
        .explain(&format!("codecell mcp {next} {} comes next", args.name));
    if base.streams.json() {
        let report = json!({"file": file.path, "name": args.name, "server": server});
        base.streams.out_json(&report)?;
    }
    // The change stands; a variable that is not set should not surprise later.
    base.load(&[])?;
    Ok(Exit::Done)
}

fn check_name(name: &str) -> Result<(), CliError> {
    let id = codecell_catalog::ToolId::new(codecell_catalog::Source::Mcp, name, "x");
    id.map(drop).map_err(|error| CliError::Argument {
        message: format!(
            "`{}` cannot be the name of a server: {error}",
            one_line(name, SHOWN_NAME_CHARS)
        ),
        hint: "use a short name of letters, digits and dashes".to_owned(),
    })
}

fn described(args: &AddArgs) -> Result<Value, CliError> {
    let mut server = Map::new();
    if let Some(url) = &args.url {
        server.insert("url".to_owned(), json!(url));
        if args.sse {
            server.insert("transport".to_owned(), json!("sse"));
        }
        let headers = pairs(&args.header, ':', "--header 'NAME: VALUE'")?;
        if !headers.is_empty() {
            server.insert("headers".to_owned(), Value::Object(headers));
        }
        if args.oauth {
            server.insert("auth".to_owned(), json!("oauth"));
        }
        return Ok(Value::Object(server));
    }
    if let Some((command, rest)) = args.command.split_first() {
        server.insert("command".to_owned(), json!(command));
        if !rest.is_empty() {
            server.insert("args".to_owned(), json!(rest));
        }
    }
    let env = pairs(&args.env, '=', "--env NAME=VALUE")?;
    if !env.is_empty() {
        server.insert("env".to_owned(), Value::Object(env));
    }
    if let Some(cwd) = &args.cwd {
        server.insert("cwd".to_owned(), json!(cwd));
    }
    Ok(Value::Object(server))
}

fn pairs(given: &[String], between: char, form: &str) -> Result<Map<String, Value>, CliError> {
    let pair = |text: &String| {
        let (name, value) = text.split_once(between)?;
        let name = name.trim();
        (!name.is_empty()).then(|| (name.to_owned(), json!(value.trim())))
    };
    let pairs: Option<Map<_, _>> = given.iter().map(pair).collect();
    pairs.ok_or_else(|| CliError::Argument {
        message: format!("a value is not of the form {form}"),
        hint: String::new(),
    })
}

/// Removes one server.
pub(crate) fn remove(base: &Base, name: &str) -> Result<Exit, CliError> {
    let mut file = Edited::open(base)?;
    let path = servers::server_path(name);
    let Some(text) = remove_from_text(&file.path, &file.text, &path).map_err(refused)? else {
        return Err(CliError::NotFound {
            message: format!(
                "{} has no MCP server `{}`",
                file.path.display(),
                one_line(name, SHOWN_NAME_CHARS)
            ),
            hint: "codecell mcp list shows where each comes from".to_owned(),
        });
    };
    file.text = text;
    file.save()?;
    base.streams
        .note(&format!("removed `{name}` from {}", file.path.display()));
    if base.streams.json() {
        base.streams
            .out_json(&json!({"file": file.path, "removed": name}))?;
    }
    Ok(Exit::Done)
}

/// Takes over servers, and says what was not taken over.
pub(crate) fn import(
    base: &Base,
    file: &Path,
    names: &[String],
    force: bool,
) -> Result<Exit, CliError> {
    let foreign = servers::read(
        base,
        &base.surroundings.folder.join(file),
        VariableUse::Keep,
    )?;
    let known = configured(base)?;
    let is_wanted = |name: &String| names.is_empty() || names.contains(name);
    let mut edited = Edited::open(base)?;
    let mut report = Vec::new();
    for server in foreign
        .servers
        .iter()
        .filter(|server| is_wanted(&server.name))
    {
        let outcome = match known.contains(&server.name) && !force {
            true => Err("it is configured already; --force replaces it".to_owned()),
            false => check_name(&server.name)
                .and_then(|()| edited.set(&server.name, &server.value))
                .map_err(|error| error.to_string()),
        };
        report.push((server.name.clone(), outcome.map(|()| server.notes.clone())));
    }
    let refused = foreign.refused.into_iter();
    let refused = refused.filter(|refused| is_wanted(&refused.name));
    report.extend(refused.map(|refused| (refused.name, Err(refused.reason))));
    check_all_there(names, &report)?;
    let imported = report.iter().filter(|(_, outcome)| outcome.is_ok()).count();
    if imported > 0 {
        edited.save()?;
    }
    tell(base, &edited.path, &report)?;
    Ok(match imported == report.len() {
        true => Exit::Done,
        false => Exit::Failed,
    })
}

/// A server's name, and what is to be said of it: notes if it was taken over, else why not.
type Outcome = (String, Result<Vec<String>, String>);

fn check_all_there(names: &[String], report: &[Outcome]) -> Result<(), CliError> {
    let missing = names
        .iter()
        .find(|name| !report.iter().any(|(known, _)| known == *name));
    missing.map_or(Ok(()), |name| {
        Err(CliError::NotFound {
            message: format!(
                "the file has no MCP server `{}`",
                one_line(name, SHOWN_NAME_CHARS)
            ),
            hint: "without names all of its servers are taken over".to_owned(),
        })
    })
}

fn tell(base: &Base, file: &Path, report: &[Outcome]) -> Result<(), CliError> {
    for (name, outcome) in report {
        match outcome {
            Ok(notes) => {
                base.streams
                    .note(&format!("imported `{name}` into {}", file.display()));
                for note in notes {
                    base.streams.note(&format!("  {note}"));
                }
            }
            Err(reason) => base
                .streams
                .failure(&format!("`{name}` was not imported: {reason}")),
        }
    }
    if base.streams.json() {
        let report: Vec<Value> = report
            .iter()
            .map(|(name, outcome)| match outcome {
                Ok(notes) => json!({"name": name, "imported": true, "notes": notes}),
                Err(reason) => json!({"name": name, "imported": false, "reason": reason}),
            })
            .collect();
        base.streams.out_json(&report)?;
    }
    Ok(())
}
