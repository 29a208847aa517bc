//! What the process finds around it: folders and environment variables, read once.
//!
//! No other module of any crate asks the environment or the home folder.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::error::CliError;

/// The name of the configuration file in the state folder.
pub(crate) const CONFIG_FILE_NAME: &str = "codecell.json";

/// Environment variables that hold keys of model providers, as their own tools name them.
pub(crate) const PROVIDER_KEYS: &[&str] = &[
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
    "GEMINI_API_KEY",
    "MISTRAL_API_KEY",
    "GROQ_API_KEY",
    "XAI_API_KEY",
    "DEEPSEEK_API_KEY",
];

/// Folders and environment, as this process found them.
#[derive(Debug, Clone)]
pub(crate) struct Surroundings {
    /// The current folder.
    pub(crate) folder: PathBuf,
    /// The home folder, if there is one.
    pub(crate) home: Option<PathBuf>,
    /// `CODECELL_STATE_DIR`.
    pub(crate) state_override: Option<PathBuf>,
    /// `CODECELL_CONFIG_PATH`.
    pub(crate) config_override: Option<PathBuf>,
    /// `XDG_CACHE_HOME`, if it is an absolute path.
    pub(crate) cache_home: Option<PathBuf>,
    /// `SSL_CERT_FILE`: authorities that servers may have their certificates from, besides the known.
    pub(crate) authorities: Option<PathBuf>,
    /// `CODECELL_LOG`: what is logged to stderr, as a filter.
    pub(crate) log_filter: Option<String>,
    /// The switches `OPENCLAW_DEBUG_CODE_MODE` and `CODECELL_DEBUG_CODE_MODE`.
    pub(crate) debug_code_mode: bool,
    /// Which of [`PROVIDER_KEYS`] are set.
    pub(crate) provider_keys: Vec<&'static str>,
}

impl Surroundings {
    /// Asks the process.
    ///
    /// # Errors
    ///
    /// [`CliError::Workspace`] when the current folder is gone.
    pub(crate) fn of_process() -> Result<Self, CliError> {
        let folder = std::env::current_dir().map_err(|error| CliError::Workspace {
            path: PathBuf::from("."),
            reason: error.to_string(),
        })?;
        let is_on = |name: &str| variable(name).is_some_and(|value| value != "0");
        Ok(Self {
            folder,
            home: std::env::home_dir().filter(|home| home.is_absolute()),
            state_override: variable("CODECELL_STATE_DIR").map(PathBuf::from),
            config_override: variable("CODECELL_CONFIG_PATH").map(PathBuf::from),
            cache_home: variable("XDG_CACHE_HOME")
                .map(PathBuf::from)
                .filter(|path| path.is_absolute()),
            authorities: variable("SSL_CERT_FILE").map(PathBuf::from),
            log_filter: variable("CODECELL_LOG").and_then(|filter| filter.into_string().ok()),
            debug_code_mode: is_on("OPENCLAW_DEBUG_CODE_MODE") || is_on("CODECELL_DEBUG_CODE_MODE"),
            provider_keys: PROVIDER_KEYS
                .iter()
                .copied()
                .filter(|name| variable(name).is_some())
                .collect(),
        })
    }

    /// The folder that holds what is kept between commands; it need not exist.
    ///
    /// # Errors
    ///
    /// [`CliError::Unavailable`] when neither a home folder nor `CODECELL_STATE_DIR` says where.
    pub(crate) fn state_dir(&self) -> Result<PathBuf, CliError> {
        if let Some(folder) = &self.state_override {
            return Ok(self.folder.join(folder));
        }
        self.home
            .as_ref()
            .map(|home| home.join(".codecell"))
            .ok_or_else(|| CliError::Unavailable {
                message: "there is no home folder to keep state in".to_owned(),
                hint: "set CODECELL_STATE_DIR to a folder that codecell may write to".to_owned(),
            })
    }

    /// The folder for what can be made again: `codecell` in `XDG_CACHE_HOME`, else `cache` in the
    /// state folder. It need not exist.
    ///
    /// # Errors
    ///
    /// As [`Surroundings::state_dir`].
    pub(crate) fn cache_dir(&self) -> Result<PathBuf, CliError> {
        match &self.cache_home {
            Some(folder) => Ok(folder.join("codecell")),
            None => Ok(self.state_dir()?.join("cache")),
        }
    }

    /// The environment of this process, for the shell tool to choose from.
    pub(crate) fn child_env(&self) -> Vec<(String, String)> {
        let text = |value: OsString| value.into_string().ok();
        std::env::vars_os()
            .filter_map(|(name, value)| Some((text(name)?, text(value)?)))
            .collect()
    }

    /// Where the configuration is read from, and whether somebody named that file.
    ///
    /// # Errors
    ///
    /// As [`Surroundings::state_dir`], when nobody named a file.
    pub(crate) fn config_file(&self, named: Option<&Path>) -> Result<ConfigFile, CliError> {
        if let Some(path) = named {
            return Ok(ConfigFile {
                path: self.folder.join(path),
                origin: ConfigOrigin::Option,
            });
        }
        if let Some(path) = &self.config_override {
            return Ok(ConfigFile {
                path: self.folder.join(path),
                origin: ConfigOrigin::Variable,
            });
        }
        let path = self.state_dir()?.join(CONFIG_FILE_NAME);
        Ok(ConfigFile {
            path,
            origin: ConfigOrigin::Default,
        })
    }
}

/// The configuration file in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConfigFile {
    /// Where it is or would be.
    pub(crate) path: PathBuf,
    /// Who said so.
    pub(crate) origin: ConfigOrigin,
}

/// Who said where the configuration is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConfigOrigin {
    /// `--config`.
    Option,
    /// `CODECELL_CONFIG_PATH`.
    Variable,
    /// Nobody: the file in the state folder, which need not exist.
    Default,
}

impl ConfigOrigin {
    /// In words.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Option => "--config",
            Self::Variable => "CODECELL_CONFIG_PATH",
            Self::Default => "the state folder",
        }
    }
}

/// Whether `NO_COLOR` is set, or the terminal can show no colours.
pub(crate) fn no_color() -> bool {
    variable("NO_COLOR").is_some() || variable("TERM").is_some_and(|term| term == "dumb")
}

/// A variable that is set and not empty.
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
