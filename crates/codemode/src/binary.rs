//! Binary content of tools' results: it stays on the host, the guest gets a reference.
//!
//! One store per run. A reference is a name in the store of its own run and nothing elsewhere; it
//! is drawn at random, so text does not name one by accident. The invariant: the store never holds
//! more than its limit, the oldest content leaves first.

use std::collections::{BTreeSet, HashSet, VecDeque};

use codecell_tools::ContentBlock;
use serde_json::Value;

use crate::limits::{BINARY_BLOCKS, BINARY_BYTES};

/// What every reference starts with.
const PREFIX: &str = "ref_";

/// Hexadecimal digits of the random bits in a reference.
const NONCE_CHARS: usize = 16;

/// The binary content of one run.
#[derive(Debug)]
pub(crate) struct BinaryStore {
    nonce: u64,
    next: u64,
    /// The newest content, numbered in a row up to `next`.
    kept: VecDeque<ContentBlock>,
    bytes: u64,
}

impl BinaryStore {
    /// An empty store whose references hold these random bits.
    pub(crate) fn new(nonce: u64) -> Self {
        Self {
            nonce,
            next: 0,
            kept: VecDeque::new(),
            bytes: 0,
        }
    }

    /// Keeps the block's content, if it has any and it fits, and gives its reference.
    pub(crate) fn keep(&mut self, block: &ContentBlock) -> Option<String> {
        let (_, data) = block.binary()?;
        let bytes = data.len() as u64;
        if bytes > BINARY_BYTES {
            return None;
        }
        while self.bytes + bytes > BINARY_BYTES || self.kept.len() as u64 >= BINARY_BLOCKS {
            self.bytes -= self
                .kept
                .pop_front()
                .map_or(self.bytes, |kept| bytes_of(&kept));
        }
        self.next += 1;
        self.bytes += bytes;
        self.kept.push_back(block.clone());
        Some(format!("{PREFIX}{:016x}_{}", self.nonce, self.next))
    }

    /// The block as the guest gets it.
    pub(crate) fn for_guest(&mut self, block: &ContentBlock) -> Value {
        let mut json = block.to_json();
        if block.binary().is_some() {
            match self.keep(block) {
                Some(reference) => json["ref"] = Value::from(reference),
                None => {
                    json["note"] = Value::from(format!(
                        "not kept: over the limit of {BINARY_BYTES} bytes for binary content"
                    ));
                }
            }
        }
        json
    }

    /// The blocks whose references stand in these JSON texts, each once: text by text, and for each
    /// in the order of the store. Every text is read once, however much is kept.
    pub(crate) fn named_in<'t>(
        &self,
        texts: impl IntoIterator<Item = &'t str>,
    ) -> Vec<ContentBlock> {
        if self.kept.is_empty() {
            return Vec::new();
        }
        let mut seen = HashSet::new();
        let mut found = Vec::new();
        for text in texts {
            let numbers: BTreeSet<u64> = self.numbers_in(text).collect();
            let new = numbers.into_iter().filter(|number| seen.insert(*number));
            found.extend(new.filter_map(|number| self.block(number)).cloned());
        }
        found
    }

    /// The numbers of this store's references in a text.
    fn numbers_in<'t>(&self, text: &'t str) -> impl Iterator<Item = u64> + use<'t> {
        let opening = format!("\"ref\":\"{PREFIX}{:016x}_", self.nonce);
        text.match_indices(PREFIX).filter_map(move |(at, _)| {
            let from = at.checked_sub(opening.len() - PREFIX.len() - NONCE_CHARS - 1)?;
            let (number, _) = text.get(from..)?.strip_prefix(&opening)?.split_once('"')?;
            number.parse().ok()
        })
    }

    /// The block of this number, if it is kept. Numbers are given out in a row, so its place follows.
    fn block(&self, number: u64) -> Option<&ContentBlock> {
        let first = self.next + 1 - self.kept.len() as u64;
        self.kept.get(number.checked_sub(first)? as usize)
    }
}

fn bytes_of(block: &ContentBlock) -> u64 {
    block.binary().map_or(0, |(_, data)| data.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(bytes: usize) -> ContentBlock {
        ContentBlock::Image {
            mime_type: "image/png".into(),
            data: vec![0; bytes].into(),
        }
    }

    #[test]
    fn the_guest_gets_a_reference_and_never_the_bytes() {
        let mut store = BinaryStore::new(7);
        let json = store.for_guest(&image(5));
        assert_eq!(
            json.to_string(),
            r#"{"type":"image","mimeType":"image/png","bytes":5,"ref":"ref_0000000000000007_1"}"#
        );
        assert_eq!(store.named_in([format!("[{json}]").as_str()]), [image(5)]);
        for other in [
            "0000000000000007_2",
            "0000000000000007_0",
            "0000000000000008_1",
            "7_1",
        ] {
            let text = format!(r#"ref_{{"ref":"ref_{other}"}}"#);
            assert_eq!(store.named_in([text.as_str()]), [], "{other}");
        }
    }

    #[test]
    fn text_is_not_kept() {
        let mut store = BinaryStore::new(7);
        assert_eq!(
            store.for_guest(&ContentBlock::Text("x".into())).to_string(),
            r#"{"type":"text","text":"x"}"#
        );
        assert_eq!(store.next, 0);
    }

    #[test]
    fn the_number_of_blocks_is_bounded_and_each_is_found_once() {
        let mut store = BinaryStore::new(7);
        let all: Vec<String> = (0..=BINARY_BLOCKS)
            .map(|n| store.for_guest(&image(n as usize % 5)).to_string())
            .collect();
        assert_eq!(store.kept.len() as u64, BINARY_BLOCKS);
        let (first, rest) = all.split_first().expect("some");
        assert_eq!(store.named_in([first.as_str()]), []);
        let text = rest.join(",");
        let found = store.named_in([text.as_str(), text.as_str()]);
        assert_eq!(found.len() as u64, BINARY_BLOCKS);
    }

    #[test]
    fn the_oldest_content_leaves_first() {
        let mut store = BinaryStore::new(1);
        let half = BINARY_BYTES as usize / 2;
        let (first, second, third) = (
            store.keep(&image(half)),
            store.keep(&image(half)),
            store.keep(&image(1)),
        );
        let json = |reference: Option<String>| {
            format!("{{\"ref\":\"{}\"}}", reference.unwrap_or_default())
        };
        assert_eq!(store.named_in([json(first).as_str()]), []);
        assert_eq!(store.named_in([json(second).as_str()]).len(), 1);
        assert_eq!(store.named_in([json(third).as_str()]).len(), 1);
        assert_eq!(store.keep(&image(BINARY_BYTES as usize + 1)), None);
        assert!(store.keep(&image(BINARY_BYTES as usize)).is_some());
    }
}
