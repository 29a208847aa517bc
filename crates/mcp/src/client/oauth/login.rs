//! A login: from a server's address to tokens, with a person in between.
//!
//! Discovery and registration come first, and everything that they say is checked before a person
//! sees an address. What the browser brings back is exchanged with the server that was asked and no
//! other. Dropping a login before its end leaves nothing here.

use std::sync::Arc;

use reqwest::header::WWW_AUTHENTICATE;
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, OAuthClientConfig,
};
use serde_json::{Value, json};
use url::Url;

use super::callback::{Answer, Callback};
use super::error::{LoginError, explain, words};
use super::keeper::{Authorization, Granted};
use super::tokens::Tokens;

/// How we call ourselves.
const CLIENT_NAME: &str = "codecell";

/// The longest challenge that is read.
const MAX_CHALLENGE_BYTES: usize = 8 * 1024;

/// A login that waits for a person.
pub struct Login {
    authorization: Arc<Authorization>,
    manager: AuthorizationManager,
    callback: Callback,
    address: Url,
    state: String,
    /// What will be kept, without what only the exchange gives.
    asked: Tokens,
}

/// A login that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedIn {
    /// Who gave the tokens.
    pub issuer: String,
    /// What they allow; empty if that was not said.
    pub scopes: Vec<String>,
    /// Whether they last without another login.
    pub is_refreshed: bool,
}

impl Login {
    /// Finds out who gives tokens for the server, makes us known there, and listens for the answer.
    /// `scopes` are asked for besides what the server and the options want.
    ///
    /// # Errors
    /// [`LoginError`]; nothing is left behind.
    pub async fn begin(
        authorization: Arc<Authorization>,
        scopes: &[String],
    ) -> Result<Self, LoginError> {
        let options = &authorization.options;
        let callback = Callback::listen(options.callback_port.unwrap_or(0)).await?;
        let trust = &authorization.net.trust;
        let mut identity = trust.server().clone();
        // A query may hold what only the server should see.
        identity.set_query(None);
        identity.set_fragment(None);
        let net = Arc::clone(&authorization.net) as _;
        let manager = AuthorizationManager::new_with_oauth_http_client(identity, net).await;
        let mut manager = manager.map_err(|error| discovery(&authorization, &error))?;
        let challenge = challenge(&authorization).await?;
        let resolved = manager.resolve_metadata_from_challenge(challenge.as_deref());
        let resolved = resolved.await;
        let resolved = resolved.map_err(|error| discovery(&authorization, &error))?;
        if !resolved.source.is_discovered() {
            return Err(LoginError::Discovery(
                "the server does not say who gives tokens for it; it may need none, or a token in headers".to_owned(),
            ));
        }
        let metadata = resolved.metadata;
        let issuer = check(&authorization, &metadata)?;
        manager.set_metadata(metadata.clone());
        let scopes = wanted(&authorization, &manager, scopes).await;
        let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let client = client(&authorization, &mut manager, &callback.address, &scopes).await?;
        let address = manager.get_authorization_url(&scopes).await;
        let address = address.map_err(|error| discovery(&authorization, &error))?;
        let address = trust.check_text("authorization endpoint", &address);
        let address = address.map_err(LoginError::Discovery)?;
        let asked = Tokens {
            version: Tokens::VERSION,
            url: trust.server().as_str().to_owned(),
            resource: parameter(&address, "resource"),
            issuer,
            authorization_endpoint: metadata.authorization_endpoint,
            token_endpoint: metadata.token_endpoint,
            auth_methods: texts(
                &metadata.additional_fields,
                "token_endpoint_auth_methods_supported",
            ),
            client_id: client.client_id,
            client_secret: client.client_secret,
            access_token: String::new(),
            refresh_token: None,
            expires_at: None,
            scopes: scopes.into_iter().map(str::to_owned).collect(),
        };
        let state = parameter(&address, "state");
        authorization.register(asked.secrets().into_iter().chain([state.as_str()]));
        Ok(Self {
            authorization,
            manager,
            callback,
            address,
            state,
            asked,
        })
    }

    /// Where a person goes with a browser on this machine.
    #[must_use]
    pub fn address(&self) -> &Url {
        &self.address
    }

    /// Waits for the browser to come back, and keeps the tokens. Takes as long as the person does.
    ///
    /// # Errors
    /// [`LoginError`]; what was kept before stays.
    pub async fn finish(self) -> Result<LoggedIn, LoginError> {
        let Self {
            authorization,
            manager,
            callback,
            state,
            asked,
            ..
        } = self;
        let answer = callback.answer(state.clone()).await?;
        let code = code(&answer, &asked)?;
        authorization.register([code]);
        let issuer = answer.issuer.as_deref();
        let response = manager.exchange_code_for_token_with_issuer(code, &state, issuer);
        let response = response.await.map_err(|error| {
            let secrets = [code, asked.client_secret.as_deref().unwrap_or_default()];
            exchange(&authorization, error, &secrets)
        })?;
        let granted = Granted::read(&response).map_err(LoginError::Exchange)?;
        let tokens = granted.into_tokens(asked);
        authorization.register(tokens.secrets());
        let _lock = authorization.vault.lock().await.map_err(LoginError::Keep)?;
        authorization
            .vault
            .save(&tokens)
            .map_err(LoginError::Keep)?;
        Ok(LoggedIn {
            issuer: tokens.issuer,
            scopes: tokens.scopes,
            is_refreshed: tokens.refresh_token.is_some(),
        })
    }
}

/// What the server says to those who show no token: often where its metadata is, and which scopes it
/// wants. Some servers greet anybody, and turn away only who asks for more.
async fn challenge(authorization: &Authorization) -> Result<Option<String>, LoginError> {
    let us = json!({"name": CLIENT_NAME, "version": env!("CARGO_PKG_VERSION")});
    let greeting = json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": us,
    });
    for (method, params) in [("initialize", greeting), ("tools/list", json!({}))] {
        let message = json!({"jsonrpc": "2.0", "id": 0, "method": method, "params": params});
        let challenge = knock(authorization, &message).await?;
        if challenge.is_some() {
            return Ok(challenge);
        }
    }
    Ok(None)
}

async fn knock(
    authorization: &Authorization,
    message: &Value,
) -> Result<Option<String>, LoginError> {
    let net = &authorization.net;
    let request = net.own().post(net.trust.server().clone());
    let request = request
        .headers(net.headers.clone())
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json")
        .body(message.to_string());
    let response = request.send().await.map_err(|error| {
        let reason = crate::client::http::explain(&error);
        LoginError::Discovery(format!("the server cannot be reached: {reason}"))
    })?;
    let values = response.headers().get_all(WWW_AUTHENTICATE).iter();
    let mut values = values.filter_map(|value| value.to_str().ok());
    let is_ours = |value: &&str| {
        value.len() <= MAX_CHALLENGE_BYTES && value.to_ascii_lowercase().contains("bearer")
    };
    Ok(values.find(is_ours).map(str::to_owned))
}

/// Checks what the SDK leaves open; gives the issuer.
fn check(
    authorization: &Authorization,
    metadata: &AuthorizationMetadata,
) -> Result<String, LoginError> {
    let issuer = metadata.issuer.clone().ok_or_else(|| {
        LoginError::Discovery("the authorization server does not name itself".to_owned())
    })?;
    let methods = metadata.code_challenge_methods_supported.as_deref();
    if !methods.is_some_and(|methods| methods.iter().any(|method| method == "S256")) {
        return Err(LoginError::NoPkce(words(&issuer, &[])));
    }
    let endpoints = [
        (
            "authorization endpoint",
            Some(&metadata.authorization_endpoint),
        ),
        ("token endpoint", Some(&metadata.token_endpoint)),
        (
            "registration endpoint",
            metadata.registration_endpoint.as_ref(),
        ),
    ];
    for (what, endpoint) in endpoints {
        if let Some(endpoint) = endpoint {
            let checked = authorization.net.trust.check_text(what, endpoint);
            checked.map_err(|why| LoginError::Discovery(format!("{what} {why}")))?;
        }
    }
    Ok(issuer)
}

/// The scopes to ask for: those of the options or else of the server, those that an earlier login
/// had, those that are wanted now.
async fn wanted(
    authorization: &Authorization,
    manager: &AuthorizationManager,
    more: &[String],
) -> Vec<String> {
    let mut scopes = match &authorization.options.scope {
        Some(scope) => scope.split_whitespace().map(str::to_owned).collect(),
        None => manager.select_initial_scopes(&[]).await,
    };
    let earlier = authorization.load().ok().flatten();
    let earlier = earlier.into_iter().flat_map(|tokens| tokens.scopes);
    for scope in earlier.chain(more.iter().cloned()) {
        if !scopes.contains(&scope) {
            scopes.push(scope);
        }
    }
    scopes
}

/// Who we are: as configured, or as registered just now.
async fn client(
    authorization: &Authorization,
    manager: &mut AuthorizationManager,
    callback: &str,
    scopes: &[&str],
) -> Result<OAuthClientConfig, LoginError> {
    let Some(known) = &authorization.options.client else {
        let registered = manager.register_client(CLIENT_NAME, callback, scopes).await;
        return registered.map_err(|error| {
            let why = said(authorization, &error, &[]);
            LoginError::Registration(format!(
                "{why}; register it there by hand, for http://127.0.0.1:PORT/callback, and configure oauth.clientId and oauth.callbackPort"
            ))
        });
    };
    let mut config = OAuthClientConfig::new(&known.id, callback);
    if let Some(secret) = &known.secret {
        config = config.with_client_secret(secret);
    }
    let configured = manager.configure_client(config.clone());
    configured.map_err(|error| discovery(authorization, &error))?;
    Ok(config)
}

/// The code of an answer.
fn code<'a>(answer: &'a Answer, asked: &Tokens) -> Result<&'a str, LoginError> {
    if let Some(issuer) = &answer.issuer
        && *issuer != asked.issuer
    {
        return Err(LoginError::WrongIssuer {
            expected: words(&asked.issuer, &[]),
            received: words(issuer, &[]),
        });
    }
    answer.code.as_deref().ok_or_else(|| {
        let error = answer.error.as_deref().unwrap_or("no code was given");
        let text = match &answer.description {
            Some(description) => format!("{error}: {description}"),
            None => error.to_owned(),
        };
        LoginError::Refused(words(&text, &[]))
    })
}

fn exchange(authorization: &Authorization, error: AuthError, secrets: &[&str]) -> LoginError {
    match error {
        AuthError::AuthorizationServerMismatch {
            expected_issuer,
            received_issuer,
        } => LoginError::WrongIssuer {
            expected: words(&expected_issuer, &[]),
            received: words(&received_issuer, &[]),
        },
        AuthError::AuthorizationServerMissingIssuer { expected_issuer } => {
            LoginError::WrongIssuer {
                expected: words(&expected_issuer, &[]),
                received: "nobody".to_owned(),
            }
        }
        error => LoginError::Exchange(said(authorization, &error, secrets)),
    }
}

fn discovery(authorization: &Authorization, error: &AuthError) -> LoginError {
    LoginError::Discovery(said(authorization, error, &[]))
}

/// What an error comes down to: the request that failed, if one did.
fn said(authorization: &Authorization, error: &AuthError, secrets: &[&str]) -> String {
    let failure = authorization.net.failure();
    failure.map_or_else(|| explain(error, secrets), |why| words(&why, secrets))
}

fn parameter(address: &Url, name: &str) -> String {
    let mut pairs = address.query_pairs();
    let found = pairs.find(|(key, _)| key == name);
    found
        .map(|(_, value)| value.into_owned())
        .unwrap_or_default()
}

fn texts(fields: &std::collections::HashMap<String, Value>, name: &str) -> Vec<String> {
    let list = fields.get(name).and_then(Value::as_array);
    let list = list.into_iter().flatten();
    list.filter_map(|value| value.as_str().map(str::to_owned))
        .collect()
}
