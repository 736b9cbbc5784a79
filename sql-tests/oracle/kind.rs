//! The types of columns and expressions, and values for them: few, so that keys meet, and the
//! ends of each range.

use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Int,
    BigInt,
    Numeric,
    Text,
    /// float8 whose sums are exact in any order.
    Float,
    /// float8 that is rounded: nothing is computed from it any more.
    Ratio,
    /// float8 whose last digits depend on the order of rows: it is looked at only.
    Rough,
    Bool,
    Date,
    Timestamp,
    Json,
    IntArray,
    TextArray,
}

/// What columns of tables have.
pub(super) const STORED: &[Kind] = &[
    Kind::Int,
    Kind::Int,
    Kind::Int,
    Kind::BigInt,
    Kind::Numeric,
    Kind::Text,
    Kind::Text,
    Kind::Float,
    Kind::Bool,
    Kind::Date,
    Kind::Timestamp,
    Kind::Json,
    Kind::IntArray,
    Kind::TextArray,
];

impl Kind {
    /// As a column may be declared.
    pub(super) fn declared(self) -> &'static [&'static str] {
        match self {
            Self::Numeric => &["numeric(12,2)", "numeric(12,2)", "numeric", "numeric(20,5)"],
            other => std::slice::from_ref(other.name()),
        }
    }

    /// As a value is cast.
    pub(super) fn sql(self) -> &'static str {
        self.name()
    }

    fn name(self) -> &'static &'static str {
        match self {
            Self::Int => &"int",
            Self::BigInt => &"bigint",
            Self::Numeric => &"numeric",
            Self::Text => &"text",
            Self::Float | Self::Ratio | Self::Rough => &"float8",
            Self::Bool => &"boolean",
            Self::Date => &"date",
            Self::Timestamp => &"timestamp",
            Self::Json => &"jsonb",
            Self::IntArray => &"int[]",
            Self::TextArray => &"text[]",
        }
    }

    /// Whether its values can be compared with others.
    pub(super) fn is_exact(self) -> bool {
        !matches!(self, Self::Ratio | Self::Rough)
    }

    /// The first letter of a column's name.
    pub(super) fn letter(self) -> char {
        match self {
            Self::Int => 'i',
            Self::BigInt => 'b',
            Self::Numeric => 'n',
            Self::Text => 't',
            Self::Float | Self::Ratio | Self::Rough => 'f',
            Self::Bool => 'o',
            Self::Date => 'd',
            Self::Timestamp => 's',
            Self::Json => 'j',
            Self::IntArray => 'a',
            Self::TextArray => 'e',
        }
    }

    /// The literal to which a value shrinks.
    pub(super) fn plain(self) -> String {
        match self {
            Self::Int => "1::int".to_string(),
            Self::Text => "'a'::text".to_string(),
            Self::Bool => "true".to_string(),
            other => format!("{}::{}", other.values()[0], other.sql()),
        }
    }

    /// NULL of this type.
    pub(super) fn null(self) -> String {
        format!("NULL::{}", self.sql())
    }

    fn values(self) -> &'static [&'static str] {
        match self {
            Self::Int => &["1", "0", "2", "3", "-1"],
            Self::BigInt => &["1", "0", "2", "30", "-1"],
            Self::Numeric => &["1.50", "0.00", "2.25", "-0.50", "100.00"],
            Self::Text => &["'a'", "'b'", "'ab'", "'c'"],
            Self::Float | Self::Ratio | Self::Rough => &["0.5", "0", "1.25", "-2", "1000000"],
            Self::Bool => &["true", "false"],
            Self::Date => &["'2024-02-29'", "'2024-01-01'", "'1999-12-31'"],
            Self::Timestamp => {
                &["'2024-02-29 12:00:00'", "'2024-01-01 00:00:00'", "'1999-12-31 23:59:59.5'"]
            }
            Self::Json => &[
                r#"'{"a": 1, "b": [1, 2]}'"#,
                "'[1, 2, 1]'",
                r#"'{"a": "x", "c": null}'"#,
                r#"'[{"a": 2}, {"b": "ab"}]'"#,
                "'1'",
                r#"'"a"'"#,
            ],
            Self::IntArray => &["'{1,2}'", "'{2}'", "'{}'", "'{1,1,3}'"],
            Self::TextArray => &["'{a,b}'", "'{b}'", "'{}'", "'{ab,a,a}'"],
        }
    }

    fn ends(self) -> &'static [&'static str] {
        match self {
            Self::Int => &["2147483647", "-2147483648"],
            Self::BigInt => &["9223372036854775807", "-9223372036854775808"],
            Self::Numeric => &["9999999999.99", "-9999999999.99", "0.01"],
            Self::Text => &["''", "'A'", "'é'", "' a'", "'a%_'"],
            Self::Float | Self::Ratio | Self::Rough => {
                &["'NaN'", "'Infinity'", "'-Infinity'", "'-0'"]
            }
            Self::Bool => &["true"],
            Self::Date => &["'0001-01-01'", "'9999-12-31'", "'1970-01-01'"],
            Self::Timestamp => &["'0001-01-01 00:00:00'", "'9999-12-31 23:59:59.999999'"],
            Self::Json => &["'null'", "'[]'", "'{}'", r#"'{"": [], "a": {"a": true}}'"#],
            Self::IntArray => &["'{NULL}'", "'{2147483647,NULL}'"],
            Self::TextArray => &["'{NULL,\"\"}'", "'{\"a,b\",NULL}'"],
        }
    }

    /// A value for a column, as INSERT takes it.
    pub(super) fn draw(self, random: &mut StdRng) -> String {
        let values = match random.random_range(0..100) {
            0..14 => return "NULL".to_string(),
            14..22 => self.ends(),
            // Skew: half of all are one of two.
            22..60 => &self.values()[..2],
            _ => self.values(),
        };
        (*values.choose(random).expect("not empty")).to_string()
    }

    /// A literal in an expression, of this type beyond doubt.
    pub(super) fn literal(self, random: &mut StdRng) -> String {
        if random.random_ratio(1, 12) {
            return self.null();
        }
        let ends = random.random_ratio(1, 12);
        let values = if ends { self.ends() } else { self.values() };
        let value = values.choose(random).expect("not empty");
        match self {
            Self::Int if !value.starts_with('-') => (*value).to_string(),
            Self::Numeric if !value.starts_with('-') => (*value).to_string(),
            Self::Bool => (*value).to_string(),
            Self::Date if random.random_bool(0.5) => format!("date {value}"),
            Self::Int | Self::BigInt | Self::Numeric => {
                format!("'{value}'::{}", self.sql())
            }
            other if value.starts_with('\'') => format!("{value}::{}", other.sql()),
            other => format!("'{value}'::{}", other.sql()),
        }
    }
}
