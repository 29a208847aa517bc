//! Binary content of tools' results: it stays on the host, the guest gets a reference.
//!
//! One store per run. A reference is a name in the store of its own run and nothing elsewhere; it
//! is drawn at random, so text does not name one by accident. The invariant: the store never holds
//! more than its limit, the oldest content leaves first.

use std::collections::VecDeque;

use codecell_tools::ContentBlock;
use serde_json::Value;

use crate::limits::BINARY_BYTES;

/// What every reference starts with.
const PREFIX: &str = "ref_";

#[derive(Debug)]
struct Kept {
    reference: String,
    block: ContentBlock,
}

/// The binary content of one run.
#[derive(Debug)]
pub(crate) struct BinaryStore {
    nonce: u64,
    next: u64,
    kept: VecDeque<Kept>,
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
        while self.bytes + bytes > BINARY_BYTES {
            self.bytes -= self
                .kept
                .pop_front()
                .map_or(self.bytes, |kept| kept.bytes());
        }
        self.next += 1;
        self.bytes += bytes;
        let reference = format!("{PREFIX}{:016x}_{}", self.nonce, self.next);
        self.kept.push_back(Kept {
            reference: reference.clone(),
            block: block.clone(),
        });
        Some(reference)
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

    /// The blocks whose references stand in this JSON text, each once, in the order of the store.
    pub(crate) fn named_in(&self, json: &str) -> Vec<ContentBlock> {
        if self.kept.is_empty() || !json.contains(PREFIX) {
            return Vec::new();
        }
        let stands = |kept: &&Kept| json.contains(&format!("\"ref\":\"{}\"", kept.reference));
        self.kept
            .iter()
            .filter(stands)
            .map(|kept| kept.block.clone())
            .collect()
    }
}

impl Kept {
    fn bytes(&self) -> u64 {
        self.block.binary().map_or(0, |(_, data)| data.len() as u64)
    }
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
        assert_eq!(store.named_in(&format!("[{json}]")), [image(5)]);
        assert_eq!(store.named_in(r#"{"ref":"ref_0000000000000007_2"}"#), []);
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
        assert_eq!(store.named_in(&json(first)), []);
        assert_eq!(store.named_in(&json(second)).len(), 1);
        assert_eq!(store.named_in(&json(third)).len(), 1);
        assert_eq!(store.keep(&image(BINARY_BYTES as usize + 1)), None);
        assert!(store.keep(&image(BINARY_BYTES as usize)).is_some());
    }
}
