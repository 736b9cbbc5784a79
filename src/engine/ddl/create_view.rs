//! `CREATE [OR REPLACE] VIEW`.

use std::sync::Arc;

use super::authority::Deed;
use super::rename::with_meaning;
use super::{DdlOutcome, Names, exists_already, new_name};
use crate::catalog::catalog::lasting_path;
use crate::catalog::object::View;
use crate::catalog::{Catalog, Column, Meaning, Object, ObjectKind};
use crate::engine::{Engine, boot};
use crate::error::{SqlError, SqlResult, code};
use crate::graph;
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
                let object = with_meaning(&catalog, object, &statement.columns)?;
                let id = object.id;
                let edited = catalog.with_changed(object)?;
                check_keepers(&catalog, &edited.0, id).await?;
                edited
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
    if columns.len() > old.columns.len() && !dependants.is_empty() {
        let message =
            format!("cannot add columns to view {name} because other objects depend on it");
        return Err(SqlError::new(code::DEPENDENT_OBJECTS_STILL_EXIST, message)
            .hint("Drop the dependent objects, or create a view of another name."));
    }
    Ok(())
}

/// Refuses what would change rows that others keep: each must have the same plan over the view as
/// it will be.
async fn check_keepers(catalog: &Catalog, next: &Catalog, view: ObjectId) -> SqlResult<()> {
    for keeper in catalog.dependants(view) {
        let Some(keeper) = catalog.object(keeper).filter(|one| one.kept_query().is_some()) else {
            continue;
        };
        let before = planner::plan_stored_view(catalog, keeper).await?;
        let after = planner::plan_stored_view(next, keeper).await?;
        if boot::fingerprint(&before) == boot::fingerprint(&after)
            && inputs(&before).eq(inputs(&after))
        {
            continue;
        }
        let name = catalog.object(view).map_or("", |view| view.name.name.as_str());
        let (kind, keeper) = (keeper.kind_name(), &keeper.name.name);
        let message = format!("cannot replace view {name} because {kind} {keeper} keeps its rows");
        return Err(SqlError::new(code::DEPENDENT_OBJECTS_STILL_EXIST, message)
            .detail(format!("Over the new query, {keeper} would be computed otherwise."))
            .hint("Drop what keeps them, replace the view, and create it again."));
    }
    Ok(())
}

/// Whence the rows of a job's parts come, and how.
fn inputs(job: &graph::Job) -> impl Iterator<Item = (usize, graph::Upstream, &graph::Exchange)> {
    job.fragments.iter().enumerate().flat_map(|(place, fragment)| {
        fragment.inputs.iter().map(move |input| (place, input.from, &input.exchange))
    })
}

fn keep_comments(old: &[Column], new: Vec<Column>) -> Vec<Column> {
    let comments = old.iter().map(|column| column.comment.clone());
    let comments = comments.chain(std::iter::repeat(None));
    new.into_iter().zip(comments).map(|(column, comment)| Column { comment, ..column }).collect()
}
