//! Numbers from decimal digits and back, for the numbers that data is made of.
//!
//! Reading is exact for all of JSON's numbers. Writing knows those with few digits, which can be told exactly, and
//! leaves all others to the engine.

use crate::json;

/// A number of JSON.
pub enum Number {
    /// One that fits into the engine's integers; `-0` does not.
    Int(i32),
    /// Any other.
    Float(f64),
}

/// Decimal digits that a double tells apart, whatever they are.
const EXACT_DIGITS: usize = 15;

/// Powers of ten, all of which a double holds exactly.
const TENS: [f64; EXACT_DIGITS + 1] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
];

/// Digits behind the point that are tried when a number is written; with more of them the language changes to
/// another notation sooner or later.
const FRACTION_DIGITS: usize = 6;

/// The number that `text` begins with, and its length in bytes; `None` when it begins with none.
pub fn read(text: &[u8]) -> Option<(Number, usize)> {
    let start = usize::from(text.first() == Some(&b'-'));
    let point = digits_end(text, start);
    if point == start || (text[start] == b'0' && point > start + 1) {
        return None;
    }
    let end = fraction_end(text, point)?;
    if matches!(text.get(end), Some(b'e' | b'E')) {
        return parsed(text, exponent_end(text, end)?);
    }
    if end - start > EXACT_DIGITS {
        return parsed(text, end);
    }
    let mantissa = text[start..end]
        .iter()
        .filter(|byte| **byte != b'.')
        .fold(0_u64, |sum, digit| sum * 10 + u64::from(digit - b'0'));
    let fraction = end.saturating_sub(point + 1);
    Some((number(start == 1, mantissa, fraction), end))
}

fn digits_end(text: &[u8], from: usize) -> usize {
    let digits = text.get(from..).unwrap_or_default();
    from + digits
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count()
}

/// The end of a fraction that may begin at `point`; `None` when it has no digits.
fn fraction_end(text: &[u8], point: usize) -> Option<usize> {
    if text.get(point) != Some(&b'.') {
        return Some(point);
    }
    let end = digits_end(text, point + 1);
    (end > point + 1).then_some(end)
}

/// The end of the exponent that begins at `at`; `None` when it has no digits.
fn exponent_end(text: &[u8], at: usize) -> Option<usize> {
    let sign = usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
    let end = digits_end(text, at + 1 + sign);
    (end > at + 1 + sign).then_some(end)
}

/// By the long way, which knows all numbers.
fn parsed(text: &[u8], end: usize) -> Option<(Number, usize)> {
    let number = core::str::from_utf8(&text[..end]).ok()?.parse().ok()?;
    Some((Number::Float(number), end))
}

/// At most [`EXACT_DIGITS`] digits: mantissa and power are exact, so one rounded division is right.
fn number(negative: bool, mantissa: u64, fraction: usize) -> Number {
    let whole = fraction == 0 && (mantissa > 0 || !negative);
    if let (true, Ok(number)) = (whole, i32::try_from(mantissa)) {
        return Number::Int(if negative { -number } else { number });
    }
    let number = mantissa as f64 / TENS[fraction];
    Number::Float(if negative { -number } else { number })
}

/// Appends a number other than zero as the language writes it, if its digits are few.
pub fn push(out: &mut Vec<u8>, number: f64) -> bool {
    let size = number.abs();
    let limit = TENS[EXACT_DIGITS];
    for (fraction, ten) in TENS.iter().enumerate().take(FRACTION_DIGITS + 1) {
        let digits = (size * ten).round_ties_even();
        // Fifteen digits and no more: then no shorter ones stand for the same number.
        if digits >= limit {
            return false;
        }
        if digits / ten == size {
            if number < 0.0 {
                out.push(b'-');
            }
            push_decimal(out, digits as u64, fraction);
            return true;
        }
    }
    false
}

/// Appends digits, the last `fraction` of them behind a point.
fn push_decimal(out: &mut Vec<u8>, digits: u64, fraction: usize) {
    let ten = TENS[fraction] as u64;
    json::push_int(out, (digits / ten) as i64);
    if fraction == 0 {
        return;
    }
    out.push(b'.');
    let mut rest = digits % ten;
    for place in TENS[..fraction].iter().rev() {
        let place = *place as u64;
        out.push(b'0' + (rest / place) as u8);
        rest %= place;
    }
}
