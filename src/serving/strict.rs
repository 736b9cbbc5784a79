//! Views made with `on_error = 'fail'`: reading one raises the error of a row that fails, for as
//! long as the row is there; and so does reading a view over it, whose rows come from the same.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::sync::Arc;

use super::context::QueryContext;
use crate::catalog::object::OnError;
use crate::catalog::{Object, ObjectKind};
use crate::error::{SqlError, SqlResult};
use crate::state::{Snapshot, standing_error};

/// The views that must not fail for an object to be read, at the snapshot that it is read at.
pub struct Strict {
    snapshot: Arc<Snapshot>,
    views: Vec<Arc<Object>>,
}

impl fmt::Debug for Strict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.views.iter().map(|view| &view.name)).finish()
    }
}

impl Strict {
    /// Those of `object`: itself and what it is made from. None, where nothing was made so.
    pub fn of(context: &QueryContext, object: &Arc<Object>) -> Option<Self> {
        let mut views = Vec::new();
        let mut seen = BTreeSet::from([object.id]);
        let mut next = VecDeque::from([object.id]);
        while let Some(id) = next.pop_front() {
            next.extend(context.catalog.needs(id).iter().filter(|input| seen.insert(**input)));
            // Functions are ways to what they read.
            if let Some(object) = context.catalog.object(id)
                && let ObjectKind::MaterializedView(view) = &object.kind
                && view.on_error == OnError::Fail
            {
                views.push(Arc::clone(object));
            }
        }
        let snapshot = Arc::clone(&context.snapshot);
        (!views.is_empty()).then_some(Self { snapshot, views })
    }

    /// The error of a row that fails now. Blocks for the disk.
    pub(super) fn check(&self) -> SqlResult<()> {
        self.check_at(&self.snapshot)
    }

    /// The same at another moment.
    pub fn check_at(&self, snapshot: &Snapshot) -> SqlResult<()> {
        for view in &self.views {
            if let Some(standing) = standing_error(snapshot, view.id)? {
                return Err(raised(view, &standing.expression, standing.error));
            }
        }
        Ok(())
    }
}

/// `error` as whoever reads `view` gets it: the row's own, with the view named.
fn raised(view: &Object, expression: &str, error: SqlError) -> SqlError {
    let name = format!("\"{}.{}\"", view.name.schema, view.name.name);
    let context = format!("materialized view {name}, expression {expression}");
    let hint = "The view was made with on_error = 'fail'. weir.errors shows rows that failed; \
                change or delete those that still do.";
    match error.hint {
        Some(_) => error.context(context),
        None => error.context(context).hint(hint),
    }
}
