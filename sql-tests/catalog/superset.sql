-- Superset beside SQLAlchemy, and Looker, Tableau, Hex: from their documentation and issues.

-- databases
SELECT datname FROM pg_database WHERE datistemplate = false AND datname = 'weir'

-- own process
SELECT pg_backend_pid() > 0

-- cancel
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = '0'

-- schemas
SELECT nspname FROM pg_namespace WHERE nspname NOT LIKE 'pg\_%' ORDER BY nspname

-- functions
SELECT routine_name FROM information_schema.routines WHERE routine_schema = 'shop' ORDER BY 1

-- Looker: running queries
SELECT count(*) >= 1 FROM pg_stat_activity WHERE usename = current_user AND state = 'active'

-- Looker: columns
SELECT c.relname AS table_name, a.attname AS column_name, t.typname, n.nspname
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
    JOIN pg_type t ON t.oid = a.atttypid
    WHERE n.nspname NOT IN ('information_schema', 'pg_catalog', 'weir') AND c.relkind IN ('r', 'v', 'm') AND a.attnum > 0
        AND NOT a.attisdropped

-- Hex: tables
SELECT table_catalog, table_schema, table_name, table_type FROM information_schema.tables
    WHERE table_schema NOT IN ('information_schema', 'pg_catalog') ORDER BY 1, 2, 3

-- size of a table
SELECT pg_size_pretty(0::bigint), pg_total_relation_size('customer') >= 0
