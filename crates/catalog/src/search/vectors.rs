//! What words mean: small vectors that are shipped with the program, and sums of them.
//!
//! `vectors/words.bin` holds a row of bytes for each of some 27,000 English words and word endings;
//! words that mean nearly the same point the same way. How it is made is written in
//! `vectors/README.md`. A text's meaning is the sum of its words' rows, so it depends on that text
//! alone. Unknown words are put together from known pieces or count for nothing.

use std::collections::HashMap;
use std::sync::OnceLock;

use foldhash::fast::RandomState;

/// The length of a vector.
pub(crate) const DIMENSIONS: usize = 128;

/// The words and their rows: a header of [`HEADER_BYTES`], where each word ends, the words in the order
/// of their bytes (a piece that goes on a word begins with `#`), and the rows in the same order.
const FILE: &[u8] = include_bytes!("../../vectors/words.bin");

/// Four letters, then version, number of words and dimensions, 32 bits each, little-endian.
const HEADER_BYTES: usize = 16;
const MAGIC: &[u8] = b"CCWV\x01\0\0\0";

/// The longest piece of an unknown word that is looked for, in bytes.
const MAX_PIECE_BYTES: usize = 12;

/// One row: the direction of a word, and by its length how telling the word is; each byte is a number
/// from -127 to 127.
pub(crate) type Row = [u8; DIMENSIONS];

/// The shipped words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words {
    ends: &'static [u8],
    text: &'static [u8],
    rows: &'static [u8],
}

impl Words {
    /// The shipped words; none if the file is not what this version reads.
    pub(crate) fn shipped() -> Self {
        Self::parse(FILE).unwrap_or(Self {
            ends: &[],
            text: &[],
            rows: &[],
        })
    }

    fn parse(file: &'static [u8]) -> Option<Self> {
        let (header, rest) = file.split_at_checked(HEADER_BYTES)?;
        let counts = header.strip_prefix(MAGIC)?;
        let count = number(counts, 0)?;
        if number(counts, 1)? != DIMENSIONS {
            return None;
        }
        let (ends, rest) = rest.split_at_checked(4 * count)?;
        let text_bytes = number(ends, count.checked_sub(1)?)?;
        let (text, rows) = rest.split_at_checked(text_bytes)?;
        (rows.len() == count * DIMENSIONS).then_some(Self { ends, text, rows })
    }

    fn len(self) -> usize {
        self.ends.len() / 4
    }

    fn word(self, at: usize) -> &'static [u8] {
        let from = match at {
            0 => 0,
            _ => number(self.ends, at - 1).unwrap_or(0),
        };
        let to = number(self.ends, at).unwrap_or(from);
        self.text.get(from..to).unwrap_or_default()
    }

    fn row_at(self, at: usize) -> Option<&'static Row> {
        self.rows.get(at * DIMENSIONS..)?.first_chunk()
    }

    fn find(self, word: &[u8]) -> Option<&'static Row> {
        static PLACES: OnceLock<HashMap<&'static [u8], u32, RandomState>> = OnceLock::new();
        let places = PLACES.get_or_init(|| {
            let shipped = Self::shipped();
            (0_u32..)
                .zip(0..shipped.len())
                .map(|(place, at)| (shipped.word(at), place))
                .collect()
        });
        self.row_at(*places.get(word)? as usize)
    }

    /// The row of a word in lower case: its own, or one made of the longest known pieces.
    pub(crate) fn row(self, word: &str) -> Option<Row> {
        match self.find(word.as_bytes()) {
            Some(row) => Some(*row),
            None => self.of_pieces(word.as_bytes()),
        }
    }

    fn of_pieces(self, word: &[u8]) -> Option<Row> {
        let mut sum = Sum::default();
        let mut pieces = 0_u32;
        let mut from = 0;
        let mut buffer = [b'#'; MAX_PIECE_BYTES + 1];
        while from + 1 < word.len() {
            let longest = (word.len() - from).min(MAX_PIECE_BYTES);
            let found = (2..=longest).rev().find_map(|length| {
                buffer[1..=length].copy_from_slice(&word[from..from + length]);
                let known = usize::from(from == 0);
                Some((length, self.find(&buffer[known..=length])?))
            });
            let Some((length, row)) = found else {
                from += 1;
                continue;
            };
            sum.add(row, 1);
            pieces += 1;
            from += length;
        }
        (pieces > 0).then(|| sum.scaled((pieces as f32).sqrt().recip()))
    }
}

fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(4 * at..)?.first_chunk()?;
    usize::try_from(u32::from_le_bytes(*bytes)).ok()
}

/// How much one row counts in a sum at most: so that a product fits into 16 bits.
const MAX_WEIGHT: u16 = 257;

/// A weighted sum of rows.
#[derive(Clone, Debug)]
pub(crate) struct Sum([i32; DIMENSIONS]);

impl Default for Sum {
    fn default() -> Self {
        Self([0; DIMENSIONS])
    }
}

impl Sum {
    /// Adds a row so many times, at most [`MAX_WEIGHT`].
    pub(crate) fn add(&mut self, row: &Row, weight: u16) {
        let weight = weight.min(MAX_WEIGHT).cast_signed();
        for (sum, &value) in self.0.iter_mut().zip(row) {
            *sum = sum.wrapping_add(i32::from(
                i16::from(value.cast_signed()).wrapping_mul(weight),
            ));
        }
    }

    fn scaled(&self, by: f32) -> Row {
        self.0.map(|value| {
            let scaled = value as f32 * by;
            // Rounded by hand: the library's way is a call for each number.
            (scaled + 0.5_f32.copysign(scaled)).clamp(-127.0, 127.0) as i8 as u8
        })
    }

    /// The direction of the sum; `None` if there is none.
    pub(crate) fn meaning(&self) -> Option<Meaning> {
        let largest = self.0.iter().map(|value| value.unsigned_abs()).max()?;
        if largest == 0 {
            return None;
        }
        let row = self.scaled(127.0 / largest as f32);
        let square: f32 = row.iter().map(|&byte| f32::from(byte as i8).powi(2)).sum();
        Some(Meaning {
            row,
            factor: square.sqrt().recip(),
        })
    }
}

/// A direction: multiplied by `factor` the row has length one.
#[derive(Clone, Debug)]
pub(crate) struct Meaning {
    row: Row,
    factor: f32,
}

/// The meanings of all documents, one after another.
#[derive(Debug, Default)]
pub(crate) struct Meanings {
    rows: Vec<Row>,
    factors: Vec<f32>,
}

impl Meanings {
    pub(crate) fn push(&mut self, meaning: Option<Meaning>) {
        let (row, factor) = meaning.map_or(([0; DIMENSIONS], 0.0), |m| (m.row, m.factor));
        self.rows.push(row);
        self.factors.push(factor);
    }

    /// Takes over what another one says of one of its documents.
    pub(crate) fn push_from(&mut self, other: &Self, at: usize) {
        self.rows.push(other.rows[at]);
        self.factors.push(other.factors[at]);
    }

    pub(crate) fn append(&mut self, others: Self) {
        self.rows.extend(others.rows);
        self.factors.extend(others.factors);
    }

    /// How alike each document and the asked one are, from -1 to 1.
    pub(crate) fn alike(&self, asked: &Meaning) -> impl Iterator<Item = f32> {
        let wide = asked.row.map(|byte| i16::from(byte as i8));
        let factor = asked.factor;
        let dots = self.rows.iter().map(move |row| dot(row, &wide));
        dots.zip(&self.factors)
            .map(move |(dot, own)| dot as f32 * own * factor)
    }
}

/// Written so that the compiler multiplies eight pairs at once: it does where both sides have 16 bits.
fn dot(row: &Row, wide: &[i16; DIMENSIONS]) -> i32 {
    let own = row.map(|byte| i16::from(byte as i8));
    let products = own
        .iter()
        .zip(wide)
        .map(|(&a, &b)| i32::from(a) * i32::from(b));
    products.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alike(a: &str, b: &str) -> f32 {
        let meaning = |text: &str| {
            let mut sum = Sum::default();
            for word in text.split(' ') {
                sum.add(&Words::shipped().row(word).unwrap(), 1);
            }
            sum.meaning().unwrap()
        };
        let mut meanings = Meanings::default();
        meanings.push(Some(meaning(a)));
        meanings.alike(&meaning(b)).next().unwrap()
    }

    #[test]
    fn the_shipped_file_is_whole_and_sorted() {
        let words = Words::parse(FILE).unwrap();
        assert!(words.len() > 20_000);
        assert!((1..words.len()).all(|at| words.word(at - 1) < words.word(at)));
        assert!(words.rows.iter().all(|&byte| byte != 128));
    }

    #[test]
    fn other_words_for_the_same_are_alike() {
        for (same, other, else_) in [
            ("weather", "climate", "invoice"),
            ("delete", "remove", "music"),
            ("image", "picture", "triangle"),
            ("buy", "purchase", "temperature"),
        ] {
            assert!(alike(same, other) > 0.3, "{same} {other}");
            assert!(
                alike(same, other) > alike(same, else_) + 0.2,
                "{same} {else_}"
            );
        }
        assert!((alike("weather forecast", "weather forecast") - 1.0).abs() < 0.01);
    }

    #[test]
    fn unknown_words_are_made_of_pieces_or_of_nothing() {
        let words = Words::shipped();
        assert!(words.row("webhooks").is_some());
        assert!(words.row("天气").is_none());
        assert!(words.row("").is_none());
        assert!(
            words
                .row(&"x".repeat(100))
                .is_none_or(|row| row != [0; DIMENSIONS])
        );
    }

    #[test]
    fn sums_do_not_overflow() {
        let mut sum = Sum::default();
        for _ in 0..10_000 {
            sum.add(&[127; DIMENSIONS], 6);
        }
        assert!(sum.meaning().is_some());
    }
}
