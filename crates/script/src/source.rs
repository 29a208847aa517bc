//! Places in a text: byte offsets to lines and columns, and the drawn line with a caret.
//!
//! A frame is shown on terminals and to models, so nothing in it can move the cursor, change direction
//! or span more than one row: such characters are drawn as visible ones.

use crate::error::Place;

/// The widest piece of a source line that a frame shows, in characters.
const FRAME_WIDTH_CHARS: usize = 120;
/// Characters kept to the left of the caret when a line is cut.
const FRAME_LEFT_CHARS: usize = 80;

/// The byte range of line `line` (from 1) without its terminator.
fn line_range(text: &str, line: u32) -> (usize, usize) {
    let mut start = 0;
    for _ in 1..line {
        match next_break(text, start) {
            Some((_, after)) => start = after,
            None => return (text.len(), text.len()),
        }
    }
    let end = next_break(text, start).map_or(text.len(), |(at, _)| at);
    (start, end)
}

/// The next line terminator at or after `from`: where it starts and where the next line does.
fn next_break(text: &str, from: usize) -> Option<(usize, usize)> {
    let at = from
        + text
            .get(from..)?
            .find(['\n', '\r', '\u{2028}', '\u{2029}'])?;
    let rest = &text[at..];
    let width = if rest.starts_with("\r\n") {
        2
    } else {
        rest.chars().next().map_or(1, char::len_utf8)
    };
    Some((at, at + width))
}

/// Line and column, both from 1, of a byte offset; the column counts UTF-16 code units.
#[must_use]
pub fn position(text: &str, offset: usize) -> (u32, u32) {
    let offset = floor_boundary(text, offset);
    let (mut line, mut start) = (1, 0);
    while let Some((_, after)) = next_break(text, start) {
        if after > offset {
            break;
        }
        line += 1;
        start = after;
    }
    let column = text[start..offset]
        .chars()
        .map(char::len_utf16)
        .sum::<usize>()
        + 1;
    (line, u32::try_from(column).unwrap_or(u32::MAX))
}

fn floor_boundary(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// The place of a byte offset, with its frame.
pub(crate) fn place(text: &str, offset: usize) -> Place {
    let (line, column) = position(text, offset);
    Place {
        line,
        column,
        frame: frame(text, line, column),
    }
}

/// Draws one line of the source with a caret below a column.
///
/// `line` counts from 1, `column` from 1 in UTF-16 code units; a place outside the text is drawn at the
/// nearest end. At most 120 characters of the line are shown, with `…` where it was cut. Control
/// characters, terminal escapes and characters that change the writing direction are made visible.
#[must_use]
pub fn frame(source: &str, line: u32, column: u32) -> String {
    let (start, end) = line_range(source, line.max(1));
    let text = &source[start..end];
    let caret = chars_before(text, column);
    let from = caret.saturating_sub(FRAME_LEFT_CHARS);
    let (mut shown, mut padding) = (String::new(), 0);
    if from > 0 {
        shown.push('…');
        padding += 1;
    }
    for (at, character) in text.chars().enumerate().skip(from).take(FRAME_WIDTH_CHARS) {
        let before = shown.len();
        push_visible(&mut shown, character);
        if at < caret {
            padding += shown[before..].chars().map(width_columns).sum::<usize>();
        }
    }
    if text.chars().nth(from + FRAME_WIDTH_CHARS).is_some() {
        shown.push('…');
    }
    let gutter = line.max(1).to_string();
    let (margin, indent) = (" ".repeat(gutter.len()), " ".repeat(padding));
    format!("{gutter} | {}\n{margin} | {indent}^", shown.trim_end())
}

/// The column of [`frame`] for a column counted in UTF-8 bytes, as the engine counts in errors and stacks.
///
/// Both count from 1; a column past the end of the line becomes the one behind its last character. Holds for
/// [`Prepared::body`](crate::Prepared::body) as for the text sent: blanks keep the length in bytes.
#[must_use]
pub fn column_of_byte(source: &str, line: u32, byte_column: u32) -> u32 {
    let (start, end) = line_range(source, line.max(1));
    let at = floor_boundary(
        source,
        start
            .saturating_add(byte_column.saturating_sub(1) as usize)
            .min(end),
    );
    position(source, at).1
}

fn chars_before(text: &str, column: u32) -> usize {
    let mut units = 1;
    text.chars()
        .take_while(|character| {
            let before = units;
            units += character.len_utf16();
            before < column as usize
        })
        .count()
}

/// A text in which nothing can move a cursor or change direction.
pub(crate) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    text.chars()
        .for_each(|character| push_visible(&mut out, character));
    out
}

fn push_visible(out: &mut String, character: char) {
    match character {
        '\t' => out.push(' '),
        '\0'..='\u{1f}' => out.push(char::from_u32(0x2400 + u32::from(character)).unwrap_or('?')),
        '\u{7f}' => out.push('\u{2421}'),
        '\u{80}'..='\u{9f}'
        | '\u{61c}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}' => out.extend(character.escape_unicode()),
        _ => out.push(character),
    }
}

/// Terminal columns of a visible character, near enough to put a caret: wide scripts and emoji take two.
fn width_columns(character: char) -> usize {
    match u32::from(character) {
        0x300..=0x36f | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0xff00..=0xff60 => {
            2
        }
        0x1f300..=0x1faff | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_lines_and_utf16_columns() {
        let text = "a\r\nb\u{2028}😀c\rd\n";
        let found: Vec<_> = text
            .char_indices()
            .map(|(at, _)| position(text, at))
            .collect();
        assert_eq!(
            found,
            [
                (1, 1),
                (1, 2),
                (1, 3),
                (2, 1),
                (2, 2),
                (3, 1),
                (3, 3),
                (3, 4),
                (4, 1),
                (4, 2)
            ]
        );
        assert_eq!(position(text, 999), (5, 1));
    }

    #[test]
    fn draws_hostile_lines_in_one_row() {
        assert_eq!(
            frame("x\n\u{1b}[31m\u{202e}\tb", 2, 8),
            "2 | ␛[31m\\u{202e} b\n  |               ^"
        );
        assert_eq!(frame("", 1, 1), "1 | \n  | ^");
        assert_eq!(frame("ab", 9, 9), "9 | \n  | ^");
        assert_eq!(frame("ab", 0, 9), "1 | ab\n  |   ^");
    }

    #[test]
    fn turns_byte_columns_into_utf16_columns() {
        let found: Vec<u32> = [0, 1, 2, 3, 4, 8, 99]
            .iter()
            .map(|at| column_of_byte("x\né😀z", 2, *at))
            .collect();
        assert_eq!(found, [1, 1, 1, 2, 2, 5, 5]);
    }

    #[test]
    fn bounds_the_width() {
        let line = "é".repeat(5000);
        let drawn = frame(&line, 1, 2500);
        let rows: Vec<_> = drawn.lines().map(|row| row.chars().count()).collect();
        assert_eq!(rows, [4 + 122, 4 + 1 + 80 + 1]);
    }
}
