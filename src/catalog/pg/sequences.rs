//! Sequences in the catalogs, and how expressions that draw from them are shown.

use super::PgContext;
use super::class::{Class, ClassColumn, own_classes};
use super::names::relation_text;
use super::objects::oid;
use super::relation::Rows;
use super::session::Standing;
use super::value::Value;
use crate::catalog::object::Object;
use crate::catalog::privilege::Privileges;
use crate::catalog::sequence::{Sequence, with_names};
use crate::types::SqlType;

/// A stored expression with the names of the sequences that it has by their OIDs.
pub(super) fn shown_expression(context: &PgContext, text: &str) -> String {
    with_names(text, |sequence| relation_text(context, sequence.0))
}

/// What the standard says of an identity column; NULLs for another.
pub(super) struct IdentityShape {
    pub(super) generation: Value,
    pub(super) start: Value,
    pub(super) increment: Value,
    pub(super) maximum: Value,
    pub(super) minimum: Value,
    pub(super) cycles: bool,
}

impl IdentityShape {
    pub(super) fn of(context: &PgContext, column: &ClassColumn) -> Self {
        let identity = column.identity;
        let object = identity.and_then(|identity| context.catalog.object(identity.sequence));
        let sequence = object.and_then(|object| object.sequence());
        let text = |of: fn(&Sequence) -> i64| {
            Value::optional(sequence.map(|sequence| of(sequence).to_string()))
        };
        let generation = identity.map(|one| if one.always { "ALWAYS" } else { "BY DEFAULT" });
        Self {
            generation: Value::optional(generation),
            start: text(|one| one.start),
            increment: text(|one| one.increment),
            maximum: text(|one| one.max),
            minimum: text(|one| one.min),
            cycles: sequence.is_some_and(|one| one.cycle),
        }
    }
}

fn sequences(context: &PgContext) -> Vec<(Class, Sequence)> {
    let classes = own_classes(context).filter(|class| class.kind == "S");
    let known = classes.filter_map(|class| {
        let sequence = class.object()?.sequence()?.clone();
        Some((class, sequence))
    });
    known.collect()
}

/// Whether the session's user holds any of these on the sequence.
fn may(context: &PgContext, object: &Object, any: Privileges) -> bool {
    let actor = context.catalog.actor(&context.session.user);
    actor.is_ok_and(|actor| actor.on_relation(object).intersects(any))
}

/// The last number given; NULL if none was, or if that is not the user's to know.
pub(super) fn last_value(context: &PgContext, object: &Object) -> Value {
    let standing = context.session.numbering.as_ref().and_then(|one| one.standing(object).ok());
    match standing {
        Some(Standing { position, .. })
            if position.called && may(context, object, Privileges::SELECT | Privileges::USAGE) =>
        {
            Value::Int(position.last)
        }
        _ => Value::Null,
    }
}

pub(super) fn pg_sequence(context: &PgContext, rows: &mut Rows) {
    for (class, sequence) in sequences(context) {
        rows.push([
            ("seqrelid", oid(class.oid)),
            ("seqtypid", oid(sequence.sql_type.oid())),
            ("seqstart", Value::Int(sequence.start)),
            ("seqincrement", Value::Int(sequence.increment)),
            ("seqmax", Value::Int(sequence.max)),
            ("seqmin", Value::Int(sequence.min)),
            ("seqcache", Value::Int(sequence.cache)),
            ("seqcycle", Value::Bool(sequence.cycle)),
        ]);
    }
}

pub(super) fn pg_sequences(context: &PgContext, rows: &mut Rows) {
    for (class, sequence) in sequences(context) {
        let Some(object) = class.object() else { continue };
        rows.push([
            ("schemaname", Value::text(&class.schema)),
            ("sequencename", Value::text(&class.name)),
            ("sequenceowner", Value::text(&class.owner)),
            ("data_type", Value::Reg(super::value::Reg::Type, sequence.sql_type.oid())),
            ("start_value", Value::Int(sequence.start)),
            ("min_value", Value::Int(sequence.min)),
            ("max_value", Value::Int(sequence.max)),
            ("increment_by", Value::Int(sequence.increment)),
            ("cycle", Value::Bool(sequence.cycle)),
            ("cache_size", Value::Int(sequence.cache)),
            ("last_value", last_value(context, object)),
        ]);
    }
}

/// `information_schema.sequences`: those of identity columns are a part of their table.
pub(super) fn of_the_standard(context: &PgContext, rows: &mut Rows) {
    for (class, sequence) in sequences(context) {
        let identity = sequence.owned_by.is_some_and(|own| own.identity);
        let shown = Privileges::SELECT | Privileges::UPDATE | Privileges::USAGE;
        if identity || !class.object().is_some_and(|object| may(context, object, shown)) {
            continue;
        }
        let precision = match sequence.sql_type {
            SqlType::SmallInt => 16,
            SqlType::Integer => 32,
            _ => 64,
        };
        rows.push([
            ("sequence_catalog", Value::text(&context.session.database)),
            ("sequence_schema", Value::text(&class.schema)),
            ("sequence_name", Value::text(&class.name)),
            ("data_type", Value::text(sequence.sql_type.to_string())),
            ("numeric_precision", Value::Int(precision)),
            ("numeric_precision_radix", Value::Int(2)),
            ("numeric_scale", Value::Int(0)),
            ("start_value", Value::text(sequence.start.to_string())),
            ("minimum_value", Value::text(sequence.min.to_string())),
            ("maximum_value", Value::text(sequence.max.to_string())),
            ("increment", Value::text(sequence.increment.to_string())),
            ("cycle_option", Value::text(if sequence.cycle { "YES" } else { "NO" })),
        ]);
    }
}
