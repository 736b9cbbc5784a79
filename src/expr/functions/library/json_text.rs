//! Parts of JSON text, found by walking over it: nothing is parsed that is not asked for, and a
//! part of canonical `jsonb` text is canonical itself.
//!
//! The text is known to be JSON: it was checked when its value was made.

use std::borrow::Cow;

/// What a JSON text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Object,
    Array,
    String,
    Number,
    Boolean,
    Null,
}

impl Kind {
    /// As `jsonb_typeof` names it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Object => "object",
            Kind::Array => "array",
            Kind::String => "string",
            Kind::Number => "number",
            Kind::Boolean => "boolean",
            Kind::Null => "null",
        }
    }
}

/// The kind of the value that `text` is.
pub(super) fn kind(text: &str) -> Kind {
    match text.trim_start().as_bytes().first() {
        Some(b'{') => Kind::Object,
        Some(b'[') => Kind::Array,
        Some(b'"') => Kind::String,
        Some(b't' | b'f') => Kind::Boolean,
        Some(b'n') | None => Kind::Null,
        _ => Kind::Number,
    }
}

/// Walks over the items of an array, or over the members of an object.
pub(super) struct Walk<'a> {
    text: &'a str,
    at: usize,
    has_keys: bool,
}

/// The members of an object, or the items of an array, in order; of a scalar, none.
pub(super) fn walk(text: &str) -> Walk<'_> {
    let start = text.len() - text.trim_start().len();
    let has_keys = kind(text) == Kind::Object;
    let at = match kind(text) {
        Kind::Object | Kind::Array => start + 1,
        _ => text.len(),
    };
    Walk { text, at, has_keys }
}

impl<'a> Iterator for Walk<'a> {
    /// A member's key as written, empty for an item; its value.
    type Item = (&'a str, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at).is_some_and(|b| b.is_ascii_whitespace() || *b == b',') {
            self.at += 1;
        }
        if matches!(bytes.get(self.at), None | Some(b'}' | b']')) {
            return None;
        }
        let mut key = "";
        if self.has_keys {
            let end = value_end(bytes, self.at);
            key = &self.text[self.at..end];
            self.at = end;
            while bytes.get(self.at).is_some_and(|b| b.is_ascii_whitespace() || *b == b':') {
                self.at += 1;
            }
        }
        let end = value_end(bytes, self.at);
        let value = &self.text[self.at..end];
        self.at = end;
        Some((key, value))
    }
}

/// Where the value that begins at `at` ends.
fn value_end(bytes: &[u8], at: usize) -> usize {
    let mut depth = 0_usize;
    let mut place = at;
    while let Some(byte) = bytes.get(place) {
        match byte {
            b'"' => {
                place += 1;
                while bytes.get(place).is_some_and(|byte| *byte != b'"') {
                    place += if bytes[place] == b'\\' { 2 } else { 1 };
                }
                if depth == 0 {
                    return place + 1;
                }
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                if depth == 0 {
                    return place;
                }
                depth -= 1;
                if depth == 0 {
                    return place + 1;
                }
            }
            b',' | b':' if depth == 0 => return place,
            byte if byte.is_ascii_whitespace() && depth == 0 => return place,
            _ => {}
        }
        place += 1;
    }
    bytes.len()
}

/// The text of a JSON string.
pub(super) fn unquoted(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    let inside = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    match inside {
        Some(inside) if !inside.contains('\\') => Cow::Borrowed(inside),
        _ => Cow::Owned(serde_json::from_str(text).unwrap_or_default()),
    }
}

/// The value of a member; of keys that repeat, the last.
pub(super) fn member<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    if kind(text) != Kind::Object {
        return None;
    }
    walk(text).filter(|(name, _)| unquoted(name) == key).last().map(|(_, value)| value)
}

/// The item of this index, counted from the end if negative.
pub(super) fn item(text: &str, index: i64) -> Option<&str> {
    if kind(text) != Kind::Array {
        return None;
    }
    let index = match index < 0 {
        true => i64::try_from(walk(text).count()).ok()?.checked_add(index)?,
        false => index,
    };
    walk(text).nth(usize::try_from(index).ok()?).map(|(_, value)| value)
}

/// The value at the end of a path of keys and indexes.
pub(super) fn follow<'a>(text: &'a str, path: &[Option<&str>]) -> Option<&'a str> {
    let mut value = text.trim();
    for step in path {
        let step = (*step)?;
        value = match kind(value) {
            Kind::Object => member(value, step)?,
            Kind::Array => item(value, step.parse().ok()?)?,
            _ => return None,
        };
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found() {
        let text = r#" {"a": [1, {"x": "]}\""}, "s"], "b\n" : null, "c":-1.5e3} "#;
        let members: Vec<_> = walk(text).map(|(key, value)| (unquoted(key), value)).collect();
        assert_eq!(members.len(), 3);
        assert_eq!(members[0], ("a".into(), r#"[1, {"x": "]}\""}, "s"]"#));
        assert_eq!(members[1], ("b\n".into(), "null"));
        assert_eq!(members[2], ("c".into(), "-1.5e3"));
        assert_eq!(follow(text, &[Some("a"), Some("1"), Some("x")]), Some(r#""]}\"""#));
        assert_eq!(follow(text, &[Some("a"), Some("-1")]), Some("\"s\""));
        assert_eq!(follow(text, &[Some("c"), Some("0")]), None);
        assert_eq!(item("[]", 0), None);
        assert_eq!(walk("12").next(), None);
    }
}
