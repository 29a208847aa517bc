//! The MCP servers of a command: from the configuration and `--mcp-config` to a pool.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use codecell_config::{
    self as config, Foreign, KeyPath, Origin, Override, VariableUse, Variables, read_servers,
};
use codecell_mcp::client::{Pool, PoolOptions};
use codecell_tools::Redactor;

use super::Base;
use super::endpoints::Endpoints;
use super::settings::{Settings, read_file, refused};
use crate::error::CliError;

/// The servers of `--mcp-config`, each as an override of `mcp.servers.<name>`. What cannot be used
/// is said on stderr.
///
/// # Errors
///
/// [`CliError::Config`] for a file that cannot be read or names no servers.
pub(crate) fn overrides(base: &Base) -> Result<Vec<Override>, CliError> {
    let mut overrides = Vec::new();
    for file in &base.global.mcp_config {
        let path = base.surroundings.folder.join(file);
        let foreign = read(base, &path, VariableUse::Resolve)?;
        for refused in &foreign.refused {
            base.streams.warn(&format!(
                "the MCP server `{}` of {} is left out: {}",
                refused.name,
                file.display(),
                refused.reason
            ));
        }
        for server in foreign.servers {
            for note in &server.notes {
                let name = &server.name;
                base.streams
                    .explain(&format!("MCP server `{name}`: {note}"));
            }
            overrides.push(Override {
                origin: Origin::Flag(format!("--mcp-config {}", file.display())),
                path: server_path(&server.name),
                value: server.value,
            });
        }
    }
    Ok(overrides)
}

/// The key of a server.
pub(crate) fn server_path(name: &str) -> KeyPath {
    KeyPath::default().key("mcp").key("servers").key(name)
}

/// Reads a file of another client.
///
/// # Errors
///
/// [`CliError::Config`].
pub(crate) fn read(base: &Base, path: &Path, usage: VariableUse) -> Result<Foreign, CliError> {
    let text = read_file(path).map_err(|source| {
        refused(config::ConfigError::Read {
            path: path.to_owned(),
            source,
        })
    })?;
    let workspace = base.global.workspace.as_ref();
    let workspace = workspace.map_or_else(
        || base.surroundings.folder.clone(),
        |named| base.surroundings.folder.join(named),
    );
    let workspace = workspace.display().to_string();
    let home = base.surroundings.home.as_ref();
    let home = home.map(|home| home.display().to_string());
    let variables = Variables {
        env: &|name| std::env::var(name).ok(),
        usage,
        workspace: &workspace,
        home: home.as_deref(),
    };
    read_servers(path, &text, &variables).map_err(refused)
}

/// The pool of the servers that are configured and enabled; `None` when there are none. To be
/// called on the runtime that they run on. The redactor is told their secrets; `can_ask` tells them
/// that a person may be asked.
///
/// # Errors
///
/// [`CliError::Config`] for names that cannot be.
pub(crate) fn open(
    base: &Base,
    settings: &Settings,
    redactor: &Redactor,
    can_ask: bool,
) -> Result<Option<Arc<Pool>>, CliError> {
    let endpoints = Endpoints {
        base,
        settings,
        redactor,
    };
    let config = &settings.loaded.config;
    let enabled = config.mcp_servers().iter();
    let enabled = enabled.filter(|(_, server)| server.is_enabled);
    let servers: Vec<_> = enabled
        .map(|(name, server)| endpoints.server(name, server))
        .collect();
    if servers.is_empty() {
        return Ok(None);
    }
    let options = PoolOptions {
        idle_ttl: Duration::from_millis(config.mcp_idle_ttl_ms()),
        environment: base.surroundings.child_env(),
        folder: settings.workspace.clone(),
        guard: guard(),
        can_ask,
        ..PoolOptions::new(servers)
    };
    let pool = Pool::new(options).map_err(|error| CliError::Config {
        message: error.to_string(),
        hint: "rename the server in mcp.servers, or in the file of --mcp-config".to_owned(),
    })?;
    Ok(Some(Arc::new(pool)))
}

/// The first argument of this program when it is the guard of a server.
pub(crate) const GUARD: &str = "__guard";

/// This program as a guard, if it can be found.
fn guard() -> Option<Vec<OsString>> {
    let program = std::env::current_exe().ok()?;
    Some(vec![program.into_os_string(), GUARD.into()])
}
