//! A configuration out of maps.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use codecell_config::{ConfigError, KeyPath, LoadRequest, Loaded, Override, Sources, load};

/// The files and variables of a test.
#[derive(Default)]
pub(crate) struct World {
    files: BTreeMap<PathBuf, String>,
    variables: BTreeMap<String, String>,
}

impl World {
    /// A world whose config file has this text.
    pub(crate) fn new(text: &str) -> Self {
        Self::default().file("codecell.json", text)
    }

    pub(crate) fn file(mut self, name: &str, text: &str) -> Self {
        self.files
            .insert(Path::new("/conf").join(name), text.to_owned());
        self
    }

    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    pub(crate) fn load(&self, flags: &[&str]) -> Result<Loaded, ConfigError> {
        let overrides: Result<Vec<_>, _> = flags.iter().map(|flag| Override::parse(flag)).collect();
        let request = LoadRequest {
            file: Some("/conf/codecell.json".into()),
            must_exist: true,
            overrides: overrides?,
        };
        self.load_request(&request)
    }

    pub(crate) fn load_request(&self, request: &LoadRequest) -> Result<Loaded, ConfigError> {
        let read_file = |path: &Path| {
            let found = self.files.get(path).cloned();
            found.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no such file"))
        };
        let env = |name: &str| self.variables.get(name).cloned();
        load(
            request,
            &Sources {
                read_file: &read_file,
                env: &env,
            },
        )
    }
}

pub(crate) fn loaded(text: &str) -> Loaded {
    World::new(text)
        .load(&[])
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

pub(crate) fn refused(text: &str) -> String {
    match World::new(text).load(&[]) {
        Ok(_) => format!("{text} is accepted"),
        Err(error) => error.to_string(),
    }
}

pub(crate) fn path(text: &str) -> KeyPath {
    KeyPath::parse(text).unwrap()
}

/// `value  (origin)` at a path.
pub(crate) fn setting(loaded: &Loaded, at: &str) -> String {
    match loaded.config.get(&path(at)) {
        Ok(setting) => format!("{at} = {}  ({})", setting.value, setting.origin),
        Err(error) => format!("{at}: {error}"),
    }
}
