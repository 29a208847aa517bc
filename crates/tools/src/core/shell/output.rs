//! A stream's output within a bound: its beginning and its end.

use std::collections::VecDeque;

/// Keeps the first and the last half of its bound; what lies between is counted and dropped.
#[derive(Debug)]
pub(super) struct HeadTail {
    half_bytes: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    dropped: u64,
}

impl HeadTail {
    pub(super) fn new(cap_bytes: usize) -> Self {
        Self {
            half_bytes: cap_bytes / 2,
            head: Vec::new(),
            tail: VecDeque::new(),
            dropped: 0,
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let room = self.half_bytes - self.head.len();
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(first);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(self.half_bytes);
        self.tail.drain(..over);
        self.dropped += over as u64;
    }

    /// The text so far and whether something is missing from it; the next output starts anew.
    pub(super) fn take(&mut self) -> (String, bool) {
        let head = std::mem::take(&mut self.head);
        let tail: Vec<u8> = std::mem::take(&mut self.tail).into();
        let dropped = std::mem::take(&mut self.dropped);
        if dropped == 0 {
            return (
                String::from_utf8_lossy(&[head, tail].concat()).into_owned(),
                false,
            );
        }
        let (head, tail) = (
            String::from_utf8_lossy(&head),
            String::from_utf8_lossy(&tail),
        );
        (
            format!("{head}\n[… {dropped} bytes left out …]\n{tail}"),
            true,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_whole_and_one_byte_more_is_cut_in_the_middle() {
        let mut output = HeadTail::new(8);
        output.push(b"1234");
        output.push(b"5678");
        assert_eq!(output.take(), ("12345678".to_owned(), false));
        output.push(b"123456789");
        assert_eq!(
            output.take(),
            ("1234\n[… 1 bytes left out …]\n6789".to_owned(), true)
        );
        assert_eq!(output.take(), (String::new(), false));
    }
}
