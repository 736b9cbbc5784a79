//! Views and their jobs, from the query to what the catalog and the dataflow need to know.

use std::sync::{Arc, LazyLock};

use arrow::datatypes::Schema;
use datafusion::execution::{FunctionRegistry, SessionState, SessionStateBuilder};
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::Optimizer;
use datafusion::prelude::SessionConfig;

use super::super::drawn;
use super::super::failure::planning_error;
use super::super::grouping_sets;
use super::super::labels::shown;
use super::super::parse::parse_query;
use super::super::query::{configure, plan_tree};
use super::super::statement::CreateMaterializedView;
use super::super::syntax::Query;
use super::declared::is_declared;
use super::lower::Lowering;
use super::place::place;
use super::relation::Scope;
use super::scalar::refuse_stable;
use crate::catalog::object::OnError;
use crate::catalog::{Catalog, Column, Meant, Object};
use crate::error::{SqlError, SqlResult, code};
use crate::expr::{SessionStyle, catch, functions};
use crate::graph::Job;
use crate::types::text::TextStyle;
use crate::types::{InputStyle, ObjectId, SqlType};

/// Optimizer rules that a view's plan goes without: they turn what selects nothing into a relation
/// without inputs, or push limits about.
const NOT_FOR_JOBS: &[&str] =
    &["eliminate_filter", "eliminate_join", "propagate_empty_relation", "push_down_limit"];

/// A view's columns, and what it needs.
#[derive(Debug, Clone)]
pub struct DescribedView {
    pub columns: Vec<Column>,
    /// The objects that its query names.
    pub depends_on: Vec<ObjectId>,
}

/// A materialized view, planned.
#[derive(Debug, Clone)]
pub struct PlannedView {
    pub job: Job,
    pub columns: Vec<Column>,
    /// Columns that identify a row; empty: rows are a multiset.
    pub key: Vec<usize>,
    /// Columns by whose hash rows are spread over vnodes; empty: all are in one.
    pub distribution: Vec<usize>,
    pub append_only: bool,
    /// The objects that its query names.
    pub depends_on: Vec<ObjectId>,
}

/// Plans `CREATE MATERIALIZED VIEW` for the object `id`.
pub async fn plan_view(
    catalog: &Catalog,
    settings: ViewSettings<'_>,
    id: ObjectId,
    statement: &CreateMaterializedView,
    parallelism: usize,
) -> SqlResult<PlannedView> {
    let names = Names::Given(&statement.columns);
    let request = Request { catalog, settings, query: &statement.query, names };
    plan(request, id, parallelism, statement.on_error)
}

/// Plans the query of `CREATE SINK` for the object `id`. What its columns are called does not
/// matter: they are numbered.
pub async fn plan_sink(
    catalog: &Catalog,
    settings: ViewSettings<'_>,
    id: ObjectId,
    query: &Query,
    parallelism: usize,
) -> SqlResult<PlannedView> {
    let request = Request { catalog, settings, query, names: Names::Numbered };
    plan(request, id, parallelism, OnError::Null)
}

/// Plans a stored materialized view, or a sink's query, again, as at every start.
pub async fn plan_stored_view(catalog: &Catalog, view: &Object) -> SqlResult<Job> {
    let kind = view
        .kept_query()
        .ok_or_else(|| SqlError::internal(format!("{} keeps no query", view.name.name)))?;
    let query = parse_query(&kind.query)?;
    let columns = view.columns.iter().map(|column| column.name.clone());
    let names: Vec<String> = match kind.meaning.called.as_slice() {
        [] => columns.collect(),
        called => called.to_vec(),
    };
    let names = Names::Given(&names);
    let settings = ViewSettings {
        search_path: &kind.search_path,
        names: &kind.meaning.names,
        style: kind.style,
    };
    let request = Request { catalog, settings, query: &query, names };
    Ok(plan(request, view.id, kind.parallelism, kind.on_error)?.job)
}

/// The columns of a view over `query`, under other names where `names` has some.
pub async fn describe_view(
    catalog: &Catalog,
    search_path: &[String],
    query: &Query,
    names: &[String],
) -> SqlResult<DescribedView> {
    let names = Names::Given(names);
    let request = Request { catalog, settings: ViewSettings::of(search_path), query, names };
    let (plan, depends_on) = logical(&session()?, request)?;
    Ok(DescribedView { columns: columns(&plan, names)?, depends_on })
}

/// What a view's query means beside its text: what was set when the view was made.
#[derive(Debug, Clone, Copy)]
pub struct ViewSettings<'a> {
    /// Where its names are looked for.
    pub search_path: &'a [String],
    /// What names mean, whatever is found there.
    pub names: &'a [Meant],
    /// The time zone, and how values become texts.
    pub style: TextStyle,
}

impl<'a> ViewSettings<'a> {
    /// With the settings of a new session.
    pub fn of(search_path: &'a [String]) -> Self {
        Self { search_path, names: &[], style: TextStyle::default() }
    }
}

/// What the columns of `query` are called by itself.
pub(in crate::planner) fn own_names(
    catalog: &Catalog,
    settings: ViewSettings<'_>,
    query: &Query,
) -> SqlResult<Vec<String>> {
    let request = Request { catalog, settings, query, names: Names::Numbered };
    let (plan, _) = logical(&session()?, request)?;
    Ok(plan.schema().fields().iter().map(|field| shown(field.name()).to_owned()).collect())
}

/// The work that `query` is, as DataFusion shows it.
pub(in crate::planner) fn work_text(
    catalog: &Catalog,
    settings: ViewSettings<'_>,
    query: &Query,
) -> SqlResult<String> {
    let state = session()?;
    let request = Request { catalog, settings, query, names: Names::Numbered };
    let (plan, _) = logical(&state, request)?;
    let plan = catch("planning the view", || optimize(&state, plan))?;
    Ok(plan.display_indent_schema().to_string())
}

/// The work that `query` is, whatever its columns are called.
pub(super) fn plan_numbered(
    catalog: &Catalog,
    settings: ViewSettings<'_>,
    query: &Query,
) -> SqlResult<Job> {
    let request = Request { catalog, settings, query, names: Names::Numbered };
    Ok(plan(request, ObjectId(0), 1, OnError::Null)?.job)
}

/// A view's query, and what it means.
#[derive(Clone, Copy)]
struct Request<'a> {
    catalog: &'a Catalog,
    settings: ViewSettings<'a>,
    query: &'a Query,
    names: Names<'a>,
}

/// What the query's columns are called.
#[derive(Clone, Copy)]
enum Names<'a> {
    /// As given; those that are not, as in the query.
    Given(&'a [String]),
    /// `column1`, `column2`, ...
    Numbered,
}

fn plan(
    request: Request<'_>,
    object: ObjectId,
    parallelism: usize,
    on_error: OnError,
) -> SqlResult<PlannedView> {
    let state = session_with(request.settings.style)?;
    let (plan, depends_on) = logical(&state, request)?;
    let columns = columns(&plan, request.names)?;
    refuse_stable(&plan)?;
    let optimized = catch("planning the view", || optimize(&state, plan))
        .map_err(|error| planning_error(error, &*request.query.tree, &request.query.source))?;
    let tree = catch("planning the view", || Lowering::new(&state, &optimized)?.lower(&optimized))?;
    let fields: Vec<_> =
        columns.iter().map(|column| column.sql_type.field(&column.name, true)).collect();
    let tree = tree.conform(&Arc::new(Schema::new(fields)));
    let (key, append_only) = (tree.key.clone(), tree.append_only);
    let placed = place(tree)?;
    Ok(PlannedView {
        job: Job {
            object,
            fragments: placed.fragments,
            parallelism,
            fail_on_error: on_error == OnError::Fail,
        },
        columns,
        key,
        distribution: placed.distribution,
        append_only,
        depends_on,
    })
}

/// The session in which all views are planned: functions and rules, no relations. Made once.
pub(in crate::planner) fn session() -> SqlResult<SessionState> {
    static SESSION: LazyLock<SqlResult<SessionState>> = LazyLock::new(|| {
        let mut config = SessionConfig::new()
            .with_create_default_catalog_and_schema(false)
            .with_information_schema(false);
        configure(&mut config);
        let builder = SessionStateBuilder::new().with_config(config).with_default_features();
        let mut state = functions::install(builder.build())?;
        for function in drawn::functions() {
            state.register_udf(function)?;
        }
        Ok(state)
    });
    let mut session = SESSION.clone()?;
    // Names that the optimizer makes up are counted anew: one query has one plan at any time.
    session.execution_props_mut().alias_generator = Arc::default();
    Ok(session)
}

/// As [`session`], with a time zone and a style of texts.
fn session_with(style: TextStyle) -> SqlResult<SessionState> {
    let mut session = session()?;
    let options = session.config_mut().options_mut();
    options.execution.time_zone = Some(style.zone.arrow_name());
    options.extensions.insert(SessionStyle { text: style, now_micros: InputStyle::NO_MOMENT });
    let options = Arc::clone(session.config().options());
    session.execution_props_mut().config_options = Some(options);
    Ok(session)
}

/// The analysed plan of the query, and the objects and functions that it names.
fn logical(state: &SessionState, request: Request<'_>) -> SqlResult<(LogicalPlan, Vec<ObjectId>)> {
    let Request { catalog, settings, query, .. } = request;
    let ViewSettings { search_path, names, .. } = settings;
    let scope = Scope { state, catalog, search_path, names };
    let (relations, mut objects) = scope.relations(&query.tree)?;
    let functions = scope.functions(&query.tree)?;
    let planned = plan_tree(state, relations, &query.tree, &query.source, &[], &functions)?;
    objects.extend(functions.used());
    if !planned.parameters.is_empty() {
        let message = "there is no parameter $1";
        return Err(SqlError::new(code::UNDEFINED_PARAMETER, message));
    }
    Ok((planned.plan, objects))
}

fn columns(plan: &LogicalPlan, names: Names<'_>) -> SqlResult<Vec<Column>> {
    let fields = plan.schema().fields();
    let numbered: Vec<String>;
    let names = match names {
        Names::Given(names) => names,
        Names::Numbered => {
            numbered = (1..=fields.len()).map(|number| format!("column{number}")).collect();
            &numbered
        }
    };
    if names.len() > fields.len() {
        let message = "too many column names were specified";
        return Err(SqlError::new(code::SYNTAX_ERROR, message));
    }
    if fields.is_empty() {
        return Err(SqlError::unsupported("a view without columns"));
    }
    let mut columns: Vec<Column> = Vec::with_capacity(fields.len());
    for (index, field) in fields.iter().enumerate() {
        let name = names.get(index).map_or_else(|| shown(field.name()), String::as_str);
        if columns.iter().any(|column| column.name == name) {
            let message = format!("column \"{name}\" specified more than once");
            return Err(SqlError::new(code::DUPLICATE_COLUMN, message));
        }
        let sql_type = match SqlType::of_field(field) {
            SqlType::Unknown => SqlType::Text,
            known => known,
        };
        if sql_type == SqlType::Record {
            let message = format!("column \"{name}\" has pseudo-type record");
            return Err(SqlError::new(code::INVALID_TABLE_DEFINITION, message));
        }
        let is_numeric = matches!(sql_type, SqlType::Numeric(Some(_)));
        columns.push(Column {
            name: name.to_owned(),
            computed: is_numeric && !is_declared(plan, index),
            sql_type,
            not_null: false,
            default: None,
            generated: None,
            identity: None,
            comment: None,
        });
    }
    Ok(columns)
}

fn optimize(state: &SessionState, plan: LogicalPlan) -> datafusion::error::Result<LogicalPlan> {
    let rules = state.optimizers().iter().filter(|rule| !NOT_FOR_JOBS.contains(&rule.name()));
    let plan = Optimizer::with_rules(rules.cloned().collect()).optimize(plan, state, |_, _| {})?;
    // Afterwards, so that their inputs are still the same.
    grouping_sets::split(plan, grouping_sets::Split::Every)
}
