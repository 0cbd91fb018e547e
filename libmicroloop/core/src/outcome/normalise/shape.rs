//! How long each thing that varies is, where it begins. Every function reads a bounded number of bytes or a run that it returns.

type Length = Option<usize>;

pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn run(text: &[u8], belongs: impl Fn(u8) -> bool) -> usize {
    text.iter().position(|byte| !belongs(*byte)).unwrap_or(text.len())
}

fn after(text: &[u8], len: usize) -> &[u8] {
    text.get(len..).unwrap_or_default()
}

/// `len` if what comes then is no longer the same word.
fn ends_word(text: &[u8], len: usize) -> Length {
    after(text, len).first().is_none_or(|byte| !is_word(*byte)).then_some(len)
}

pub(super) fn word(text: &[u8]) -> usize {
    run(text, is_word)
}

pub(super) fn digits(text: &[u8]) -> usize {
    run(text, |byte| byte.is_ascii_digit())
}

pub(super) fn identifier(text: &[u8]) -> usize {
    run(text, |byte| is_word(byte) || byte == b'-')
}

/// A number with its decimals and whatever letters hang on it.
pub(super) fn number(text: &[u8]) -> usize {
    let whole = word(text);
    match after(text, whole) {
        [b'.', next, ..] if next.is_ascii_digit() => {
            whole.saturating_add(1).saturating_add(word(after(text, whole.saturating_add(1))))
        }
        _ => whole,
    }
}

/// An ANSI escape sequence: `ESC [ … letter`, or `ESC` alone.
pub(super) fn colour(text: &[u8]) -> usize {
    if text.get(1) != Some(&b'[') {
        return 1;
    }
    let parameters = run(after(text, 2), |byte| matches!(byte, 0x20..=0x3f)).min(32);
    parameters.saturating_add(3)
}

/// Matches a picture: `d` a digit, `x` a hex digit, everything else itself.
fn picture(text: &[u8], picture: &[u8]) -> Length {
    let fits = |(byte, wanted): (&u8, &u8)| match wanted {
        b'd' => byte.is_ascii_digit(),
        b'x' => byte.is_ascii_hexdigit(),
        _ => byte == wanted,
    };
    let matches = text.len() >= picture.len() && text.iter().zip(picture).all(fits);
    matches.then_some(picture.len())
}

pub(super) fn uuid(text: &[u8]) -> Length {
    // Many words are hexadecimal for a while.
    text.get(8).filter(|byte| **byte == b'-')?;
    picture(text, b"xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx").and_then(|len| ends_word(text, len))
}

/// `0x` and six hex digits or more; a shorter one is more likely a value.
pub(super) fn address(text: &[u8]) -> Length {
    let hex = run(text.strip_prefix(b"0x")?, |byte| byte.is_ascii_hexdigit());
    ends_word(text, hex.saturating_add(2)).filter(|_| hex >= 6)
}

/// `.123` if it is there.
fn fraction(text: &[u8]) -> usize {
    match text {
        [b'.' | b',', rest @ ..] if digits(rest) > 0 => digits(rest).saturating_add(1),
        _ => 0,
    }
}

/// ISO 8601 date and time, with fraction and zone. A date alone means something.
pub(super) fn date_time(text: &[u8]) -> Length {
    let date = picture(text, b"dddd-dd-dd")?;
    let sign = after(text, date).first()?;
    if !matches!(sign, b'T' | b't' | b' ') {
        return None;
    }
    let start = date.saturating_add(1);
    let time = clock_time(after(text, start)).or_else(|| picture(after(text, start), b"dd:dd"))?;
    Some(start.saturating_add(time))
}

/// `12:03:04.5Z`, `12:03:04+01:00`
pub(super) fn clock_time(text: &[u8]) -> Length {
    let clock = picture(text, b"dd:dd:dd")?;
    let len = clock.saturating_add(fraction(after(text, clock)));
    let zone = match after(text, len) {
        [b'Z' | b'z', ..] => 1,
        zone @ [b'+' | b'-', ..] => picture(after(zone, 1), b"dd:dd")
            .or_else(|| picture(after(zone, 1), b"dddd"))
            .map_or(0, |digits| digits.saturating_add(1)),
        _ => 0,
    };
    Some(len.saturating_add(zone))
}

/// Seconds, milli-, micro- or nanoseconds since 1970, for the years 2001 to 2033.
pub(super) fn epoch_time(text: &[u8]) -> Length {
    let whole = digits(text);
    if text.first() != Some(&b'1') || !matches!(whole, 10 | 13 | 16 | 19) {
        return None;
    }
    let len = whole.saturating_add(fraction(after(text, whole)));
    ends_word(text, len)
}

const UNITS: &[&str] = &[
    "ms",
    "s",
    "us",
    "µs",
    "μs",
    "ns",
    "sec",
    "secs",
    "second",
    "seconds",
    "min",
    "mins",
    "minute",
    "minutes",
    "hour",
    "hours",
    "milliseconds",
];

/// `0.12s`, `13 ms`, `1m30s`, `1h02m`
pub(super) fn duration(text: &[u8]) -> Length {
    let whole = digits(text);
    let amount = whole.saturating_add(fraction(after(text, whole)));
    let rest = after(text, amount);
    rest.first().filter(|byte| **byte == b' ' || is_word(**byte))?;
    if let Some(parts) = compound(rest) {
        return ends_word(text, amount.saturating_add(parts));
    }
    let space = usize::from(rest.first() == Some(&b' '));
    let unit = Some(word(after(rest, space))).filter(|unit| *unit > 0)?;
    let name = after(rest, space).get(..unit)?;
    let is_unit = UNITS.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()));
    is_unit.then_some(amount.saturating_add(space).saturating_add(unit))
}

/// `m30s`, `h02m`, `h02m03s`: what follows the first number of a compound duration.
fn compound(text: &[u8]) -> Length {
    if !matches!(text.first(), Some(b'h' | b'm')) {
        return None;
    }
    let second = digits(after(text, 1));
    let len = second.saturating_add(1);
    let len = len.saturating_add(fraction(after(text, len)));
    match after(text, len).first()? {
        b's' if second > 0 => Some(len.saturating_add(1)),
        b'm' if second > 0 => Some(len.saturating_add(compound(after(text, len)).unwrap_or(1))),
        _ => None,
    }
}

/// `req_8f3kd92k`
pub(super) fn request_id(text: &[u8]) -> Length {
    let prefix = matches!(text, [b'r', b'e', b'q', b'_' | b'-', ..]).then_some(4)?;
    let id = identifier(after(text, prefix));
    (id >= 6).then_some(prefix.saturating_add(id))
}

const TEMP_ROOTS: &[&str] = &["/tmp/", "/var/tmp/", "/var/folders/"];

/// The length of a temporary directory's root.
pub(super) fn temp_root(text: &[u8]) -> Length {
    TEMP_ROOTS.iter().find(|root| text.starts_with(root.as_bytes())).map(|root| root.len())
}

pub(super) fn path_part(text: &[u8]) -> usize {
    run(text, |byte| !byte.is_ascii_whitespace() && !matches!(byte, b'/' | b'"' | b'\'' | b':' | b',' | b')' | b'>'))
}
