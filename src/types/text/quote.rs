//! Quoting inside arrays and records, done in place on what has just been appended.

/// Quotes the array element that begins at `start` if a reader would not see it as it is.
pub(super) fn quote_element(out: &mut Vec<u8>, start: usize) {
    let element = &out[start..];
    let needs_quotes = element.is_empty()
        || element.eq_ignore_ascii_case(b"null")
        || element.iter().any(|byte| is_space(*byte) || b"\"\\{},".contains(byte));
    if needs_quotes {
        quote(out, start, |byte| if b"\"\\".contains(&byte) { Some(b'\\') } else { None });
    }
}

/// Quotes the record field that begins at `start` if a reader would not see it as it is.
pub(super) fn quote_field(out: &mut Vec<u8>, start: usize) {
    let field = &out[start..];
    let needs_quotes =
        field.is_empty() || field.iter().any(|byte| is_space(*byte) || b"\"\\(),".contains(byte));
    if needs_quotes {
        quote(out, start, |byte| if b"\"\\".contains(&byte) { Some(byte) } else { None });
    }
}

/// White space as C knows it.
fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

/// Puts `out[start..]` between quotes, with what `escape` gives before a byte. Works from the
/// end, so that bytes move once and nothing is allocated but the room.
fn quote(out: &mut Vec<u8>, start: usize, escape: impl Fn(u8) -> Option<u8>) {
    let extra = out[start..].iter().filter(|byte| escape(**byte).is_some()).count() + 2;
    let mut from = out.len();
    let mut to = from + extra;
    out.resize(to, 0);
    let mut put = |out: &mut Vec<u8>, byte: u8| {
        to -= 1;
        out[to] = byte;
    };
    put(out, b'"');
    while from > start {
        from -= 1;
        let byte = out[from];
        put(out, byte);
        if let Some(before) = escape(byte) {
            put(out, before);
        }
    }
    put(out, b'"');
}
