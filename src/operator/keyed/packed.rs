//! The rows of one key in one piece of bytes, for keys with few rows: one read finds them, one
//! write keeps them.
//!
//! ```text
//!  weight | length | row    weight | length | row    ...
//! ```
//!
//! Integers as `expr::accumulator` writes them; rows are encoded (`types::key`), without the
//! columns of the key. No row is there twice, none has weight 0.

use crate::expr::accumulator::{read_bytes, read_varint, write_bytes, write_varint};

/// The rows of `packed`, with their weights. Stops at what is not such rows.
pub(in crate::operator) fn rows(packed: &[u8]) -> impl Iterator<Item = (i64, &[u8])> {
    let mut rest = packed;
    std::iter::from_fn(move || {
        let weight = read_varint(&mut rest)?;
        Some((weight, read_bytes(&mut rest)?))
    })
}

/// Whether `packed` is rows from its beginning to its end.
pub(in crate::operator) fn is_valid(packed: &[u8]) -> bool {
    let mut rest = packed;
    while !rest.is_empty() {
        let row = read_varint::<i64>(&mut rest).and_then(|_| read_bytes(&mut rest));
        if row.is_none() {
            return false;
        }
    }
    true
}

/// Adds `weight` to that of `row`.
pub(in crate::operator) fn add(packed: &mut Vec<u8>, row: &[u8], weight: i64) {
    let mut start = 0;
    let mut rest = &packed[..];
    while let Some(before) = read_varint::<i64>(&mut rest) {
        let weight_end = packed.len() - rest.len();
        let Some(found) = read_bytes(&mut rest) else { break };
        let end = packed.len() - rest.len();
        if found == row {
            let after = before + weight;
            if after == 0 {
                packed.drain(start..end);
            } else {
                let mut bytes = Vec::new();
                write_varint(after, &mut bytes);
                packed.splice(start..weight_end, bytes);
            }
            return;
        }
        start = end;
    }
    if weight != 0 {
        write_varint(weight, packed);
        write_bytes(row, packed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(packed: &[u8]) -> Vec<(i64, &[u8])> {
        rows(packed).collect()
    }

    #[test]
    fn weights_add_and_what_comes_to_nothing_goes() {
        let mut packed = Vec::new();
        add(&mut packed, b"a", 1);
        add(&mut packed, b"", 2);
        add(&mut packed, b"ccc", 1);
        add(&mut packed, b"a", 1000);
        assert_eq!(listed(&packed), [(1001, &b"a"[..]), (2, b""), (1, b"ccc")]);
        add(&mut packed, b"", -2);
        add(&mut packed, b"ccc", -2);
        add(&mut packed, b"d", 0);
        assert_eq!(listed(&packed), [(1001, &b"a"[..]), (-1, b"ccc")]);
        add(&mut packed, b"a", -1001);
        add(&mut packed, b"ccc", 1);
        assert!(packed.is_empty());
    }

    #[test]
    fn foreign_bytes_are_told() {
        let mut packed = Vec::new();
        add(&mut packed, b"row", 1);
        assert!(is_valid(&packed) && is_valid(&[]));
        assert!(!is_valid(&packed[..3]));
        assert!(!is_valid(&[2, 0x80]));
    }
}
