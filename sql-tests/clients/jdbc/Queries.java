// pgjdbc: values, server-side prepared statements, fetch sizes, batches, generated keys, timeouts.

import java.io.*;
import java.math.BigDecimal;
import java.net.URI;
import java.sql.*;
import java.time.*;
import java.util.*;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;

public class Queries {
    // postgres://user@host:port/database as JDBC writes it.
    static String url() {
        URI url = URI.create(System.getenv("DATABASE_URL"));
        return "jdbc:postgresql://" + url.getAuthority().split("@")[1] + url.getPath()
            + "?user=" + url.getUserInfo();
    }

    interface Work { Object run() throws Exception; }

    static void step(String name, Work work) {
        try {
            System.out.println(name + " " + work.run());
        } catch (SQLException error) {
            System.out.println(name + " FAILED " + text(error));
        } catch (Exception error) {
            System.out.println(name + " FAILED " + error);
        }
    }

    static String text(SQLException error) {
        return error.getSQLState() + " " + error.getMessage().lines().findFirst().orElse("");
    }

    static String refused(Work work) throws Exception {
        try {
            return String.valueOf(work.run());
        } catch (SQLException error) {
            return text(error);
        }
    }

    static List<String> rows(ResultSet result) throws SQLException {
        List<String> rows = new ArrayList<>();
        int columns = result.getMetaData().getColumnCount();
        while (result.next()) {
            StringJoiner row = new StringJoiner(", ");
            for (int i = 1; i <= columns; i++) row.add(String.valueOf(result.getObject(i)));
            rows.add(row.toString());
        }
        result.close();
        return rows;
    }

    static Connection connection;

    static List<String> query(String sql, Object... values) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < values.length; i++) statement.setObject(i + 1, values[i]);
            return rows(statement.executeQuery());
        }
    }

    public static void main(String[] arguments) throws Exception {
        TimeZone.setDefault(TimeZone.getTimeZone("UTC"));
        // docs: connect
        connection = DriverManager.getConnection(url());
        try (PreparedStatement insert =
                connection.prepareStatement("INSERT INTO payment VALUES (?, ?, ?)")) {
            Object[][] payments = {{1L, "ada", "10.50"}, {2L, "bob", "3"}, {3L, "ada", "-0.50"}};
            for (Object[] payment : payments) {
                insert.setLong(1, (Long) payment[0]);
                insert.setString(2, (String) payment[1]);
                insert.setBigDecimal(3, new BigDecimal((String) payment[2]));
                insert.addBatch();
            }
            insert.executeBatch();
        }
        // docs: end
        run();
        connection.close();
    }

    static void run() {
        step("view", () -> query("SELECT * FROM balance ORDER BY account"));
        step("values", () -> {
            List<String> out = new ArrayList<>();
            for (int round = 0; round < 8; round++) {
                out = query(
                    """
                    SELECT ?::int, ?::bigint, ?::numeric(8,2), ?::float8, ?::text, ?::boolean,
                        ?::date, ?::timestamp, ?::timestamptz, ?::time, ?::uuid, ?::smallint,
                        ?::real, ?::text""",
                    1, 5_000_000_000L, new BigDecimal("1.50"), 1.5, "it's", true,
                    LocalDate.of(2026, 2, 28), LocalDateTime.of(2026, 2, 28, 12, 0, 0, 5000),
                    OffsetDateTime.of(2026, 2, 28, 12, 0, 0, 0, ZoneOffset.UTC),
                    LocalTime.of(12, 34, 56),
                    UUID.fromString("12345678-1234-5678-1234-567812345678"), (short) 7, 0.5f, null);
            }
            return out;
        });
        step("binaryValues", () -> {
            List<String> out = new ArrayList<>();
            try (PreparedStatement statement = connection.prepareStatement(
                    """
                    SELECT 1::smallint, 2::int, 3::bigint, 1.5::real, 2.5::float8,
                        12.34::numeric(8,2), '2026-02-28'::date, '12:34:56.789'::time,
                        '2026-02-28 12:00:00.5'::timestamp,
                        '2026-02-28 12:00:00+00'::timestamptz, '\\x00ff'::bytea, true,
                        'x'::varchar, '{1,2,NULL}'::int[], '{a,b}'::text[],
                        '3 days 04:00'::interval, '{"a": 1}'::jsonb,
                        '12345678-1234-5678-1234-567812345678'::uuid""")) {
                for (int round = 0; round < 8; round++) {
                    ResultSet result = statement.executeQuery();
                    result.next();
                    out.clear();
                    // pgjdbc shows bytes in binary as an object.
                    for (int i = 1; i <= 18; i++) if (i != 11) out.add(result.getString(i));
                    out.add(result.getObject(10, OffsetDateTime.class).toString());
                    out.add(result.getArray(14).toString());
                    out.add(Arrays.toString((Object[]) result.getArray(15).getArray()));
                    out.add(Arrays.toString(result.getBytes(11)));
                    out.add(result.getTimestamp(9).toString() + result.getDate(7));
                    out.add(result.getTime(8).toString());
                }
            }
            return out;
        });
        step("oldDates", () -> {
            try (PreparedStatement statement = connection.prepareStatement(
                    "SELECT ? > timestamptz '2026-01-01', ?::date, ?::time, ?::timestamp")) {
                statement.setTimestamp(1, Timestamp.valueOf("2026-02-28 12:00:00"));
                statement.setDate(2, java.sql.Date.valueOf("2026-02-28"));
                statement.setTime(3, Time.valueOf("12:34:56"));
                statement.setTimestamp(4, Timestamp.valueOf("2026-02-28 12:00:00"));
                return rows(statement.executeQuery());
            }
        });
        step("table", () -> {
            try (Statement statement = connection.createStatement()) {
                statement.execute("""
                    CREATE TABLE every (id int PRIMARY KEY, at timestamptz, about jsonb,
                        tags text[], raw bytea, price numeric(8,2))""");
            }
            try (PreparedStatement insert = connection.prepareStatement(
                    "INSERT INTO every VALUES (?, ?, ?::jsonb, ?, ?, ?)")) {
                for (int id = 0; id < 7; id++) {
                    insert.setInt(1, id);
                    insert.setTimestamp(2, new Timestamp(id * 1000L));
                    insert.setString(3, "{\"k\": " + id + "}");
                    insert.setArray(4, connection.createArrayOf("text", new String[] {"a", "b,c"}));
                    insert.setBytes(5, new byte[] {(byte) id});
                    insert.setBigDecimal(6, new BigDecimal(id));
                    insert.executeUpdate();
                }
                insert.setInt(1, 99);
                for (int i = 2; i <= 6; i++) insert.setNull(i, Types.NULL);
                insert.executeUpdate();
            }
            return query("SELECT id, at, about, tags, price FROM every WHERE id > 4 ORDER BY id");
        });
        step("conditions", () -> List.of(
            query("SELECT id FROM payment WHERE id = ? AND account = ? AND amount > ?",
                1, "ada", 1.5),
            query("SELECT id FROM payment WHERE id IN (?, ?) ORDER BY id LIMIT ? OFFSET ?",
                1, 3, 1, 1),
            query("SELECT count(*) FROM payment WHERE account LIKE ?", "a%"),
            query("SELECT id FROM payment WHERE id = ANY (?) ORDER BY id",
                connection.createArrayOf("bigint", new Long[] {1L, 3L})),
            query("SELECT ? || 'x', coalesce(?, 'none')", "a", null)));
        step("fetchSize", () -> {
            connection.setAutoCommit(false);
            int seen = 0;
            try (PreparedStatement statement =
                    connection.prepareStatement("SELECT n FROM generate_series(1, ?) AS s(n)")) {
                statement.setFetchSize(3);
                statement.setInt(1, 10);
                ResultSet result = statement.executeQuery();
                while (result.next()) seen += result.getInt(1);
            }
            connection.commit();
            connection.setAutoCommit(true);
            return seen;
        });
        step("maxRows", () -> {
            try (Statement statement = connection.createStatement()) {
                statement.setMaxRows(2);
                String ten = "SELECT generate_series(1, 10)";
                int two = rows(statement.executeQuery(ten)).size();
                statement.setMaxRows(Integer.MAX_VALUE);
                return two + " " + rows(statement.executeQuery(ten)).size();
            }
        });
        step("scrollable", () -> {
            try (Statement statement = connection.createStatement(
                    ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_READ_ONLY)) {
                ResultSet result = statement.executeQuery("SELECT id FROM payment ORDER BY id");
                result.last();
                int count = result.getRow();
                result.first();
                return count + " " + result.getLong(1);
            }
        });
        step("updatable", () -> {
            try (Statement statement = connection.createStatement(
                    ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_UPDATABLE)) {
                ResultSet result =
                    statement.executeQuery("SELECT id, account FROM payment WHERE id = 2");
                result.next();
                result.updateString("account", "rob");
                result.updateRow();
            }
            return query("SELECT account FROM payment WHERE id = 2");
        });
        step("batches", () -> {
            List<String> out = new ArrayList<>();
            try (Statement statement = connection.createStatement()) {
                statement.addBatch("INSERT INTO payment VALUES (50, 'x', 1)");
                statement.addBatch("UPDATE payment SET amount = 2 WHERE id = 50");
                statement.addBatch("DELETE FROM payment WHERE id = 50");
                out.add(Arrays.toString(statement.executeBatch()));
                statement.addBatch("INSERT INTO payment VALUES (51, 'x', 1)");
                statement.addBatch("INSERT INTO payment VALUES (1, 'x', 1)");
                try {
                    statement.executeBatch();
                } catch (BatchUpdateException error) {
                    out.add(error.getSQLState() + Arrays.toString(error.getUpdateCounts()));
                }
            }
            out.addAll(query("SELECT count(*) FROM payment WHERE id = 51"));
            return out;
        });
        step("generatedKeys", () -> {
            List<String> all = new ArrayList<>();
            try (PreparedStatement insert = connection.prepareStatement(
                    "INSERT INTO payment VALUES (?, 'key', 1)", Statement.RETURN_GENERATED_KEYS)) {
                insert.setLong(1, 60);
                insert.executeUpdate();
                all.addAll(rows(insert.getGeneratedKeys()));
                try (PreparedStatement one = connection.prepareStatement(
                        "INSERT INTO payment VALUES (?, 'key', 1)", new String[] {"id"})) {
                    for (long id = 61; id < 64; id++) {
                        one.setLong(1, id);
                        one.addBatch();
                    }
                    one.executeBatch();
                    all.addAll(rows(one.getGeneratedKeys()));
                }
            }
            try (Statement create = connection.createStatement()) {
                create.execute("CREATE TABLE ticket (id serial PRIMARY KEY,"
                    + " turn bigint GENERATED ALWAYS AS IDENTITY, what text)");
            }
            try (PreparedStatement insert = connection.prepareStatement(
                    "INSERT INTO ticket (what) VALUES (?)", Statement.RETURN_GENERATED_KEYS)) {
                for (String what : List.of("one", "two")) {
                    insert.setString(1, what);
                    insert.executeUpdate();
                    all.addAll(rows(insert.getGeneratedKeys()));
                }
            }
            return all;
        });
        step("timeout", () -> {
            try (Statement statement = connection.createStatement()) {
                statement.setQueryTimeout(1);
                String slow = refused(() -> statement.execute("SELECT pg_sleep(10)"));
                return slow + " " + query("SELECT 1");
            }
        });
        step("savepoints", () -> {
            connection.setAutoCommit(false);
            Savepoint point = connection.setSavepoint();
            String failed = refused(() -> query("SELECT 1/0"));
            String stuck = refused(() -> query("SELECT 1"));
            connection.rollback(point);
            List<String> after = query("SELECT 1");
            connection.commit();
            connection.setAutoCommit(true);
            return failed + " " + stuck + " " + after;
        });
        step("session", () -> {
            connection.setReadOnly(true);
            connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            connection.setAutoCommit(false);
            String write = refused(() -> connection.createStatement()
                .executeUpdate("DELETE FROM payment"));
            connection.rollback();
            connection.setAutoCommit(true);
            connection.setReadOnly(false);
            connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
            connection.setSchema("public");
            return write + " " + connection.getTransactionIsolation() + " " + connection.getSchema()
                + " " + connection.isValid(2) + " " + query("SHOW search_path");
        });
        step("explain", () -> rows(connection.createStatement().executeQuery("EXPLAIN SELECT 1"))
            .size() > 0);
        step("shows", () -> List.of(
            query("SHOW TRANSACTION ISOLATION LEVEL"), query("SHOW extra_float_digits"),
            query(" (select 1)"), query("/* a */ select 2"),
            query("-- b\nWITH a AS (SELECT 3 AS x) SELECT x FROM a"),
            query("VALUES (1, 'a'), (2, 'b')")));
        step("empty", () -> {
            try (Statement statement = connection.createStatement()) {
                return statement.execute("") + " " + statement.execute("-- nothing");
            }
        });
        step("several", () -> {
            try (Statement statement = connection.createStatement()) {
                boolean rows = statement.execute(
                    "SELECT 1; UPDATE payment SET amount = 9 WHERE id = 1");
                boolean more = statement.getMoreResults();
                return rows + " " + more + " " + statement.getUpdateCount();
            }
        });
        step("copy", () -> {
            CopyManager copy = connection.unwrap(PGConnection.class).getCopyAPI();
            long in = copy.copyIn("COPY every (id, price) FROM STDIN WITH (FORMAT csv)",
                new StringReader("200,1.5\n201,\n"));
            StringWriter out = new StringWriter();
            long count = copy.copyOut("COPY (SELECT id, price FROM every WHERE id >= 200 "
                + "ORDER BY id) TO STDOUT", out);
            return in + " " + count + " " + out;
        });
        step("errors", () -> List.of(
            refused(() -> query("SELECT * FROM nosuch")),
            refused(() -> query("SELEC 1")),
            refused(() -> query("SELECT ?::int", "x")),
            refused(() -> query("INSERT INTO payment VALUES (1, 'x', 1)")),
            refused(() -> query("INSERT INTO payment VALUES (NULL, 'x', 1)"))));
        step("cursorOverPrepared", () -> {
            List<String> out = new ArrayList<>();
            for (int round = 0; round < 8; round++)
                out = query("SELECT account, total FROM balance WHERE account = ?", "ada");
            return out;
        });
    }
}
