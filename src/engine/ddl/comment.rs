//! `COMMENT ON`.

use super::authority::Deed;
use super::{DdlOutcome, Names, check_database};
use crate::catalog::edit::CommentTarget as Target;
use crate::catalog::{Catalog, Object};
use crate::engine::Engine;
use crate::error::{SqlError, SqlResult, code};
use crate::planner;
use crate::planner::statement::{Comment, CommentTarget, DropKind};

impl Engine {
    /// Sets a comment, or takes it away.
    pub async fn comment(&self, statement: &Comment, names: &Names) -> SqlResult<DdlOutcome> {
        let deed = match &statement.target {
            CommentTarget::Object { kind, name } => {
                Deed::Own { kind: *kind, names: std::slice::from_ref(name) }
            }
            CommentTarget::Column { relation, .. } => Deed::OwnColumn(relation),
        };
        let _one_at_a_time = self.permitted(deed, names).await?;
        let catalog = self.catalog();
        let target = match &statement.target {
            CommentTarget::Object { kind: DropKind::Schema, name } => {
                Target::Schema(name.name.clone())
            }
            CommentTarget::Object { kind: DropKind::Database, name } => {
                Target::Database(name.name.clone())
            }
            CommentTarget::Object { kind, name } => {
                let object = relation(&catalog, name, names)?;
                check_kind(object, *kind, name)?;
                Target::Relation(object.id)
            }
            CommentTarget::Column { relation: name, column } => {
                let object = relation(&catalog, name, names)?;
                let index = object.columns.iter().position(|found| found.name == *column);
                let index = index.ok_or_else(|| {
                    let message = format!(
                        "column \"{column}\" of relation \"{}\" does not exist",
                        object.name.name
                    );
                    SqlError::new(code::UNDEFINED_COLUMN, message)
                })?;
                Target::Column(object.id, index)
            }
        };
        let (next, changes) = catalog.with_comment(&target, statement.text.clone())?;
        self.commit_meta(changes).await?;
        self.publish(next);
        Ok(DdlOutcome::default())
    }
}

fn relation<'a>(
    catalog: &'a Catalog,
    name: &planner::Name,
    names: &Names,
) -> SqlResult<&'a Object> {
    check_database(name, names)?;
    catalog
        .resolve(&names.search_path, name.schema.as_deref(), &name.name)
        .map(AsRef::as_ref)
        .ok_or_else(|| {
            let message = format!("relation \"{name}\" does not exist");
            SqlError::new(code::UNDEFINED_TABLE, message).position(name.position)
        })
}

/// Refuses a relation of another kind than the statement says.
pub(super) fn check_kind(object: &Object, kind: DropKind, name: &planner::Name) -> SqlResult<()> {
    let wanted = kind.name();
    let is_relation = !matches!(kind, DropKind::Schema | DropKind::Database);
    if !is_relation || object.kind_name() == wanted {
        return Ok(());
    }
    let article = if kind == DropKind::Index { "an" } else { "a" };
    let message = format!("\"{}\" is not {article} {wanted}", object.name.name);
    Err(SqlError::new(code::WRONG_OBJECT_TYPE, message).position(name.position))
}
