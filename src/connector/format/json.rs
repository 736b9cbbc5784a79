//! ENCODE JSON: one object a line.
//!
//! A column takes the member of its name, exactly or else but for the case; other members are
//! skipped unread. A value becomes the text that PostgreSQL would read for it, and is read as
//! such: numbers keep all their digits on the way.

use std::collections::HashMap;
use std::fmt;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use chrono::DateTime;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::not_null;
use crate::error::{SqlError, SqlResult, code};

use crate::types::{InputStyle, RowBuilder, SqlType};

/// Makes rows of JSON objects.
pub(in crate::connector) struct JsonDecoder {
    columns: Vec<Column>,
    names: Names,
    rows: RowBuilder,
    /// The values of one record, by column.
    values: Vec<Option<Value>>,
    text: String,
}

struct Column {
    name: String,
    sql_type: SqlType,
    not_null: bool,
}

/// Columns by the names of members.
struct Names {
    exact: HashMap<String, usize>,
    /// In lower case, where that names one column only.
    folded: HashMap<String, usize>,
}

impl JsonDecoder {
    /// A decoder for rows with this schema.
    pub(super) fn new(schema: &SchemaRef) -> SqlResult<Self> {
        let columns: Vec<Column> = schema
            .fields()
            .iter()
            .map(|field| Column {
                name: field.name().clone(),
                sql_type: SqlType::of_field(field),
                not_null: !field.is_nullable(),
            })
            .collect();
        Ok(Self {
            names: Names::of(&columns),
            rows: RowBuilder::new(schema, &InputStyle::default())?,
            values: Vec::new(),
            text: String::new(),
            columns,
        })
    }

    /// Adds a record's row. An empty line has none.
    pub(super) fn add(&mut self, record: &[u8]) -> SqlResult<()> {
        if record.trim_ascii().is_empty() {
            return Ok(());
        }
        self.values.clear();
        self.values.resize_with(self.columns.len(), || None);
        let mut reader = serde_json::Deserializer::from_slice(record);
        let members = Members { names: &self.names, values: &mut self.values };
        members
            .deserialize(&mut reader)
            .and_then(|()| reader.end())
            .map_err(|error| malformed(&error))?;
        let (columns, values, text) = (&self.columns, &self.values, &mut self.text);
        self.rows.append(|index, builder| {
            let column = &columns[index];
            text.clear();
            match &values[index] {
                None | Some(Value::Null) if column.not_null => Err(not_null(&column.name)),
                None | Some(Value::Null) => {
                    builder.append_null();
                    Ok(())
                }
                Some(value) => push_value(value, &column.sql_type, text)
                    .and_then(|()| builder.append_text(text))
                    .map_err(|error| error.context(format!("column {}", column.name))),
            }
        })
    }

    /// The rows since the last batch.
    pub(super) fn finish(&mut self) -> SqlResult<RecordBatch> {
        self.rows.finish()
    }
}

impl Names {
    fn of(columns: &[Column]) -> Self {
        let named = |name: fn(&str) -> String| {
            columns.iter().enumerate().map(move |(index, column)| (name(&column.name), index))
        };
        let mut folded: HashMap<String, usize> = HashMap::new();
        let mut twice = Vec::new();
        for (name, index) in named(str::to_lowercase) {
            if folded.insert(name.clone(), index).is_some() {
                twice.push(name);
            }
        }
        folded.retain(|name, _| !twice.contains(name));
        Self { exact: named(str::to_owned).collect(), folded }
    }

    /// The column for a member, and whether the name is exactly the same.
    fn column(&self, member: &str) -> Option<(usize, bool)> {
        if let Some(index) = self.exact.get(member) {
            return Some((*index, true));
        }
        self.folded.get(&member.to_lowercase()).map(|index| (*index, false))
    }
}

/// Reads an object's members into the values of the columns.
struct Members<'a> {
    names: &'a Names,
    values: &'a mut [Option<Value>],
}

impl<'de> DeserializeSeed<'de> for Members<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Members<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        // Columns whose value came under their exact name: another's cannot replace it.
        let mut settled = vec![false; self.values.len()];
        while let Some(member) = members.next_key::<std::borrow::Cow<'_, str>>()? {
            match self.names.column(&member) {
                Some((index, exact)) if exact || !settled[index] => {
                    settled[index] |= exact;
                    self.values[index] = Some(members.next_value()?);
                }
                _ => {
                    members.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

fn malformed(error: &serde_json::Error) -> SqlError {
    SqlError::new(code::INVALID_TEXT_REPRESENTATION, "invalid input syntax for type json")
        .detail(error.to_string())
}

/// Appends the text of a value that is not null, for a column of `sql_type`.
fn push_value(value: &Value, sql_type: &SqlType, out: &mut String) -> SqlResult<()> {
    match (value, sql_type) {
        (_, SqlType::Json | SqlType::Jsonb) => out.push_str(&value.to_string()),
        (Value::Array(items), SqlType::Array(element)) => push_array(items, element, out)?,
        (Value::Array(_) | Value::Object(_), SqlType::Text | SqlType::Varchar(_)) => {
            out.push_str(&value.to_string());
        }
        (Value::String(text), SqlType::Array(_)) => out.push_str(text),
        (Value::String(text), _) if text.contains('\0') => {
            return Err(SqlError::new("22P05", "unsupported Unicode escape sequence")
                .detail("\\u0000 cannot be converted to text."));
        }
        (Value::String(text), _) => out.push_str(text),
        (Value::Number(number), SqlType::Timestamp | SqlType::Timestamptz) => {
            let milliseconds = number.as_i64().and_then(DateTime::from_timestamp_millis);
            let Some(time) = milliseconds else { return Err(mismatch(value, sql_type)) };
            out.push_str(&time.format("%Y-%m-%d %H:%M:%S%.3f+00").to_string());
        }
        (
            Value::Number(_),
            SqlType::Date | SqlType::Time | SqlType::Interval | SqlType::Bytea | SqlType::Uuid,
        ) => return Err(mismatch(value, sql_type)),
        (Value::Number(number), _) => out.push_str(number.as_str()),
        (Value::Bool(true), _) => out.push_str("true"),
        (Value::Bool(false), _) => out.push_str("false"),
        (Value::Null | Value::Array(_) | Value::Object(_), _) => {
            return Err(mismatch(value, sql_type));
        }
    }
    Ok(())
}

/// An array as PostgreSQL's `{...}`. Its depth is bounded by the JSON reader's limit.
fn push_array(items: &[Value], element: &SqlType, out: &mut String) -> SqlResult<()> {
    out.push('{');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        match item {
            Value::Null => out.push_str("NULL"),
            Value::Array(inner) if !matches!(element, SqlType::Json | SqlType::Jsonb) => {
                push_array(inner, element, out)?;
            }
            item => {
                let mut text = String::new();
                push_value(item, element, &mut text)?;
                out.push('"');
                for character in text.chars() {
                    if matches!(character, '"' | '\\') {
                        out.push('\\');
                    }
                    out.push(character);
                }
                out.push('"');
            }
        }
    }
    out.push('}');
    Ok(())
}

fn mismatch(value: &Value, sql_type: &SqlType) -> SqlError {
    let kind = match value {
        Value::Null => "a null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    let message = format!("JSON value is {kind}, which is no {sql_type}");
    SqlError::new(code::DATATYPE_MISMATCH, message)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::datatypes::Schema;
    use arrow::util::pretty::pretty_format_batches;
    use expect_test::expect;

    use super::*;

    fn decoder(columns: &[(&str, &str)]) -> JsonDecoder {
        let field = |(name, sql_type): &(&str, &str)| {
            SqlType::parse(sql_type).expect("a type").field(*name, true)
        };
        let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
        JsonDecoder::new(&Arc::new(schema)).expect("every type has a builder")
    }

    fn table(decoder: &mut JsonDecoder) -> String {
        let batch = decoder.finish().expect("rows");
        pretty_format_batches(&[batch]).expect("printable").to_string()
    }

    #[test]
    fn numbers_and_times_are_read_as_postgresql_reads_their_text() {
        let mut decoder = decoder(&[
            ("n", "numeric(30,10)"),
            ("i", "bigint"),
            ("t", "timestamptz"),
            ("b", "boolean"),
        ]);
        for record in [
            r#"{"n": 1234567890.0123456789, "i": 9007199254740993, "b": true}"#,
            r#"{"n": "1.5", "i": "-7", "t": 1709208000123, "b": "off"}"#,
            r#"{"n": null, "t": "2024-02-29T12:00:00+02:00", "skipped": {"deep": [1, 2]}}"#,
            " ",
        ] {
            decoder.add(record.as_bytes()).expect("a row");
        }
        expect![[r#"
            +-----------------------+------------------+--------------------------+-------+
            | n                     | i                | t                        | b     |
            +-----------------------+------------------+--------------------------+-------+
            | 1234567890.0123456789 | 9007199254740993 |                          | true  |
            | 1.5000000000          | -7               | 2024-02-29T12:00:00.123Z | false |
            |                       |                  | 2024-02-29T10:00:00Z     |       |
            +-----------------------+------------------+--------------------------+-------+"#]]
        .assert_eq(&table(&mut decoder));
    }

    #[test]
    fn objects_and_arrays_are_jsonb_arrays_or_text() {
        let mut decoder =
            decoder(&[("j", "jsonb"), ("l", "text[]"), ("n", "int[]"), ("s", "text")]);
        for record in [
            r#"{"j": {"b": 1, "a": [1.0]}, "l": ["a\"b", null, "\\"], "s": {"x": []}}"#,
            r#"{"j": "s", "l": "{x,y}", "n": [1, 2], "s": 1.50}"#,
            r#"{"j": null, "l": [], "n": [null], "s": [1, "a"]}"#,
        ] {
            decoder.add(record.as_bytes()).expect("a row");
        }
        expect![[r#"
            +----------------------+------------+--------+----------+
            | j                    | l          | n      | s        |
            +----------------------+------------+--------+----------+
            | {"a": [1.0], "b": 1} | [a"b, , \] |        | {"x":[]} |
            | "s"                  | [x, y]     | [1, 2] | 1.50     |
            |                      | []         | []     | [1,"a"]  |
            +----------------------+------------+--------+----------+"#]]
        .assert_eq(&table(&mut decoder));
    }

    #[test]
    fn members_match_exactly_or_but_for_the_case() {
        let mut decoder = decoder(&[("id", "int"), ("Name", "text"), ("name", "text")]);
        for record in [
            r#"{"ID": 1, "Name": "exact", "NAME": "of two columns"}"#,
            r#"{"id": 2, "Id": 3}"#,
            r#"{"iD": 4, "id": 5}"#,
            r#"{"id": 6, "id": 7}"#,
        ] {
            decoder.add(record.as_bytes()).expect("a row");
        }
        expect![[r#"
            +----+-------+------+
            | id | Name  | name |
            +----+-------+------+
            | 1  | exact |      |
            | 2  |       |      |
            | 5  |       |      |
            | 7  |       |      |
            +----+-------+------+"#]]
        .assert_eq(&table(&mut decoder));
    }

    #[test]
    fn bad_records_cost_no_other_its_row() {
        let mut decoder = decoder(&[("a", "int"), ("d", "date"), ("t", "text")]);
        let mut reasons = Vec::new();
        for record in [
            r#"{"a": 1}"#,
            r#"{"a": 1.5}"#,
            r#"{"a": [1]}"#,
            r#"{"a": 3000000000}"#,
            r#"{"d": 5}"#,
            r#"{"t": "\u0000"}"#,
            r#"{"a": 1} x"#,
            r#"{"a": 1"#,
            r#"[1]"#,
            r#"{"a": 2, "d": "2024-02-30"}"#,
            r#"{"a": 3}"#,
        ] {
            if let Err(error) = decoder.add(record.as_bytes()) {
                reasons.push(format!("{} {}", error.code, error.message));
            }
        }
        assert_eq!(decoder.finish().expect("rows").num_rows(), 2);
        expect![[r#"
            22P02 invalid input syntax for type integer: "1.5"
            42804 JSON value is an array, which is no integer
            22003 value "3000000000" is out of range for type integer
            42804 JSON value is a number, which is no date
            22P05 unsupported Unicode escape sequence
            22P02 invalid input syntax for type json
            22P02 invalid input syntax for type json
            22P02 invalid input syntax for type json
            22008 date/time field value out of range: "2024-02-30""#]]
        .assert_eq(&reasons.join("\n"));
    }
}
