//! The statement that makes an object as it is: what SHOW CREATE shows of one that was not left as
//! its maker wrote it.

use super::catalog::Catalog;
use super::drop::quote_identifier;
use super::object::{
    Column, Connector, Index, MaterializedView, Object, ObjectKind, OnError, QualifiedName, Sink,
    Table,
};
use super::sequence::{Sequence, with_names};
use crate::types::ObjectId;

impl Catalog {
    /// The statement that would make `object` anew.
    pub(super) fn statement(&self, object: &Object) -> String {
        let name = qualified(&object.name);
        match &object.kind {
            ObjectKind::Table(table) => {
                format!("CREATE TABLE {name} {}", self.table_text(object, table))
            }
            ObjectKind::Source(source) => {
                let columns = list(object.columns.iter().map(|column| self.column_text(column)));
                let connector = connector_text(&source.connector);
                format!("CREATE SOURCE {name} ({columns}) {connector}")
            }
            ObjectKind::View(_) => {
                let (columns, query) = (names_of(object), query_of(object));
                format!("CREATE VIEW {name} ({columns}) AS {query}")
            }
            ObjectKind::MaterializedView(view) => {
                let (columns, query) = (names_of(object), query_of(object));
                let options = view_options(view);
                format!("CREATE MATERIALIZED VIEW {name} ({columns}) WITH ({options}) AS {query}")
            }
            ObjectKind::Sequence(sequence) => {
                format!("CREATE SEQUENCE {name} {}", sequence_text(sequence))
            }
            ObjectKind::Index(index) => self.index_text(object, index),
            ObjectKind::Sink(sink) => self.sink_text(object, sink),
            ObjectKind::Subscription(subscription) => format!(
                "CREATE SUBSCRIPTION {name} FROM {} WITH (retention = '{} milliseconds')",
                self.name_of(subscription.from),
                subscription.retention_ms
            ),
        }
    }

    fn table_text(&self, object: &Object, table: &Table) -> String {
        let columns = object.columns.iter().map(|column| self.column_text(column));
        let mut elements: Vec<String> = columns.collect();
        if let Some(name) = &table.primary_key_name {
            let key = table.primary_key.iter().filter_map(|column| object.columns.get(*column));
            let key = list(key.map(|column| quote_identifier(&column.name)));
            elements.push(format!("CONSTRAINT {} PRIMARY KEY ({key})", quote_identifier(name)));
        }
        for index in self.indexes(object.id) {
            elements.extend(unique_text(object, index));
        }
        for check in &table.constraints.checks {
            let (name, text) = (quote_identifier(&check.name), check.text(true));
            elements.push(format!("CONSTRAINT {name} {text}"));
        }
        for key in &table.constraints.foreign_keys {
            if let Some(referenced) = self.object(key.references) {
                let (name, to) = (quote_identifier(&key.name), self.name_of(key.references));
                let text = key.text(object, referenced, &to);
                elements.push(format!("CONSTRAINT {name} {text}"));
            }
        }
        let mut text = format!("({})", elements.join(", "));
        if table.append_only {
            text.push_str(" APPEND ONLY");
        }
        if let Some(connector) = &table.connector {
            text.push(' ');
            text.push_str(&connector_text(connector));
        }
        text
    }

    fn column_text(&self, column: &Column) -> String {
        let mut text = format!("{} {}", quote_identifier(&column.name), column.sql_type);
        if let Some(default) = &column.default {
            text.push_str(&format!(" DEFAULT {}", self.default_text(default)));
        }
        if let Some(generated) = &column.generated {
            text.push_str(&format!(" GENERATED ALWAYS AS ({generated}) STORED"));
        }
        if let Some(identity) = &column.identity {
            let when = if identity.always { "ALWAYS" } else { "BY DEFAULT" };
            text.push_str(&format!(" GENERATED {when} AS IDENTITY"));
        }
        if column.not_null {
            text.push_str(" NOT NULL");
        }
        text
    }

    /// A default with the names of its sequences.
    fn default_text(&self, default: &str) -> String {
        with_names(default, |sequence| Some(self.name_of(sequence)))
    }

    fn name_of(&self, id: ObjectId) -> String {
        self.object(id).map_or_else(|| id.0.to_string(), |object| qualified(&object.name))
    }

    fn index_text(&self, object: &Object, index: &Index) -> String {
        let on = self.object(index.on);
        let column = |column: usize| {
            let found = on.and_then(|on| on.columns.get(column));
            found.map_or_else(String::new, |column| quote_identifier(&column.name))
        };
        let keys = list(index.keys.iter().map(|key| {
            let direction = if key.descending { " DESC" } else { "" };
            let nulls = match (key.nulls_first, key.descending) {
                (true, false) => " NULLS FIRST",
                (false, true) => " NULLS LAST",
                _ => "",
            };
            format!("{}{direction}{nulls}", column(key.column))
        }));
        let unique = if index.unique { "UNIQUE " } else { "" };
        let mut text = format!(
            "CREATE {unique}INDEX {} ON {} ({keys})",
            quote_identifier(&object.name.name),
            self.name_of(index.on)
        );
        if !index.included.is_empty() {
            let included = list(index.included.iter().map(|included| column(*included)));
            text.push_str(&format!(" INCLUDE ({included})"));
        }
        if index.nulls_not_distinct {
            text.push_str(" NULLS NOT DISTINCT");
        }
        text
    }

    fn sink_text(&self, object: &Object, sink: &Sink) -> String {
        let into = self.object(sink.into);
        let filled = list(sink.columns.iter().filter_map(|column| {
            into.and_then(|into| into.columns.get(*column)).map(|one| quote_identifier(&one.name))
        }));
        let from = match &sink.query {
            Some(_) => format!("AS {}", query_of(object)),
            None => format!("FROM {}", self.name_of(sink.from)),
        };
        let mut options = vec![format!("snapshot = {}", sink.snapshot)];
        if sink.append_only {
            options.push("force_append_only = true".to_owned());
        }
        if let Some(query) = &sink.query {
            options.push(format!("parallelism = {}", query.parallelism));
        }
        format!(
            "CREATE SINK {} INTO {} ({filled}) {from} WITH ({})",
            qualified(&object.name),
            self.name_of(sink.into),
            options.join(", ")
        )
    }
}

/// The constraint that an index enforces, as an element of its table's statement.
fn unique_text(table: &Object, index: &Object) -> Option<String> {
    let kind = index.index()?;
    let constraint = kind.constraint?;
    let column = |column: usize| {
        table.columns.get(column).map_or_else(String::new, |one| quote_identifier(&one.name))
    };
    let keys = list(kind.keys.iter().map(|key| column(key.column)));
    let what = match (constraint.primary, kind.nulls_not_distinct) {
        (true, _) => "PRIMARY KEY",
        (false, true) => "UNIQUE NULLS NOT DISTINCT",
        (false, false) => "UNIQUE",
    };
    let mut text = format!("CONSTRAINT {} {what} ({keys})", quote_identifier(&index.name.name));
    if !kind.included.is_empty() {
        let included = list(kind.included.iter().map(|included| column(*included)));
        text.push_str(&format!(" INCLUDE ({included})"));
    }
    Some(text)
}

fn qualified(name: &QualifiedName) -> String {
    format!("{}.{}", quote_identifier(&name.schema), quote_identifier(&name.name))
}

fn list(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(", ")
}

fn names_of(object: &Object) -> String {
    list(object.columns.iter().map(|column| quote_identifier(&column.name)))
}

fn query_of(object: &Object) -> &str {
    object.shown_query().unwrap_or_default()
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn sequence_text(sequence: &Sequence) -> String {
    let Sequence { sql_type, start, increment, min, max, cache, .. } = sequence;
    let cycle = if sequence.cycle { " CYCLE" } else { "" };
    format!(
        "AS {sql_type} INCREMENT BY {increment} MINVALUE {min} MAXVALUE {max} START WITH {start} \
         CACHE {cache}{cycle}"
    )
}

fn connector_text(connector: &Connector) -> String {
    let option = |(name, value): (&String, &String)| format!("'{name}' = {}", quoted(value));
    let own = std::iter::once(format!("connector = {}", quoted(&connector.name)));
    let mut text = format!("WITH ({})", list(own.chain(connector.options.iter().map(option))));
    if let Some(format) = &connector.format {
        text.push_str(&format!(" FORMAT {format}"));
    }
    if let Some(encode) = &connector.encode {
        text.push_str(&format!(" ENCODE {encode}"));
    }
    if !connector.encode_options.is_empty() {
        text.push_str(&format!(" ({})", list(connector.encode_options.iter().map(option))));
    }
    text
}

fn view_options(view: &MaterializedView) -> String {
    let on_error = match view.on_error {
        OnError::Null => "null",
        OnError::Fail => "fail",
    };
    format!("parallelism = {}, on_error = '{on_error}'", view.parallelism)
}
