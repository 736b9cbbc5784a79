//! WITH RECURSIVE in a subquery that depends on the outer row: one recursion for all of them, whose
//! work table has the outer columns too.
//!
//! ```text
//! R(d)    = first(d) UNION step(d, R(d))
//! closed  = { (row, d) : row in first(d) } UNION { (row, d) : row in step(d, W(d)) }
//!           W(d) = rows of the work table whose d is the outer row's
//! ```

use std::sync::Arc;

use datafusion::arrow::datatypes::{Field, Schema};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, Result};
use datafusion::datasource::cte_worktable::CteWorkTable;
use datafusion::datasource::{provider_as_source, source_as_provider};
use datafusion::logical_expr::{
    Expr, LogicalPlan, LogicalPlanBuilder, Operator, RecursiveQuery, TableScan,
};

use super::close::{Closed, Key};
use super::expression::{columns_of, compare, filter, project};
use super::open::{Open, Outer};

impl Outer<'_> {
    pub(super) fn open_recursive(&self, query: &RecursiveQuery) -> Result<Open> {
        let mut needed = Vec::new();
        for term in [&query.static_term, &query.recursive_term] {
            super::expression::visit_outer_columns(term, &mut |column| {
                if self.columns.contains(column) && !needed.contains(column) {
                    needed.push(column.clone());
                }
            })?;
        }
        let keys: Vec<String> = needed.iter().map(|key| self.tools.fresh(&key.name)).collect();
        let first = self.term(&query.static_term, query, &needed, &keys)?;
        let wide = Arc::clone(first.schema());
        let step = query.recursive_term.as_ref().clone().transform_up(|node| match node {
            LogicalPlan::TableScan(scan) if is_work_table(&scan, &query.name) => {
                let rows = self.of_outer_row(&scan, &query.name, wide.as_arrow(), &needed)?;
                Ok(Transformed::yes(rows))
            }
            node => Ok(Transformed::no(node)),
        })?;
        let step = self.term(&step.data, query, &needed, &keys)?;
        let builder = LogicalPlanBuilder::from(first);
        let plan = builder.to_recursive_query(query.name.clone(), step, query.is_distinct)?;
        let plan = plan.build()?;
        let mut outputs = columns_of(plan.schema());
        let width = outputs.len() - needed.len();
        let inner = plan.schema().columns().split_off(width);
        outputs.truncate(width);
        let keys: Vec<Key> = std::iter::zip(needed, inner)
            .map(|(outer, inner)| Key { outer, inner, null_safe: true })
            .collect();
        let pending = self.pending(&keys);
        Ok(Open::new(plan, pending, outputs))
    }

    /// A part of the recursion for all outer rows at once: its columns, then the outer ones.
    fn term(
        &self,
        term: &LogicalPlan,
        query: &RecursiveQuery,
        needed: &[Column],
        keys: &[String],
    ) -> Result<LogicalPlan> {
        let closed = self.null_safe(self.close(self.open(term)?, needed)?)?;
        let Closed { plan, outputs, keys: found, .. } = closed;
        let named = outputs.into_iter().zip(query.schema.fields());
        let mut exprs: Vec<Expr> = named.map(|(expr, field)| expr.alias(field.name())).collect();
        for (outer, name) in needed.iter().zip(keys) {
            let key = found.iter().find(|key| key.outer == *outer);
            let inner = key.expect("closing gives what is asked for").inner.clone();
            exprs.push(Expr::Column(inner).alias(name));
        }
        project(plan, exprs)
    }

    /// What the recursion has of the outer row: rows of the work table with its columns.
    fn of_outer_row(
        &self,
        scan: &TableScan,
        name: &str,
        wide: &Schema,
        needed: &[Column],
    ) -> Result<LogicalPlan> {
        let given = scan.source.schema();
        let fields: Vec<Arc<Field>> = given
            .fields()
            .iter()
            .chain(wide.fields().iter().skip(given.fields().len()))
            .map(Arc::clone)
            .collect();
        let table = CteWorkTable::new(name, Arc::new(Schema::new(fields)));
        let table = provider_as_source(Arc::new(table));
        let rows = LogicalPlanBuilder::scan(scan.table_name.clone(), table, None)?.build()?;
        let mut columns = columns_of(rows.schema());
        let keys = columns.split_off(given.fields().len());
        let same = needed.iter().zip(keys).filter_map(|(outer, key)| {
            Some(compare(self.reference(outer)?, Operator::IsNotDistinctFrom, key))
        });
        let rows = filter(rows, same.collect())?;
        let shown = match &scan.projection {
            Some(projection) => projection.iter().map(|index| columns[*index].clone()).collect(),
            None => columns,
        };
        project(rows, shown)
    }
}

fn is_work_table(scan: &TableScan, name: &str) -> bool {
    source_as_provider(&scan.source).is_ok_and(|provider| {
        provider.downcast_ref::<CteWorkTable>().is_some_and(|table| table.name() == name)
    })
}
