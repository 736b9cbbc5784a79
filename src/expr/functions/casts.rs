//! Casts that read or write text as PostgreSQL does, and casts to integers that round.
//!
//! Arrow's casts have their own idea of what a value looks like, and cut fractions off. An analyzer
//! rule puts these in their place once all types are decided; casts that PostgreSQL and Arrow make
//! alike stay as they are.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, StringBuilder};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::{Cast, ScalarFunction};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ExprSchemable, LogicalPlan, ReturnFieldArgs, ScalarFunctionArgs,
    ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::optimizer::AnalyzerRule;

use super::super::{Assigning, SessionStyle};
use super::library::scalar_of;
use super::untyped::{UNTYPED, stays_text};
use crate::clock::WallTime;
use crate::error::{SqlError, code};
use crate::types::text::{TextEncoder, TextStyle};
use crate::types::{ColumnBuilder, InputStyle, SqlType};

/// What a cast does.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Kind {
    /// Reads text as a value of the type.
    Read(SqlType),
    /// Writes values of the type as text.
    Write(SqlType),
    /// Converts values of the first type to the second, neither of them text.
    Convert(SqlType, SqlType),
    /// Reads the number or truth value that a `jsonb` is.
    Unwrap(SqlType),
}

/// One cast.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct PgCast {
    kind: Kind,
    name: String,
    signature: Signature,
}

impl PgCast {
    fn new(kind: Kind) -> Self {
        let name = match &kind {
            Kind::Read(to) => format!("to {to}"),
            Kind::Write(from) => format!("text of {from}"),
            Kind::Convert(from, to) => format!("{from} to {to}"),
            Kind::Unwrap(to) => format!("jsonb to {to}"),
        };
        Self { kind, name, signature: Signature::any(1, Volatility::Immutable) }
    }

    fn result(&self) -> Field {
        match &self.kind {
            Kind::Read(to) | Kind::Convert(_, to) | Kind::Unwrap(to) => to.field("", true),
            Kind::Write(_) => SqlType::Text.field("", true),
        }
    }
}

impl ScalarUDFImpl for PgCast {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arguments: &[DataType]) -> Result<DataType> {
        Ok(self.result().data_type().clone())
    }

    fn return_field_from_args(&self, _args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        Ok(Arc::new(self.result()))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let scalar = matches!(args.args[0], ColumnarValue::Scalar(_));
        let values = args.args[0].to_array(if scalar { 1 } else { args.number_rows })?;
        let style = SessionStyle::of(&args.config_options);
        let result = match &self.kind {
            Kind::Read(to) => read(&values, to, &style.input())?,
            Kind::Write(from) => write(&values, from, &style.text)?,
            Kind::Convert(from, to) => {
                let now = WallTime(style.now_micros);
                Assigning { style: style.text, now }.assign(&values, from, to, "")?
            }
            Kind::Unwrap(to) => unwrap(&values, to, &style.input())?,
        };
        if scalar {
            return Ok(ColumnarValue::Scalar(scalar_of(&result)?));
        }
        Ok(ColumnarValue::Array(result))
    }
}

/// Does a cast or a function depend on the session's time zone: does it make a moment of something
/// else, or something else of a moment?
pub fn reads_zone(expr: &Expr, schema: &DFSchema) -> Result<bool> {
    let moment = |expr: &Expr| {
        let (_, field) = expr.to_field(schema)?;
        Ok::<_, datafusion::error::DataFusionError>(is_moment(field.data_type()))
    };
    Ok(match expr {
        Expr::Cast(cast) => {
            let literal = matches!(cast.expr.as_ref(), Expr::Literal(..));
            !literal && moment(&cast.expr)? != is_moment(cast.field.data_type())
        }
        Expr::ScalarFunction(call) => {
            let inner: &dyn std::any::Any = call.func.inner().as_ref();
            let of_cast = inner.downcast_ref::<PgCast>().is_some();
            let mut given = false;
            for arg in &call.args {
                given |= moment(arg)?;
            }
            let literal = matches!(call.args.as_slice(), [Expr::Literal(..)]);
            let chooses = ["coalesce", "nullif", "greatest", "least"].contains(&call.func.name());
            match of_cast {
                true => !literal && given != moment(expr)?,
                false => given && !chooses && !is_assignment(call),
            }
        }
        Expr::BinaryExpr(node) => {
            let shifts = moment(&node.left)? != moment(&node.right)?;
            shifts && moment(expr)?
        }
        _ => false,
    })
}

fn is_moment(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Timestamp(_, Some(_)))
}

/// An assignment of a moment to a column of moments.
fn is_assignment(call: &ScalarFunction) -> bool {
    super::assign::assignment(call.func.name())
        .is_some_and(|function| function.return_type(&[]).is_ok_and(|to| is_moment(&to)))
}

fn read(values: &ArrayRef, to: &SqlType, style: &InputStyle) -> Result<ArrayRef> {
    let texts = cast(values, &DataType::Utf8)?;
    let mut builder = ColumnBuilder::new(to, style)?.cutting();
    for text in texts.as_string::<i32>() {
        match text {
            Some(text) => builder.append_text(text)?,
            None => builder.append_null(),
        }
    }
    Ok(builder.finish())
}

fn write(values: &ArrayRef, from: &SqlType, style: &TextStyle) -> Result<ArrayRef> {
    let encoder = TextEncoder::of_type(from, values, style)?;
    let mut texts = StringBuilder::with_capacity(values.len(), values.len() * 8);
    let mut text = Vec::new();
    for row in 0..values.len() {
        if encoder.is_null(row) {
            texts.append_null();
            continue;
        }
        text.clear();
        encoder.write(row, &mut text);
        if matches!(from, SqlType::Char(_)) {
            // Blanks that fill a char(n) up are no part of it.
            let length = text.trim_ascii_end().len();
            text.truncate(length);
        }
        let text = std::str::from_utf8(&text)
            .map_err(|_| SqlError::new(code::CHARACTER_NOT_IN_REPERTOIRE, "invalid text"))?;
        texts.append_value(text);
    }
    Ok(Arc::new(texts.finish()))
}

/// The numbers or truth values that JSON values are; of anything else, an error.
fn unwrap(values: &ArrayRef, to: &SqlType, style: &InputStyle) -> Result<ArrayRef> {
    let texts = cast(values, &DataType::Utf8)?;
    let wide = match to {
        SqlType::SmallInt | SqlType::Integer | SqlType::BigInt => SqlType::Numeric(None),
        other => other.clone(),
    };
    let mut builder = ColumnBuilder::new(&wide, style)?;
    for text in texts.as_string::<i32>() {
        let Some(text) = text else {
            builder.append_null();
            continue;
        };
        let kind = match text.as_bytes().first() {
            Some(b'{') => "object",
            Some(b'[') => "array",
            Some(b'"') => "string",
            Some(b't' | b'f') => "boolean",
            Some(b'n') => "null",
            _ => "numeric",
        };
        let fits = match to {
            SqlType::Boolean => kind == "boolean",
            _ => kind == "numeric",
        };
        if !fits {
            let name = match to {
                SqlType::Numeric(_) => "numeric".to_owned(),
                other => other.to_string(),
            };
            let message = format!("cannot cast jsonb {kind} to type {name}");
            return Err(SqlError::new(code::INVALID_PARAMETER_VALUE, message).into());
        }
        builder.append_text(text)?;
    }
    let values = builder.finish();
    if wide == *to {
        return Ok(values);
    }
    let assigning = Assigning { style: TextStyle::default(), now: WallTime(0) };
    Ok(assigning.assign(&values, &wide, to, "")?)
}

/// Replaces casts by [`PgCast`]s.
#[derive(Debug)]
pub(super) struct PgCasts;

impl AnalyzerRule for PgCasts {
    fn name(&self) -> &'static str {
        "postgres_casts"
    }

    fn analyze(&self, plan: LogicalPlan, _config: &ConfigOptions) -> Result<LogicalPlan> {
        let replaced = plan.transform_up_with_subqueries(|plan| {
            let schema = merge_schema(&plan.inputs());
            let names = NamePreserver::new(&plan);
            let plan = plan.map_expressions(|expr| {
                let name = names.save(&expr);
                let replaced = expr.transform_up(|expr| replace(expr, &schema))?;
                Ok(replaced.update_data(|expr| name.restore(expr)))
            })?;
            // What a column was cast from must not be told of it any more.
            match plan.data {
                LogicalPlan::Values(_) | LogicalPlan::RecursiveQuery(_) => Ok(plan),
                _ => plan.map_data(LogicalPlan::recompute_schema),
            }
        })?;
        Ok(replaced.data)
    }
}

fn replace(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let Expr::Cast(Cast { expr, field }) = expr else { return Ok(Transformed::no(expr)) };
    if let Expr::ScalarFunction(call) = expr.as_ref()
        && call.func.name() == UNTYPED
        && let [literal] = call.args.as_slice()
    {
        let literal = literal.clone();
        return Ok(Transformed::yes(match SqlType::of_field(&field) {
            SqlType::Text => literal,
            to => self::call(Kind::Read(to), literal),
        }));
    }
    let Ok((_, from)) = expr.to_field(schema) else {
        return Ok(Transformed::no(Expr::Cast(Cast { expr, field })));
    };
    Ok(match kind_of(&from, &field) {
        Replacement::None => Transformed::no(Expr::Cast(Cast { expr, field })),
        Replacement::Whole(kind) => Transformed::yes(call(kind, *expr)),
        Replacement::Cut(kind, to) => {
            let text = call(kind, *expr);
            Transformed::yes(call(Kind::Read(to), text))
        }
    })
}

/// What is done about a cast.
enum Replacement {
    None,
    Whole(Kind),
    /// Writes the value, then cuts it to the length of the type.
    Cut(Kind, SqlType),
}

fn kind_of(from: &Field, to: &Field) -> Replacement {
    let is_text = |field: &Field| *field.data_type() == DataType::Utf8;
    let (from_type, to_type) = (SqlType::of_field(from), SqlType::of_field(to));
    // DataFusion's own types have no text of PostgreSQL's.
    let known = |field: &Field, sql_type: &SqlType| sql_type.to_arrow() == *field.data_type();
    if from_type == SqlType::Jsonb && (to_type == SqlType::Boolean || to_type.is_number()) {
        return Replacement::Whole(Kind::Unwrap(to_type));
    }
    if let (SqlType::Array(one), SqlType::Array(other)) = (&from_type, &to_type)
        && stays_text(one)
        && !stays_text(other)
    {
        // Each element is read.
        let unread = SqlType::Array(Box::new(SqlType::Unknown));
        return Replacement::Whole(Kind::Convert(unread, to_type));
    }
    if is_text(from) && is_text(to) {
        // These lie as text, but a text is not one of them.
        let written = matches!(
            (&from_type, &to_type),
            (SqlType::Json | SqlType::Jsonb | SqlType::Uuid | SqlType::Varchar(_), SqlType::Text,)
                | (SqlType::Char(_), SqlType::Text | SqlType::Varchar(None))
        );
        if written {
            return Replacement::Whole(Kind::Write(from_type));
        }
    }
    if is_text(from) {
        let plain = matches!(to_type, SqlType::Text | SqlType::Name | SqlType::Unknown);
        let worth = known(to, &to_type) && !plain && from_type != to_type;
        return if worth { Replacement::Whole(Kind::Read(to_type)) } else { Replacement::None };
    }
    if is_text(to) && !known(from, &from_type) && from_type != SqlType::Record {
        return Replacement::None;
    }
    if is_text(to) {
        return match (from_type, to_type) {
            // `true`, not `t`: a cast to text differs from the type's output only here.
            (SqlType::Boolean, _) => Replacement::None,
            (from, SqlType::Text) => Replacement::Whole(Kind::Write(from)),
            (from, to @ (SqlType::Varchar(_) | SqlType::Char(_))) => {
                Replacement::Cut(Kind::Write(from), to)
            }
            _ => Replacement::None,
        };
    }
    if known(from, &from_type) && known(to, &to_type) && is_checked(&from_type, &to_type) {
        return Replacement::Whole(Kind::Convert(from_type, to_type));
    }
    Replacement::None
}

/// Whether a conversion can fail or rounds, depends on the session's time zone, or is none of
/// Arrow's.
fn is_checked(from: &SqlType, to: &SqlType) -> bool {
    use SqlType::{
        Array, BigInt, Date, Double, Integer, Interval, Numeric, Real, SmallInt, Time, Timestamp,
        Timestamptz,
    };
    match (from, to) {
        (Integer | BigInt, SmallInt) | (BigInt, Integer) | (Double | Numeric(_), Real) => true,
        (Real | Double | Numeric(_), SmallInt | Integer | BigInt) => true,
        (Real | Double, Numeric(_)) | (Numeric(None), Double) => true,
        (SmallInt | Integer | BigInt, Numeric(Some((precision, scale)))) => {
            let digits = match from {
                SmallInt => 5,
                Integer => 10,
                _ => 19,
            };
            i16::from(*precision) - i16::from(*scale) < digits
        }
        (Numeric(from), Numeric(Some((precision, scale)))) => {
            let (own, own_scale) = from.unwrap_or(crate::types::NUMERIC);
            i16::from(*precision) - i16::from(*scale) < i16::from(own) - i16::from(own_scale)
        }
        (Time, Interval) | (Interval, Time) => true,
        (Timestamptz, Timestamp | Date | Time) | (Timestamp | Date, Timestamptz) => true,
        (Array(from), Array(to)) => from != to && is_checked(from, to),
        _ => false,
    }
}

fn call(kind: Kind, argument: Expr) -> Expr {
    let function = Arc::new(ScalarUDF::from(PgCast::new(kind)));
    Expr::ScalarFunction(ScalarFunction::new_udf(function, vec![argument]))
}
