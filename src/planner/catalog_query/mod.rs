//! Statements over the system catalogs alone.
//!
//! Clients describe a database by statements that DataFusion cannot plan: a subquery in the SELECT
//! list that refers to the row around it, `ARRAY(SELECT ...)`, `= ANY (column)`, functions of rows
//! in FROM, sets in the SELECT list, `oid = '16385'`, `::regclass`, columns without names. Here
//! they are bound and evaluated row by row, with PostgreSQL's types and names. Only statements
//! whose relations are all system relations come here (or, without any, those that call a function
//! of the system: `SELECT version()`); all others, and all that this does not know, go to
//! DataFusion.
//!
//! ```text
//! ast::Query --bind--> tree::Query --run--> rows --> RecordBatch
//! ```

mod bind;
mod evaluate;
mod expression;
mod function;
mod group;
mod join;
mod output_name;
mod reorder;
mod run;
mod scope;
mod series;
mod tree;

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::ScalarValue;
use sqlparser::ast;

use super::syntax;
use crate::catalog::pg::{self, PgContext, Value};
use crate::error::SqlResult;
use crate::types::SqlType;

use bind::{BindError, Binder, function_name, name_parts, relation};
use evaluate::Machine;
use expression::folded;
use series::Series;

/// A statement over the system catalogs, ready to run.
#[derive(Debug)]
pub struct CatalogQuery {
    query: tree::Query,
    parameters: Vec<SqlType>,
    schema: SchemaRef,
}

impl CatalogQuery {
    /// Binds a query, if it is one for here. `parameters` are the types that the client declared.
    pub fn bind(
        query: &syntax::Query,
        context: &PgContext,
        parameters: &[Option<SqlType>],
    ) -> SqlResult<Option<CatalogQuery>> {
        Self::bind_tree(&query.tree, context, parameters)
    }

    fn bind_tree(
        query: &ast::Query,
        context: &PgContext,
        parameters: &[Option<SqlType>],
    ) -> SqlResult<Option<CatalogQuery>> {
        if !is_ours(query, context) {
            return Ok(None);
        }
        let binder = Binder::new(context, parameters.to_vec());
        let query = match binder.query(query, None) {
            Ok(query) => query,
            Err(BindError::NotHere) => return Ok(None),
            Err(BindError::Sql(error)) => return Err(error),
        };
        let parameters = binder.parameters.into_inner();
        let parameters = parameters.into_iter().map(|known| match known {
            None | Some(SqlType::Unknown) => SqlType::Text,
            Some(known) => known,
        });
        let fields: Vec<_> = query
            .columns
            .iter()
            .map(|column| shown_type(&column.sql_type).field(&column.name, true))
            .collect();
        let schema = Arc::new(Schema::new(fields));
        Ok(Some(CatalogQuery { query, parameters: parameters.collect(), schema }))
    }

    /// The result's columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The types of `$1`, `$2`, ...
    pub fn parameters(&self) -> &[SqlType] {
        &self.parameters
    }

    /// The result. The context may be newer than the one the query was bound in.
    pub fn run(&self, context: &PgContext, parameters: &[ScalarValue]) -> SqlResult<RecordBatch> {
        let parameters: Vec<Value> = parameters.iter().map(pg::of_scalar).collect();
        let rows = Machine::new(context, &parameters).run(&self.query, None)?;
        let columns: SqlResult<Vec<ArrayRef>> = self
            .query
            .columns
            .iter()
            .enumerate()
            .map(|(position, column)| {
                let values: Vec<Value> = rows.iter().map(|row| row[position].clone()).collect();
                pg::to_array(&values, &shown_type(&column.sql_type), context)
            })
            .collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
        Ok(RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns?, &options)?)
    }
}

/// The type in which a column is sent: what has none is text.
fn shown_type(sql_type: &SqlType) -> SqlType {
    match sql_type {
        SqlType::Unknown => SqlType::Text,
        other => other.clone(),
    }
}

/// Whether all relations are the system's, and at least one relation or function is.
fn is_ours(query: &ast::Query, context: &PgContext) -> bool {
    let ctes = cte_names(query);
    let mut system = false;
    let relations = ast::visit_relations(query, |name| {
        if relation(context, name).is_some() {
            system = true;
            return ControlFlow::Continue(());
        }
        let known = name_parts(name).is_some_and(|parts| match parts.as_slice() {
            [name] if ctes.contains(name) => true,
            // A function in FROM is visited as a relation too.
            [.., name] => {
                let functions = pg::functions_by_name(name);
                system |= functions.iter().any(|function| !function.catalog_only);
                let series = Series::of_name(name);
                system |= series.is_some_and(Series::is_of_system);
                series.is_some() || !functions.is_empty()
            }
            [] => false,
        });
        if known { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    if relations.is_break() {
        return false;
    }
    let _ = ast::visit_expressions(query, |expr| {
        system |= match expr {
            ast::Expr::Function(function) => function_name(&function.name).is_some_and(|name| {
                Series::of_name(&name).is_some_and(Series::is_of_system)
                    || pg::functions_by_name(&name).iter().any(|function| !function.catalog_only)
            }),
            ast::Expr::Cast { data_type, .. } => expression::is_alias_type(data_type),
            _ => false,
        };
        ControlFlow::<()>::Continue(())
    });
    system
}

/// The names that WITH gives anywhere in the query.
fn cte_names(query: &ast::Query) -> BTreeSet<String> {
    struct Names(BTreeSet<String>);
    impl ast::Visitor for Names {
        type Break = ();
        fn pre_visit_query(&mut self, query: &ast::Query) -> ControlFlow<()> {
            let ctes = query.with.iter().flat_map(|with| &with.cte_tables);
            self.0.extend(ctes.map(|cte| folded(&cte.alias.name)));
            ControlFlow::Continue(())
        }
    }
    let mut names = Names(BTreeSet::new());
    let _ = ast::Visit::visit(query, &mut names);
    names.0
}

#[cfg(test)]
mod tests;
