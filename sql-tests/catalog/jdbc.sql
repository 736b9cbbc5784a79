-- pgjdbc 42.7: DatabaseMetaData and ResultSetMetaData.

-- getBestRowIdentifier
select current_catalog

-- getBestRowIdentifier #2
-- $1 1043: shop
-- $2 1043: order_line
SELECT a.attname, a.atttypid, atttypmod FROM pg_catalog.pg_class ct
    JOIN pg_catalog.pg_attribute a ON (ct.oid = a.attrelid) JOIN pg_catalog.pg_namespace n ON
    (ct.relnamespace = n.oid) JOIN (SELECT i.indexrelid, i.indrelid, i.indisprimary,
    information_schema._pg_expandarray(i.indkey) AS keys FROM pg_catalog.pg_index i) i ON
    (a.attnum = (i.keys).x AND a.attrelid = i.indrelid) WHERE true AND n.nspname = $1 AND
    ct.relname = $2 AND i.indisprimary ORDER BY a.attnum

-- getCatalogs
SELECT datname AS "TABLE_CAT" FROM pg_catalog.pg_database WHERE datallowconn = true
    ORDER BY datname

-- getClientInfoProperties
SELECT t.typlen FROM pg_catalog.pg_type t, pg_catalog.pg_namespace n
    WHERE t.typnamespace=n.oid AND t.typname='name' AND n.nspname='pg_catalog'

-- getColumnPrivileges
-- $1 1043: public
-- $2 1043: orders
-- $3 1043: %
SELECT current_database() AS current_database, n.nspname,c.relname,r.rolname,c.relacl, a.attacl,
    a.attname FROM pg_catalog.pg_namespace n, pg_catalog.pg_class c, pg_catalog.pg_roles r,
    pg_catalog.pg_attribute a WHERE c.relnamespace = n.oid AND c.relowner = r.oid AND c.oid =
    a.attrelid AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped AND n.nspname = $1
    AND c.relname = $2 AND a.attname LIKE $3 ORDER BY attname

-- getColumns
-- $1 1043: public
-- $2 1043: customer
-- $3 1043: %
SELECT * FROM (SELECT current_database() AS current_database,
    n.nspname,c.relname,a.attname,a.atttypid,a.attnotnull OR (t.typtype = 'd' AND t.typnotnull)
    AS attnotnull,a.atttypmod,a.attlen,t.typtypmod,row_number() OVER (PARTITION BY a.attrelid
    ORDER BY a.attnum) AS attnum, nullif(a.attidentity, '') as
    attidentity,nullif(a.attgenerated, '') as attgenerated,pg_catalog.pg_get_expr(def.adbin,
    def.adrelid) AS adsrc,dsc.description,t.typbasetype,t.typtype
    FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_class c ON (c.relnamespace = n.oid)
    JOIN pg_catalog.pg_attribute a ON (a.attrelid=c.oid) JOIN pg_catalog.pg_type t ON
    (a.atttypid = t.oid) LEFT JOIN pg_catalog.pg_attrdef def ON (a.attrelid=def.adrelid AND
    a.attnum = def.adnum) LEFT JOIN pg_catalog.pg_description dsc ON (c.oid=dsc.objoid AND
    a.attnum = dsc.objsubid) LEFT JOIN pg_catalog.pg_class dc ON (dc.oid=dsc.classoid AND
    dc.relname='pg_class') LEFT JOIN pg_catalog.pg_namespace dn ON (dc.relnamespace=dn.oid AND
    dn.nspname='pg_catalog') WHERE c.relkind in ('r','p','v','f','m') and a.attnum > 0 AND NOT
    a.attisdropped AND n.nspname LIKE $1 AND c.relname LIKE $2) c
    WHERE true AND attname LIKE $3 ORDER BY nspname,c.relname,attnum

-- getColumns #2
-- $1 1043: shop
-- $2 1043: %
-- $3 1043: %
SELECT * FROM (SELECT current_database() AS current_database,
    n.nspname,c.relname,a.attname,a.atttypid,a.attnotnull OR (t.typtype = 'd' AND t.typnotnull)
    AS attnotnull,a.atttypmod,a.attlen,t.typtypmod,row_number() OVER (PARTITION BY a.attrelid
    ORDER BY a.attnum) AS attnum, nullif(a.attidentity, '') as
    attidentity,nullif(a.attgenerated, '') as attgenerated,pg_catalog.pg_get_expr(def.adbin,
    def.adrelid) AS adsrc,dsc.description,t.typbasetype,t.typtype
    FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_class c ON (c.relnamespace = n.oid)
    JOIN pg_catalog.pg_attribute a ON (a.attrelid=c.oid) JOIN pg_catalog.pg_type t ON
    (a.atttypid = t.oid) LEFT JOIN pg_catalog.pg_attrdef def ON (a.attrelid=def.adrelid AND
    a.attnum = def.adnum) LEFT JOIN pg_catalog.pg_description dsc ON (c.oid=dsc.objoid AND
    a.attnum = dsc.objsubid) LEFT JOIN pg_catalog.pg_class dc ON (dc.oid=dsc.classoid AND
    dc.relname='pg_class') LEFT JOIN pg_catalog.pg_namespace dn ON (dc.relnamespace=dn.oid AND
    dn.nspname='pg_catalog') WHERE c.relkind in ('r','p','v','f','m') and a.attnum > 0 AND NOT
    a.attisdropped AND n.nspname LIKE $1 AND c.relname LIKE $2) c
    WHERE true AND attname LIKE $3 ORDER BY nspname,c.relname,attnum

-- getColumns #3
-- $1 20: 1186
SELECT typinput='pg_catalog.array_in'::regproc as is_array, typtype, typname, pg_type.oid
    FROM pg_catalog.pg_type LEFT JOIN (select ns.oid as nspoid, ns.nspname, r.r
    from pg_namespace as ns join ( select s.r, (current_schemas(false))[s.r] as nspname
    from generate_series(1, array_upper(current_schemas(false), 1)) as s(r) ) as r using (
    nspname ) ) as sp ON sp.nspoid = typnamespace WHERE pg_type.oid = $1
    ORDER BY sp.r, pg_type.oid DESC

-- getColumns #4
-- $1 23: 1186
SELECT n.nspname = ANY(current_schemas(true)), n.nspname, t.typname
    FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON t.typnamespace = n.oid
    WHERE t.oid = $1

-- getColumns #5
-- $1 20: 3802
SELECT typinput='pg_catalog.array_in'::regproc as is_array, typtype, typname, pg_type.oid
    FROM pg_catalog.pg_type LEFT JOIN (select ns.oid as nspoid, ns.nspname, r.r
    from pg_namespace as ns join ( select s.r, (current_schemas(false))[s.r] as nspname
    from generate_series(1, array_upper(current_schemas(false), 1)) as s(r) ) as r using (
    nspname ) ) as sp ON sp.nspoid = typnamespace WHERE pg_type.oid = $1
    ORDER BY sp.r, pg_type.oid DESC

-- getColumns #6
-- $1 23: 3802
SELECT n.nspname = ANY(current_schemas(true)), n.nspname, t.typname
    FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON t.typnamespace = n.oid
    WHERE t.oid = $1

-- getColumns #7
-- $1 1043: Odd Names
-- $2 1043: %
-- $3 1043: %
SELECT * FROM (SELECT current_database() AS current_database,
    n.nspname,c.relname,a.attname,a.atttypid,a.attnotnull OR (t.typtype = 'd' AND t.typnotnull)
    AS attnotnull,a.atttypmod,a.attlen,t.typtypmod,row_number() OVER (PARTITION BY a.attrelid
    ORDER BY a.attnum) AS attnum, nullif(a.attidentity, '') as
    attidentity,nullif(a.attgenerated, '') as attgenerated,pg_catalog.pg_get_expr(def.adbin,
    def.adrelid) AS adsrc,dsc.description,t.typbasetype,t.typtype
    FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_class c ON (c.relnamespace = n.oid)
    JOIN pg_catalog.pg_attribute a ON (a.attrelid=c.oid) JOIN pg_catalog.pg_type t ON
    (a.atttypid = t.oid) LEFT JOIN pg_catalog.pg_attrdef def ON (a.attrelid=def.adrelid AND
    a.attnum = def.adnum) LEFT JOIN pg_catalog.pg_description dsc ON (c.oid=dsc.objoid AND
    a.attnum = dsc.objsubid) LEFT JOIN pg_catalog.pg_class dc ON (dc.oid=dsc.classoid AND
    dc.relname='pg_class') LEFT JOIN pg_catalog.pg_namespace dn ON (dc.relnamespace=dn.oid AND
    dn.nspname='pg_catalog') WHERE c.relkind in ('r','p','v','f','m') and a.attnum > 0 AND NOT
    a.attisdropped AND n.nspname LIKE $1 AND c.relname LIKE $2) c
    WHERE true AND attname LIKE $3 ORDER BY nspname,c.relname,attnum

-- getColumns #8
-- $1 1043: orders
SELECT * FROM (SELECT current_database() AS current_database,
    n.nspname,c.relname,a.attname,a.atttypid,a.attnotnull OR (t.typtype = 'd' AND t.typnotnull)
    AS attnotnull,a.atttypmod,a.attlen,t.typtypmod,row_number() OVER (PARTITION BY a.attrelid
    ORDER BY a.attnum) AS attnum, nullif(a.attidentity, '') as
    attidentity,nullif(a.attgenerated, '') as attgenerated,pg_catalog.pg_get_expr(def.adbin,
    def.adrelid) AS adsrc,dsc.description,t.typbasetype,t.typtype
    FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_class c ON (c.relnamespace = n.oid)
    JOIN pg_catalog.pg_attribute a ON (a.attrelid=c.oid) JOIN pg_catalog.pg_type t ON
    (a.atttypid = t.oid) LEFT JOIN pg_catalog.pg_attrdef def ON (a.attrelid=def.adrelid AND
    a.attnum = def.adnum) LEFT JOIN pg_catalog.pg_description dsc ON (c.oid=dsc.objoid AND
    a.attnum = dsc.objsubid) LEFT JOIN pg_catalog.pg_class dc ON (dc.oid=dsc.classoid AND
    dc.relname='pg_class') LEFT JOIN pg_catalog.pg_namespace dn ON (dc.relnamespace=dn.oid AND
    dn.nspname='pg_catalog') WHERE c.relkind in ('r','p','v','f','m') and a.attnum > 0 AND NOT
    a.attisdropped AND c.relname LIKE $1) c WHERE true ORDER BY nspname,c.relname,attnum

-- getColumns #9
-- $1 20: 28
SELECT typinput='pg_catalog.array_in'::regproc as is_array, typtype, typname, pg_type.oid
    FROM pg_catalog.pg_type LEFT JOIN (select ns.oid as nspoid, ns.nspname, r.r
    from pg_namespace as ns join ( select s.r, (current_schemas(false))[s.r] as nspname
    from generate_series(1, array_upper(current_schemas(false), 1)) as s(r) ) as r using (
    nspname ) ) as sp ON sp.nspoid = typnamespace WHERE pg_type.oid = $1
    ORDER BY sp.r, pg_type.oid DESC

-- getColumns #10
-- $1 23: 28
SELECT n.nspname = ANY(current_schemas(true)), n.nspname, t.typname
    FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON t.typnamespace = n.oid
    WHERE t.oid = $1

-- getCrossReference
SELECT setting FROM pg_catalog.pg_settings WHERE name='max_index_keys'

-- getCrossReference #2
-- $1 1043: public
-- $2 1043: public
-- $3 1043: customer
-- $4 1043: orders
SELECT current_database() AS "PKTABLE_CAT", pkn.nspname AS "PKTABLE_SCHEM", pkc.relname AS
    "PKTABLE_NAME", pka.attname AS "PKCOLUMN_NAME", current_database() AS "FKTABLE_CAT",
    fkn.nspname AS "FKTABLE_SCHEM", fkc.relname AS "FKTABLE_NAME", fka.attname AS
    "FKCOLUMN_NAME", pos.n AS "KEY_SEQ", CASE con.confupdtype WHEN 'c' THEN 0 WHEN 'n' THEN 2
    WHEN 'd' THEN 4 WHEN 'r' THEN 1 WHEN 'p' THEN 1 WHEN 'a' THEN 3 ELSE NULL END AS
    "UPDATE_RULE", CASE con.confdeltype WHEN 'c' THEN 0 WHEN 'n' THEN 2 WHEN 'd' THEN 4 WHEN 'r'
    THEN 1 WHEN 'p' THEN 1 WHEN 'a' THEN 3 ELSE NULL END AS "DELETE_RULE", con.conname AS
    "FK_NAME", pkic.relname AS "PK_NAME", CASE WHEN con.condeferrable AND con.condeferred THEN 5
    WHEN con.condeferrable THEN 6 ELSE 7 END AS "DEFERRABILITY"
    FROM pg_catalog.pg_namespace pkn, pg_catalog.pg_class pkc, pg_catalog.pg_attribute pka,
    pg_catalog.pg_namespace fkn, pg_catalog.pg_class fkc, pg_catalog.pg_attribute fka,
    pg_catalog.pg_constraint con, pg_catalog.generate_series(1, 32) pos(n), pg_catalog.pg_class
    pkic WHERE pkn.oid = pkc.relnamespace AND pkc.oid = pka.attrelid AND pka.attnum =
    con.confkey[pos.n] AND con.confrelid = pkc.oid AND fkn.oid = fkc.relnamespace AND fkc.oid =
    fka.attrelid AND fka.attnum = con.conkey[pos.n] AND con.conrelid = fkc.oid AND con.contype =
    'f' AND (pkic.relkind = 'i' OR pkic.relkind = 'I') AND pkic.oid = con.conindid AND
    pkn.nspname = $1 AND fkn.nspname = $2 AND pkc.relname = $3 AND fkc.relname = $4
    ORDER BY fkn.nspname,fkc.relname,con.conname,pos.n

-- getDefaultTransactionIsolation
SELECT setting FROM pg_catalog.pg_settings WHERE name='default_transaction_isolation'

-- getExportedKeys
-- $1 1043: public
-- $2 1043: customer
SELECT current_database() AS "PKTABLE_CAT", pkn.nspname AS "PKTABLE_SCHEM", pkc.relname AS
    "PKTABLE_NAME", pka.attname AS "PKCOLUMN_NAME", current_database() AS "FKTABLE_CAT",
    fkn.nspname AS "FKTABLE_SCHEM", fkc.relname AS "FKTABLE_NAME", fka.attname AS
    "FKCOLUMN_NAME", pos.n AS "KEY_SEQ", CASE con.confupdtype WHEN 'c' THEN 0 WHEN 'n' THEN 2
    WHEN 'd' THEN 4 WHEN 'r' THEN 1 WHEN 'p' THEN 1 WHEN 'a' THEN 3 ELSE NULL END AS
    "UPDATE_RULE", CASE con.confdeltype WHEN 'c' THEN 0 WHEN 'n' THEN 2 WHEN 'd' THEN 4 WHEN 'r'
    THEN 1 WHEN 'p' THEN 1 WHEN 'a' THEN 3 ELSE NULL END AS "DELETE_RULE", con.conname AS
    "FK_NAME", pkic.relname AS "PK_NAME", CASE WHEN con.condeferrable AND con.condeferred THEN 5
    WHEN con.condeferrable THEN 6 ELSE 7 END AS "DEFERRABILITY"
    FROM pg_catalog.pg_namespace pkn, pg_catalog.pg_class pkc, pg_catalog.pg_attribute pka,
    pg_catalog.pg_namespace fkn, pg_catalog.pg_class fkc, pg_catalog.pg_attribute fka,
    pg_catalog.pg_constraint con, pg_catalog.generate_series(1, 32) pos(n), pg_catalog.pg_class
    pkic WHERE pkn.oid = pkc.relnamespace AND pkc.oid = pka.attrelid AND pka.attnum =
    con.confkey[pos.n] AND con.confrelid = pkc.oid AND fkn.oid = fkc.relnamespace AND fkc.oid =
    fka.attrelid AND fka.attnum = con.conkey[pos.n] AND con.conrelid = fkc.oid AND con.contype =
    'f' AND (pkic.relkind = 'i' OR pkic.relkind = 'I') AND pkic.oid = con.conindid AND
    pkn.nspname = $1 AND pkc.relname = $2 ORDER BY fkn.nspname,fkc.relname,con.conname,pos.n

-- getFunctionColumns
-- $1 1043: shop
-- $2 1043: %
SELECT current_database() AS current_database, n.nspname,p.proname,p.prorettype,p.proargtypes,
    t.typtype,t.typrelid, p.proargnames, p.proargmodes, p.proallargtypes, p.oid
    FROM pg_catalog.pg_proc p, pg_catalog.pg_namespace n, pg_catalog.pg_type t
    WHERE p.pronamespace=n.oid AND p.prorettype=t.oid AND n.nspname LIKE $1 AND p.proname LIKE
    $2 ORDER BY n.nspname, p.proname, p.oid::text

-- getFunctionColumns #2
-- $1 23: 0
SELECT a.attname,a.atttypid FROM pg_catalog.pg_attribute a WHERE a.attrelid = $1 AND NOT
    a.attisdropped AND a.attnum > 0 ORDER BY a.attnum

-- getFunctionColumns #3
-- $1 1043: public
-- $2 1043: gross
SELECT current_database() AS current_database, n.nspname,p.proname,p.prorettype,p.proargtypes,
    t.typtype,t.typrelid, p.proargnames, p.proargmodes, p.proallargtypes, p.oid
    FROM pg_catalog.pg_proc p, pg_catalog.pg_namespace n, pg_catalog.pg_type t
    WHERE p.pronamespace=n.oid AND p.prorettype=t.oid AND n.nspname LIKE $1 AND p.proname LIKE
    $2 ORDER BY n.nspname, p.proname, p.oid::text

-- getFunctions
-- $1 1043: shop
-- $2 1043: %
SELECT current_database() AS "FUNCTION_CAT", n.nspname AS "FUNCTION_SCHEM", p.proname AS
    "FUNCTION_NAME", d.description AS "REMARKS", CASE WHEN (format_type(p.prorettype, null) =
    'unknown') THEN 0 WHEN (substring(pg_get_function_result(p.oid)
    from 0 for 6) = 'TABLE') OR (substring(pg_get_function_result(p.oid)
    from 0 for 6) = 'SETOF') THEN 2 ELSE 1 END AS "FUNCTION_TYPE", p.proname || '_' || p.oid AS
    "SPECIFIC_NAME" FROM pg_catalog.pg_proc p INNER JOIN pg_catalog.pg_namespace n ON
    p.pronamespace=n.oid LEFT JOIN pg_catalog.pg_description d ON p.oid=d.objoid
    WHERE true AND p.prokind='f' AND n.nspname LIKE $1 AND p.proname LIKE $2
    ORDER BY "FUNCTION_SCHEM", "FUNCTION_NAME", p.oid::text

-- getFunctions #2
-- $1 1043: gross
SELECT current_database() AS "FUNCTION_CAT", n.nspname AS "FUNCTION_SCHEM", p.proname AS
    "FUNCTION_NAME", d.description AS "REMARKS", CASE WHEN (format_type(p.prorettype, null) =
    'unknown') THEN 0 WHEN (substring(pg_get_function_result(p.oid)
    from 0 for 6) = 'TABLE') OR (substring(pg_get_function_result(p.oid)
    from 0 for 6) = 'SETOF') THEN 2 ELSE 1 END AS "FUNCTION_TYPE", p.proname || '_' || p.oid AS
    "SPECIFIC_NAME" FROM pg_catalog.pg_proc p INNER JOIN pg_catalog.pg_namespace n ON
    p.pronamespace=n.oid LEFT JOIN pg_catalog.pg_description d ON p.oid=d.objoid
    WHERE true AND p.prokind='f' AND p.proname LIKE $1 ORDER BY "FUNCTION_SCHEM",
    "FUNCTION_NAME", p.oid::text

-- getImportedKeys
-- $1 1043: public
-- $2 1043: orders
SELECT current_database() AS "PKTABLE_CAT", pkn.nspname AS "PKTABLE_SCHEM", pkc.relname AS
    "PKTABLE_NAME", pka.attname AS "PKCOLUMN_NAME", current_database() AS "FKTABLE_CAT",
    fkn.nspname AS "FKTABLE_SCHEM", fkc.relname AS "FKTABLE_NAME", fka.attname AS
    "FKCOLUMN_NAME", pos.n AS "KEY_SEQ", CASE con.confupdtype WHEN 'c' THEN 0 WHEN 'n' THEN 2
    WHEN 'd' THEN 4 WHEN 'r' THEN 1 WHEN 'p' THEN 1 WHEN 'a' THEN 3 ELSE NULL END AS
    "UPDATE_RULE", CASE con.confdeltype WHEN 'c' THEN 0 WHEN 'n' THEN 2 WHEN 'd' THEN 4 WHEN 'r'
    THEN 1 WHEN 'p' THEN 1 WHEN 'a' THEN 3 ELSE NULL END AS "DELETE_RULE", con.conname AS
    "FK_NAME", pkic.relname AS "PK_NAME", CASE WHEN con.condeferrable AND con.condeferred THEN 5
    WHEN con.condeferrable THEN 6 ELSE 7 END AS "DEFERRABILITY"
    FROM pg_catalog.pg_namespace pkn, pg_catalog.pg_class pkc, pg_catalog.pg_attribute pka,
    pg_catalog.pg_namespace fkn, pg_catalog.pg_class fkc, pg_catalog.pg_attribute fka,
    pg_catalog.pg_constraint con, pg_catalog.generate_series(1, 32) pos(n), pg_catalog.pg_class
    pkic WHERE pkn.oid = pkc.relnamespace AND pkc.oid = pka.attrelid AND pka.attnum =
    con.confkey[pos.n] AND con.confrelid = pkc.oid AND fkn.oid = fkc.relnamespace AND fkc.oid =
    fka.attrelid AND fka.attnum = con.conkey[pos.n] AND con.conrelid = fkc.oid AND con.contype =
    'f' AND (pkic.relkind = 'i' OR pkic.relkind = 'I') AND pkic.oid = con.conindid AND
    fkn.nspname = $1 AND fkc.relname = $2 ORDER BY pkn.nspname,pkc.relname, con.conname,pos.n

-- getIndexInfo
-- $1 1043: public
-- $2 1043: orders
SELECT tmp.TABLE_CAT AS "TABLE_CAT", tmp.TABLE_SCHEM AS "TABLE_SCHEM", tmp.TABLE_NAME AS
    "TABLE_NAME", tmp.NON_UNIQUE AS "NON_UNIQUE", tmp.INDEX_QUALIFIER AS "INDEX_QUALIFIER",
    tmp.INDEX_NAME AS "INDEX_NAME", tmp.TYPE AS "TYPE", tmp.ORDINAL_POSITION AS
    "ORDINAL_POSITION", trim(both '"' from pg_catalog.pg_get_indexdef(tmp.CI_OID,
    tmp.ORDINAL_POSITION, false)) AS "COLUMN_NAME", CASE tmp.AM_NAME WHEN 'btree' THEN CASE
    tmp.I_INDOPTION[tmp.ORDINAL_POSITION - 1] & 1::smallint WHEN 1 THEN 'D' ELSE 'A' END ELSE
    NULL END AS "ASC_OR_DESC", tmp.CARDINALITY AS "CARDINALITY", tmp.PAGES AS "PAGES",
    tmp.FILTER_CONDITION AS "FILTER_CONDITION", tmp.REMARKS AS "REMARKS"FROM (SELECT
    current_database() AS TABLE_CAT, n.nspname AS TABLE_SCHEM, ct.relname AS TABLE_NAME, NOT
    i.indisunique AS NON_UNIQUE, NULL AS INDEX_QUALIFIER, ci.relname AS INDEX_NAME, CASE
    i.indisclustered WHEN true THEN 1 ELSE CASE am.amname WHEN 'hash' THEN 2 ELSE 3 END END AS
    TYPE, (information_schema._pg_expandarray(i.indkey)).n AS ORDINAL_POSITION, ci.reltuples AS
    CARDINALITY, ci.relpages AS PAGES, pg_catalog.pg_get_expr(i.indpred, i.indrelid) AS
    FILTER_CONDITION, ci.oid AS CI_OID, i.indoption AS I_INDOPTION, am.amname AS AM_NAME,
    d.description AS REMARKS FROM pg_catalog.pg_class ct JOIN pg_catalog.pg_namespace n ON
    (ct.relnamespace = n.oid) JOIN pg_catalog.pg_index i ON (ct.oid = i.indrelid)
    JOIN pg_catalog.pg_class ci ON (ci.oid = i.indexrelid) JOIN pg_catalog.pg_am am ON (ci.relam
    = am.oid) LEFT JOIN pg_catalog.pg_description d ON (ci.oid = d.objoid)
    WHERE true AND n.nspname = $1 AND ct.relname = $2) AS tmp
    ORDER BY "NON_UNIQUE", "TYPE", "INDEX_NAME", "ORDINAL_POSITION"

-- getIndexInfo #2
-- $1 1043: public
-- $2 1043: customer
SELECT tmp.TABLE_CAT AS "TABLE_CAT", tmp.TABLE_SCHEM AS "TABLE_SCHEM", tmp.TABLE_NAME AS
    "TABLE_NAME", tmp.NON_UNIQUE AS "NON_UNIQUE", tmp.INDEX_QUALIFIER AS "INDEX_QUALIFIER",
    tmp.INDEX_NAME AS "INDEX_NAME", tmp.TYPE AS "TYPE", tmp.ORDINAL_POSITION AS
    "ORDINAL_POSITION", trim(both '"' from pg_catalog.pg_get_indexdef(tmp.CI_OID,
    tmp.ORDINAL_POSITION, false)) AS "COLUMN_NAME", CASE tmp.AM_NAME WHEN 'btree' THEN CASE
    tmp.I_INDOPTION[tmp.ORDINAL_POSITION - 1] & 1::smallint WHEN 1 THEN 'D' ELSE 'A' END ELSE
    NULL END AS "ASC_OR_DESC", tmp.CARDINALITY AS "CARDINALITY", tmp.PAGES AS "PAGES",
    tmp.FILTER_CONDITION AS "FILTER_CONDITION", tmp.REMARKS AS "REMARKS"FROM (SELECT
    current_database() AS TABLE_CAT, n.nspname AS TABLE_SCHEM, ct.relname AS TABLE_NAME, NOT
    i.indisunique AS NON_UNIQUE, NULL AS INDEX_QUALIFIER, ci.relname AS INDEX_NAME, CASE
    i.indisclustered WHEN true THEN 1 ELSE CASE am.amname WHEN 'hash' THEN 2 ELSE 3 END END AS
    TYPE, (information_schema._pg_expandarray(i.indkey)).n AS ORDINAL_POSITION, ci.reltuples AS
    CARDINALITY, ci.relpages AS PAGES, pg_catalog.pg_get_expr(i.indpred, i.indrelid) AS
    FILTER_CONDITION, ci.oid AS CI_OID, i.indoption AS I_INDOPTION, am.amname AS AM_NAME,
    d.description AS REMARKS FROM pg_catalog.pg_class ct JOIN pg_catalog.pg_namespace n ON
    (ct.relnamespace = n.oid) JOIN pg_catalog.pg_index i ON (ct.oid = i.indrelid)
    JOIN pg_catalog.pg_class ci ON (ci.oid = i.indexrelid) JOIN pg_catalog.pg_am am ON (ci.relam
    = am.oid) LEFT JOIN pg_catalog.pg_description d ON (ci.oid = d.objoid)
    WHERE true AND n.nspname = $1 AND ct.relname = $2 AND i.indisunique ) AS tmp
    ORDER BY "NON_UNIQUE", "TYPE", "INDEX_NAME", "ORDINAL_POSITION"

-- getPrimaryKeys
-- $1 1043: shop
-- $2 1043: order_line
SELECT result.TABLE_CAT AS "TABLE_CAT", result.TABLE_SCHEM AS "TABLE_SCHEM", result.TABLE_NAME
    AS "TABLE_NAME", result.COLUMN_NAME AS "COLUMN_NAME", result.KEY_SEQ AS "KEY_SEQ",
    result.PK_NAME AS "PK_NAME"FROM (SELECT current_database() AS TABLE_CAT, n.nspname AS
    TABLE_SCHEM, ct.relname AS TABLE_NAME, a.attname AS COLUMN_NAME,
    (information_schema._pg_expandarray(i.indkey)).n AS KEY_SEQ, ci.relname AS PK_NAME,
    information_schema._pg_expandarray(i.indkey) AS KEYS, a.attnum AS A_ATTNUM, i.indnkeyatts as
    KEY_COUNT FROM pg_catalog.pg_class ct JOIN pg_catalog.pg_attribute a ON (ct.oid =
    a.attrelid) JOIN pg_catalog.pg_namespace n ON (ct.relnamespace = n.oid)
    JOIN pg_catalog.pg_index i ON ( a.attrelid = i.indrelid) JOIN pg_catalog.pg_class ci ON
    (ci.oid = i.indexrelid) WHERE true AND n.nspname = $1 AND ct.relname = $2 AND i.indisprimary
    ) result where result.A_ATTNUM = (result.KEYS).x AND result.KEY_SEQ <= KEY_COUNT
    ORDER BY result.table_name, result.pk_name, result.key_seq

-- getPrimaryKeys #2
-- $1 1043: customer
SELECT result.TABLE_CAT AS "TABLE_CAT", result.TABLE_SCHEM AS "TABLE_SCHEM", result.TABLE_NAME
    AS "TABLE_NAME", result.COLUMN_NAME AS "COLUMN_NAME", result.KEY_SEQ AS "KEY_SEQ",
    result.PK_NAME AS "PK_NAME"FROM (SELECT current_database() AS TABLE_CAT, n.nspname AS
    TABLE_SCHEM, ct.relname AS TABLE_NAME, a.attname AS COLUMN_NAME,
    (information_schema._pg_expandarray(i.indkey)).n AS KEY_SEQ, ci.relname AS PK_NAME,
    information_schema._pg_expandarray(i.indkey) AS KEYS, a.attnum AS A_ATTNUM, i.indnkeyatts as
    KEY_COUNT FROM pg_catalog.pg_class ct JOIN pg_catalog.pg_attribute a ON (ct.oid =
    a.attrelid) JOIN pg_catalog.pg_namespace n ON (ct.relnamespace = n.oid)
    JOIN pg_catalog.pg_index i ON ( a.attrelid = i.indrelid) JOIN pg_catalog.pg_class ci ON
    (ci.oid = i.indexrelid) WHERE true AND ct.relname = $1 AND i.indisprimary ) result
    where result.A_ATTNUM = (result.KEYS).x AND result.KEY_SEQ <= KEY_COUNT
    ORDER BY result.table_name, result.pk_name, result.key_seq

-- getProcedureColumns
-- $1 1043: public
-- $2 1043: %
SELECT current_database() AS current_database, n.nspname,p.proname,p.prorettype,p.proargtypes,
    t.typtype,t.typrelid, p.proargnames, p.proargmodes, p.proallargtypes, p.oid
    FROM pg_catalog.pg_proc p, pg_catalog.pg_namespace n, pg_catalog.pg_type t
    WHERE p.pronamespace=n.oid AND p.prorettype=t.oid AND n.nspname LIKE $1 AND p.proname LIKE
    $2 ORDER BY n.nspname, p.proname, p.oid::text

-- getProcedures
-- $1 1043: public
-- $2 1043: %
SELECT current_database() AS "PROCEDURE_CAT", n.nspname AS "PROCEDURE_SCHEM", p.proname AS
    "PROCEDURE_NAME", NULL, NULL, NULL, d.description AS "REMARKS", 2 AS "PROCEDURE_TYPE",
    p.proname || '_' || p.oid AS "SPECIFIC_NAME" FROM pg_catalog.pg_namespace n,
    pg_catalog.pg_proc p LEFT JOIN pg_catalog.pg_description d ON (p.oid=d.objoid)
    LEFT JOIN pg_catalog.pg_class c ON (d.classoid=c.oid AND c.relname='pg_proc')
    LEFT JOIN pg_catalog.pg_namespace pn ON (c.relnamespace=pn.oid AND pn.nspname='pg_catalog')
    WHERE p.pronamespace=n.oid AND p.prokind='p' AND n.nspname LIKE $1 AND p.proname LIKE $2
    ORDER BY "PROCEDURE_SCHEM", "PROCEDURE_NAME", p.oid::text

-- getSQLKeywords
select string_agg(word, ',') from pg_catalog.pg_get_keywords()
    where word <> ALL
    ('{a,abs,absolute,action,ada,add,admin,after,all,allocate,alter,always,and,any,are,array,as,asc,asensitive,assertion,assignment,asymmetric,at,atomic,attribute,attributes,authorization,avg,before,begin,bernoulli,between,bigint,binary,blob,boolean,both,breadth,by,c,call,called,cardinality,cascade,cascaded,case,cast,catalog,catalog_name,ceil,ceiling,chain,char,char_length,character,character_length,character_set_catalog,character_set_name,character_set_schema,characteristics,characters,check,checked,class_origin,clob,close,coalesce,cobol,code_units,collate,collation,collation_catalog,collation_name,collation_schema,collect,column,column_name,command_function,command_function_code,commit,committed,condition,condition_number,connect,connection_name,constraint,constraint_catalog,constraint_name,constraint_schema,constraints,constructors,contains,continue,convert,corr,corresponding,count,covar_pop,covar_samp,create,cross,cube,cume_dist,current,current_collation,current_date,current_default_transform_group,current_path,current_role,current_time,current_timestamp,current_transform_group_for_type,current_user,cursor,cursor_name,cycle,data,date,datetime_interval_code,datetime_interval_precision,day,deallocate,dec,decimal,declare,default,defaults,deferrable,deferred,defined,definer,degree,delete,dense_rank,depth,deref,derived,desc,describe,descriptor,deterministic,diagnostics,disconnect,dispatch,distinct,domain,double,drop,dynamic,dynamic_function,dynamic_function_code,each,element,else,end,end-exec,equals,escape,every,except,exception,exclude,excluding,exec,execute,exists,exp,external,extract,false,fetch,filter,final,first,float,floor,following,for,foreign,fortran,found,free,from,full,function,fusion,g,general,get,global,go,goto,grant,granted,group,grouping,having,hierarchy,hold,hour,identity,immediate,implementation,in,including,increment,indicator,initially,inner,inout,input,insensitive,insert,instance,instantiable,int,integer,intersect,intersection,interval,into,invoker,is,isolation,join,k,key,key_member,key_type,language,large,last,lateral,leading,left,length,level,like,ln,local,localtime,localtimestamp,locator,lower,m,map,match,matched,max,maxvalue,member,merge,message_length,message_octet_length,message_text,method,min,minute,minvalue,mod,modifies,module,month,more,multiset,mumps,name,names,national,natural,nchar,nclob,nesting,new,next,no,none,normalize,normalized,not,"null",nullable,nullif,nulls,number,numeric,object,octet_length,octets,of,old,on,only,open,option,options,or,order,ordering,ordinality,others,out,outer,output,over,overlaps,overlay,overriding,pad,parameter,parameter_mode,parameter_name,parameter_ordinal_position,parameter_specific_catalog,parameter_specific_name,parameter_specific_schema,partial,partition,pascal,path,percent_rank,percentile_cont,percentile_disc,placing,pli,position,power,preceding,precision,prepare,preserve,primary,prior,privileges,procedure,public,range,rank,read,reads,real,recursive,ref,references,referencing,regr_avgx,regr_avgy,regr_count,regr_intercept,regr_r2,regr_slope,regr_sxx,regr_sxy,regr_syy,relative,release,repeatable,restart,result,return,returned_cardinality,returned_length,returned_octet_length,returned_sqlstate,returns,revoke,right,role,rollback,rollup,routine,routine_catalog,routine_name,routine_schema,row,row_count,row_number,rows,savepoint,scale,schema,schema_name,scope_catalog,scope_name,scope_schema,scroll,search,second,section,security,select,self,sensitive,sequence,serializable,server_name,session,session_user,set,sets,similar,simple,size,smallint,some,source,space,specific,specific_name,specifictype,sql,sqlexception,sqlstate,sqlwarning,sqrt,start,state,statement,static,stddev_pop,stddev_samp,structure,style,subclass_origin,submultiset,substring,sum,symmetric,system,system_user,table,table_name,tablesample,temporary,then,ties,time,timestamp,timezone_hour,timezone_minute,to,top_level_count,trailing,transaction,transaction_active,transactions_committed,transactions_rolled_back,transform,transforms,translate,translation,treat,trigger,trigger_catalog,trigger_name,trigger_schema,trim,true,type,uescape,unbounded,uncommitted,under,union,unique,unknown,unnamed,unnest,update,upper,usage,user,user_defined_type_catalog,user_defined_type_code,user_defined_type_name,user_defined_type_schema,using,value,values,var_pop,var_samp,varchar,varying,view,when,whenever,where,width_bucket,window,with,within,without,work,write,year,zone}'::text[])

-- getSchemas
SELECT nspname AS "TABLE_SCHEM", current_database() AS "TABLE_CATALOG"
    FROM pg_catalog.pg_namespace WHERE nspname <> 'pg_toast' AND (nspname !~ '^pg_temp_' OR
    nspname = (pg_catalog.current_schemas(true))[1]) AND (nspname !~ '^pg_toast_temp_' OR
    nspname = replace((pg_catalog.current_schemas(true))[1], 'pg_temp_', 'pg_toast_temp_'))
    ORDER BY "TABLE_SCHEM"

-- getSchemas #2
-- $1 1043: sh%
SELECT nspname AS "TABLE_SCHEM", current_database() AS "TABLE_CATALOG"
    FROM pg_catalog.pg_namespace WHERE nspname <> 'pg_toast' AND (nspname !~ '^pg_temp_' OR
    nspname = (pg_catalog.current_schemas(true))[1]) AND (nspname !~ '^pg_toast_temp_' OR
    nspname = replace((pg_catalog.current_schemas(true))[1], 'pg_temp_', 'pg_toast_temp_')) AND
    nspname LIKE $1 ORDER BY "TABLE_SCHEM"

-- getTablePrivileges
-- $1 1043: public
-- $2 1043: %
SELECT current_database() AS current_database, n.nspname,c.relname,r.rolname,c.relacl
    FROM pg_catalog.pg_namespace n, pg_catalog.pg_class c, pg_catalog.pg_roles r
    WHERE c.relnamespace = n.oid AND c.relowner = r.oid AND c.relkind IN ('r','p','v','m','f')
    AND n.nspname LIKE $1 AND c.relname LIKE $2 ORDER BY nspname, relname

-- getTables
-- $1 1043: %
SELECT current_database() AS "TABLE_CAT", n.nspname AS "TABLE_SCHEM", c.relname AS "TABLE_NAME",
    CASE n.nspname ~ '^pg_' OR n.nspname = 'information_schema' WHEN true THEN CASE WHEN
    n.nspname = 'pg_catalog' OR n.nspname = 'information_schema' THEN CASE c.relkind WHEN 'r'
    THEN 'SYSTEM TABLE' WHEN 'v' THEN 'SYSTEM VIEW' WHEN 'i' THEN 'SYSTEM INDEX' ELSE NULL END
    WHEN n.nspname = 'pg_toast' THEN CASE c.relkind WHEN 'r' THEN 'SYSTEM TOAST TABLE' WHEN 'i'
    THEN 'SYSTEM TOAST INDEX' ELSE NULL END ELSE CASE c.relkind WHEN 'r' THEN 'TEMPORARY TABLE'
    WHEN 'p' THEN 'TEMPORARY TABLE' WHEN 'i' THEN 'TEMPORARY INDEX' WHEN 'S' THEN
    'TEMPORARY SEQUENCE' WHEN 'v' THEN 'TEMPORARY VIEW' ELSE NULL END END WHEN false THEN CASE
    c.relkind WHEN 'r' THEN 'TABLE' WHEN 'p' THEN 'PARTITIONED TABLE' WHEN 'i' THEN 'INDEX' WHEN
    'P' then 'PARTITIONED INDEX' WHEN 'S' THEN 'SEQUENCE' WHEN 'v' THEN 'VIEW' WHEN 'c' THEN
    'TYPE' WHEN 'f' THEN 'FOREIGN TABLE' WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE NULL END ELSE
    NULL END AS "TABLE_TYPE", d.description AS "REMARKS", '' as "TYPE_CAT", '' as "TYPE_SCHEM",
    '' as "TYPE_NAME", '' AS "SELF_REFERENCING_COL_NAME", '' AS "REF_GENERATION"
    FROM pg_catalog.pg_namespace n, pg_catalog.pg_class c LEFT
    JOIN pg_catalog.pg_description d ON (c.oid = d.objoid AND d.objsubid = 0 and d.classoid =
    'pg_class'::regclass) WHERE c.relnamespace = n.oid AND c.relname LIKE $1
    ORDER BY "TABLE_TYPE","TABLE_SCHEM","TABLE_NAME"

-- getTables #2
-- $1 1043: public
-- $2 1043: %
SELECT current_database() AS "TABLE_CAT", n.nspname AS "TABLE_SCHEM", c.relname AS "TABLE_NAME",
    CASE n.nspname ~ '^pg_' OR n.nspname = 'information_schema' WHEN true THEN CASE WHEN
    n.nspname = 'pg_catalog' OR n.nspname = 'information_schema' THEN CASE c.relkind WHEN 'r'
    THEN 'SYSTEM TABLE' WHEN 'v' THEN 'SYSTEM VIEW' WHEN 'i' THEN 'SYSTEM INDEX' ELSE NULL END
    WHEN n.nspname = 'pg_toast' THEN CASE c.relkind WHEN 'r' THEN 'SYSTEM TOAST TABLE' WHEN 'i'
    THEN 'SYSTEM TOAST INDEX' ELSE NULL END ELSE CASE c.relkind WHEN 'r' THEN 'TEMPORARY TABLE'
    WHEN 'p' THEN 'TEMPORARY TABLE' WHEN 'i' THEN 'TEMPORARY INDEX' WHEN 'S' THEN
    'TEMPORARY SEQUENCE' WHEN 'v' THEN 'TEMPORARY VIEW' ELSE NULL END END WHEN false THEN CASE
    c.relkind WHEN 'r' THEN 'TABLE' WHEN 'p' THEN 'PARTITIONED TABLE' WHEN 'i' THEN 'INDEX' WHEN
    'P' then 'PARTITIONED INDEX' WHEN 'S' THEN 'SEQUENCE' WHEN 'v' THEN 'VIEW' WHEN 'c' THEN
    'TYPE' WHEN 'f' THEN 'FOREIGN TABLE' WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE NULL END ELSE
    NULL END AS "TABLE_TYPE", d.description AS "REMARKS", '' as "TYPE_CAT", '' as "TYPE_SCHEM",
    '' as "TYPE_NAME", '' AS "SELF_REFERENCING_COL_NAME", '' AS "REF_GENERATION"
    FROM pg_catalog.pg_namespace n, pg_catalog.pg_class c LEFT
    JOIN pg_catalog.pg_description d ON (c.oid = d.objoid AND d.objsubid = 0 and d.classoid =
    'pg_class'::regclass) WHERE c.relnamespace = n.oid AND n.nspname LIKE $1 AND c.relname LIKE
    $2 AND (false OR ( c.relkind = 'r' AND n.nspname !~ '^pg_' AND n.nspname <>
    'information_schema' ) OR ( c.relkind = 'v' AND n.nspname <> 'pg_catalog' AND n.nspname <>
    'information_schema' ) OR ( c.relkind = 'm' ) ) ORDER BY
    "TABLE_TYPE","TABLE_SCHEM","TABLE_NAME"

-- getTables #3
-- $1 1043: shop
-- $2 1043: order%
SELECT current_database() AS "TABLE_CAT", n.nspname AS "TABLE_SCHEM", c.relname AS "TABLE_NAME",
    CASE n.nspname ~ '^pg_' OR n.nspname = 'information_schema' WHEN true THEN CASE WHEN
    n.nspname = 'pg_catalog' OR n.nspname = 'information_schema' THEN CASE c.relkind WHEN 'r'
    THEN 'SYSTEM TABLE' WHEN 'v' THEN 'SYSTEM VIEW' WHEN 'i' THEN 'SYSTEM INDEX' ELSE NULL END
    WHEN n.nspname = 'pg_toast' THEN CASE c.relkind WHEN 'r' THEN 'SYSTEM TOAST TABLE' WHEN 'i'
    THEN 'SYSTEM TOAST INDEX' ELSE NULL END ELSE CASE c.relkind WHEN 'r' THEN 'TEMPORARY TABLE'
    WHEN 'p' THEN 'TEMPORARY TABLE' WHEN 'i' THEN 'TEMPORARY INDEX' WHEN 'S' THEN
    'TEMPORARY SEQUENCE' WHEN 'v' THEN 'TEMPORARY VIEW' ELSE NULL END END WHEN false THEN CASE
    c.relkind WHEN 'r' THEN 'TABLE' WHEN 'p' THEN 'PARTITIONED TABLE' WHEN 'i' THEN 'INDEX' WHEN
    'P' then 'PARTITIONED INDEX' WHEN 'S' THEN 'SEQUENCE' WHEN 'v' THEN 'VIEW' WHEN 'c' THEN
    'TYPE' WHEN 'f' THEN 'FOREIGN TABLE' WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE NULL END ELSE
    NULL END AS "TABLE_TYPE", d.description AS "REMARKS", '' as "TYPE_CAT", '' as "TYPE_SCHEM",
    '' as "TYPE_NAME", '' AS "SELF_REFERENCING_COL_NAME", '' AS "REF_GENERATION"
    FROM pg_catalog.pg_namespace n, pg_catalog.pg_class c LEFT
    JOIN pg_catalog.pg_description d ON (c.oid = d.objoid AND d.objsubid = 0 and d.classoid =
    'pg_class'::regclass) WHERE c.relnamespace = n.oid AND n.nspname LIKE $1 AND c.relname LIKE
    $2 AND (false OR ( c.relkind = 'r' AND n.nspname !~ '^pg_' AND n.nspname <>
    'information_schema' ) ) ORDER BY "TABLE_TYPE","TABLE_SCHEM","TABLE_NAME"

-- getTables #4
-- $1 1043: pg_catalog
-- $2 1043: pg_cl%
SELECT current_database() AS "TABLE_CAT", n.nspname AS "TABLE_SCHEM", c.relname AS "TABLE_NAME",
    CASE n.nspname ~ '^pg_' OR n.nspname = 'information_schema' WHEN true THEN CASE WHEN
    n.nspname = 'pg_catalog' OR n.nspname = 'information_schema' THEN CASE c.relkind WHEN 'r'
    THEN 'SYSTEM TABLE' WHEN 'v' THEN 'SYSTEM VIEW' WHEN 'i' THEN 'SYSTEM INDEX' ELSE NULL END
    WHEN n.nspname = 'pg_toast' THEN CASE c.relkind WHEN 'r' THEN 'SYSTEM TOAST TABLE' WHEN 'i'
    THEN 'SYSTEM TOAST INDEX' ELSE NULL END ELSE CASE c.relkind WHEN 'r' THEN 'TEMPORARY TABLE'
    WHEN 'p' THEN 'TEMPORARY TABLE' WHEN 'i' THEN 'TEMPORARY INDEX' WHEN 'S' THEN
    'TEMPORARY SEQUENCE' WHEN 'v' THEN 'TEMPORARY VIEW' ELSE NULL END END WHEN false THEN CASE
    c.relkind WHEN 'r' THEN 'TABLE' WHEN 'p' THEN 'PARTITIONED TABLE' WHEN 'i' THEN 'INDEX' WHEN
    'P' then 'PARTITIONED INDEX' WHEN 'S' THEN 'SEQUENCE' WHEN 'v' THEN 'VIEW' WHEN 'c' THEN
    'TYPE' WHEN 'f' THEN 'FOREIGN TABLE' WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE NULL END ELSE
    NULL END AS "TABLE_TYPE", d.description AS "REMARKS", '' as "TYPE_CAT", '' as "TYPE_SCHEM",
    '' as "TYPE_NAME", '' AS "SELF_REFERENCING_COL_NAME", '' AS "REF_GENERATION"
    FROM pg_catalog.pg_namespace n, pg_catalog.pg_class c LEFT
    JOIN pg_catalog.pg_description d ON (c.oid = d.objoid AND d.objsubid = 0 and d.classoid =
    'pg_class'::regclass) WHERE c.relnamespace = n.oid AND n.nspname LIKE $1 AND c.relname LIKE
    $2 ORDER BY "TABLE_TYPE","TABLE_SCHEM","TABLE_NAME"

-- getTypeInfo
SELECT t.typname,t.oid FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON
    (t.typnamespace = n.oid) WHERE n.nspname != 'pg_toast' AND (t.typrelid = 0 OR (SELECT
    c.relkind = 'c' FROM pg_catalog.pg_class c WHERE c.oid = t.typrelid))

-- getTypeInfo #2
SELECT typinput='pg_catalog.array_in'::regproc as is_array, typtype, typname, pg_type.oid
    FROM pg_catalog.pg_type LEFT JOIN (select ns.oid as nspoid, ns.nspname, r.r
    from pg_namespace as ns join ( select s.r, (current_schemas(false))[s.r] as nspname
    from generate_series(1, array_upper(current_schemas(false), 1)) as s(r) ) as r using (
    nspname ) ) as sp ON sp.nspoid = typnamespace ORDER BY sp.r, pg_type.oid DESC

-- resultSetMetaData
SELECT c.oid, a.attnum, a.attname, c.relname, n.nspname, a.attnotnull OR (t.typtype = 'd' AND
    t.typnotnull), a.attidentity != '' OR pg_catalog.pg_get_expr(d.adbin, d.adrelid) LIKE
    '%nextval(%' FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON (c.relnamespace =
    n.oid) JOIN pg_catalog.pg_attribute a ON (c.oid = a.attrelid)
    JOIN pg_catalog.pg_type t ON (a.atttypid = t.oid) LEFT JOIN pg_catalog.pg_attrdef d ON
    (d.adrelid = a.attrelid AND d.adnum = a.attnum) JOIN (SELECT @{customer} AS oid , 1 AS
    attnum UNION ALL SELECT @{customer}, 2 UNION ALL SELECT @{customer}, 6) vals ON (c.oid =
    vals.oid AND a.attnum = vals.attnum) where c.oid in (@{customer})

-- types
SELECT c.oid, a.attnum, a.attname, c.relname, n.nspname, a.attnotnull OR (t.typtype = 'd' AND
    t.typnotnull), a.attidentity != '' OR pg_catalog.pg_get_expr(d.adbin, d.adrelid) LIKE
    '%nextval(%' FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON (c.relnamespace =
    n.oid) JOIN pg_catalog.pg_attribute a ON (c.oid = a.attrelid)
    JOIN pg_catalog.pg_type t ON (a.atttypid = t.oid) LEFT JOIN pg_catalog.pg_attrdef d ON
    (d.adrelid = a.attrelid AND d.adnum = a.attnum) JOIN (SELECT @{shop.every_type} AS oid , 1
    AS attnum UNION ALL SELECT @{shop.every_type}, 2 UNION ALL SELECT @{shop.every_type}, 3
    UNION ALL SELECT @{shop.every_type}, 4 UNION ALL SELECT @{shop.every_type}, 5
    UNION ALL SELECT @{shop.every_type}, 6 UNION ALL SELECT @{shop.every_type}, 7
    UNION ALL SELECT @{shop.every_type}, 8 UNION ALL SELECT @{shop.every_type}, 9
    UNION ALL SELECT @{shop.every_type}, 10 UNION ALL SELECT @{shop.every_type}, 11
    UNION ALL SELECT @{shop.every_type}, 12 UNION ALL SELECT @{shop.every_type}, 13
    UNION ALL SELECT @{shop.every_type}, 14 UNION ALL SELECT @{shop.every_type}, 15
    UNION ALL SELECT @{shop.every_type}, 16 UNION ALL SELECT @{shop.every_type}, 17
    UNION ALL SELECT @{shop.every_type}, 18 UNION ALL SELECT @{shop.every_type}, 19
    UNION ALL SELECT @{shop.every_type}, 20 UNION ALL SELECT @{shop.every_type}, 21
    UNION ALL SELECT @{shop.every_type}, 22 UNION ALL SELECT @{shop.every_type}, 23
    UNION ALL SELECT @{shop.every_type}, 24 UNION ALL SELECT @{shop.every_type}, 25
    UNION ALL SELECT @{shop.every_type}, 26 UNION ALL SELECT @{shop.every_type}, 27) vals ON
    (c.oid = vals.oid AND a.attnum = vals.attnum) where c.oid in (@{shop.every_type})

-- types #2
-- $1 1043: customer
-- $2 1043: public
-- $3 16: FALSE
SELECT t.typarray, arr.typname FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON
    t.typnamespace = n.oid JOIN pg_catalog.pg_type arr ON arr.oid = t.typarray
    WHERE t.typname = $1 AND (n.nspname = $2 OR $3 AND n.nspname = ANY (current_schemas(true)))
    ORDER BY t.oid DESC LIMIT 1

-- types #3
-- $1 23: @{customer[]::regtype}
SELECT e.typdelim FROM pg_catalog.pg_type t, pg_catalog.pg_type e
    WHERE t.oid = $1 and t.typelem = e.oid

-- types #4
select current_schema()
