//! A PostgreSQL function with its overloads, each written as a signature and a function of rows.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};

use super::super::super::SessionStyle;
use super::row::{Argument, Out, Patterns, Row};
use crate::error::{SqlError, SqlResult, code};
use crate::types::text::TextEncoder;
use crate::types::{ColumnBuilder, LaidOut, SqlType};

/// Appends the function's value for one row.
pub(super) type Call = fn(&Row<'_>, &mut Out) -> SqlResult<()>;

/// `name(type, type, ...) -> type`. Arguments are PostgreSQL's types, `any`, or at the end
/// `variadic any` and its like. A NULL argument makes the result NULL, unless a `?` stands before
/// the name.
pub(super) type Entry = (&'static str, Call);

/// What an argument may be.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Kind {
    Any,
    /// A numeric of any scale.
    Numeric,
    Of(SqlType),
}

#[derive(Debug)]
struct Overload {
    arguments: Vec<Kind>,
    /// The last argument may come any number of times.
    variadic: bool,
    strict: bool,
    result: SqlType,
    call: Call,
}

/// A function, which its name identifies.
#[derive(Debug)]
pub(super) struct PgFunction {
    name: &'static str,
    overloads: Vec<Overload>,
    signature: Signature,
}

impl PartialEq for PgFunction {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for PgFunction {}

impl Hash for PgFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

/// The functions of a table of entries, overloads of one name together.
pub(super) fn functions<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Vec<ScalarUDF> {
    let mut functions: Vec<PgFunction> = Vec::new();
    for (signature, call) in entries {
        let (name, overload) = read_signature(signature, *call);
        match functions.iter_mut().find(|function| function.name == name) {
            Some(function) => function.overloads.push(overload),
            None => functions.push(PgFunction {
                name,
                overloads: vec![overload],
                signature: Signature::user_defined(Volatility::Immutable),
            }),
        }
    }
    functions.into_iter().map(ScalarUDF::from).collect()
}

fn read_signature(signature: &'static str, call: Call) -> (&'static str, Overload) {
    let plain = signature.strip_prefix('?');
    let strict = plain.is_none();
    let (name, rest) = plain.unwrap_or(signature).split_once('(').expect("a name, then arguments");
    let (arguments, result) = rest.split_once(") -> ").expect("arguments, then a result");
    let variadic = arguments.contains("variadic ");
    let arguments = arguments.split(", ").filter(|argument| !argument.is_empty());
    let arguments = arguments.map(|argument| match argument.trim_start_matches("variadic ") {
        "any" => Kind::Any,
        "numeric" => Kind::Numeric,
        name => Kind::Of(SqlType::parse(name).expect("an argument's type")),
    });
    let overload = Overload {
        arguments: arguments.collect(),
        variadic,
        strict,
        result: SqlType::parse(result).expect("a result's type"),
        call,
    };
    (name, overload)
}

impl Overload {
    fn kind(&self, index: usize) -> Option<&Kind> {
        match self.arguments.get(index) {
            None if self.variadic => self.arguments.last(),
            kind => kind,
        }
    }

    /// How far `given` is from what this takes; `None`: too far.
    fn distance(&self, given: &[DataType]) -> Option<u32> {
        let least = self.arguments.len() - usize::from(self.variadic);
        if given.len() < least || (!self.variadic && given.len() != least) {
            return None;
        }
        let distances = given.iter().enumerate().map(|(index, from)| match self.kind(index)? {
            Kind::Any => Some(30),
            Kind::Numeric => numeric_distance(from),
            Kind::Of(to) => distance(from, to),
        });
        distances.sum()
    }
}

fn numeric_distance(from: &DataType) -> Option<u32> {
    match from {
        DataType::Decimal128(..) | DataType::Decimal256(..) => Some(0),
        DataType::Null => Some(1),
        from if from.is_integer() => Some(3),
        DataType::Utf8 => Some(25),
        _ => None,
    }
}

/// PostgreSQL's implicit casts, near ones first; text may be a literal of any type.
fn distance(from: &DataType, to: &SqlType) -> Option<u32> {
    let arrow = to.to_arrow();
    if *from == arrow {
        return Some(0);
    }
    let with_zone = match &arrow {
        DataType::Timestamp(_, zone) => Some(zone.is_some()),
        _ => None,
    };
    match (from, &arrow) {
        (DataType::Null, _) => Some(1),
        (DataType::Int64, DataType::Int32) => Some(1),
        (DataType::Int16 | DataType::Int32, DataType::Int32 | DataType::Int64) => Some(1),
        (from, DataType::Float64) if from.is_integer() => Some(4),
        (DataType::Decimal128(..) | DataType::Decimal256(..), DataType::Float64) => Some(3),
        (DataType::Float32, DataType::Float64) => Some(1),
        (DataType::Date32, _) if with_zone == Some(true) => Some(1),
        (DataType::Date32, _) if with_zone == Some(false) => Some(2),
        (DataType::Timestamp(_, None), _) if with_zone == Some(true) => Some(2),
        (DataType::Timestamp(_, one), DataType::Timestamp(_, other))
            if one.is_some() == other.is_some() =>
        {
            Some(1)
        }
        (DataType::Time64(_), DataType::Interval(_)) => Some(3),
        (DataType::Interval(_), DataType::Interval(_)) => Some(0),
        (DataType::LargeUtf8 | DataType::Utf8View, DataType::Utf8) => Some(1),
        (DataType::List(one), DataType::List(other))
            if one.data_type() == other.data_type() || one.data_type() == &DataType::Null =>
        {
            Some(1)
        }
        (DataType::Utf8, DataType::List(_)) => Some(26),
        (DataType::Utf8, _) => Some(20),
        _ => None,
    }
}

impl PgFunction {
    fn overload(&self, given: &[DataType]) -> Result<&Overload> {
        let candidates = self
            .overloads
            .iter()
            .filter_map(|overload| overload.distance(given).map(|distance| (distance, overload)));
        let nearest = candidates.min_by_key(|(distance, _)| *distance);
        nearest.map(|(_, overload)| overload).ok_or_else(|| no_such(self.name, given).into())
    }
}

/// No overload takes these.
pub(in super::super) fn no_such(name: &str, given: &[DataType]) -> SqlError {
    let types = given.iter().map(|given| match SqlType::of_arrow(given) {
        _ if given.is_null() => "unknown".to_owned(),
        SqlType::Numeric(_) => "numeric".to_owned(),
        other => other.to_string(),
    });
    let types = types.collect::<Vec<_>>().join(", ");
    SqlError::new(code::UNDEFINED_FUNCTION, format!("function {name}({types}) does not exist"))
        .hint(
            "No function matches the given name and argument types. \
             You might need to add explicit type casts.",
        )
}

impl ScalarUDFImpl for PgFunction {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let overload = self.overload(given)?;
        let coerced = given.iter().enumerate().map(|(index, from)| match overload.kind(index) {
            Some(Kind::Of(to)) => to.to_arrow(),
            Some(Kind::Numeric) => match from {
                DataType::Decimal128(..) | DataType::Decimal256(..) => from.clone(),
                from if from.is_integer() => DataType::Decimal128(20, 0),
                _ => SqlType::Numeric(None).to_arrow(),
            },
            _ => from.clone(),
        });
        Ok(coerced.collect())
    }

    fn return_type(&self, given: &[DataType]) -> Result<DataType> {
        Ok(self.overload(given)?.result.to_arrow())
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let types: Vec<_> = args.arg_fields.iter().map(|field| field.data_type().clone()).collect();
        Ok(Arc::new(self.overload(&types)?.result.field(self.name, true)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let types: Vec<_> = args.args.iter().map(ColumnarValue::data_type).collect();
        let overload = self.overload(&types)?;
        let scalar = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let rows = if scalar { 1 } else { args.number_rows };
        let style = SessionStyle::of(&args.config_options);
        let arguments: Vec<Argument> = args
            .args
            .iter()
            .zip(&args.arg_fields)
            .enumerate()
            .map(|(index, (value, field))| {
                let kind = overload.kind(index).unwrap_or(&Kind::Any);
                argument(value, field, kind, rows, &style)
            })
            .collect::<SqlResult<_>>()?;
        let patterns = Patterns::default();
        let mut out = Out::new(&overload.result, rows)?;
        for row in 0..rows {
            let row = Row { arguments: &arguments, row, style: &style, patterns: &patterns };
            if overload.strict && (0..row.len()).any(|index| row.is_null(index)) {
                out.null();
            } else {
                (overload.call)(&row, &mut out)?;
            }
        }
        let result = out.finish();
        if scalar {
            return Ok(ColumnarValue::Scalar(scalar_of(&result)?));
        }
        Ok(ColumnarValue::Array(result))
    }
}

/// The one value of an array; a list's element type keeps what its field says of it.
pub(in crate::expr) fn scalar_of(values: &ArrayRef) -> Result<ScalarValue> {
    match values.as_list_opt::<i32>() {
        Some(list) => Ok(ScalarValue::List(Arc::new(list.clone()))),
        None => ScalarValue::try_from_array(values, 0),
    }
}

fn argument(
    value: &ColumnarValue,
    field: &FieldRef,
    kind: &Kind,
    rows: usize,
    style: &SessionStyle,
) -> SqlResult<Argument> {
    let constant = matches!(value, ColumnarValue::Scalar(_));
    let mut values = value.to_array(if constant { 1 } else { rows })?;
    let given = SqlType::of_field(field);
    let sql_type = match kind {
        Kind::Any => match given {
            _ if field.data_type().is_null() => SqlType::Unknown,
            given => given,
        },
        Kind::Numeric => SqlType::Numeric(None),
        Kind::Of(to) => to.clone(),
    };
    let is_json = matches!(sql_type, SqlType::Json | SqlType::Jsonb);
    if is_json && !matches!(SqlType::of_field(field), SqlType::Json | SqlType::Jsonb) {
        let mut read = ColumnBuilder::new(&sql_type, &style.input())?;
        let texts = arrow::compute::cast(&values, &DataType::Utf8)?;
        for text in texts.as_string::<i32>() {
            match text {
                Some(text) => read.append_text(text)?,
                None => read.append_null(),
            }
        }
        values = read.finish();
    }
    let encoder = match kind {
        Kind::Any => Some(TextEncoder::of_type(&sql_type, &values, &style.text)?),
        _ => None,
    };
    Ok(Argument { column: LaidOut::new(&sql_type, &values)?, sql_type, constant, encoder })
}
