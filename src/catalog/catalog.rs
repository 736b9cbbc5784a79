//! All that exists at one moment, as an immutable value.
//!
//! A statement takes one `Catalog` and resolves every name in it; DDL makes a new one
//! (`edit`, `drop`). Cloning shares the maps, so a clone costs a few reference counts.
//!
//! What holds: every object's schema exists; every name (of a relation or of a primary key's
//! index) belongs to one object; every id in `depends_on` is an object or a function of this
//! catalog; `next_oid`
//! is above every OID ever given out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::constraint::Constraints;
use super::edit_access::DefaultAcl;
use super::function::Function;
use super::object::{Object, ObjectKind, QualifiedName, Table};
use super::privilege::Acl;
use super::role::{Role, built_in_roles, system_roles};
use crate::types::ObjectId;

/// The first OID that a user's object can have, as in PostgreSQL.
pub const FIRST_USER_OID: u32 = 16384;

pub const PG_CATALOG: &str = "pg_catalog";
pub const INFORMATION_SCHEMA: &str = "information_schema";
/// Where PostgreSQL keeps long values: empty here.
const PG_TOAST: &str = "pg_toast";
pub const PUBLIC: &str = "public";
/// Weir's own system tables.
pub const WEIR: &str = "weir";

/// What a session calls the schema of its temporary tables, whose name goes on with `_` and a
/// number.
pub const PG_TEMP: &str = "pg_temp";

/// Whether the schema of this name holds the temporary tables of a session.
pub fn is_temporary_schema(name: &str) -> bool {
    name.strip_prefix(PG_TEMP).is_some_and(|rest| rest.starts_with('_'))
}

/// A search path for what outlives the session: without its temporary tables.
pub fn lasting_path(search_path: &[String]) -> Vec<String> {
    search_path.iter().filter(|schema| !is_temporary_schema(schema)).cloned().collect()
}

/// `pg_namespace.oid` of the schemas that are there from the start.
pub const PG_CATALOG_OID: ObjectId = ObjectId(11);
const PG_TOAST_OID: ObjectId = ObjectId(99);
pub const PUBLIC_OID: ObjectId = ObjectId(2200);
pub const INFORMATION_SCHEMA_OID: ObjectId = ObjectId(13183);
pub const WEIR_OID: ObjectId = ObjectId(13900);

/// The database that is there from the start, and its owner. Tools leave out databases with OIDs
/// below [`FIRST_USER_OID`] as the system's own (pgAdmin does), so it has one that no object gets:
/// the last before those that follow from others.
pub const DEFAULT_DATABASE: &str = "weir";
pub const DEFAULT_DATABASE_OID: ObjectId = ObjectId(0x3fff_ffff);
pub const DEFAULT_OWNER: &str = "weir";

/// A namespace for relations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schema {
    pub id: ObjectId,
    pub name: String,
    pub owner: String,
    pub comment: Option<String>,
    /// Who may do what with it; `None`: nothing was granted or revoked yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acl: Option<Acl>,
}

impl Schema {
    /// Whether it is part of the system, so that users neither drop nor fill it.
    pub fn is_system(&self) -> bool {
        is_system_schema(&self.name)
    }
}

/// Whether the schema of this name belongs to the system.
pub fn is_system_schema(name: &str) -> bool {
    matches!(name, PG_CATALOG | INFORMATION_SCHEMA | PG_TOAST | WEIR)
}

/// A database that clients may name when they connect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Database {
    pub id: ObjectId,
    pub name: String,
    pub owner: String,
    pub comment: Option<String>,
    /// Who may do what with it; `None`: nothing was granted or revoked yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acl: Option<Acl>,
    /// What variables of sessions in it begin with, by name in lower case.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
}

/// What a name in a schema stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    Object(ObjectId),
    /// The index of this table's primary key: it takes a name, but is no object of its own.
    PrimaryKeyOf(ObjectId),
}

/// All databases, schemas and objects at one moment.
#[derive(Debug, Clone)]
pub struct Catalog {
    pub(super) databases: Arc<BTreeMap<String, Arc<Database>>>,
    pub(super) schemas: Arc<BTreeMap<String, Arc<Schema>>>,
    pub(super) objects: Arc<BTreeMap<ObjectId, Arc<Object>>>,
    pub(super) names: Arc<BTreeMap<QualifiedName, Named>>,
    pub(super) functions: Arc<BTreeMap<ObjectId, Arc<Function>>>,
    pub(super) roles: Arc<BTreeMap<ObjectId, Arc<Role>>>,
    pub(super) role_names: Arc<BTreeMap<String, ObjectId>>,
    pub(super) default_acls: Arc<BTreeMap<ObjectId, Arc<DefaultAcl>>>,
    /// What the verifiers of roles that do not exist are made from; see
    /// [`Verifier::mock`](super::verifier::Verifier::mock).
    pub(super) secret: Arc<[u8]>,
    pub(super) next_oid: u32,
}

impl Default for Catalog {
    /// The catalog of an empty store.
    fn default() -> Self {
        let mut catalog = Self {
            databases: Arc::new(
                built_in_databases().map(|d| (d.name.clone(), Arc::new(d))).collect(),
            ),
            schemas: Arc::new(built_in_schemas().map(|s| (s.name.clone(), Arc::new(s))).collect()),
            objects: Arc::new(BTreeMap::from([(NOTHING_OID, Arc::new(nothing()))])),
            names: Arc::default(),
            functions: Arc::default(),
            roles: Arc::default(),
            role_names: Arc::default(),
            default_acls: Arc::default(),
            secret: Arc::from([]),
            next_oid: FIRST_USER_OID,
        };
        built_in_roles().chain(system_roles()).for_each(|role| catalog.insert_role(role));
        catalog
    }
}

/// A table without rows, which no query can name: what reads no table takes its barriers from
/// there.
const NOTHING_OID: ObjectId = ObjectId(13_901);

/// The table [`NOTHING_OID`].
pub fn nothing() -> Object {
    Object {
        id: NOTHING_OID,
        name: QualifiedName::new(WEIR, "nothing"),
        kind: ObjectKind::Table(Table {
            primary_key: Vec::new(),
            primary_key_name: None,
            primary_key_index: None,
            primary_key_constraint: None,
            append_only: true,
            connector: None,
            constraints: Constraints::default(),
            shape: None,
        }),
        columns: Vec::new(),
        definition: String::new(),
        depends_on: Vec::new(),
        comment: Some("has no rows; views of constants read it".to_owned()),
        row_type: ObjectId(13_902),
        row_array_type: ObjectId(13_903),
        owner: DEFAULT_OWNER.to_owned(),
        acl: None,
    }
}

/// The databases of an empty store.
pub(super) fn built_in_databases() -> impl Iterator<Item = Database> {
    std::iter::once(Database {
        id: DEFAULT_DATABASE_OID,
        name: DEFAULT_DATABASE.to_owned(),
        owner: DEFAULT_OWNER.to_owned(),
        comment: None,
        acl: None,
        settings: BTreeMap::new(),
    })
}

/// The schemas of an empty store.
pub(super) fn built_in_schemas() -> impl Iterator<Item = Schema> {
    [
        (PG_CATALOG_OID, PG_CATALOG, Some("system catalog schema")),
        (PG_TOAST_OID, PG_TOAST, Some("reserved schema for TOAST tables")),
        (PUBLIC_OID, PUBLIC, Some("standard public schema")),
        (INFORMATION_SCHEMA_OID, INFORMATION_SCHEMA, None),
        (WEIR_OID, WEIR, Some("what runs, how far, how big, how late")),
    ]
    .into_iter()
    .map(|(id, name, comment)| Schema {
        id,
        name: name.to_owned(),
        owner: DEFAULT_OWNER.to_owned(),
        comment: comment.map(str::to_owned),
        acl: None,
    })
}

/// Gives out OIDs that no object of its catalog has or had. [`Catalog::with_object`] and its like
/// move the catalog past what they were given.
#[derive(Debug)]
pub struct Oids(u32);

impl Oids {
    /// The next OID.
    #[expect(clippy::should_implement_trait, reason = "it never ends")]
    pub fn next(&mut self) -> ObjectId {
        let id = ObjectId(self.0);
        self.0 += 1;
        id
    }
}

impl Catalog {
    /// The relation that a name means: in `schema`, or in the first schema of the search path that
    /// has it. System tables are not objects: see [`super::pg::table`].
    pub fn resolve(
        &self,
        search_path: &[String],
        schema: Option<&str>,
        name: &str,
    ) -> Option<&Arc<Object>> {
        schemas_meant(search_path, schema)
            .find_map(|schema| self.object_named(&QualifiedName::new(schema, name)))
    }

    /// The relation of exactly this name.
    pub fn object_named(&self, name: &QualifiedName) -> Option<&Arc<Object>> {
        match self.names.get(name)? {
            Named::Object(id) => self.objects.get(id),
            Named::PrimaryKeyOf(_) => None,
        }
    }

    /// The relation with this OID.
    pub fn object(&self, id: ObjectId) -> Option<&Arc<Object>> {
        self.objects.get(&id)
    }

    /// All relations that can be named, by OID; so an object comes after those that were there
    /// when it was made.
    pub fn objects(&self) -> impl DoubleEndedIterator<Item = &Arc<Object>> {
        self.objects.values().filter(|object| object.id != NOTHING_OID)
    }

    /// All schemas, by name.
    pub fn schemas(&self) -> impl Iterator<Item = &Arc<Schema>> {
        self.schemas.values()
    }

    /// The schema of this name.
    pub fn schema(&self, name: &str) -> Option<&Arc<Schema>> {
        self.schemas.get(name)
    }

    /// All databases, by name.
    pub fn databases(&self) -> impl Iterator<Item = &Arc<Database>> {
        self.databases.values()
    }

    /// The database of this name.
    pub fn database(&self, name: &str) -> Option<&Arc<Database>> {
        self.databases.get(name)
    }

    /// A source of OIDs for new objects.
    pub fn oids(&self) -> Oids {
        Oids(self.next_oid)
    }

    /// Where a new relation goes when its statement names no schema: the first of the search path
    /// that exists and is not the system's.
    pub fn creation_schema(&self, search_path: &[String]) -> Option<&Arc<Schema>> {
        let lasting = search_path.iter().filter(|name| !is_temporary_schema(name));
        lasting.filter_map(|name| self.schema(name)).find(|schema| !schema.is_system())
    }

    /// `t_pkey`, or the first of `t_pkey1`, `t_pkey2`, ... that is free.
    pub fn primary_key_name(&self, table: &QualifiedName) -> String {
        self.free_name(table, "", "pkey")
    }

    /// `t_a_b_idx` for an index on columns `a` and `b`, with a number if that is taken.
    pub fn index_name(&self, table: &QualifiedName, columns: &[String]) -> String {
        self.free_name(table, &columns.join("_"), "idx")
    }

    /// `t_a_key` for a unique constraint on column `a`, with a number if that is taken.
    pub fn unique_name(&self, table: &QualifiedName, columns: &[String]) -> String {
        self.free_name(table, &columns.join("_"), "key")
    }

    /// `t_a_seq` for the sequence that numbers column `a`, with a number if that is taken.
    pub fn sequence_name(&self, table: &QualifiedName, column: &str) -> String {
        self.free_name(table, column, "seq")
    }

    /// The sequences that go with a table's columns, by OID.
    pub fn owned_sequences(&self, table: ObjectId) -> impl Iterator<Item = &Arc<Object>> {
        let owned = move |object: &&Arc<Object>| {
            object.sequence().and_then(|one| one.owned_by).is_some_and(|own| own.table == table)
        };
        self.objects.values().filter(owned)
    }

    /// `<table>_<middle>_<label>`, shortened to what a name may have, or the first of those with a
    /// number after the label that is free.
    fn free_name(&self, table: &QualifiedName, middle: &str, label: &str) -> String {
        let taken = |name: &str| self.names.contains_key(&QualifiedName::new(&table.schema, name));
        std::iter::once(label.to_owned())
            .chain((1..).map(|n| format!("{label}{n}")))
            .map(|label| shortened(&table.name, middle, &label))
            .find(|name| !taken(name))
            .expect("there are more numbers than names")
    }

    /// Whether what happens to `object` may come, by way of queries and sinks, from `origin`.
    pub fn comes_from(&self, object: ObjectId, origin: ObjectId) -> bool {
        let mut seen = BTreeSet::from([object]);
        let mut open = vec![object];
        while let Some(id) = open.pop() {
            if id == origin {
                return true;
            }
            let needs = self.objects.get(&id).map_or(&[][..], |object| &object.depends_on);
            let sinks = self
                .objects
                .values()
                .filter(|object| object.sink().is_some_and(|sink| sink.into == id));
            let sources = sinks.flat_map(|sink| {
                let own = sink.sink().map(|sink| sink.into);
                sink.depends_on.iter().copied().filter(move |on| Some(*on) != own)
            });
            open.extend(needs.iter().copied().chain(sources).filter(|id| seen.insert(*id)));
        }
        false
    }

    /// The indexes of a table or materialized view, by OID.
    pub fn indexes(&self, on: ObjectId) -> impl Iterator<Item = &Arc<Object>> {
        self.objects.values().filter(move |object| object.index().is_some_and(|i| i.on == on))
    }

    /// Objects and functions that need `id`, directly or through others, in an order in which they
    /// can be dropped: each before what it needs.
    pub fn dependants(&self, id: ObjectId) -> Vec<ObjectId> {
        let mut needed = BTreeSet::from([id]);
        let mut found = Vec::new();
        loop {
            let before = found.len();
            // Usually one pass: a dependant is younger than what it needs, so its OID is higher.
            for id in self.objects.keys().chain(self.functions.keys()) {
                if !needed.contains(id) && self.needs(*id).iter().any(|on| needed.contains(on)) {
                    needed.insert(*id);
                    found.push(*id);
                }
            }
            if found.len() == before {
                break;
            }
        }
        self.in_drop_order(&found)
    }

    /// The same objects, each before what it needs.
    pub(super) fn in_drop_order(&self, ids: &[ObjectId]) -> Vec<ObjectId> {
        let wanted: BTreeSet<ObjectId> = ids.iter().copied().collect();
        let mut needs_first = Vec::new();
        let mut seen = BTreeSet::new();
        // Depth first with an explicit stack: a chain of views may be long.
        for start in &wanted {
            let mut stack = vec![(*start, false)];
            while let Some((id, expanded)) = stack.pop() {
                if expanded {
                    needs_first.push(id);
                } else if seen.insert(id) {
                    stack.push((id, true));
                    let needs = self.needs(id).iter().filter(|on| wanted.contains(on));
                    stack.extend(needs.map(|on| (*on, false)));
                }
            }
        }
        needs_first.reverse();
        needs_first
    }
}

/// The schemas in which a name is looked for. Of those with temporary tables a session finds only
/// its own, which is in its path.
pub(super) fn schemas_meant<'a>(
    search_path: &'a [String],
    schema: Option<&'a str>,
) -> impl Iterator<Item = &'a str> {
    let path = search_path.iter().map(String::as_str);
    let in_path = move |found: &&str| match schema {
        None => true,
        Some(PG_TEMP) => is_temporary_schema(found),
        Some(named) => is_temporary_schema(named) && *found == named,
    };
    let named = schema.filter(|named| *named != PG_TEMP && !is_temporary_schema(named));
    named.into_iter().chain(path.filter(move |found| named.is_none() && in_path(found)))
}

/// The parts with `_` between them. Of a name that is too long, the longer of the first two parts
/// gives way, as in PostgreSQL.
pub(super) fn shortened(first: &str, second: &str, label: &str) -> String {
    /// Bytes that a name may have.
    const NAME_MAX: usize = 63;
    let joints = if second.is_empty() { 1 } else { 2 };
    let room = NAME_MAX.saturating_sub(label.len() + joints);
    let (mut one, mut other) = (first.len(), second.len());
    while one + other > room {
        if one > other { one -= 1 } else { other -= 1 }
    }
    let clip = |text: &str, bytes: usize| text[..text.floor_char_boundary(bytes)].to_owned();
    let parts = [clip(first, one), clip(second, other), label.to_owned()];
    let shown: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    shown.join("_")
}

/// Every OID that an object has: its own, its types', its key's, its reader's.
pub(super) fn oids_of(object: &Object) -> impl Iterator<Item = ObjectId> {
    let (index, constraint) = match &object.kind {
        ObjectKind::Table(table) => (table.primary_key_index, table.primary_key_constraint),
        ObjectKind::Sink(sink) => (Some(sink.reader), None),
        ObjectKind::Index(index) => (None, index.constraint.map(|constraint| constraint.id)),
        _ => (None, None),
    };
    [Some(object.id), Some(object.row_type), Some(object.row_array_type), index, constraint]
        .into_iter()
        .flatten()
        .filter(|id| id.0 != 0)
        .chain(object.constraints().into_iter().flat_map(Constraints::ids))
}

/// Names that an object takes in its schema.
pub(super) fn names_of(object: &Object) -> impl Iterator<Item = (QualifiedName, Named)> + use<> {
    let key = match &object.kind {
        ObjectKind::Table(table) => table.primary_key_name.as_ref(),
        _ => None,
    };
    let key = key.map(|name| {
        (QualifiedName::new(&object.name.schema, name), Named::PrimaryKeyOf(object.id))
    });
    std::iter::once((object.name.clone(), Named::Object(object.id))).chain(key)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{catalog_of, table};
    use super::*;

    #[test]
    fn names_resolve_along_the_search_path_and_are_taken_once() {
        let catalog = catalog_of(&[("t", &[])]);
        let path = ["nowhere".to_owned(), "public".to_owned()];
        assert!(catalog.resolve(&path, None, "t").is_some());
        assert!(catalog.resolve(&path, Some("nowhere"), "t").is_none());
        assert!(catalog.resolve(&path, None, "t_pkey").is_none(), "an index is no relation");
        for name in ["t", "t_pkey"] {
            let error = catalog.with_object(table(&catalog, name)).unwrap_err();
            assert_eq!(error.code, "42P07");
            assert_eq!(error.message, format!("relation \"{name}\" already exists"));
        }
        let mut elsewhere = table(&catalog, "u");
        elsewhere.name.schema = "nowhere".to_owned();
        assert_eq!(catalog.with_object(elsewhere).unwrap_err().code, "3F000");
        let name = QualifiedName::new("public", "t");
        assert_eq!(catalog.primary_key_name(&name), "t_pkey1");
        let columns = ["a".to_owned(), "b".to_owned()];
        assert_eq!(catalog.index_name(&name, &columns), "t_a_b_idx");
        let long = QualifiedName::new("public", "t".repeat(50));
        let name = catalog.index_name(&long, &["c".repeat(40)]);
        assert_eq!(name, format!("{}_{}_idx", "t".repeat(29), "c".repeat(29)));
    }

    #[test]
    fn dependants_come_before_what_they_need() {
        let catalog = catalog_of(&[("t", &[]), ("a", &["t"]), ("b", &["a"]), ("c", &["a", "b"])]);
        let id = |name: &str| catalog.object_named(&QualifiedName::new("public", name)).unwrap().id;
        assert_eq!(catalog.dependants(id("t")), [id("c"), id("b"), id("a")]);
        assert_eq!(catalog.dependants(id("c")), []);
    }
}
