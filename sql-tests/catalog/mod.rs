//! What clients ask of the system catalogs: Weir's answers are PostgreSQL's.
//!
//! Each `.sql` file here has a client's statements (`statement`), over the objects of `schema.sql`.
//! Every statement is asked of PostgreSQL and of Weir (`answer`); the columns' names and types, and
//! the rows, must be the same, but for OIDs (`names`): an OID counts as the name of what has it.
//! `differ.tsv` lists the statements that may differ, each with its reason; one that does not
//! differ any more has to leave it.
//!
//! | variable | |
//! |---|---|
//! | `WEIR_CATALOG_REPORT` | a file for what differs and how |
//! | `WEIR_CATALOG_DATAFUSION` | a file for what DataFusion alone makes of them (`alone`) |

mod alone;
mod answer;
mod names;
mod statement;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use sqllogictest::harness::Trial;

use crate::client::{self, execute};
use crate::harness::{self, say, trial};
use crate::postgres::Cluster;
use crate::server::Server;

use answer::{Answer, Asker};
use names::Names;
use statement::{Statement, statements};

/// What the superuser and the database are called on both.
const NAME: &str = "weir";

/// What the report says of a statement that takes longer.
const SLOW: Duration = Duration::from_millis(250);

/// Who owns the objects and asks. No schema is called so: it would be the first of the search path.
const OWNER: &str = "catalog_owner";

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![
        trial("catalogs/answers_are_postgresqls", answers_are_postgresqls),
        trial("catalogs/oids_stay", oids_stay),
    ];
    if std::env::var_os("WEIR_CATALOG_DATAFUSION").is_some() {
        trials.push(trial("catalogs/datafusion_alone", alone::datafusion_alone));
    }
    trials
}

fn schema() -> Result<String> {
    Ok(fs::read_to_string(harness::path("catalog/schema.sql"))?)
}

/// Both servers with the objects of `schema.sql`, ready to be asked.
struct Sides {
    postgres: Side,
    weir: Side,
    _cluster: Cluster,
    _server: Server,
}

impl Sides {
    /// Both have one database, one superuser, both of one name, and Weir's own schema.
    async fn new() -> Result<Self> {
        let server = Server::start(1).await?;
        let cluster = tokio::task::spawn_blocking(|| Cluster::start(NAME)).await??;
        let admin = client::connect(cluster.port, NAME, "template1").await?;
        execute(&admin, "CREATE DATABASE weir TEMPLATE template0").await?;
        execute(&admin, "DROP DATABASE postgres").await?;
        drop(admin);
        let postgres = client::connect(cluster.port, NAME, NAME).await?;
        execute(&postgres, "DROP EXTENSION plpgsql; COMMENT ON DATABASE weir IS NULL").await?;
        // Weir's belongs to the superuser: there is no role for the owner of a database.
        execute(&postgres, "ALTER SCHEMA public OWNER TO weir").await?;
        for template in ["template0", "template1"] {
            execute(&postgres, &format!("ALTER DATABASE {template} IS_TEMPLATE false")).await?;
            execute(&postgres, &format!("DROP DATABASE {template} WITH (FORCE)")).await?;
        }
        execute(&postgres, &weirs_schema(&server).await?).await?;
        Ok(Self {
            postgres: Side::new(cluster.port).await?,
            weir: Side::new(server.port).await?,
            _cluster: cluster,
            _server: server,
        })
    }
}

/// One of them.
struct Side {
    asker: Asker,
    names: Names,
}

impl Side {
    async fn new(port: u16) -> Result<Self> {
        let admin = client::connect(port, NAME, NAME).await?;
        execute(&admin, &format!("CREATE ROLE {OWNER} LOGIN SUPERUSER")).await?;
        let client = client::connect(port, OWNER, NAME).await?;
        execute(&client, &schema()?).await?;
        let names = Names::read(&client).await?;
        Ok(Self { asker: Asker::open(port, OWNER, NAME).await?, names })
    }

    async fn answer(&mut self, statement: &Statement) -> Result<Answer> {
        let statement = self.names.put_into(statement)?;
        Ok(self.names.take_out_of(self.asker.ask(&statement).await?))
    }
}

/// What makes PostgreSQL have Weir's own schema too, as views without rows.
async fn weirs_schema(server: &Server) -> Result<String> {
    let columns = "SELECT c.relname, string_agg('NULL::' || format_type(a.atttypid, a.atttypmod)
            || ' AS ' || quote_ident(a.attname), ', ' ORDER BY a.attnum)
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
        WHERE c.relnamespace = 'weir'::regnamespace GROUP BY c.oid, c.relname ORDER BY c.oid";
    let views = client::query(&server.connect().await?, columns).await?;
    let comment = "SELECT obj_description('weir'::regnamespace, 'pg_namespace')";
    let comment = client::value(&server.connect().await?, comment).await?;
    let mut text = format!(
        "CREATE SCHEMA weir; GRANT USAGE ON SCHEMA weir TO PUBLIC;
        COMMENT ON SCHEMA weir IS '{comment}';"
    );
    for view in views.rows {
        let [Some(name), Some(columns)] = view.as_slice() else { continue };
        writeln!(text, "CREATE VIEW weir.{name} AS SELECT {columns};")?;
    }
    Ok(text)
}

/// The reason for which each statement that may differ does, by file and label.
fn may_differ() -> Result<BTreeMap<String, String>> {
    let text = fs::read_to_string(harness::path("catalog/differ.tsv"))?;
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let (name, reason) = line.split_once('\t').context("name, tab, reason")?;
            Ok((name.to_owned(), reason.to_owned()))
        })
        .collect()
}

async fn answers_are_postgresqls() -> Result<()> {
    let mut sides = Sides::new().await?;
    let mut listed = may_differ()?;
    let (mut equal, mut differing, mut wrong) = (0, 0, Vec::new());
    let mut report = String::new();
    for statement in statements()? {
        let theirs = sides.postgres.answer(&statement).await?;
        let started = Instant::now();
        let ours = sides.weir.answer(&statement).await?;
        if started.elapsed() > SLOW {
            writeln!(report, "{} took {:?}\n", statement.name, started.elapsed())?;
        }
        let difference = theirs.difference(&ours);
        let reason = listed.remove(&statement.name);
        if let Some(difference) = &difference {
            writeln!(report, "{}\n{}\n{difference}\n", statement.name, statement.sql)?;
        }
        match (difference, reason) {
            (None, None) => equal += 1,
            (Some(_), Some(_)) => differing += 1,
            (None, Some(_)) => wrong.push(format!("{}: differs no more", statement.name)),
            (Some(difference), None) => wrong.push(format!("{}: {difference}", statement.name)),
        }
    }
    if let Ok(file) = std::env::var("WEIR_CATALOG_REPORT") {
        fs::write(file, report)?;
    }
    wrong.extend(listed.keys().map(|name| format!("{name}: listed, but not there")));
    let all = equal + differing + wrong.len();
    say(format!("catalogs: {equal} of {all} statements answered as by PostgreSQL"));
    ensure!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    ensure!(differing * 100 <= all, "{differing} of {all} may differ: more than one in a hundred");
    Ok(())
}

/// OIDs are kept: what a client remembers of them holds after a restart.
async fn oids_stay() -> Result<()> {
    const OIDS: &str = "
        SELECT 'class', c.oid::text, c.relname::text, c.reltype::text FROM pg_class c
        UNION ALL SELECT 'type', t.oid::text, t.typname::text, t.typarray::text FROM pg_type t
        UNION ALL SELECT 'proc', p.oid::text, p.proname::text, NULL FROM pg_proc p
        UNION ALL SELECT 'namespace', n.oid::text, n.nspname::text, NULL FROM pg_namespace n
        UNION ALL SELECT 'constraint', c.oid::text, c.conname::text, c.conindid::text
            FROM pg_constraint c
        UNION ALL SELECT 'default', d.oid::text, d.adrelid::text, d.adnum::text FROM pg_attrdef d
        UNION ALL SELECT 'rule', r.oid::text, r.ev_class::text, NULL FROM pg_rewrite r
        UNION ALL SELECT 'role', r.oid::text, r.rolname::text, NULL FROM pg_roles r";
    let mut server = Server::start(1).await?;
    execute(&server.connect().await?, &schema()?).await?;
    let before = client::query(&server.connect().await?, OIDS).await?;
    server.kill();
    server.restart().await?;
    execute(&server.connect().await?, "CREATE TABLE later (id int PRIMARY KEY)").await?;
    let after = client::query(&server.connect().await?, OIDS).await?;
    for row in &before.rows {
        ensure!(after.rows.contains(row), "{row:?} is not there after a restart");
    }
    for kind in ["class", "type", "proc", "namespace", "constraint", "default", "rule", "role"] {
        let mut oids: Vec<_> =
            after.rows.iter().filter(|row| row[0].as_deref() == Some(kind)).collect();
        let all = oids.len();
        oids.sort_by_key(|row| &row[1]);
        oids.dedup_by_key(|row| &row[1]);
        ensure!(all > 0 && oids.len() == all, "{kind}: {} OIDs for {all}", oids.len());
    }
    Ok(())
}
