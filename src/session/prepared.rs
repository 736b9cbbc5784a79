//! Prepared statements: parsed, their parameters typed, their columns known.

use std::sync::Arc;

use datafusion::common::ScalarValue;

use super::outcome::{Description, Outcome, Rows};
use super::parameter::Parameters;
use super::query::Planned;
use super::session::Session;
use crate::catalog::{Catalog, pg};
use crate::clock::{self, WallTime};
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
    /// Whether SQL's PREPARE made it, and its source as that has it.
    from_sql: Option<String>,
    prepared_at: WallTime,
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
    /// Whether it is a SELECT or its like.
    pub(super) fn is_query(&self) -> bool {
        self.planned.is_some()
    }

    /// Its source.
    pub(super) fn text(&self) -> &str {
        let text = self.statement.as_ref().map_or("", |statement| &statement.text);
        self.from_sql.as_deref().unwrap_or(text)
    }

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
        self.keep(name, prepared);
        Ok(())
    }

    /// SQL's PREPARE.
    pub(super) async fn prepare_statement(
        &mut self,
        prepare: &crate::planner::statement::Prepare,
        text: &str,
    ) -> SqlResult<Outcome> {
        if self.prepared.contains_key(&prepare.name) {
            return Err(already_prepared(&prepare.name));
        }
        let declared = prepare.types.iter().map(SqlType::oid).collect();
        let prepared = self.analyze(Some(prepare.statement.clone()), declared).await?;
        self.keep(&prepare.name, Prepared { from_sql: Some(text.to_owned()), ..prepared });
        Ok(Outcome::Command("PREPARE".to_owned()))
    }

    fn keep(&mut self, name: &str, prepared: Prepared) {
        self.prepared.insert(name.to_owned(), Arc::new(prepared));
        self.prepared_shown = None;
    }

    /// As `pg_prepared_statements` shows them: those with a name.
    pub(super) fn show_prepared(&mut self) -> Arc<Vec<pg::PreparedStatement>> {
        let all = &self.prepared;
        let shown = self.prepared_shown.get_or_insert_with(|| {
            let named = all.iter().filter(|(name, _)| !name.is_empty());
            let mut shown: Vec<_> = named
                .map(|(name, prepared)| pg::PreparedStatement {
                    name: name.clone(),
                    statement: prepared.text().to_owned(),
                    prepared: prepared.prepared_at,
                    parameter_types: prepared.parameter_oids(),
                    from_sql: prepared.from_sql.is_some(),
                })
                .collect();
            shown.sort_by(|one, other| one.name.cmp(&other.name));
            Arc::new(shown)
        });
        Arc::clone(shown)
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
        self.prepared_shown = None;
    }

    /// DEALLOCATE; `None` is ALL.
    pub(super) fn deallocate(&mut self, name: Option<&str>) -> SqlResult<Outcome> {
        self.prepared_shown = None;
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
                from_sql: None,
                prepared_at: clock::wall(),
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
            from_sql: None,
            prepared_at: clock::wall(),
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
