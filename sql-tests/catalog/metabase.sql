-- Metabase: syncing a database. From its documentation and logs.

-- schemas
SELECT nspname AS "TABLE_SCHEM" FROM pg_catalog.pg_namespace
    WHERE nspname <> 'pg_toast' AND (nspname !~ '^pg_temp_') ORDER BY "TABLE_SCHEM"

-- tables
SELECT n.nspname AS schema, c.relname AS name,
    CASE c.relkind WHEN 'r' THEN 'TABLE' WHEN 'p' THEN 'PARTITIONED TABLE' WHEN 'v' THEN 'VIEW'
        WHEN 'f' THEN 'FOREIGN TABLE' WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE NULL END AS type,
    d.description AS description, NULLIF(stat.n_live_tup, 0) AS estimated_row_count
    FROM pg_catalog.pg_class AS c INNER JOIN pg_catalog.pg_namespace AS n ON c.relnamespace = n.oid
    LEFT JOIN pg_catalog.pg_description AS d ON c.oid = d.objoid AND d.objsubid = 0
        AND d.classoid = 'pg_class'::regclass
    LEFT JOIN pg_stat_user_tables AS stat ON n.nspname = stat.schemaname AND c.relname = stat.relname
    WHERE c.relnamespace = n.oid AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
        AND c.relkind IN ('r', 'p', 'v', 'f', 'm')
        AND n.nspname IN (SELECT unnest(ARRAY['public', 'shop', 'Odd Names']))
    ORDER BY type, schema, name

-- privileges
WITH table_privileges AS (
    SELECT NULL AS role, t.schemaname AS schema, t.objectname AS table,
        pg_catalog.has_any_column_privilege(current_user, '"' || replace(t.schemaname, '"', '""') || '"' || '.' || '"' || replace(t.objectname, '"', '""') || '"', 'update') AS update,
        pg_catalog.has_any_column_privilege(current_user, '"' || replace(t.schemaname, '"', '""') || '"' || '.' || '"' || replace(t.objectname, '"', '""') || '"', 'select') AS select,
        pg_catalog.has_any_column_privilege(current_user, '"' || replace(t.schemaname, '"', '""') || '"' || '.' || '"' || replace(t.objectname, '"', '""') || '"', 'insert') AS insert,
        pg_catalog.has_table_privilege(current_user, '"' || replace(t.schemaname, '"', '""') || '"' || '.' || '"' || replace(t.objectname, '"', '""') || '"', 'delete') AS delete
    FROM (SELECT schemaname, tablename AS objectname FROM pg_catalog.pg_tables
        UNION SELECT schemaname, viewname AS objectname FROM pg_views
        UNION SELECT schemaname, matviewname AS objectname FROM pg_matviews) t
    WHERE t.schemaname !~ '^pg_' AND t.schemaname <> 'information_schema'
        AND pg_catalog.has_schema_privilege(current_user, t.schemaname, 'usage'))
    SELECT t.* FROM table_privileges t

-- columns
SELECT c.column_name AS name,
    CASE WHEN c.udt_schema IN ('public', 'pg_catalog') THEN FORMAT('%s', c.udt_name)
        ELSE FORMAT('"%s"."%s"', c.udt_schema, c.udt_name) END AS "database-type",
    c.ordinal_position - 1 AS "database-position", c.table_schema AS "table-schema",
    c.table_name AS "table-name", pk.column_name IS NOT NULL AS "pk?",
    col_description(CAST(CAST(FORMAT('%I.%I', CAST(c.table_schema AS text), CAST(c.table_name AS text))
        AS regclass) AS oid), c.ordinal_position) AS "field-comment",
    ((column_default IS NULL) OR (LOWER(column_default) = 'null')) AND (is_nullable = 'NO')
        AND NOT (((column_default IS NOT NULL) AND (column_default LIKE '%nextval(%'))
            OR (is_identity <> 'NO')) AS "database-required",
    ((column_default IS NOT NULL) AND (column_default LIKE '%nextval(%'))
        OR (is_identity <> 'NO') AS "database-is-auto-increment"
    FROM information_schema.columns AS c
    LEFT JOIN (SELECT tc.table_schema, tc.table_name, kc.column_name
        FROM information_schema.table_constraints AS tc
        INNER JOIN information_schema.key_column_usage AS kc ON tc.constraint_name = kc.constraint_name
            AND tc.table_schema = kc.table_schema AND tc.table_name = kc.table_name
        WHERE tc.constraint_type = 'PRIMARY KEY') AS pk
        ON c.table_schema = pk.table_schema AND c.table_name = pk.table_name
            AND c.column_name = pk.column_name
    WHERE c.table_schema !~ '^information_schema|catalog_history|pg_' AND c.table_schema IN ('public', 'shop')
    UNION ALL
    SELECT pa.attname AS name,
    CASE WHEN ptn.nspname IN ('public', 'pg_catalog') THEN FORMAT('%s', pt.typname)
        ELSE FORMAT('"%s"."%s"', ptn.nspname, pt.typname) END AS "database-type",
    pa.attnum - 1 AS "database-position", pn.nspname AS "table-schema", pc.relname AS "table-name",
    FALSE AS "pk?", NULL AS "field-comment", FALSE AS "database-required",
    FALSE AS "database-is-auto-increment"
    FROM pg_catalog.pg_class AS pc INNER JOIN pg_catalog.pg_namespace AS pn ON pn.oid = pc.relnamespace
    INNER JOIN pg_catalog.pg_attribute AS pa ON pa.attrelid = pc.oid
    INNER JOIN pg_catalog.pg_type AS pt ON pt.oid = pa.atttypid
    INNER JOIN pg_catalog.pg_namespace AS ptn ON ptn.oid = pt.typnamespace
    WHERE pc.relkind = 'm' AND pa.attnum >= 1 AND pn.nspname IN ('public', 'shop')
    ORDER BY "table-schema", "table-name", "database-position"

-- foreign keys
SELECT fk_ns.nspname AS "fk-table-schema", fk_table.relname AS "fk-table-name", fk_column.attname AS "fk-column-name",
    pk_ns.nspname AS "pk-table-schema", pk_table.relname AS "pk-table-name", pk_column.attname AS "pk-column-name"
    FROM pg_constraint AS c INNER JOIN pg_class AS fk_table ON c.conrelid = fk_table.oid
    INNER JOIN pg_namespace AS fk_ns ON c.connamespace = fk_ns.oid
    INNER JOIN pg_attribute AS fk_column ON c.conrelid = fk_column.attrelid
    INNER JOIN pg_class AS pk_table ON c.confrelid = pk_table.oid
    INNER JOIN pg_namespace AS pk_ns ON pk_table.relnamespace = pk_ns.oid
    INNER JOIN pg_attribute AS pk_column ON c.confrelid = pk_column.attrelid
    WHERE fk_ns.nspname !~ '^information_schema|catalog_history|pg_' AND c.contype = 'f'::char
        AND fk_column.attnum = ANY (c.conkey) AND pk_column.attnum = ANY (c.confkey)
    ORDER BY fk_ns.nspname, fk_table.relname

-- indexed columns
SELECT tmp."table-schema", tmp."table-name", trim(BOTH '"' FROM pg_catalog.pg_get_indexdef(tmp.ci_oid, tmp.pos, FALSE)) AS "field-name"
    FROM (SELECT n.nspname AS "table-schema", ct.relname AS "table-name", ci.oid AS ci_oid,
            (information_schema._pg_expandarray(i.indkey)).n AS pos
        FROM pg_catalog.pg_class AS ct INNER JOIN pg_catalog.pg_namespace AS n ON ct.relnamespace = n.oid
        INNER JOIN pg_catalog.pg_index AS i ON ct.oid = i.indrelid
        INNER JOIN pg_catalog.pg_class AS ci ON ci.oid = i.indexrelid
        WHERE (pg_catalog.pg_get_expr(i.indpred, i.indrelid) IS NULL) AND n.nspname !~ '^information_schema|catalog_history|pg_') AS tmp
    WHERE tmp.pos = 1

-- enums
SELECT nspname, typname FROM pg_catalog.pg_type AS t INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = t.typnamespace
    WHERE t.oid IN (SELECT DISTINCT e.enumtypid FROM pg_catalog.pg_enum AS e)

-- time zone
SHOW timezone

-- version
SELECT current_setting('server_version_num')::int / 10000
