//! The simple protocol: a string of statements, run one after the other.
//!
//! Several statements in one string are one transaction unless the string says otherwise: the
//! first that fails undoes those before it, and those after it are not run. Each statement's
//! result goes out before the next one starts.

use pgwire::messages::response::{CommandComplete, EmptyQueryResponse};

use super::connection::{Connection, End, Stop, telling, watched};
use super::rows;
use crate::metrics;
use crate::session::{Outcome, Rows, Statement};

impl Connection {
    pub(super) async fn query(&mut self, sql: &str) -> Result<(), End> {
        match self.statements(sql).await {
            Ok(()) => {}
            Err(Stop::Failed(error)) => self.fail(&error),
            Err(Stop::End(end)) => return Err(end),
        }
        self.ready().await
    }

    async fn statements(&mut self, sql: &str) -> Result<(), Stop> {
        self.begin();
        let statements = self.session.parse(sql)?;
        if statements.is_empty() {
            self.writer.put(&EmptyQueryResponse::new());
        }
        let last = statements.len().saturating_sub(1);
        if last > 0 {
            self.session.begin_implicit();
        }
        for (index, statement) in statements.iter().enumerate() {
            self.begin();
            self.statement(statement, index == last).await?;
            metrics::STATEMENTS.with_label_values(&["ok"]).inc();
            if self.writer.is_full() {
                self.writer.flush().await?;
            }
        }
        Ok(())
    }

    async fn statement(&mut self, statement: &Statement, is_last: bool) -> Result<(), Stop> {
        let remarks = self.session.remarks();
        let run = telling(&mut self.writer, &remarks, self.session.run(statement));
        let outcome = watched(&mut self.reader, &self.interrupts, &self.shutdown, run).await;
        let tag = match outcome.map_err(|error| self.judge(error))? {
            Outcome::Command(tag) => tag,
            Outcome::Rows(rows) => self.all_rows(*rows).await?,
            Outcome::CopyIn(copy) => self.copy_in(*copy).await?,
            Outcome::CopyOut(copy) => self.copy_out(*copy).await?,
        };
        if is_last {
            // The result is told only when it is durable.
            self.finish().await?;
        }
        self.settle();
        self.writer.put(&CommandComplete::new(tag));
        Ok(())
    }

    async fn all_rows(&mut self, mut rows: Rows) -> Result<String, Stop> {
        let Self { reader, writer, interrupts, shutdown, .. } = self;
        let sending = rows::send_all(writer, interrupts, &mut rows);
        let sent = watched(reader, interrupts, shutdown, sending).await;
        let sent = sent.map_err(|stop| self.judge_stop(stop))?;
        let tag = rows.tag(sent.rows);
        self.finished(rows).await?;
        Ok(tag)
    }

    /// All rows are sent: the session does what their functions asked of it.
    pub(super) async fn finished(&mut self, rows: Rows) -> Result<(), Stop> {
        let finishing = self.session.finished(rows);
        let done = watched(&mut self.reader, &self.interrupts, &self.shutdown, finishing).await;
        done.map_err(|error| self.judge(error))
    }

    /// Ends the transaction that the statement began by itself.
    pub(super) async fn finish(&mut self) -> Result<(), Stop> {
        let finish = self.session.finish();
        let finished = watched(&mut self.reader, &self.interrupts, &self.shutdown, finish).await;
        finished.map_err(|error| self.judge(error))
    }
}
