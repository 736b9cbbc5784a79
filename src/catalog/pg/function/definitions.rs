//! Definitions and comments of objects.

use std::sync::Arc;

use super::super::class::{Class, class, visible_schemas};
use super::super::constraints;
use super::super::data::{fixed_description, fixed_rows, fixed_value};
use super::super::index::{index_text, indexes};
use super::super::names::{reg_from_text, type_text};
use super::super::objects::{PG_CLASS, PG_DATABASE, PG_NAMESPACE, rule_oid, view_text};
use super::super::procs::function_of;
use super::super::relation::relation;
use super::super::sequences::shown_expression;
use super::super::value::Reg;
use super::super::{PgContext, Value};
use super::{Function, Returns, argument, lenient, strict, text_argument};
use crate::catalog::catalog::PG_CATALOG;
use crate::catalog::drop::quote_identifier;
use crate::catalog::function::Body;
use crate::error::SqlResult;

pub(super) const FUNCTIONS: [Function; 23] = [
    // A stored expression is kept as its text.
    strict("pg_get_expr", (2, 3), Returns::Text, |context, arguments| {
        Ok(Value::text(shown_expression(context, &text_argument(context, arguments, 0))))
    }),
    strict("pg_get_indexdef", (1, 3), Returns::Text, index_definition),
    strict("pg_get_constraintdef", (1, 2), Returns::Text, |context, arguments| {
        let oid = argument(arguments, 0).as_oid().unwrap_or(0);
        let pretty = argument(arguments, 1).as_bool() == Some(true);
        let index = indexes(context).find(|index| index.constraint == Some(oid));
        let of_index = index.and_then(|index| index.constraint_text());
        Ok(Value::optional(of_index.or_else(|| constraints::text_of(context, oid, pretty))))
    }),
    strict("pg_get_viewdef", (1, 2), Returns::Text, |context, arguments| {
        let oid = match argument(arguments, 0) {
            Value::Text(name) => reg_from_text(context, Reg::Class, name)?,
            other => other.as_oid().unwrap_or(0),
        };
        let class = class(context, oid);
        Ok(Value::optional(class.as_ref().and_then(Class::object).and_then(|o| view_text(o))))
    }),
    strict("pg_get_ruledef", (1, 2), Returns::Text, rule_definition),
    // Weir has none of what these describe.
    strict("pg_get_triggerdef", (1, 2), Returns::Text, none),
    strict("pg_get_partkeydef", (1, 1), Returns::Text, none),
    strict("pg_get_statisticsobjdef_columns", (1, 1), Returns::Text, none),
    strict("pg_get_function_sqlbody", (1, 1), Returns::Text, |context, arguments| {
        let oid = argument(arguments, 0).as_oid().unwrap_or(0);
        let body = function_of(context, oid).and_then(|function| match &function.body {
            Body::Return(_) => Some(format!("RETURN {}", function.shown_body())),
            Body::Quoted(_) => None,
        });
        Ok(Value::optional(body))
    }),
    strict("pg_get_functiondef", (1, 1), Returns::Text, |context, arguments| {
        let oid = argument(arguments, 0).as_oid().unwrap_or(0);
        Ok(Value::optional(function_of(context, oid).map(|function| function.definition())))
    }),
    strict("pg_column_is_updatable", (3, 3), Returns::Boolean, |context, arguments| {
        let class = class(context, argument(arguments, 0).as_oid().unwrap_or(0));
        let number = argument(arguments, 1).as_int();
        let Some(class) = class.filter(|class| class.kind == "r") else {
            return Ok(Value::Bool(false));
        };
        let column = number.and_then(|number| class.column(number));
        Ok(Value::Bool(column.is_some_and(|column| column.generated.is_none())))
    }),
    strict("pg_indexam_has_property", (2, 2), Returns::Boolean, |context, arguments| {
        let property = text_argument(context, arguments, 1).to_ascii_lowercase();
        let known = ["can_order", "can_unique", "can_multi_col", "can_exclude", "can_include"];
        let btree = argument(arguments, 0).as_int() == Some(super::super::objects::BTREE);
        let answer = (btree && known.contains(&property.as_str())).then_some(Value::Bool(true));
        Ok(answer.unwrap_or(Value::Null))
    }),
    strict("pg_relation_is_publishable", (1, 1), Returns::Boolean, |_, _| Ok(Value::Bool(false))),
    strict("pg_stat_get_numscans", (1, 1), Returns::BigInt, none),
    strict("pg_get_function_result", (1, 1), Returns::Text, |context, arguments| {
        let oid = argument(arguments, 0).as_oid().unwrap_or(0);
        if let Some(function) = function_of(context, oid) {
            return Ok(Value::text(function.returns.text()));
        }
        let Some(result) = fixed_value("pg_proc", oid, "prorettype") else {
            return Ok(Value::Null);
        };
        let name = type_text(context, result.as_oid().unwrap_or(0), None);
        let set = fixed_value("pg_proc", oid, "proretset") == Some(Value::Bool(true));
        Ok(Value::text(if set { format!("SETOF {name}") } else { name }))
    }),
    strict("oidvectortypes", (1, 1), Returns::Text, |context, arguments| {
        let types = argument(arguments, 0).as_list().unwrap_or_default();
        let names = types.iter().map(|one| type_text(context, one.as_oid().unwrap_or(0), None));
        Ok(Value::text(names.collect::<Vec<_>>().join(", ")))
    }),
    strict("pg_get_function_arguments", (1, 1), Returns::Text, |context, arguments| {
        function_arguments(context, arguments, true)
    }),
    strict("pg_get_function_identity_arguments", (1, 1), Returns::Text, |context, arguments| {
        function_arguments(context, arguments, false)
    }),
    strict("pg_tablespace_location", (1, 1), Returns::Text, |_, _| Ok(Value::text(""))),
    strict("obj_description", (1, 2), Returns::Text, |context, arguments| {
        let oid = argument(arguments, 0).as_oid().unwrap_or(0);
        let catalog = match arguments.len() {
            1 => None,
            _ => Some(text_argument(context, arguments, 1)),
        };
        let own = match catalog.as_deref() {
            None | Some("pg_class") => described(context, PG_CLASS, oid),
            Some("pg_namespace") => described(context, PG_NAMESPACE, oid),
            _ => None,
        };
        let of = |name: &str| relation(PG_CATALOG, name).map(|relation| relation.oid);
        let fixed = || match &catalog {
            None => fixed_description(oid, None),
            Some(catalog) => of(catalog).and_then(|catalog| fixed_description(oid, Some(catalog))),
        };
        Ok(Value::optional(own.or_else(|| fixed().map(str::to_owned))))
    }),
    strict("col_description", (2, 2), Returns::Text, |context, arguments| {
        let class = class(context, argument(arguments, 0).as_oid().unwrap_or(0));
        let number = argument(arguments, 1).as_int();
        let column = class.as_ref().zip(number).and_then(|(class, n)| class.column(n));
        Ok(Value::optional(column.and_then(|column| column.comment.as_deref())))
    }),
    strict("shobj_description", (2, 2), Returns::Text, |context, arguments| {
        let of_databases = text_argument(context, arguments, 1) == "pg_database";
        let oid = argument(arguments, 0).as_oid().unwrap_or(0);
        Ok(Value::optional(of_databases.then(|| described(context, PG_DATABASE, oid)).flatten()))
    }),
    lenient("pg_describe_object", (3, 3), Returns::Text, |context, arguments| {
        let oid = argument(arguments, 1).as_oid().unwrap_or(0);
        let class = class(context, oid);
        Ok(Value::optional(class.map(|class| {
            let kind = class.object().map_or("index", |object| object.kind_name());
            format!("{kind} {}", quote_identifier(&class.name))
        })))
    }),
];

fn none(_: &PgContext, _: &[Value]) -> SqlResult<Value> {
    Ok(Value::Null)
}

/// The whole statement, or the name of one column.
fn index_definition(context: &PgContext, arguments: &[Value]) -> SqlResult<Value> {
    let oid = argument(arguments, 0).as_oid().unwrap_or(0);
    let Some(class) = class(context, oid) else { return Ok(Value::Null) };
    if class.kind != "i" {
        return Ok(Value::Null);
    }
    let column = argument(arguments, 1).as_int().unwrap_or(0);
    if column == 0 {
        let pretty = argument(arguments, 2).as_bool().unwrap_or(false);
        return Ok(Value::optional(index_text(context, &class, !pretty)));
    }
    let column = usize::try_from(column - 1).ok().and_then(|column| class.columns.get(column));
    Ok(Value::optional(column.map(|column| quote_identifier(&column.name))))
}

/// The rule that a view is.
fn rule_definition(context: &PgContext, arguments: &[Value]) -> SqlResult<Value> {
    let oid = argument(arguments, 0).as_oid();
    let pretty = argument(arguments, 1).as_bool() == Some(true);
    let view = context.catalog.objects().find_map(|object| {
        let text = view_text(object).filter(|_| Some(rule_oid(object.id.0)) == oid)?;
        Some((object, text))
    });
    let Some((view, query)) = view else { return Ok(Value::Null) };
    let mut name = quote_identifier(&view.name.name);
    if !pretty || !visible_schemas(context).any(|schema| *schema == view.name.schema) {
        name = format!("{}.{name}", quote_identifier(&view.name.schema));
    }
    let head = "CREATE RULE \"_RETURN\" AS\n    ON SELECT TO";
    Ok(Value::text(format!("{head} {name} DO INSTEAD {query}")))
}

fn function_arguments(
    context: &PgContext,
    arguments: &[Value],
    with_defaults: bool,
) -> SqlResult<Value> {
    let oid = argument(arguments, 0).as_oid().unwrap_or(0);
    if let Some(function) = function_of(context, oid) {
        return Ok(Value::text(function.arguments_text(with_defaults)));
    }
    Ok(Value::optional(fixed_arguments(context, oid, with_defaults)))
}

/// Those of one of PostgreSQL's functions; its defaults are not known.
fn fixed_arguments(context: &PgContext, oid: u32, with_columns: bool) -> Option<String> {
    let list = |column: &str| fixed_value("pg_proc", oid, column).and_then(|value| value.as_list());
    let (modes, names) = (list("proargmodes"), list("proargnames"));
    let types = list("proallargtypes").or_else(|| list("proargtypes"))?;
    let procedure = fixed_value("pg_proc", oid, "prokind") == Some(Value::text("p"));
    let at = |values: &Option<Arc<[Value]>>, place: usize| {
        values.as_ref().and_then(|values| values.get(place)).map(|value| value.to_text(context))
    };
    let mut shown = Vec::new();
    let mut is_variadic = false;
    for (place, one) in types.iter().enumerate() {
        let mode = match at(&modes, place).as_deref() {
            Some("t") if !with_columns => continue,
            Some("t") => "",
            Some("o") => "OUT ",
            Some("b") => "INOUT ",
            Some("v") => "VARIADIC ",
            _ if procedure => "IN ",
            _ => "",
        };
        is_variadic = mode == "VARIADIC ";
        let name = at(&names, place).filter(|name| !name.is_empty());
        let name = name.map(|name| quote_identifier(&name) + " ").unwrap_or_default();
        shown.push(format!("{mode}{name}{}", type_text(context, one.as_oid()?, None)));
    }
    let Some(direct) = direct_arguments(oid) else { return Some(shown.join(", ")) };
    // What is ordered may be the last of the arguments again.
    if direct == shown.len() && is_variadic {
        shown.extend(shown.last().cloned());
    }
    let ordered = shown.split_off(direct.min(shown.len())).join(", ");
    let before = shown.join(", ") + if shown.is_empty() { "" } else { " " };
    Some(format!("{before}ORDER BY {ordered}"))
}

/// How many arguments of an aggregate come before WITHIN GROUP, if it has one.
fn direct_arguments(oid: u32) -> Option<usize> {
    let row = fixed_rows("pg_aggregate").iter().find(|row| row[0].as_oid() == Some(oid))?;
    // aggfnoid, aggkind, aggnumdirectargs
    let within_group = row[1] == Value::text("o") || row[1] == Value::text("h");
    within_group.then(|| row[2].as_int().and_then(|count| usize::try_from(count).ok())).flatten()
}

/// The comment on a relation, a schema or a database.
fn described(context: &PgContext, catalog: u32, oid: u32) -> Option<String> {
    match catalog {
        PG_CLASS => class(context, oid)?.object()?.comment.clone(),
        PG_NAMESPACE => {
            context.catalog.schemas().find(|schema| schema.id.0 == oid)?.comment.clone()
        }
        PG_DATABASE => {
            context.catalog.databases().find(|database| database.id.0 == oid)?.comment.clone()
        }
        _ => None,
    }
}
