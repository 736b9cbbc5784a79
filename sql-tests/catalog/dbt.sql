-- dbt-postgres 1.10: run and docs.

-- statement #1
select distinct nspname from pg_namespace

-- statement #2
select 'weir' as database, tablename as name, schemaname as schema, 'table' as type
    from pg_tables where schemaname ilike 'public' union all select 'weir' as database,
    viewname as name, schemaname as schema, 'view' as type from pg_views
    where schemaname ilike 'public' union all select 'weir' as database, matviewname as
    name, schemaname as schema, 'materialized_view' as type from pg_matviews
    where schemaname ilike 'public'

-- statement #3
select distinct dependent_namespace.nspname as dependent_schema, dependent_class.relname as
    dependent_name, referenced_namespace.nspname as referenced_schema, referenced_class.relname
    as referenced_name from pg_class as dependent_class join pg_namespace as dependent_namespace
    on dependent_namespace.oid = dependent_class.relnamespace
    join pg_depend as dependent_depend on dependent_depend.refobjid = dependent_class.oid and
    dependent_depend.classid = 'pg_rewrite'::regclass and dependent_depend.refclassid =
    'pg_class'::regclass and dependent_depend.deptype = 'i' join pg_depend as joining_depend on
    joining_depend.objid = dependent_depend.objid and joining_depend.classid =
    'pg_rewrite'::regclass and joining_depend.refclassid = 'pg_class'::regclass and
    joining_depend.refobjid != dependent_depend.refobjid join pg_class as referenced_class on
    referenced_class.oid = joining_depend.refobjid join pg_namespace as referenced_namespace on
    referenced_namespace.oid = referenced_class.relnamespace and referenced_namespace.nspname !=
    'information_schema' and referenced_namespace.nspname not like 'pg\_%'
    order by dependent_schema, dependent_name, referenced_schema, referenced_name

-- statement #4
select column_name, data_type, character_maximum_length, numeric_precision, numeric_scale
    from "weir".INFORMATION_SCHEMA.columns where table_name = 'three' and table_schema =
    'public' order by ordinal_position

-- statement #5
select 'weir' as table_database, sch.nspname as table_schema, tbl.relname as table_name,
    case tbl.relkind when 'v' then 'VIEW' when 'm' then 'MATERIALIZED VIEW' else 'BASE TABLE'
    end as table_type, tbl_desc.description as table_comment, col.attname as column_name,
    col.attnum as column_index, pg_catalog.format_type(col.atttypid, col.atttypmod) as
    column_type, col_desc.description as column_comment, pg_get_userbyid(tbl.relowner) as
    table_owner from pg_catalog.pg_namespace sch join pg_catalog.pg_class tbl on
    tbl.relnamespace = sch.oid join pg_catalog.pg_attribute col on col.attrelid = tbl.oid
    left outer join pg_catalog.pg_description tbl_desc on (tbl_desc.objoid = tbl.oid and
    tbl_desc.objsubid = 0) left outer join pg_catalog.pg_description col_desc on
    (col_desc.objoid = tbl.oid and col_desc.objsubid = col.attnum)
    where ((upper(sch.nspname) = upper('public') and upper(tbl.relname) = upper('one')) or
    (upper(sch.nspname) = upper('public') and upper(tbl.relname) = upper('customer')) or
    (upper(sch.nspname) = upper('public') and upper(tbl.relname) = upper('two')) or
    (upper(sch.nspname) = upper('public') and upper(tbl.relname) = upper('three'))) and not
    pg_is_other_temp_schema(sch.oid) and tbl.relpersistence in ('p', 'u') and tbl.relkind in
    ('r', 'v', 'f', 'p', 'm') and col.attnum > 0 and not col.attisdropped
    order by sch.nspname, tbl.relname, col.attnum
