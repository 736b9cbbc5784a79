//! What names mean while a query is planned: relations looked up beforehand, functions, types and
//! operators of the session.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{DataType, FieldRef, SchemaRef};
use datafusion::catalog::TableFunctionArgs;
use datafusion::common::config::ConfigOptions;
use datafusion::common::{DFSchema, Result, ScalarValue, TableReference};
use datafusion::datasource::cte_worktable::CteWorkTable;
use datafusion::datasource::provider_as_source;
use datafusion::error::DataFusionError;
use datafusion::execution::{FunctionRegistry, SessionState};
use datafusion::logical_expr::planner::{
    ContextProvider, ExprPlanner, RelationPlanner, TypePlanner,
};
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::{
    AggregateUDF, ColumnarValue, Expr, HigherOrderUDF, ReturnFieldArgs, ScalarFunctionArgs,
    ScalarUDF, ScalarUDFImpl, Signature, TableSource, TypeSignature, Volatility, WindowUDF,
};
use datafusion::optimizer::simplify_expressions::ExprSimplifier;

use super::decorrelate::{ARRAY, ROW, SUBQUERY, array_function, row_function, subquery_function};
use super::explicit_casts::cast_function;
use super::fetch::{WITH_TIES, with_ties_function};
use super::operators::{Operators, Types};
use super::set_functions::{STREAMED_SERIES, SetFunctions};
use super::sql_functions::{FunctionRelations, Functions};
use super::unnested_keys::UnnestedKeys;
use crate::error::{SqlError, SqlResult, code};
use crate::expr::functions::{assignment, excluding};
use crate::types::SqlType;

/// Relations by the name a query gives them.
pub(super) type Relations = HashMap<TableReference, Arc<dyn TableSource>>;

/// A session's functions, and one query's relations.
pub(super) struct Names<'a> {
    state: &'a SessionState,
    relations: Relations,
    functions: Functions,
    expr_planners: Vec<Arc<dyn ExprPlanner>>,
    relation_planners: Vec<Arc<dyn RelationPlanner>>,
}

impl<'a> Names<'a> {
    pub(super) fn new(
        state: &'a SessionState,
        relations: Relations,
        functions: Functions,
    ) -> SqlResult<Self> {
        let mut expr_planners: Vec<Arc<dyn ExprPlanner>> =
            vec![Arc::new(Operators { array: state.udf("make_array")? })];
        expr_planners.extend(state.expr_planners().iter().cloned());
        let mut relation_planners: Vec<Arc<dyn RelationPlanner>> = Vec::new();
        if !functions.are_none() {
            relation_planners.push(Arc::new(FunctionRelations(functions.clone())));
        }
        relation_planners.push(Arc::new(SetFunctions));
        relation_planners.push(Arc::new(UnnestedKeys::default()));
        Ok(Self { state, relations, functions, expr_planners, relation_planners })
    }

    /// The functions in SQL that the query may call.
    pub(super) fn functions(&self) -> &Functions {
        &self.functions
    }
}

/// PostgreSQL's words for a relation that is not there.
pub(super) fn no_such_relation(name: &TableReference) -> SqlError {
    let name = match name {
        TableReference::Bare { table } => table.to_string(),
        TableReference::Partial { schema, table } | TableReference::Full { schema, table, .. } => {
            format!("{schema}.{table}")
        }
    };
    SqlError::new(code::UNDEFINED_TABLE, format!("relation \"{name}\" does not exist"))
}

/// Names in a call's place that DataFusion handles itself.
const NO_FUNCTIONS: &[&str] = &["grouping", "unnest"];

/// Stands for a function that is not there, so that the error can name its arguments' types.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Missing {
    name: String,
    signature: Signature,
}

impl Missing {
    fn new(name: &str) -> Self {
        let signature = Signature::one_of(
            vec![TypeSignature::VariadicAny, TypeSignature::Nullary],
            Volatility::Immutable,
        );
        Self { name: name.to_owned(), signature }
    }

    fn error(&self, types: &[String]) -> DataFusionError {
        let message = format!("function {}({}) does not exist", self.name, types.join(", "));
        SqlError::new(code::UNDEFINED_FUNCTION, message)
            .hint(
                "No function matches the given name and argument types. \
                 You might need to add explicit type casts.",
            )
            .into()
    }
}

impl ScalarUDFImpl for Missing {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        let types: Vec<_> = arguments.iter().map(|t| SqlType::of_arrow(t).to_string()).collect();
        Err(self.error(&types))
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let types = args.arg_fields.iter().zip(args.scalar_arguments).map(|(field, literal)| {
            match literal {
                // As narrowed later.
                Some(ScalarValue::Int64(Some(number))) if i32::try_from(*number).is_ok() => {
                    "integer".to_owned()
                }
                Some(ScalarValue::Utf8(_) | ScalarValue::Null) => "unknown".to_owned(),
                _ => match SqlType::of_field(field) {
                    SqlType::Numeric(_) => "numeric".to_owned(),
                    other => other.to_string(),
                },
            }
        });
        Err(self.error(&types.collect::<Vec<_>>()))
    }

    fn invoke_with_args(&self, _args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        Err(self.error(&[]))
    }
}

impl ContextProvider for Names<'_> {
    fn get_table_source(&self, name: TableReference) -> Result<Arc<dyn TableSource>> {
        match self.relations.get(&name) {
            Some(source) => Ok(Arc::clone(source)),
            None => Err(no_such_relation(&name).into()),
        }
    }

    fn get_table_function_source(
        &self,
        name: &str,
        args: Vec<Expr>,
    ) -> Result<Arc<dyn TableSource>> {
        let known = if name == STREAMED_SERIES { "generate_series" } else { name };
        let Some(function) = self.state.table_functions().get(known) else {
            let message = format!("function {name}() does not exist");
            return Err(SqlError::new(code::UNDEFINED_FUNCTION, message).into());
        };
        let context = SimplifyContext::builder()
            .with_config_options(Arc::clone(self.state.config_options()))
            .with_query_execution_start_time(
                self.state.execution_props().query_execution_start_time,
            )
            .build();
        let simplifier = ExprSimplifier::new(context);
        let schema = DFSchema::empty();
        let args = args
            .into_iter()
            .map(|arg| simplifier.coerce(arg, &schema).and_then(|arg| simplifier.simplify(arg)))
            .collect::<Result<Vec<_>>>()?;
        let provider =
            function.create_table_provider_with_args(TableFunctionArgs::new(&args, self.state))?;
        Ok(provider_as_source(provider))
    }

    fn create_cte_work_table(&self, name: &str, schema: SchemaRef) -> Result<Arc<dyn TableSource>> {
        Ok(provider_as_source(Arc::new(CteWorkTable::new(name, schema))))
    }

    fn get_expr_planners(&self) -> &[Arc<dyn ExprPlanner>] {
        &self.expr_planners
    }

    fn get_relation_planners(&self) -> &[Arc<dyn RelationPlanner>] {
        &self.relation_planners
    }

    fn get_type_planner(&self) -> Option<Arc<dyn TypePlanner>> {
        Some(Arc::new(Types))
    }

    fn get_function_meta(&self, name: &str) -> Option<Arc<ScalarUDF>> {
        if let Some(call) = self.functions.call(name) {
            return Some(call);
        }
        if let Some(function) = self.state.scalar_functions().get(name) {
            return Some(Arc::clone(function));
        }
        match name {
            ARRAY => return Some(array_function()),
            ROW => return Some(row_function()),
            WITH_TIES => return Some(with_ties_function()),
            SUBQUERY => return Some(subquery_function()),
            _ => {}
        }
        if let Some(function) = assignment(name).or_else(|| cast_function(name)) {
            return Some(Arc::new(function));
        }
        let known = self.state.aggregate_functions().contains_key(name)
            || self.state.higher_order_functions().contains_key(name)
            || NO_FUNCTIONS.contains(&name)
            || self.get_window_meta(name).is_some();
        (!known).then(|| Arc::new(ScalarUDF::from(Missing::new(name))))
    }

    fn get_higher_order_meta(&self, name: &str) -> Option<Arc<HigherOrderUDF>> {
        self.state.higher_order_functions().get(name).cloned()
    }

    fn get_aggregate_meta(&self, name: &str) -> Option<Arc<AggregateUDF>> {
        self.state.aggregate_functions().get(name).cloned()
    }

    fn get_window_meta(&self, name: &str) -> Option<Arc<WindowUDF>> {
        let known = self.state.window_functions().get(name).cloned();
        known.or_else(|| excluding(name, |aggregate| self.get_aggregate_meta(aggregate)))
    }

    fn get_variable_type(&self, _variable_names: &[String]) -> Option<DataType> {
        None
    }

    fn options(&self) -> &ConfigOptions {
        self.state.config_options()
    }

    fn udf_names(&self) -> Vec<String> {
        self.state.scalar_functions().keys().cloned().collect()
    }

    fn higher_order_function_names(&self) -> Vec<String> {
        self.state.higher_order_functions().keys().cloned().collect()
    }

    fn udaf_names(&self) -> Vec<String> {
        self.state.aggregate_functions().keys().cloned().collect()
    }

    fn udwf_names(&self) -> Vec<String> {
        self.state.window_functions().keys().cloned().collect()
    }
}
