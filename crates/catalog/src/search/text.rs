//! From text to search terms: splitting, folding and stemming, the same for tools and for queries.
//!
//! Words end where letters end, where lower case meets upper case, and between letters and digits.
//! Scripts that write no spaces give their characters in pairs. Everything is bounded by the length
//! of the text; nothing here knows about fields or weights.

use super::stem::stem;

/// The longest term that is kept, in characters; what is longer is noise and is cut.
const MAX_TERM_CHARS: usize = 40;

/// Calls `emit` for each term of the text, in order, stemmed, with repetitions.
pub(crate) fn each_term(text: &str, emit: &mut impl FnMut(&str)) {
    each_word(text, &mut |word| emit(stem(word)));
}

/// Calls `emit` for each word of the text, in lower case but not stemmed.
pub(crate) fn each_word(text: &str, emit: &mut impl FnMut(&str)) {
    match text.is_ascii() {
        true => each_ascii_word(text, emit),
        false => each_unicode_word(text, emit),
    }
}

/// As [`each_unicode_word`], for the text that nearly all tools have.
fn each_ascii_word(text: &str, emit: &mut impl FnMut(&str)) {
    let bytes = text.as_bytes();
    let lower = text.to_ascii_lowercase();
    let mut emit_range = |from: usize, to: usize| {
        if from < to {
            emit(&lower[from..to.min(from + MAX_TERM_CHARS)]);
        }
    };
    let mut start = 0;
    let mut last = Class::Other;
    for (at, &byte) in bytes.iter().enumerate() {
        let class = class_of_ascii(byte);
        // Most characters stand beside one of their class, and most of these are small letters.
        if class == last && matches!(class, Class::Lower | Class::Digit) {
            continue;
        }
        let next = || bytes.get(at + 1).map(|&next| char::from(next));
        if is_boundary(last, class, next) {
            emit_range(start, at);
            start = at + usize::from(class == Class::Other);
        }
        last = class;
    }
    emit_range(start, bytes.len());
}

fn each_unicode_word(text: &str, emit: &mut impl FnMut(&str)) {
    let mut splitter = Splitter::default();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        splitter.push(c, chars.peek().copied(), emit);
    }
    splitter.end_word(emit);
    splitter.end_unspaced(emit);
}

/// A name with everything but its letters and digits taken away, in lower case.
pub(crate) fn joined(name: &str) -> String {
    if name.is_ascii() {
        let kept = name.chars().filter(char::is_ascii_alphanumeric);
        return kept.map(|c| c.to_ascii_lowercase()).collect();
    }
    let kept = name.chars().filter(|c| c.is_alphanumeric());
    kept.flat_map(char::to_lowercase).collect()
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Class {
    #[default]
    Other,
    Lower,
    Upper,
    Digit,
    /// Chinese, Japanese and the like: no spaces between words.
    Unspaced,
}

fn class_of_ascii(byte: u8) -> Class {
    match byte {
        b'a'..=b'z' => Class::Lower,
        b'A'..=b'Z' => Class::Upper,
        b'0'..=b'9' => Class::Digit,
        _ => Class::Other,
    }
}

fn class_of(c: char) -> Class {
    if let Ok(byte) = u8::try_from(c)
        && byte.is_ascii()
    {
        return class_of_ascii(byte);
    }
    match c {
        '\u{0e00}'..='\u{0eff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' => {
            Class::Unspaced
        }
        '\u{ac00}'..='\u{d7a3}' | '\u{20000}'..='\u{3ffff}' => Class::Unspaced,
        c if c.is_uppercase() => Class::Upper,
        c if c.is_numeric() => Class::Digit,
        c if c.is_alphabetic() => Class::Lower,
        _ => Class::Other,
    }
}

/// Whether a word ends between a character of class `last` and one of class `class`.
fn is_boundary(last: Class, class: Class, next: impl Fn() -> Option<char>) -> bool {
    match (last, class) {
        (_, Class::Other | Class::Unspaced) => true,
        (Class::Lower, Class::Upper) => true,
        // In `HTTPServer` the last capital belongs to the word that follows; the plural of an
        // abbreviation (`URLs`) does not start one.
        (Class::Upper, Class::Upper) => {
            next().is_some_and(|next| class_of(next) == Class::Lower && next != 's')
        }
        (Class::Digit, Class::Digit) => false,
        (Class::Digit, _) | (Class::Lower | Class::Upper, Class::Digit) => true,
        _ => false,
    }
}

#[derive(Default)]
struct Splitter {
    word: String,
    chars: usize,
    last: Class,
    previous_unspaced: Option<char>,
    /// Whether `previous_unspaced` has been part of a pair already.
    paired: bool,
}

impl Splitter {
    fn push(&mut self, c: char, next: Option<char>, emit: &mut impl FnMut(&str)) {
        let class = class_of(c);
        if class != Class::Unspaced {
            self.end_unspaced(emit);
        }
        if is_boundary(self.last, class, || next) {
            self.end_word(emit);
        }
        match class {
            Class::Other => {}
            Class::Unspaced => self.push_unspaced(c, emit),
            Class::Lower | Class::Upper | Class::Digit if self.chars < MAX_TERM_CHARS => {
                self.chars += 1;
                match c.is_ascii() {
                    true => self.word.push(c.to_ascii_lowercase()),
                    false => self.word.extend(c.to_lowercase()),
                }
            }
            Class::Lower | Class::Upper | Class::Digit => {}
        }
        self.last = class;
    }

    fn push_unspaced(&mut self, c: char, emit: &mut impl FnMut(&str)) {
        if let Some(previous) = self.previous_unspaced.replace(c) {
            let pair: String = [previous, c].iter().collect();
            emit(&pair);
            self.paired = true;
        }
    }

    fn end_unspaced(&mut self, emit: &mut impl FnMut(&str)) {
        if let Some(alone) = self.previous_unspaced.take()
            && !std::mem::take(&mut self.paired)
        {
            emit(alone.encode_utf8(&mut [0; 4]));
        }
    }

    fn end_word(&mut self, emit: &mut impl FnMut(&str)) {
        if !self.word.is_empty() {
            emit(&self.word);
            self.word.clear();
            self.chars = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    fn words(text: &str) -> String {
        let mut found = Vec::new();
        super::each_word(text, &mut |word| found.push(word.to_owned()));
        found.join(" ")
    }

    proptest::proptest! {
        #[test]
        fn both_ways_to_split_agree(text in "[ -~\n]{0,60}|[a-zA-Z0-9_]{0,60}") {
            let split = |as_ascii: bool| {
                let mut found = Vec::new();
                let mut emit = |word: &str| found.push(word.to_owned());
                match as_ascii {
                    true => super::each_ascii_word(&text, &mut emit),
                    false => super::each_unicode_word(&text, &mut emit),
                }
                found
            };
            proptest::prop_assert_eq!(split(true), split(false));
        }
    }

    #[test]
    fn names_split_into_their_words() {
        insta::assert_snapshot!(
            [
                "getUserByID",
                "parse_HTTPServer-config.v2",
                "base64Encode",
                "list URLs",
                "天气预报 search",
                "雨",
                "Ünicode straße",
                "__a--b__",
                "🦀 !?",
            ]
            .map(|text| format!("{text} => {}", words(text)))
            .join("\n"),
            @r"
        getUserByID => get user by id
        parse_HTTPServer-config.v2 => parse http server config v 2
        base64Encode => base 64 encode
        list URLs => list urls
        天气预报 search => 天气 气预 预报 search
        雨 => 雨
        Ünicode straße => ünicode straße
        __a--b__ => a b
        🦀 !? => 
        "
        );
    }
}
