//! Values kept for later cells of the same run: `results.save`, and outputs too large to return.
//!
//! One store per run, bounded in number and in bytes. The invariant: what a program saved stays
//! until a program deletes it; only what the host saved by itself makes room for the host.

use std::collections::BTreeMap;
use std::sync::Arc;

use codecell_protocol::SavedResult;

use crate::deep_json;
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
        let bytes = json.len() as u64;
        if owner == Owner::Host {
            self.make_room(bytes, max_bytes);
        }
        if self.kept.len() as u64 >= SAVED_RESULTS {
            return Err(SaveError::Full {
                limit: SAVED_RESULTS,
                ids: self.ids(),
            });
        }
        if self.bytes + bytes > max_bytes {
            return Err(SaveError::Bytes { bytes, max_bytes });
        }
        self.last += 1;
        self.bytes += bytes;
        self.kept.insert(
            self.last,
            Kept {
                json: json.into(),
                owner,
            },
        );
        Ok(describe(&format!("r{}", self.last), json))
    }

    /// The JSON of a saved value.
    pub(crate) fn load(&self, id: &str) -> Option<Arc<str>> {
        self.kept
            .get(&number(id)?)
            .map(|kept| Arc::clone(&kept.json))
    }

    /// Forgets a value; `false` when there is none of this id.
    pub(crate) fn delete(&mut self, id: &str) -> bool {
        let removed = number(id).and_then(|number| self.kept.remove(&number));
        self.bytes -= removed.as_ref().map_or(0, |kept| kept.json.len() as u64);
        removed.is_some()
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

    /// Drops the oldest values of the host's own until one more of this size fits, if that helps.
    fn make_room(&mut self, bytes: u64, max_bytes: u64) {
        let owned: u64 = self.of_host().map(|(_, kept)| kept.json.len() as u64).sum();
        if bytes + self.bytes - owned > max_bytes {
            return;
        }
        while self.kept.len() as u64 >= SAVED_RESULTS || self.bytes + bytes > max_bytes {
            let Some(oldest) = self.of_host().map(|(number, _)| *number).next() else {
                return;
            };
            if let Some(kept) = self.kept.remove(&oldest) {
                self.bytes -= kept.json.len() as u64;
            }
        }
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

fn number(id: &str) -> Option<u64> {
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
        assert!(store.delete("r1") && !store.delete("r1"));
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
        store.delete("r3");
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
