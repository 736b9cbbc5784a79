//! The extended protocol: Parse, Bind, Describe, Execute, Close, Sync.
//!
//! Statements and portals are kept in the session, where SQL's PREPARE, EXECUTE, DECLARE and FETCH
//! find the same ones. A portal holds its query's live stream: Execute with a row limit takes so
//! many rows from it and leaves the rest for the next Execute.

use pgwire::messages::data::{NoData, ParameterDescription};
use pgwire::messages::extendedquery::{
    BindComplete, CloseComplete, ParseComplete, PortalSuspended,
};
use pgwire::messages::response::{CommandComplete, EmptyQueryResponse};

use super::connection::{Connection, End, Stop, telling, watched};
use super::frontend::{Bind, Execute, Parse, Target};
use super::rows;
use crate::metrics;
use crate::session::{Binding, Executed, Format, Outcome, Rows};

impl Connection {
    pub(super) async fn parse(&mut self, parse: Parse) -> Result<(), Stop> {
        self.begin();
        let Parse { statement, query, parameter_oids } = parse;
        let work = self.session.prepare(&statement, &query, &parameter_oids);
        let prepared = watched(&mut self.reader, &self.interrupts, &self.shutdown, work).await;
        prepared.map_err(|error| self.judge(error))?;
        self.writer.put(&ParseComplete::new());
        Ok(())
    }

    pub(super) async fn bind(&mut self, bind: Bind) -> Result<(), Stop> {
        self.begin();
        let binding = Binding {
            portal: bind.portal,
            statement: bind.statement,
            parameter_formats: formats(&bind.parameter_formats),
            parameters: bind.parameters,
            result_formats: formats(&bind.result_formats),
        };
        let work = self.session.bind(binding);
        let bound = watched(&mut self.reader, &self.interrupts, &self.shutdown, work).await;
        bound.map_err(|error| self.judge(error))?;
        self.writer.put(&BindComplete::new());
        Ok(())
    }

    pub(super) async fn describe(&mut self, target: &Target) -> Result<(), Stop> {
        match target {
            Target::Statement(name) => {
                let prepared = self.session.prepared(name)?;
                let types = prepared.parameter_oids();
                self.writer.put(&ParameterDescription::new(types));
                match prepared.description() {
                    // The formats are not known before Bind.
                    Some(columns) => self.writer.put(&rows::description(columns, &[])),
                    None => self.writer.put(&NoData::new()),
                }
            }
            Target::Portal(name) => match self.session.describe_portal(name)? {
                Some((columns, formats)) => {
                    self.writer.put(&rows::description(&columns, &formats));
                }
                None => self.writer.put(&NoData::new()),
            },
        }
        Ok(())
    }

    pub(super) async fn execute(&mut self, execute: Execute) -> Result<(), Stop> {
        self.begin();
        let Execute { portal, rows_max } = execute;
        let remarks = self.session.remarks();
        let work = telling(&mut self.writer, &remarks, self.session.execute(&portal));
        let executed = watched(&mut self.reader, &self.interrupts, &self.shutdown, work).await;
        let outcome = match executed.map_err(|error| self.judge(error))? {
            Executed::Empty => {
                self.writer.put(&EmptyQueryResponse::new());
                return Ok(());
            }
            Executed::Outcome(outcome) => outcome,
        };
        let tag = match outcome {
            Outcome::Command(tag) => Some(tag),
            Outcome::Rows(rows) => self.some_rows(&portal, *rows, rows_max).await?,
            Outcome::CopyIn(copy) => Some(self.copy_in(*copy).await?),
            Outcome::CopyOut(copy) => Some(self.copy_out(*copy).await?),
        };
        self.interrupts.end();
        metrics::STATEMENTS.with_label_values(&["ok"]).inc();
        self.settle();
        match tag {
            Some(tag) => self.writer.put(&CommandComplete::new(tag)),
            None => self.writer.put(&PortalSuspended::new()),
        }
        Ok(())
    }

    /// Rows up to the limit; the tag if they were the last.
    async fn some_rows(
        &mut self,
        portal: &str,
        mut rows: Rows,
        rows_max: Option<u64>,
    ) -> Result<Option<String>, Stop> {
        let Self { reader, writer, interrupts, shutdown, .. } = self;
        let sending = rows::send(writer, interrupts, &mut rows, rows_max);
        let sent = watched(reader, interrupts, shutdown, sending).await;
        let sent = sent.map_err(|stop| self.judge_stop(stop))?;
        if sent.limited {
            self.session.suspend(portal, rows);
            return Ok(None);
        }
        let tag = rows.tag(sent.rows);
        self.finished(rows).await?;
        Ok(Some(tag))
    }

    pub(super) fn close(&mut self, target: &Target) -> Result<(), Stop> {
        match target {
            Target::Statement(name) => self.session.close_statement(name),
            Target::Portal(name) => self.session.close_portal(name),
        }
        self.writer.put(&CloseComplete::new());
        Ok(())
    }

    /// The end of a batch of messages, and of the transaction it began by itself.
    pub(super) async fn sync(&mut self) -> Result<(), End> {
        self.skipping = false;
        self.begin();
        match self.finish().await {
            Ok(()) => {}
            Err(Stop::Failed(error)) => self.fail(&error),
            Err(Stop::End(end)) => return Err(end),
        }
        self.ready().await
    }
}

fn formats(codes: &[i16]) -> Vec<Format> {
    codes.iter().map(|code| if *code == 1 { Format::Binary } else { Format::Text }).collect()
}
