//! The incremental plan before it is placed on actors: operators, and what is known of their rows.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{CastExpr, Column};

use super::scalar::moved;
use crate::catalog::Object;
use crate::error::SqlResult;
use crate::graph::{Aggregate, BatchPlan, Constant, Join, Map, Recompute, TopN, Window};

/// An operator over its inputs.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    pub(super) kind: TreeKind,
    /// Schema of the rows it gives.
    pub(super) schema: SchemaRef,
    /// Columns that identify a row, in ascending order; empty: none are known to.
    pub(super) key: Vec<usize>,
    /// Rows are never taken away.
    pub(super) append_only: bool,
}

#[derive(Debug, Clone)]
pub(super) enum TreeKind {
    /// The stored rows of an object.
    Scan(Arc<Object>),
    Map(Map, Box<Tree>),
    Union(Vec<Tree>),
    Join(Join, Box<[Tree; 2]>),
    Aggregate(Aggregate, Box<Tree>),
    Expand(BatchPlan, Box<Tree>),
    TopN(TopN, Box<Tree>),
    Window(Window, Box<Tree>),
    Recompute(Recompute, Vec<Tree>),
    Constant(Constant),
    /// A tree that has several parents: it is made once.
    Shared(Rc<Shared>),
}

/// A tree with several parents.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) tree: Tree,
    /// Where it was placed, once it was.
    pub(super) fragment: OnceCell<usize>,
}

impl Tree {
    /// All columns may be NULL: those that are NOT NULL now may once not have been, or be dropped
    /// later, when rows have nothing there.
    pub(super) fn scan(object: Arc<Object>) -> Self {
        Self {
            schema: nullable(&object.stored_schema()),
            key: sorted(object.key()),
            append_only: object.append_only(),
            kind: TreeKind::Scan(object),
        }
    }

    /// The same tree, made to have several parents: clones of the result are one operator. What
    /// only reads an object is read again instead.
    pub(super) fn shared(self) -> Self {
        if matches!(self.kind, TreeKind::Shared(_)) || self.is_read() {
            return self;
        }
        Self {
            schema: Arc::clone(&self.schema),
            key: self.key.clone(),
            append_only: self.append_only,
            kind: TreeKind::Shared(Rc::new(Shared { tree: self, fragment: OnceCell::new() })),
        }
    }

    /// Whether it is the rows of an object, or those filtered and computed with.
    fn is_read(&self) -> bool {
        match &self.kind {
            TreeKind::Scan(_) => true,
            TreeKind::Map(_, input) => input.is_read(),
            _ => false,
        }
    }

    /// Columns whose values tell a row from others: its key, or all of them.
    pub(super) fn identity(&self) -> Vec<usize> {
        match self.key.is_empty() {
            true => (0..self.schema.fields().len()).collect(),
            false => self.key.clone(),
        }
    }

    /// Keeps the rows where all `predicates` are true.
    pub(super) fn filter(mut self, predicates: Vec<Arc<dyn PhysicalExpr>>) -> Self {
        if let TreeKind::Map(map, input) = &mut self.kind
            && let Some(columns) = map_columns(map, &input.schema)
        {
            map.predicates.extend(through(predicates, &input.schema, &columns));
            return self;
        }
        let map = Map { predicates, expressions: None };
        Self {
            schema: nullable(&self.schema),
            key: self.key.clone(),
            append_only: self.append_only,
            kind: TreeKind::Map(map, Box::new(self)),
        }
    }

    /// Computes `expressions`, giving rows with `schema`.
    pub(super) fn project(
        mut self,
        expressions: Vec<Arc<dyn PhysicalExpr>>,
        schema: SchemaRef,
    ) -> Self {
        let key = self.key_through(&expressions);
        if let TreeKind::Map(map, input) = &mut self.kind {
            let merged = match (map_columns(map, &input.schema), &map.expressions) {
                (Some(columns), _) => {
                    Some(through(expressions.clone(), &input.schema, &columns).collect())
                }
                // Columns of computed columns are those computed columns.
                (None, Some(inner)) => passed_on(&expressions).map(|columns| {
                    columns.iter().map(|&column| Arc::clone(&inner[column])).collect()
                }),
                (None, None) => None,
            };
            if merged.is_some() {
                map.expressions = merged;
                return Self { schema, key, ..self };
            }
        }
        let map = Map { predicates: Vec::new(), expressions: Some(expressions) };
        Self {
            schema,
            key,
            append_only: self.append_only,
            kind: TreeKind::Map(map, Box::new(self)),
        }
    }

    /// The same rows with `computed` after their own columns.
    pub(super) fn with_computed(self, computed: Vec<Arc<dyn PhysicalExpr>>) -> SqlResult<Self> {
        if computed.is_empty() {
            return Ok(self);
        }
        let mut fields: Vec<_> = nullable(&self.schema).fields().iter().cloned().collect();
        for (index, expr) in computed.iter().enumerate() {
            let field = expr.return_field(&self.schema)?.as_ref().clone();
            fields.push(Arc::new(field.with_name(format!("_key{index}")).with_nullable(true)));
        }
        let width = self.schema.fields().len();
        let columns = (0..width).map(|column| column_expr(&self.schema, column));
        let expressions = columns.chain(computed).collect();
        Ok(self.project(expressions, Arc::new(Schema::new(fields))))
    }

    /// Gives the columns `columns`, in that order.
    pub(super) fn select(self, columns: &[usize]) -> Self {
        let whole = columns.iter().copied().eq(0..self.schema.fields().len());
        if whole {
            return self;
        }
        let expressions = columns.iter().map(|&column| column_expr(&self.schema, column)).collect();
        let fields: Vec<_> =
            columns.iter().map(|&column| Arc::clone(&self.schema.fields()[column])).collect();
        let schema = nullable(&Arc::new(Schema::new(fields)));
        self.project(expressions, schema)
    }

    /// The same rows under `schema`'s names and types.
    pub(super) fn conform(mut self, schema: &SchemaRef) -> Self {
        if self.schema == *schema {
            return self;
        }
        let same_types = types(&self.schema).eq(types(schema));
        if same_types
            && let TreeKind::Map(map, _) = &self.kind
            && map.expressions.is_some()
        {
            self.schema = Arc::clone(schema);
            return self;
        }
        let expressions = (0..schema.fields().len())
            .map(|column| {
                let expr = column_expr(&self.schema, column);
                let wanted = schema.field(column).data_type();
                if self.schema.field(column).data_type() == wanted {
                    expr
                } else {
                    Arc::new(CastExpr::new(expr, wanted.clone(), None))
                }
            })
            .collect();
        self.project(expressions, Arc::clone(schema))
    }

    /// Where the key is after a projection; empty if a part of it is gone.
    fn key_through(&self, expressions: &[Arc<dyn PhysicalExpr>]) -> Vec<usize> {
        let place =
            |column: &usize| expressions.iter().position(|expr| column_of(expr) == Some(*column));
        sorted(self.key.iter().map(place).collect::<Option<Vec<_>>>().unwrap_or_default())
    }
}

pub(super) fn sorted(mut columns: Vec<usize>) -> Vec<usize> {
    columns.sort_unstable();
    columns
}

fn types(schema: &SchemaRef) -> impl Iterator<Item = &DataType> {
    schema.fields().iter().map(|field| field.data_type())
}

/// The column that an expression passes on.
pub(super) fn column_of(expr: &Arc<dyn PhysicalExpr>) -> Option<usize> {
    expr.downcast_ref::<Column>().map(Column::index)
}

/// The columns that expressions pass on, if that is all they do.
fn passed_on(expressions: &[Arc<dyn PhysicalExpr>]) -> Option<Vec<usize>> {
    expressions.iter().map(column_of).collect()
}

/// The input columns that a map passes on, if it computes nothing.
fn map_columns(map: &Map, input: &SchemaRef) -> Option<Vec<usize>> {
    match &map.expressions {
        None => Some((0..input.fields().len()).collect()),
        Some(expressions) => passed_on(expressions),
    }
}

/// Expressions over columns that are `columns` of rows with `schema`, over those rows themselves.
fn through<'a>(
    expressions: Vec<Arc<dyn PhysicalExpr>>,
    schema: &'a SchemaRef,
    columns: &'a [usize],
) -> impl Iterator<Item = Arc<dyn PhysicalExpr>> + 'a {
    expressions.into_iter().map(|expr| moved(expr, schema, |column| columns[column]))
}

pub(super) fn column_expr(schema: &SchemaRef, column: usize) -> Arc<dyn PhysicalExpr> {
    Arc::new(Column::new(schema.field(column).name(), column))
}

/// All columns may be NULL: an expression that fails on a row gives NULL, whatever its type says.
pub(super) fn nullable(schema: &SchemaRef) -> SchemaRef {
    let fields = schema.fields().iter().map(|field| nullable_field(field)).collect::<Vec<_>>();
    Arc::new(Schema::new(fields))
}

fn nullable_field(field: &Field) -> Field {
    field.clone().with_nullable(true)
}
