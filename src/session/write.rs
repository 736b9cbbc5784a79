//! INSERT, UPDATE, DELETE and TRUNCATE: into the transaction's writes, which the end of the
//! transaction brings into an epoch.

use std::sync::Arc;

use super::dispatch::Analysis;
use super::notice::Notice;
use super::outcome::{Description, Outcome, Rows, Tag};
use super::parameter::Parameters;
use super::session::Session;
use crate::engine::dml;
use crate::error::{SqlError, SqlResult};
use crate::planner::statement::StatementKind;
use crate::types::SqlType;

impl Session {
    pub(super) async fn write(
        &mut self,
        kind: &StatementKind,
        parameters: &Parameters,
    ) -> SqlResult<Outcome> {
        let command = command(kind);
        self.check_writable(command)?;
        let context = self.dml_context();
        // What the transaction has written is read under the statement's locks, and only there.
        let written = self.block.writes.take();
        let query = self.query_context();
        let mut writes = written.unwrap_or_else(|| dml::Transaction::begin(&context));
        let query = match query {
            Ok(query) => query,
            Err(error) => {
                self.block.writes = Some(writes);
                return Err(error);
            }
        };
        let parameters = dml::BoundParameters {
            declared: parameters.declared(),
            values: parameters.values.clone(),
        };
        let interrupts = Arc::clone(&self.interrupts);
        let transaction = &mut writes;
        let work = async {
            match kind {
                StatementKind::Insert(insert) => {
                    dml::insert(&context, transaction, &query, insert, &parameters).await
                }
                StatementKind::Update(update) => {
                    dml::update(&context, transaction, &query, update, &parameters).await
                }
                StatementKind::Delete(delete) => {
                    dml::delete(&context, transaction, &query, delete, &parameters).await
                }
                StatementKind::Truncate(truncate) => {
                    dml::truncate(&context, transaction, &query, truncate).await
                }
                other => Err(SqlError::internal(format!("statement went astray: {other:?}"))),
            }
        };
        // A statement that does not get through leaves nothing in the transaction.
        let written = interrupts.race(Box::pin(work)).await;
        self.block.writes = Some(writes);
        let written = written?;
        for notice in &written.notices {
            self.notify(Notice::remark(notice.clone()));
        }
        let tag = match kind {
            StatementKind::Insert(_) => format!("INSERT 0 {}", written.rows),
            StatementKind::Truncate(_) => "TRUNCATE TABLE".to_owned(),
            _ => format!("{command} {}", written.rows),
        };
        Ok(match written.returning {
            None => Outcome::Command(tag),
            Some((schema, batches)) => {
                let description = Arc::new(Description::shown(&schema));
                let rows = Rows::of_batches(description, Tag::Fixed(tag), batches);
                Outcome::Rows(Box::new(rows.with_style(self.text_style())))
            }
        })
    }

    /// What is known of a write before it runs.
    pub(super) async fn describe_write(
        &mut self,
        kind: &StatementKind,
        declared: &[Option<SqlType>],
    ) -> SqlResult<Analysis> {
        let query = self.query_context()?;
        let described = dml::describe(&query, kind, declared).await?;
        Ok(described.map_or_else(Analysis::default, |described| Analysis {
            parameters: described.parameters,
            description: described.returning.map(|schema| Description::shown(&schema)),
            planned: None,
        }))
    }
}

fn command(kind: &StatementKind) -> &'static str {
    match kind {
        StatementKind::Insert(_) => "INSERT",
        StatementKind::Update(_) => "UPDATE",
        StatementKind::Delete(_) => "DELETE",
        _ => "TRUNCATE TABLE",
    }
}
