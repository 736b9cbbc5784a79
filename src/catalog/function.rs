//! Functions that users write in SQL: plain, durable data, as relations are.
//!
//! A function is planned as part of every query that calls it, so it has no state and no job. Its
//! names and those of relations are apart; several functions may share one, if their parameters'
//! types differ.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::catalog::{Catalog, is_system_schema};
use super::drop::quote_identifier;
use super::durable;
use super::edit::{Edited, no_schema};
use super::meaning::Meaning;
use super::object::QualifiedName;
use crate::error::{SqlError, SqlResult, code};
use crate::types::{ObjectId, SqlType};

/// A function in SQL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Function {
    /// OID: `pg_proc.oid`. Never reused, and kept by CREATE OR REPLACE.
    pub id: ObjectId,
    pub name: QualifiedName,
    pub parameters: Vec<Parameter>,
    pub returns: Returns,
    pub body: Body,
    /// How the body's names are meant: as when the function was made.
    pub search_path: Vec<String>,
    /// Of its body; what is shown is the body's text, in its form.
    #[serde(default, skip_serializing_if = "Meaning::is_plain")]
    pub meaning: Meaning,
    /// Whether the result is NULL where an argument is.
    pub strict: bool,
    pub volatility: Volatility,
    /// Relations and functions that the body names.
    pub depends_on: Vec<ObjectId>,
    pub owner: String,
}

/// The database by whose name the bodies of functions look up relations: with the rights of
/// whoever calls them.
pub const CALLER: &str = "$caller";

/// What a session's statements may call, and where it is looked for.
#[derive(Debug, Clone)]
pub struct Callable {
    pub catalog: Arc<Catalog>,
    pub search_path: Vec<String>,
}

/// What a call gives a value for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    pub name: Option<String>,
    /// Without modifier: PostgreSQL forgets it.
    pub sql_type: SqlType,
    /// The default's SQL text.
    pub default: Option<String>,
}

/// What a call gives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Returns {
    Value(SqlType),
    /// Rows of one column.
    Set(SqlType),
    /// `TABLE (...)`.
    Table(Vec<ReturnedColumn>),
    /// `SETOF relation`, with the columns that it had.
    Rows(QualifiedName, Vec<ReturnedColumn>),
}

/// A column of the rows that a function gives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReturnedColumn {
    pub name: String,
    pub sql_type: SqlType,
}

/// What it computes, as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Body {
    /// `AS 'query'`: the string's text.
    Quoted(String),
    /// `RETURN expression`: the expression's text.
    Return(String),
}

impl Body {
    /// Its text, as it was written.
    pub fn text(&self) -> &str {
        match self {
            Self::Quoted(text) | Self::Return(text) => text,
        }
    }

    /// The query whose rows are the result.
    pub fn query(&self) -> String {
        match self {
            Self::Quoted(text) => text.clone(),
            Self::Return(expression) => format!("SELECT {expression}"),
        }
    }
}

/// What its result depends on besides its arguments, as its owner says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Volatility {
    Immutable,
    Stable,
    Volatile,
}

impl Volatility {
    /// `pg_proc.provolatile`.
    pub fn letter(self) -> &'static str {
        match self {
            Self::Immutable => "i",
            Self::Stable => "s",
            Self::Volatile => "v",
        }
    }
}

impl Returns {
    /// The columns of what it gives; a value has none.
    pub fn columns(&self) -> &[ReturnedColumn] {
        match self {
            Self::Table(columns) | Self::Rows(_, columns) => columns,
            Self::Value(_) | Self::Set(_) => &[],
        }
    }

    /// Whether it may give several rows.
    pub fn is_set(&self) -> bool {
        !matches!(self, Self::Value(_))
    }

    /// `pg_proc.prorettype`, where it is a type that is always there.
    pub fn sql_type(&self) -> SqlType {
        match self {
            Self::Value(sql_type) | Self::Set(sql_type) => sql_type.clone(),
            Self::Table(columns) => match columns.as_slice() {
                [one] => one.sql_type.clone(),
                _ => SqlType::Record,
            },
            Self::Rows(..) => SqlType::Record,
        }
    }

    /// As `pg_get_function_result` gives it.
    pub fn text(&self) -> String {
        match self {
            Self::Value(sql_type) => type_name(sql_type),
            Self::Set(sql_type) => format!("SETOF {}", type_name(sql_type)),
            Self::Table(columns) => {
                let columns: Vec<_> = columns
                    .iter()
                    .map(|c| format!("{} {}", quote_identifier(&c.name), type_name(&c.sql_type)))
                    .collect();
                format!("TABLE({})", columns.join(", "))
            }
            Self::Rows(relation, _) => format!("SETOF {}", quote_identifier(&relation.name)),
        }
    }
}

impl Parameter {
    /// As `pg_get_function_arguments` gives it.
    fn text(&self, with_default: bool) -> String {
        let mut text = String::new();
        if let Some(name) = &self.name {
            text.push_str(&quote_identifier(name));
            text.push(' ');
        }
        text.push_str(&type_name(&self.sql_type));
        if let Some(default) = self.default.as_ref().filter(|_| with_default) {
            text.push_str(" DEFAULT ");
            text.push_str(default);
        }
        text
    }
}

impl Function {
    /// `f(integer, text)`.
    pub fn signature(&self) -> String {
        signature(&quote_identifier(&self.name.name), &self.types())
    }

    /// The types of its parameters.
    pub fn types(&self) -> Vec<SqlType> {
        self.parameters.iter().map(|parameter| parameter.sql_type.clone()).collect()
    }

    /// `x integer, y text DEFAULT 'a'`.
    pub fn arguments_text(&self, with_defaults: bool) -> String {
        let texts: Vec<_> = self.parameters.iter().map(|p| p.text(with_defaults)).collect();
        texts.join(", ")
    }

    /// Its body's text by today's names.
    pub fn shown_body(&self) -> &str {
        self.meaning.shown.as_deref().unwrap_or(self.body.text())
    }

    /// The statement that makes it anew, as `pg_get_functiondef` gives it.
    pub fn definition(&self) -> String {
        let mut text = format!(
            "CREATE OR REPLACE FUNCTION {}.{}({})\n RETURNS {}\n LANGUAGE sql\n",
            quote_identifier(&self.name.schema),
            quote_identifier(&self.name.name),
            self.arguments_text(true),
            self.returns.text()
        );
        let mut options = Vec::new();
        match self.volatility {
            Volatility::Immutable => options.push("IMMUTABLE"),
            Volatility::Stable => options.push("STABLE"),
            Volatility::Volatile => {}
        }
        if self.strict {
            options.push("STRICT");
        }
        if !options.is_empty() {
            text.push_str(&format!(" {}\n", options.join(" ")));
        }
        let body = self.shown_body();
        match &self.body {
            Body::Quoted(_) => {
                let mut mark = "function".to_owned();
                while body.contains(&format!("${mark}$")) {
                    mark.push('x');
                }
                text.push_str(&format!("AS ${mark}${body}${mark}$\n"));
            }
            Body::Return(_) => text.push_str(&format!("RETURN {body}\n")),
        }
        text
    }
}

/// `f(integer, text)`.
pub fn signature(name: &str, types: &[SqlType]) -> String {
    let types: Vec<_> = types.iter().map(type_name).collect();
    format!("{name}({})", types.join(", "))
}

/// A type's name without its modifier.
pub fn type_name(sql_type: &SqlType) -> String {
    match sql_type {
        SqlType::Char(_) => "character".to_owned(),
        SqlType::Array(element) => format!("{}[]", type_name(element)),
        other => without_modifier(other).to_string(),
    }
}

/// A type as functions have it.
pub fn without_modifier(sql_type: &SqlType) -> SqlType {
    match sql_type {
        SqlType::Numeric(_) => SqlType::Numeric(None),
        SqlType::Varchar(_) => SqlType::Varchar(None),
        // What has no length does not cut or fill up.
        SqlType::Char(_) => SqlType::Text,
        SqlType::Array(element) => SqlType::Array(Box::new(without_modifier(element))),
        other => other.clone(),
    }
}

impl Catalog {
    /// The function with this OID.
    pub fn function(&self, id: ObjectId) -> Option<&Arc<Function>> {
        self.functions.get(&id)
    }

    /// All functions, by OID.
    pub fn functions(&self) -> impl Iterator<Item = &Arc<Function>> {
        self.functions.values()
    }

    /// The functions that a name may mean: those of `schema`, or of the search path, where an
    /// earlier schema hides those of a later one that have the same parameters.
    pub fn functions_named(
        &self,
        search_path: &[String],
        schema: Option<&str>,
        name: &str,
    ) -> Vec<&Arc<Function>> {
        let mut found: Vec<&Arc<Function>> = Vec::new();
        let schemas: Vec<&str> = match schema {
            Some(schema) => vec![schema],
            None => search_path.iter().map(String::as_str).collect(),
        };
        for schema in schemas {
            for function in self.functions() {
                if function.name.schema == schema
                    && function.name.name == name
                    && !found.iter().any(|other| other.types() == function.types())
                {
                    found.push(function);
                }
            }
        }
        found
    }

    /// The function of exactly this name and these parameters.
    pub fn function_of(&self, name: &QualifiedName, types: &[SqlType]) -> Option<&Arc<Function>> {
        self.functions().find(|function| function.name == *name && function.types() == types)
    }

    /// With a function, new or in the place of the one with its OID.
    pub fn with_function(&self, function: Function) -> SqlResult<Edited> {
        if self.schema(&function.name.schema).is_none() {
            return Err(no_schema(&function.name.schema));
        }
        if is_system_schema(&function.name.schema) {
            let message = format!("permission denied for schema {}", function.name.schema);
            return Err(SqlError::new(code::INSUFFICIENT_PRIVILEGE, message));
        }
        if let Some(missing) = function.depends_on.iter().find(|id| !self.exists(**id)) {
            return Err(SqlError::internal(format!("depends on {}, which is gone", missing.0)));
        }
        let mut next = self.clone();
        let mut changes = vec![durable::put_function(&function)?];
        next.move_past(vec![function.id], &mut changes)?;
        Arc::make_mut(&mut next.functions).insert(function.id, Arc::new(function));
        Ok((next, changes))
    }

    /// Whether a relation or a function has this OID.
    pub fn exists(&self, id: ObjectId) -> bool {
        self.objects.contains_key(&id) || self.functions.contains_key(&id)
    }

    /// What a relation or a function needs.
    pub fn needs(&self, id: ObjectId) -> &[ObjectId] {
        let relation = self.objects.get(&id).map(|object| object.depends_on.as_slice());
        let function = self.functions.get(&id).map(|function| function.depends_on.as_slice());
        relation.or(function).unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_lies_on_disk_like_this() {
        let catalog = Catalog::default();
        let function = Function {
            id: catalog.oids().next(),
            name: QualifiedName::new("public", "f"),
            parameters: vec![Parameter {
                name: Some("x".to_owned()),
                sql_type: SqlType::Integer,
                default: Some("1".to_owned()),
            }],
            returns: Returns::Table(vec![ReturnedColumn {
                name: "y".to_owned(),
                sql_type: SqlType::Text,
            }]),
            body: Body::Quoted("SELECT x::text".to_owned()),
            search_path: vec!["public".to_owned()],
            meaning: Meaning::default(),
            strict: true,
            volatility: Volatility::Immutable,
            depends_on: Vec::new(),
            owner: "weir".to_owned(),
        };
        let (next, changes) = catalog.with_function(function.clone()).unwrap();
        let (_, value) = &changes[0];
        expect_test::expect![[r#"
            {"format":1,"value":{"id":16384,"name":{"schema":"public","name":"f"},"parameters":[{"name":"x","sql_type":"Integer","default":"1"}],"returns":{"Table":[{"name":"y","sql_type":"Text"}]},"body":{"Quoted":"SELECT x::text"},"search_path":["public"],"strict":true,"volatility":"Immutable","depends_on":[],"owner":"weir"}}
        "#]]
        .assert_eq(&format!("{}\n", String::from_utf8(value.clone().unwrap()).unwrap()));
        let entries = changes.into_iter().filter_map(|(key, value)| Some((key, value?)));
        let loaded = Catalog::load(entries).unwrap();
        assert_eq!(loaded.function(function.id), next.function(function.id));
        assert!(loaded.oids().next() > function.id);
        expect_test::expect![[r#"
            CREATE OR REPLACE FUNCTION public.f(x integer DEFAULT 1)
             RETURNS TABLE(y text)
             LANGUAGE sql
             IMMUTABLE STRICT
            AS $function$SELECT x::text$function$
        "#]]
        .assert_eq(&function.definition());
    }
}
