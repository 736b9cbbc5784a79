//! Names: what a select's sources are called, and what a column's name means.

use crate::catalog::pg::Value;
use crate::error::{SqlError, code};
use crate::types::SqlType;

use super::bind::{BindError, Bound};
use super::tree::{Node, OutputColumn, Source, SourceKind, Typed};

/// The sources of a select, inside those of the selects around it.
pub(super) struct Scope<'a> {
    pub(super) sources: Vec<Source>,
    pub(super) outer: Option<&'a Scope<'a>>,
}

impl<'a> Scope<'a> {
    pub(super) fn inside(outer: Option<&'a Scope<'a>>) -> Self {
        Self { sources: Vec::new(), outer }
    }

    /// The column that `[[schema.]source.]name` means.
    pub(super) fn column(
        &self,
        schema: Option<&str>,
        source: Option<&str>,
        name: &str,
    ) -> Bound<Typed> {
        let mut scope = Some(self);
        let mut level = 0;
        let mut source_seen = false;
        while let Some(current) = scope {
            if let Some(found) = current.find(level, schema, source, name)? {
                return Ok(found);
            }
            source_seen |=
                current.sources.iter().any(|one| source.is_some_and(|name| one.alias == name));
            scope = current.outer;
            level += 1;
        }
        Err(BindError::Sql(match source {
            Some(source) if !source_seen => SqlError::new(
                code::UNDEFINED_TABLE,
                format!("missing FROM-clause entry for table \"{source}\""),
            ),
            Some(source) => SqlError::new(
                code::UNDEFINED_COLUMN,
                format!("column {source}.{name} does not exist"),
            ),
            None => {
                SqlError::new(code::UNDEFINED_COLUMN, format!("column \"{name}\" does not exist"))
            }
        }))
    }

    fn find(
        &self,
        level: usize,
        schema: Option<&str>,
        alias: Option<&str>,
        name: &str,
    ) -> Bound<Option<Typed>> {
        let mut found = None;
        for (source, one) in self.sources.iter().enumerate() {
            if alias.is_some_and(|alias| alias != one.alias)
                || schema.is_some_and(|schema| one.schema != Some(schema))
            {
                continue;
            }
            for (column, OutputColumn { name: own, sql_type }) in one.columns.iter().enumerate() {
                if own != name || (alias.is_none() && one.merged.contains(&column)) {
                    continue;
                }
                let node = Node::Column { level, source, column };
                if found.replace(Typed::new(node, sql_type.clone())).is_some() {
                    let message = format!("column reference \"{name}\" is ambiguous");
                    return Err(BindError::Sql(SqlError::new(code::AMBIGUOUS_COLUMN, message)));
                }
            }
        }
        Ok(found.or_else(|| self.system_column(alias, name)))
    }

    /// `tableoid` and `xmin`, which every relation has and `*` does not show.
    fn system_column(&self, alias: Option<&str>, name: &str) -> Option<Typed> {
        let relation = self.sources.iter().find_map(|source| match &source.kind {
            SourceKind::Relation(relation) if alias.is_none_or(|alias| alias == source.alias) => {
                Some(*relation)
            }
            _ => None,
        })?;
        let (value, sql_type) = match name {
            "tableoid" => (i64::from(relation.oid), SqlType::Oid),
            // Catalog rows have no transactions: all are of the first one.
            "xmin" => (1, SqlType::Xid),
            _ => return None,
        };
        Some(Typed::new(Node::Constant(Value::Int(value)), sql_type))
    }

    /// Whether the name is one of a source: `count(t)`, `SELECT t`.
    pub(super) fn is_source(&self, name: &str) -> bool {
        self.sources.iter().any(|source| source.alias == name)
            || self.outer.is_some_and(|outer| outer.is_source(name))
    }
}
