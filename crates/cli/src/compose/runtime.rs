//! The async runtime of a command that calls tools: one thread, since guests have threads of their own.

use std::future::Future;
use std::io;
use std::time::Duration;

use crate::error::CliError;

/// How long threads that still read something may take at the end.
const SHUTDOWN: Duration = Duration::from_millis(500);

/// Runs a future to its end.
///
/// # Errors
///
/// [`CliError::Unavailable`] when the system gives no runtime, and the future's own.
pub(crate) fn block_on<T>(
    future: impl Future<Output = Result<T, CliError>>,
) -> Result<T, CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| unavailable("the async runtime", &error))?;
    let result = runtime.block_on(future);
    runtime.shutdown_timeout(SHUTDOWN);
    result
}

/// The error for a part of the system that is not there.
pub(crate) fn unavailable(what: &str, error: &io::Error) -> CliError {
    CliError::Unavailable {
        message: format!("cannot start {what}: {error}"),
        hint: "this machine may be out of file descriptors, threads or memory; codecell doctor shows its limits".to_owned(),
    }
}
