"""pg8000: pure Python, typed parameters, its native and its DB-API faces."""

import datetime
import decimal
import io
import uuid

import pg8000.dbapi
import pg8000.native

from steps import DATABASE, HOST, PORT, USER, step

# docs: connect
connection = pg8000.native.Connection(USER, host=HOST, port=PORT, database=DATABASE)
insert = connection.prepare("INSERT INTO payment VALUES (:id, :account, :amount)")
insert.run(id=1, account="ada", amount=decimal.Decimal("10.50"))
insert.run(id=2, account="bob", amount=3)
insert.run(id=3, account="ada", amount=decimal.Decimal("-0.50"))
# docs: end


def refused(call, *arguments, **named):
    try:
        return call(*arguments, **named)
    except pg8000.exceptions.DatabaseError as error:
        return error.args[0]["C"], error.args[0]["M"]


@step
def view():
    return connection.run("SELECT * FROM balance ORDER BY account"), connection.row_count


@step
def columns():
    connection.run("SELECT id, amount FROM payment LIMIT 1")
    return [(c["name"], c["type_oid"], c["type_size"]) for c in connection.columns]


@step
def values():
    row = connection.run(
        """SELECT CAST(:a AS boolean), CAST(:b AS bigint), CAST(:c AS float8),
           CAST(:d AS numeric(8,2)), CAST(:e AS text), CAST(:f AS bytea), CAST(:g AS date),
           CAST(:h AS timestamptz),
           CAST(:i AS interval), CAST(:j AS uuid), CAST(:k AS jsonb), CAST(:l AS int[])""",
        a=True,
        b=7,
        c=1.5,
        d=decimal.Decimal("12.50"),
        e="it's",
        f=b"\x00\xff",
        g=datetime.date(2026, 2, 28),
        h=datetime.datetime(2026, 2, 28, 12, 0, tzinfo=datetime.timezone.utc),
        i=datetime.timedelta(days=3, seconds=4),
        j=uuid.UUID("12345678-1234-5678-1234-567812345678"),
        k={"a": 1},
        l=[1, 2],
    )
    return row


@step
def copies():
    connection.run("CREATE TABLE copied (id int, s text)")
    connection.run("COPY copied FROM STDIN WITH (FORMAT csv)", stream=io.StringIO("1,a\n2,\n"))
    out = io.BytesIO()
    connection.run("COPY copied TO STDOUT", stream=out)
    return out.getvalue()


@step
def errors():
    return [
        refused(connection.run, sql)
        for sql in ("SELECT * FROM nosuch", "SELEC 1", "INSERT INTO payment VALUES (1,'x',1)")
    ]


@step
def dbapi():
    other = pg8000.dbapi.connect(user=USER, host=HOST, port=PORT, database=DATABASE)
    cursor = other.cursor()
    cursor.execute("INSERT INTO payment VALUES (%s, %s, %s)", (20, "tim", 1))
    cursor.execute("SELECT account FROM payment WHERE id = %s", (20,))
    before = cursor.fetchone()
    other.rollback()
    cursor.execute("SELECT count(*) FROM payment WHERE id = %s", (20,))
    after = cursor.fetchall()
    insert = "INSERT INTO payment VALUES (%s, 'eve', %s)"
    cursor.executemany(insert, [(n, n) for n in range(30, 33)])
    other.commit()
    cursor.execute("SELECT id, total FROM payment JOIN balance USING (account) WHERE id > 29")
    many = cursor.fetchmany(2), cursor.fetchall()
    other.close()
    return before, after, many
