//! `SELECT ... FOR UPDATE` and its kin, and `LOCK TABLE`: which tables they lock.

use std::collections::BTreeSet;
use std::sync::Arc;

use sqlparser::ast::{self, LockTableMode, LockType, NonBlock, SetExpr, TableFactor};

use super::super::statement::{LockTable, StatementKind};
use super::super::syntax::{LockWait, Name, RowLock};
use super::dml::convert_name;
use super::front::{Front, fold_ident};
use crate::error::{SqlError, SqlResult, code};

/// A table in FROM, as the query calls it.
struct Member {
    called: String,
    name: Name,
}

/// What the clauses that were taken off `query` lock.
pub(super) fn row_locks(
    front: &Front<'_>,
    query: &ast::Query,
    clauses: Vec<ast::LockClause>,
) -> SqlResult<Arc<[RowLock]>> {
    let mut locks = Vec::new();
    for clause in clauses {
        let strength = match clause.lock_type {
            LockType::Update => "FOR UPDATE",
            LockType::Share => "FOR SHARE",
        };
        let select = lockable(query, strength)?;
        let mut members = Vec::new();
        collect(front, &select.from, &names_of_with(query), &mut members)?;
        if let Some(of) = &clause.of {
            let called = convert_name(front, of)?;
            members.retain(|member| member.called == called.name);
            if members.is_empty() {
                let message = format!(
                    "relation \"{}\" in {strength} clause not found in FROM clause",
                    called.name
                );
                return Err(SqlError::new(code::UNDEFINED_TABLE, message).position(called.position));
            }
        }
        let wait = match clause.nonblock {
            None => LockWait::Wait,
            Some(NonBlock::Nowait) => LockWait::Refuse,
            Some(NonBlock::SkipLocked) => LockWait::Skip,
        };
        locks.extend(members.into_iter().map(|member| RowLock { table: member.name, wait }));
    }
    Ok(locks.into())
}

/// The SELECT whose rows are those of its tables.
fn lockable<'a>(query: &'a ast::Query, strength: &str) -> SqlResult<&'a ast::Select> {
    let refuse = |why: &str| {
        let message = format!("{strength} {why}");
        Err(SqlError::new(code::FEATURE_NOT_SUPPORTED, message))
    };
    let select = match &*query.body {
        SetExpr::Select(select) => select,
        SetExpr::Query(inner) => return lockable(inner, strength),
        SetExpr::Values(_) => return refuse("cannot be applied to VALUES"),
        _ => return refuse("is not allowed with UNION/INTERSECT/EXCEPT"),
    };
    if select.distinct.is_some() {
        return refuse("is not allowed with DISTINCT clause");
    }
    let grouped = match &select.group_by {
        ast::GroupByExpr::All(_) => true,
        ast::GroupByExpr::Expressions(keys, modifiers) => !keys.is_empty() || !modifiers.is_empty(),
    };
    if grouped {
        return refuse("is not allowed with GROUP BY clause");
    }
    if select.having.is_some() {
        return refuse("is not allowed with HAVING clause");
    }
    Ok(select)
}

fn names_of_with(query: &ast::Query) -> BTreeSet<String> {
    let tables = query.with.iter().flat_map(|with| &with.cte_tables);
    tables.map(|table| fold_ident(&table.alias.name)).collect()
}

/// The tables of a FROM, those of subqueries too. What WITH defines is not locked.
fn collect(
    front: &Front<'_>,
    from: &[ast::TableWithJoins],
    defined: &BTreeSet<String>,
    members: &mut Vec<Member>,
) -> SqlResult<()> {
    for table in from {
        let joined = table.joins.iter().map(|join| &join.relation);
        for factor in std::iter::once(&table.relation).chain(joined) {
            match factor {
                TableFactor::Table { name, alias, args: None, .. } => {
                    let name = convert_name(front, name)?;
                    if name.schema.is_none() && defined.contains(&name.name) {
                        continue;
                    }
                    let called = alias.as_ref().map_or(name.name.clone(), |a| fold_ident(&a.name));
                    members.push(Member { called, name });
                }
                TableFactor::Derived { subquery, alias, .. } => {
                    let SetExpr::Select(select) = &*subquery.body else { continue };
                    let first = members.len();
                    let mut defined = defined.clone();
                    defined.extend(names_of_with(subquery));
                    collect(front, &select.from, &defined, members)?;
                    if let Some(alias) = alias {
                        let inner = members.iter_mut().skip(first);
                        inner.for_each(|member| member.called = fold_ident(&alias.name));
                    }
                }
                TableFactor::NestedJoin { table_with_joins, .. } => {
                    let inner = std::slice::from_ref(&**table_with_joins);
                    collect(front, inner, defined, members)?;
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// `LOCK [TABLE] name [, ...] [IN mode MODE] [NOWAIT]`.
pub(super) fn lock_table(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    let lock = front.sql(|parser| parser.parse_lock_statement())?;
    let tables = lock.tables.iter().map(|target| convert_name(front, &target.name));
    Ok(StatementKind::LockTable(LockTable {
        tables: tables.collect::<SqlResult<_>>()?,
        excludes_writers: !matches!(
            lock.lock_mode,
            Some(
                LockTableMode::AccessShare | LockTableMode::RowShare | LockTableMode::RowExclusive
            )
        ),
        wait: if lock.nowait { LockWait::Refuse } else { LockWait::Wait },
    }))
}
