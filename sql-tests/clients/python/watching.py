"""psycopg 3 watches a view of Weir: rows as they come, by stream(), by a cursor, by COPY."""

import psycopg

from steps import URL, step

writer = psycopg.connect(URL, autocommit=True)
writer.execute("CREATE TABLE seen (k int PRIMARY KEY, v text)")
writer.execute("INSERT INTO seen VALUES (1, 'one')")


@step
def stream():
    connection = psycopg.connect(URL, autocommit=True)
    rows = connection.cursor().stream("SUBSCRIBE TO seen")
    first = next(rows)
    writer.execute("UPDATE seen SET v = 'uno'")
    changes = sorted([next(rows), next(rows)], key=lambda row: row[1])
    assert changes[0][0] == changes[1][0] > first[0]
    connection.cancel()
    try:
        next(rows)
    except psycopg.errors.QueryCanceled as error:
        return [row[1:] for row in [first, *changes]], error.sqlstate


@step
def cursor():
    with psycopg.connect(URL) as connection, connection.cursor() as cursor:
        cursor.execute("DECLARE c CURSOR FOR SUBSCRIBE TO seen WITH (SNAPSHOT = false)")
        writer.execute("INSERT INTO seen VALUES (2, 'two')")
        return cursor.execute("FETCH ALL c WITH (timeout = '1s')").fetchall()[0][1:]


@step
def copy():
    connection = psycopg.connect(URL, autocommit=True)
    with connection.cursor().copy("COPY (SUBSCRIBE TO seen) TO STDOUT") as copy:
        rows = copy.rows()
        first = sorted([next(rows)[1:], next(rows)[1:]])
        writer.execute("DELETE FROM seen WHERE k = 1")
        gone = next(rows)[1:]
        connection.cancel()
        try:
            next(rows)
        except psycopg.errors.QueryCanceled:
            return first, gone
