-- drizzle-kit: introspect.

-- statement #1
SELECT n.nspname AS table_schema, c.relname AS table_name, CASE WHEN c.relkind = 'r' THEN
    'table' WHEN c.relkind = 'v' THEN 'view' WHEN c.relkind = 'm' THEN 'materialized_view' END
    AS type, c.relrowsecurity AS rls_enabled FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'v', 'm')
    AND n.nspname = 'public' or n.nspname = 'shop'

-- statement #2
select s.nspname as table_schema from pg_catalog.pg_namespace s
    join pg_catalog.pg_user u on u.usesysid = s.nspowner where nspname not in
    ('information_schema', 'pg_catalog', 'public') and nspname not like 'pg_toast%' and nspname
    not like 'pg_temp_%' order by table_schema

-- statement #3
select schemaname, sequencename, start_value, min_value, max_value, increment_by, cycle,
    cache_size from pg_sequences as seq WHERE schemaname = 'public' or schemaname = 'shop'

-- statement #4
select n.nspname as enum_schema, t.typname as enum_name, e.enumlabel as enum_value,
    e.enumsortorder as sort_order from pg_type t join pg_enum e on t.oid = e.enumtypid
    join pg_catalog.pg_namespace n ON n.oid = t.typnamespace WHERE n.nspname = 'public' or
    n.nspname = 'shop' order by enum_schema, enum_name, sort_order

-- statement #5
SELECT rolname, rolinherit, rolcreatedb, rolcreaterole FROM pg_roles

-- statement #6
SELECT schemaname, tablename, policyname as name, permissive as "as", roles as to, cmd as for,
    qual as using, with_check as "withCheck" FROM pg_policies
    WHERE schemaname = 'public' or schemaname = 'shop'

-- statement #7
SELECT a.attrelid::regclass::text AS table_name, a.attname AS column_name, CASE WHEN NOT
    a.attisdropped THEN CASE WHEN a.attnotnull THEN 'NO' ELSE 'YES' END ELSE NULL END AS
    is_nullable, a.attndims AS array_dimensions, CASE WHEN a.atttypid = ANY
    ('{int,int8,int2}'::regtype[]) AND EXISTS ( SELECT FROM pg_attrdef ad
    WHERE ad.adrelid = a.attrelid AND ad.adnum = a.attnum AND pg_get_expr(ad.adbin, ad.adrelid)
    = 'nextval(''' || pg_get_serial_sequence(a.attrelid::regclass::text, a.attname)::regclass ||
    '''::regclass)' ) THEN CASE a.atttypid WHEN 'int'::regtype THEN 'serial' WHEN
    'int8'::regtype THEN 'bigserial' WHEN 'int2'::regtype THEN 'smallserial' END ELSE
    format_type(a.atttypid, a.atttypmod) END AS data_type,
    pg_get_serial_sequence('"shop"."order_line"', a.attname)::regclass AS seq_name,
    c.column_default, c.data_type AS additional_dt, c.udt_name AS enum_name, c.is_generated,
    c.generation_expression, c.is_identity, c.identity_generation, c.identity_start,
    c.identity_increment, c.identity_maximum, c.identity_minimum, c.identity_cycle,
    enum_ns.nspname AS type_schema FROM pg_attribute a JOIN pg_class cls ON cls.oid = a.attrelid
    JOIN pg_namespace ns ON ns.oid = cls.relnamespace LEFT JOIN information_schema.columns c ON
    c.column_name = a.attname AND c.table_schema = ns.nspname AND c.table_name = cls.relname
    LEFT JOIN pg_type enum_t ON enum_t.oid = a.atttypid LEFT JOIN pg_namespace enum_ns ON
    enum_ns.oid = enum_t.typnamespace WHERE a.attnum > 0 AND NOT a.attisdropped AND cls.relkind
    IN ('r', 'v', 'm') AND ns.nspname = 'shop' AND cls.relname = 'order_line'
    ORDER BY a.attnum

-- statement #8
SELECT a.attrelid::regclass::text AS table_name, a.attname AS column_name, CASE WHEN NOT
    a.attisdropped THEN CASE WHEN a.attnotnull THEN 'NO' ELSE 'YES' END ELSE NULL END AS
    is_nullable, a.attndims AS array_dimensions, CASE WHEN a.atttypid = ANY
    ('{int,int8,int2}'::regtype[]) AND EXISTS ( SELECT FROM pg_attrdef ad
    WHERE ad.adrelid = a.attrelid AND ad.adnum = a.attnum AND pg_get_expr(ad.adbin, ad.adrelid)
    = 'nextval(''' || pg_get_serial_sequence(a.attrelid::regclass::text, a.attname)::regclass ||
    '''::regclass)' ) THEN CASE a.atttypid WHEN 'int'::regtype THEN 'serial' WHEN
    'int8'::regtype THEN 'bigserial' WHEN 'int2'::regtype THEN 'smallserial' END ELSE
    format_type(a.atttypid, a.atttypmod) END AS data_type,
    pg_get_serial_sequence('"shop"."every_type"', a.attname)::regclass AS seq_name,
    c.column_default, c.data_type AS additional_dt, c.udt_name AS enum_name, c.is_generated,
    c.generation_expression, c.is_identity, c.identity_generation, c.identity_start,
    c.identity_increment, c.identity_maximum, c.identity_minimum, c.identity_cycle,
    enum_ns.nspname AS type_schema FROM pg_attribute a JOIN pg_class cls ON cls.oid = a.attrelid
    JOIN pg_namespace ns ON ns.oid = cls.relnamespace LEFT JOIN information_schema.columns c ON
    c.column_name = a.attname AND c.table_schema = ns.nspname AND c.table_name = cls.relname
    LEFT JOIN pg_type enum_t ON enum_t.oid = a.atttypid LEFT JOIN pg_namespace enum_ns ON
    enum_ns.oid = enum_t.typnamespace WHERE a.attnum > 0 AND NOT a.attisdropped AND cls.relkind
    IN ('r', 'v', 'm') AND ns.nspname = 'shop' AND cls.relname = 'every_type'
    ORDER BY a.attnum

-- statement #9
SELECT c.column_name, c.data_type, constraint_type, constraint_name, constraint_schema
    FROM information_schema.table_constraints tc JOIN information_schema.constraint_column_usage
    AS ccu USING (constraint_schema, constraint_name) JOIN information_schema.columns AS c ON
    c.table_schema = tc.constraint_schema AND tc.table_name = c.table_name AND ccu.column_name =
    c.column_name WHERE tc.table_name = 'order_line' and constraint_schema = 'shop'

-- statement #10
SELECT c.column_name, c.data_type, constraint_type, constraint_name, constraint_schema
    FROM information_schema.table_constraints tc JOIN information_schema.constraint_column_usage
    AS ccu USING (constraint_schema, constraint_name) JOIN information_schema.columns AS c ON
    c.table_schema = tc.constraint_schema AND tc.table_name = c.table_name AND ccu.column_name =
    c.column_name WHERE tc.table_name = 'every_type' and constraint_schema = 'shop'

-- statement #11
SELECT tc.constraint_name, tc.constraint_type, pg_get_constraintdef(con.oid) AS
    constraint_definition FROM information_schema.table_constraints AS tc
    JOIN pg_constraint AS con ON tc.constraint_name = con.conname AND con.conrelid = ( SELECT
    oid FROM pg_class WHERE relname = tc.table_name AND relnamespace = ( SELECT oid
    FROM pg_namespace WHERE nspname = tc.constraint_schema ) )
    WHERE tc.table_name = 'order_line' AND tc.constraint_schema = 'shop' AND tc.constraint_type
    = 'CHECK' AND con.contype = 'c'

-- statement #12
SELECT tc.constraint_name, tc.constraint_type, pg_get_constraintdef(con.oid) AS
    constraint_definition FROM information_schema.table_constraints AS tc
    JOIN pg_constraint AS con ON tc.constraint_name = con.conname AND con.conrelid = ( SELECT
    oid FROM pg_class WHERE relname = tc.table_name AND relnamespace = ( SELECT oid
    FROM pg_namespace WHERE nspname = tc.constraint_schema ) )
    WHERE tc.table_name = 'every_type' AND tc.constraint_schema = 'shop' AND tc.constraint_type
    = 'CHECK' AND con.contype = 'c'

-- statement #13
SELECT con.contype AS constraint_type, nsp.nspname AS constraint_schema, con.conname AS
    constraint_name, rel.relname AS table_name, att.attname AS column_name, fnsp.nspname AS
    foreign_table_schema, frel.relname AS foreign_table_name, fatt.attname AS
    foreign_column_name, CASE con.confupdtype WHEN 'a' THEN 'NO ACTION' WHEN 'r' THEN 'RESTRICT'
    WHEN 'n' THEN 'SET NULL' WHEN 'c' THEN 'CASCADE' WHEN 'd' THEN 'SET DEFAULT' END AS
    update_rule, CASE con.confdeltype WHEN 'a' THEN 'NO ACTION' WHEN 'r' THEN 'RESTRICT' WHEN
    'n' THEN 'SET NULL' WHEN 'c' THEN 'CASCADE' WHEN 'd' THEN 'SET DEFAULT' END AS delete_rule
    FROM pg_catalog.pg_constraint con JOIN pg_catalog.pg_class rel ON rel.oid = con.conrelid
    JOIN pg_catalog.pg_namespace nsp ON nsp.oid = con.connamespace
    LEFT JOIN pg_catalog.pg_attribute att ON att.attnum = ANY (con.conkey) AND att.attrelid =
    con.conrelid LEFT JOIN pg_catalog.pg_class frel ON frel.oid = con.confrelid
    LEFT JOIN pg_catalog.pg_namespace fnsp ON fnsp.oid = frel.relnamespace
    LEFT JOIN pg_catalog.pg_attribute fatt ON fatt.attnum = ANY (con.confkey) AND fatt.attrelid
    = con.confrelid WHERE nsp.nspname = 'shop' AND rel.relname = 'order_line' AND con.contype IN
    ('f')

-- statement #14
SELECT con.contype AS constraint_type, nsp.nspname AS constraint_schema, con.conname AS
    constraint_name, rel.relname AS table_name, att.attname AS column_name, fnsp.nspname AS
    foreign_table_schema, frel.relname AS foreign_table_name, fatt.attname AS
    foreign_column_name, CASE con.confupdtype WHEN 'a' THEN 'NO ACTION' WHEN 'r' THEN 'RESTRICT'
    WHEN 'n' THEN 'SET NULL' WHEN 'c' THEN 'CASCADE' WHEN 'd' THEN 'SET DEFAULT' END AS
    update_rule, CASE con.confdeltype WHEN 'a' THEN 'NO ACTION' WHEN 'r' THEN 'RESTRICT' WHEN
    'n' THEN 'SET NULL' WHEN 'c' THEN 'CASCADE' WHEN 'd' THEN 'SET DEFAULT' END AS delete_rule
    FROM pg_catalog.pg_constraint con JOIN pg_catalog.pg_class rel ON rel.oid = con.conrelid
    JOIN pg_catalog.pg_namespace nsp ON nsp.oid = con.connamespace
    LEFT JOIN pg_catalog.pg_attribute att ON att.attnum = ANY (con.conkey) AND att.attrelid =
    con.conrelid LEFT JOIN pg_catalog.pg_class frel ON frel.oid = con.confrelid
    LEFT JOIN pg_catalog.pg_namespace fnsp ON fnsp.oid = frel.relnamespace
    LEFT JOIN pg_catalog.pg_attribute fatt ON fatt.attnum = ANY (con.confkey) AND fatt.attrelid
    = con.confrelid WHERE nsp.nspname = 'shop' AND rel.relname = 'every_type' AND con.contype IN
    ('f')

-- statement #15
-- $1: shop
-- $2: order_line
SELECT conname AS primary_key FROM pg_constraint join pg_class on (pg_class.oid = conrelid)
    WHERE contype = 'p' AND connamespace = $1::regnamespace AND pg_class.relname = $2

-- statement #16
SELECT DISTINCT ON (t.relname, ic.relname, k.i) t.relname as table_name, ic.relname AS
    indexname, k.i AS index_order, i.indisunique as is_unique, am.amname as method,
    ic.reloptions as with, coalesce(a.attname, pg_get_indexdef(i.indexrelid, k.i, false)) AS
    column_name, CASE WHEN pg_get_expr(i.indexprs, i.indrelid) IS NOT NULL THEN 1 ELSE 0 END AS
    is_expression, i.indoption[k.i-1] & 1 = 1 AS descending, i.indoption[k.i-1] & 2 = 2 AS
    nulls_first, pg_get_expr( i.indpred, i.indrelid ) as where, opc.opcname
    FROM pg_class t LEFT JOIN pg_index i ON t.oid = i.indrelid
    LEFT JOIN pg_class ic ON ic.oid = i.indexrelid CROSS JOIN LATERAL (SELECT unnest(i.indkey),
    generate_subscripts(i.indkey, 1) + 1) AS k(attnum, i) LEFT
    JOIN pg_attribute AS a ON i.indrelid = a.attrelid AND k.attnum = a.attnum
    JOIN pg_namespace c on c.oid = t.relnamespace LEFT JOIN pg_am AS am ON ic.relam = am.oid
    JOIN pg_opclass opc ON opc.oid = ANY(i.indclass) WHERE c.nspname = 'shop' AND t.relname =
    'every_type'

-- statement #17
SELECT DISTINCT ON (t.relname, ic.relname, k.i) t.relname as table_name, ic.relname AS
    indexname, k.i AS index_order, i.indisunique as is_unique, am.amname as method,
    ic.reloptions as with, coalesce(a.attname, pg_get_indexdef(i.indexrelid, k.i, false)) AS
    column_name, CASE WHEN pg_get_expr(i.indexprs, i.indrelid) IS NOT NULL THEN 1 ELSE 0 END AS
    is_expression, i.indoption[k.i-1] & 1 = 1 AS descending, i.indoption[k.i-1] & 2 = 2 AS
    nulls_first, pg_get_expr( i.indpred, i.indrelid ) as where, opc.opcname
    FROM pg_class t LEFT JOIN pg_index i ON t.oid = i.indrelid
    LEFT JOIN pg_class ic ON ic.oid = i.indexrelid CROSS JOIN LATERAL (SELECT unnest(i.indkey),
    generate_subscripts(i.indkey, 1) + 1) AS k(attnum, i) LEFT
    JOIN pg_attribute AS a ON i.indrelid = a.attrelid AND k.attnum = a.attnum
    JOIN pg_namespace c on c.oid = t.relnamespace LEFT JOIN pg_am AS am ON ic.relam = am.oid
    JOIN pg_opclass opc ON opc.oid = ANY(i.indclass) WHERE c.nspname = 'public' AND t.relname =
    'log'

-- statement #18
SELECT idx.indexrelname AS index_name, idx.relname AS table_name, schemaname, CASE WHEN
    con.conname IS NOT NULL THEN 1 ELSE 0 END AS generated_by_constraint
    FROM pg_stat_user_indexes idx LEFT JOIN pg_constraint con ON con.conindid = idx.indexrelid
    WHERE idx.relname = 'every_type' and schemaname = 'shop' group by index_name,
    table_name,schemaname, generated_by_constraint

-- statement #19
SELECT idx.indexrelname AS index_name, idx.relname AS table_name, schemaname, CASE WHEN
    con.conname IS NOT NULL THEN 1 ELSE 0 END AS generated_by_constraint
    FROM pg_stat_user_indexes idx LEFT JOIN pg_constraint con ON con.conindid = idx.indexrelid
    WHERE idx.relname = 'log' and schemaname = 'public' group by index_name,
    table_name,schemaname, generated_by_constraint

-- statement #20
SELECT c.relname AS view_name, n.nspname AS schema_name, pg_get_viewdef(c.oid, true) AS
    definition, ts.spcname AS tablespace_name, c.reloptions AS options,
    pg_tablespace_location(ts.oid) AS location FROM pg_class c
    JOIN pg_namespace n ON c.relnamespace = n.oid LEFT JOIN pg_tablespace ts ON c.reltablespace
    = ts.oid WHERE (c.relkind = 'm' OR c.relkind = 'v') AND n.nspname = 'shop' AND c.relname =
    'priced'

-- statement #21
SELECT c.relname AS view_name, n.nspname AS schema_name, pg_get_viewdef(c.oid, true) AS
    definition, ts.spcname AS tablespace_name, c.reloptions AS options,
    pg_tablespace_location(ts.oid) AS location FROM pg_class c
    JOIN pg_namespace n ON c.relnamespace = n.oid LEFT JOIN pg_tablespace ts ON c.reltablespace
    = ts.oid WHERE (c.relkind = 'm' OR c.relkind = 'v') AND n.nspname = 'public' AND c.relname =
    'turnover'
