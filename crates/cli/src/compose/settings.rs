//! The configuration as this command uses it: the file, the flags on top, the agent, the folders.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use codecell_config::{
    AgentOptions, ConfigError, LoadRequest, Loaded, MAX_CONFIG_BYTES, Override, Sources, load,
};

use super::{Base, servers};
use crate::error::CliError;
use crate::surroundings::{ConfigFile, ConfigOrigin};

/// What a command needs to know before it builds anything.
pub(crate) struct Settings {
    /// The configuration and what is to be said about it.
    pub(crate) loaded: Loaded,
    /// What holds for the agent of this command.
    pub(crate) agent: AgentOptions,
    /// The workspace, canonical.
    pub(crate) workspace: PathBuf,
    /// Where state is kept; `None` without a home folder.
    pub(crate) state_dir: Option<PathBuf>,
    /// Where the compiled guest is kept; `None` without a home folder.
    pub(crate) cache_dir: Option<PathBuf>,
}

impl Base {
    /// Loads the configuration with these overrides, each `KEY=VALUE`.
    ///
    /// # Errors
    ///
    /// [`CliError::Config`] for a configuration that is refused, [`CliError::Workspace`] for a
    /// workspace that is no folder.
    pub(crate) fn settings(&self, overrides: &[String]) -> Result<Settings, CliError> {
        let loaded = self.load(overrides)?;
        let agent = loaded
            .config
            .agent(self.global.agent.as_deref())
            .map_err(refused)?;
        self.tell(&loaded);
        Ok(Settings {
            loaded,
            agent,
            workspace: self.workspace()?,
            state_dir: self.surroundings.state_dir().ok(),
            cache_dir: self.surroundings.cache_dir().ok(),
        })
    }

    /// Loads the configuration alone.
    ///
    /// # Errors
    ///
    /// [`CliError::Config`].
    pub(crate) fn load(&self, overrides: &[String]) -> Result<Loaded, CliError> {
        let file = self.config_file()?;
        let typed = overrides.iter().map(|text| Override::parse(text));
        let typed: Vec<_> = typed.collect::<Result<_, _>>().map_err(refused)?;
        let mut overrides = servers::overrides(self)?;
        overrides.extend(typed);
        let request = LoadRequest {
            must_exist: file
                .as_ref()
                .is_some_and(|file| file.origin != ConfigOrigin::Default),
            file: file.map(|file| file.path),
            overrides,
        };
        load_request(&request).map_err(refused)
    }

    /// The configuration file; `None` when there is no home folder and nobody named one.
    ///
    /// # Errors
    ///
    /// None at present; a file that somebody named is always an answer.
    pub(crate) fn config_file(&self) -> Result<Option<ConfigFile>, CliError> {
        let named = self.global.config.as_deref();
        match self.surroundings.config_file(named) {
            Ok(file) => Ok(Some(file)),
            Err(CliError::Unavailable { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn workspace(&self) -> Result<PathBuf, CliError> {
        let folder = match &self.global.workspace {
            Some(named) => self.surroundings.folder.join(named),
            None => self.surroundings.folder.clone(),
        };
        let unusable = |reason: String| CliError::Workspace {
            path: folder.clone(),
            reason,
        };
        let canonical = folder
            .canonicalize()
            .map_err(|error| unusable(error.to_string()))?;
        if canonical.is_dir() {
            Ok(canonical)
        } else {
            Err(unusable("it is not a folder".to_owned()))
        }
    }

    /// Says once what was accepted, but not as written.
    fn tell(&self, loaded: &Loaded) {
        let ignored: Vec<String> = loaded
            .report
            .ignored
            .iter()
            .map(ToString::to_string)
            .collect();
        if !ignored.is_empty() {
            let keys = ignored.join(", ");
            self.streams.warn(&format!(
                "the configuration has keys that codecell has no part for, and ignores: {keys}"
            ));
        }
        for clamped in &loaded.report.clamped {
            self.streams.explain(&format!(
                "{} is {}; used is {} (from {} to {})",
                clamped.path, clamped.given, clamped.used, clamped.min, clamped.max
            ));
        }
    }
}

/// Loads from this machine's files and environment.
///
/// # Errors
///
/// The first thing that is wrong.
pub(crate) fn load_request(request: &LoadRequest) -> Result<Loaded, ConfigError> {
    load(
        request,
        &Sources {
            read_file: &read_file,
            env: &|name| std::env::var(name).ok(),
        },
    )
}

/// The error of a value that was typed and cannot be set.
pub(crate) fn refused_value(error: ConfigError) -> CliError {
    CliError::Config {
        message: error.to_string(),
        hint: "nothing was changed; codecell config schema shows what each key takes".to_owned(),
    }
}

/// The error of a broken configuration, with what to do.
pub(crate) fn refused(error: ConfigError) -> CliError {
    let hint = match &error {
        ConfigError::BadOverride { .. } | ConfigError::BadPath { .. } => "",
        error if error.to_string().starts_with("--set ") => {
            "correct the option; codecell config schema shows what each key takes"
        }
        ConfigError::UnknownAgent { .. } => {
            "name one of the agents that the configuration lists with --agent ID"
        }
        ConfigError::Read { .. } => "check the path, or leave the option out to use the defaults",
        _ => "correct the file, then run codecell config validate",
    };
    CliError::Config {
        message: error.to_string(),
        hint: hint.to_owned(),
    }
}

/// A configuration file's text, no more than the loader takes and one byte.
pub(crate) fn read_file(path: &Path) -> io::Result<String> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::Error::other("it is a folder"));
    }
    let mut text = String::new();
    file.take(MAX_CONFIG_BYTES as u64 + 1)
        .read_to_string(&mut text)?;
    Ok(text)
}

/// The error of rules that make no policy, or of a policy that leaves no tool.
pub(crate) fn refused_policy(error: &dyn std::error::Error) -> CliError {
    CliError::Config {
        message: error.to_string(),
        hint: "the rules come from tools.allow and tools.deny of the configuration, and from --allow and --deny".to_owned(),
    }
}
