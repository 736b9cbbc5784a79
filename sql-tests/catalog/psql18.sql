-- psql 18, what it says differently from psql 15.

-- \d customer
SELECT c2.relname, i.indisprimary, i.indisunique, i.indisclustered, i.indisvalid,
    pg_catalog.pg_get_indexdef(i.indexrelid, 0, true), pg_catalog.pg_get_constraintdef(con.oid,
    true), contype, condeferrable, condeferred, i.indisreplident, c2.reltablespace, false AS
    conperiod FROM pg_catalog.pg_class c, pg_catalog.pg_class c2, pg_catalog.pg_index i
    LEFT JOIN pg_catalog.pg_constraint con ON (conrelid = i.indrelid AND conindid = i.indexrelid
    AND contype IN ('p','u','x')) WHERE c.oid = '@{customer}' AND c.oid = i.indrelid AND
    i.indexrelid = c2.oid ORDER BY i.indisprimary DESC, c2.relname

-- \d customer #2
SELECT true as sametable, conname, pg_catalog.pg_get_constraintdef(r.oid, true) as condef,
    conrelid::pg_catalog.regclass AS ontable FROM pg_catalog.pg_constraint r
    WHERE r.conrelid = '@{customer}' AND r.contype = 'f' AND conparentid = 0
    ORDER BY conname

-- \d customer #3
SELECT conname, conrelid::pg_catalog.regclass AS ontable, pg_catalog.pg_get_constraintdef(oid,
    true) AS condef FROM pg_catalog.pg_constraint c WHERE confrelid IN (SELECT
    pg_catalog.pg_partition_ancestors('@{customer}') UNION ALL VALUES
    ('@{customer}'::pg_catalog.regclass)) AND contype = 'f' AND conparentid = 0
    ORDER BY conname

-- \d+ customer
SELECT c.conname, a.attname, c.connoinherit, c.conislocal, c.coninhcount <> 0, c.convalidated
    FROM pg_catalog.pg_constraint c JOIN pg_catalog.pg_attribute a ON (a.attrelid = c.conrelid
    AND a.attnum = c.conkey[1]) WHERE c.contype = 'n' AND c.conrelid =
    '@{customer}'::pg_catalog.regclass ORDER BY a.attnum

-- \d orders
SELECT c2.relname, i.indisprimary, i.indisunique, i.indisclustered, i.indisvalid,
    pg_catalog.pg_get_indexdef(i.indexrelid, 0, true), pg_catalog.pg_get_constraintdef(con.oid,
    true), contype, condeferrable, condeferred, i.indisreplident, c2.reltablespace, false AS
    conperiod FROM pg_catalog.pg_class c, pg_catalog.pg_class c2, pg_catalog.pg_index i
    LEFT JOIN pg_catalog.pg_constraint con ON (conrelid = i.indrelid AND conindid = i.indexrelid
    AND contype IN ('p','u','x')) WHERE c.oid = '@{orders}' AND c.oid = i.indrelid AND
    i.indexrelid = c2.oid ORDER BY i.indisprimary DESC, c2.relname

-- \d orders #2
SELECT true as sametable, conname, pg_catalog.pg_get_constraintdef(r.oid, true) as condef,
    conrelid::pg_catalog.regclass AS ontable FROM pg_catalog.pg_constraint r
    WHERE r.conrelid = '@{orders}' AND r.contype = 'f' AND conparentid = 0
    ORDER BY conname

-- \d orders #3
SELECT conname, conrelid::pg_catalog.regclass AS ontable, pg_catalog.pg_get_constraintdef(oid,
    true) AS condef FROM pg_catalog.pg_constraint c WHERE confrelid IN (SELECT
    pg_catalog.pg_partition_ancestors('@{orders}') UNION ALL VALUES
    ('@{orders}'::pg_catalog.regclass)) AND contype = 'f' AND conparentid = 0
    ORDER BY conname

-- \d+ shop.order_line
SELECT pol.polname, pol.polpermissive, CASE WHEN pol.polroles = '{0}' THEN NULL ELSE
    pg_catalog.array_to_string(array(select rolname from pg_catalog.pg_roles
    where oid = any (pol.polroles) order by 1),',') END, pg_catalog.pg_get_expr(pol.polqual,
    pol.polrelid), pg_catalog.pg_get_expr(pol.polwithcheck, pol.polrelid), CASE pol.polcmd WHEN
    'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE' WHEN 'd' THEN 'DELETE' END
    AS cmd FROM pg_catalog.pg_policy pol WHERE pol.polrelid = '@{shop.order_line}'
    ORDER BY 1

-- \d+ shop.order_line #2
SELECT oid, stxrelid::pg_catalog.regclass,
    stxnamespace::pg_catalog.regnamespace::pg_catalog.text AS nsp, stxname,
    pg_catalog.pg_get_statisticsobjdef_columns(oid) AS columns, 'd' = any(stxkind) AS
    ndist_enabled, 'f' = any(stxkind) AS deps_enabled, 'm' = any(stxkind) AS mcv_enabled,
    stxstattarget FROM pg_catalog.pg_statistic_ext WHERE stxrelid = '@{shop.order_line}'
    ORDER BY nsp, stxname

-- \d+ shop.order_line #3
SELECT pubname , NULL , NULL FROM pg_catalog.pg_publication p
    JOIN pg_catalog.pg_publication_namespace pn ON p.oid = pn.pnpubid
    JOIN pg_catalog.pg_class pc ON pc.relnamespace = pn.pnnspid
    WHERE pc.oid ='@{shop.order_line}' and
    pg_catalog.pg_relation_is_publishable('@{shop.order_line}')
    UNION SELECT pubname , pg_get_expr(pr.prqual, c.oid) , (CASE WHEN pr.prattrs IS NOT NULL
    THEN (SELECT string_agg(attname, ', ') FROM pg_catalog.generate_series(0,
    pg_catalog.array_upper(pr.prattrs::pg_catalog.int2[], 1)) s, pg_catalog.pg_attribute
    WHERE attrelid = pr.prrelid AND attnum = prattrs[s]) ELSE NULL END)
    FROM pg_catalog.pg_publication p JOIN pg_catalog.pg_publication_rel pr ON p.oid = pr.prpubid
    JOIN pg_catalog.pg_class c ON c.oid = pr.prrelid WHERE pr.prrelid = '@{shop.order_line}'
    UNION SELECT pubname , NULL , NULL FROM pg_catalog.pg_publication p
    WHERE p.puballtables AND pg_catalog.pg_relation_is_publishable('@{shop.order_line}')
    ORDER BY 1

-- \d+ shop.order_line #4
SELECT c.conname, a.attname, c.connoinherit, c.conislocal, c.coninhcount <> 0, c.convalidated
    FROM pg_catalog.pg_constraint c JOIN pg_catalog.pg_attribute a ON (a.attrelid = c.conrelid
    AND a.attnum = c.conkey[1]) WHERE c.contype = 'n' AND c.conrelid =
    '@{shop.order_line}'::pg_catalog.regclass ORDER BY a.attnum

-- \d+ shop.order_line #5
SELECT c.oid::pg_catalog.regclass FROM pg_catalog.pg_class c, pg_catalog.pg_inherits i
    WHERE c.oid = i.inhparent AND i.inhrelid = '@{shop.order_line}' AND c.relkind != 'p' AND
    c.relkind != 'I' ORDER BY inhseqno

-- \d+ shop.order_line #6
SELECT c.oid::pg_catalog.regclass, c.relkind, inhdetachpending,
    pg_catalog.pg_get_expr(c.relpartbound, c.oid) FROM pg_catalog.pg_class c,
    pg_catalog.pg_inherits i WHERE c.oid = i.inhrelid AND i.inhparent = '@{shop.order_line}'
    ORDER BY pg_catalog.pg_get_expr(c.relpartbound, c.oid) = 'DEFAULT',
    c.oid::pg_catalog.regclass::pg_catalog.text

-- \d+ shop.every_type
SELECT c.relchecks, c.relkind, c.relhasindex, c.relhasrules, c.relhastriggers, c.relrowsecurity,
    c.relforcerowsecurity, false AS relhasoids, c.relispartition,
    pg_catalog.array_to_string(c.reloptions || array(select 'toast.' || x
    from pg_catalog.unnest(tc.reloptions) x), ', ') , c.reltablespace, CASE WHEN c.reloftype = 0
    THEN '' ELSE c.reloftype::pg_catalog.regtype::pg_catalog.text END, c.relpersistence,
    c.relreplident, am.amname FROM pg_catalog.pg_class c LEFT
    JOIN pg_catalog.pg_class tc ON (c.reltoastrelid = tc.oid)
    LEFT JOIN pg_catalog.pg_am am ON (c.relam = am.oid) WHERE c.oid = '@{shop.every_type}'

-- \d+ shop.every_type #2
SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), (SELECT
    pg_catalog.pg_get_expr(d.adbin, d.adrelid, true) FROM pg_catalog.pg_attrdef d
    WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.atthasdef), a.attnotnull, (SELECT
    c.collname FROM pg_catalog.pg_collation c, pg_catalog.pg_type t
    WHERE c.oid = a.attcollation AND t.oid = a.atttypid AND a.attcollation <> t.typcollation) AS
    attcollation, a.attidentity, a.attgenerated, a.attstorage, a.attcompression AS
    attcompression, CASE WHEN a.attstattarget=-1 THEN NULL ELSE a.attstattarget END AS
    attstattarget, pg_catalog.col_description(a.attrelid, a.attnum)
    FROM pg_catalog.pg_attribute a WHERE a.attrelid = '@{shop.every_type}' AND a.attnum > 0 AND
    NOT a.attisdropped ORDER BY a.attnum

-- \d+ shop.every_type #3
SELECT pol.polname, pol.polpermissive, CASE WHEN pol.polroles = '{0}' THEN NULL ELSE
    pg_catalog.array_to_string(array(select rolname from pg_catalog.pg_roles
    where oid = any (pol.polroles) order by 1),',') END, pg_catalog.pg_get_expr(pol.polqual,
    pol.polrelid), pg_catalog.pg_get_expr(pol.polwithcheck, pol.polrelid), CASE pol.polcmd WHEN
    'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE' WHEN 'd' THEN 'DELETE' END
    AS cmd FROM pg_catalog.pg_policy pol WHERE pol.polrelid = '@{shop.every_type}'
    ORDER BY 1

-- \d+ shop.every_type #4
SELECT oid, stxrelid::pg_catalog.regclass,
    stxnamespace::pg_catalog.regnamespace::pg_catalog.text AS nsp, stxname,
    pg_catalog.pg_get_statisticsobjdef_columns(oid) AS columns, 'd' = any(stxkind) AS
    ndist_enabled, 'f' = any(stxkind) AS deps_enabled, 'm' = any(stxkind) AS mcv_enabled,
    stxstattarget FROM pg_catalog.pg_statistic_ext WHERE stxrelid = '@{shop.every_type}'
    ORDER BY nsp, stxname

-- \d+ shop.every_type #5
SELECT pubname , NULL , NULL FROM pg_catalog.pg_publication p
    JOIN pg_catalog.pg_publication_namespace pn ON p.oid = pn.pnpubid
    JOIN pg_catalog.pg_class pc ON pc.relnamespace = pn.pnnspid
    WHERE pc.oid ='@{shop.every_type}' and
    pg_catalog.pg_relation_is_publishable('@{shop.every_type}')
    UNION SELECT pubname , pg_get_expr(pr.prqual, c.oid) , (CASE WHEN pr.prattrs IS NOT NULL
    THEN (SELECT string_agg(attname, ', ') FROM pg_catalog.generate_series(0,
    pg_catalog.array_upper(pr.prattrs::pg_catalog.int2[], 1)) s, pg_catalog.pg_attribute
    WHERE attrelid = pr.prrelid AND attnum = prattrs[s]) ELSE NULL END)
    FROM pg_catalog.pg_publication p JOIN pg_catalog.pg_publication_rel pr ON p.oid = pr.prpubid
    JOIN pg_catalog.pg_class c ON c.oid = pr.prrelid WHERE pr.prrelid = '@{shop.every_type}'
    UNION SELECT pubname , NULL , NULL FROM pg_catalog.pg_publication p
    WHERE p.puballtables AND pg_catalog.pg_relation_is_publishable('@{shop.every_type}')
    ORDER BY 1

-- \d+ shop.every_type #6
SELECT c.oid::pg_catalog.regclass FROM pg_catalog.pg_class c, pg_catalog.pg_inherits i
    WHERE c.oid = i.inhparent AND i.inhrelid = '@{shop.every_type}' AND c.relkind != 'p' AND
    c.relkind != 'I' ORDER BY inhseqno

-- \d+ shop.every_type #7
SELECT c.oid::pg_catalog.regclass, c.relkind, inhdetachpending,
    pg_catalog.pg_get_expr(c.relpartbound, c.oid) FROM pg_catalog.pg_class c,
    pg_catalog.pg_inherits i WHERE c.oid = i.inhrelid AND i.inhparent = '@{shop.every_type}'
    ORDER BY pg_catalog.pg_get_expr(c.relpartbound, c.oid) = 'DEFAULT',
    c.oid::pg_catalog.regclass::pg_catalog.text

-- \d active_customer
SELECT c.oid, n.nspname, c.relname FROM pg_catalog.pg_class c
    LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relname OPERATOR(pg_catalog.~) '^(active_customer)$' COLLATE pg_catalog.default AND
    pg_catalog.pg_table_is_visible(c.oid) ORDER BY 2, 3

-- \d active_customer #2
SELECT c.relchecks, c.relkind, c.relhasindex, c.relhasrules, c.relhastriggers, c.relrowsecurity,
    c.relforcerowsecurity, false AS relhasoids, c.relispartition, '', c.reltablespace, CASE WHEN
    c.reloftype = 0 THEN '' ELSE c.reloftype::pg_catalog.regtype::pg_catalog.text END,
    c.relpersistence, c.relreplident, am.amname FROM pg_catalog.pg_class c
    LEFT JOIN pg_catalog.pg_class tc ON (c.reltoastrelid = tc.oid)
    LEFT JOIN pg_catalog.pg_am am ON (c.relam = am.oid) WHERE c.oid = '@{active_customer}'

-- \d active_customer #3
SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), (SELECT
    pg_catalog.pg_get_expr(d.adbin, d.adrelid, true) FROM pg_catalog.pg_attrdef d
    WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.atthasdef), a.attnotnull, (SELECT
    c.collname FROM pg_catalog.pg_collation c, pg_catalog.pg_type t
    WHERE c.oid = a.attcollation AND t.oid = a.atttypid AND a.attcollation <> t.typcollation) AS
    attcollation, a.attidentity, a.attgenerated FROM pg_catalog.pg_attribute a
    WHERE a.attrelid = '@{active_customer}' AND a.attnum > 0 AND NOT a.attisdropped
    ORDER BY a.attnum

-- \d+ active_customer
SELECT c.relchecks, c.relkind, c.relhasindex, c.relhasrules, c.relhastriggers, c.relrowsecurity,
    c.relforcerowsecurity, false AS relhasoids, c.relispartition,
    pg_catalog.array_to_string(c.reloptions || array(select 'toast.' || x
    from pg_catalog.unnest(tc.reloptions) x), ', ') , c.reltablespace, CASE WHEN c.reloftype = 0
    THEN '' ELSE c.reloftype::pg_catalog.regtype::pg_catalog.text END, c.relpersistence,
    c.relreplident, am.amname FROM pg_catalog.pg_class c LEFT
    JOIN pg_catalog.pg_class tc ON (c.reltoastrelid = tc.oid)
    LEFT JOIN pg_catalog.pg_am am ON (c.relam = am.oid) WHERE c.oid = '@{active_customer}'

-- \d turnover
SELECT c.oid, n.nspname, c.relname FROM pg_catalog.pg_class c
    LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relname OPERATOR(pg_catalog.~) '^(turnover)$' COLLATE pg_catalog.default AND
    pg_catalog.pg_table_is_visible(c.oid) ORDER BY 2, 3

-- \d turnover #2
SELECT c.relchecks, c.relkind, c.relhasindex, c.relhasrules, c.relhastriggers, c.relrowsecurity,
    c.relforcerowsecurity, false AS relhasoids, c.relispartition, '', c.reltablespace, CASE WHEN
    c.reloftype = 0 THEN '' ELSE c.reloftype::pg_catalog.regtype::pg_catalog.text END,
    c.relpersistence, c.relreplident, am.amname FROM pg_catalog.pg_class c
    LEFT JOIN pg_catalog.pg_class tc ON (c.reltoastrelid = tc.oid)
    LEFT JOIN pg_catalog.pg_am am ON (c.relam = am.oid) WHERE c.oid = '@{turnover}'

-- \d turnover #3
SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), (SELECT
    pg_catalog.pg_get_expr(d.adbin, d.adrelid, true) FROM pg_catalog.pg_attrdef d
    WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.atthasdef), a.attnotnull, (SELECT
    c.collname FROM pg_catalog.pg_collation c, pg_catalog.pg_type t
    WHERE c.oid = a.attcollation AND t.oid = a.atttypid AND a.attcollation <> t.typcollation) AS
    attcollation, a.attidentity, a.attgenerated FROM pg_catalog.pg_attribute a
    WHERE a.attrelid = '@{turnover}' AND a.attnum > 0 AND NOT a.attisdropped
    ORDER BY a.attnum

-- \d+ turnover
SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), (SELECT
    pg_catalog.pg_get_expr(d.adbin, d.adrelid, true) FROM pg_catalog.pg_attrdef d
    WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.atthasdef), a.attnotnull, (SELECT
    c.collname FROM pg_catalog.pg_collation c, pg_catalog.pg_type t
    WHERE c.oid = a.attcollation AND t.oid = a.atttypid AND a.attcollation <> t.typcollation) AS
    attcollation, a.attidentity, a.attgenerated, a.attstorage, a.attcompression AS
    attcompression, CASE WHEN a.attstattarget=-1 THEN NULL ELSE a.attstattarget END AS
    attstattarget, pg_catalog.col_description(a.attrelid, a.attnum)
    FROM pg_catalog.pg_attribute a WHERE a.attrelid = '@{turnover}' AND a.attnum > 0 AND NOT
    a.attisdropped ORDER BY a.attnum

-- \d "Odd Names"."Table One"
SELECT c.oid, n.nspname, c.relname FROM pg_catalog.pg_class c
    LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relname OPERATOR(pg_catalog.~) '^(Table One)$' COLLATE pg_catalog.default AND
    n.nspname OPERATOR(pg_catalog.~) '^(Odd Names)$' COLLATE pg_catalog.default
    ORDER BY 2, 3

-- \db+
SELECT spcname AS "Name", pg_catalog.pg_get_userbyid(spcowner) AS "Owner",
    pg_catalog.pg_tablespace_location(oid) AS "Location", CASE WHEN
    pg_catalog.array_length(spcacl, 1) = 0 THEN '(none)' ELSE pg_catalog.array_to_string(spcacl,
    E'\n') END AS "Access privileges", spcoptions AS "Options",
    pg_catalog.pg_size_pretty(pg_catalog.pg_tablespace_size(oid)) AS "Size",
    pg_catalog.shobj_description(oid, 'pg_tablespace') AS "Description"
    FROM pg_catalog.pg_tablespace ORDER BY 1

-- \dconfig+ statement_timeout
SELECT s.name AS "Parameter", pg_catalog.current_setting(s.name) AS "Value", s.vartype AS
    "Type", s.context AS "Context", CASE WHEN pg_catalog.array_length(p.paracl, 1) = 0 THEN
    '(none)' ELSE pg_catalog.array_to_string(p.paracl, E'\n') END AS "Access privileges"
    FROM pg_catalog.pg_settings s LEFT JOIN pg_catalog.pg_parameter_acl p ON
    pg_catalog.lower(s.name) = p.parname WHERE pg_catalog.lower(s.name) OPERATOR(pg_catalog.~)
    '^(statement_timeout)$' COLLATE pg_catalog.default ORDER BY 1

-- \dC+ integer
SELECT pg_catalog.format_type(castsource, NULL) AS "Source type",
    pg_catalog.format_type(casttarget, NULL) AS "Target type", CASE WHEN c.castmethod = 'b' THEN
    '(binary coercible)' WHEN c.castmethod = 'i' THEN '(with inout)' ELSE p.proname END AS
    "Function", CASE WHEN c.castcontext = 'e' THEN 'no' WHEN c.castcontext = 'a' THEN
    'in assignment' ELSE 'yes' END AS "Implicit?", CASE WHEN p.proleakproof THEN 'yes' ELSE 'no'
    END AS "Leakproof?", d.description AS "Description" FROM pg_catalog.pg_cast c
    LEFT JOIN pg_catalog.pg_proc p ON c.castfunc = p.oid LEFT
    JOIN pg_catalog.pg_type ts ON c.castsource = ts.oid LEFT JOIN pg_catalog.pg_namespace ns ON
    ns.oid = ts.typnamespace LEFT JOIN pg_catalog.pg_type tt ON c.casttarget = tt.oid
    LEFT JOIN pg_catalog.pg_namespace nt ON nt.oid = tt.typnamespace
    LEFT JOIN pg_catalog.pg_description d ON d.classoid = c.tableoid AND d.objoid = c.oid AND
    d.objsubid = 0 WHERE ( (true AND (ts.typname OPERATOR(pg_catalog.~) '^(integer)$' COLLATE
    pg_catalog.default OR pg_catalog.format_type(ts.oid, NULL) OPERATOR(pg_catalog.~)
    '^(integer)$' COLLATE pg_catalog.default) AND pg_catalog.pg_type_is_visible(ts.oid) ) OR
    (true AND (tt.typname OPERATOR(pg_catalog.~) '^(integer)$' COLLATE pg_catalog.default OR
    pg_catalog.format_type(tt.oid, NULL) OPERATOR(pg_catalog.~) '^(integer)$' COLLATE
    pg_catalog.default) AND pg_catalog.pg_type_is_visible(tt.oid) ) )
    ORDER BY 1, 2

-- \ddp
SELECT pg_catalog.pg_get_userbyid(d.defaclrole) AS "Owner", n.nspname AS "Schema", CASE
    d.defaclobjtype WHEN 'r' THEN 'table' WHEN 'S' THEN 'sequence' WHEN 'f' THEN 'function' WHEN
    'T' THEN 'type' WHEN 'n' THEN 'schema' WHEN 'L' THEN 'large object' END AS "Type", CASE WHEN
    pg_catalog.array_length(d.defaclacl, 1) = 0 THEN '(none)' ELSE
    pg_catalog.array_to_string(d.defaclacl, E'\n') END AS "Access privileges"
    FROM pg_catalog.pg_default_acl d LEFT JOIN pg_catalog.pg_namespace n ON n.oid =
    d.defaclnamespace ORDER BY 1, 2, 3

-- \dD
SELECT n.nspname as "Schema", t.typname as "Name", pg_catalog.format_type(t.typbasetype,
    t.typtypmod) as "Type", (SELECT c.collname FROM pg_catalog.pg_collation c,
    pg_catalog.pg_type bt WHERE c.oid = t.typcollation AND bt.oid = t.typbasetype AND
    t.typcollation <> bt.typcollation) as "Collation", CASE WHEN t.typnotnull THEN 'not null'
    END as "Nullable", t.typdefault as "Default", pg_catalog.array_to_string(ARRAY( SELECT
    pg_catalog.pg_get_constraintdef(r.oid, true) FROM pg_catalog.pg_constraint r
    WHERE t.oid = r.contypid AND r.contype = 'c' ORDER BY r.conname ), ' ') as "Check"
    FROM pg_catalog.pg_type t LEFT JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
    WHERE t.typtype = 'd' AND n.nspname <> 'pg_catalog' AND n.nspname <> 'information_schema'
    AND pg_catalog.pg_type_is_visible(t.oid) ORDER BY 1, 2

-- \dD+
SELECT n.nspname as "Schema", t.typname as "Name", pg_catalog.format_type(t.typbasetype,
    t.typtypmod) as "Type", (SELECT c.collname FROM pg_catalog.pg_collation c,
    pg_catalog.pg_type bt WHERE c.oid = t.typcollation AND bt.oid = t.typbasetype AND
    t.typcollation <> bt.typcollation) as "Collation", CASE WHEN t.typnotnull THEN 'not null'
    END as "Nullable", t.typdefault as "Default", pg_catalog.array_to_string(ARRAY( SELECT
    pg_catalog.pg_get_constraintdef(r.oid, true) FROM pg_catalog.pg_constraint r
    WHERE t.oid = r.contypid AND r.contype = 'c' ORDER BY r.conname ), ' ') as "Check", CASE
    WHEN pg_catalog.array_length(t.typacl, 1) = 0 THEN '(none)' ELSE
    pg_catalog.array_to_string(t.typacl, E'\n') END AS "Access privileges", d.description as
    "Description" FROM pg_catalog.pg_type t LEFT JOIN pg_catalog.pg_namespace n ON n.oid =
    t.typnamespace LEFT JOIN pg_catalog.pg_description d ON d.classoid = t.tableoid AND d.objoid
    = t.oid AND d.objsubid = 0 WHERE t.typtype = 'd' AND n.nspname <> 'pg_catalog' AND n.nspname
    <> 'information_schema' AND pg_catalog.pg_type_is_visible(t.oid)
    ORDER BY 1, 2

-- \des+
SELECT s.srvname AS "Name", pg_catalog.pg_get_userbyid(s.srvowner) AS "Owner", f.fdwname AS
    "Foreign-data wrapper", CASE WHEN pg_catalog.array_length(s.srvacl, 1) = 0 THEN '(none)'
    ELSE pg_catalog.array_to_string(s.srvacl, E'\n') END AS "Access privileges", s.srvtype AS
    "Type", s.srvversion AS "Version", CASE WHEN srvoptions IS NULL THEN '' ELSE '(' ||
    pg_catalog.array_to_string(ARRAY(SELECT pg_catalog.quote_ident(option_name) || ' ' ||
    pg_catalog.quote_literal(option_value) FROM pg_catalog.pg_options_to_table(srvoptions)),
    ', ') || ')' END AS "FDW options", d.description AS "Description"
    FROM pg_catalog.pg_foreign_server s JOIN pg_catalog.pg_foreign_data_wrapper f ON
    f.oid=s.srvfdw LEFT JOIN pg_catalog.pg_description d ON d.classoid = s.tableoid AND d.objoid
    = s.oid AND d.objsubid = 0 ORDER BY 1

-- \dew+
SELECT fdw.fdwname AS "Name", pg_catalog.pg_get_userbyid(fdw.fdwowner) AS "Owner",
    fdw.fdwhandler::pg_catalog.regproc AS "Handler", fdw.fdwvalidator::pg_catalog.regproc AS
    "Validator", CASE WHEN pg_catalog.array_length(fdwacl, 1) = 0 THEN '(none)' ELSE
    pg_catalog.array_to_string(fdwacl, E'\n') END AS "Access privileges", CASE WHEN fdwoptions
    IS NULL THEN '' ELSE '(' || pg_catalog.array_to_string(ARRAY(SELECT
    pg_catalog.quote_ident(option_name) || ' ' || pg_catalog.quote_literal(option_value)
    FROM pg_catalog.pg_options_to_table(fdwoptions)), ', ') || ')' END AS "FDW options",
    d.description AS "Description" FROM pg_catalog.pg_foreign_data_wrapper fdw
    LEFT JOIN pg_catalog.pg_description d ON d.classoid = fdw.tableoid AND d.objoid = fdw.oid
    AND d.objsubid = 0 ORDER BY 1

-- \df+ gross
SELECT n.nspname as "Schema", p.proname as "Name", pg_catalog.pg_get_function_result(p.oid) as
    "Result data type", pg_catalog.pg_get_function_arguments(p.oid) as "Argument data types",
    CASE p.prokind WHEN 'a' THEN 'agg' WHEN 'w' THEN 'window' WHEN 'p' THEN 'proc' ELSE 'func'
    END as "Type", CASE WHEN p.provolatile = 'i' THEN 'immutable' WHEN p.provolatile = 's' THEN
    'stable' WHEN p.provolatile = 'v' THEN 'volatile' END as "Volatility", CASE WHEN
    p.proparallel = 'r' THEN 'restricted' WHEN p.proparallel = 's' THEN 'safe' WHEN
    p.proparallel = 'u' THEN 'unsafe' END as "Parallel", pg_catalog.pg_get_userbyid(p.proowner)
    as "Owner", CASE WHEN prosecdef THEN 'definer' ELSE 'invoker' END AS "Security", CASE WHEN
    p.proleakproof THEN 'yes' ELSE 'no' END as "Leakproof?", CASE WHEN
    pg_catalog.array_length(p.proacl, 1) = 0 THEN '(none)' ELSE
    pg_catalog.array_to_string(p.proacl, E'\n') END AS "Access privileges", l.lanname as
    "Language", CASE WHEN l.lanname IN ('internal', 'c') THEN p.prosrc END as "Internal name",
    pg_catalog.obj_description(p.oid, 'pg_proc') as "Description"
    FROM pg_catalog.pg_proc p LEFT JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
    LEFT JOIN pg_catalog.pg_language l ON l.oid = p.prolang WHERE p.proname
    OPERATOR(pg_catalog.~) '^(gross)$' COLLATE pg_catalog.default AND
    pg_catalog.pg_function_is_visible(p.oid) ORDER BY 1, 2, 4

-- \dF+
SELECT ( SELECT t.alias FROM pg_catalog.ts_token_type(c.cfgparser) AS t
    WHERE t.tokid = m.maptokentype ) AS "Token", pg_catalog.btrim( ARRAY( SELECT
    mm.mapdict::pg_catalog.regdictionary FROM pg_catalog.pg_ts_config_map AS mm
    WHERE mm.mapcfg = m.mapcfg AND mm.maptokentype = m.maptokentype
    ORDER BY mapcfg, maptokentype, mapseqno ) :: pg_catalog.text, '{}') AS "Dictionaries"
    FROM pg_catalog.pg_ts_config AS c, pg_catalog.pg_ts_config_map AS m
    WHERE c.oid = '@{basque::regconfig}' AND m.mapcfg = c.oid GROUP BY m.mapcfg, m.maptokentype, c.cfgparser
    ORDER BY 1

-- \dF+ #2
SELECT ( SELECT t.alias FROM pg_catalog.ts_token_type(c.cfgparser) AS t
    WHERE t.tokid = m.maptokentype ) AS "Token", pg_catalog.btrim( ARRAY( SELECT
    mm.mapdict::pg_catalog.regdictionary FROM pg_catalog.pg_ts_config_map AS mm
    WHERE mm.mapcfg = m.mapcfg AND mm.maptokentype = m.maptokentype
    ORDER BY mapcfg, maptokentype, mapseqno ) :: pg_catalog.text, '{}') AS "Dictionaries"
    FROM pg_catalog.pg_ts_config AS c, pg_catalog.pg_ts_config_map AS m
    WHERE c.oid = '@{catalan::regconfig}' AND m.mapcfg = c.oid GROUP BY m.mapcfg, m.maptokentype, c.cfgparser
    ORDER BY 1

-- \dg
SELECT r.rolname, r.rolsuper, r.rolinherit, r.rolcreaterole, r.rolcreatedb, r.rolcanlogin,
    r.rolconnlimit, r.rolvaliduntil , r.rolreplication , r.rolbypassrls
    FROM pg_catalog.pg_roles r WHERE r.rolname !~ '^pg_' ORDER BY 1

-- \dg+
SELECT r.rolname, r.rolsuper, r.rolinherit, r.rolcreaterole, r.rolcreatedb, r.rolcanlogin,
    r.rolconnlimit, r.rolvaliduntil , pg_catalog.shobj_description(r.oid, 'pg_authid') AS
    description , r.rolreplication , r.rolbypassrls FROM pg_catalog.pg_roles r
    WHERE r.rolname !~ '^pg_' ORDER BY 1

-- \dL+
SELECT l.lanname AS "Name", pg_catalog.pg_get_userbyid(l.lanowner) as "Owner", l.lanpltrusted AS
    "Trusted", NOT l.lanispl AS "Internal language", l.lanplcallfoid::pg_catalog.regprocedure AS
    "Call handler", l.lanvalidator::pg_catalog.regprocedure AS "Validator",
    l.laninline::pg_catalog.regprocedure AS "Inline handler", CASE WHEN
    pg_catalog.array_length(l.lanacl, 1) = 0 THEN '(none)' ELSE
    pg_catalog.array_to_string(l.lanacl, E'\n') END AS "Access privileges", d.description AS
    "Description" FROM pg_catalog.pg_language l LEFT JOIN pg_catalog.pg_description d ON
    d.classoid = l.tableoid AND d.objoid = l.oid AND d.objsubid = 0
    WHERE l.lanplcallfoid != 0 ORDER BY 1

-- \dn+
SELECT n.nspname AS "Name", pg_catalog.pg_get_userbyid(n.nspowner) AS "Owner", CASE WHEN
    pg_catalog.array_length(n.nspacl, 1) = 0 THEN '(none)' ELSE
    pg_catalog.array_to_string(n.nspacl, E'\n') END AS "Access privileges",
    pg_catalog.obj_description(n.oid, 'pg_namespace') AS "Description"
    FROM pg_catalog.pg_namespace n WHERE n.nspname !~ '^pg_' AND n.nspname <>
    'information_schema' ORDER BY 1

-- \dO
SELECT n.nspname AS "Schema", c.collname AS "Name", CASE c.collprovider WHEN 'd' THEN 'default'
    WHEN 'b' THEN 'builtin' WHEN 'c' THEN 'libc' WHEN 'i' THEN 'icu' END AS "Provider",
    c.collcollate AS "Collate", c.collctype AS "Ctype", c.colliculocale AS "Locale", NULL AS
    "ICU Rules", CASE WHEN c.collisdeterministic THEN 'yes' ELSE 'no' END AS "Deterministic?"
    FROM pg_catalog.pg_collation c, pg_catalog.pg_namespace n
    WHERE n.oid = c.collnamespace AND n.nspname <> 'pg_catalog' AND n.nspname <>
    'information_schema' AND c.collencoding IN (-1,
    pg_catalog.pg_char_to_encoding(pg_catalog.getdatabaseencoding())) AND
    pg_catalog.pg_collation_is_visible(c.oid) ORDER BY 1, 2

-- \dO+ C
SELECT n.nspname AS "Schema", c.collname AS "Name", CASE c.collprovider WHEN 'd' THEN 'default'
    WHEN 'b' THEN 'builtin' WHEN 'c' THEN 'libc' WHEN 'i' THEN 'icu' END AS "Provider",
    c.collcollate AS "Collate", c.collctype AS "Ctype", c.colliculocale AS "Locale", NULL AS
    "ICU Rules", CASE WHEN c.collisdeterministic THEN 'yes' ELSE 'no' END AS "Deterministic?",
    pg_catalog.obj_description(c.oid, 'pg_collation') AS "Description"
    FROM pg_catalog.pg_collation c, pg_catalog.pg_namespace n
    WHERE n.oid = c.collnamespace AND c.collencoding IN (-1,
    pg_catalog.pg_char_to_encoding(pg_catalog.getdatabaseencoding())) AND c.collname
    OPERATOR(pg_catalog.~) '^(c)$' COLLATE pg_catalog.default AND
    pg_catalog.pg_collation_is_visible(c.oid) ORDER BY 1, 2

-- \dp
SELECT n.nspname as "Schema", c.relname as "Name", CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v'
    THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'S' THEN 'sequence' WHEN 'f' THEN
    'foreign table' WHEN 'p' THEN 'partitioned table' END as "Type", CASE WHEN
    pg_catalog.array_length(c.relacl, 1) = 0 THEN '(none)' ELSE
    pg_catalog.array_to_string(c.relacl, E'\n') END AS "Access privileges",
    pg_catalog.array_to_string(ARRAY( SELECT attname || E':\n  ' ||
    pg_catalog.array_to_string(attacl, E'\n  ') FROM pg_catalog.pg_attribute a
    WHERE attrelid = c.oid AND NOT attisdropped AND attacl IS NOT NULL ), E'\n') AS
    "Column privileges", pg_catalog.array_to_string(ARRAY( SELECT polname || CASE WHEN NOT
    polpermissive THEN E' (RESTRICTIVE)' ELSE '' END || CASE WHEN polcmd != '*' THEN E' (' ||
    polcmd::pg_catalog.text || E'):' ELSE E':' END || CASE WHEN polqual IS NOT NULL THEN
    E'\n  (u): ' || pg_catalog.pg_get_expr(polqual, polrelid) ELSE E'' END || CASE WHEN
    polwithcheck IS NOT NULL THEN E'\n  (c): ' || pg_catalog.pg_get_expr(polwithcheck, polrelid)
    ELSE E'' END || CASE WHEN polroles <> '{0}' THEN E'\n  to: ' || pg_catalog.array_to_string(
    ARRAY( SELECT rolname FROM pg_catalog.pg_roles WHERE oid = ANY (polroles)
    ORDER BY 1 ), E', ') ELSE E'' END FROM pg_catalog.pg_policy pol
    WHERE polrelid = c.oid), E'\n') AS "Policies" FROM pg_catalog.pg_class c
    LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r','v','m','S','f','p') AND n.nspname <> 'pg_catalog' AND n.nspname <>
    'information_schema' AND pg_catalog.pg_table_is_visible(c.oid)
    ORDER BY 1, 2

-- \dp orders
SELECT n.nspname as "Schema", c.relname as "Name", CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v'
    THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'S' THEN 'sequence' WHEN 'f' THEN
    'foreign table' WHEN 'p' THEN 'partitioned table' END as "Type", CASE WHEN
    pg_catalog.array_length(c.relacl, 1) = 0 THEN '(none)' ELSE
    pg_catalog.array_to_string(c.relacl, E'\n') END AS "Access privileges",
    pg_catalog.array_to_string(ARRAY( SELECT attname || E':\n  ' ||
    pg_catalog.array_to_string(attacl, E'\n  ') FROM pg_catalog.pg_attribute a
    WHERE attrelid = c.oid AND NOT attisdropped AND attacl IS NOT NULL ), E'\n') AS
    "Column privileges", pg_catalog.array_to_string(ARRAY( SELECT polname || CASE WHEN NOT
    polpermissive THEN E' (RESTRICTIVE)' ELSE '' END || CASE WHEN polcmd != '*' THEN E' (' ||
    polcmd::pg_catalog.text || E'):' ELSE E':' END || CASE WHEN polqual IS NOT NULL THEN
    E'\n  (u): ' || pg_catalog.pg_get_expr(polqual, polrelid) ELSE E'' END || CASE WHEN
    polwithcheck IS NOT NULL THEN E'\n  (c): ' || pg_catalog.pg_get_expr(polwithcheck, polrelid)
    ELSE E'' END || CASE WHEN polroles <> '{0}' THEN E'\n  to: ' || pg_catalog.array_to_string(
    ARRAY( SELECT rolname FROM pg_catalog.pg_roles WHERE oid = ANY (polroles)
    ORDER BY 1 ), E', ') ELSE E'' END FROM pg_catalog.pg_policy pol
    WHERE polrelid = c.oid), E'\n') AS "Policies" FROM pg_catalog.pg_class c
    LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r','v','m','S','f','p') AND c.relname OPERATOR(pg_catalog.~)
    '^(orders)$' COLLATE pg_catalog.default AND pg_catalog.pg_table_is_visible(c.oid)
    ORDER BY 1, 2

-- \dP+
SELECT n.nspname as "Schema", c.relname as "Name", pg_catalog.pg_get_userbyid(c.relowner) as
    "Owner", CASE c.relkind WHEN 'p' THEN 'partitioned table' WHEN 'I' THEN 'partitioned index'
    END as "Type", c2.oid::pg_catalog.regclass as "Table", am.amname as "Access method", s.tps
    as "Total size", pg_catalog.obj_description(c.oid, 'pg_class') as "Description"
    FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_catalog.pg_index i ON i.indexrelid = c.oid LEFT
    JOIN pg_catalog.pg_class c2 ON i.indrelid = c2.oid LEFT JOIN pg_catalog.pg_am am ON c.relam
    = am.oid, LATERAL (SELECT pg_catalog.pg_size_pretty(sum( CASE WHEN ppt.isleaf AND ppt.level
    = 1 THEN pg_catalog.pg_table_size(ppt.relid) ELSE 0 END)) AS dps,
    pg_catalog.pg_size_pretty(sum(pg_catalog.pg_table_size(ppt.relid))) AS tps
    FROM pg_catalog.pg_partition_tree(c.oid) ppt) s WHERE c.relkind IN ('p','I','') AND NOT
    c.relispartition AND n.nspname <> 'pg_catalog' AND n.nspname !~ '^pg_toast' AND n.nspname <>
    'information_schema' AND pg_catalog.pg_table_is_visible(c.oid)
    ORDER BY "Schema", "Type" DESC, "Name"

-- \dRp+
SELECT oid, pubname, pg_catalog.pg_get_userbyid(pubowner) AS owner, puballtables, pubinsert,
    pubupdate, pubdelete, pubtruncate, 'none' AS pubgencols, pubviaroot
    FROM pg_catalog.pg_publication ORDER BY 2

-- \dT+ integer
SELECT n.nspname as "Schema", pg_catalog.format_type(t.oid, NULL) AS "Name", t.typname AS
    "Internal name", CASE WHEN t.typrelid != 0 THEN CAST('tuple' AS pg_catalog.text) WHEN
    t.typlen < 0 THEN CAST('var' AS pg_catalog.text) ELSE CAST(t.typlen AS pg_catalog.text) END
    AS "Size", pg_catalog.array_to_string( ARRAY( SELECT e.enumlabel
    FROM pg_catalog.pg_enum e WHERE e.enumtypid = t.oid ORDER BY e.enumsortorder ), E'\n' ) AS
    "Elements", pg_catalog.pg_get_userbyid(t.typowner) AS "Owner", CASE WHEN
    pg_catalog.array_length(t.typacl, 1) = 0 THEN '(none)' ELSE
    pg_catalog.array_to_string(t.typacl, E'\n') END AS "Access privileges",
    pg_catalog.obj_description(t.oid, 'pg_type') as "Description"
    FROM pg_catalog.pg_type t LEFT JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
    WHERE (t.typrelid = 0 OR (SELECT c.relkind = 'c' FROM pg_catalog.pg_class c
    WHERE c.oid = t.typrelid)) AND NOT EXISTS(SELECT 1 FROM pg_catalog.pg_type el
    WHERE el.oid = t.typelem AND el.typarray = t.oid) AND (t.typname OPERATOR(pg_catalog.~)
    '^(integer)$' COLLATE pg_catalog.default OR pg_catalog.format_type(t.oid, NULL)
    OPERATOR(pg_catalog.~) '^(integer)$' COLLATE pg_catalog.default) AND
    pg_catalog.pg_type_is_visible(t.oid) ORDER BY 1, 2

-- \dv
SELECT n.nspname as "Schema", c.relname as "Name", CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v'
    THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence'
    WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table'
    WHEN 'I' THEN 'partitioned index' END as "Type", pg_catalog.pg_get_userbyid(c.relowner) as
    "Owner" FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid =
    c.relnamespace WHERE c.relkind IN ('v','') AND n.nspname <> 'pg_catalog' AND n.nspname !~
    '^pg_toast' AND n.nspname <> 'information_schema' AND pg_catalog.pg_table_is_visible(c.oid)
    ORDER BY 1,2

-- \dv+
SELECT n.nspname as "Schema", c.relname as "Name", CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v'
    THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence'
    WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table'
    WHEN 'I' THEN 'partitioned index' END as "Type", pg_catalog.pg_get_userbyid(c.relowner) as
    "Owner", CASE c.relpersistence WHEN 'p' THEN 'permanent' WHEN 't' THEN 'temporary' WHEN 'u'
    THEN 'unlogged' END as "Persistence",
    pg_catalog.pg_size_pretty(pg_catalog.pg_table_size(c.oid)) as "Size",
    pg_catalog.obj_description(c.oid, 'pg_class') as "Description"
    FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('v','') AND n.nspname <> 'pg_catalog' AND n.nspname !~ '^pg_toast' AND
    n.nspname <> 'information_schema' AND pg_catalog.pg_table_is_visible(c.oid)
    ORDER BY 1,2

-- \dx
SELECT e.extname AS "Name", e.extversion AS "Version", ae.default_version AS
    "Default version",n.nspname AS "Schema", d.description AS "Description"
    FROM pg_catalog.pg_extension e LEFT JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace
    LEFT JOIN pg_catalog.pg_description d ON d.objoid = e.oid AND d.classoid =
    'pg_catalog.pg_extension'::pg_catalog.regclass LEFT JOIN
    pg_catalog.pg_available_extensions() ae(name, default_version, comment) ON ae.name =
    e.extname ORDER BY 1

-- \l
SELECT d.datname as "Name", pg_catalog.pg_get_userbyid(d.datdba) as "Owner",
    pg_catalog.pg_encoding_to_char(d.encoding) as "Encoding", CASE d.datlocprovider WHEN 'b'
    THEN 'builtin' WHEN 'c' THEN 'libc' WHEN 'i' THEN 'icu' END AS "Locale Provider",
    d.datcollate as "Collate", d.datctype as "Ctype", d.daticulocale as "Locale", NULL as
    "ICU Rules", CASE WHEN pg_catalog.array_length(d.datacl, 1) = 0 THEN '(none)' ELSE
    pg_catalog.array_to_string(d.datacl, E'\n') END AS "Access privileges"
    FROM pg_catalog.pg_database d ORDER BY 1

-- \l+
SELECT d.datname as "Name", pg_catalog.pg_get_userbyid(d.datdba) as "Owner",
    pg_catalog.pg_encoding_to_char(d.encoding) as "Encoding", CASE d.datlocprovider WHEN 'b'
    THEN 'builtin' WHEN 'c' THEN 'libc' WHEN 'i' THEN 'icu' END AS "Locale Provider",
    d.datcollate as "Collate", d.datctype as "Ctype", d.daticulocale as "Locale", NULL as
    "ICU Rules", CASE WHEN pg_catalog.array_length(d.datacl, 1) = 0 THEN '(none)' ELSE
    pg_catalog.array_to_string(d.datacl, E'\n') END AS "Access privileges", CASE WHEN
    pg_catalog.has_database_privilege(d.datname, 'CONNECT') THEN
    pg_catalog.pg_size_pretty(pg_catalog.pg_database_size(d.datname)) ELSE 'No Access' END as
    "Size", t.spcname as "Tablespace", pg_catalog.shobj_description(d.oid, 'pg_database') as
    "Description" FROM pg_catalog.pg_database d JOIN pg_catalog.pg_tablespace t on
    d.dattablespace = t.oid ORDER BY 1

-- \d shop.*
SELECT i.indisunique, i.indisprimary, i.indisclustered, i.indisvalid, (NOT i.indimmediate) AND
    EXISTS (SELECT 1 FROM pg_catalog.pg_constraint WHERE conrelid = i.indrelid AND conindid =
    i.indexrelid AND contype IN ('p','u','x') AND condeferrable) AS condeferrable, (NOT
    i.indimmediate) AND EXISTS (SELECT 1 FROM pg_catalog.pg_constraint
    WHERE conrelid = i.indrelid AND conindid = i.indexrelid AND contype IN ('p','u','x') AND
    condeferred) AS condeferred, i.indisreplident, i.indnullsnotdistinct, a.amname, c2.relname,
    pg_catalog.pg_get_expr(i.indpred, i.indrelid, true) FROM pg_catalog.pg_index i,
    pg_catalog.pg_class c, pg_catalog.pg_class c2, pg_catalog.pg_am a
    WHERE i.indexrelid = c.oid AND c.oid = '@{shop.order_line_key}' AND c.relam = a.oid AND
    i.indrelid = c2.oid

-- \dAo+ btree integer_ops
SELECT am.amname AS "AM", CASE WHEN pg_catalog.pg_opfamily_is_visible(of.oid) THEN
    pg_catalog.format('%I', of.opfname) ELSE pg_catalog.format('%I.%I', nsf.nspname, of.opfname)
    END AS "Operator family", o.amopopr::pg_catalog.regoperator AS "Operator" , o.amopstrategy
    AS "Strategy", CASE o.amoppurpose WHEN 'o' THEN 'ordering' WHEN 's' THEN 'search' END AS
    "Purpose" , ofs.opfname AS "Sort opfamily", CASE WHEN p.proleakproof THEN 'yes' ELSE 'no'
    END AS "Leakproof?" FROM pg_catalog.pg_amop o LEFT JOIN pg_catalog.pg_opfamily of ON of.oid
    = o.amopfamily LEFT JOIN pg_catalog.pg_am am ON am.oid = of.opfmethod AND am.oid =
    o.amopmethod LEFT JOIN pg_catalog.pg_namespace nsf ON of.opfnamespace = nsf.oid
    LEFT JOIN pg_catalog.pg_opfamily ofs ON ofs.oid = o.amopsortfamily
    LEFT JOIN pg_catalog.pg_operator op ON op.oid = o.amopopr
    LEFT JOIN pg_catalog.pg_proc p ON p.oid = op.oprcode WHERE am.amname OPERATOR(pg_catalog.~)
    '^(btree)$' COLLATE pg_catalog.default AND of.opfname OPERATOR(pg_catalog.~)
    '^(integer_ops)$' COLLATE pg_catalog.default ORDER BY 1, 2, o.amoplefttype = o.amoprighttype
    DESC, pg_catalog.format_type(o.amoplefttype, NULL), pg_catalog.format_type(o.amoprighttype,
    NULL), o.amopstrategy
