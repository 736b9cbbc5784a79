//! The decoder: [`ColumnBuilder::append_binary`].

use arrow::datatypes::IntervalMonthDayNano;

use super::super::builder::{Builder, append_string, utf8};
use super::super::calendar::{
    DATE_MAX, DATE_MIN, DAY_MICROS, POSTGRES_EPOCH_DAYS, POSTGRES_EPOCH_MICROS, TIMESTAMP_MIN,
};
use super::super::key::{canonical_f32, canonical_f64};
use super::super::{ColumnBuilder, SqlType, parse};
use super::numeric;
use crate::error::{SqlError, SqlResult, code};

impl ColumnBuilder {
    /// Adds a value in PostgreSQL's binary format.
    pub fn append_binary(&mut self, bytes: &[u8]) -> SqlResult<()> {
        match &mut self.values {
            Builder::Boolean(builder) => builder.append_value(fixed::<1>(bytes)? != [0]),
            Builder::Int16(builder) => builder.append_value(i16::from_be_bytes(fixed(bytes)?)),
            Builder::Int32(builder) => builder.append_value(i32::from_be_bytes(fixed(bytes)?)),
            Builder::Int64(builder) => builder.append_value(match self.sql_type {
                SqlType::BigInt => i64::from_be_bytes(fixed(bytes)?),
                _ => i64::from(u32::from_be_bytes(fixed(bytes)?)),
            }),
            Builder::Float32(builder) => {
                builder.append_value(canonical_f32(f32::from_be_bytes(fixed(bytes)?)))
            }
            Builder::Float64(builder) => {
                builder.append_value(canonical_f64(f64::from_be_bytes(fixed(bytes)?)))
            }
            Builder::Decimal(builder, precision, scale) => {
                let text = numeric::to_text(bytes)?;
                let value = parse::decimal(&text, *precision, *scale)?;
                builder.append_value(value);
            }
            Builder::Numeric(builder) => {
                builder.append_value(parse::numeric(&numeric::to_text(bytes)?)?);
            }
            Builder::Text(builder) => match &self.sql_type {
                SqlType::Uuid => builder.append_value(uuid_text(fixed(bytes)?)),
                SqlType::Jsonb => {
                    let text = match bytes.split_first() {
                        Some((1, text)) => text,
                        Some((version, _)) => {
                            let message = format!("unsupported jsonb version number {version}");
                            return Err(SqlError::internal(message));
                        }
                        None => return Err(too_short()),
                    };
                    append_string(builder, &SqlType::Jsonb, utf8(text)?)?;
                }
                alias if alias.is_oid_alias() => {
                    builder.append_value(u32::from_be_bytes(fixed(bytes)?).to_string());
                }
                SqlType::Int2Vector | SqlType::OidVector | SqlType::Record => {
                    let what = format!("binary input of {}", self.sql_type);
                    return Err(SqlError::unsupported(what));
                }
                other => append_string(builder, other, utf8(bytes)?)?,
            },
            Builder::Bytes(builder) => builder.append_value(bytes),
            Builder::Date(builder) => builder.append_value(date(fixed(bytes)?)?),
            Builder::Time(builder) => {
                let micros = i64::from_be_bytes(fixed(bytes)?);
                if !(0..=DAY_MICROS).contains(&micros) {
                    return Err(out_of_range("time"));
                }
                builder.append_value(micros);
            }
            Builder::Timestamp(builder) => builder.append_value(timestamp(fixed(bytes)?)?),
            Builder::Interval(builder) => builder.append_value(interval(fixed(bytes)?)?),
            Builder::List(lists) => {
                append_elements(&mut lists.items, bytes)?;
                lists.close(true)?;
            }
        }
        Ok(())
    }
}

/// Exactly `N` bytes.
fn fixed<const N: usize>(bytes: &[u8]) -> SqlResult<[u8; N]> {
    bytes.try_into().map_err(|_| if bytes.len() < N { too_short() } else { malformed() })
}

fn too_short() -> SqlError {
    SqlError::new(code::PROTOCOL_VIOLATION, "insufficient data left in message")
}

fn malformed() -> SqlError {
    SqlError::new(code::INVALID_BINARY_REPRESENTATION, "incorrect binary data format")
}

fn out_of_range(what: &str) -> SqlError {
    SqlError::new(code::DATETIME_FIELD_OVERFLOW, format!("{what} out of range"))
}

fn date(bytes: [u8; 4]) -> SqlResult<i32> {
    let days = i32::from_be_bytes(bytes);
    if days == i32::MAX || days == i32::MIN {
        return Err(SqlError::unsupported("date infinity"));
    }
    let days = i64::from(days) + POSTGRES_EPOCH_DAYS;
    let in_range = (DATE_MIN..=DATE_MAX).contains(&days);
    in_range.then(|| i32::try_from(days).ok()).flatten().ok_or_else(|| out_of_range("date"))
}

fn timestamp(bytes: [u8; 8]) -> SqlResult<i64> {
    let micros = i64::from_be_bytes(bytes);
    if micros == i64::MAX || micros == i64::MIN {
        return Err(SqlError::unsupported("timestamp infinity"));
    }
    let micros = micros.checked_add(POSTGRES_EPOCH_MICROS);
    micros.filter(|micros| *micros >= TIMESTAMP_MIN).ok_or_else(|| out_of_range("timestamp"))
}

fn interval(bytes: [u8; 16]) -> SqlResult<IntervalMonthDayNano> {
    let [a, b, c, d, e, f, g, h, days @ .., m0, m1, m2, m3] = bytes;
    let micros = i64::from_be_bytes([a, b, c, d, e, f, g, h]);
    let nanos = micros.checked_mul(1000).ok_or_else(|| out_of_range("interval"))?;
    let (days, months) = (i32::from_be_bytes(days), i32::from_be_bytes([m0, m1, m2, m3]));
    Ok(IntervalMonthDayNano::new(months, days, nanos))
}

fn uuid_text(bytes: [u8; 16]) -> String {
    let digits = hex::encode(bytes);
    let (a, b, c) = (&digits[..8], &digits[8..12], &digits[12..16]);
    format!("{a}-{b}-{c}-{}-{}", &digits[16..20], &digits[20..])
}

/// Takes `N` bytes off the front.
fn take<const N: usize>(bytes: &mut &[u8]) -> SqlResult<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk().ok_or_else(too_short)?;
    *bytes = rest;
    Ok(*first)
}

/// Adds the elements of an array to `items`.
fn append_elements(items: &mut ColumnBuilder, bytes: &[u8]) -> SqlResult<()> {
    let mut rest = bytes;
    let dimensions = i32::from_be_bytes(take(&mut rest)?);
    let flags = i32::from_be_bytes(take(&mut rest)?);
    let oid = u32::from_be_bytes(take(&mut rest)?);
    if !(0..=6).contains(&dimensions) {
        let message = format!("invalid number of dimensions: {dimensions}");
        return Err(SqlError::new(code::INVALID_BINARY_REPRESENTATION, message));
    }
    if flags != 0 && flags != 1 {
        return Err(SqlError::new(code::INVALID_BINARY_REPRESENTATION, "invalid array flags"));
    }
    if oid != items.sql_type.oid() {
        return Err(wrong_element(oid, &items.sql_type));
    }
    if dimensions > 1 {
        return Err(SqlError::unsupported("an array of more than one dimension"));
    }
    if dimensions == 1 {
        let length = i32::from_be_bytes(take(&mut rest)?);
        if i32::from_be_bytes(take(&mut rest)?) != 1 {
            let what = "an array with other bounds than one dimension from 1";
            return Err(SqlError::unsupported(what));
        }
        for _ in 0..length {
            append_element(items, &mut rest)?;
        }
    }
    if rest.is_empty() { Ok(()) } else { Err(malformed()) }
}

fn append_element(items: &mut ColumnBuilder, rest: &mut &[u8]) -> SqlResult<()> {
    let length = i32::from_be_bytes(take(rest)?);
    let Ok(length) = usize::try_from(length) else {
        if length == -1 {
            items.append_null();
            return Ok(());
        }
        return Err(too_short());
    };
    let (element, after) = rest.split_at_checked(length).ok_or_else(too_short)?;
    *rest = after;
    items.append_binary(element)
}

fn wrong_element(oid: u32, expected: &SqlType) -> SqlError {
    let found = SqlType::from_oid(oid).map_or_else(|| "???".to_owned(), |t| t.to_string());
    let message = format!(
        "binary data has array element type {oid} ({found}) instead of expected {} ({expected})",
        expected.oid()
    );
    SqlError::new(code::DATATYPE_MISMATCH, message)
}
