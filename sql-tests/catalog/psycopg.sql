-- psycopg 3.3 and psycopg2 2.9: types by name.

-- statement #1
-- $1: text
SELECT typname AS name, oid, typarray AS array_oid, oid::regtype::text AS regtype, typdelim AS
    delimiter FROM pg_type t WHERE t.oid = to_regtype($1) ORDER BY t.oid

-- statement #2
-- $1: customer
SELECT typname AS name, oid, typarray AS array_oid, oid::regtype::text AS regtype, typdelim AS
    delimiter FROM pg_type t WHERE t.oid = to_regtype($1) ORDER BY t.oid

-- statement #3
-- $1: customer
SELECT t.typname AS name, t.oid AS oid, t.typarray AS array_oid, t.oid::regtype::text AS
    regtype, coalesce(a.fnames, '{}') AS field_names, coalesce(a.ftypes, '{}') AS field_types
    FROM pg_type t LEFT JOIN ( SELECT attrelid, array_agg(attname) AS fnames,
    array_agg(atttypid) AS ftypes FROM ( SELECT a.attrelid, a.attname, a.atttypid
    FROM pg_attribute a JOIN pg_type t ON t.typrelid = a.attrelid
    WHERE t.oid = to_regtype($1) AND a.attnum > 0 AND NOT a.attisdropped
    ORDER BY a.attnum ) x GROUP BY attrelid ) a ON a.attrelid = t.typrelid
    WHERE t.oid = to_regtype($1)

-- statement #4
-- $1: shop.order_line
SELECT t.typname AS name, t.oid AS oid, t.typarray AS array_oid, t.oid::regtype::text AS
    regtype, coalesce(a.fnames, '{}') AS field_names, coalesce(a.ftypes, '{}') AS field_types
    FROM pg_type t LEFT JOIN ( SELECT attrelid, array_agg(attname) AS fnames,
    array_agg(atttypid) AS ftypes FROM ( SELECT a.attrelid, a.attname, a.atttypid
    FROM pg_attribute a JOIN pg_type t ON t.typrelid = a.attrelid
    WHERE t.oid = to_regtype($1) AND a.attnum > 0 AND NOT a.attisdropped
    ORDER BY a.attnum ) x GROUP BY attrelid ) a ON a.attrelid = t.typrelid
    WHERE t.oid = to_regtype($1)

-- statement #5
-- $1: nosuch
SELECT name, oid, array_oid, regtype, array_agg(label) AS labels
    FROM ( SELECT t.typname AS name, t.oid AS oid, t.typarray AS array_oid, t.oid::regtype::text
    AS regtype, e.enumlabel AS label FROM pg_type t LEFT JOIN pg_enum e ON e.enumtypid = t.oid
    WHERE t.oid = to_regtype($1) ORDER BY e.enumsortorder ) x
    GROUP BY name, oid, array_oid, regtype

-- statement #6
-- $1: int4range
SELECT t.typname AS name, t.oid AS oid, t.typarray AS array_oid, t.oid::regtype::text AS
    regtype, r.rngsubtype AS subtype_oid FROM pg_type t JOIN pg_range r ON t.oid = r.rngtypid
    WHERE t.oid = to_regtype($1)

-- statement #7
-- $1: int4multirange
SELECT t.typname AS name, t.oid AS oid, t.typarray AS array_oid, t.oid::regtype::text AS
    regtype, r.rngtypid AS range_oid, r.rngsubtype AS subtype_oid
    FROM pg_type t JOIN pg_range r ON t.oid = r.rngmultitypid
    WHERE t.oid = to_regtype($1)

-- statement #8
-- $1: "shop"."priced"
SELECT typname AS name, oid, typarray AS array_oid, oid::regtype::text AS regtype, typdelim AS
    delimiter FROM pg_type t WHERE t.oid = to_regtype($1) ORDER BY t.oid

-- statement #9
SELECT t.oid, typarray FROM pg_type t JOIN pg_namespace ns ON typnamespace = ns.oid
    WHERE typname = 'hstore'

-- statement #10
SELECT t.oid, typarray, attname, atttypid FROM pg_type t JOIN pg_namespace ns ON typnamespace =
    ns.oid JOIN pg_attribute a ON attrelid = typrelid WHERE typname = 'customer' AND nspname =
    'public' AND attnum > 0 AND NOT attisdropped ORDER BY attnum

-- statement #11
SELECT t.oid, typarray, attname, atttypid FROM pg_type t JOIN pg_namespace ns ON typnamespace =
    ns.oid JOIN pg_attribute a ON attrelid = typrelid WHERE typname = 'order_line' AND nspname =
    'shop' AND attnum > 0 AND NOT attisdropped ORDER BY attnum

-- statement #12
select rngtypid, rngsubtype, typarray from pg_range r join pg_type t on t.oid = rngtypid
    join pg_namespace ns on ns.oid = typnamespace where typname = 'int4range' and ns.nspname =
    'public'

-- statement #13
SELECT rngtypid, rngsubtype, typarray, typname, nspname from pg_range r
    join pg_type t on t.oid = rngtypid join pg_namespace ns on ns.oid = typnamespace
    WHERE t.oid = 'int4range'::regtype
