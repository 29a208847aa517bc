//! Numbers for words: each different word gets the next one, and keeps it.
//!
//! One string holds all texts and one open table their places, so that a lookup touches little
//! memory and a new word allocates nothing of its own. Nothing is ever taken out. The order of the
//! numbers is the order in which the words came.

use std::hash::BuildHasher as _;

use foldhash::fast::RandomState;

/// How many slots there are for each word at least; more make fewer collisions.
const SLOTS_PER_WORD: usize = 2;

/// Words and their numbers.
#[derive(Debug, Default)]
pub(super) struct Interner {
    /// Half a hash, then the number and one; zero where nothing is. Their count is a power of two.
    slots: Vec<u64>,
    ends: Vec<usize>,
    text: String,
    state: RandomState,
}

impl Interner {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn text(&self, number: u32) -> &str {
        let at = number as usize;
        let from = match at.checked_sub(1) {
            Some(before) => self.ends[before],
            None => 0,
        };
        &self.text[from..self.ends[at]]
    }

    /// The number of a word, and whether it is new.
    pub(super) fn number(&mut self, word: &str) -> (u32, bool) {
        if (self.len() + 1) * SLOTS_PER_WORD > self.slots.len() {
            self.grow();
        }
        let hash = self.state.hash_one(word.as_bytes());
        let mut at = self.slot_of(hash);
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                break;
            }
            let number = (slot as u32) - 1;
            if is_like(slot, hash) && self.text(number) == word {
                return (number, false);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
        let number = u32::try_from(self.len()).unwrap_or(u32::MAX - 1);
        self.text.push_str(word);
        self.ends.push(self.text.len());
        self.slots[at] = slot(hash, number);
        (number, true)
    }

    fn slot_of(&self, hash: u64) -> usize {
        hash as usize & (self.slots.len() - 1)
    }

    fn grow(&mut self) {
        let count = (self.slots.len() * 2).max(1024);
        self.slots = vec![0; count];
        for number in 0..u32::try_from(self.len()).unwrap_or(u32::MAX) {
            let hash = self.state.hash_one(self.text(number).as_bytes());
            let mut at = self.slot_of(hash);
            while self.slots[at] != 0 {
                at = (at + 1) & (count - 1);
            }
            self.slots[at] = slot(hash, number);
        }
    }
}

fn slot(hash: u64, number: u32) -> u64 {
    (hash & !u64::from(u32::MAX)) | u64::from(number + 1)
}

fn is_like(slot: u64, hash: u64) -> bool {
    slot >> 32 == hash >> 32
}

#[cfg(test)]
mod tests {
    use super::Interner;

    #[test]
    fn each_word_keeps_its_number() {
        let mut interner = Interner::default();
        let words: Vec<String> = (0..5_000).map(|at| format!("w{}", at * 7)).collect();
        for round in 0..2 {
            for (at, word) in (0_u32..).zip(&words) {
                assert_eq!(interner.number(word), (at, round == 0));
            }
        }
        assert_eq!(interner.number(""), (5_000, true));
        assert_eq!(interner.number(""), (5_000, false));
        assert!((0_u32..).zip(&words).all(|(at, w)| interner.text(at) == w));
        assert_eq!(interner.len(), 5_001);
    }
}
