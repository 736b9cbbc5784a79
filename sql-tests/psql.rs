//! psql's own commands, which read the catalogs: they end well and show what is there.

use std::process::{Command, Output};

use anyhow::{Result, ensure};
use sqllogictest::harness::Trial;

use crate::client::execute;
use crate::harness::trial;
use crate::server::Server;

const OBJECTS: &str = "
    CREATE TABLE parts (id int PRIMARY KEY, name text NOT NULL DEFAULT 'none', price numeric(8,2));
    CREATE MATERIALIZED VIEW parts_by_name AS SELECT name, count(*) AS n FROM parts GROUP BY name;
    CREATE VIEW cheap AS SELECT id, name FROM parts WHERE price < 1;
    CREATE INDEX ON parts (name DESC, price) INCLUDE (id);
    CREATE INDEX often ON parts_by_name (n);
    CREATE SCHEMA store;
    CREATE TABLE store.shelves (id bigint, wide boolean);
    CREATE TABLE boxes (w int, h int, area int GENERATED ALWAYS AS (w * h) STORED);
    CREATE FUNCTION gross(price numeric, rate numeric DEFAULT 0.19) RETURNS numeric LANGUAGE SQL
        IMMUTABLE AS 'SELECT price * (1 + rate)';
    CREATE ROLE reader;
    GRANT SELECT ON parts TO reader;
    ALTER DEFAULT PRIVILEGES IN SCHEMA store GRANT SELECT ON TABLES TO reader;
    CREATE TABLE numbered (id serial PRIMARY KEY, at bigint GENERATED ALWAYS AS IDENTITY, v int);
    CREATE SEQUENCE odd AS smallint INCREMENT BY 2 CACHE 5 CYCLE;
    CREATE TABLE keyed (a int, b text);
    ALTER TABLE keyed ADD PRIMARY KEY (a), ADD CONSTRAINT one_b UNIQUE (b);
    CREATE FUNCTION store.many(n int) RETURNS TABLE (m int) LANGUAGE SQL AS 'SELECT n';";

/// A command, and the words that it shows in this order.
const COMMANDS: &[(&str, &[&str])] = &[
    (r"\d", &["public", "cheap", "view", "parts", "table", "parts_by_name", "materialized view"]),
    (
        r"\d parts",
        &[
            "Table \"public.parts\"",
            "id",
            "integer",
            "not null",
            "name",
            "text",
            "not null",
            "'none'",
            "price",
            "numeric(8,2)",
            "Indexes:",
            "\"parts_pkey\" PRIMARY KEY, btree (id)",
            "\"parts_name_price_id_idx\" btree (name DESC, price) INCLUDE (id)",
        ],
    ),
    (r"\d+ parts", &["Table \"public.parts\"", "price", "numeric(8,2)"]),
    (
        r"\d parts_by_name",
        &[
            "Materialized view \"public.parts_by_name\"",
            "name",
            "n",
            "bigint",
            "Indexes:",
            "\"often\" btree (n)",
        ],
    ),
    (
        r"\d often",
        &["Index \"public.often\"", "n", "bigint", "btree, for table \"public.parts_by_"],
    ),
    (r"\d cheap", &["View \"public.cheap\"", "id", "integer", "name", "text"]),
    (r"\d+ cheap", &["View \"public.cheap\"", "View definition:", "price"]),
    (r"\d store.shelves", &["Table \"store.shelves\"", "id", "bigint", "wide", "boolean"]),
    (r"\dt", &["public", "parts", "table"]),
    (r"\dt store.*", &["store", "shelves", "table"]),
    (r"\dm", &["public", "parts_by_name", "materialized view"]),
    (r"\dv", &["public", "cheap", "view"]),
    (r"\di", &["public", "often", "index", "parts_by_name", "parts_pkey", "index", "parts"]),
    (r"\dn", &["public", "store"]),
    (
        r"\d numbered",
        &[
            "Table \"public.numbered\"",
            "id     | integer |           | not null | nextval('numbered_id_seq'::regclass)",
            "at     | bigint  |           | not null | generated always as identity",
            "\"numbered_pkey\" PRIMARY KEY, btree (id)",
        ],
    ),
    (
        r"\d numbered_id_seq",
        &[
            "Sequence \"public.numbered_id_seq\"",
            "Type",
            "Start",
            "Minimum",
            "Maximum",
            "Increment",
            "Cycles?",
            "Cache",
            "integer |     1 |       1 | 2147483647 |         1 | no      |     1",
            "Owned by: public.numbered.id",
        ],
    ),
    (r"\d numbered_at_seq", &["Sequence for identity column: public.numbered.at"]),
    (r"\d odd", &["smallint |     1 |       1 |   32767 |         2 | yes     |     5"]),
    (
        r"\ds",
        &["public", "numbered_at_seq", "sequence", "weir", "numbered_id_seq", "odd", "sequence"],
    ),
    (
        r"\d keyed",
        &[
            "a      | integer |           | not null |",
            "Indexes:",
            "\"keyed_pkey\" PRIMARY KEY, btree (a)",
            "\"one_b\" UNIQUE CONSTRAINT, btree (b)",
        ],
    ),
    (r"\d boxes", &["area", "integer", "generated always as (w * h) stored"]),
    (
        r"\df",
        &["List of functions", "public", "gross", "numeric", "rate numeric DEFAULT 0.19", "func"],
    ),
    (r"\df store.*", &["store", "many", "TABLE(m integer)", "n integer", "func"]),
    (r"\df+ gross", &["gross", "immutable", "sql", "SELECT price * (1 + rate)"]),
    (r"\sf gross", &["CREATE OR REPLACE FUNCTION public.gross", "AS $function$SELECT price"]),
    (r"\l", &["List of databases", "weir"]),
    (r"\du", &["List of roles", "weir", "Superuser, Create role, Create DB"]),
    (r"\dp parts", &["Access privileges", "public", "parts", "table", "reader=r/weir"]),
    (r"\dn+", &["public", "weir=UC/weir", "=U/weir"]),
    (r"\ddp", &["Default access privileges", "weir", "store", "table", "reader=r/weir"]),
    (r"\conninfo", &["database \"weir\"", "user \"weir\""]),
];

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("psql/describes_objects", describes_objects),
        trial("psql/unknown_relation_is_named", unknown_relation_is_named),
        trial("psql/copies_out_and_in", copies_out_and_in),
    ]
}

/// psql over `server`, saying `commands` one after the other.
pub(crate) fn psql(server: &Server, commands: &[&str]) -> Command {
    let mut command = Command::new("psql");
    command.args(["-X", "-h", "127.0.0.1", "-U", "weir", "-d", "weir"]);
    command.arg("-p").arg(server.port.to_string()).args(["-v", "ON_ERROR_STOP=1"]);
    for said in commands {
        command.arg("-c").arg(said);
    }
    command.env("PGCONNECT_TIMEOUT", "10").env("LC_ALL", "C.UTF-8");
    command
}

fn text(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!("{}{}", String::from_utf8_lossy(out), String::from_utf8_lossy(err))
}

async fn describes_objects() -> Result<()> {
    let server = Server::start(1).await?;
    execute(&server.connect().await?, OBJECTS).await?;
    let mut wrong = Vec::new();
    for (command, words) in COMMANDS {
        let output = psql(&server, &[command]).output()?;
        let shown = text(&output);
        let mut rest = shown.as_str();
        let missing = words.iter().find(|word| match rest.split_once(**word) {
            Some((_, after)) => {
                rest = after;
                false
            }
            None => true,
        });
        if !output.status.success() || shown.contains("ERROR") || missing.is_some() {
            wrong.push(format!("{command}: {}, lacks {missing:?} in\n{shown}", output.status));
        }
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

async fn unknown_relation_is_named() -> Result<()> {
    let server = Server::start(1).await?;
    let shown = text(&psql(&server, &[r"\d nosuch"]).output()?);
    ensure!(shown.contains("Did not find any relation named \"nosuch\"."), "{shown}");
    let output = psql(&server, &["SELECT nosuch\nFROM (VALUES (1)) AS t (a)"]).output()?;
    let shown = text(&output);
    ensure!(output.status.code() == Some(1), "{}: {shown}", output.status);
    ensure!(shown.contains("ERROR:  column \"nosuch\" does not exist"), "{shown}");
    ensure!(shown.contains("LINE 1: SELECT nosuch\n               ^"), "{shown}");
    Ok(())
}

async fn copies_out_and_in() -> Result<()> {
    let server = Server::start(1).await?;
    let client = server.connect().await?;
    execute(
        &client,
        "CREATE TABLE t (id int PRIMARY KEY, s text); CREATE TABLE u (id int, s text)",
    )
    .await?;
    let rows = r#"INSERT INTO t VALUES (1, 'plain'), (2, NULL),
        (3, E'tab\there, "quote"\nline'), (4, '\N'), (5, '')"#;
    execute(&client, rows).await?;
    let folder = tempfile::tempdir()?;
    for options in
        ["", "(FORMAT csv, HEADER)", "(FORMAT csv, NULL 'nil', DELIMITER ';')", "(FORMAT binary)"]
    {
        let file = folder.path().join("rows");
        let with = if options.is_empty() { String::new() } else { format!(" WITH {options}") };
        let out = format!(r"\copy (SELECT * FROM t ORDER BY id) TO '{}'{with}", file.display());
        let back = format!(r"\copy u FROM '{}'{with}", file.display());
        let output = psql(&server, &["DELETE FROM u", &out, &back]).output()?;
        ensure!(output.status.success(), "{options}: {}", text(&output));
        ensure!(text(&output).matches("COPY 5").count() == 2, "{options}: {}", text(&output));
        let same = "SELECT count(*) FROM t JOIN u ON t.id = u.id AND t.s IS NOT DISTINCT FROM u.s";
        let count = crate::client::value(&client, same).await?;
        ensure!(count == "5", "{options}: {count} of 5 rows came back as they went");
    }
    Ok(())
}
