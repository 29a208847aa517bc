//! `codecell mcp login` and `logout`: a person lets us act for them at an MCP server, and takes it back.
//!
//! The address is shown, never opened: where the browser is, only the person knows.

use std::sync::Arc;
use std::time::Duration;

use codecell_config::McpEndpoint;
use codecell_mcp::client::oauth::{Authorization, LoggedIn, Login, LoginError};
use codecell_tools::Redactor;
use serde_json::json;

use crate::args::LoginArgs;
use crate::compose::Base;
use crate::compose::endpoints::Endpoints;
use crate::compose::runtime::{block_on, unavailable};
use crate::error::{CliError, Exit};
use crate::escape::one_line;
use crate::interrupt::Interrupts;

/// The longest name or text of others that a message repeats, in characters.
const SHOWN_CHARS: usize = 300;

/// Logs in.
pub(crate) fn log_in(base: &Base, args: &LoginArgs) -> Result<Exit, CliError> {
    let authorization = authorization(base, &args.name)?;
    block_on(async {
        let interrupts = Interrupts::listen(Arc::clone(&base.streams), || ())
            .map_err(|error| unavailable("to listen for signals", &error))?;
        let logging_in = logging_in(base, args, authorization);
        let patience = Duration::from_millis(args.timeout_ms);
        tokio::select! {
            () = interrupts.asked().cancelled() => Ok(Exit::Interrupted),
            ended = tokio::time::timeout(patience, logging_in) => {
                let logged_in = ended.map_err(|_| too_late(args))??;
                tell(base, args, &logged_in)
            }
        }
    })
}

async fn logging_in(
    base: &Base,
    args: &LoginArgs,
    authorization: Arc<Authorization>,
) -> Result<LoggedIn, CliError> {
    let failed = |error: LoginError| CliError::Unavailable {
        message: format!(
            "not logged in to `{}`: {error}",
            one_line(&args.name, SHOWN_CHARS)
        ),
        hint: hint(&error).to_owned(),
    };
    base.streams
        .progress("asking the server who gives tokens for it");
    let scopes = args.scope.iter().flat_map(|scope| scope.split_whitespace());
    let scopes: Vec<String> = scopes.map(str::to_owned).collect();
    let login = Login::begin(authorization, &scopes).await.map_err(failed)?;
    base.streams.needed(&format!(
        "open this address with a browser on this machine:\n\n  {}\n",
        login.address()
    ));
    base.streams
        .progress("waiting for the browser; Ctrl-C ends it");
    let ended = login.finish().await.map_err(failed);
    base.streams.end_progress();
    ended
}

fn hint(error: &LoginError) -> &'static str {
    match error {
        LoginError::Options(_) => "change the server in mcp.servers",
        LoginError::Listen(_) => "oauth.callbackPort may name a port that another program uses",
        LoginError::Keep(_) => {
            "the tokens of MCP servers are in mcp-oauth of the state folder, for their owner alone"
        }
        LoginError::Refused(_) | LoginError::Exchange(_) => "try it again; each login begins anew",
        LoginError::NoPkce(_) | LoginError::Registration(_) => {
            "a token that was made by other means can be given in headers"
        }
        _ => "check the address of the server; without OAuth, a token can be given in headers",
    }
}

fn too_late(args: &LoginArgs) -> CliError {
    CliError::Unavailable {
        message: format!(
            "not logged in to `{}`: nobody came back within {} ms",
            one_line(&args.name, SHOWN_CHARS),
            args.timeout_ms
        ),
        hint: "the browser has to be on this machine; --timeout-ms waits longer".to_owned(),
    }
}

fn tell(base: &Base, args: &LoginArgs, logged_in: &LoggedIn) -> Result<Exit, CliError> {
    let issuer = one_line(&logged_in.issuer, SHOWN_CHARS);
    base.streams
        .note(&format!("logged in to `{}` by {issuer}", args.name));
    if !logged_in.scopes.is_empty() {
        let scopes = one_line(&logged_in.scopes.join(" "), SHOWN_CHARS);
        base.streams.note(&format!("it may use: {scopes}"));
    }
    if !logged_in.is_refreshed {
        base.streams
            .note("the server gave no refresh token: when this one ends, it takes another login");
    }
    if base.streams.json() {
        base.streams.out_json(&json!({
            "name": args.name,
            "issuer": logged_in.issuer,
            "scopes": logged_in.scopes,
            "refreshed": logged_in.is_refreshed,
        }))?;
    }
    Ok(Exit::Done)
}

/// Logs out.
pub(crate) fn log_out(base: &Base, name: &str) -> Result<Exit, CliError> {
    let authorization = authorization(base, name)?;
    let was_there = block_on(async {
        let removed = authorization.log_out().await;
        removed.map_err(|reason| CliError::Unavailable {
            message: format!("the tokens cannot be removed: {reason}"),
            hint: "they are in mcp-oauth of the state folder".to_owned(),
        })
    })?;
    base.streams.note(&match was_there {
        true => format!(
            "forgot the login to `{name}`; the server may go on with it until its tokens end"
        ),
        false => format!("there was no login to `{name}`"),
    });
    if base.streams.json() {
        base.streams
            .out_json(&json!({"name": name, "removed": was_there}))?;
    }
    Ok(Exit::Done)
}

fn authorization(base: &Base, name: &str) -> Result<Arc<Authorization>, CliError> {
    let settings = base.settings(&[])?;
    let servers = settings.loaded.config.mcp_servers();
    let shown = one_line(name, SHOWN_CHARS);
    let server = servers.get(name).ok_or_else(|| CliError::NotFound {
        message: format!("there is no MCP server `{shown}`"),
        hint: "codecell mcp list shows those that there are".to_owned(),
    })?;
    let endpoints = Endpoints {
        base,
        settings: &settings,
        redactor: &Redactor::default(),
    };
    let unusable = |reason: String| CliError::Config {
        message: format!("a login to `{shown}` is not possible: {reason}"),
        hint: "change the server in mcp.servers, or in the file of --mcp-config".to_owned(),
    };
    let found = endpoints.authorization(name, &server.endpoint);
    found
        .map_err(unusable)?
        .ok_or_else(|| match &server.endpoint {
            McpEndpoint::Command { .. } => {
                unusable("it is a program that is started here".to_owned())
            }
            McpEndpoint::Url { .. } => CliError::Config {
                message: format!("the MCP server `{shown}` is configured without a login"),
                hint: format!("set mcp.servers.{shown}.auth to \"oauth\""),
            },
        })
}
