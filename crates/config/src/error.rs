//! Why a configuration is refused, in words that say which key to change and where it stands.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::path::KeyPath;

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody set it.
    Default,
    /// A file; line and column count from one, columns in characters.
    File {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
        /// The column.
        column: usize,
    },
    /// An override that is neither file nor flag, for example an environment variable's name.
    Named(String),
    /// A flag of the command line, as it was written.
    Flag(String),
}

/// The plain form is the place; the alternate form is the start of a message, empty for a default.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let as_prefix = f.alternate();
        match self {
            Self::Default if as_prefix => return Ok(()),
            Self::Default => f.write_str("default"),
            Self::File { path, line, column } => {
                write!(f, "{}:{line}:{column}", path.display())
            }
            Self::Named(name) => f.write_str(name),
            Self::Flag(text) => f.write_str(text),
        }?;
        f.write_str(if as_prefix { ": " } else { "" })
    }
}

/// Why there is no configuration. Each message names the key, the place and what to write.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A file cannot be read.
    #[error("cannot read the config file {}: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file is larger than is read.
    #[error("{}: the file has {bytes} bytes; a config file may have {max_bytes}", .path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size in bytes.
        bytes: usize,
        /// The limit in bytes.
        max_bytes: usize,
    },
    /// Not JSON5.
    #[error("{at:#}not valid JSON5: {message}")]
    Syntax {
        /// Where.
        at: Origin,
        /// What the parser said.
        message: String,
    },
    /// Objects and arrays nested too deep.
    #[error("{at:#}objects and arrays are nested deeper than {max_depth} levels")]
    TooDeep {
        /// Where the limit is passed.
        at: Origin,
        /// The limit in levels.
        max_depth: usize,
    },
    /// One object has a key twice.
    #[error("{at:#}the key {key:#} is set twice; keep one of them")]
    DuplicateKey {
        /// The second one's place.
        at: Origin,
        /// The key.
        key: KeyPath,
    },
    /// A key that nothing knows.
    #[error("{at:#}unknown key {key:#}.{}", did_you_mean(.near))]
    UnknownKey {
        /// Its place.
        at: Origin,
        /// The key.
        key: KeyPath,
        /// The nearest known key, if one is near, else the known keys at this place.
        near: Vec<String>,
    },
    /// A value of the wrong type.
    #[error("{at:#}{key:#} must be {expected}, but it is {found}")]
    WrongType {
        /// Its place.
        at: Origin,
        /// The key.
        key: KeyPath,
        /// The type that is expected, in words.
        expected: String,
        /// What is there, in words.
        found: String,
    },
    /// A text that is none of the known values.
    #[error("{at:#}{key:#} cannot be {given}; use {}", one_of(.allowed))]
    UnknownValue {
        /// Its place.
        at: Origin,
        /// The key.
        key: KeyPath,
        /// What is there, quoted.
        given: String,
        /// The known values.
        allowed: Vec<String>,
    },
    /// A key that must be there is not.
    #[error("{at:#}{key:#} needs {needs}")]
    Missing {
        /// The place of the object.
        at: Origin,
        /// The object's key.
        key: KeyPath,
        /// What it needs.
        needs: String,
    },
    /// Two keys that exclude each other.
    #[error("{at:#}{key:#} and {other:#} cannot both be set: {why}")]
    Conflict {
        /// The place of the second.
        at: Origin,
        /// The first.
        key: KeyPath,
        /// The second.
        other: KeyPath,
        /// Why not.
        why: String,
    },
    /// A key that restricts rights and that this program does not enforce.
    #[error(
        "{at:#}{key:#} restricts what may be done, but this version does not enforce it, \
         so it refuses to start. {advice}"
    )]
    NotEnforced {
        /// Its place.
        at: Origin,
        /// The key.
        key: KeyPath,
        /// What to do.
        advice: String,
    },
    /// A value whose feature is not part of this build.
    #[error("{at:#}{key:#} is {given}, which is not built into this version. {advice}")]
    NotBuilt {
        /// Its place.
        at: Origin,
        /// The key.
        key: KeyPath,
        /// What is there, quoted.
        given: String,
        /// What to do.
        advice: String,
    },
    /// `${NAME}` names a variable that is not set.
    #[error(
        "{at:#}{key:#} uses the environment variable {name}, which is not set. \
         Set it, or write $${{{name}}} for the text itself"
    )]
    MissingVariable {
        /// Its place.
        at: Origin,
        /// The key.
        key: KeyPath,
        /// The variable.
        name: String,
    },
    /// A file includes itself, directly or through others.
    #[error("{at:#}{} is included from within itself", .path.display())]
    IncludeCycle {
        /// The place of the include.
        at: Origin,
        /// The file.
        path: PathBuf,
    },
    /// Includes nested too deep.
    #[error("{at:#}includes are nested deeper than {max_depth} levels")]
    IncludeTooDeep {
        /// The place of the include.
        at: Origin,
        /// The limit in levels.
        max_depth: usize,
    },
    /// More includes than one configuration may have.
    #[error("{at:#}the configuration includes more than {max_files} files")]
    TooManyIncludes {
        /// The place of the include.
        at: Origin,
        /// The limit in files.
        max_files: usize,
    },
    /// An include that leaves the folder of the config file.
    #[error("{at:#}{} lies outside the folder of the config file; includes may not", .path.display())]
    IncludeOutside {
        /// The place of the include.
        at: Origin,
        /// The path as written.
        path: PathBuf,
    },
    /// Two agents have the same id.
    #[error("{at:#}there are two agents with the id `{id}`; rename one of them")]
    DuplicateAgent {
        /// The place of the second.
        at: Origin,
        /// The id.
        id: String,
    },
    /// An agent that the config does not list.
    #[error("unknown agent `{id}`.{}", did_you_mean(.near))]
    UnknownAgent {
        /// The id.
        id: String,
        /// The nearest ids.
        near: Vec<String>,
    },
    /// A text that is no path of keys.
    #[error("`{path}` is not a path of keys; write for example tools.codeMode.timeoutMs")]
    BadPath {
        /// The text.
        path: String,
    },
    /// A file that names no MCP servers.
    #[error(
        "{} names no MCP servers; it should have an object `mcpServers` of servers by name, each with `command` or `url`",
        .path.display()
    )]
    NoServers {
        /// The file.
        path: PathBuf,
    },
    /// An override that is not of the form `PATH=VALUE`.
    #[error(
        "`{text}` is not an override; write PATH=VALUE, for example tools.codeMode.timeoutMs=20000"
    )]
    BadOverride {
        /// The text.
        text: String,
    },
    /// An edit that the file's structure does not allow.
    #[error("{at:#}cannot set {key:#} here: {why}")]
    Edit {
        /// The place of the obstacle.
        at: Origin,
        /// The key to be set.
        key: KeyPath,
        /// What is in the way.
        why: String,
    },
}

fn did_you_mean(near: &[String]) -> String {
    match near {
        [] => String::new(),
        [one] if !one.starts_with('`') => format!(" Did you mean `{one}`?"),
        several => format!(" Known here: {}.", several.join(", ")),
    }
}

fn one_of(allowed: &[String]) -> String {
    match allowed {
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
        [] => "nothing".to_owned(),
    }
}
