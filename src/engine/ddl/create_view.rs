//! `CREATE [OR REPLACE] VIEW`.

use std::sync::Arc;

use super::{DdlOutcome, Names, exists_already, new_name};
use crate::catalog::object::View;
use crate::catalog::{Object, ObjectKind};
use crate::engine::Engine;
use crate::error::{SqlError, SqlResult, code};
use crate::planner;
use crate::planner::statement::CreateView;

impl Engine {
    /// Creates a view, or replaces one that nothing depends on.
    pub async fn create_view(
        self: &Arc<Self>,
        statement: &CreateView,
        definition: &str,
        names: &Names,
    ) -> SqlResult<DdlOutcome> {
        let _one_at_a_time = self.ddl.lock().await;
        let mut catalog = self.catalog();
        let name = new_name(&catalog, &statement.name, names)?;
        let mut changes = Vec::new();
        if statement.or_replace
            && let Some(old) = catalog.object_named(&name).cloned()
        {
            if !matches!(old.kind, ObjectKind::View(_)) {
                let message = format!("\"{}\" is not a view", name.name);
                return Err(SqlError::new(code::WRONG_OBJECT_TYPE, message));
            }
            if !catalog.dependants(old.id).is_empty() {
                return Err(SqlError::new(
                    code::DEPENDENT_OBJECTS_STILL_EXIST,
                    format!("cannot replace view {} because other objects depend on it", name.name),
                )
                .hint("Drop the dependent objects, or create a view of another name."));
            }
            let (without, more) = catalog.without(&[old.id])?;
            catalog = Arc::new(without);
            changes.extend(more);
        }
        exists_already(&catalog, &name, false)?;
        let described = planner::describe_view(
            &catalog,
            &names.search_path,
            &statement.query,
            &statement.columns,
        )
        .await?;
        let mut oids = catalog.oids();
        let object = Object {
            id: oids.next(),
            name,
            kind: ObjectKind::View(View {
                query: statement.query.text.clone(),
                search_path: names.search_path.clone(),
            }),
            columns: described.columns,
            definition: definition.to_owned(),
            depends_on: described.depends_on,
            comment: None,
            row_type: oids.next(),
            row_array_type: oids.next(),
            owner: names.user.clone(),
        };
        let (next, more) = catalog.with_object(object)?;
        changes.extend(more);
        self.commit_meta(changes).await?;
        self.publish(next);
        Ok(DdlOutcome::default())
    }
}
