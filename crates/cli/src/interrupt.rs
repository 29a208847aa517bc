//! Ctrl-C and the signals that ask to end.
//!
//! The first one asks: the command aborts its cell, which kills what the cell started, and reports.
//! The second one ends the process at once. The terminal is left as it was found: this program never
//! changes its modes, and the progress line is taken away.

use std::io;
use std::sync::Arc;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::error::Exit;
use crate::streams::Streams;

/// Listens for signals until dropped.
pub(crate) struct Interrupts {
    asked: CancellationToken,
    task: JoinHandle<()>,
}

impl Interrupts {
    /// Listens from now on. `at_force` runs before the second signal ends the process.
    ///
    /// # Errors
    ///
    /// When the system refuses to deliver signals.
    pub(crate) fn listen(
        streams: Arc<Streams>,
        at_force: impl Fn() + Send + 'static,
    ) -> io::Result<Self> {
        // Usable before the task starts, so that no signal is lost in between.
        let mut signals = Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        };
        let asked = CancellationToken::new();
        let token = asked.clone();
        let task = tokio::spawn(async move {
            signals.next().await;
            token.cancel();
            streams.end_progress();
            streams.note("\nstopping; press Ctrl-C again to end at once");
            signals.next().await;
            streams.end_progress();
            at_force();
            std::process::exit(Exit::Interrupted as i32);
        });
        Ok(Self { asked, task })
    }

    /// Cancelled by the first signal.
    pub(crate) fn asked(&self) -> &CancellationToken {
        &self.asked
    }
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }
}
