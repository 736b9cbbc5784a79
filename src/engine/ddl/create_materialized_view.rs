//! `CREATE MATERIALIZED VIEW`: plan, make durable, catch up, attach.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::authority::Deed;
use super::job::Beginning;
use super::rename::with_meaning;
use super::{DdlOutcome, Names, exists_already, new_name};
use crate::catalog::catalog::lasting_path;
use crate::catalog::object::MaterializedView;
use crate::catalog::{Meaning, Object, ObjectKind};
use crate::engine::Engine;
use crate::error::SqlResult;
use crate::planner;
use crate::planner::statement::CreateMaterializedView;

/// Who waits for a view to be created, and how that ends before its time.
#[derive(Debug, Clone, Copy)]
pub struct Way<'a> {
    pub cancel: &'a CancellationToken,
    /// Nobody waits for more than that it has begun.
    pub background: bool,
}

impl Engine {
    /// Creates a materialized view, and returns when it shows all of its inputs and goes on with
    /// everybody's epochs. If `cancel` comes before, the view goes away; if the server does, the
    /// view goes on catching up after the restart. `way` says whether to wait at all.
    pub async fn create_materialized_view(
        self: &Arc<Self>,
        statement: &CreateMaterializedView,
        definition: &str,
        names: &Names,
        parallelism: usize,
        way: Way<'_>,
    ) -> SqlResult<DdlOutcome> {
        let started = {
            let deed = Deed::Create { name: &statement.name, connector: None };
            let _one_at_a_time = self.permitted_unless(way.cancel, deed, names).await?;
            self.declare(statement, definition, names, parallelism).await?
        };
        match started {
            Started::Exists(outcome) => Ok(outcome),
            Started::CatchingUp(beginning) if way.background => {
                let job = beginning.object.0;
                self.finish_in_background(beginning);
                let name = &statement.name;
                let message = format!(
                    "materialized view \"{name}\" is created in the background, by job {job}"
                );
                Ok(DdlOutcome::notice(message).detail(format!(
                    "SHOW JOBS shows how far it is, WAIT waits for it, CANCEL JOB {job} undoes it."
                )))
            }
            Started::CatchingUp(beginning) => self.finish_job(beginning, way.cancel).await,
        }
    }

    /// The graph that the statement would make, as text.
    pub async fn explain_view(
        &self,
        statement: &CreateMaterializedView,
        names: &Names,
        parallelism: usize,
    ) -> SqlResult<String> {
        let catalog = self.catalog();
        let id = catalog.oids().next();
        let parallelism = statement.parallelism.unwrap_or(parallelism);
        let settings = names.view_settings();
        let planned = planner::plan_view(&catalog, settings, id, statement, parallelism).await?;
        self.check_inputs(&catalog, &planned.depends_on, names)?;
        Ok(planner::explain(&planned.job, &catalog).join("\n"))
    }

    async fn declare(
        self: &Arc<Self>,
        statement: &CreateMaterializedView,
        definition: &str,
        names: &Names,
        parallelism: usize,
    ) -> SqlResult<Started> {
        let catalog = self.catalog();
        let name = new_name(&catalog, &statement.name, names)?;
        if let Some(outcome) = exists_already(&catalog, &name, statement.if_not_exists)? {
            return Ok(Started::Exists(outcome));
        }
        let mut oids = catalog.oids();
        let id = oids.next();
        let parallelism = statement.parallelism.unwrap_or(parallelism);
        let settings = names.view_settings();
        let planned = planner::plan_view(&catalog, settings, id, statement, parallelism).await?;
        self.check_inputs(&catalog, &planned.depends_on, names)?;
        let object = Object {
            id,
            name,
            kind: ObjectKind::MaterializedView(MaterializedView {
                query: statement.query.text.clone(),
                search_path: lasting_path(&names.search_path),
                meaning: Meaning::default(),
                style: names.style,
                key: planned.key,
                distribution: planned.distribution,
                append_only: planned.append_only,
                parallelism,
                on_error: statement.on_error,
            }),
            columns: planned.columns,
            definition: definition.to_owned(),
            depends_on: planned.depends_on,
            comment: None,
            row_type: oids.next(),
            row_array_type: oids.next(),
            owner: names.user.clone(),
            acl: None,
        };
        let object = with_meaning(&catalog, object, &statement.columns)?;
        self.begin_job(&catalog, object, planned.job).await.map(Started::CatchingUp)
    }
}

enum Started {
    Exists(DdlOutcome),
    CatchingUp(Beginning),
}
