//! `CREATE SOURCE`.

use std::sync::Arc;

use super::authority::Deed;
use super::create_table::{columns, declared_by_connector};
use super::{DdlOutcome, Names, exists_already, new_name};
use crate::catalog::object::Source;
use crate::catalog::{Object, ObjectKind};
use crate::engine::{Engine, jobs};
use crate::error::SqlResult;
use crate::planner;
use crate::planner::statement::CreateSource;
use crate::serving::connector_options;

impl Engine {
    /// Creates a source; it is read once a view reads it.
    pub async fn create_source(
        self: &Arc<Self>,
        statement: &CreateSource,
        definition: &str,
        names: &Names,
    ) -> SqlResult<DdlOutcome> {
        let (name, connector) = (&statement.name, Some(&statement.connector));
        let deed = Deed::Create { name, connector };
        let _one_at_a_time = self.permitted(deed, names).await?;
        let catalog = self.catalog();
        let name = new_name(&catalog, &statement.name, names)?;
        if let Some(outcome) = exists_already(&catalog, &name, statement.if_not_exists)? {
            return Ok(outcome);
        }
        let options = connector_options(&statement.connector);
        let mut declared = declared_by_connector(&options, &statement.columns)?;
        let relation = &statement.name.name;
        let depends_on = planner::check_column_expressions(
            &catalog,
            &names.search_path,
            relation,
            &mut declared,
        )?;
        let mut oids = catalog.oids();
        let object = Object {
            id: oids.next(),
            name,
            kind: ObjectKind::Source(Source { connector: statement.connector.clone() }),
            columns: columns(&declared),
            definition: definition.to_owned(),
            depends_on,
            comment: None,
            row_type: oids.next(),
            row_array_type: oids.next(),
            owner: names.user.clone(),
            acl: None,
        };
        let (next, changes) = catalog.with_object(object.clone())?;
        self.coordinator.add_source(jobs::source_spec(&catalog, &object)?).await?;
        self.commit_meta(changes).await?;
        self.publish(next);
        Ok(DdlOutcome::default())
    }
}
