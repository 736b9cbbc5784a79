//! Sizes on disk.

use super::super::names::reg_from_text;
use super::super::value::Reg;
use super::super::{PgContext, Value};
use super::{Function, Returns, argument, strict};
use crate::error::SqlResult;
use crate::types::ObjectId;

pub(super) const FUNCTIONS: [Function; 7] = [
    strict("pg_table_size", (1, 1), Returns::BigInt, relation_size),
    strict("pg_relation_size", (1, 2), Returns::BigInt, relation_size),
    strict("pg_total_relation_size", (1, 1), Returns::BigInt, relation_size),
    // A table's rows lie in the order of its key: the index takes no room of its own.
    strict("pg_indexes_size", (1, 1), Returns::BigInt, |_, _| Ok(Value::Int(0))),
    strict("pg_database_size", (1, 1), Returns::BigInt, all),
    strict("pg_tablespace_size", (1, 1), Returns::BigInt, all),
    strict("pg_size_pretty", (1, 1), Returns::Text, |_, arguments| {
        Ok(Value::optional(argument(arguments, 0).as_int().map(size_text)))
    }),
];

fn relation_size(context: &PgContext, arguments: &[Value]) -> SqlResult<Value> {
    let oid = match argument(arguments, 0) {
        Value::Text(name) => reg_from_text(context, Reg::Class, name)?,
        other => other.as_oid().unwrap_or(0),
    };
    let bytes = context.session.relation_bytes.get(&ObjectId(oid));
    Ok(Value::Int(bytes.copied().unwrap_or(0)))
}

fn all(context: &PgContext, _: &[Value]) -> SqlResult<Value> {
    Ok(Value::Int(context.session.relation_bytes.values().sum()))
}

/// `8192 bytes`, `16 kB`: the next unit from 10 240 on, rounded half up.
fn size_text(bytes: i64) -> String {
    const UNITS: [&str; 6] = ["bytes", "kB", "MB", "GB", "TB", "PB"];
    const LIMIT: i64 = 10 * 1024;
    let mut size = bytes;
    let mut doubled = false;
    for (position, unit) in UNITS.iter().enumerate() {
        // From the second unit on the size is kept doubled, for the rounding.
        let limit = if doubled { 2 * LIMIT - 1 } else { LIMIT };
        if size.abs() < limit || position + 1 == UNITS.len() {
            let shown = if doubled { (size + size.signum()) / 2 } else { size };
            return format!("{shown} {unit}");
        }
        size /= if doubled { 1024 } else { 512 };
        doubled = true;
    }
    format!("{bytes} bytes")
}

#[cfg(test)]
mod tests {
    use super::size_text;

    /// What PostgreSQL 15 gives.
    #[test]
    fn sizes_are_rounded_as_postgresql_rounds_them() {
        for (bytes, text) in [
            (0, "0 bytes"),
            (8192, "8192 bytes"),
            (10239, "10239 bytes"),
            (10240, "10 kB"),
            (16384, "16 kB"),
            (1_000_000, "977 kB"),
            (123_456_789, "118 MB"),
            (-20000, "-20 kB"),
        ] {
            assert_eq!(size_text(bytes), text);
        }
    }
}
