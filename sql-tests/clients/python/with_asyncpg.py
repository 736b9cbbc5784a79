"""asyncpg: all binary, arrays, cursors, COPY, pools; its own query for types."""

import asyncio
import datetime
import decimal
import io
import json
import uuid

import asyncpg

from steps import URL, text

VALUES = {
    "boolean": True,
    "smallint": 7,
    "int": -40_000,
    "bigint": 5_000_000_000,
    "real": 0.5,
    "float8": 1.5,
    "numeric": decimal.Decimal("12345.6789"),
    "text": "naïve",
    "bytea": b"\x00\xff",
    "date": datetime.date(2026, 2, 28),
    "time": datetime.time(12, 34, 56, 789000),
    "timestamp": datetime.datetime(2026, 2, 28, 12, 0, 0, 5),
    "timestamptz": datetime.datetime(2026, 2, 28, 12, 0, tzinfo=datetime.timezone.utc),
    "interval": datetime.timedelta(days=3, seconds=4),
    "uuid": uuid.UUID("12345678-1234-5678-1234-567812345678"),
    "jsonb": '{"a": [1, null]}',
    "int[]": [1, 2, None],
    "text[]": ["a", "b,c"],
    "float8[]": [1.5],
    "timestamptz[]": [datetime.datetime(2026, 2, 28, tzinfo=datetime.timezone.utc)],
}


async def main():
    # docs: connect
    connection = await asyncpg.connect(URL)
    await connection.executemany(
        "INSERT INTO payment VALUES ($1, $2, $3)",
        [(1, "ada", decimal.Decimal("10.50")), (2, "bob", 3), (3, "ada", decimal.Decimal("-0.50"))],
    )
    # docs: end

    async def step(name, work):
        try:
            print(name, await work)
        except Exception as error:
            print(name, "FAILED", text(error))

    async def refused(work):
        try:
            return await work
        except Exception as error:
            return text(error)

    async def values():
        return [await connection.fetchval(f"SELECT $1::{t}", v) for t, v in VALUES.items()]

    async def through_a_table():
        columns = ", ".join(f"c{i} {t}" for i, t in enumerate(VALUES))
        marks = ", ".join(f"${i + 2}" for i in range(len(VALUES)))
        await connection.execute(f"CREATE TABLE every (k int PRIMARY KEY, {columns})")
        insert = await connection.prepare(f"INSERT INTO every VALUES ($1, {marks})")
        await insert.fetch(1, *VALUES.values())
        await insert.fetch(2, *[None] * len(VALUES))
        types = [p.name for p in insert.get_parameters()]
        return types, [tuple(r) for r in await connection.fetch("SELECT * FROM every ORDER BY k")]

    async def rows():
        row = await connection.fetchrow("SELECT id, account FROM payment WHERE id = $1", 1)
        return dict(row), await connection.fetchval("SELECT count(*) FROM payment")

    async def conditions():
        return (
            await connection.fetch("SELECT id FROM payment WHERE id = ANY($1) ORDER BY id", [1, 3]),
            await connection.fetch("SELECT id FROM payment ORDER BY id LIMIT $1 OFFSET $2", 1, 1),
            await connection.fetchval("SELECT array_agg(id ORDER BY id) FROM payment"),
            await connection.fetchval("SELECT count(*) FROM unnest($1::int[]) AS u", [1, 2]),
        )

    async def attributes():
        statement = await connection.prepare("SELECT id, amount, account FROM payment")
        return [(a.name, a.type.name, a.type.oid) for a in statement.get_attributes()]

    async def cursors():
        async with connection.transaction():
            cursor = await connection.cursor("SELECT n FROM generate_series(1, $1::int) s(n)", 20)
            first = await cursor.fetch(3), await cursor.forward(5), await cursor.fetchrow()
            looped = 0
            async for row in connection.cursor("SELECT generate_series(1, 200) AS n", prefetch=50):
                looped += row["n"]
        return first, looped

    async def transactions():
        try:
            async with connection.transaction(isolation="repeatable_read"):
                await connection.execute("INSERT INTO payment VALUES (20, 'tim', 1)")
                raise ZeroDivisionError
        except ZeroDivisionError:
            pass
        async with connection.transaction():
            inner = "none"
            try:
                async with connection.transaction():
                    await connection.fetch("SELECT 1/0")
            except asyncpg.DivisionByZeroError as error:
                inner = error.sqlstate
            kept = await connection.fetchval("SELECT count(*) FROM payment WHERE id = 20")
        return inner, kept

    async def copies():
        await connection.execute("CREATE TABLE copied (id int, s text, at timestamptz)")
        records = [(1, "a", VALUES["timestamptz"]), (2, None, None)]
        status = await connection.copy_records_to_table("copied", records=records)
        source = io.BytesIO(b"3,c,2026-01-01\n")
        csv = await connection.copy_to_table("copied", source=source, format="csv")
        out = io.BytesIO()
        await connection.copy_from_query(
            "SELECT * FROM copied WHERE id > $1 ORDER BY id", 1, output=out, format="csv"
        )
        return status, csv, out.getvalue()

    async def pools():
        async with asyncpg.create_pool(URL, min_size=2, max_size=2) as pool:
            for _ in range(3):
                async with pool.acquire() as one:
                    total = await one.fetchval("SELECT sum(payments) FROM balance")
            several = (pool.fetchval("SELECT $1::int", n) for n in range(4))
            return total, await asyncio.gather(*several)

    async def errors():
        return [
            await refused(connection.fetch(sql))
            for sql in ("SELECT * FROM nosuch", "SELEC 1", "INSERT INTO payment VALUES (1,'x',1)")
        ]

    async def timeouts():
        slow = await refused(connection.fetch("SELECT pg_sleep(10)", timeout=0.3))
        return slow, await connection.fetchval("SELECT 1")

    async def json_codec():
        await connection.set_type_codec(
            "jsonb", encoder=json.dumps, decoder=json.loads, schema="pg_catalog"
        )
        return await connection.fetchval("SELECT $1::jsonb", {"a": 1})

    async def prepared_many():
        await connection.executemany(
            "INSERT INTO payment VALUES ($1, 'eve', $2)", [(n, n) for n in range(100, 300)]
        )
        return await connection.fetchrow("SELECT * FROM balance WHERE account = 'eve'")

    async def introspected():
        sql = "SELECT oid, typname, typarray FROM pg_type WHERE oid = 23"
        record = await connection.fetchrow(sql)
        return tuple(record), await connection.fetchval("SELECT current_schemas(true)")

    await step("view", connection.fetch("SELECT * FROM balance ORDER BY account"))
    for work in (
        values, through_a_table, rows, conditions, attributes, cursors, transactions, copies,
        pools, errors, timeouts, json_codec, prepared_many, introspected,
    ):
        await step(work.__name__, work())
    await connection.reset()
    await connection.close()


asyncio.run(main())
