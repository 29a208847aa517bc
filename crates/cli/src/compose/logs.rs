//! Logs of the libraries on stderr: only when asked for, since setting them up takes time.

use std::io;

use tracing_subscriber::EnvFilter;

use crate::surroundings::Surroundings;

/// Starts logging if `-vv`, `CODECELL_LOG` or a debug variable asks for it.
pub(crate) fn start(verbose: u8, surroundings: &Surroundings) {
    let Some(filter) = filter(verbose, surroundings) else {
        return;
    };
    let logs = tracing_subscriber::fmt()
        // What the SDK says of logins in detail holds codes and tokens of identity.
        .with_env_filter(EnvFilter::new(format!(
            "{filter},rmcp::transport::auth=warn"
        )))
        .with_writer(io::stderr)
        .with_ansi(false)
        .without_time();
    // A second start in one process, as in tests, keeps the first.
    let _ = logs.try_init();
}

fn filter(verbose: u8, surroundings: &Surroundings) -> Option<String> {
    if let Some(filter) = &surroundings.log_filter {
        return Some(filter.clone());
    }
    if surroundings.debug_code_mode {
        return Some("warn,codecell_codemode=debug,codecell_tools=debug".to_owned());
    }
    match verbose {
        0 | 1 => None,
        2 => Some(
            "warn,codecell_codemode=debug,codecell_tools=debug,codecell_sandbox=debug".to_owned(),
        ),
        _ => Some("debug".to_owned()),
    }
}
