//! SQL/JSON paths, as PostgreSQL has them: `$.items[*] ? (@.price > 10).name`.
//!
//! ```text
//! text --parse--> Path (steps, one after the other) --evaluate--> items, or whether there are any
//! ```
//!
//! Not there: the item method `.datetime()`, and the `id` that `.keyvalue()` gives the members of
//! other objects than the root's, which is where they lie in PostgreSQL's memory.

mod evaluate;
mod number;
mod parse;

use std::rc::Rc;

use serde_json::Value;

use self::evaluate::{Evaluation, Failure};
use super::function::Entry;
use super::row::{Out, Row};
use crate::error::{SqlError, SqlResult, code};

pub(super) use self::parse::JsonPath;

/// `name(arguments) -> result`, and what it does.
pub(super) const TABLE: &[Entry] = &[
    ("jsonb_path_exists(jsonb, text) -> boolean", exists),
    ("jsonb_path_exists(jsonb, text, jsonb) -> boolean", exists),
    ("jsonb_path_exists(jsonb, text, jsonb, boolean) -> boolean", exists),
    ("jsonb_path_match(jsonb, text) -> boolean", matches),
    ("jsonb_path_match(jsonb, text, jsonb) -> boolean", matches),
    ("jsonb_path_match(jsonb, text, jsonb, boolean) -> boolean", matches),
    ("jsonb_path_query_items(jsonb, text) -> jsonb[]", items),
    ("jsonb_path_query_items(jsonb, text, jsonb) -> jsonb[]", items),
    ("jsonb_path_query_items(jsonb, text, jsonb, boolean) -> jsonb[]", items),
    ("jsonb_path_query_array(jsonb, text) -> jsonb", array),
    ("jsonb_path_query_array(jsonb, text, jsonb) -> jsonb", array),
    ("jsonb_path_query_array(jsonb, text, jsonb, boolean) -> jsonb", array),
    ("jsonb_path_query_first(jsonb, text) -> jsonb", first),
    ("jsonb_path_query_first(jsonb, text, jsonb) -> jsonb", first),
    ("jsonb_path_query_first(jsonb, text, jsonb, boolean) -> jsonb", first),
    // `@?` and `@@`, which never fail.
    ("jsonb_path_exists_opr(jsonb, text) -> boolean", |row, out| {
        truth(Call { vars: Value::Null, ..Call::of(row)? }.any(true)?, out)
    }),
    ("jsonb_path_match_opr(jsonb, text) -> boolean", |row, out| {
        truth(Call { vars: Value::Null, ..Call::of(row)? }.truth(true)?, out)
    }),
];

/// The arguments of a call.
struct Call {
    target: Value,
    path: Rc<JsonPath>,
    /// An object; null where there are none to be given, and every variable is null.
    vars: Value,
    /// Errors of items and of their types give nothing.
    silent: bool,
}

impl Call {
    fn of(row: &Row<'_>) -> SqlResult<Self> {
        let read = |text: &str| {
            serde_json::from_str(text).map_err(|error| SqlError::internal(error.to_string()))
        };
        let vars = if row.len() > 2 { read(row.text(2))? } else { Value::Object(<_>::default()) };
        if !vars.is_object() {
            let message = "\"vars\" argument is not an object";
            return Err(SqlError::new(code::INVALID_PARAMETER_VALUE, message).detail(
                "Jsonpath parameters should be encoded as key-value pairs of \"vars\" object.",
            ));
        }
        Ok(Self {
            target: read(row.text(0))?,
            path: row.json_path(row.text(1))?,
            vars,
            silent: row.len() > 3 && row.boolean(3),
        })
    }

    fn evaluation(&self) -> Evaluation<'_> {
        Evaluation::new(&self.path, &self.target, &self.vars)
    }

    /// All items; of a silent call that fails, those before.
    fn all(&self, silent: bool) -> SqlResult<Vec<Value>> {
        let mut found = Vec::new();
        match self.evaluation().all(&mut found) {
            Err(Failure::OfItem(_)) if silent => Ok(found),
            Err(failure) => Err(failure.into()),
            Ok(()) => Ok(found),
        }
    }

    /// Whether there is an item; `None`: a silent call fails.
    fn any(&self, silent: bool) -> SqlResult<Option<bool>> {
        match self.evaluation().any() {
            Err(Failure::OfItem(_)) if silent => Ok(None),
            Err(failure) => Err(failure.into()),
            Ok(any) => Ok(Some(any)),
        }
    }

    /// The only item, a truth value.
    fn truth(&self, silent: bool) -> SqlResult<Option<bool>> {
        match self.all(silent)?.as_slice() {
            [Value::Bool(truth)] => Ok(Some(*truth)),
            [Value::Null] => Ok(None),
            _ if silent => Ok(None),
            _ => Err(SqlError::new("22038", "single boolean result is expected")),
        }
    }
}

fn truth(value: Option<bool>, out: &mut Out) -> SqlResult<()> {
    match value {
        Some(value) => out.boolean(value),
        None => out.null(),
    }
    Ok(())
}

fn exists(row: &Row<'_>, out: &mut Out) -> SqlResult<()> {
    let call = Call::of(row)?;
    truth(call.any(call.silent)?, out)
}

fn matches(row: &Row<'_>, out: &mut Out) -> SqlResult<()> {
    let call = Call::of(row)?;
    truth(call.truth(call.silent)?, out)
}

fn canonical(value: &Value) -> SqlResult<String> {
    let text = crate::types::parse::canonical_jsonb(&value.to_string())?;
    String::from_utf8(text).map_err(|error| SqlError::internal(error.to_string()))
}

fn items(row: &Row<'_>, out: &mut Out) -> SqlResult<()> {
    let call = Call::of(row)?;
    let items = call.all(call.silent)?.iter().map(canonical).collect::<SqlResult<Vec<_>>>()?;
    out.texts(items.iter().map(|item| Some(item.as_str())));
    Ok(())
}

fn array(row: &Row<'_>, out: &mut Out) -> SqlResult<()> {
    let call = Call::of(row)?;
    out.text(&canonical(&Value::Array(call.all(call.silent)?))?);
    Ok(())
}

fn first(row: &Row<'_>, out: &mut Out) -> SqlResult<()> {
    let call = Call::of(row)?;
    match call.all(call.silent)?.first() {
        Some(item) => out.text(&canonical(item)?),
        None => out.null(),
    }
    Ok(())
}
