//! Marks that must never be seen, and a log of everything that the process said.
//!
//! A canary stands where a hostile program must not look: in another session's memory, results and
//! arguments, in the environment, in the name of the folder. It is random, so finding it is proof.

use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

use codecell_tools::{EventSink, ToolEvent};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// The variable of the environment that carries one; the folder of the process carries it as well.
pub const VARIABLE: &str = "CODECELL_HOSTILE_CANARY";

/// What must not be seen.
#[derive(Clone, Debug)]
pub struct Canaries {
    marks: Vec<String>,
}

impl Canaries {
    /// One of the other session's own, and the one of the environment.
    #[must_use]
    pub fn new(session: String) -> Self {
        let outer = std::env::var(VARIABLE).ok().filter(|mark| !mark.is_empty());
        Self {
            marks: std::iter::once(session).chain(outer).collect(),
        }
    }

    /// The other session's own.
    #[must_use]
    pub fn session(&self) -> &str {
        &self.marks[0]
    }

    /// Whether the text shows one.
    #[must_use]
    pub fn seen_in(&self, text: &str) -> bool {
        self.marks.iter().any(|mark| text.contains(mark.as_str()))
    }
}

/// Everything that was logged or recorded since it was last asked.
#[derive(Clone, Debug, Default)]
pub struct Log(Arc<Mutex<String>>);

impl Log {
    fn add(&self, text: &str) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push_str(text);
    }

    /// Takes what was said so far.
    #[must_use]
    pub fn take(&self) -> String {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Hears every event of this process from now on, of every level.
    ///
    /// # Errors
    /// When somebody else does already.
    pub fn listen(&self) -> Result<(), String> {
        tracing::subscriber::set_global_default(self.clone()).map_err(|error| error.to_string())
    }
}

impl EventSink for Log {
    fn emit(&self, event: &ToolEvent) {
        self.add(&format!("{event:?}\n"));
    }
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        // Writing to a string cannot fail.
        let _ = write!(self.0, " {}={value:?}", field.name());
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("codecell")
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let mut line = Line(attributes.metadata().name().to_owned());
        attributes.record(&mut line);
        self.add(&(line.0 + "\n"));
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        let mut line = Line(String::new());
        values.record(&mut line);
        self.add(&(line.0 + "\n"));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(event.metadata().target().to_owned());
        event.record(&mut line);
        self.add(&(line.0 + "\n"));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
