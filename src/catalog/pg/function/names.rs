//! Names, types and visibility.

use std::sync::Arc;

use super::super::class::{class, is_visible};
use super::super::names::{find, identifiers, role_name, type_is_visible, type_text};
use super::super::procs::function_of;
use super::super::value::Reg;
use super::super::{PgContext, Value};
use super::{Function, Returns, argument, lenient, strict, text_argument};
use crate::catalog::Schema;
use crate::catalog::catalog::is_temporary_schema;
use crate::catalog::drop::quote_identifier;
use crate::error::{SqlError, SqlResult, code};

pub(super) const FUNCTIONS: [Function; 28] = [
    strict("parse_ident", (1, 1), Returns::TextArray, |context, arguments| {
        let text = text_argument(context, arguments, 0);
        let parts = identifiers(&text).ok_or_else(|| {
            let message = format!("string is not a valid identifier: \"{text}\"");
            SqlError::new(code::INVALID_PARAMETER_VALUE, message)
        })?;
        Ok(Value::list(parts.iter().map(Value::text)))
    }),
    strict("pg_table_is_visible", (1, 1), Returns::Boolean, table_is_visible),
    strict("pg_type_is_visible", (1, 1), Returns::Boolean, |context, arguments| {
        let oid = argument(arguments, 0).as_oid().unwrap_or(0);
        Ok(type_is_visible(context, oid).map_or(Value::Null, Value::Bool))
    }),
    // All objects of these kinds are in pg_catalog.
    strict("pg_function_is_visible", (1, 1), Returns::Boolean, |context, arguments| {
        let oid = argument(arguments, 0).as_oid().unwrap_or(0);
        // All others are in pg_catalog.
        let visible = function_of(context, oid).is_none_or(|function| {
            let path = &context.session.search_path;
            let found = context.catalog.functions_named(path, None, &function.name.name);
            found.iter().any(|found| found.id == function.id)
        });
        Ok(Value::Bool(visible))
    }),
    strict("pg_collation_is_visible", (1, 1), Returns::Boolean, always_visible),
    strict("pg_opclass_is_visible", (1, 1), Returns::Boolean, always_visible),
    strict("pg_opfamily_is_visible", (1, 1), Returns::Boolean, always_visible),
    strict("pg_operator_is_visible", (1, 1), Returns::Boolean, always_visible),
    strict("pg_conversion_is_visible", (1, 1), Returns::Boolean, always_visible),
    strict("pg_statistics_obj_is_visible", (1, 1), Returns::Boolean, always_visible),
    strict("pg_ts_config_is_visible", (1, 1), Returns::Boolean, always_visible),
    strict("pg_ts_dict_is_visible", (1, 1), Returns::Boolean, always_visible),
    strict("pg_ts_parser_is_visible", (1, 1), Returns::Boolean, always_visible),
    strict("pg_ts_template_is_visible", (1, 1), Returns::Boolean, always_visible),
    strict("to_regproc", (1, 1), Returns::Regproc, |context, arguments| {
        Ok(alias(context, Reg::Proc, arguments))
    }),
    strict("to_regprocedure", (1, 1), Returns::Regprocedure, |context, arguments| {
        Ok(alias(context, Reg::Procedure, arguments))
    }),
    strict("to_regrole", (1, 1), Returns::Regrole, |context, arguments| {
        Ok(alias(context, Reg::Role, arguments))
    }),
    strict("pg_get_userbyid", (1, 1), Returns::Name, |context, arguments| {
        let oid = argument(arguments, 0).as_oid().unwrap_or(0);
        let unknown = || Value::text(format!("unknown (OID={oid})"));
        Ok(role_name(context, oid).map_or_else(unknown, Value::text))
    }),
    lenient("format_type", (2, 2), Returns::Text, |context, arguments| {
        let Some(oid) = argument(arguments, 0).as_oid() else { return Ok(Value::Null) };
        if oid == 0 {
            return Ok(Value::text("-"));
        }
        let typmod = argument(arguments, 1).as_int().and_then(|typmod| i32::try_from(typmod).ok());
        Ok(Value::text(type_text(context, oid, typmod)))
    }),
    strict("to_regclass", (1, 1), Returns::Regclass, |context, arguments| {
        Ok(alias(context, Reg::Class, arguments))
    }),
    strict("to_regtype", (1, 1), Returns::Regtype, |context, arguments| {
        Ok(alias(context, Reg::Type, arguments))
    }),
    strict("to_regnamespace", (1, 1), Returns::Regnamespace, |context, arguments| {
        Ok(alias(context, Reg::Namespace, arguments))
    }),
    strict("quote_ident", (1, 1), Returns::Text, |context, arguments| {
        Ok(Value::text(quote_identifier(&text_argument(context, arguments, 0))))
    })
    .catalog_only(),
    strict("pg_encoding_to_char", (1, 1), Returns::Name, |_, arguments| {
        let number = argument(arguments, 0).as_int().and_then(|n| usize::try_from(n).ok());
        let name = number.and_then(|number| ENCODINGS.split(' ').nth(number));
        Ok(Value::text(name.unwrap_or_default()))
    }),
    strict("pg_char_to_encoding", (1, 1), Returns::Integer, |context, arguments| {
        let plain = |name: &str| name.to_lowercase().replace(['-', '_'], "");
        let name = plain(&text_argument(context, arguments, 0));
        let found = (0..).zip(ENCODINGS.split(' ')).find(|(_, one)| plain(one) == name);
        Ok(Value::Int(found.map_or(-1, |(number, _)| number)))
    }),
    strict("getdatabaseencoding", (0, 0), Returns::Name, |_, _| Ok(Value::text("UTF8"))),
    strict("pg_is_other_temp_schema", (1, 1), Returns::Boolean, other_temporary),
    strict("pg_my_temp_schema", (0, 0), Returns::Oid, |context, _| {
        Ok(Value::Int(own_temporary(context).map_or(0, |schema| i64::from(schema.id.0))))
    }),
];

/// The schema of the session's temporary tables.
fn own_temporary(context: &PgContext) -> Option<&Schema> {
    let path = context.session.search_path.iter();
    let own = path.into_iter().find(|schema| is_temporary_schema(schema))?;
    context.catalog.schema(own).map(Arc::as_ref)
}

fn other_temporary(context: &PgContext, arguments: &[Value]) -> SqlResult<Value> {
    let oid = argument(arguments, 0).as_oid().unwrap_or(0);
    let own = own_temporary(context).map(|schema| schema.id);
    let mut schemas = context.catalog.schemas();
    let found = schemas.find(|schema| schema.id.0 == oid && is_temporary_schema(&schema.name));
    Ok(Value::Bool(found.is_some_and(|schema| Some(schema.id) != own)))
}

/// PostgreSQL's encodings, by number. Weir has UTF8 alone.
const ENCODINGS: &str = "SQL_ASCII EUC_JP EUC_CN EUC_KR EUC_TW EUC_JIS_2004 UTF8 MULE_INTERNAL \
    LATIN1 LATIN2 LATIN3 LATIN4 LATIN5 LATIN6 LATIN7 LATIN8 LATIN9 LATIN10 WIN1256 WIN1258 WIN866 \
    WIN874 KOI8R WIN1251 WIN1252 ISO_8859_5 ISO_8859_6 ISO_8859_7 ISO_8859_8 WIN1250 WIN1253 \
    WIN1254 WIN1255 WIN1257 KOI8U SJIS BIG5 GBK UHC GB18030 JOHAB SHIFT_JIS_2004";

fn always_visible(_: &PgContext, _: &[Value]) -> SqlResult<Value> {
    Ok(Value::Bool(true))
}

fn table_is_visible(context: &PgContext, arguments: &[Value]) -> SqlResult<Value> {
    let oid = argument(arguments, 0).as_oid().unwrap_or(0);
    Ok(class(context, oid).map_or(Value::Null, |class| Value::Bool(is_visible(context, &class))))
}

fn alias(context: &PgContext, kind: Reg, arguments: &[Value]) -> Value {
    let text = text_argument(context, arguments, 0);
    find(context, kind, &text).map_or(Value::Null, |oid| Value::Reg(kind, oid))
}
