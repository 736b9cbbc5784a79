//! What a DROP takes away, in order, or why it may not: PostgreSQL's rules and words.

use std::collections::BTreeSet;

use super::catalog::{Catalog, Named, PG_TEMP, schemas_meant};
use super::edit::no_schema;
use super::function::Function;
use super::object::{Object, ObjectKind, QualifiedName};
use super::sequence::sequences_in;
use crate::error::{SqlError, SqlResult, code};
use crate::types::ObjectId;

/// What a DROP statement says it drops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropKind {
    Table,
    Source,
    View,
    MaterializedView,
    Index,
    Sink,
    Subscription,
    Sequence,
}

/// What the user wrote.
#[derive(Debug, Clone)]
pub struct DropRequest<'a> {
    pub kind: DropKind,
    /// Schema, if one was named, and name.
    pub names: &'a [(Option<String>, String)],
    pub search_path: &'a [String],
    pub if_exists: bool,
    pub cascade: bool,
}

/// A message for the client that is no error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    pub message: String,
    pub detail: Option<String>,
}

/// What to do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DropPlan {
    /// Relations and functions, each before what it needs; empty if IF EXISTS found nothing.
    pub objects: Vec<ObjectId>,
    pub notices: Vec<Notice>,
}

impl DropKind {
    fn noun(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Source => "source",
            Self::View => "view",
            Self::MaterializedView => "materialized view",
            Self::Index => "index",
            Self::Sink => "sink",
            Self::Subscription => "subscription",
            Self::Sequence => "sequence",
        }
    }
}

/// One line of DETAIL: who needs what.
struct Dependence {
    dependant: String,
    on: String,
    /// Whether it is a table that calls a function: no CASCADE may take its rows.
    kept: bool,
}

impl Catalog {
    /// What goes with relations and functions that a statement drops.
    pub fn plan_drop_all(
        &self,
        targets: Vec<ObjectId>,
        search_path: &[String],
        cascade: bool,
    ) -> SqlResult<DropPlan> {
        let mut plan = DropPlan::default();
        let what = match targets.as_slice() {
            [one] => match self.constraint_of(*one, search_path) {
                Some(constraint) => constraint,
                None => self.describe(*one, search_path),
            },
            _ => String::new(),
        };
        self.add_dependants(&mut plan, targets, &what, None, search_path, cascade)?;
        Ok(plan)
    }

    /// `constraint t_a_key on table t`, if the object is the index of one.
    fn constraint_of(&self, index: ObjectId, search_path: &[String]) -> Option<String> {
        let object = self.object(index)?;
        let on = object.index().filter(|index| index.constraint.is_some())?.on;
        let name = quote_identifier(&object.name.name);
        Some(format!("constraint {name} on {}", self.describe(on, search_path)))
    }

    /// The relations that a DROP of relations takes away.
    pub fn plan_drop(&self, request: &DropRequest<'_>) -> SqlResult<DropPlan> {
        let mut plan = DropPlan::default();
        let mut targets = Vec::new();
        for (schema, name) in request.names {
            match self.drop_target(request, schema.as_deref(), name) {
                Ok(id) => targets.push(id),
                Err(error)
                    if request.if_exists
                        && [
                            code::UNDEFINED_TABLE,
                            code::UNDEFINED_OBJECT,
                            code::INVALID_SCHEMA_NAME,
                        ]
                        .contains(&error.code) =>
                {
                    plan.notices.push(Notice {
                        message: format!("{}, skipping", error.message),
                        detail: None,
                    });
                }
                Err(error) => return Err(error),
            }
        }
        let what = match targets.as_slice() {
            [one] => self.describe(*one, request.search_path),
            _ => String::new(),
        };
        self.add_dependants(&mut plan, targets, &what, None, request.search_path, request.cascade)?;
        Ok(plan)
    }

    /// The relations that DROP SCHEMA takes away, those of other schemas that need them included.
    pub fn plan_drop_schema(
        &self,
        name: &str,
        search_path: &[String],
        cascade: bool,
    ) -> SqlResult<DropPlan> {
        let schema = self.schema(name).ok_or_else(|| no_schema(name))?;
        if schema.is_system() {
            let message =
                format!("cannot drop schema {name} because it is required by the database system");
            return Err(SqlError::new(code::DEPENDENT_OBJECTS_STILL_EXIST, message));
        }
        let mut plan = DropPlan::default();
        let what = format!("schema {}", quote_identifier(name));
        self.add_dependants(&mut plan, Vec::new(), &what, Some(name), search_path, cascade)?;
        Ok(plan)
    }

    fn drop_target(
        &self,
        request: &DropRequest<'_>,
        schema: Option<&str>,
        name: &str,
    ) -> SqlResult<ObjectId> {
        if let Some(schema) = schema
            && schema != PG_TEMP
            && self.schema(schema).is_none()
        {
            return Err(no_schema(schema));
        }
        let noun = request.kind.noun();
        let named = schemas_meant(request.search_path, schema)
            .find_map(|schema| self.names.get(&QualifiedName::new(schema, name)))
            .ok_or_else(|| {
                let message = format!("{noun} \"{name}\" does not exist");
                let missing = match request.kind {
                    DropKind::Index => code::UNDEFINED_OBJECT,
                    _ => code::UNDEFINED_TABLE,
                };
                SqlError::new(missing, message)
            })?;
        let (actual, id) = match named {
            Named::PrimaryKeyOf(table) if request.kind == DropKind::Index => {
                return Err(self.needed_by_key(*table, name, request.search_path));
            }
            Named::PrimaryKeyOf(table) => ("index", *table),
            Named::Object(id) => (self.object(*id).map_or("relation", |o| o.kind_name()), *id),
        };
        if actual == noun {
            self.check_goes_alone(id, request.search_path)?;
            return Ok(id);
        }
        let article = |noun: &str| if noun == "index" { "an" } else { "a" };
        let hint =
            format!("Use DROP {} to remove {} {actual}.", actual.to_uppercase(), article(actual));
        let message = format!("\"{name}\" is not {} {noun}", article(noun));
        Err(SqlError::new(code::WRONG_OBJECT_TYPE, message).hint(hint))
    }

    /// Refuses to drop what is a part of something else.
    fn check_goes_alone(&self, id: ObjectId, search_path: &[String]) -> SqlResult<()> {
        let Some(object) = self.object(id) else { return Ok(()) };
        if let Some(index) = object.index().filter(|index| index.constraint.is_some()) {
            return Err(self.needed_by_key(index.on, &object.name.name, search_path));
        }
        let owned = object.sequence().and_then(|sequence| sequence.owned_by);
        let Some(own) = owned.filter(|own| own.identity) else { return Ok(()) };
        let Some(table) = self.object(own.table) else { return Ok(()) };
        let column = table.columns.get(own.column).map_or("", |column| column.name.as_str());
        let column = format!(
            "column {} of {}",
            quote_identifier(column),
            self.describe(own.table, search_path)
        );
        let what = self.describe(id, search_path);
        let message = format!("cannot drop {what} because {column} requires it");
        Err(SqlError::new(code::DEPENDENT_OBJECTS_STILL_EXIST, message)
            .hint(format!("You can drop {column} instead.")))
    }

    /// The index of a primary key goes with its table only.
    fn needed_by_key(&self, table: ObjectId, index: &str, search_path: &[String]) -> SqlError {
        let index = quote_identifier(index);
        let constraint = format!("constraint {index} on {}", self.describe(table, search_path));
        let message = format!("cannot drop index {index} because {constraint} requires it");
        SqlError::new(code::DEPENDENT_OBJECTS_STILL_EXIST, message)
            .hint(format!("You can drop {constraint} instead."))
    }

    /// Fills in `plan.objects` from the targets (or the contents of a schema) and what needs them.
    fn add_dependants(
        &self,
        plan: &mut DropPlan,
        targets: Vec<ObjectId>,
        what: &str,
        schema: Option<&str>,
        search_path: &[String],
        cascade: bool,
    ) -> SqlResult<()> {
        let mut going: BTreeSet<ObjectId> = targets.iter().copied().collect();
        let mut others = Vec::new();
        let mut defaults = BTreeSet::new();
        loop {
            let before = going.len();
            let relations = self.objects().map(|object| (object.id, &object.name));
            let functions = self.functions().map(|function| (function.id, &function.name));
            for (id, name) in relations.chain(functions) {
                if going.contains(&id) {
                    continue;
                }
                let contained = schema == Some(name.schema.as_str());
                if !contained && self.needs_for_defaults(id, &going) {
                    if defaults.insert(id) {
                        others.extend(self.defaults_over(id, &going, search_path));
                    }
                    continue;
                }
                let on = if contained {
                    what.to_owned()
                } else if let Some(on) = self.needs(id).iter().find(|on| going.contains(on)) {
                    self.describe(*on, search_path)
                } else {
                    continue;
                };
                going.insert(id);
                let object = self.object(id);
                let index = object.and_then(|object| object.index());
                let owned = object.and_then(|object| object.sequence()?.owned_by);
                if index.is_some_and(|index| going.contains(&index.on))
                    || owned.is_some_and(|own| going.contains(&own.table))
                {
                    // A part of its table, which needs no mention.
                    continue;
                }
                let dependant = self.describe(id, search_path);
                let table = object.is_some_and(|o| matches!(o.kind, ObjectKind::Table(_)));
                others.push(Dependence { dependant, on, kept: table && !contained });
            }
            if going.len() == before {
                break;
            }
        }
        others.extend(self.foreign_keys_over(&going, search_path));
        if !others.is_empty() && !cascade {
            return Err(still_needed(what, &others));
        }
        if others.iter().any(|other| other.kept) {
            return Err(still_needed(what, &others).hint(
                "A column calls the function, and CASCADE would take the table's rows away: drop \
                 the table first.",
            ));
        }
        plan.notices.extend(cascade_notice(&others));
        plan.objects = self.in_drop_order(&going.into_iter().collect::<Vec<_>>());
        Ok(())
    }

    /// Whether of what goes an object needs nothing but sequences, from which its defaults draw.
    fn needs_for_defaults(&self, id: ObjectId, going: &BTreeSet<ObjectId>) -> bool {
        let is_table = |object: &Object| matches!(object.kind, ObjectKind::Table(_));
        let mut needs = self.needs(id).iter().filter(|on| going.contains(on)).peekable();
        self.object(id).is_some_and(|object| is_table(object))
            && needs.peek().is_some()
            && needs.all(|on| self.object(*on).is_some_and(|on| on.sequence().is_some()))
    }

    /// The foreign keys of what stays that refer to what goes: they go alone.
    fn foreign_keys_over(
        &self,
        going: &BTreeSet<ObjectId>,
        search_path: &[String],
    ) -> Vec<Dependence> {
        let staying = self.objects().filter(|object| !going.contains(&object.id));
        let mut found = Vec::new();
        for (table, key) in staying.flat_map(|o| o.foreign_keys().iter().map(move |key| (o, key))) {
            let on = [key.references, key.key].into_iter().find(|on| going.contains(on));
            let Some(on) = on else { continue };
            let name = quote_identifier(&key.name);
            found.push(Dependence {
                dependant: format!("constraint {name} on {}", self.describe(table.id, search_path)),
                on: self.describe(on, search_path),
                kept: false,
            });
        }
        found
    }

    fn defaults_over(
        &self,
        id: ObjectId,
        going: &BTreeSet<ObjectId>,
        search_path: &[String],
    ) -> Vec<Dependence> {
        let mut found = Vec::new();
        for column in self.object(id).iter().flat_map(|table| &table.columns) {
            let drawn = column.default.as_deref().map(sequences_in).unwrap_or_default();
            for (_, on) in drawn.into_iter().filter(|(_, on)| going.contains(on)) {
                let name = quote_identifier(&column.name);
                let table = self.describe(id, search_path);
                found.push(Dependence {
                    dependant: format!("default value for column {name} of {table}"),
                    on: self.describe(on, search_path),
                    kept: false,
                });
            }
        }
        found
    }

    /// `materialized view v`, with its schema where the search path does not find it.
    pub fn describe(&self, id: ObjectId, search_path: &[String]) -> String {
        if let Some(function) = self.function(id) {
            return format!("function {}", self.shown_function(function, search_path));
        }
        let Some(object) = self.object(id) else { return format!("object {}", id.0) };
        format!("{} {}", object.kind_name(), self.shown_name(object, search_path))
    }

    /// `f(integer)`, with its schema where the search path does not find it.
    pub fn shown_function(&self, function: &Function, search_path: &[String]) -> String {
        let found = self.functions_named(search_path, None, &function.name.name);
        let signature = function.signature();
        if found.iter().any(|found| found.id == function.id) {
            return signature;
        }
        format!("{}.{signature}", quote_identifier(&function.name.schema))
    }

    /// The name by which a relation is shown: with its schema where the search path would not
    /// find it, quoted where it must be.
    pub fn shown_name(&self, object: &Object, search_path: &[String]) -> String {
        let visible = self
            .resolve(search_path, None, &object.name.name)
            .is_some_and(|found| found.id == object.id);
        let name = quote_identifier(&object.name.name);
        if visible { name } else { format!("{}.{name}", quote_identifier(&object.name.schema)) }
    }
}

fn still_needed(what: &str, others: &[Dependence]) -> SqlError {
    let message = if what.is_empty() {
        "cannot drop desired object(s) because other objects depend on them".to_owned()
    } else {
        format!("cannot drop {what} because other objects depend on it")
    };
    let lines: Vec<String> =
        others.iter().map(|one| format!("{} depends on {}", one.dependant, one.on)).collect();
    SqlError::new(code::DEPENDENT_OBJECTS_STILL_EXIST, message)
        .detail(lines.join("\n"))
        .hint("Use DROP ... CASCADE to drop the dependent objects too.")
}

fn cascade_notice(others: &[Dependence]) -> Option<Notice> {
    let lines: Vec<String> =
        others.iter().map(|one| format!("drop cascades to {}", one.dependant)).collect();
    match lines.as_slice() {
        [] => None,
        [one] => Some(Notice { message: one.clone(), detail: None }),
        many => Some(Notice {
            message: format!("drop cascades to {} other objects", many.len()),
            detail: Some(many.join("\n")),
        }),
    }
}

/// A name as SQL must write it: `t`, `"T"`, `"a b"`. As `quote_ident`.
pub fn quote_identifier(name: &str) -> String {
    let mut characters = name.chars();
    let plain = characters.next().is_some_and(|c| c.is_ascii_lowercase() || c == '_')
        && characters.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if plain && !super::pg::is_reserved_word(name) {
        name.to_owned()
    } else {
        format!("\"{}\"", name.replace('"', "\"\""))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{catalog_of, view};
    use super::*;

    fn path() -> Vec<String> {
        vec!["public".to_owned()]
    }

    fn drop(
        catalog: &Catalog,
        kind: DropKind,
        name: &str,
        if_exists: bool,
        cascade: bool,
    ) -> SqlResult<DropPlan> {
        let names = [(None, name.to_owned())];
        let search_path = path();
        catalog.plan_drop(&DropRequest {
            kind,
            names: &names,
            search_path: &search_path,
            if_exists,
            cascade,
        })
    }

    #[test]
    fn a_table_that_others_need_goes_only_with_them_and_after_them() {
        let catalog = catalog_of(&[("t", &[]), ("v", &["t"]), ("w", &["v", "t"])]);
        let error = drop(&catalog, DropKind::Table, "t", false, false).unwrap_err();
        assert_eq!(error.code, "2BP01");
        assert_eq!(error.message, "cannot drop table t because other objects depend on it");
        assert_eq!(
            error.detail.as_deref(),
            Some(
                "materialized view v depends on table t\n\
                 materialized view w depends on materialized view v"
            )
        );
        let plan = drop(&catalog, DropKind::Table, "t", false, true).unwrap();
        let names: Vec<_> =
            plan.objects.iter().map(|id| catalog.object(*id).unwrap().name.name.clone()).collect();
        assert_eq!(names, ["w", "v", "t"]);
        assert_eq!(plan.notices[0].message, "drop cascades to 2 other objects");
        let (after, _) = catalog.without(&plan.objects).unwrap();
        assert_eq!(after.objects().count(), 0);
    }

    #[test]
    fn wrong_kinds_and_missing_names_are_said_as_postgresql_says_them() {
        let catalog = catalog_of(&[("t", &[]), ("v", &["t"])]);
        let error = drop(&catalog, DropKind::View, "t", true, false).unwrap_err();
        assert_eq!((error.code, error.message.as_str()), ("42809", "\"t\" is not a view"));
        assert_eq!(error.hint.as_deref(), Some("Use DROP TABLE to remove a table."));
        let error = drop(&catalog, DropKind::Table, "t_pkey", false, false).unwrap_err();
        assert_eq!(error.hint.as_deref(), Some("Use DROP INDEX to remove an index."));
        let error = drop(&catalog, DropKind::Table, "x", false, false).unwrap_err();
        assert_eq!((error.code, error.message.as_str()), ("42P01", "table \"x\" does not exist"));
        let plan = drop(&catalog, DropKind::Table, "x", true, false).unwrap();
        assert_eq!(plan.objects, []);
        assert_eq!(plan.notices[0].message, "table \"x\" does not exist, skipping");
    }

    #[test]
    fn a_schema_takes_its_contents_and_what_needs_them() {
        let (catalog, _) = Catalog::default().with_schema("s", "weir").unwrap();
        let catalog = catalog_from(catalog);
        let error = catalog.plan_drop_schema("s", &path(), false).unwrap_err();
        assert_eq!(error.message, "cannot drop schema s because other objects depend on it");
        assert_eq!(
            error.detail.as_deref(),
            Some("table s.a depends on schema s\nmaterialized view v depends on table s.a")
        );
        let plan = catalog.plan_drop_schema("s", &path(), true).unwrap();
        let (catalog, _) = catalog.without(&plan.objects).unwrap();
        assert!(catalog.without_schema("s").is_ok());
        assert_eq!(catalog.plan_drop_schema("weir", &path(), true).unwrap_err().code, "2BP01");
    }

    fn catalog_from(catalog: Catalog) -> Catalog {
        let mut table = super::super::testing::table(&catalog, "a");
        table.name.schema = "s".to_owned();
        let id = table.id;
        let (catalog, _) = catalog.with_object(table).unwrap();
        let view = view(&catalog, "v", vec![id]);
        catalog.with_object(view).unwrap().0
    }

    #[test]
    fn identifiers_are_quoted_where_sql_needs_it() {
        for (name, shown) in
            [("t", "t"), ("T", "\"T\""), ("a b", "\"a b\""), ("user", "\"user\""), ("9", "\"9\"")]
        {
            assert_eq!(quote_identifier(name), shown);
        }
    }
}
