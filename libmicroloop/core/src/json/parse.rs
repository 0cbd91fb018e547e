//! The parser: RFC 8259, strictly, by recursive descent with a limit on the depth.

use alloc::{borrow::Cow, string::String, vec::Vec};

use super::{Json, Number, order::by_utf16, scan::plain};

/// How deep arrays and objects may be nested.
pub const DEEPEST: u32 = 128;

/// Room for the arguments of most calls.
const USUAL: usize = 8;

type Member<'a> = (Cow<'a, str>, Json<'a>);
type Members<'a> = Vec<Member<'a>>;

/// What is wrong, and at which byte.
type Fault = (&'static str, usize);

pub(super) fn parse(text: &str) -> Result<Json<'_>, Fault> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    let value = parser.value()?;
    match parser.next_token() {
        None => Ok(value),
        Some(_) => Err(parser.fault("something stands after the value")),
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: u32,
}

impl<'a> Parser<'a> {
    fn value(&mut self) -> Result<Json<'a>, Fault> {
        match self.next_token() {
            Some(b'"') => self.string().map(Json::Text),
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'-' | b'0'..=b'9') => self.number().map(Json::Number),
            Some(b't') => self.literal("true", Json::Bool(true)),
            Some(b'f') => self.literal("false", Json::Bool(false)),
            Some(b'n') => self.literal("null", Json::Null),
            _ => Err(self.fault("expected a value")),
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Json<'a>, Fault>) -> Result<Json<'a>, Fault> {
        if self.depth >= DEEPEST {
            return Err(self.fault("nested deeper than 128 levels"));
        }
        self.depth += 1;
        self.at += 1;
        let value = read(self)?;
        self.depth = self.depth.saturating_sub(1);
        Ok(value)
    }

    fn array(&mut self) -> Result<Json<'a>, Fault> {
        let mut items = Vec::new();
        if self.next_token() == Some(b']') {
            self.at += 1;
            return Ok(Json::Array(items));
        }
        loop {
            items.push(self.value()?);
            if self.ends_with(b']', "expected a comma or the end of the array")? {
                return Ok(Json::Array(items));
            }
        }
    }

    fn object(&mut self) -> Result<Json<'a>, Fault> {
        if self.next_token() == Some(b'}') {
            self.at += 1;
            return Ok(Json::Object(Members::new()));
        }
        let mut members = Members::with_capacity(USUAL);
        loop {
            members.push(self.member()?);
            if self.ends_with(b'}', "expected a comma or the end of the object")? {
                return self.in_order(members).map(Json::Object);
            }
        }
    }

    fn member(&mut self) -> Result<Member<'a>, Fault> {
        if self.next_token() != Some(b'"') {
            return Err(self.fault("expected a key"));
        }
        let key = self.string()?;
        if self.next_token() != Some(b':') {
            return Err(self.fault("expected a colon"));
        }
        self.at += 1;
        Ok((key, self.value()?))
    }

    fn in_order(&self, mut members: Members<'a>) -> Result<Members<'a>, Fault> {
        let ascending = |pair: &[Member<'a>]| matches!(pair, [(a, _), (b, _)] if by_utf16(a, b).is_lt());
        if members.windows(2).all(ascending) {
            return Ok(members);
        }
        members.sort_unstable_by(|(a, _), (b, _)| by_utf16(a, b));
        if members.windows(2).all(ascending) {
            return Ok(members);
        }
        Err(self.fault("the same key comes twice in the object that ends"))
    }

    /// After an item: whether the list ends here or goes on.
    fn ends_with(&mut self, end: u8, expected: &'static str) -> Result<bool, Fault> {
        match self.next_token() {
            Some(b',') => {
                self.at += 1;
                Ok(false)
            }
            Some(byte) if byte == end => {
                self.at += 1;
                Ok(true)
            }
            _ => Err(self.fault(expected)),
        }
    }

    fn literal(&mut self, word: &str, value: Json<'a>) -> Result<Json<'a>, Fault> {
        if !self.rest().starts_with(word.as_bytes()) {
            return Err(self.fault("expected a value"));
        }
        self.at = self.at.saturating_add(word.len());
        Ok(value)
    }

    fn number(&mut self) -> Result<Number, Fault> {
        let start = self.at;
        let negative = self.skip(b'-');
        let whole = self.digits();
        let leading_zero = self.slice(whole).starts_with('0') && whole.1 - whole.0 > 1;
        if whole.0 == whole.1 || leading_zero {
            return Err(self.fault("expected digits without a leading zero"));
        }
        if matches!(self.peek(), Some(b'.' | b'e' | b'E')) {
            return self.float(start);
        }
        let value = self.slice((start, self.at));
        let integer =
            if negative { value.parse().map(Number::from_i64).ok() } else { value.parse().map(Number::Unsigned).ok() };
        integer.ok_or(("an integer that does not fit into 64 bits (send it as a string)", start))
    }

    fn float(&mut self, start: usize) -> Result<Number, Fault> {
        if self.skip(b'.') && self.no_digits() {
            return Err(self.fault("expected a digit"));
        }
        if self.skip(b'e') || self.skip(b'E') {
            let _sign = self.skip(b'+') || self.skip(b'-');
            if self.no_digits() {
                return Err(self.fault("expected a digit"));
            }
        }
        let value: f64 = self.slice((start, self.at)).parse().map_err(|_| self.fault("expected a number"))?;
        if value.is_finite() { Ok(Number::from_f64(value)) } else { Err(("a number too large for a double", start)) }
    }

    fn string(&mut self) -> Result<Cow<'a, str>, Fault> {
        self.at += 1;
        let start = self.at;
        self.at = self.at.saturating_add(plain(self.rest()));
        if self.peek() == Some(b'"') {
            let text = self.slice((start, self.at));
            self.at += 1;
            return Ok(Cow::Borrowed(text));
        }
        self.escaped(start).map(Cow::Owned)
    }

    /// A string that has escapes, from its beginning on.
    fn escaped(&mut self, start: usize) -> Result<String, Fault> {
        let mut text = String::from(self.slice((start, self.at)));
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => text.push(self.escape()?),
                Some(_) => return Err(self.fault("a control character in a string")),
                None => return Err(self.fault("a string without an end")),
            }
            let from = self.at;
            self.at = self.at.saturating_add(plain(self.rest()));
            text.push_str(self.slice((from, self.at)));
        }
    }

    fn escape(&mut self) -> Result<char, Fault> {
        let kind = self.rest().get(1).copied();
        let plain = match kind {
            Some(b'"' | b'\\' | b'/') => kind.map(char::from),
            Some(b'b') => Some('\u{8}'),
            Some(b'f') => Some('\u{c}'),
            Some(b'n') => Some('\n'),
            Some(b'r') => Some('\r'),
            Some(b't') => Some('\t'),
            Some(b'u') => return self.unicode(),
            _ => None,
        };
        let plain = plain.ok_or_else(|| self.fault("an unknown escape"))?;
        self.at += 2;
        Ok(plain)
    }

    /// One `\uXXXX`, or the two of a surrogate pair.
    fn unicode(&mut self) -> Result<char, Fault> {
        let start = self.at;
        let lone = ("a lone surrogate", start);
        let high = self.code_unit()?;
        if !(0xd800..0xe000).contains(&high) {
            return char::from_u32(high).ok_or(lone);
        }
        if high >= 0xdc00 || !self.rest().starts_with(b"\\u") {
            return Err(lone);
        }
        let low = self.code_unit()?;
        if !(0xdc00..0xe000).contains(&low) {
            return Err(lone);
        }
        char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)).ok_or(lone)
    }

    fn code_unit(&mut self) -> Result<u32, Fault> {
        let digits = self.rest().get(2..6).ok_or_else(|| self.fault("an escape cut short"))?;
        let unit = digits.iter().try_fold(0, |unit, digit| Some(unit * 16 + char::from(*digit).to_digit(16)?));
        let unit = unit.ok_or_else(|| self.fault("expected four hex digits"))?;
        self.at += 6;
        Ok(unit)
    }

    fn next_token(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
        self.peek()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    fn skip(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn digits(&mut self) -> (usize, usize) {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        (start, self.at)
    }

    fn no_digits(&mut self) -> bool {
        let (start, end) = self.digits();
        start == end
    }

    fn slice(&self, (start, end): (usize, usize)) -> &'a str {
        self.text.get(start..end).unwrap_or_default()
    }

    fn fault(&self, what: &'static str) -> Fault {
        (what, self.at)
    }
}
