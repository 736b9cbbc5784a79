//! Queries, INSERT, UPDATE, DELETE, TRUNCATE: sqlparser's trees as decided facts.

use std::ops::ControlFlow;
use std::sync::Arc;

use sqlparser::ast::{self, Spanned, Visit, Visitor};
use sqlparser::tokenizer::Token;

use super::super::row_syntax::row;
use super::super::statement::{
    Assignment, ColumnRef, ConflictAction, ConflictTarget, Delete, Insert, OnConflict, Overriding,
    StatementKind, Truncate, Update,
};
use super::super::subquery_syntax::columns_of_subquery;
use super::super::syntax::{From, Name, Query, Selection, With};
use super::front::{Front, fold_ident};
use super::locking::row_locks;
use crate::error::{SqlError, SqlResult, code};

/// A query, or `WITH ...` before INSERT, UPDATE or DELETE.
pub(super) fn query(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    let start = front.mark();
    let mut tree = *front.sql(|parser| parser.parse_query())?;
    if matches!(
        *tree.body,
        ast::SetExpr::Insert(_) | ast::SetExpr::Update(_) | ast::SetExpr::Delete(_)
    ) {
        refuse_hidden_writes_in(tree.with.as_ref())?;
    }
    let with = tree.with.clone().map(|with| With { tree: Arc::new(with) });
    match *tree.body {
        ast::SetExpr::Insert(ast::Statement::Insert(mut insert)) => {
            let source = insert.source.as_mut().ok_or_else(|| front.syntax_error())?;
            if source.with.is_some() {
                return Err(SqlError::unsupported("WITH before and inside INSERT"));
            }
            source.with = tree.with.take();
            convert_insert(front, insert, with)
        }
        ast::SetExpr::Update(ast::Statement::Update(update)) => convert_update(front, update, with),
        ast::SetExpr::Delete(ast::Statement::Delete(delete)) => convert_delete(front, delete, with),
        _ => {
            let clauses = std::mem::take(&mut tree.locks);
            refuse_hidden_writes(&tree)?;
            let text = front.text_since(start);
            let locks = row_locks(front, &tree, clauses)?;
            Ok(StatementKind::Query(Query {
                tree: Arc::new(tree),
                source: Arc::clone(front.source()),
                text,
                locks,
            }))
        }
    }
}

/// Refuses queries that would write, or lock rows where nobody takes the locks.
pub(super) fn refuse_hidden_writes(query: &ast::Query) -> SqlResult<()> {
    struct Writes;
    impl Visitor for Writes {
        type Break = &'static str;

        fn pre_visit_query(&mut self, query: &ast::Query) -> ControlFlow<&'static str> {
            match *query.body {
                ast::SetExpr::Insert(_)
                | ast::SetExpr::Update(_)
                | ast::SetExpr::Delete(_)
                | ast::SetExpr::Merge(_) => {
                    ControlFlow::Break("a data-modifying statement in a query")
                }
                _ if !query.locks.is_empty() => {
                    ControlFlow::Break("SELECT FOR UPDATE or SHARE inside a statement")
                }
                _ => ControlFlow::Continue(()),
            }
        }

        fn pre_visit_select(&mut self, select: &ast::Select) -> ControlFlow<&'static str> {
            match select.into {
                Some(_) => ControlFlow::Break("SELECT INTO"),
                None => ControlFlow::Continue(()),
            }
        }
    }
    match query.visit(&mut Writes) {
        ControlFlow::Break(what) => Err(SqlError::unsupported(what)),
        ControlFlow::Continue(()) => Ok(()),
    }
}

fn refuse_hidden_writes_in(with: Option<&ast::With>) -> SqlResult<()> {
    let mut queries = with.into_iter().flat_map(|with| &with.cte_tables);
    queries.try_for_each(|table| refuse_hidden_writes(&table.query))
}

pub(super) fn insert(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    if let Some((place, overriding)) = overriding(front)? {
        return front.without(place..place + 3, |front| match insert(front)? {
            StatementKind::Insert(mut insert) => {
                insert.overriding = Some(overriding);
                Ok(StatementKind::Insert(insert))
            }
            _ => Err(front.syntax_error()),
        });
    }
    match front.sql(|parser| parser.parse_statement())? {
        ast::Statement::Insert(insert) => convert_insert(front, insert, None),
        _ => Err(front.syntax_error()),
    }
}

/// Where `OVERRIDING { SYSTEM | USER } VALUE` stands, which sqlparser does not know: before what
/// gives the rows.
fn overriding(front: &Front<'_>) -> SqlResult<Option<(usize, Overriding)>> {
    const ROWS: [&str; 5] = ["values", "select", "default", "with", "table"];
    let mut depth = 0usize;
    for ahead in 1.. {
        match front.peek(ahead) {
            Token::EOF => return Ok(None),
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            _ if ROWS.iter().any(|word| front.is(ahead, word)) => return Ok(None),
            _ if front.is(ahead, "overriding") && front.is(ahead + 2, "value") => {
                for (word, which) in [("system", Overriding::System), ("user", Overriding::User)] {
                    if front.is(ahead + 1, word) {
                        return Ok(Some((ahead, which)));
                    }
                }
            }
            _ => {}
        }
    }
    Ok(None)
}

fn convert_insert(
    front: &Front<'_>,
    insert: ast::Insert,
    with: Option<With>,
) -> SqlResult<StatementKind> {
    let foreign = insert.or.is_some()
        || insert.overwrite
        || insert.has_table_keyword
        || !insert.into
        || insert.partitioned.is_some()
        || insert.output.is_some()
        || !insert.assignments.is_empty();
    let ast::TableObject::TableName(table) = &insert.table else {
        return Err(front.syntax_error());
    };
    if foreign {
        return Err(SqlError::new(code::SYNTAX_ERROR, "syntax error in INSERT"));
    }
    let source = match insert.source {
        Some(tree) => {
            refuse_hidden_writes(&tree)?;
            Some(front.wrap_query(*tree))
        }
        None => None,
    };
    let on_conflict = match insert.on {
        None => None,
        Some(ast::OnInsert::OnConflict(on)) => Some(convert_conflict(front, on)?),
        Some(_) => return Err(SqlError::unsupported("ON DUPLICATE KEY UPDATE")),
    };
    Ok(StatementKind::Insert(Box::new(Insert {
        with,
        table: convert_name(front, table)?,
        alias: insert.table_alias.map(|alias| fold_ident(&alias.alias)),
        columns: insert
            .columns
            .iter()
            .map(|column| convert_column(front, column))
            .collect::<SqlResult<_>>()?,
        overriding: None,
        source,
        on_conflict,
        returning: insert.returning.map(|items| selection(front, items)),
    })))
}

fn convert_conflict(front: &Front<'_>, on: ast::OnConflict) -> SqlResult<OnConflict> {
    let target = match on.conflict_target {
        None => None,
        Some(ast::ConflictTarget::Columns(columns)) => Some(ConflictTarget::Columns(
            columns.iter().map(|column| convert_ident(front, column)).collect(),
        )),
        Some(ast::ConflictTarget::OnConstraint(name)) => {
            Some(ConflictTarget::Constraint(convert_name(front, &name)?.name))
        }
    };
    let action = match on.action {
        ast::OnConflictAction::DoNothing => ConflictAction::Nothing,
        ast::OnConflictAction::DoUpdate(update) => {
            if target.is_none() {
                let message =
                    "ON CONFLICT DO UPDATE requires inference specification or constraint name";
                return Err(SqlError::new(code::SYNTAX_ERROR, message)
                    .hint("For example, ON CONFLICT (column_name)."));
            }
            ConflictAction::Update {
                assignments: assignments(front, update.assignments)?,
                condition: update.selection.map(|tree| front.wrap_expression(tree)),
            }
        }
    };
    Ok(OnConflict { target, action })
}

pub(super) fn update(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    match front.sql(|parser| parser.parse_statement())? {
        ast::Statement::Update(update) => convert_update(front, update, None),
        _ => Err(front.syntax_error()),
    }
}

fn convert_update(
    front: &Front<'_>,
    update: ast::Update,
    with: Option<With>,
) -> SqlResult<StatementKind> {
    if update.limit.is_some() || !update.order_by.is_empty() || update.output.is_some() {
        return Err(SqlError::new(code::SYNTAX_ERROR, "syntax error in UPDATE"));
    }
    let (table, alias) = convert_target(front, update.table)?;
    let from = match update.from {
        None => None,
        Some(ast::UpdateTableFromKind::AfterSet(tables)) => Some(From { tree: Arc::new(tables) }),
        Some(ast::UpdateTableFromKind::BeforeSet(_)) => {
            return Err(SqlError::new(code::SYNTAX_ERROR, "syntax error in UPDATE"));
        }
    };
    Ok(StatementKind::Update(Box::new(Update {
        with,
        table,
        alias,
        assignments: assignments(front, update.assignments)?,
        from,
        condition: update.selection.map(|tree| front.wrap_expression(tree)),
        returning: update.returning.map(|items| selection(front, items)),
    })))
}

pub(super) fn delete(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    match front.sql(|parser| parser.parse_statement())? {
        ast::Statement::Delete(delete) => convert_delete(front, delete, None),
        _ => Err(front.syntax_error()),
    }
}

fn convert_delete(
    front: &Front<'_>,
    delete: ast::Delete,
    with: Option<With>,
) -> SqlResult<StatementKind> {
    let foreign = delete.limit.is_some()
        || !delete.order_by.is_empty()
        || delete.output.is_some()
        || !delete.tables.is_empty();
    let ast::FromTable::WithFromKeyword(mut tables) = delete.from else {
        return Err(front.syntax_error());
    };
    let target = match tables.pop() {
        Some(target) if tables.is_empty() && !foreign => target,
        _ => return Err(SqlError::new(code::SYNTAX_ERROR, "syntax error in DELETE")),
    };
    let (table, alias) = convert_target(front, target)?;
    Ok(StatementKind::Delete(Box::new(Delete {
        with,
        table,
        alias,
        using: delete.using.map(|tables| From { tree: Arc::new(tables) }),
        condition: delete.selection.map(|tree| front.wrap_expression(tree)),
        returning: delete.returning.map(|items| selection(front, items)),
    })))
}

/// `TRUNCATE [TABLE] [ONLY] a, b [RESTART | CONTINUE IDENTITY] [CASCADE | RESTRICT]`.
pub(super) fn truncate(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    front.expect(&["truncate"])?;
    front.eat(&["table"]);
    let tables = front.list(|front| {
        front.eat(&["only"]);
        front.name()
    })?;
    let restart_identity = front.eat(&["restart", "identity"]);
    if !restart_identity {
        front.eat(&["continue", "identity"]);
    }
    let cascade = front.eat(&["cascade"]);
    if !cascade {
        front.eat(&["restrict"]);
    }
    Ok(StatementKind::Truncate(Truncate { tables, restart_identity, cascade }))
}

/// The table that UPDATE and DELETE write, and its alias.
fn convert_target(
    front: &Front<'_>,
    target: ast::TableWithJoins,
) -> SqlResult<(Name, Option<String>)> {
    match target.relation {
        ast::TableFactor::Table { name, alias, args: None, .. } if target.joins.is_empty() => {
            let alias = alias.map(|alias| fold_ident(&alias.name));
            Ok((convert_name(front, &name)?, alias))
        }
        _ => Err(SqlError::new(code::SYNTAX_ERROR, "syntax error in the statement's target")),
    }
}

fn assignments(front: &Front<'_>, assignments: Vec<ast::Assignment>) -> SqlResult<Vec<Assignment>> {
    let mut converted = Vec::with_capacity(assignments.len());
    for assignment in assignments {
        match assignment.target {
            ast::AssignmentTarget::ColumnName(column) => {
                let column = convert_column(front, &column)?;
                converted.push(assign(front, column, assignment.value));
            }
            ast::AssignmentTarget::Tuple(columns) => {
                let values = tuple(assignment.value, columns.len())?;
                if values.len() != columns.len() {
                    let message = "number of columns does not match number of values";
                    return Err(SqlError::new(code::SYNTAX_ERROR, message));
                }
                for (column, value) in columns.iter().zip(values) {
                    converted.push(assign(front, convert_column(front, column)?, value));
                }
            }
        }
    }
    for (index, assignment) in converted.iter().enumerate() {
        let name = &assignment.column.name;
        if converted[..index].iter().any(|earlier| earlier.column.name == *name) {
            let message = format!("multiple assignments to same column \"{name}\"");
            return Err(
                SqlError::new(code::SYNTAX_ERROR, message).position(assignment.column.position)
            );
        }
    }
    Ok(converted)
}

/// The values of `(a, b) = (1, 2)`, `(a, b) = ROW (1, 2)` or `(a, b) = (SELECT ...)`.
fn tuple(value: ast::Expr, width: usize) -> SqlResult<Vec<ast::Expr>> {
    match value {
        ast::Expr::Subquery(query) => columns_of_subquery(&query, width),
        ast::Expr::Nested(value) if !matches!(*value, ast::Expr::Function(_)) => Ok(vec![*value]),
        value => row(&value).ok_or_else(|| {
            let message = "source for a multiple-column UPDATE item must be a sub-SELECT or ROW() \
                           expression";
            SqlError::new(code::FEATURE_NOT_SUPPORTED, message)
        }),
    }
}

fn assign(front: &Front<'_>, column: ColumnRef, value: ast::Expr) -> Assignment {
    let value = (!is_default(&value)).then(|| front.wrap_expression(value));
    Assignment { column, value }
}

/// Whether an expression is the word DEFAULT.
pub(in crate::planner) fn is_default(value: &ast::Expr) -> bool {
    matches!(value, ast::Expr::Identifier(ident)
        if ident.quote_style.is_none() && ident.value.eq_ignore_ascii_case("default"))
}

fn selection(front: &Front<'_>, items: Vec<ast::SelectItem>) -> Selection {
    Selection { tree: Arc::new(items), source: Arc::clone(front.source()) }
}

pub(super) fn convert_name(front: &Front<'_>, name: &ast::ObjectName) -> SqlResult<Name> {
    let parts = name.0.iter().filter_map(|part| part.as_ident()).map(fold_ident).collect();
    front.name_of(parts, front.source().position(name.span()).unwrap_or(1))
}

fn convert_ident(front: &Front<'_>, ident: &ast::Ident) -> ColumnRef {
    let position = front.source().position(ident.span).unwrap_or(1);
    ColumnRef { name: fold_ident(ident), position }
}

/// A target column: never qualified, as PostgreSQL has it.
fn convert_column(front: &Front<'_>, column: &ast::ObjectName) -> SqlResult<ColumnRef> {
    match column.0.as_slice() {
        [part] => part
            .as_ident()
            .map(|ident| convert_ident(front, ident))
            .ok_or_else(|| front.syntax_error()),
        _ => Err(SqlError::unsupported(format!("assigning to {column}"))
            .hint("Name the column without its table.")),
    }
}
