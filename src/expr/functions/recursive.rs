//! The types of a recursive query's columns are those of its first part, which are known only when
//! literals have their types: the rows that the second part reads get them then.

use std::sync::Arc;

use arrow::datatypes::{Field, Schema};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, DFSchemaRef, Result};
use datafusion::datasource::cte_worktable::CteWorkTable;
use datafusion::datasource::{provider_as_source, source_as_provider};
use datafusion::logical_expr::{
    Expr, LogicalPlan, LogicalPlanBuilder, Projection, RecursiveQuery, TableScan, cast,
};

use super::literals::narrow_node;
use super::noted::of_type;
use super::untyped::{UNTYPED, bare, common_type};
use crate::error::{SqlError, code};
use crate::types::SqlType;

/// `query`, whose first part has its types, with the second part over rows of these types.
pub(super) fn retyped(query: RecursiveQuery) -> Result<LogicalPlan> {
    let RecursiveQuery { name, static_term, recursive_term, is_distinct, .. } = query;
    let mut first = Arc::unwrap_or_clone(static_term);
    let second = Arc::unwrap_or_clone(recursive_term);
    let mut over = reading(uncast(second)?, &name, first.schema())?;
    if let Some(plain) = with_plain_numerics(&first, &over)? {
        over = reading(over, &name, plain.schema())?;
        first = plain;
    }
    check_types(&name, &first, &over)?;
    // Both parts give fields that are the same in everything: the plan is checked for it when
    // functions have taken the places of operators, and may give NULLs that these did not.
    let types: Vec<SqlType> =
        first.schema().fields().iter().map(|field| SqlType::of_field(field)).collect();
    let names: Vec<String> =
        first.schema().fields().iter().map(|field| field.name().clone()).collect();
    let first = alike(first, &types, &names)?;
    let over = alike(over, &types, &names)?;
    LogicalPlanBuilder::from(first).to_recursive_query(name, over, is_distinct)?.build()
}

/// `plan` with columns of these types and names.
fn alike(plan: LogicalPlan, types: &[SqlType], names: &[String]) -> Result<LogicalPlan> {
    let columns = plan.schema().iter().zip(types).zip(names);
    let columns = columns.map(|(((qualifier, field), sql_type), name)| {
        let mut column = Expr::Column(Column::from((qualifier, field)));
        if *field.data_type() != sql_type.to_arrow() {
            column = cast(column, sql_type.to_arrow());
        }
        of_type(sql_type.clone(), column).alias(name)
    });
    let columns: Vec<Expr> = columns.collect();
    LogicalPlanBuilder::from(plan).project(columns)?.build()
}

/// A second part without the casts to what the first part's types were thought to be. Those that
/// the query writes are not casts yet, but of literals.
fn uncast(plan: LogicalPlan) -> Result<LogicalPlan> {
    let LogicalPlan::Projection(projection) = plan else { return Ok(plan) };
    let is_made = |value: &Expr| match value {
        Expr::Literal(..) => false,
        // The cast is what gives it a type.
        Expr::ScalarFunction(call) => call.func.name() != UNTYPED,
        _ => true,
    };
    let exprs = projection.expr.into_iter().map(|expr| match expr {
        Expr::Cast(cast) if is_made(&cast.expr) => *cast.expr,
        Expr::Alias(mut alias) => {
            if let Expr::Cast(cast) = alias.expr.as_mut()
                && is_made(&cast.expr)
            {
                let given = std::mem::take(cast.expr.as_mut());
                *alias.expr = given;
            }
            Expr::Alias(alias)
        }
        other => other,
    });
    Projection::try_new(exprs.collect(), projection.input).map(LogicalPlan::Projection)
}

/// `plan` with the types of `schema` where it reads the rows of the round before.
fn reading(plan: LogicalPlan, name: &str, schema: &DFSchemaRef) -> Result<LogicalPlan> {
    let done = plan.transform_up_with_subqueries(|node| match node {
        LogicalPlan::TableScan(scan) => match work_table(&scan, name)? {
            Some(old) => {
                let fields = std::iter::zip(old.fields(), schema.fields())
                    .map(|(old, new)| SqlType::of_field(new).field(old.name(), true));
                let schema = Arc::new(Schema::new(fields.collect::<Vec<Field>>()));
                let table = provider_as_source(Arc::new(CteWorkTable::new(name, schema)));
                let scan = LogicalPlanBuilder::scan(scan.table_name, table, scan.projection)?;
                scan.build().map(Transformed::yes)
            }
            None => Ok(Transformed::no(LogicalPlan::TableScan(scan))),
        },
        node => narrow_node(node),
    })?;
    Ok(done.data)
}

/// The schema of the rows of the round before, if that is what is scanned.
fn work_table(scan: &TableScan, name: &str) -> Result<Option<Arc<Schema>>> {
    let Ok(provider) = source_as_provider(&scan.source) else { return Ok(None) };
    let table = provider.downcast_ref::<CteWorkTable>();
    Ok(table.filter(|table| table.name() == name).map(|_| scan.source.schema()))
}

/// The first part with numerics without a modifier where the second part has numerics of another
/// scale; `None`: there are none.
fn with_plain_numerics(first: &LogicalPlan, second: &LogicalPlan) -> Result<Option<LogicalPlan>> {
    let numeric = |field: &Field| matches!(SqlType::of_field(field), SqlType::Numeric(_));
    let mut changed = false;
    let columns =
        first.schema().iter().zip(second.schema().fields()).map(|((qualifier, field), other)| {
            let column = Expr::Column(Column::from((qualifier, field)));
            if numeric(other)
                && numeric(field)
                && field.data_type() != other.data_type()
                && SqlType::of_field(field) != SqlType::Numeric(None)
            {
                changed = true;
                let plain = SqlType::Numeric(None).to_arrow();
                return cast(column, plain).alias_qualified(qualifier.cloned(), field.name());
            }
            column
        });
    let columns: Vec<Expr> = columns.collect();
    if !changed {
        return Ok(None);
    }
    LogicalPlanBuilder::from(first.clone()).project(columns)?.build().map(Some)
}

/// Refuses what PostgreSQL refuses: a second part of other types than the first.
fn check_types(name: &str, first: &LogicalPlan, second: &LogicalPlan) -> Result<()> {
    let columns = std::iter::zip(first.schema().fields(), second.schema().fields());
    for (index, (one, other)) in columns.enumerate() {
        let (given, found) = (SqlType::of_field(one), SqlType::of_field(other));
        if other.data_type().is_null() {
            continue;
        }
        let overall = common_type(&given, &found, "UNION")?;
        let alike = match (&given, &overall) {
            (SqlType::Numeric(_), SqlType::Numeric(_)) => true,
            (SqlType::Varchar(_) | SqlType::Char(_), SqlType::Text) => true,
            (given, overall) => given == overall,
        };
        if alike {
            continue;
        }
        let message = format!(
            "recursive query \"{name}\" column {} has type {} in non-recursive term but type \
             {} overall",
            index + 1,
            bare(&given),
            bare(&overall)
        );
        let hint = "Cast the output of the non-recursive term to the correct type.";
        return Err(SqlError::new(code::DATATYPE_MISMATCH, message).hint(hint).into());
    }
    Ok(())
}
