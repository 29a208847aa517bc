//! Small JSON writers for the frames that the plumbing makes itself.

/// Appends `text` (UTF-8 or WTF-8) as a JSON string; lone surrogates become U+FFFD.
pub fn push_string(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    let mut start = 0;
    let mut at = 0;
    while at < text.len() {
        let byte = text[at];
        if byte >= 0x20 && byte != b'"' && byte != b'\\' && byte != 0xED {
            at += 1;
            continue;
        }
        if byte == 0xED {
            if is_surrogate(text, at) {
                out.extend_from_slice(&text[start..at]);
                out.extend_from_slice("\u{FFFD}".as_bytes());
                start = at + 3;
            }
            at += 3;
            continue;
        }
        out.extend_from_slice(&text[start..at]);
        push_escape(out, byte);
        at += 1;
        start = at;
    }
    out.extend_from_slice(&text[start.min(text.len())..]);
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
