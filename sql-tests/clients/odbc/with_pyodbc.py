"""pyodbc over Debian's psqlodbc: the catalogs' functions, parameters, cursors, types, sessions."""

import datetime
import decimal
import os
import uuid
from urllib.parse import urlsplit

import pyodbc

URL = urlsplit(os.environ["DATABASE_URL"])
HOST, PORT, USER, DATABASE = URL.hostname, URL.port, URL.username, URL.path[1:]


def text(error):
    """An error as a line: its class, SQLSTATE and first line."""
    message = str(error.args[1]).partition("\n")[0]
    return f"{type(error).__name__} {error.args[0]}: {message}"


def step(function):
    """Runs `function` at once and prints what it returns or raises."""
    try:
        print(function.__name__, function())
    except Exception as error:
        print(function.__name__, "FAILED", type(error).__name__, error)


def refused(call, *arguments):
    """The error that a call raises."""
    try:
        return call(*arguments)
    except pyodbc.Error as error:
        return text(error)


# docs: connect
connection = pyodbc.connect(
    f"Driver={{PostgreSQL Unicode}};Server={HOST};Port={PORT};Database={DATABASE};UID={USER}",
    autocommit=True,
)
cursor = connection.cursor()
cursor.executemany(
    "INSERT INTO payment VALUES (?, ?, ?)",
    [(1, "ada", decimal.Decimal("10.50")), (2, "bob", 3), (3, "ada", decimal.Decimal("-0.50"))],
)
# docs: end


def query(statement, *arguments):
    return [tuple(row) for row in cursor.execute(statement, *arguments).fetchall()]


@step
def view():
    return query("SELECT * FROM balance ORDER BY account")


@step
def described():
    cursor.execute("SELECT id, account, amount, amount > 1 AS large FROM payment WHERE false")
    return [(d[0], d[1].__name__, *d[3:]) for d in cursor.description]


@step
def types():
    return query(
        "SELECT true, 7::smallint, 7, 7::bigint, 1.5::real, 1.5::float8, 12.50::numeric(8,2),"
        " 'naïve'::varchar(10), 'text'::text, '\\x00ff'::bytea, date '2026-02-28',"
        " time '12:30:00', timestamp '2026-02-28 12:30:00.25',"
        " '12345678-1234-5678-1234-567812345678'::uuid, '{\"a\": 1}'::jsonb, '{1,2}'::int[],"
        " interval '3 days 4 seconds', NULL::int"
    )


@step
def parameters():
    cursor.execute(
        "CREATE TABLE kinds (b boolean, i int, l bigint, f float8, n numeric(8,2), s text,"
        " y bytea, d date, t time, ts timestamp, u uuid, x int)"
    )
    row = (
        True,
        -40_000,
        5_000_000_000,
        1.5,
        decimal.Decimal("12.50"),
        "it's naïve",
        b"\x00\xff",
        datetime.date(2026, 2, 28),
        datetime.time(12, 30),
        datetime.datetime(2026, 2, 28, 12, 30, 0, 250_000),
        uuid.UUID("12345678-1234-5678-1234-567812345678"),
        None,
    )
    cursor.execute(f"INSERT INTO kinds VALUES ({', '.join('?' * len(row))})", row)
    asked = "SELECT * FROM kinds WHERE l = ? AND s = ? AND d <= ? AND n > ?"
    return query(asked, row[2], row[5], row[7], decimal.Decimal("1.5"))


@step
def untyped_parameters():
    asked = "SELECT id FROM payment WHERE account = ? AND amount BETWEEN ? AND ?"
    return query(asked, "ada", 0, 20)


@step
def tables():
    names = "table_schem", "table_name"
    rows = cursor.tables(schema="public").fetchall()
    return sorted(tuple(getattr(row, name) for name in names) for row in rows)


@step
def columns():
    found = []
    for table in ["payment", "kinds"]:
        for row in cursor.columns(table=table, schema="public").fetchall():
            found.append((row.column_name, row.data_type, row.type_name, row.column_size,
                          row.decimal_digits, row.nullable, row.column_def, row.ordinal_position))
    return found


@step
def indexes():
    cursor.execute("CREATE INDEX by_account ON payment (account, amount)")
    rows = cursor.statistics("payment", schema="public").fetchall()
    return [(row.index_name, row.non_unique, row.column_name) for row in rows if row.index_name]


@step
def row_identifiers():
    return [tuple(row) for row in cursor.rowIdColumns("payment", schema="public").fetchall()]


@step
def foreign_keys():
    return cursor.foreignKeys(table="payment", schema="public").fetchall()


@step
def procedures():
    cursor.execute("CREATE FUNCTION twice(n int) RETURNS int LANGUAGE SQL AS 'SELECT 2 * n'")
    rows = cursor.procedures(schema="public").fetchall()
    return [(row.procedure_name, row.procedure_type) for row in rows]


@step
def type_infos():
    return sorted(row.type_name for row in cursor.getTypeInfo().fetchall())


@step
def information():
    asked = pyodbc.SQL_DBMS_NAME, pyodbc.SQL_IDENTIFIER_QUOTE_CHAR, pyodbc.SQL_SCHEMA_TERM
    return [connection.getinfo(what) for what in asked]


@step
def counts():
    updated = cursor.execute("UPDATE payment SET amount = amount + 1 WHERE account = ?", "ada")
    return updated.rowcount, query("SELECT total FROM balance WHERE account = ?", "ada")


@step
def returning():
    return query("INSERT INTO payment VALUES (?, ?, ?) RETURNING id, amount", 4, "eve", 2)


@step
def many():
    cursor.fast_executemany = True
    rows = [(n, "tim", decimal.Decimal(n) / 4) for n in range(100, 120)]
    cursor.executemany("INSERT INTO payment VALUES (?, ?, ?)", rows)
    cursor.fast_executemany = False
    return query("SELECT payments, total FROM balance WHERE account = 'tim'")


@step
def several_results():
    cursor.execute("SELECT 1; SELECT 'two'")
    first = cursor.fetchall()
    return first, cursor.nextset(), cursor.fetchall(), cursor.nextset()


@step
def transaction():
    connection.autocommit = False
    cursor.execute("INSERT INTO payment VALUES (20, 'kim', 1)")
    failed = refused(cursor.execute, "SELECT 1/0")
    connection.rollback()
    cursor.execute("INSERT INTO payment VALUES (21, 'kim', 1)")
    connection.commit()
    connection.autocommit = True
    return failed, query("SELECT id FROM payment WHERE account = 'kim'")


@step
def declared_cursors():
    # As Tableau and Power BI read: a cursor of the server's for each query.
    with pyodbc.connect(
        f"Driver={{PostgreSQL Unicode}};Server={HOST};Port={PORT};Database={DATABASE};UID={USER};"
        "UseDeclareFetch=1;Fetch=7",
        autocommit=True,
    ) as other:
        rows = other.execute("SELECT n FROM generate_series(1, 30) AS s(n)")
        one, some, rest = rows.fetchone()[0], len(rows.fetchmany(10)), len(rows.fetchall())
        again = other.execute("SELECT count(*) FROM payment WHERE id >= ?", 100).fetchval()
        return one, some, rest, again


@step
def errors():
    statements = [
        "SELECT * FROM nosuch",
        "SELEC 1",
        "SELECT nosuch FROM payment",
        "INSERT INTO payment VALUES (1, 'x', 1)",
        "SELECT 'x'::int",
    ]
    return [refused(cursor.execute, statement) for statement in statements]


@step
def cancelled():
    cursor.execute("SET statement_timeout = 100")
    slept = refused(cursor.execute, "SELECT pg_sleep(10)")
    cursor.execute("RESET statement_timeout")
    return slept
