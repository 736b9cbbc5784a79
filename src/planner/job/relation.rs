//! The relations of a job's query: objects of the catalog, with a schema and no rows.

use std::any::Any;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::{Constraint, Constraints, TableReference};
use datafusion::datasource::{TableProvider, TableType, ViewTable, provider_as_source};
use datafusion::execution::SessionState;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, TableSource};
use datafusion::physical_plan::ExecutionPlan;
use sqlparser::ast;

use super::super::names::{Relations, no_such_relation};
use super::super::parse::parse_query;
use super::super::query::{plan_tree, relation_names};
use super::super::sql_functions::{Functions, reach};
use crate::catalog::catalog::is_system_schema;
use crate::catalog::{Catalog, Meant, Object, ObjectKind};
use crate::error::{SqlError, SqlResult, code};
use crate::types::ObjectId;

/// Views over views, at the most: a chain this long is a mistake, and each level plans anew.
const VIEW_DEPTH_MAX: usize = 32;

/// An object that a job reads.
#[derive(Debug)]
pub(super) struct JobRelation {
    pub(super) object: Arc<Object>,
    schema: SchemaRef,
    constraints: Constraints,
}

impl JobRelation {
    fn new(object: Arc<Object>) -> Self {
        let constraints = match &object.kind {
            ObjectKind::Table(table) if !table.primary_key.is_empty() => {
                vec![Constraint::PrimaryKey(table.primary_key.clone())]
            }
            _ => Vec::new(),
        };
        let schema = object.schema();
        Self { object, schema, constraints: Constraints::new_unverified(constraints) }
    }
}

#[async_trait]
impl TableProvider for JobRelation {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn constraints(&self) -> Option<&Constraints> {
        Some(&self.constraints)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        _state: &dyn Session,
        _projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        _limit: Option<usize>,
    ) -> datafusion::error::Result<Arc<dyn ExecutionPlan>> {
        Err(SqlError::internal("a job's relation has no rows of its own").into())
    }
}

/// Where a job's names are looked up.
#[derive(Clone, Copy)]
pub(in crate::planner) struct Scope<'a> {
    pub(in crate::planner) state: &'a SessionState,
    pub(in crate::planner) catalog: &'a Catalog,
    pub(in crate::planner) search_path: &'a [String],
    /// What names mean, whatever is found there.
    pub(in crate::planner) names: &'a [Meant],
}

impl Scope<'_> {
    /// The relations that `tree` names, and the objects behind them in order of first use.
    pub(in crate::planner) fn relations(
        &self,
        tree: &ast::Query,
    ) -> SqlResult<(Relations, Vec<ObjectId>)> {
        self.relations_at(tree, 0)
    }

    fn relations_at(
        &self,
        tree: &ast::Query,
        depth: usize,
    ) -> SqlResult<(Relations, Vec<ObjectId>)> {
        if depth > VIEW_DEPTH_MAX {
            let message = format!("views are nested more than {VIEW_DEPTH_MAX} deep");
            return Err(SqlError::new(code::STATEMENT_TOO_COMPLEX, message));
        }
        let statement = ast::Statement::Query(Box::new(tree.clone()));
        let mut relations = Relations::new();
        let mut objects = Vec::new();
        for name in relation_names(self.state, &statement)? {
            // What is missing, the planner reports with its place.
            let Some(object) = self.object(&name)? else { continue };
            if !objects.contains(&object.id) {
                objects.push(object.id);
            }
            relations.insert(name, self.source(&object, depth)?);
        }
        Ok((relations, objects))
    }

    /// The functions in SQL that `tree` may call.
    pub(in crate::planner) fn functions(&self, tree: &ast::Query) -> SqlResult<Functions> {
        self.functions_at(tree, 0)
    }

    fn functions_at(&self, tree: &ast::Query, depth: usize) -> SqlResult<Functions> {
        let mut reached = Vec::new();
        for found in reach(self.catalog, self.search_path, tree)? {
            let function = &found.function;
            let (search_path, names) = (&function.search_path, &function.meaning.names);
            let own = Scope { search_path, names, ..*self };
            let (relations, _) = own.relations_at(&found.query.tree, depth + 1)?;
            reached.push((found, relations));
        }
        let catalog = Arc::new(self.catalog.clone());
        Ok(Functions::new(&catalog, self.search_path, reached))
    }

    /// What the names of relations in `tree` mean.
    pub(in crate::planner) fn meant(&self, tree: &ast::Query) -> SqlResult<Vec<Meant>> {
        let statement = ast::Statement::Query(Box::new(tree.clone()));
        let mut meant = Vec::new();
        for name in relation_names(self.state, &statement)? {
            let Some(object) = self.object(&name)? else { continue };
            meant.push(Meant {
                schema: name.schema().map(str::to_owned),
                name: name.table().to_owned(),
                object: object.id,
                ..Meant::default()
            });
        }
        Ok(meant)
    }

    fn object(&self, name: &TableReference) -> SqlResult<Option<Arc<Object>>> {
        if let Some(meant) = meant_by(self.names, name) {
            return Ok(self.catalog.object(meant.object).map(|object| meant.known(object)));
        }
        if let Some(schema) = name.schema().filter(|schema| is_system_schema(schema)) {
            let what = format!("a materialized view over schema {schema}");
            return Err(SqlError::unsupported(what));
        }
        let found = self.catalog.resolve(self.search_path, name.schema(), name.table());
        if let Some(object) = found {
            object.check_readable()?;
        }
        if found.is_none() && name.schema().is_some_and(|s| self.catalog.schema(s).is_none()) {
            return Err(no_such_relation(name));
        }
        Ok(found.cloned())
    }

    fn source(&self, object: &Arc<Object>, depth: usize) -> SqlResult<Arc<dyn TableSource>> {
        let ObjectKind::View(view) = &object.kind else {
            return Ok(provider_as_source(Arc::new(JobRelation::new(Arc::clone(object)))));
        };
        let query = parse_query(&view.query)?;
        let (search_path, names) = (&view.search_path, &view.meaning.names);
        let own = Scope { search_path, names, ..*self };
        let (relations, _) = own.relations_at(&query.tree, depth + 1)?;
        let functions = own.functions_at(&query.tree, depth + 1)?;
        let planned =
            plan_tree(self.state, relations, &query.tree, &query.source, &[], &functions)?;
        let plan = with_names(planned.plan, object)?;
        Ok(provider_as_source(Arc::new(ViewTable::new(plan, Some(view.query.clone())))))
    }
}

/// What `names` say of a name.
pub(in crate::planner) fn meant_by<'a>(
    names: &'a [Meant],
    name: &TableReference,
) -> Option<&'a Meant> {
    names
        .iter()
        .find(|meant| meant.schema.as_deref() == name.schema() && meant.name == name.table())
}

/// A view may name its columns otherwise than its query does.
fn with_names(plan: LogicalPlan, view: &Object) -> SqlResult<LogicalPlan> {
    let columns = plan.schema().columns();
    let renamed = columns
        .into_iter()
        .zip(&view.columns)
        .map(|(column, named)| Expr::Column(column).alias(&named.name));
    Ok(LogicalPlanBuilder::from(plan.clone()).project(renamed)?.build()?)
}

/// Whether a planned scan reads an object.
pub(super) fn is_object(source: &Arc<dyn TableSource>) -> bool {
    object_of(source).is_ok()
}

/// The object that a planned scan reads.
pub(super) fn object_of(source: &Arc<dyn TableSource>) -> SqlResult<Arc<Object>> {
    let provider = datafusion::datasource::source_as_provider(source)?;
    let provider: &dyn Any = provider.as_ref();
    match provider.downcast_ref::<JobRelation>() {
        Some(relation) => Ok(Arc::clone(&relation.object)),
        None => Err(SqlError::unsupported("a table function in a materialized view")),
    }
}
