//! `pg_catalog` and `information_schema` over the live catalog.

/// Words that an identifier must be quoted to spell.
const RESERVED: &str = include_str!("pg/data/reserved_words.txt");

/// Whether a name can be a column's or a table's only in quotes.
pub fn is_reserved_word(name: &str) -> bool {
    RESERVED.lines().any(|word| word == name)
}
