//! What the names of a view's query mean: schemas of relations, without rows.

use std::any::Any;
use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{
    CatalogProvider, CatalogProviderList, SchemaProvider, Session, TableProvider,
};
use datafusion::common::not_impl_err;
use datafusion::datasource::{DefaultTableSource, ViewTable};
use datafusion::error::{DataFusionError, Result as DataFusionResult};
use datafusion::logical_expr::{Expr, TableSource, TableType};
use datafusion::physical_plan::ExecutionPlan;
use parking_lot::Mutex;

use crate::catalog::{Catalog, Object, ObjectKind};
use crate::error::SqlError;
use crate::planner::{parse_query, plan_query};
use crate::types::ObjectId;

/// The one database, and the schema that stands for the search path.
pub(super) const DATABASE: &str = "weir";
pub(super) const SEARCH_PATH: &str = "$search_path";

/// Which relations a query named: what the view depends on.
#[derive(Debug, Clone, Default)]
pub(super) struct Named(Arc<Mutex<BTreeSet<ObjectId>>>);

impl Named {
    /// The relations named so far.
    pub(super) fn take(&self) -> Vec<ObjectId> {
        std::mem::take(&mut *self.0.lock()).into_iter().collect()
    }
}

/// The meaning of names in `catalog`, and a record of those that are looked up.
pub(super) fn databases(catalog: &Catalog, search_path: &[String]) -> (Databases, Named) {
    let named = Named::default();
    let meaning = Meaning {
        catalog: catalog.clone(),
        search_path: search_path.to_vec(),
        named: named.clone(),
    };
    (Databases(Arc::new(meaning)), named)
}

#[derive(Debug)]
struct Meaning {
    catalog: Catalog,
    search_path: Vec<String>,
    named: Named,
}

#[derive(Debug)]
pub(super) struct Databases(Arc<Meaning>);

impl CatalogProviderList for Databases {
    fn register_catalog(
        &self,
        _name: String,
        _catalog: Arc<dyn CatalogProvider>,
    ) -> Option<Arc<dyn CatalogProvider>> {
        None
    }

    fn catalog_names(&self) -> Vec<String> {
        vec![DATABASE.to_owned()]
    }

    fn catalog(&self, _name: &str) -> Option<Arc<dyn CatalogProvider>> {
        // The session has checked the name of the database; here all are the same.
        Some(Arc::new(Database(Arc::clone(&self.0))))
    }
}

#[derive(Debug)]
struct Database(Arc<Meaning>);

impl CatalogProvider for Database {
    fn schema_names(&self) -> Vec<String> {
        self.0.catalog.schemas().map(|schema| schema.name.clone()).collect()
    }

    fn schema(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
        let schema = match name {
            SEARCH_PATH => None,
            name => Some(self.0.catalog.schema(name)?.name.clone()),
        };
        Some(Arc::new(Schema { meaning: Arc::clone(&self.0), schema }))
    }
}

#[derive(Debug)]
struct Schema {
    meaning: Arc<Meaning>,
    /// `None`: the search path.
    schema: Option<String>,
}

impl Schema {
    fn object(&self, name: &str) -> Option<&Arc<Object>> {
        let meaning = &self.meaning;
        meaning.catalog.resolve(&meaning.search_path, self.schema.as_deref(), name)
    }
}

#[async_trait]
impl SchemaProvider for Schema {
    fn table_names(&self) -> Vec<String> {
        self.meaning.catalog.objects().map(|object| object.name.name.clone()).collect()
    }

    async fn table(&self, name: &str) -> DataFusionResult<Option<Arc<dyn TableProvider>>> {
        let Some(object) = self.object(name) else { return Ok(None) };
        self.meaning.named.0.lock().insert(object.id);
        if let ObjectKind::View(view) = &object.kind {
            let boxed = |error: SqlError| DataFusionError::External(Box::new(error));
            let query = parse_query(&view.query).map_err(boxed)?;
            let (state, _) = super::job_state(&self.meaning.catalog, &view.search_path)
                .map_err(boxed)?;
            let plan = Box::pin(plan_query(&state, &query, &[])).await.map_err(boxed)?.plan;
            let renamed: Vec<Expr> = plan
                .schema()
                .columns()
                .into_iter()
                .zip(&object.columns)
                .map(|(column, named)| Expr::Column(column).alias(&named.name))
                .collect();
            let plan =
                datafusion::logical_expr::LogicalPlanBuilder::from(plan).project(renamed)?.build()?;
            return Ok(Some(Arc::new(ViewTable::new(plan, None))));
        }
        Ok(Some(Arc::new(Relation { object: Arc::clone(object), schema: object.schema() })))
    }

    fn table_exist(&self, name: &str) -> bool {
        self.object(name).is_some()
    }
}

/// A table, source or materialized view.
#[derive(Debug)]
pub(super) struct Relation {
    pub(super) object: Arc<Object>,
    schema: SchemaRef,
}

impl Relation {
    /// The relation that a scan reads.
    pub(super) fn of(source: &Arc<dyn TableSource>) -> Option<&Relation> {
        let source: &dyn Any = source.as_ref();
        let source = source.downcast_ref::<DefaultTableSource>()?;
        let provider: &dyn Any = source.table_provider.as_ref();
        provider.downcast_ref::<Relation>()
    }
}

#[async_trait]
impl TableProvider for Relation {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
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
    ) -> DataFusionResult<Arc<dyn ExecutionPlan>> {
        not_impl_err!("a view's query is not run by itself")
    }
}
