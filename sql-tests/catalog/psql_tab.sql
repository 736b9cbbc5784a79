-- psql 15 and 18: the tab key.

-- SELECT * FROM cus (tab)
SELECT c.relname, NULL::pg_catalog.text FROM pg_catalog.pg_class c
    WHERE c.relkind IN ('r', 'S', 'v', 'm', 'f', 'p') AND (c.relname) LIKE 'cus%' AND
    pg_catalog.pg_table_is_visible(c.oid) AND c.relnamespace <> (SELECT oid
    FROM pg_catalog.pg_namespace WHERE nspname = 'pg_catalog')
    UNION ALL SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n
    WHERE n.nspname LIKE 'cus%' AND n.nspname NOT LIKE E'pg\\_%' LIMIT 1000

-- SELECT * FROM shop. (tab)
SELECT c.relname, n.nspname FROM pg_catalog.pg_class c, pg_catalog.pg_namespace n
    WHERE c.relnamespace = n.oid AND c.relkind IN ('r', 'S', 'v', 'm', 'f', 'p') AND (c.relname)
    LIKE '%' AND n.nspname = 'shop' LIMIT 1000

-- UPDATE orders SET st (tab)
SELECT a.attname, NULL::pg_catalog.text FROM pg_catalog.pg_attribute a, pg_catalog.pg_class c
    WHERE c.oid = a.attrelid and a.attnum > 0 and not a.attisdropped AND (a.attname) LIKE 'st%'
    AND c.relname = 'orders' AND pg_catalog.pg_table_is_visible(c.oid) LIMIT 1000

-- INSERT INTO (tab)
SELECT c.relname, NULL::pg_catalog.text FROM pg_catalog.pg_class c
    WHERE c.relkind IN ('r', 'f', 'v', 'p') AND (c.relname) LIKE '%' AND
    pg_catalog.pg_table_is_visible(c.oid) AND c.relnamespace <> (SELECT oid
    FROM pg_catalog.pg_namespace WHERE nspname = 'pg_catalog')
    UNION ALL SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n
    WHERE n.nspname LIKE '%' AND n.nspname NOT LIKE E'pg\\_%' LIMIT 1000

-- DROP VIEW (tab)
SELECT c.relname, NULL::pg_catalog.text FROM pg_catalog.pg_class c
    WHERE c.relkind IN ('v') AND (c.relname) LIKE '%' AND pg_catalog.pg_table_is_visible(c.oid)
    AND c.relnamespace <> (SELECT oid FROM pg_catalog.pg_namespace
    WHERE nspname = 'pg_catalog') UNION ALL SELECT NULL::pg_catalog.text, n.nspname
    FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE '%' AND n.nspname NOT LIKE E'pg\\_%'
    LIMIT 1000

-- DROP INDEX o (tab)
SELECT c.relname, NULL::pg_catalog.text FROM pg_catalog.pg_class c
    WHERE c.relkind IN ('i', 'I') AND (c.relname) LIKE 'o%' AND
    pg_catalog.pg_table_is_visible(c.oid) AND c.relnamespace <> (SELECT oid
    FROM pg_catalog.pg_namespace WHERE nspname = 'pg_catalog')
    UNION ALL SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n
    WHERE n.nspname LIKE 'o%' AND n.nspname NOT LIKE E'pg\\_%' LIMIT 1000

-- DROP INDEX o (tab) #2
SELECT c.relname, NULL::pg_catalog.text FROM pg_catalog.pg_class c
    WHERE c.relkind IN ('i', 'I') AND (c.relname) LIKE 'orders\_%' AND
    pg_catalog.pg_table_is_visible(c.oid) AND c.relnamespace <> (SELECT oid
    FROM pg_catalog.pg_namespace WHERE nspname = 'pg_catalog')
    UNION ALL SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n
    WHERE n.nspname LIKE 'orders\_%' AND n.nspname NOT LIKE E'pg\\_%' LIMIT 1000

-- \d or (tab)
SELECT c.relname, NULL::pg_catalog.text FROM pg_catalog.pg_class c
    WHERE (c.relname) LIKE 'or%' AND pg_catalog.pg_table_is_visible(c.oid) AND c.relnamespace <>
    (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = 'pg_catalog')
    UNION ALL SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n
    WHERE n.nspname LIKE 'or%' AND n.nspname NOT LIKE E'pg\\_%' LIMIT 1000

-- \d or (tab) #2
SELECT c.relname, NULL::pg_catalog.text FROM pg_catalog.pg_class c
    WHERE (c.relname) LIKE 'orders%' AND pg_catalog.pg_table_is_visible(c.oid) AND
    c.relnamespace <> (SELECT oid FROM pg_catalog.pg_namespace
    WHERE nspname = 'pg_catalog') UNION ALL SELECT NULL::pg_catalog.text, n.nspname
    FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE 'orders%' AND n.nspname NOT LIKE
    E'pg\\_%' LIMIT 1000

-- ALTER TABLE customer ALTER COLUMN (tab)
SELECT a.attname, NULL::pg_catalog.text FROM pg_catalog.pg_attribute a, pg_catalog.pg_class c
    WHERE c.oid = a.attrelid and a.attnum > 0 and not a.attisdropped AND (a.attname) LIKE '%'
    AND c.relname = 'customer' AND pg_catalog.pg_table_is_visible(c.oid) LIMIT 1000

-- SET statement_t (tab)
SELECT pg_catalog.lower(name) FROM pg_catalog.pg_settings WHERE context IN ('user', 'superuser')
    AND pg_catalog.lower(name) LIKE pg_catalog.lower('statement_t%') LIMIT 1000

-- SET bytea_ (tab)
SELECT pg_catalog.lower(name) FROM pg_catalog.pg_settings WHERE context IN ('user', 'superuser')
    AND pg_catalog.lower(name) LIKE pg_catalog.lower('bytea_%') LIMIT 1000

-- SHOW server_v (tab)
SELECT pg_catalog.lower(name) FROM pg_catalog.pg_settings WHERE pg_catalog.lower(name) LIKE
    pg_catalog.lower('server_v%') LIMIT 1000

-- DROP FUNCTION gr (tab)
SELECT p.proname, NULL::pg_catalog.text FROM pg_catalog.pg_proc p
    WHERE p.prokind != 'p' AND (p.proname) LIKE 'gr%' AND
    pg_catalog.pg_function_is_visible(p.oid) UNION ALL SELECT NULL::pg_catalog.text, n.nspname
    FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE 'gr%' AND n.nspname NOT LIKE E'pg\\_%'
    LIMIT 1000

-- GRANT SELECT ON (tab)
SELECT c.relname, NULL::pg_catalog.text FROM pg_catalog.pg_class c
    WHERE c.relkind IN ('r', 'S', 'v', 'm', 'f', 'p') AND (c.relname) LIKE '%' AND
    pg_catalog.pg_table_is_visible(c.oid) AND c.relnamespace <> (SELECT oid
    FROM pg_catalog.pg_namespace WHERE nspname = 'pg_catalog')
    UNION ALL SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n
    WHERE n.nspname LIKE '%' AND n.nspname NOT LIKE E'pg\\_%' LIMIT 1000

-- GRANT catalog_ (tab)
SELECT rolname FROM pg_catalog.pg_roles WHERE rolname LIKE 'catalog\_%' LIMIT 1000

-- DROP SCHEMA s (tab)
SELECT nspname FROM pg_catalog.pg_namespace WHERE nspname LIKE 's%' LIMIT 1000

-- \c w (tab)
SELECT datname FROM pg_catalog.pg_database WHERE datname LIKE 'w%' LIMIT 1000

-- \c w (tab) #2
SELECT rolname FROM pg_catalog.pg_roles WHERE rolname LIKE '%' LIMIT 1000

-- REFRESH MATERIALIZED VIEW (tab)
SELECT c.relname, NULL::pg_catalog.text FROM pg_catalog.pg_class c
    WHERE c.relkind IN ('m') AND (c.relname) LIKE '%' AND pg_catalog.pg_table_is_visible(c.oid)
    AND c.relnamespace <> (SELECT oid FROM pg_catalog.pg_namespace
    WHERE nspname = 'pg_catalog') UNION ALL SELECT NULL::pg_catalog.text, n.nspname
    FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE '%' AND n.nspname NOT LIKE E'pg\\_%'
    LIMIT 1000

-- CREATE INDEX ON (tab)
SELECT c.relname, NULL::pg_catalog.text FROM pg_catalog.pg_class c
    WHERE c.relkind IN ('r', 'p', 'm') AND (c.relname) LIKE '%' AND
    pg_catalog.pg_table_is_visible(c.oid) AND c.relnamespace <> (SELECT oid
    FROM pg_catalog.pg_namespace WHERE nspname = 'pg_catalog')
    UNION ALL SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n
    WHERE n.nspname LIKE '%' AND n.nspname NOT LIKE E'pg\\_%' LIMIT 1000

-- COMMENT ON TABLE (tab)
SELECT c.relname, NULL::pg_catalog.text FROM pg_catalog.pg_class c
    WHERE c.relkind IN ('r', 'p') AND (c.relname) LIKE '%' AND
    pg_catalog.pg_table_is_visible(c.oid) AND c.relnamespace <> (SELECT oid
    FROM pg_catalog.pg_namespace WHERE nspname = 'pg_catalog')
    UNION ALL SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n
    WHERE n.nspname LIKE '%' AND n.nspname NOT LIKE E'pg\\_%' LIMIT 1000

-- DROP ROLE c (tab)
SELECT rolname FROM pg_catalog.pg_roles WHERE rolname LIKE 'c%' LIMIT 1000

-- \df g (tab)
SELECT p.proname, NULL::pg_catalog.text FROM pg_catalog.pg_proc p
    WHERE p.prokind != 'p' AND (p.proname) LIKE 'g%' AND
    pg_catalog.pg_function_is_visible(p.oid) UNION ALL SELECT NULL::pg_catalog.text, n.nspname
    FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE 'g%' AND n.nspname NOT LIKE E'pg\\_%'
    LIMIT 1000

-- \sv a (tab)
SELECT p.proname, NULL::pg_catalog.text FROM pg_catalog.pg_proc p
    WHERE p.prokind != 'p' AND (p.proname) LIKE 'ga%' AND
    pg_catalog.pg_function_is_visible(p.oid) UNION ALL SELECT NULL::pg_catalog.text, n.nspname
    FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE 'ga%' AND n.nspname NOT LIKE E'pg\\_%'
    LIMIT 1000

-- TRUNCATE (tab)
SELECT c.relname, NULL::pg_catalog.text FROM pg_catalog.pg_class c
    WHERE c.relkind IN ('r', 'f', 'p') AND (c.relname) LIKE '%' AND
    pg_catalog.pg_table_is_visible(c.oid) AND c.relnamespace <> (SELECT oid
    FROM pg_catalog.pg_namespace WHERE nspname = 'pg_catalog')
    UNION ALL SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n
    WHERE n.nspname LIKE '%' AND n.nspname NOT LIKE E'pg\\_%' LIMIT 1000

-- CALL (tab)
SELECT p.proname, NULL::pg_catalog.text FROM pg_catalog.pg_proc p
    WHERE p.prokind = 'p' AND (p.proname) LIKE '%' AND pg_catalog.pg_function_is_visible(p.oid)
    UNION ALL SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n
    WHERE n.nspname LIKE '%' AND n.nspname NOT LIKE E'pg\\_%' LIMIT 1000

-- ALTER TYPE (tab)
SELECT t.typname, NULL::pg_catalog.text FROM pg_catalog.pg_type t
    WHERE (t.typrelid = 0 OR (SELECT c.relkind = 'c' FROM pg_catalog.pg_class c
    WHERE c.oid = t.typrelid)) AND t.typname !~ '^_' AND (t.typname) LIKE '%' AND
    pg_catalog.pg_type_is_visible(t.oid) UNION ALL SELECT NULL::pg_catalog.text, n.nspname
    FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE '%' AND n.nspname NOT LIKE E'pg\\_%'
    LIMIT 1000

-- ALTER SCHEMA (tab)
SELECT nspname FROM pg_catalog.pg_namespace WHERE nspname LIKE '%' LIMIT 1000

-- EXECUTE (tab)
SELECT name FROM pg_catalog.pg_prepared_statements WHERE name LIKE '%' LIMIT 1000

-- DROP SEQUENCE (tab)
SELECT c.relname, NULL::pg_catalog.text FROM pg_catalog.pg_class c
    WHERE c.relkind IN ('S') AND (c.relname) LIKE '%' AND pg_catalog.pg_table_is_visible(c.oid)
    AND c.relnamespace <> (SELECT oid FROM pg_catalog.pg_namespace
    WHERE nspname = 'pg_catalog') UNION ALL SELECT NULL::pg_catalog.text, n.nspname
    FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE '%' AND n.nspname NOT LIKE E'pg\\_%'
    LIMIT 1000

-- DROP PUBLICATION (tab)
SELECT pubname FROM pg_catalog.pg_publication WHERE pubname LIKE '%' LIMIT 1000

-- DROP TRIGGER (tab)
SELECT tgname FROM pg_catalog.pg_trigger WHERE tgname LIKE '%' AND NOT tgisinternal LIMIT 1000

-- SET timezone = 'Europe/B (tab)
SELECT pg_catalog.quote_literal(name) AS name FROM pg_catalog.pg_timezone_names()
    WHERE pg_catalog.lower(name) LIKE pg_catalog.lower('Europe/B%') LIMIT 1000

-- DROP POLICY (tab)
SELECT polname FROM pg_catalog.pg_policy WHERE polname LIKE '%' LIMIT 1000

-- SELECT c.na FROM customer c WHERE c.na (tab)
SELECT a.attname, NULL::pg_catalog.text FROM pg_catalog.pg_attribute a, pg_catalog.pg_class c
    WHERE c.oid = a.attrelid and a.attnum > 0 and not a.attisdropped AND (a.attname) LIKE 'na%'
    AND c.relname = 'c' AND pg_catalog.pg_table_is_visible(c.oid) LIMIT 1000

-- \sv a (tab) #2
SELECT t.typname, NULL::pg_catalog.text FROM pg_catalog.pg_type t
    WHERE (t.typrelid = 0 OR (SELECT c.relkind = 'c' FROM pg_catalog.pg_class c
    WHERE c.oid = t.typrelid)) AND t.typname !~ '^_' AND (t.typname) LIKE 'ga%' AND
    pg_catalog.pg_type_is_visible(t.oid) UNION ALL SELECT NULL::pg_catalog.text, n.nspname
    FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE 'ga%' AND n.nspname NOT LIKE E'pg\\_%'
    LIMIT 1000

-- \sv a (tab) #3
SELECT c.relname, NULL::pg_catalog.text FROM pg_catalog.pg_class c
    WHERE (c.relname) LIKE 'ga%' AND pg_catalog.pg_table_is_visible(c.oid) AND c.relnamespace <>
    (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = 'pg_catalog')
    UNION ALL SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n
    WHERE n.nspname LIKE 'ga%' AND n.nspname NOT LIKE E'pg\\_%' LIMIT 1000
