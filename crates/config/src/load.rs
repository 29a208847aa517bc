//! From a request to a checked configuration: the layers, the checks, the options.
//!
//! Layers are, from below: defaults, the file with its includes, overrides in the order given. The
//! result is all or nothing; a configuration with one wrong key does not exist.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::build::{build, pointer};
use crate::check;
use crate::document::{self, Raw, Sources, origin_of, put};
use crate::error::{ConfigError, Origin};
use crate::keys::{self, Kind};
use crate::options::{AgentOptions, Clamped, Config, Setting, ToolRules};
use crate::path::{KeyPath, Segment};

/// The agent that exists when the config lists none.
const DEFAULT_AGENT: &str = "main";

/// What to load.
#[derive(Clone, Debug, Default)]
pub struct LoadRequest {
    /// The config file; `None` for defaults and overrides only.
    pub file: Option<PathBuf>,
    /// Whether a file that does not exist is an error: true for one that the user named.
    pub must_exist: bool,
    /// Values on top of the file; later ones win.
    pub overrides: Vec<Override>,
}

/// A value that replaces what the file says at one path.
#[derive(Clone, Debug, PartialEq)]
pub struct Override {
    /// Where it came from, for messages.
    pub origin: Origin,
    /// The key.
    pub path: KeyPath,
    /// The value.
    pub value: Value,
}

impl Override {
    /// Reads `PATH=VALUE` as a flag gives it; a value that is no JSON5 is a text.
    ///
    /// # Errors
    /// [`ConfigError::BadOverride`] without `=` or path, [`ConfigError::BadPath`] for a bad path.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let bad = || ConfigError::BadOverride {
            text: text.chars().take(200).collect(),
        };
        let (path, value) = text.split_once('=').ok_or_else(bad)?;
        let path = KeyPath::parse(path.trim())?;
        if path.is_empty() || document::parse("--set".as_ref(), value).is_err_and(is_limit) {
            return Err(bad());
        }
        Ok(Self {
            origin: Origin::Flag(format!("--set {path}")),
            path,
            value: json5::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned())),
        })
    }
}

fn is_limit(error: ConfigError) -> bool {
    matches!(
        error,
        ConfigError::TooDeep { .. } | ConfigError::TooLarge { .. }
    )
}

/// A configuration with what is to be said about it.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The configuration.
    pub config: Config,
    /// What `doctor` and the first lines of a start say.
    pub report: Report,
}

/// What was accepted, but not as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The file that was read, if there was one.
    pub file: Option<PathBuf>,
    /// Keys that the contract knows and this program has no part for, each once.
    pub ignored: Vec<KeyPath>,
    /// Numbers that were outside their clamps.
    pub clamped: Vec<Clamped>,
}

/// Loads, checks and clamps a configuration.
///
/// # Errors
/// The first thing that is wrong, in the order of the file; see [`ConfigError`].
pub fn load(request: &LoadRequest, sources: &Sources<'_>) -> Result<Loaded, ConfigError> {
    let (mut raw, file) = read_file(request, sources)?;
    for wanted in &request.overrides {
        apply(&mut raw, wanted);
    }
    let notes = check::check(&raw)?;
    let config = build(&raw, &request.overrides)?;
    let report = Report {
        file,
        ignored: notes.ignored,
        clamped: notes.clamped,
    };
    Ok(Loaded { config, report })
}

fn read_file(
    request: &LoadRequest,
    sources: &Sources<'_>,
) -> Result<(Raw, Option<PathBuf>), ConfigError> {
    let empty = || Raw {
        value: json!({}),
        origins: BTreeMap::new(),
    };
    let Some(file) = &request.file else {
        return Ok((empty(), None));
    };
    match document::read(file, sources) {
        Ok(raw) => Ok((raw, Some(file.clone()))),
        Err(ConfigError::Read { path, source })
            if source.kind() == io::ErrorKind::NotFound
                && !request.must_exist
                && path == document::normal(file) =>
        {
            Ok((empty(), None))
        }
        Err(error) => Err(error),
    }
}

fn apply(raw: &mut Raw, wanted: &Override) {
    let under = |path: &KeyPath| path.segments().starts_with(wanted.path.segments());
    raw.origins.retain(|path, _| !under(path));
    raw.origins
        .insert(wanted.path.clone(), wanted.origin.clone());
    put(&mut raw.value, &wanted.path, wanted.value.clone());
}

/// What holds for an agent.
pub(crate) fn agent(config: &Config, id: Option<&str>) -> Result<AgentOptions, ConfigError> {
    let default = || {
        let list = pointer(&config.effective, "/agents/list").and_then(Value::as_array);
        let marked = list?
            .iter()
            .position(|agent| agent.get("default") == Some(&json!(true)));
        config.agents.get(marked.unwrap_or(0))
    };
    let listed = match id {
        Some(id) => config.agents.iter().find(|agent| agent.id == id),
        None => default(),
    };
    match (listed, id) {
        (Some(agent), _) => Ok(agent.clone()),
        (None, None | Some(DEFAULT_AGENT)) => Ok(AgentOptions {
            id: DEFAULT_AGENT.to_owned(),
            code_mode: config.code_mode.clone(),
            tools: ToolRules::default(),
        }),
        (None, Some(id)) => Err(ConfigError::UnknownAgent {
            id: id.chars().take(200).collect(),
            near: near_agents(config, id),
        }),
    }
}

fn near_agents(config: &Config, id: &str) -> Vec<String> {
    let distance = |agent: &&AgentOptions| strsim::osa_distance(id, &agent.id);
    let closest = config.agents.iter().min_by_key(distance);
    match closest.filter(|agent| distance(agent) <= id.chars().count().div_ceil(2)) {
        Some(agent) => vec![agent.id.clone()],
        None => config
            .agents
            .iter()
            .map(|agent| format!("`{}`", agent.id))
            .collect(),
    }
}

/// The value in use at a path.
pub(crate) fn get(config: &Config, path: &KeyPath) -> Result<Setting, ConfigError> {
    let origin = origin_of(&config.origins, path);
    if let Some(value) = lookup(&config.effective, path) {
        let set_here = config.origins.keys().any(|set| {
            let (long, short) = (set.segments(), path.segments());
            long.starts_with(short) || lookup_is_inside(&config.origins, set, path)
        });
        let origin = if set_here { origin } else { Origin::Default };
        return Ok(Setting {
            value: value.clone(),
            origin,
        });
    }
    known(path)?;
    Ok(Setting {
        value: Value::Null,
        origin: Origin::Default,
    })
}

/// Whether a value was set as part of the whole that `set` names, by an override.
fn lookup_is_inside(origins: &BTreeMap<KeyPath, Origin>, set: &KeyPath, path: &KeyPath) -> bool {
    let is_override = matches!(origins.get(set), Some(Origin::Flag(_) | Origin::Named(_)));
    is_override && path.segments().starts_with(set.segments())
}

/// The kind of a path's value, or the error for a path that no configuration has.
pub(crate) fn known(path: &KeyPath) -> Result<&'static Kind, ConfigError> {
    let mut kind: &'static Kind = &keys::ROOT;
    for (at, segment) in path.segments().iter().enumerate() {
        let here = || KeyPath::from_segments(&path.segments()[..=at]);
        let unknown = |keys| check::unknown_key(&Raw::default(), here(), keys);
        kind = match (kind, segment) {
            (Kind::Object(keys) | Kind::FlagOrObject(keys), Segment::Key(name)) => {
                &keys::find(keys, name).ok_or_else(|| unknown(keys))?.kind
            }
            (Kind::Server, Segment::Key(name)) => {
                let keys = keys::SERVER;
                &keys::find(keys, name).ok_or_else(|| unknown(keys))?.kind
            }
            (Kind::Map(each), Segment::Key(_)) | (Kind::List(each), Segment::Index(_)) => each,
            (Kind::Texts | Kind::Choices(_), Segment::Index(_)) => &Kind::Text,
            (Kind::Free | Kind::Ignored, _) => kind,
            _ => return Err(unknown(kind.keys().unwrap_or_default())),
        };
    }
    Ok(kind)
}

/// The value at a path.
pub(crate) fn lookup<'a>(root: &'a Value, path: &KeyPath) -> Option<&'a Value> {
    path.segments()
        .iter()
        .try_fold(root, |value, segment| match segment {
            Segment::Key(name) => value.get(name),
            Segment::Index(at) => value.get(at),
        })
}
