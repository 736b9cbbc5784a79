-- Npgsql 8 and Power BI: loading types, GetSchema, pooling. From what it documents.

-- version
SELECT version() LIKE 'PostgreSQL 15%'

-- types
SELECT ns.nspname, t.oid, t.typname, t.typtype, t.typnotnull, t.elemtypoid
    FROM (SELECT typ.oid, typ.typnamespace, typ.typname, typ.typtype, typ.typrelid, typ.typnotnull,
            typ.relkind, elemtyp.oid AS elemtypoid, elemtyp.typname AS elemtypname,
            elemcls.relkind AS elemrelkind,
            CASE WHEN elemproc.proname = 'array_recv' THEN 'a' ELSE elemtyp.typtype END AS elemtyptype,
            typ.typcategory
        FROM (SELECT typ.oid, typnamespace, typname, typrelid, typnotnull, relkind,
                typelem AS elemoid,
                CASE WHEN proc.proname = 'array_recv' THEN 'a' ELSE typ.typtype END AS typtype,
                CASE WHEN proc.proname = 'array_recv' THEN typ.typelem
                    WHEN typ.typtype = 'r' THEN rngsubtype
                    WHEN typ.typtype = 'm' THEN (SELECT rngtypid FROM pg_range
                        WHERE rngmultitypid = typ.oid)
                    WHEN typ.typtype = 'd' THEN typ.typbasetype END AS elemtypoid, typcategory
            FROM pg_type AS typ
            LEFT JOIN pg_class AS cls ON (cls.oid = typ.typrelid)
            LEFT JOIN pg_proc AS proc ON proc.oid = typ.typreceive
            LEFT JOIN pg_range ON (pg_range.rngtypid = typ.oid)) AS typ
        LEFT JOIN pg_type AS elemtyp ON elemtyp.oid = elemtypoid
        LEFT JOIN pg_class AS elemcls ON (elemcls.oid = elemtyp.typrelid)
        LEFT JOIN pg_proc AS elemproc ON elemproc.oid = elemtyp.typreceive) AS t
    JOIN pg_namespace AS ns ON (ns.oid = typnamespace)
    WHERE typtype IN ('b', 'r', 'm', 'e', 'd') OR (typtype = 'c' AND relkind = 'c')
        OR (typtype = 'p' AND typname IN ('record', 'void', 'unknown'))
        OR (typtype = 'a' AND (elemtyptype IN ('b', 'r', 'm', 'e', 'd')
            OR (elemtyptype = 'p' AND elemtypname IN ('record', 'void', 'unknown'))
            OR (elemtyptype = 'c' AND elemrelkind = 'c')))
    ORDER BY CASE WHEN typtype IN ('b', 'e', 'p') THEN 0 WHEN typtype = 'c' THEN 1
        WHEN typtype = 'r' THEN 2 WHEN typtype = 'm' THEN 3 WHEN typtype = 'a' THEN 4 ELSE 5 END

-- types of Npgsql 4, as Power BI sends
SELECT ns.nspname, a.typname, a.oid, a.typbasetype,
    CASE WHEN pg_proc.proname = 'array_recv' THEN 'a' ELSE a.typtype END AS type,
    CASE WHEN pg_proc.proname = 'array_recv' THEN a.typelem WHEN a.typtype = 'r' THEN rngsubtype
        ELSE 0 END AS elemoid,
    CASE WHEN pg_proc.proname IN ('array_recv', 'oidvectorrecv') THEN 3 WHEN a.typtype = 'r' THEN 2
        WHEN a.typtype = 'd' THEN 1 ELSE 0 END AS ord
    FROM pg_type AS a JOIN pg_namespace AS ns ON (ns.oid = a.typnamespace)
    JOIN pg_proc ON pg_proc.oid = a.typreceive LEFT OUTER JOIN pg_class AS cls ON (cls.oid = a.typrelid)
    LEFT OUTER JOIN pg_type AS b ON (b.oid = a.typelem)
    LEFT OUTER JOIN pg_class AS elemcls ON (elemcls.oid = b.typrelid)
    LEFT OUTER JOIN pg_range ON (pg_range.rngtypid = a.oid)
    WHERE a.typtype IN ('b', 'r', 'e', 'd')
        AND (b.typtype IS NULL OR b.typtype IN ('b', 'r', 'e', 'd'))
        OR (a.typname IN ('record', 'void') AND a.typtype = 'p')
    ORDER BY ord

-- composites
SELECT typ.oid, att.attname, att.atttypid FROM pg_type AS typ
    JOIN pg_namespace AS ns ON (ns.oid = typ.typnamespace)
    JOIN pg_class AS cls ON (cls.oid = typ.typrelid)
    JOIN pg_attribute AS att ON (att.attrelid = typ.typrelid)
    WHERE (typ.typtype = 'c' AND cls.relkind = 'c') AND attnum > 0 AND NOT attisdropped
    ORDER BY typ.oid, att.attnum

-- enums
SELECT pg_type.oid, enumlabel FROM pg_enum JOIN pg_type ON pg_type.oid = enumtypid
    ORDER BY oid, enumsortorder

-- state of a pool's host
SELECT pg_is_in_recovery(), pg_catalog.current_setting('default_transaction_read_only')

-- GetSchema: databases
SELECT d.datname, u.usename FROM pg_database d LEFT JOIN pg_user u ON d.datdba = u.usesysid
    WHERE d.datname = 'weir'

-- GetSchema: tables
SELECT table_catalog, table_schema, table_name, table_type FROM information_schema.tables
    WHERE table_type IN ('BASE TABLE', 'FOREIGN', 'FOREIGN TABLE')
        AND table_schema NOT IN ('pg_catalog', 'information_schema')

-- GetSchema: columns
SELECT table_catalog, table_schema, table_name, column_name, ordinal_position, column_default,
    is_nullable, udt_name AS data_type, character_maximum_length, character_octet_length,
    numeric_precision, numeric_precision_radix, numeric_scale, datetime_precision,
    character_set_catalog, character_set_schema, character_set_name, collation_catalog
    FROM information_schema.columns WHERE table_schema IN ('public', 'shop', 'Odd Names')

-- GetSchema: views
SELECT table_catalog, table_schema, table_name, check_option, is_updatable
    FROM information_schema.views WHERE table_schema NOT IN ('pg_catalog', 'information_schema')

-- GetSchema: materialized views
SELECT current_database() AS "table_catalog", schemaname AS "table_schema",
    matviewname AS "table_name" FROM pg_catalog.pg_matviews

-- GetSchema: users
SELECT usename AS user_name, usesysid AS user_sysid FROM pg_catalog.pg_user
    WHERE usename LIKE 'catalog%'

-- GetSchema: indexes
SELECT current_database() AS table_catalog, n.nspname AS table_schema, t.relname AS table_name,
    i.relname AS index_name, '' AS type_desc
    FROM pg_catalog.pg_class i JOIN pg_catalog.pg_index ix ON ix.indexrelid = i.oid
    JOIN pg_catalog.pg_class t ON ix.indrelid = t.oid
    LEFT JOIN pg_catalog.pg_user u ON u.usesysid = i.relowner
    LEFT JOIN pg_catalog.pg_namespace n ON n.oid = i.relnamespace
    WHERE i.relkind = 'i' AND n.nspname NOT IN ('pg_catalog', 'pg_toast')
        AND pg_catalog.pg_table_is_visible(i.oid) AND t.relkind = 'r'

-- GetSchema: index columns
SELECT current_database() AS "database", ns.nspname AS table_schema, t.relname AS table_name,
    i.relname AS index_name, a.attname AS column_name
    FROM pg_class t JOIN pg_index ix ON t.oid = ix.indrelid JOIN pg_class i ON ix.indexrelid = i.oid
    JOIN pg_attribute a ON t.oid = a.attrelid JOIN pg_namespace ns ON ns.oid = t.relnamespace
    WHERE ix.indrelid = t.oid AND a.attnum = ANY (ix.indkey) AND t.relkind = 'r'
        AND ns.nspname IN ('public', 'shop') ORDER BY t.relname, i.relname

-- GetSchema: constraints
SELECT pgn.nspname AS "constraint_schema", pgc.conname AS "constraint_name", pgtn.nspname AS "table_schema",
    pgt.relname AS "table_name", "constraint_type", pgc.condeferrable AS "is_deferrable",
    pgc.condeferred AS "initially_deferred"
    FROM pg_catalog.pg_constraint pgc
    INNER JOIN pg_catalog.pg_namespace pgn ON pgc.connamespace = pgn.oid
    INNER JOIN pg_catalog.pg_class pgt ON pgc.conrelid = pgt.oid
    INNER JOIN pg_catalog.pg_namespace pgtn ON pgt.relnamespace = pgtn.oid
    INNER JOIN (VALUES ('p', 'PRIMARY KEY'), ('f', 'FOREIGN KEY'), ('u', 'UNIQUE KEY')) AS
        constraint_types ("contype", "constraint_type") ON constraint_types.contype = pgc.contype::text
    WHERE pgn.nspname IN ('public', 'shop', 'Odd Names')

-- metadata of a result's columns
SELECT typ.oid AS typoid, nspname, relname, attname, attrelid, attnum, attnotnull,
    attidentity != '' AS isidentity,
    CASE WHEN typ.typtype = 'd' THEN typ.typtypmod ELSE atttypmod END AS typmod,
    CASE WHEN atthasdef THEN (SELECT pg_get_expr(adbin, cls.oid) FROM pg_attrdef
        WHERE adrelid = cls.oid AND adnum = attr.attnum) ELSE NULL END AS default,
    CASE WHEN (cls.relkind = ANY (ARRAY['r'::"char", 'p'::"char"]))
        OR ((cls.relkind = ANY (ARRAY['v'::"char", 'f'::"char"]))
            AND pg_column_is_updatable((cls.oid)::regclass, attr.attnum, false))
        THEN 'true'::boolean ELSE 'false'::boolean END AS is_updatable,
    EXISTS (SELECT * FROM pg_index WHERE pg_index.indrelid = cls.oid AND pg_index.indisprimary = true
        AND attnum = ANY (indkey)) AS isprimarykey,
    EXISTS (SELECT * FROM pg_index WHERE pg_index.indrelid = cls.oid AND pg_index.indisunique = true
        AND pg_index.indnkeyatts = 1 AND attnum = pg_index.indkey[0]) AS isunique
    FROM pg_attribute AS attr JOIN pg_type AS typ ON attr.atttypid = typ.oid
    JOIN pg_class AS cls ON cls.oid = attr.attrelid JOIN pg_namespace AS ns ON ns.oid = cls.relnamespace
    WHERE atttypid <> 0 AND relkind IN ('r', 'v', 'm') AND nspname NOT IN ('pg_catalog', 'information_schema')
        AND attnum > 0 AND ((attr.attrelid = @{customer} AND attr.attnum = 1)
            OR (attr.attrelid = @{customer} AND attr.attnum = 5)
            OR (attr.attrelid = @{shop.order_line} AND attr.attnum = 2)
            OR (attr.attrelid = @{turnover} AND attr.attnum = 1))
    ORDER BY attnum
