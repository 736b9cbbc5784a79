//! What the parser puts in other places than PostgreSQL, put right before anybody looks.
//!
//! - `a IS [NOT] DISTINCT FROM b AND c` is `(a IS [NOT] DISTINCT FROM b) AND c`: the parser takes
//!   all that follows for what `a` is compared with. AND, OR and NOT get their places again.
//! - `NOT EXISTS (...) IS TRUE` is `NOT (EXISTS (...) IS TRUE)`: the parser takes NOT EXISTS for
//!   one word.
//! - `a BETWEEN SYMMETRIC b AND c` is `a BETWEEN b AND c OR a BETWEEN c AND b`: the parser does not
//!   know it, and gets the first bound with a mark.
//! - `t.a[1]` is an element of `t.a`: the parser takes it for a part of `t`.
//!
//! What the user put into parentheses is a node of its own (`Nested`), so an OR right below an AND,
//! or either right below a NOT, is there by that mistake only.

use std::ops::ControlFlow;

use sqlparser::ast::{self, BinaryOperator, Expr, UnaryOperator, VisitMut, VisitorMut};

/// The operator that marks the bounds of BETWEEN SYMMETRIC: `NULL <symmetric> b AND c`.
pub(super) const SYMMETRIC: &str = "<symmetric>";

/// Mends a query, its subqueries too.
pub(super) fn mend_precedence(query: &mut ast::Query) {
    struct Mender;
    impl VisitorMut for Mender {
        type Break = ();

        fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
            raise_not(expr);
            mend(expr);
            order_bounds(expr);
            name_column(expr);
            ControlFlow::Continue(())
        }
    }
    let _: ControlFlow<()> = query.visit(&mut Mender);
}

/// What BETWEEN SYMMETRIC stands for.
fn order_bounds(expr: &mut Expr) {
    let Expr::Between { expr: value, negated, low, high } = expr else { return };
    if !unmark(low) {
        return;
    }
    let between = |low: &Expr, high: &Expr| Expr::Between {
        expr: value.clone(),
        negated: false,
        low: Box::new(low.clone()),
        high: Box::new(high.clone()),
    };
    let either = Expr::Nested(Box::new(Expr::BinaryOp {
        left: Box::new(between(low, high)),
        op: BinaryOperator::Or,
        right: Box::new(between(high, low)),
    }));
    *expr = match *negated {
        true => Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(either) },
        false => either,
    };
}

/// Takes the mark away that stands furthest left in an expression; whether there was one.
fn unmark(expr: &mut Expr) -> bool {
    match expr {
        Expr::BinaryOp { op: BinaryOperator::Custom(op), right, .. } if op == SYMMETRIC => {
            *expr = std::mem::replace(right, Expr::value(ast::Value::Null));
            true
        }
        Expr::BinaryOp { left, .. } => unmark(left),
        _ => false,
    }
}

/// Takes the NOT of a NOT EXISTS out of what is said of it.
fn raise_not(expr: &mut Expr) {
    let first = match expr {
        Expr::IsNull(first)
        | Expr::IsNotNull(first)
        | Expr::IsTrue(first)
        | Expr::IsNotTrue(first)
        | Expr::IsFalse(first)
        | Expr::IsNotFalse(first)
        | Expr::IsUnknown(first)
        | Expr::IsNotUnknown(first)
        | Expr::IsDistinctFrom(first, _)
        | Expr::IsNotDistinctFrom(first, _)
        | Expr::InList { expr: first, .. }
        | Expr::InSubquery { expr: first, .. }
        | Expr::Between { expr: first, .. } => first.as_mut(),
        Expr::BinaryOp { left, op, .. }
            if !matches!(op, BinaryOperator::And | BinaryOperator::Or) =>
        {
            left.as_mut()
        }
        _ => return,
    };
    let nothing = || Expr::value(ast::Value::Null);
    match first {
        Expr::Exists { negated: negated @ true, .. } => *negated = false,
        // It was raised before.
        Expr::UnaryOp { op: UnaryOperator::Not, expr } => {
            let inner = std::mem::replace(expr.as_mut(), nothing());
            *first = inner;
        }
        _ => return,
    }
    mend(expr);
    let raised = Box::new(std::mem::replace(expr, nothing()));
    *expr = Expr::UnaryOp { op: UnaryOperator::Not, expr: raised };
}

/// The column that is looked into, by its whole name.
fn name_column(expr: &mut Expr) {
    let Expr::CompoundFieldAccess { root, access_chain } = expr else { return };
    let Expr::Identifier(first) = root.as_ref() else { return };
    let mut names = vec![first.clone()];
    names.extend(access_chain.iter().map_while(|access| match access {
        ast::AccessExpr::Dot(Expr::Identifier(name)) => Some(name.clone()),
        _ => None,
    }));
    if names.len() > 1 {
        access_chain.drain(..names.len() - 1);
        **root = Expr::CompoundIdentifier(names);
    }
}

/// Mends an expression whose parts are right.
fn mend(expr: &mut Expr) {
    let lower: &mut Expr = match expr {
        Expr::IsDistinctFrom(_, right) | Expr::IsNotDistinctFrom(_, right) => right,
        Expr::UnaryOp { op: UnaryOperator::Not, expr } => expr,
        Expr::BinaryOp { op: BinaryOperator::And, right, .. } => match right.as_ref() {
            Expr::BinaryOp { op: BinaryOperator::Or, .. } => right,
            _ => return,
        },
        _ => return,
    };
    let Expr::BinaryOp { op: BinaryOperator::And | BinaryOperator::Or, left, .. } = lower else {
        return;
    };
    // `up (l op r)` becomes `(up l) op r`.
    let nothing = || Expr::value(ast::Value::Null);
    let own = std::mem::replace(left.as_mut(), nothing());
    let mut raised = std::mem::replace(lower, own);
    mend(expr);
    let upper = std::mem::replace(expr, nothing());
    if let Expr::BinaryOp { left, .. } = &mut raised {
        **left = upper;
    }
    *expr = raised;
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse_query;
    use super::*;

    #[test]
    fn what_follows_is_not_what_is_compared_with() {
        for (written, meant) in [
            ("a is distinct from b and c", "(a IS DISTINCT FROM b) AND c"),
            ("a is not distinct from b or c and d", "(a IS NOT DISTINCT FROM b) OR (c AND d)"),
            ("x and a is distinct from b or c", "(x AND (a IS DISTINCT FROM b)) OR c"),
            ("not a is distinct from b and c", "(NOT a IS DISTINCT FROM b) AND c"),
            (
                "a is distinct from b and c is distinct from d and e",
                "(a IS DISTINCT FROM b) AND ((c IS DISTINCT FROM d) AND e)",
            ),
            ("a is distinct from (b and c)", "a IS DISTINCT FROM (b AND c)"),
            ("x and (y or z)", "x AND (y OR z)"),
            ("a is distinct from b + 1 and c", "(a IS DISTINCT FROM b + 1) AND c"),
        ] {
            let query = parse_query(&format!("select {written}")).expect("is SQL");
            let mut tree = (*query.tree).clone();
            mend_precedence(&mut tree);
            let meant = parse_query(&format!("select {meant}")).expect("is SQL");
            let without = |text: String| text.replace(['(', ')'], "");
            let plain = |query: &ast::Query| shape(query);
            assert_eq!(plain(&tree), plain(&meant.tree), "{written}");
            assert_eq!(without(tree.to_string()), without(meant.tree.to_string()));
        }
    }

    #[test]
    fn not_exists_is_not_one_word() {
        for (written, meant) in [
            ("not exists (select 1) is true", "not (exists (select 1) is true)"),
            ("not exists (select 1) is true is null", "not ((exists (select 1) is true) is null)"),
            ("not exists (select 1) = b and c", "(not (exists (select 1) = b)) and c"),
            ("not exists (select 1) and c", "not exists (select 1) and c"),
            ("(not exists (select 1)) is true", "(not exists (select 1)) is true"),
            ("exists (select 1) is true", "exists (select 1) is true"),
        ] {
            let mended = |written: &str| {
                let query = parse_query(&format!("select {written}")).expect("is SQL");
                let mut tree = (*query.tree).clone();
                mend_precedence(&mut tree);
                tree.to_string().to_lowercase().replace(['(', ')'], "")
            };
            let plain = |text: &str| format!("select {}", text.replace(['(', ')'], ""));
            assert_eq!(mended(written), plain(meant), "{written}");
        }
    }

    /// The expression with parentheses around every AND and OR, and no others.
    fn shape(query: &ast::Query) -> String {
        fn text(expr: &Expr) -> String {
            match expr {
                Expr::Nested(inner) => text(inner),
                Expr::BinaryOp { left, op, right } => {
                    format!("({} {op} {})", text(left), text(right))
                }
                Expr::UnaryOp { op, expr } => format!("({op} {})", text(expr)),
                Expr::IsDistinctFrom(left, right) => {
                    format!("({} <> {})", text(left), text(right))
                }
                Expr::IsNotDistinctFrom(left, right) => {
                    format!("({} == {})", text(left), text(right))
                }
                other => other.to_string(),
            }
        }
        match query.body.as_ref() {
            ast::SetExpr::Select(select) => match &select.projection[0] {
                ast::SelectItem::UnnamedExpr(expr) => text(expr),
                other => other.to_string(),
            },
            other => other.to_string(),
        }
    }
}
