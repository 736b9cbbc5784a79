//! `pg_catalog` and `information_schema` over the live catalog.
//!
//! A system relation is a shape (`relation`) and a function that makes its rows from a
//! [`PgContext`] (the catalog and the session) when a statement reads it; nothing is kept between
//! statements, so what they show is always the catalog that the statement resolved its names in.
//! Statements over nothing but these relations are run by `planner::catalog_query`, which speaks
//! PostgreSQL's dialect of catalog queries; where they meet user tables, [`table`] and
//! [`functions`] give them to DataFusion.

mod class;
mod constraints;
mod data;
mod function;
mod index;
mod information_schema;
mod lock;
mod names;
mod objects;
mod procs;
mod provider;
mod relation;
mod roles;
mod sequences;
mod session;
mod statistics;
mod system;
mod value;
mod views;

use std::sync::Arc;

pub use function::{Function, Returns, check_notification, function, functions_by_name};
pub use index::column_names;
pub use lock::{AdvisoryKey, Lock, LockMode, LockRequest, LockScope, Locked, SessionLocks};
pub use names::{identifiers, reg_from_text};
pub use procs::parameter_type;
pub use provider::{functions, of_scalar, sent_type, table, to_array};
pub use relation::{Relation, RelationColumn, Rows, relation, relations};
pub use session::{
    Activities, Activity, Cursor, Effect, Given, Numbering, PgContext, PgSession,
    PreparedStatement, SERVER_VERSION_NUM, Setting, Standing,
};
pub use value::{Reg, Row, Value};

use crate::catalog::access::denied;
use crate::catalog::catalog::{INFORMATION_SCHEMA, PG_CATALOG};
use crate::catalog::object::QualifiedName;
use crate::error::SqlResult;

/// PostgreSQL's keywords, as `pg_get_keywords()` lists them: `word, catcode, barelabel`.
const KEYWORDS: &str = include_str!("data/keywords.tsv");

/// A keyword with its category (`U`, `C`, `T`, `R`), and whether it can be a label without AS.
pub fn keywords() -> impl Iterator<Item = (&'static str, &'static str, bool)> {
    KEYWORDS.lines().filter_map(|line| {
        let mut parts = line.split('\t');
        Some((parts.next()?, parts.next()?, parts.next()? == "t"))
    })
}

/// The name of the privilege that `aclitem` shows by this letter.
pub fn privilege_of_letter(letter: char) -> Option<&'static str> {
    crate::catalog::privilege::Privileges::name_of_letter(letter)
}

/// What PostgreSQL's parser of text tells apart: `number, alias, description`.
const TOKEN_TYPES: &str = include_str!("data/token_types.tsv");

/// Those.
pub fn token_types() -> impl Iterator<Item = (i64, &'static str, &'static str)> {
    TOKEN_TYPES.lines().filter_map(|line| {
        let mut parts = line.split('\t');
        Some((parts.next()?.parse().ok()?, parts.next()?, parts.next()?))
    })
}

/// Whether a name can be a column's or a table's only in quotes.
pub fn is_reserved_word(name: &str) -> bool {
    keywords().any(|(word, category, _)| category != "U" && word == name)
}

/// The names of all system relations here (those of the schema `weir` are not).
pub fn names() -> impl Iterator<Item = QualifiedName> {
    relations().iter().map(|one| QualifiedName::new(one.schema, one.name))
}

/// The system relation that a name means. Without a schema only `pg_catalog` is looked at, which
/// comes before the search path unless the path names it later.
pub fn resolve(
    search_path: &[String],
    schema: Option<&str>,
    name: &str,
) -> Option<&'static Relation> {
    match schema {
        Some(schema) => relation(schema, name),
        None => relation(PG_CATALOG, name).or_else(|| {
            let path = search_path.iter().any(|schema| schema == INFORMATION_SCHEMA);
            path.then(|| relation(INFORMATION_SCHEMA, name)).flatten()
        }),
    }
}

/// Whether the system relation is not for everybody to read: passwords are in it, or what the
/// server runs on.
pub fn is_restricted(schema: &str, name: &str) -> bool {
    relation(schema, name).and_then(|one| one.acl).is_some_and(|acl| !acl.contains(",=r"))
}

/// 42501 where the session's user may not read the relation.
fn check_readable(relation: &Relation, context: &PgContext) -> SqlResult<()> {
    if !is_restricted(relation.schema, relation.name)
        || context.catalog.actor(&context.session.user)?.is_superuser()
    {
        return Ok(());
    }
    Err(denied(if relation.kind == "v" { "view" } else { "table" }, relation.name))
}

/// The rows of a system relation now.
pub fn rows(relation: &'static Relation, context: &PgContext) -> SqlResult<Vec<Row>> {
    check_readable(relation, context)?;
    let mut rows = Rows::new(relation);
    Ok(match producer(relation) {
        Some(produce) => {
            produce(context, &mut rows);
            rows.into_rows()
        }
        // Of the others some are the same everywhere, and the rest list what Weir does not have:
        // triggers, policies, publications, enums, ...
        None => data::rows_of(relation).to_vec(),
    })
}

/// Fills a relation's rows.
type Producer = fn(&PgContext, &mut Rows);

fn producer(relation: &Relation) -> Option<Producer> {
    if relation.schema == INFORMATION_SCHEMA {
        return Some(match relation.name {
            "information_schema_catalog_name" => information_schema::catalog_name,
            "schemata" => information_schema::schemata,
            "tables" => information_schema::tables,
            "views" => information_schema::views,
            "columns" => information_schema::columns,
            "table_constraints" => information_schema::table_constraints,
            "key_column_usage" => information_schema::key_column_usage,
            "constraint_column_usage" => information_schema::constraint_column_usage,
            "constraint_table_usage" => information_schema::constraint_table_usage,
            "check_constraints" => information_schema::check_constraints,
            "routines" => information_schema::routines,
            "parameters" => information_schema::parameters,
            "routine_privileges" => information_schema::routine_privileges,
            "role_routine_grants" => information_schema::role_routine_grants,
            "column_udt_usage" => information_schema::column_udt_usage,
            "data_type_privileges" => information_schema::data_type_privileges,
            "element_types" => information_schema::element_types,
            "udt_privileges" => information_schema::udt_privileges,
            "role_udt_grants" => information_schema::role_udt_grants,
            "view_table_usage" => information_schema::view_table_usage,
            "column_column_usage" => information_schema::column_column_usage,
            "character_sets" => information_schema::character_sets,
            "collations" => information_schema::collations,
            "collation_character_set_applicability" => information_schema::collation_character_sets,
            "column_privileges" => roles::column_privileges,
            "role_column_grants" => roles::role_column_grants,
            "enabled_roles" => roles::enabled_roles,
            "applicable_roles" => roles::applicable_roles,
            "table_privileges" => roles::table_privileges,
            "usage_privileges" => roles::usage_privileges,
            "role_usage_grants" => roles::role_usage_grants,
            "role_table_grants" => roles::role_table_grants,
            "referential_constraints" => information_schema::referential_constraints,
            "sequences" => sequences::of_the_standard,
            _ => return None,
        });
    }
    Some(match relation.name {
        "pg_class" => objects::pg_class,
        "pg_attribute" => objects::pg_attribute,
        "pg_attrdef" => objects::pg_attrdef,
        "pg_index" => index::pg_index,
        "pg_constraint" => objects::pg_constraint,
        "pg_proc" => procs::pg_proc,
        "pg_type" => objects::pg_type,
        "pg_description" => objects::pg_description,
        "pg_rewrite" => objects::pg_rewrite,
        "pg_depend" => objects::pg_depend,
        "pg_foreign_table" => objects::pg_foreign_table,
        "pg_foreign_server" => objects::pg_foreign_server,
        "pg_foreign_data_wrapper" => objects::pg_foreign_data_wrapper,
        "pg_namespace" => system::pg_namespace,
        "pg_database" => system::pg_database,
        "pg_shdescription" => system::pg_shdescription,
        "pg_roles" => roles::pg_roles,
        "pg_db_role_setting" => roles::pg_db_role_setting,
        "pg_authid" => roles::pg_authid,
        "pg_user" => roles::pg_user,
        "pg_shadow" => roles::pg_shadow,
        "pg_group" => roles::pg_group,
        "pg_auth_members" => roles::pg_auth_members,
        "pg_default_acl" => roles::pg_default_acl,
        "pg_settings" => system::pg_settings,
        "pg_prepared_statements" => system::pg_prepared_statements,
        "pg_cursors" => system::pg_cursors,
        "pg_locks" => lock::pg_locks,
        "pg_stat_activity" => system::pg_stat_activity,
        "pg_stat_gssapi" => statistics::pg_stat_gssapi,
        "pg_stat_database" => statistics::pg_stat_database,
        "pg_stat_all_tables" | "pg_statio_all_tables" => statistics::all_tables,
        "pg_stat_user_tables" | "pg_statio_user_tables" => statistics::user_tables,
        "pg_stat_sys_tables" | "pg_statio_sys_tables" => statistics::system_tables,
        "pg_stat_all_indexes" | "pg_statio_all_indexes" => statistics::all_indexes,
        "pg_stat_user_indexes" | "pg_statio_user_indexes" => statistics::user_indexes,
        "pg_stat_sys_indexes" | "pg_statio_sys_indexes" => statistics::system_indexes,
        "pg_statio_all_sequences" | "pg_statio_user_sequences" => statistics::sequences,
        "pg_timezone_names" => system::pg_timezone_names,
        "pg_stat_ssl" => statistics::pg_stat_ssl,
        "pg_stat_xact_user_tables" => statistics::user_tables,
        "pg_stat_xact_all_tables" => statistics::all_tables,
        "pg_stat_xact_sys_tables" => statistics::system_tables,
        "pg_sequence" => sequences::pg_sequence,
        "pg_sequences" => sequences::pg_sequences,
        "pg_tables" => views::pg_tables,
        "pg_views" => views::pg_views,
        "pg_matviews" => views::pg_matviews,
        "pg_indexes" => views::pg_indexes,
        _ => return None,
    })
}

/// A function's call, on values.
pub fn call(function: &Function, context: &PgContext, arguments: &[Value]) -> SqlResult<Value> {
    if function.strict && arguments.iter().any(Value::is_null) {
        return Ok(Value::Null);
    }
    (function.call)(context, arguments)
}

/// A shared context.
pub type SharedContext = Arc<PgContext>;

#[cfg(test)]
mod tests;
