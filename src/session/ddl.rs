//! Statements about objects and about the server: all are the engine's.

use std::sync::Arc;

use super::notice::Notice;
use super::outcome::{Description, Outcome};
use super::parameter::Parameters;
use super::session::Session;
use super::transaction::Waits;
use crate::catalog::catalog::PG_TEMP;
use crate::catalog::{ObjectKind, role};
use crate::engine::{DdlOutcome, Names, Way};
use crate::error::{SqlError, SqlResult, code};
use crate::planner::grant::{Direction, Owned};
use crate::planner::statement::{
    ColumnDef, CreateSequence, CreateTable, Drop, DropKind, Insert, Maintain, StatementKind,
    TableChange,
};
use crate::planner::{Name, Statement};
use crate::types::SqlType;

impl Session {
    pub(super) async fn administer(&mut self, statement: &Statement) -> SqlResult<Outcome> {
        match &statement.kind {
            StatementKind::Flush => self.flush("FLUSH").await,
            StatementKind::Checkpoint => {
                let catalog = self.engine.catalog();
                if !catalog.actor(self.current_user())?.has_role(role::CHECKPOINT) {
                    return Err(SqlError::new(
                        code::INSUFFICIENT_PRIVILEGE,
                        "must be superuser or have privileges of pg_checkpoint to do CHECKPOINT",
                    ));
                }
                self.flush("CHECKPOINT").await
            }
            StatementKind::Maintain(maintain) => self.maintain(maintain),
            StatementKind::Refresh(view) => self.refresh(view),
            StatementKind::Wait(name) => {
                let object = name.as_ref().map(|name| self.object(name)).transpose()?;
                let created = self.engine.created(object.map(|object| object.id));
                self.interrupts.race(created).await?;
                Ok(Outcome::Command("WAIT".to_owned()))
            }
            StatementKind::CreateTable(create) if create.query.is_some() => {
                self.create_table_as(create, &statement.text).await
            }
            kind => {
                let tag = tag(kind);
                let waits = self.locks_awaited(kind);
                self.before_ddl(tag, &waits).await?;
                let outcome = match kind {
                    StatementKind::CreateTable(create) => {
                        self.create_table(create, &statement.text).await?
                    }
                    StatementKind::CreateSequence(create) => {
                        self.create_sequence(create, &statement.text).await?
                    }
                    kind => self.define(kind, &statement.text).await?,
                };
                self.tell(outcome);
                Ok(Outcome::Command(tag.to_owned()))
            }
        }
    }

    /// In a string of statements, what those before have written is flushed too; the writes of a
    /// block wait for its COMMIT, and sinks may wait for the block.
    async fn flush(&mut self, tag: &str) -> SqlResult<Outcome> {
        if self.block.is_explicit() {
            self.interrupts.race(self.engine.flush()).await?;
        } else {
            self.commit_so_far().await?;
            self.interrupts.race(self.engine.flush_sinks()).await?;
        }
        Ok(Outcome::Command(tag.to_owned()))
    }

    /// VACUUM and ANALYZE: that their tables are there is all that there is to see to.
    fn maintain(&mut self, maintain: &Maintain) -> SqlResult<Outcome> {
        let tag = if maintain.vacuum { "VACUUM" } else { "ANALYZE" };
        if maintain.vacuum {
            self.check_outside_block(tag)?;
        }
        for name in &maintain.tables {
            let object = self.object(name).map_err(|error| SqlError { position: None, ..error })?;
            if !matches!(object.kind, ObjectKind::Table(_) | ObjectKind::MaterializedView(_)) {
                let what = if maintain.vacuum { "vacuum" } else { "analyze" };
                let message = format!(
                    "skipping \"{}\" --- cannot {what} non-tables or special system tables",
                    object.name.name
                );
                self.notify(Notice::warning("01000", message));
            }
        }
        Ok(Outcome::Command(tag.to_owned()))
    }

    /// REFRESH: a view is as fresh as what is committed.
    fn refresh(&self, name: &Name) -> SqlResult<Outcome> {
        let object = self.object(name)?;
        let view = &object.name.name;
        if !matches!(object.kind, ObjectKind::MaterializedView(_)) {
            let message = format!("\"{view}\" is not a materialized view");
            return Err(SqlError::new(code::WRONG_OBJECT_TYPE, message));
        }
        let catalog = self.engine.catalog();
        let actor = catalog.actor(self.current_user())?;
        actor.check_owner(&object.owner, object.kind_name(), view)?;
        Ok(Outcome::Command("REFRESH MATERIALIZED VIEW".to_owned()))
    }

    /// Only what has to catch up takes long enough to be worth cancelling, and it undoes itself
    /// when it is; the others are not left half-done.
    async fn define(&self, kind: &StatementKind, text: &str) -> SqlResult<DdlOutcome> {
        let names = self.names();
        let parallelism = self.parallelism();
        let cancel = &self.interrupts.token();
        let engine = Arc::clone(&self.engine);
        match kind {
            StatementKind::CreateSource(create) => engine.create_source(create, text, &names).await,
            StatementKind::CreateView(create) => engine.create_view(create, text, &names).await,
            StatementKind::CreateMaterializedView(create) => {
                let way = Way { cancel, background: self.variables.is_on("background_ddl") };
                let work = engine.create_materialized_view(create, text, &names, parallelism, way);
                let work = self.telling_progress(&create.name, Box::pin(work));
                self.interrupts.tell(Box::pin(work)).await
            }
            StatementKind::CreateFunction(create) => engine.create_function(create, &names).await,
            StatementKind::DropFunction(drop) => engine.drop_functions(drop, &names).await,
            StatementKind::CreateIndex(create) => {
                let work = engine.create_index(create, text, &names, parallelism, cancel);
                self.interrupts.tell(Box::pin(work)).await
            }
            StatementKind::CreateSink(create) => {
                let work = engine.create_sink(create, text, &names, parallelism, cancel);
                self.interrupts.tell(Box::pin(work)).await
            }
            StatementKind::CreateSubscription(create) => {
                engine.create_subscription(create, text, &names).await
            }
            StatementKind::AlterSequence(alter) => engine.alter_sequence(alter, &names).await,
            StatementKind::AlterTable(alter) => {
                let work = engine.alter_table(alter, &names, parallelism, cancel);
                self.interrupts.tell(Box::pin(work)).await
            }
            StatementKind::Reindex(reindex) => engine.reindex(reindex, &names),
            StatementKind::CancelJobs(jobs) => {
                for job in jobs {
                    engine.cancel_job(*job, &names).await?;
                }
                Ok(DdlOutcome::default())
            }
            StatementKind::CreateSchema(create) => engine.create_schema(create, &names).await,
            StatementKind::CreateDatabase(create) => engine.create_database(create, &names).await,
            StatementKind::CreateRole(create) => {
                engine.create_role(create, &names, &self.input_style()).await
            }
            StatementKind::AlterRole(alter) => {
                engine.alter_role(alter, &names, &self.input_style()).await
            }
            StatementKind::AlterSettings(alter) => self.alter_settings(alter, &names).await,
            StatementKind::DropRole(drop) => engine.drop_roles(drop, &names).await,
            StatementKind::GrantRole(grant) => engine.grant_roles(grant, &names).await,
            StatementKind::Grant(grant) => engine.grant(grant, &names).await,
            StatementKind::DefaultPrivileges(defaults) => {
                engine.alter_default_privileges(defaults, &names).await
            }
            StatementKind::AlterOwner(alter) => engine.alter_owner(alter, &names).await,
            StatementKind::Rename(rename) => engine.rename(rename, &names).await,
            StatementKind::ReassignOwned(reassign) => engine.reassign_owned(reassign, &names).await,
            StatementKind::DropOwned(drop) => engine.drop_owned(drop, &names).await,
            StatementKind::Drop(drop) => engine.drop_objects(drop, &names).await,
            StatementKind::Comment(comment) => engine.comment(comment, &names).await,
            other => Err(SqlError::internal(format!("statement went astray: {other:?}"))),
        }
    }

    async fn create_table(&mut self, create: &CreateTable, text: &str) -> SqlResult<DdlOutcome> {
        let temporary = self.as_temporary(create).await?;
        let create = temporary.as_ref().unwrap_or(create);
        let (names, cancel) = (self.names(), &self.interrupts.token());
        let engine = Arc::clone(&self.engine);
        let work = engine.create_table(create, text, &names, self.parallelism(), cancel);
        let outcome = self.interrupts.tell(Box::pin(work)).await?;
        if outcome.notices.is_empty() {
            self.note_temporary(create);
        }
        Ok(outcome)
    }

    async fn create_sequence(
        &mut self,
        create: &CreateSequence,
        text: &str,
    ) -> SqlResult<DdlOutcome> {
        let mut create = create.clone();
        if let Some(schema) = self.temporary_schema(&create.name, create.temporary).await? {
            create.name.schema = Some(schema);
        }
        let engine = Arc::clone(&self.engine);
        engine.create_sequence(&create, text, &self.names()).await
    }

    /// The table with its query's columns, then the query's rows; not the one without the other.
    async fn create_table_as(&mut self, create: &CreateTable, text: &str) -> SqlResult<Outcome> {
        self.before_ddl("CREATE TABLE AS", &Waits::ForNone).await?;
        let Some(query) = &create.query else {
            return Err(SqlError::internal("CREATE TABLE AS without a query"));
        };
        let description = self.plan(query, &[]).await?.description(&self.engine.catalog());
        let mut create = create.clone();
        create.columns = columns_of(&description, &create.query_columns)?;
        let made = self.create_table(&create, text).await?;
        let names = self.names();
        if create.temporary.is_some() {
            create.name.schema = Some(PG_TEMP.to_owned());
        }
        let existed = !made.notices.is_empty();
        self.tell(made);
        if existed {
            return Ok(Outcome::Command("CREATE TABLE AS".to_owned()));
        }
        let insert = Insert {
            with: None,
            table: create.name.clone(),
            alias: None,
            columns: Vec::new(),
            overriding: None,
            source: Some(query.clone()),
            on_conflict: None,
            returning: None,
        };
        let insert = StatementKind::Insert(Box::new(insert));
        match Box::pin(self.write(&insert, &Parameters::default())).await {
            Ok(outcome) => Ok(as_select(outcome)),
            Err(error) => {
                let drop = Drop {
                    kind: DropKind::Table,
                    names: vec![create.name],
                    if_exists: true,
                    cascade: false,
                };
                // What the failed statement holds must go first.
                self.block.writes = None;
                Arc::clone(&self.engine).drop_objects(&drop, &names).await?;
                Err(error)
            }
        }
    }

    fn tell(&mut self, outcome: DdlOutcome) {
        for remark in outcome.notices {
            let notice = match remark.warning {
                Some(code) => Notice::warning(code, remark.message),
                None => Notice::remark(remark.message),
            };
            self.notify(match remark.detail {
                Some(detail) => notice.detail(detail),
                None => notice,
            });
        }
    }

    /// For whose locks a statement waits.
    fn locks_awaited(&self, kind: &StatementKind) -> Waits {
        match kind {
            StatementKind::Drop(_)
            | StatementKind::DropFunction(_)
            | StatementKind::DropOwned(_) => Waits::ForAny,
            StatementKind::CreateIndex(create) if create.unique => Waits::ForAny,
            StatementKind::AlterTable(alter) => {
                let referenced = alter.changes.iter().filter_map(|change| match change {
                    TableChange::AddForeignKey(key) => Some(&key.table),
                    _ => None,
                });
                let named = std::iter::once(&alter.table).chain(referenced);
                let found = named.filter_map(|name| self.object(name).ok());
                Waits::For(found.map(|table| table.id).collect())
            }
            _ => Waits::ForNone,
        }
    }

    /// How the names of the session's statements are meant.
    pub(super) fn names(&self) -> Names {
        Names {
            search_path: self.search_path(),
            style: self.text_style(),
            user: self.current_user().to_owned(),
            session_user: self.session_user().to_owned(),
            database: self.client.database.clone(),
            owner: self.locks.owner(),
        }
    }

    /// The number of actors of a new job.
    pub(super) fn parallelism(&self) -> usize {
        let own = self.variables.get("streaming_parallelism").and_then(|own| own.parse().ok());
        own.filter(|own| *own > 0).unwrap_or(self.engine.settings().parallelism)
    }
}

/// A query's columns as a table's, under other names where some are given.
fn columns_of(description: &Description, names: &[String]) -> SqlResult<Vec<ColumnDef>> {
    if names.len() > description.len() {
        return Err(SqlError::new(
            code::SYNTAX_ERROR,
            "CREATE TABLE AS specifies too many column names",
        ));
    }
    let columns = description.columns().enumerate().map(|(index, column)| ColumnDef {
        name: names.get(index).map_or(column.name, String::as_str).to_owned(),
        sql_type: match column.sql_type {
            SqlType::Unknown => SqlType::Text,
            known => known,
        },
        not_null: false,
        default: None,
        generated: None,
        numbering: None,
    });
    Ok(columns.collect())
}

/// `INSERT 0 n` as CREATE TABLE AS says it.
fn as_select(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Command(tag) => Outcome::Command(tag.replace("INSERT 0", "SELECT")),
        other => other,
    }
}

/// The command tag, which is also what messages call the statement.
fn tag(kind: &StatementKind) -> &'static str {
    match kind {
        StatementKind::CreateTable(_) => "CREATE TABLE",
        StatementKind::CreateSource(_) => "CREATE SOURCE",
        StatementKind::CreateView(_) => "CREATE VIEW",
        StatementKind::CreateMaterializedView(_) => "CREATE MATERIALIZED VIEW",
        StatementKind::CreateFunction(_) => "CREATE FUNCTION",
        StatementKind::DropFunction(_) => "DROP FUNCTION",
        StatementKind::CreateIndex(_) => "CREATE INDEX",
        StatementKind::CreateSink(_) => "CREATE SINK",
        StatementKind::CreateSubscription(_) => "CREATE SUBSCRIPTION",
        StatementKind::CreateSequence(_) => "CREATE SEQUENCE",
        StatementKind::AlterSequence(_) => "ALTER SEQUENCE",
        StatementKind::AlterTable(_) => "ALTER TABLE",
        StatementKind::CancelJobs(_) => "CANCEL JOB",
        StatementKind::Reindex(_) => "REINDEX",
        StatementKind::CreateSchema(_) => "CREATE SCHEMA",
        StatementKind::CreateDatabase(_) => "CREATE DATABASE",
        StatementKind::CreateRole(_) => "CREATE ROLE",
        StatementKind::AlterRole(_) => "ALTER ROLE",
        StatementKind::AlterSettings(alter) if alter.role.is_none() => "ALTER DATABASE",
        StatementKind::AlterSettings(_) => "ALTER ROLE",
        StatementKind::DropRole(_) => "DROP ROLE",
        StatementKind::GrantRole(grant) => match grant.direction {
            Direction::Grant => "GRANT ROLE",
            Direction::Revoke => "REVOKE ROLE",
        },
        StatementKind::Grant(grant) => match grant.direction {
            Direction::Grant => "GRANT",
            Direction::Revoke => "REVOKE",
        },
        StatementKind::DefaultPrivileges(_) => "ALTER DEFAULT PRIVILEGES",
        StatementKind::AlterOwner(alter) => match &alter.what {
            Owned::Function { .. } => "ALTER FUNCTION",
            Owned::Object { kind, .. } => altered(*kind),
        },
        StatementKind::Rename(rename) => altered(rename.kind),
        StatementKind::ReassignOwned(_) => "REASSIGN OWNED",
        StatementKind::DropOwned(_) => "DROP OWNED",
        StatementKind::Drop(Drop { kind, .. }) => match kind {
            DropKind::Table => "DROP TABLE",
            DropKind::Source => "DROP SOURCE",
            DropKind::View => "DROP VIEW",
            DropKind::MaterializedView => "DROP MATERIALIZED VIEW",
            DropKind::Index => "DROP INDEX",
            DropKind::Sink => "DROP SINK",
            DropKind::Subscription => "DROP SUBSCRIPTION",
            DropKind::Sequence => "DROP SEQUENCE",
            DropKind::Schema => "DROP SCHEMA",
            DropKind::Database => "DROP DATABASE",
        },
        _ => "COMMENT",
    }
}

fn altered(kind: DropKind) -> &'static str {
    match kind {
        DropKind::Table => "ALTER TABLE",
        DropKind::Source => "ALTER SOURCE",
        DropKind::View => "ALTER VIEW",
        DropKind::MaterializedView => "ALTER MATERIALIZED VIEW",
        DropKind::Index => "ALTER INDEX",
        DropKind::Sink => "ALTER SINK",
        DropKind::Subscription => "ALTER SUBSCRIPTION",
        DropKind::Sequence => "ALTER SEQUENCE",
        DropKind::Schema => "ALTER SCHEMA",
        DropKind::Database => "ALTER DATABASE",
    }
}
