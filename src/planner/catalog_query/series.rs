//! Functions that give sets of rows: `unnest`, `generate_series` and their kin.

use std::sync::Arc;

use crate::catalog::pg::{self, Function, PgContext, Row, Value};
use crate::error::{SqlError, SqlResult, code};
use crate::types::SqlType;

use super::tree::OutputColumn;

/// One of them.
#[derive(Debug, Clone, Copy)]
pub(super) enum Series {
    Unnest,
    Numbers,
    Subscripts,
    /// `information_schema._pg_expandarray(array)`: each element with its number.
    ExpandArray,
    /// `pg_options_to_table(array of name=value)`.
    OptionsToTable,
    /// `aclexplode(array)`: Weir has no access lists.
    AclExplode,
    /// `pg_partition_ancestors(oid)`: Weir has no partitions.
    PartitionAncestors,
    /// `pg_get_keywords()`.
    Keywords,
    /// `pg_show_all_settings()`: the rows of `pg_settings`.
    Settings,
    /// `pg_listening_channels()`.
    ListeningChannels,
    /// Any other function: one row.
    Single(&'static Function),
}

/// The longest series: catalogs are small.
const LENGTH_MAX: usize = 1_000_000;

impl Series {
    /// The set-returning function of this name.
    pub(super) fn of_name(name: &str) -> Option<Series> {
        Some(match name {
            "unnest" => Series::Unnest,
            "generate_series" => Series::Numbers,
            "generate_subscripts" => Series::Subscripts,
            "_pg_expandarray" => Series::ExpandArray,
            "pg_options_to_table" => Series::OptionsToTable,
            "aclexplode" => Series::AclExplode,
            "pg_partition_ancestors" => Series::PartitionAncestors,
            "pg_get_keywords" => Series::Keywords,
            "pg_show_all_settings" => Series::Settings,
            "pg_listening_channels" => Series::ListeningChannels,
            _ => return None,
        })
    }

    /// Whether it is a function of the system alone, which DataFusion does not have.
    pub(super) fn is_of_system(self) -> bool {
        match self {
            Series::ExpandArray
            | Series::OptionsToTable
            | Series::AclExplode
            | Series::PartitionAncestors
            | Series::Keywords
            | Series::Settings
            | Series::ListeningChannels => true,
            Series::Unnest | Series::Numbers | Series::Subscripts | Series::Single(_) => false,
        }
    }

    /// Its columns, for arguments of these types.
    pub(super) fn columns(self, name: &str, arguments: &[SqlType]) -> Vec<OutputColumn> {
        let element = |sql_type: &SqlType| match sql_type {
            SqlType::Array(element) => SqlType::clone(element),
            SqlType::Int2Vector => SqlType::SmallInt,
            SqlType::OidVector => SqlType::Oid,
            _ => SqlType::Text,
        };
        let column = |name: &str, sql_type| OutputColumn { name: name.to_owned(), sql_type };
        match self {
            Series::Unnest => arguments.iter().map(|one| column(name, element(one))).collect(),
            Series::Numbers | Series::Subscripts => {
                vec![column(name, SqlType::Integer)]
            }
            Series::ExpandArray => {
                let of = arguments.first().map_or(SqlType::Text, element);
                vec![column("x", of), column("n", SqlType::Integer)]
            }
            Series::OptionsToTable => {
                vec![column("option_name", SqlType::Text), column("option_value", SqlType::Text)]
            }
            Series::AclExplode => vec![
                column("grantor", SqlType::Oid),
                column("grantee", SqlType::Oid),
                column("privilege_type", SqlType::Text),
                column("is_grantable", SqlType::Boolean),
            ],
            Series::PartitionAncestors => vec![column("relid", SqlType::Regclass)],
            Series::Keywords => vec![
                column("word", SqlType::Text),
                column("catcode", SqlType::InternalChar),
                column("barelabel", SqlType::Boolean),
                column("catdesc", SqlType::Text),
                column("baredesc", SqlType::Text),
            ],
            Series::Settings => settings()
                .map(|settings| &settings.columns)
                .into_iter()
                .flatten()
                .map(|one| column(one.name, one.sql_type.clone()))
                .collect(),
            Series::ListeningChannels => vec![column(name, SqlType::Text)],
            Series::Single(function) => vec![column(name, function.returns.of(arguments))],
        }
    }

    /// Its rows.
    pub(super) fn rows(self, context: &PgContext, arguments: &[Value]) -> SqlResult<Vec<Row>> {
        let list =
            |position: usize| arguments.get(position).and_then(Value::as_list).unwrap_or_default();
        Ok(match self {
            Series::Unnest => {
                let lists: Vec<_> = (0..arguments.len()).map(list).collect();
                let length = lists.iter().map(|list| list.len()).max().unwrap_or(0);
                let at = |row: usize| {
                    lists.iter().map(|list| list.get(row).cloned().unwrap_or(Value::Null)).collect()
                };
                (0..length).map(at).collect()
            }
            Series::Numbers => numbers(arguments)?,
            Series::Subscripts => {
                (1..).zip(list(0).iter()).map(|(number, _)| single(Value::Int(number))).collect()
            }
            Series::ExpandArray => (1..)
                .zip(list(0).iter())
                .map(|(number, value)| Arc::from([value.clone(), Value::Int(number)]))
                .collect(),
            Series::OptionsToTable => list(0)
                .iter()
                .map(|option| {
                    let text = option.to_text(context);
                    let (name, value) = text.split_once('=').unwrap_or((&text, ""));
                    Arc::from([Value::text(name), Value::text(value)])
                })
                .collect(),
            Series::AclExplode | Series::PartitionAncestors => Vec::new(),
            Series::Keywords => pg::keywords().map(keyword).collect(),
            Series::Settings => match settings() {
                Some(settings) => pg::rows(settings, context)?,
                None => Vec::new(),
            },
            Series::ListeningChannels => {
                context.session.listening.iter().map(|one| single(Value::text(one))).collect()
            }
            Series::Single(function) => {
                vec![single(pg::call(function, context, arguments)?)]
            }
        })
    }
}

fn settings() -> Option<&'static pg::Relation> {
    pg::relation("pg_catalog", "pg_settings")
}

/// A row of `pg_get_keywords()`.
fn keyword((word, category, bare): (&str, &str, bool)) -> Row {
    let described = match category {
        "U" => "unreserved",
        "C" => "unreserved (cannot be function or type name)",
        "T" => "reserved (can be function or type name)",
        _ => "reserved",
    };
    let label = if bare { "can be bare label" } else { "requires AS" };
    Arc::from([
        Value::text(word),
        Value::text(category),
        Value::Bool(bare),
        Value::text(described),
        Value::text(label),
    ])
}

fn single(value: Value) -> Row {
    Arc::from([value])
}

/// `generate_series(from, to[, step])`.
fn numbers(arguments: &[Value]) -> SqlResult<Vec<Row>> {
    let at = |position: usize| arguments.get(position).and_then(Value::as_int);
    let (Some(from), Some(to)) = (at(0), at(1)) else { return Ok(Vec::new()) };
    let step = if arguments.len() > 2 { at(2) } else { Some(1) };
    let Some(step) = step else { return Ok(Vec::new()) };
    if step == 0 {
        let message = "step size cannot equal zero";
        return Err(SqlError::new(code::INVALID_PARAMETER_VALUE, message));
    }
    let mut rows = Vec::new();
    let mut next = Some(from);
    while let Some(value) = next.filter(|value| if step > 0 { *value <= to } else { *value >= to })
    {
        if rows.len() == LENGTH_MAX {
            return Err(SqlError::new("54000", "a series in a catalog query is too long")
                .detail(format!("It may have {LENGTH_MAX} elements.")));
        }
        rows.push(single(Value::Int(value)));
        next = value.checked_add(step);
    }
    Ok(rows)
}
