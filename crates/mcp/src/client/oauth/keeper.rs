//! The tokens of one server in use: held, refreshed in time, told to the redactor.
//!
//! A refresh that was begun comes to its end even if nobody waits for it any more: the old refresh
//! token may be worthless from then on, and the new one is on the disk before it is used. Of all
//! processes with the same tokens one refreshes at a time, and the others take what it brought.

use std::collections::VecDeque;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

use codecell_tools::Redactor;
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, CredentialStore as _, InMemoryCredentialStore,
    OAuthClientConfig, OAuthTokenResponse, StoredCredentials,
};
use serde_json::{Value, json};
use tokio_util::task::TaskTracker;

use super::error::{explain, words};
use super::net::Net;
use super::tokens::{Stamp, Tokens, Vault, now_secs};
use crate::client::options::HttpEndpoint;

/// Secrets of one server that the redactor knows; of more, the oldest have long ended.
const MAX_REGISTERED: usize = 64;

/// The longest token that is sent in a header.
const MAX_TOKEN_BYTES: usize = 16 * 1024;

/// A client that the authorization server knows already.
#[derive(Clone)]
pub struct OAuthClient {
    /// Its id there.
    pub id: String,
    /// Its secret, if it has one.
    pub secret: Option<String>,
}

/// How a server's OAuth is done.
#[derive(Clone)]
pub struct OAuthOptions {
    /// Who we are; `None` registers at each login.
    pub client: Option<OAuthClient>,
    /// The scopes to ask for, separated by blanks; `None` asks for those that the server names.
    pub scope: Option<String>,
    /// The port of this machine that the browser is sent back to; `None` takes a free one.
    pub callback_port: Option<u16>,
    /// The folder of all tokens; made, for its owner alone, when there are some to keep.
    pub folder: PathBuf,
    /// Who is told what is secret.
    pub redactor: Redactor,
}

/// The authorization of one server. Shared by all its connections.
pub struct Authorization {
    pub(super) server: String,
    pub(super) options: OAuthOptions,
    pub(super) net: Arc<Net>,
    pub(super) vault: Vault,
    held: tokio::sync::Mutex<Held>,
    registered: std::sync::Mutex<VecDeque<String>>,
    refreshes: TaskTracker,
}

impl fmt::Debug for Authorization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authorization").finish_non_exhaustive()
    }
}

#[derive(Default)]
struct Held {
    stamp: Option<Stamp>,
    tokens: Option<Tokens>,
}

/// Why there is no token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NoToken {
    /// A person has to log in.
    LoginNeeded,
    /// Something else is wrong, as a server that cannot be reached.
    Failed(String),
}

impl Authorization {
    /// The authorization of the server with this name. Nothing is read or sent yet.
    ///
    /// # Errors
    /// Why its address or options make that impossible.
    pub fn new(
        server: &str,
        endpoint: &HttpEndpoint,
        options: OAuthOptions,
    ) -> Result<Self, String> {
        let mut headers = endpoint.headers.keys();
        if headers.any(|name| name.eq_ignore_ascii_case("authorization")) {
            return Err(
                "it has both a header Authorization and auth: \"oauth\"; remove one of them"
                    .to_owned(),
            );
        }
        let net = Net::new(endpoint)?;
        let authorization = Self {
            server: server.to_owned(),
            vault: Vault::new(&options.folder, net.trust.server().as_str()),
            net: Arc::new(net),
            held: tokio::sync::Mutex::default(),
            registered: std::sync::Mutex::default(),
            refreshes: TaskTracker::new(),
            options,
        };
        let client = authorization.options.client.as_ref();
        if let Some(secret) = client.and_then(|client| client.secret.as_deref()) {
            authorization.register([secret]);
        }
        Ok(authorization)
    }

    /// Whether a person has logged in, as far as that is known without asking the server.
    #[must_use]
    pub fn is_logged_in(&self) -> bool {
        let tokens = self.load().ok().flatten();
        tokens.is_some_and(|tokens| tokens.refresh_token.is_some() || !tokens.has_ended())
    }

    /// What a person does about a missing login.
    #[must_use]
    pub fn hint(&self) -> String {
        format!(
            "it needs a login: run `codecell mcp login {}`",
            quoted(&self.server)
        )
    }

    /// What a person does about a scope that is missing.
    pub(super) fn scope_hint(&self, scope: Option<&str>) -> String {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || " -_.:/+*~@".contains(c);
        let scope = scope.map(|scope| scope.chars().take(200).collect::<String>());
        match scope.filter(|scope| !scope.is_empty() && scope.chars().all(is_plain)) {
            Some(scope) => format!(
                "the login does not allow this; it takes the scope `{scope}`: run `codecell mcp login {} --scope '{scope}'`",
                quoted(&self.server)
            ),
            None => "the login does not allow this".to_owned(),
        }
    }

    /// Forgets the tokens; whether there were any.
    ///
    /// # Errors
    /// What stands in the way.
    pub async fn log_out(&self) -> Result<bool, String> {
        if self.vault.stamp().is_none() {
            return Ok(false);
        }
        let _lock = self.vault.lock().await?;
        self.vault.remove()
    }

    /// Waits until no refresh is under way.
    pub(in crate::client) async fn settle(&self) {
        self.refreshes.close();
        self.refreshes.wait().await;
        self.refreshes.reopen();
    }

    /// An access token; another than `refused`, which the server did not take.
    pub(super) async fn token(self: &Arc<Self>, refused: Option<&str>) -> Result<String, NoToken> {
        let mut held = self.held.lock().await;
        self.catch_up(&mut held)?;
        let Some(tokens) = &held.tokens else {
            return Err(NoToken::LoginNeeded);
        };
        if is_usable(tokens, refused) {
            return Ok(tokens.access_token.clone());
        }
        let this = Arc::clone(self);
        let refused = refused.map(str::to_owned);
        let refresh = async move { this.refresh(refused.as_deref()).await };
        let refreshed = self.refreshes.spawn(refresh).await;
        let refreshed = refreshed.map_err(|error| NoToken::Failed(error.to_string()))?;
        // Whatever came of it, the file says more than we hold.
        *held = Held::default();
        refreshed
            .inspect(|tokens| {
                held.tokens = Some(tokens.clone());
                held.stamp = self.vault.stamp();
            })
            .map(|tokens| tokens.access_token)
    }

    /// Reads the file again if another process has written it.
    fn catch_up(&self, held: &mut Held) -> Result<(), NoToken> {
        let stamp = self.vault.stamp();
        if held.stamp != stamp || stamp.is_none() {
            held.tokens = self.load().map_err(NoToken::Failed)?;
            held.stamp = stamp;
        }
        Ok(())
    }

    /// The tokens in the file, if they are of the client that is configured.
    pub(super) fn load(&self) -> Result<Option<Tokens>, String> {
        let tokens = self.vault.load()?;
        let client = self.options.client.as_ref();
        let is_ours = |tokens: &Tokens| client.is_none_or(|client| client.id == tokens.client_id);
        let tokens = tokens.filter(is_ours);
        if let Some(tokens) = &tokens {
            self.register(tokens.secrets());
        }
        Ok(tokens)
    }

    /// Tells the redactor.
    pub(super) fn register<'a>(&self, secrets: impl IntoIterator<Item = &'a str>) {
        let registered = self.registered.lock();
        let mut registered = registered.unwrap_or_else(PoisonError::into_inner);
        for secret in secrets {
            if registered.iter().any(|known| known == secret) {
                continue;
            }
            self.options.redactor.register(secret);
            registered.push_back(secret.to_owned());
            if registered.len() > MAX_REGISTERED
                && let Some(oldest) = registered.pop_front()
            {
                self.options.redactor.forget(&oldest);
            }
        }
    }

    async fn refresh(&self, refused: Option<&str>) -> Result<Tokens, NoToken> {
        let _lock = self.vault.lock().await.map_err(NoToken::Failed)?;
        let Some(tokens) = self.load().map_err(NoToken::Failed)? else {
            return Err(NoToken::LoginNeeded);
        };
        // Another process may have been quicker.
        if is_usable(&tokens, refused) {
            return Ok(tokens);
        }
        let is_still_good = refused != Some(&tokens.access_token) && !tokens.has_ended();
        if tokens.refresh_token.is_none() {
            return if is_still_good {
                Ok(tokens)
            } else {
                Err(NoToken::LoginNeeded)
            };
        }
        match self.ask(&tokens).await {
            Ok(fresh) => {
                self.register(fresh.secrets());
                if let Err(reason) = self.vault.save(&fresh) {
                    // They are good as long as this process lives.
                    tracing::warn!(server = self.server, reason, "cannot keep refreshed tokens");
                }
                Ok(fresh)
            }
            Err(AuthError::TokenRefreshRejected(_)) => {
                self.vault.remove().map_err(NoToken::Failed)?;
                Err(NoToken::LoginNeeded)
            }
            Err(_) if is_still_good => Ok(tokens),
            Err(error) => {
                let reason = explain(&error, &tokens.secrets());
                let reason = self.net.failure().map_or(reason, |why| words(&why, &[]));
                Err(NoToken::Failed(format!(
                    "its token could not be refreshed: {reason}"
                )))
            }
        }
    }

    /// Exchanges a refresh token. It goes to the endpoint that gave it, and to no other that the
    /// server might name by now.
    async fn ask(&self, tokens: &Tokens) -> Result<Tokens, AuthError> {
        let internal = |error: serde_json::Error| AuthError::InternalError(error.to_string());
        let endpoint = self
            .net
            .trust
            .check_text("token endpoint", &tokens.token_endpoint);
        endpoint.map_err(AuthError::TokenRefreshFailed)?;
        let net = Arc::clone(&self.net) as _;
        let resource = tokens.resource.as_str();
        let mut manager = AuthorizationManager::new_with_oauth_http_client(resource, net).await?;
        let metadata = json!({
            "issuer": tokens.issuer,
            "authorization_endpoint": tokens.authorization_endpoint,
            "token_endpoint": tokens.token_endpoint,
            "token_endpoint_auth_methods_supported": tokens.auth_methods,
        });
        manager.set_metadata(serde_json::from_value(metadata).map_err(internal)?);
        let mut client = OAuthClientConfig::new(&tokens.client_id, "http://127.0.0.1/");
        if let Some(secret) = &tokens.client_secret {
            client = client.with_client_secret(secret);
        }
        manager.configure_client(client)?;
        let response = json!({
            "access_token": tokens.access_token,
            "token_type": "bearer",
            "refresh_token": tokens.refresh_token,
        });
        let response = serde_json::from_value(response).map_err(internal)?;
        let id = tokens.client_id.clone();
        let scopes = tokens.scopes.clone();
        let store = InMemoryCredentialStore::new();
        let stored = StoredCredentials::new(id, Some(response), scopes, None);
        store.save(stored).await?;
        manager.set_credential_store(store);
        let response = manager.refresh_token().await?;
        let granted = Granted::read(&response).map_err(AuthError::TokenRefreshFailed)?;
        Ok(granted.into_tokens(tokens.clone()))
    }
}

fn is_usable(tokens: &Tokens, refused: Option<&str>) -> bool {
    refused != Some(&tokens.access_token) && !tokens.is_ending()
}

/// A name as a shell takes it for one word.
fn quoted(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    match name.chars().all(is_plain) && !name.starts_with('-') {
        true => name.to_owned(),
        false => format!("'{}'", name.replace('\'', "'\\''")),
    }
}

/// What a token endpoint gave.
pub(super) struct Granted {
    access_token: String,
    refresh_token: Option<String>,
    expires_in_secs: Option<u64>,
    scopes: Option<Vec<String>>,
}

impl Granted {
    /// Reads the answer of a token endpoint.
    ///
    /// # Errors
    /// Why it gives no token that can be used.
    pub(super) fn read(response: &OAuthTokenResponse) -> Result<Self, String> {
        let value = serde_json::to_value(response).map_err(|error| error.to_string())?;
        let text = |name: &str| value.get(name).and_then(Value::as_str);
        let kind = text("token_type").unwrap_or_default();
        if !kind.eq_ignore_ascii_case("bearer") {
            return Err("its token is of another type than bearer".to_owned());
        }
        let access_token = text("access_token").unwrap_or_default().to_owned();
        let is_sendable = access_token.bytes().all(|byte| byte.is_ascii_graphic());
        if access_token.is_empty() || access_token.len() > MAX_TOKEN_BYTES || !is_sendable {
            return Err("its token cannot be sent in a header".to_owned());
        }
        Ok(Self {
            access_token,
            refresh_token: text("refresh_token").map(str::to_owned),
            expires_in_secs: value.get("expires_in").and_then(Value::as_u64),
            scopes: text("scope")
                .map(|scope| scope.split_whitespace().map(str::to_owned).collect()),
        })
    }

    /// The tokens after this answer, where `before` is what was there or was asked for.
    pub(super) fn into_tokens(self, before: Tokens) -> Tokens {
        let end = |secs: u64| now_secs().saturating_add(secs);
        Tokens {
            access_token: self.access_token,
            // A server that gives no new one goes on with the old one.
            refresh_token: self.refresh_token.or(before.refresh_token),
            expires_at: self.expires_in_secs.map(end),
            scopes: self.scopes.unwrap_or(before.scopes),
            ..before
        }
    }
}
