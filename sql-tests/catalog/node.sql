-- TypeORM 1.1, Kysely 0.28, postgres.js 3.4.

-- start
SELECT version()

-- start #2
SELECT * FROM current_schema()

-- getTable customer
SELECT * FROM current_database()

-- getTable customer #2
SELECT "table_schema", "table_name", obj_description((quote_ident("table_schema") || '.' ||
    quote_ident("table_name"))::regclass, 'pg_class') AS table_comment
    FROM "information_schema"."tables" WHERE ("table_schema" = 'public' AND "table_name" =
    'customer')

-- getTable customer #3
SELECT TRUE FROM information_schema.columns WHERE table_name = 'pg_class' and column_name =
    'relispartition'

-- getTable customer #4
SELECT columns.*, pg_catalog.col_description((quote_ident(table_catalog) || '.' ||
    quote_ident(table_schema) || '.' || quote_ident(table_name))::regclass::oid,
    ordinal_position) AS description, ('"' || "udt_schema" || '"."' || "udt_name" ||
    '"')::"regtype"::text AS "regtype", pg_catalog.format_type("col_attr"."atttypid",
    "col_attr"."atttypmod") AS "format_type" FROM "information_schema"."columns"
    LEFT JOIN "pg_catalog"."pg_attribute" AS "col_attr" ON "col_attr"."attname" =
    "columns"."column_name" AND "col_attr"."attrelid" = ( SELECT "cls"."oid"
    FROM "pg_catalog"."pg_class" AS "cls" LEFT JOIN "pg_catalog"."pg_namespace" AS "ns" ON
    "ns"."oid" = "cls"."relnamespace" WHERE "cls"."relname" = "columns"."table_name" AND
    "ns"."nspname" = "columns"."table_schema" ) WHERE ("table_schema" = 'public' AND
    "table_name" = 'customer')

-- getTable customer #5
SELECT "ns"."nspname" AS "table_schema", "t"."relname" AS "table_name", "cnst"."conname" AS
    "constraint_name", pg_get_constraintdef("cnst"."oid") AS "expression", CASE "cnst"."contype"
    WHEN 'p' THEN 'PRIMARY' WHEN 'u' THEN 'UNIQUE' WHEN 'c' THEN 'CHECK' WHEN 'x' THEN 'EXCLUDE'
    END AS "constraint_type", "a"."attname" AS "column_name" FROM "pg_constraint" "cnst"
    INNER JOIN "pg_class" "t" ON "t"."oid" = "cnst"."conrelid"
    INNER JOIN "pg_namespace" "ns" ON "ns"."oid" = "cnst"."connamespace"
    LEFT JOIN "pg_attribute" "a" ON "a"."attrelid" = "cnst"."conrelid" AND "a"."attnum" = ANY
    ("cnst"."conkey") WHERE "t"."relkind" IN ('r', 'p') AND (("ns"."nspname" = 'public' AND
    "t"."relname" = 'customer'))

-- getTable customer #6
SELECT "ns"."nspname" AS "table_schema", "t"."relname" AS "table_name", "i"."relname" AS
    "constraint_name", "a"."attname" AS "column_name", CASE "ix"."indisunique" WHEN 't' THEN
    'TRUE' ELSE'FALSE' END AS "is_unique", pg_get_expr("ix"."indpred", "ix"."indrelid") AS
    "condition", "types"."typname" AS "type_name", "am"."amname" AS "index_type"
    FROM "pg_class" "t" INNER JOIN "pg_index" "ix" ON "ix"."indrelid" = "t"."oid"
    INNER JOIN "pg_attribute" "a" ON "a"."attrelid" = "t"."oid" AND "a"."attnum" = ANY
    ("ix"."indkey") INNER JOIN "pg_namespace" "ns" ON "ns"."oid" = "t"."relnamespace"
    INNER JOIN "pg_class" "i" ON "i"."oid" = "ix"."indexrelid"
    INNER JOIN "pg_type" "types" ON "types"."oid" = "a"."atttypid"
    INNER JOIN "pg_am" "am" ON "i"."relam" = "am"."oid" LEFT JOIN "pg_constraint" "cnst" ON
    "cnst"."conname" = "i"."relname" WHERE "t"."relkind" IN ('r', 'p') AND "cnst"."contype" IS
    NULL AND (("ns"."nspname" = 'public' AND "t"."relname" = 'customer'))

-- getTable customer #7
SELECT "con"."conname" AS "constraint_name", "con"."nspname" AS "table_schema", "con"."relname"
    AS "table_name", "att2"."attname" AS "column_name", "ns"."nspname" AS
    "referenced_table_schema", "cl"."relname" AS "referenced_table_name", "att"."attname" AS
    "referenced_column_name", "con"."confdeltype" AS "on_delete", "con"."confupdtype" AS
    "on_update", "con"."condeferrable" AS "deferrable", "con"."condeferred" AS "deferred"
    FROM ( SELECT UNNEST ("con1"."conkey") AS "parent", UNNEST ("con1"."confkey") AS "child",
    "con1"."confrelid", "con1"."conrelid", "con1"."conname", "con1"."contype", "ns"."nspname",
    "cl"."relname", "con1"."condeferrable", CASE WHEN "con1"."condeferred" THEN
    'INITIALLY DEFERRED' ELSE 'INITIALLY IMMEDIATE' END as condeferred, CASE
    "con1"."confdeltype" WHEN 'a' THEN 'NO ACTION' WHEN 'r' THEN 'RESTRICT' WHEN 'c' THEN
    'CASCADE' WHEN 'n' THEN 'SET NULL' WHEN 'd' THEN 'SET DEFAULT' END as "confdeltype", CASE
    "con1"."confupdtype" WHEN 'a' THEN 'NO ACTION' WHEN 'r' THEN 'RESTRICT' WHEN 'c' THEN
    'CASCADE' WHEN 'n' THEN 'SET NULL' WHEN 'd' THEN 'SET DEFAULT' END as "confupdtype"
    FROM "pg_class" "cl" INNER JOIN "pg_namespace" "ns" ON "cl"."relnamespace" = "ns"."oid"
    INNER JOIN "pg_constraint" "con1" ON "con1"."conrelid" = "cl"."oid"
    WHERE "con1"."contype" = 'f' AND (("ns"."nspname" = 'public' AND "cl"."relname" =
    'customer')) ) "con" INNER JOIN "pg_attribute" "att" ON "att"."attrelid" = "con"."confrelid"
    AND "att"."attnum" = "con"."child" INNER JOIN "pg_class" "cl" ON "cl"."oid" =
    "con"."confrelid" AND "cl"."relispartition" = 'f'INNER JOIN "pg_namespace" "ns" ON
    "cl"."relnamespace" = "ns"."oid" INNER JOIN "pg_attribute" "att2" ON "att2"."attrelid" =
    "con"."conrelid" AND "att2"."attnum" = "con"."parent"

-- getTable shop.order_line
SELECT "table_schema", "table_name", obj_description((quote_ident("table_schema") || '.' ||
    quote_ident("table_name"))::regclass, 'pg_class') AS table_comment
    FROM "information_schema"."tables" WHERE ("table_schema" = 'shop' AND "table_name" =
    'order_line')

-- getTable shop.order_line #2
SELECT columns.*, pg_catalog.col_description((quote_ident(table_catalog) || '.' ||
    quote_ident(table_schema) || '.' || quote_ident(table_name))::regclass::oid,
    ordinal_position) AS description, ('"' || "udt_schema" || '"."' || "udt_name" ||
    '"')::"regtype"::text AS "regtype", pg_catalog.format_type("col_attr"."atttypid",
    "col_attr"."atttypmod") AS "format_type" FROM "information_schema"."columns"
    LEFT JOIN "pg_catalog"."pg_attribute" AS "col_attr" ON "col_attr"."attname" =
    "columns"."column_name" AND "col_attr"."attrelid" = ( SELECT "cls"."oid"
    FROM "pg_catalog"."pg_class" AS "cls" LEFT JOIN "pg_catalog"."pg_namespace" AS "ns" ON
    "ns"."oid" = "cls"."relnamespace" WHERE "cls"."relname" = "columns"."table_name" AND
    "ns"."nspname" = "columns"."table_schema" ) WHERE ("table_schema" = 'shop' AND "table_name"
    = 'order_line')

-- getTable shop.order_line #3
SELECT "ns"."nspname" AS "table_schema", "t"."relname" AS "table_name", "cnst"."conname" AS
    "constraint_name", pg_get_constraintdef("cnst"."oid") AS "expression", CASE "cnst"."contype"
    WHEN 'p' THEN 'PRIMARY' WHEN 'u' THEN 'UNIQUE' WHEN 'c' THEN 'CHECK' WHEN 'x' THEN 'EXCLUDE'
    END AS "constraint_type", "a"."attname" AS "column_name" FROM "pg_constraint" "cnst"
    INNER JOIN "pg_class" "t" ON "t"."oid" = "cnst"."conrelid"
    INNER JOIN "pg_namespace" "ns" ON "ns"."oid" = "cnst"."connamespace"
    LEFT JOIN "pg_attribute" "a" ON "a"."attrelid" = "cnst"."conrelid" AND "a"."attnum" = ANY
    ("cnst"."conkey") WHERE "t"."relkind" IN ('r', 'p') AND (("ns"."nspname" = 'shop' AND
    "t"."relname" = 'order_line'))

-- getTable shop.order_line #4
SELECT "ns"."nspname" AS "table_schema", "t"."relname" AS "table_name", "i"."relname" AS
    "constraint_name", "a"."attname" AS "column_name", CASE "ix"."indisunique" WHEN 't' THEN
    'TRUE' ELSE'FALSE' END AS "is_unique", pg_get_expr("ix"."indpred", "ix"."indrelid") AS
    "condition", "types"."typname" AS "type_name", "am"."amname" AS "index_type"
    FROM "pg_class" "t" INNER JOIN "pg_index" "ix" ON "ix"."indrelid" = "t"."oid"
    INNER JOIN "pg_attribute" "a" ON "a"."attrelid" = "t"."oid" AND "a"."attnum" = ANY
    ("ix"."indkey") INNER JOIN "pg_namespace" "ns" ON "ns"."oid" = "t"."relnamespace"
    INNER JOIN "pg_class" "i" ON "i"."oid" = "ix"."indexrelid"
    INNER JOIN "pg_type" "types" ON "types"."oid" = "a"."atttypid"
    INNER JOIN "pg_am" "am" ON "i"."relam" = "am"."oid" LEFT JOIN "pg_constraint" "cnst" ON
    "cnst"."conname" = "i"."relname" WHERE "t"."relkind" IN ('r', 'p') AND "cnst"."contype" IS
    NULL AND (("ns"."nspname" = 'shop' AND "t"."relname" = 'order_line'))

-- getTable shop.order_line #5
SELECT "con"."conname" AS "constraint_name", "con"."nspname" AS "table_schema", "con"."relname"
    AS "table_name", "att2"."attname" AS "column_name", "ns"."nspname" AS
    "referenced_table_schema", "cl"."relname" AS "referenced_table_name", "att"."attname" AS
    "referenced_column_name", "con"."confdeltype" AS "on_delete", "con"."confupdtype" AS
    "on_update", "con"."condeferrable" AS "deferrable", "con"."condeferred" AS "deferred"
    FROM ( SELECT UNNEST ("con1"."conkey") AS "parent", UNNEST ("con1"."confkey") AS "child",
    "con1"."confrelid", "con1"."conrelid", "con1"."conname", "con1"."contype", "ns"."nspname",
    "cl"."relname", "con1"."condeferrable", CASE WHEN "con1"."condeferred" THEN
    'INITIALLY DEFERRED' ELSE 'INITIALLY IMMEDIATE' END as condeferred, CASE
    "con1"."confdeltype" WHEN 'a' THEN 'NO ACTION' WHEN 'r' THEN 'RESTRICT' WHEN 'c' THEN
    'CASCADE' WHEN 'n' THEN 'SET NULL' WHEN 'd' THEN 'SET DEFAULT' END as "confdeltype", CASE
    "con1"."confupdtype" WHEN 'a' THEN 'NO ACTION' WHEN 'r' THEN 'RESTRICT' WHEN 'c' THEN
    'CASCADE' WHEN 'n' THEN 'SET NULL' WHEN 'd' THEN 'SET DEFAULT' END as "confupdtype"
    FROM "pg_class" "cl" INNER JOIN "pg_namespace" "ns" ON "cl"."relnamespace" = "ns"."oid"
    INNER JOIN "pg_constraint" "con1" ON "con1"."conrelid" = "cl"."oid"
    WHERE "con1"."contype" = 'f' AND (("ns"."nspname" = 'shop' AND "cl"."relname" =
    'order_line')) ) "con" INNER JOIN "pg_attribute" "att" ON "att"."attrelid" =
    "con"."confrelid" AND "att"."attnum" = "con"."child" INNER
    JOIN "pg_class" "cl" ON "cl"."oid" = "con"."confrelid" AND "cl"."relispartition" = 'f'INNER
    JOIN "pg_namespace" "ns" ON "cl"."relnamespace" = "ns"."oid"
    INNER JOIN "pg_attribute" "att2" ON "att2"."attrelid" = "con"."conrelid" AND "att2"."attnum"
    = "con"."parent"

-- getView
-- $1: public
-- $2: typeorm_metadata
SELECT * FROM "information_schema"."tables" WHERE "table_schema" = $1 AND "table_name" = $2

-- hasTable
-- $1: public
-- $2: customer
SELECT * FROM "information_schema"."tables" WHERE "table_schema" = $1 AND "table_name" = $2

-- hasColumn
-- $1: public
-- $2: customer
-- $3: id
SELECT * FROM "information_schema"."columns" WHERE "table_schema" = $1 AND "table_name" = $2 AND
    "column_name" = $3

-- hasSchema
-- $1: shop
SELECT * FROM "information_schema"."schemata" WHERE "schema_name" = $1

-- hasDatabase
-- $1: weir
SELECT * FROM pg_database WHERE datname=$1

-- getTables
SELECT "table_schema", "table_name", obj_description((quote_ident("table_schema") || '.' ||
    quote_ident("table_name"))::regclass, 'pg_class') AS table_comment
    FROM "information_schema"."tables"

-- getVersion
SELECT "udt_schema", "udt_name" FROM "information_schema"."columns"
    WHERE "table_schema" = 'shop' AND "table_name" = 'every_type' AND "column_name"='texts'

-- getVersion #2
SELECT "udt_schema", "udt_name" FROM "information_schema"."columns"
    WHERE "table_schema" = 'shop' AND "table_name" = 'every_type' AND "column_name"='integers'

-- getVersion #3
SELECT "e"."enumlabel" AS "value" FROM "pg_enum" "e" INNER JOIN "pg_type" "t" ON "t"."oid" =
    "e"."enumtypid" INNER JOIN "pg_namespace" "n" ON "n"."oid" = "t"."typnamespace"
    WHERE "n"."nspname" = 'shop' AND "t"."typname" = 'text' ORDER BY "e"."enumsortorder"

-- getVersion #4
SELECT "e"."enumlabel" AS "value" FROM "pg_enum" "e" INNER JOIN "pg_type" "t" ON "t"."oid" =
    "e"."enumtypid" INNER JOIN "pg_namespace" "n" ON "n"."oid" = "t"."typnamespace"
    WHERE "n"."nspname" = 'shop' AND "t"."typname" = 'int4' ORDER BY "e"."enumsortorder"

-- getSchemas
select "nspname" from "pg_catalog"."pg_namespace"

-- getTables #2
-- $1: r
-- $2: v
-- $3: p
-- $4: ^pg_
-- $5: information_schema
-- $6: crdb_internal
-- $7: 0
-- $8: true
-- $9: kysely_migration
-- $10: kysely_migration_lock
select "a"."attname" as "column", "a"."attnotnull" as "not_null", "a"."atthasdef" as
    "has_default", "c"."relname" as "table", "c"."relkind" as "table_type", "ns"."nspname" as
    "schema", "typ"."typname" as "type", "dtns"."nspname" as "type_schema",
    col_description(a.attrelid, a.attnum) as "column_description",
    pg_get_serial_sequence(quote_ident(ns.nspname) || '.' || quote_ident(c.relname), a.attname)
    as "auto_incrementing" from "pg_catalog"."pg_attribute" as "a"
    inner join "pg_catalog"."pg_class" as "c" on "a"."attrelid" = "c"."oid"
    inner join "pg_catalog"."pg_namespace" as "ns" on "c"."relnamespace" = "ns"."oid"
    inner join "pg_catalog"."pg_type" as "typ" on "a"."atttypid" = "typ"."oid"
    inner join "pg_catalog"."pg_namespace" as "dtns" on "typ"."typnamespace" = "dtns"."oid"
    where "c"."relkind" in ($1, $2, $3) and "ns"."nspname" !~ $4 and "ns"."nspname" != $5 and
    "ns"."nspname" != $6 and has_schema_privilege(ns.nspname, 'USAGE') and "a"."attnum" >= $7
    and "a"."attisdropped" != $8 and "c"."relname" != $9 and "c"."relname" != $10
    order by "ns"."nspname", "c"."relname", "a"."attnum"

-- postgres.js start
select b.oid, b.typarray from pg_catalog.pg_type a left join pg_catalog.pg_type b on b.oid =
    a.typelem where a.typcategory = 'A' group by b.oid, b.typarray
    order by b.oid
