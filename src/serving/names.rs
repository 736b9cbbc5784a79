//! Names to relations, as DataFusion asks for them: database, schema, table, each looked up when a
//! statement names it and not before.
//!
//! DataFusion knows one default schema; PostgreSQL a search path. So the default schema here is a
//! made-up one, [`SEARCH_PATH`], whose tables are those of the first schema of the path that has
//! the name, `pg_catalog` before all.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::{CatalogProvider, CatalogProviderList, SchemaProvider, TableProvider};
use datafusion::datasource::ViewTable;
use datafusion::error::Result as DataFusionResult;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};

use super::bind::Relation;
use super::context::{QueryContext, Reader};
use super::replay::source_table;
use super::scan::{IndexRows, ScanProvider, Shown};
use super::session::session_state;
use super::strict::Strict;
use super::system::{catalog_table, sequence_table, weir_table};
use super::unique::UniqueKeys;
use crate::catalog::catalog::{INFORMATION_SCHEMA, PG_CATALOG, PG_TEMP, WEIR, is_temporary_schema};
use crate::catalog::function::CALLER;
use crate::catalog::{Object, ObjectKind, QualifiedName, pg};
use crate::error::{SqlError, SqlResult};

/// The name of the schema that stands for the search path. No schema of a user has it.
pub const SEARCH_PATH: &str = "$search_path";

/// The name of the schema in which the table that a DML statement writes shows all of its stored
/// columns.
pub const TARGET: &str = "$target";

/// The one database.
#[derive(Debug)]
pub(super) struct DatabaseList(QueryContext);

impl DatabaseList {
    pub(super) fn new(context: QueryContext) -> Self {
        Self(context)
    }
}

impl CatalogProviderList for DatabaseList {
    fn register_catalog(
        &self,
        _name: String,
        _catalog: Arc<dyn CatalogProvider>,
    ) -> Option<Arc<dyn CatalogProvider>> {
        None
    }

    fn catalog_names(&self) -> Vec<String> {
        vec![self.0.database.clone()]
    }

    fn catalog(&self, name: &str) -> Option<Arc<dyn CatalogProvider>> {
        if name == CALLER {
            return Some(Arc::new(Database(self.0.of_caller())));
        }
        (name == self.0.database).then(|| Arc::new(Database(self.0.clone())) as _)
    }
}

#[derive(Debug)]
struct Database(QueryContext);

impl CatalogProvider for Database {
    fn schema_names(&self) -> Vec<String> {
        self.0.catalog.schemas().map(|schema| schema.name.clone()).collect()
    }

    fn schema(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
        let schemas = if name == SEARCH_PATH {
            let path = self.0.search_path.iter();
            let implicit = (!self.0.search_path.iter().any(|s| s == PG_CATALOG))
                .then(|| PG_CATALOG.to_owned());
            implicit.into_iter().chain(path.cloned()).collect()
        } else if name == PG_TEMP || is_temporary_schema(name) {
            // A session finds its own temporary tables, and no others.
            let path = self.0.search_path.iter().filter(|own| is_temporary_schema(own));
            let own = path.filter(|own| name == PG_TEMP || *own == name);
            own.cloned().collect()
        } else if name == TARGET || self.0.catalog.schema(name).is_some() {
            vec![name.to_owned()]
        } else {
            return None;
        };
        Some(Arc::new(Schemas { context: self.0.clone(), schemas }))
    }
}

/// Schemas one after the other: the first that has a name, has it.
#[derive(Debug)]
struct Schemas {
    context: QueryContext,
    schemas: Vec<String>,
}

#[async_trait]
impl SchemaProvider for Schemas {
    fn table_names(&self) -> Vec<String> {
        let names = self.context.catalog.objects().map(|object| &object.name);
        let mine = names.filter(|name| self.schemas.contains(&name.schema));
        mine.map(|name| name.name.clone()).collect()
    }

    async fn table(&self, name: &str) -> DataFusionResult<Option<Arc<dyn TableProvider>>> {
        if let [schema] = self.schemas.as_slice() {
            self.context.check_names(schema)?;
        }
        for schema in &self.schemas {
            if let Some(table) = relation(&self.context, schema, name).await? {
                return Ok(Some(table));
            }
        }
        Ok(None)
    }

    fn table_exist(&self, name: &str) -> bool {
        self.schemas.iter().any(|schema| {
            let name = QualifiedName::new(schema, name);
            self.context.catalog.object_named(&name).is_some() || is_system(&self.context, &name)
        })
    }
}

fn is_system(context: &QueryContext, name: &QualifiedName) -> bool {
    match name.schema.as_str() {
        WEIR => context.system.schema(&name.name).is_some(),
        PG_CATALOG | INFORMATION_SCHEMA => pg::relation(&name.schema, &name.name).is_some(),
        _ => false,
    }
}

/// The relation `schema.name`, if there is one.
async fn relation(
    context: &QueryContext,
    schema: &str,
    name: &str,
) -> SqlResult<Option<Arc<dyn TableProvider>>> {
    if schema == TARGET {
        return target(context, name);
    }
    let name = QualifiedName::new(schema, name);
    let Some(object) = context.catalog.object_named(&name) else {
        return stored_relation(context, &name);
    };
    context.check_reads(object)?;
    let ObjectKind::View(view) = &object.kind else {
        return stored_relation(context, &name);
    };
    // A view's names mean what they meant where it was made.
    let state = session_state(&QueryContext {
        search_path: view.search_path.clone(),
        reader: match context.reader {
            Reader::Server => Reader::Server,
            _ => Reader::Owner(Arc::from(object.owner.as_str())),
        },
        ..context.clone()
    })?;
    let plan = context.views.plan(&state, object).await?;
    let plan = with_column_names(plan, object)?;
    Ok(Some(Arc::new(ViewTable::new(plan, Some(object.definition.clone())))))
}

/// The table that the statement writes.
fn target(context: &QueryContext, name: &str) -> SqlResult<Option<Arc<dyn TableProvider>>> {
    let Some(object) = context.target.as_ref().filter(|object| object.name.name == name) else {
        return Ok(None);
    };
    let rows = context.rows_of(object.id);
    let provider = ScanProvider::new(Arc::clone(object), rows, Shown::Stored)?;
    Ok(Some(Arc::new(provider.with_unique(unique(context, object)))))
}

/// The relation `name`, if there is one and it is not a view.
pub(super) fn stored_relation(
    context: &QueryContext,
    name: &QualifiedName,
) -> SqlResult<Option<Arc<dyn TableProvider>>> {
    let provider = match context.catalog.object_named(name) {
        Some(object) => Some(provider(context, object)?),
        None => match name.schema.as_str() {
            WEIR => weir_table(context, &name.name)?,
            PG_CATALOG | INFORMATION_SCHEMA => catalog_table(context, name)?,
            _ => None,
        },
    };
    Ok(provider.map(|provider| Arc::new(Relation::new(name.clone(), provider)) as _))
}

/// How `object` is read.
fn provider(context: &QueryContext, object: &Arc<Object>) -> SqlResult<Arc<dyn TableProvider>> {
    match &object.kind {
        ObjectKind::Table(_) | ObjectKind::MaterializedView(_) => {
            context.system.check_whole(object.id, &context.snapshot)?;
            let rows = context.rows_of(object.id);
            let strict = Strict::of(context, object);
            let provider = ScanProvider::new(Arc::clone(object), rows, Shown::Visible)?;
            let provider = provider.unless_failing(strict).with_unique(unique(context, object));
            Ok(Arc::new(provider.with_indexes(indexes(context, object)?)))
        }
        ObjectKind::Index(_) | ObjectKind::Sink(_) | ObjectKind::Subscription(_) => {
            object.check_readable()?;
            Err(SqlError::internal("read by a name that nothing can be read by"))
        }
        ObjectKind::Sequence(_) => sequence_table(context, object),
        ObjectKind::Source(_) => source_table(context, object),
        ObjectKind::View(_) => {
            Err(SqlError::internal(format!("view {} was not expanded", object.name.name)))
        }
    }
}

/// The unique indexes by which rows are found that a transaction may have written.
fn unique(context: &QueryContext, object: &Object) -> Vec<UniqueKeys> {
    context.unique.get(&object.id).cloned().unwrap_or_default()
}

/// The indexes that have what `object` has. What a transaction wrote is in none of them.
fn indexes(context: &QueryContext, object: &Object) -> SqlResult<Vec<IndexRows>> {
    let mut usable = Vec::new();
    if context.rows.contains_key(&object.id) {
        return Ok(usable);
    }
    for index in context.catalog.indexes(object.id) {
        if context.system.is_whole(index.id, &context.snapshot)? {
            usable.push(IndexRows::new(Arc::clone(index), object, context.rows_of(index.id))?);
        }
    }
    Ok(usable)
}

/// A view may name its columns otherwise than its query does.
fn with_column_names(plan: LogicalPlan, view: &Object) -> SqlResult<LogicalPlan> {
    let names = view.columns.iter().map(|column| column.name.as_str());
    let same = plan.schema().fields().iter().map(|field| field.name().as_str()).eq(names.clone());
    if same {
        return Ok(plan);
    }
    let renamed: Vec<_> = plan
        .schema()
        .columns()
        .into_iter()
        .zip(names)
        .map(|(column, name)| Expr::Column(column).alias(name))
        .collect();
    Ok(LogicalPlanBuilder::from(plan).project(renamed)?.build()?)
}
