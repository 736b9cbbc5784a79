//! SHOW and DESCRIBE: variables, and what the catalog has.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringArray};

use super::outcome::{Description, Outcome, Rows, Tag};
use super::session::Session;
use super::set::proper_name;
use crate::catalog::catalog::is_system_schema;
use crate::catalog::sequence::sequences_in;
use crate::catalog::{Catalog, Object, ObjectKind, quote_identifier};
use crate::error::{SqlError, SqlResult, code};
use crate::planner::statement::{DropKind, Show, ShowKind};
use crate::planner::syntax::Name;
use crate::types::SqlType;

/// The jobs are a system table.
pub(super) const JOBS_QUERY: &str = "SELECT * FROM weir.jobs";

/// Rows of text, NULL where there is none.
type TextRows = Vec<Vec<Option<String>>>;

impl Session {
    /// The columns that a SHOW gives. `SHOW JOBS` is a query: see [`JOBS_QUERY`].
    pub(super) fn describe_show(&self, show: &Show) -> SqlResult<Description> {
        Ok(match show {
            Show::Variable(name) => {
                let (name, _) = self.variables.show(proper_name(name))?;
                texts(&[&name])
            }
            Show::All => texts(&["name", "setting", "description"]),
            Show::Objects { kind, .. } => match kind {
                ShowKind::Schemas | ShowKind::Databases => texts(&["name", "owner"]),
                ShowKind::Sources => texts(&["schema", "name", "connector"]),
                _ => texts(&["schema", "name", "owner"]),
            },
            Show::Columns(_) => describe_columns(),
            Show::Create { .. } => texts(&["name", "create_sql"]),
        })
    }

    pub(super) fn show(&self, show: &Show) -> SqlResult<Outcome> {
        let rows = match show {
            Show::Variable(name) => {
                let (_, value) = self.variables.show(proper_name(name))?;
                vec![vec![Some(value)]]
            }
            Show::All => self
                .variables
                .show_all()
                .into_iter()
                .map(|(name, value, description)| {
                    vec![Some(name.to_owned()), Some(value), Some(description.to_owned())]
                })
                .collect(),
            Show::Objects { kind, schema } => self.objects(*kind, schema.as_deref())?,
            Show::Columns(name) => self.columns(name)?,
            Show::Create { kind, name } => {
                let object = self.object(name)?;
                check_kind(&object, *kind)?;
                vec![vec![Some(object.name.name.clone()), Some(object.definition.clone())]]
            }
        };
        text_outcome(self.describe_show(show)?, "SHOW", rows)
    }

    /// DESCRIBE: the columns of a relation.
    pub(super) fn describe_relation(&self, name: &Name) -> SqlResult<Outcome> {
        text_outcome(describe_columns(), "DESCRIBE", self.columns(name)?)
    }

    fn objects(&self, kind: ShowKind, schema: Option<&str>) -> SqlResult<TextRows> {
        let catalog = self.engine.catalog();
        if let Some(schema) = schema
            && catalog.schema(schema).is_none()
        {
            let message = format!("schema \"{schema}\" does not exist");
            return Err(SqlError::new(code::INVALID_SCHEMA_NAME, message));
        }
        let pair = |name: &str, owner: &str| vec![Some(name.to_owned()), Some(owner.to_owned())];
        Ok(match kind {
            ShowKind::Schemas => catalog.schemas().map(|s| pair(&s.name, &s.owner)).collect(),
            ShowKind::Databases => catalog.databases().map(|d| pair(&d.name, &d.owner)).collect(),
            _ => relations(&catalog, kind, schema),
        })
    }

    fn columns(&self, name: &Name) -> SqlResult<TextRows> {
        let object = self.object(name)?;
        let catalog = self.engine.catalog();
        let key = match &object.kind {
            ObjectKind::Table(table) => table.primary_key.as_slice(),
            _ => &[],
        };
        let row = |(index, column): (usize, &crate::catalog::Column)| {
            vec![
                Some(column.name.clone()),
                Some(column.sql_type.to_string()),
                Some(if column.not_null { "no" } else { "yes" }.to_owned()),
                Some(if key.contains(&index) { "primary" } else { "" }.to_owned()),
                column.default.as_deref().map(|text| shown_default(&catalog, text)),
                column.comment.clone(),
            ]
        };
        Ok(object.columns.iter().enumerate().map(row).collect())
    }

    /// The object that a name means.
    pub(super) fn object(&self, name: &Name) -> SqlResult<Arc<Object>> {
        let catalog = self.engine.catalog();
        let path = self.search_path();
        let found = catalog.resolve(&path, name.schema.as_deref(), &name.name).map(Arc::clone);
        found.ok_or_else(|| {
            let message = format!("relation \"{name}\" does not exist");
            SqlError::new(code::UNDEFINED_TABLE, message).position(name.position)
        })
    }
}

fn relations(catalog: &Catalog, kind: ShowKind, schema: Option<&str>) -> TextRows {
    let mut objects: Vec<_> = catalog
        .objects()
        .filter(|object| match schema {
            Some(schema) => object.name.schema == schema,
            None => !is_system_schema(&object.name.schema),
        })
        .filter(|object| {
            matches!(
                (kind, &object.kind),
                (ShowKind::Tables, ObjectKind::Table(_))
                    | (ShowKind::Sources, ObjectKind::Source(_))
                    | (ShowKind::Views, ObjectKind::View(_))
                    | (ShowKind::MaterializedViews, ObjectKind::MaterializedView(_))
                    | (ShowKind::Indexes, ObjectKind::Index(_))
                    | (ShowKind::Sinks, ObjectKind::Sink(_))
                    | (ShowKind::Subscriptions, ObjectKind::Subscription(_))
            )
        })
        .collect();
    objects.sort_by(|a, b| a.name.cmp(&b.name));
    objects
        .into_iter()
        .map(|object| {
            let last = match &object.kind {
                ObjectKind::Source(source) => &source.connector.name,
                _ => &object.owner,
            };
            let name = &object.name;
            vec![Some(name.schema.clone()), Some(name.name.clone()), Some(last.clone())]
        })
        .collect()
}

fn check_kind(object: &Object, kind: DropKind) -> SqlResult<()> {
    if matches!(kind, DropKind::Schema | DropKind::Database) {
        return Err(SqlError::unsupported("SHOW CREATE of a schema or a database"));
    }
    let wanted = kind.name();
    if object.kind_name() == wanted {
        return Ok(());
    }
    let article = if wanted.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    let message = format!("\"{}\" is not {article} {wanted}", object.name.name);
    Err(SqlError::new(code::WRONG_OBJECT_TYPE, message).hint(format!(
        "It is a {}: use SHOW CREATE {}.",
        object.kind_name(),
        object.kind_name().to_uppercase()
    )))
}

pub(super) fn describe_columns() -> Description {
    texts(&["name", "type", "nullable", "key", "default", "comment"])
}

/// A default with the names of the sequences that it draws from.
fn shown_default(catalog: &Catalog, text: &str) -> String {
    let mut shown = text.to_owned();
    for (place, sequence) in sequences_in(text).into_iter().rev() {
        if let Some(sequence) = catalog.object(sequence) {
            let name = quote_identifier(&sequence.name.name).replace('\'', "''");
            shown.replace_range(place, &format!("'{name}'::regclass"));
        }
    }
    shown
}

/// Columns of text.
pub(super) fn texts(names: &[&str]) -> Description {
    let columns: Vec<_> = names.iter().map(|name| (*name, SqlType::Text)).collect();
    Description::of(&columns)
}

/// A result of text that is there already.
pub(super) fn text_outcome(
    description: Description,
    tag: &str,
    rows: TextRows,
) -> SqlResult<Outcome> {
    let columns = (0..description.len()).map(|column| {
        let values = rows.iter().map(|row| row[column].as_deref());
        Arc::new(values.collect::<StringArray>()) as ArrayRef
    });
    let batch = RecordBatch::try_new(Arc::clone(description.schema()), columns.collect())?;
    let tag = Tag::Fixed(tag.to_owned());
    Ok(Outcome::Rows(Box::new(Rows::of_batches(Arc::new(description), tag, vec![batch]))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn text_results_have_a_column_each() {
        let rows = vec![vec![Some("a".to_owned()), None], vec![None, Some("b".to_owned())]];
        let outcome = text_outcome(texts(&["x", "y"]), "SHOW", rows).expect("two columns");
        let Outcome::Rows(mut rows) = outcome else { panic!("no rows") };
        let batch = rows.next(None).await.expect("no error").expect("a batch");
        assert_eq!((batch.num_rows(), batch.num_columns()), (2, 2));
        assert_eq!(rows.tag(2), "SHOW");
    }
}
