//! Values of a statement's parameters.

use datafusion::common::ScalarValue;

use crate::planner::Parameters;
use crate::types::SqlType;

/// The types that the client declared, and a value for each parameter.
#[derive(Debug, Clone, Default)]
pub struct BoundParameters {
    pub declared: Vec<Option<SqlType>>,
    pub values: Vec<ScalarValue>,
}

impl BoundParameters {
    /// As the planner takes them.
    pub(super) fn bound(&self) -> Parameters<'_> {
        Parameters { declared: &self.declared, values: Some(&self.values) }
    }
}
