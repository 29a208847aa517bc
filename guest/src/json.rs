//! Small JSON writers for the frames that the plumbing makes itself.

/// Marks the bytes of a word that stand out in a JSON string: quotes, backslashes, control characters. Only the lowest
/// mark is meant: what is above it may be marked without reason.
pub fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let below = |word: u64, least: u64| word.wrapping_sub(ONES * least) & !word;
    let quote = below(word ^ (ONES * 0x22), 1);
    let backslash = below(word ^ (ONES * 0x5C), 1);
    (below(word, 0x20) | quote | backslash) & HIGH
}

/// How many bytes of a text come before one that must not stand in a JSON string as it is, or before one beyond ASCII.
fn plain_ascii_bytes(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(word) = text.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*word);
        let special = special_bytes(word) | (word & 0x8080_8080_8080_8080);
        if special != 0 {
            return at + special.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let plain = |byte: &u8| (0x20..0x80).contains(byte) && *byte != b'"' && *byte != b'\\';
    at + text[at..].iter().take_while(|byte| plain(byte)).count()
}

/// Appends `text` (UTF-8 or WTF-8) as a JSON string; lone surrogates become U+FFFD.
pub fn push_string(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    let mut rest = text;
    loop {
        let (plain, special) = rest.split_at(plain_ascii_bytes(rest));
        out.extend_from_slice(plain);
        let Some((byte, after)) = special.split_first() else {
            break;
        };
        rest = match *byte {
            0x80.. => push_beyond_ascii(out, special),
            byte => {
                push_escape(out, byte);
                after
            }
        };
    }
    out.push(b'"');
}

/// Appends the bytes beyond ASCII that a text begins with, and gives the rest.
fn push_beyond_ascii<'t>(out: &mut Vec<u8>, text: &'t [u8]) -> &'t [u8] {
    let mut start = 0;
    let mut at = 0;
    while at < text.len() && text[at] >= 0x80 {
        if text[at] != 0xED || !is_surrogate(text, at) {
            at += 1;
            continue;
        }
        out.extend_from_slice(&text[start..at]);
        out.extend_from_slice("\u{FFFD}".as_bytes());
        at = text.len().min(at + 3);
        start = at;
    }
    out.extend_from_slice(&text[start..at]);
    &text[at..]
}

/// Appends a text of Latin-1 as a JSON string.
pub fn push_latin1(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    let mut rest = text;
    loop {
        let (plain, special) = rest.split_at(plain_ascii_bytes(rest));
        out.extend_from_slice(plain);
        let Some((byte, after)) = special.split_first() else {
            break;
        };
        match *byte {
            0x80.. => out.extend_from_slice(&[0xC0 | byte >> 6, 0x80 | byte & 0x3F]),
            byte => push_escape(out, byte),
        }
        rest = after;
    }
    out.push(b'"');
}

fn is_surrogate(text: &[u8], at: usize) -> bool {
    text.get(at + 1).is_some_and(|next| *next >= 0xA0)
}

fn push_escape(out: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        b'"' => b'"',
        b'\\' => b'\\',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        8 => b'b',
        12 => b'f',
        _ => 0,
    };
    if short != 0 {
        out.extend_from_slice(&[b'\\', short]);
        return;
    }
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.extend_from_slice(b"\\u00");
    out.push(HEX[usize::from(byte >> 4)]);
    out.push(HEX[usize::from(byte & 15)]);
}

/// Appends `,"key":` (without the comma after an opening brace).
pub fn push_key(out: &mut Vec<u8>, key: &str) {
    if out.last() != Some(&b'{') {
        out.push(b',');
    }
    push_string(out, key.as_bytes());
    out.push(b':');
}

/// Appends a decimal number.
pub fn push_int(out: &mut Vec<u8>, value: i64) {
    let mut digits = [0_u8; 20];
    let mut at = digits.len();
    let mut rest = value.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if value < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[at..]);
}

/// WTF-8 to UTF-8: lone surrogates become U+FFFD.
pub fn wtf8_to_string(text: &[u8]) -> String {
    if let Ok(text) = core::str::from_utf8(text) {
        return text.to_owned();
    }
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        if text[at] == 0xED && is_surrogate(text, at) {
            out.extend_from_slice("\u{FFFD}".as_bytes());
            at += 3;
        } else {
            out.push(text[at]);
            at += 1;
        }
    }
    String::from_utf8(out).unwrap_or_default()
}
