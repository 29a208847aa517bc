//! Ids as newtypes, so that one is never passed for another.
//!
//! An id is a name, never a right: whoever presents one is checked against its owner.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A cell's id, `cm_<uuid>`: the `runId` that `exec` returns and `wait` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CellId(Uuid);

impl CellId {
    /// An id from 128 bits that the caller drew at random.
    #[must_use]
    pub const fn from_random(bits: u128) -> Self {
        Self(uuid::Builder::from_random_bytes(bits.to_be_bytes()).into_uuid())
    }

    /// The id without its prefix.
    #[must_use]
    pub const fn uuid(&self) -> Uuid {
        self.0
    }
}

impl fmt::Display for CellId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cm_{}", self.0.hyphenated())
    }
}

/// The text is not `cm_` followed by a UUID.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a cell id looks like cm_00000000-0000-4000-8000-000000000000")]
pub struct InvalidCellId;

impl FromStr for CellId {
    type Err = InvalidCellId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.strip_prefix("cm_").ok_or(InvalidCellId)?;
        if digits.len() != uuid::fmt::Hyphenated::LENGTH {
            return Err(InvalidCellId);
        }
        Uuid::try_parse(digits).map(Self).map_err(|_| InvalidCellId)
    }
}

impl TryFrom<String> for CellId {
    type Error = InvalidCellId;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<CellId> for String {
    fn from(id: CellId) -> Self {
        id.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_round_trips_through_its_text() {
        let id = CellId::from_random(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef);
        let text = id.to_string();
        assert_eq!(text, "cm_01234567-89ab-4def-8123-456789abcdef");
        assert_eq!(text.parse::<CellId>(), Ok(id));
    }

    #[test]
    fn other_spellings_are_refused() {
        for text in [
            "",
            "cm_",
            "cm_0123",
            "01234567-89ab-4def-8123-456789abcdef",
            "cm_0123456789ab4def8123456789abcdef",
        ] {
            assert_eq!(text.parse::<CellId>(), Err(InvalidCellId), "{text}");
        }
    }
}
