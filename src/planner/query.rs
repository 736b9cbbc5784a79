//! SELECT and its like: from syntax to DataFusion's logical plan, all types decided.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow::datatypes::{DataType, FieldRef};
use datafusion::catalog::CatalogProvider;
use datafusion::common::config::Dialect;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, ScalarValue, TableReference};
use datafusion::datasource::{ViewTable, provider_as_source};
use datafusion::execution::SessionState;
use datafusion::logical_expr::expr::Placeholder;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::planner::ContextProvider;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    Distinct, Expr, ExprSchemable, LogicalPlan, LogicalPlanBuilder, TableSource,
};
use datafusion::prelude::SessionConfig;
use datafusion::sql::parser::Statement as DataFusionStatement;
use datafusion::sql::planner::{ParserOptions, PlannerContext, SqlToRel};
use sqlparser::ast;

use super::decorrelate::{Tools, decorrelate, placed};
use super::equal_keys::group_by_keys;
use super::explicit_casts::{plan_casts, spell_casts};
use super::failure::planning_error;
use super::fetch::{plan_ties, spell_fetch};
use super::function_syntax::spell_functions;
use super::grouping_sets;
use super::job::meant_by;
use super::labels::{label, shown};
use super::lists::resolve_lists;
use super::merge::merge_columns;
use super::names::{Names, Relations};
use super::operators::with_types;
use super::orders::{order_by_keys, order_windows_by_keys};
use super::outer_aggregates::spell_outer_aggregates;
use super::outline::outline;
use super::precedence::mend_precedence;
use super::row_wildcards::expand_rows;
use super::rows_from::spell_rows_from;
use super::set_functions::spread_in_lists;
use super::set_order::order_outside;
use super::source::Source;
use super::sql_functions::{
    Functions, Known, PARAMETERS, arrange_calls, inline, reach, type_arguments,
};
use super::subquery_syntax::spell_subqueries;
use super::syntax::{Query, RowLock};
use super::system_calls::name_system_calls;
use super::whole_rows::spell_whole_rows;
use super::window_syntax::spell_windows;
use crate::catalog::Meant;
use crate::catalog::catalog::PG_CATALOG;
use crate::catalog::function::{CALLER, Callable};
use crate::error::{SqlError, SqlResult, code};
use crate::expr::catch;
use crate::expr::functions::{ANY_EQUAL, narrow_expression, narrow_literals};
use crate::expr::work_table::share_work_tables;
use crate::types::SqlType;

/// How DataFusion reads SQL here: as PostgreSQL writes it.
pub fn configure(config: &mut SessionConfig) {
    let options = config.options_mut();
    options.sql_parser.dialect = Dialect::PostgreSQL;
    options.sql_parser.enable_ident_normalization = true;
    options.sql_parser.parse_float_as_decimal = true;
    options.sql_parser.map_string_types_to_utf8view = false;
    options.sql_parser.collect_spans = true;
}

/// A query, planned: analysed, not optimised.
#[derive(Debug, Clone)]
pub struct PlannedQuery {
    /// Parameters are placeholders in it: `LogicalPlan::with_param_values` binds them.
    pub plan: LogicalPlan,
    /// Types of the parameters `$1`, `$2`, ...: as declared, or as their use says.
    pub parameters: Vec<SqlType>,
    /// What must be locked before it is read.
    pub locks: Arc<[RowLock]>,
}

impl PlannedQuery {
    /// Which output columns are nothing but string literals, which have no type yet.
    pub fn untyped_columns(&self) -> Vec<bool> {
        let mut node = &self.plan;
        loop {
            node = match node {
                LogicalPlan::Sort(sort) => &sort.input,
                LogicalPlan::Limit(limit) => &limit.input,
                LogicalPlan::Distinct(Distinct::All(input)) => input,
                _ => break,
            };
        }
        let is_untyped = |expr: &Expr| {
            matches!(expr.clone().unalias(), Expr::Literal(ScalarValue::Utf8(_), None))
        };
        let is_null = |expr: &Expr| matches!(expr, Expr::Literal(value, _) if value.is_null());
        match node {
            LogicalPlan::Projection(projection) => projection.expr.iter().map(is_untyped).collect(),
            LogicalPlan::Values(values) => (0..values.schema.fields().len())
                .map(|column| {
                    let mut cells = values.values.iter().map(|row| &row[column]);
                    cells.all(|cell| is_untyped(cell) || is_null(cell))
                })
                .collect(),
            other => vec![false; other.schema().fields().len()],
        }
    }

    /// Names of the output columns, as clients see them: they may repeat.
    pub fn column_names(&self) -> Vec<&str> {
        self.plan.schema().fields().iter().map(|field| shown(field.name())).collect()
    }
}

/// Plans a query with the relations and functions of a session. `declared` are the types that the
/// client gives for parameters; what it leaves open is found from their use, and else is text.
pub async fn plan_query(
    state: &SessionState,
    query: &Query,
    declared: &[Option<SqlType>],
) -> SqlResult<PlannedQuery> {
    plan_kept_query(state, query, declared, &[]).await
}

/// The same for a query that was kept: `names` say what names of relations mean in it.
pub async fn plan_kept_query(
    state: &SessionState,
    query: &Query,
    declared: &[Option<SqlType>],
    names: &[Meant],
) -> SqlResult<PlannedQuery> {
    let within = Within { names, function: None };
    let relations = session_relations(state, &query.tree, within)
        .await
        .map_err(|error| planning_error(error, &*query.tree, &query.source))?;
    let functions = session_functions(state, &query.tree).await?;
    let planned = plan_tree(state, relations, &query.tree, &query.source, declared, &functions)?;
    Ok(PlannedQuery { locks: Arc::clone(&query.locks), ..planned })
}

/// The functions in SQL that a session's statement may call.
pub(super) async fn session_functions(
    state: &SessionState,
    tree: &ast::Query,
) -> SqlResult<Functions> {
    let Some(callable) = state.config().get_extension::<Callable>() else {
        return Ok(Functions::none());
    };
    let mut reached = Vec::new();
    for found in reach(&callable.catalog, &callable.search_path, tree)? {
        let function = &found.function;
        let names = function.meaning.names.as_slice();
        let within = Within { names, function: Some(&function.search_path) };
        let relations = session_relations(state, &found.query.tree, within).await?;
        reached.push((found, relations));
    }
    Ok(Functions::new(&callable.catalog, &callable.search_path, reached))
}

/// The same where no relation can be read: their bodies may only compute.
pub(super) fn computing_functions(state: &SessionState, tree: &ast::Query) -> SqlResult<Functions> {
    let Some(callable) = state.config().get_extension::<Callable>() else {
        return Ok(Functions::none());
    };
    let mut reached = Vec::new();
    for found in reach(&callable.catalog, &callable.search_path, tree)? {
        let statement = ast::Statement::Query(Box::new((*found.query.tree).clone()));
        if !relation_names(state, &statement)?.is_empty() {
            let what =
                format!("function {}, which reads relations, here", found.function.name.name);
            return Err(SqlError::unsupported(what));
        }
        reached.push((found, Relations::new()));
    }
    Ok(Functions::new(&callable.catalog, &callable.search_path, reached))
}

/// What the names of a query mean.
#[derive(Clone, Copy, Default)]
pub(super) struct Within<'a> {
    /// Whatever the search path finds.
    names: &'a [Meant],
    /// The search path of the function whose body it is; `None`: the session's.
    function: Option<&'a [String]>,
}

/// The session's relations that a query names. One that is missing is left out: the planner
/// finds where it was named.
pub(super) async fn session_relations(
    state: &SessionState,
    tree: &ast::Query,
    within: Within<'_>,
) -> datafusion::error::Result<Relations> {
    let statement = ast::Statement::Query(Box::new(tree.clone()));
    let mut relations = HashMap::new();
    for name in relation_names(state, &statement)? {
        let catalog = &state.config_options().catalog;
        let schemas = match (name.schema(), within.function) {
            (Some(schema), _) => vec![schema.to_owned()],
            (None, None) => vec![catalog.default_schema.clone()],
            (None, Some(path)) => {
                std::iter::once(PG_CATALOG.to_owned()).chain(path.iter().cloned()).collect()
            }
        };
        let database = name.catalog().unwrap_or(&catalog.default_catalog);
        let list = state.catalog_list();
        let caller = within.function.and_then(|_| list.catalog(CALLER));
        let Some(database) = caller.or_else(|| list.catalog(database)) else { continue };
        if let Some(meant) = meant_by(within.names, &name) {
            if let Some(source) = meant_relation(state, &*database, meant).await? {
                relations.insert(name, source);
            }
            continue;
        }
        for schema in schemas {
            if let Some(schema) = database.schema(&schema)
                && let Some(provider) = schema.table(name.table()).await?
            {
                relations.insert(name, provider_as_source(provider));
                break;
            }
        }
    }
    Ok(relations)
}

/// The relation that a kept text's name means, with its columns under the names that the text has
/// for them.
async fn meant_relation(
    state: &SessionState,
    database: &dyn CatalogProvider,
    meant: &Meant,
) -> datafusion::error::Result<Option<Arc<dyn TableSource>>> {
    let callable = state.config().get_extension::<Callable>();
    let object = callable.as_ref().and_then(|callable| callable.catalog.object(meant.object));
    let Some(object) = object else { return Ok(None) };
    let Some(schema) = database.schema(&object.name.schema) else { return Ok(None) };
    let Some(provider) = schema.table(&object.name.name).await? else { return Ok(None) };
    let source = provider_as_source(provider);
    let called = source.schema();
    let called = called.fields().iter().map(|field| field.name().as_str());
    let called_so = called.eq(meant.columns.iter().map(String::as_str));
    if meant.columns.is_empty() || called_so {
        return Ok(Some(source));
    }
    let known = meant.known(object);
    let scan = LogicalPlanBuilder::scan(meant.name.as_str(), source, None)?;
    let columns = scan.schema().columns();
    let renamed = known.columns.iter().enumerate().map(|(index, column)| {
        let own = object.column_at(known.place(index)).and_then(|own| columns.get(own));
        Ok(match own {
            Some(own) => Expr::Column(own.clone()),
            // It was dropped: nothing reads it.
            None => Expr::Literal(ScalarValue::try_from(column.sql_type.to_arrow())?, None),
        }
        .alias(&column.name))
    });
    let renamed = renamed.collect::<datafusion::error::Result<Vec<_>>>()?;
    let plan = scan.project(renamed)?.build()?;
    Ok(Some(provider_as_source(Arc::new(ViewTable::new(plan, None)))))
}

/// Names of the relations in a statement, without those of its own WITH.
pub(super) fn relation_names(
    state: &SessionState,
    statement: &ast::Statement,
) -> datafusion::error::Result<Vec<TableReference>> {
    state.resolve_table_references(&DataFusionStatement::Statement(Box::new(statement.clone())))
}

/// Plans a syntax tree over given relations.
pub(super) fn plan_tree(
    state: &SessionState,
    relations: Relations,
    tree: &ast::Query,
    source: &Source,
    declared: &[Option<SqlType>],
    functions: &Functions,
) -> SqlResult<PlannedQuery> {
    catch("planning the query", || {
        plan_guarded(state, relations, tree, source, declared, functions)
    })
}

fn plan_guarded(
    state: &SessionState,
    relations: Relations,
    tree: &ast::Query,
    source: &Source,
    declared: &[Option<SqlType>],
    functions: &Functions,
) -> SqlResult<PlannedQuery> {
    let wrong = |error| planning_error(error, tree, source);
    let names = Names::new(state, relations, functions.clone())?;
    let fields: Vec<_> =
        declared.iter().map(|declared| declared.as_ref().map(parameter_field)).collect();
    let context = || PlannerContext::new().with_prepare_param_data_types(fields.clone());
    let plan = rough_plan(state, &names, tree, &context)
        .and_then(|plan| infer_parameters(plan, declared))
        .map_err(wrong)?;
    let parameters = parameter_types(&plan, declared)?;
    let plan = type_parameters(plan, &parameters).map_err(wrong)?;
    // Before types are coerced: subqueries leave comparisons behind whose sides have to agree.
    let tools = Tools::new(state);
    let plan = plan_ties(plan)
        .and_then(|plan| inline(plan, state, functions))
        .and_then(|plan| placed(plan, &tools))
        .and_then(|plan| grouping_sets::resolve_functions(plan, state.config_options()))
        .and_then(|plan| group_by_keys(plan, &tools))
        .and_then(|plan| decorrelate(plan, &tools))
        .and_then(share_work_tables)
        .and_then(order_windows_by_keys)
        .map_err(wrong)?;
    let plan = state
        .analyzer()
        .execute_and_check(plan, state.config_options(), |_, _| {})
        .and_then(order_by_keys)
        .and_then(|plan| grouping_sets::split(plan, grouping_sets::Split::Empty))
        .map_err(wrong)?;
    Ok(PlannedQuery { plan, parameters, locks: Arc::default() })
}

/// The plan as it is written: nothing is resolved that needs all of it.
fn rough_plan(
    state: &SessionState,
    names: &Names<'_>,
    tree: &ast::Query,
    context: &dyn Fn() -> PlannerContext,
) -> datafusion::error::Result<LogicalPlan> {
    let options = ParserOptions::from(&state.config_options().sql_parser);
    let planner = SqlToRel::new_with_options(names, options);
    let mut prepared = tree.clone();
    arrange_calls(&mut prepared, names.functions())?;
    name_system_calls(&mut prepared, names.functions());
    prepare(&mut prepared, &planner, names, context)?;
    let query = ast::Statement::Query(Box::new(prepared));
    let plan = planner.sql_statement_to_plan_with_context(query, &mut context())?;
    narrow_literals(plan).and_then(plan_casts)
}

/// The body of a function in SQL. Its parameters are placeholders and columns of a query around
/// it, in schema [`PARAMETERS`].
pub(super) fn plan_body(
    state: &SessionState,
    known: &Known,
    functions: &Functions,
) -> datafusion::error::Result<LogicalPlan> {
    let names = Names::new(state, known.relations().clone(), functions.clone())?;
    let function = &known.function;
    let relation = TableReference::partial(PARAMETERS, function.name.name.as_str());
    let fields: Vec<FieldRef> =
        function.parameters.iter().map(|p| parameter_field(&p.sql_type)).collect();
    let named = function.parameters.iter().filter_map(|parameter| {
        let field = parameter.sql_type.field(parameter.name.as_ref()?, true);
        Some((Some(relation.clone()), Arc::new(field)))
    });
    let around = Arc::new(DFSchema::new_with_metadata(named.collect(), HashMap::new())?);
    let context = || {
        let fields = fields.iter().cloned().map(Some).collect();
        let mut context = PlannerContext::new().with_prepare_param_data_types(fields);
        context.append_outer_query_schema(Arc::clone(&around));
        context
    };
    let tree = known.tree();
    let of_body = |error| {
        let mut error = planning_error(error, tree, known.source());
        // Its place is one in the body, not in the client's string.
        error.position = None;
        error.context.get_or_insert_with(|| format!("SQL function \"{}\"", function.name.name));
        error
    };
    let plan = rough_plan(state, &names, tree, &context).and_then(plan_ties).map_err(of_body)?;
    Ok(plan)
}

/// Rewrites what PostgreSQL plans otherwise than DataFusion.
fn prepare(
    tree: &mut ast::Query,
    planner: &SqlToRel<'_, Names<'_>>,
    names: &Names<'_>,
    context: &dyn Fn() -> PlannerContext,
) -> SqlResult<()> {
    let is_aggregate = |name: &str| names.get_aggregate_meta(name).is_some();
    mend_precedence(tree);
    spell_rows_from(tree)?;
    // Without the queries around it: only the names are asked for.
    let columns_of = |mut query: ast::Query| -> SqlResult<Vec<String>> {
        outline(&mut query);
        spread_in_lists(&mut query)?;
        spell_outer_aggregates(&mut query, &is_aggregate)?;
        spell_subqueries(&mut query)?;
        spell_functions(&mut query)?;
        spell_windows(&mut query, is_aggregate)?;
        spell_casts(&mut query)?;
        let query = ast::Statement::Query(Box::new(query));
        let plan = planner.sql_statement_to_plan_with_context(query, &mut context())?;
        Ok(plan.schema().fields().iter().map(|field| shown(field.name()).to_owned()).collect())
    };
    merge_columns(tree, &columns_of)?;
    expand_rows(tree, &|query| columns_of(query).ok());
    resolve_lists(tree, &|expr| {
        let none = DFSchema::empty();
        let expr = planner.sql_to_expr(expr.clone(), &none, &mut context()).ok()?;
        if expr.exists(|expr| Ok(matches!(expr, Expr::Placeholder(_)))).unwrap_or(true) {
            return None;
        }
        let (_, field) = narrow_expression(expr).ok()?.to_field(&none).ok()?;
        Some(field.as_ref().clone())
    })?;
    spell_whole_rows(tree, &|query| columns_of(query).ok())?;
    // A relation that cannot be planned alone says so when the whole is planned.
    label(tree, &|query| columns_of(query).ok());
    order_outside(tree)?;
    spell_fetch(tree)?;
    spread_in_lists(tree)?;
    spell_outer_aggregates(tree, &is_aggregate)?;
    spell_subqueries(tree)?;
    spell_functions(tree)?;
    spell_windows(tree, is_aggregate)?;
    spell_casts(tree)
}

fn parameter_field(sql_type: &SqlType) -> FieldRef {
    Arc::new(sql_type.field("", true))
}

/// Gives undeclared placeholders the type of what they are compared with. Planning has done so, but
/// when a whole number was still a bigint.
fn infer_parameters(
    plan: LogicalPlan,
    declared: &[Option<SqlType>],
) -> datafusion::error::Result<LogicalPlan> {
    let inferred = plan.transform_up_with_subqueries(|node| {
        let schema = merge_schema(&node.inputs());
        node.map_expressions(|expr| {
            if !expr.exists(|expr| Ok(matches!(expr, Expr::Placeholder(_))))? {
                return Ok(Transformed::no(expr));
            }
            let forgotten = expr.transform_up(|expr| Ok(forget_type(expr, declared)))?.data;
            forgotten
                .infer_placeholder_types(&schema)?
                .0
                .transform_up(type_cast_parameter)?
                .transform_data(|expr| {
                    expr.transform_up(|expr| type_array_parameter(expr, &schema))
                })?
                .transform_data(|expr| expr.transform_up(|expr| type_arguments(expr, &schema)))
        })
    })?;
    Ok(inferred.data)
}

fn forget_type(expr: Expr, declared: &[Option<SqlType>]) -> Transformed<Expr> {
    let Expr::Placeholder(Placeholder { id, field }) = expr else {
        return Transformed::no(expr);
    };
    let known = parameter_number(&id)
        .and_then(|number| declared.get(number.checked_sub(1)?))
        .is_some_and(Option::is_some);
    let field = field.filter(|_| known);
    Transformed::yes(Expr::Placeholder(Placeholder { id, field }))
}

/// `x = ANY ($1)` says that `$1` is an array of what `x` is.
fn type_array_parameter(
    mut expr: Expr,
    schema: &DFSchema,
) -> datafusion::error::Result<Transformed<Expr>> {
    if let Expr::ScalarFunction(call) = &mut expr
        && call.func.name() == ANY_EQUAL
        && let [value, Expr::Placeholder(Placeholder { field: field @ None, .. })] =
            call.args.as_mut_slice()
        && let Ok((_, known)) = value.to_field(schema)
        && !known.data_type().is_null()
    {
        let element = Box::new(sql_type_of(&known));
        *field = Some(parameter_field(&SqlType::Array(element)));
        return Ok(Transformed::yes(expr));
    }
    Ok(Transformed::no(expr))
}

/// `$1::int` says what `$1` is.
fn type_cast_parameter(mut expr: Expr) -> datafusion::error::Result<Transformed<Expr>> {
    if let Expr::Cast(cast) = &mut expr
        && let Expr::Placeholder(Placeholder { field: field @ None, .. }) = cast.expr.as_mut()
    {
        *field = Some(Arc::clone(&cast.field));
        return Ok(Transformed::yes(expr));
    }
    Ok(Transformed::no(expr))
}

/// The type of each parameter: declared, or the first that a use tells, or text.
fn parameter_types(plan: &LogicalPlan, declared: &[Option<SqlType>]) -> SqlResult<Vec<SqlType>> {
    let mut used: BTreeMap<usize, Option<SqlType>> = BTreeMap::new();
    plan.apply_with_subqueries(|node| {
        let counts = matches!(node, LogicalPlan::Limit(_));
        node.apply_expressions(|expr| {
            expr.apply(|expr| {
                if let Expr::Placeholder(Placeholder { id, field }) = expr
                    && let Some(number) = parameter_number(id)
                {
                    let told = field.as_ref().map(sql_type_of);
                    let told = if counts { Some(SqlType::BigInt) } else { told };
                    let known = used.entry(number).or_default();
                    if known.is_none() {
                        *known = told;
                    }
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })?;
    let count = used.keys().next_back().copied().unwrap_or(0).max(declared.len());
    if count > usize::from(u16::MAX) {
        let message = format!("there is no parameter ${count}");
        return Err(SqlError::new(code::UNDEFINED_PARAMETER, message));
    }
    let types = (1..=count).map(|number| {
        let declared = declared.get(number - 1).cloned().flatten();
        declared.or_else(|| used.get(&number).cloned().flatten()).unwrap_or(SqlType::Text)
    });
    Ok(types.collect())
}

/// A parameter compared with a number is a numeric without modifier, not one of its precision.
fn sql_type_of(field: &FieldRef) -> SqlType {
    match SqlType::of_field(field) {
        SqlType::Varchar(_) | SqlType::Char(_) => SqlType::Text,
        SqlType::Unknown => SqlType::Text,
        _ if *field.data_type() == DataType::Null => SqlType::Text,
        other => other,
    }
}

fn parameter_number(id: &str) -> Option<usize> {
    id.strip_prefix('$')?.parse().ok()
}

/// Gives every placeholder its type, and what is above it the types that follow.
fn type_parameters(plan: LogicalPlan, types: &[SqlType]) -> datafusion::error::Result<LogicalPlan> {
    if types.is_empty() {
        return Ok(plan);
    }
    let typed = plan.transform_up_with_subqueries(|node| {
        let names = NamePreserver::new(&node);
        let schema = merge_schema(&node.inputs());
        let node = node.map_expressions(|expr| {
            let name = names.save(&expr);
            let typed = expr.transform_up(|expr| {
                let Expr::Placeholder(Placeholder { id, field }) = expr else {
                    return with_types(expr, &schema);
                };
                let sql_type = parameter_number(&id).and_then(|number| types.get(number - 1));
                let field = sql_type.map(parameter_field).or(field);
                Ok(Transformed::yes(Expr::Placeholder(Placeholder { id, field })))
            })?;
            Ok(typed.update_data(|expr| name.restore(expr)))
        })?;
        if matches!(node.data, LogicalPlan::Values(_)) {
            return Ok(node);
        }
        node.map_data(LogicalPlan::recompute_schema)
    })?;
    Ok(typed.data)
}
