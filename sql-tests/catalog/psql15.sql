-- psql 15: \d and its kin.

-- \d
SELECT n.nspname as "Schema", c.relname as "Name", CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v'
    THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence'
    WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table'
    WHEN 'I' THEN 'partitioned index' END as "Type", pg_catalog.pg_get_userbyid(c.relowner) as
    "Owner" FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid =
    c.relnamespace LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam
    WHERE c.relkind IN ('r','p','v','m','S','f','') AND n.nspname <> 'pg_catalog' AND n.nspname
    !~ '^pg_toast' AND n.nspname <> 'information_schema' AND
    pg_catalog.pg_table_is_visible(c.oid) ORDER BY 1,2

-- \d+
SELECT n.nspname as "Schema", c.relname as "Name", CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v'
    THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence'
    WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table'
    WHEN 'I' THEN 'partitioned index' END as "Type", pg_catalog.pg_get_userbyid(c.relowner) as
    "Owner", CASE c.relpersistence WHEN 'p' THEN 'permanent' WHEN 't' THEN 'temporary' WHEN 'u'
    THEN 'unlogged' END as "Persistence", am.amname as "Access method",
    pg_catalog.pg_size_pretty(pg_catalog.pg_table_size(c.oid)) as "Size",
    pg_catalog.obj_description(c.oid, 'pg_class') as "Description"
    FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam WHERE c.relkind IN
    ('r','p','v','m','S','f','') AND n.nspname <> 'pg_catalog' AND n.nspname !~ '^pg_toast' AND
    n.nspname <> 'information_schema' AND pg_catalog.pg_table_is_visible(c.oid)
    ORDER BY 1,2

-- \d customer
SELECT c.oid, n.nspname, c.relname FROM pg_catalog.pg_class c
    LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relname OPERATOR(pg_catalog.~) '^(customer)$' COLLATE pg_catalog.default AND
    pg_catalog.pg_table_is_visible(c.oid) ORDER BY 2, 3

-- \d customer #2
SELECT c.relchecks, c.relkind, c.relhasindex, c.relhasrules, c.relhastriggers, c.relrowsecurity,
    c.relforcerowsecurity, false AS relhasoids, c.relispartition, '', c.reltablespace, CASE WHEN
    c.reloftype = 0 THEN '' ELSE c.reloftype::pg_catalog.regtype::pg_catalog.text END,
    c.relpersistence, c.relreplident, am.amname FROM pg_catalog.pg_class c
    LEFT JOIN pg_catalog.pg_class tc ON (c.reltoastrelid = tc.oid)
    LEFT JOIN pg_catalog.pg_am am ON (c.relam = am.oid) WHERE c.oid = '@{customer}'

-- \d customer #3
SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), (SELECT
    pg_catalog.pg_get_expr(d.adbin, d.adrelid, true) FROM pg_catalog.pg_attrdef d
    WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.atthasdef), a.attnotnull, (SELECT
    c.collname FROM pg_catalog.pg_collation c, pg_catalog.pg_type t
    WHERE c.oid = a.attcollation AND t.oid = a.atttypid AND a.attcollation <> t.typcollation) AS
    attcollation, a.attidentity, a.attgenerated FROM pg_catalog.pg_attribute a
    WHERE a.attrelid = '@{customer}' AND a.attnum > 0 AND NOT a.attisdropped
    ORDER BY a.attnum

-- \d customer #4
SELECT c2.relname, i.indisprimary, i.indisunique, i.indisclustered, i.indisvalid,
    pg_catalog.pg_get_indexdef(i.indexrelid, 0, true), pg_catalog.pg_get_constraintdef(con.oid,
    true), contype, condeferrable, condeferred, i.indisreplident, c2.reltablespace
    FROM pg_catalog.pg_class c, pg_catalog.pg_class c2, pg_catalog.pg_index i
    LEFT JOIN pg_catalog.pg_constraint con ON (conrelid = i.indrelid AND conindid = i.indexrelid
    AND contype IN ('p','u','x')) WHERE c.oid = '@{customer}' AND c.oid = i.indrelid AND
    i.indexrelid = c2.oid ORDER BY i.indisprimary DESC, c2.relname

-- \d customer #5
SELECT pol.polname, pol.polpermissive, CASE WHEN pol.polroles = '{0}' THEN NULL ELSE
    pg_catalog.array_to_string(array(select rolname from pg_catalog.pg_roles
    where oid = any (pol.polroles) order by 1),',') END, pg_catalog.pg_get_expr(pol.polqual,
    pol.polrelid), pg_catalog.pg_get_expr(pol.polwithcheck, pol.polrelid), CASE pol.polcmd WHEN
    'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE' WHEN 'd' THEN 'DELETE' END
    AS cmd FROM pg_catalog.pg_policy pol WHERE pol.polrelid = '@{customer}'
    ORDER BY 1

-- \d customer #6
SELECT oid, stxrelid::pg_catalog.regclass,
    stxnamespace::pg_catalog.regnamespace::pg_catalog.text AS nsp, stxname,
    pg_catalog.pg_get_statisticsobjdef_columns(oid) AS columns, 'd' = any(stxkind) AS
    ndist_enabled, 'f' = any(stxkind) AS deps_enabled, 'm' = any(stxkind) AS mcv_enabled,
    stxstattarget FROM pg_catalog.pg_statistic_ext WHERE stxrelid = '@{customer}'
    ORDER BY nsp, stxname

-- \d customer #7
SELECT pubname , NULL , NULL FROM pg_catalog.pg_publication p
    JOIN pg_catalog.pg_publication_namespace pn ON p.oid = pn.pnpubid
    JOIN pg_catalog.pg_class pc ON pc.relnamespace = pn.pnnspid
    WHERE pc.oid ='@{customer}' and pg_catalog.pg_relation_is_publishable('@{customer}')
    UNION SELECT pubname , pg_get_expr(pr.prqual, c.oid) , (CASE WHEN pr.prattrs IS NOT NULL
    THEN (SELECT string_agg(attname, ', ') FROM pg_catalog.generate_series(0,
    pg_catalog.array_upper(pr.prattrs::pg_catalog.int2[], 1)) s, pg_catalog.pg_attribute
    WHERE attrelid = pr.prrelid AND attnum = prattrs[s]) ELSE NULL END)
    FROM pg_catalog.pg_publication p JOIN pg_catalog.pg_publication_rel pr ON p.oid = pr.prpubid
    JOIN pg_catalog.pg_class c ON c.oid = pr.prrelid WHERE pr.prrelid = '@{customer}'
    UNION SELECT pubname , NULL , NULL FROM pg_catalog.pg_publication p
    WHERE p.puballtables AND pg_catalog.pg_relation_is_publishable('@{customer}')
    ORDER BY 1

-- \d customer #8
SELECT c.oid::pg_catalog.regclass FROM pg_catalog.pg_class c, pg_catalog.pg_inherits i
    WHERE c.oid = i.inhparent AND i.inhrelid = '@{customer}' AND c.relkind != 'p' AND c.relkind
    != 'I' ORDER BY inhseqno

-- \d customer #9
SELECT c.oid::pg_catalog.regclass, c.relkind, inhdetachpending,
    pg_catalog.pg_get_expr(c.relpartbound, c.oid) FROM pg_catalog.pg_class c,
    pg_catalog.pg_inherits i WHERE c.oid = i.inhrelid AND i.inhparent = '@{customer}'
    ORDER BY pg_catalog.pg_get_expr(c.relpartbound, c.oid) = 'DEFAULT',
    c.oid::pg_catalog.regclass::pg_catalog.text

-- \d+ customer
SELECT c.relchecks, c.relkind, c.relhasindex, c.relhasrules, c.relhastriggers, c.relrowsecurity,
    c.relforcerowsecurity, false AS relhasoids, c.relispartition,
    pg_catalog.array_to_string(c.reloptions || array(select 'toast.' || x
    from pg_catalog.unnest(tc.reloptions) x), ', ') , c.reltablespace, CASE WHEN c.reloftype = 0
    THEN '' ELSE c.reloftype::pg_catalog.regtype::pg_catalog.text END, c.relpersistence,
    c.relreplident, am.amname FROM pg_catalog.pg_class c LEFT
    JOIN pg_catalog.pg_class tc ON (c.reltoastrelid = tc.oid)
    LEFT JOIN pg_catalog.pg_am am ON (c.relam = am.oid) WHERE c.oid = '@{customer}'

-- \d+ customer #2
SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), (SELECT
    pg_catalog.pg_get_expr(d.adbin, d.adrelid, true) FROM pg_catalog.pg_attrdef d
    WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.atthasdef), a.attnotnull, (SELECT
    c.collname FROM pg_catalog.pg_collation c, pg_catalog.pg_type t
    WHERE c.oid = a.attcollation AND t.oid = a.atttypid AND a.attcollation <> t.typcollation) AS
    attcollation, a.attidentity, a.attgenerated, a.attstorage, a.attcompression AS
    attcompression, CASE WHEN a.attstattarget=-1 THEN NULL ELSE a.attstattarget END AS
    attstattarget, pg_catalog.col_description(a.attrelid, a.attnum)
    FROM pg_catalog.pg_attribute a WHERE a.attrelid = '@{customer}' AND a.attnum > 0 AND NOT
    a.attisdropped ORDER BY a.attnum

-- \d orders
SELECT c.oid, n.nspname, c.relname FROM pg_catalog.pg_class c
    LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relname OPERATOR(pg_catalog.~) '^(orders)$' COLLATE pg_catalog.default AND
    pg_catalog.pg_table_is_visible(c.oid) ORDER BY 2, 3

-- \d orders #2
SELECT c.relchecks, c.relkind, c.relhasindex, c.relhasrules, c.relhastriggers, c.relrowsecurity,
    c.relforcerowsecurity, false AS relhasoids, c.relispartition, '', c.reltablespace, CASE WHEN
    c.reloftype = 0 THEN '' ELSE c.reloftype::pg_catalog.regtype::pg_catalog.text END,
    c.relpersistence, c.relreplident, am.amname FROM pg_catalog.pg_class c
    LEFT JOIN pg_catalog.pg_class tc ON (c.reltoastrelid = tc.oid)
    LEFT JOIN pg_catalog.pg_am am ON (c.relam = am.oid) WHERE c.oid = '@{orders}'

-- \d orders #3
SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), (SELECT
    pg_catalog.pg_get_expr(d.adbin, d.adrelid, true) FROM pg_catalog.pg_attrdef d
    WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.atthasdef), a.attnotnull, (SELECT
    c.collname FROM pg_catalog.pg_collation c, pg_catalog.pg_type t
    WHERE c.oid = a.attcollation AND t.oid = a.atttypid AND a.attcollation <> t.typcollation) AS
    attcollation, a.attidentity, a.attgenerated FROM pg_catalog.pg_attribute a
    WHERE a.attrelid = '@{orders}' AND a.attnum > 0 AND NOT a.attisdropped
    ORDER BY a.attnum

-- \d orders #4
SELECT c2.relname, i.indisprimary, i.indisunique, i.indisclustered, i.indisvalid,
    pg_catalog.pg_get_indexdef(i.indexrelid, 0, true), pg_catalog.pg_get_constraintdef(con.oid,
    true), contype, condeferrable, condeferred, i.indisreplident, c2.reltablespace
    FROM pg_catalog.pg_class c, pg_catalog.pg_class c2, pg_catalog.pg_index i
    LEFT JOIN pg_catalog.pg_constraint con ON (conrelid = i.indrelid AND conindid = i.indexrelid
    AND contype IN ('p','u','x')) WHERE c.oid = '@{orders}' AND c.oid = i.indrelid AND
    i.indexrelid = c2.oid ORDER BY i.indisprimary DESC, c2.relname

-- \d orders #5
SELECT pol.polname, pol.polpermissive, CASE WHEN pol.polroles = '{0}' THEN NULL ELSE
    pg_catalog.array_to_string(array(select rolname from pg_catalog.pg_roles
    where oid = any (pol.polroles) order by 1),',') END, pg_catalog.pg_get_expr(pol.polqual,
    pol.polrelid), pg_catalog.pg_get_expr(pol.polwithcheck, pol.polrelid), CASE pol.polcmd WHEN
    'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE' WHEN 'd' THEN 'DELETE' END
    AS cmd FROM pg_catalog.pg_policy pol WHERE pol.polrelid = '@{orders}'
    ORDER BY 1

-- \d orders #6
SELECT oid, stxrelid::pg_catalog.regclass,
    stxnamespace::pg_catalog.regnamespace::pg_catalog.text AS nsp, stxname,
    pg_catalog.pg_get_statisticsobjdef_columns(oid) AS columns, 'd' = any(stxkind) AS
    ndist_enabled, 'f' = any(stxkind) AS deps_enabled, 'm' = any(stxkind) AS mcv_enabled,
    stxstattarget FROM pg_catalog.pg_statistic_ext WHERE stxrelid = '@{orders}'
    ORDER BY nsp, stxname

-- \d orders #7
SELECT pubname , NULL , NULL FROM pg_catalog.pg_publication p
    JOIN pg_catalog.pg_publication_namespace pn ON p.oid = pn.pnpubid
    JOIN pg_catalog.pg_class pc ON pc.relnamespace = pn.pnnspid
    WHERE pc.oid ='@{orders}' and pg_catalog.pg_relation_is_publishable('@{orders}')
    UNION SELECT pubname , pg_get_expr(pr.prqual, c.oid) , (CASE WHEN pr.prattrs IS NOT NULL
    THEN (SELECT string_agg(attname, ', ') FROM pg_catalog.generate_series(0,
    pg_catalog.array_upper(pr.prattrs::pg_catalog.int2[], 1)) s, pg_catalog.pg_attribute
    WHERE attrelid = pr.prrelid AND attnum = prattrs[s]) ELSE NULL END)
    FROM pg_catalog.pg_publication p JOIN pg_catalog.pg_publication_rel pr ON p.oid = pr.prpubid
    JOIN pg_catalog.pg_class c ON c.oid = pr.prrelid WHERE pr.prrelid = '@{orders}'
    UNION SELECT pubname , NULL , NULL FROM pg_catalog.pg_publication p
    WHERE p.puballtables AND pg_catalog.pg_relation_is_publishable('@{orders}')
    ORDER BY 1

-- \d orders #8
SELECT c.oid::pg_catalog.regclass FROM pg_catalog.pg_class c, pg_catalog.pg_inherits i
    WHERE c.oid = i.inhparent AND i.inhrelid = '@{orders}' AND c.relkind != 'p' AND c.relkind !=
    'I' ORDER BY inhseqno

-- \d orders #9
SELECT c.oid::pg_catalog.regclass, c.relkind, inhdetachpending,
    pg_catalog.pg_get_expr(c.relpartbound, c.oid) FROM pg_catalog.pg_class c,
    pg_catalog.pg_inherits i WHERE c.oid = i.inhrelid AND i.inhparent = '@{orders}'
    ORDER BY pg_catalog.pg_get_expr(c.relpartbound, c.oid) = 'DEFAULT',
    c.oid::pg_catalog.regclass::pg_catalog.text

-- \d+ shop.order_line
SELECT c.oid, n.nspname, c.relname FROM pg_catalog.pg_class c
    LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relname OPERATOR(pg_catalog.~) '^(order_line)$' COLLATE pg_catalog.default AND
    n.nspname OPERATOR(pg_catalog.~) '^(shop)$' COLLATE pg_catalog.default
    ORDER BY 2, 3

-- \d+ shop.order_line #2
SELECT c.relchecks, c.relkind, c.relhasindex, c.relhasrules, c.relhastriggers, c.relrowsecurity,
    c.relforcerowsecurity, false AS relhasoids, c.relispartition,
    pg_catalog.array_to_string(c.reloptions || array(select 'toast.' || x
    from pg_catalog.unnest(tc.reloptions) x), ', ') , c.reltablespace, CASE WHEN c.reloftype = 0
    THEN '' ELSE c.reloftype::pg_catalog.regtype::pg_catalog.text END, c.relpersistence,
    c.relreplident, am.amname FROM pg_catalog.pg_class c LEFT
    JOIN pg_catalog.pg_class tc ON (c.reltoastrelid = tc.oid)
    LEFT JOIN pg_catalog.pg_am am ON (c.relam = am.oid) WHERE c.oid = '@{shop.order_line}'

-- \d+ shop.order_line #3
SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), (SELECT
    pg_catalog.pg_get_expr(d.adbin, d.adrelid, true) FROM pg_catalog.pg_attrdef d
    WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.atthasdef), a.attnotnull, (SELECT
    c.collname FROM pg_catalog.pg_collation c, pg_catalog.pg_type t
    WHERE c.oid = a.attcollation AND t.oid = a.atttypid AND a.attcollation <> t.typcollation) AS
    attcollation, a.attidentity, a.attgenerated, a.attstorage, a.attcompression AS
    attcompression, CASE WHEN a.attstattarget=-1 THEN NULL ELSE a.attstattarget END AS
    attstattarget, pg_catalog.col_description(a.attrelid, a.attnum)
    FROM pg_catalog.pg_attribute a WHERE a.attrelid = '@{shop.order_line}' AND a.attnum > 0 AND
    NOT a.attisdropped ORDER BY a.attnum

-- \d+ shop.every_type
SELECT c.oid, n.nspname, c.relname FROM pg_catalog.pg_class c
    LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relname OPERATOR(pg_catalog.~) '^(every_type)$' COLLATE pg_catalog.default AND
    n.nspname OPERATOR(pg_catalog.~) '^(shop)$' COLLATE pg_catalog.default
    ORDER BY 2, 3

-- \d+ active_customer
SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), (SELECT
    pg_catalog.pg_get_expr(d.adbin, d.adrelid, true) FROM pg_catalog.pg_attrdef d
    WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.atthasdef), a.attnotnull, (SELECT
    c.collname FROM pg_catalog.pg_collation c, pg_catalog.pg_type t
    WHERE c.oid = a.attcollation AND t.oid = a.atttypid AND a.attcollation <> t.typcollation) AS
    attcollation, a.attidentity, a.attgenerated, a.attstorage,
    pg_catalog.col_description(a.attrelid, a.attnum) FROM pg_catalog.pg_attribute a
    WHERE a.attrelid = '@{active_customer}' AND a.attnum > 0 AND NOT a.attisdropped
    ORDER BY a.attnum

-- \d+ active_customer #2
SELECT pg_catalog.pg_get_viewdef('@{active_customer}'::pg_catalog.oid, true)

-- \d+ active_customer #3
SELECT r.rulename, trim(trailing ';' from pg_catalog.pg_get_ruledef(r.oid, true))
    FROM pg_catalog.pg_rewrite r WHERE r.ev_class = '@{active_customer}' AND r.rulename !=
    '_RETURN' ORDER BY 1

-- \d+ turnover
SELECT pg_catalog.pg_get_viewdef('@{turnover}'::pg_catalog.oid, true)

-- \d+ turnover #2
SELECT r.rulename, trim(trailing ';' from pg_catalog.pg_get_ruledef(r.oid, true))
    FROM pg_catalog.pg_rewrite r WHERE r.ev_class = '@{turnover}' AND r.rulename != '_RETURN'
    ORDER BY 1

-- \d customer_email
SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), CASE WHEN a.attnum <= (SELECT
    i.indnkeyatts FROM pg_catalog.pg_index i WHERE i.indexrelid = '@{customer_email}') THEN
    'yes' ELSE 'no' END AS is_key, pg_catalog.pg_get_indexdef(a.attrelid, a.attnum, TRUE) AS
    indexdef FROM pg_catalog.pg_attribute a WHERE a.attrelid = '@{customer_email}' AND a.attnum
    > 0 AND NOT a.attisdropped ORDER BY a.attnum

-- \d customer_email #2
SELECT i.indisunique, i.indisprimary, i.indisclustered, i.indisvalid, (NOT i.indimmediate) AND
    EXISTS (SELECT 1 FROM pg_catalog.pg_constraint WHERE conrelid = i.indrelid AND conindid =
    i.indexrelid AND contype IN ('p','u','x') AND condeferrable) AS condeferrable, (NOT
    i.indimmediate) AND EXISTS (SELECT 1 FROM pg_catalog.pg_constraint
    WHERE conrelid = i.indrelid AND conindid = i.indexrelid AND contype IN ('p','u','x') AND
    condeferred) AS condeferred, i.indisreplident, i.indnullsnotdistinct, a.amname, c2.relname,
    pg_catalog.pg_get_expr(i.indpred, i.indrelid, true) FROM pg_catalog.pg_index i,
    pg_catalog.pg_class c, pg_catalog.pg_class c2, pg_catalog.pg_am a
    WHERE i.indexrelid = c.oid AND c.oid = '@{customer_email}' AND c.relam = a.oid AND
    i.indrelid = c2.oid

-- \d+ orders_by_customer
SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), CASE WHEN a.attnum <= (SELECT
    i.indnkeyatts FROM pg_catalog.pg_index i WHERE i.indexrelid = '@{orders_by_customer}') THEN
    'yes' ELSE 'no' END AS is_key, pg_catalog.pg_get_indexdef(a.attrelid, a.attnum, TRUE) AS
    indexdef, a.attstorage, CASE WHEN a.attstattarget=-1 THEN NULL ELSE a.attstattarget END AS
    attstattarget FROM pg_catalog.pg_attribute a WHERE a.attrelid = '@{orders_by_customer}' AND
    a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum

-- \d+ orders_by_customer #2
SELECT i.indisunique, i.indisprimary, i.indisclustered, i.indisvalid, (NOT i.indimmediate) AND
    EXISTS (SELECT 1 FROM pg_catalog.pg_constraint WHERE conrelid = i.indrelid AND conindid =
    i.indexrelid AND contype IN ('p','u','x') AND condeferrable) AS condeferrable, (NOT
    i.indimmediate) AND EXISTS (SELECT 1 FROM pg_catalog.pg_constraint
    WHERE conrelid = i.indrelid AND conindid = i.indexrelid AND contype IN ('p','u','x') AND
    condeferred) AS condeferred, i.indisreplident, i.indnullsnotdistinct, a.amname, c2.relname,
    pg_catalog.pg_get_expr(i.indpred, i.indrelid, true) FROM pg_catalog.pg_index i,
    pg_catalog.pg_class c, pg_catalog.pg_class c2, pg_catalog.pg_am a
    WHERE i.indexrelid = c.oid AND c.oid = '@{orders_by_customer}' AND c.relam = a.oid AND
    i.indrelid = c2.oid

-- \da
SELECT n.nspname as "Schema", p.proname AS "Name", pg_catalog.format_type(p.prorettype, NULL) AS
    "Result data type", CASE WHEN p.pronargs = 0 THEN CAST('*' AS pg_catalog.text) ELSE
    pg_catalog.pg_get_function_arguments(p.oid) END AS "Argument data types",
    pg_catalog.obj_description(p.oid, 'pg_proc') as "Description"
    FROM pg_catalog.pg_proc p LEFT JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
    WHERE p.prokind = 'a' AND n.nspname <> 'pg_catalog' AND n.nspname <> 'information_schema'
    AND pg_catalog.pg_function_is_visible(p.oid) ORDER BY 1, 2, 4

-- \dA
SELECT amname AS "Name", CASE amtype WHEN 'i' THEN 'Index' WHEN 't' THEN 'Table' END AS "Type"
    FROM pg_catalog.pg_am ORDER BY 1

-- \dA+
SELECT amname AS "Name", CASE amtype WHEN 'i' THEN 'Index' WHEN 't' THEN 'Table' END AS "Type",
    amhandler AS "Handler", pg_catalog.obj_description(oid, 'pg_am') AS "Description"
    FROM pg_catalog.pg_am ORDER BY 1

-- \dAc btree integer
SELECT am.amname AS "AM", pg_catalog.format_type(c.opcintype, NULL) AS "Input type", CASE WHEN
    c.opckeytype <> 0 AND c.opckeytype <> c.opcintype THEN pg_catalog.format_type(c.opckeytype,
    NULL) ELSE NULL END AS "Storage type", CASE WHEN pg_catalog.pg_opclass_is_visible(c.oid)
    THEN pg_catalog.format('%I', c.opcname) ELSE pg_catalog.format('%I.%I', n.nspname,
    c.opcname) END AS "Operator class", (CASE WHEN c.opcdefault THEN 'yes' ELSE 'no' END) AS
    "Default?" FROM pg_catalog.pg_opclass c LEFT JOIN pg_catalog.pg_am am on am.oid =
    c.opcmethod LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.opcnamespace
    LEFT JOIN pg_catalog.pg_type t ON t.oid = c.opcintype LEFT
    JOIN pg_catalog.pg_namespace tn ON tn.oid = t.typnamespace
    WHERE am.amname OPERATOR(pg_catalog.~) '^(btree)$' COLLATE pg_catalog.default AND (t.typname
    OPERATOR(pg_catalog.~) '^(integer)$' COLLATE pg_catalog.default OR
    pg_catalog.format_type(t.oid, NULL) OPERATOR(pg_catalog.~) '^(integer)$' COLLATE
    pg_catalog.default) AND pg_catalog.pg_type_is_visible(t.oid)
    ORDER BY 1, 2, 4

-- \dAf btree integer
SELECT am.amname AS "AM", CASE WHEN pg_catalog.pg_opfamily_is_visible(f.oid) THEN
    pg_catalog.format('%I', f.opfname) ELSE pg_catalog.format('%I.%I', n.nspname, f.opfname) END
    AS "Operator family", (SELECT pg_catalog.string_agg(pg_catalog.format_type(oc.opcintype,
    NULL), ', ') FROM pg_catalog.pg_opclass oc WHERE oc.opcfamily = f.oid) "Applicable types"
    FROM pg_catalog.pg_opfamily f LEFT JOIN pg_catalog.pg_am am on am.oid = f.opfmethod
    LEFT JOIN pg_catalog.pg_namespace n ON n.oid = f.opfnamespace
    WHERE am.amname OPERATOR(pg_catalog.~) '^(btree)$' COLLATE pg_catalog.default AND EXISTS (
    SELECT 1 FROM pg_catalog.pg_type t JOIN pg_catalog.pg_opclass oc ON oc.opcintype = t.oid
    LEFT JOIN pg_catalog.pg_namespace tn ON tn.oid = t.typnamespace
    WHERE oc.opcfamily = f.oid AND (t.typname OPERATOR(pg_catalog.~) '^(integer)$' COLLATE
    pg_catalog.default OR pg_catalog.format_type(t.oid, NULL) OPERATOR(pg_catalog.~)
    '^(integer)$' COLLATE pg_catalog.default) AND pg_catalog.pg_type_is_visible(t.oid) )
    ORDER BY 1, 2

-- \dAo btree integer_ops
SELECT am.amname AS "AM", CASE WHEN pg_catalog.pg_opfamily_is_visible(of.oid) THEN
    pg_catalog.format('%I', of.opfname) ELSE pg_catalog.format('%I.%I', nsf.nspname, of.opfname)
    END AS "Operator family", o.amopopr::pg_catalog.regoperator AS "Operator" , o.amopstrategy
    AS "Strategy", CASE o.amoppurpose WHEN 'o' THEN 'ordering' WHEN 's' THEN 'search' END AS
    "Purpose" FROM pg_catalog.pg_amop o LEFT JOIN pg_catalog.pg_opfamily of ON of.oid =
    o.amopfamily LEFT JOIN pg_catalog.pg_am am ON am.oid = of.opfmethod AND am.oid =
    o.amopmethod LEFT JOIN pg_catalog.pg_namespace nsf ON of.opfnamespace = nsf.oid
    WHERE am.amname OPERATOR(pg_catalog.~) '^(btree)$' COLLATE pg_catalog.default AND of.opfname
    OPERATOR(pg_catalog.~) '^(integer_ops)$' COLLATE pg_catalog.default
    ORDER BY 1, 2, o.amoplefttype = o.amoprighttype DESC, pg_catalog.format_type(o.amoplefttype,
    NULL), pg_catalog.format_type(o.amoprighttype, NULL), o.amopstrategy

-- \dAp btree integer_ops
SELECT am.amname AS "AM", CASE WHEN pg_catalog.pg_opfamily_is_visible(of.oid) THEN
    pg_catalog.format('%I', of.opfname) ELSE pg_catalog.format('%I.%I', ns.nspname, of.opfname)
    END AS "Operator family", pg_catalog.format_type(ap.amproclefttype, NULL) AS
    "Registered left type", pg_catalog.format_type(ap.amprocrighttype, NULL) AS
    "Registered right type", ap.amprocnum AS "Number" , p.proname AS "Function"
    FROM pg_catalog.pg_amproc ap LEFT JOIN pg_catalog.pg_opfamily of ON of.oid = ap.amprocfamily
    LEFT JOIN pg_catalog.pg_am am ON am.oid = of.opfmethod LEFT
    JOIN pg_catalog.pg_namespace ns ON of.opfnamespace = ns.oid
    LEFT JOIN pg_catalog.pg_proc p ON ap.amproc = p.oid WHERE am.amname OPERATOR(pg_catalog.~)
    '^(btree)$' COLLATE pg_catalog.default AND of.opfname OPERATOR(pg_catalog.~)
    '^(integer_ops)$' COLLATE pg_catalog.default ORDER BY 1, 2, ap.amproclefttype =
    ap.amprocrighttype DESC, 3, 4, 5

-- \db
SELECT spcname AS "Name", pg_catalog.pg_get_userbyid(spcowner) AS "Owner",
    pg_catalog.pg_tablespace_location(oid) AS "Location" FROM pg_catalog.pg_tablespace
    ORDER BY 1

-- \db+
SELECT spcname AS "Name", pg_catalog.pg_get_userbyid(spcowner) AS "Owner",
    pg_catalog.pg_tablespace_location(oid) AS "Location", pg_catalog.array_to_string(spcacl,
    E'\n') AS "Access privileges", spcoptions AS "Options",
    pg_catalog.pg_size_pretty(pg_catalog.pg_tablespace_size(oid)) AS "Size",
    pg_catalog.shobj_description(oid, 'pg_tablespace') AS "Description"
    FROM pg_catalog.pg_tablespace ORDER BY 1

-- \dc
SELECT n.nspname AS "Schema", c.conname AS "Name",
    pg_catalog.pg_encoding_to_char(c.conforencoding) AS "Source",
    pg_catalog.pg_encoding_to_char(c.contoencoding) AS "Destination", CASE WHEN c.condefault
    THEN 'yes' ELSE 'no' END AS "Default?" FROM pg_catalog.pg_conversion c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.connamespace WHERE true AND n.nspname <>
    'pg_catalog' AND n.nspname <> 'information_schema' AND
    pg_catalog.pg_conversion_is_visible(c.oid) ORDER BY 1, 2

-- \dconfig
SELECT s.name AS "Parameter", pg_catalog.current_setting(s.name) AS "Value"
    FROM pg_catalog.pg_settings s WHERE s.source <> 'default' AND s.setting IS DISTINCT
    FROM s.boot_val ORDER BY 1

-- \dconfig+ statement_timeout
SELECT s.name AS "Parameter", pg_catalog.current_setting(s.name) AS "Value", s.vartype AS
    "Type", s.context AS "Context", pg_catalog.array_to_string(p.paracl, E'\n') AS
    "Access privileges" FROM pg_catalog.pg_settings s LEFT JOIN pg_catalog.pg_parameter_acl p ON
    pg_catalog.lower(s.name) = p.parname WHERE pg_catalog.lower(s.name) OPERATOR(pg_catalog.~)
    '^(statement_timeout)$' COLLATE pg_catalog.default ORDER BY 1

-- \dC
SELECT pg_catalog.format_type(castsource, NULL) AS "Source type",
    pg_catalog.format_type(casttarget, NULL) AS "Target type", CASE WHEN c.castmethod = 'b' THEN
    '(binary coercible)' WHEN c.castmethod = 'i' THEN '(with inout)' ELSE p.proname END AS
    "Function", CASE WHEN c.castcontext = 'e' THEN 'no' WHEN c.castcontext = 'a' THEN
    'in assignment' ELSE 'yes' END AS "Implicit?" FROM pg_catalog.pg_cast c
    LEFT JOIN pg_catalog.pg_proc p ON c.castfunc = p.oid LEFT
    JOIN pg_catalog.pg_type ts ON c.castsource = ts.oid LEFT JOIN pg_catalog.pg_namespace ns ON
    ns.oid = ts.typnamespace LEFT JOIN pg_catalog.pg_type tt ON c.casttarget = tt.oid
    LEFT JOIN pg_catalog.pg_namespace nt ON nt.oid = tt.typnamespace
    WHERE ( (true AND pg_catalog.pg_type_is_visible(ts.oid) ) OR (true AND
    pg_catalog.pg_type_is_visible(tt.oid) ) ) ORDER BY 1, 2

-- \dC+ integer
SELECT pg_catalog.format_type(castsource, NULL) AS "Source type",
    pg_catalog.format_type(casttarget, NULL) AS "Target type", CASE WHEN c.castmethod = 'b' THEN
    '(binary coercible)' WHEN c.castmethod = 'i' THEN '(with inout)' ELSE p.proname END AS
    "Function", CASE WHEN c.castcontext = 'e' THEN 'no' WHEN c.castcontext = 'a' THEN
    'in assignment' ELSE 'yes' END AS "Implicit?", d.description AS "Description"
    FROM pg_catalog.pg_cast c LEFT JOIN pg_catalog.pg_proc p ON c.castfunc = p.oid
    LEFT JOIN pg_catalog.pg_type ts ON c.castsource = ts.oid LEFT
    JOIN pg_catalog.pg_namespace ns ON ns.oid = ts.typnamespace
    LEFT JOIN pg_catalog.pg_type tt ON c.casttarget = tt.oid LEFT
    JOIN pg_catalog.pg_namespace nt ON nt.oid = tt.typnamespace
    LEFT JOIN pg_catalog.pg_description d ON d.classoid = c.tableoid AND d.objoid = c.oid AND
    d.objsubid = 0 WHERE ( (true AND (ts.typname OPERATOR(pg_catalog.~) '^(integer)$' COLLATE
    pg_catalog.default OR pg_catalog.format_type(ts.oid, NULL) OPERATOR(pg_catalog.~)
    '^(integer)$' COLLATE pg_catalog.default) AND pg_catalog.pg_type_is_visible(ts.oid) ) OR
    (true AND (tt.typname OPERATOR(pg_catalog.~) '^(integer)$' COLLATE pg_catalog.default OR
    pg_catalog.format_type(tt.oid, NULL) OPERATOR(pg_catalog.~) '^(integer)$' COLLATE
    pg_catalog.default) AND pg_catalog.pg_type_is_visible(tt.oid) ) )
    ORDER BY 1, 2

-- \dd
SELECT DISTINCT tt.nspname AS "Schema", tt.name AS "Name", tt.object AS "Object", d.description
    AS "Description" FROM ( SELECT pgc.oid as oid, pgc.tableoid AS tableoid, n.nspname as
    nspname, CAST(pgc.conname AS pg_catalog.text) as name, CAST('table constraint' AS
    pg_catalog.text) as object FROM pg_catalog.pg_constraint pgc
    JOIN pg_catalog.pg_class c ON c.oid = pgc.conrelid LEFT JOIN pg_catalog.pg_namespace n ON
    n.oid = c.relnamespace WHERE n.nspname <> 'pg_catalog' AND n.nspname <> 'information_schema'
    AND pg_catalog.pg_table_is_visible(c.oid) UNION ALL SELECT pgc.oid as oid, pgc.tableoid AS
    tableoid, n.nspname as nspname, CAST(pgc.conname AS pg_catalog.text) as name,
    CAST('domain constraint' AS pg_catalog.text) as object FROM pg_catalog.pg_constraint pgc
    JOIN pg_catalog.pg_type t ON t.oid = pgc.contypid LEFT JOIN pg_catalog.pg_namespace n ON
    n.oid = t.typnamespace WHERE n.nspname <> 'pg_catalog' AND n.nspname <> 'information_schema'
    AND pg_catalog.pg_type_is_visible(t.oid) UNION ALL SELECT o.oid as oid, o.tableoid as
    tableoid, n.nspname as nspname, CAST(o.opcname AS pg_catalog.text) as name,
    CAST('operator class' AS pg_catalog.text) as object FROM pg_catalog.pg_opclass o
    JOIN pg_catalog.pg_am am ON o.opcmethod = am.oid JOIN pg_catalog.pg_namespace n ON n.oid =
    o.opcnamespace AND n.nspname <> 'pg_catalog' AND n.nspname <> 'information_schema' AND
    pg_catalog.pg_opclass_is_visible(o.oid) UNION ALL SELECT opf.oid as oid, opf.tableoid as
    tableoid, n.nspname as nspname, CAST(opf.opfname AS pg_catalog.text) AS name,
    CAST('operator family' AS pg_catalog.text) as object FROM pg_catalog.pg_opfamily opf
    JOIN pg_catalog.pg_am am ON opf.opfmethod = am.oid JOIN pg_catalog.pg_namespace n ON
    opf.opfnamespace = n.oid AND n.nspname <> 'pg_catalog' AND n.nspname <> 'information_schema'
    AND pg_catalog.pg_opfamily_is_visible(opf.oid) UNION ALL SELECT r.oid as oid, r.tableoid as
    tableoid, n.nspname as nspname, CAST(r.rulename AS pg_catalog.text) as name, CAST('rule' AS
    pg_catalog.text) as object FROM pg_catalog.pg_rewrite r JOIN pg_catalog.pg_class c ON c.oid
    = r.ev_class LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE r.rulename != '_RETURN' AND n.nspname <> 'pg_catalog' AND n.nspname <>
    'information_schema' AND pg_catalog.pg_table_is_visible(c.oid)
    UNION ALL SELECT t.oid as oid, t.tableoid as tableoid, n.nspname as nspname, CAST(t.tgname
    AS pg_catalog.text) as name, CAST('trigger' AS pg_catalog.text) as object
    FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid
    LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname <> 'pg_catalog' AND n.nspname <> 'information_schema' AND
    pg_catalog.pg_table_is_visible(c.oid) ) AS tt JOIN pg_catalog.pg_description d ON (tt.oid =
    d.objoid AND tt.tableoid = d.classoid AND d.objsubid = 0)
    ORDER BY 1, 2, 3

-- \ddp
SELECT pg_catalog.pg_get_userbyid(d.defaclrole) AS "Owner", n.nspname AS "Schema", CASE
    d.defaclobjtype WHEN 'r' THEN 'table' WHEN 'S' THEN 'sequence' WHEN 'f' THEN 'function' WHEN
    'T' THEN 'type' WHEN 'n' THEN 'schema' END AS "Type",
    pg_catalog.array_to_string(d.defaclacl, E'\n') AS "Access privileges"
    FROM pg_catalog.pg_default_acl d LEFT JOIN pg_catalog.pg_namespace n ON n.oid =
    d.defaclnamespace ORDER BY 1, 2, 3

-- \dD
SELECT n.nspname as "Schema", t.typname as "Name", pg_catalog.format_type(t.typbasetype,
    t.typtypmod) as "Type", (SELECT c.collname FROM pg_catalog.pg_collation c,
    pg_catalog.pg_type bt WHERE c.oid = t.typcollation AND bt.oid = t.typbasetype AND
    t.typcollation <> bt.typcollation) as "Collation", CASE WHEN t.typnotnull THEN 'not null'
    END as "Nullable", t.typdefault as "Default", pg_catalog.array_to_string(ARRAY( SELECT
    pg_catalog.pg_get_constraintdef(r.oid, true) FROM pg_catalog.pg_constraint r
    WHERE t.oid = r.contypid ), ' ') as "Check" FROM pg_catalog.pg_type t
    LEFT JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
    WHERE t.typtype = 'd' AND n.nspname <> 'pg_catalog' AND n.nspname <> 'information_schema'
    AND pg_catalog.pg_type_is_visible(t.oid) ORDER BY 1, 2

-- \dD+
SELECT n.nspname as "Schema", t.typname as "Name", pg_catalog.format_type(t.typbasetype,
    t.typtypmod) as "Type", (SELECT c.collname FROM pg_catalog.pg_collation c,
    pg_catalog.pg_type bt WHERE c.oid = t.typcollation AND bt.oid = t.typbasetype AND
    t.typcollation <> bt.typcollation) as "Collation", CASE WHEN t.typnotnull THEN 'not null'
    END as "Nullable", t.typdefault as "Default", pg_catalog.array_to_string(ARRAY( SELECT
    pg_catalog.pg_get_constraintdef(r.oid, true) FROM pg_catalog.pg_constraint r
    WHERE t.oid = r.contypid ), ' ') as "Check", pg_catalog.array_to_string(t.typacl, E'\n') AS
    "Access privileges", d.description as "Description" FROM pg_catalog.pg_type t
    LEFT JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
    LEFT JOIN pg_catalog.pg_description d ON d.classoid = t.tableoid AND d.objoid = t.oid AND
    d.objsubid = 0 WHERE t.typtype = 'd' AND n.nspname <> 'pg_catalog' AND n.nspname <>
    'information_schema' AND pg_catalog.pg_type_is_visible(t.oid)
    ORDER BY 1, 2

-- \dE
SELECT n.nspname as "Schema", c.relname as "Name", CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v'
    THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence'
    WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table'
    WHEN 'I' THEN 'partitioned index' END as "Type", pg_catalog.pg_get_userbyid(c.relowner) as
    "Owner" FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid =
    c.relnamespace WHERE c.relkind IN ('f','') AND n.nspname <> 'pg_catalog' AND n.nspname !~
    '^pg_toast' AND n.nspname <> 'information_schema' AND pg_catalog.pg_table_is_visible(c.oid)
    ORDER BY 1,2

-- \dE+
SELECT n.nspname as "Schema", c.relname as "Name", CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v'
    THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence'
    WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table'
    WHEN 'I' THEN 'partitioned index' END as "Type", pg_catalog.pg_get_userbyid(c.relowner) as
    "Owner", CASE c.relpersistence WHEN 'p' THEN 'permanent' WHEN 't' THEN 'temporary' WHEN 'u'
    THEN 'unlogged' END as "Persistence",
    pg_catalog.pg_size_pretty(pg_catalog.pg_table_size(c.oid)) as "Size",
    pg_catalog.obj_description(c.oid, 'pg_class') as "Description"
    FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('f','') AND n.nspname <> 'pg_catalog' AND n.nspname !~ '^pg_toast' AND
    n.nspname <> 'information_schema' AND pg_catalog.pg_table_is_visible(c.oid)
    ORDER BY 1,2

-- \des
SELECT s.srvname AS "Name", pg_catalog.pg_get_userbyid(s.srvowner) AS "Owner", f.fdwname AS
    "Foreign-data wrapper" FROM pg_catalog.pg_foreign_server s
    JOIN pg_catalog.pg_foreign_data_wrapper f ON f.oid=s.srvfdw
    ORDER BY 1

-- \des+
SELECT s.srvname AS "Name", pg_catalog.pg_get_userbyid(s.srvowner) AS "Owner", f.fdwname AS
    "Foreign-data wrapper", pg_catalog.array_to_string(s.srvacl, E'\n') AS "Access privileges",
    s.srvtype AS "Type", s.srvversion AS "Version", CASE WHEN srvoptions IS NULL THEN '' ELSE
    '(' || pg_catalog.array_to_string(ARRAY(SELECT pg_catalog.quote_ident(option_name) || ' ' ||
    pg_catalog.quote_literal(option_value) FROM pg_catalog.pg_options_to_table(srvoptions)),
    ', ') || ')' END AS "FDW options", d.description AS "Description"
    FROM pg_catalog.pg_foreign_server s JOIN pg_catalog.pg_foreign_data_wrapper f ON
    f.oid=s.srvfdw LEFT JOIN pg_catalog.pg_description d ON d.classoid = s.tableoid AND d.objoid
    = s.oid AND d.objsubid = 0 ORDER BY 1

-- \det
SELECT n.nspname AS "Schema", c.relname AS "Table", s.srvname AS "Server"
    FROM pg_catalog.pg_foreign_table ft INNER JOIN pg_catalog.pg_class c ON c.oid = ft.ftrelid
    INNER JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    INNER JOIN pg_catalog.pg_foreign_server s ON s.oid = ft.ftserver
    WHERE pg_catalog.pg_table_is_visible(c.oid) ORDER BY 1, 2

-- \det+
SELECT n.nspname AS "Schema", c.relname AS "Table", s.srvname AS "Server", CASE WHEN ftoptions
    IS NULL THEN '' ELSE '(' || pg_catalog.array_to_string(ARRAY(SELECT
    pg_catalog.quote_ident(option_name) || ' ' || pg_catalog.quote_literal(option_value)
    FROM pg_catalog.pg_options_to_table(ftoptions)), ', ') || ')' END AS "FDW options",
    d.description AS "Description" FROM pg_catalog.pg_foreign_table ft
    INNER JOIN pg_catalog.pg_class c ON c.oid = ft.ftrelid INNER
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace INNER
    JOIN pg_catalog.pg_foreign_server s ON s.oid = ft.ftserver
    LEFT JOIN pg_catalog.pg_description d ON d.classoid = c.tableoid AND d.objoid = c.oid AND
    d.objsubid = 0 WHERE pg_catalog.pg_table_is_visible(c.oid)
    ORDER BY 1, 2

-- \deu
SELECT um.srvname AS "Server", um.usename AS "User name" FROM pg_catalog.pg_user_mappings um
    ORDER BY 1, 2

-- \deu+
SELECT um.srvname AS "Server", um.usename AS "User name", CASE WHEN umoptions IS NULL THEN ''
    ELSE '(' || pg_catalog.array_to_string(ARRAY(SELECT pg_catalog.quote_ident(option_name) ||
    ' ' || pg_catalog.quote_literal(option_value) FROM
    pg_catalog.pg_options_to_table(umoptions)), ', ') || ')' END AS "FDW options"
    FROM pg_catalog.pg_user_mappings um ORDER BY 1, 2

-- \dew
SELECT fdw.fdwname AS "Name", pg_catalog.pg_get_userbyid(fdw.fdwowner) AS "Owner",
    fdw.fdwhandler::pg_catalog.regproc AS "Handler", fdw.fdwvalidator::pg_catalog.regproc AS
    "Validator" FROM pg_catalog.pg_foreign_data_wrapper fdw ORDER BY 1

-- \dew+
SELECT fdw.fdwname AS "Name", pg_catalog.pg_get_userbyid(fdw.fdwowner) AS "Owner",
    fdw.fdwhandler::pg_catalog.regproc AS "Handler", fdw.fdwvalidator::pg_catalog.regproc AS
    "Validator", pg_catalog.array_to_string(fdwacl, E'\n') AS "Access privileges", CASE WHEN
    fdwoptions IS NULL THEN '' ELSE '(' || pg_catalog.array_to_string(ARRAY(SELECT
    pg_catalog.quote_ident(option_name) || ' ' || pg_catalog.quote_literal(option_value)
    FROM pg_catalog.pg_options_to_table(fdwoptions)), ', ') || ')' END AS "FDW options",
    d.description AS "Description" FROM pg_catalog.pg_foreign_data_wrapper fdw
    LEFT JOIN pg_catalog.pg_description d ON d.classoid = fdw.tableoid AND d.objoid = fdw.oid
    AND d.objsubid = 0 ORDER BY 1

-- \df
SELECT n.nspname as "Schema", p.proname as "Name", pg_catalog.pg_get_function_result(p.oid) as
    "Result data type", pg_catalog.pg_get_function_arguments(p.oid) as "Argument data types",
    CASE p.prokind WHEN 'a' THEN 'agg' WHEN 'w' THEN 'window' WHEN 'p' THEN 'proc' ELSE 'func'
    END as "Type" FROM pg_catalog.pg_proc p LEFT JOIN pg_catalog.pg_namespace n ON n.oid =
    p.pronamespace WHERE pg_catalog.pg_function_is_visible(p.oid) AND n.nspname <> 'pg_catalog'
    AND n.nspname <> 'information_schema' ORDER BY 1, 2, 4

-- \df+ gross
SELECT n.nspname as "Schema", p.proname as "Name", pg_catalog.pg_get_function_result(p.oid) as
    "Result data type", pg_catalog.pg_get_function_arguments(p.oid) as "Argument data types",
    CASE p.prokind WHEN 'a' THEN 'agg' WHEN 'w' THEN 'window' WHEN 'p' THEN 'proc' ELSE 'func'
    END as "Type", CASE WHEN p.provolatile = 'i' THEN 'immutable' WHEN p.provolatile = 's' THEN
    'stable' WHEN p.provolatile = 'v' THEN 'volatile' END as "Volatility", CASE WHEN
    p.proparallel = 'r' THEN 'restricted' WHEN p.proparallel = 's' THEN 'safe' WHEN
    p.proparallel = 'u' THEN 'unsafe' END as "Parallel", pg_catalog.pg_get_userbyid(p.proowner)
    as "Owner", CASE WHEN prosecdef THEN 'definer' ELSE 'invoker' END AS "Security",
    pg_catalog.array_to_string(p.proacl, E'\n') AS "Access privileges", l.lanname as "Language",
    COALESCE(pg_catalog.pg_get_function_sqlbody(p.oid), p.prosrc) as "Source code",
    pg_catalog.obj_description(p.oid, 'pg_proc') as "Description"
    FROM pg_catalog.pg_proc p LEFT JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
    LEFT JOIN pg_catalog.pg_language l ON l.oid = p.prolang WHERE p.proname
    OPERATOR(pg_catalog.~) '^(gross)$' COLLATE pg_catalog.default AND
    pg_catalog.pg_function_is_visible(p.oid) ORDER BY 1, 2, 4

-- \df shop.*
SELECT n.nspname as "Schema", p.proname as "Name", pg_catalog.pg_get_function_result(p.oid) as
    "Result data type", pg_catalog.pg_get_function_arguments(p.oid) as "Argument data types",
    CASE p.prokind WHEN 'a' THEN 'agg' WHEN 'w' THEN 'window' WHEN 'p' THEN 'proc' ELSE 'func'
    END as "Type" FROM pg_catalog.pg_proc p LEFT JOIN pg_catalog.pg_namespace n ON n.oid =
    p.pronamespace WHERE n.nspname OPERATOR(pg_catalog.~) '^(shop)$' COLLATE pg_catalog.default
    ORDER BY 1, 2, 4

-- \dfn
SELECT n.nspname as "Schema", p.proname as "Name", pg_catalog.pg_get_function_result(p.oid) as
    "Result data type", pg_catalog.pg_get_function_arguments(p.oid) as "Argument data types",
    CASE p.prokind WHEN 'a' THEN 'agg' WHEN 'w' THEN 'window' WHEN 'p' THEN 'proc' ELSE 'func'
    END as "Type" FROM pg_catalog.pg_proc p LEFT JOIN pg_catalog.pg_namespace n ON n.oid =
    p.pronamespace WHERE p.prokind <> 'a' AND p.prokind <> 'p' AND p.prorettype <>
    'pg_catalog.trigger'::pg_catalog.regtype AND p.prokind <> 'w' AND
    pg_catalog.pg_function_is_visible(p.oid) AND n.nspname <> 'pg_catalog' AND n.nspname <>
    'information_schema' ORDER BY 1, 2, 4

-- \df gross numeric
SELECT n.nspname as "Schema", p.proname as "Name", pg_catalog.pg_get_function_result(p.oid) as
    "Result data type", pg_catalog.pg_get_function_arguments(p.oid) as "Argument data types",
    CASE p.prokind WHEN 'a' THEN 'agg' WHEN 'w' THEN 'window' WHEN 'p' THEN 'proc' ELSE 'func'
    END as "Type" FROM pg_catalog.pg_proc p LEFT JOIN pg_catalog.pg_namespace n ON n.oid =
    p.pronamespace LEFT JOIN pg_catalog.pg_type t0 ON t0.oid = p.proargtypes[0]
    LEFT JOIN pg_catalog.pg_namespace nt0 ON nt0.oid = t0.typnamespace
    WHERE p.proname OPERATOR(pg_catalog.~) '^(gross)$' COLLATE pg_catalog.default AND
    pg_catalog.pg_function_is_visible(p.oid) AND (t0.typname OPERATOR(pg_catalog.~)
    '^(numeric)$' COLLATE pg_catalog.default OR pg_catalog.format_type(t0.oid, NULL)
    OPERATOR(pg_catalog.~) '^(numeric)$' COLLATE pg_catalog.default) AND
    pg_catalog.pg_type_is_visible(t0.oid) ORDER BY 1, 2, 4

-- \dF
SELECT n.nspname as "Schema", c.cfgname as "Name", pg_catalog.obj_description(c.oid,
    'pg_ts_config') as "Description" FROM pg_catalog.pg_ts_config c
    LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.cfgnamespace
    WHERE pg_catalog.pg_ts_config_is_visible(c.oid) ORDER BY 1, 2

-- \dFd
SELECT n.nspname as "Schema", d.dictname as "Name", pg_catalog.obj_description(d.oid,
    'pg_ts_dict') as "Description" FROM pg_catalog.pg_ts_dict d
    LEFT JOIN pg_catalog.pg_namespace n ON n.oid = d.dictnamespace
    WHERE pg_catalog.pg_ts_dict_is_visible(d.oid) ORDER BY 1, 2

-- \dFp
SELECT n.nspname as "Schema", p.prsname as "Name", pg_catalog.obj_description(p.oid,
    'pg_ts_parser') as "Description" FROM pg_catalog.pg_ts_parser p
    LEFT JOIN pg_catalog.pg_namespace n ON n.oid = p.prsnamespace
    WHERE pg_catalog.pg_ts_parser_is_visible(p.oid) ORDER BY 1, 2

-- \dFt
SELECT n.nspname AS "Schema", t.tmplname AS "Name", pg_catalog.obj_description(t.oid,
    'pg_ts_template') AS "Description" FROM pg_catalog.pg_ts_template t
    LEFT JOIN pg_catalog.pg_namespace n ON n.oid = t.tmplnamespace
    WHERE pg_catalog.pg_ts_template_is_visible(t.oid) ORDER BY 1, 2

-- \dF+
SELECT c.oid, c.cfgname, n.nspname, p.prsname, np.nspname as pnspname
    FROM pg_catalog.pg_ts_config c LEFT JOIN pg_catalog.pg_namespace n ON n.oid =
    c.cfgnamespace, pg_catalog.pg_ts_parser p LEFT JOIN pg_catalog.pg_namespace np ON np.oid =
    p.prsnamespace WHERE p.oid = c.cfgparser AND pg_catalog.pg_ts_config_is_visible(c.oid)
    ORDER BY 3, 2

-- \dF+ #2
SELECT ( SELECT t.alias FROM pg_catalog.ts_token_type(c.cfgparser) AS t
    WHERE t.tokid = m.maptokentype ) AS "Token", pg_catalog.btrim( ARRAY( SELECT
    mm.mapdict::pg_catalog.regdictionary FROM pg_catalog.pg_ts_config_map AS mm
    WHERE mm.mapcfg = m.mapcfg AND mm.maptokentype = m.maptokentype
    ORDER BY mapcfg, maptokentype, mapseqno ) :: pg_catalog.text, '{}') AS "Dictionaries"
    FROM pg_catalog.pg_ts_config AS c, pg_catalog.pg_ts_config_map AS m
    WHERE c.oid = '@{arabic::regconfig}' AND m.mapcfg = c.oid GROUP BY m.mapcfg, m.maptokentype, c.cfgparser
    ORDER BY 1

-- \dF+ #3
SELECT ( SELECT t.alias FROM pg_catalog.ts_token_type(c.cfgparser) AS t
    WHERE t.tokid = m.maptokentype ) AS "Token", pg_catalog.btrim( ARRAY( SELECT
    mm.mapdict::pg_catalog.regdictionary FROM pg_catalog.pg_ts_config_map AS mm
    WHERE mm.mapcfg = m.mapcfg AND mm.maptokentype = m.maptokentype
    ORDER BY mapcfg, maptokentype, mapseqno ) :: pg_catalog.text, '{}') AS "Dictionaries"
    FROM pg_catalog.pg_ts_config AS c, pg_catalog.pg_ts_config_map AS m
    WHERE c.oid = '@{armenian::regconfig}' AND m.mapcfg = c.oid GROUP BY m.mapcfg, m.maptokentype, c.cfgparser
    ORDER BY 1

-- \dg
SELECT r.rolname, r.rolsuper, r.rolinherit, r.rolcreaterole, r.rolcreatedb, r.rolcanlogin,
    r.rolconnlimit, r.rolvaliduntil, ARRAY(SELECT b.rolname FROM pg_catalog.pg_auth_members m
    JOIN pg_catalog.pg_roles b ON (m.roleid = b.oid) WHERE m.member = r.oid) as memberof ,
    r.rolreplication , r.rolbypassrls FROM pg_catalog.pg_roles r
    WHERE r.rolname !~ '^pg_' ORDER BY 1

-- \dg+
SELECT r.rolname, r.rolsuper, r.rolinherit, r.rolcreaterole, r.rolcreatedb, r.rolcanlogin,
    r.rolconnlimit, r.rolvaliduntil, ARRAY(SELECT b.rolname FROM pg_catalog.pg_auth_members m
    JOIN pg_catalog.pg_roles b ON (m.roleid = b.oid) WHERE m.member = r.oid) as memberof ,
    pg_catalog.shobj_description(r.oid, 'pg_authid') AS description , r.rolreplication ,
    r.rolbypassrls FROM pg_catalog.pg_roles r WHERE r.rolname !~ '^pg_'
    ORDER BY 1

-- \di
SELECT n.nspname as "Schema", c.relname as "Name", CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v'
    THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence'
    WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table'
    WHEN 'I' THEN 'partitioned index' END as "Type", pg_catalog.pg_get_userbyid(c.relowner) as
    "Owner", c2.relname as "Table" FROM pg_catalog.pg_class c
    LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam LEFT JOIN pg_catalog.pg_index i ON
    i.indexrelid = c.oid LEFT JOIN pg_catalog.pg_class c2 ON i.indrelid = c2.oid
    WHERE c.relkind IN ('i','I','') AND n.nspname <> 'pg_catalog' AND n.nspname !~ '^pg_toast'
    AND n.nspname <> 'information_schema' AND pg_catalog.pg_table_is_visible(c.oid)
    ORDER BY 1,2

-- \di+
SELECT n.nspname as "Schema", c.relname as "Name", CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v'
    THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence'
    WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table'
    WHEN 'I' THEN 'partitioned index' END as "Type", pg_catalog.pg_get_userbyid(c.relowner) as
    "Owner", c2.relname as "Table", CASE c.relpersistence WHEN 'p' THEN 'permanent' WHEN 't'
    THEN 'temporary' WHEN 'u' THEN 'unlogged' END as "Persistence", am.amname as
    "Access method", pg_catalog.pg_size_pretty(pg_catalog.pg_table_size(c.oid)) as "Size",
    pg_catalog.obj_description(c.oid, 'pg_class') as "Description"
    FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam LEFT JOIN pg_catalog.pg_index i ON
    i.indexrelid = c.oid LEFT JOIN pg_catalog.pg_class c2 ON i.indrelid = c2.oid
    WHERE c.relkind IN ('i','I','') AND n.nspname <> 'pg_catalog' AND n.nspname !~ '^pg_toast'
    AND n.nspname <> 'information_schema' AND pg_catalog.pg_table_is_visible(c.oid)
    ORDER BY 1,2

-- \dl
SELECT oid as "ID", pg_catalog.pg_get_userbyid(lomowner) as "Owner",
    pg_catalog.obj_description(oid, 'pg_largeobject') as "Description"
    FROM pg_catalog.pg_largeobject_metadata ORDER BY oid

-- \dL
SELECT l.lanname AS "Name", pg_catalog.pg_get_userbyid(l.lanowner) as "Owner", l.lanpltrusted AS
    "Trusted", d.description AS "Description" FROM pg_catalog.pg_language l
    LEFT JOIN pg_catalog.pg_description d ON d.classoid = l.tableoid AND d.objoid = l.oid AND
    d.objsubid = 0 WHERE l.lanplcallfoid != 0 ORDER BY 1

-- \dL+
SELECT l.lanname AS "Name", pg_catalog.pg_get_userbyid(l.lanowner) as "Owner", l.lanpltrusted AS
    "Trusted", NOT l.lanispl AS "Internal language", l.lanplcallfoid::pg_catalog.regprocedure AS
    "Call handler", l.lanvalidator::pg_catalog.regprocedure AS "Validator",
    l.laninline::pg_catalog.regprocedure AS "Inline handler",
    pg_catalog.array_to_string(l.lanacl, E'\n') AS "Access privileges", d.description AS
    "Description" FROM pg_catalog.pg_language l LEFT JOIN pg_catalog.pg_description d ON
    d.classoid = l.tableoid AND d.objoid = l.oid AND d.objsubid = 0
    WHERE l.lanplcallfoid != 0 ORDER BY 1

-- \dm
SELECT n.nspname as "Schema", c.relname as "Name", CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v'
    THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence'
    WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table'
    WHEN 'I' THEN 'partitioned index' END as "Type", pg_catalog.pg_get_userbyid(c.relowner) as
    "Owner" FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid =
    c.relnamespace LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam
    WHERE c.relkind IN ('m','') AND n.nspname <> 'pg_catalog' AND n.nspname !~ '^pg_toast' AND
    n.nspname <> 'information_schema' AND pg_catalog.pg_table_is_visible(c.oid)
    ORDER BY 1,2

-- \dm+
SELECT n.nspname as "Schema", c.relname as "Name", CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v'
    THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence'
    WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table'
    WHEN 'I' THEN 'partitioned index' END as "Type", pg_catalog.pg_get_userbyid(c.relowner) as
    "Owner", CASE c.relpersistence WHEN 'p' THEN 'permanent' WHEN 't' THEN 'temporary' WHEN 'u'
    THEN 'unlogged' END as "Persistence", am.amname as "Access method",
    pg_catalog.pg_size_pretty(pg_catalog.pg_table_size(c.oid)) as "Size",
    pg_catalog.obj_description(c.oid, 'pg_class') as "Description"
    FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam WHERE c.relkind IN ('m','') AND n.nspname
    <> 'pg_catalog' AND n.nspname !~ '^pg_toast' AND n.nspname <> 'information_schema' AND
    pg_catalog.pg_table_is_visible(c.oid) ORDER BY 1,2

-- \dn
SELECT n.nspname AS "Name", pg_catalog.pg_get_userbyid(n.nspowner) AS "Owner"
    FROM pg_catalog.pg_namespace n WHERE n.nspname !~ '^pg_' AND n.nspname <>
    'information_schema' ORDER BY 1

-- \dn+
SELECT n.nspname AS "Name", pg_catalog.pg_get_userbyid(n.nspowner) AS "Owner",
    pg_catalog.array_to_string(n.nspacl, E'\n') AS "Access privileges",
    pg_catalog.obj_description(n.oid, 'pg_namespace') AS "Description"
    FROM pg_catalog.pg_namespace n WHERE n.nspname !~ '^pg_' AND n.nspname <>
    'information_schema' ORDER BY 1

-- \do
SELECT n.nspname as "Schema", o.oprname AS "Name", CASE WHEN o.oprkind='l' THEN NULL ELSE
    pg_catalog.format_type(o.oprleft, NULL) END AS "Left arg type", CASE WHEN o.oprkind='r' THEN
    NULL ELSE pg_catalog.format_type(o.oprright, NULL) END AS "Right arg type",
    pg_catalog.format_type(o.oprresult, NULL) AS "Result type",
    coalesce(pg_catalog.obj_description(o.oid, 'pg_operator'),
    pg_catalog.obj_description(o.oprcode, 'pg_proc')) AS "Description"
    FROM pg_catalog.pg_operator o LEFT JOIN pg_catalog.pg_namespace n ON n.oid = o.oprnamespace
    WHERE n.nspname <> 'pg_catalog' AND n.nspname <> 'information_schema' AND
    pg_catalog.pg_operator_is_visible(o.oid) ORDER BY 1, 2, 3, 4

-- \do = integer integer
SELECT n.nspname as "Schema", o.oprname AS "Name", CASE WHEN o.oprkind='l' THEN NULL ELSE
    pg_catalog.format_type(o.oprleft, NULL) END AS "Left arg type", CASE WHEN o.oprkind='r' THEN
    NULL ELSE pg_catalog.format_type(o.oprright, NULL) END AS "Right arg type",
    pg_catalog.format_type(o.oprresult, NULL) AS "Result type",
    coalesce(pg_catalog.obj_description(o.oid, 'pg_operator'),
    pg_catalog.obj_description(o.oprcode, 'pg_proc')) AS "Description"
    FROM pg_catalog.pg_operator o LEFT JOIN pg_catalog.pg_namespace n ON n.oid = o.oprnamespace
    LEFT JOIN pg_catalog.pg_type t0 ON t0.oid = o.oprleft LEFT
    JOIN pg_catalog.pg_namespace nt0 ON nt0.oid = t0.typnamespace
    LEFT JOIN pg_catalog.pg_type t1 ON t1.oid = o.oprright LEFT
    JOIN pg_catalog.pg_namespace nt1 ON nt1.oid = t1.typnamespace
    WHERE o.oprname OPERATOR(pg_catalog.~) '^(=)$' COLLATE pg_catalog.default AND
    pg_catalog.pg_operator_is_visible(o.oid) AND (t0.typname OPERATOR(pg_catalog.~)
    '^(integer)$' COLLATE pg_catalog.default OR pg_catalog.format_type(t0.oid, NULL)
    OPERATOR(pg_catalog.~) '^(integer)$' COLLATE pg_catalog.default) AND
    pg_catalog.pg_type_is_visible(t0.oid) AND (t1.typname OPERATOR(pg_catalog.~) '^(integer)$'
    COLLATE pg_catalog.default OR pg_catalog.format_type(t1.oid, NULL) OPERATOR(pg_catalog.~)
    '^(integer)$' COLLATE pg_catalog.default) AND pg_catalog.pg_type_is_visible(t1.oid)
    ORDER BY 1, 2, 3, 4

-- \dO
SELECT n.nspname AS "Schema", c.collname AS "Name", c.collcollate AS "Collate", c.collctype AS
    "Ctype", c.colliculocale AS "ICU Locale", CASE c.collprovider WHEN 'd' THEN 'default' WHEN
    'c' THEN 'libc' WHEN 'i' THEN 'icu' END AS "Provider", CASE WHEN c.collisdeterministic THEN
    'yes' ELSE 'no' END AS "Deterministic?" FROM pg_catalog.pg_collation c,
    pg_catalog.pg_namespace n WHERE n.oid = c.collnamespace AND n.nspname <> 'pg_catalog' AND
    n.nspname <> 'information_schema' AND c.collencoding IN (-1,
    pg_catalog.pg_char_to_encoding(pg_catalog.getdatabaseencoding())) AND
    pg_catalog.pg_collation_is_visible(c.oid) ORDER BY 1, 2

-- \dO+ C
SELECT n.nspname AS "Schema", c.collname AS "Name", c.collcollate AS "Collate", c.collctype AS
    "Ctype", c.colliculocale AS "ICU Locale", CASE c.collprovider WHEN 'd' THEN 'default' WHEN
    'c' THEN 'libc' WHEN 'i' THEN 'icu' END AS "Provider", CASE WHEN c.collisdeterministic THEN
    'yes' ELSE 'no' END AS "Deterministic?", pg_catalog.obj_description(c.oid, 'pg_collation')
    AS "Description" FROM pg_catalog.pg_collation c, pg_catalog.pg_namespace n
    WHERE n.oid = c.collnamespace AND c.collencoding IN (-1,
    pg_catalog.pg_char_to_encoding(pg_catalog.getdatabaseencoding())) AND c.collname
    OPERATOR(pg_catalog.~) '^(c)$' COLLATE pg_catalog.default AND
    pg_catalog.pg_collation_is_visible(c.oid) ORDER BY 1, 2

-- \dp
SELECT n.nspname as "Schema", c.relname as "Name", CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v'
    THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'S' THEN 'sequence' WHEN 'f' THEN
    'foreign table' WHEN 'p' THEN 'partitioned table' END as "Type",
    pg_catalog.array_to_string(c.relacl, E'\n') AS "Access privileges",
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
    WHERE c.relkind IN ('r','v','m','S','f','p') AND n.nspname !~ '^pg_' AND
    pg_catalog.pg_table_is_visible(c.oid) ORDER BY 1, 2

-- \dp orders
SELECT n.nspname as "Schema", c.relname as "Name", CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v'
    THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'S' THEN 'sequence' WHEN 'f' THEN
    'foreign table' WHEN 'p' THEN 'partitioned table' END as "Type",
    pg_catalog.array_to_string(c.relacl, E'\n') AS "Access privileges",
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
    '^(orders)$' COLLATE pg_catalog.default AND n.nspname !~ '^pg_' AND
    pg_catalog.pg_table_is_visible(c.oid) ORDER BY 1, 2

-- \dP
SELECT n.nspname as "Schema", c.relname as "Name", pg_catalog.pg_get_userbyid(c.relowner) as
    "Owner", CASE c.relkind WHEN 'p' THEN 'partitioned table' WHEN 'I' THEN 'partitioned index'
    END as "Type", c2.oid::pg_catalog.regclass as "Table" FROM pg_catalog.pg_class c
    LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_catalog.pg_index i ON i.indexrelid = c.oid LEFT
    JOIN pg_catalog.pg_class c2 ON i.indrelid = c2.oid WHERE c.relkind IN ('p','I','') AND NOT
    c.relispartition AND n.nspname <> 'pg_catalog' AND n.nspname !~ '^pg_toast' AND n.nspname <>
    'information_schema' AND pg_catalog.pg_table_is_visible(c.oid)
    ORDER BY "Schema", "Type" DESC, "Name"

-- \dP+
SELECT n.nspname as "Schema", c.relname as "Name", pg_catalog.pg_get_userbyid(c.relowner) as
    "Owner", CASE c.relkind WHEN 'p' THEN 'partitioned table' WHEN 'I' THEN 'partitioned index'
    END as "Type", c2.oid::pg_catalog.regclass as "Table", s.tps as "Total size",
    pg_catalog.obj_description(c.oid, 'pg_class') as "Description"
    FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_catalog.pg_index i ON i.indexrelid = c.oid LEFT
    JOIN pg_catalog.pg_class c2 ON i.indrelid = c2.oid, LATERAL (SELECT
    pg_catalog.pg_size_pretty(sum( CASE WHEN ppt.isleaf AND ppt.level = 1 THEN
    pg_catalog.pg_table_size(ppt.relid) ELSE 0 END)) AS dps,
    pg_catalog.pg_size_pretty(sum(pg_catalog.pg_table_size(ppt.relid))) AS tps
    FROM pg_catalog.pg_partition_tree(c.oid) ppt) s WHERE c.relkind IN ('p','I','') AND NOT
    c.relispartition AND n.nspname <> 'pg_catalog' AND n.nspname !~ '^pg_toast' AND n.nspname <>
    'information_schema' AND pg_catalog.pg_table_is_visible(c.oid)
    ORDER BY "Schema", "Type" DESC, "Name"

-- \drds
SELECT rolname AS "Role", datname AS "Database", pg_catalog.array_to_string(setconfig, E'\n') AS
    "Settings" FROM pg_catalog.pg_db_role_setting s LEFT JOIN pg_catalog.pg_database d ON d.oid
    = setdatabase LEFT JOIN pg_catalog.pg_roles r ON r.oid = setrole
    ORDER BY 1, 2

-- \dRp
SELECT pubname AS "Name", pg_catalog.pg_get_userbyid(pubowner) AS "Owner", puballtables AS
    "All tables", pubinsert AS "Inserts", pubupdate AS "Updates", pubdelete AS "Deletes",
    pubtruncate AS "Truncates", pubviaroot AS "Via root" FROM pg_catalog.pg_publication
    ORDER BY 1

-- \dRp+
SELECT oid, pubname, pg_catalog.pg_get_userbyid(pubowner) AS owner, puballtables, pubinsert,
    pubupdate, pubdelete, pubtruncate, pubviaroot FROM pg_catalog.pg_publication
    ORDER BY 2

-- \dRs
SELECT subname AS "Name" , pg_catalog.pg_get_userbyid(subowner) AS "Owner" , subenabled AS
    "Enabled" , subpublications AS "Publication" FROM pg_catalog.pg_subscription
    WHERE subdbid = (SELECT oid FROM pg_catalog.pg_database WHERE datname =
    pg_catalog.current_database())ORDER BY 1

-- \dRs+
SELECT subname AS "Name" , pg_catalog.pg_get_userbyid(subowner) AS "Owner" , subenabled AS
    "Enabled" , subpublications AS "Publication" , subbinary AS "Binary" , substream AS
    "Streaming" , subtwophasestate AS "Two-phase commit" , subdisableonerr AS "Disable on error"
    , subsynccommit AS "Synchronous commit" , subconninfo AS "Conninfo" , subskiplsn AS
    "Skip LSN" FROM pg_catalog.pg_subscription WHERE subdbid = (SELECT oid
    FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())ORDER BY 1

-- \ds
SELECT n.nspname as "Schema", c.relname as "Name", CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v'
    THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence'
    WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table'
    WHEN 'I' THEN 'partitioned index' END as "Type", pg_catalog.pg_get_userbyid(c.relowner) as
    "Owner" FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid =
    c.relnamespace WHERE c.relkind IN ('S','') AND n.nspname <> 'pg_catalog' AND n.nspname !~
    '^pg_toast' AND n.nspname <> 'information_schema' AND pg_catalog.pg_table_is_visible(c.oid)
    ORDER BY 1,2

-- \ds+
SELECT n.nspname as "Schema", c.relname as "Name", CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v'
    THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence'
    WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table'
    WHEN 'I' THEN 'partitioned index' END as "Type", pg_catalog.pg_get_userbyid(c.relowner) as
    "Owner", CASE c.relpersistence WHEN 'p' THEN 'permanent' WHEN 't' THEN 'temporary' WHEN 'u'
    THEN 'unlogged' END as "Persistence",
    pg_catalog.pg_size_pretty(pg_catalog.pg_table_size(c.oid)) as "Size",
    pg_catalog.obj_description(c.oid, 'pg_class') as "Description"
    FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('S','') AND n.nspname <> 'pg_catalog' AND n.nspname !~ '^pg_toast' AND
    n.nspname <> 'information_schema' AND pg_catalog.pg_table_is_visible(c.oid)
    ORDER BY 1,2

-- \dt
SELECT n.nspname as "Schema", c.relname as "Name", CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v'
    THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence'
    WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table'
    WHEN 'I' THEN 'partitioned index' END as "Type", pg_catalog.pg_get_userbyid(c.relowner) as
    "Owner" FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid =
    c.relnamespace LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam
    WHERE c.relkind IN ('r','p','') AND n.nspname <> 'pg_catalog' AND n.nspname !~ '^pg_toast'
    AND n.nspname <> 'information_schema' AND pg_catalog.pg_table_is_visible(c.oid)
    ORDER BY 1,2

-- \dt+
SELECT n.nspname as "Schema", c.relname as "Name", CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v'
    THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence'
    WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table'
    WHEN 'I' THEN 'partitioned index' END as "Type", pg_catalog.pg_get_userbyid(c.relowner) as
    "Owner", CASE c.relpersistence WHEN 'p' THEN 'permanent' WHEN 't' THEN 'temporary' WHEN 'u'
    THEN 'unlogged' END as "Persistence", am.amname as "Access method",
    pg_catalog.pg_size_pretty(pg_catalog.pg_table_size(c.oid)) as "Size",
    pg_catalog.obj_description(c.oid, 'pg_class') as "Description"
    FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam WHERE c.relkind IN ('r','p','') AND
    n.nspname <> 'pg_catalog' AND n.nspname !~ '^pg_toast' AND n.nspname <> 'information_schema'
    AND pg_catalog.pg_table_is_visible(c.oid) ORDER BY 1,2

-- \dt shop.*
SELECT n.nspname as "Schema", c.relname as "Name", CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v'
    THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence'
    WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table'
    WHEN 'I' THEN 'partitioned index' END as "Type", pg_catalog.pg_get_userbyid(c.relowner) as
    "Owner" FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid =
    c.relnamespace LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam
    WHERE c.relkind IN ('r','p','t','s','') AND n.nspname OPERATOR(pg_catalog.~) '^(shop)$'
    COLLATE pg_catalog.default ORDER BY 1,2

-- \dtvm
SELECT n.nspname as "Schema", c.relname as "Name", CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v'
    THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence'
    WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table'
    WHEN 'I' THEN 'partitioned index' END as "Type", pg_catalog.pg_get_userbyid(c.relowner) as
    "Owner" FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid =
    c.relnamespace LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam
    WHERE c.relkind IN ('r','p','v','m','') AND n.nspname <> 'pg_catalog' AND n.nspname !~
    '^pg_toast' AND n.nspname <> 'information_schema' AND pg_catalog.pg_table_is_visible(c.oid)
    ORDER BY 1,2

-- \dT
SELECT n.nspname as "Schema", pg_catalog.format_type(t.oid, NULL) AS "Name",
    pg_catalog.obj_description(t.oid, 'pg_type') as "Description"
    FROM pg_catalog.pg_type t LEFT JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
    WHERE (t.typrelid = 0 OR (SELECT c.relkind = 'c' FROM pg_catalog.pg_class c
    WHERE c.oid = t.typrelid)) AND NOT EXISTS(SELECT 1 FROM pg_catalog.pg_type el
    WHERE el.oid = t.typelem AND el.typarray = t.oid) AND n.nspname <> 'pg_catalog' AND
    n.nspname <> 'information_schema' AND pg_catalog.pg_type_is_visible(t.oid)
    ORDER BY 1, 2

-- \dT+ integer
SELECT n.nspname as "Schema", pg_catalog.format_type(t.oid, NULL) AS "Name", t.typname AS
    "Internal name", CASE WHEN t.typrelid != 0 THEN CAST('tuple' AS pg_catalog.text) WHEN
    t.typlen < 0 THEN CAST('var' AS pg_catalog.text) ELSE CAST(t.typlen AS pg_catalog.text) END
    AS "Size", pg_catalog.array_to_string( ARRAY( SELECT e.enumlabel
    FROM pg_catalog.pg_enum e WHERE e.enumtypid = t.oid ORDER BY e.enumsortorder ), E'\n' ) AS
    "Elements", pg_catalog.pg_get_userbyid(t.typowner) AS "Owner",
    pg_catalog.array_to_string(t.typacl, E'\n') AS "Access privileges",
    pg_catalog.obj_description(t.oid, 'pg_type') as "Description"
    FROM pg_catalog.pg_type t LEFT JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
    WHERE (t.typrelid = 0 OR (SELECT c.relkind = 'c' FROM pg_catalog.pg_class c
    WHERE c.oid = t.typrelid)) AND NOT EXISTS(SELECT 1 FROM pg_catalog.pg_type el
    WHERE el.oid = t.typelem AND el.typarray = t.oid) AND (t.typname OPERATOR(pg_catalog.~)
    '^(integer)$' COLLATE pg_catalog.default OR pg_catalog.format_type(t.oid, NULL)
    OPERATOR(pg_catalog.~) '^(integer)$' COLLATE pg_catalog.default) AND
    pg_catalog.pg_type_is_visible(t.oid) ORDER BY 1, 2

-- \dx
SELECT e.extname AS "Name", e.extversion AS "Version", n.nspname AS "Schema", c.description AS
    "Description" FROM pg_catalog.pg_extension e LEFT JOIN pg_catalog.pg_namespace n ON n.oid =
    e.extnamespace LEFT JOIN pg_catalog.pg_description c ON c.objoid = e.oid AND c.classoid =
    'pg_catalog.pg_extension'::pg_catalog.regclass ORDER BY 1

-- \dx+
SELECT e.extname, e.oid FROM pg_catalog.pg_extension e ORDER BY 1

-- \dx+ #2
SELECT pg_catalog.pg_describe_object(classid, objid, 0) AS "Object description"
    FROM pg_catalog.pg_depend WHERE refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass
    AND refobjid = '1' AND deptype = 'e' ORDER BY 1

-- \dX
SELECT es.stxnamespace::pg_catalog.regnamespace::pg_catalog.text AS "Schema", es.stxname AS
    "Name", pg_catalog.format('%s FROM %s', pg_catalog.pg_get_statisticsobjdef_columns(es.oid),
    es.stxrelid::pg_catalog.regclass) AS "Definition", CASE WHEN 'd' = any(es.stxkind) THEN
    'defined' END AS "Ndistinct", CASE WHEN 'f' = any(es.stxkind) THEN 'defined' END AS
    "Dependencies", CASE WHEN 'm' = any(es.stxkind) THEN 'defined' END AS "MCV"
    FROM pg_catalog.pg_statistic_ext es WHERE pg_catalog.pg_statistics_obj_is_visible(es.oid)
    ORDER BY 1, 2

-- \dy
SELECT evtname as "Name", evtevent as "Event", pg_catalog.pg_get_userbyid(e.evtowner) as
    "Owner", case evtenabled when 'O' then 'enabled' when 'R' then 'replica' when 'A' then
    'always' when 'D' then 'disabled' end as "Enabled", e.evtfoid::pg_catalog.regproc as
    "Function", pg_catalog.array_to_string(array(select x from pg_catalog.unnest(evttags) as
    t(x)), ', ') as "Tags" FROM pg_catalog.pg_event_trigger e
    ORDER BY 1

-- \dy+
SELECT evtname as "Name", evtevent as "Event", pg_catalog.pg_get_userbyid(e.evtowner) as
    "Owner", case evtenabled when 'O' then 'enabled' when 'R' then 'replica' when 'A' then
    'always' when 'D' then 'disabled' end as "Enabled", e.evtfoid::pg_catalog.regproc as
    "Function", pg_catalog.array_to_string(array(select x from pg_catalog.unnest(evttags) as
    t(x)), ', ') as "Tags", pg_catalog.obj_description(e.oid, 'pg_event_trigger') as
    "Description" FROM pg_catalog.pg_event_trigger e ORDER BY 1

-- \l
SELECT d.datname as "Name", pg_catalog.pg_get_userbyid(d.datdba) as "Owner",
    pg_catalog.pg_encoding_to_char(d.encoding) as "Encoding", d.datcollate as "Collate",
    d.datctype as "Ctype", d.daticulocale as "ICU Locale", CASE d.datlocprovider WHEN 'c' THEN
    'libc' WHEN 'i' THEN 'icu' END AS "Locale Provider", pg_catalog.array_to_string(d.datacl,
    E'\n') AS "Access privileges" FROM pg_catalog.pg_database d
    ORDER BY 1

-- \l+
SELECT d.datname as "Name", pg_catalog.pg_get_userbyid(d.datdba) as "Owner",
    pg_catalog.pg_encoding_to_char(d.encoding) as "Encoding", d.datcollate as "Collate",
    d.datctype as "Ctype", d.daticulocale as "ICU Locale", CASE d.datlocprovider WHEN 'c' THEN
    'libc' WHEN 'i' THEN 'icu' END AS "Locale Provider", pg_catalog.array_to_string(d.datacl,
    E'\n') AS "Access privileges", CASE WHEN pg_catalog.has_database_privilege(d.datname,
    'CONNECT') THEN pg_catalog.pg_size_pretty(pg_catalog.pg_database_size(d.datname)) ELSE
    'No Access' END as "Size", t.spcname as "Tablespace", pg_catalog.shobj_description(d.oid,
    'pg_database') as "Description" FROM pg_catalog.pg_database d
    JOIN pg_catalog.pg_tablespace t on d.dattablespace = t.oid
    ORDER BY 1

-- \sf gross
SELECT 'gross'::pg_catalog.regproc::pg_catalog.oid

-- \sf gross #2
SELECT pg_catalog.pg_get_functiondef(@{gross::regproc})

-- \sv active_customer
SELECT 'active_customer'::pg_catalog.regclass::pg_catalog.oid

-- \sv active_customer #2
SELECT nspname, relname, relkind, pg_catalog.pg_get_viewdef(c.oid, true),
    pg_catalog.array_remove(pg_catalog.array_remove(c.reloptions,'check_option=local'),'check_option=cascaded')
    AS reloptions, CASE WHEN 'check_option=local' = ANY (c.reloptions) THEN 'LOCAL'::text WHEN
    'check_option=cascaded' = ANY (c.reloptions) THEN 'CASCADED'::text ELSE NULL END AS
    checkoption FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON c.relnamespace
    = n.oid WHERE c.oid = @{active_customer}

-- \sv+ turnover
SELECT 'turnover'::pg_catalog.regclass::pg_catalog.oid

-- \sv+ turnover #2
SELECT nspname, relname, relkind, pg_catalog.pg_get_viewdef(c.oid, true),
    pg_catalog.array_remove(pg_catalog.array_remove(c.reloptions,'check_option=local'),'check_option=cascaded')
    AS reloptions, CASE WHEN 'check_option=local' = ANY (c.reloptions) THEN 'LOCAL'::text WHEN
    'check_option=cascaded' = ANY (c.reloptions) THEN 'CASCADED'::text ELSE NULL END AS
    checkoption FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON c.relnamespace
    = n.oid WHERE c.oid = @{turnover}

-- \dit
SELECT n.nspname as "Schema", c.relname as "Name", CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v'
    THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence'
    WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table'
    WHEN 'I' THEN 'partitioned index' END as "Type", pg_catalog.pg_get_userbyid(c.relowner) as
    "Owner", c2.relname as "Table" FROM pg_catalog.pg_class c
    LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam LEFT JOIN pg_catalog.pg_index i ON
    i.indexrelid = c.oid LEFT JOIN pg_catalog.pg_class c2 ON i.indrelid = c2.oid
    WHERE c.relkind IN ('r','p','i','I','') AND n.nspname <> 'pg_catalog' AND n.nspname !~
    '^pg_toast' AND n.nspname <> 'information_schema' AND pg_catalog.pg_table_is_visible(c.oid)
    ORDER BY 1,2

-- \dn shop
SELECT n.nspname AS "Name", pg_catalog.pg_get_userbyid(n.nspowner) AS "Owner"
    FROM pg_catalog.pg_namespace n WHERE n.nspname OPERATOR(pg_catalog.~) '^(shop)$' COLLATE
    pg_catalog.default ORDER BY 1

-- \dn shop #2
SELECT pubname FROM pg_catalog.pg_publication p JOIN pg_catalog.pg_publication_namespace pn ON
    p.oid = pn.pnpubid JOIN pg_catalog.pg_namespace n ON n.oid = pn.pnnspid
    WHERE n.nspname = 'shop' ORDER BY 1

-- \d shop.*
SELECT c.oid, n.nspname, c.relname FROM pg_catalog.pg_class c
    LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname OPERATOR(pg_catalog.~) '^(shop)$' COLLATE pg_catalog.default
    ORDER BY 2, 3

-- \d shop.* #2
SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), CASE WHEN a.attnum <= (SELECT
    i.indnkeyatts FROM pg_catalog.pg_index i WHERE i.indexrelid = '@{shop.order_line_key}') THEN
    'yes' ELSE 'no' END AS is_key, pg_catalog.pg_get_indexdef(a.attrelid, a.attnum, TRUE) AS
    indexdef FROM pg_catalog.pg_attribute a WHERE a.attrelid = '@{shop.order_line_key}' AND
    a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum

-- \dt *.*log*
SELECT n.nspname as "Schema", c.relname as "Name", CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v'
    THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence'
    WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table'
    WHEN 'I' THEN 'partitioned index' END as "Type", pg_catalog.pg_get_userbyid(c.relowner) as
    "Owner" FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid =
    c.relnamespace LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam
    WHERE c.relkind IN ('r','p','t','s','') AND c.relname OPERATOR(pg_catalog.~) '^(.*log.*)$'
    COLLATE pg_catalog.default ORDER BY 1,2

-- \df *.numbers
SELECT n.nspname as "Schema", p.proname as "Name", pg_catalog.pg_get_function_result(p.oid) as
    "Result data type", pg_catalog.pg_get_function_arguments(p.oid) as "Argument data types",
    CASE p.prokind WHEN 'a' THEN 'agg' WHEN 'w' THEN 'window' WHEN 'p' THEN 'proc' ELSE 'func'
    END as "Type" FROM pg_catalog.pg_proc p LEFT JOIN pg_catalog.pg_namespace n ON n.oid =
    p.pronamespace WHERE p.proname OPERATOR(pg_catalog.~) '^(numbers)$' COLLATE
    pg_catalog.default ORDER BY 1, 2, 4

-- \dti+ shop.*
SELECT n.nspname as "Schema", c.relname as "Name", CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v'
    THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence'
    WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table'
    WHEN 'I' THEN 'partitioned index' END as "Type", pg_catalog.pg_get_userbyid(c.relowner) as
    "Owner", c2.relname as "Table", CASE c.relpersistence WHEN 'p' THEN 'permanent' WHEN 't'
    THEN 'temporary' WHEN 'u' THEN 'unlogged' END as "Persistence", am.amname as
    "Access method", pg_catalog.pg_size_pretty(pg_catalog.pg_table_size(c.oid)) as "Size",
    pg_catalog.obj_description(c.oid, 'pg_class') as "Description"
    FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam LEFT JOIN pg_catalog.pg_index i ON
    i.indexrelid = c.oid LEFT JOIN pg_catalog.pg_class c2 ON i.indrelid = c2.oid
    WHERE c.relkind IN ('r','p','t','i','I','s','') AND n.nspname OPERATOR(pg_catalog.~)
    '^(shop)$' COLLATE pg_catalog.default ORDER BY 1,2

-- \dFp+ default
SELECT p.oid, n.nspname, p.prsname FROM pg_catalog.pg_ts_parser p
    LEFT JOIN pg_catalog.pg_namespace n ON n.oid = p.prsnamespace
    WHERE p.prsname OPERATOR(pg_catalog.~) '^(default)$' COLLATE pg_catalog.default AND
    pg_catalog.pg_ts_parser_is_visible(p.oid) ORDER BY 1, 2

-- \dFp+ default #2
SELECT 'Start parse' AS "Method", p.prsstart::pg_catalog.regproc AS "Function",
    pg_catalog.obj_description(p.prsstart, 'pg_proc') as "Description"
    FROM pg_catalog.pg_ts_parser p WHERE p.oid = '3722' UNION ALL SELECT 'Get next token',
    p.prstoken::pg_catalog.regproc, pg_catalog.obj_description(p.prstoken, 'pg_proc')
    FROM pg_catalog.pg_ts_parser p WHERE p.oid = '3722' UNION ALL SELECT 'End parse',
    p.prsend::pg_catalog.regproc, pg_catalog.obj_description(p.prsend, 'pg_proc')
    FROM pg_catalog.pg_ts_parser p WHERE p.oid = '3722' UNION ALL SELECT 'Get headline',
    p.prsheadline::pg_catalog.regproc, pg_catalog.obj_description(p.prsheadline, 'pg_proc')
    FROM pg_catalog.pg_ts_parser p WHERE p.oid = '3722' UNION ALL SELECT 'Get token types',
    p.prslextype::pg_catalog.regproc, pg_catalog.obj_description(p.prslextype, 'pg_proc')
    FROM pg_catalog.pg_ts_parser p WHERE p.oid = '3722'

-- \dFp+ default #3
SELECT t.alias as "Token name", t.description as "Description"
    FROM pg_catalog.ts_token_type( '3722'::pg_catalog.oid ) as t
    ORDER BY 1

-- \dFt+
SELECT n.nspname AS "Schema", t.tmplname AS "Name", t.tmplinit::pg_catalog.regproc AS "Init",
    t.tmpllexize::pg_catalog.regproc AS "Lexize", pg_catalog.obj_description(t.oid,
    'pg_ts_template') AS "Description" FROM pg_catalog.pg_ts_template t
    LEFT JOIN pg_catalog.pg_namespace n ON n.oid = t.tmplnamespace
    WHERE pg_catalog.pg_ts_template_is_visible(t.oid) ORDER BY 1, 2

-- \dFd+
SELECT n.nspname as "Schema", d.dictname as "Name", ( SELECT COALESCE(nt.nspname,
    '(null)')::pg_catalog.text || '.' || t.tmplname FROM pg_catalog.pg_ts_template t
    LEFT JOIN pg_catalog.pg_namespace nt ON nt.oid = t.tmplnamespace
    WHERE d.dicttemplate = t.oid ) AS "Template", d.dictinitoption as "Init options",
    pg_catalog.obj_description(d.oid, 'pg_ts_dict') as "Description"
    FROM pg_catalog.pg_ts_dict d LEFT JOIN pg_catalog.pg_namespace n ON n.oid = d.dictnamespace
    WHERE pg_catalog.pg_ts_dict_is_visible(d.oid) ORDER BY 1, 2

-- \dc+
SELECT n.nspname AS "Schema", c.conname AS "Name",
    pg_catalog.pg_encoding_to_char(c.conforencoding) AS "Source",
    pg_catalog.pg_encoding_to_char(c.contoencoding) AS "Destination", CASE WHEN c.condefault
    THEN 'yes' ELSE 'no' END AS "Default?", d.description AS "Description"
    FROM pg_catalog.pg_conversion c JOIN pg_catalog.pg_namespace n ON n.oid = c.connamespace
    LEFT JOIN pg_catalog.pg_description d ON d.classoid = c.tableoid AND d.objoid = c.oid AND
    d.objsubid = 0 WHERE true AND n.nspname <> 'pg_catalog' AND n.nspname <>
    'information_schema' AND pg_catalog.pg_conversion_is_visible(c.oid)
    ORDER BY 1, 2

-- \dAp+ btree integer_ops
SELECT am.amname AS "AM", CASE WHEN pg_catalog.pg_opfamily_is_visible(of.oid) THEN
    pg_catalog.format('%I', of.opfname) ELSE pg_catalog.format('%I.%I', ns.nspname, of.opfname)
    END AS "Operator family", pg_catalog.format_type(ap.amproclefttype, NULL) AS
    "Registered left type", pg_catalog.format_type(ap.amprocrighttype, NULL) AS
    "Registered right type", ap.amprocnum AS "Number" , ap.amproc::pg_catalog.regprocedure AS
    "Function" FROM pg_catalog.pg_amproc ap LEFT JOIN pg_catalog.pg_opfamily of ON of.oid =
    ap.amprocfamily LEFT JOIN pg_catalog.pg_am am ON am.oid = of.opfmethod
    LEFT JOIN pg_catalog.pg_namespace ns ON of.opfnamespace = ns.oid
    LEFT JOIN pg_catalog.pg_proc p ON ap.amproc = p.oid WHERE am.amname OPERATOR(pg_catalog.~)
    '^(btree)$' COLLATE pg_catalog.default AND of.opfname OPERATOR(pg_catalog.~)
    '^(integer_ops)$' COLLATE pg_catalog.default ORDER BY 1, 2, ap.amproclefttype =
    ap.amprocrighttype DESC, 3, 4, 5

-- \dAo+ btree integer_ops
SELECT am.amname AS "AM", CASE WHEN pg_catalog.pg_opfamily_is_visible(of.oid) THEN
    pg_catalog.format('%I', of.opfname) ELSE pg_catalog.format('%I.%I', nsf.nspname, of.opfname)
    END AS "Operator family", o.amopopr::pg_catalog.regoperator AS "Operator" , o.amopstrategy
    AS "Strategy", CASE o.amoppurpose WHEN 'o' THEN 'ordering' WHEN 's' THEN 'search' END AS
    "Purpose" , ofs.opfname AS "Sort opfamily" FROM pg_catalog.pg_amop o
    LEFT JOIN pg_catalog.pg_opfamily of ON of.oid = o.amopfamily
    LEFT JOIN pg_catalog.pg_am am ON am.oid = of.opfmethod AND am.oid = o.amopmethod
    LEFT JOIN pg_catalog.pg_namespace nsf ON of.opfnamespace = nsf.oid
    LEFT JOIN pg_catalog.pg_opfamily ofs ON ofs.oid = o.amopsortfamily
    WHERE am.amname OPERATOR(pg_catalog.~) '^(btree)$' COLLATE pg_catalog.default AND of.opfname
    OPERATOR(pg_catalog.~) '^(integer_ops)$' COLLATE pg_catalog.default
    ORDER BY 1, 2, o.amoplefttype = o.amoprighttype DESC, pg_catalog.format_type(o.amoplefttype,
    NULL), pg_catalog.format_type(o.amoprighttype, NULL), o.amopstrategy

-- \dAf+ btree integer
SELECT am.amname AS "AM", CASE WHEN pg_catalog.pg_opfamily_is_visible(f.oid) THEN
    pg_catalog.format('%I', f.opfname) ELSE pg_catalog.format('%I.%I', n.nspname, f.opfname) END
    AS "Operator family", (SELECT pg_catalog.string_agg(pg_catalog.format_type(oc.opcintype,
    NULL), ', ') FROM pg_catalog.pg_opclass oc WHERE oc.opcfamily = f.oid) "Applicable types",
    pg_catalog.pg_get_userbyid(f.opfowner) AS "Owner" FROM pg_catalog.pg_opfamily f
    LEFT JOIN pg_catalog.pg_am am on am.oid = f.opfmethod LEFT
    JOIN pg_catalog.pg_namespace n ON n.oid = f.opfnamespace WHERE am.amname
    OPERATOR(pg_catalog.~) '^(btree)$' COLLATE pg_catalog.default AND EXISTS ( SELECT 1
    FROM pg_catalog.pg_type t JOIN pg_catalog.pg_opclass oc ON oc.opcintype = t.oid
    LEFT JOIN pg_catalog.pg_namespace tn ON tn.oid = t.typnamespace
    WHERE oc.opcfamily = f.oid AND (t.typname OPERATOR(pg_catalog.~) '^(integer)$' COLLATE
    pg_catalog.default OR pg_catalog.format_type(t.oid, NULL) OPERATOR(pg_catalog.~)
    '^(integer)$' COLLATE pg_catalog.default) AND pg_catalog.pg_type_is_visible(t.oid) )
    ORDER BY 1, 2

-- \dAc+ btree integer
SELECT am.amname AS "AM", pg_catalog.format_type(c.opcintype, NULL) AS "Input type", CASE WHEN
    c.opckeytype <> 0 AND c.opckeytype <> c.opcintype THEN pg_catalog.format_type(c.opckeytype,
    NULL) ELSE NULL END AS "Storage type", CASE WHEN pg_catalog.pg_opclass_is_visible(c.oid)
    THEN pg_catalog.format('%I', c.opcname) ELSE pg_catalog.format('%I.%I', n.nspname,
    c.opcname) END AS "Operator class", (CASE WHEN c.opcdefault THEN 'yes' ELSE 'no' END) AS
    "Default?", CASE WHEN pg_catalog.pg_opfamily_is_visible(of.oid) THEN pg_catalog.format('%I',
    of.opfname) ELSE pg_catalog.format('%I.%I', ofn.nspname, of.opfname) END AS
    "Operator family", pg_catalog.pg_get_userbyid(c.opcowner) AS "Owner"
    FROM pg_catalog.pg_opclass c LEFT JOIN pg_catalog.pg_am am on am.oid = c.opcmethod
    LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.opcnamespace
    LEFT JOIN pg_catalog.pg_type t ON t.oid = c.opcintype LEFT
    JOIN pg_catalog.pg_namespace tn ON tn.oid = t.typnamespace
    LEFT JOIN pg_catalog.pg_opfamily of ON of.oid = c.opcfamily
    LEFT JOIN pg_catalog.pg_namespace ofn ON ofn.oid = of.opfnamespace
    WHERE am.amname OPERATOR(pg_catalog.~) '^(btree)$' COLLATE pg_catalog.default AND (t.typname
    OPERATOR(pg_catalog.~) '^(integer)$' COLLATE pg_catalog.default OR
    pg_catalog.format_type(t.oid, NULL) OPERATOR(pg_catalog.~) '^(integer)$' COLLATE
    pg_catalog.default) AND pg_catalog.pg_type_is_visible(t.oid)
    ORDER BY 1, 2, 4
