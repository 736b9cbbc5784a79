//! What of the catalog is on disk: one entry a thing in the store's metadata, JSON with the number
//! of its format.
//!
//! ```text
//! catalog/object/<oid>       {"format":1,"value":{ Object }}
//! catalog/function/<oid>     {"format":1,"value":{ Function }}
//! catalog/schema/<oid>       {"format":1,"value":{ Schema }}     null: a built-in one was dropped
//! catalog/database/<oid>     {"format":1,"value":{ Database }}   null: as above
//! catalog/role/<oid>         {"format":1,"value":{ Role }}       null: as above
//! catalog/default_acl/<oid>  {"format":1,"value":{ DefaultAcl }}
//! catalog/secret             {"format":1,"value":[ bytes ]}
//! catalog/next_oid           {"format":1,"value":16400}
//! ```
//!
//! Built-in schemas, databases and roles are stored only once they differ from what they are at
//! first.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::catalog::{
    Catalog, DEFAULT_DATABASE_OID, Database, FIRST_USER_OID, Schema, built_in_databases,
    built_in_schemas, names_of, nothing, oids_of,
};
use super::edit_access::DefaultAcl;
use super::function::Function;
use super::object::Object;
use super::role::{Role, built_in_roles, system_roles};
use crate::error::{SqlError, SqlResult, code};
use crate::types::ObjectId;

/// All catalog entries have keys that start with this.
pub const KEY_PREFIX: &str = "catalog/";

/// What this server writes, and all it reads.
const FORMAT: u32 = 1;

const OBJECT: &str = "catalog/object/";
const FUNCTION: &str = "catalog/function/";
const SCHEMA: &str = "catalog/schema/";
const DATABASE: &str = "catalog/database/";
const ROLE: &str = "catalog/role/";
const DEFAULT_ACL: &str = "catalog/default_acl/";
const SECRET: &str = "catalog/secret";
const NEXT_OID: &str = "catalog/next_oid";

/// One durable change: the key, and its new value or `None` to delete it.
pub type Change = (Vec<u8>, Option<Vec<u8>>);

#[derive(Serialize, Deserialize)]
struct Entry<T> {
    format: u32,
    value: T,
}

/// The part of an entry that every format has.
#[derive(Deserialize)]
struct Format {
    format: u32,
}

pub(super) fn put_object(object: &Object) -> SqlResult<Change> {
    put(format!("{OBJECT}{}", object.id.0), object)
}

pub(super) fn delete_object(id: ObjectId) -> Change {
    (object_key(id), None)
}

/// Where an object is in the metadata.
pub fn object_key(id: ObjectId) -> Vec<u8> {
    format!("{OBJECT}{}", id.0).into_bytes()
}

pub(super) fn put_function(function: &Function) -> SqlResult<Change> {
    put(format!("{FUNCTION}{}", function.id.0), function)
}

pub(super) fn delete_function(id: ObjectId) -> Change {
    (format!("{FUNCTION}{}", id.0).into_bytes(), None)
}

pub(super) fn put_schema(schema: &Schema) -> SqlResult<Change> {
    put(format!("{SCHEMA}{}", schema.id.0), Some(schema))
}

pub(super) fn delete_schema(id: ObjectId) -> SqlResult<Change> {
    delete_or_bury::<Schema>(format!("{SCHEMA}{}", id.0), id)
}

pub(super) fn put_database(database: &Database) -> SqlResult<Change> {
    put(format!("{DATABASE}{}", database.id.0), Some(database))
}

pub(super) fn delete_database(id: ObjectId) -> SqlResult<Change> {
    delete_or_bury::<Database>(format!("{DATABASE}{}", id.0), id)
}

pub(super) fn put_role(role: &Role) -> SqlResult<Change> {
    put(format!("{ROLE}{}", role.id.0), Some(role))
}

pub(super) fn delete_role(id: ObjectId) -> SqlResult<Change> {
    delete_or_bury::<Role>(format!("{ROLE}{}", id.0), id)
}

pub(super) fn put_default_acl(default: &DefaultAcl) -> SqlResult<Change> {
    put(format!("{DEFAULT_ACL}{}", default.id.0), default)
}

pub(super) fn delete_default_acl(id: ObjectId) -> Change {
    (format!("{DEFAULT_ACL}{}", id.0).into_bytes(), None)
}

pub(super) fn put_secret(secret: &[u8]) -> SqlResult<Change> {
    put(SECRET.to_owned(), secret)
}

pub(super) fn put_next_oid(next_oid: u32) -> SqlResult<Change> {
    put(NEXT_OID.to_owned(), next_oid)
}

/// What a user made is deleted; what is there from the start leaves a grave, or the next boot
/// would bring it back.
fn delete_or_bury<T: Serialize>(key: String, id: ObjectId) -> SqlResult<Change> {
    let from_the_start = id.0 < FIRST_USER_OID || id == DEFAULT_DATABASE_OID;
    if from_the_start { put(key, None::<T>) } else { Ok((key.into_bytes(), None)) }
}

fn put<T: Serialize>(key: String, value: T) -> SqlResult<Change> {
    let json = serde_json::to_vec(&Entry { format: FORMAT, value })
        .map_err(|error| SqlError::internal(format!("catalog entry {key}: {error}")))?;
    Ok((key.into_bytes(), Some(json)))
}

fn get<T: DeserializeOwned>(key: &str, value: &[u8]) -> SqlResult<T> {
    let corrupted = |error: serde_json::Error| {
        SqlError::new(code::DATA_CORRUPTED, format!("catalog entry {key} cannot be read"))
            .detail(error.to_string())
    };
    let Format { format } = serde_json::from_slice(value).map_err(corrupted)?;
    if format != FORMAT {
        let message = format!("catalog entry {key} has format {format}, not {FORMAT}");
        return Err(SqlError::new(code::DATA_CORRUPTED, message)
            .hint("The data folder was written by another version of Weir: start that one."));
    }
    let entry: Entry<T> = serde_json::from_slice(value).map_err(corrupted)?;
    Ok(entry.value)
}

impl Catalog {
    /// The catalog that these entries describe. Entries with other keys are not looked at; no
    /// entries at all give the catalog of an empty store.
    pub fn load(
        entries: impl IntoIterator<Item = (Vec<u8>, Vec<u8>)>,
    ) -> Result<Catalog, SqlError> {
        let mut databases: BTreeMap<_, _> = built_in_databases().map(|d| (d.id, d)).collect();
        let mut schemas: BTreeMap<_, _> = built_in_schemas().map(|s| (s.id, s)).collect();
        let mut objects = BTreeMap::from([(nothing().id, Arc::new(nothing()))]);
        let mut functions = BTreeMap::new();
        let mut roles: BTreeMap<_, _> = built_in_roles().map(|role| (role.id, role)).collect();
        let mut default_acls = BTreeMap::new();
        let mut secret = Vec::new();
        let mut next_oid = FIRST_USER_OID;
        for (key, value) in entries {
            let Ok(key) = std::str::from_utf8(&key) else { continue };
            if key == NEXT_OID {
                next_oid = get(key, &value)?;
            } else if key == SECRET {
                secret = get(key, &value)?;
            } else if key.starts_with(DEFAULT_ACL) {
                let default: DefaultAcl = get(key, &value)?;
                default_acls.insert(default.id, Arc::new(default));
            } else if let Some(oid) = key.strip_prefix(ROLE) {
                keep(&mut roles, oid, get(key, &value)?);
            } else if key.starts_with(OBJECT) {
                let object: Object = get(key, &value)?;
                objects.insert(object.id, Arc::new(object));
            } else if key.starts_with(FUNCTION) {
                let function: Function = get(key, &value)?;
                functions.insert(function.id, Arc::new(function));
            } else if let Some(oid) = key.strip_prefix(SCHEMA) {
                keep(&mut schemas, oid, get(key, &value)?);
            } else if let Some(oid) = key.strip_prefix(DATABASE) {
                keep(&mut databases, oid, get(key, &value)?);
            }
        }
        let nameable = objects.values().filter(|object: &&Arc<Object>| object.id != nothing().id);
        let names = nameable.flat_map(|object| names_of(object)).collect();
        let taken = objects.values().flat_map(|object| oids_of(object));
        let others = functions.keys().chain(roles.keys()).chain(default_acls.keys()).copied();
        let above = taken.chain(others).map(|id| id.0 + 1).max();
        let mut catalog = Catalog {
            databases: Arc::new(
                databases.into_values().map(|d| (d.name.clone(), Arc::new(d))).collect(),
            ),
            schemas: Arc::new(
                schemas.into_values().map(|s| (s.name.clone(), Arc::new(s))).collect(),
            ),
            objects: Arc::new(objects),
            names: Arc::new(names),
            functions: Arc::new(functions),
            roles: Arc::default(),
            role_names: Arc::default(),
            default_acls: Arc::new(default_acls),
            secret: secret.into(),
            next_oid: next_oid.max(above.unwrap_or(FIRST_USER_OID)),
        };
        roles.into_values().chain(system_roles()).for_each(|role| catalog.insert_role(role));
        catalog.check_references()?;
        Ok(catalog)
    }

    /// An entry that names what is not there means a lost write: better said at boot.
    fn check_references(&self) -> SqlResult<()> {
        let relations = self.objects().map(|o| (o.kind_name(), &o.name, &o.depends_on));
        let functions = self.functions().map(|f| ("function", &f.name, &f.depends_on));
        for (kind, name, depends_on) in relations.chain(functions) {
            let missing = if self.schema(&name.schema).is_none() {
                format!("schema {}", name.schema)
            } else if let Some(id) = depends_on.iter().find(|id| !self.exists(**id)) {
                format!("object {}", id.0)
            } else {
                continue;
            };
            let message =
                format!("{kind} \"{}\" refers to {missing}, which does not exist", name.name);
            return Err(SqlError::new(code::DATA_CORRUPTED, message));
        }
        Ok(())
    }
}

fn keep<T>(things: &mut BTreeMap<ObjectId, T>, oid: &str, stored: Option<T>) {
    let Ok(oid) = oid.parse().map(ObjectId) else { return };
    match stored {
        Some(thing) => things.insert(oid, thing),
        None => things.remove(&oid),
    };
}

#[cfg(test)]
mod tests {
    use super::super::edit::CommentTarget;
    use super::super::object::{Index, IndexKey, ObjectKind, Sink, Subscription};
    use super::super::testing::{table, view};
    use super::*;

    /// A store's metadata.
    type Entries = BTreeMap<Vec<u8>, Vec<u8>>;

    fn apply(entries: &mut Entries, (catalog, changes): (Catalog, Vec<Change>)) -> Catalog {
        for (key, value) in changes {
            assert!(key.starts_with(KEY_PREFIX.as_bytes()));
            match value {
                Some(value) => entries.insert(key, value),
                None => entries.remove(&key),
            };
        }
        catalog
    }

    fn assert_same(entries: &Entries, catalog: &Catalog) {
        let loaded = Catalog::load(entries.clone()).unwrap();
        assert_eq!(loaded.objects, catalog.objects);
        assert_eq!(loaded.names, catalog.names);
        assert_eq!(loaded.functions, catalog.functions);
        assert_eq!(loaded.schemas, catalog.schemas);
        assert_eq!(loaded.databases, catalog.databases);
        assert_eq!(loaded.roles, catalog.roles);
        assert_eq!(loaded.role_names, catalog.role_names);
        assert_eq!(loaded.default_acls, catalog.default_acls);
        assert_eq!(loaded.secret, catalog.secret);
        assert_eq!(loaded.next_oid, catalog.next_oid);
    }

    #[test]
    fn a_catalog_loads_as_it_was_after_every_edit() {
        let mut entries = Entries::new();
        let catalog = Catalog::default();
        assert_same(&entries, &catalog);
        let t = table(&catalog, "t");
        let id = t.id;
        let catalog = apply(&mut entries, catalog.with_object(t).unwrap());
        let v = view(&catalog, "v", vec![id]);
        let catalog = apply(&mut entries, catalog.with_object(v).unwrap());
        assert_same(&entries, &catalog);
        let commented = [
            CommentTarget::Relation(id),
            CommentTarget::Column(id, 0),
            CommentTarget::Schema("public".to_owned()),
            CommentTarget::Database("weir".to_owned()),
        ];
        let catalog = commented.iter().fold(catalog, |catalog, target| {
            let edited = catalog.with_comment(target, Some("why".to_owned())).unwrap();
            let edited = apply(&mut entries, edited);
            assert_same(&entries, &edited);
            edited
        });
        let plan = catalog.dependants(id);
        let catalog = apply(&mut entries, catalog.without(&[plan[0], id]).unwrap());
        assert_same(&entries, &catalog);
        assert!(catalog.oids().next() > id, "an OID is never given twice");
        let catalog = apply(&mut entries, catalog.without_schema("public").unwrap());
        assert_same(&entries, &catalog);
        assert!(catalog.schema("public").is_none());
    }

    #[test]
    fn another_format_is_refused_not_guessed_at() {
        let entry = (b"catalog/object/16384".to_vec(), br#"{"format":2,"value":{}}"#.to_vec());
        let error = Catalog::load([entry]).unwrap_err();
        assert_eq!(error.code, "XX001");
        assert!(error.message.contains("format 2"), "{}", error.message);
    }

    /// As [`a_table_lies_on_disk_like_this`].
    #[test]
    fn an_index_and_a_sink_lie_on_disk_like_this() {
        let key = IndexKey { column: 1, descending: true, nulls_first: false };
        let index = ObjectKind::Index(Index {
            on: ObjectId(16384),
            keys: vec![key],
            unique: true,
            nulls_not_distinct: false,
            constraint: None,
            included: vec![],
            order: vec![1, 0],
            width: 0,
            key: vec![0, 1],
            append_only: false,
            parallelism: 2,
        });
        let sink = ObjectKind::Sink(Sink {
            query: None,
            from: ObjectId(16384),
            into: ObjectId(16390),
            columns: vec![1],
            places: Vec::new(),
            reader: ObjectId(16395),
            snapshot: true,
            append_only: false,
        });
        let subscription = ObjectKind::Subscription(Subscription {
            from: ObjectId(16384),
            retention_ms: 3_600_000,
        });
        let json = [index, sink, subscription].map(|kind| serde_json::to_string(&kind).unwrap());
        expect_test::expect![[r#"
            {"Index":{"on":16384,"keys":[{"column":1,"descending":true,"nulls_first":false}],"unique":true,"included":[],"order":[1,0],"key":[0,1],"append_only":false,"parallelism":2}}
            {"Sink":{"query":null,"from":16384,"into":16390,"columns":[1],"reader":16395,"snapshot":true,"append_only":false}}
            {"Subscription":{"from":16384,"retention_ms":3600000}}
        "#]]
        .assert_eq(&format!("{}\n", json.join("\n")));
    }

    /// The bytes on disk: a change here is a new format, and needs code that reads the old one.
    #[test]
    fn a_table_lies_on_disk_like_this() {
        let catalog = Catalog::default();
        let (_, value) = put_object(&table(&catalog, "t")).unwrap();
        expect_test::expect![[r#"
            {"format":1,"value":{"id":16384,"name":{"schema":"public","name":"t"},"kind":{"Table":{"primary_key":[0],"primary_key_name":"t_pkey","primary_key_index":16387,"primary_key_constraint":16388,"append_only":false,"connector":null}},"columns":[{"name":"id","sql_type":"Integer","not_null":true,"default":null,"comment":null},{"name":"amount","sql_type":{"Numeric":[10,2]},"not_null":false,"default":"0","comment":null}],"definition":"CREATE TABLE t (id int PRIMARY KEY, amount numeric(10,2) DEFAULT 0)","depends_on":[],"comment":null,"row_type":16385,"row_array_type":16386,"owner":"weir"}}
        "#]]
        .assert_eq(&format!("{}\n", String::from_utf8(value.unwrap()).unwrap()));
    }
}
