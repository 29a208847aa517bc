//! Frames that a guest wrote, read as hostile input.
//!
//! A pure function of bytes: it never panics, never allocates more than the bytes justify and stops
//! at the first thing that is out of order, keeping what came before. It gives no meaning to ids,
//! targets or JSON; whoever dispatches checks those.

use crate::abi::{ErrorSource, FRAME_HEADER_BYTES, FrameKind, Method};

/// Console levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConsoleLevel {
    /// `console.log`
    Log,
    /// `console.info`
    Info,
    /// `console.warn`
    Warn,
    /// `console.error`
    Error,
    /// `console.debug`
    Debug,
}

impl ConsoleLevel {
    fn from_u8(value: u8) -> Option<Self> {
        Some(match value {
            0 => Self::Log,
            1 => Self::Info,
            2 => Self::Warn,
            3 => Self::Error,
            4 => Self::Debug,
            _ => return None,
        })
    }
}

/// One frame. JSON texts are valid UTF-8 but not yet parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// A call, to be dispatched only when its slice was not killed.
    Call {
        /// The call's id, chosen by the guest.
        id: u32,
        /// What it asks for.
        method: Method,
        /// Its target.
        target: Box<str>,
        /// Its arguments as JSON.
        arguments: Box<str>,
    },
    /// `text` or `json`.
    Output {
        /// Whether the text is JSON.
        json: bool,
        /// The text.
        text: Box<str>,
    },
    /// A console line.
    Console {
        /// Its level.
        level: ConsoleLevel,
        /// Its text.
        text: Box<str>,
    },
    /// The program's value as JSON.
    Value(Box<str>),
    /// The program's value passed its limit.
    ValueTooLarge,
    /// The program failed.
    Error {
        /// What made it fail.
        source: ErrorSource,
        /// The error as JSON.
        json: Box<str>,
    },
    /// `yield_control` took effect.
    Yield {
        /// The first reason as JSON.
        reason: Box<str>,
    },
    /// One macrotask ended.
    Turn {
        /// The calls of this turn are refused together: a cap was passed.
        refused: bool,
        /// Further calls to tools of this turn, which the guest refused itself: they have no frame.
        unsent: u32,
    },
    /// `print` of conformance tests.
    Print(Box<str>),
}

/// Bounds of one slice's frames.
#[derive(Clone, Copy, Debug)]
pub struct FrameLimits {
    /// Most frames.
    pub frames: usize,
}

impl Default for FrameLimits {
    fn default() -> Self {
        Self { frames: 1 << 20 }
    }
}

/// Why the rest of a frame buffer was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// A header or payload reaches beyond the committed bytes.
    #[error("a frame reaches beyond the committed bytes")]
    Truncated,
    /// The kind is unknown.
    #[error("unknown frame kind {0}")]
    Kind(u8),
    /// The sub-kind is unknown for its kind.
    #[error("unknown sub-kind {1} of frame kind {0}")]
    SubKind(u8, u8),
    /// The text is not UTF-8.
    #[error("a frame's text is not UTF-8")]
    Text,
    /// There are more frames than allowed.
    #[error("more than {0} frames in one slice")]
    TooMany(usize),
}

/// Reads frames until the bytes end or something is out of order.
///
/// The frames before an error are returned with it.
#[must_use]
pub fn decode_frames(bytes: &[u8], limits: FrameLimits) -> (Vec<Frame>, Option<FrameError>) {
    let mut frames = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        if frames.len() >= limits.frames {
            return (frames, Some(FrameError::TooMany(limits.frames)));
        }
        match next(rest) {
            Ok((frame, tail)) => {
                frames.push(frame);
                rest = tail;
            }
            Err(error) => return (frames, Some(error)),
        }
    }
    (frames, None)
}

fn next(bytes: &[u8]) -> Result<(Frame, &[u8]), FrameError> {
    let (header, rest) = bytes
        .split_at_checked(FRAME_HEADER_BYTES as usize)
        .ok_or(FrameError::Truncated)?;
    let (kind, sub) = (header[0], header[1]);
    let id = word(header, 4)?;
    let length = word(header, 8)? as usize;
    let padded = length
        .checked_next_multiple_of(4)
        .ok_or(FrameError::Truncated)?;
    let (payload, tail) = rest.split_at_checked(padded).ok_or(FrameError::Truncated)?;
    let payload = payload.get(..length).ok_or(FrameError::Truncated)?;
    let parsed = FrameKind::from_u8(kind).ok_or(FrameError::Kind(kind))?;
    let frame = frame(parsed, sub, id, payload)?.ok_or(FrameError::SubKind(kind, sub))?;
    Ok((frame, tail))
}

/// The frame, or `None` for an unknown sub-kind.
fn frame(kind: FrameKind, sub: u8, id: u32, payload: &[u8]) -> Result<Option<Frame>, FrameError> {
    Ok(match kind {
        FrameKind::Call => match Method::from_u8(sub) {
            Some(method) => Some(call(id, method, payload)?),
            None => None,
        },
        FrameKind::Output => match flag(sub) {
            Some(json) => Some(Frame::Output {
                json,
                text: text(payload)?,
            }),
            None => None,
        },
        FrameKind::Console => match ConsoleLevel::from_u8(sub) {
            Some(level) => Some(Frame::Console {
                level,
                text: text(payload)?,
            }),
            None => None,
        },
        FrameKind::Value => match flag(sub) {
            Some(true) => Some(Frame::ValueTooLarge),
            Some(false) => Some(Frame::Value(text(payload)?)),
            None => None,
        },
        FrameKind::Error => match ErrorSource::from_u8(sub) {
            Some(source) => Some(Frame::Error {
                source,
                json: text(payload)?,
            }),
            None => None,
        },
        FrameKind::Yield => Some(Frame::Yield {
            reason: text(payload)?,
        }),
        FrameKind::Turn => flag(sub).map(|refused| Frame::Turn {
            refused,
            unsent: id,
        }),
        FrameKind::Print => Some(Frame::Print(text(payload)?)),
    })
}

fn call(id: u32, method: Method, payload: &[u8]) -> Result<Frame, FrameError> {
    let target_bytes = word(payload, 0)? as usize;
    let rest = payload.get(4..).ok_or(FrameError::Truncated)?;
    let (target, arguments) = rest
        .split_at_checked(target_bytes)
        .ok_or(FrameError::Truncated)?;
    Ok(Frame::Call {
        id,
        method,
        target: text(target)?,
        arguments: text(arguments)?,
    })
}

fn flag(sub: u8) -> Option<bool> {
    match sub {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

fn text(bytes: &[u8]) -> Result<Box<str>, FrameError> {
    std::str::from_utf8(bytes)
        .map(Box::from)
        .map_err(|_| FrameError::Text)
}

fn word(bytes: &[u8], at: usize) -> Result<u32, FrameError> {
    let bytes = bytes
        .get(at..at + 4)
        .and_then(|slice| slice.try_into().ok());
    bytes.map(u32::from_le_bytes).ok_or(FrameError::Truncated)
}

#[cfg(test)]
#[expect(clippy::cast_possible_truncation, reason = "tests")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn encode(kind: u8, sub: u8, id: u32, payload: &[u8]) -> Vec<u8> {
        let mut bytes = vec![kind, sub, 0, 0];
        bytes.extend_from_slice(&id.to_le_bytes());
        bytes.extend_from_slice(&(payload.len() as u32).to_le_bytes());
        bytes.extend_from_slice(payload);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    fn decode(bytes: &[u8]) -> (Vec<Frame>, Option<FrameError>) {
        decode_frames(bytes, FrameLimits::default())
    }

    #[test]
    fn every_kind_is_read() {
        let mut bytes = encode(1, 3, 7, b"\x03\0\0\0abc[1]");
        bytes.extend(encode(2, 1, 0, b"{}"));
        bytes.extend(encode(3, 2, 0, b"careful"));
        bytes.extend(encode(4, 0, 0, b"2"));
        bytes.extend(encode(4, 1, 0, b""));
        bytes.extend(encode(5, 1, 0, b"{}"));
        bytes.extend(encode(6, 0, 0, b"null"));
        bytes.extend(encode(7, 1, 5, b""));
        bytes.extend(encode(8, 0, 0, b"line"));
        let expected = vec![
            Frame::Call {
                id: 7,
                method: Method::CallByName,
                target: "abc".into(),
                arguments: "[1]".into(),
            },
            Frame::Output {
                json: true,
                text: "{}".into(),
            },
            Frame::Console {
                level: ConsoleLevel::Warn,
                text: "careful".into(),
            },
            Frame::Value("2".into()),
            Frame::ValueTooLarge,
            Frame::Error {
                source: ErrorSource::Unhandled,
                json: "{}".into(),
            },
            Frame::Yield {
                reason: "null".into(),
            },
            Frame::Turn {
                refused: true,
                unsent: 5,
            },
            Frame::Print("line".into()),
        ];
        assert_eq!(decode(&bytes), (expected, None));
    }

    #[test]
    fn what_is_out_of_order_is_named_and_the_rest_kept() {
        let cases: [(Vec<u8>, FrameError); 7] = [
            (encode(0, 0, 0, b""), FrameError::Kind(0)),
            (encode(9, 0, 0, b""), FrameError::Kind(9)),
            (encode(2, 2, 0, b""), FrameError::SubKind(2, 2)),
            (encode(1, 99, 0, b"\0\0\0\0"), FrameError::SubKind(1, 99)),
            (encode(2, 0, 0, b"\xff"), FrameError::Text),
            (encode(1, 1, 0, b"\x09\0\0\0abc"), FrameError::Truncated),
            (
                encode(2, 0, 0, b"text")[..14].to_vec(),
                FrameError::Truncated,
            ),
        ];
        for (bad, error) in cases {
            let mut bytes = encode(4, 0, 0, b"1");
            bytes.extend(bad);
            assert_eq!(
                decode(&bytes),
                (vec![Frame::Value("1".into())], Some(error))
            );
        }
    }

    #[test]
    fn lengths_near_the_end_of_the_address_space_are_refused() {
        for length in [u32::MAX, u32::MAX - 2, 1 << 31] {
            let mut bytes = encode(4, 0, 0, b"1");
            bytes[8..12].copy_from_slice(&length.to_le_bytes());
            assert_eq!(decode(&bytes).1, Some(FrameError::Truncated));
        }
    }

    #[test]
    fn the_count_is_bounded() {
        let bytes = encode(7, 0, 0, b"").repeat(3);
        let (frames, error) = decode_frames(&bytes, FrameLimits { frames: 2 });
        assert_eq!((frames.len(), error), (2, Some(FrameError::TooMany(2))));
    }

    fn arbitrary_frame() -> impl Strategy<Value = Vec<u8>> {
        (
            0u8..10,
            0u8..14,
            any::<u32>(),
            proptest::collection::vec(any::<u8>(), 0..24),
        )
            .prop_map(|(kind, sub, id, payload)| encode(kind, sub, id, &payload))
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..512)) {
            let (frames, _) = decode(&bytes);
            prop_assert!(frames.len() <= bytes.len() / 12);
        }

        #[test]
        fn almost_valid_buffers_never_panic(
            frames in proptest::collection::vec(arbitrary_frame(), 0..8),
            at in any::<proptest::sample::Index>(),
            byte in any::<u8>(),
        ) {
            let mut bytes: Vec<u8> = frames.concat();
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            let (decoded, error) = decode(&bytes);
            prop_assert!(error.is_some() || decoded.len() * 12 <= bytes.len());
        }
    }
}
