//! Rows that are written out, `(a, b)` or `ROW(a, b)`, by their columns: DataFusion compares
//! structs as values, which a NULL among their columns is no reason not to do.
//!
//! ```text
//! (a, b) < (c, d)                    a < c OR (a = c AND b < d)
//! (a, b) = (c, d)                    a = c AND b = d
//! (a, b) IN ((c, d), (e, f))         (a = c AND b = d) OR (a = e AND b = f)
//! ROW(a, b) IS DISTINCT FROM (c, d)  a IS DISTINCT FROM c OR b IS DISTINCT FROM d
//! ROW(a, b) IS NULL                  a IS NULL AND b IS NULL
//! t IS NOT NULL                      t.a IS NOT NULL AND t.b IS NOT NULL
//! (ROW(a, b)).f2                     b
//! GROUP BY (a, b)                    GROUP BY a, b
//! ```

use sqlparser::ast::{self, BinaryOperator, Expr, UnaryOperator};

use super::parse::fold_ident;
use crate::error::{SqlError, SqlResult, code};
use crate::expr::functions::NAMED_ROW;

/// What an expression of rows is written as; `None`: it is none.
pub(super) fn spelled_row(expr: &mut Expr) -> SqlResult<Option<Expr>> {
    let spelled = match expr {
        Expr::BinaryOp { left, op, right } if compares(op) => match (row(left), row(right)) {
            (Some(left), Some(right)) => Some(compared(left, op, right)?),
            _ => None,
        },
        Expr::IsDistinctFrom(left, right) | Expr::IsNotDistinctFrom(left, right) => {
            let (Some(left), Some(right)) = (row(left), row(right)) else { return Ok(None) };
            let pairs = pairs(left, right)?.into_iter();
            let differ = pairs.map(|(left, right)| Expr::IsDistinctFrom(left.into(), right.into()));
            let differs = joined(differ.collect(), &BinaryOperator::Or);
            Some(match expr {
                Expr::IsNotDistinctFrom(..) => not(differs),
                _ => differs,
            })
        }
        Expr::InList { expr, list, negated } => {
            let Some(left) = row(expr) else { return Ok(None) };
            let rows: Option<Vec<Vec<Expr>>> = list.iter().map(row).collect();
            let Some(rows) = rows else { return Ok(None) };
            let equal =
                rows.into_iter().map(|right| compared(left.clone(), &BinaryOperator::Eq, right));
            let found = joined(equal.collect::<SqlResult<_>>()?, &BinaryOperator::Or);
            Some(if *negated { not(found) } else { found })
        }
        Expr::IsNull(inner) | Expr::IsNotNull(inner) => {
            let Some(columns) = row(inner).or_else(|| whole_row(inner)) else { return Ok(None) };
            let is_null = matches!(expr, Expr::IsNull(_));
            let tests = columns.into_iter().map(|column| match is_null {
                true => Expr::IsNull(Box::new(column)),
                false => Expr::IsNotNull(Box::new(column)),
            });
            Some(joined(tests.collect(), &BinaryOperator::And))
        }
        Expr::CompoundFieldAccess { root, access_chain } => {
            let (Some(columns), Expr::Nested(_)) = (row(root), root.as_ref()) else {
                return Ok(None);
            };
            let [ast::AccessExpr::Dot(Expr::Identifier(field))] = access_chain.as_slice() else {
                return Ok(None);
            };
            let field = fold_ident(field);
            let number = field.strip_prefix('f').and_then(|number| number.parse::<usize>().ok());
            let column = number.and_then(|number| columns.get(number.checked_sub(1)?));
            Some(column.cloned().ok_or_else(|| {
                let message = format!("could not identify column \"{field}\" in record data type");
                SqlError::new(code::UNDEFINED_COLUMN, message)
            })?)
        }
        _ => None,
    };
    Ok(spelled)
}

/// A row in GROUP BY groups by its columns, one in ROLLUP or CUBE by all of them or none.
pub(super) fn flatten_groups(group_by: &mut ast::GroupByExpr) -> SqlResult<()> {
    let ast::GroupByExpr::Expressions(exprs, _) = group_by else { return Ok(()) };
    let mut flat = Vec::new();
    for expr in std::mem::take(exprs) {
        match expr {
            Expr::Tuple(columns) => flat.extend(columns),
            Expr::Rollup(rows) if rows.iter().any(|row| row.len() != 1) => {
                let sets = (0..=rows.len()).rev().map(|length| rows[..length].concat());
                flat.push(Expr::GroupingSets(sets.collect()));
            }
            Expr::Cube(rows) if rows.iter().any(|row| row.len() != 1) => {
                flat.push(Expr::GroupingSets(cube(&rows)?));
            }
            other => flat.push(other),
        }
    }
    *exprs = flat;
    Ok(())
}

/// The sets of a CUBE: all that can be left out of it.
fn cube(rows: &[Vec<Expr>]) -> SqlResult<Vec<Vec<Expr>>> {
    const ROWS_MAX: usize = 12;
    if rows.len() > ROWS_MAX {
        let message = format!("CUBE is limited to {ROWS_MAX} elements");
        return Err(SqlError::new(code::TOO_MANY_COLUMNS, message));
    }
    let sets = (0..1_usize << rows.len()).rev().map(|set| {
        let rows = rows.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1);
        rows.flat_map(|(_, row)| row.iter().cloned()).collect()
    });
    Ok(sets.collect())
}

/// The columns of a relation's row: `named_row('a', t.a, 'b', t.b)`.
fn whole_row(expr: &Expr) -> Option<Vec<Expr>> {
    match expr {
        Expr::Nested(inner) => whole_row(inner),
        expr => Some(arguments(expr, NAMED_ROW)?.into_iter().skip(1).step_by(2).collect()),
    }
}

/// The columns of a row that is written out.
pub(super) fn row(expr: &Expr) -> Option<Vec<Expr>> {
    match expr {
        Expr::Tuple(columns) => Some(columns.clone()),
        Expr::Nested(inner) if matches!(inner.as_ref(), Expr::Function(_)) => row(inner),
        _ => arguments(expr, "row"),
    }
}

/// What a function of this name is called with, if `expr` is its call.
fn arguments(expr: &Expr, called: &str) -> Option<Vec<Expr>> {
    let Expr::Function(function) = expr else { return None };
    let [ast::ObjectNamePart::Identifier(name)] = function.name.0.as_slice() else { return None };
    let ast::FunctionArguments::List(list) = &function.args else { return None };
    if fold_ident(name) != called {
        return None;
    }
    let arguments = list.args.iter().map(|arg| match arg {
        ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(argument)) => Some(argument.clone()),
        _ => None,
    });
    arguments.collect()
}

fn compares(op: &BinaryOperator) -> bool {
    use BinaryOperator::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
    matches!(op, Eq | NotEq | Lt | LtEq | Gt | GtEq)
}

fn pairs(left: Vec<Expr>, right: Vec<Expr>) -> SqlResult<Vec<(Expr, Expr)>> {
    if left.len() != right.len() {
        let message = "unequal number of entries in row expressions";
        return Err(SqlError::new(code::SYNTAX_ERROR, message));
    }
    Ok(std::iter::zip(left, right).collect())
}

fn compared(left: Vec<Expr>, op: &BinaryOperator, right: Vec<Expr>) -> SqlResult<Expr> {
    let mut pairs = pairs(left, right)?;
    let every = |pairs: Vec<(Expr, Expr)>| {
        pairs.into_iter().map(|(left, right)| binary(left, op, right)).collect()
    };
    let strict = match op {
        BinaryOperator::Eq => return Ok(joined(every(pairs), &BinaryOperator::And)),
        BinaryOperator::NotEq => return Ok(joined(every(pairs), &BinaryOperator::Or)),
        BinaryOperator::Lt | BinaryOperator::LtEq => BinaryOperator::Lt,
        _ => BinaryOperator::Gt,
    };
    let Some((left, right)) = pairs.pop() else {
        return Err(SqlError::new(
            code::FEATURE_NOT_SUPPORTED,
            "cannot compare rows of zero length",
        ));
    };
    let last = binary(left, op, right);
    Ok(pairs.into_iter().rev().fold(last, |rest, (left, right)| {
        let before = binary(left.clone(), &strict, right.clone());
        let equal = binary(left, &BinaryOperator::Eq, right);
        let rest = nested(binary(equal, &BinaryOperator::And, rest));
        nested(binary(before, &BinaryOperator::Or, rest))
    }))
}

/// All of them with an operator between; halves of halves, so that many are not deep.
fn joined(mut exprs: Vec<Expr>, op: &BinaryOperator) -> Expr {
    if exprs.len() > 1 {
        let rest = exprs.split_off(exprs.len() / 2);
        return nested(binary(joined(exprs, op), op, joined(rest, op)));
    }
    exprs.pop().unwrap_or_else(|| Expr::value(ast::Value::Boolean(true)))
}

fn binary(left: Expr, op: &BinaryOperator, right: Expr) -> Expr {
    Expr::BinaryOp { left: Box::new(left), op: op.clone(), right: Box::new(right) }
}

fn not(expr: Expr) -> Expr {
    Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(nested(expr)) }
}

fn nested(expr: Expr) -> Expr {
    Expr::Nested(Box::new(expr))
}
