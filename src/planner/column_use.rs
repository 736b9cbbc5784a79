//! What a kept query has to do with the columns of a table.
//!
//! It reads one if it is other work, or none at all, when the column is called by a name that no
//! text says. If it speaks of all of them, it is shown over those that it knows.

use std::ops::ControlFlow;
use std::sync::Arc;

use sqlparser::ast;

use super::job::{ViewSettings, work_text};
use super::shown::Kept;
use crate::catalog::{Catalog, Meant, Object, quote_identifier};
use crate::error::SqlResult;

/// A name that no text says, and that no column has.
const UNSAID: &str = "\u{1f}column";

impl Kept<'_> {
    /// Whether the query reads a column of `object`, which it names. What views in it read is
    /// theirs.
    pub fn reads(&self, catalog: &Catalog, object: &Object, column: usize) -> SqlResult<bool> {
        let mut meaning = self.meaning(catalog)?;
        meaning.hold_columns(object);
        let settings = |names| ViewSettings { names, ..ViewSettings::of(self.search_path) };
        let work = |names| work_text(catalog, settings(names), &self.query);
        let Ok(before) = work(&meaning.names) else { return Ok(true) };
        let place = object.place(column);
        let mut named = meaning.names.clone();
        for meant in named.iter_mut().filter(|meant| meant.object == object.id) {
            let known = meant.known_places().iter().position(|own| *own == place);
            if let Some(known) = known.and_then(|known| meant.columns.get_mut(known)) {
                UNSAID.clone_into(known);
            }
        }
        Ok(named != meaning.names && !work(&named).is_ok_and(|after| after == before))
    }

    /// Whether the text may read a column of this name, as far as its words say.
    pub fn mentions(&self, column: &str) -> SqlResult<bool> {
        Ok(self.says_all() || self.says(column)?)
    }
}

/// A query of the columns that a text knows, under its names for them.
pub(super) fn known_only(meant: &Meant, object: &Object, relation: &str) -> String {
    let known = meant.known(&Arc::new(object.clone()));
    let columns = known.columns.iter().enumerate().map(|(index, column)| {
        let name = quote_identifier(&column.name);
        match object.column_at(known.place(index)).map(|own| &object.columns[own].name) {
            Some(own) if *own == column.name => name,
            Some(own) => format!("{} AS {name}", quote_identifier(own)),
            None => format!("NULL::{} AS {name}", column.sql_type),
        }
    });
    format!("(SELECT {} FROM {relation})", columns.collect::<Vec<_>>().join(", "))
}

/// Whether a query says `*`, or `TABLE t`, somewhere.
pub(super) fn has_wildcard(tree: &ast::Query) -> bool {
    struct Wildcards;
    impl ast::Visitor for Wildcards {
        type Break = ();

        fn pre_visit_select(&mut self, select: &ast::Select) -> ControlFlow<()> {
            let all = |item: &ast::SelectItem| {
                let one = matches!(item, ast::SelectItem::Wildcard(_));
                one || matches!(item, ast::SelectItem::QualifiedWildcard(..))
            };
            match select.projection.iter().any(all) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        }

        fn pre_visit_query(&mut self, query: &ast::Query) -> ControlFlow<()> {
            match query.body.as_ref() {
                ast::SetExpr::Table(_) => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        }
    }
    ast::Visit::visit(tree, &mut Wildcards).is_break()
}
