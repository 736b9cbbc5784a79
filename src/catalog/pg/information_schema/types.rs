//! What columns and parameters are of, and who may use types.

use std::collections::HashMap;

use super::super::class::{Class, classes};
use super::super::names::{role_name, type_text};
use super::super::relation::Rows;
use super::super::roles::is_enabled;
use super::super::value::Value;
use super::super::{PgContext, relation};
use super::routines::described_routines;
use super::{database, standard, yes_or_no};
use crate::catalog::catalog::PG_CATALOG;
use crate::catalog::object::ObjectKind;

/// A type, as the standard tells of it.
pub(super) struct Described {
    pub(super) schema: String,
    pub(super) name: String,
    /// What an array's elements are.
    pub(super) element: Option<u32>,
    /// What a domain is over.
    base: Option<u32>,
}

impl Described {
    /// `ARRAY`, `integer`, `USER-DEFINED`.
    pub(super) fn data_type(&self, context: &PgContext, oid: u32) -> String {
        match (self.element, self.schema.as_str()) {
            (Some(_), _) => "ARRAY".to_owned(),
            (None, PG_CATALOG) => type_text(context, oid, None),
            _ => "USER-DEFINED".to_owned(),
        }
    }
}

/// All types.
pub(super) fn described_types(context: &PgContext) -> HashMap<u32, Described> {
    let Some(relation) = relation(PG_CATALOG, "pg_type") else { return HashMap::new() };
    let place = |name: &str| relation.columns.iter().position(|column| column.name == name);
    let places = ["oid", "typname", "typnamespace", "typelem", "typlen", "typbasetype"].map(place);
    let mut rows = Rows::new(relation);
    super::super::objects::pg_type(context, &mut rows);
    let schemas: HashMap<u32, String> =
        context.catalog.schemas().map(|schema| (schema.id.0, schema.name.clone())).collect();
    let described = rows.into_rows().into_iter().filter_map(|row| {
        let at = |place: usize| row.get(places[place]?);
        let oid = |place: usize| at(place).and_then(Value::as_oid).filter(|oid| *oid != 0);
        let variable = at(4).and_then(Value::as_int) == Some(-1);
        let described = Described {
            schema: schemas.get(&oid(2)?)?.clone(),
            name: at(1)?.to_text(context),
            element: oid(3).filter(|_| variable),
            base: oid(5),
        };
        Some((oid(0)?, described))
    });
    described.collect()
}

pub(in super::super) fn column_udt_usage(context: &PgContext, rows: &mut Rows) {
    let types = described_types(context);
    for class in standard(context) {
        for column in &class.columns {
            let Some(own) = types.get(&column.type_oid) else { continue };
            let base = own.base.and_then(|base| types.get(&base)).unwrap_or(own);
            rows.push([
                ("udt_catalog", database(context)),
                ("udt_schema", Value::text(&base.schema)),
                ("udt_name", Value::text(&base.name)),
                ("table_catalog", database(context)),
                ("table_schema", Value::text(&class.schema)),
                ("table_name", Value::text(&class.name)),
                ("column_name", Value::text(&column.name)),
            ]);
        }
    }
}

/// Of each array: who has it, its number there, the array's type.
fn typed(context: &PgContext) -> Vec<(String, String, &'static str, usize, u32)> {
    let columns = standard(context).flat_map(|Class { schema, name, columns, .. }| {
        let columns = columns.into_iter().enumerate();
        columns.map(move |(at, one)| (schema.clone(), name.clone(), "TABLE", at + 1, one.type_oid))
    });
    let routines = described_routines(context).into_iter().flat_map(|routine| {
        let all = std::iter::once(routine.result).chain(routine.parameters.iter().map(|one| one.0));
        let all: Vec<u32> = all.collect();
        let (schema, name) = (routine.schema, routine.specific);
        let all = all.into_iter().enumerate();
        all.map(move |(at, oid)| (schema.clone(), name.clone(), "ROUTINE", at, oid))
    });
    columns.chain(routines).collect()
}

pub(in super::super) fn data_type_privileges(context: &PgContext, rows: &mut Rows) {
    for (schema, name, kind, number, _) in typed(context) {
        rows.push([
            ("object_catalog", database(context)),
            ("object_schema", Value::text(schema)),
            ("object_name", Value::text(name)),
            ("object_type", Value::text(kind)),
            ("dtd_identifier", Value::text(number.to_string())),
        ]);
    }
}

pub(in super::super) fn element_types(context: &PgContext, rows: &mut Rows) {
    let types = described_types(context);
    for (schema, name, kind, number, oid) in typed(context) {
        let Some(element_oid) = types.get(&oid).and_then(|one| one.element) else { continue };
        let Some(element) = types.get(&element_oid) else { continue };
        let data_type = match element.schema.as_str() {
            PG_CATALOG => type_text(context, element_oid, None),
            _ => "USER-DEFINED".to_owned(),
        };
        rows.push([
            ("object_catalog", database(context)),
            ("object_schema", Value::text(schema)),
            ("object_name", Value::text(name)),
            ("object_type", Value::text(kind)),
            ("collection_type_identifier", Value::text(number.to_string())),
            ("data_type", Value::text(data_type)),
            ("udt_catalog", database(context)),
            ("udt_schema", Value::text(&element.schema)),
            ("udt_name", Value::text(&element.name)),
            ("dtd_identifier", Value::text(format!("a{number}"))),
        ]);
    }
}

/// The types of rows are everybody's to use, and their owners' to give on.
pub(in super::super) fn udt_privileges(context: &PgContext, rows: &mut Rows) {
    row_types(context, rows, true);
}

pub(in super::super) fn role_udt_grants(context: &PgContext, rows: &mut Rows) {
    row_types(context, rows, false);
}

fn row_types(context: &PgContext, rows: &mut Rows, everybody: bool) {
    for class in classes(context).into_iter().filter(|class| class.row_type.is_some()) {
        let owner = role_name(context, context.catalog.owner_id(&class.owner).0);
        let owner = owner.unwrap_or_default().to_owned();
        for (grantee, may_grant) in [("PUBLIC", false), (owner.as_str(), true)] {
            let own = is_enabled(context, context.catalog.owner_id(&class.owner));
            if grantee == "PUBLIC" && !everybody && !own {
                continue;
            }
            rows.push([
                ("grantor", Value::text(&owner)),
                ("grantee", Value::text(grantee)),
                ("udt_catalog", database(context)),
                ("udt_schema", Value::text(&class.schema)),
                ("udt_name", Value::text(&class.name)),
                ("privilege_type", Value::text("TYPE USAGE")),
                ("is_grantable", yes_or_no(may_grant)),
            ]);
        }
    }
}

/// What views read: materialized views are not in the standard.
pub(in super::super) fn view_table_usage(context: &PgContext, rows: &mut Rows) {
    for view in
        context.catalog.objects().filter(|object| matches!(object.kind, ObjectKind::View(_)))
    {
        for on in view.depends_on.iter().filter_map(|id| context.catalog.object(*id)) {
            if !matches!(on.relkind(), 'r' | 'v' | 'f') {
                continue;
            }
            rows.push([
                ("view_catalog", database(context)),
                ("view_schema", Value::text(&view.name.schema)),
                ("view_name", Value::text(&view.name.name)),
                ("table_catalog", database(context)),
                ("table_schema", Value::text(&on.name.schema)),
                ("table_name", Value::text(&on.name.name)),
            ]);
        }
    }
}

/// Which columns a generated one is computed from: those whose names are in its expression.
pub(in super::super) fn column_column_usage(context: &PgContext, rows: &mut Rows) {
    for class in standard(context).filter(|class| class.kind == "r") {
        for column in &class.columns {
            let Some(expression) = &column.generated else { continue };
            let words: Vec<&str> =
                expression.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
            for from in class.columns.iter().filter(|one| words.contains(&one.name.as_str())) {
                rows.push([
                    ("table_catalog", database(context)),
                    ("table_schema", Value::text(&class.schema)),
                    ("table_name", Value::text(&class.name)),
                    ("column_name", Value::text(&from.name)),
                    ("dependent_column", Value::text(&column.name)),
                ]);
            }
        }
    }
}

/// One encoding. No collation has both the order and the letters of the database.
pub(in super::super) fn character_sets(context: &PgContext, rows: &mut Rows) {
    rows.push([
        ("character_set_name", Value::text("UTF8")),
        ("character_repertoire", Value::text("UCS")),
        ("form_of_use", Value::text("UTF8")),
        ("default_collate_catalog", database(context)),
    ]);
}

/// All but `default`, which stands for the database's.
const COLLATIONS: [&str; 3] = ["C", "POSIX", "ucs_basic"];

pub(in super::super) fn collations(context: &PgContext, rows: &mut Rows) {
    for name in COLLATIONS {
        rows.push([
            ("collation_catalog", database(context)),
            ("collation_schema", Value::text(PG_CATALOG)),
            ("collation_name", Value::text(name)),
            ("pad_attribute", Value::text("NO PAD")),
        ]);
    }
}

pub(in super::super) fn collation_character_sets(context: &PgContext, rows: &mut Rows) {
    for name in COLLATIONS {
        rows.push([
            ("collation_catalog", database(context)),
            ("collation_schema", Value::text(PG_CATALOG)),
            ("collation_name", Value::text(name)),
            ("character_set_name", Value::text("UTF8")),
        ]);
    }
}
