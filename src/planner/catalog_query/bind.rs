//! From syntax to a bound query: FROM, SELECT, set operations, WITH.
//!
//! What this evaluator does not know is not an error but [`BindError::NotHere`]: the statement goes
//! to DataFusion, which may.

use std::cell::RefCell;

use sqlparser::ast;

use crate::catalog::catalog::{INFORMATION_SCHEMA, PG_CATALOG};
use crate::catalog::pg::{self, PgContext, Relation};
use crate::error::{SqlError, code};
use crate::types::SqlType;

use super::expression::{self, folded};
use super::output_name::output_name;
use super::reorder::reorder;
use super::scope::Scope;
use super::series::Series;
use super::tree::{
    Body, Condition, Cte, CteQuery, Distinct, From, JoinKind, Node, Order, OutputColumn, Query,
    Recursion, Select, SetOperator, Source, SourceKind, Steps, Typed, bit,
};

/// Why a query is not bound.
#[derive(Debug)]
pub(super) enum BindError {
    /// It is not one for this evaluator.
    NotHere,
    /// It is wrong.
    Sql(SqlError),
}

impl std::convert::From<SqlError> for BindError {
    fn from(error: SqlError) -> Self {
        BindError::Sql(error)
    }
}

pub(super) type Bound<T> = Result<T, BindError>;

/// A select may have so many sources: a condition's are a bit set.
const SOURCES_MAX: usize = 64;

/// Binds one statement.
pub(super) struct Binder<'a> {
    pub(super) context: &'a PgContext,
    /// What is known of the parameters' types.
    pub(super) parameters: RefCell<Vec<Option<SqlType>>>,
    /// The queries of WITH in sight, innermost last.
    ctes: RefCell<Vec<VisibleCte>>,
    next_cte: RefCell<usize>,
}

#[derive(Clone)]
struct VisibleCte {
    name: String,
    id: usize,
    columns: Vec<OutputColumn>,
}

/// A select in the making: its names, and what it computes before its outputs.
pub(super) struct Context<'a> {
    pub(super) scope: &'a Scope<'a>,
    /// `None` where there can be no aggregates and no sets: in WHERE, in ON.
    pub(super) steps: Option<&'a RefCell<Steps>>,
}

/// The system relation that a name means.
pub(super) fn relation(context: &PgContext, name: &ast::ObjectName) -> Option<&'static Relation> {
    let parts = name_parts(name)?;
    let path = &context.session.search_path;
    match parts.as_slice() {
        [name] => pg::resolve(path, None, name),
        [schema, name] => pg::resolve(path, Some(schema), name),
        [database, schema, name] if *database == context.session.database => {
            pg::resolve(path, Some(schema), name)
        }
        _ => None,
    }
}

/// The parts of a name, folded.
pub(super) fn name_parts(name: &ast::ObjectName) -> Option<Vec<String>> {
    name.0
        .iter()
        .map(|part| match part {
            ast::ObjectNamePart::Identifier(identifier) => Some(folded(identifier)),
            ast::ObjectNamePart::Function(_) => None,
        })
        .collect()
}

/// A function's name without `pg_catalog` or `information_schema` before it.
pub(super) fn function_name(name: &ast::ObjectName) -> Option<String> {
    match name_parts(name)?.as_slice() {
        [name] => Some(name.clone()),
        [schema, name] if schema == PG_CATALOG || schema == INFORMATION_SCHEMA => {
            Some(name.clone())
        }
        _ => None,
    }
}

impl<'a> Binder<'a> {
    pub(super) fn new(context: &'a PgContext, parameters: Vec<Option<SqlType>>) -> Self {
        Self {
            context,
            parameters: RefCell::new(parameters),
            ctes: RefCell::default(),
            next_cte: RefCell::default(),
        }
    }

    pub(super) fn query(&self, query: &ast::Query, outer: Option<&Scope<'_>>) -> Bound<Query> {
        let ast::Query { with, body, order_by, limit_clause, fetch, locks: _, .. } = query;
        if query.for_clause.is_some() || !query.pipe_operators.is_empty() {
            return Err(BindError::NotHere);
        }
        let visible = self.ctes.borrow().len();
        let ctes = match with {
            Some(with) => self.with(with, outer)?,
            None => Vec::new(),
        };
        let order_by = match order_by.as_ref().map(|order| &order.kind) {
            None => &[][..],
            Some(ast::OrderByKind::Expressions(expressions)) => expressions,
            Some(ast::OrderByKind::All(_)) => return Err(BindError::NotHere),
        };
        let (body, columns, order) = self.body(body, order_by, outer)?;
        self.ctes.borrow_mut().truncate(visible);
        let nothing = Scope::inside(outer);
        let bare = Context { scope: &nothing, steps: None };
        let (limit, offset) = match limit_clause {
            None => (None, None),
            Some(ast::LimitClause::LimitOffset { limit, offset, limit_by })
                if limit_by.is_empty() =>
            {
                (limit.as_ref(), offset.as_ref().map(|offset| &offset.value))
            }
            Some(_) => return Err(BindError::NotHere),
        };
        let limit = limit.or(fetch.as_ref().and_then(|fetch| fetch.quantity.as_ref()));
        let count = |expression: Option<&ast::Expr>| {
            expression
                .map(|one| expression::bind_as(self, &bare, one, &SqlType::BigInt))
                .transpose()
        };
        let (limit, offset) = (count(limit)?, count(offset)?);
        Ok(Query { with: ctes, body, order, limit, offset, lateral: false, columns })
    }

    fn with(&self, with: &ast::With, outer: Option<&Scope<'_>>) -> Bound<Vec<Cte>> {
        let mut ctes = Vec::new();
        for cte in &with.cte_tables {
            let name = folded(&cte.alias.name);
            let id = *self.next_cte.borrow();
            *self.next_cte.borrow_mut() += 1;
            let recursive = with.recursive.then(|| recursive_parts(&cte.query, &name)).flatten();
            let (query, mut columns) = match recursive {
                Some((start, step, all)) => {
                    let start = self.set_operand(start, outer)?;
                    let mut columns = start.columns.clone();
                    rename(&mut columns, &cte.alias.columns);
                    self.ctes.borrow_mut().push(VisibleCte {
                        name: name.clone(),
                        id,
                        columns: columns.clone(),
                    });
                    let step = self.set_operand(step, outer)?;
                    self.ctes.borrow_mut().pop();
                    let recursion = Recursion { start, step, all };
                    (CteQuery::Recursive(Box::new(recursion)), columns)
                }
                None => {
                    let query = self.query(&cte.query, outer)?;
                    let columns = query.columns.clone();
                    (CteQuery::Plain(Box::new(query)), columns)
                }
            };
            rename(&mut columns, &cte.alias.columns);
            self.ctes.borrow_mut().push(VisibleCte { name, id, columns });
            ctes.push(Cte { id, query });
        }
        Ok(ctes)
    }

    fn set_operand(&self, body: &ast::SetExpr, outer: Option<&Scope<'_>>) -> Bound<Query> {
        let (body, columns, order) = self.body(body, &[], outer)?;
        Ok(Query {
            with: Vec::new(),
            body,
            order,
            limit: None,
            offset: None,
            lateral: false,
            columns,
        })
    }

    fn body(
        &self,
        body: &ast::SetExpr,
        order_by: &[ast::OrderByExpr],
        outer: Option<&Scope<'_>>,
    ) -> Bound<(Body, Vec<OutputColumn>, Vec<Order>)> {
        let (body, columns) = match body {
            ast::SetExpr::Select(select) => return self.select(select, order_by, outer),
            ast::SetExpr::Query(query) => {
                let query = self.query(query, outer)?;
                let columns = query.columns.clone();
                (Body::Nested(Box::new(query)), columns)
            }
            ast::SetExpr::SetOperation { left, op, set_quantifier, right } => {
                self.set_operation(left, *op, *set_quantifier, right, outer)?
            }
            ast::SetExpr::Values(values) => self.values(values, outer)?,
            _ => return Err(BindError::NotHere),
        };
        let order = order_by
            .iter()
            .map(|key| {
                let output = output_of(&key.expr, &columns).ok_or(BindError::NotHere)?;
                Ok(order(output, &key.options))
            })
            .collect::<Bound<Vec<_>>>()?;
        Ok((body, columns, order))
    }

    fn set_operation(
        &self,
        left: &ast::SetExpr,
        operator: ast::SetOperator,
        quantifier: ast::SetQuantifier,
        right: &ast::SetExpr,
        outer: Option<&Scope<'_>>,
    ) -> Bound<(Body, Vec<OutputColumn>)> {
        let all = match quantifier {
            ast::SetQuantifier::All => true,
            ast::SetQuantifier::Distinct | ast::SetQuantifier::None => false,
            _ => return Err(BindError::NotHere),
        };
        let operator = match operator {
            ast::SetOperator::Union => SetOperator::Union,
            ast::SetOperator::Except => SetOperator::Except,
            ast::SetOperator::Intersect => SetOperator::Intersect,
            ast::SetOperator::Minus => return Err(BindError::NotHere),
        };
        let (left, right) = (self.set_operand(left, outer)?, self.set_operand(right, outer)?);
        if left.columns.len() != right.columns.len() {
            let message = "each UNION query must have the same number of columns";
            return Err(SqlError::new(code::SYNTAX_ERROR, message).into());
        }
        let mut columns = left.columns.clone();
        for (column, other) in columns.iter_mut().zip(&right.columns) {
            column.sql_type = expression::common(&column.sql_type, &other.sql_type);
        }
        Ok((Body::Set { operator, all, left: Box::new(left), right: Box::new(right) }, columns))
    }

    fn values(
        &self,
        values: &ast::Values,
        outer: Option<&Scope<'_>>,
    ) -> Bound<(Body, Vec<OutputColumn>)> {
        let nothing = Scope::inside(outer);
        let context = Context { scope: &nothing, steps: None };
        let mut rows = Vec::new();
        let mut columns: Vec<OutputColumn> = Vec::new();
        for row in &values.rows {
            let row = expression::bind_all(self, &context, &row.content)?;
            for (position, value) in row.iter().enumerate() {
                match columns.get_mut(position) {
                    Some(column) => {
                        column.sql_type = expression::common(&column.sql_type, &value.sql_type);
                    }
                    None => columns.push(OutputColumn {
                        name: format!("column{}", position + 1),
                        sql_type: value.sql_type.clone(),
                    }),
                }
            }
            rows.push(row);
        }
        if rows.iter().any(|row| row.len() != columns.len()) {
            let message = "VALUES lists must all be the same length";
            return Err(SqlError::new(code::SYNTAX_ERROR, message).into());
        }
        Ok((Body::Values(rows), columns))
    }

    fn select(
        &self,
        select: &ast::Select,
        order_by: &[ast::OrderByExpr],
        outer: Option<&Scope<'_>>,
    ) -> Bound<(Body, Vec<OutputColumn>, Vec<Order>)> {
        if select.into.is_some()
            || select.qualify.is_some()
            || !select.named_window.is_empty()
            || !select.lateral_views.is_empty()
        {
            return Err(BindError::NotHere);
        }
        let mut scope = Scope::inside(outer);
        let from = self.from(&select.from, &mut scope)?;
        let plain = Context { scope: &scope, steps: None };
        let filter = match &select.selection {
            Some(selection) => self.conditions(&plain, selection)?,
            None => Vec::new(),
        };
        let steps = RefCell::new(Steps::default());
        let context = Context { scope: &scope, steps: Some(&steps) };
        let (mut outputs, columns) = self.outputs(&context, &select.projection)?;
        let group = match &select.group_by {
            ast::GroupByExpr::Expressions(expressions, modifiers) if modifiers.is_empty() => {
                self.group(&plain, expressions, select, &columns)?
            }
            _ => return Err(BindError::NotHere),
        };
        let having = select.having.as_ref();
        let having = having.map(|one| expression::bind(self, &context, one)).transpose()?;
        let mut order_keys = Vec::new();
        for key in order_by {
            let output = match output_of(&key.expr, &columns) {
                Some(output) => output,
                None => {
                    outputs.push(expression::bind(self, &context, &key.expr)?);
                    outputs.len() - 1
                }
            };
            order_keys.push(order(output, &key.options));
        }
        let distinct = match &select.distinct {
            None | Some(ast::Distinct::All) => Distinct::No,
            Some(ast::Distinct::Distinct) => Distinct::Yes,
            Some(ast::Distinct::On(expressions)) => {
                let mut on = Vec::new();
                for expression in expressions {
                    outputs.push(expression::bind(self, &context, expression)?);
                    on.push(outputs.len() - 1);
                }
                Distinct::On(on)
            }
        };
        let steps = steps.into_inner();
        let grouped = !group.is_empty() || !steps.aggregates.is_empty() || having.is_some();
        let sources = scope.sources;
        let mut select =
            Select { sources, from, filter, grouped, group, having, steps, outputs, distinct };
        let from = select.from.take();
        select.from = from.map(|from| reorder(from, &select.filter, &select));
        Ok((Body::Select(Box::new(select)), columns, order_keys))
    }

    /// GROUP BY expressions: an output's number or alias stands for its expression.
    fn group(
        &self,
        context: &Context<'_>,
        expressions: &[ast::Expr],
        select: &ast::Select,
        columns: &[OutputColumn],
    ) -> Bound<Vec<Typed>> {
        let bind = |expression: &ast::Expr| {
            if let Ok(bound) = expression::bind(self, context, expression)
                && !matches!(bound.node, Node::Constant(_))
            {
                return Ok(bound);
            }
            let output = output_of(expression, columns).ok_or(BindError::NotHere)?;
            match select.projection.get(output) {
                Some(
                    ast::SelectItem::UnnamedExpr(expr)
                    | ast::SelectItem::ExprWithAlias { expr, .. },
                ) => expression::bind(self, context, expr),
                _ => Err(BindError::NotHere),
            }
        };
        expressions.iter().map(bind).collect()
    }

    fn outputs(
        &self,
        context: &Context<'_>,
        items: &[ast::SelectItem],
    ) -> Bound<(Vec<Typed>, Vec<OutputColumn>)> {
        let mut outputs = Vec::new();
        let mut columns = Vec::new();
        for item in items {
            match item {
                ast::SelectItem::UnnamedExpr(expr) => {
                    let bound = expression::bind(self, context, expr)?;
                    columns.push(column(output_name(expr), &bound));
                    outputs.push(bound);
                }
                ast::SelectItem::ExprWithAlias { expr, alias } => {
                    let bound = expression::bind(self, context, expr)?;
                    columns.push(column(folded(alias), &bound));
                    outputs.push(bound);
                }
                ast::SelectItem::Wildcard(_) => {
                    all_columns(context.scope, None, &mut outputs, &mut columns)?;
                }
                ast::SelectItem::QualifiedWildcard(
                    ast::SelectItemQualifiedWildcardKind::ObjectName(name),
                    _,
                ) => {
                    let parts = name_parts(name).ok_or(BindError::NotHere)?;
                    let alias = parts.last().map(String::as_str);
                    all_columns(context.scope, alias, &mut outputs, &mut columns)?;
                }
                _ => return Err(BindError::NotHere),
            }
        }
        Ok((outputs, columns))
    }

    fn from(&self, items: &[ast::TableWithJoins], scope: &mut Scope<'_>) -> Bound<Option<From>> {
        let mut tree: Option<From> = None;
        for item in items {
            let right = self.joins(item, scope)?;
            tree = Some(match tree {
                None => right,
                Some(left) => From::Join {
                    left: Box::new(left),
                    right: Box::new(right),
                    kind: JoinKind::Inner,
                    on: Vec::new(),
                },
            });
        }
        Ok(tree)
    }

    fn joins(&self, item: &ast::TableWithJoins, scope: &mut Scope<'_>) -> Bound<From> {
        let mut tree = self.factor(&item.relation, scope)?;
        for join in &item.joins {
            use ast::JoinOperator as Op;
            let (kind, constraint) = match &join.join_operator {
                Op::Join(on) | Op::Inner(on) | Op::CrossJoin(on) => (JoinKind::Inner, on),
                Op::Left(on) | Op::LeftOuter(on) => (JoinKind::Left, on),
                Op::Right(on) | Op::RightOuter(on) => (JoinKind::Right, on),
                Op::FullOuter(on) => (JoinKind::Full, on),
                _ => return Err(BindError::NotHere),
            };
            let right = self.factor(&join.relation, scope)?;
            let on = match constraint {
                ast::JoinConstraint::None => Vec::new(),
                ast::JoinConstraint::On(condition) => {
                    self.conditions(&Context { scope, steps: None }, condition)?
                }
                ast::JoinConstraint::Using(columns) if kind != JoinKind::Full => {
                    let names = columns.iter().filter_map(name_parts).flatten().collect();
                    using(scope, &tree, &right, names)?
                }
                ast::JoinConstraint::Natural if kind != JoinKind::Full => {
                    let names = shared_names(scope, &tree, &right);
                    using(scope, &tree, &right, names)?
                }
                _ => return Err(BindError::NotHere),
            };
            tree = From::Join { left: Box::new(tree), right: Box::new(right), kind, on };
        }
        Ok(tree)
    }

    fn factor(&self, factor: &ast::TableFactor, scope: &mut Scope<'_>) -> Bound<From> {
        let (mut source, alias) = match factor {
            ast::TableFactor::Table { name, alias, args: None, .. } => {
                (self.named_source(name)?, alias)
            }
            ast::TableFactor::Table {
                name, alias, args: Some(arguments), with_ordinality, ..
            } => {
                let arguments = function_arguments(&arguments.args)?;
                (self.series_source(name, &arguments, *with_ordinality, scope)?, alias)
            }
            ast::TableFactor::Function { name, args, alias, with_ordinality, .. } => {
                let arguments = function_arguments(args)?;
                (self.series_source(name, &arguments, *with_ordinality, scope)?, alias)
            }
            ast::TableFactor::UNNEST { alias, array_exprs, with_ordinality, .. } => {
                let arguments: Vec<&ast::Expr> = array_exprs.iter().collect();
                let name = ast::ObjectName::from(vec![ast::Ident::new("unnest")]);
                (self.series_source(&name, &arguments, *with_ordinality, scope)?, alias)
            }
            ast::TableFactor::Derived { lateral, subquery, alias, .. } => {
                // Only a lateral one sees its neighbours; both see the selects around.
                let query = if *lateral {
                    let query = self.query(subquery, Some(scope))?;
                    Query { lateral: true, ..query }
                } else {
                    let blind = Scope::inside(scope.outer);
                    self.query(subquery, Some(&blind))?
                };
                let columns = query.columns.clone();
                let kind = SourceKind::Derived(Box::new(query));
                (
                    Source { alias: String::new(), schema: None, columns, merged: vec![], kind },
                    alias,
                )
            }
            ast::TableFactor::NestedJoin { table_with_joins, alias: None } => {
                return self.joins(table_with_joins, scope);
            }
            _ => return Err(BindError::NotHere),
        };
        if let Some(alias) = alias {
            let function = matches!(source.kind, SourceKind::Series { .. });
            source.alias = folded(&alias.name);
            source.schema = None;
            if function && alias.columns.is_empty() && source.columns.len() == 1 {
                source.columns[0].name.clone_from(&source.alias);
            }
            rename(&mut source.columns, &alias.columns);
        }
        if scope.sources.len() == SOURCES_MAX {
            return Err(BindError::NotHere);
        }
        scope.sources.push(source);
        Ok(From::Source(scope.sources.len() - 1))
    }

    fn named_source(&self, name: &ast::ObjectName) -> Bound<Source> {
        let parts = name_parts(name).ok_or(BindError::NotHere)?;
        if let [name] = parts.as_slice()
            && let Some(cte) = self.ctes.borrow().iter().rev().find(|cte| cte.name == *name)
        {
            return Ok(Source {
                alias: name.clone(),
                schema: None,
                columns: cte.columns.clone(),
                merged: Vec::new(),
                kind: SourceKind::Cte(cte.id),
            });
        }
        let relation = relation(self.context, name).ok_or(BindError::NotHere)?;
        let columns = relation.columns.iter().map(|column| OutputColumn {
            name: column.name.to_owned(),
            sql_type: column.sql_type.clone(),
        });
        Ok(Source {
            alias: relation.name.to_owned(),
            schema: Some(relation.schema),
            columns: columns.collect(),
            merged: Vec::new(),
            kind: SourceKind::Relation(relation),
        })
    }

    fn series_source(
        &self,
        name: &ast::ObjectName,
        arguments: &[&ast::Expr],
        ordinality: bool,
        scope: &Scope<'_>,
    ) -> Bound<Source> {
        let name = function_name(name).ok_or(BindError::NotHere)?;
        let series = Series::of_name(&name)
            .or_else(|| pg::function(&name, arguments.len()).map(Series::Single))
            .ok_or(BindError::NotHere)?;
        // A function sees the sources before it, LATERAL written or not.
        let context = Context { scope, steps: None };
        let arguments = arguments
            .iter()
            .map(|argument| expression::bind(self, &context, argument))
            .collect::<Bound<Vec<_>>>()?;
        let types: Vec<SqlType> = arguments.iter().map(|one| one.sql_type.clone()).collect();
        let mut columns = series.columns(&name, &types);
        if ordinality {
            columns.push(OutputColumn { name: "ordinality".into(), sql_type: SqlType::BigInt });
        }
        let kind = SourceKind::Series { series, arguments, ordinality };
        Ok(Source { alias: name, schema: None, columns, merged: Vec::new(), kind })
    }

    /// The conditions that AND joins.
    fn conditions(&self, context: &Context<'_>, expr: &ast::Expr) -> Bound<Vec<Condition>> {
        match expr {
            ast::Expr::BinaryOp { left, op: ast::BinaryOperator::And, right } => {
                let mut conditions = self.conditions(context, left)?;
                conditions.extend(self.conditions(context, right)?);
                Ok(conditions)
            }
            ast::Expr::Nested(inner) => self.conditions(context, inner),
            other => {
                let expression = expression::bind_as(self, context, other, &SqlType::Boolean)?;
                let sources = expression.node.sources();
                Ok(vec![Condition { expression, sources }])
            }
        }
    }
}

/// `start UNION [ALL] step`, if the step reads `name`.
fn recursive_parts<'q>(
    query: &'q ast::Query,
    name: &str,
) -> Option<(&'q ast::SetExpr, &'q ast::SetExpr, bool)> {
    let ast::SetExpr::SetOperation { left, op: ast::SetOperator::Union, set_quantifier, right } =
        &*query.body
    else {
        return None;
    };
    let mut reads = false;
    let _ = ast::visit_relations(&**right, |relation| {
        reads |= name_parts(relation).is_some_and(|parts| parts == [name]);
        std::ops::ControlFlow::<()>::Continue(())
    });
    reads.then_some((left, right, *set_quantifier == ast::SetQuantifier::All))
}

/// Gives columns the names that an alias lists.
fn rename(columns: &mut [OutputColumn], names: &[ast::TableAliasColumnDef]) {
    for (column, name) in columns.iter_mut().zip(names) {
        column.name = folded(&name.name);
    }
}

fn column(name: String, bound: &Typed) -> OutputColumn {
    OutputColumn { name, sql_type: bound.sql_type.clone() }
}

/// The output that an ORDER BY key names, by number or by name.
fn output_of(expr: &ast::Expr, columns: &[OutputColumn]) -> Option<usize> {
    match expr {
        ast::Expr::Value(value) => match &value.value {
            ast::Value::Number(number, _) => {
                let number: usize = number.parse().ok()?;
                (1..=columns.len()).contains(&number).then(|| number - 1)
            }
            _ => None,
        },
        ast::Expr::Identifier(identifier) => {
            let name = folded(identifier);
            columns.iter().position(|column| column.name == name)
        }
        _ => None,
    }
}

fn order(output: usize, options: &ast::OrderByOptions) -> Order {
    let descending = options.asc == Some(false);
    Order { output, descending, nulls_first: options.nulls_first.unwrap_or(descending) }
}

fn all_columns(
    scope: &Scope<'_>,
    alias: Option<&str>,
    outputs: &mut Vec<Typed>,
    columns: &mut Vec<OutputColumn>,
) -> Bound<()> {
    let mut found = false;
    // The columns that USING joined come first.
    let mut joined = Vec::new();
    if alias.is_none() {
        for (source, one) in scope.sources.iter().enumerate() {
            for merged in &one.merged {
                let Some(column) = one.columns.get(*merged) else { continue };
                let of_left =
                    scope.sources[..source].iter().enumerate().find_map(|(left, other)| {
                        let place = other.columns.iter().position(|own| own.name == column.name)?;
                        (!other.merged.contains(&place)).then_some((left, place))
                    });
                let Some((left, place)) = of_left.filter(|left| !joined.contains(left)) else {
                    continue;
                };
                joined.push((left, place));
                let column = &scope.sources[left].columns[place];
                let node = Node::Column { level: 0, source: left, column: place };
                outputs.push(Typed::new(node, column.sql_type.clone()));
                columns.push(column.clone());
            }
        }
    }
    for (source, one) in scope.sources.iter().enumerate() {
        if alias.is_some_and(|alias| alias != one.alias) {
            continue;
        }
        found = true;
        for (position, column) in one.columns.iter().enumerate() {
            if alias.is_none()
                && (one.merged.contains(&position) || joined.contains(&(source, position)))
            {
                continue;
            }
            let node = Node::Column { level: 0, source, column: position };
            outputs.push(Typed::new(node, column.sql_type.clone()));
            columns.push(column.clone());
        }
    }
    match alias {
        Some(alias) if !found => Err(SqlError::new(
            code::UNDEFINED_TABLE,
            format!("missing FROM-clause entry for table \"{alias}\""),
        )
        .into()),
        _ => Ok(()),
    }
}

/// Where a column of this name is among the sources of a tree.
fn find(scope: &Scope<'_>, tree: &From, name: &str) -> Option<(usize, usize)> {
    scope
        .sources
        .iter()
        .enumerate()
        .filter(|(source, _)| tree.sources() & bit(*source) != 0)
        .find_map(|(source, one)| {
            let column = one.columns.iter().position(|column| column.name == name)?;
            (!one.merged.contains(&column)).then_some((source, column))
        })
}

fn shared_names(scope: &Scope<'_>, left: &From, right: &From) -> Vec<String> {
    let mut names = Vec::new();
    for (source, one) in scope.sources.iter().enumerate() {
        if right.sources() & bit(source) != 0 {
            let shared = one.columns.iter().filter(|c| find(scope, left, &c.name).is_some());
            names.extend(shared.map(|column| column.name.clone()));
        }
    }
    names
}

/// Equality of the columns of these names, which become one.
fn using(
    scope: &mut Scope<'_>,
    left: &From,
    right: &From,
    names: Vec<String>,
) -> Bound<Vec<Condition>> {
    let mut conditions = Vec::new();
    for name in names {
        let missing = || {
            let message = format!("column \"{name}\" specified in USING clause does not exist");
            BindError::Sql(SqlError::new(code::UNDEFINED_COLUMN, message))
        };
        let (left_source, left_column) = find(scope, left, &name).ok_or_else(missing)?;
        let (right_source, right_column) = find(scope, right, &name).ok_or_else(missing)?;
        let side = |source: usize, column: usize| {
            let sql_type = scope.sources[source].columns[column].sql_type.clone();
            Typed::new(Node::Column { level: 0, source, column }, sql_type)
        };
        let expression =
            expression::equal(side(left_source, left_column), side(right_source, right_column));
        let sources = bit(left_source) | bit(right_source);
        scope.sources[right_source].merged.push(right_column);
        conditions.push(Condition { expression, sources });
    }
    Ok(conditions)
}

/// The plain arguments of a function.
pub(super) fn function_arguments(arguments: &[ast::FunctionArg]) -> Bound<Vec<&ast::Expr>> {
    arguments
        .iter()
        .map(|argument| match argument {
            ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(expr)) => Ok(expr),
            _ => Err(BindError::NotHere),
        })
        .collect()
}
