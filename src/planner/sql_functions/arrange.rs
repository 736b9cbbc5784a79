//! Calls as they are planned: arguments in the places of the parameters that they name, and
//! functions in FROM that may look at the relations beside them.

use std::ops::ControlFlow;

use sqlparser::ast::{self, Expr, VisitMut, VisitorMut};

use super::{Functions, object_parts};
use crate::error::{SqlError, SqlResult, code};
use crate::planner::parse::{fold_ident, parse_expression};

/// Arranges the calls of functions in SQL in a query, those of its subqueries too.
pub(in crate::planner) fn arrange_calls(
    tree: &mut ast::Query,
    functions: &Functions,
) -> SqlResult<()> {
    if functions.are_none() {
        return Ok(());
    }
    match tree.visit(&mut Arranging { functions }) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

struct Arranging<'a> {
    functions: &'a Functions,
}

impl VisitorMut for Arranging<'_> {
    type Break = SqlError;

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<SqlError> {
        let Expr::Function(function) = expr else { return ControlFlow::Continue(()) };
        match self.call(function) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }

    fn pre_visit_table_factor(&mut self, factor: &mut ast::TableFactor) -> ControlFlow<SqlError> {
        match self.relation(factor) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }
}

impl Arranging<'_> {
    fn call(&self, function: &mut ast::Function) -> SqlResult<()> {
        if self.functions.named_by(&function.name).is_empty() {
            return Ok(());
        }
        let name = function.name.to_string();
        let not_an_aggregate = |what: &str| {
            let message = format!("{what} specified, but {name} is not an aggregate function");
            Err(SqlError::new(code::WRONG_OBJECT_TYPE, message))
        };
        if function.over.is_some() {
            let message = format!(
                "OVER specified, but {name} is not a window function nor an aggregate function"
            );
            return Err(SqlError::new(code::WRONG_OBJECT_TYPE, message));
        }
        if function.filter.is_some() {
            return not_an_aggregate("FILTER");
        }
        let ast::FunctionArguments::List(list) = &mut function.args else { return Ok(()) };
        if list.duplicate_treatment == Some(ast::DuplicateTreatment::Distinct) {
            return not_an_aggregate("DISTINCT");
        }
        if let Some(clause) = list.clauses.first() {
            let what = format!("{clause} in a call of {name}");
            return Err(SqlError::unsupported(what));
        }
        self.place(&function.name, &mut list.args)
    }

    /// Like a subquery in FROM, which sees its neighbours if it is LATERAL: a function always is.
    fn relation(&self, factor: &mut ast::TableFactor) -> SqlResult<()> {
        match factor {
            ast::TableFactor::Table { name, args: Some(args), .. }
                if !self.functions.named_by(name).is_empty() =>
            {
                self.place(name, &mut args.args)?;
            }
            ast::TableFactor::Function { name, args, .. }
                if !self.functions.named_by(name).is_empty() =>
            {
                self.place(name, args)?;
            }
            _ => return Ok(()),
        }
        if let ast::TableFactor::Table { name, alias, args: Some(args), with_ordinality, .. } =
            factor
            && !args.args.is_empty()
        {
            *factor = ast::TableFactor::Function {
                lateral: true,
                name: name.clone(),
                args: std::mem::take(&mut args.args),
                with_ordinality: *with_ordinality,
                alias: alias.take(),
            };
        }
        Ok(())
    }

    /// Puts arguments with names in their places, defaults between them.
    fn place(&self, name: &ast::ObjectName, args: &mut Vec<ast::FunctionArg>) -> SqlResult<()> {
        let mut placed: Vec<Option<Expr>> = Vec::new();
        let mut named: Vec<(String, Expr)> = Vec::new();
        for arg in args.iter() {
            let (name, value) = match arg {
                ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(value))
                    if named.is_empty() =>
                {
                    placed.push(Some(value.clone()));
                    continue;
                }
                ast::FunctionArg::Named {
                    name, arg: ast::FunctionArgExpr::Expr(value), ..
                } => (fold_ident(name), value),
                ast::FunctionArg::ExprNamed {
                    name: Expr::Identifier(name),
                    arg: ast::FunctionArgExpr::Expr(value),
                    ..
                } => (fold_ident(name), value),
                ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(_)) => {
                    let message = "positional argument cannot follow named argument";
                    return Err(SqlError::new(code::SYNTAX_ERROR, message));
                }
                _ => return Err(SqlError::unsupported(format!("{arg} as an argument"))),
            };
            named.push((name, value.clone()));
        }
        if named.is_empty() {
            return Ok(());
        }
        let candidates = self.functions.named_by(name);
        let positional = placed.len();
        let mut fitting = candidates.iter().filter(|known| {
            let parameters = &known.function.parameters;
            let place = |name: &String| {
                parameters.iter().position(|parameter| parameter.name.as_ref() == Some(name))
            };
            let given = |index: usize| {
                index < positional || named.iter().any(|(name, _)| place(name) == Some(index))
            };
            named.iter().all(|(name, _)| place(name).is_some_and(|place| place >= positional))
                && parameters.iter().enumerate().all(|(i, p)| given(i) || p.default.is_some())
        });
        let shown = object_parts(name).join(".");
        let names: Vec<_> = named.iter().map(|(name, _)| format!("{name} => unknown")).collect();
        let shown = format!("{shown}({})", names.join(", "));
        let Some(known) = fitting.next() else {
            let message = format!("function {shown} does not exist");
            return Err(SqlError::new(code::UNDEFINED_FUNCTION, message).hint(
                "No function matches the given name and argument types. \
                 You might need to add explicit type casts.",
            ));
        };
        if fitting.next().is_some() {
            let message = format!("function {shown} is not unique");
            return Err(SqlError::new(code::AMBIGUOUS_FUNCTION, message)
                .hint("Give the arguments by their places, with casts to their types."));
        }
        for parameter in known.function.parameters.iter().skip(positional) {
            let own = named.iter().find(|(name, _)| parameter.name.as_ref() == Some(name));
            placed.push(match (own, &parameter.default) {
                (Some((_, value)), _) => Some(value.clone()),
                (None, Some(default)) => Some((*parse_expression(default)?.tree).clone()),
                (None, None) => None,
            });
        }
        *args = placed
            .into_iter()
            .flatten()
            .map(|value| ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(value)))
            .collect();
        Ok(())
    }
}
