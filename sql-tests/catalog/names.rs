//! What differs between two servers with the same objects, and does not count: which OIDs they
//! have, how much room on disk an object takes, which PostgreSQL 15 it is.

use std::collections::{HashMap, HashSet};

use anyhow::{Context, Result};
use regex::Regex;
use tokio_postgres::Client;

use super::answer::Answer;
use super::statement::Statement;
use crate::client;

/// From this OID on PostgreSQL gives them as they come.
const FIRST_GIVEN_OID: u32 = 12_000;

/// Every object that was given its OID, under a name that says what it is.
const OBJECTS: &str = "
    SELECT c.oid, 'class ' || n.nspname || '.' || c.relname, c.oid::regclass::text
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    UNION ALL
    SELECT t.oid, 'type ' || n.nspname || '.' || t.typname, t.oid::regtype::text || '::regtype'
        FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
    UNION ALL
    SELECT p.oid, 'function ' || n.nspname || '.' || p.proname,
            p.oid::regproc::text || '::regproc'
        FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
    UNION ALL
    SELECT oid, 'schema ' || nspname, quote_ident(nspname) || '::regnamespace' FROM pg_namespace
    UNION ALL SELECT oid, 'role ' || rolname, NULL FROM pg_roles
    UNION ALL SELECT oid, 'database ' || datname, NULL FROM pg_database
    UNION ALL
    SELECT c.oid, 'constraint ' || c.conname || ' of ' || coalesce(r.relname, '-'), NULL
        FROM pg_constraint c LEFT JOIN pg_class r ON r.oid = c.conrelid
    UNION ALL
    SELECT d.oid, 'default ' || d.adnum::text || ' of ' || n.nspname || '.' || r.relname, NULL
        FROM pg_attrdef d JOIN pg_class r ON r.oid = d.adrelid
        JOIN pg_namespace n ON n.oid = r.relnamespace
    UNION ALL SELECT d.oid, 'rule of ' || n.nspname || '.' || r.relname, NULL
        FROM pg_rewrite d JOIN pg_class r ON r.oid = d.ev_class
        JOIN pg_namespace n ON n.oid = r.relnamespace
    UNION ALL SELECT oid, 'collation ' || collname, NULL FROM pg_collation
    UNION ALL
    SELECT oid, 'configuration ' || cfgname, cfgname || '::regconfig' FROM pg_ts_config
    UNION ALL SELECT oid, 'dictionary ' || dictname, NULL FROM pg_ts_dict
    UNION ALL SELECT oid, 'template ' || tmplname, NULL FROM pg_ts_template
    UNION ALL SELECT oid, 'default privileges', NULL FROM pg_default_acl";

/// One server's.
pub(super) struct Names {
    by_oid: HashMap<u32, String>,
    /// By what a statement calls them.
    oids: HashMap<String, u32>,
    /// TOAST tables, some of which have OIDs of their own.
    toast: HashSet<String>,
    number: Regex,
    size: Regex,
    place: Regex,
}

impl Names {
    pub(super) async fn read(client: &Client) -> Result<Self> {
        let mut by_oid = HashMap::new();
        let mut oids = HashMap::new();
        let mut toast = HashSet::new();
        for row in client::query(client, OBJECTS).await?.rows {
            let [Some(oid), Some(name), called] = row.as_slice() else { continue };
            if name.starts_with("class pg_toast.") {
                toast.insert(oid.clone());
            }
            let oid: u32 = oid.parse()?;
            if oid >= FIRST_GIVEN_OID {
                by_oid.entry(oid).or_insert_with(|| format!("<{name}>"));
            }
            if let Some(called) = called {
                oids.entry(called.clone()).or_insert(oid);
            }
        }
        Ok(Self {
            by_oid,
            oids,
            toast,
            // Also in `2200_16385_1_not_null`.
            number: Regex::new(r"(?<before>^|[^0-9A-Za-z.])(?<number>[1-9][0-9]{4,9})")?,
            size: Regex::new(r"^[0-9]+ (bytes|kB|MB)$")?,
            place: Regex::new(r"@\{(.*?)\}")?,
        })
    }

    /// The statement with this server's OIDs and names in the places for them.
    pub(super) fn put_into(&self, statement: &Statement) -> Result<Statement> {
        let put = |text: &str| -> Result<String> {
            let mut result = String::new();
            let mut rest = 0;
            for found in self.place.captures_iter(text) {
                let (whole, name) = (found.get(0).context("a match")?, &found[1]);
                result += &text[rest..whole.start()];
                let oid = self.oids.get(name).with_context(|| format!("nothing is {name}"))?;
                result += &oid.to_string();
                rest = whole.end();
            }
            Ok(result + &text[rest..])
        };
        let parameters = statement
            .parameters
            .iter()
            .map(|(oid, text)| Ok((*oid, text.as_deref().map(put).transpose()?)));
        Ok(Statement {
            name: statement.name.clone(),
            sql: put(&statement.sql)?,
            parameters: parameters.collect::<Result<_>>()?,
        })
    }

    /// The answer with names instead, and without the rows of TOAST tables, which Weir has not.
    pub(super) fn take_out_of(&self, mut answer: Answer) -> Answer {
        for value in answer.rows.iter_mut().flatten().flatten() {
            let named = self.number.replace_all(value, |found: &regex::Captures<'_>| {
                let number = found["number"].parse().ok();
                match number.and_then(|number: u32| self.by_oid.get(&number)) {
                    Some(name) => format!("{}{name}", &found["before"]),
                    None => found[0].to_owned(),
                }
            });
            *value = self.size.replace(&named, "<size>").into_owned();
            if value.starts_with("PostgreSQL 15.") {
                *value = "PostgreSQL 15".to_owned();
            }
        }
        let column = answer.columns.iter().position(|(name, _)| name == "attrelid");
        let of_toast = |text: &str| text.contains("pg_toast.") || text.starts_with("pg_toast_");
        answer.rows.retain(|row| {
            let relation = column.and_then(|column| row[column].as_ref());
            !row.iter().flatten().any(|text| of_toast(text))
                && !relation.is_some_and(|oid| self.toast.contains(oid))
        });
        answer
    }
}
