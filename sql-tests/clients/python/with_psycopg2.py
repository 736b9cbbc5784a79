"""psycopg2: queries, named cursors, COPY, execute_values, sessions."""

import datetime
import decimal
import io
import uuid

import psycopg2
import psycopg2.extras
from psycopg2 import sql

from steps import URL, refused, step

# docs: connect
connection = psycopg2.connect(URL)
connection.autocommit = True
cursor = connection.cursor()
psycopg2.extras.execute_values(
    cursor,
    "INSERT INTO payment VALUES %s",
    [(1, "ada", decimal.Decimal("10.50")), (2, "bob", 3), (3, "ada", decimal.Decimal("-0.50"))],
)
# docs: end
psycopg2.extras.register_uuid()


def query(statement, arguments=None):
    cursor.execute(statement, arguments)
    return cursor.fetchall()


@step
def view():
    return query("SELECT * FROM balance ORDER BY account")


@step
def values():
    return query(
        "SELECT %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s",
        (
            True,
            7,
            1.5,
            decimal.Decimal("12.50"),
            "it's",
            psycopg2.Binary(b"\x00\xff"),
            datetime.date(2026, 2, 28),
            datetime.datetime(2026, 2, 28, 12, 0, tzinfo=datetime.timezone.utc),
            datetime.timedelta(days=3, seconds=4),
            uuid.UUID("12345678-1234-5678-1234-567812345678"),
            psycopg2.extras.Json({"a": 1}),
            [1, 2],
        ),
    )[0][:5] + tuple(str(d.type_code) for d in cursor.description)


@step
def lists_and_records():
    return (
        query("SELECT id FROM payment WHERE id IN %s ORDER BY id", ((1, 3),)),
        query("SELECT id FROM payment WHERE id = ANY(%s) ORDER BY id", ([1, 3],)),
        query(sql.SQL("SELECT count({}) FROM {}").format(*map(sql.Identifier, ["id", "payment"]))),
    )


@step
def dictionaries():
    with connection.cursor(cursor_factory=psycopg2.extras.RealDictCursor) as rows:
        rows.execute("SELECT id, amount FROM payment ORDER BY id LIMIT 1")
        return dict(rows.fetchone())


@step
def named_cursor():
    connection.autocommit = False
    with connection.cursor("c") as rows:
        rows.itersize = 3
        rows.execute("SELECT n FROM generate_series(1, 10) AS s(n)")
        one, many, rest = rows.fetchone(), rows.fetchmany(2), [row[0] for row in rows]
    connection.commit()
    connection.autocommit = True
    return one, many, rest


@step
def held_cursor():
    with connection.cursor("h", withhold=True) as rows:
        rows.execute("SELECT n FROM generate_series(1, 4) AS s(n)")
        return rows.fetchall()


@step
def batches():
    psycopg2.extras.execute_batch(
        cursor, "INSERT INTO payment VALUES (%s, 'eve', %s)", [(n, n) for n in range(100, 110)]
    )
    return query("SELECT total FROM balance WHERE account = 'eve'")


@step
def copies():
    cursor.execute("CREATE TABLE copied (id int, s text)")
    cursor.copy_expert("COPY copied FROM STDIN WITH CSV HEADER", io.StringIO('id,s\n1,"a,b"\n2,\n'))
    cursor.copy_from(io.StringIO("3\tc\n4\t\\N\n"), "copied")
    out = io.StringIO()
    cursor.copy_expert("COPY (SELECT * FROM copied ORDER BY id) TO STDOUT WITH CSV HEADER", out)
    return cursor.rowcount, out.getvalue()


@step
def transaction():
    connection.autocommit = False
    cursor.execute("INSERT INTO payment VALUES (20, 'tim', 1)")
    failed = refused(cursor.execute, "SELECT 1/0")
    stuck = refused(cursor.execute, "SELECT 1")
    connection.rollback()
    connection.autocommit = True
    return failed, stuck, query("SELECT count(*) FROM payment WHERE id = 20")


@step
def sessions():
    connection.set_session(isolation_level="REPEATABLE READ", readonly=True)
    connection.autocommit = False
    shown = query("SHOW transaction_isolation"), query("SHOW transaction_read_only")
    refusal = refused(cursor.execute, "INSERT INTO payment VALUES (30, 'x', 1)")
    connection.reset()
    connection.autocommit = True
    return shown, refusal, query("SHOW transaction_isolation")


@step
def parameters():
    names = ["server_encoding", "client_encoding", "DateStyle", "TimeZone", "integer_datetimes"]
    return [connection.get_parameter_status(name) for name in names], connection.encoding


@step
def errors():
    statements = ["SELECT * FROM nosuch", "SELEC 1", "INSERT INTO payment VALUES (1, 'x', 1)"]
    return [refused(cursor.execute, statement) for statement in statements]
