//! `CREATE TABLE`.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::authority::Deed;
use super::constraint::constrain_new;
use super::job::Beginning;
use super::role::Edit;
use super::sequence::number_columns;
use super::unique_index::guard_of;
use super::{DdlOutcome, Names, exists_already, new_name};
use crate::catalog::constraint::Constraints;
use crate::catalog::object::Table;
use crate::catalog::{Column, Object, ObjectKind, QualifiedName};
use crate::connector;
use crate::dataflow::inbox::Inbox;
use crate::engine::{Engine, jobs};
use crate::error::{SqlError, SqlResult, code};
use crate::expr::functions::equality_function;
use crate::planner;
use crate::planner::statement::{ColumnDef, ColumnRef, CreateTable, NewConstraint};
use crate::serving::connector_options;
use crate::types::{ObjectId, SqlType};

impl Engine {
    /// Creates a table, empty. `definition` is the statement's text. `CREATE TABLE AS` passes the
    /// query's columns as the statement's; its rows are an INSERT after this.
    ///
    /// Its sequences and its constraints become durable with it. Returns when its indexes go on
    /// with everybody's epochs; if `cancel` comes before, all goes away.
    pub async fn create_table(
        self: &Arc<Self>,
        statement: &CreateTable,
        definition: &str,
        names: &Names,
        parallelism: usize,
        cancel: &CancellationToken,
    ) -> SqlResult<DdlOutcome> {
        let (name, connector) = (&statement.name, statement.connector.as_ref());
        let deed = Deed::Create { name, connector };
        let (table, indexes) = {
            let _one_at_a_time = self.permitted_unless(cancel, deed, names).await?;
            let catalog = self.catalog();
            let name = new_name(&catalog, &statement.name, names)?;
            if let Some(outcome) = exists_already(&catalog, &name, statement.if_not_exists)? {
                return Ok(outcome);
            }
            self.begin_table(name, statement, definition, names, parallelism).await?
        };
        self.finish_parts(table, indexes, cancel).await?;
        Ok(DdlOutcome::default())
    }

    /// Makes a table durable, and begins its indexes. It is the caller's turn.
    async fn begin_table(
        self: &Arc<Self>,
        name: QualifiedName,
        statement: &CreateTable,
        definition: &str,
        names: &Names,
        parallelism: usize,
    ) -> SqlResult<(ObjectId, Vec<Beginning>)> {
        let catalog = self.catalog();
        let mut statement = statement.clone();
        if let Some(connector) = &statement.connector {
            statement.columns =
                declared_by_connector(&connector_options(connector), &statement.columns)?;
        }
        key_by_meaning(&mut statement);
        let depends_on = planner::check_column_expressions(
            &catalog,
            &names.search_path,
            &name.name,
            &mut statement.columns,
        )?;
        let (mut edit, object) =
            self.new_table(&name, &statement, definition, depends_on, names)?;
        let id = object.id;
        let indexes = constrain_new(&mut edit, id, &statement, names, parallelism)?;
        let inbox = Arc::new(Inbox::new(self.store(), id, jobs::layout(&object)?));
        let mut graphs = Vec::with_capacity(indexes.len());
        for index in indexes.iter().filter_map(|index| edit.catalog.object(*index)) {
            graphs.push(planner::plan_index(&edit.catalog, index)?);
            // Nothing lies in the store yet that it would have to know.
            if let Some(guard) = guard_of(&object, index)? {
                inbox.add_guard(self.store(), guard);
            }
        }
        self.coordinator.add_table(Arc::clone(&inbox)).await?;
        self.inboxes.write().insert(id, inbox);
        let begun = match graphs.is_empty() {
            true => {
                let Edit { catalog: next, changes } = edit;
                self.commit_meta(changes).await.map(|()| self.publish(next)).map(|()| Vec::new())
            }
            false => self.begin_jobs(edit, graphs).await,
        };
        let begun = match begun {
            Ok(begun) => begun,
            Err(error) => {
                self.inboxes.write().remove(&id);
                return Err(error);
            }
        };
        if statement.connector.is_some() {
            self.start_pump(&object)?;
        }
        Ok((id, begun))
    }

    fn new_table(
        &self,
        name: &QualifiedName,
        statement: &CreateTable,
        definition: &str,
        depends_on: Vec<ObjectId>,
        names: &Names,
    ) -> SqlResult<(Edit, Object)> {
        let catalog = self.catalog();
        let mut oids = catalog.oids();
        let keyed = !statement.primary_key.is_empty();
        let id = oids.next();
        let key_name =
            statement.primary_key_name.clone().unwrap_or_else(|| catalog.primary_key_name(name));
        let mut columns = columns(&statement.columns);
        for column in &statement.primary_key {
            columns[*column].not_null = true;
        }
        let table = Table {
            primary_key: statement.primary_key.clone(),
            primary_key_name: keyed.then_some(key_name),
            primary_key_index: keyed.then(|| oids.next()),
            primary_key_constraint: keyed.then(|| oids.next()),
            append_only: statement.append_only,
            connector: statement.connector.clone(),
            constraints: Constraints::default(),
            shape: None,
        };
        let object = Object {
            id,
            name: name.clone(),
            kind: ObjectKind::Table(table),
            columns,
            definition: definition.to_owned(),
            depends_on: Vec::new(),
            comment: None,
            row_type: oids.next(),
            row_array_type: oids.next(),
            owner: names.user.clone(),
            acl: None,
        };
        let mut edit = Edit::new(&catalog);
        edit.apply(|catalog| catalog.with_object(object))?;
        // With the rights that the catalog gives to what is new.
        let made = edit.catalog.object(id).map(|made| Object::clone(made));
        let made = made.ok_or_else(|| SqlError::internal("the new table is not there"))?;
        let object = number_columns(&mut edit, made, &statement.columns, depends_on)?;
        Ok((edit, object))
    }
}

/// A primary key with values that may be equal and look different (`1` and `1.0` of `jsonb`) is one
/// by an index, which compares what they mean. Rows lie by an id of their own then.
fn key_by_meaning(statement: &mut CreateTable) {
    let declared = |column: &usize| &statement.columns[*column];
    let by_meaning = |column: &ColumnDef| equality_function(&column.sql_type).is_some();
    if !statement.primary_key.iter().map(declared).any(by_meaning) {
        return;
    }
    let mut columns = Vec::new();
    for column in std::mem::take(&mut statement.primary_key) {
        let column = &mut statement.columns[column];
        column.not_null = true;
        columns.push(ColumnRef { name: column.name.clone(), position: 1 });
    }
    let key = NewConstraint {
        name: statement.primary_key_name.take(),
        primary: true,
        columns,
        included: Vec::new(),
        nulls_not_distinct: false,
    };
    statement.constraints.unique.insert(0, key);
}

/// Catalog columns from declared ones.
pub(super) fn columns(declared: &[ColumnDef]) -> Vec<Column> {
    declared
        .iter()
        .map(|column| Column {
            name: column.name.clone(),
            sql_type: column.sql_type.clone(),
            not_null: column.not_null,
            default: column.default.clone(),
            generated: column.generated.clone(),
            identity: None,
            comment: None,
            computed: false,
        })
        .collect()
}

/// The columns of a relation with a connector: as declared, checked, or as the connector has them.
pub(super) fn declared_by_connector(
    options: &connector::registry::Options,
    declared: &[ColumnDef],
) -> SqlResult<Vec<ColumnDef>> {
    // What is generated is none of the connector's.
    let given: Vec<&ColumnDef> =
        declared.iter().filter(|column| column.generated.is_none()).collect();
    let schema = arrow::datatypes::Schema::new(
        given
            .iter()
            .map(|column| column.sql_type.field(&column.name, !column.not_null))
            .collect::<Vec<_>>(),
    );
    let known = connector::registry::check(options, (!given.is_empty()).then_some(&schema))?;
    if !given.is_empty() {
        return Ok(declared.to_vec());
    }
    if known.fields().is_empty() {
        return Err(SqlError::new(
            code::INVALID_TABLE_DEFINITION,
            format!("connector \"{}\" needs a list of columns", options.connector),
        ));
    }
    let known = known.fields().iter().map(|field| ColumnDef {
        name: field.name().clone(),
        sql_type: SqlType::of_field(field),
        not_null: !field.is_nullable(),
        default: None,
        generated: None,
        numbering: None,
    });
    // Declared ones first: the statement's key names them by their places.
    Ok(declared.iter().cloned().chain(known).collect())
}
