//! Casts that read or write text as PostgreSQL does, and casts to integers that round.
//!
//! Arrow's casts have their own idea of what a value looks like, and cut fractions off. An analyzer
//! rule puts these in their place once all types are decided; casts that PostgreSQL and Arrow make
//! alike stay as they are.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, StringBuilder};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef, Float64Type};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::{Cast, ScalarFunction};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ExprSchemable, LogicalPlan, ReturnFieldArgs, ScalarFunctionArgs,
    ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::optimizer::AnalyzerRule;

use super::super::SessionStyle;
use super::untyped::UNTYPED;
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
    /// Rounds a float to a whole number, halves to the even one.
    Round,
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
            Kind::Round => "rint".to_owned(),
        };
        Self { kind, name, signature: Signature::any(1, Volatility::Immutable) }
    }

    fn result(&self) -> Field {
        match &self.kind {
            Kind::Read(to) => to.field("", true),
            Kind::Write(_) => SqlType::Text.field("", true),
            Kind::Round => SqlType::Double.field("", true),
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
            Kind::Round => round(&values)?,
        };
        if scalar {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&result, 0)?));
        }
        Ok(ColumnarValue::Array(result))
    }
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
        let text = std::str::from_utf8(&text)
            .map_err(|_| SqlError::new(code::CHARACTER_NOT_IN_REPERTOIRE, "invalid text"))?;
        texts.append_value(text);
    }
    Ok(Arc::new(texts.finish()))
}

fn round(values: &ArrayRef) -> Result<ArrayRef> {
    let values = cast(values, &DataType::Float64)?;
    let rounded = values.as_primitive::<Float64Type>();
    Ok(Arc::new(rounded.unary::<_, Float64Type>(f64::round_ties_even)))
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
            plan.map_expressions(|expr| {
                let name = names.save(&expr);
                let replaced = expr.transform_up(|expr| replace(expr, &schema))?;
                Ok(replaced.update_data(|expr| name.restore(expr)))
            })
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
        Replacement::Argument(kind) => {
            let expr = Box::new(call(kind, *expr));
            Transformed::yes(Expr::Cast(Cast { expr, field }))
        }
        Replacement::WholeNumber => {
            let whole = SqlType::Numeric(Some((38, 0))).field("", true);
            let expr = Box::new(Expr::Cast(Cast { expr, field: Arc::new(whole) }));
            Transformed::yes(Expr::Cast(Cast { expr, field }))
        }
    })
}

/// What is done about a cast.
enum Replacement {
    None,
    Whole(Kind),
    /// The cast stays, over another argument.
    Argument(Kind),
    /// The cast stays, over the argument as a numeric without fraction: that cast rounds.
    WholeNumber,
}

fn kind_of(from: &Field, to: &Field) -> Replacement {
    let is_text = |field: &Field| *field.data_type() == DataType::Utf8;
    let (from_type, to_type) = (SqlType::of_field(from), SqlType::of_field(to));
    // DataFusion's own types have no text of PostgreSQL's.
    let known = |field: &Field, sql_type: &SqlType| sql_type.to_arrow() == *field.data_type();
    if is_text(from) {
        let plain = matches!(to_type, SqlType::Text | SqlType::Name | SqlType::Unknown);
        let worth = known(to, &to_type) && !plain && from_type != to_type;
        return if worth { Replacement::Whole(Kind::Read(to_type)) } else { Replacement::None };
    }
    if is_text(to) {
        // `true`, not `t`: a cast to text differs from the type's output only here.
        let worth =
            known(from, &from_type) && from_type != SqlType::Boolean && to_type == SqlType::Text;
        return if worth { Replacement::Whole(Kind::Write(from_type)) } else { Replacement::None };
    }
    match (from.data_type(), to_type) {
        (
            DataType::Float32 | DataType::Float64,
            SqlType::SmallInt | SqlType::Integer | SqlType::BigInt,
        ) => Replacement::Argument(Kind::Round),
        (
            DataType::Decimal128(_, scale),
            SqlType::SmallInt | SqlType::Integer | SqlType::BigInt,
        ) if *scale > 0 => Replacement::WholeNumber,
        _ => Replacement::None,
    }
}

fn call(kind: Kind, argument: Expr) -> Expr {
    let already = matches!((&kind, &argument), (Kind::Round, Expr::ScalarFunction(call))
        if call.func.name() == "rint");
    if already {
        return argument;
    }
    let function = Arc::new(ScalarUDF::from(PgCast::new(kind)));
    Expr::ScalarFunction(ScalarFunction::new_udf(function, vec![argument]))
}
