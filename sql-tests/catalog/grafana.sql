-- Grafana: its query editor. From its documentation and issues.

-- version
SELECT current_setting('server_version_num')::int / 100 AS version

-- timescale
SELECT extversion FROM pg_extension WHERE extname = 'timescaledb'

-- tables
SELECT CASE WHEN quote_ident(table_schema) IN (
            SELECT CASE WHEN trim(s[i]) = '"$user"' THEN user ELSE trim(s[i]) END
            FROM generate_series(array_lower(string_to_array(current_setting('search_path'), ','), 1),
                array_upper(string_to_array(current_setting('search_path'), ','), 1)) AS i,
                string_to_array(current_setting('search_path'), ',') s)
        THEN quote_ident(table_name) ELSE quote_ident(table_schema) || '.' || quote_ident(table_name) END AS "table"
    FROM information_schema.tables
    WHERE quote_ident(table_schema) NOT IN ('information_schema', 'pg_catalog', '_timescaledb_cache',
        '_timescaledb_catalog', '_timescaledb_internal', '_timescaledb_config', 'timescaledb_information')
    ORDER BY CASE WHEN quote_ident(table_schema) IN (
            SELECT CASE WHEN trim(s[i]) = '"$user"' THEN user ELSE trim(s[i]) END
            FROM generate_series(array_lower(string_to_array(current_setting('search_path'), ','), 1),
                array_upper(string_to_array(current_setting('search_path'), ','), 1)) AS i,
                string_to_array(current_setting('search_path'), ',') s) THEN 0 ELSE 1 END, 1

-- tables of the search path
SELECT quote_ident(table_name) AS "table" FROM information_schema.tables
    WHERE quote_ident(table_schema) IN (
        SELECT CASE WHEN trim(unnest) = '"$user"' THEN user ELSE trim(unnest) END
        FROM unnest(string_to_array(current_setting('search_path'), ',')))
    AND table_name LIKE 'o%' ORDER BY 1

-- columns of a table
SELECT quote_ident(column_name) AS "column", data_type AS "type" FROM information_schema.columns
    WHERE CASE WHEN array_length(parse_ident('shop.order_line'), 1) = 2
        THEN quote_ident(table_schema) = (parse_ident('shop.order_line'))[1]
            AND quote_ident(table_name) = (parse_ident('shop.order_line'))[2]
        ELSE quote_ident(table_name) = 'shop.order_line' AND quote_ident(table_schema) IN (
            SELECT CASE WHEN trim(s[i]) = '"$user"' THEN user ELSE trim(s[i]) END
            FROM generate_series(array_lower(string_to_array(current_setting('search_path'), ','), 1),
                array_upper(string_to_array(current_setting('search_path'), ','), 1)) AS i,
                string_to_array(current_setting('search_path'), ',') s) END

-- columns of time
SELECT quote_ident(column_name) AS "column", data_type AS "type" FROM information_schema.columns
    WHERE quote_ident(table_name) = 'orders'
        AND data_type IN ('timestamp without time zone', 'timestamp with time zone', 'bigint', 'integer', 'double precision', 'real')

-- schemas
SELECT quote_ident(schema_name) AS "schema" FROM information_schema.schemata
    WHERE schema_name NOT LIKE 'pg\_%' AND schema_name <> 'information_schema' ORDER BY 1
