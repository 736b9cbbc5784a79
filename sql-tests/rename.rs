//! Renames: nothing is built again at the next start, every view is what its query says, and what
//! is shown of a query says the same by the names of today.

use anyhow::{Result, ensure};
use sqllogictest::harness::Trial;

use crate::client::{execute, query, value};
use crate::harness::trial;
use crate::server::Server;

pub(crate) fn trials() -> Vec<Trial> {
    vec![trial("rename/nothing_is_built_again", nothing_is_built_again)]
}

const OBJECTS: &str = "
    CREATE SCHEMA s;
    CREATE TABLE s.t (id int PRIMARY KEY, a int, b text);
    CREATE TABLE u (a int, c int);
    CREATE TABLE target (n bigint);
    INSERT INTO s.t SELECT i, i % 10, chr(97 + i % 7) FROM generate_series(1, 500) AS g (i);
    INSERT INTO u SELECT i, i * 2 FROM generate_series(1, 8) AS g (i);
    CREATE UNIQUE INDEX by_id ON s.t (id, a);
    CREATE INDEX by_a ON s.t (a);
    CREATE VIEW evens AS SELECT * FROM s.t WHERE a % 2 = 0;
    CREATE FUNCTION most() RETURNS int LANGUAGE sql RETURN (SELECT max(a) FROM s.t);
    CREATE MATERIALIZED VIEW sums AS SELECT s.t.b, sum(a) AS sum, count(*) FROM s.t GROUP BY s.t.b;
    CREATE MATERIALIZED VIEW joined AS SELECT t.id, a, c FROM s.t JOIN u USING (a) WHERE c > 2;
    CREATE MATERIALIZED VIEW ranked AS SELECT id, rank() OVER (PARTITION BY b ORDER BY a) AS r FROM evens;
    CREATE MATERIALIZED VIEW nested AS SELECT x.b FROM s.t x
        WHERE EXISTS (SELECT FROM u WHERE u.a = x.a AND c > 3) AND x.a < most();
    CREATE MATERIALIZED VIEW above AS SELECT max(sum) AS top FROM sums;
    CREATE INDEX sums_b ON sums (b);
    CREATE SINK pour INTO target AS SELECT a + 1::bigint AS n FROM evens;";

const RENAMES: &str = "
    ALTER TABLE s.t RENAME TO old;
    CREATE TABLE s.t (id int, a int, b text);
    ALTER TABLE s.old RENAME a TO amount;
    ALTER TABLE s.old RENAME b TO \"the b\";
    ALTER TABLE u RENAME c TO factor;
    ALTER TABLE s.old SET SCHEMA public;
    ALTER VIEW evens RENAME COLUMN a TO even;
    ALTER VIEW evens RENAME TO even_ones;
    ALTER MATERIALIZED VIEW sums RENAME COLUMN sum TO total;
    ALTER MATERIALIZED VIEW sums RENAME COLUMN b TO \"B\";
    ALTER MATERIALIZED VIEW sums RENAME TO totals;
    ALTER MATERIALIZED VIEW totals SET SCHEMA s;
    ALTER SCHEMA s RENAME TO moved;
    ALTER TABLE target RENAME TO filled;
    ALTER SINK pour RENAME TO poured;
    ALTER INDEX by_a RENAME TO by_amount;";

/// The rows of all views, and those of their queries as they are shown.
const VIEWS: [&str; 6] = ["even_ones", "moved.totals", "joined", "ranked", "nested", "above"];

async fn nothing_is_built_again() -> Result<()> {
    let mut server = Server::start(2).await?;
    let client = server.connect().await?;
    execute(&client, OBJECTS).await?;
    execute(&client, RENAMES).await?;
    execute(&client, "INSERT INTO old VALUES (1001, 6, 'new')").await?;
    server.kill();
    server.restart().await?;
    for line in ["built again", "cannot be planned"] {
        let logged = server.logged(line);
        ensure!(logged.is_empty(), "{logged:?}");
    }
    let client = server.connect().await?;
    execute(&client, "INSERT INTO old VALUES (1002, 4, 'newer'); DELETE FROM old WHERE id < 9")
        .await?;
    execute(&client, "INSERT INTO moved.t VALUES (1, 4, 'other')").await?;
    for (number, view) in VIEWS.into_iter().enumerate() {
        let shown = value(&client, &format!("SELECT pg_get_viewdef('{view}'::regclass)")).await?;
        execute(&client, &format!("CREATE VIEW copy{number} AS {shown}")).await?;
        let columns = |view: &str| format!("SELECT * FROM {view} LIMIT 0");
        let (own, copied) = (columns(view), columns(&format!("copy{number}")));
        let (own, copied) = (query(&client, &own).await?, query(&client, &copied).await?);
        ensure!(own.names == copied.names, "{view}: {shown}");
        let differences = value(
            &client,
            &format!(
                "WITH one AS (SELECT * FROM {view}), other AS (SELECT * FROM copy{number}) \
                 SELECT count(*) FROM ((SELECT * FROM one EXCEPT ALL SELECT * FROM other) UNION ALL \
                 (SELECT * FROM other EXCEPT ALL SELECT * FROM one)) AS d"
            ),
        )
        .await?;
        ensure!(differences == "0", "{view} and what is shown of it: {shown}");
    }
    execute(&client, "FLUSH").await?;
    let poured = value(&client, "SELECT count(*) FROM filled").await?;
    let even = value(&client, "SELECT count(*) FROM even_ones").await?;
    ensure!(poured == even, "the sink has {poured} of {even} rows");
    server.stop().await?;
    server.check_views()?;
    Ok(())
}
