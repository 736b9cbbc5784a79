//! `CREATE [OR REPLACE] VIEW`.

use std::sync::Arc;

use super::authority::Deed;
use super::rename::with_meaning;
use super::{DdlOutcome, Names, exists_already, new_name};
use crate::catalog::catalog::lasting_path;
use crate::catalog::object::View;
use crate::catalog::{Catalog, Column, Meaning, Object, ObjectKind};
use crate::engine::Engine;
use crate::error::{SqlError, SqlResult, code};
use crate::planner;
use crate::planner::statement::CreateView;
use crate::types::ObjectId;

impl Engine {
    /// Creates a view, or gives an existing one another query.
    pub async fn create_view(
        self: &Arc<Self>,
        statement: &CreateView,
        definition: &str,
        names: &Names,
    ) -> SqlResult<DdlOutcome> {
        let name = &statement.name;
        let deed = match statement.or_replace {
            true => Deed::Replace { name },
            false => Deed::Create { name, connector: None },
        };
        let _one_at_a_time = self.permitted(deed, names).await?;
        let catalog = self.catalog();
        let name = new_name(&catalog, &statement.name, names)?;
        let old = catalog.object_named(&name).cloned().filter(|_| statement.or_replace);
        if old.is_none() {
            exists_already(&catalog, &name, false)?;
        }
        let described = planner::describe_view(
            &catalog,
            &names.search_path,
            &statement.query,
            &statement.columns,
        )
        .await?;
        let kind = ObjectKind::View(View {
            query: statement.query.text.clone(),
            search_path: lasting_path(&names.search_path),
            meaning: Meaning::default(),
        });
        let (columns, depends_on) = (described.columns, described.depends_on);
        let (next, changes) = match old {
            Some(old) => {
                check_replaces(&catalog, &old, &columns, &depends_on)?;
                let columns = keep_comments(&old.columns, columns);
                let definition = definition.to_owned();
                let old = Object::clone(&old);
                let object = Object { kind, columns, definition, depends_on, ..old };
                catalog.with_changed(with_meaning(&catalog, object, &statement.columns)?)?
            }
            None => {
                let mut oids = catalog.oids();
                let object = Object {
                    id: oids.next(),
                    name,
                    kind,
                    columns,
                    definition: definition.to_owned(),
                    depends_on,
                    comment: None,
                    row_type: oids.next(),
                    row_array_type: oids.next(),
                    owner: names.user.clone(),
                    acl: None,
                };
                catalog.with_object(with_meaning(&catalog, object, &statement.columns)?)?
            }
        };
        self.commit_meta(changes).await?;
        self.publish(next);
        Ok(DdlOutcome::default())
    }
}

/// Refuses what would change the columns that others know, the rows that others keep, or make the
/// view read itself.
fn check_replaces(
    catalog: &Catalog,
    old: &Object,
    columns: &[Column],
    depends_on: &[ObjectId],
) -> SqlResult<()> {
    let name = &old.name.name;
    if !matches!(old.kind, ObjectKind::View(_)) {
        let message = format!("\"{name}\" is not a view");
        return Err(SqlError::new(code::WRONG_OBJECT_TYPE, message));
    }
    let changed = |message: String| Err(SqlError::new(code::INVALID_TABLE_DEFINITION, message));
    if columns.len() < old.columns.len() {
        return changed("cannot drop columns from view".to_owned());
    }
    for (old, new) in old.columns.iter().zip(columns) {
        if old.name != new.name {
            let (old, new) = (&old.name, &new.name);
            return changed(format!("cannot change name of view column \"{old}\" to \"{new}\""));
        }
        if old.sql_type != new.sql_type {
            return changed(format!(
                "cannot change data type of view column \"{}\" from {} to {}",
                old.name, old.sql_type, new.sql_type
            ));
        }
    }
    let dependants = catalog.dependants(old.id);
    if depends_on.iter().any(|on| *on == old.id || dependants.contains(on)) {
        let message = format!("infinite recursion detected in rules for relation \"{name}\"");
        return Err(SqlError::new(code::INVALID_OBJECT_DEFINITION, message));
    }
    let still = |message: String, hint: &str| {
        Err(SqlError::new(code::DEPENDENT_OBJECTS_STILL_EXIST, message).hint(hint))
    };
    // Its rows are kept by the query as it is.
    let keeps = |id: &ObjectId| {
        let object = catalog.object(*id)?;
        (!matches!(object.kind, ObjectKind::View(_))).then_some(object)
    };
    if let Some(keeper) = dependants.iter().find_map(keeps) {
        let (kind, keeper) = (keeper.kind_name(), &keeper.name.name);
        let message = format!("cannot replace view {name} because {kind} {keeper} keeps its rows");
        return still(message, "Drop what keeps them, replace the view, and create it again.");
    }
    if columns.len() > old.columns.len() && !dependants.is_empty() {
        let message =
            format!("cannot add columns to view {name} because other objects depend on it");
        return still(message, "Drop the dependent objects, or create a view of another name.");
    }
    Ok(())
}

fn keep_comments(old: &[Column], new: Vec<Column>) -> Vec<Column> {
    let comments = old.iter().map(|column| column.comment.clone());
    let comments = comments.chain(std::iter::repeat(None));
    new.into_iter().zip(comments).map(|(column, comment)| Column { comment, ..column }).collect()
}
