//! Values kept for later cells of the same run: `results.save`, and outputs too large to return.
//!
//! In memory, one per run, bounded in number and in bytes; `run_results` puts a store behind it. The
//! invariant: what a program saved stays until a program deletes it; only what the host saved by
//! itself makes room for the host.

use std::collections::BTreeMap;
use std::sync::Arc;

use codecell_protocol::SavedResult;

use crate::deep_json;
use crate::durable::{StoreError, StoredValue};
use crate::limits::{JSON_DEPTH_LEVELS, SAVED_RESULTS};
use crate::shape;

/// Characters of a value's JSON that a description shows.
const PREVIEW_CHARS: usize = 200;

/// Who saved a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    Program,
    Host,
}

/// Why a value is not kept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SaveError {
    /// All places are taken.
    #[error(
        "all {limit} saved results of this run are in use; delete one with results.delete(id): {ids}"
    )]
    Full { limit: u64, ids: String },
    /// The bytes are used up.
    #[error(
        "saving {bytes} bytes would pass the {max_bytes} bytes that the saved results of this run may \
         have together; save less, or delete one with results.delete(id)"
    )]
    Bytes { bytes: u64, max_bytes: u64 },
    /// What is stored is not what was saved.
    #[error(
        "a saved result of this run was damaged in the store, so none of them can be used; remove the \
         damaged one with results.delete(id)"
    )]
    Damaged,
    /// The store did not do it.
    #[error("the store that keeps the saved results of this run refused: {0}")]
    Store(StoreError),
}

impl SaveError {
    /// The code that a program sees.
    pub(crate) const fn code(&self) -> &'static str {
        match self {
            Self::Full { .. } | Self::Bytes { .. } => "saved_results_full",
            Self::Damaged => "saved_results_damaged",
            Self::Store(_) => "store_unavailable",
        }
    }
}

impl From<StoreError> for SaveError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Damaged(_) => Self::Damaged,
            error => Self::Store(error),
        }
    }
}

#[derive(Debug)]
struct Kept {
    json: Arc<str>,
    owner: Owner,
}

/// The saved results of one run.
#[derive(Debug, Default)]
pub(crate) struct SavedResults {
    kept: BTreeMap<u64, Kept>,
    bytes: u64,
    last: u64,
}

impl SavedResults {
    /// Keeps a value, given as its JSON.
    pub(crate) fn save(
        &mut self,
        json: &str,
        owner: Owner,
        max_bytes: u64,
    ) -> Result<SavedResult, SaveError> {
        for old in self.room(json.len() as u64, owner, max_bytes)? {
            self.remove(old);
        }
        Ok(self.put(json, owner))
    }

    /// What must go for a value of this size: the oldest of the host's own, if that helps.
    pub(crate) fn room(
        &self,
        bytes: u64,
        owner: Owner,
        max_bytes: u64,
    ) -> Result<Vec<u64>, SaveError> {
        let (mut count, mut total) = (self.kept.len() as u64, self.bytes + bytes);
        let mut going = Vec::new();
        if owner == Owner::Host {
            for (number, kept) in self.of_host() {
                if count < SAVED_RESULTS && total <= max_bytes {
                    break;
                }
                going.push(*number);
                (count, total) = (count - 1, total - kept.json.len() as u64);
            }
        }
        if count >= SAVED_RESULTS {
            return Err(SaveError::Full {
                limit: SAVED_RESULTS,
                ids: self.ids(),
            });
        }
        if total > max_bytes {
            return Err(SaveError::Bytes { bytes, max_bytes });
        }
        Ok(going)
    }

    /// The number of the next value.
    pub(crate) const fn next(&self) -> u64 {
        self.last + 1
    }

    /// Has the next value get this number.
    pub(crate) const fn count_from(&mut self, next: u64) {
        self.last = next.saturating_sub(1);
    }

    /// Keeps a value for which there is room.
    pub(crate) fn put(&mut self, json: &str, owner: Owner) -> SavedResult {
        self.last += 1;
        self.insert(self.last, json.into(), owner);
        describe(&format!("r{}", self.last), json)
    }

    fn insert(&mut self, number: u64, json: Arc<str>, owner: Owner) {
        self.bytes += json.len() as u64;
        self.kept.insert(number, Kept { json, owner });
    }

    /// Has these values instead of its own. A number that was given once is not given again.
    pub(crate) fn restore(&mut self, values: Vec<StoredValue>) -> Result<(), SaveError> {
        let last = self.last;
        *self = Self::default();
        for value in values {
            let owner = match value.by_host {
                true => Owner::Host,
                false => Owner::Program,
            };
            let json = String::from_utf8(value.json).map_err(|_| SaveError::Damaged)?;
            self.insert(value.number, json.into(), owner);
            self.last = self.last.max(value.number);
        }
        self.last = self.last.max(last);
        Ok(())
    }

    /// The JSON of a saved value.
    pub(crate) fn load(&self, id: &str) -> Option<Arc<str>> {
        self.kept
            .get(&number(id)?)
            .map(|kept| Arc::clone(&kept.json))
    }

    /// Forgets a value; `false` when there is none of this number.
    pub(crate) fn remove(&mut self, number: u64) -> bool {
        let removed = self.kept.remove(&number);
        self.bytes -= removed.as_ref().map_or(0, |kept| kept.json.len() as u64);
        removed.is_some()
    }

    /// Id and size of each value, the newest first.
    pub(crate) fn sizes(&self) -> Vec<(String, u64)> {
        let kept = self.kept.iter().rev();
        kept.map(|(number, kept)| (format!("r{number}"), kept.json.len() as u64))
            .collect()
    }

    /// The ids, for an error about one that does not exist.
    pub(crate) fn ids(&self) -> String {
        const SHOWN: usize = 8;
        let mut ids: Vec<String> = self
            .kept
            .keys()
            .rev()
            .take(SHOWN)
            .map(|n| format!("r{n}"))
            .collect();
        if self.kept.len() > SHOWN {
            ids.push("…".to_owned());
        }
        ids.join(", ")
    }

    fn of_host(&self) -> impl Iterator<Item = (&u64, &Kept)> {
        self.kept
            .iter()
            .filter(|(_, kept)| kept.owner == Owner::Host)
    }
}

fn describe(id: &str, json: &str) -> SavedResult {
    // The value came from the guest as JSON; one that is not has no shape to tell.
    let value = deep_json::parse(json, JSON_DEPTH_LEVELS as usize).ok();
    SavedResult {
        id: id.to_owned(),
        bytes: json.len() as u64,
        count: value.as_ref().map_or(1, shape::count),
        shape: value.as_ref().map_or_else(|| "…".to_owned(), shape::shape),
        preview: json.chars().take(PREVIEW_CHARS).collect(),
    }
}

/// The number of a saved value that has this id.
pub(crate) fn number(id: &str) -> Option<u64> {
    id.strip_prefix('r')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn save(
        store: &mut SavedResults,
        value: &Value,
        owner: Owner,
    ) -> Result<SavedResult, SaveError> {
        store.save(&value.to_string(), owner, 100)
    }

    #[test]
    fn a_value_comes_back_with_a_description() {
        let mut store = SavedResults::default();
        let saved = save(&mut store, &json!([1, 2]), Owner::Program).expect("room");
        assert_eq!((saved.id.as_str(), saved.bytes, saved.count), ("r1", 5, 2));
        assert_eq!(
            (saved.shape.as_str(), saved.preview.as_str()),
            ("Array<number>", "[1,2]")
        );
        assert_eq!(store.load("r1").as_deref(), Some("[1,2]"));
        assert!(store.remove(1) && !store.remove(1));
        assert_eq!(store.load("r1"), None);
        assert_eq!(store.load("r01x"), None);
    }

    #[test]
    fn the_number_of_results_is_bounded() {
        let mut store = SavedResults::default();
        for _ in 0..SAVED_RESULTS {
            save(&mut store, &json!(1), Owner::Program).expect("room");
        }
        let error = save(&mut store, &json!(1), Owner::Program).expect_err("full");
        assert_eq!(
            error.to_string(),
            "all 64 saved results of this run are in use; delete one with results.delete(id): \
             r64, r63, r62, r61, r60, r59, r58, r57, …"
        );
        assert!(matches!(
            save(&mut store, &json!(1), Owner::Host),
            Err(SaveError::Full { .. })
        ));
        store.remove(3);
        assert_eq!(
            save(&mut store, &json!(1), Owner::Host).expect("room").id,
            "r65"
        );
    }

    #[test]
    fn the_bytes_are_bounded() {
        let mut store = SavedResults::default();
        let value = json!("x".repeat(98));
        save(&mut store, &value, Owner::Program).expect("exactly fits");
        let error = save(&mut store, &json!(1), Owner::Program).expect_err("full");
        assert_eq!(
            error,
            SaveError::Bytes {
                bytes: 1,
                max_bytes: 100
            }
        );
    }

    #[test]
    fn the_host_pushes_out_only_its_own() {
        let mut store = SavedResults::default();
        let forty = json!("x".repeat(38));
        save(&mut store, &forty, Owner::Program).expect("room");
        save(&mut store, &forty, Owner::Host).expect("room");
        save(&mut store, &forty, Owner::Host).expect("pushes out r2");
        assert_eq!(
            (store.load("r1").is_some(), store.load("r2").is_some()),
            (true, false)
        );
        let large = json!("x".repeat(60));
        assert!(save(&mut store, &large, Owner::Host).is_err());
        assert!(
            store.load("r3").is_some(),
            "nothing is dropped when that would not help"
        );
    }
}
