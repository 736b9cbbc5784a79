//! A table or materialized view as DataFusion reads it: keys, ranges, projection and limit pushed
//! down to the store.
//!
//! Reading blocks (a miss goes to the disk), so each batch is read on a thread of the blocking
//! pool: the cursor moves there and comes back with the batch. No thread waits while nobody asks
//! for rows, so any number of slow clients and suspended portals cannot exhaust the pool, and a
//! dropped stream stops after the batch that is being read.

use std::fmt;
use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Constraint, Constraints};
use datafusion::datasource::{TableProvider, TableType};
use datafusion::error::Result as DataFusionResult;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::physical_expr::EquivalenceProperties;
use datafusion::physical_plan::execution_plan::{
    Boundedness, EmissionType, ReplaceChildrenOptions,
};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PhysicalExpr, PlanProperties,
};
use futures::stream;

use super::cursor::{Beyond, Cursor, Reading, Work};
use super::pushdown::{Access, Choice, KeyRange, choose};
use super::rows::StoredRows;
use super::strict::Strict;
use super::unique::UniqueKeys;
use crate::catalog::Object;
use crate::error::{SqlError, SqlResult};
use crate::state::RowLayout;
use crate::task;
use crate::types::key::VNODES;

/// Which of the stored columns are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// The columns of the relation.
    Visible,
    /// The hidden row id too, for DML.
    Stored,
}

/// The stored rows of an object.
#[derive(Debug)]
pub struct ScanProvider {
    object: Arc<Object>,
    schema: SchemaRef,
    /// Which stored column each of the schema's is.
    places: Vec<usize>,
    rows: Arc<dyn StoredRows>,
    layout: Arc<RowLayout>,
    constraints: Constraints,
    strict: Option<Arc<Strict>>,
    indexes: Vec<IndexRows>,
    unique: Vec<UniqueKeys>,
}

/// The stored rows of an index. It may lack columns that came after it was made.
#[derive(Debug)]
pub(super) struct IndexRows {
    index: Arc<Object>,
    rows: Arc<dyn StoredRows>,
    layout: Arc<RowLayout>,
    /// For each stored column, which of the indexed object's it is.
    order: Vec<usize>,
}

impl IndexRows {
    pub(super) fn new(
        index: Arc<Object>,
        on: &Object,
        rows: Arc<dyn StoredRows>,
    ) -> SqlResult<Self> {
        let order = index.index().map(|index| index.order.clone()).unwrap_or_default();
        // Statements call its columns as they are called now.
        let named = on.stored_schema();
        let stored = index.stored_schema();
        let fields = stored.fields().iter().zip(&order).map(|(field, place)| {
            field.as_ref().clone().with_name(named.field(*place).name()).with_nullable(true)
        });
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let layout = Arc::new(RowLayout::new(schema, &index.key(), &index.distribution())?);
        Ok(Self { index, rows, layout, order })
    }
}

impl IndexRows {
    /// Where the index has the object's stored columns `places`; or, if it lacks one of them, what
    /// finds the object's own rows by those of the index.
    fn columns(
        &self,
        places: &[usize],
        of: &ScanProvider,
    ) -> SqlResult<(Vec<usize>, Option<Beyond>)> {
        let own = |place: &usize| self.order.iter().position(|own| own == place);
        if let Some(columns) = places.iter().map(own).collect() {
            return Ok((columns, None));
        }
        let key: Option<Vec<usize>> = of.layout.key_columns().iter().map(own).collect();
        let lacking = || SqlError::internal("an index lacks the key of its table");
        let schema = Arc::new(self.layout.schema().project(&key.clone().ok_or_else(lacking)?)?);
        let all: Vec<usize> = (0..schema.fields().len()).collect();
        let beyond = Beyond {
            key: key.unwrap_or_default(),
            keys: RowLayout::new(schema, &all, &all)?,
            rows: Arc::clone(&of.rows),
            layout: Arc::clone(&of.layout),
        };
        Ok((places.to_vec(), Some(beyond)))
    }
}

/// What a scan reads: the object's own rows, maybe found by a unique index, or the rows of one of
/// its indexes.
struct Chosen<'a> {
    choice: Choice,
    index: Option<&'a IndexRows>,
    unique: Option<&'a UniqueKeys>,
}

impl ScanProvider {
    pub fn new(object: Arc<Object>, rows: Arc<dyn StoredRows>, shown: Shown) -> SqlResult<Self> {
        let stored = object.stored_schema();
        let (schema, places) = match shown {
            Shown::Visible => (object.schema(), object.places()),
            Shown::Stored => (Arc::clone(&stored), (0..stored.fields().len()).collect()),
        };
        let layout = Arc::new(object.layout()?);
        let key = object.key().into_iter();
        let key = key.map(|place| places.iter().position(|own| *own == place));
        let key: Option<Vec<usize>> = key.collect();
        let key = key.unwrap_or_default();
        // A view's key is not declared: the planner proved it, but for stored rows only.
        let unique = !key.is_empty() && key.iter().all(|&c| !schema.field(c).is_nullable());
        let constraints = match unique {
            true => Constraints::new_unverified(vec![Constraint::PrimaryKey(key)]),
            false => Constraints::default(),
        };
        let (indexes, unique) = (Vec::new(), Vec::new());
        let strict = None;
        Ok(Self { object, schema, places, rows, layout, constraints, strict, indexes, unique })
    }

    /// Reading raises what `strict` finds.
    pub(super) fn unless_failing(self, strict: Option<Strict>) -> Self {
        Self { strict: strict.map(Arc::new), ..self }
    }

    /// Rows may be looked for in `indexes` too.
    pub(super) fn with_indexes(self, indexes: Vec<IndexRows>) -> Self {
        Self { indexes, ..self }
    }

    /// Rows may be found by the keys of unique indexes.
    pub(super) fn with_unique(self, unique: Vec<UniqueKeys>) -> Self {
        Self { unique, ..self }
    }

    pub fn object(&self) -> &Arc<Object> {
        &self.object
    }

    /// The way that binds most columns; the object's own key where that is as good, and always
    /// where it tells each row.
    fn choose(&self, filters: &[&Expr]) -> SqlResult<Chosen<'_>> {
        let choice = choose(&self.layout, filters)?;
        let mut best = Chosen { choice, index: None, unique: None };
        for unique in &self.unique {
            if matches!(best.choice.access, Access::Keys(_)) {
                break;
            }
            let choice = choose(&unique.layout, filters)?;
            if let Access::Keys(_) = choice.access {
                best = Chosen { choice, index: None, unique: Some(unique) };
            }
        }
        for index in &self.indexes {
            if matches!(best.choice.access, Access::Keys(_)) {
                break;
            }
            let choice = choose(&index.layout, filters)?;
            if choice.bound > best.choice.bound {
                best = Chosen { choice, index: Some(index), unique: None };
            }
        }
        Ok(best)
    }
}

#[async_trait]
impl TableProvider for ScanProvider {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn constraints(&self) -> Option<&Constraints> {
        Some(&self.constraints)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> DataFusionResult<Vec<TableProviderFilterPushDown>> {
        Ok(self.choose(filters)?.choice.filters)
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> DataFusionResult<Arc<dyn ExecutionPlan>> {
        let columns = match projection {
            Some(projection) => projection.clone(),
            None => (0..self.schema.fields().len()).collect(),
        };
        let schema = Arc::new(self.schema.project(&columns)?);
        let filters: Vec<&Expr> = filters.iter().collect();
        let places: Vec<usize> = columns.iter().map(|column| self.places[*column]).collect();
        let Chosen { mut choice, index, unique } = self.choose(&filters)?;
        if let Some(unique) = unique {
            choice.access = Access::Keys(found(unique, &choice.access).await?);
            choice.description = format!("unique={}, {}", unique.name, choice.description);
        }
        let (rows, layout) = match index {
            Some(index) => (&index.rows, &index.layout),
            None => (&self.rows, &self.layout),
        };
        let (columns, beyond) = match index {
            Some(index) => index.columns(&places, self)?,
            None => (places, None),
        };
        let partitions = partitions(&choice.access, layout, state.config().target_partitions());
        let reading = Reading {
            rows: Arc::clone(rows),
            layout: Arc::clone(layout),
            columns,
            beyond,
            schema,
            strict: self.strict.clone(),
        };
        let name = format!("{}.{}", self.object.name.schema, self.object.name.name);
        let description = match index {
            Some(index) => format!("index={}, {}", index.index.name.name, choice.description),
            None => choice.description,
        };
        Ok(Arc::new(ScanExec::new(name, description, reading, partitions, limit)))
    }
}

/// Under which keys the rows lie that have those of a unique index.
async fn found(unique: &UniqueKeys, access: &Access) -> SqlResult<Vec<Vec<u8>>> {
    let Access::Keys(keys) = access else { return Ok(Vec::new()) };
    let (holders, keys) = (Arc::clone(&unique.holders), keys.clone());
    let found = task::spawn_blocking(move || holders.holders(&keys)).await;
    let found = found.map_err(|panic| SqlError::internal(format!("a unique index: {panic}")))??;
    let mut found: Vec<Vec<u8>> = found.into_iter().flatten().collect();
    found.sort_unstable();
    Ok(found)
}

/// What each partition reads.
#[derive(Debug, Clone)]
enum Part {
    Keys(Vec<Vec<u8>>),
    Ranges(Vec<KeyRange>),
}

fn partitions(access: &Access, layout: &RowLayout, partitions_max: usize) -> Vec<Part> {
    let partitions_max = partitions_max.max(1);
    match access {
        Access::Keys(keys) => vec![Part::Keys(keys.clone())],
        Access::Ranges(ranges) if ranges.is_empty() => vec![Part::Keys(Vec::new())],
        Access::Ranges(ranges) => {
            let size = ranges.len().div_ceil(partitions_max);
            ranges.chunks(size).map(|chunk| Part::Ranges(chunk.to_vec())).collect()
        }
        Access::All => {
            // Without distribution columns all rows are in one share.
            let count = if layout.distribution_columns().is_empty() { 1 } else { partitions_max };
            let count = count.min(VNODES);
            let start = |part: usize| -> Option<Vec<u8>> {
                u8::try_from(part * VNODES / count).ok().map(|vnode| vec![vnode])
            };
            (0..count)
                .map(|part| {
                    let from = start(part).unwrap_or_default();
                    Part::Ranges(vec![KeyRange { from, to: start(part + 1) }])
                })
                .collect()
        }
    }
}

/// Reads one object's stored rows.
#[derive(Debug, Clone)]
struct ScanExec {
    name: String,
    description: String,
    reading: Arc<Reading>,
    partitions: Vec<Part>,
    limit: Option<usize>,
    properties: Arc<PlanProperties>,
}

impl ScanExec {
    fn new(
        name: String,
        description: String,
        reading: Reading,
        partitions: Vec<Part>,
        limit: Option<usize>,
    ) -> Self {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(Arc::clone(&reading.schema)),
            Partitioning::UnknownPartitioning(partitions.len()),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        Self {
            name,
            description,
            reading: Arc::new(reading),
            partitions,
            limit,
            properties: Arc::new(properties),
        }
    }
}

impl DisplayAs for ScanExec {
    fn fmt_as(&self, _format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns: Vec<&str> =
            self.reading.schema.fields().iter().map(|field| field.name().as_str()).collect();
        let columns = columns.join(", ");
        write!(f, "Scan: object={}, {}, projection=[{columns}]", self.name, self.description)?;
        match self.limit {
            Some(limit) => write!(f, ", limit={limit}"),
            None => Ok(()),
        }
    }
}

impl ExecutionPlan for ScanExec {
    fn name(&self) -> &'static str {
        "Scan"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _visit: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> DataFusionResult<TreeNodeRecursion>,
    ) -> DataFusionResult<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        _children: Vec<Arc<dyn ExecutionPlan>>,
        _options: ReplaceChildrenOptions,
    ) -> DataFusionResult<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn with_new_children(
        self: Arc<Self>,
        _children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> DataFusionResult<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn with_fetch(&self, limit: Option<usize>) -> Option<Arc<dyn ExecutionPlan>> {
        Some(Arc::new(Self { limit, ..self.clone() }))
    }

    fn fetch(&self) -> Option<usize> {
        self.limit
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> DataFusionResult<SendableRecordBatchStream> {
        let work = match self.partitions.get(partition) {
            Some(Part::Keys(keys)) => Work::Keys(keys.clone().into()),
            Some(Part::Ranges(ranges)) => Work::Ranges(ranges.clone().into()),
            None => return Err(SqlError::internal("no such partition of a scan").into()),
        };
        let batch_rows = context.session_config().batch_size();
        let cursor = Cursor::new(Arc::clone(&self.reading), work, self.limit, batch_rows);
        let batches = stream::try_unfold(cursor, |mut cursor| async move {
            let read = task::spawn_blocking(move || cursor.next().map(|batch| (batch, cursor)));
            let (batch, cursor) = read
                .await
                .map_err(|error| SqlError::internal(format!("reading a table: {error}")))
                .and_then(|read| read)?;
            Ok(batch.map(|batch| (batch, cursor)))
        });
        let schema = Arc::clone(&self.reading.schema);
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, batches)))
    }
}
