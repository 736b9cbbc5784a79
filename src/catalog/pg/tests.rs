//! The relations as a whole; what statements over them give, `planner::catalog_query` tests.

use datafusion::logical_expr::ScalarUDF;

use super::super::testing::{catalog_of, context_of};
use super::*;
use crate::types::SqlType;

fn context() -> PgContext {
    context_of(catalog_of(&[("t", &[]), ("v", &["t"])]))
}

/// The values of one column.
fn column(context: &PgContext, relation_name: &str, column: &str) -> Vec<String> {
    let relation = relation("pg_catalog", relation_name).expect("a relation");
    let position = relation.columns.iter().position(|one| one.name == column).expect("a column");
    let rows = rows(relation, context).expect("a superuser reads all");
    rows.iter().map(|row| row[position].to_text(context)).collect()
}

#[test]
fn every_relation_becomes_a_table_without_nulls_where_none_may_be() {
    let context = context();
    for name in names() {
        let relation = relation(&name.schema, &name.name).expect("listed");
        for row in rows(relation, &context).expect("a superuser reads all") {
            assert_eq!(row.len(), relation.columns.len(), "{}", name.name);
        }
        // A NULL in a column that cannot have one is an error here.
        table(&name, &context).unwrap_or_else(|error| panic!("{}: {error}", name.name));
    }
}

#[test]
fn oids_are_unique_within_their_catalog() {
    let context = context();
    for relation_name in ["pg_class", "pg_type", "pg_proc", "pg_namespace", "pg_constraint"] {
        let mut oids = column(&context, relation_name, "oid");
        let count = oids.len();
        oids.sort_unstable();
        oids.dedup();
        assert_eq!(oids.len(), count, "{relation_name}");
    }
}

#[test]
fn the_types_are_those_that_the_wire_announces() {
    for sql_type in SqlType::all() {
        let text = |name| data::fixed_value("pg_type", sql_type.oid(), name);
        let name = text("typname").map(|name| name.to_text(&context()));
        assert_eq!(name.as_deref(), Some(sql_type.typname().as_str()));
        let length = text("typlen").and_then(|length| length.as_int());
        assert_eq!(length, Some(i64::from(sql_type.typlen())), "{sql_type}");
        let array = text("typarray").and_then(|array| array.as_oid());
        let known = SqlType::Array(Box::new(sql_type.clone())).oid();
        assert_eq!(array, Some(known), "{sql_type}");
    }
}

#[test]
fn a_table_brings_its_key_its_types_and_its_comments() {
    let context = context();
    let classes = column(&context, "pg_class", "relname");
    for name in ["t", "t_pkey", "v", "pg_class", "columns"] {
        assert!(classes.iter().any(|class| class == name), "{name}");
    }
    assert!(column(&context, "pg_index", "indkey").contains(&"{1}".to_owned()));
    assert_eq!(column(&context, "pg_attrdef", "adbin"), ["0"]);
    assert!(column(&context, "pg_constraint", "conname").contains(&"t_pkey".to_owned()));
    assert!(column(&context, "pg_type", "typname").contains(&"_t".to_owned()));
    assert_eq!(column(&context, "pg_matviews", "definition"), [" SELECT id FROM t;"]);
}

#[tokio::test]
async fn functions_and_relations_work_in_datafusion_too() {
    use datafusion::prelude::SessionContext;
    let context = Arc::new(context());
    let session = SessionContext::new();
    for function in functions(&context) {
        session.register_udf(ScalarUDF::clone(&function));
    }
    let name = QualifiedName::new("pg_catalog", "pg_class");
    let class = table(&name, &context).unwrap().unwrap();
    session.register_table("pg_class", class).unwrap();
    let query = "SELECT relname, format_type(25, -1), pg_get_userbyid(relowner), current_schema() \
                 FROM pg_class WHERE oid = 16384 AND pg_table_is_visible(oid)";
    let batches = session.sql(query).await.unwrap().collect().await.unwrap();
    let shown = arrow::util::pretty::pretty_format_batches(&batches).unwrap().to_string();
    assert!(shown.contains("| t       | text"), "{shown}");
    assert!(shown.contains("| weir"), "{shown}");
    assert!(shown.contains("| public"), "{shown}");
}
