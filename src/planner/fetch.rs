//! `FETCH FIRST n ROWS ONLY | WITH TIES`, which DataFusion's planner does not read.
//!
//! ```text
//! ORDER BY o OFFSET m FETCH FIRST n ROWS ONLY       =  ORDER BY o LIMIT n OFFSET m
//! ORDER BY o OFFSET m FETCH FIRST n ROWS WITH TIES  =  ... WHERE row_number() OVER w > m
//!                                                            AND rank() OVER w <= m + n
//!                                                      with w = (ORDER BY o)
//! ```
//!
//! In between, WITH TIES is a limit by a function that is only a mark.

use std::ops::ControlFlow;
use std::sync::{Arc, LazyLock};

use arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, Result};
use datafusion::functions_window::rank::rank_udwf;
use datafusion::functions_window::row_number::row_number_udwf;
use datafusion::logical_expr::expr::WindowFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ExprFunctionExt, Filter, Limit, LogicalPlan, LogicalPlanBuilder,
    Projection, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Sort, SubqueryAlias,
    Volatility, WindowUDF, cast, lit,
};
use sqlparser::ast::{self, VisitMut, VisitorMut};

use super::dml::quote;
use super::parse::parse_expression;
use crate::error::{SqlError, SqlResult, code};

/// The mark of WITH TIES: a name that nobody can write without quotes.
pub(super) const WITH_TIES: &str = "rows with ties";

/// Spells every FETCH of a query, and of its subqueries, as a limit.
pub(super) fn spell_fetch(query: &mut ast::Query) -> SqlResult<()> {
    struct Speller;
    impl VisitorMut for Speller {
        type Break = SqlError;

        fn pre_visit_query(&mut self, query: &mut ast::Query) -> ControlFlow<SqlError> {
            match respell_one(query) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => ControlFlow::Break(error),
            }
        }
    }
    match query.visit(&mut Speller) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

fn respell_one(query: &mut ast::Query) -> SqlResult<()> {
    let Some(fetch) = query.fetch.take() else { return Ok(()) };
    if fetch.percent {
        return Err(SqlError::unsupported("FETCH FIRST n PERCENT"));
    }
    if fetch.with_ties && query.order_by.is_none() {
        let message = "WITH TIES cannot be specified without ORDER BY clause";
        return Err(SqlError::new(code::SYNTAX_ERROR, message));
    }
    let one = || ast::Expr::value(ast::Value::Number("1".to_owned(), false));
    let mut rows = fetch.quantity.unwrap_or_else(one);
    if fetch.with_ties {
        rows = (*parse_expression(&format!("{}({rows})", quote(WITH_TIES)))?.tree).clone();
    }
    let offset = match query.limit_clause.take() {
        Some(ast::LimitClause::LimitOffset { limit: None, offset, .. }) => offset,
        None => None,
        Some(_) => {
            let message = "multiple LIMIT clauses not allowed";
            return Err(SqlError::new(code::SYNTAX_ERROR, message));
        }
    };
    query.limit_clause =
        Some(ast::LimitClause::LimitOffset { limit: Some(rows), offset, limit_by: Vec::new() });
    Ok(())
}

/// The function that stands for WITH TIES, with the number of rows for its argument.
pub(super) fn with_ties_function() -> Arc<ScalarUDF> {
    static FUNCTION: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| {
        Arc::new(ScalarUDF::from(Mark { signature: Signature::any(1, Volatility::Immutable) }))
    });
    Arc::clone(&FUNCTION)
}

/// A function that is gone before anything runs.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Mark {
    signature: Signature,
}

impl ScalarUDFImpl for Mark {
    fn name(&self) -> &'static str {
        WITH_TIES
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arguments: &[DataType]) -> Result<DataType> {
        Ok(DataType::Int64)
    }

    fn invoke_with_args(&self, _args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        Err(SqlError::internal("a limit WITH TIES was not planned").into())
    }
}

/// `plan`, and its subqueries, with windows and filters where WITH TIES was.
pub(super) fn plan_ties(plan: LogicalPlan) -> Result<LogicalPlan> {
    let done = plan.transform_up_with_subqueries(|node| {
        let LogicalPlan::Limit(limit) = &node else { return Ok(Transformed::no(node)) };
        match limit.fetch.as_deref() {
            Some(Expr::ScalarFunction(mark)) if mark.func.name() == WITH_TIES => {
                first_rows(limit, &mark.args[0], &limit.input).map(Transformed::yes)
            }
            _ => Ok(Transformed::no(node)),
        }
    })?;
    Ok(done.data)
}

/// The first rows of `plan`, below whose projections is the order.
fn first_rows(limit: &Limit, rows: &Expr, plan: &LogicalPlan) -> Result<LogicalPlan> {
    match plan {
        LogicalPlan::Projection(projection) => {
            let input = first_rows(limit, rows, &projection.input)?;
            let plan = Projection::try_new(projection.expr.clone(), Arc::new(input))?;
            Ok(LogicalPlan::Projection(plan))
        }
        LogicalPlan::SubqueryAlias(alias) => {
            let input = first_rows(limit, rows, &alias.input)?;
            let plan = SubqueryAlias::try_new(Arc::new(input), alias.alias.clone())?;
            Ok(LogicalPlan::SubqueryAlias(plan))
        }
        LogicalPlan::Sort(sort) => ordered(limit, rows, sort),
        _ => Err(SqlError::internal("WITH TIES without an order").into()),
    }
}

fn ordered(limit: &Limit, rows: &Expr, sort: &Sort) -> Result<LogicalPlan> {
    let number = |function: Arc<WindowUDF>| -> Result<Expr> {
        let call = Expr::from(WindowFunction::new(function, Vec::new()));
        call.order_by(sort.expr.clone()).build()
    };
    let skip = limit.skip.as_deref().map_or(lit(0_i64), |skip| cast(skip.clone(), DataType::Int64));
    let rank = number(rank_udwf())?;
    let end = skip.clone() + cast(rows.clone(), DataType::Int64);
    let mut windows = vec![rank.clone()];
    let column = |window: &Expr| {
        cast(Expr::Column(Column::from_name(window.schema_name().to_string())), DataType::Int64)
    };
    // No number of rows is all of them.
    let mut kept = rows.clone().is_null().or(column(&rank).lt_eq(end));
    if limit.skip.is_some() {
        let row = number(row_number_udwf())?;
        kept = kept.and(column(&row).gt(skip));
        windows.push(row);
    }
    let columns: Vec<Expr> = sort.input.schema().columns().into_iter().map(Expr::Column).collect();
    let numbered = LogicalPlanBuilder::from(Arc::clone(&sort.input)).window(windows)?.build()?;
    let filtered = LogicalPlan::Filter(Filter::try_new(kept, Arc::new(numbered))?);
    LogicalPlanBuilder::from(filtered).project(columns)?.sort(sort.expr.clone())?.build()
}
