//! How each MCP server is reached: from the configuration to the options of the client.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use codecell_config::{McpEndpoint, McpOAuth, McpServerOptions};
use codecell_mcp::client::oauth::{Authorization, OAuthClient, OAuthOptions};
use codecell_mcp::client::{
    ClientCertificate, DEFAULT_CONNECT_TIMEOUT, DEFAULT_REQUEST_TIMEOUT, Endpoint, HttpEndpoint,
    HttpTransport, Lifecycle, ServerOptions, StdioEndpoint, ToolFilter,
};
use codecell_tools::Redactor;

use super::Base;
use super::settings::{Settings, read_file};

/// The folder of the tokens of all servers, in the state folder.
const TOKENS: &str = "mcp-oauth";

/// What the conversion needs to know.
pub(crate) struct Endpoints<'a> {
    /// Folders and environment.
    pub(crate) base: &'a Base,
    /// The configuration.
    pub(crate) settings: &'a Settings,
    /// Who is told what is secret.
    pub(crate) redactor: &'a Redactor,
}

impl Endpoints<'_> {
    /// One server; one that cannot be reached from here says why.
    pub(crate) fn server(&self, name: &str, server: &McpServerOptions) -> ServerOptions {
        let ms = |ms: Option<u64>, default| ms.map_or(default, Duration::from_millis);
        let (McpEndpoint::Command { env: told, .. } | McpEndpoint::Url { headers: told, .. }) =
            &server.endpoint;
        for (name, value) in told {
            self.redactor.register_named(name, value);
        }
        let endpoint = match &server.endpoint {
            McpEndpoint::Command {
                command,
                args,
                env,
                cwd,
            } => Endpoint::Stdio(StdioEndpoint {
                command: command.clone(),
                args: args.clone(),
                env: env.clone(),
                cwd: cwd.as_deref().map(|path| self.place(path)),
            }),
            url => self
                .address(name, url)
                .map_or_else(Endpoint::Unusable, Endpoint::Http),
        };
        ServerOptions {
            name: name.to_owned(),
            endpoint,
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

    /// The login of a server; `None` for one that has none by its configuration.
    ///
    /// # Errors
    /// Why a login with it is not possible.
    pub(crate) fn authorization(
        &self,
        name: &str,
        endpoint: &McpEndpoint,
    ) -> Result<Option<Arc<Authorization>>, String> {
        match endpoint {
            McpEndpoint::Command { .. } => Ok(None),
            url => Ok(self.address(name, url)?.authorization),
        }
    }

    fn address(&self, name: &str, endpoint: &McpEndpoint) -> Result<HttpEndpoint, String> {
        let McpEndpoint::Url {
            url,
            is_sse,
            headers,
            oauth,
            verifies_certificate,
            client_certificate,
        } = endpoint
        else {
            return Err("it is not reached at an address".to_owned());
        };
        let mut http = HttpEndpoint::new(url);
        if *is_sse {
            http.transport = HttpTransport::Sse;
        }
        http.headers.clone_from(headers);
        http.verifies_certificate = *verifies_certificate;
        http.authorities = self.authorities()?;
        if let Some((chain, key)) = client_certificate {
            let key = key.as_ref().unwrap_or(chain);
            http.client_certificate = Some(ClientCertificate {
                chain: read_pem(&self.place(chain))?,
                key: read_pem(&self.place(key))?,
            });
        }
        if let Some(oauth) = oauth {
            let authorization = Authorization::new(name, &http, self.oauth(oauth)?)?;
            http.authorization = Some(Arc::new(authorization));
        }
        Ok(http)
    }

    /// The authorities of `SSL_CERT_FILE`, as other programs read it.
    fn authorities(&self) -> Result<Vec<u8>, String> {
        let Some(path) = &self.base.surroundings.authorities else {
            return Ok(Vec::new());
        };
        std::fs::read(path).map_err(|error| {
            format!(
                "cannot read {}, which SSL_CERT_FILE names: {error}; correct or unset it",
                path.display()
            )
        })
    }

    fn oauth(&self, oauth: &McpOAuth) -> Result<OAuthOptions, String> {
        let state = self.settings.state_dir.as_ref();
        let state =
            state.ok_or("there is no home folder to keep tokens in; set CODECELL_STATE_DIR")?;
        let client = oauth.client_id.clone().map(|id| OAuthClient {
            id,
            secret: oauth.client_secret.clone(),
        });
        if client.is_none() && oauth.client_secret.is_some() {
            return Err("oauth.clientSecret needs oauth.clientId beside it".to_owned());
        }
        Ok(OAuthOptions {
            client,
            scope: oauth.scope.clone(),
            callback_port: oauth.callback_port,
            folder: state.join(TOKENS),
            redactor: self.redactor.clone(),
        })
    }

    fn place(&self, path: &str) -> PathBuf {
        self.settings.workspace.join(expand_home(self.base, path))
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use clap::Parser as _;
    use codecell_tools::Redactor;

    use super::Endpoints;
    use crate::args::Cli;
    use crate::compose::Base;
    use crate::streams::{StreamOptions, Streams, Volume};
    use crate::surroundings::Surroundings;

    const CONFIG: &str = r#"{"mcp": {"servers": {
        "near": {"command": "near", "env": {"NEAR_TOKEN": "token-of-near", "LOG_LEVEL": "debugging"}},
        "far": {"url": "https://far.example/mcp", "headers": {"Authorization": "Bearer token-of-far"}},
    }}}"#;

    fn base(folder: &std::path::Path) -> Base {
        let config = folder.join("codecell.json");
        std::fs::write(&config, CONFIG).expect("a file");
        let mut surroundings = Surroundings::of_process().expect("surroundings");
        surroundings.folder = folder.to_owned();
        surroundings.state_override = Some(folder.to_owned());
        surroundings.config_override = Some(config);
        Base {
            global: Cli::parse_from(["codecell", "doctor"]).global,
            surroundings,
            streams: Arc::new(Streams::new(StreamOptions {
                volume: Volume::Quiet,
                json: false,
                no_color: true,
            })),
        }
    }

    #[test]
    fn what_is_configured_as_a_secret_is_known_to_the_redactor() {
        let folder = tempfile::tempdir().expect("a folder");
        let base = base(folder.path());
        let settings = base.settings(&[]).expect("settings");
        let redactor = Redactor::default();
        let endpoints = Endpoints {
            base: &base,
            settings: &settings,
            redactor: &redactor,
        };
        for (name, server) in settings.loaded.config.mcp_servers() {
            endpoints.server(name, server);
        }
        assert_eq!(
            redactor.text("token-of-near, debugging, token-of-far"),
            "[redacted], debugging, [redacted]"
        );
    }
}
