-- tokio-postgres 0.7, pgx 5, postgres.js: types that they do not know.

-- a type
-- $1 26: @{customer::regtype}
SELECT t.typname, t.typtype, t.typelem, r.rngsubtype, t.typbasetype, n.nspname, t.typrelid
    FROM pg_catalog.pg_type t LEFT OUTER JOIN pg_catalog.pg_range r ON r.rngtypid = t.oid
    INNER JOIN pg_catalog.pg_namespace n ON t.typnamespace = n.oid WHERE t.oid = $1

-- an array's type
-- $1 26: 1231
SELECT t.typname, t.typtype, t.typelem, r.rngsubtype, t.typbasetype, n.nspname, t.typrelid
    FROM pg_catalog.pg_type t LEFT OUTER JOIN pg_catalog.pg_range r ON r.rngtypid = t.oid
    INNER JOIN pg_catalog.pg_namespace n ON t.typnamespace = n.oid WHERE t.oid = $1

-- an enum's values
-- $1 26: 16000
SELECT enumlabel FROM pg_catalog.pg_enum WHERE enumtypid = $1 ORDER BY enumsortorder

-- a composite's columns
-- $1 26: @{customer}
SELECT attname, atttypid FROM pg_catalog.pg_attribute WHERE attrelid = $1 AND NOT attisdropped
    AND attnum > 0 ORDER BY attnum

-- pgx: a type by name
-- $1: customer
SELECT $1::text::regtype::oid

-- pgx: kind and elements
-- $1: customer
SELECT typtype::text, typbasetype, typrelid, typarray FROM pg_type WHERE oid = ($1::text)::regtype::oid

-- pgx: a composite's columns
-- $1: @{customer}
SELECT attname, atttypid FROM pg_attribute WHERE attrelid = $1 AND NOT attisdropped AND attnum > 0 ORDER BY attnum

-- postgres.js: arrays
SELECT b.oid, b.typarray FROM pg_catalog.pg_type a LEFT JOIN pg_catalog.pg_type b ON b.oid = a.typelem
    WHERE a.typcategory = 'A' GROUP BY b.oid, b.typarray ORDER BY b.oid

-- sqlx: a type by name
-- $1: customer
SELECT oid FROM pg_catalog.pg_type WHERE oid = ($1)::regtype::oid

-- sqlx: nullability of a result's columns
SELECT ord, NOT pg_attribute.attnotnull FROM (VALUES (0, @{customer}::int4, 1::int2), (1, @{customer}::int4, 3::int2)) AS col (ord, rel, att)
    LEFT JOIN pg_catalog.pg_attribute ON pg_attribute.attrelid = rel AND pg_attribute.attnum = att ORDER BY ord
