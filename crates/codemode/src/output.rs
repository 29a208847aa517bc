//! What a program wrote with `text`, `json` and the console, until results carry it away.
//!
//! Output never stops a program. Each result takes what is new and fits; what does not fit waits
//! for the next one, in order, and only the end of a cell finds that it is too much. Console lines
//! are advice: they are cut first and never fail a cell. An item's size is what it takes in a result:
//! its text as a JSON string or its JSON, with what stands around it. The bound of the console over a
//! cell's life counts the bare text, as the guest does.

use std::collections::VecDeque;

use codecell_protocol::OutputItem;
use codecell_sandbox::ConsoleLevel;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Stands where console text was left out.
const CONSOLE_CUT: &str = "[console output cut]";

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Item {
    console: bool,
    bytes: u64,
    item: OutputItem,
}

/// Output that no result has carried yet.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Output {
    items: VecDeque<Item>,
    /// Bytes of `text` and `json` in `items`.
    bytes: u64,
    /// Console bytes over the cell's life.
    console_bytes: u64,
    console_cut: bool,
}

impl Output {
    /// An item of `text` or `json`. A text that claims to be JSON and is not stays a text.
    pub(crate) fn push(&mut self, json: bool, text: &str) {
        let raw = json
            .then(|| RawValue::from_string(text.to_owned()).ok())
            .flatten();
        let item = match raw {
            Some(value) => OutputItem::Json { value },
            None => OutputItem::Text {
                text: text.to_owned(),
            },
        };
        let bytes = carried_bytes(&item);
        self.bytes += bytes;
        self.items.push_back(Item {
            console: false,
            bytes,
            item,
        });
    }

    /// A console line. The guest keeps to the same bound; this is the one that holds.
    pub(crate) fn push_console(&mut self, level: ConsoleLevel, text: &str, max_bytes: u64) {
        if self.console_cut {
            return;
        }
        let bytes = text.len() as u64;
        if self.console_bytes + bytes > max_bytes + CONSOLE_SLACK_BYTES {
            self.console_cut = true;
            self.push_line(CONSOLE_CUT.to_owned());
            return;
        }
        self.console_bytes += bytes;
        self.push_line(format!("[{}] {text}", level_name(level)));
    }

    fn push_line(&mut self, text: String) {
        let item = OutputItem::Text { text };
        self.items.push_back(Item {
            console: true,
            bytes: carried_bytes(&item),
            item,
        });
    }

    /// Bytes of `text` and `json` that no result has carried.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether any `text` or `json` waits to be carried.
    pub(crate) fn has_items(&self) -> bool {
        self.items.iter().any(|item| !item.console)
    }

    /// What a `waiting` result carries: the oldest items, up to the first that does not fit.
    pub(crate) fn take_what_fits(&mut self, max_bytes: u64) -> Vec<OutputItem> {
        let mut left = max_bytes;
        let mut taken = Vec::new();
        while let Some(item) = self.items.front() {
            if item.bytes > left && !item.console {
                break;
            }
            let Some(item) = self.items.pop_front() else {
                break;
            };
            self.bytes -= if item.console { 0 } else { item.bytes };
            if item.bytes > left {
                left = left.saturating_sub(drop_console(&mut taken));
                continue;
            }
            left -= item.bytes;
            taken.push(item.item);
        }
        taken
    }

    /// Everything, when `text` and `json` fit into `max_bytes`; console lines are cut to fit.
    pub(crate) fn take_all(&mut self, max_bytes: u64) -> Option<Vec<OutputItem>> {
        if self.bytes > max_bytes {
            return None;
        }
        let mut for_console = max_bytes - self.bytes;
        let mut taken = Vec::with_capacity(self.items.len());
        let mut is_cut = false;
        for item in self.items.drain(..) {
            if item.console {
                if is_cut || item.bytes > for_console {
                    for_console = for_console.saturating_sub(if is_cut {
                        0
                    } else {
                        drop_console(&mut taken)
                    });
                    is_cut = true;
                    continue;
                }
                for_console -= item.bytes;
            }
            taken.push(item.item);
        }
        self.bytes = 0;
        Some(taken)
    }

    /// The remaining items as one JSON array, for a saved result; console lines are left out.
    pub(crate) fn to_json(&self) -> String {
        let items: Vec<&OutputItem> = self
            .items
            .iter()
            .filter(|i| !i.console)
            .map(|i| &i.item)
            .collect();
        serde_json::to_string(&items).unwrap_or_else(|_| "[]".to_owned())
    }

    /// Drops what no result will carry.
    pub(crate) fn clear(&mut self) {
        self.items.clear();
        self.bytes = 0;
    }
}

/// Room for the marker that the guest writes itself, in bytes.
const CONSOLE_SLACK_BYTES: u64 = 256;

/// Puts the marker in the place of console lines that do not fit; gives its bytes.
fn drop_console(taken: &mut Vec<OutputItem>) -> u64 {
    let is_marked = matches!(taken.last(), Some(OutputItem::Text { text }) if text == CONSOLE_CUT);
    if is_marked {
        return 0;
    }
    let mark = OutputItem::Text {
        text: CONSOLE_CUT.to_owned(),
    };
    let bytes = carried_bytes(&mark);
    taken.push(mark);
    bytes
}

/// Bytes that an item takes in a result.
fn carried_bytes(item: &OutputItem) -> u64 {
    const AROUND: u64 = r#"{"type":"text","text":},"#.len() as u64;
    AROUND
        + match item {
            OutputItem::Text { text } => quoted_bytes(text),
            OutputItem::Json { value } => value.get().len() as u64 + 1,
        }
}

/// Bytes of a text as a JSON string.
fn quoted_bytes(text: &str) -> u64 {
    let escape = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 2,
        0..0x20 => 6,
        _ => 1,
    };
    2 + text.bytes().map(escape).sum::<u64>()
}

const fn level_name(level: ConsoleLevel) -> &'static str {
    match level {
        ConsoleLevel::Log => "log",
        ConsoleLevel::Info => "info",
        ConsoleLevel::Warn => "warn",
        ConsoleLevel::Error => "error",
        ConsoleLevel::Debug => "debug",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(items: &[OutputItem]) -> Vec<String> {
        items
            .iter()
            .map(|item| match item {
                OutputItem::Text { text } => text.clone(),
                OutputItem::Json { value } => value.get().to_owned(),
            })
            .collect()
    }

    #[test]
    fn each_result_carries_only_what_is_new() {
        let mut output = Output::default();
        output.push(false, "a");
        output.push_console(ConsoleLevel::Warn, "w", 100);
        output.push(true, "[1]");
        assert_eq!(texts(&output.take_what_fits(100)), ["a", "[warn] w", "[1]"]);
        output.push(false, "b");
        assert_eq!(
            output.take_all(100).map(|items| texts(&items)),
            Some(vec!["b".to_owned()])
        );
        assert!(!output.has_items());
    }

    #[test]
    fn what_does_not_fit_waits_in_order() {
        let mut output = Output::default();
        for text in ["aaa", "bbb", "c"] {
            output.push(false, text);
        }
        assert_eq!(texts(&output.take_what_fits(55)), ["aaa"]);
        assert_eq!(output.bytes(), 56);
        assert!(output.take_all(55).is_none());
        assert_eq!(
            output.to_json(),
            r#"[{"type":"text","text":"bbb"},{"type":"text","text":"c"}]"#
        );
        assert_eq!(
            output.take_all(56).map(|items| texts(&items)),
            Some(vec!["bbb".into(), "c".into()])
        );
    }

    #[test]
    fn an_item_is_as_large_as_it_is_in_a_result() {
        let every: String = ('\0'..='\u{ff}').chain(['\u{2028}', '😀']).collect();
        for (json, text) in [
            (false, every.as_str()),
            (false, ""),
            (true, r#"{"a":[1,"é"]}"#),
        ] {
            let mut output = Output::default();
            output.push(json, text);
            let bytes = output.bytes();
            // The brackets of the array for the comma behind the item; `json` says `value`, not `text`.
            assert_eq!(output.to_json().len() as u64, bytes + 1, "{text}");
        }
    }

    #[test]
    fn the_console_is_cut_first_and_marked_once() {
        let mut output = Output::default();
        output.push(false, "0123456789");
        for _ in 0..3 {
            output.push_console(ConsoleLevel::Log, &"x".repeat(30), 1000);
        }
        let taken = output.take_all(150).expect("the console fails nothing");
        assert_eq!(
            texts(&taken),
            [
                "0123456789".to_owned(),
                format!("[log] {}", "x".repeat(30)),
                CONSOLE_CUT.into()
            ]
        );
    }

    #[test]
    fn the_console_has_a_bound_over_the_cells_life() {
        let mut output = Output::default();
        for _ in 0..10 {
            output.push_console(ConsoleLevel::Debug, &"x".repeat(100), 100);
        }
        let taken = texts(&output.take_all(10_000).expect("fits"));
        assert_eq!((taken.len(), taken[3].as_str()), (4, CONSOLE_CUT));
    }

    #[test]
    fn a_text_that_only_claims_to_be_json_stays_a_text() {
        let mut output = Output::default();
        output.push(true, "}{");
        assert!(
            matches!(&output.take_what_fits(100)[..], [OutputItem::Text { text }] if text == "}{")
        );
    }
}
