"""psycopg 3: queries, prepared statements, pipelines, cursors, COPY, binary results."""

import datetime
import decimal
import threading
import uuid

import psycopg
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb
from psycopg_pool import ConnectionPool

from steps import URL, refused, step

# docs: connect
connection = psycopg.connect(URL, autocommit=True)
with connection.cursor() as cursor:
    cursor.executemany(
        "INSERT INTO payment VALUES (%s, %s, %s)",
        [(1, "ada", decimal.Decimal("10.50")), (2, "bob", 3), (3, "ada", decimal.Decimal("-0.50"))],
    )
# docs: end

VALUES = [
    True,
    7,
    -40_000,
    5_000_000_000,
    1.5,
    decimal.Decimal("12345.6789"),
    "naïve",
    b"\x00\xff",
    datetime.date(2026, 2, 28),
    datetime.time(12, 34, 56, 789000),
    datetime.datetime(2026, 2, 28, 12, 0, 0, 5),
    datetime.datetime(2026, 2, 28, 12, 0, tzinfo=datetime.timezone.utc),
    datetime.timedelta(days=3, seconds=4),
    uuid.UUID("12345678-1234-5678-1234-567812345678"),
    Jsonb({"a": [1, None]}),
    [1, 2, None],
    ["a", "b,c"],
]
CASTS = """boolean int bigint bigint float8 numeric text bytea date time timestamp timestamptz
    interval uuid jsonb int[] text[]""".split()


def query(sql, *arguments, binary=False, **options):
    return connection.execute(sql, *arguments, binary=binary, **options).fetchall()


@step
def view():
    return query("SELECT * FROM balance ORDER BY account")


@step
def values_in_text_and_binary():
    out = []
    for binary in (False, True):
        for value, cast in zip(VALUES, CASTS):
            out.append(query(f"SELECT %s::{cast} AS v", [value], binary=binary)[0][0])
    return out


@step
def values_through_a_table():
    columns = ", ".join(f"c{i} {cast}" for i, cast in enumerate(CASTS))
    connection.execute(f"CREATE TABLE every (k int PRIMARY KEY, {columns})")
    marks = ", ".join(["%s"] * (len(VALUES) + 1))
    connection.execute(f"INSERT INTO every VALUES ({marks})", [1, *VALUES])
    connection.execute(f"INSERT INTO every VALUES ({marks})", [2, *([None] * len(VALUES))])
    both = [query("SELECT * FROM every ORDER BY k", binary=binary) for binary in (False, True)]
    return both[0] == both[1], both[0]


@step
def rows_as_dicts_and_columns():
    with connection.cursor(row_factory=dict_row) as cursor:
        cursor.execute("SELECT id, amount, account FROM payment WHERE id = %s", [1])
        row = cursor.fetchone()
        shapes = [(c.name, c.type_code, c.precision, c.scale) for c in cursor.description]
    return row, shapes


@step
def prepared():
    # From the fifth time on by a named statement.
    return [query("SELECT amount FROM payment WHERE id = %s", [n % 4]) for n in range(12)]


@step
def conditions():
    return (
        query("SELECT id FROM payment WHERE id = ANY(%s) ORDER BY id", [[1, 3]]),
        query("SELECT id FROM payment WHERE amount > %s ORDER BY id LIMIT %s", [1, 1]),
        query("SELECT %s::text || 'x', %s", ["a", "b"]),
        query("SELECT count(*) FROM payment WHERE account LIKE %s", ["a%"]),
    )


@step
def returning():
    sql = "INSERT INTO payment VALUES (%s, %s, %s) RETURNING id, amount"
    with connection.cursor() as cursor:
        cursor.executemany(sql, [(10, "eve", 1), (11, "eve", 2)], returning=True)
        first = cursor.fetchall()
        cursor.nextset()
        return first, cursor.fetchall(), cursor.statusmessage


@step
def transactions():
    with connection.transaction():
        connection.execute("INSERT INTO payment VALUES (20, 'tim', 1)")
        status = connection.info.transaction_status.name
        inner = refused(connection.execute, "SELECT 1/0")
        stuck = refused(connection.execute, "SELECT 1")
        raise psycopg.Rollback
    return status, inner, stuck, query("SELECT count(*) FROM payment WHERE id = 20")


@step
def savepoints():
    with connection.transaction():
        try:
            with connection.transaction():
                connection.execute("SELECT 1/0")
        except psycopg.errors.DivisionByZero as error:
            caught = error.sqlstate
        return caught, query("SELECT 1")


@step
def pipeline():
    with connection.pipeline() as pipe:
        cursors = [connection.execute("SELECT %s::int", [n]) for n in range(5)]
        pipe.sync()
        good = [cursor.fetchone()[0] for cursor in cursors]
    with connection.pipeline():
        failed = connection.execute("SELECT 1/%s", [0])
        bad = refused(failed.fetchone)
    return good, bad, query("SELECT 1")


@step
def server_cursors():
    out = []
    with connection.transaction():
        with connection.cursor("c") as cursor:
            cursor.execute("SELECT n FROM generate_series(1, %s) AS s(n)", [10])
            out += [cursor.fetchone(), cursor.fetchmany(3), cursor.description[0].name]
            out += [len(cursor.fetchall())]
        with connection.cursor("b", binary=True) as cursor:
            cursor.itersize = 4
            cursor.execute("SELECT n::bigint FROM generate_series(1, 10) AS s(n)")
            out += [sum(row[0] for row in cursor)]
    return out


@step
def streams():
    with connection.cursor() as cursor:
        return sum(row[0] for row in cursor.stream("SELECT generate_series(1, %s)", [1000]))


def fail_copy(cursor):
    with cursor.copy("COPY copied FROM STDIN") as copy:
        copy.write("x\ty\tz\tw\n")


@step
def copies():
    connection.execute("CREATE TABLE copied (id int, s text, d date, n numeric)")
    rows = [(1, "a\tb", datetime.date(2026, 1, 1), decimal.Decimal("1.5")), (2, None, None, None)]
    with connection.cursor() as cursor:
        with cursor.copy("COPY copied FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
        with cursor.copy("COPY copied FROM STDIN (FORMAT binary)") as copy:
            copy.set_types(["int4", "text", "date", "numeric"])
            for row in rows:
                copy.write_row(row)
        with cursor.copy("COPY (SELECT * FROM copied ORDER BY id) TO STDOUT") as copy:
            raw = [bytes(line) for line in copy]
        with cursor.copy("COPY copied TO STDOUT (FORMAT binary)") as copy:
            copy.set_types(["int4", "text", "date", "numeric"])
            typed = sorted(copy.rows())
        bad = refused(lambda: fail_copy(cursor))
    return raw, typed, bad


@step
def errors():
    def fields(sql):
        try:
            connection.execute(sql)
        except psycopg.Error as error:
            d = error.diag
            return type(error).__name__, d.sqlstate, d.message_primary, d.statement_position

    return [
        fields("SELECT * FROM nosuch"),
        fields("SELECT nosuch FROM payment"),
        fields("SELEC 1"),
        fields("INSERT INTO payment VALUES (1, 'x', 1)"),
        fields("SELECT nosuch(1)"),
        fields(""),
    ]


@step
def settings():
    with psycopg.connect(URL, options="-c statement_timeout=50 -c search_path=public") as other:
        shown = other.execute("SHOW statement_timeout").fetchone()
        slow = refused(other.execute, "SELECT pg_sleep(5)")
        other.rollback()
        isolation = other.execute("SHOW transaction_isolation").fetchone()
        other.rollback()
        other.read_only = True
        write = refused(other.execute, "INSERT INTO payment VALUES (30, 'x', 1)")
    return shown, slow, isolation, write


@step
def notices():
    said = []
    connection.add_notice_handler(lambda diag: said.append((diag.severity, diag.message_primary)))
    connection.execute("DROP TABLE IF EXISTS nosuch")
    return said


@step
def pool():
    with ConnectionPool(URL, min_size=2, max_size=3) as pool:
        with pool.connection() as one, pool.connection() as two:
            return [c.execute("SELECT count(*) FROM balance").fetchone() for c in (one, two)]


@step
def cancels():
    threading.Timer(0.2, connection.cancel).start()
    return refused(connection.execute, "SELECT pg_sleep(10)")
