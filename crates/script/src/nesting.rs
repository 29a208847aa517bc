//! How deep a text is nested, found by reading its tokens once, before the parser sees it.
//!
//! The parser recurses per level and reads some brackets twice (is `(a = (b` an arrow function? is `a<b` a
//! type argument?), which costs time and memory quadratic in the depth. Three limits keep that small; they
//! are far above what people and models write. Where a slash could be division or a regular expression
//! and the token before does not tell, the scan stops understanding and assumes the worst of the rest.

/// Brackets, braces, parentheses and template substitutions that may be open at once.
pub(crate) const MAX_NESTING: usize = 1000;
/// Operators, prefixes and branches that one unbroken expression or statement may chain.
pub(crate) const MAX_CHAIN: usize = 10_000;
/// Sum of the lengths in bytes of all groups that the parser may have to read twice: it takes about 64
/// bytes of memory and 250 ns for each.
pub(crate) const MAX_REREAD_BYTES: usize = 1024 * 1024;

/// A limit that a text passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Excess {
    /// Which limit, as the rest of a sentence that starts with "the program".
    pub(crate) what: &'static str,
    /// The limit.
    pub(crate) max: usize,
    /// Byte offset where it was passed.
    pub(crate) offset: usize,
}

/// What the last token was, as far as the meaning of `/` and `(` depends on it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// An expression may end here: a slash divides, a parenthesis calls.
    Operand,
    /// An expression must follow: a slash starts a regular expression, a parenthesis groups.
    Operator,
    /// `if`, `while`, `for` or `with`: the next parenthesis is a head.
    Head,
    /// The end of such a head.
    AfterHead,
    /// Could be either.
    Unsure,
    /// A dot: a name follows, whatever word it is.
    Dot,
}

struct Open {
    closer: u8,
    start: usize,
    reread: bool,
    head: bool,
    chain: usize,
}

struct Scan<'t> {
    bytes: &'t [u8],
    at: usize,
    open: Vec<Open>,
    angles: Vec<(usize, usize)>,
    last: Last,
    chain: usize,
    reread: usize,
    unclosed: Option<usize>,
}

/// Checks a text against the limits.
pub(crate) fn check(text: &str) -> Result<(), Excess> {
    Scan::of(text).run()
}

/// The innermost bracket that is still open where the text ends.
pub(crate) fn unclosed(text: &str) -> Option<usize> {
    let mut scan = Scan::of(text);
    scan.run().ok()?;
    scan.unclosed
}

/// Bytes of words, those of other alphabets included.
const OF_WORDS: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let ascii = byte as u8;
        table[byte] = ascii.is_ascii_alphanumeric() || matches!(ascii, b'_' | b'$' | 0x80..);
        byte += 1;
    }
    table
};

/// Words after which an expression must follow.
fn prefix_word(word: &[u8]) -> bool {
    matches!(
        word,
        b"return"
            | b"typeof"
            | b"case"
            | b"in"
            | b"instanceof"
            | b"delete"
            | b"void"
            | b"throw"
            | b"new"
            | b"else"
            | b"do"
    )
}

/// Words that are names in some places and prefixes in others.
fn contextual_word(word: &[u8]) -> bool {
    matches!(
        word,
        b"await"
            | b"yield"
            | b"of"
            | b"async"
            | b"extends"
            | b"as"
            | b"satisfies"
            | b"keyof"
            | b"is"
            | b"infer"
    )
}

/// Words that go on with what the line before began.
fn continues(word: &[u8]) -> bool {
    prefix_word(word) && matches!(word, b"in" | b"instanceof" | b"else") || contextual_word(word)
}

impl<'t> Scan<'t> {
    fn of(text: &'t str) -> Self {
        Self {
            bytes: text.as_bytes(),
            at: 0,
            open: Vec::new(),
            angles: Vec::new(),
            last: Last::Operator,
            chain: 0,
            reread: 0,
            unclosed: None,
        }
    }

    fn run(&mut self) -> Result<(), Excess> {
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\n' | b'\r' | b' ' | b'\t' => self.blank(),
                b'\'' | b'"' => self.string(byte),
                b'`' => {
                    self.at += 1;
                    self.chain += 1;
                    self.template()?;
                }
                b'/' => {
                    if !self.slash()? {
                        return self.assume_the_worst();
                    }
                }
                b'<' if self.bytes[self.at..].starts_with(b"<!--") => {
                    return self.assume_the_worst();
                }
                b'-' if self.bytes[self.at..].starts_with(b"-->") => {
                    return self.assume_the_worst();
                }
                b'(' | b'[' | b'{' => self.push(byte)?,
                b')' | b']' | b'}' => self.pop(byte)?,
                b'0'..=b'9'
                | b'a'..=b'z'
                | b'A'..=b'Z'
                | b'_'
                | b'$'
                | b'\\'
                | b'#'
                | b'@'
                | 0x80.. => self.word(),
                _ => self.operator(byte),
            }
            self.bounded(
                self.chain <= MAX_CHAIN,
                "chains too many operators in one expression",
                MAX_CHAIN,
            )?;
        }
        self.unclosed = self.open.last().map(|open| open.start);
        while let Some(open) = self.open.pop() {
            self.close_angles(self.open.len());
            self.reread += if open.reread { self.at - open.start } else { 0 };
        }
        self.close_angles(0);
        self.bounded(self.reread <= MAX_REREAD_BYTES, REREAD, MAX_REREAD_BYTES)
    }

    fn bounded(&self, within: bool, what: &'static str, max: usize) -> Result<(), Excess> {
        if within {
            Ok(())
        } else {
            Err(Excess {
                what,
                max,
                offset: self.at.min(self.bytes.len()),
            })
        }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    /// White space; a line that starts with a word after a finished expression starts a new statement.
    fn blank(&mut self) {
        let mut broke = false;
        while let Some(byte @ (b'\n' | b'\r' | b' ' | b'\t')) = self.peek(0) {
            broke |= byte != b' ' && byte != b'\t';
            self.at += 1;
        }
        if !broke || self.last != Last::Operand {
            return;
        }
        let word = self.word_here();
        if !word.is_empty() && !continues(word) {
            self.fresh();
        }
    }

    /// A new statement or list element begins.
    fn fresh(&mut self) {
        self.chain = self.open.last().map_or(0, |open| open.chain);
    }

    fn word_here(&self) -> &[u8] {
        let rest = &self.bytes[self.at.min(self.bytes.len())..];
        let end = rest.iter().position(|byte| !OF_WORDS[usize::from(*byte)]);
        &rest[..end.unwrap_or(rest.len())]
    }

    fn word(&mut self) {
        let word = self.word_here();
        let length = word.len().max(1);
        let after_dot = self.last == Last::Dot;
        self.last = match word {
            _ if after_dot => Last::Operand,
            b"if" | b"while" | b"for" | b"with" => Last::Head,
            _ if prefix_word(word) => Last::Operator,
            _ if contextual_word(word) => Last::Unsure,
            b"" => Last::Dot,
            _ => Last::Operand,
        };
        if self.last != Last::Operand {
            self.chain += 1;
        }
        self.at += length;
    }

    fn operator(&mut self, byte: u8) {
        let two = (byte, self.peek(1).unwrap_or(0));
        let width = if matches!(
            two,
            (b'=', b'>') | (b'+', b'+') | (b'-', b'-') | (b'?', b'.') | (b'&', b'&') | (b'|', b'|')
        ) {
            2
        } else {
            1
        };
        match two {
            (b',', _) => self.fresh(),
            (b';', _) => {
                if !self.else_follows() {
                    self.fresh();
                }
                self.close_angles_at_level();
            }
            (b'<', _) => self.angles.push((self.open.len(), self.at)),
            (b'>', _) => self.close_one_angle(),
            (b'*' | b'%' | b'^' | b'~' | b'!', _) | (b'&', b'&') | (b'|', b'|') | (b'+', _) => {
                self.close_angles_at_level()
            }
            _ => {}
        }
        let postfix = matches!(two, (b'+', b'+') | (b'-', b'-')) || byte == b'!' || byte == b'>';
        self.last = match byte {
            b'.' => Last::Dot,
            b'?' if two.1 == b'.' => Last::Dot,
            // `a++ / b` divides, `++/re/` does not; `a! / b` and `f<T>/x/` exist in TypeScript only.
            _ if postfix && two.1 != b'=' => match (self.last, byte) {
                (Last::Operand, b'+' | b'-') => Last::Operand,
                (Last::Operator | Last::AfterHead, b'!') => Last::Operator,
                _ => Last::Unsure,
            },
            _ => Last::Operator,
        };
        if !matches!(byte, b',' | b';') {
            self.chain += 1;
        }
        self.at += width;
    }

    fn else_follows(&self) -> bool {
        let rest = &self.bytes[self.at + 1..];
        let skip = rest
            .iter()
            .position(|byte| !byte.is_ascii_whitespace())
            .unwrap_or(rest.len());
        rest[skip..].starts_with(b"else")
    }

    fn push(&mut self, byte: u8) -> Result<(), Excess> {
        let closer = match byte {
            b'(' => b')',
            b'[' => b']',
            _ => b'}',
        };
        let reread = byte == b'(' && !matches!(self.last, Last::Operand | Last::Head);
        let head = byte == b'(' && self.last == Last::Head;
        self.chain += 1;
        self.open.push(Open {
            closer,
            start: self.at,
            reread,
            head,
            chain: self.chain,
        });
        self.last = Last::Operator;
        self.at += 1;
        self.bounded(
            self.open.len() <= MAX_NESTING,
            "nests brackets too deep",
            MAX_NESTING,
        )
    }

    fn pop(&mut self, byte: u8) -> Result<(), Excess> {
        self.at += 1;
        self.last = if byte == b'}' {
            Last::Unsure
        } else {
            Last::Operand
        };
        let Some(open) = self.open.pop_if(|open| open.closer == byte) else {
            return Ok(());
        };
        self.close_angles(self.open.len());
        self.chain = open.chain;
        if open.head {
            self.last = Last::AfterHead;
        }
        if byte == b'}' && !self.else_follows_here() {
            self.fresh();
        }
        if open.reread {
            self.reread += self.at - open.start;
        }
        if open.closer == b'}' && open.head {
            self.template()?;
        }
        self.bounded(self.reread <= MAX_REREAD_BYTES, REREAD, MAX_REREAD_BYTES)
    }

    fn else_follows_here(&self) -> bool {
        let rest = &self.bytes[self.at..];
        let skip = rest
            .iter()
            .position(|byte| !byte.is_ascii_whitespace())
            .unwrap_or(rest.len());
        !rest[skip..].first().is_some_and(u8::is_ascii_alphabetic)
            || rest[skip..].starts_with(b"else")
    }

    fn close_one_angle(&mut self) {
        if let Some((_, start)) = self.angles.pop_if(|(level, _)| *level >= self.open.len()) {
            self.reread += self.at - start;
        }
    }

    fn close_angles_at_level(&mut self) {
        self.close_angles(self.open.len().saturating_sub(1));
    }

    /// Ends every `<` that was opened inside more than `level` brackets.
    fn close_angles(&mut self, level: usize) {
        while let Some((_, start)) = self.angles.pop_if(|(at, _)| *at > level || level == 0) {
            self.reread += self.at - start;
        }
    }

    fn string(&mut self, quote: u8) {
        self.at += 1;
        while let Some(byte) = self.peek(0) {
            self.at += match byte {
                b'\\' => 2,
                b'\n' | b'\r' => break,
                _ => 1,
            };
            if byte == quote {
                break;
            }
        }
        self.last = Last::Operand;
    }

    /// The inside of a template up to its end or its next substitution.
    fn template(&mut self) -> Result<(), Excess> {
        while let Some(byte) = self.peek(0) {
            match (byte, self.peek(1)) {
                (b'\\', _) => self.at += 2,
                (b'`', _) => {
                    self.at += 1;
                    break;
                }
                (b'$', Some(b'{')) => {
                    self.at += 1;
                    self.push(b'{')?;
                    if let Some(open) = self.open.last_mut() {
                        open.head = true;
                    }
                    return Ok(());
                }
                _ => self.at += 1,
            }
        }
        self.last = Last::Operand;
        Ok(())
    }

    /// A comment, division or regular expression; false if it cannot be told which.
    fn slash(&mut self) -> Result<bool, Excess> {
        match (self.peek(1), self.last) {
            (Some(b'/'), _) => {
                let rest = &self.bytes[self.at..];
                self.at += rest
                    .iter()
                    .position(|byte| matches!(byte, b'\n' | b'\r' | 0xe2))
                    .unwrap_or(rest.len())
                    .max(1);
                // U+2028 and U+2029 end a comment too; other characters of that first byte do not.
                while self.peek(0) == Some(0xe2)
                    && !matches!(
                        (self.peek(1), self.peek(2)),
                        (Some(0x80), Some(0xa8 | 0xa9))
                    )
                {
                    let rest = &self.bytes[self.at + 1..];
                    self.at += 1 + rest
                        .iter()
                        .position(|byte| matches!(byte, b'\n' | b'\r' | 0xe2))
                        .unwrap_or(rest.len());
                }
                Ok(true)
            }
            (Some(b'*'), _) => {
                let rest = &self.bytes[self.at + 2..];
                let end = rest
                    .windows(2)
                    .position(|pair| pair == b"*/")
                    .map_or(rest.len(), |end| end + 2);
                self.at += 2 + end;
                Ok(true)
            }
            (_, Last::Operand) => {
                self.operator(b'/');
                self.close_angles_at_level();
                Ok(true)
            }
            (_, Last::Operator) => Ok(self.regular_expression()),
            _ => Ok(false),
        }
    }

    fn regular_expression(&mut self) -> bool {
        let (mut at, mut class) = (self.at + 1, false);
        while let Some(&byte) = self.bytes.get(at) {
            match byte {
                b'\\' => at += 1,
                b'\n' | b'\r' => return false,
                b'[' => class = true,
                b']' => class = false,
                b'/' if !class => {
                    self.at = at + 1;
                    self.last = Last::Operand;
                    return true;
                }
                _ => {}
            }
            at += 1;
        }
        false
    }

    /// Judges what is left as if every bracket in it were open to the end.
    fn assume_the_worst(&self) -> Result<(), Excess> {
        let rest = &self.bytes[self.at..];
        let openers = rest
            .iter()
            .filter(|byte| matches!(byte, b'(' | b'<'))
            .count();
        let within = openers.saturating_mul(rest.len()) <= 8 * MAX_REREAD_BYTES;
        self.bounded(
            within && self.open.len() <= MAX_NESTING,
            REREAD,
            MAX_REREAD_BYTES,
        )
    }
}

const REREAD: &str = "has too many bytes inside nested groups that must be read twice";

#[cfg(test)]
mod tests {
    use super::*;

    fn what(text: &str) -> Option<&'static str> {
        check(text).err().map(|excess| excess.what)
    }

    #[test]
    fn accepts_one_less_than_the_limit() {
        for (open, close) in [("(", ")"), ("[", "]"), ("{", "}"), ("`${", "}`")] {
            let text = |n: usize| format!("{}0{}", open.repeat(n), close.repeat(n));
            assert_eq!(what(&text(MAX_NESTING)), None, "{open}");
            assert_eq!(
                what(&text(MAX_NESTING + 1)),
                Some("nests brackets too deep"),
                "{open}"
            );
        }
    }

    #[test]
    fn brackets_in_strings_comments_and_expressions_do_not_count() {
        let many = "([{".repeat(2000);
        for text in [
            format!("x = '{many}'"),
            format!("// {many}\n1"),
            format!("/* {many} */1"),
            format!("x = /[{many}]/"),
            format!("x = `{many}`"),
            format!("f(1) / '{many}'.length"),
        ] {
            assert_eq!(what(&text), None, "{}", &text[..20]);
        }
    }

    #[test]
    fn chains_end_with_statements() {
        assert_eq!(what(&"a + b;\n".repeat(20_000)), None);
        assert_eq!(what(&"a = b\n".repeat(20_000)), None);
        assert_eq!(what(&"if (a) { b() }\n".repeat(10_000)), None);
        assert_eq!(
            what(&"!".repeat(MAX_CHAIN + 1)),
            Some("chains too many operators in one expression")
        );
        assert_eq!(
            what(&"if(1);else ".repeat(MAX_CHAIN)),
            Some("chains too many operators in one expression")
        );
    }

    #[test]
    fn groups_that_are_read_twice_are_summed() {
        let nest = |n: usize| format!("{}1{};", "(a=".repeat(n), ")".repeat(n));
        assert_eq!(what(&nest(500)), None);
        assert_eq!(what(&nest(400).repeat(10)), Some(REREAD));
        assert_eq!(what(&"f<".repeat(5000)), Some(REREAD));
    }
}
