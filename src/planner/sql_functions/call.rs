//! A call of a function in SQL, as it stands in a plan until [`super::inline`] puts the function's
//! body in its place. It has the type that the function declares, and cannot be evaluated.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{ExprSchema, Result};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    TypeSignature, Volatility,
};

use super::Known;
use super::choose::{choose, given, given_types};
use crate::error::{SqlError, SqlResult};
use crate::types::SqlType;

/// The functions that a name may mean, as one function.
#[derive(Debug)]
pub(super) struct Call {
    /// As it was called.
    pub(super) name: String,
    pub(super) candidates: Vec<Arc<Known>>,
    pub(super) part: Part,
    signature: Signature,
}

/// What of the call is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Part {
    /// Its value.
    Value,
    /// A column of its rows, in FROM.
    Column(usize),
}

impl Call {
    pub(super) fn new(name: &str, candidates: Vec<Arc<Known>>, part: Part) -> Self {
        let any = vec![TypeSignature::VariadicAny, TypeSignature::Nullary];
        let signature = Signature::one_of(any, Volatility::Immutable);
        Self { name: name.to_owned(), candidates, part, signature }
    }

    /// The call that an expression is.
    pub(super) fn of(expr: &Expr) -> Option<(&Call, &[Expr])> {
        let Expr::ScalarFunction(function) = expr else { return None };
        let inner: &dyn std::any::Any = function.func.inner().as_ref();
        Some((inner.downcast_ref::<Call>()?, &function.args))
    }

    /// The function that is meant.
    pub(super) fn chosen(&self, args: &[Expr], schema: &dyn ExprSchema) -> Result<&Arc<Known>> {
        Ok(choose(&self.name, &self.candidates, &given_types(args, schema)?)?)
    }

    fn field(&self, types: &[SqlType]) -> SqlResult<Field> {
        // A sum of a column and a literal is a bigint until literals are narrowed: what is an error
        // then as well is found when the call is replaced.
        let narrowed = || {
            types.iter().map(|given| match given {
                SqlType::BigInt => SqlType::Integer,
                other => other.clone(),
            })
        };
        let known = choose(&self.name, &self.candidates, types).or_else(|error| {
            let narrowed: Vec<_> = narrowed().collect();
            choose(&self.name, &self.candidates, &narrowed).map_err(|_| error)
        })?;
        let field = match self.part {
            Part::Value if known.function.returns.is_set() => {
                let what = format!("{}(), which gives rows, outside of FROM", self.name);
                return Err(SqlError::unsupported(what)
                    .hint("Call it in FROM: SELECT ... FROM t CROSS JOIN LATERAL f(t.x)."));
            }
            Part::Value => known.function.returns.sql_type().field(&self.name, true),
            Part::Column(index) => {
                let columns = known.columns();
                let column = columns.get(index);
                let column = column.ok_or_else(|| SqlError::internal("no such column"))?;
                column.sql_type.field(&column.name, true)
            }
        };
        Ok(field)
    }
}

impl From<Call> for Arc<ScalarUDF> {
    fn from(call: Call) -> Self {
        Arc::new(ScalarUDF::from(call))
    }
}

impl PartialEq for Call {
    fn eq(&self, other: &Self) -> bool {
        let ids = |call: &Self| call.candidates.iter().map(|k| k.function.id).collect::<Vec<_>>();
        self.name == other.name && self.part == other.part && ids(self) == ids(other)
    }
}

impl Eq for Call {}

impl Hash for Call {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.name, self.part).hash(state);
    }
}

impl ScalarUDFImpl for Call {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        let types: Vec<_> = arguments.iter().map(SqlType::of_arrow).collect();
        Ok(self.field(&types)?.data_type().clone())
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let fields = args.arg_fields.iter().zip(args.scalar_arguments);
        let types: Vec<_> = fields.map(|(field, literal)| given(field, *literal)).collect();
        Ok(Arc::new(self.field(&types)?))
    }

    fn invoke_with_args(&self, _args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let message = format!("a call of {} is left in the plan", self.name);
        Err(SqlError::internal(message).into())
    }
}
