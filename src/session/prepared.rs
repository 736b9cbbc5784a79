//! Prepared statements: parsed, their parameters typed, their columns known.

use std::sync::Arc;

use datafusion::common::ScalarValue;

use super::outcome::{Description, Outcome, Rows};
use super::parameter::Parameters;
use super::query::Planned;
use super::session::Session;
use crate::catalog::Catalog;
use crate::error::{SqlError, SqlResult, code};
use crate::planner::Statement;
use crate::types::SqlType;

/// A prepared statement.
#[derive(Debug)]
pub struct Prepared {
    /// `None`: the empty string.
    pub(super) statement: Option<Statement>,
    /// What the parameters are, as ParameterDescription says and Bind reads them.
    pub(super) parameters: Vec<SqlType>,
    /// What its rows look like; `None`: it gives none.
    pub(super) description: Option<Arc<Description>>,
    /// A query's plan.
    planned: Option<Planned>,
    /// The types that the client declared; 0: none.
    pub(super) declared: Vec<u32>,
    /// What it was planned over: when that changes it is planned again.
    pub(super) basis: Basis,
}

/// What the meaning of names rests on.
#[derive(Debug, Clone)]
pub(super) struct Basis {
    pub(super) catalog: Arc<Catalog>,
    pub(super) search_path: Vec<String>,
    /// Whose rights count.
    pub(super) user: String,
}

impl Basis {
    fn is(&self, other: &Basis) -> bool {
        Arc::ptr_eq(&self.catalog, &other.catalog)
            && self.search_path == other.search_path
            && self.user == other.user
    }
}

impl Prepared {
    /// The OIDs of the parameters' types.
    pub fn parameter_oids(&self) -> Vec<u32> {
        self.parameters.iter().map(SqlType::oid).collect()
    }

    /// The columns of its rows; `None`: it gives none.
    pub fn description(&self) -> Option<&Description> {
        self.description.as_deref()
    }
}

impl Session {
    /// A Parse message: prepares `sql` under `name`, empty for the unnamed statement.
    pub async fn prepare(&mut self, name: &str, sql: &str, declared: &[u32]) -> SqlResult<()> {
        // A Parse that fails leaves no unnamed statement, not the one before.
        if name.is_empty() {
            self.prepared.remove(name);
        } else if self.prepared.contains_key(name) {
            return Err(already_prepared(name));
        }
        let mut statements = self.parse(sql)?;
        if statements.len() > 1 {
            return Err(SqlError::new(
                code::SYNTAX_ERROR,
                "cannot insert multiple commands into a prepared statement",
            ));
        }
        let statement = statements.pop();
        let prepared = self.analyze(statement, declared.to_vec()).await?;
        self.prepared.insert(name.to_owned(), Arc::new(prepared));
        Ok(())
    }

    /// SQL's PREPARE.
    pub(super) async fn prepare_statement(
        &mut self,
        prepare: &crate::planner::statement::Prepare,
    ) -> SqlResult<Outcome> {
        if self.prepared.contains_key(&prepare.name) {
            return Err(already_prepared(&prepare.name));
        }
        let declared = prepare.types.iter().map(SqlType::oid).collect();
        let prepared = self.analyze(Some(prepare.statement.clone()), declared).await?;
        self.prepared.insert(prepare.name.clone(), Arc::new(prepared));
        Ok(Outcome::Command("PREPARE".to_owned()))
    }

    /// A statement by its name, empty for the unnamed one.
    pub fn prepared(&self, name: &str) -> SqlResult<&Arc<Prepared>> {
        self.prepared.get(name).ok_or_else(|| {
            let message = match name {
                "" => "unnamed prepared statement does not exist".to_owned(),
                name => format!("prepared statement \"{name}\" does not exist"),
            };
            SqlError::new(code::INVALID_SQL_STATEMENT_NAME, message)
        })
    }

    /// Closing what is not there is no error, as the protocol says.
    pub fn close_statement(&mut self, name: &str) {
        self.prepared.remove(name);
    }

    /// DEALLOCATE; `None` is ALL.
    pub(super) fn deallocate(&mut self, name: Option<&str>) -> SqlResult<Outcome> {
        let Some(name) = name else {
            self.prepared.clear();
            return Ok(Outcome::Command("DEALLOCATE ALL".to_owned()));
        };
        self.prepared(name)?;
        self.prepared.remove(name);
        Ok(Outcome::Command("DEALLOCATE".to_owned()))
    }

    /// Types the parameters and the columns of a statement.
    async fn analyze(
        &mut self,
        statement: Option<Statement>,
        declared: Vec<u32>,
    ) -> SqlResult<Prepared> {
        let basis = self.basis();
        let Some(statement) = statement else {
            return Ok(Prepared {
                statement: None,
                parameters: declared_types(&declared)?.into_iter().flatten().collect(),
                description: None,
                planned: None,
                declared,
                basis,
            });
        };
        self.check_may_run(&statement.kind)?;
        let types = declared_types(&declared)?;
        let interrupts = Arc::clone(&self.interrupts);
        let analysis = self.describe(&statement, &types);
        let analysis = interrupts.race(Box::pin(analysis)).await?;
        Ok(Prepared {
            statement: Some(statement),
            parameters: analysis.parameters,
            description: analysis.description.map(Arc::new),
            planned: analysis.planned,
            declared,
            basis,
        })
    }

    /// A prepared statement as it reads now: analyzed again if what its names mean may have
    /// changed. What it gives must not have.
    pub(super) async fn refreshed(&mut self, prepared: Arc<Prepared>) -> SqlResult<Arc<Prepared>> {
        if prepared.basis.is(&self.basis()) {
            return Ok(prepared);
        }
        let again = self.analyze(prepared.statement.clone(), prepared.declared.clone()).await?;
        let schema = |prepared: &Prepared| {
            prepared.description.as_ref().map(|description| Arc::clone(description.schema()))
        };
        if schema(&again) != schema(&prepared) || again.parameters != prepared.parameters {
            return Err(SqlError::new(
                code::FEATURE_NOT_SUPPORTED,
                "cached plan must not change result type",
            ));
        }
        Ok(Arc::new(again))
    }

    /// The rows of a prepared query, for a cursor over its portal.
    pub(super) async fn select_prepared(
        &mut self,
        prepared: &Prepared,
        parameters: Vec<ScalarValue>,
    ) -> SqlResult<Rows> {
        let Some(planned) = &prepared.planned else {
            return Err(SqlError::unsupported("FETCH from a portal that is no query"));
        };
        let parameters = Parameters { types: prepared.parameters.clone(), values: parameters };
        self.select_planned(planned, &parameters).await
    }

    /// Runs a prepared statement with decoded parameters.
    pub(super) async fn run_prepared(
        &mut self,
        prepared: &Prepared,
        statement: &Statement,
        parameters: Vec<ScalarValue>,
    ) -> SqlResult<Outcome> {
        let parameters = Parameters { types: prepared.parameters.clone(), values: parameters };
        match &prepared.planned {
            Some(planned) => {
                self.check_may_run(&statement.kind)?;
                self.is_active(&statement.text);
                let rows = Box::pin(self.select_planned(planned, &parameters)).await?;
                Ok(Outcome::Rows(Box::new(rows)))
            }
            // A statement can execute another, which can again.
            None => Box::pin(self.run_with(statement, &parameters)).await,
        }
    }
}

fn already_prepared(name: &str) -> SqlError {
    let message = format!("prepared statement \"{name}\" already exists");
    SqlError::new(code::DUPLICATE_PREPARED_STATEMENT, message)
}

/// The types that the client declared; `None` where it left them to be found.
fn declared_types(oids: &[u32]) -> SqlResult<Vec<Option<SqlType>>> {
    oids.iter()
        .map(|oid| match (oid, SqlType::from_oid(*oid)) {
            (0, _) | (_, Some(SqlType::Unknown)) => Ok(None),
            (_, Some(known)) => Ok(Some(known)),
            (oid, None) => {
                let message = format!("type with OID {oid} does not exist");
                Err(SqlError::new(code::UNDEFINED_OBJECT, message))
            }
        })
        .collect()
}
