//! `regexp_matches(text, pattern [, flags])`: the groups of every match, as an array of arrays,
//! whose elements the planner makes rows of.

use std::sync::Arc;

use arrow::array::{Array, AsArray, ListBuilder, StringBuilder};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use regex::Regex;

use super::function::no_such;
use super::pattern;

/// `regexp_all_matches(text, pattern [, flags])`.
#[derive(Debug, PartialEq, Eq, Hash)]
struct AllMatches {
    signature: Signature,
}

pub(super) fn all_matches() -> ScalarUDF {
    ScalarUDF::from(AllMatches { signature: Signature::user_defined(Volatility::Immutable) })
}

/// An array of text.
fn groups_type() -> DataType {
    DataType::List(Arc::new(Field::new("item", DataType::Utf8, true)))
}

impl ScalarUDFImpl for AllMatches {
    fn name(&self) -> &'static str {
        "regexp_all_matches"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let is_text = |kind: &DataType| kind.is_string() || kind.is_null();
        match given.len() {
            2 | 3 if given.iter().all(is_text) => Ok(vec![DataType::Utf8; given.len()]),
            _ => Err(no_such("regexp_matches", given).into()),
        }
    }

    fn return_type(&self, _given: &[DataType]) -> Result<DataType> {
        Ok(DataType::List(Arc::new(Field::new("item", groups_type(), true))))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let scalar = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let rows = if scalar { 1 } else { args.number_rows };
        let columns = args.args.iter().map(|arg| Ok(cast(&arg.to_array(rows)?, &DataType::Utf8)?));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let texts: Vec<_> = columns.iter().map(|column| column.as_string::<i32>()).collect();
        let mut known: Option<(&str, &str, Regex)> = None;
        let mut found = ListBuilder::new(ListBuilder::new(StringBuilder::new()));
        for row in 0..rows {
            if texts.iter().any(|text| text.is_null(row)) {
                found.append(true);
                continue;
            }
            let flags = texts.get(2).map_or("", |flags| flags.value(row));
            let written = texts[1].value(row);
            if !known.as_ref().is_some_and(|(w, f, _)| *w == written && *f == flags) {
                known = Some((written, flags, pattern::compile(written, flags)?));
            }
            let Some((_, _, regex)) = &known else { continue };
            let matches_max = if flags.contains('g') { usize::MAX } else { 1 };
            for captures in regex.captures_iter(texts[0].value(row)).take(matches_max) {
                let skipped = usize::from(captures.len() > 1);
                for part in captures.iter().skip(skipped) {
                    found.values().values().append_option(part.map(|part| part.as_str()));
                }
                found.values().append(true);
            }
            found.append(true);
        }
        let found = found.finish();
        Ok(match scalar {
            true => ColumnarValue::Scalar(ScalarValue::List(Arc::new(found))),
            false => ColumnarValue::Array(Arc::new(found)),
        })
    }
}
