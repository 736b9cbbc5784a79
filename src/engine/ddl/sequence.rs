//! `CREATE SEQUENCE`, `ALTER SEQUENCE`, and the sequences that come with columns.

use std::sync::Arc;

use super::authority::Deed;
use super::comment::check_kind;
use super::role::Edit;
use super::{DdlOutcome, Names, check_database, exists_already, new_name};
use crate::catalog::object::Identity;
use crate::catalog::pg::Numbering as _;
use crate::catalog::sequence::{self, OwnedBy, Position, Sequence, SequenceOptions};
use crate::catalog::{Catalog, Column, Object, ObjectKind, QualifiedName};
use crate::engine::Engine;
use crate::error::{SqlError, SqlResult, code};
use crate::planner::Name;
use crate::planner::statement::{
    AlterSequence, ColumnDef, ColumnRef, CreateSequence, DropKind, Numbering, SequenceOwner,
};
use crate::task;
use crate::types::{ObjectId, SqlType};

impl Engine {
    /// Creates a sequence.
    pub async fn create_sequence(
        &self,
        statement: &CreateSequence,
        definition: &str,
        names: &Names,
    ) -> SqlResult<DdlOutcome> {
        let deed = Deed::Create { name: &statement.name, connector: None };
        let _one_at_a_time = self.permitted(deed, names).await?;
        let catalog = self.catalog();
        let name = new_name(&catalog, &statement.name, names)?;
        if let Some(outcome) = exists_already(&catalog, &name, statement.if_not_exists)? {
            return Ok(outcome);
        }
        let mut kind = Sequence::new(&statement.options, "sequence")?;
        if let Some(SequenceOwner::Column(table, column)) = &statement.owner {
            let owner = owner(&catalog, (&name, names.user.as_str()), table, column, names)?;
            kind.owned_by = Some(owner);
        }
        let object = object(&catalog, name, kind, definition, &names.user);
        let (next, changes) = catalog.with_object(object)?;
        self.commit_meta(changes).await?;
        self.publish(next);
        Ok(DdlOutcome::default())
    }

    /// Changes a sequence, or where it stands.
    pub async fn alter_sequence(
        &self,
        statement: &AlterSequence,
        names: &Names,
    ) -> SqlResult<DdlOutcome> {
        let name = std::slice::from_ref(&statement.name);
        let deed = Deed::Own { kind: DropKind::Sequence, names: name };
        let _one_at_a_time = self.permitted(deed, names).await?;
        let catalog = self.catalog();
        check_database(&statement.name, names)?;
        let (schema, name) = (statement.name.schema.as_deref(), &statement.name.name);
        let Some(object) = catalog.resolve(&names.search_path, schema, name) else {
            let message = format!("relation \"{}\" does not exist", statement.name);
            return match statement.if_exists {
                true => Ok(DdlOutcome::notice(format!("{message}, skipping"))),
                false => Err(SqlError::new(code::UNDEFINED_TABLE, message)),
            };
        };
        check_kind(object, DropKind::Sequence, &statement.name)
            .map_err(|error| SqlError { position: None, ..error })?;
        let Some(old) = object.sequence() else {
            return Err(SqlError::internal("a sequence that is none"));
        };
        let standing = self.sequences.standing(object)?;
        let mut kind = old.altered(&statement.options, standing.position)?;
        match &statement.owner {
            None => {}
            Some(_) if old.owned_by.is_some_and(|own| own.identity) => {
                return Err(identity_owned(&catalog, object, old));
            }
            Some(SequenceOwner::Nobody) => kind.owned_by = None,
            Some(SequenceOwner::Column(table, column)) => {
                let own = (&object.name, object.owner.as_str());
                kind.owned_by = Some(owner(&catalog, own, table, column, names)?);
            }
        }
        let start = kind.start;
        let mut changed = Object::clone(object);
        changed.depends_on = kind.owned_by.iter().map(|own| own.table).collect();
        changed.kind = ObjectKind::Sequence(kind);
        let (next, changes) = catalog.with_changed(changed)?;
        self.commit_meta(changes).await?;
        self.publish(next);
        let restart = statement.options.restart;
        let to = restart.map(|to| Position { last: to.unwrap_or(start), called: false });
        let (sequences, object) = (Arc::clone(&self.sequences), Arc::clone(object));
        task::spawn_blocking(move || sequences.rebase(&object, to))
            .await
            .map_err(|panic| SqlError::internal(format!("a sequence: {panic}")))??;
        Ok(DdlOutcome::default())
    }
}

/// The catalog entry of a new sequence.
fn object(
    catalog: &Catalog,
    name: QualifiedName,
    kind: Sequence,
    definition: &str,
    owner: &str,
) -> Object {
    let column = |name: &str, sql_type| Column {
        name: name.to_owned(),
        sql_type,
        not_null: true,
        default: None,
        generated: None,
        identity: None,
        comment: None,
        computed: false,
    };
    Object {
        id: catalog.oids().next(),
        name,
        depends_on: kind.owned_by.iter().map(|own| own.table).collect(),
        kind: ObjectKind::Sequence(kind),
        columns: vec![
            column("last_value", SqlType::BigInt),
            column("log_cnt", SqlType::BigInt),
            column("is_called", SqlType::Boolean),
        ],
        definition: definition.to_owned(),
        comment: None,
        row_type: ObjectId(0),
        row_array_type: ObjectId(0),
        owner: owner.to_owned(),
        acl: None,
    }
}

/// The column that OWNED BY names, for a sequence of this name and owner.
fn owner(
    catalog: &Catalog,
    (sequence, role): (&QualifiedName, &str),
    table: &Name,
    column: &ColumnRef,
    names: &Names,
) -> SqlResult<OwnedBy> {
    check_database(table, names)?;
    let found = catalog.resolve(&names.search_path, table.schema.as_deref(), &table.name);
    let found = found.ok_or_else(|| {
        let message = format!("relation \"{table}\" does not exist");
        SqlError::new(code::UNDEFINED_TABLE, message)
    })?;
    if !matches!(found.kind, ObjectKind::Table(_)) {
        let message = format!("sequence cannot be owned by relation \"{}\"", found.name.name);
        return Err(SqlError::new(code::WRONG_OBJECT_TYPE, message)
            .detail(format!("This operation is not supported for {}s.", found.kind_name())));
    }
    let refuse = |what: &str| {
        let message = format!("sequence must {what} table it is linked to");
        Err(SqlError::new(code::OBJECT_NOT_IN_PREREQUISITE_STATE, message))
    };
    if found.owner != role {
        return refuse("have same owner as");
    }
    if found.name.schema != sequence.schema {
        return refuse("be in same schema as");
    }
    let place = found.columns.iter().position(|one| one.name == column.name).ok_or_else(|| {
        let message = format!(
            "column \"{}\" of relation \"{}\" does not exist",
            column.name, found.name.name
        );
        SqlError::new(code::UNDEFINED_COLUMN, message)
    })?;
    Ok(OwnedBy { table: found.id, column: place, identity: false })
}

fn identity_owned(catalog: &Catalog, object: &Object, sequence: &Sequence) -> SqlError {
    let table = sequence.owned_by.and_then(|own| catalog.object(own.table));
    let table = table.map_or("", |table| table.name.name.as_str());
    let name = &object.name.name;
    SqlError::new(code::FEATURE_NOT_SUPPORTED, "cannot change ownership of identity sequence")
        .detail(format!("Sequence \"{name}\" is linked to table \"{table}\"."))
}

/// Makes the sequences of a new table's columns, and gives the table as it is with them. The table
/// is in the edit already, without what it needs of them.
pub(super) fn number_columns(
    edit: &mut Edit,
    table: Object,
    declared: &[ColumnDef],
    depends_on: Vec<ObjectId>,
) -> SqlResult<Object> {
    let mut table = Object { depends_on, ..table };
    for (index, column) in declared.iter().enumerate() {
        let Some(numbering) = &column.numbering else { continue };
        let sql_type = Some(column.sql_type.clone());
        let (options, what, identity) = match numbering {
            Numbering::Serial => (SequenceOptions::default(), "sequence", None),
            Numbering::Identity { always, options, .. } => {
                (SequenceOptions::clone(options), "identity column", Some(*always))
            }
        };
        let mut kind = Sequence::new(&SequenceOptions { sql_type, ..options }, what)?;
        let identity_column = identity.is_some();
        kind.owned_by = Some(OwnedBy { table: table.id, column: index, identity: identity_column });
        let name = match numbering {
            Numbering::Identity { name: Some(name), .. } => {
                let schema = name.schema.as_deref().unwrap_or(&table.name.schema);
                QualifiedName::new(schema, &name.name)
            }
            _ => {
                let name = edit.catalog.sequence_name(&table.name, &column.name);
                QualifiedName::new(&table.name.schema, name)
            }
        };
        let made = object(&edit.catalog, name, kind, "", &table.owner);
        let id = made.id;
        edit.apply(|catalog| catalog.with_object(made))?;
        let numbered = &mut table.columns[index];
        match identity {
            Some(always) => numbered.identity = Some(Identity { always, sequence: id }),
            None => {
                numbered.default = Some(format!("nextval({})", sequence::written(id)));
                table.depends_on.push(id);
            }
        }
    }
    let changed = table.clone();
    edit.apply(|catalog| catalog.with_changed(changed))?;
    Ok(table)
}
