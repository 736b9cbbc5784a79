//! Windows as DataFusion reads them: what one has from another by name is written out, and the
//! offsets of frames are literals (`RANGE '1 month' PRECEDING`). EXCLUDE, which the parser has made
//! a mark, goes into the function that is called.

use std::ops::ControlFlow;

use sqlparser::ast::{self, Expr, VisitMut, VisitorMut};

use super::parse::fold_ident;
use crate::error::{SqlError, SqlResult, code};
use crate::expr::functions::{Exclusion, looks_at_frame};

/// Begins the name of a window that stands for an exclusion, and for the window before it. No key
/// can type it.
const MARK: &str = "\u{1f}exclude ";

/// The name that marks a window with an exclusion, which begins with `base`.
pub(super) fn exclusion_mark(exclusion: &str, base: Option<&str>) -> String {
    match base {
        Some(base) => format!("{MARK}{exclusion}\u{1f}{base}"),
        None => format!("{MARK}{exclusion}"),
    }
}

/// The exclusion that a window's name stands for, and the name of the window before it.
fn marked(name: &ast::Ident) -> Option<(Exclusion, Option<ast::Ident>)> {
    let mark = name.value.strip_prefix(MARK)?;
    let (exclusion, base) = match mark.split_once('\u{1f}') {
        Some((exclusion, base)) => (exclusion, Some(ast::Ident::with_quote('"', base))),
        None => (mark, None),
    };
    Some((Exclusion::named(exclusion)?, base))
}

/// Writes out the windows of a query, those of its subqueries too.
pub(super) fn spell_windows(
    query: &mut ast::Query,
    is_aggregate: impl Fn(&str) -> bool,
) -> SqlResult<()> {
    let is_aggregate = &is_aggregate;
    match query.visit(&mut Windows { named: Vec::new(), is_aggregate }) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

/// The windows that have names in the queries around, written out, but for the marks of what they
/// exclude.
struct Windows<'a> {
    named: Vec<Vec<ast::NamedWindowDefinition>>,
    is_aggregate: &'a dyn Fn(&str) -> bool,
}

impl VisitorMut for Windows<'_> {
    type Break = SqlError;

    fn pre_visit_query(&mut self, query: &mut ast::Query) -> ControlFlow<SqlError> {
        // ORDER BY, which stands outside of the SELECT, may name its windows.
        let mut named = Vec::new();
        if let ast::SetExpr::Select(select) = query.body.as_mut() {
            if let Err(error) = spell_definitions(&mut select.named_window) {
                return ControlFlow::Break(error);
            }
            named.clone_from(&select.named_window);
        }
        self.named.push(named);
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _query: &mut ast::Query) -> ControlFlow<SqlError> {
        self.named.pop();
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut ast::Select) -> ControlFlow<SqlError> {
        if let Err(error) = spell_definitions(&mut select.named_window) {
            return ControlFlow::Break(error);
        }
        self.named.push(select.named_window.clone());
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, select: &mut ast::Select) -> ControlFlow<SqlError> {
        self.named.pop();
        for ast::NamedWindowDefinition(_, definition) in &mut select.named_window {
            if let ast::NamedWindowExpr::WindowSpec(spec) = definition {
                spec.window_name = None;
            }
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<SqlError> {
        let Expr::Function(function) = expr else { return ControlFlow::Continue(()) };
        let named = self.named.last().map_or(&[][..], Vec::as_slice);
        let exclusion = match &mut function.over {
            Some(ast::WindowType::WindowSpec(spec)) => match spell(spec, named) {
                Ok(()) => spec.window_name.take().and_then(|name| marked(&name)),
                Err(error) => return ControlFlow::Break(error),
            },
            Some(ast::WindowType::NamedWindow(name)) => exclusion_of(name, named),
            None => None,
        };
        if let Some((exclusion, _)) = exclusion {
            exclude(function, exclusion, self.is_aggregate);
        }
        ControlFlow::Continue(())
    }
}

/// The mark of a window that has a name.
fn exclusion_of(
    name: &ast::Ident,
    named: &[ast::NamedWindowDefinition],
) -> Option<(Exclusion, Option<ast::Ident>)> {
    let name = fold_ident(name);
    let ast::NamedWindowDefinition(_, definition) =
        named.iter().find(|ast::NamedWindowDefinition(own, _)| fold_ident(own) == name)?;
    match definition {
        ast::NamedWindowExpr::WindowSpec(spec) => marked(spec.window_name.as_ref()?),
        ast::NamedWindowExpr::NamedWindow(other) => exclusion_of(other, named),
    }
}

/// Calls what computes a function over frames that leave rows out, if it looks at its frame at
/// all. FILTER becomes the first argument.
fn exclude(
    function: &mut ast::Function,
    exclusion: Exclusion,
    is_aggregate: &dyn Fn(&str) -> bool,
) {
    let Some(name) = function.name.0.last().and_then(|part| part.as_ident()).map(fold_ident) else {
        return;
    };
    let ast::FunctionArguments::List(list) = &mut function.args else { return };
    if !is_aggregate(&name) && !looks_at_frame(&name) {
        return;
    }
    for arg in &mut list.args {
        if let ast::FunctionArg::Unnamed(all @ ast::FunctionArgExpr::Wildcard) = arg {
            let one = ast::Value::Number("1".to_owned(), false);
            *all = ast::FunctionArgExpr::Expr(Expr::value(one));
        }
    }
    let condition = function.filter.take().map(|condition| *condition);
    let condition = condition.unwrap_or_else(|| Expr::value(ast::Value::Boolean(true)));
    list.args.insert(0, ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(condition)));
    let called = ast::Ident::with_quote('"', exclusion.call(&name));
    function.name = ast::ObjectName::from(vec![called]);
}

/// The definitions of WINDOW, each of which may begin with one before it.
fn spell_definitions(definitions: &mut [ast::NamedWindowDefinition]) -> SqlResult<()> {
    for index in 0..definitions.len() {
        let (before, rest) = definitions.split_at_mut(index);
        if let Some(ast::NamedWindowDefinition(_, ast::NamedWindowExpr::WindowSpec(spec))) =
            rest.first_mut()
        {
            spell(spec, before)?;
        }
    }
    Ok(())
}

fn spell(spec: &mut ast::WindowSpec, named: &[ast::NamedWindowDefinition]) -> SqlResult<()> {
    if let Some(name) = spec.window_name.take() {
        let (exclusion, base) = match marked(&name) {
            Some((exclusion, base)) => (Some(exclusion), base),
            None => (None, Some(name)),
        };
        if let Some(base) = base {
            begin_with(spec, &fold_ident(&base), named)?;
        }
        let mark = exclusion.map(|exclusion| exclusion_mark(exclusion.word(), None));
        spec.window_name = mark.map(|mark| ast::Ident::with_quote('"', mark));
    }
    let Some(frame) = &mut spec.window_frame else { return Ok(()) };
    for bound in [Some(&mut frame.start_bound), frame.end_bound.as_mut()].into_iter().flatten() {
        if let ast::WindowFrameBound::Preceding(Some(offset))
        | ast::WindowFrameBound::Following(Some(offset)) = bound
        {
            spell_offset(offset)?;
        }
    }
    Ok(())
}

/// A window has the partitions and the order of the one that it begins with.
fn begin_with(
    spec: &mut ast::WindowSpec,
    name: &str,
    named: &[ast::NamedWindowDefinition],
) -> SqlResult<()> {
    let wrong = |message: String| Err(SqlError::new(code::WINDOWING_ERROR, message));
    let found = named.iter().find(|ast::NamedWindowDefinition(own, _)| fold_ident(own) == name);
    let base = match found {
        Some(ast::NamedWindowDefinition(_, ast::NamedWindowExpr::WindowSpec(base))) => base,
        Some(ast::NamedWindowDefinition(_, ast::NamedWindowExpr::NamedWindow(other))) => {
            return begin_with(spec, &fold_ident(other), named);
        }
        None => {
            let message = format!("window \"{name}\" does not exist");
            return Err(SqlError::new(code::UNDEFINED_OBJECT, message));
        }
    };
    if !spec.partition_by.is_empty() {
        return wrong(format!("cannot override PARTITION BY clause of window \"{name}\""));
    }
    if !spec.order_by.is_empty() && !base.order_by.is_empty() {
        return wrong(format!("cannot override ORDER BY clause of window \"{name}\""));
    }
    if base.window_frame.is_some() {
        return wrong(format!("cannot copy window \"{name}\" because it has a frame clause"));
    }
    spec.partition_by.clone_from(&base.partition_by);
    if spec.order_by.is_empty() {
        spec.order_by.clone_from(&base.order_by);
    }
    Ok(())
}

/// A text or an interval is written `INTERVAL 'text'`.
fn spell_offset(offset: &mut Expr) -> SqlResult<()> {
    let take = |expr: &mut Expr| std::mem::replace(expr, Expr::value(ast::Value::Null));
    let value = match offset {
        Expr::UnaryOp { op: ast::UnaryOperator::Minus, .. } => {
            let message = "frame starting or ending offset must not be negative";
            return Err(SqlError::new(code::INVALID_PRECEDING_OR_FOLLOWING_SIZE, message));
        }
        Expr::Nested(inner) => {
            *offset = take(inner);
            return spell_offset(offset);
        }
        Expr::Cast { expr, .. } if text_of(expr).is_some() => take(expr),
        Expr::TypedString(typed) => {
            Expr::value(std::mem::replace(&mut typed.value.value, ast::Value::Null))
        }
        Expr::Value(_) if text_of(offset).is_some() => take(offset),
        _ => return Ok(()),
    };
    *offset = Expr::Interval(ast::Interval {
        value: Box::new(value),
        leading_field: None,
        leading_precision: None,
        last_field: None,
        fractional_seconds_precision: None,
    });
    Ok(())
}

fn text_of(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Value(value) => match &value.value {
            ast::Value::SingleQuotedString(text) => Some(text),
            _ => None,
        },
        _ => None,
    }
}
