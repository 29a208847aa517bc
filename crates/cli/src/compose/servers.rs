//! The MCP servers of a command: from the configuration and `--mcp-config` to a pool.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use codecell_config::{
    self as config, Foreign, KeyPath, McpEndpoint, McpServerOptions, Origin, Override, VariableUse,
    Variables, read_servers,
};
use codecell_mcp::client::{
    ClientCertificate, DEFAULT_CONNECT_TIMEOUT, DEFAULT_REQUEST_TIMEOUT, Endpoint, HttpEndpoint,
    HttpTransport, Lifecycle, Pool, PoolOptions, ServerOptions, StdioEndpoint, ToolFilter,
};

use super::Base;
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
/// called on the runtime that they run on. `can_ask` tells them that a person may be asked.
///
/// # Errors
///
/// [`CliError::Config`] for names that cannot be.
pub(crate) fn open(
    base: &Base,
    settings: &Settings,
    can_ask: bool,
) -> Result<Option<Arc<Pool>>, CliError> {
    let config = &settings.loaded.config;
    let enabled = config.mcp_servers().iter();
    let enabled = enabled.filter(|(_, server)| server.is_enabled);
    let servers: Vec<_> = enabled
        .map(|(name, server)| convert(base, settings, name, server))
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

fn convert(
    base: &Base,
    settings: &Settings,
    name: &str,
    server: &McpServerOptions,
) -> ServerOptions {
    let ms = |ms: Option<u64>, default| ms.map_or(default, Duration::from_millis);
    ServerOptions {
        name: name.to_owned(),
        endpoint: endpoint(base, settings, &server.endpoint).unwrap_or_else(Endpoint::Unusable),
        request_timeout: ms(server.request_timeout_ms, DEFAULT_REQUEST_TIMEOUT),
        connect_timeout: ms(server.connect_timeout_ms, DEFAULT_CONNECT_TIMEOUT),
        is_parallel: server.is_parallel,
        filter: ToolFilter {
            include: server.include_tools.clone(),
            exclude: server.exclude_tools.clone(),
        },
        lifecycle: Lifecycle::Auto,
    }
}

/// Where a server is, or why it cannot be reached from here.
fn endpoint(base: &Base, settings: &Settings, endpoint: &McpEndpoint) -> Result<Endpoint, String> {
    let place = |path: &str| settings.workspace.join(expand_home(base, path));
    match endpoint {
        McpEndpoint::Command {
            command,
            args,
            env,
            cwd,
        } => Ok(Endpoint::Stdio(StdioEndpoint {
            command: command.clone(),
            args: args.clone(),
            env: env.clone(),
            cwd: cwd.as_deref().map(place),
        })),
        McpEndpoint::Url { is_oauth: true, .. } => Err(
            "`auth: \"oauth\"` is not built into this version; get a token by other means and put it into \
             `headers: {Authorization: \"Bearer ...\"}`"
                .to_owned(),
        ),
        McpEndpoint::Url {
            url,
            is_sse,
            headers,
            verifies_certificate,
            client_certificate,
            ..
        } => Ok(Endpoint::Http(HttpEndpoint {
            url: url.clone(),
            transport: match is_sse {
                true => HttpTransport::Sse,
                false => HttpTransport::Streamable,
            },
            headers: headers.clone(),
            verifies_certificate: *verifies_certificate,
            client_certificate: client_certificate
                .as_ref()
                .map(|(chain, key)| {
                    let key = key.as_ref().unwrap_or(chain);
                    Ok::<_, String>(ClientCertificate {
                        chain: read_pem(&place(chain))?,
                        key: read_pem(&place(key))?,
                    })
                })
                .transpose()?,
        })),
    }
}

fn read_pem(path: &Path) -> Result<Vec<u8>, String> {
    let text = read_file(path).map_err(|error| {
        format!(
            "cannot read {}, which clientCert or clientKey names as a file in PEM form: {error}",
            path.display()
        )
    })?;
    Ok(text.into_bytes())
}

/// `~/` as a shell would read it.
fn expand_home(base: &Base, path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), &base.surroundings.home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}
