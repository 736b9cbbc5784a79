//! Functions, PostgreSQL's and users', with their parameters.

use super::super::names::role_name;
use super::super::objects::first_bytes;
use super::super::procs::{function_of, pg_proc};
use super::super::relation::Rows;
use super::super::roles::is_enabled;
use super::super::value::Value;
use super::super::{PgContext, relation};
use super::types::described_types;
use super::{database, yes_or_no};
use crate::catalog::catalog::PG_CATALOG;
use crate::types::ObjectId;

/// `pg_language.oid`.
const C_LANGUAGE: u32 = 13;
const SQL_LANGUAGE: u32 = 14;

/// A row of `pg_proc`, as far as the standard asks.
pub(super) struct Routine {
    pub(super) oid: u32,
    pub(super) schema: String,
    pub(super) name: String,
    /// The name with the OID, which no other function has.
    pub(super) specific: String,
    owner: u32,
    language: u32,
    kind: String,
    source: Value,
    deterministic: bool,
    strict: bool,
    definer: bool,
    pub(super) result: u32,
    /// Type, mode and name of each.
    pub(super) parameters: Vec<(u32, String, Value)>,
}

/// All functions.
pub(super) fn described_routines(context: &PgContext) -> Vec<Routine> {
    let Some(relation) = relation(PG_CATALOG, "pg_proc") else { return Vec::new() };
    let place = |name: &str| relation.columns.iter().position(|column| column.name == name);
    let places = [
        "oid",
        "proname",
        "pronamespace",
        "proowner",
        "prolang",
        "prokind",
        "prosrc",
        "provolatile",
        "proisstrict",
        "prosecdef",
        "prorettype",
        "proargtypes",
        "proallargtypes",
        "proargmodes",
        "proargnames",
    ]
    .map(place);
    let mut rows = Rows::new(relation);
    pg_proc(context, &mut rows);
    let routines = rows.into_rows().into_iter().filter_map(|row| {
        let at = |place: usize| row.get(places[place]?);
        let oid = |place: usize| at(place).and_then(Value::as_oid);
        let text = |place: usize| at(place).map(|value| value.to_text(context));
        let list = |place: usize| at(place).and_then(Value::as_list);
        let schema = context.catalog.schemas().find(|schema| Some(schema.id.0) == oid(2))?;
        let (modes, names) = (list(13), list(14));
        let types = list(12).or_else(|| list(11)).unwrap_or_default();
        let of = |values: &Option<std::sync::Arc<[Value]>>, at: usize| {
            values.as_ref().and_then(|values| values.get(at).cloned())
        };
        let parameters = types.iter().enumerate().map(|(position, one)| {
            let mode = of(&modes, position).map_or_else(|| "i".to_owned(), |m| m.to_text(context));
            let name = of(&names, position).filter(|name| !name.to_text(context).is_empty());
            (one.as_oid().unwrap_or(0), mode, name.unwrap_or(Value::Null))
        });
        let (id, name) = (oid(0)?, text(1)?);
        let suffix = format!("_{id}");
        let mut specific = first_bytes(&name);
        while specific.len() + suffix.len() > 63 && specific.pop().is_some() {}
        Some(Routine {
            oid: id,
            schema: schema.name.clone(),
            specific: specific + &suffix,
            name,
            owner: oid(3)?,
            language: oid(4)?,
            kind: text(5)?,
            source: at(6)?.clone(),
            deterministic: text(7)? == "i",
            strict: at(8)?.as_bool()?,
            definer: at(9)?.as_bool()?,
            result: oid(10)?,
            parameters: parameters.collect(),
        })
    });
    routines.collect()
}

pub(in super::super) fn routines(context: &PgContext, rows: &mut Rows) {
    let types = described_types(context);
    for routine in described_routines(context) {
        let is_procedure = routine.kind == "p";
        let result = types.get(&routine.result).filter(|_| !is_procedure);
        let kind = match routine.kind.as_str() {
            "f" => Value::text("FUNCTION"),
            "p" => Value::text("PROCEDURE"),
            _ => Value::Null,
        };
        let language = match routine.language {
            C_LANGUAGE => "C",
            SQL_LANGUAGE => "SQL",
            _ => "INTERNAL",
        };
        let owned = is_enabled(context, ObjectId(routine.owner));
        let of_c = routine.language == C_LANGUAGE;
        let data_type = result.map(|result| result.data_type(context, routine.result));
        rows.push([
            ("specific_catalog", database(context)),
            ("specific_schema", Value::text(&routine.schema)),
            ("specific_name", Value::text(&routine.specific)),
            ("routine_catalog", database(context)),
            ("routine_schema", Value::text(&routine.schema)),
            ("routine_name", Value::text(&routine.name)),
            ("routine_type", kind),
            ("data_type", Value::optional(data_type)),
            ("type_udt_catalog", result.map_or(Value::Null, |_| database(context))),
            ("type_udt_schema", Value::optional(result.map(|result| &result.schema))),
            ("type_udt_name", Value::optional(result.map(|result| &result.name))),
            ("dtd_identifier", if is_procedure { Value::Null } else { Value::text("0") }),
            (
                "routine_body",
                Value::text(if routine.language == SQL_LANGUAGE { "SQL" } else { "EXTERNAL" }),
            ),
            ("routine_definition", if owned { routine.source.clone() } else { Value::Null }),
            ("external_name", if of_c { routine.source.clone() } else { Value::Null }),
            ("external_language", Value::text(language)),
            ("parameter_style", Value::text("GENERAL")),
            ("is_deterministic", yes_or_no(routine.deterministic)),
            ("sql_data_access", Value::text("MODIFIES")),
            ("is_null_call", if is_procedure { Value::Null } else { yes_or_no(routine.strict) }),
            ("schema_level_routine", yes_or_no(true)),
            ("max_dynamic_result_sets", Value::Int(0)),
            ("security_type", Value::text(if routine.definer { "DEFINER" } else { "INVOKER" })),
            ("as_locator", yes_or_no(false)),
            ("is_udt_dependent", yes_or_no(false)),
        ]);
    }
}

pub(in super::super) fn parameters(context: &PgContext, rows: &mut Rows) {
    let types = described_types(context);
    for routine in described_routines(context) {
        let function = function_of(context, routine.oid);
        for (position, (oid, mode, name)) in routine.parameters.iter().enumerate() {
            let Some(described) = types.get(oid) else { continue };
            let mode = match mode.as_str() {
                "o" | "t" => "OUT",
                "b" => "INOUT",
                _ => "IN",
            };
            let own = function.and_then(|function| function.parameters.get(position));
            let default = own.and_then(|parameter| parameter.default.as_deref());
            let number = Value::Int(i64::try_from(position + 1).unwrap_or(i64::MAX));
            rows.push([
                ("specific_catalog", database(context)),
                ("specific_schema", Value::text(&routine.schema)),
                ("specific_name", Value::text(&routine.specific)),
                ("ordinal_position", number),
                ("parameter_mode", Value::text(mode)),
                ("is_result", yes_or_no(false)),
                ("as_locator", yes_or_no(false)),
                ("parameter_name", name.clone()),
                ("data_type", Value::text(described.data_type(context, *oid))),
                ("udt_catalog", database(context)),
                ("udt_schema", Value::text(&described.schema)),
                ("udt_name", Value::text(&described.name)),
                ("dtd_identifier", Value::text((position + 1).to_string())),
                ("parameter_default", Value::optional(default)),
            ]);
        }
    }
}

/// Functions are everybody's to call, and their owners' to give on.
pub(in super::super) fn routine_privileges(context: &PgContext, rows: &mut Rows) {
    grants(context, rows, true);
}

pub(in super::super) fn role_routine_grants(context: &PgContext, rows: &mut Rows) {
    grants(context, rows, false);
}

fn grants(context: &PgContext, rows: &mut Rows, everybody: bool) {
    for routine in described_routines(context) {
        let owner = role_name(context, routine.owner).unwrap_or_default().to_owned();
        for (grantee, may_grant) in [("PUBLIC", false), (owner.as_str(), true)] {
            let own = is_enabled(context, ObjectId(routine.owner));
            if grantee == "PUBLIC" && !everybody && !own {
                continue;
            }
            rows.push([
                ("grantor", Value::text(&owner)),
                ("grantee", Value::text(grantee)),
                ("specific_catalog", database(context)),
                ("specific_schema", Value::text(&routine.schema)),
                ("specific_name", Value::text(&routine.specific)),
                ("routine_catalog", database(context)),
                ("routine_schema", Value::text(&routine.schema)),
                ("routine_name", Value::text(&routine.name)),
                ("privilege_type", Value::text("EXECUTE")),
                ("is_grantable", yes_or_no(may_grant)),
            ]);
        }
    }
}
