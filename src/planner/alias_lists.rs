//! Lists of column names after an alias, which may be shorter than the relation has columns:
//!
//! ```text
//! FROM t AS x (a)                  FROM t AS x (a, c, d)          t has b, c, d
//! WITH q (a) AS (SELECT 1, 2)      WITH q (a, "?column?") AS (SELECT 1, 2)
//! ```
//!
//! The rewriting is of syntax; the caller finds out which columns a relation has.

use sqlparser::ast;

use super::labels::{alone, label, surrounding};
use super::merge::ColumnsOf;
use crate::error::{SqlError, SqlResult, code};

/// Completes the list of a relation that stands below `withs`.
pub(super) fn complete(
    factor: &mut ast::TableFactor,
    withs: &[Option<ast::With>],
    columns_of: ColumnsOf<'_>,
) -> SqlResult<()> {
    let mut bare = factor.clone();
    let (Some(alias), Some(without)) = (alias_of(factor), alias_of(&mut bare)) else {
        return Ok(());
    };
    without.columns.clear();
    // What cannot be planned alone is what stands on others beside it, and is planned with them.
    if let Ok(names) = columns(alone(&bare, withs)?, columns_of) {
        extend(alias, names, "table")?;
    }
    Ok(())
}

/// Completes the list of a query in WITH, which stands below `withs`.
pub(super) fn complete_common(
    alias: &mut ast::TableAlias,
    mut query: ast::Query,
    withs: &[Option<ast::With>],
    columns_of: ColumnsOf<'_>,
) -> SqlResult<()> {
    if alias.columns.is_empty() {
        return Ok(());
    }
    query.with = surrounding(&[surrounding(withs), query.with.take()]);
    // The columns of a recursion are those of its first part.
    let recursive = query.with.as_ref().is_some_and(|with| with.recursive);
    if let (true, ast::SetExpr::SetOperation { left, .. }) = (recursive, query.body.as_ref()) {
        *query.body = left.as_ref().clone();
    }
    if let Ok(names) = columns(query, columns_of) {
        extend(alias, names, "WITH query")?;
    }
    Ok(())
}

/// The alias with columns of a relation whose columns have names without them.
fn alias_of(factor: &mut ast::TableFactor) -> Option<&mut ast::TableAlias> {
    match factor {
        ast::TableFactor::Table { alias: Some(alias), args: None, .. }
        | ast::TableFactor::Derived { alias: Some(alias), .. }
        | ast::TableFactor::NestedJoin { alias: Some(alias), .. } => {
            (!alias.columns.is_empty()).then_some(alias)
        }
        _ => None,
    }
}

fn columns(mut query: ast::Query, columns_of: ColumnsOf<'_>) -> SqlResult<Vec<String>> {
    label(&mut query, &|query| columns_of(query).ok());
    columns_of(query)
}

fn extend(alias: &mut ast::TableAlias, names: Vec<String>, what: &str) -> SqlResult<()> {
    let (given, has) = (alias.columns.len(), names.len());
    if given > has {
        let message = format!(
            "{what} \"{}\" has {has} columns available but {given} columns specified",
            alias.name.value
        );
        return Err(SqlError::new(code::INVALID_COLUMN_REFERENCE, message));
    }
    let rest = names.into_iter().skip(given);
    alias.columns.extend(rest.map(|name| ast::TableAliasColumnDef {
        name: ast::Ident::with_quote('"', name),
        data_type: None,
    }));
    Ok(())
}
