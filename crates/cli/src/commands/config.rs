//! `codecell config`: read, change and check the configuration.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use codecell_config::{
    ConfigError, KeyPath, LoadRequest, Loaded, Override, Setting, schema, set_in_text,
};
use serde_json::{Value, json};

use crate::args::{ConfigArgs, ConfigCommand};
use crate::compose::Base;
use crate::compose::settings::{load_request, read_file, refused, refused_value};
use crate::error::{CliError, Exit};
use crate::render::json;

/// Runs one of the subcommands.
pub(crate) fn run(base: &Base, args: &ConfigArgs) -> Result<Exit, CliError> {
    match &args.command {
        ConfigCommand::Get { key } => get(base, key.as_deref().unwrap_or_default()),
        ConfigCommand::Set { key, value } => set(base, key, value),
        ConfigCommand::Validate { file } => validate(base, file.as_deref()),
        ConfigCommand::Schema => {
            print_value(base, &schema())?;
            Ok(Exit::Done)
        }
    }
}

fn get(base: &Base, key: &str) -> Result<Exit, CliError> {
    let path = KeyPath::parse(key).map_err(refused)?;
    let loaded = base.load(&[])?;
    let Setting { value, origin } = loaded.config.get(&path).map_err(no_such_key)?;
    base.streams.explain(&format!("from {origin}"));
    match &value {
        Value::String(text) if !base.streams.json() => base.streams.out_foreign(text)?,
        value => print_value(base, value)?,
    }
    Ok(Exit::Done)
}

fn no_such_key(error: ConfigError) -> CliError {
    CliError::Config {
        message: error.to_string(),
        hint: "codecell config get without a key prints all that there are".to_owned(),
    }
}

fn set(base: &Base, key: &str, value: &str) -> Result<Exit, CliError> {
    let wanted = Override::parse(&format!("{key}={value}")).map_err(refused)?;
    let Some(file) = base.config_file()? else {
        return Err(CliError::Unavailable {
            message: "there is no configuration file to change".to_owned(),
            hint: "name one with --config FILE, or set CODECELL_STATE_DIR".to_owned(),
        });
    };
    let old = match read_file(&file.path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(unwritable(&file.path, "read", &error)),
    };
    let new = set_in_text(&file.path, &old, &wanted.path, &wanted.value).map_err(refused_value)?;
    replace(&file.path, &new).map_err(|error| unwritable(&file.path, "write", &error))?;
    base.streams
        .note(&format!("set {} in {}", wanted.path, file.path.display()));
    if base.streams.json() {
        let report =
            json!({"file": file.path, "key": wanted.path.to_string(), "value": wanted.value});
        base.streams.out_json(&report)?;
    }
    // The change stands; a file that something else keeps from loading should not surprise later.
    base.load(&[])?;
    Ok(Exit::Done)
}

/// The error of a configuration file that cannot be read or written.
pub(crate) fn unwritable(path: &Path, verb: &str, error: &io::Error) -> CliError {
    CliError::Config {
        message: format!("cannot {verb} the config file {}: {error}", path.display()),
        hint: "check the rights of the file and its folder; nothing was changed".to_owned(),
    }
}

/// Puts a text in the place of a file, in one step. A new file is for its owner alone, since it may
/// come to hold keys; a link is followed.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = path
        .parent()
        .map_or_else(|| PathBuf::from("."), Path::to_owned);
    std::fs::create_dir_all(&folder)?;
    let mut file = tempfile::Builder::new()
        .prefix(".codecell-config-")
        .tempfile_in(&folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    if let Ok(found) = path.metadata() {
        file.as_file().set_permissions(found.permissions())?;
    }
    file.persist(&path).map_err(|error| error.error)?;
    Ok(())
}

fn validate(base: &Base, file: Option<&Path>) -> Result<Exit, CliError> {
    let loaded = match file {
        None => base.load(&[])?,
        Some(file) => {
            let file = base.surroundings.folder.join(file);
            let request = LoadRequest {
                file: Some(file),
                must_exist: true,
                overrides: Vec::new(),
            };
            load_request(&request).map_err(refused)?
        }
    };
    if base.streams.json() {
        base.streams.out_json(&report(&loaded))?;
    } else {
        base.streams.out(&report_text(&loaded))?;
    }
    Ok(Exit::Done)
}

fn report(loaded: &Loaded) -> Value {
    json!({
        "valid": true,
        "file": loaded.report.file,
        "ignored": loaded.report.ignored.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "clamped": loaded.report.clamped,
    })
}

fn report_text(loaded: &Loaded) -> String {
    let mut text = match &loaded.report.file {
        Some(file) => format!("valid: {}\n", file.display()),
        None => "valid: there is no file, so the defaults hold\n".to_owned(),
    };
    for path in &loaded.report.ignored {
        text.push_str(&format!(
            "ignored: {path} (known, but codecell has no part for it)\n"
        ));
    }
    for clamped in &loaded.report.clamped {
        text.push_str(&format!(
            "clamped: {} is {}, used is {} (from {} to {})\n",
            clamped.path, clamped.given, clamped.used, clamped.min, clamped.max
        ));
    }
    text
}

/// One JSON value, indented unless a program asked for it.
fn print_value(base: &Base, value: &Value) -> Result<(), CliError> {
    if base.streams.json() {
        base.streams.out_json(value)
    } else {
        base.streams.out_foreign(&json::indent(&value.to_string()))
    }
}
