//! Each kind of statement to the one who does it.

use std::sync::Arc;

use super::explain::explained;
use super::outcome::{Description, Outcome, Tag};
use super::parameter::Parameters;
use super::query::Planned;
use super::session::Session;
use super::show::{describe_columns, texts};
use crate::catalog::Catalog;
use crate::error::{SqlError, SqlResult, code};
use crate::planner::Statement;
use crate::planner::statement::{DeclaredRows, Show, ShowKind, StatementKind};
use crate::types::SqlType;

impl Session {
    /// Runs a statement that has no parameters.
    pub async fn run(&mut self, statement: &Statement) -> SqlResult<Outcome> {
        if statement.parameters > 0 && !matches!(statement.kind, StatementKind::Prepare(_)) {
            return Err(no_parameter(1));
        }
        self.run_with(statement, &Parameters::default()).await
    }

    pub(super) async fn run_with(
        &mut self,
        statement: &Statement,
        parameters: &Parameters,
    ) -> SqlResult<Outcome> {
        self.check_may_run(&statement.kind)?;
        self.is_active(&statement.text);
        self.drop_ended_tables().await?;
        // The futures of some kinds are large; they are kept off this one's stack.
        match &statement.kind {
            StatementKind::Begin(_)
            | StatementKind::Commit { .. }
            | StatementKind::Rollback { .. }
            | StatementKind::Savepoint(_)
            | StatementKind::ReleaseSavepoint(_)
            | StatementKind::RollbackToSavepoint(_)
            | StatementKind::SetConstraints(_)
            | StatementKind::SetTransaction(_) => Box::pin(self.control(&statement.kind)).await,
            StatementKind::Query(query) => {
                let rows = Box::pin(self.select(query, parameters)).await?;
                Ok(Outcome::Rows(Box::new(rows)))
            }
            StatementKind::Subscribe(subscribe) => {
                let rows = Box::pin(self.subscribe(subscribe)).await?;
                Ok(Outcome::Rows(Box::new(rows)))
            }
            StatementKind::Insert(_)
            | StatementKind::Update(_)
            | StatementKind::Delete(_)
            | StatementKind::Truncate(_) => Box::pin(self.write(&statement.kind, parameters)).await,
            StatementKind::LockTable(lock) => Box::pin(self.lock_tables(lock)).await,
            StatementKind::Copy(copy) => Box::pin(self.copy(copy)).await,
            StatementKind::Explain(explain) => Box::pin(self.explain(explain, parameters)).await,
            StatementKind::AnalyzeView(name) => Box::pin(self.analyze_view(name)).await,
            StatementKind::Prepare(_)
            | StatementKind::Execute(_)
            | StatementKind::Deallocate(_)
            | StatementKind::Declare(_)
            | StatementKind::Fetch(_)
            | StatementKind::Move(_)
            | StatementKind::Close(_) => Box::pin(self.stored(statement, parameters)).await,
            StatementKind::Set(_)
            | StatementKind::Reset(_)
            | StatementKind::Show(_)
            | StatementKind::Describe(_)
            | StatementKind::Discard(_)
            | StatementKind::Listen(_)
            | StatementKind::Unlisten(_)
            | StatementKind::Notify { .. }
            | StatementKind::Use(_) => Box::pin(self.own(&statement.kind)).await,
            StatementKind::CreateTable(_)
            | StatementKind::CreateSource(_)
            | StatementKind::CreateView(_)
            | StatementKind::CreateMaterializedView(_)
            | StatementKind::CreateFunction(_)
            | StatementKind::DropFunction(_)
            | StatementKind::CreateIndex(_)
            | StatementKind::Reindex(_)
            | StatementKind::CreateSink(_)
            | StatementKind::CreateSubscription(_)
            | StatementKind::CreateSequence(_)
            | StatementKind::AlterSequence(_)
            | StatementKind::AlterTable(_)
            | StatementKind::CreateSchema(_)
            | StatementKind::CreateDatabase(_)
            | StatementKind::CreateRole(_)
            | StatementKind::AlterRole(_)
            | StatementKind::AlterSettings(_)
            | StatementKind::DropRole(_)
            | StatementKind::GrantRole(_)
            | StatementKind::Grant(_)
            | StatementKind::DefaultPrivileges(_)
            | StatementKind::AlterOwner(_)
            | StatementKind::Rename(_)
            | StatementKind::ReassignOwned(_)
            | StatementKind::DropOwned(_)
            | StatementKind::Drop(_)
            | StatementKind::Comment(_)
            | StatementKind::Flush
            | StatementKind::Maintain(_)
            | StatementKind::Refresh(_)
            | StatementKind::CancelJobs(_)
            | StatementKind::Wait(_)
            | StatementKind::Checkpoint => Box::pin(self.administer(statement)).await,
        }
    }

    /// Transactions.
    async fn control(&mut self, kind: &StatementKind) -> SqlResult<Outcome> {
        match kind {
            StatementKind::Begin(modes) => self.begin(*modes),
            StatementKind::Commit { and_chain } => self.commit(*and_chain).await,
            StatementKind::Rollback { and_chain } => self.roll_back(*and_chain),
            StatementKind::Savepoint(name) => self.savepoint(name),
            StatementKind::ReleaseSavepoint(name) => self.release_savepoint(name),
            StatementKind::RollbackToSavepoint(name) => self.roll_back_to_savepoint(name),
            StatementKind::SetTransaction(set) => self.set_transaction(*set),
            StatementKind::SetConstraints(set) => self.set_constraints(set).await,
            other => Err(misrouted(other)),
        }
    }

    /// Prepared statements and cursors.
    async fn stored(
        &mut self,
        statement: &Statement,
        parameters: &Parameters,
    ) -> SqlResult<Outcome> {
        let text = &statement.text;
        match &statement.kind {
            StatementKind::Prepare(prepare) => self.prepare_statement(prepare, text).await,
            StatementKind::Execute(execute) => self.execute_statement(execute).await,
            StatementKind::Deallocate(name) => self.deallocate(name.as_deref()),
            StatementKind::Declare(declare) => self.declare(declare, text, parameters).await,
            StatementKind::Fetch(fetch) => self.fetch(fetch).await,
            StatementKind::Move(fetch) => self.move_cursor(fetch).await,
            StatementKind::Close(name) => self.close_cursor(name.as_deref()),
            other => Err(misrouted(other)),
        }
    }

    /// The session's own things.
    async fn own(&mut self, kind: &StatementKind) -> SqlResult<Outcome> {
        match kind {
            StatementKind::Set(set) => self.set(set),
            StatementKind::Reset(name) => self.reset(name.as_deref()),
            StatementKind::Show(Show::Objects { kind: ShowKind::Jobs, .. }) => {
                let rows = self.select_jobs().await?.with_tag(Tag::Fixed("SHOW".to_owned()));
                Ok(Outcome::Rows(Box::new(rows)))
            }
            StatementKind::Show(show) => self.show(show),
            StatementKind::Describe(name) => self.describe_relation(name),
            StatementKind::Discard(what) => self.discard(*what).await,
            StatementKind::Listen(channel) => Ok(self.listen(channel)),
            StatementKind::Unlisten(channel) => Ok(self.unlisten(channel.as_deref())),
            StatementKind::Notify { channel, payload } => {
                self.send_word(channel, payload.as_deref().unwrap_or_default())?;
                Ok(Outcome::Command("NOTIFY".to_owned()))
            }
            StatementKind::Use(name) => self.use_database(name),
            other => Err(misrouted(other)),
        }
    }

    /// What is known of a statement before it runs. `declared` are the types that the client gave
    /// to parameters.
    pub(super) async fn describe(
        &mut self,
        statement: &Statement,
        declared: &[Option<SqlType>],
    ) -> SqlResult<Analysis> {
        let mut analysis = self.describe_kind(&statement.kind, declared).await?;
        let typed = analysis.parameters.len();
        if typed < statement.parameters && !takes_parameters(&statement.kind) {
            return Err(no_parameter(statement.parameters));
        }
        // Declared beyond those used.
        analysis.parameters.extend(declared.iter().skip(typed).flatten().cloned());
        Ok(analysis)
    }

    async fn describe_kind(
        &mut self,
        kind: &StatementKind,
        declared: &[Option<SqlType>],
    ) -> SqlResult<Analysis> {
        Ok(match kind {
            StatementKind::Query(query) => {
                let planned = self.plan(query, declared).await?;
                Analysis::of_query(planned, &self.engine.catalog())
            }
            StatementKind::Subscribe(subscribe) => {
                Analysis::rows(self.describe_subscribe(subscribe)?)
            }
            StatementKind::Declare(declare) => match &declare.rows {
                DeclaredRows::Query(query) => {
                    let planned = self.plan(query, declared).await?;
                    Analysis { parameters: planned.parameters().to_vec(), ..Analysis::default() }
                }
                DeclaredRows::Subscribe(_) | DeclaredRows::Subscription(_) => Analysis::default(),
            },
            StatementKind::Insert(_)
            | StatementKind::Update(_)
            | StatementKind::Delete(_)
            | StatementKind::Truncate(_) => self.describe_write(kind, declared).await?,
            StatementKind::Explain(explain) => {
                let inner = Box::pin(self.describe_kind(&explain.target, declared)).await?;
                let description = Some(explained(explain)?);
                Analysis { parameters: inner.parameters, description, planned: None }
            }
            StatementKind::AnalyzeView(_) => Analysis::rows(texts(&["QUERY PLAN"])),
            StatementKind::Show(Show::Objects { kind: ShowKind::Jobs, .. }) => {
                let planned = self.plan_jobs().await?;
                Analysis::rows(planned.description(&self.engine.catalog()))
            }
            StatementKind::Show(show) => Analysis::rows(self.describe_show(show)?),
            StatementKind::Describe(_) => Analysis::rows(describe_columns()),
            StatementKind::Fetch(fetch) => {
                Analysis { description: self.describe_fetch(fetch)?, ..Analysis::default() }
            }
            StatementKind::Execute(execute) => Analysis {
                // Whether there is such a statement, matters when this one runs.
                description: self
                    .prepared(&execute.name)
                    .ok()
                    .and_then(|prepared| prepared.description().cloned()),
                ..Analysis::default()
            },
            _ => Analysis::default(),
        })
    }

    /// SQL's EXECUTE.
    async fn execute_statement(
        &mut self,
        execute: &crate::planner::statement::Execute,
    ) -> SqlResult<Outcome> {
        let prepared = Arc::clone(self.prepared(&execute.name)?);
        let prepared = self.refreshed(prepared).await?;
        let values = self.evaluate_arguments(&prepared, execute)?;
        let Some(statement) = &prepared.statement else {
            return Ok(Outcome::Command("EXECUTE".to_owned()));
        };
        self.run_prepared(&prepared, statement, values).await
    }
}

/// What is known of a statement before it runs.
#[derive(Debug, Default)]
pub(super) struct Analysis {
    /// The types of its parameters.
    pub(super) parameters: Vec<SqlType>,
    /// The columns of its rows; `None`: it gives none.
    pub(super) description: Option<Description>,
    /// A query's plan.
    pub(super) planned: Option<Planned>,
}

impl Analysis {
    fn of_query(planned: Planned, catalog: &Catalog) -> Self {
        Self {
            parameters: planned.parameters().to_vec(),
            description: Some(planned.description(catalog)),
            planned: Some(planned),
        }
    }

    /// Of a statement without parameters that gives rows.
    fn rows(description: Description) -> Self {
        Self { description: Some(description), ..Self::default() }
    }
}

/// Kinds whose parameters are typed by planning them.
fn takes_parameters(kind: &StatementKind) -> bool {
    match kind {
        StatementKind::Query(_)
        | StatementKind::Insert(_)
        | StatementKind::Update(_)
        | StatementKind::Delete(_)
        | StatementKind::Declare(_)
        | StatementKind::Prepare(_) => true,
        StatementKind::Explain(explain) => takes_parameters(&explain.target),
        _ => false,
    }
}

pub(super) fn no_parameter(number: usize) -> SqlError {
    SqlError::new(code::UNDEFINED_PARAMETER, format!("there is no parameter ${number}"))
}

fn misrouted(kind: &StatementKind) -> SqlError {
    SqlError::internal(format!("statement went astray: {kind:?}"))
}
