//! Changes to a text that keep its lines, and its columns wherever nothing is inserted.
//!
//! A range is blanked or replaced at most once; where two changes overlap, the one that starts first and
//! reaches further wins and the other is dropped, because it lies inside what is gone.

use std::collections::BTreeMap;

use crate::envelope::push_blank;

#[derive(Debug)]
struct Edit {
    start: usize,
    end: usize,
    /// Takes the place of as many leading characters of the range as it has.
    head: String,
    /// Takes the place of the last character of the range.
    tail: Option<char>,
    /// Inserted text is put before replacements that start at the same place.
    replaces: bool,
}

/// Collected changes.
#[derive(Debug, Default)]
pub(super) struct Edits {
    list: Vec<Edit>,
    /// The last-starting replacement that ends at a place.
    ends: BTreeMap<usize, usize>,
}

impl Edits {
    fn push(&mut self, start: usize, end: usize, head: &str, tail: Option<char>) {
        let replaces = start != end;
        if replaces {
            let latest = self.ends.entry(end).or_insert(self.list.len());
            if self
                .list
                .get(*latest)
                .is_some_and(|edit| edit.start < start)
            {
                *latest = self.list.len();
            }
        }
        self.list.push(Edit {
            start,
            end,
            head: head.to_owned(),
            tail,
            replaces,
        });
    }

    /// Makes a range white space.
    pub(super) fn blank(&mut self, start: usize, end: usize) {
        if start < end {
            self.push(start, end, "", None);
        }
    }

    /// Makes a range white space that begins with `head`; a longer `head` moves what follows on the line.
    pub(super) fn replace(&mut self, start: usize, end: usize, head: &str) {
        self.push(start, end, head, None);
    }

    /// Makes a range white space that ends with `tail`.
    pub(super) fn blank_until(&mut self, start: usize, end: usize, tail: char) {
        self.push(start, end, "", Some(tail));
    }

    /// Adds text before the character at `at`.
    pub(super) fn insert(&mut self, at: usize, text: &str) {
        self.push(at, at, text, None);
    }

    /// If a blank ends at `end`, makes it begin with a semicolon: the statement ended here only because of
    /// what was blanked.
    pub(super) fn terminate(&mut self, end: usize) {
        let last = self
            .ends
            .get(&end)
            .and_then(|index| self.list.get_mut(*index));
        if let Some(edit) = last.filter(|edit| edit.head.is_empty() && edit.tail.is_none()) {
            edit.head.push(';');
        }
    }

    /// Carries the changes out.
    pub(super) fn apply(mut self, text: &str) -> String {
        self.list.sort_by_key(|edit| (edit.start, edit.replaces));
        let mut out = String::with_capacity(text.len() + 64 * self.list.len());
        let mut done = 0;
        for edit in self.list {
            if edit.start < done || edit.end > text.len() {
                continue;
            }
            out.push_str(&text[done..edit.start]);
            push_replacement(&mut out, &text[edit.start..edit.end], &edit);
            done = edit.end;
        }
        out.push_str(&text[done..]);
        out
    }
}

/// Writes `head`, then blanks for what is left of `old`, keeping every line terminator.
fn push_replacement(out: &mut String, old: &str, edit: &Edit) {
    if edit.head.is_empty() && edit.tail.is_none() {
        return push_blank(out, old);
    }
    out.push_str(&edit.head);
    let mut room = edit.head.len();
    let last = old.char_indices().next_back().map_or(0, |(at, _)| at);
    for (at, character) in old.char_indices() {
        let breaks = matches!(character, '\n' | '\r' | '\u{2028}' | '\u{2029}');
        match edit.tail {
            Some(tail) if at == last => out.push(tail),
            _ if breaks => {
                out.push(character);
                room = 0;
            }
            _ if room > 0 => room = room.saturating_sub(character.len_utf8()),
            _ => push_blank(out, &old[at..at + character.len_utf8()]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_lines_and_columns() {
        let mut edits = Edits::default();
        let text = "let x: {\n é\n} = 1;";
        edits.blank(5, text.find(" =").unwrap_or(0));
        assert_eq!(edits.apply(text), "let x   \n \u{a0}\n  = 1;");
    }

    #[test]
    fn inserts_before_what_is_replaced_and_drops_what_is_inside() {
        let mut edits = Edits::default();
        edits.replace(2, 6, "XY");
        edits.insert(2, "+");
        edits.blank(3, 4);
        edits.terminate(6);
        assert_eq!(edits.apply("abcdefgh"), "ab+XY  gh");
    }
}
