// JDBC's DatabaseMetaData: what Metabase, DBeaver, Tableau and most BI tools read.

import java.net.URI;
import java.sql.*;
import java.util.*;

public class Metadata {
    static DatabaseMetaData data;

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
            System.out.println(name + " FAILED " + error.getSQLState() + " " + error.getMessage());
        } catch (Exception error) {
            System.out.println(name + " FAILED " + error);
        }
    }

    // The rows of a result, some columns of it, as text.
    static List<String> rows(ResultSet result, String... columns) throws SQLException {
        List<String> rows = new ArrayList<>();
        while (result.next()) {
            StringJoiner row = new StringJoiner(", ");
            for (String column : columns) row.add(String.valueOf(result.getString(column)));
            rows.add(row.toString());
        }
        result.close();
        return rows;
    }

    public static void main(String[] arguments) throws Exception {
        try (Connection connection = DriverManager.getConnection(url())) {
            try (Statement statement = connection.createStatement()) {
                statement.execute("""
                    CREATE TABLE parts (id int PRIMARY KEY,
                        name varchar(20) NOT NULL DEFAULT 'none', price numeric(8,2),
                        at timestamptz, about jsonb, tags text[]);
                    CREATE TABLE pairs (a int, b text, PRIMARY KEY (b, a));
                    CREATE INDEX parts_by_name ON parts (name, price DESC);
                    CREATE VIEW cheap AS SELECT id, name FROM parts WHERE price < 1;
                    COMMENT ON TABLE parts IS 'what we sell';
                    COMMENT ON COLUMN parts.name IS 'as printed'""");
            }
            data = connection.getMetaData();
            run(connection);
        }
    }

    static void run(Connection connection) {
        step("product", () -> data.getDatabaseProductName() + " " + data.getDatabaseMajorVersion());
        step("schemas", () -> rows(data.getSchemas(null, "pub%"), "TABLE_SCHEM"));
        step("catalogs", () -> rows(data.getCatalogs(), "TABLE_CAT").size() > 0);
        step("tableTypes", () -> rows(data.getTableTypes(), "TABLE_TYPE"));
        step("tables", () -> rows(
            data.getTables(null, "public", "%", new String[] {"TABLE"}),
            "TABLE_SCHEM", "TABLE_NAME", "TABLE_TYPE", "REMARKS"));
        step("views", () -> rows(
            data.getTables(null, "public", "ch%", null), "TABLE_NAME", "TABLE_TYPE"));
        step("systemTables", () -> rows(
            data.getTables(null, "pg_catalog", "pg_cl%", new String[] {"SYSTEM TABLE"}),
            "TABLE_NAME", "TABLE_TYPE"));
        step("columns", () -> String.join("\n", rows(
            data.getColumns(null, "public", "pa%", "%"),
            "TABLE_NAME", "COLUMN_NAME", "DATA_TYPE", "TYPE_NAME", "COLUMN_SIZE", "DECIMAL_DIGITS",
            "NULLABLE", "REMARKS", "ORDINAL_POSITION", "IS_NULLABLE", "IS_AUTOINCREMENT")));
        step("defaults", () -> rows(
            data.getColumns(null, "public", "parts", "name"), "COLUMN_NAME", "COLUMN_DEF").size());
        step("primaryKeys", () -> rows(
            data.getPrimaryKeys(null, "public", "pairs"), "COLUMN_NAME", "KEY_SEQ", "PK_NAME"));
        step("indexes", () -> rows(
            data.getIndexInfo(null, "public", "parts", false, true),
            "NON_UNIQUE", "INDEX_NAME", "TYPE", "ORDINAL_POSITION", "COLUMN_NAME", "ASC_OR_DESC"));
        step("uniqueIndexes", () -> rows(
            data.getIndexInfo(null, "public", "pairs", true, false), "INDEX_NAME", "COLUMN_NAME"));
        step("importedKeys", () -> rows(data.getImportedKeys(null, "public", "parts"), "FK_NAME"));
        step("exportedKeys", () -> rows(data.getExportedKeys(null, "public", "parts"), "FK_NAME"));
        step("crossReference", () -> rows(
            data.getCrossReference(null, "public", "parts", null, "public", "pairs"), "FK_NAME"));
        step("bestRow", () -> rows(
            data.getBestRowIdentifier(
                null, "public", "pairs", DatabaseMetaData.bestRowSession, true),
            "COLUMN_NAME", "TYPE_NAME"));
        step("versionColumns", () -> rows(
            data.getVersionColumns(null, "public", "pairs"), "COLUMN_NAME").size());
        step("typeInfo", () -> {
            List<String> types = rows(data.getTypeInfo(), "TYPE_NAME", "DATA_TYPE", "PRECISION");
            types.retainAll(List.of("int4, 4, 10", "text, 12, 2147483647", "bool, -7, 1",
                "numeric, 2, 1000", "timestamptz, 93, 35", "jsonb, 1111, 0", "_int4, 2003, 0"));
            Collections.sort(types);
            return types;
        });
        step("udts", () -> rows(data.getUDTs(null, "public", "%", null), "TYPE_NAME").size());
        step("functions", () -> rows(
            data.getFunctions(null, "pg_catalog", "no such"), "FUNCTION_NAME"));
        step("functionColumns", () -> rows(
            data.getFunctionColumns(null, "pg_catalog", "no such", "%"), "COLUMN_NAME"));
        step("procedures", () -> rows(data.getProcedures(null, "public", "%"), "PROCEDURE_NAME"));
        step("procedureColumns", () -> rows(
            data.getProcedureColumns(null, "public", "%", "%"), "COLUMN_NAME"));
        step("tablePrivileges", () -> rows(
            data.getTablePrivileges(null, "public", "no such"), "PRIVILEGE"));
        step("columnPrivileges", () -> rows(
            data.getColumnPrivileges(null, "public", "no such", "%"), "PRIVILEGE"));
        step("clientInfo", () -> rows(data.getClientInfoProperties(), "NAME", "MAX_LEN"));
        step("keywords", () -> data.getSQLKeywords().contains("ilike"));
        step("functionsOf", () -> data.getNumericFunctions().length() > 0);
        step("maxima", () -> data.getMaxColumnNameLength() + " " + data.getMaxIndexLength());
        step("resultSet", () -> {
            try (Statement statement = connection.createStatement();
                 ResultSet result =
                     statement.executeQuery("SELECT p.*, 1 + id AS s FROM parts p")) {
                ResultSetMetaData of = result.getMetaData();
                List<String> columns = new ArrayList<>();
                for (int i = 1; i <= of.getColumnCount(); i++)
                    columns.add(of.getColumnName(i) + " " + of.getColumnTypeName(i) + " "
                        + of.getPrecision(i) + " " + of.getScale(i) + " "
                        + of.getColumnDisplaySize(i) + " " + of.isNullable(i) + " "
                        + of.getTableName(i) + " " + of.isAutoIncrement(i) + " "
                        + of.getColumnClassName(i));
                return String.join("\n", columns);
            }
        });
        step("parameters", () -> {
            try (PreparedStatement statement = connection.prepareStatement(
                    "SELECT * FROM parts WHERE id = ? AND price > ? AND name LIKE ?")) {
                ParameterMetaData of = statement.getParameterMetaData();
                return of.getParameterTypeName(1) + " " + of.getParameterTypeName(2);
            }
        });
    }
}
