//! `has_..._privilege`, `pg_has_role` and `acldefault`.
//!
//! Each of the first takes a role first, or means the current user; then the object, by name or
//! OID; then one or more privileges, of which any suffices.

use super::super::class::{Class, class};
use super::super::names::{find, reg_from_text};
use super::super::roles::acl_value;
use super::super::value::Reg;
use super::super::{PgContext, Value, is_restricted};
use super::sequences::not_a_sequence;
use super::{Function, Returns, argument, strict, text_argument};
use crate::catalog::Role;
use crate::catalog::access::Actor;
use crate::catalog::privilege::{Acl, Privileges};
use crate::error::{SqlError, SqlResult, code};
use crate::types::ObjectId;

pub(super) const FUNCTIONS: [Function; 13] = [
    strict("has_table_privilege", (2, 3), Returns::Boolean, |context, arguments| {
        on_relation(context, &Question::of(context, arguments, 2)?)
    }),
    strict("has_any_column_privilege", (2, 3), Returns::Boolean, |context, arguments| {
        on_relation(context, &Question::of(context, arguments, 2)?)
    }),
    strict("has_column_privilege", (3, 4), Returns::Boolean, on_column),
    strict("has_schema_privilege", (2, 3), Returns::Boolean, on_schema),
    strict("has_database_privilege", (2, 3), Returns::Boolean, on_database),
    strict("has_type_privilege", (2, 3), Returns::Boolean, |context, arguments| {
        exists(context, Reg::Type, arguments)
    }),
    strict("has_function_privilege", (2, 3), Returns::Boolean, |context, arguments| {
        exists(context, Reg::Proc, arguments)
    }),
    strict("has_language_privilege", (2, 3), Returns::Boolean, |_, _| Ok(Value::Bool(true))),
    strict("has_tablespace_privilege", (2, 3), Returns::Boolean, |_, _| Ok(Value::Bool(true))),
    strict("has_sequence_privilege", (2, 3), Returns::Boolean, on_sequence),
    strict("pg_has_role", (2, 3), Returns::Boolean, has_role),
    strict("row_security_active", (1, 1), Returns::Boolean, |_, _| Ok(Value::Bool(false))),
    strict("acldefault", (2, 2), Returns::AclArray, acl_default),
];

/// Who is asked about, what, and which privileges.
struct Question<'a> {
    actor: Asked<'a>,
    subject: &'a Value,
    wanted: Vec<Wanted>,
}

/// Whom a question is about.
enum Asked<'a> {
    Role(Actor<'a>),
    Everybody,
}

/// A privilege, maybe with the right to give it on.
struct Wanted {
    name: String,
    with_option: bool,
}

impl<'a> Question<'a> {
    /// `arity` is the number of arguments without a role.
    fn of(context: &'a PgContext, arguments: &'a [Value], arity: usize) -> SqlResult<Self> {
        let role = (arguments.len() > arity).then(|| argument(arguments, 0));
        let subject = argument(arguments, arguments.len() - arity);
        let wanted = text_argument(context, arguments, arguments.len() - 1);
        Ok(Self { actor: asked(context, role)?, subject, wanted: wanted_of(&wanted) })
    }

    /// Whether any of the privileges is held. `held` are those that everybody in question has, of
    /// those that there are in `all`.
    fn answer(
        &self,
        all: Privileges,
        acl: &Acl,
        owner: ObjectId,
        held: Privileges,
    ) -> SqlResult<Value> {
        let mut any = false;
        for wanted in &self.wanted {
            let one = Privileges::named(&wanted.name).filter(|one| all.contains(*one));
            let one = one.ok_or_else(|| unrecognized(&wanted.name))?;
            any |= held.contains(one) && (!wanted.with_option || self.may_grant(one, acl, owner));
        }
        Ok(Value::Bool(any))
    }

    fn may_grant(&self, one: Privileges, acl: &Acl, owner: ObjectId) -> bool {
        match &self.actor {
            Asked::Everybody => false,
            Asked::Role(actor) => {
                let mut roles = actor.roles().iter();
                actor.has_role(owner) || roles.any(|role| acl.grantable_by(*role).contains(one))
            }
        }
    }
}

fn asked<'a>(context: &'a PgContext, role: Option<&Value>) -> SqlResult<Asked<'a>> {
    let catalog = &context.catalog;
    let Some(role) = role else { return catalog.actor(&context.session.user).map(Asked::Role) };
    if let Value::Text(name) = role {
        if &**name == "public" {
            return Ok(Asked::Everybody);
        }
        return catalog.actor(name).map(Asked::Role);
    }
    // Nobody has an OID that is no role's.
    let found = role.as_oid().and_then(|oid| catalog.role_by_id(ObjectId(oid)));
    Ok(found.map_or(Asked::Everybody, |role| Asked::Role(catalog.acting(role))))
}

fn wanted_of(text: &str) -> Vec<Wanted> {
    let each = text.split(',').map(|one| {
        let one = one.trim().to_ascii_uppercase();
        let name = one.strip_suffix("WITH GRANT OPTION").map(|name| name.trim_end().to_owned());
        match name {
            Some(name) => Wanted { name, with_option: true },
            None => Wanted { name: one, with_option: false },
        }
    });
    each.collect()
}

fn unrecognized(name: &str) -> SqlError {
    let message = format!("unrecognized privilege type: \"{name}\"");
    SqlError::new(code::INVALID_PARAMETER_VALUE, message)
}

/// The relation that an argument means; `None` for an OID that none has.
fn relation_of(context: &PgContext, subject: &Value) -> SqlResult<Option<Class>> {
    let oid = match subject {
        Value::Text(name) => Some(reg_from_text(context, Reg::Class, name)?),
        other => other.as_oid(),
    };
    Ok(oid.and_then(|oid| class(context, oid)))
}

fn on_sequence(context: &PgContext, arguments: &[Value]) -> SqlResult<Value> {
    let question = Question::of(context, arguments, 2)?;
    match relation_of(context, question.subject)? {
        Some(class) if class.kind != "S" => Err(not_a_sequence(&class.name)),
        Some(class) => on_class(context, &question, &class, Privileges::OF_SEQUENCE),
        None => Ok(Value::Null),
    }
}

fn on_relation(context: &PgContext, question: &Question<'_>) -> SqlResult<Value> {
    let Some(class) = relation_of(context, question.subject)? else { return Ok(Value::Null) };
    on_class(context, question, &class, Privileges::OF_RELATION)
}

fn on_class(
    context: &PgContext,
    question: &Question<'_>,
    class: &Class,
    all: Privileges,
) -> SqlResult<Value> {
    let owner = context.catalog.owner_id(&class.owner);
    let Some(object) = class.object() else {
        // A system relation: to be read, by everybody but for a few.
        let everybody = !is_restricted(&class.schema, &class.name);
        let acl = Acl::initial(owner, all, Privileges::NONE);
        let held = match &question.actor {
            Asked::Role(actor) if actor.is_superuser() => all,
            _ if everybody => Privileges::SELECT,
            _ => Privileges::NONE,
        };
        return question.answer(all, &acl, owner, held);
    };
    let acl = context.catalog.acl_of(object);
    let held = match &question.actor {
        Asked::Role(actor) => actor.on_relation(object),
        Asked::Everybody => acl.held_by(&Default::default()),
    };
    question.answer(all, &acl, owner, held)
}

fn on_column(context: &PgContext, arguments: &[Value]) -> SqlResult<Value> {
    let question = Question::of(context, arguments, 3)?;
    let Some(class) = relation_of(context, question.subject)? else { return Ok(Value::Null) };
    let column = argument(arguments, arguments.len() - 2);
    match column {
        Value::Text(name) if !class.columns.iter().any(|one| one.name == **name) => {
            let message =
                format!("column \"{name}\" of relation \"{}\" does not exist", class.name);
            Err(SqlError::new(code::UNDEFINED_COLUMN, message))
        }
        _ => on_relation(context, &question),
    }
}

fn on_schema(context: &PgContext, arguments: &[Value]) -> SqlResult<Value> {
    let question = Question::of(context, arguments, 2)?;
    let oid = match question.subject {
        // A name as it is, not as SQL writes it.
        Value::Text(name) => {
            let schema = context.catalog.schema(name).ok_or_else(|| {
                let message = format!("schema \"{name}\" does not exist");
                SqlError::new(code::INVALID_SCHEMA_NAME, message)
            })?;
            Some(schema.id.0)
        }
        other => other.as_oid(),
    };
    let catalog = &context.catalog;
    let Some(schema) = catalog.schemas().find(|schema| Some(schema.id.0) == oid) else {
        return Ok(Value::Null);
    };
    let acl = catalog.acl_of_schema(schema);
    let held = match &question.actor {
        Asked::Role(actor) => actor.on_schema(schema),
        Asked::Everybody => acl.held_by(&Default::default()),
    };
    question.answer(Privileges::OF_SCHEMA, &acl, catalog.owner_id(&schema.owner), held)
}

fn on_database(context: &PgContext, arguments: &[Value]) -> SqlResult<Value> {
    let question = Question::of(context, arguments, 2)?;
    let catalog = &context.catalog;
    let found = match question.subject {
        Value::Text(name) => Some(catalog.database(name).ok_or_else(|| {
            let message = format!("database \"{name}\" does not exist");
            SqlError::new(code::INVALID_CATALOG_NAME, message)
        })?),
        other => catalog.databases().find(|database| Some(database.id.0) == other.as_oid()),
    };
    let Some(database) = found else { return Ok(Value::Null) };
    let acl = catalog.acl_of_database(database);
    let held = match &question.actor {
        Asked::Role(actor) => actor.on_database(database),
        Asked::Everybody => acl.held_by(&Default::default()),
    };
    question.answer(Privileges::OF_DATABASE, &acl, catalog.owner_id(&database.owner), held)
}

/// Types and functions are everybody's to use: the answer is whether there is one.
fn exists(context: &PgContext, kind: Reg, arguments: &[Value]) -> SqlResult<Value> {
    let question = Question::of(context, arguments, 2)?;
    if let Value::Text(name) = question.subject {
        // A function may be written with its parameters.
        let name = name.split('(').next().unwrap_or(name);
        reg_from_text(context, kind, name)?;
    }
    Ok(Value::Bool(true))
}

/// What an object of a kind lets its owner and everybody do before anything is granted.
fn acl_default(context: &PgContext, arguments: &[Value]) -> SqlResult<Value> {
    let kind = text_argument(context, arguments, 0);
    let (owners, everybodys) = match kind.as_str() {
        // Columns and the server's parameters.
        "c" | "p" => (Privileges::NONE, Privileges::NONE),
        "r" => (Privileges::OF_RELATION, Privileges::NONE),
        "s" => (Privileges::SELECT | Privileges::UPDATE | Privileges::USAGE, Privileges::NONE),
        "d" => (Privileges::OF_DATABASE, Privileges::CONNECT | Privileges::TEMPORARY),
        "f" => (Privileges::EXECUTE, Privileges::EXECUTE),
        "l" | "T" => (Privileges::USAGE, Privileges::USAGE),
        // Large objects.
        "L" => (Privileges::SELECT | Privileges::UPDATE, Privileges::NONE),
        "n" => (Privileges::OF_SCHEMA, Privileges::NONE),
        "t" => (Privileges::CREATE, Privileges::NONE),
        // Foreign data wrappers and foreign servers.
        "F" | "S" => (Privileges::USAGE, Privileges::NONE),
        _ => {
            let message = format!("unrecognized object type abbreviation: {kind}");
            return Err(SqlError::new(code::INTERNAL_ERROR, message));
        }
    };
    let owner = ObjectId(argument(arguments, 1).as_oid().unwrap_or(0));
    Ok(acl_value(context, Some(&Acl::initial(owner, owners, everybodys))))
}

/// `pg_has_role([user,] role, 'MEMBER' | 'USAGE' [WITH ADMIN OPTION])`.
fn has_role(context: &PgContext, arguments: &[Value]) -> SqlResult<Value> {
    let catalog = &context.catalog;
    let named = |value: &Value| -> SqlResult<Option<&Role>> {
        match value {
            Value::Text(name) => Ok(Some(catalog.existing_role(name)?)),
            other => {
                let id =
                    other.as_oid().or_else(|| find(context, Reg::Role, &other.to_text(context)));
                Ok(id.and_then(|id| catalog.role_by_id(ObjectId(id))).map(AsRef::as_ref))
            }
        }
    };
    let user = match arguments.len() {
        3 => named(argument(arguments, 0))?,
        _ => Some(&**catalog.existing_role(&context.session.user)?),
    };
    let role = named(argument(arguments, arguments.len() - 2))?;
    let (Some(user), Some(role)) = (user, role) else { return Ok(Value::Null) };
    let wanted = text_argument(context, arguments, arguments.len() - 1);
    let mut any = false;
    for one in wanted.split(',').map(|one| one.trim().to_ascii_uppercase()) {
        any |= match one.as_str() {
            _ if user.superuser => true,
            "MEMBER" => catalog.member_closure(user.id).contains(&role.id),
            "USAGE" => catalog.inherited_closure(user.id).contains(&role.id),
            "MEMBER WITH ADMIN OPTION"
            | "MEMBER WITH GRANT OPTION"
            | "USAGE WITH ADMIN OPTION"
            | "USAGE WITH GRANT OPTION" => {
                user.member_of.iter().any(|of| of.role == role.id && of.admin)
            }
            _ => return Err(unrecognized(&one)),
        };
    }
    Ok(Value::Bool(any))
}
