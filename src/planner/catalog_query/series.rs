//! Functions that give sets of rows: `unnest`, `generate_series` and their kin.

use std::sync::Arc;

use crate::catalog::pg::{self, Function, PgContext, Reg, Row, Value};
use crate::error::{SqlError, SqlResult, code};
use crate::types::SqlType;

use super::evaluate::compile;
use super::tree::{OutputColumn, Pattern};

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
    /// `aclexplode(array)`: each privilege in an access control list.
    AclExplode,
    /// `pg_partition_ancestors(oid)`: Weir has no partitions.
    PartitionAncestors,
    /// `pg_partition_tree(oid)`, likewise.
    PartitionTree,
    /// `pg_available_extensions()`: there are none.
    Extensions,
    /// `pg_timezone_names()`: the rows of the view.
    TimeZones,
    /// `ts_token_type(parser)`: what a parser of text tells apart.
    TokenTypes,
    /// `regexp_split_to_table(text, pattern)`.
    Split,
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
            "pg_partition_tree" => Series::PartitionTree,
            "pg_available_extensions" => Series::Extensions,
            "pg_timezone_names" => Series::TimeZones,
            "ts_token_type" => Series::TokenTypes,
            "regexp_split_to_table" => Series::Split,
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
            | Series::PartitionTree
            | Series::Extensions
            | Series::TimeZones
            | Series::TokenTypes
            | Series::Keywords
            | Series::Settings
            | Series::ListeningChannels => true,
            Series::Unnest
            | Series::Numbers
            | Series::Subscripts
            | Series::Split
            | Series::Single(_) => false,
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
            Series::PartitionTree => vec![
                column("relid", SqlType::Regclass),
                column("parentrelid", SqlType::Regclass),
                column("isleaf", SqlType::Boolean),
                column("level", SqlType::Integer),
            ],
            Series::Extensions => vec![
                column("name", SqlType::Name),
                column("default_version", SqlType::Text),
                column("comment", SqlType::Text),
            ],
            Series::TimeZones => of_relation("pg_timezone_names"),
            Series::TokenTypes => vec![
                column("tokid", SqlType::Integer),
                column("alias", SqlType::Text),
                column("description", SqlType::Text),
            ],
            Series::Split => vec![column(name, SqlType::Text)],
            Series::Keywords => vec![
                column("word", SqlType::Text),
                column("catcode", SqlType::InternalChar),
                column("barelabel", SqlType::Boolean),
                column("catdesc", SqlType::Text),
                column("baredesc", SqlType::Text),
            ],
            Series::Settings => of_relation("pg_settings"),
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
            Series::AclExplode => {
                let items = list(0);
                items.iter().flat_map(|item| exploded(context, &item.to_text(context))).collect()
            }
            Series::PartitionAncestors | Series::PartitionTree | Series::Extensions => Vec::new(),
            Series::TimeZones => rows_of("pg_timezone_names", context)?,
            Series::TokenTypes => pg::token_types()
                .map(|(number, alias, description)| {
                    Arc::from([Value::Int(number), Value::text(alias), Value::text(description)])
                })
                .collect(),
            Series::Split => {
                let [text, pattern] = [0, 1].map(|at| {
                    arguments.get(at).map(|value| value.to_text(context)).unwrap_or_default()
                });
                let pattern = compile(&pattern, Pattern::Regex { ignore_case: false })?;
                pattern.split(&text).map(|part| single(Value::text(part))).collect()
            }
            Series::Keywords => pg::keywords().map(keyword).collect(),
            Series::Settings => rows_of("pg_settings", context)?,
            Series::ListeningChannels => {
                context.session.listening.iter().map(|one| single(Value::text(one))).collect()
            }
            Series::Single(function) => {
                vec![single(pg::call(function, context, arguments)?)]
            }
        })
    }
}

/// The columns of a relation that a function gives, too.
fn of_relation(name: &str) -> Vec<OutputColumn> {
    let columns = pg::relation("pg_catalog", name).map(|relation| &relation.columns);
    let columns = columns.into_iter().flatten();
    columns
        .map(|one| OutputColumn { name: one.name.to_owned(), sql_type: one.sql_type.clone() })
        .collect()
}

fn rows_of(name: &str, context: &PgContext) -> SqlResult<Vec<Row>> {
    match pg::relation("pg_catalog", name) {
        Some(relation) => pg::rows(relation, context),
        None => Ok(Vec::new()),
    }
}

/// `grantee=arw*/grantor` as rows of grantor, grantee, privilege and whether it may be given on.
fn exploded(context: &PgContext, item: &str) -> Vec<Row> {
    let parts = item.rsplit_once('/').zip(item.rsplit_once('='));
    let Some(((_, grantor), (grantee, _))) = parts else { return Vec::new() };
    let letters = item.get(grantee.len() + 1..item.len() - grantor.len() - 1).unwrap_or_default();
    let oid = |name: &str| {
        let found = (!name.is_empty()).then(|| pg::reg_from_text(context, Reg::Role, name));
        Value::Int(found.and_then(Result::ok).map_or(0, i64::from))
    };
    let mut rows: Vec<Row> = Vec::new();
    let mut letters = letters.chars().peekable();
    while let Some(letter) = letters.next() {
        let grantable = letters.next_if_eq(&'*').is_some();
        if let Some(name) = pg::privilege_of_letter(letter) {
            let (grantor, grantee) = (oid(grantor), oid(grantee));
            rows.push(Arc::from([grantor, grantee, Value::text(name), Value::Bool(grantable)]));
        }
    }
    rows
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
