//! Bodies in the place of calls: see the module.

use std::cell::Cell;
use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, Result, ScalarValue, Spans, TableReference};
use datafusion::execution::SessionState;
use datafusion::logical_expr::expr::{Cast, Placeholder};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::{conjunction, disjunction, merge_schema};
use datafusion::logical_expr::{
    Expr, ExprSchemable, LogicalPlan, LogicalPlanBuilder, Subquery, lit, when,
};

use super::call::Call;
use super::from::rows_called;
use super::{Functions, Known, PARAMETERS};
use crate::catalog::function::Returns;
use crate::error::{SqlError, code};
use crate::planner::decorrelate::{at_most_one, has_subqueries, is_unit};
use crate::planner::parse::parse_query;
use crate::planner::query::plan_body;
use crate::types::{ObjectId, SqlType};

/// `plan` without calls of functions in SQL.
pub(in crate::planner) fn inline(
    plan: LogicalPlan,
    state: &SessionState,
    functions: &Functions,
) -> Result<LogicalPlan> {
    if functions.are_none() {
        return Ok(plan);
    }
    Inliner { state, functions: functions.clone(), around: Vec::new(), next: Cell::new(1) }
        .plan(plan)
}

/// Gives parameters that stand alone as arguments of a call the types that the function wants.
pub(in crate::planner) fn type_arguments(
    mut expr: Expr,
    schema: &DFSchema,
) -> Result<Transformed<Expr>> {
    let untyped = |arg: &Expr| matches!(arg, Expr::Placeholder(Placeholder { field: None, .. }));
    let Some((call, args)) = Call::of(&expr) else { return Ok(Transformed::no(expr)) };
    if !args.iter().any(untyped) {
        return Ok(Transformed::no(expr));
    }
    let types = call.chosen(args, schema)?.types.clone();
    if let Expr::ScalarFunction(function) = &mut expr {
        for (arg, wanted) in function.args.iter_mut().zip(types) {
            if let Expr::Placeholder(Placeholder { field: field @ None, .. }) = arg {
                *field = Some(Arc::new(wanted.field("", true)));
            }
        }
    }
    Ok(Transformed::yes(expr))
}

struct Inliner<'a> {
    state: &'a SessionState,
    functions: Functions,
    /// The functions whose bodies this one is in.
    around: Vec<ObjectId>,
    next: Cell<usize>,
}

impl Inliner<'_> {
    fn plan(&self, plan: LogicalPlan) -> Result<LogicalPlan> {
        if !calls(&plan)? {
            return Ok(plan);
        }
        let inlined = plan.transform_up_with_subqueries(|node| {
            if let Some((call, args)) = rows_called(&node) {
                return Ok(Transformed::yes(self.rows(call, args, node.schema())?));
            }
            let names = NamePreserver::new(&node);
            let schema = merge_schema(&node.inputs());
            let is_list = matches!(node, LogicalPlan::Values(_));
            let node = node.map_expressions(|expr| {
                if !has_call(&expr)? {
                    return Ok(Transformed::no(expr));
                }
                let name = names.save(&expr);
                let (_, declared) = expr.to_field(&schema)?;
                let inlined = Transformed::yes(self.expression(expr, &schema)?);
                if is_list {
                    // The types of a list's columns are decided.
                    let decided = |expr| Expr::Cast(Cast::new_from_field(Box::new(expr), declared));
                    return Ok(inlined.update_data(decided));
                }
                Ok(inlined.update_data(|expr| name.restore(expr)))
            })?;
            if is_list {
                return Ok(node);
            }
            node.map_data(LogicalPlan::recompute_schema)
        })?;
        debug_assert!(!calls(&inlined.data)?, "a call is left");
        Ok(inlined.data)
    }

    /// An expression without calls, the innermost first. Subqueries in it have none already.
    fn expression(&self, expr: Expr, schema: &DFSchema) -> Result<Expr> {
        let inlined = expr.transform_up(|expr| match Call::of(&expr) {
            Some((call, args)) => Ok(Transformed::yes(self.value(call, args, schema)?)),
            None => Ok(Transformed::no(expr)),
        })?;
        Ok(inlined.data)
    }

    /// What a call gives, over the row that its arguments are over.
    fn value(&self, call: &Call, args: &[Expr], schema: &DFSchema) -> Result<Expr> {
        let known = call.chosen(args, schema)?;
        let body = self.body(known)?;
        let args = self.arguments(known, args, schema)?;
        let Returns::Value(returned) = &known.function.returns else {
            return Err(SqlError::internal("a value of a function that gives rows").into());
        };
        let value = match plain(&body) {
            Some(value) => {
                for (index, arg) in args.iter().enumerate() {
                    let uses = uses(value, known, index)? + usize::from(known.function.strict);
                    if uses > 1 && arg.is_volatile() {
                        return Err(volatile(known).into());
                    }
                }
                let replaced = value.clone().transform_up(|expr| {
                    Ok(match parameter(&expr, known) {
                        Some(index) => Transformed::yes(args[index].clone()),
                        None => Transformed::no(expr),
                    })
                })?;
                cast_to(replaced.data, returned, schema)?
            }
            None => {
                let args = args.iter().map(|arg| outside(arg, schema)).collect::<Result<_>>()?;
                let plan = self.bound(known, body, args, false)?;
                // The first row counts.
                let plan = match at_most_one(&plan) {
                    true => plan,
                    false => LogicalPlanBuilder::from(plan).limit(0, Some(1))?.build()?,
                };
                let column = Expr::Column(plan.schema().columns().remove(0));
                let column = cast_to(column, returned, plan.schema())?.alias("value");
                let plan = LogicalPlanBuilder::from(plan).project([column])?.build()?;
                subquery(plan)
            }
        };
        if !known.function.strict {
            return Ok(value);
        }
        match disjunction(args.iter().filter(|arg| !is_known(arg)).map(|arg| arg.clone().is_null()))
        {
            Some(unknown) => {
                let null = cast_to(lit(ScalarValue::Null), returned, schema)?;
                when(unknown, null).otherwise(value)
            }
            None => Ok(value),
        }
    }

    /// The rows that a call in FROM gives, with the columns of `schema`.
    fn rows(&self, call: &Call, args: &[Expr], schema: &DFSchema) -> Result<LogicalPlan> {
        let none = DFSchema::empty();
        let args = args.iter().map(|arg| self.expression(arg.clone(), &none));
        let args = &args.collect::<Result<Vec<_>>>()?;
        let known = call.chosen(args, &none)?;
        let names = schema.fields().iter().map(|field| field.name());
        if !known.function.returns.is_set() {
            let value = self.value(call, args, &none)?;
            let exprs: Vec<_> = names.map(|name| value.clone().alias(name)).collect();
            return LogicalPlanBuilder::empty(true).project(exprs)?.build();
        }
        let body = self.body(known)?;
        let args = self.arguments(known, args, &none)?;
        let plan = self.bound(known, body, args, known.function.strict)?;
        let wanted = known.columns();
        let columns = plan.schema().columns().into_iter().zip(&wanted).zip(names);
        let exprs = columns.map(|((column, wanted), name)| {
            let column = cast_to(Expr::Column(column), &wanted.sql_type, plan.schema())?;
            Ok(column.alias(name))
        });
        let exprs = exprs.collect::<Result<Vec<_>>>()?;
        LogicalPlanBuilder::from(plan.clone()).project(exprs)?.build()
    }

    /// A function's body, without calls.
    fn body(&self, known: &Arc<Known>) -> Result<LogicalPlan> {
        let id = known.function.id;
        if self.around.contains(&id) {
            return Err(calls_itself(known).into());
        }
        if self.around.is_empty() {
            self.functions.use_by_query(known);
        }
        self.functions.count_expansion()?;
        let functions = self.functions.within(known);
        let body = plan_body(self.state, known, &functions)?;
        let mut around = self.around.clone();
        around.push(id);
        let next = Cell::new(self.next.get());
        let inner = Inliner { state: self.state, functions, around, next };
        let body = inner.plan(body)?;
        self.next.set(inner.next.get());
        Ok(body)
    }

    /// The arguments with the parameters' types, defaults among them.
    fn arguments(&self, known: &Known, args: &[Expr], schema: &DFSchema) -> Result<Vec<Expr>> {
        let mut arguments = Vec::new();
        for (index, parameter) in known.function.parameters.iter().enumerate() {
            let arg = match (args.get(index), &parameter.default) {
                (Some(arg), _) => arg.clone(),
                (None, Some(default)) => self.default(known, default)?,
                (None, None) => {
                    return Err(SqlError::internal("an argument is missing").into());
                }
            };
            arguments.push(cast_to(arg, &parameter.sql_type, schema)?);
        }
        Ok(arguments)
    }

    fn default(&self, known: &Known, default: &str) -> Result<Expr> {
        let query = parse_query(&format!("SELECT {default}"))?;
        let function = Arc::clone(&known.function);
        let default = Known { function, query, relations: Default::default(), types: Vec::new() };
        let functions = self.functions.within(known);
        let plan = plan_body(self.state, &default, &functions)?;
        let inner = Inliner {
            state: self.state,
            functions,
            around: self.around.clone(),
            next: Cell::new(self.next.get()),
        };
        match plain(&inner.plan(plan)?) {
            Some(value) => Ok(value.clone()),
            None => Err(SqlError::unsupported("a query in a parameter's default").into()),
        }
    }

    /// A body with its arguments: constants in their places, others as a row beside it. Where
    /// nothing in the body could take a column of the caller for its own, they are in their
    /// places too.
    fn bound(
        &self,
        known: &Known,
        body: LogicalPlan,
        args: Vec<Expr>,
        strict: bool,
    ) -> Result<LogicalPlan> {
        let number = self.next.replace(self.next.get() + 1);
        let beside = TableReference::bare(format!("{PARAMETERS}{number}"));
        let mut places = Vec::new();
        let mut columns = Vec::new();
        let mut needed = Vec::new();
        let apart = is_apart(&body)?;
        for (index, arg) in args.into_iter().enumerate() {
            if arg.is_volatile() {
                return Err(volatile(known).into());
            }
            let place = if is_constant(&arg)? || (apart && !has_subqueries(&arg)) {
                if strict && !is_known(&arg) {
                    needed.push(arg.clone().is_not_null());
                }
                arg
            } else {
                let name = format!("{PARAMETERS}{index}");
                let column = Column::new(Some(beside.clone()), &name);
                if strict {
                    needed.push(Expr::Column(column.clone()).is_not_null());
                }
                let (_, field) = arg.to_field(&DFSchema::empty())?;
                columns.push(arg.alias(&name));
                Expr::OuterReferenceColumn(field, column)
            };
            places.push(place);
        }
        let body = placed(body, known, &places)?;
        if columns.is_empty() && needed.is_empty() {
            return Ok(body);
        }
        let mut row = LogicalPlanBuilder::empty(true);
        if !columns.is_empty() {
            row = row.project(columns)?.alias(beside)?;
        }
        if let Some(needed) = conjunction(needed) {
            row = row.filter(needed)?;
        }
        let own: Vec<_> = body.schema().columns().into_iter().map(Expr::Column).collect();
        row.cross_join(body)?.project(own)?.build()
    }
}

/// Is there a call in a plan?
fn calls(plan: &LogicalPlan) -> Result<bool> {
    let mut found = false;
    plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expr| {
            found |= has_call(expr)?;
            Ok(TreeNodeRecursion::Continue)
        })
    })?;
    Ok(found)
}

fn has_call(expr: &Expr) -> Result<bool> {
    expr.exists(|expr| Ok(Call::of(expr).is_some()))
}

/// The only expression of a body that reads nothing.
fn plain(body: &LogicalPlan) -> Option<&Expr> {
    let LogicalPlan::Projection(projection) = body else { return None };
    let [expr] = projection.expr.as_slice() else { return None };
    let mut expr = expr;
    while let Expr::Alias(alias) = expr {
        expr = &alias.expr;
    }
    (is_unit(&projection.input) && !has_subqueries(expr)).then_some(expr)
}

/// The parameter that an expression is.
fn parameter(expr: &Expr, known: &Known) -> Option<usize> {
    let index = match expr {
        Expr::Placeholder(placeholder) => {
            let number: usize = placeholder.id.strip_prefix('$')?.parse().ok()?;
            number.checked_sub(1)?
        }
        Expr::OuterReferenceColumn(_, column) => {
            let relation = column.relation.as_ref()?;
            if relation.schema() != Some(PARAMETERS) {
                return None;
            }
            let mut parameters = known.function.parameters.iter();
            parameters.position(|parameter| parameter.name.as_ref() == Some(&column.name))?
        }
        _ => return None,
    };
    (index < known.types.len()).then_some(index)
}

fn uses(expr: &Expr, known: &Known, index: usize) -> Result<usize> {
    let mut uses = 0;
    expr.apply(|expr| {
        uses += usize::from(parameter(expr, known) == Some(index));
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(uses)
}

/// A body with expressions in the places of its parameters.
fn placed(body: LogicalPlan, known: &Known, places: &[Expr]) -> Result<LogicalPlan> {
    let placed = body.transform_up_with_subqueries(|node| {
        let names = NamePreserver::new(&node);
        let node = node.map_expressions(|expr| {
            if !expr.exists(|expr| Ok(parameter(expr, known).is_some()))? {
                return Ok(Transformed::no(expr));
            }
            let name = names.save(&expr);
            let placed = expr.transform_up(|expr| {
                Ok(match parameter(&expr, known) {
                    Some(index) => Transformed::yes(places[index].clone()),
                    None => Transformed::no(expr),
                })
            })?;
            Ok(placed.update_data(|expr| name.restore(expr)))
        })?;
        if matches!(node.data, LogicalPlan::Values(_)) {
            return Ok(node);
        }
        node.map_data(LogicalPlan::recompute_schema)
    })?;
    Ok(placed.data)
}

/// An expression over a row, as a subquery beside the row has it.
fn outside(expr: &Expr, schema: &DFSchema) -> Result<Expr> {
    let outside = expr.clone().transform_up(|expr| match expr {
        Expr::Column(column) => {
            let index = schema.index_of_column(&column)?;
            let (relation, field) = schema.qualified_field(index);
            let column = Column::new(relation.cloned(), field.name());
            Ok(Transformed::yes(Expr::OuterReferenceColumn(Arc::clone(field), column)))
        }
        other => Ok(Transformed::no(other)),
    })?;
    Ok(outside.data)
}

/// Whether a body is of one scope: no join, whose sides might depend on each other, no subquery.
fn is_apart(body: &LogicalPlan) -> Result<bool> {
    let mut apart = true;
    body.apply(|node| {
        apart &= !matches!(node, LogicalPlan::Join(_));
        node.apply_expressions(|expr| {
            apart &= !has_subqueries(expr);
            Ok(TreeNodeRecursion::Continue)
        })
    })?;
    Ok(apart)
}

/// Is an expression the same whatever row it is for?
fn is_constant(expr: &Expr) -> Result<bool> {
    let varies = expr.exists(|expr| {
        Ok(has_subqueries(expr) || matches!(expr, Expr::Column(_) | Expr::OuterReferenceColumn(..)))
    })?;
    Ok(!varies)
}

/// Is it a literal that is not NULL?
fn is_known(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(value, _) => !value.is_null(),
        Expr::Cast(cast) => is_known(&cast.expr),
        _ => false,
    }
}

/// `expr` as a value of a type; what is one stays as it is.
pub(super) fn cast_to(expr: Expr, to: &SqlType, schema: &DFSchema) -> Result<Expr> {
    let (_, field) = expr.to_field(schema)?;
    match (SqlType::of_field(&field), to) {
        // Any scale will do: the digits that a numeric has are those that are shown of it.
        (SqlType::Numeric(_), SqlType::Numeric(None)) => return Ok(expr),
        (from, to) if from == *to && !matches!(expr, Expr::Literal(..)) => return Ok(expr),
        _ => {}
    }
    let field = Arc::new(to.field("", true));
    Ok(Expr::Cast(Cast::new_from_field(Box::new(expr), field)))
}

fn subquery(plan: LogicalPlan) -> Expr {
    let outer_ref_columns = plan.all_out_ref_exprs();
    Expr::ScalarSubquery(Subquery {
        subquery: Arc::new(plan),
        outer_ref_columns,
        spans: Spans::new(),
    })
}

fn volatile(known: &Known) -> SqlError {
    let what = format!(
        "a volatile argument of {}, which uses it more than once or in a query",
        known.function.signature()
    );
    SqlError::unsupported(what).hint("Compute the argument in a subquery in FROM.")
}

/// As PostgreSQL reports what never ends.
pub(super) fn calls_itself(known: &Known) -> SqlError {
    let message = "stack depth limit exceeded";
    SqlError::new(code::STATEMENT_TOO_COMPLEX, message)
        .detail(format!(
            "Function {} calls itself, directly or through others.",
            known.function.signature()
        ))
        .hint("Use WITH RECURSIVE.")
}
