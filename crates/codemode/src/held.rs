//! The snapshot of a suspended cell while it is held in memory: raw for a moment, then compressed.
//!
//! Few are raw at a time: beside others, beyond [`RAW_TOTAL_BYTES`], a snapshot is compressed before its
//! suspension is answered, so that a crowd of cells never weighs more than its compressed size and a constant.
//!
//! The bytes that it takes are counted for the process for exactly as long as it is held.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use codecell_sandbox::{RestoreError, Sandbox, Snapshot, SnapshotKey, StoredSnapshot};

use crate::services::Services;

/// How long a snapshot stays raw: a `wait` that follows at once need not undo a compression.
const RAW_FOR: Duration = Duration::from_millis(20);

/// Raw snapshots of the process together, in bytes, where there are several.
const RAW_TOTAL_BYTES: u64 = 128 << 10;

/// A raw snapshot that is the only one of the process, in bytes.
const RAW_ALONE_BYTES: u64 = 4 << 20;

enum Form {
    Raw(Arc<Snapshot>),
    Stored(StoredSnapshot),
    Taken,
}

/// One held snapshot.
pub(crate) struct Held {
    services: Arc<Services>,
    form: Mutex<Form>,
    raw_bytes: u64,
}

impl Held {
    /// Holds a snapshot, and has it compressed in the background.
    pub(crate) fn hold(services: &Arc<Services>, snapshot: Snapshot) -> Arc<Self> {
        let raw_bytes = snapshot.raw_bytes();
        services.add_suspended_bytes(raw_bytes);
        let others = services.add_raw_snapshot_bytes(raw_bytes);
        let held = Arc::new(Self {
            services: Arc::clone(services),
            form: Mutex::new(Form::Raw(Arc::new(snapshot))),
            raw_bytes,
        });
        if may_stay_raw(others, raw_bytes) {
            held.compress_later();
        } else {
            held.compress();
        }
        held
    }

    /// Holds a snapshot that comes from a store.
    pub(crate) fn stored(services: &Arc<Services>, stored: StoredSnapshot) -> Arc<Self> {
        services.add_suspended_bytes(stored.stored_bytes());
        Arc::new(Self {
            services: Arc::clone(services),
            raw_bytes: stored.raw_bytes(),
            form: Mutex::new(Form::Stored(stored)),
        })
    }

    /// The bytes for a store, and the number of the snapshot.
    pub(crate) fn encode(
        &self,
        sandbox: &Sandbox,
        key: &SnapshotKey,
    ) -> Result<(Vec<u8>, u64), RestoreError> {
        const GONE: RestoreError = RestoreError::Malformed("it was resumed before");
        let raw = match &*self.lock() {
            Form::Stored(stored) => {
                return Ok((stored.encode(Some(key)), stored.binding().sequence));
            }
            Form::Raw(snapshot) => Arc::clone(snapshot),
            Form::Taken => return Err(GONE),
        };
        let stored = sandbox
            .compress(&raw)
            .map_err(|_| RestoreError::Malformed("it could not be compressed"))?;
        let encoded = (stored.encode(Some(key)), stored.binding().sequence);
        self.replace_if_raw(Form::Stored(stored));
        Ok(encoded)
    }

    /// Size of the raw delta.
    pub(crate) fn raw_bytes(&self) -> u64 {
        self.raw_bytes
    }

    /// Size as kept, once compressed.
    pub(crate) fn stored_bytes(&self) -> Option<u64> {
        match &*self.lock() {
            Form::Stored(stored) => Some(stored.stored_bytes()),
            Form::Raw(_) | Form::Taken => None,
        }
    }

    /// Takes the snapshot out, to restore it. Once only.
    pub(crate) fn take(&self, sandbox: &Sandbox) -> Result<Arc<Snapshot>, RestoreError> {
        let form = self.replace(Form::Taken);
        match form {
            Form::Raw(snapshot) => Ok(snapshot),
            Form::Stored(stored) => sandbox.expand(&stored).map(Arc::new),
            Form::Taken => Err(RestoreError::Malformed("it was resumed before")),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Form> {
        self.form.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts another form in place and keeps the process's count.
    fn replace(&self, with: Form) -> Form {
        self.exchange(&mut self.lock(), with)
    }

    fn compress_later(self: &Arc<Self>) {
        let weak = Arc::downgrade(self);
        let services = &self.services;
        let tasks = services.tasks.clone();
        let runtime = services.parts.runtime.clone();
        services.tasks.spawn_on(
            async move {
                tokio::time::sleep(RAW_FOR).await;
                let Some(held) = weak.upgrade() else { return };
                tasks.spawn_blocking_on(move || held.compress(), &runtime);
            },
            &services.parts.runtime,
        );
    }

    fn compress(&self) {
        let snapshot = match &*self.lock() {
            Form::Raw(snapshot) => Arc::clone(snapshot),
            Form::Stored(_) | Form::Taken => return,
        };
        // Without the lock: whoever resumes meanwhile takes the raw form and does not wait.
        let Ok(stored) = self.services.parts.sandbox.compress(&snapshot) else {
            return;
        };
        self.replace_if_raw(Form::Stored(stored));
    }

    fn replace_if_raw(&self, with: Form) {
        let mut form = self.lock();
        if matches!(*form, Form::Raw(_)) {
            self.exchange(&mut form, with);
        }
    }

    fn exchange(&self, form: &mut Form, with: Form) -> Form {
        self.services.sub_suspended_bytes(form.bytes());
        self.services.add_suspended_bytes(with.bytes());
        if matches!(form, Form::Raw(_)) {
            self.services.sub_raw_snapshot_bytes(self.raw_bytes);
        }
        std::mem::replace(form, with)
    }
}

/// Whether a snapshot of so many bytes may stay raw for a moment, beside others of so many.
fn may_stay_raw(others: u64, raw_bytes: u64) -> bool {
    let most = if others == 0 {
        RAW_ALONE_BYTES
    } else {
        RAW_TOTAL_BYTES
    };
    others.saturating_add(raw_bytes) <= most
}

impl Form {
    fn bytes(&self) -> u64 {
        match self {
            Self::Raw(snapshot) => snapshot.raw_bytes(),
            Self::Stored(stored) => stored.stored_bytes(),
            Self::Taken => 0,
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.replace(Form::Taken);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_large_snapshot_stays_raw_and_a_crowd_does_not() {
        for (others, raw_bytes, expected) in [
            (0, RAW_ALONE_BYTES, true),
            (0, RAW_ALONE_BYTES + 1, false),
            (1, RAW_TOTAL_BYTES - 1, true),
            (1, RAW_TOTAL_BYTES, false),
        ] {
            assert_eq!(
                may_stay_raw(others, raw_bytes),
                expected,
                "{raw_bytes} beside {others}"
            );
        }
    }
}
