//! A reader of TypeScript types, for the part of the language that signatures use.
//!
//! It accepts no more than TypeScript does: literals, names with type arguments, objects, arrays,
//! tuples, unions, intersections, groups and block comments.

/// Checks that a text is one whole type on one line.
///
/// # Errors
/// Where it is not, and what stands there.
pub(crate) fn check_type(text: &str) -> Result<(), String> {
    if text.contains(['\n', '\r', '\u{2028}', '\u{2029}']) {
        return Err(format!("a line break in {text:?}"));
    }
    let mut reader = Reader { rest: text };
    reader.alternatives()?;
    reader.blank()?;
    match reader.rest {
        "" => Ok(()),
        rest => Err(format!("left over: {rest:?} in {text:?}")),
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn alternatives(&mut self) -> Result<(), String> {
        loop {
            self.primary()?;
            if !self.take("|")? && !self.take("&")? {
                return Ok(());
            }
        }
    }

    fn primary(&mut self) -> Result<(), String> {
        if self.take("(")? {
            self.alternatives()?;
            self.expect(")")?;
        } else if self.take("{")? {
            self.members()?;
        } else if self.take("[")? {
            self.elements()?;
        } else if self.rest.starts_with('"') {
            self.string()?;
        } else if self
            .rest
            .starts_with(|c: char| c == '-' || c.is_ascii_digit())
        {
            self.number()?;
        } else {
            self.name()?;
            if self.take("<")? {
                self.alternatives()?;
                while self.take(",")? {
                    self.alternatives()?;
                }
                self.expect(">")?;
            }
        }
        while self.take("[")? {
            self.expect("]")?;
        }
        Ok(())
    }

    fn members(&mut self) -> Result<(), String> {
        loop {
            if self.take("}")? {
                return Ok(());
            }
            self.blank()?;
            match self.rest.starts_with('"') {
                true => self.string()?,
                false => self.name()?,
            }
            self.take("?")?;
            self.expect(":")?;
            self.alternatives()?;
            if !self.take(";")? {
                return self.expect("}");
            }
        }
    }

    fn elements(&mut self) -> Result<(), String> {
        if self.take("]")? {
            return Ok(());
        }
        loop {
            self.take("...")?;
            self.alternatives()?;
            if !self.take(",")? {
                return self.expect("]");
            }
        }
    }

    fn name(&mut self) -> Result<(), String> {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
        let end = self.rest.find(|c| !word(c)).unwrap_or(self.rest.len());
        if end == 0 || self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(format!("no name at {:?}", self.rest));
        }
        self.rest = &self.rest[end..];
        Ok(())
    }

    fn number(&mut self) -> Result<(), String> {
        let digits = self.rest.trim_start_matches('-');
        let end = digits
            .find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | 'e' | '+' | '-'))
            .unwrap_or(digits.len());
        let parsed = digits[..end]
            .parse::<f64>()
            .map_err(|error| error.to_string())?;
        assert!(parsed.is_finite());
        self.rest = &digits[end..];
        Ok(())
    }

    fn string(&mut self) -> Result<(), String> {
        let mut parsed = serde_json::Deserializer::from_str(self.rest).into_iter::<String>();
        match parsed.next() {
            Some(Ok(_)) => self.rest = &self.rest[parsed.byte_offset()..],
            other => return Err(format!("no string at {:?}: {other:?}", self.rest)),
        }
        Ok(())
    }

    fn take(&mut self, token: &str) -> Result<bool, String> {
        self.blank()?;
        let tail = self.rest.strip_prefix(token);
        self.rest = tail.unwrap_or(self.rest);
        Ok(tail.is_some())
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        match self.take(token)? {
            true => Ok(()),
            false => Err(format!("no {token:?} at {:?}", self.rest)),
        }
    }

    fn blank(&mut self) -> Result<(), String> {
        loop {
            self.rest = self.rest.trim_start_matches(' ');
            let Some(comment) = self.rest.strip_prefix("/*") else {
                return Ok(());
            };
            let end = comment.find("*/").ok_or("a comment without end")?;
            self.rest = &comment[end + 2..];
        }
    }
}

#[test]
fn the_reader_tells_types_from_other_text() {
    let types = [
        "string",
        "{}",
        "{ a: string; \"b-c\"?: number[]; /* 3 more */ }",
        "Array<{ x: 1 | -2.5e3 | \"q\\\"*\\/\" }>",
        "[string, ...Array<(string | null)>]",
        "{ a: string } & Record<string, number>",
        "{ /* 2 fields */ }",
    ];
    for text in types {
        assert_eq!(check_type(text), Ok(()), "{text}");
    }
    for text in [
        "",
        "{ a: }",
        "{ a }",
        "string |",
        "Array<string",
        "a b",
        "{ b-c: string }",
        "1x",
    ] {
        assert!(check_type(text).is_err(), "{text}");
    }
}
