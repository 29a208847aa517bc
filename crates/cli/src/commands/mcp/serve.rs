//! `codecell mcp` without a further word: the front, until its client leaves or somebody stops it.

use std::net::SocketAddr;
use std::sync::Arc;

use codecell_codemode::{OsRandomness, Randomness};
use codecell_mcp::front::{
    ElicitingApprover, EventHub, FrontParts, HttpOptions, PATH, serve_http, serve_stdio,
};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::args::ServeArgs;
use crate::compose::engine::{self, Cells};
use crate::compose::front::FrontBackend;
use crate::compose::runtime::{block_on, unavailable};
use crate::compose::settings::Settings;
use crate::compose::tooling::{Audience, Tooling, connect};
use crate::compose::{Base, code_mode, token};
use crate::error::{CliError, Exit};
use crate::interrupt::Interrupts;

/// Serves.
pub(crate) fn run(base: &Base, args: ServeArgs) -> Result<Exit, CliError> {
    check(&args)?;
    let settings = base.settings(&args.set)?;
    let asking = Asking {
        hub: Arc::default(),
        approver: Arc::default(),
    };
    block_on(async {
        let rights = &args.rights;
        let audience = Audience::Clients;
        let tooling =
            Tooling::build(base, &settings, &rights.filter, rights.approve, audience).await?;
        let tooling = tooling.for_others(
            &settings,
            rights.approve,
            Arc::clone(&asking.approver) as _,
            Arc::clone(&asking.hub) as _,
        );
        let servers = tooling.servers.clone();
        let telling = async {
            if let Some(servers) = &servers {
                connect(base, servers).await;
            }
            std::future::pending().await
        };
        let ended = tokio::select! {
            ended = serve(base, &settings, args, tooling, asking) => ended,
            never = telling => never,
        };
        if let Some(servers) = servers {
            servers.close().await;
        }
        ended
    })
}

/// Who is told of calls, and who is asked about them.
struct Asking {
    hub: Arc<EventHub>,
    approver: Arc<ElicitingApprover>,
}

/// Without a token only this machine is served.
fn check(args: &ServeArgs) -> Result<(), CliError> {
    match args.http {
        Some(address) if args.no_token && !address.ip().is_loopback() => Err(CliError::Argument {
            message: format!("--no-token with {address} would serve other machines"),
            hint: "use an address of this machine, such as 127.0.0.1, or leave --no-token out"
                .to_owned(),
        }),
        _ => Ok(()),
    }
}

async fn serve(
    base: &Base,
    settings: &Settings,
    args: ServeArgs,
    tooling: Tooling,
    asking: Asking,
) -> Result<Exit, CliError> {
    let core = Arc::clone(&tooling.core);
    let interrupts = Interrupts::listen(Arc::clone(&base.streams), move || core.kill_all())
        .map_err(|error| unavailable("to listen for signals", &error))?;
    let randomness = OsRandomness::new().map_err(|reason| CliError::Unavailable {
        message: format!("the system gives no random bytes: {reason}"),
        hint: "the front needs them for the names of its sessions".to_owned(),
    })?;
    let randomness: Arc<dyn Randomness> = Arc::new(randomness);
    let sandbox = engine::start(&base.streams, settings, Cells::Many)?;
    let cells = code_mode::build(settings, &tooling, sandbox, None)?;
    let backend = FrontBackend::new(settings, tooling, cells.clone(), Arc::clone(&randomness));
    let parts = FrontParts {
        backend: Arc::new(backend),
        hub: asking.hub,
        approver: asking.approver,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let stop = interrupts.asked().clone();
    let ended = match args.http {
        None => on_stdio(parts, stop.clone()).await,
        Some(address) => {
            let options = http_options(settings, &args, &*randomness, base)?;
            on_http(base, parts, address, options, stop.clone()).await
        }
    };
    cells.shutdown().await;
    ended?;
    Ok(match stop.is_cancelled() {
        true => Exit::Interrupted,
        false => Exit::Done,
    })
}

async fn on_stdio(parts: FrontParts, stop: CancellationToken) -> Result<(), CliError> {
    let served = serve_stdio(parts, stop).await;
    served.map_err(|error| CliError::Argument {
        message: error.to_string(),
        hint: "an MCP client starts codecell mcp and talks to it on stdin; \
            codecell mcp --help says how it is configured"
            .to_owned(),
    })
}

async fn on_http(
    base: &Base,
    parts: FrontParts,
    address: SocketAddr,
    options: HttpOptions,
    stop: CancellationToken,
) -> Result<(), CliError> {
    let taken = |error: std::io::Error| CliError::Unavailable {
        message: format!("cannot listen at {address}: {error}"),
        hint: "another program may use this port; port 0 takes a free one".to_owned(),
    };
    let listener = TcpListener::bind(address).await.map_err(taken)?;
    let address = listener.local_addr().map_err(taken)?;
    base.streams
        .note(&format!("serving http://{address}{PATH}"));
    serve_http(parts, listener, options, stop).await;
    Ok(())
}

/// The options of the door, with its token; says where that lies.
fn http_options(
    settings: &Settings,
    args: &ServeArgs,
    randomness: &dyn Randomness,
    base: &Base,
) -> Result<HttpOptions, CliError> {
    let token = match (args.no_token, &settings.state_dir) {
        (true, _) => {
            base.streams
                .warn("no token: every program and user of this machine can use these tools");
            None
        }
        (false, Some(state)) => {
            let token = token::load_or_make(state, randomness)?;
            let path = token.path.display();
            base.streams.note(&format!("the token is in {path}"));
            Some(token.text)
        }
        (false, None) => {
            return Err(CliError::Unavailable {
                message: "there is no home folder to keep the token in".to_owned(),
                hint: "set CODECELL_STATE_DIR to a folder that codecell may write to".to_owned(),
            });
        }
    };
    Ok(HttpOptions {
        token,
        allowed_hosts: args.allow_host.clone(),
        allowed_origins: args.allow_origin.clone(),
    })
}
