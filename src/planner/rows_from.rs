//! `ROWS FROM (f(...), g(...))`: the rows of several functions side by side, the shorter ones
//! filled up with NULLs. It is `unnest` of the arrays that the functions are made of.
//!
//! ```text
//! ROWS FROM (generate_series(1, n), jsonb_each(j)) WITH ORDINALITY
//!   = UNNEST(generate_series(1, n), jsonb_object_keys(j), jsonb_each_values(j)) WITH ORDINALITY
//!       AS generate_series (generate_series, key, value, ordinality)
//! ```

use std::ops::ControlFlow;

use sqlparser::ast::{self, Expr, VisitMut, VisitorMut};

use super::function_syntax::call;
use super::labels::unlike;
use super::parse::fold_ident;
use super::set_functions::{is_unnest, named};
use crate::error::{SqlError, SqlResult, code};

/// The function that the parser makes of it: a name that needs quotes.
pub(super) const ROWS_FROM: &str = "rows from";

/// Spells it in a query, in its subqueries too.
pub(super) fn spell_rows_from(query: &mut ast::Query) -> SqlResult<()> {
    struct Speller;
    impl VisitorMut for Speller {
        type Break = SqlError;

        fn pre_visit_table_factor(
            &mut self,
            factor: &mut ast::TableFactor,
        ) -> ControlFlow<SqlError> {
            match spell(factor) {
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

fn spell(factor: &mut ast::TableFactor) -> SqlResult<()> {
    let (name, args, with_ordinality, alias) = match factor {
        ast::TableFactor::Table { name, args: Some(args), with_ordinality, alias, .. } => {
            (name, &args.args, *with_ordinality, alias)
        }
        ast::TableFactor::Function { name, args, with_ordinality, alias, .. } => {
            (name, &*args, *with_ordinality, alias)
        }
        _ => return Ok(()),
    };
    let is_ours = matches!(name.0.as_slice(), [part]
        if part.as_ident().is_some_and(|name| name.value == ROWS_FROM));
    if !is_ours {
        return Ok(());
    }
    let mut arrays = Vec::new();
    let mut names: Vec<Option<String>> = Vec::new();
    let mut first = None;
    for arg in args {
        let ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(Expr::Function(function))) = arg
        else {
            return Err(SqlError::new(code::SYNTAX_ERROR, "ROWS FROM takes calls of functions"));
        };
        let called = function.name.0.last().and_then(|part| part.as_ident()).map(fold_ident);
        let called = called.unwrap_or_default();
        let (of_function, columns) = arrays_of(function)?;
        arrays.extend(of_function);
        names.extend(columns.into_iter().map(|column| column.map(str::to_owned)));
        for name in names.iter_mut().filter(|_| args.len() > 1) {
            name.get_or_insert_with(|| called.clone());
        }
        first.get_or_insert(called);
    }
    let mut alias = alias.take().unwrap_or_else(|| ast::TableAlias {
        explicit: false,
        name: ast::Ident::with_quote('"', first.unwrap_or_default()),
        columns: Vec::new(),
        at: None,
    });
    let names = names.into_iter().map(|name| match name {
        Some(name) => ast::Ident::with_quote('"', name),
        // The column of a function that is alone is called as its relation.
        None => alias.name.clone(),
    });
    let ordinality = with_ordinality.then(|| ast::Ident::new("ordinality"));
    let names: Vec<ast::Ident> = names.chain(ordinality).collect();
    for name in names.into_iter().skip(alias.columns.len()) {
        let name = unlike(name, &alias.columns);
        alias.columns.push(ast::TableAliasColumnDef { name, data_type: None });
    }
    *factor = ast::TableFactor::UNNEST {
        alias: Some(alias),
        array_exprs: arrays,
        with_offset: false,
        with_offset_alias: None,
        with_ordinality,
    };
    Ok(())
}

/// The arrays whose elements are the rows of a function, and the names of its columns: `None` for
/// one that is called as the function is.
fn arrays_of(function: &ast::Function) -> SqlResult<(Vec<Expr>, Vec<Option<&'static str>>)> {
    let args = match &function.args {
        ast::FunctionArguments::List(list) => list.args.iter().map(|arg| match arg {
            ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(expr)) => Some(expr.clone()),
            _ => None,
        }),
        _ => return Err(SqlError::unsupported("such a call in ROWS FROM")),
    };
    let args: Option<Vec<Expr>> = args.collect();
    let args = args.ok_or_else(|| SqlError::unsupported("such an argument in ROWS FROM"))?;
    if is_unnest(&function.name) {
        let names = vec![None; args.len()];
        return Ok((args, names));
    }
    let Some(found) = named(&function.name) else {
        // A function of one value is one row.
        return Ok((vec![call("make_array", vec![Expr::Function(function.clone())])?], vec![None]));
    };
    let arrays = found.columns.iter().map(|(_, array)| call(array, args.clone()));
    let names = found.columns.iter().map(|(name, _)| *name).collect();
    Ok((arrays.collect::<SqlResult<_>>()?, names))
}
