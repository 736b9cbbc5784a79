//! `pg_catalog.lower(x)` is `lower(x)`: DataFusion's functions are in no schema.

use std::ops::ControlFlow;

use sqlparser::ast::{self, Expr, VisitMut, VisitorMut};

use super::parse::fold_ident;
use super::sql_functions::Functions;

/// Leaves the schema out of the system functions' names in a query, in its subqueries too. The name
/// stays as it is where it would mean one of the user's functions.
pub(super) fn name_system_calls(query: &mut ast::Query, functions: &Functions) {
    // It never breaks off.
    let _: ControlFlow<()> = query.visit(&mut Naming { functions });
}

struct Naming<'a> {
    functions: &'a Functions,
}

impl VisitorMut for Naming<'_> {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::Function(function) = expr {
            self.shorten(&mut function.name);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut ast::TableFactor) -> ControlFlow<()> {
        match factor {
            ast::TableFactor::Table { name, args: Some(_), .. }
            | ast::TableFactor::Function { name, .. } => self.shorten(name),
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

impl Naming<'_> {
    fn shorten(&self, name: &mut ast::ObjectName) {
        let [schema, function] = name.0.as_slice() else { return };
        if schema.as_ident().is_none_or(|schema| fold_ident(schema) != "pg_catalog") {
            return;
        }
        let short = ast::ObjectName(vec![function.clone()]);
        if self.functions.named_by(&short).is_empty() {
            *name = short;
        }
    }
}
