//! The options of WITH and of ENCODE, read by name and type.
//!
//! Who reads an option makes it known; what nobody made known is refused at the end, with the
//! nearest name that is known. So the readers of options are also their only list.

use std::collections::BTreeMap;
use std::str::FromStr;

use crate::error::{SqlError, SqlResult, code};

/// Reads options, and remembers which there are.
pub(super) struct OptionReader<'a> {
    /// What the options belong to: `connector "nexmark"`, `ENCODE CSV`.
    owner: String,
    options: &'a BTreeMap<String, String>,
    known: Vec<String>,
}

impl<'a> OptionReader<'a> {
    pub(super) fn new(owner: impl Into<String>, options: &'a BTreeMap<String, String>) -> Self {
        Self { owner: owner.into(), options, known: Vec::new() }
    }

    /// The option of any of these names; the first is the one that messages call it by.
    pub(super) fn text(&mut self, names: &[&str]) -> SqlResult<Option<&'a str>> {
        let mut given: Option<(&str, &'a str)> = None;
        for name in names {
            self.known.push((*name).to_owned());
            let Some(value) = self.options.get(*name) else { continue };
            if let Some((other, _)) = given {
                return Err(SqlError::new(
                    code::INVALID_PARAMETER_VALUE,
                    format!("conflicting options \"{other}\" and \"{name}\""),
                )
                .hint("The two are names of one option: give one of them."));
            }
            given = Some((name, value));
        }
        Ok(given.map(|(_, value)| value))
    }

    /// The same as a value of type `T`; `expected` ends the hint "The value must be ...".
    pub(super) fn parsed<T: FromStr>(
        &mut self,
        names: &[&str],
        expected: &str,
    ) -> SqlResult<Option<T>> {
        let Some(value) = self.text(names)? else { return Ok(None) };
        let parsed = value.trim().parse().map_err(|_| invalid(names[0], value, expected))?;
        Ok(Some(parsed))
    }

    /// A switch, as SQL writes booleans.
    pub(super) fn switch(&mut self, names: &[&str]) -> SqlResult<Option<bool>> {
        let Some(value) = self.text(names)? else { return Ok(None) };
        match value.trim().to_ascii_lowercase().as_str() {
            "true" | "t" | "on" | "yes" | "1" => Ok(Some(true)),
            "false" | "f" | "off" | "no" | "0" => Ok(Some(false)),
            _ => Err(invalid(names[0], value, "true or false")),
        }
    }

    /// Refuses what nobody read.
    pub(super) fn finish(self) -> SqlResult<()> {
        match self.options.keys().find(|given| !self.known.contains(given)) {
            None => Ok(()),
            Some(given) => Err(self.unrecognized(given)),
        }
    }

    fn unrecognized(&self, given: &str) -> SqlError {
        let nearest = self
            .known
            .iter()
            .map(|known| (strsim::damerau_levenshtein(known, given), known))
            .filter(|(distance, known)| *distance <= known.len().max(given.len()).div_ceil(3))
            .min_by_key(|(distance, _)| *distance);
        let hint = match nearest {
            Some((_, known)) => format!("Perhaps you meant \"{known}\"."),
            None if self.known.is_empty() => "It has no options.".to_owned(),
            None => format!("Its options are: {}.", self.known.join(", ")),
        };
        SqlError::new(
            code::UNDEFINED_OBJECT,
            format!("unrecognized option \"{given}\" for {}", self.owner),
        )
        .hint(hint)
    }
}

/// A value that the option cannot have.
pub(super) fn invalid(name: &str, value: &str, expected: &str) -> SqlError {
    SqlError::new(
        code::INVALID_PARAMETER_VALUE,
        format!("invalid value for option \"{name}\": \"{value}\""),
    )
    .hint(format!("The value must be {expected}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn an_unknown_option_is_refused_with_the_nearest() {
        let given = options(&[("rat", "5")]);
        let mut reader = OptionReader::new("connector \"nexmark\"", &given);
        assert_eq!(reader.parsed::<u64>(&["rate"], "a number").expect("not given"), None);
        reader.text(&["events"]).expect("not given");
        let error = reader.finish().expect_err("rat is not known");
        assert_eq!(error.code, "42704");
        assert_eq!(error.message, "unrecognized option \"rat\" for connector \"nexmark\"");
        assert_eq!(error.hint.as_deref(), Some("Perhaps you meant \"rate\"."));
    }

    #[test]
    fn a_bad_value_says_what_it_must_be() {
        let given = options(&[("rate", "fast")]);
        let mut reader = OptionReader::new("connector \"nexmark\"", &given);
        let error = reader.parsed::<u64>(&["rate"], "a whole number").expect_err("not a number");
        assert_eq!(error.code, "22023");
        assert_eq!(error.hint.as_deref(), Some("The value must be a whole number."));
    }

    #[test]
    fn two_names_of_one_option_conflict() {
        let given = options(&[("events", "1"), ("nexmark.event.num", "2")]);
        let mut reader = OptionReader::new("connector \"nexmark\"", &given);
        let error = reader.text(&["events", "nexmark.event.num"]).expect_err("both are given");
        assert_eq!(error.message, "conflicting options \"events\" and \"nexmark.event.num\"");
    }

    #[test]
    fn switches_are_sql_booleans() {
        let given = options(&[("a", "ON"), ("b", "f"), ("c", "maybe")]);
        let mut reader = OptionReader::new("ENCODE CSV", &given);
        assert_eq!(reader.switch(&["a"]).expect("on"), Some(true));
        assert_eq!(reader.switch(&["b"]).expect("off"), Some(false));
        assert!(reader.switch(&["c"]).is_err());
        assert_eq!(reader.switch(&["d"]).expect("absent"), None);
    }
}
