//! The rows of a table whose columns change: what they get, and what they must not have.

use std::ops::Bound;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::Schema;
use datafusion::common::tree_node::TreeNode;
use datafusion::execution::SessionState;
use datafusion::physical_plan::PhysicalExpr;

use crate::catalog::pg::PgSession;
use crate::catalog::{Catalog, Column, Object, quote_identifier};
use crate::engine::ddl::Names;
use crate::engine::{Engine, jobs};
use crate::error::{About, SqlError, SqlResult, code};
use crate::expr::{Assigning, Generated};
use crate::failpoint;
use crate::planner::{
    Parameters, RowRelation, default_expression, parse_expression, plan_expressions, plan_generated,
};
use crate::serving;
use crate::state::{Commit, Store};
use crate::task;
use crate::types::key::canonical_column;
use crate::types::{SqlType, TableId};

/// Stored rows that are read, and written, together.
const PAGE_ROWS_MAX: usize = 8192;

/// What rows get at a place.
pub(super) struct Fill {
    pub(super) place: usize,
    pub(super) value: Value,
}

/// A column's value.
pub(super) enum Value {
    /// This one, a row, in all rows.
    Same(ArrayRef),
    /// Computed anew for each row, of its visible columns before the change.
    Each { column: Column, expression: Arc<dyn PhysicalExpr>, from: SqlType, assigning: Assigning },
    /// As the column's generation expression says.
    Generated,
}

/// A session for expressions that a change of columns computes.
fn session(
    engine: &Arc<Engine>,
    catalog: &Catalog,
    names: &Names,
) -> SqlResult<(SessionState, Assigning)> {
    let mut session = PgSession::of_server(&names.search_path);
    session.user.clone_from(&names.user);
    session.session_user.clone_from(&names.session_user);
    session.database.clone_from(&names.database);
    let mut query = engine.query_context(session, names.style);
    // What the statement makes, a sequence, is known in it.
    query.catalog = Arc::new(catalog.clone());
    let assigning = Assigning { style: query.style, now: query.now };
    Ok((serving::session_state(&query)?, assigning))
}

/// The value of a new column's default; `None`: NULL.
pub(super) fn default_of(
    engine: &Arc<Engine>,
    catalog: &Catalog,
    names: &Names,
    column: &Column,
) -> SqlResult<Option<Value>> {
    let Some(default) = default_expression(column)? else { return Ok(None) };
    let (state, assigning) = session(engine, catalog, names)?;
    let none = Parameters { declared: &[], values: Some(&[]) };
    let planned = plan_expressions(&state, &[&default], &[], none).map_err(|error| {
        let message = error.message.replace("but expression is", "but default expression is");
        SqlError { position: None, message, ..error }
    })?;
    let Some(expression) = planned.expressions.into_iter().next() else { return Ok(None) };
    let from = SqlType::of_field(planned.schema.field(0));
    let volatile = expression.exists(|part| Ok(part.is_volatile_node()))?;
    let column = column.clone();
    let each = Value::Each { column, expression, from, assigning };
    if volatile {
        return Ok(Some(each));
    }
    let options = RecordBatchOptions::new().with_row_count(Some(1));
    let row = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), Vec::new(), &options)?;
    Ok(Some(Value::Same(each.over(&row)?)))
}

/// The values of a column of another type, from those of the rows of `table`.
pub(super) fn converted(
    engine: &Arc<Engine>,
    table: &Object,
    names: &Names,
    column: &Column,
    using: Option<&str>,
) -> SqlResult<Value> {
    let (state, assigning) = session(engine, &engine.catalog(), names)?;
    let text = using.map_or_else(|| quote_identifier(&column.name), str::to_owned);
    let expression = parse_expression(&text)?;
    let rows = RowRelation { name: &table.name.name, schema: nullable(table) };
    let none = Parameters { declared: &[], values: Some(&[]) };
    let planned = plan_expressions(&state, &[&expression], &[rows], none)
        .map_err(|error| SqlError { position: None, ..error })?;
    let field = planned.schema.field(0);
    let from = SqlType::of_field(field);
    let expression = planned.expressions.into_iter().next();
    let expression = expression.ok_or_else(|| SqlError::internal("an expression is not there"))?;
    assigning.check(field, &from, &column.sql_type, &column.name).map_err(|error| {
        if error.code != code::DATATYPE_MISMATCH {
            return error;
        }
        let (name, to) = (&column.name, &column.sql_type);
        let (what, hint) = match using {
            Some(_) => (
                format!("result of USING clause for column \"{name}\""),
                "You might need to add an explicit cast.".to_owned(),
            ),
            None => (
                format!("column \"{name}\""),
                format!("You might need to specify \"USING {}::{to}\".", quote_identifier(name)),
            ),
        };
        let message = format!("{what} cannot be cast automatically to type {to}");
        SqlError::new(code::DATATYPE_MISMATCH, message).hint(hint)
    })?;
    Ok(Value::Each { column: column.clone(), expression, from, assigning })
}

fn nullable(table: &Object) -> Arc<Schema> {
    let fields = table.columns.iter().map(|column| column.sql_type.field(&column.name, true));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

impl Value {
    /// The values for these rows.
    fn over(&self, rows: &RecordBatch) -> SqlResult<ArrayRef> {
        match self {
            Self::Each { column, expression, from, assigning } => {
                let values = expression.evaluate(rows)?.into_array(rows.num_rows())?;
                let values = assigning.assign(&values, from, &column.sql_type, &column.name)?;
                Ok(canonical_column(&values))
            }
            Self::Same(_) | Self::Generated => {
                Err(SqlError::internal("a value that is not computed by itself"))
            }
        }
    }
}

/// A pass over the rows of a table.
struct Pass {
    before: Arc<Object>,
    after: Arc<Object>,
    fills: Vec<Fill>,
    required: Vec<(usize, String)>,
    generated: Option<Generated>,
}

/// Gives each row of a table what `fills` say, and refuses NULLs at `required` places. Nobody
/// writes meanwhile, and all rows are committed.
pub(super) async fn pass(
    engine: &Engine,
    before: &Arc<Object>,
    after: &Arc<Object>,
    fills: Vec<Fill>,
    required: Vec<(usize, String)>,
) -> SqlResult<()> {
    let computed = fills.iter().any(|fill| matches!(fill.value, Value::Generated));
    let generated = match computed {
        true => plan_generated(&engine.catalog(), &after.name.name, &after.columns)?,
        false => None,
    };
    let pass =
        Pass { before: Arc::clone(before), after: Arc::clone(after), fills, required, generated };
    let store = engine.store().clone();
    task::spawn_blocking(move || pass.run(&store))
        .await
        .map_err(|panic| SqlError::internal(format!("a pass over rows panicked: {panic}")))?
}

impl Pass {
    fn run(&self, store: &Store) -> SqlResult<()> {
        let layout = jobs::layout(&self.after)?;
        let snapshot = store.snapshot();
        let contents = TableId::contents(self.after.id);
        let mut last: Option<Vec<u8>> = None;
        loop {
            let from = last.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
            let page = snapshot.page(contents, from, None, PAGE_ROWS_MAX)?;
            let stored = layout.decode(page.entries())?.batch().clone();
            if stored.num_rows() > 0 {
                let rows = self.filled(&stored)?;
                self.check(&rows)?;
                if !self.fills.is_empty() {
                    let values = layout.values(&rows)?;
                    let mut table = store.table(contents);
                    for ((key, _), value) in page.entries().zip(values.iter()) {
                        table.put(key, value);
                    }
                    let changes = table.freeze().into_iter().collect();
                    store.commit(Commit { changes, ..Commit::default() })?;
                    failpoint::hit(failpoint::ALTER_FILLED);
                }
            }
            if !page.more {
                return Ok(());
            }
            last = page.last_key().map(<[u8]>::to_vec);
        }
    }

    /// The rows with what they get.
    fn filled(&self, stored: &RecordBatch) -> SqlResult<RecordBatch> {
        if self.fills.is_empty() {
            return Ok(stored.clone());
        }
        let visible = stored.project(&self.before.places())?;
        let visible = RecordBatch::try_new_with_options(
            nullable(&self.before),
            visible.columns().to_vec(),
            &RecordBatchOptions::new().with_row_count(Some(stored.num_rows())),
        )?;
        let mut columns = stored.columns().to_vec();
        for fill in &self.fills {
            if !matches!(fill.value, Value::Generated) {
                columns[fill.place] = fill.value.over(&visible)?;
            }
        }
        if let Some(generated) = &self.generated {
            let places = self.after.places();
            let mut now: Vec<ArrayRef> =
                places.iter().map(|place| Arc::clone(&columns[*place])).collect();
            generated.fill(&mut now, stored.num_rows())?;
            for (place, values) in places.into_iter().zip(now) {
                let own = |fill: &&Fill| fill.place == place;
                if self.fills.iter().find(own).is_some() {
                    columns[place] = canonical_column(&values);
                }
            }
        }
        // What was at places of columns that are gone stays: who has read it is told the same when
        // the row goes.
        Ok(RecordBatch::try_new(stored.schema(), columns)?)
    }

    fn check(&self, rows: &RecordBatch) -> SqlResult<()> {
        let violated = self.required.iter().find(|(place, _)| rows.column(*place).null_count() > 0);
        let Some((_, column)) = violated else { return Ok(()) };
        let name = &self.after.name;
        let message =
            format!("column \"{column}\" of relation \"{}\" contains null values", name.name);
        let about = About {
            schema: Some(name.schema.clone()),
            table: Some(name.name.clone()),
            column: Some(column.clone()),
            ..About::default()
        };
        Err(SqlError::new(code::NOT_NULL_VIOLATION, message).about(about))
    }
}
