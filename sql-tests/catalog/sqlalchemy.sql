-- SQLAlchemy 2.1: its inspector, over psycopg 3.

-- statement #1
select pg_catalog.version()

-- statement #2
show transaction isolation level

-- statement #3
show standard_conforming_strings

-- statement #4
-- $1: hstore
SELECT typname AS name, oid, typarray AS array_oid, oid::regtype::text AS regtype, typdelim AS
    delimiter FROM pg_type t WHERE t.oid = to_regtype($1) ORDER BY t.oid

-- get_schema_names
-- $1: pg/_
SELECT pg_catalog.pg_namespace.nspname FROM pg_catalog.pg_namespace
    WHERE (pg_catalog.pg_namespace.nspname NOT LIKE $1::VARCHAR || '%' ESCAPE '/')
    ORDER BY pg_catalog.pg_namespace.nspname

-- get_table_names
-- $1: r
-- $2: p
-- $3: t
-- $4: pg_catalog
SELECT pg_catalog.pg_class.relname FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON
    pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace
    WHERE pg_catalog.pg_class.relkind = ANY (ARRAY[$1::VARCHAR, $2::VARCHAR]) AND
    pg_catalog.pg_class.relpersistence != $3::VARCHAR AND
    pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid) AND pg_catalog.pg_namespace.nspname
    != $4::VARCHAR

-- get_view_names
-- $1: v
-- $2: t
-- $3: pg_catalog
SELECT pg_catalog.pg_class.relname FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON
    pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace
    WHERE pg_catalog.pg_class.relkind = ANY (ARRAY[$1::VARCHAR]) AND
    pg_catalog.pg_class.relpersistence != $2::VARCHAR AND
    pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid) AND pg_catalog.pg_namespace.nspname
    != $3::VARCHAR

-- get_materialized_view_names
-- $1: m
-- $2: t
-- $3: pg_catalog
SELECT pg_catalog.pg_class.relname FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON
    pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace
    WHERE pg_catalog.pg_class.relkind = ANY (ARRAY[$1::VARCHAR]) AND
    pg_catalog.pg_class.relpersistence != $2::VARCHAR AND
    pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid) AND pg_catalog.pg_namespace.nspname
    != $3::VARCHAR

-- get_sequence_names
-- $1: S
-- $2: pg_catalog
SELECT pg_catalog.pg_class.relname FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON
    pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace
    WHERE pg_catalog.pg_class.relkind = ANY (ARRAY[$1::VARCHAR]) AND
    pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid) AND pg_catalog.pg_namespace.nspname
    != $2::VARCHAR

-- get_temp_table_names
-- $1: r
-- $2: p
-- $3: t
-- $4: pg_catalog
SELECT pg_catalog.pg_class.relname FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON
    pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace
    WHERE pg_catalog.pg_class.relkind = ANY (ARRAY[$1::VARCHAR, $2::VARCHAR]) AND
    pg_catalog.pg_class.relpersistence = $3::VARCHAR AND
    pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid) AND pg_catalog.pg_namespace.nspname
    != $4::VARCHAR

-- get_temp_view_names
-- $1: v
-- $2: t
-- $3: pg_catalog
SELECT pg_catalog.pg_class.relname FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON
    pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace
    WHERE pg_catalog.pg_class.relkind = ANY (ARRAY[$1::VARCHAR]) AND
    pg_catalog.pg_class.relpersistence = $2::VARCHAR AND
    pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid) AND pg_catalog.pg_namespace.nspname
    != $3::VARCHAR

-- get_foreign_table_names
-- $1: f
-- $2: pg_catalog
SELECT pg_catalog.pg_class.relname FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON
    pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace
    WHERE pg_catalog.pg_class.relkind = ANY (ARRAY[$1::VARCHAR]) AND
    pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid) AND pg_catalog.pg_namespace.nspname
    != $2::VARCHAR

-- get_enums
-- $1: e
-- $2: pg_catalog
SELECT pg_catalog.pg_type.typname AS name, pg_catalog.pg_type_is_visible(pg_catalog.pg_type.oid)
    AS visible, pg_catalog.pg_namespace.nspname AS schema, lbl_agg.labels AS labels
    FROM pg_catalog.pg_type JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid =
    pg_catalog.pg_type.typnamespace LEFT OUTER JOIN (SELECT pg_catalog.pg_enum.enumtypid AS
    enumtypid, array_agg(CAST(pg_catalog.pg_enum.enumlabel AS TEXT)
    ORDER BY pg_catalog.pg_enum.enumsortorder) AS labels FROM pg_catalog.pg_enum
    GROUP BY pg_catalog.pg_enum.enumtypid) AS lbl_agg ON pg_catalog.pg_type.oid =
    lbl_agg.enumtypid WHERE pg_catalog.pg_type.typtype = $1::VARCHAR AND
    pg_catalog.pg_type_is_visible(pg_catalog.pg_type.oid) AND pg_catalog.pg_namespace.nspname !=
    $2::VARCHAR ORDER BY pg_catalog.pg_namespace.nspname, pg_catalog.pg_type.typname

-- get_domains
-- $1 16: t
-- $2 21: 0
-- $3: d
-- $4: pg_catalog
SELECT pg_catalog.pg_type.typname AS name,
    pg_catalog.format_type(pg_catalog.pg_type.typbasetype, pg_catalog.pg_type.typtypmod) AS
    attype, NOT pg_catalog.pg_type.typnotnull AS nullable, pg_catalog.pg_type.typdefault AS
    "default", pg_catalog.pg_type_is_visible(pg_catalog.pg_type.oid) AS visible,
    pg_catalog.pg_namespace.nspname AS schema, domain_constraints.condefs,
    domain_constraints.connames, pg_catalog.pg_collation.collname, CASE WHEN
    (pg_catalog.pg_collation.oid IS NULL) THEN NULL WHEN
    pg_catalog.pg_collation_is_visible(pg_catalog.pg_collation.oid) THEN NULL ELSE
    collation_namespace.nspname END AS collation_schema FROM pg_catalog.pg_type
    JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid =
    pg_catalog.pg_type.typnamespace LEFT OUTER JOIN pg_catalog.pg_collation ON
    pg_catalog.pg_type.typcollation = pg_catalog.pg_collation.oid
    LEFT OUTER JOIN pg_catalog.pg_namespace AS collation_namespace ON collation_namespace.oid =
    pg_catalog.pg_collation.collnamespace LEFT OUTER JOIN (SELECT
    pg_catalog.pg_constraint.contypid AS contypid,
    array_agg(pg_catalog.pg_get_constraintdef(pg_catalog.pg_constraint.oid, $1)) AS condefs,
    array_agg(CAST(pg_catalog.pg_constraint.conname AS TEXT)) AS connames
    FROM pg_catalog.pg_constraint WHERE pg_catalog.pg_constraint.contypid != $2::INTEGER
    GROUP BY pg_catalog.pg_constraint.contypid) AS domain_constraints ON pg_catalog.pg_type.oid
    = domain_constraints.contypid WHERE pg_catalog.pg_type.typtype = $3::VARCHAR AND
    pg_catalog.pg_type_is_visible(pg_catalog.pg_type.oid) AND pg_catalog.pg_namespace.nspname !=
    $4::VARCHAR ORDER BY pg_catalog.pg_namespace.nspname, pg_catalog.pg_type.typname

-- get_table_names shop
-- $1: r
-- $2: p
-- $3: t
-- $4: shop
SELECT pg_catalog.pg_class.relname FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON
    pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace
    WHERE pg_catalog.pg_class.relkind = ANY (ARRAY[$1::VARCHAR, $2::VARCHAR]) AND
    pg_catalog.pg_class.relpersistence != $3::VARCHAR AND pg_catalog.pg_namespace.nspname =
    $4::VARCHAR

-- get_view_names shop
-- $1: v
-- $2: t
-- $3: shop
SELECT pg_catalog.pg_class.relname FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON
    pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace
    WHERE pg_catalog.pg_class.relkind = ANY (ARRAY[$1::VARCHAR]) AND
    pg_catalog.pg_class.relpersistence != $2::VARCHAR AND pg_catalog.pg_namespace.nspname =
    $3::VARCHAR

-- get_materialized_view_names shop
-- $1: m
-- $2: t
-- $3: shop
SELECT pg_catalog.pg_class.relname FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON
    pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace
    WHERE pg_catalog.pg_class.relkind = ANY (ARRAY[$1::VARCHAR]) AND
    pg_catalog.pg_class.relpersistence != $2::VARCHAR AND pg_catalog.pg_namespace.nspname =
    $3::VARCHAR

-- get_columns customer
-- $1: 
-- $2: always
-- $3: a
-- $4: start
-- $5: increment
-- $6: minvalue
-- $7: maxvalue
-- $8: cache
-- $9: cycle
-- $10: 
-- $11 21: 0
-- $12: name
-- $13: schema
-- $14 21: 0
-- $15: r
-- $16: p
-- $17: f
-- $18: v
-- $19: m
-- $20: pg_catalog
-- $21: customer
SELECT pg_catalog.pg_attribute.attname AS name,
    pg_catalog.format_type(pg_catalog.pg_attribute.atttypid, pg_catalog.pg_attribute.atttypmod)
    AS format_type, CASE WHEN pg_catalog.pg_attribute.atthasdef THEN (SELECT
    pg_catalog.pg_get_expr(pg_catalog.pg_attrdef.adbin, pg_catalog.pg_attrdef.adrelid) AS
    pg_get_expr_1 FROM pg_catalog.pg_attrdef WHERE pg_catalog.pg_attribute.atthasdef AND
    pg_catalog.pg_attrdef.adrelid = pg_catalog.pg_attribute.attrelid AND
    pg_catalog.pg_attrdef.adnum = pg_catalog.pg_attribute.attnum) ELSE NULL END AS "default",
    pg_catalog.pg_attribute.attnotnull AS not_null, pg_catalog.pg_class.relname AS table_name,
    pg_catalog.pg_description.description AS comment, pg_catalog.pg_attribute.attgenerated AS
    generated, CASE WHEN (pg_catalog.pg_attribute.attidentity != $1::VARCHAR) THEN (SELECT
    json_build_object($2::VARCHAR, pg_catalog.pg_attribute.attidentity = $3::VARCHAR,
    $4::VARCHAR, pg_catalog.pg_sequence.seqstart, $5::VARCHAR,
    pg_catalog.pg_sequence.seqincrement, $6::VARCHAR, pg_catalog.pg_sequence.seqmin,
    $7::VARCHAR, pg_catalog.pg_sequence.seqmax, $8::VARCHAR, pg_catalog.pg_sequence.seqcache,
    $9::VARCHAR, pg_catalog.pg_sequence.seqcycle) AS json_build_object_1
    FROM pg_catalog.pg_sequence WHERE pg_catalog.pg_attribute.attidentity != $10::VARCHAR AND
    pg_catalog.pg_sequence.seqrelid =
    CAST(CAST(pg_catalog.pg_get_serial_sequence(CAST(CAST(pg_catalog.pg_attribute.attrelid AS
    REGCLASS) AS TEXT), pg_catalog.pg_attribute.attname) AS REGCLASS) AS OID)) ELSE NULL END AS
    identity_options, CASE WHEN (pg_catalog.pg_attribute.attcollation != $11::INTEGER AND
    (SELECT pg_catalog.pg_type.typcollation FROM pg_catalog.pg_type
    WHERE pg_catalog.pg_type.oid = pg_catalog.pg_attribute.atttypid) !=
    pg_catalog.pg_attribute.attcollation) THEN (SELECT json_build_object($12::VARCHAR,
    pg_catalog.pg_collation.collname, $13::VARCHAR, CASE WHEN
    pg_catalog.pg_collation_is_visible(pg_catalog.pg_collation.oid) THEN NULL ELSE
    pg_catalog.pg_namespace.nspname END) AS json_build_object_9
    FROM pg_catalog.pg_collation JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid =
    pg_catalog.pg_collation.collnamespace WHERE pg_catalog.pg_collation.oid =
    pg_catalog.pg_attribute.attcollation) ELSE NULL END AS collation
    FROM pg_catalog.pg_class LEFT OUTER JOIN pg_catalog.pg_attribute ON pg_catalog.pg_class.oid
    = pg_catalog.pg_attribute.attrelid AND pg_catalog.pg_attribute.attnum > $14::SMALLINT AND
    NOT pg_catalog.pg_attribute.attisdropped LEFT OUTER JOIN pg_catalog.pg_description ON
    pg_catalog.pg_description.objoid = pg_catalog.pg_attribute.attrelid AND
    pg_catalog.pg_description.objsubid = pg_catalog.pg_attribute.attnum
    JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid =
    pg_catalog.pg_class.relnamespace WHERE pg_catalog.pg_class.relkind = ANY
    (ARRAY[$15::VARCHAR, $16::VARCHAR, $17::VARCHAR, $18::VARCHAR, $19::VARCHAR]) AND
    pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid) AND pg_catalog.pg_namespace.nspname
    != $20::VARCHAR AND pg_catalog.pg_class.relname IN ($21::VARCHAR)
    ORDER BY pg_catalog.pg_class.relname, pg_catalog.pg_attribute.attnum

-- get_pk_constraint customer
-- $1: r
-- $2: p
-- $3: f
-- $4: v
-- $5: m
-- $6: pg_catalog
-- $7: customer
SELECT pg_catalog.pg_class.oid, pg_catalog.pg_class.relname FROM pg_catalog.pg_class
    JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid =
    pg_catalog.pg_class.relnamespace WHERE pg_catalog.pg_class.relkind = ANY (ARRAY[$1::VARCHAR,
    $2::VARCHAR, $3::VARCHAR, $4::VARCHAR, $5::VARCHAR]) AND
    pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid) AND pg_catalog.pg_namespace.nspname
    != $6::VARCHAR AND pg_catalog.pg_class.relname IN ($7::VARCHAR)

-- get_pk_constraint customer #2
-- $1 21: 1
-- $2: pg_catalog.pg_constraint
-- $3: p
-- $4 21: @{customer}
SELECT attr.conrelid, array_agg(CAST(attr.attname AS TEXT) ORDER BY attr.ord) AS cols,
    attr.conname, min(attr.description) AS description, min(attr.indnkeyatts) AS indnkeyatts,
    bool_and(attr.indnullsnotdistinct) AS indnullsnotdistinct
    FROM (SELECT con.conrelid AS conrelid, con.conname AS conname, con.description AS
    description, con.ord AS ord, con.indnkeyatts AS indnkeyatts, con.indnullsnotdistinct AS
    indnullsnotdistinct, pg_catalog.pg_attribute.attname AS attname
    FROM pg_catalog.pg_attribute JOIN (SELECT pg_catalog.pg_constraint.conrelid AS conrelid,
    pg_catalog.pg_constraint.conname AS conname, unnest(pg_catalog.pg_index.indkey) AS attnum,
    generate_subscripts(pg_catalog.pg_index.indkey, $1::INTEGER) AS ord,
    pg_catalog.pg_index.indnkeyatts AS indnkeyatts, pg_catalog.pg_index.indnullsnotdistinct AS
    indnullsnotdistinct, pg_catalog.pg_description.description AS description
    FROM pg_catalog.pg_constraint JOIN pg_catalog.pg_index ON pg_catalog.pg_constraint.conindid
    = pg_catalog.pg_index.indexrelid LEFT OUTER JOIN pg_catalog.pg_description ON
    pg_catalog.pg_description.objoid = pg_catalog.pg_constraint.oid AND
    pg_catalog.pg_description.classoid = CAST($2 AS REGCLASS)
    WHERE pg_catalog.pg_constraint.contype = $3::VARCHAR AND pg_catalog.pg_constraint.conrelid
    IN ($4)) AS con ON pg_catalog.pg_attribute.attnum = con.attnum AND
    pg_catalog.pg_attribute.attrelid = con.conrelid WHERE con.conrelid IN ($4)) AS attr
    GROUP BY attr.conrelid, attr.conname ORDER BY attr.conrelid, attr.conname

-- get_foreign_keys customer
-- $1 16: t
-- $2: f
-- $3: pg_catalog.pg_constraint
-- $4: r
-- $5: p
-- $6: f
-- $7: v
-- $8: m
-- $9: pg_catalog
-- $10: customer
SELECT pg_catalog.pg_class.relname, pg_catalog.pg_constraint.conname, CASE WHEN
    (pg_catalog.pg_constraint.oid IS NOT NULL) THEN
    pg_catalog.pg_get_constraintdef(pg_catalog.pg_constraint.oid, $1) END AS anon_1,
    nsp_ref.nspname, pg_catalog.pg_description.description FROM pg_catalog.pg_class
    LEFT OUTER JOIN pg_catalog.pg_constraint ON pg_catalog.pg_class.oid =
    pg_catalog.pg_constraint.conrelid AND pg_catalog.pg_constraint.contype = $2::VARCHAR
    LEFT OUTER JOIN pg_catalog.pg_class AS cls_ref ON cls_ref.oid =
    pg_catalog.pg_constraint.confrelid LEFT OUTER JOIN pg_catalog.pg_namespace AS nsp_ref ON
    cls_ref.relnamespace = nsp_ref.oid LEFT OUTER JOIN pg_catalog.pg_description ON
    pg_catalog.pg_description.objoid = pg_catalog.pg_constraint.oid AND
    pg_catalog.pg_description.classoid = CAST($3 AS REGCLASS)
    JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid =
    pg_catalog.pg_class.relnamespace WHERE pg_catalog.pg_class.relkind = ANY (ARRAY[$4::VARCHAR,
    $5::VARCHAR, $6::VARCHAR, $7::VARCHAR, $8::VARCHAR]) AND
    pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid) AND pg_catalog.pg_namespace.nspname
    != $9::VARCHAR AND pg_catalog.pg_class.relname IN ($10::VARCHAR)
    ORDER BY pg_catalog.pg_class.relname, pg_catalog.pg_constraint.conname

-- get_indexes customer
-- $1: btree
SELECT pg_catalog.pg_am.oid, pg_catalog.pg_am.amname FROM pg_catalog.pg_am
    WHERE pg_catalog.pg_am.amname = $1::VARCHAR

-- get_indexes customer #2
SELECT pg_catalog.pg_opclass.oid, pg_catalog.pg_opclass.opcname
    FROM pg_catalog.pg_opclass WHERE NOT pg_catalog.pg_opclass.opcdefault

-- get_indexes customer #3
-- $1 21: 0
-- $2 21: 1
-- $3 16: t
-- $4 21: 0
-- $5 21: 1
-- $6 21: @{customer}
-- $7: p
-- $8: u
-- $9: x
SELECT pg_catalog.pg_index.indrelid, pg_catalog.pg_class.relname,
    pg_catalog.pg_index.indisunique, pg_catalog.pg_index.indisvalid,
    pg_catalog.pg_constraint.conrelid IS NOT NULL AS has_constraint,
    pg_catalog.pg_index.indoption, pg_catalog.pg_class.reloptions, pg_catalog.pg_class.relam,
    CASE WHEN (pg_catalog.pg_index.indpred IS NOT NULL) THEN
    pg_catalog.pg_get_expr(pg_catalog.pg_index.indpred, pg_catalog.pg_index.indrelid) END AS
    filter_definition, pg_catalog.pg_index.indnkeyatts, pg_catalog.pg_index.indnullsnotdistinct,
    idx_cols.elements, idx_cols.elements_is_expr, idx_cols.elements_opclass
    FROM pg_catalog.pg_index JOIN pg_catalog.pg_class ON pg_catalog.pg_index.indexrelid =
    pg_catalog.pg_class.oid LEFT OUTER JOIN (SELECT idx_attr.indexrelid AS indexrelid,
    min(idx_attr.indrelid) AS min_1, array_agg(idx_attr.element
    ORDER BY idx_attr.ord) AS elements, array_agg(idx_attr.is_expr
    ORDER BY idx_attr.ord) AS elements_is_expr, array_agg(idx_attr.att_opclass
    ORDER BY idx_attr.ord) AS elements_opclass FROM (SELECT idx.indexrelid AS indexrelid,
    idx.indrelid AS indrelid, idx.ord AS ord, CASE WHEN (idx.attnum = $1::INTEGER) THEN
    pg_catalog.pg_get_indexdef(idx.indexrelid, idx.ord + $2::INTEGER, $3) ELSE
    CAST(pg_catalog.pg_attribute.attname AS TEXT) END AS element, idx.attnum = $4::INTEGER AS
    is_expr, CAST(idx.att_opclass AS BIGINT) AS att_opclass FROM (SELECT
    pg_catalog.pg_index.indexrelid AS indexrelid, pg_catalog.pg_index.indrelid AS indrelid,
    unnest(pg_catalog.pg_index.indkey) AS attnum, unnest(pg_catalog.pg_index.indclass) AS
    att_opclass, generate_subscripts(pg_catalog.pg_index.indkey, $5::INTEGER) AS ord
    FROM pg_catalog.pg_index WHERE NOT pg_catalog.pg_index.indisprimary AND
    pg_catalog.pg_index.indrelid IN ($6)) AS idx LEFT OUTER JOIN pg_catalog.pg_attribute ON
    pg_catalog.pg_attribute.attnum = idx.attnum AND pg_catalog.pg_attribute.attrelid =
    idx.indrelid WHERE idx.indrelid IN ($6)) AS idx_attr GROUP BY idx_attr.indexrelid) AS
    idx_cols ON pg_catalog.pg_index.indexrelid = idx_cols.indexrelid
    LEFT OUTER JOIN pg_catalog.pg_constraint ON pg_catalog.pg_index.indrelid =
    pg_catalog.pg_constraint.conrelid AND pg_catalog.pg_index.indexrelid =
    pg_catalog.pg_constraint.conindid AND pg_catalog.pg_constraint.contype = ANY
    (ARRAY[$7::VARCHAR, $8::VARCHAR, $9::VARCHAR]) WHERE pg_catalog.pg_index.indrelid IN ($6)
    AND NOT pg_catalog.pg_index.indisprimary ORDER BY pg_catalog.pg_index.indrelid,
    pg_catalog.pg_class.relname

-- get_unique_constraints customer
-- $1 21: 1
-- $2: pg_catalog.pg_constraint
-- $3: u
-- $4 21: @{customer}
SELECT attr.conrelid, array_agg(CAST(attr.attname AS TEXT) ORDER BY attr.ord) AS cols,
    attr.conname, min(attr.description) AS description, min(attr.indnkeyatts) AS indnkeyatts,
    bool_and(attr.indnullsnotdistinct) AS indnullsnotdistinct
    FROM (SELECT con.conrelid AS conrelid, con.conname AS conname, con.description AS
    description, con.ord AS ord, con.indnkeyatts AS indnkeyatts, con.indnullsnotdistinct AS
    indnullsnotdistinct, pg_catalog.pg_attribute.attname AS attname
    FROM pg_catalog.pg_attribute JOIN (SELECT pg_catalog.pg_constraint.conrelid AS conrelid,
    pg_catalog.pg_constraint.conname AS conname, unnest(pg_catalog.pg_index.indkey) AS attnum,
    generate_subscripts(pg_catalog.pg_index.indkey, $1::INTEGER) AS ord,
    pg_catalog.pg_index.indnkeyatts AS indnkeyatts, pg_catalog.pg_index.indnullsnotdistinct AS
    indnullsnotdistinct, pg_catalog.pg_description.description AS description
    FROM pg_catalog.pg_constraint JOIN pg_catalog.pg_index ON pg_catalog.pg_constraint.conindid
    = pg_catalog.pg_index.indexrelid LEFT OUTER JOIN pg_catalog.pg_description ON
    pg_catalog.pg_description.objoid = pg_catalog.pg_constraint.oid AND
    pg_catalog.pg_description.classoid = CAST($2 AS REGCLASS)
    WHERE pg_catalog.pg_constraint.contype = $3::VARCHAR AND pg_catalog.pg_constraint.conrelid
    IN ($4)) AS con ON pg_catalog.pg_attribute.attnum = con.attnum AND
    pg_catalog.pg_attribute.attrelid = con.conrelid WHERE con.conrelid IN ($4)) AS attr
    GROUP BY attr.conrelid, attr.conname ORDER BY attr.conrelid, attr.conname

-- get_check_constraints customer
-- $1 16: t
-- $2: c
-- $3: pg_catalog.pg_constraint
-- $4: r
-- $5: p
-- $6: f
-- $7: v
-- $8: m
-- $9: pg_catalog
-- $10: customer
SELECT pg_catalog.pg_class.relname, pg_catalog.pg_constraint.conname, CASE WHEN
    (pg_catalog.pg_constraint.oid IS NOT NULL) THEN
    pg_catalog.pg_get_constraintdef(pg_catalog.pg_constraint.oid, $1) END AS anon_1,
    pg_catalog.pg_description.description FROM pg_catalog.pg_class
    LEFT OUTER JOIN pg_catalog.pg_constraint ON pg_catalog.pg_class.oid =
    pg_catalog.pg_constraint.conrelid AND pg_catalog.pg_constraint.contype = $2::VARCHAR
    LEFT OUTER JOIN pg_catalog.pg_description ON pg_catalog.pg_description.objoid =
    pg_catalog.pg_constraint.oid AND pg_catalog.pg_description.classoid = CAST($3 AS REGCLASS)
    JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid =
    pg_catalog.pg_class.relnamespace WHERE pg_catalog.pg_class.relkind = ANY (ARRAY[$4::VARCHAR,
    $5::VARCHAR, $6::VARCHAR, $7::VARCHAR, $8::VARCHAR]) AND
    pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid) AND pg_catalog.pg_namespace.nspname
    != $9::VARCHAR AND pg_catalog.pg_class.relname IN ($10::VARCHAR)
    ORDER BY pg_catalog.pg_class.relname, pg_catalog.pg_constraint.conname

-- get_table_comment customer
-- $1 21: 0
-- $2: pg_catalog.pg_class
-- $3: r
-- $4: p
-- $5: f
-- $6: v
-- $7: m
-- $8: pg_catalog
-- $9: customer
SELECT pg_catalog.pg_class.relname, pg_catalog.pg_description.description
    FROM pg_catalog.pg_class LEFT OUTER JOIN pg_catalog.pg_description ON
    pg_catalog.pg_class.oid = pg_catalog.pg_description.objoid AND
    pg_catalog.pg_description.objsubid = $1::INTEGER AND pg_catalog.pg_description.classoid =
    CAST($2 AS REGCLASS) JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid =
    pg_catalog.pg_class.relnamespace WHERE pg_catalog.pg_class.relkind = ANY (ARRAY[$3::VARCHAR,
    $4::VARCHAR, $5::VARCHAR, $6::VARCHAR, $7::VARCHAR]) AND
    pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid) AND pg_catalog.pg_namespace.nspname
    != $8::VARCHAR AND pg_catalog.pg_class.relname IN ($9::VARCHAR)

-- get_table_options customer
-- $1: default_table_access_method
-- $2: r
-- $3: p
-- $4: f
-- $5: v
-- $6: m
-- $7: pg_catalog
-- $8: customer
SELECT pg_catalog.pg_class.oid, pg_catalog.pg_class.relname, pg_catalog.pg_class.reloptions,
    NULL AS relhasoids, CASE WHEN (pg_catalog.pg_am.amname IS NOT NULL AND
    pg_catalog.pg_am.amname != current_setting($1::VARCHAR)) THEN pg_catalog.pg_am.amname ELSE
    NULL END AS access_method_name, pg_catalog.pg_tablespace.spcname AS tablespace_name,
    inherits.parent_table_names FROM pg_catalog.pg_class LEFT OUTER
    JOIN pg_catalog.pg_am ON pg_catalog.pg_class.relam = pg_catalog.pg_am.oid
    LEFT OUTER JOIN (SELECT pg_catalog.pg_inherits.inhrelid AS inhrelid,
    array_agg(pg_catalog.pg_class.relname ORDER BY pg_catalog.pg_inherits.inhseqno) AS
    parent_table_names FROM pg_catalog.pg_inherits JOIN pg_catalog.pg_class ON
    pg_catalog.pg_inherits.inhparent = pg_catalog.pg_class.oid
    GROUP BY pg_catalog.pg_inherits.inhrelid) AS inherits ON pg_catalog.pg_class.oid =
    inherits.inhrelid LEFT OUTER JOIN pg_catalog.pg_tablespace ON pg_catalog.pg_tablespace.oid =
    pg_catalog.pg_class.reltablespace JOIN pg_catalog.pg_namespace ON
    pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace
    WHERE pg_catalog.pg_class.relkind = ANY (ARRAY[$2::VARCHAR, $3::VARCHAR, $4::VARCHAR,
    $5::VARCHAR, $6::VARCHAR]) AND pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid) AND
    pg_catalog.pg_namespace.nspname != $7::VARCHAR AND pg_catalog.pg_class.relname IN
    ($8::VARCHAR)

-- get_table_oid customer
-- $1: customer
-- $2: r
-- $3: p
-- $4: f
-- $5: v
-- $6: m
-- $7: pg_catalog
SELECT pg_catalog.pg_class.oid FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON
    pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace
    WHERE pg_catalog.pg_class.relname = $1::VARCHAR AND pg_catalog.pg_class.relkind = ANY
    (ARRAY[$2::VARCHAR, $3::VARCHAR, $4::VARCHAR, $5::VARCHAR, $6::VARCHAR]) AND
    pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid) AND pg_catalog.pg_namespace.nspname
    != $7::VARCHAR

-- get_columns order_line
-- $1: 
-- $2: always
-- $3: a
-- $4: start
-- $5: increment
-- $6: minvalue
-- $7: maxvalue
-- $8: cache
-- $9: cycle
-- $10: 
-- $11 21: 0
-- $12: name
-- $13: schema
-- $14 21: 0
-- $15: r
-- $16: p
-- $17: f
-- $18: v
-- $19: m
-- $20: shop
-- $21: order_line
SELECT pg_catalog.pg_attribute.attname AS name,
    pg_catalog.format_type(pg_catalog.pg_attribute.atttypid, pg_catalog.pg_attribute.atttypmod)
    AS format_type, CASE WHEN pg_catalog.pg_attribute.atthasdef THEN (SELECT
    pg_catalog.pg_get_expr(pg_catalog.pg_attrdef.adbin, pg_catalog.pg_attrdef.adrelid) AS
    pg_get_expr_1 FROM pg_catalog.pg_attrdef WHERE pg_catalog.pg_attribute.atthasdef AND
    pg_catalog.pg_attrdef.adrelid = pg_catalog.pg_attribute.attrelid AND
    pg_catalog.pg_attrdef.adnum = pg_catalog.pg_attribute.attnum) ELSE NULL END AS "default",
    pg_catalog.pg_attribute.attnotnull AS not_null, pg_catalog.pg_class.relname AS table_name,
    pg_catalog.pg_description.description AS comment, pg_catalog.pg_attribute.attgenerated AS
    generated, CASE WHEN (pg_catalog.pg_attribute.attidentity != $1::VARCHAR) THEN (SELECT
    json_build_object($2::VARCHAR, pg_catalog.pg_attribute.attidentity = $3::VARCHAR,
    $4::VARCHAR, pg_catalog.pg_sequence.seqstart, $5::VARCHAR,
    pg_catalog.pg_sequence.seqincrement, $6::VARCHAR, pg_catalog.pg_sequence.seqmin,
    $7::VARCHAR, pg_catalog.pg_sequence.seqmax, $8::VARCHAR, pg_catalog.pg_sequence.seqcache,
    $9::VARCHAR, pg_catalog.pg_sequence.seqcycle) AS json_build_object_1
    FROM pg_catalog.pg_sequence WHERE pg_catalog.pg_attribute.attidentity != $10::VARCHAR AND
    pg_catalog.pg_sequence.seqrelid =
    CAST(CAST(pg_catalog.pg_get_serial_sequence(CAST(CAST(pg_catalog.pg_attribute.attrelid AS
    REGCLASS) AS TEXT), pg_catalog.pg_attribute.attname) AS REGCLASS) AS OID)) ELSE NULL END AS
    identity_options, CASE WHEN (pg_catalog.pg_attribute.attcollation != $11::INTEGER AND
    (SELECT pg_catalog.pg_type.typcollation FROM pg_catalog.pg_type
    WHERE pg_catalog.pg_type.oid = pg_catalog.pg_attribute.atttypid) !=
    pg_catalog.pg_attribute.attcollation) THEN (SELECT json_build_object($12::VARCHAR,
    pg_catalog.pg_collation.collname, $13::VARCHAR, CASE WHEN
    pg_catalog.pg_collation_is_visible(pg_catalog.pg_collation.oid) THEN NULL ELSE
    pg_catalog.pg_namespace.nspname END) AS json_build_object_9
    FROM pg_catalog.pg_collation JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid =
    pg_catalog.pg_collation.collnamespace WHERE pg_catalog.pg_collation.oid =
    pg_catalog.pg_attribute.attcollation) ELSE NULL END AS collation
    FROM pg_catalog.pg_class LEFT OUTER JOIN pg_catalog.pg_attribute ON pg_catalog.pg_class.oid
    = pg_catalog.pg_attribute.attrelid AND pg_catalog.pg_attribute.attnum > $14::SMALLINT AND
    NOT pg_catalog.pg_attribute.attisdropped LEFT OUTER JOIN pg_catalog.pg_description ON
    pg_catalog.pg_description.objoid = pg_catalog.pg_attribute.attrelid AND
    pg_catalog.pg_description.objsubid = pg_catalog.pg_attribute.attnum
    JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid =
    pg_catalog.pg_class.relnamespace WHERE pg_catalog.pg_class.relkind = ANY
    (ARRAY[$15::VARCHAR, $16::VARCHAR, $17::VARCHAR, $18::VARCHAR, $19::VARCHAR]) AND
    pg_catalog.pg_namespace.nspname = $20::VARCHAR AND pg_catalog.pg_class.relname IN
    ($21::VARCHAR) ORDER BY pg_catalog.pg_class.relname, pg_catalog.pg_attribute.attnum

-- get_pk_constraint order_line
-- $1: r
-- $2: p
-- $3: f
-- $4: v
-- $5: m
-- $6: shop
-- $7: order_line
SELECT pg_catalog.pg_class.oid, pg_catalog.pg_class.relname FROM pg_catalog.pg_class
    JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid =
    pg_catalog.pg_class.relnamespace WHERE pg_catalog.pg_class.relkind = ANY (ARRAY[$1::VARCHAR,
    $2::VARCHAR, $3::VARCHAR, $4::VARCHAR, $5::VARCHAR]) AND pg_catalog.pg_namespace.nspname =
    $6::VARCHAR AND pg_catalog.pg_class.relname IN ($7::VARCHAR)

-- get_pk_constraint order_line #2
-- $1 21: 1
-- $2: pg_catalog.pg_constraint
-- $3: p
-- $4 21: @{shop.order_line}
SELECT attr.conrelid, array_agg(CAST(attr.attname AS TEXT) ORDER BY attr.ord) AS cols,
    attr.conname, min(attr.description) AS description, min(attr.indnkeyatts) AS indnkeyatts,
    bool_and(attr.indnullsnotdistinct) AS indnullsnotdistinct
    FROM (SELECT con.conrelid AS conrelid, con.conname AS conname, con.description AS
    description, con.ord AS ord, con.indnkeyatts AS indnkeyatts, con.indnullsnotdistinct AS
    indnullsnotdistinct, pg_catalog.pg_attribute.attname AS attname
    FROM pg_catalog.pg_attribute JOIN (SELECT pg_catalog.pg_constraint.conrelid AS conrelid,
    pg_catalog.pg_constraint.conname AS conname, unnest(pg_catalog.pg_index.indkey) AS attnum,
    generate_subscripts(pg_catalog.pg_index.indkey, $1::INTEGER) AS ord,
    pg_catalog.pg_index.indnkeyatts AS indnkeyatts, pg_catalog.pg_index.indnullsnotdistinct AS
    indnullsnotdistinct, pg_catalog.pg_description.description AS description
    FROM pg_catalog.pg_constraint JOIN pg_catalog.pg_index ON pg_catalog.pg_constraint.conindid
    = pg_catalog.pg_index.indexrelid LEFT OUTER JOIN pg_catalog.pg_description ON
    pg_catalog.pg_description.objoid = pg_catalog.pg_constraint.oid AND
    pg_catalog.pg_description.classoid = CAST($2 AS REGCLASS)
    WHERE pg_catalog.pg_constraint.contype = $3::VARCHAR AND pg_catalog.pg_constraint.conrelid
    IN ($4)) AS con ON pg_catalog.pg_attribute.attnum = con.attnum AND
    pg_catalog.pg_attribute.attrelid = con.conrelid WHERE con.conrelid IN ($4)) AS attr
    GROUP BY attr.conrelid, attr.conname ORDER BY attr.conrelid, attr.conname

-- get_foreign_keys order_line
-- $1 16: t
-- $2: f
-- $3: pg_catalog.pg_constraint
-- $4: r
-- $5: p
-- $6: f
-- $7: v
-- $8: m
-- $9: shop
-- $10: order_line
SELECT pg_catalog.pg_class.relname, pg_catalog.pg_constraint.conname, CASE WHEN
    (pg_catalog.pg_constraint.oid IS NOT NULL) THEN
    pg_catalog.pg_get_constraintdef(pg_catalog.pg_constraint.oid, $1) END AS anon_1,
    nsp_ref.nspname, pg_catalog.pg_description.description FROM pg_catalog.pg_class
    LEFT OUTER JOIN pg_catalog.pg_constraint ON pg_catalog.pg_class.oid =
    pg_catalog.pg_constraint.conrelid AND pg_catalog.pg_constraint.contype = $2::VARCHAR
    LEFT OUTER JOIN pg_catalog.pg_class AS cls_ref ON cls_ref.oid =
    pg_catalog.pg_constraint.confrelid LEFT OUTER JOIN pg_catalog.pg_namespace AS nsp_ref ON
    cls_ref.relnamespace = nsp_ref.oid LEFT OUTER JOIN pg_catalog.pg_description ON
    pg_catalog.pg_description.objoid = pg_catalog.pg_constraint.oid AND
    pg_catalog.pg_description.classoid = CAST($3 AS REGCLASS)
    JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid =
    pg_catalog.pg_class.relnamespace WHERE pg_catalog.pg_class.relkind = ANY (ARRAY[$4::VARCHAR,
    $5::VARCHAR, $6::VARCHAR, $7::VARCHAR, $8::VARCHAR]) AND pg_catalog.pg_namespace.nspname =
    $9::VARCHAR AND pg_catalog.pg_class.relname IN ($10::VARCHAR)
    ORDER BY pg_catalog.pg_class.relname, pg_catalog.pg_constraint.conname

-- get_indexes order_line
-- $1 21: 0
-- $2 21: 1
-- $3 16: t
-- $4 21: 0
-- $5 21: 1
-- $6 21: @{shop.order_line}
-- $7: p
-- $8: u
-- $9: x
SELECT pg_catalog.pg_index.indrelid, pg_catalog.pg_class.relname,
    pg_catalog.pg_index.indisunique, pg_catalog.pg_index.indisvalid,
    pg_catalog.pg_constraint.conrelid IS NOT NULL AS has_constraint,
    pg_catalog.pg_index.indoption, pg_catalog.pg_class.reloptions, pg_catalog.pg_class.relam,
    CASE WHEN (pg_catalog.pg_index.indpred IS NOT NULL) THEN
    pg_catalog.pg_get_expr(pg_catalog.pg_index.indpred, pg_catalog.pg_index.indrelid) END AS
    filter_definition, pg_catalog.pg_index.indnkeyatts, pg_catalog.pg_index.indnullsnotdistinct,
    idx_cols.elements, idx_cols.elements_is_expr, idx_cols.elements_opclass
    FROM pg_catalog.pg_index JOIN pg_catalog.pg_class ON pg_catalog.pg_index.indexrelid =
    pg_catalog.pg_class.oid LEFT OUTER JOIN (SELECT idx_attr.indexrelid AS indexrelid,
    min(idx_attr.indrelid) AS min_1, array_agg(idx_attr.element
    ORDER BY idx_attr.ord) AS elements, array_agg(idx_attr.is_expr
    ORDER BY idx_attr.ord) AS elements_is_expr, array_agg(idx_attr.att_opclass
    ORDER BY idx_attr.ord) AS elements_opclass FROM (SELECT idx.indexrelid AS indexrelid,
    idx.indrelid AS indrelid, idx.ord AS ord, CASE WHEN (idx.attnum = $1::INTEGER) THEN
    pg_catalog.pg_get_indexdef(idx.indexrelid, idx.ord + $2::INTEGER, $3) ELSE
    CAST(pg_catalog.pg_attribute.attname AS TEXT) END AS element, idx.attnum = $4::INTEGER AS
    is_expr, CAST(idx.att_opclass AS BIGINT) AS att_opclass FROM (SELECT
    pg_catalog.pg_index.indexrelid AS indexrelid, pg_catalog.pg_index.indrelid AS indrelid,
    unnest(pg_catalog.pg_index.indkey) AS attnum, unnest(pg_catalog.pg_index.indclass) AS
    att_opclass, generate_subscripts(pg_catalog.pg_index.indkey, $5::INTEGER) AS ord
    FROM pg_catalog.pg_index WHERE NOT pg_catalog.pg_index.indisprimary AND
    pg_catalog.pg_index.indrelid IN ($6)) AS idx LEFT OUTER JOIN pg_catalog.pg_attribute ON
    pg_catalog.pg_attribute.attnum = idx.attnum AND pg_catalog.pg_attribute.attrelid =
    idx.indrelid WHERE idx.indrelid IN ($6)) AS idx_attr GROUP BY idx_attr.indexrelid) AS
    idx_cols ON pg_catalog.pg_index.indexrelid = idx_cols.indexrelid
    LEFT OUTER JOIN pg_catalog.pg_constraint ON pg_catalog.pg_index.indrelid =
    pg_catalog.pg_constraint.conrelid AND pg_catalog.pg_index.indexrelid =
    pg_catalog.pg_constraint.conindid AND pg_catalog.pg_constraint.contype = ANY
    (ARRAY[$7::VARCHAR, $8::VARCHAR, $9::VARCHAR]) WHERE pg_catalog.pg_index.indrelid IN ($6)
    AND NOT pg_catalog.pg_index.indisprimary ORDER BY pg_catalog.pg_index.indrelid,
    pg_catalog.pg_class.relname

-- get_check_constraints order_line
-- $1 16: t
-- $2: c
-- $3: pg_catalog.pg_constraint
-- $4: r
-- $5: p
-- $6: f
-- $7: v
-- $8: m
-- $9: shop
-- $10: order_line
SELECT pg_catalog.pg_class.relname, pg_catalog.pg_constraint.conname, CASE WHEN
    (pg_catalog.pg_constraint.oid IS NOT NULL) THEN
    pg_catalog.pg_get_constraintdef(pg_catalog.pg_constraint.oid, $1) END AS anon_1,
    pg_catalog.pg_description.description FROM pg_catalog.pg_class
    LEFT OUTER JOIN pg_catalog.pg_constraint ON pg_catalog.pg_class.oid =
    pg_catalog.pg_constraint.conrelid AND pg_catalog.pg_constraint.contype = $2::VARCHAR
    LEFT OUTER JOIN pg_catalog.pg_description ON pg_catalog.pg_description.objoid =
    pg_catalog.pg_constraint.oid AND pg_catalog.pg_description.classoid = CAST($3 AS REGCLASS)
    JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid =
    pg_catalog.pg_class.relnamespace WHERE pg_catalog.pg_class.relkind = ANY (ARRAY[$4::VARCHAR,
    $5::VARCHAR, $6::VARCHAR, $7::VARCHAR, $8::VARCHAR]) AND pg_catalog.pg_namespace.nspname =
    $9::VARCHAR AND pg_catalog.pg_class.relname IN ($10::VARCHAR)
    ORDER BY pg_catalog.pg_class.relname, pg_catalog.pg_constraint.conname

-- get_table_comment order_line
-- $1 21: 0
-- $2: pg_catalog.pg_class
-- $3: r
-- $4: p
-- $5: f
-- $6: v
-- $7: m
-- $8: shop
-- $9: order_line
SELECT pg_catalog.pg_class.relname, pg_catalog.pg_description.description
    FROM pg_catalog.pg_class LEFT OUTER JOIN pg_catalog.pg_description ON
    pg_catalog.pg_class.oid = pg_catalog.pg_description.objoid AND
    pg_catalog.pg_description.objsubid = $1::INTEGER AND pg_catalog.pg_description.classoid =
    CAST($2 AS REGCLASS) JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid =
    pg_catalog.pg_class.relnamespace WHERE pg_catalog.pg_class.relkind = ANY (ARRAY[$3::VARCHAR,
    $4::VARCHAR, $5::VARCHAR, $6::VARCHAR, $7::VARCHAR]) AND pg_catalog.pg_namespace.nspname =
    $8::VARCHAR AND pg_catalog.pg_class.relname IN ($9::VARCHAR)

-- get_table_options order_line
-- $1: default_table_access_method
-- $2: r
-- $3: p
-- $4: f
-- $5: v
-- $6: m
-- $7: shop
-- $8: order_line
SELECT pg_catalog.pg_class.oid, pg_catalog.pg_class.relname, pg_catalog.pg_class.reloptions,
    NULL AS relhasoids, CASE WHEN (pg_catalog.pg_am.amname IS NOT NULL AND
    pg_catalog.pg_am.amname != current_setting($1::VARCHAR)) THEN pg_catalog.pg_am.amname ELSE
    NULL END AS access_method_name, pg_catalog.pg_tablespace.spcname AS tablespace_name,
    inherits.parent_table_names FROM pg_catalog.pg_class LEFT OUTER
    JOIN pg_catalog.pg_am ON pg_catalog.pg_class.relam = pg_catalog.pg_am.oid
    LEFT OUTER JOIN (SELECT pg_catalog.pg_inherits.inhrelid AS inhrelid,
    array_agg(pg_catalog.pg_class.relname ORDER BY pg_catalog.pg_inherits.inhseqno) AS
    parent_table_names FROM pg_catalog.pg_inherits JOIN pg_catalog.pg_class ON
    pg_catalog.pg_inherits.inhparent = pg_catalog.pg_class.oid
    GROUP BY pg_catalog.pg_inherits.inhrelid) AS inherits ON pg_catalog.pg_class.oid =
    inherits.inhrelid LEFT OUTER JOIN pg_catalog.pg_tablespace ON pg_catalog.pg_tablespace.oid =
    pg_catalog.pg_class.reltablespace JOIN pg_catalog.pg_namespace ON
    pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace
    WHERE pg_catalog.pg_class.relkind = ANY (ARRAY[$2::VARCHAR, $3::VARCHAR, $4::VARCHAR,
    $5::VARCHAR, $6::VARCHAR]) AND pg_catalog.pg_namespace.nspname = $7::VARCHAR AND
    pg_catalog.pg_class.relname IN ($8::VARCHAR)

-- get_table_oid order_line
-- $1: order_line
-- $2: r
-- $3: p
-- $4: f
-- $5: v
-- $6: m
-- $7: shop
SELECT pg_catalog.pg_class.oid FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON
    pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace
    WHERE pg_catalog.pg_class.relname = $1::VARCHAR AND pg_catalog.pg_class.relkind = ANY
    (ARRAY[$2::VARCHAR, $3::VARCHAR, $4::VARCHAR, $5::VARCHAR, $6::VARCHAR]) AND
    pg_catalog.pg_namespace.nspname = $7::VARCHAR

-- has_table
-- $1: customer
-- $2: r
-- $3: p
-- $4: f
-- $5: v
-- $6: m
-- $7: pg_catalog
SELECT pg_catalog.pg_class.relname FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON
    pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace
    WHERE pg_catalog.pg_class.relname IN ($1::VARCHAR) AND pg_catalog.pg_class.relkind = ANY
    (ARRAY[$2::VARCHAR, $3::VARCHAR, $4::VARCHAR, $5::VARCHAR, $6::VARCHAR]) AND
    pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid) AND pg_catalog.pg_namespace.nspname
    != $7::VARCHAR

-- has_table #2
-- $1: nosuch
-- $2: r
-- $3: p
-- $4: f
-- $5: v
-- $6: m
-- $7: pg_catalog
SELECT pg_catalog.pg_class.relname FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON
    pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace
    WHERE pg_catalog.pg_class.relname IN ($1::VARCHAR) AND pg_catalog.pg_class.relkind = ANY
    (ARRAY[$2::VARCHAR, $3::VARCHAR, $4::VARCHAR, $5::VARCHAR, $6::VARCHAR]) AND
    pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid) AND pg_catalog.pg_namespace.nspname
    != $7::VARCHAR

-- has_table #3
-- $1: shop
SELECT pg_catalog.pg_namespace.nspname FROM pg_catalog.pg_namespace
    WHERE pg_catalog.pg_namespace.nspname = $1::VARCHAR

-- get_view_definition
-- $1: active_customer
-- $2: v
-- $3: m
-- $4: pg_catalog
SELECT pg_catalog.pg_get_viewdef(pg_catalog.pg_class.oid) AS pg_get_viewdef_1
    FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid =
    pg_catalog.pg_class.relnamespace WHERE pg_catalog.pg_class.relname = $1::VARCHAR AND
    pg_catalog.pg_class.relkind = ANY (ARRAY[$2::VARCHAR, $3::VARCHAR]) AND
    pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid) AND pg_catalog.pg_namespace.nspname
    != $4::VARCHAR

-- get_view_definition #2
-- $1: turnover
-- $2: v
-- $3: m
-- $4: pg_catalog
SELECT pg_catalog.pg_get_viewdef(pg_catalog.pg_class.oid) AS pg_get_viewdef_1
    FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid =
    pg_catalog.pg_class.relnamespace WHERE pg_catalog.pg_class.relname = $1::VARCHAR AND
    pg_catalog.pg_class.relkind = ANY (ARRAY[$2::VARCHAR, $3::VARCHAR]) AND
    pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid) AND pg_catalog.pg_namespace.nspname
    != $4::VARCHAR

-- get_multi_columns
-- $1: 
-- $2: always
-- $3: a
-- $4: start
-- $5: increment
-- $6: minvalue
-- $7: maxvalue
-- $8: cache
-- $9: cycle
-- $10: 
-- $11 21: 0
-- $12: name
-- $13: schema
-- $14 21: 0
-- $15: r
-- $16: p
-- $17: f
-- $18: v
-- $19: m
-- $20: pg_catalog
SELECT pg_catalog.pg_attribute.attname AS name,
    pg_catalog.format_type(pg_catalog.pg_attribute.atttypid, pg_catalog.pg_attribute.atttypmod)
    AS format_type, CASE WHEN pg_catalog.pg_attribute.atthasdef THEN (SELECT
    pg_catalog.pg_get_expr(pg_catalog.pg_attrdef.adbin, pg_catalog.pg_attrdef.adrelid) AS
    pg_get_expr_1 FROM pg_catalog.pg_attrdef WHERE pg_catalog.pg_attribute.atthasdef AND
    pg_catalog.pg_attrdef.adrelid = pg_catalog.pg_attribute.attrelid AND
    pg_catalog.pg_attrdef.adnum = pg_catalog.pg_attribute.attnum) ELSE NULL END AS "default",
    pg_catalog.pg_attribute.attnotnull AS not_null, pg_catalog.pg_class.relname AS table_name,
    pg_catalog.pg_description.description AS comment, pg_catalog.pg_attribute.attgenerated AS
    generated, CASE WHEN (pg_catalog.pg_attribute.attidentity != $1::VARCHAR) THEN (SELECT
    json_build_object($2::VARCHAR, pg_catalog.pg_attribute.attidentity = $3::VARCHAR,
    $4::VARCHAR, pg_catalog.pg_sequence.seqstart, $5::VARCHAR,
    pg_catalog.pg_sequence.seqincrement, $6::VARCHAR, pg_catalog.pg_sequence.seqmin,
    $7::VARCHAR, pg_catalog.pg_sequence.seqmax, $8::VARCHAR, pg_catalog.pg_sequence.seqcache,
    $9::VARCHAR, pg_catalog.pg_sequence.seqcycle) AS json_build_object_1
    FROM pg_catalog.pg_sequence WHERE pg_catalog.pg_attribute.attidentity != $10::VARCHAR AND
    pg_catalog.pg_sequence.seqrelid =
    CAST(CAST(pg_catalog.pg_get_serial_sequence(CAST(CAST(pg_catalog.pg_attribute.attrelid AS
    REGCLASS) AS TEXT), pg_catalog.pg_attribute.attname) AS REGCLASS) AS OID)) ELSE NULL END AS
    identity_options, CASE WHEN (pg_catalog.pg_attribute.attcollation != $11::INTEGER AND
    (SELECT pg_catalog.pg_type.typcollation FROM pg_catalog.pg_type
    WHERE pg_catalog.pg_type.oid = pg_catalog.pg_attribute.atttypid) !=
    pg_catalog.pg_attribute.attcollation) THEN (SELECT json_build_object($12::VARCHAR,
    pg_catalog.pg_collation.collname, $13::VARCHAR, CASE WHEN
    pg_catalog.pg_collation_is_visible(pg_catalog.pg_collation.oid) THEN NULL ELSE
    pg_catalog.pg_namespace.nspname END) AS json_build_object_9
    FROM pg_catalog.pg_collation JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid =
    pg_catalog.pg_collation.collnamespace WHERE pg_catalog.pg_collation.oid =
    pg_catalog.pg_attribute.attcollation) ELSE NULL END AS collation
    FROM pg_catalog.pg_class LEFT OUTER JOIN pg_catalog.pg_attribute ON pg_catalog.pg_class.oid
    = pg_catalog.pg_attribute.attrelid AND pg_catalog.pg_attribute.attnum > $14::SMALLINT AND
    NOT pg_catalog.pg_attribute.attisdropped LEFT OUTER JOIN pg_catalog.pg_description ON
    pg_catalog.pg_description.objoid = pg_catalog.pg_attribute.attrelid AND
    pg_catalog.pg_description.objsubid = pg_catalog.pg_attribute.attnum
    JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid =
    pg_catalog.pg_class.relnamespace WHERE pg_catalog.pg_class.relkind = ANY
    (ARRAY[$15::VARCHAR, $16::VARCHAR, $17::VARCHAR, $18::VARCHAR, $19::VARCHAR]) AND
    pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid) AND pg_catalog.pg_namespace.nspname
    != $20::VARCHAR ORDER BY pg_catalog.pg_class.relname, pg_catalog.pg_attribute.attnum

-- get_multi_pk_constraint
-- $1: r
-- $2: p
-- $3: f
-- $4: v
-- $5: m
-- $6: pg_catalog
SELECT pg_catalog.pg_class.oid, pg_catalog.pg_class.relname FROM pg_catalog.pg_class
    JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid =
    pg_catalog.pg_class.relnamespace WHERE pg_catalog.pg_class.relkind = ANY (ARRAY[$1::VARCHAR,
    $2::VARCHAR, $3::VARCHAR, $4::VARCHAR, $5::VARCHAR]) AND
    pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid) AND pg_catalog.pg_namespace.nspname
    != $6::VARCHAR

-- get_multi_pk_constraint #2
-- $1 21: 1
-- $2: pg_catalog.pg_constraint
-- $3: p
-- $4 21: @{log}
-- $5 21: @{turnover}
-- $6 21: @{orders}
-- $7 21: @{active_customer}
-- $8 21: @{customer}
SELECT attr.conrelid, array_agg(CAST(attr.attname AS TEXT) ORDER BY attr.ord) AS cols,
    attr.conname, min(attr.description) AS description, min(attr.indnkeyatts) AS indnkeyatts,
    bool_and(attr.indnullsnotdistinct) AS indnullsnotdistinct
    FROM (SELECT con.conrelid AS conrelid, con.conname AS conname, con.description AS
    description, con.ord AS ord, con.indnkeyatts AS indnkeyatts, con.indnullsnotdistinct AS
    indnullsnotdistinct, pg_catalog.pg_attribute.attname AS attname
    FROM pg_catalog.pg_attribute JOIN (SELECT pg_catalog.pg_constraint.conrelid AS conrelid,
    pg_catalog.pg_constraint.conname AS conname, unnest(pg_catalog.pg_index.indkey) AS attnum,
    generate_subscripts(pg_catalog.pg_index.indkey, $1::INTEGER) AS ord,
    pg_catalog.pg_index.indnkeyatts AS indnkeyatts, pg_catalog.pg_index.indnullsnotdistinct AS
    indnullsnotdistinct, pg_catalog.pg_description.description AS description
    FROM pg_catalog.pg_constraint JOIN pg_catalog.pg_index ON pg_catalog.pg_constraint.conindid
    = pg_catalog.pg_index.indexrelid LEFT OUTER JOIN pg_catalog.pg_description ON
    pg_catalog.pg_description.objoid = pg_catalog.pg_constraint.oid AND
    pg_catalog.pg_description.classoid = CAST($2 AS REGCLASS)
    WHERE pg_catalog.pg_constraint.contype = $3::VARCHAR AND pg_catalog.pg_constraint.conrelid
    IN ($4, $5, $6, $7, $8)) AS con ON pg_catalog.pg_attribute.attnum = con.attnum AND
    pg_catalog.pg_attribute.attrelid = con.conrelid WHERE con.conrelid IN ($4, $5, $6, $7, $8))
    AS attr GROUP BY attr.conrelid, attr.conname ORDER BY attr.conrelid, attr.conname

-- get_multi_foreign_keys
-- $1 16: t
-- $2: f
-- $3: pg_catalog.pg_constraint
-- $4: r
-- $5: p
-- $6: f
-- $7: v
-- $8: m
-- $9: pg_catalog
SELECT pg_catalog.pg_class.relname, pg_catalog.pg_constraint.conname, CASE WHEN
    (pg_catalog.pg_constraint.oid IS NOT NULL) THEN
    pg_catalog.pg_get_constraintdef(pg_catalog.pg_constraint.oid, $1) END AS anon_1,
    nsp_ref.nspname, pg_catalog.pg_description.description FROM pg_catalog.pg_class
    LEFT OUTER JOIN pg_catalog.pg_constraint ON pg_catalog.pg_class.oid =
    pg_catalog.pg_constraint.conrelid AND pg_catalog.pg_constraint.contype = $2::VARCHAR
    LEFT OUTER JOIN pg_catalog.pg_class AS cls_ref ON cls_ref.oid =
    pg_catalog.pg_constraint.confrelid LEFT OUTER JOIN pg_catalog.pg_namespace AS nsp_ref ON
    cls_ref.relnamespace = nsp_ref.oid LEFT OUTER JOIN pg_catalog.pg_description ON
    pg_catalog.pg_description.objoid = pg_catalog.pg_constraint.oid AND
    pg_catalog.pg_description.classoid = CAST($3 AS REGCLASS)
    JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid =
    pg_catalog.pg_class.relnamespace WHERE pg_catalog.pg_class.relkind = ANY (ARRAY[$4::VARCHAR,
    $5::VARCHAR, $6::VARCHAR, $7::VARCHAR, $8::VARCHAR]) AND
    pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid) AND pg_catalog.pg_namespace.nspname
    != $9::VARCHAR ORDER BY pg_catalog.pg_class.relname, pg_catalog.pg_constraint.conname

-- get_multi_indexes
-- $1 21: 0
-- $2 21: 1
-- $3 16: t
-- $4 21: 0
-- $5 21: 1
-- $6 21: @{log}
-- $7 21: @{turnover}
-- $8 21: @{orders}
-- $9 21: @{active_customer}
-- $10 21: @{customer}
-- $11: p
-- $12: u
-- $13: x
SELECT pg_catalog.pg_index.indrelid, pg_catalog.pg_class.relname,
    pg_catalog.pg_index.indisunique, pg_catalog.pg_index.indisvalid,
    pg_catalog.pg_constraint.conrelid IS NOT NULL AS has_constraint,
    pg_catalog.pg_index.indoption, pg_catalog.pg_class.reloptions, pg_catalog.pg_class.relam,
    CASE WHEN (pg_catalog.pg_index.indpred IS NOT NULL) THEN
    pg_catalog.pg_get_expr(pg_catalog.pg_index.indpred, pg_catalog.pg_index.indrelid) END AS
    filter_definition, pg_catalog.pg_index.indnkeyatts, pg_catalog.pg_index.indnullsnotdistinct,
    idx_cols.elements, idx_cols.elements_is_expr, idx_cols.elements_opclass
    FROM pg_catalog.pg_index JOIN pg_catalog.pg_class ON pg_catalog.pg_index.indexrelid =
    pg_catalog.pg_class.oid LEFT OUTER JOIN (SELECT idx_attr.indexrelid AS indexrelid,
    min(idx_attr.indrelid) AS min_1, array_agg(idx_attr.element
    ORDER BY idx_attr.ord) AS elements, array_agg(idx_attr.is_expr
    ORDER BY idx_attr.ord) AS elements_is_expr, array_agg(idx_attr.att_opclass
    ORDER BY idx_attr.ord) AS elements_opclass FROM (SELECT idx.indexrelid AS indexrelid,
    idx.indrelid AS indrelid, idx.ord AS ord, CASE WHEN (idx.attnum = $1::INTEGER) THEN
    pg_catalog.pg_get_indexdef(idx.indexrelid, idx.ord + $2::INTEGER, $3) ELSE
    CAST(pg_catalog.pg_attribute.attname AS TEXT) END AS element, idx.attnum = $4::INTEGER AS
    is_expr, CAST(idx.att_opclass AS BIGINT) AS att_opclass FROM (SELECT
    pg_catalog.pg_index.indexrelid AS indexrelid, pg_catalog.pg_index.indrelid AS indrelid,
    unnest(pg_catalog.pg_index.indkey) AS attnum, unnest(pg_catalog.pg_index.indclass) AS
    att_opclass, generate_subscripts(pg_catalog.pg_index.indkey, $5::INTEGER) AS ord
    FROM pg_catalog.pg_index WHERE NOT pg_catalog.pg_index.indisprimary AND
    pg_catalog.pg_index.indrelid IN ($6, $7, $8, $9, $10)) AS idx
    LEFT OUTER JOIN pg_catalog.pg_attribute ON pg_catalog.pg_attribute.attnum = idx.attnum AND
    pg_catalog.pg_attribute.attrelid = idx.indrelid WHERE idx.indrelid IN ($6, $7, $8, $9, $10))
    AS idx_attr GROUP BY idx_attr.indexrelid) AS idx_cols ON pg_catalog.pg_index.indexrelid =
    idx_cols.indexrelid LEFT OUTER JOIN pg_catalog.pg_constraint ON pg_catalog.pg_index.indrelid
    = pg_catalog.pg_constraint.conrelid AND pg_catalog.pg_index.indexrelid =
    pg_catalog.pg_constraint.conindid AND pg_catalog.pg_constraint.contype = ANY
    (ARRAY[$11::VARCHAR, $12::VARCHAR, $13::VARCHAR]) WHERE pg_catalog.pg_index.indrelid IN ($6,
    $7, $8, $9, $10) AND NOT pg_catalog.pg_index.indisprimary
    ORDER BY pg_catalog.pg_index.indrelid, pg_catalog.pg_class.relname

-- get_multi_unique_constraints
-- $1 21: 1
-- $2: pg_catalog.pg_constraint
-- $3: u
-- $4 21: @{log}
-- $5 21: @{turnover}
-- $6 21: @{orders}
-- $7 21: @{active_customer}
-- $8 21: @{customer}
SELECT attr.conrelid, array_agg(CAST(attr.attname AS TEXT) ORDER BY attr.ord) AS cols,
    attr.conname, min(attr.description) AS description, min(attr.indnkeyatts) AS indnkeyatts,
    bool_and(attr.indnullsnotdistinct) AS indnullsnotdistinct
    FROM (SELECT con.conrelid AS conrelid, con.conname AS conname, con.description AS
    description, con.ord AS ord, con.indnkeyatts AS indnkeyatts, con.indnullsnotdistinct AS
    indnullsnotdistinct, pg_catalog.pg_attribute.attname AS attname
    FROM pg_catalog.pg_attribute JOIN (SELECT pg_catalog.pg_constraint.conrelid AS conrelid,
    pg_catalog.pg_constraint.conname AS conname, unnest(pg_catalog.pg_index.indkey) AS attnum,
    generate_subscripts(pg_catalog.pg_index.indkey, $1::INTEGER) AS ord,
    pg_catalog.pg_index.indnkeyatts AS indnkeyatts, pg_catalog.pg_index.indnullsnotdistinct AS
    indnullsnotdistinct, pg_catalog.pg_description.description AS description
    FROM pg_catalog.pg_constraint JOIN pg_catalog.pg_index ON pg_catalog.pg_constraint.conindid
    = pg_catalog.pg_index.indexrelid LEFT OUTER JOIN pg_catalog.pg_description ON
    pg_catalog.pg_description.objoid = pg_catalog.pg_constraint.oid AND
    pg_catalog.pg_description.classoid = CAST($2 AS REGCLASS)
    WHERE pg_catalog.pg_constraint.contype = $3::VARCHAR AND pg_catalog.pg_constraint.conrelid
    IN ($4, $5, $6, $7, $8)) AS con ON pg_catalog.pg_attribute.attnum = con.attnum AND
    pg_catalog.pg_attribute.attrelid = con.conrelid WHERE con.conrelid IN ($4, $5, $6, $7, $8))
    AS attr GROUP BY attr.conrelid, attr.conname ORDER BY attr.conrelid, attr.conname

-- get_multi_check_constraints
-- $1 16: t
-- $2: c
-- $3: pg_catalog.pg_constraint
-- $4: r
-- $5: p
-- $6: f
-- $7: v
-- $8: m
-- $9: pg_catalog
SELECT pg_catalog.pg_class.relname, pg_catalog.pg_constraint.conname, CASE WHEN
    (pg_catalog.pg_constraint.oid IS NOT NULL) THEN
    pg_catalog.pg_get_constraintdef(pg_catalog.pg_constraint.oid, $1) END AS anon_1,
    pg_catalog.pg_description.description FROM pg_catalog.pg_class
    LEFT OUTER JOIN pg_catalog.pg_constraint ON pg_catalog.pg_class.oid =
    pg_catalog.pg_constraint.conrelid AND pg_catalog.pg_constraint.contype = $2::VARCHAR
    LEFT OUTER JOIN pg_catalog.pg_description ON pg_catalog.pg_description.objoid =
    pg_catalog.pg_constraint.oid AND pg_catalog.pg_description.classoid = CAST($3 AS REGCLASS)
    JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid =
    pg_catalog.pg_class.relnamespace WHERE pg_catalog.pg_class.relkind = ANY (ARRAY[$4::VARCHAR,
    $5::VARCHAR, $6::VARCHAR, $7::VARCHAR, $8::VARCHAR]) AND
    pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid) AND pg_catalog.pg_namespace.nspname
    != $9::VARCHAR ORDER BY pg_catalog.pg_class.relname, pg_catalog.pg_constraint.conname

-- get_multi_table_comment
-- $1 21: 0
-- $2: pg_catalog.pg_class
-- $3: r
-- $4: p
-- $5: f
-- $6: v
-- $7: m
-- $8: pg_catalog
SELECT pg_catalog.pg_class.relname, pg_catalog.pg_description.description
    FROM pg_catalog.pg_class LEFT OUTER JOIN pg_catalog.pg_description ON
    pg_catalog.pg_class.oid = pg_catalog.pg_description.objoid AND
    pg_catalog.pg_description.objsubid = $1::INTEGER AND pg_catalog.pg_description.classoid =
    CAST($2 AS REGCLASS) JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid =
    pg_catalog.pg_class.relnamespace WHERE pg_catalog.pg_class.relkind = ANY (ARRAY[$3::VARCHAR,
    $4::VARCHAR, $5::VARCHAR, $6::VARCHAR, $7::VARCHAR]) AND
    pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid) AND pg_catalog.pg_namespace.nspname
    != $8::VARCHAR

-- get_multi_table_options
-- $1: default_table_access_method
-- $2: r
-- $3: p
-- $4: f
-- $5: v
-- $6: m
-- $7: pg_catalog
SELECT pg_catalog.pg_class.oid, pg_catalog.pg_class.relname, pg_catalog.pg_class.reloptions,
    NULL AS relhasoids, CASE WHEN (pg_catalog.pg_am.amname IS NOT NULL AND
    pg_catalog.pg_am.amname != current_setting($1::VARCHAR)) THEN pg_catalog.pg_am.amname ELSE
    NULL END AS access_method_name, pg_catalog.pg_tablespace.spcname AS tablespace_name,
    inherits.parent_table_names FROM pg_catalog.pg_class LEFT OUTER
    JOIN pg_catalog.pg_am ON pg_catalog.pg_class.relam = pg_catalog.pg_am.oid
    LEFT OUTER JOIN (SELECT pg_catalog.pg_inherits.inhrelid AS inhrelid,
    array_agg(pg_catalog.pg_class.relname ORDER BY pg_catalog.pg_inherits.inhseqno) AS
    parent_table_names FROM pg_catalog.pg_inherits JOIN pg_catalog.pg_class ON
    pg_catalog.pg_inherits.inhparent = pg_catalog.pg_class.oid
    GROUP BY pg_catalog.pg_inherits.inhrelid) AS inherits ON pg_catalog.pg_class.oid =
    inherits.inhrelid LEFT OUTER JOIN pg_catalog.pg_tablespace ON pg_catalog.pg_tablespace.oid =
    pg_catalog.pg_class.reltablespace JOIN pg_catalog.pg_namespace ON
    pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace
    WHERE pg_catalog.pg_class.relkind = ANY (ARRAY[$2::VARCHAR, $3::VARCHAR, $4::VARCHAR,
    $5::VARCHAR, $6::VARCHAR]) AND pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid) AND
    pg_catalog.pg_namespace.nspname != $7::VARCHAR

-- reflect
-- $1: 
-- $2: always
-- $3: a
-- $4: start
-- $5: increment
-- $6: minvalue
-- $7: maxvalue
-- $8: cache
-- $9: cycle
-- $10: 
-- $11 21: 0
-- $12: name
-- $13: schema
-- $14 21: 0
-- $15: r
-- $16: p
-- $17: f
-- $18: v
-- $19: m
-- $20: pg_catalog
-- $21: log
-- $22: orders
-- $23: customer
-- $24: active_customer
-- $25: turnover
SELECT pg_catalog.pg_attribute.attname AS name,
    pg_catalog.format_type(pg_catalog.pg_attribute.atttypid, pg_catalog.pg_attribute.atttypmod)
    AS format_type, CASE WHEN pg_catalog.pg_attribute.atthasdef THEN (SELECT
    pg_catalog.pg_get_expr(pg_catalog.pg_attrdef.adbin, pg_catalog.pg_attrdef.adrelid) AS
    pg_get_expr_1 FROM pg_catalog.pg_attrdef WHERE pg_catalog.pg_attribute.atthasdef AND
    pg_catalog.pg_attrdef.adrelid = pg_catalog.pg_attribute.attrelid AND
    pg_catalog.pg_attrdef.adnum = pg_catalog.pg_attribute.attnum) ELSE NULL END AS "default",
    pg_catalog.pg_attribute.attnotnull AS not_null, pg_catalog.pg_class.relname AS table_name,
    pg_catalog.pg_description.description AS comment, pg_catalog.pg_attribute.attgenerated AS
    generated, CASE WHEN (pg_catalog.pg_attribute.attidentity != $1::VARCHAR) THEN (SELECT
    json_build_object($2::VARCHAR, pg_catalog.pg_attribute.attidentity = $3::VARCHAR,
    $4::VARCHAR, pg_catalog.pg_sequence.seqstart, $5::VARCHAR,
    pg_catalog.pg_sequence.seqincrement, $6::VARCHAR, pg_catalog.pg_sequence.seqmin,
    $7::VARCHAR, pg_catalog.pg_sequence.seqmax, $8::VARCHAR, pg_catalog.pg_sequence.seqcache,
    $9::VARCHAR, pg_catalog.pg_sequence.seqcycle) AS json_build_object_1
    FROM pg_catalog.pg_sequence WHERE pg_catalog.pg_attribute.attidentity != $10::VARCHAR AND
    pg_catalog.pg_sequence.seqrelid =
    CAST(CAST(pg_catalog.pg_get_serial_sequence(CAST(CAST(pg_catalog.pg_attribute.attrelid AS
    REGCLASS) AS TEXT), pg_catalog.pg_attribute.attname) AS REGCLASS) AS OID)) ELSE NULL END AS
    identity_options, CASE WHEN (pg_catalog.pg_attribute.attcollation != $11::INTEGER AND
    (SELECT pg_catalog.pg_type.typcollation FROM pg_catalog.pg_type
    WHERE pg_catalog.pg_type.oid = pg_catalog.pg_attribute.atttypid) !=
    pg_catalog.pg_attribute.attcollation) THEN (SELECT json_build_object($12::VARCHAR,
    pg_catalog.pg_collation.collname, $13::VARCHAR, CASE WHEN
    pg_catalog.pg_collation_is_visible(pg_catalog.pg_collation.oid) THEN NULL ELSE
    pg_catalog.pg_namespace.nspname END) AS json_build_object_9
    FROM pg_catalog.pg_collation JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid =
    pg_catalog.pg_collation.collnamespace WHERE pg_catalog.pg_collation.oid =
    pg_catalog.pg_attribute.attcollation) ELSE NULL END AS collation
    FROM pg_catalog.pg_class LEFT OUTER JOIN pg_catalog.pg_attribute ON pg_catalog.pg_class.oid
    = pg_catalog.pg_attribute.attrelid AND pg_catalog.pg_attribute.attnum > $14::SMALLINT AND
    NOT pg_catalog.pg_attribute.attisdropped LEFT OUTER JOIN pg_catalog.pg_description ON
    pg_catalog.pg_description.objoid = pg_catalog.pg_attribute.attrelid AND
    pg_catalog.pg_description.objsubid = pg_catalog.pg_attribute.attnum
    JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid =
    pg_catalog.pg_class.relnamespace WHERE pg_catalog.pg_class.relkind = ANY
    (ARRAY[$15::VARCHAR, $16::VARCHAR, $17::VARCHAR, $18::VARCHAR, $19::VARCHAR]) AND
    pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid) AND pg_catalog.pg_namespace.nspname
    != $20::VARCHAR AND pg_catalog.pg_class.relname IN ($21::VARCHAR, $22::VARCHAR,
    $23::VARCHAR, $24::VARCHAR, $25::VARCHAR) ORDER BY pg_catalog.pg_class.relname,
    pg_catalog.pg_attribute.attnum

-- reflect #2
-- $1: r
-- $2: p
-- $3: f
-- $4: v
-- $5: m
-- $6: pg_catalog
-- $7: log
-- $8: orders
-- $9: customer
-- $10: active_customer
-- $11: turnover
SELECT pg_catalog.pg_class.oid, pg_catalog.pg_class.relname FROM pg_catalog.pg_class
    JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid =
    pg_catalog.pg_class.relnamespace WHERE pg_catalog.pg_class.relkind = ANY (ARRAY[$1::VARCHAR,
    $2::VARCHAR, $3::VARCHAR, $4::VARCHAR, $5::VARCHAR]) AND
    pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid) AND pg_catalog.pg_namespace.nspname
    != $6::VARCHAR AND pg_catalog.pg_class.relname IN ($7::VARCHAR, $8::VARCHAR, $9::VARCHAR,
    $10::VARCHAR, $11::VARCHAR)

-- reflect #3
-- $1 21: 1
-- $2: pg_catalog.pg_constraint
-- $3: p
-- $4 21: @{customer}
-- $5 21: @{orders}
-- $6 21: @{log}
-- $7 21: @{active_customer}
-- $8 21: @{turnover}
SELECT attr.conrelid, array_agg(CAST(attr.attname AS TEXT) ORDER BY attr.ord) AS cols,
    attr.conname, min(attr.description) AS description, min(attr.indnkeyatts) AS indnkeyatts,
    bool_and(attr.indnullsnotdistinct) AS indnullsnotdistinct
    FROM (SELECT con.conrelid AS conrelid, con.conname AS conname, con.description AS
    description, con.ord AS ord, con.indnkeyatts AS indnkeyatts, con.indnullsnotdistinct AS
    indnullsnotdistinct, pg_catalog.pg_attribute.attname AS attname
    FROM pg_catalog.pg_attribute JOIN (SELECT pg_catalog.pg_constraint.conrelid AS conrelid,
    pg_catalog.pg_constraint.conname AS conname, unnest(pg_catalog.pg_index.indkey) AS attnum,
    generate_subscripts(pg_catalog.pg_index.indkey, $1::INTEGER) AS ord,
    pg_catalog.pg_index.indnkeyatts AS indnkeyatts, pg_catalog.pg_index.indnullsnotdistinct AS
    indnullsnotdistinct, pg_catalog.pg_description.description AS description
    FROM pg_catalog.pg_constraint JOIN pg_catalog.pg_index ON pg_catalog.pg_constraint.conindid
    = pg_catalog.pg_index.indexrelid LEFT OUTER JOIN pg_catalog.pg_description ON
    pg_catalog.pg_description.objoid = pg_catalog.pg_constraint.oid AND
    pg_catalog.pg_description.classoid = CAST($2 AS REGCLASS)
    WHERE pg_catalog.pg_constraint.contype = $3::VARCHAR AND pg_catalog.pg_constraint.conrelid
    IN ($4, $5, $6, $7, $8)) AS con ON pg_catalog.pg_attribute.attnum = con.attnum AND
    pg_catalog.pg_attribute.attrelid = con.conrelid WHERE con.conrelid IN ($4, $5, $6, $7, $8))
    AS attr GROUP BY attr.conrelid, attr.conname ORDER BY attr.conrelid, attr.conname

-- reflect #4
-- $1 16: t
-- $2: f
-- $3: pg_catalog.pg_constraint
-- $4: r
-- $5: p
-- $6: f
-- $7: v
-- $8: m
-- $9: pg_catalog
-- $10: log
-- $11: orders
-- $12: customer
-- $13: active_customer
-- $14: turnover
SELECT pg_catalog.pg_class.relname, pg_catalog.pg_constraint.conname, CASE WHEN
    (pg_catalog.pg_constraint.oid IS NOT NULL) THEN
    pg_catalog.pg_get_constraintdef(pg_catalog.pg_constraint.oid, $1) END AS anon_1,
    nsp_ref.nspname, pg_catalog.pg_description.description FROM pg_catalog.pg_class
    LEFT OUTER JOIN pg_catalog.pg_constraint ON pg_catalog.pg_class.oid =
    pg_catalog.pg_constraint.conrelid AND pg_catalog.pg_constraint.contype = $2::VARCHAR
    LEFT OUTER JOIN pg_catalog.pg_class AS cls_ref ON cls_ref.oid =
    pg_catalog.pg_constraint.confrelid LEFT OUTER JOIN pg_catalog.pg_namespace AS nsp_ref ON
    cls_ref.relnamespace = nsp_ref.oid LEFT OUTER JOIN pg_catalog.pg_description ON
    pg_catalog.pg_description.objoid = pg_catalog.pg_constraint.oid AND
    pg_catalog.pg_description.classoid = CAST($3 AS REGCLASS)
    JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid =
    pg_catalog.pg_class.relnamespace WHERE pg_catalog.pg_class.relkind = ANY (ARRAY[$4::VARCHAR,
    $5::VARCHAR, $6::VARCHAR, $7::VARCHAR, $8::VARCHAR]) AND
    pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid) AND pg_catalog.pg_namespace.nspname
    != $9::VARCHAR AND pg_catalog.pg_class.relname IN ($10::VARCHAR, $11::VARCHAR, $12::VARCHAR,
    $13::VARCHAR, $14::VARCHAR) ORDER BY pg_catalog.pg_class.relname,
    pg_catalog.pg_constraint.conname

-- reflect #5
-- $1 21: 0
-- $2 21: 1
-- $3 16: t
-- $4 21: 0
-- $5 21: 1
-- $6 21: @{customer}
-- $7 21: @{orders}
-- $8 21: @{log}
-- $9 21: @{active_customer}
-- $10 21: @{turnover}
-- $11: p
-- $12: u
-- $13: x
SELECT pg_catalog.pg_index.indrelid, pg_catalog.pg_class.relname,
    pg_catalog.pg_index.indisunique, pg_catalog.pg_index.indisvalid,
    pg_catalog.pg_constraint.conrelid IS NOT NULL AS has_constraint,
    pg_catalog.pg_index.indoption, pg_catalog.pg_class.reloptions, pg_catalog.pg_class.relam,
    CASE WHEN (pg_catalog.pg_index.indpred IS NOT NULL) THEN
    pg_catalog.pg_get_expr(pg_catalog.pg_index.indpred, pg_catalog.pg_index.indrelid) END AS
    filter_definition, pg_catalog.pg_index.indnkeyatts, pg_catalog.pg_index.indnullsnotdistinct,
    idx_cols.elements, idx_cols.elements_is_expr, idx_cols.elements_opclass
    FROM pg_catalog.pg_index JOIN pg_catalog.pg_class ON pg_catalog.pg_index.indexrelid =
    pg_catalog.pg_class.oid LEFT OUTER JOIN (SELECT idx_attr.indexrelid AS indexrelid,
    min(idx_attr.indrelid) AS min_1, array_agg(idx_attr.element
    ORDER BY idx_attr.ord) AS elements, array_agg(idx_attr.is_expr
    ORDER BY idx_attr.ord) AS elements_is_expr, array_agg(idx_attr.att_opclass
    ORDER BY idx_attr.ord) AS elements_opclass FROM (SELECT idx.indexrelid AS indexrelid,
    idx.indrelid AS indrelid, idx.ord AS ord, CASE WHEN (idx.attnum = $1::INTEGER) THEN
    pg_catalog.pg_get_indexdef(idx.indexrelid, idx.ord + $2::INTEGER, $3) ELSE
    CAST(pg_catalog.pg_attribute.attname AS TEXT) END AS element, idx.attnum = $4::INTEGER AS
    is_expr, CAST(idx.att_opclass AS BIGINT) AS att_opclass FROM (SELECT
    pg_catalog.pg_index.indexrelid AS indexrelid, pg_catalog.pg_index.indrelid AS indrelid,
    unnest(pg_catalog.pg_index.indkey) AS attnum, unnest(pg_catalog.pg_index.indclass) AS
    att_opclass, generate_subscripts(pg_catalog.pg_index.indkey, $5::INTEGER) AS ord
    FROM pg_catalog.pg_index WHERE NOT pg_catalog.pg_index.indisprimary AND
    pg_catalog.pg_index.indrelid IN ($6, $7, $8, $9, $10)) AS idx
    LEFT OUTER JOIN pg_catalog.pg_attribute ON pg_catalog.pg_attribute.attnum = idx.attnum AND
    pg_catalog.pg_attribute.attrelid = idx.indrelid WHERE idx.indrelid IN ($6, $7, $8, $9, $10))
    AS idx_attr GROUP BY idx_attr.indexrelid) AS idx_cols ON pg_catalog.pg_index.indexrelid =
    idx_cols.indexrelid LEFT OUTER JOIN pg_catalog.pg_constraint ON pg_catalog.pg_index.indrelid
    = pg_catalog.pg_constraint.conrelid AND pg_catalog.pg_index.indexrelid =
    pg_catalog.pg_constraint.conindid AND pg_catalog.pg_constraint.contype = ANY
    (ARRAY[$11::VARCHAR, $12::VARCHAR, $13::VARCHAR]) WHERE pg_catalog.pg_index.indrelid IN ($6,
    $7, $8, $9, $10) AND NOT pg_catalog.pg_index.indisprimary
    ORDER BY pg_catalog.pg_index.indrelid, pg_catalog.pg_class.relname

-- reflect #6
-- $1 21: 0
-- $2: pg_catalog.pg_class
-- $3: r
-- $4: p
-- $5: f
-- $6: v
-- $7: m
-- $8: pg_catalog
-- $9: log
-- $10: orders
-- $11: customer
-- $12: active_customer
-- $13: turnover
SELECT pg_catalog.pg_class.relname, pg_catalog.pg_description.description
    FROM pg_catalog.pg_class LEFT OUTER JOIN pg_catalog.pg_description ON
    pg_catalog.pg_class.oid = pg_catalog.pg_description.objoid AND
    pg_catalog.pg_description.objsubid = $1::INTEGER AND pg_catalog.pg_description.classoid =
    CAST($2 AS REGCLASS) JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid =
    pg_catalog.pg_class.relnamespace WHERE pg_catalog.pg_class.relkind = ANY (ARRAY[$3::VARCHAR,
    $4::VARCHAR, $5::VARCHAR, $6::VARCHAR, $7::VARCHAR]) AND
    pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid) AND pg_catalog.pg_namespace.nspname
    != $8::VARCHAR AND pg_catalog.pg_class.relname IN ($9::VARCHAR, $10::VARCHAR, $11::VARCHAR,
    $12::VARCHAR, $13::VARCHAR)

-- reflect #7
-- $1 16: t
-- $2: c
-- $3: pg_catalog.pg_constraint
-- $4: r
-- $5: p
-- $6: f
-- $7: v
-- $8: m
-- $9: pg_catalog
-- $10: log
-- $11: orders
-- $12: customer
-- $13: active_customer
-- $14: turnover
SELECT pg_catalog.pg_class.relname, pg_catalog.pg_constraint.conname, CASE WHEN
    (pg_catalog.pg_constraint.oid IS NOT NULL) THEN
    pg_catalog.pg_get_constraintdef(pg_catalog.pg_constraint.oid, $1) END AS anon_1,
    pg_catalog.pg_description.description FROM pg_catalog.pg_class
    LEFT OUTER JOIN pg_catalog.pg_constraint ON pg_catalog.pg_class.oid =
    pg_catalog.pg_constraint.conrelid AND pg_catalog.pg_constraint.contype = $2::VARCHAR
    LEFT OUTER JOIN pg_catalog.pg_description ON pg_catalog.pg_description.objoid =
    pg_catalog.pg_constraint.oid AND pg_catalog.pg_description.classoid = CAST($3 AS REGCLASS)
    JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid =
    pg_catalog.pg_class.relnamespace WHERE pg_catalog.pg_class.relkind = ANY (ARRAY[$4::VARCHAR,
    $5::VARCHAR, $6::VARCHAR, $7::VARCHAR, $8::VARCHAR]) AND
    pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid) AND pg_catalog.pg_namespace.nspname
    != $9::VARCHAR AND pg_catalog.pg_class.relname IN ($10::VARCHAR, $11::VARCHAR, $12::VARCHAR,
    $13::VARCHAR, $14::VARCHAR) ORDER BY pg_catalog.pg_class.relname,
    pg_catalog.pg_constraint.conname

-- reflect #8
-- $1: default_table_access_method
-- $2: r
-- $3: p
-- $4: f
-- $5: v
-- $6: m
-- $7: pg_catalog
-- $8: log
-- $9: orders
-- $10: customer
-- $11: active_customer
-- $12: turnover
SELECT pg_catalog.pg_class.oid, pg_catalog.pg_class.relname, pg_catalog.pg_class.reloptions,
    NULL AS relhasoids, CASE WHEN (pg_catalog.pg_am.amname IS NOT NULL AND
    pg_catalog.pg_am.amname != current_setting($1::VARCHAR)) THEN pg_catalog.pg_am.amname ELSE
    NULL END AS access_method_name, pg_catalog.pg_tablespace.spcname AS tablespace_name,
    inherits.parent_table_names FROM pg_catalog.pg_class LEFT OUTER
    JOIN pg_catalog.pg_am ON pg_catalog.pg_class.relam = pg_catalog.pg_am.oid
    LEFT OUTER JOIN (SELECT pg_catalog.pg_inherits.inhrelid AS inhrelid,
    array_agg(pg_catalog.pg_class.relname ORDER BY pg_catalog.pg_inherits.inhseqno) AS
    parent_table_names FROM pg_catalog.pg_inherits JOIN pg_catalog.pg_class ON
    pg_catalog.pg_inherits.inhparent = pg_catalog.pg_class.oid
    GROUP BY pg_catalog.pg_inherits.inhrelid) AS inherits ON pg_catalog.pg_class.oid =
    inherits.inhrelid LEFT OUTER JOIN pg_catalog.pg_tablespace ON pg_catalog.pg_tablespace.oid =
    pg_catalog.pg_class.reltablespace JOIN pg_catalog.pg_namespace ON
    pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace
    WHERE pg_catalog.pg_class.relkind = ANY (ARRAY[$2::VARCHAR, $3::VARCHAR, $4::VARCHAR,
    $5::VARCHAR, $6::VARCHAR]) AND pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid) AND
    pg_catalog.pg_namespace.nspname != $7::VARCHAR AND pg_catalog.pg_class.relname IN
    ($8::VARCHAR, $9::VARCHAR, $10::VARCHAR, $11::VARCHAR, $12::VARCHAR)

-- reflect #9
-- $1: 
-- $2: always
-- $3: a
-- $4: start
-- $5: increment
-- $6: minvalue
-- $7: maxvalue
-- $8: cache
-- $9: cycle
-- $10: 
-- $11 21: 0
-- $12: name
-- $13: schema
-- $14 21: 0
-- $15: r
-- $16: p
-- $17: f
-- $18: v
-- $19: m
-- $20: shop
-- $21: order_line
-- $22: every_type
-- $23: priced
SELECT pg_catalog.pg_attribute.attname AS name,
    pg_catalog.format_type(pg_catalog.pg_attribute.atttypid, pg_catalog.pg_attribute.atttypmod)
    AS format_type, CASE WHEN pg_catalog.pg_attribute.atthasdef THEN (SELECT
    pg_catalog.pg_get_expr(pg_catalog.pg_attrdef.adbin, pg_catalog.pg_attrdef.adrelid) AS
    pg_get_expr_1 FROM pg_catalog.pg_attrdef WHERE pg_catalog.pg_attribute.atthasdef AND
    pg_catalog.pg_attrdef.adrelid = pg_catalog.pg_attribute.attrelid AND
    pg_catalog.pg_attrdef.adnum = pg_catalog.pg_attribute.attnum) ELSE NULL END AS "default",
    pg_catalog.pg_attribute.attnotnull AS not_null, pg_catalog.pg_class.relname AS table_name,
    pg_catalog.pg_description.description AS comment, pg_catalog.pg_attribute.attgenerated AS
    generated, CASE WHEN (pg_catalog.pg_attribute.attidentity != $1::VARCHAR) THEN (SELECT
    json_build_object($2::VARCHAR, pg_catalog.pg_attribute.attidentity = $3::VARCHAR,
    $4::VARCHAR, pg_catalog.pg_sequence.seqstart, $5::VARCHAR,
    pg_catalog.pg_sequence.seqincrement, $6::VARCHAR, pg_catalog.pg_sequence.seqmin,
    $7::VARCHAR, pg_catalog.pg_sequence.seqmax, $8::VARCHAR, pg_catalog.pg_sequence.seqcache,
    $9::VARCHAR, pg_catalog.pg_sequence.seqcycle) AS json_build_object_1
    FROM pg_catalog.pg_sequence WHERE pg_catalog.pg_attribute.attidentity != $10::VARCHAR AND
    pg_catalog.pg_sequence.seqrelid =
    CAST(CAST(pg_catalog.pg_get_serial_sequence(CAST(CAST(pg_catalog.pg_attribute.attrelid AS
    REGCLASS) AS TEXT), pg_catalog.pg_attribute.attname) AS REGCLASS) AS OID)) ELSE NULL END AS
    identity_options, CASE WHEN (pg_catalog.pg_attribute.attcollation != $11::INTEGER AND
    (SELECT pg_catalog.pg_type.typcollation FROM pg_catalog.pg_type
    WHERE pg_catalog.pg_type.oid = pg_catalog.pg_attribute.atttypid) !=
    pg_catalog.pg_attribute.attcollation) THEN (SELECT json_build_object($12::VARCHAR,
    pg_catalog.pg_collation.collname, $13::VARCHAR, CASE WHEN
    pg_catalog.pg_collation_is_visible(pg_catalog.pg_collation.oid) THEN NULL ELSE
    pg_catalog.pg_namespace.nspname END) AS json_build_object_9
    FROM pg_catalog.pg_collation JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid =
    pg_catalog.pg_collation.collnamespace WHERE pg_catalog.pg_collation.oid =
    pg_catalog.pg_attribute.attcollation) ELSE NULL END AS collation
    FROM pg_catalog.pg_class LEFT OUTER JOIN pg_catalog.pg_attribute ON pg_catalog.pg_class.oid
    = pg_catalog.pg_attribute.attrelid AND pg_catalog.pg_attribute.attnum > $14::SMALLINT AND
    NOT pg_catalog.pg_attribute.attisdropped LEFT OUTER JOIN pg_catalog.pg_description ON
    pg_catalog.pg_description.objoid = pg_catalog.pg_attribute.attrelid AND
    pg_catalog.pg_description.objsubid = pg_catalog.pg_attribute.attnum
    JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid =
    pg_catalog.pg_class.relnamespace WHERE pg_catalog.pg_class.relkind = ANY
    (ARRAY[$15::VARCHAR, $16::VARCHAR, $17::VARCHAR, $18::VARCHAR, $19::VARCHAR]) AND
    pg_catalog.pg_namespace.nspname = $20::VARCHAR AND pg_catalog.pg_class.relname IN
    ($21::VARCHAR, $22::VARCHAR, $23::VARCHAR) ORDER BY pg_catalog.pg_class.relname,
    pg_catalog.pg_attribute.attnum

-- reflect #10
-- $1: r
-- $2: p
-- $3: f
-- $4: v
-- $5: m
-- $6: shop
-- $7: order_line
-- $8: every_type
-- $9: priced
SELECT pg_catalog.pg_class.oid, pg_catalog.pg_class.relname FROM pg_catalog.pg_class
    JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid =
    pg_catalog.pg_class.relnamespace WHERE pg_catalog.pg_class.relkind = ANY (ARRAY[$1::VARCHAR,
    $2::VARCHAR, $3::VARCHAR, $4::VARCHAR, $5::VARCHAR]) AND pg_catalog.pg_namespace.nspname =
    $6::VARCHAR AND pg_catalog.pg_class.relname IN ($7::VARCHAR, $8::VARCHAR, $9::VARCHAR)

-- reflect #11
-- $1 21: 1
-- $2: pg_catalog.pg_constraint
-- $3: p
-- $4 21: @{shop.every_type}
-- $5 21: @{shop.order_line}
-- $6 21: @{shop.priced}
SELECT attr.conrelid, array_agg(CAST(attr.attname AS TEXT) ORDER BY attr.ord) AS cols,
    attr.conname, min(attr.description) AS description, min(attr.indnkeyatts) AS indnkeyatts,
    bool_and(attr.indnullsnotdistinct) AS indnullsnotdistinct
    FROM (SELECT con.conrelid AS conrelid, con.conname AS conname, con.description AS
    description, con.ord AS ord, con.indnkeyatts AS indnkeyatts, con.indnullsnotdistinct AS
    indnullsnotdistinct, pg_catalog.pg_attribute.attname AS attname
    FROM pg_catalog.pg_attribute JOIN (SELECT pg_catalog.pg_constraint.conrelid AS conrelid,
    pg_catalog.pg_constraint.conname AS conname, unnest(pg_catalog.pg_index.indkey) AS attnum,
    generate_subscripts(pg_catalog.pg_index.indkey, $1::INTEGER) AS ord,
    pg_catalog.pg_index.indnkeyatts AS indnkeyatts, pg_catalog.pg_index.indnullsnotdistinct AS
    indnullsnotdistinct, pg_catalog.pg_description.description AS description
    FROM pg_catalog.pg_constraint JOIN pg_catalog.pg_index ON pg_catalog.pg_constraint.conindid
    = pg_catalog.pg_index.indexrelid LEFT OUTER JOIN pg_catalog.pg_description ON
    pg_catalog.pg_description.objoid = pg_catalog.pg_constraint.oid AND
    pg_catalog.pg_description.classoid = CAST($2 AS REGCLASS)
    WHERE pg_catalog.pg_constraint.contype = $3::VARCHAR AND pg_catalog.pg_constraint.conrelid
    IN ($4, $5, $6)) AS con ON pg_catalog.pg_attribute.attnum = con.attnum AND
    pg_catalog.pg_attribute.attrelid = con.conrelid WHERE con.conrelid IN ($4, $5, $6)) AS attr
    GROUP BY attr.conrelid, attr.conname ORDER BY attr.conrelid, attr.conname

-- reflect #12
-- $1 16: t
-- $2: f
-- $3: pg_catalog.pg_constraint
-- $4: r
-- $5: p
-- $6: f
-- $7: v
-- $8: m
-- $9: shop
-- $10: order_line
-- $11: every_type
-- $12: priced
SELECT pg_catalog.pg_class.relname, pg_catalog.pg_constraint.conname, CASE WHEN
    (pg_catalog.pg_constraint.oid IS NOT NULL) THEN
    pg_catalog.pg_get_constraintdef(pg_catalog.pg_constraint.oid, $1) END AS anon_1,
    nsp_ref.nspname, pg_catalog.pg_description.description FROM pg_catalog.pg_class
    LEFT OUTER JOIN pg_catalog.pg_constraint ON pg_catalog.pg_class.oid =
    pg_catalog.pg_constraint.conrelid AND pg_catalog.pg_constraint.contype = $2::VARCHAR
    LEFT OUTER JOIN pg_catalog.pg_class AS cls_ref ON cls_ref.oid =
    pg_catalog.pg_constraint.confrelid LEFT OUTER JOIN pg_catalog.pg_namespace AS nsp_ref ON
    cls_ref.relnamespace = nsp_ref.oid LEFT OUTER JOIN pg_catalog.pg_description ON
    pg_catalog.pg_description.objoid = pg_catalog.pg_constraint.oid AND
    pg_catalog.pg_description.classoid = CAST($3 AS REGCLASS)
    JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid =
    pg_catalog.pg_class.relnamespace WHERE pg_catalog.pg_class.relkind = ANY (ARRAY[$4::VARCHAR,
    $5::VARCHAR, $6::VARCHAR, $7::VARCHAR, $8::VARCHAR]) AND pg_catalog.pg_namespace.nspname =
    $9::VARCHAR AND pg_catalog.pg_class.relname IN ($10::VARCHAR, $11::VARCHAR, $12::VARCHAR)
    ORDER BY pg_catalog.pg_class.relname, pg_catalog.pg_constraint.conname

-- reflect #13
-- $1 21: 0
-- $2 21: 1
-- $3 16: t
-- $4 21: 0
-- $5 21: 1
-- $6 21: @{shop.every_type}
-- $7 21: @{shop.order_line}
-- $8 21: @{shop.priced}
-- $9: p
-- $10: u
-- $11: x
SELECT pg_catalog.pg_index.indrelid, pg_catalog.pg_class.relname,
    pg_catalog.pg_index.indisunique, pg_catalog.pg_index.indisvalid,
    pg_catalog.pg_constraint.conrelid IS NOT NULL AS has_constraint,
    pg_catalog.pg_index.indoption, pg_catalog.pg_class.reloptions, pg_catalog.pg_class.relam,
    CASE WHEN (pg_catalog.pg_index.indpred IS NOT NULL) THEN
    pg_catalog.pg_get_expr(pg_catalog.pg_index.indpred, pg_catalog.pg_index.indrelid) END AS
    filter_definition, pg_catalog.pg_index.indnkeyatts, pg_catalog.pg_index.indnullsnotdistinct,
    idx_cols.elements, idx_cols.elements_is_expr, idx_cols.elements_opclass
    FROM pg_catalog.pg_index JOIN pg_catalog.pg_class ON pg_catalog.pg_index.indexrelid =
    pg_catalog.pg_class.oid LEFT OUTER JOIN (SELECT idx_attr.indexrelid AS indexrelid,
    min(idx_attr.indrelid) AS min_1, array_agg(idx_attr.element
    ORDER BY idx_attr.ord) AS elements, array_agg(idx_attr.is_expr
    ORDER BY idx_attr.ord) AS elements_is_expr, array_agg(idx_attr.att_opclass
    ORDER BY idx_attr.ord) AS elements_opclass FROM (SELECT idx.indexrelid AS indexrelid,
    idx.indrelid AS indrelid, idx.ord AS ord, CASE WHEN (idx.attnum = $1::INTEGER) THEN
    pg_catalog.pg_get_indexdef(idx.indexrelid, idx.ord + $2::INTEGER, $3) ELSE
    CAST(pg_catalog.pg_attribute.attname AS TEXT) END AS element, idx.attnum = $4::INTEGER AS
    is_expr, CAST(idx.att_opclass AS BIGINT) AS att_opclass FROM (SELECT
    pg_catalog.pg_index.indexrelid AS indexrelid, pg_catalog.pg_index.indrelid AS indrelid,
    unnest(pg_catalog.pg_index.indkey) AS attnum, unnest(pg_catalog.pg_index.indclass) AS
    att_opclass, generate_subscripts(pg_catalog.pg_index.indkey, $5::INTEGER) AS ord
    FROM pg_catalog.pg_index WHERE NOT pg_catalog.pg_index.indisprimary AND
    pg_catalog.pg_index.indrelid IN ($6, $7, $8)) AS idx LEFT OUTER
    JOIN pg_catalog.pg_attribute ON pg_catalog.pg_attribute.attnum = idx.attnum AND
    pg_catalog.pg_attribute.attrelid = idx.indrelid WHERE idx.indrelid IN ($6, $7, $8)) AS
    idx_attr GROUP BY idx_attr.indexrelid) AS idx_cols ON pg_catalog.pg_index.indexrelid =
    idx_cols.indexrelid LEFT OUTER JOIN pg_catalog.pg_constraint ON pg_catalog.pg_index.indrelid
    = pg_catalog.pg_constraint.conrelid AND pg_catalog.pg_index.indexrelid =
    pg_catalog.pg_constraint.conindid AND pg_catalog.pg_constraint.contype = ANY
    (ARRAY[$9::VARCHAR, $10::VARCHAR, $11::VARCHAR]) WHERE pg_catalog.pg_index.indrelid IN ($6,
    $7, $8) AND NOT pg_catalog.pg_index.indisprimary ORDER BY pg_catalog.pg_index.indrelid,
    pg_catalog.pg_class.relname

-- reflect #14
-- $1 21: 1
-- $2: pg_catalog.pg_constraint
-- $3: u
-- $4 21: @{shop.every_type}
-- $5 21: @{shop.order_line}
-- $6 21: @{shop.priced}
SELECT attr.conrelid, array_agg(CAST(attr.attname AS TEXT) ORDER BY attr.ord) AS cols,
    attr.conname, min(attr.description) AS description, min(attr.indnkeyatts) AS indnkeyatts,
    bool_and(attr.indnullsnotdistinct) AS indnullsnotdistinct
    FROM (SELECT con.conrelid AS conrelid, con.conname AS conname, con.description AS
    description, con.ord AS ord, con.indnkeyatts AS indnkeyatts, con.indnullsnotdistinct AS
    indnullsnotdistinct, pg_catalog.pg_attribute.attname AS attname
    FROM pg_catalog.pg_attribute JOIN (SELECT pg_catalog.pg_constraint.conrelid AS conrelid,
    pg_catalog.pg_constraint.conname AS conname, unnest(pg_catalog.pg_index.indkey) AS attnum,
    generate_subscripts(pg_catalog.pg_index.indkey, $1::INTEGER) AS ord,
    pg_catalog.pg_index.indnkeyatts AS indnkeyatts, pg_catalog.pg_index.indnullsnotdistinct AS
    indnullsnotdistinct, pg_catalog.pg_description.description AS description
    FROM pg_catalog.pg_constraint JOIN pg_catalog.pg_index ON pg_catalog.pg_constraint.conindid
    = pg_catalog.pg_index.indexrelid LEFT OUTER JOIN pg_catalog.pg_description ON
    pg_catalog.pg_description.objoid = pg_catalog.pg_constraint.oid AND
    pg_catalog.pg_description.classoid = CAST($2 AS REGCLASS)
    WHERE pg_catalog.pg_constraint.contype = $3::VARCHAR AND pg_catalog.pg_constraint.conrelid
    IN ($4, $5, $6)) AS con ON pg_catalog.pg_attribute.attnum = con.attnum AND
    pg_catalog.pg_attribute.attrelid = con.conrelid WHERE con.conrelid IN ($4, $5, $6)) AS attr
    GROUP BY attr.conrelid, attr.conname ORDER BY attr.conrelid, attr.conname

-- reflect #15
-- $1 21: 0
-- $2: pg_catalog.pg_class
-- $3: r
-- $4: p
-- $5: f
-- $6: v
-- $7: m
-- $8: shop
-- $9: order_line
-- $10: every_type
-- $11: priced
SELECT pg_catalog.pg_class.relname, pg_catalog.pg_description.description
    FROM pg_catalog.pg_class LEFT OUTER JOIN pg_catalog.pg_description ON
    pg_catalog.pg_class.oid = pg_catalog.pg_description.objoid AND
    pg_catalog.pg_description.objsubid = $1::INTEGER AND pg_catalog.pg_description.classoid =
    CAST($2 AS REGCLASS) JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid =
    pg_catalog.pg_class.relnamespace WHERE pg_catalog.pg_class.relkind = ANY (ARRAY[$3::VARCHAR,
    $4::VARCHAR, $5::VARCHAR, $6::VARCHAR, $7::VARCHAR]) AND pg_catalog.pg_namespace.nspname =
    $8::VARCHAR AND pg_catalog.pg_class.relname IN ($9::VARCHAR, $10::VARCHAR, $11::VARCHAR)

-- reflect #16
-- $1 16: t
-- $2: c
-- $3: pg_catalog.pg_constraint
-- $4: r
-- $5: p
-- $6: f
-- $7: v
-- $8: m
-- $9: shop
-- $10: order_line
-- $11: every_type
-- $12: priced
SELECT pg_catalog.pg_class.relname, pg_catalog.pg_constraint.conname, CASE WHEN
    (pg_catalog.pg_constraint.oid IS NOT NULL) THEN
    pg_catalog.pg_get_constraintdef(pg_catalog.pg_constraint.oid, $1) END AS anon_1,
    pg_catalog.pg_description.description FROM pg_catalog.pg_class
    LEFT OUTER JOIN pg_catalog.pg_constraint ON pg_catalog.pg_class.oid =
    pg_catalog.pg_constraint.conrelid AND pg_catalog.pg_constraint.contype = $2::VARCHAR
    LEFT OUTER JOIN pg_catalog.pg_description ON pg_catalog.pg_description.objoid =
    pg_catalog.pg_constraint.oid AND pg_catalog.pg_description.classoid = CAST($3 AS REGCLASS)
    JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid =
    pg_catalog.pg_class.relnamespace WHERE pg_catalog.pg_class.relkind = ANY (ARRAY[$4::VARCHAR,
    $5::VARCHAR, $6::VARCHAR, $7::VARCHAR, $8::VARCHAR]) AND pg_catalog.pg_namespace.nspname =
    $9::VARCHAR AND pg_catalog.pg_class.relname IN ($10::VARCHAR, $11::VARCHAR, $12::VARCHAR)
    ORDER BY pg_catalog.pg_class.relname, pg_catalog.pg_constraint.conname

-- reflect #17
-- $1: default_table_access_method
-- $2: r
-- $3: p
-- $4: f
-- $5: v
-- $6: m
-- $7: shop
-- $8: order_line
-- $9: every_type
-- $10: priced
SELECT pg_catalog.pg_class.oid, pg_catalog.pg_class.relname, pg_catalog.pg_class.reloptions,
    NULL AS relhasoids, CASE WHEN (pg_catalog.pg_am.amname IS NOT NULL AND
    pg_catalog.pg_am.amname != current_setting($1::VARCHAR)) THEN pg_catalog.pg_am.amname ELSE
    NULL END AS access_method_name, pg_catalog.pg_tablespace.spcname AS tablespace_name,
    inherits.parent_table_names FROM pg_catalog.pg_class LEFT OUTER
    JOIN pg_catalog.pg_am ON pg_catalog.pg_class.relam = pg_catalog.pg_am.oid
    LEFT OUTER JOIN (SELECT pg_catalog.pg_inherits.inhrelid AS inhrelid,
    array_agg(pg_catalog.pg_class.relname ORDER BY pg_catalog.pg_inherits.inhseqno) AS
    parent_table_names FROM pg_catalog.pg_inherits JOIN pg_catalog.pg_class ON
    pg_catalog.pg_inherits.inhparent = pg_catalog.pg_class.oid
    GROUP BY pg_catalog.pg_inherits.inhrelid) AS inherits ON pg_catalog.pg_class.oid =
    inherits.inhrelid LEFT OUTER JOIN pg_catalog.pg_tablespace ON pg_catalog.pg_tablespace.oid =
    pg_catalog.pg_class.reltablespace JOIN pg_catalog.pg_namespace ON
    pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace
    WHERE pg_catalog.pg_class.relkind = ANY (ARRAY[$2::VARCHAR, $3::VARCHAR, $4::VARCHAR,
    $5::VARCHAR, $6::VARCHAR]) AND pg_catalog.pg_namespace.nspname = $7::VARCHAR AND
    pg_catalog.pg_class.relname IN ($8::VARCHAR, $9::VARCHAR, $10::VARCHAR)
