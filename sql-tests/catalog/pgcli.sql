-- pgcli 4: what completion reads, and its own \d.

-- search_path
SELECT * FROM unnest(current_schemas(true))

-- schemata
SELECT nspname FROM pg_catalog.pg_namespace ORDER BY 1

-- tables
-- $1: {r,p,f}
SELECT n.nspname schema_name, c.relname table_name FROM pg_catalog.pg_class c
    LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = ANY($1) ORDER BY 1,2

-- views
-- $1: {v,m}
SELECT n.nspname schema_name, c.relname table_name FROM pg_catalog.pg_class c
    LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = ANY($1) ORDER BY 1,2

-- databases
SELECT d.datname FROM pg_catalog.pg_database d ORDER BY 1

-- full_databases
SELECT d.datname as "Name", pg_catalog.pg_get_userbyid(d.datdba) as "Owner",
    pg_catalog.pg_encoding_to_char(d.encoding) as "Encoding", d.datcollate as "Collate",
    d.datctype as "Ctype", pg_catalog.array_to_string(d.datacl, E'
') AS "Access privileges"
    FROM pg_catalog.pg_database d ORDER BY 1

-- foreignkeys
SELECT s_p.nspname AS parentschema, t_p.relname AS parenttable, unnest(( select
    array_agg(attname ORDER BY i) from (select unnest(confkey) as attnum,
    generate_subscripts(confkey, 1) as i) x JOIN pg_catalog.pg_attribute c USING(attnum)
    WHERE c.attrelid = fk.confrelid )) AS parentcolumn, s_c.nspname AS childschema, t_c.relname
    AS childtable, unnest(( select array_agg(attname ORDER BY i)
    from (select unnest(conkey) as attnum, generate_subscripts(conkey, 1) as i) x
    JOIN pg_catalog.pg_attribute c USING(attnum) WHERE c.attrelid = fk.conrelid )) AS
    childcolumn FROM pg_catalog.pg_constraint fk JOIN pg_catalog.pg_class t_p ON t_p.oid =
    fk.confrelid JOIN pg_catalog.pg_namespace s_p ON s_p.oid = t_p.relnamespace
    JOIN pg_catalog.pg_class t_c ON t_c.oid = fk.conrelid JOIN pg_catalog.pg_namespace s_c ON
    s_c.oid = t_c.relnamespace WHERE fk.contype = 'f'

-- functions
SELECT n.nspname schema_name, p.proname func_name, p.proargnames,
    COALESCE(proallargtypes::regtype[], proargtypes::regtype[])::text[], p.proargmodes,
    prorettype::regtype::text return_type, p.prokind = 'a' is_aggregate, p.prokind = 'w'
    is_window, p.proretset is_set_returning, d.deptype = 'e' is_extension,
    pg_get_expr(proargdefaults, 0) AS arg_defaults FROM pg_catalog.pg_proc p
    INNER JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
    LEFT JOIN pg_depend d ON d.objid = p.oid and d.deptype = 'e'
    WHERE p.prorettype::regtype != 'trigger'::regtype ORDER BY 1, 2

-- datatypes
SELECT n.nspname schema_name, t.typname type_name FROM pg_catalog.pg_type t
    INNER JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
    WHERE ( t.typrelid = 0 OR ( SELECT c.relkind = 'c' FROM pg_catalog.pg_class c
    WHERE c.oid = t.typrelid ) ) AND NOT EXISTS( SELECT 1 FROM pg_catalog.pg_type el
    WHERE el.oid = t.typelem AND el.typarray = t.oid ) AND n.nspname <> 'pg_catalog' AND
    n.nspname <> 'information_schema' ORDER BY 1, 2

-- casing
WITH Words AS ( SELECT regexp_split_to_table(prosrc, '\W+') AS Word, COUNT(1)
    FROM pg_catalog.pg_proc P JOIN pg_catalog.pg_namespace N ON N.oid = P.pronamespace
    JOIN pg_catalog.pg_language L ON L.oid = P.prolang WHERE L.lanname IN ('sql', 'plpgsql') AND
    N.nspname NOT IN ('pg_catalog', 'information_schema') GROUP BY Word ), OrderWords AS (
    SELECT Word, ROW_NUMBER() OVER(PARTITION BY LOWER(Word) ORDER BY Count DESC)
    FROM Words WHERE Word ~* '.*[a-z].*' ), Names AS ( SELECT attname AS Name
    FROM pg_catalog.pg_attribute UNION SELECT relname FROM pg_catalog.pg_class
    UNION SELECT proname FROM pg_catalog.pg_proc UNION SELECT typname
    FROM pg_catalog.pg_type UNION SELECT nspname FROM pg_catalog.pg_namespace
    UNION SELECT unnest(proargnames) FROM pg_proc ) SELECT Word
    FROM OrderWords WHERE LOWER(Word) IN (SELECT Name FROM Names) AND Row_Number = 1

-- get_socket_directory
SELECT setting FROM pg_settings WHERE name = 'unix_socket_directories'

-- get_timezone
show time zone

-- table_columns
-- $1: {r,p,f}
SELECT nsp.nspname schema_name, cls.relname table_name, att.attname column_name,
    att.atttypid::regtype::text type_name, att.atthasdef AS has_default,
    pg_catalog.pg_get_expr(def.adbin, def.adrelid, true) as default
    FROM pg_catalog.pg_attribute att INNER JOIN pg_catalog.pg_class cls ON att.attrelid =
    cls.oid INNER JOIN pg_catalog.pg_namespace nsp ON cls.relnamespace = nsp.oid
    LEFT OUTER JOIN pg_attrdef def ON def.adrelid = att.attrelid AND def.adnum = att.attnum
    WHERE cls.relkind = ANY($1) AND NOT att.attisdropped AND att.attnum > 0
    ORDER BY 1, 2, att.attnum

-- view_columns
-- $1: {v,m}
SELECT nsp.nspname schema_name, cls.relname table_name, att.attname column_name,
    att.atttypid::regtype::text type_name, att.atthasdef AS has_default,
    pg_catalog.pg_get_expr(def.adbin, def.adrelid, true) as default
    FROM pg_catalog.pg_attribute att INNER JOIN pg_catalog.pg_class cls ON att.attrelid =
    cls.oid INNER JOIN pg_catalog.pg_namespace nsp ON cls.relnamespace = nsp.oid
    LEFT OUTER JOIN pg_attrdef def ON def.adrelid = att.attrelid AND def.adnum = att.attnum
    WHERE cls.relkind = ANY($1) AND NOT att.attisdropped AND att.attnum > 0
    ORDER BY 1, 2, att.attnum

-- view_definition
-- $1: public.active_customer
WITH v AS (SELECT $1::pg_catalog.regclass::pg_catalog.oid AS v_oid) SELECT nspname, relname,
    relkind, pg_catalog.pg_get_viewdef(c.oid, true),
    array_remove(array_remove(c.reloptions,'check_option=local'), 'check_option=cascaded') AS
    reloptions, CASE WHEN 'check_option=local' = ANY (c.reloptions) THEN 'LOCAL'::text WHEN
    'check_option=cascaded' = ANY (c.reloptions) THEN 'CASCADED'::text ELSE NULL END AS
    checkoption FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON
    (c.relnamespace = n.oid) JOIN v ON (c.oid = v.v_oid)

-- function_definition
-- $1: gross
WITH f AS (SELECT $1::pg_catalog.regproc::pg_catalog.oid AS f_oid) SELECT
    pg_catalog.pg_get_functiondef(f.f_oid) FROM f

-- \d
SELECT n.nspname as schema, c.relname as name, CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v'
    THEN 'view' WHEN 'p' THEN 'partitioned table' WHEN 'm' THEN 'materialized view' WHEN 'i'
    THEN 'index' WHEN 'S' THEN 'sequence' WHEN 's' THEN 'special' WHEN 'f' THEN 'foreign table'
    END as type, pg_catalog.pg_get_userbyid(c.relowner) as owner
    FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = ANY('{r,p,v,m,S,f,""}') AND n.nspname <> 'pg_catalog' AND n.nspname <>
    'information_schema' AND n.nspname !~ '^pg_toast' AND pg_catalog.pg_table_is_visible(c.oid)
    ORDER BY 1, 2

-- \d customer
-- $1: ^(customer)$
SELECT c.oid, n.nspname, c.relname FROM pg_catalog.pg_class c
    LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE pg_catalog.pg_table_is_visible(c.oid) AND c.relname OPERATOR(pg_catalog.~) $1
    ORDER BY 2,3

-- \d customer #2
SELECT c.relchecks, c.relkind, c.relhasindex, c.relhasrules, c.relhastriggers, false as
    relhasoids, '', c.reltablespace, CASE WHEN c.reloftype = 0 THEN '' ELSE
    c.reloftype::pg_catalog.regtype::pg_catalog.text END, c.relpersistence, c.relispartition
    FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_class tc ON (c.reltoastrelid = tc.oid)
    WHERE c.oid = '@{customer}'

-- \d customer #3
SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod) , (SELECT
    substring(pg_catalog.pg_get_expr(d.adbin, d.adrelid, true) for 128)
    FROM pg_catalog.pg_attrdef d WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND
    a.atthasdef) , a.attnotnull, (SELECT c.collname FROM pg_catalog.pg_collation c,
    pg_catalog.pg_type t WHERE c.oid = a.attcollation AND t.oid = a.atttypid AND a.attcollation
    <> t.typcollation) AS attcollation, a.attidentity, a.attgenerated, NULL AS indexdef, NULL AS
    attfdwoptions FROM pg_catalog.pg_attribute a WHERE a.attrelid = '@{customer}' AND a.attnum >
    0 AND NOT a.attisdropped ORDER BY a.attnum

-- \d customer #4
SELECT c2.relname, i.indisprimary, i.indisunique, i.indisclustered, i.indisvalid,
    pg_catalog.pg_get_indexdef(i.indexrelid, 0, true), pg_catalog.pg_get_constraintdef(con.oid,
    true), contype, condeferrable, condeferred, c2.reltablespace
    FROM pg_catalog.pg_class c, pg_catalog.pg_class c2, pg_catalog.pg_index i
    LEFT JOIN pg_catalog.pg_constraint con ON conrelid = i.indrelid AND conindid = i.indexrelid
    AND contype IN ('p','u','x') WHERE c.oid = '@{customer}' AND c.oid = i.indrelid AND
    i.indexrelid = c2.oid ORDER BY i.indisprimary DESC, i.indisunique DESC, c2.relname

-- \d customer #5
SELECT c.oid::pg_catalog.regclass FROM pg_catalog.pg_class c, pg_catalog.pg_inherits i
    WHERE c.oid = i.inhparent AND i.inhrelid = '@{customer}' ORDER BY inhseqno

-- \d customer #6
SELECT c.oid::pg_catalog.regclass FROM pg_catalog.pg_class c, pg_catalog.pg_inherits i
    WHERE c.oid = i.inhrelid AND i.inhparent = '@{customer}' ORDER BY
    c.oid::pg_catalog.regclass::pg_catalog.text

-- \d+ shop.order_line
-- $1: ^(shop)$
-- $2: ^(order_line)$
SELECT c.oid, n.nspname, c.relname FROM pg_catalog.pg_class c
    LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname ~ $1 AND c.relname OPERATOR(pg_catalog.~) $2
    ORDER BY 2,3

-- \d+ shop.order_line #2
SELECT c.relchecks, c.relkind, c.relhasindex, c.relhasrules, c.relhastriggers, false as
    relhasoids, pg_catalog.array_to_string(c.reloptions || array(select 'toast.' || x
    from pg_catalog.unnest(tc.reloptions) x), ', '), c.reltablespace, CASE WHEN c.reloftype = 0
    THEN '' ELSE c.reloftype::pg_catalog.regtype::pg_catalog.text END, c.relpersistence,
    c.relispartition FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_class tc ON
    (c.reltoastrelid = tc.oid) WHERE c.oid = '@{shop.order_line}'

-- \d+ shop.order_line #3
SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod) , (SELECT
    substring(pg_catalog.pg_get_expr(d.adbin, d.adrelid, true) for 128)
    FROM pg_catalog.pg_attrdef d WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND
    a.atthasdef) , a.attnotnull, (SELECT c.collname FROM pg_catalog.pg_collation c,
    pg_catalog.pg_type t WHERE c.oid = a.attcollation AND t.oid = a.atttypid AND a.attcollation
    <> t.typcollation) AS attcollation, a.attidentity, a.attgenerated, NULL AS indexdef, NULL AS
    attfdwoptions, a.attstorage, CASE WHEN a.attstattarget=-1 THEN NULL ELSE a.attstattarget END
    AS attstattarget, pg_catalog.col_description(a.attrelid, a.attnum)
    FROM pg_catalog.pg_attribute a WHERE a.attrelid = '@{shop.order_line}' AND a.attnum > 0 AND
    NOT a.attisdropped ORDER BY a.attnum

-- \d+ shop.order_line #4
SELECT c2.relname, i.indisprimary, i.indisunique, i.indisclustered, i.indisvalid,
    pg_catalog.pg_get_indexdef(i.indexrelid, 0, true), pg_catalog.pg_get_constraintdef(con.oid,
    true), contype, condeferrable, condeferred, c2.reltablespace
    FROM pg_catalog.pg_class c, pg_catalog.pg_class c2, pg_catalog.pg_index i
    LEFT JOIN pg_catalog.pg_constraint con ON conrelid = i.indrelid AND conindid = i.indexrelid
    AND contype IN ('p','u','x') WHERE c.oid = '@{shop.order_line}' AND c.oid = i.indrelid AND
    i.indexrelid = c2.oid ORDER BY i.indisprimary DESC, i.indisunique DESC, c2.relname

-- \d+ shop.order_line #5
SELECT c.oid::pg_catalog.regclass FROM pg_catalog.pg_class c, pg_catalog.pg_inherits i
    WHERE c.oid = i.inhparent AND i.inhrelid = '@{shop.order_line}'
    ORDER BY inhseqno

-- \d+ shop.order_line #6
SELECT c.oid::pg_catalog.regclass FROM pg_catalog.pg_class c, pg_catalog.pg_inherits i
    WHERE c.oid = i.inhrelid AND i.inhparent = '@{shop.order_line}'
    ORDER BY c.oid::pg_catalog.regclass::pg_catalog.text

-- \dt
SELECT n.nspname as schema, c.relname as name, CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v'
    THEN 'view' WHEN 'p' THEN 'partitioned table' WHEN 'm' THEN 'materialized view' WHEN 'i'
    THEN 'index' WHEN 'S' THEN 'sequence' WHEN 's' THEN 'special' WHEN 'f' THEN 'foreign table'
    END as type, pg_catalog.pg_get_userbyid(c.relowner) as owner
    FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = ANY('{r,p,""}') AND n.nspname <> 'pg_catalog' AND n.nspname <>
    'information_schema' AND n.nspname !~ '^pg_toast' AND pg_catalog.pg_table_is_visible(c.oid)
    ORDER BY 1, 2

-- \dv
SELECT n.nspname as schema, c.relname as name, CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v'
    THEN 'view' WHEN 'p' THEN 'partitioned table' WHEN 'm' THEN 'materialized view' WHEN 'i'
    THEN 'index' WHEN 'S' THEN 'sequence' WHEN 's' THEN 'special' WHEN 'f' THEN 'foreign table'
    END as type, pg_catalog.pg_get_userbyid(c.relowner) as owner
    FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = ANY('{v,s,""}') AND n.nspname <> 'pg_catalog' AND n.nspname <>
    'information_schema' AND n.nspname !~ '^pg_toast' AND pg_catalog.pg_table_is_visible(c.oid)
    ORDER BY 1, 2

-- \dn
SELECT n.nspname AS name, pg_catalog.pg_get_userbyid(n.nspowner) AS owner
    FROM pg_catalog.pg_namespace n WHERE n.nspname !~ '^pg_' AND n.nspname <>
    'information_schema' ORDER BY 1

-- \du
SELECT r.rolname, r.rolsuper, r.rolinherit, r.rolcreaterole, r.rolcreatedb, r.rolcanlogin,
    r.rolconnlimit, r.rolvaliduntil, ARRAY(SELECT b.rolname FROM pg_catalog.pg_auth_members m
    JOIN pg_catalog.pg_roles b ON (m.roleid = b.oid) WHERE m.member = r.oid) as memberof,
    r.rolreplication FROM pg_catalog.pg_roles r ORDER BY 1

-- \df
SELECT n.nspname as schema, p.proname as name, pg_catalog.pg_get_function_result(p.oid) as
    "Result data type", pg_catalog.pg_get_function_arguments(p.oid) as "Argument data types",
    CASE WHEN p.prokind = 'a' THEN 'agg' WHEN p.prokind = 'w' THEN 'window' WHEN p.prorettype =
    'pg_catalog.trigger'::pg_catalog.regtype THEN 'trigger' ELSE 'normal' END as type
    FROM pg_catalog.pg_proc p LEFT JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
    WHERE pg_catalog.pg_function_is_visible(p.oid) AND n.nspname <> 'pg_catalog' AND n.nspname
    <> 'information_schema' ORDER BY 1, 2, 4

-- \dT
SELECT n.nspname as schema, pg_catalog.format_type(t.oid, NULL) AS name,
    pg_catalog.obj_description(t.oid, 'pg_type') as description
    FROM pg_catalog.pg_type t LEFT JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
    WHERE (t.typrelid = 0 OR ( SELECT c.relkind = 'c' FROM pg_catalog.pg_class c
    WHERE c.oid = t.typrelid)) AND NOT EXISTS( SELECT 1 FROM pg_catalog.pg_type el
    WHERE el.oid = t.typelem AND el.typarray = t.oid) AND pg_catalog.pg_type_is_visible(t.oid)
    AND n.nspname <> 'pg_catalog' AND n.nspname <> 'information_schema'
    ORDER BY 1, 2

-- \l
SELECT d.datname as name, pg_catalog.pg_get_userbyid(d.datdba) as owner,
    pg_catalog.pg_encoding_to_char(d.encoding) as encoding, d.datcollate as collate, d.datctype
    as ctype, pg_catalog.array_to_string(d.datacl, E'
') AS access_privileges
    FROM pg_catalog.pg_database d ORDER BY 1

-- \dp
SELECT n.nspname as schema, c.relname as name, CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v'
    THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'S' THEN 'sequence' WHEN 'f' THEN
    'foreign table' WHEN 'p' THEN 'partitioned table' END as type,
    pg_catalog.array_to_string(c.relacl, E'
') AS access_privileges,
    pg_catalog.array_to_string(ARRAY( SELECT attname || E':
  ' ||
    pg_catalog.array_to_string(attacl, E'
  ') FROM pg_catalog.pg_attribute a
    WHERE attrelid = c.oid AND NOT attisdropped AND attacl IS NOT NULL ), E'
') AS
    column_privileges, pg_catalog.array_to_string(ARRAY( SELECT polname || CASE WHEN NOT
    polpermissive THEN E' (RESTRICTIVE)' ELSE '' END || CASE WHEN polcmd != '*' THEN E' (' ||
    polcmd::pg_catalog.text || E'):' ELSE E':' END || CASE WHEN polqual IS NOT NULL THEN
    E'
  (u): ' || pg_catalog.pg_get_expr(polqual, polrelid) ELSE E'' END || CASE WHEN
    polwithcheck IS NOT NULL THEN E'
  (c): ' || pg_catalog.pg_get_expr(polwithcheck, polrelid)
    ELSE E'' END || CASE WHEN polroles <> '{0}' THEN E'
  to: ' || pg_catalog.array_to_string(
    ARRAY( SELECT rolname FROM pg_catalog.pg_roles WHERE oid = ANY (polroles)
    ORDER BY 1 ), E', ') ELSE E'' END FROM pg_catalog.pg_policy pol
    WHERE polrelid = c.oid), E'
') AS policies FROM pg_catalog.pg_class c
    LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r','v','m','S','f','p') AND pg_catalog.pg_table_is_visible(c.oid) AND
    n.nspname !~ '^pg_' ORDER BY 1, 2

-- \ddp
SELECT pg_catalog.pg_get_userbyid(d.defaclrole) AS owner, n.nspname AS schema, CASE
    d.defaclobjtype WHEN 'r' THEN 'table' WHEN 'S' THEN 'sequence' WHEN 'f' THEN 'function' WHEN
    'T' THEN 'type' WHEN 'n' THEN 'schema' END as type, pg_catalog.array_to_string(d.defaclacl,
    E'
') AS access_privileges FROM pg_catalog.pg_default_acl d
    LEFT JOIN pg_catalog.pg_namespace n ON n.oid = d.defaclnamespace
    ORDER BY 1, 2, 3

-- \dD
SELECT n.nspname AS schema, t.typname AS name, pg_catalog.format_type(t.typbasetype,
    t.typtypmod) as type, pg_catalog.ltrim((COALESCE((SELECT (' collate ' || c.collname)
    FROM pg_catalog.pg_collation AS c, pg_catalog.pg_type AS bt
    WHERE c.oid = t.typcollation AND bt.oid = t.typbasetype AND t.typcollation <>
    bt.typcollation) , '') || CASE WHEN t.typnotnull THEN ' not null' ELSE '' END) || CASE WHEN
    t.typdefault IS NOT NULL THEN(' default ' || t.typdefault) ELSE '' END) AS modifier,
    pg_catalog.array_to_string(ARRAY( SELECT pg_catalog.pg_get_constraintdef(r.oid, TRUE)
    FROM pg_catalog.pg_constraint AS r WHERE t.oid = r.contypid), ' ') AS check
    FROM pg_catalog.pg_type AS t LEFT JOIN pg_catalog.pg_namespace AS n ON n.oid =
    t.typnamespace WHERE t.typtype = 'd' AND (n.nspname <> 'pg_catalog') AND (n.nspname <>
    'information_schema') AND pg_catalog.pg_type_is_visible(t.oid)
    ORDER BY 1, 2

-- \db
SELECT EXISTS(SELECT * FROM pg_proc WHERE proname = 'pg_tablespace_location')

-- \db #2
SELECT n.spcname AS name, pg_catalog.pg_get_userbyid(n.spcowner) AS owner,
    pg_catalog.pg_tablespace_location(n.oid) AS location FROM pg_catalog.pg_tablespace n
    ORDER BY 1

-- \dx
SELECT e.extname AS name, e.extversion AS version, n.nspname AS schema, c.description AS
    description FROM pg_catalog.pg_extension e LEFT JOIN pg_catalog.pg_namespace n ON n.oid =
    e.extnamespace LEFT JOIN pg_catalog.pg_description c ON c.objoid = e.oid AND c.classoid =
    'pg_catalog.pg_extension'::pg_catalog.regclass ORDER BY 1, 2

-- \dE
SELECT n.nspname as schema, c.relname as name, CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v'
    THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence'
    WHEN 's' THEN 'special' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'table' WHEN 'I' THEN
    'index' END as type, pg_catalog.pg_get_userbyid(c.relowner) as owner
    FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('f','') AND n.nspname <> 'pg_catalog' AND n.nspname <>
    'information_schema' AND n.nspname !~ '^pg_toast' AND pg_catalog.pg_table_is_visible(c.oid)
    ORDER BY 1,2

-- \sf gross
-- $1: gross
SELECT $1::pg_catalog.regproc::pg_catalog.oid

-- \sf gross #2
-- $1 21: @{gross::regproc}
SELECT pg_catalog.pg_get_functiondef($1) as source

-- \dF
SELECT n.nspname AS schema, c.cfgname AS name, pg_catalog.obj_description(c.oid, 'pg_ts_config')
    AS description FROM pg_catalog.pg_ts_config c LEFT JOIN pg_catalog.pg_namespace n ON n.oid =
    c.cfgnamespace ORDER BY 1, 2
