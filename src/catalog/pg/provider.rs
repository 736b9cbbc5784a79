//! System relations and functions for DataFusion: for statements that mix them with user tables.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int16Array, Int32Array, Int64Array, ListArray,
    RecordBatch, StringArray, TimestampMicrosecondArray,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef, Schema};
use datafusion::catalog::TableProvider;
use datafusion::common::{DataFusionError, ScalarValue};
use datafusion::datasource::MemTable;
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    TypeSignature, Volatility,
};

use super::function::{Function, function_names, functions_by_name, undefined};
use super::names::reg_text;
use super::relation::relation;
use super::value::{Reg, Value};
use super::{PgContext, call, rows};
use crate::catalog::object::QualifiedName;
use crate::error::{SqlError, SqlResult};
use crate::types::SqlType;
use crate::types::sqltype::ALIAS_SEPARATOR;

/// A system relation's rows now, as a table; `None` if there is no such relation.
pub fn table(
    name: &QualifiedName,
    context: &PgContext,
) -> SqlResult<Option<Arc<dyn TableProvider>>> {
    let Some(relation) = relation(&name.schema, &name.name) else { return Ok(None) };
    let schema = Arc::new(Schema::new(
        relation
            .columns
            .iter()
            .map(|column| sent_type(&column.sql_type).field(column.name, !column.not_null))
            .collect::<Vec<_>>(),
    ));
    let rows = rows(relation, context)?;
    let columns: SqlResult<Vec<ArrayRef>> = relation
        .columns
        .iter()
        .enumerate()
        .map(|(position, column)| {
            let values: Vec<Value> = rows.iter().map(|row| row[position].clone()).collect();
            to_array(&values, &sent_type(&column.sql_type), context)
        })
        .collect();
    let batch = RecordBatch::try_new(Arc::clone(&schema), columns?)?;
    Ok(Some(Arc::new(MemTable::try_new(schema, vec![vec![batch]])?)))
}

/// The type in which DataFusion gets values: an OID alias type as the name that it prints.
pub fn sent_type(sql_type: &SqlType) -> SqlType {
    match sql_type {
        alias if alias.is_oid_alias() => SqlType::Text,
        SqlType::Xid | SqlType::Cid => SqlType::BigInt,
        SqlType::Inet
        | SqlType::AclItem
        | SqlType::PgNodeTree
        | SqlType::PgNdistinct
        | SqlType::PgDependencies
        | SqlType::PgLsn
        | SqlType::Tid
        | SqlType::Xid8
        | SqlType::AnyArray => SqlType::Text,
        SqlType::Array(element) => SqlType::Array(Box::new(sent_type(element))),
        other => other.clone(),
    }
}

/// Values as an Arrow array of a type.
pub fn to_array(values: &[Value], sql_type: &SqlType, context: &PgContext) -> SqlResult<ArrayRef> {
    let ints = || values.iter().map(Value::as_int);
    Ok(match sql_type {
        SqlType::Boolean => Arc::new(values.iter().map(Value::as_bool).collect::<BooleanArray>()),
        SqlType::SmallInt => {
            Arc::new(ints().map(|v| v.and_then(|v| i16::try_from(v).ok())).collect::<Int16Array>())
        }
        SqlType::Integer => {
            Arc::new(ints().map(|v| v.and_then(|v| i32::try_from(v).ok())).collect::<Int32Array>())
        }
        SqlType::BigInt | SqlType::Oid => Arc::new(ints().collect::<Int64Array>()),
        alias if alias.is_oid_alias() => {
            let kind = Reg::of_type(alias).unwrap_or(Reg::Class);
            let text = |value: &Value| match value {
                Value::Reg(kind, oid) => Some(alias_text(context, *kind, *oid)),
                Value::Int(oid) => {
                    let oid = u32::try_from(*oid).unwrap_or(0);
                    Some(alias_text(context, kind, oid))
                }
                Value::Null => None,
                other => Some(other.to_text(context)),
            };
            Arc::new(values.iter().map(text).collect::<StringArray>())
        }
        SqlType::Real | SqlType::Double | SqlType::Numeric(_) => {
            let floats: Float64Array = values
                .iter()
                .map(|value| match value {
                    Value::Float(float) => Some(*float),
                    Value::Null => None,
                    other => other.to_text(context).parse().ok(),
                })
                .collect();
            match sql_type {
                SqlType::Real => cast(&floats, &DataType::Float32)?,
                SqlType::Double => Arc::new(floats),
                other => cast(&floats, &other.to_arrow())?,
            }
        }
        SqlType::Timestamp | SqlType::Timestamptz => {
            let micros: TimestampMicrosecondArray = values
                .iter()
                .map(|value| match value {
                    Value::Timestamp(micros) => Some(*micros),
                    _ => None,
                })
                .collect();
            match sql_type {
                SqlType::Timestamp => Arc::new(micros),
                _ => Arc::new(micros.with_timezone("UTC")),
            }
        }
        SqlType::Array(element) => {
            let lists: Vec<Option<Arc<[Value]>>> = values.iter().map(Value::as_list).collect();
            let elements: Vec<Value> =
                lists.iter().flatten().flat_map(|list| list.iter().cloned()).collect();
            let lengths = lists.iter().map(|list| list.as_ref().map_or(0, |list| list.len()));
            let DataType::List(field) = sql_type.to_arrow() else {
                return Err(SqlError::internal("an array type is a list"));
            };
            Arc::new(ListArray::try_new(
                field,
                OffsetBuffer::from_lengths(lengths),
                to_array(&elements, element, context)?,
                Some(NullBuffer::from_iter(lists.iter().map(Option::is_some))),
            )?)
        }
        SqlType::Int2Vector | SqlType::OidVector => {
            // A vector prints without braces: `1 2`.
            let text = |value: &Value| match value {
                Value::List(values) => {
                    let parts: Vec<String> =
                        values.iter().map(|value| value.to_text(context)).collect();
                    Some(parts.join(" "))
                }
                Value::Null => None,
                other => Some(other.to_text(context)),
            };
            Arc::new(values.iter().map(text).collect::<StringArray>())
        }
        SqlType::Date | SqlType::Time | SqlType::Interval | SqlType::Bytea => {
            cast(&texts(values, context), &sql_type.to_arrow())?
        }
        _ => texts(values, context),
    })
}

/// The number and the name, as an OID alias type is sent.
fn alias_text(context: &PgContext, kind: Reg, oid: u32) -> String {
    format!("{oid}{ALIAS_SEPARATOR}{}", reg_text(context, kind, oid))
}

fn texts(values: &[Value], context: &PgContext) -> ArrayRef {
    let text = |value: &Value| (!value.is_null()).then(|| value.to_text(context));
    Arc::new(values.iter().map(text).collect::<StringArray>())
}

/// The system's functions that DataFusion does not have, bound to a session.
pub fn functions(context: &Arc<PgContext>) -> Vec<Arc<ScalarUDF>> {
    function_names()
        .filter(|name| functions_by_name(name).iter().any(|function| !function.catalog_only))
        .map(|name| {
            let volatile = functions_by_name(name).iter().any(|function| function.volatile);
            Arc::new(ScalarUDF::new_from_impl(SystemFunction {
                name,
                context: Arc::clone(context),
                signature: Signature::one_of(
                    vec![TypeSignature::Nullary, TypeSignature::VariadicAny],
                    if volatile { Volatility::Volatile } else { Volatility::Stable },
                ),
            }))
        })
        .collect()
}

/// All the functions of one name.
#[derive(Debug)]
struct SystemFunction {
    name: &'static str,
    context: Arc<PgContext>,
    signature: Signature,
}

impl PartialEq for SystemFunction {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.context, &other.context)
    }
}

impl Eq for SystemFunction {}

impl Hash for SystemFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl SystemFunction {
    fn of_arity(&self, arity: usize) -> SqlResult<&'static Function> {
        super::function(self.name, arity).ok_or_else(|| undefined(self.name, arity))
    }
}

impl ScalarUDFImpl for SystemFunction {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType, DataFusionError> {
        let function = self.of_arity(arguments.len()).map_err(external)?;
        let types: Vec<SqlType> = arguments.iter().map(SqlType::of_arrow).collect();
        Ok(sent_type(&function.returns.of(&types)).to_arrow())
    }

    fn return_field_from_args(
        &self,
        arguments: ReturnFieldArgs<'_>,
    ) -> Result<FieldRef, DataFusionError> {
        let function = self.of_arity(arguments.arg_fields.len()).map_err(external)?;
        let types: Vec<SqlType> =
            arguments.arg_fields.iter().map(|field: &FieldRef| SqlType::of_field(field)).collect();
        let field: Field = sent_type(&function.returns.of(&types)).field(self.name, true);
        Ok(Arc::new(field))
    }

    fn invoke_with_args(
        &self,
        arguments: ScalarFunctionArgs,
    ) -> Result<ColumnarValue, DataFusionError> {
        let function = self.of_arity(arguments.args.len()).map_err(external)?;
        let constant = arguments.args.iter().all(|one| matches!(one, ColumnarValue::Scalar(_)));
        if constant && let Some(batch) = function.batch {
            let values = arguments.args.iter().map(|one| match one {
                ColumnarValue::Scalar(scalar) => of_scalar(scalar),
                ColumnarValue::Array(_) => Value::Null,
            });
            let values: Vec<Value> = values.collect();
            let numbers = batch(&self.context, &values, arguments.number_rows).map_err(external)?;
            return Ok(ColumnarValue::Array(numbers));
        }
        let constant = constant && !function.volatile;
        let count = if constant { 1 } else { arguments.number_rows };
        let sql_type = SqlType::of_field(&arguments.return_field);
        let arrays = match constant {
            true => ColumnarValue::values_to_arrays(&arguments.args)?,
            false => {
                let each = arguments.args.iter().map(|one| one.to_array(arguments.number_rows));
                each.collect::<Result<_, _>>()?
            }
        };
        let mut results = Vec::with_capacity(count);
        for row in 0..count {
            let values: Result<Vec<Value>, DataFusionError> = arrays
                .iter()
                .map(|array| Ok(of_scalar(&ScalarValue::try_from_array(array, row)?)))
                .collect();
            results.push(call(function, &self.context, &values?).map_err(external)?);
        }
        let array = to_array(&results, &sql_type, &self.context).map_err(external)?;
        if constant {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&array, 0)?));
        }
        Ok(ColumnarValue::Array(array))
    }
}

fn external(error: SqlError) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// A DataFusion value as a catalog value; what has no counterpart becomes its text.
pub fn of_scalar(scalar: &ScalarValue) -> Value {
    if scalar.is_null() {
        return Value::Null;
    }
    match scalar {
        ScalarValue::Boolean(Some(value)) => Value::Bool(*value),
        ScalarValue::Int8(Some(value)) => Value::Int(i64::from(*value)),
        ScalarValue::Int16(Some(value)) => Value::Int(i64::from(*value)),
        ScalarValue::Int32(Some(value)) => Value::Int(i64::from(*value)),
        ScalarValue::Int64(Some(value)) => Value::Int(*value),
        ScalarValue::UInt32(Some(value)) => Value::Int(i64::from(*value)),
        ScalarValue::Float32(Some(value)) => Value::Float(f64::from(*value)),
        ScalarValue::Float64(Some(value)) => Value::Float(*value),
        ScalarValue::Decimal128(..) | ScalarValue::Decimal256(..) => {
            match scalar.cast_to(&DataType::Float64) {
                Ok(ScalarValue::Float64(Some(value))) => Value::Float(value),
                _ => Value::Null,
            }
        }
        ScalarValue::Utf8(Some(text))
        | ScalarValue::LargeUtf8(Some(text))
        | ScalarValue::Utf8View(Some(text)) => Value::text(text),
        ScalarValue::TimestampMicrosecond(Some(micros), _) => Value::Timestamp(*micros),
        ScalarValue::List(list) => {
            let elements = list.value(0);
            let values = (0..elements.len())
                .map(|row| ScalarValue::try_from_array(&elements, row).map(|v| of_scalar(&v)));
            values.collect::<Result<Vec<_>, _>>().map_or(Value::Null, Value::list)
        }
        other => Value::text(other.to_string()),
    }
}
