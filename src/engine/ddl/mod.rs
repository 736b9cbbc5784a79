//! Statements that change what exists, one a file. Each makes its change durable, then visible in
//! the catalog, and joins it to the graph; on failure it leaves nothing.

mod add_constraint;
mod alter_table;
mod authority;
mod columns;
mod comment;
mod constraint;
mod create_index;
mod create_materialized_view;
mod create_sink;
mod create_source;
mod create_subscription;
mod create_table;
mod create_view;
mod drop;
mod function;
mod grant;
mod job;
mod rename;
mod role;
mod schema;
mod sequence;
mod settings;
mod temporary;
mod unique_index;

pub use create_materialized_view::Way;
pub(super) use drop::own_meta;
pub use job::Creation;
pub(super) use temporary::forget_temporary;
pub(super) use unique_index::{fill, forget_unfinished, guard_of};

use crate::catalog::catalog::{PG_TEMP, is_temporary_schema};
use crate::catalog::{Catalog, QualifiedName};
use crate::engine::Owner;
use crate::error::{SqlError, SqlResult, SqlState, code};
use crate::planner;
use crate::types::text::TextStyle;

/// How a statement's names are meant, and who asks.
#[derive(Debug, Clone)]
pub struct Names {
    pub search_path: Vec<String>,
    /// The session's time zone, and how it writes values.
    pub style: TextStyle,
    /// The current user, whose rights count.
    pub user: String,
    /// Who logged in, or whom SET SESSION AUTHORIZATION named.
    pub session_user: String,
    pub database: String,
    /// Who waits for locks.
    pub owner: Owner,
}

impl Names {
    /// What a view's query means when it is made now.
    fn view_settings(&self) -> planner::ViewSettings<'_> {
        planner::ViewSettings { style: self.style, ..planner::ViewSettings::of(&self.search_path) }
    }
}

/// A message for the client that is no error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    pub message: String,
    pub detail: Option<String>,
    /// The SQLSTATE if it is a warning.
    pub warning: Option<SqlState>,
}

/// What came of a statement, besides that it took effect.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DdlOutcome {
    pub notices: Vec<Notice>,
}

impl DdlOutcome {
    fn notice(message: impl Into<String>) -> Self {
        Self { notices: vec![Notice { message: message.into(), detail: None, warning: None }] }
    }

    fn detail(mut self, detail: impl Into<String>) -> Self {
        if let Some(last) = self.notices.last_mut() {
            last.detail = Some(detail.into());
        }
        self
    }

    fn warning(code: SqlState, message: impl Into<String>) -> Self {
        Self {
            notices: vec![Notice { message: message.into(), detail: None, warning: Some(code) }],
        }
    }
}

/// Where a new relation goes.
fn new_name(catalog: &Catalog, name: &planner::Name, names: &Names) -> SqlResult<QualifiedName> {
    check_database(name, names)?;
    let schema = match &name.schema {
        // Another session's, or one that is not there: tables of its own the session makes itself.
        Some(schema)
            if (schema == PG_TEMP || is_temporary_schema(schema))
                && !names.search_path.contains(schema) =>
        {
            let message = "cannot create relations in temporary schemas of other sessions";
            return Err(
                SqlError::new(code::INVALID_TABLE_DEFINITION, message).position(name.position)
            );
        }
        Some(schema) => schema.clone(),
        None => catalog
            .creation_schema(&names.search_path)
            .map(|schema| schema.name.clone())
            .ok_or_else(|| {
                SqlError::new(code::INVALID_SCHEMA_NAME, "no schema has been selected to create in")
                    .position(name.position)
            })?,
    };
    Ok(QualifiedName::new(schema, &name.name))
}

/// `CREATE ... IF NOT EXISTS` of something that exists: what to say; `None` if it does not exist.
fn exists_already(
    catalog: &Catalog,
    name: &QualifiedName,
    if_not_exists: bool,
) -> SqlResult<Option<DdlOutcome>> {
    if catalog.object_named(name).is_none() {
        return Ok(None);
    }
    let message = format!("relation \"{}\" already exists", name.name);
    if if_not_exists {
        return Ok(Some(DdlOutcome::notice(format!("{message}, skipping"))));
    }
    Err(SqlError::new(code::DUPLICATE_TABLE, message))
}

/// PostgreSQL refuses names of other databases.
fn check_database(name: &planner::Name, names: &Names) -> SqlResult<()> {
    match &name.database {
        Some(database) if *database != names.database => Err(SqlError::new(
            code::FEATURE_NOT_SUPPORTED,
            format!("cross-database references are not implemented: \"{name}\""),
        )
        .position(name.position)),
        _ => Ok(()),
    }
}
