//! The saved results of one run, and the store behind them, if there is one.
//!
//! Without a store they live and end with the process. With one they are read at their first use, and
//! a change is on the disk before anybody hears of it. Other processes may save for the same run: a
//! number that turns out to be taken, and an id that is not known here, are looked up again. The
//! invariant: a change that the store refused has not happened here either.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use codecell_protocol::SavedResult;

use crate::clock::Clock;
use crate::durable::{SnapshotStore, StoreError, StoredValue, ValueChange, scope_parts};
use crate::limits::CELL_LIFE_SECONDS;
use crate::saved::{Owner, SaveError, SavedResults, number};
use crate::scope::Scope;

/// How often a number is looked for while other processes take them.
const ATTEMPTS: usize = 8;

/// Where the results of one run are kept over the end of the process.
pub(crate) struct Keeper {
    store: Arc<dyn SnapshotStore>,
    clock: Arc<dyn Clock>,
    scope: [u8; 32],
}

impl std::fmt::Debug for Keeper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keeper").finish_non_exhaustive()
    }
}

impl Keeper {
    pub(crate) fn new(store: Arc<dyn SnapshotStore>, clock: Arc<dyn Clock>, scope: &Scope) -> Self {
        Self {
            store,
            clock,
            scope: hash_of(scope),
        }
    }

    fn read(&self, results: &mut SavedResults) -> Result<(), SaveError> {
        let values = self.store.values(&self.scope)?;
        results.restore(values)
    }

    /// Every change keeps the results of the run for as long as a cell may live that starts now.
    fn change(&self, change: ValueChange) -> Result<(), StoreError> {
        let life_us = CELL_LIFE_SECONDS * 1_000_000;
        let expires_us = self.clock.unix_us().saturating_add(life_us);
        self.store.change_value(&self.scope, change, expires_us)
    }

    fn put(&self, number: u64, json: &str, owner: Owner) -> Result<(), StoreError> {
        self.change(ValueChange::Put(StoredValue {
            number,
            by_host: owner == Owner::Host,
            json: json.as_bytes().to_vec(),
        }))
    }

    fn delete(&self, number: u64) -> Result<(), StoreError> {
        self.change(ValueChange::Delete(number))
    }
}

/// The name of a scope in the store: its four parts, each after its length.
fn hash_of(scope: &Scope) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("codecell scope of saved results 1");
    for part in scope_parts(scope) {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    *hasher.finalize().as_bytes()
}

/// The saved results of one run.
#[derive(Debug)]
pub(crate) struct RunResults {
    keeper: Option<Keeper>,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    results: SavedResults,
    /// What is stored has been read, or there is nothing to read.
    is_read: bool,
    /// The run has ended: nothing is stored any more.
    is_over: bool,
}

impl RunResults {
    pub(crate) fn new(keeper: Option<Keeper>) -> Self {
        Self {
            keeper,
            inner: Mutex::default(),
        }
    }

    /// Results for a cell that is only run again: nothing is stored, and the next one has this number.
    pub(crate) fn from_number(next: u64) -> Self {
        let results = Self::new(None);
        results.lock().results.count_from(next);
        results
    }

    /// Keeps a value, given as its JSON.
    pub(crate) fn save(
        &self,
        json: &str,
        owner: Owner,
        max_bytes: u64,
    ) -> Result<SavedResult, SaveError> {
        let mut inner = self.ready()?;
        let Some(keeper) = self.keeper.as_ref().filter(|_| !inner.is_over) else {
            return inner.results.save(json, owner, max_bytes);
        };
        let results = &mut inner.results;
        for _ in 0..ATTEMPTS {
            for old in results.room(json.len() as u64, owner, max_bytes)? {
                keeper.delete(old)?;
                results.remove(old);
            }
            match keeper.put(results.next(), json, owner) {
                Ok(()) => return Ok(results.put(json, owner)),
                Err(StoreError::Taken) => keeper.read(results)?,
                Err(error) => return Err(error.into()),
            }
        }
        Err(StoreError::Taken.into())
    }

    /// The JSON of a saved value.
    pub(crate) fn load(&self, id: &str) -> Result<Option<Arc<str>>, SaveError> {
        let mut inner = self.ready()?;
        let Some(keeper) = self.keeper.as_ref().filter(|_| !inner.is_over) else {
            return Ok(inner.results.load(id));
        };
        let found = inner.results.load(id);
        if found.is_none() && number(id).is_some() {
            keeper.read(&mut inner.results)?;
            return Ok(inner.results.load(id));
        }
        Ok(found)
    }

    /// Forgets a value; `false` when there is none of this id. Of results that cannot be read any is
    /// removed unseen: that is how one gets rid of the damaged one.
    pub(crate) fn delete(&self, id: &str) -> Result<bool, SaveError> {
        let Some(number) = number(id) else {
            return Ok(false);
        };
        let is_damaged = match self.load(id) {
            Ok(None) => return Ok(false),
            Ok(Some(_)) => false,
            Err(SaveError::Damaged) => true,
            Err(error) => return Err(error),
        };
        let mut inner = self.lock();
        if let Some(keeper) = self.keeper.as_ref().filter(|_| !inner.is_over) {
            keeper.delete(number)?;
        }
        Ok(inner.results.remove(number) || is_damaged)
    }

    /// Id and size of each value, the newest first; none while they cannot be read.
    pub(crate) fn sizes(&self) -> Vec<(String, u64)> {
        self.ready()
            .map_or_else(|_| Vec::new(), |inner| inner.results.sizes())
    }

    /// The ids, for an error about one that does not exist.
    pub(crate) fn ids(&self) -> String {
        self.lock().results.ids()
    }

    /// Stores nothing any more, and removes what is stored. Waits for the disk.
    pub(crate) fn forget(&self) {
        let mut inner = self.lock();
        inner.is_over = true;
        let Some(keeper) = &self.keeper else { return };
        if let Err(error) = keeper.store.forget_values(&keeper.scope) {
            tracing::warn!(%error, "saved results of a run that ended are left to expire");
        }
    }

    /// The store is called under this lock; it knows nothing of these results.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The results, once they have been read.
    fn ready(&self) -> Result<MutexGuard<'_, Inner>, SaveError> {
        let mut inner = self.lock();
        if !inner.is_read {
            if let Some(keeper) = self.keeper.as_ref().filter(|_| !inner.is_over) {
                keeper.read(&mut inner.results)?;
            }
            inner.is_read = true;
        }
        Ok(inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_scope_do_not_run_together() {
        let hash = |owner: &str, agent: &str| hash_of(&Scope::new(owner, agent, "s", "r"));
        assert_eq!(hash("ab", "c"), hash("ab", "c"));
        assert_ne!(hash("ab", "c"), hash("a", "bc"));
    }
}
