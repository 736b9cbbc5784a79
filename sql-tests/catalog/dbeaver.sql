-- DBeaver 24: its navigator. From its documentation and issues.

-- session
SELECT current_schema(), session_user

-- schemas
SELECT n.oid, n.*, d.description FROM pg_catalog.pg_namespace n
    LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = n.oid AND d.objsubid = 0 AND d.classoid = 'pg_namespace'::regclass
    WHERE n.nspname IN ('public', 'shop', 'Odd Names') ORDER BY nspname

-- databases
SELECT db.oid, db.datname, db.datdba, db.encoding, db.datistemplate, db.datallowconn, db.datconnlimit, db.datacl
    FROM pg_catalog.pg_database db WHERE NOT datistemplate AND datallowconn ORDER BY db.datname

-- one setting
SELECT reset_val FROM pg_settings WHERE name = 'standard_conforming_strings'

-- keywords
SELECT string_agg(word, ',') FROM pg_catalog.pg_get_keywords() WHERE catcode = 'R'

-- enums there are
SELECT * FROM pg_catalog.pg_enum WHERE 1 <> 1 LIMIT 1

-- types
SELECT t.oid, t.*, c.relkind, format_type(nullif(t.typbasetype, 0), t.typtypmod) AS base_type_name, d.description
    FROM pg_catalog.pg_type t LEFT OUTER JOIN pg_catalog.pg_type et ON et.oid = t.typelem
    LEFT OUTER JOIN pg_catalog.pg_class c ON c.oid = t.typrelid
    LEFT OUTER JOIN pg_catalog.pg_description d ON t.oid = d.objoid
    WHERE t.typname IS NOT NULL AND (c.relkind IS NULL OR c.relkind = 'c') AND (et.typcategory IS NULL OR et.typcategory <> 'C')

-- tables
SELECT c.oid, c.relname, c.relnamespace, c.reltype, c.reloftype, c.relowner, c.relam, c.reltablespace, c.relhasindex, c.relisshared, c.relpersistence,
    c.relkind, c.relnatts, c.relchecks, c.relhasrules, c.relhastriggers, c.relhassubclass, c.relrowsecurity, c.relispopulated, c.relispartition, c.relacl,
    c.reloptions, d.description,
    CASE WHEN c.relpartbound IS NOT NULL THEN pg_get_expr(c.relpartbound, c.oid) ELSE NULL END AS partition_expr,
    CASE WHEN c.relkind = 'p' THEN pg_get_partkeydef(c.oid) ELSE NULL END AS partition_key
    FROM pg_catalog.pg_class c
    LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_class'::regclass
    WHERE c.relnamespace = '@{public::regnamespace}' AND c.relkind NOT IN ('i', 'I', 'c')

-- columns
SELECT c.relname, a.*, pg_catalog.pg_get_expr(ad.adbin, ad.adrelid, true) AS def_value, dsc.description, dep.objid
    FROM pg_catalog.pg_attribute a INNER JOIN pg_catalog.pg_class c ON (a.attrelid = c.oid)
    LEFT OUTER JOIN pg_catalog.pg_attrdef ad ON (a.attrelid = ad.adrelid AND a.attnum = ad.adnum)
    LEFT OUTER JOIN pg_catalog.pg_description dsc ON (c.oid = dsc.objoid AND a.attnum = dsc.objsubid)
    LEFT OUTER JOIN pg_depend dep ON dep.refobjid = a.attrelid AND dep.deptype = 'i' AND dep.refobjsubid = a.attnum AND dep.classid = dep.refclassid
    WHERE NOT a.attisdropped AND c.relkind NOT IN ('i', 'I', 'c') AND c.oid = @{orders} ORDER BY a.attnum

-- constraints
SELECT c.oid, c.*, t.relname AS tabrelname, rt.relnamespace AS refnamespace, d.description,
    CASE WHEN c.contype = 'c' THEN "substring"(pg_get_constraintdef(c.oid), 7) ELSE NULL END consrc_copy
    FROM pg_catalog.pg_constraint c INNER JOIN pg_catalog.pg_class t ON t.oid = c.conrelid
    LEFT OUTER JOIN pg_catalog.pg_class rt ON rt.oid = c.confrelid
    LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_constraint'::regclass
    WHERE t.relnamespace = @{public::regnamespace} ORDER BY c.oid

-- indexes
SELECT i.*, i.indkey AS keys, c.relname, c.relnamespace, c.relam, c.reltablespace, tc.relname AS tabrelname, dsc.description,
    pg_catalog.pg_get_expr(i.indpred, i.indrelid) AS pred_expr, pg_catalog.pg_get_expr(i.indexprs, i.indrelid, true) AS expr,
    pg_catalog.pg_stat_get_numscans(i.indexrelid) < 0 IS TRUE AS counted
    FROM pg_catalog.pg_index i INNER JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
    INNER JOIN pg_catalog.pg_class tc ON tc.oid = i.indrelid
    LEFT OUTER JOIN pg_catalog.pg_description dsc ON i.indexrelid = dsc.objoid
    WHERE i.indrelid = @{orders} ORDER BY tabrelname, c.relname

-- operators' classes
SELECT o.oid, o.* FROM pg_catalog.pg_opclass o WHERE o.opcmethod = 403 ORDER BY o.oid

-- functions
SELECT p.oid, p.proname, pg_catalog.pg_get_function_result(p.oid) AS result, p.proargnames, p.proargtypes, p.proallargtypes, p.proargmodes, p.prokind,
    pg_catalog.pg_get_expr(p.proargdefaults, 0) IS NULL AS nodefaults, d.description
    FROM pg_catalog.pg_proc p LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = p.oid
    WHERE p.pronamespace = '@{shop::regnamespace}' ORDER BY p.proname

-- roles
SELECT a.oid, a.rolname, a.rolsuper, a.rolinherit, a.rolcreaterole, a.rolcreatedb, a.rolcanlogin, a.rolreplication, a.rolconnlimit, a.rolvaliduntil, a.rolbypassrls, a.rolconfig
    FROM pg_catalog.pg_roles a ORDER BY a.rolname

-- access methods
SELECT am.oid, am.* FROM pg_catalog.pg_am am ORDER BY am.oid

-- languages
SELECT l.oid, l.* FROM pg_catalog.pg_language l ORDER BY l.oid

-- encodings
SELECT c.contoencoding AS encid, pg_catalog.pg_encoding_to_char(c.contoencoding) AS encname FROM pg_catalog.pg_conversion c
    GROUP BY c.contoencoding ORDER BY 2

-- collations
SELECT c.oid, c.collname, c.collprovider, c.collencoding, c.collcollate, c.collctype FROM pg_catalog.pg_collation c WHERE c.collname IN ('default', 'C', 'POSIX', 'ucs_basic') ORDER BY c.oid

-- tablespaces
SELECT t.oid, t.spcname, t.spcowner, t.spcacl, t.spcoptions, pg_tablespace_location(t.oid) loc FROM pg_catalog.pg_tablespace t ORDER BY t.oid

-- dependencies of a table
SELECT DISTINCT dep.deptype, dep.classid, dep.objid, cl.relkind, attr.attname, pg_get_expr(ad.adbin, ad.adrelid) adefval,
    CASE WHEN cl.relkind IS NOT NULL THEN cl.relkind::text || COALESCE(dep.objsubid::text, '') WHEN rw.oid IS NOT NULL THEN 'R' || COALESCE(dep.objsubid::text, '')
        WHEN co.oid IS NOT NULL THEN 'C' || contype::text WHEN ad.oid IS NOT NULL THEN 'A' ELSE '' END AS type, COALESCE(coc.relname, clrw.relname) AS ownertable
    FROM pg_depend dep LEFT JOIN pg_class cl ON dep.objid = cl.oid AND dep.classid = 'pg_class'::regclass
    LEFT JOIN pg_attribute attr ON dep.objid = attr.attrelid AND dep.objsubid = attr.attnum
    LEFT JOIN pg_rewrite rw ON dep.objid = rw.oid LEFT JOIN pg_class clrw ON clrw.oid = rw.ev_class
    LEFT JOIN pg_constraint co ON dep.objid = co.oid LEFT JOIN pg_class coc ON coc.oid = co.conrelid
    LEFT JOIN pg_attrdef ad ON dep.objid = ad.oid
    WHERE dep.refobjid = @{log} AND dep.classid IN (SELECT oid FROM pg_class WHERE relname IN ('pg_class', 'pg_constraint', 'pg_rewrite'))
        AND (cl.relkind IS NULL OR cl.relkind <> 't') ORDER BY type

-- a table's privileges
SELECT * FROM information_schema.table_privileges WHERE table_schema = 'public' AND table_name = 'orders'

-- sizes
SELECT c.oid, pg_catalog.pg_total_relation_size(c.oid) >= 0 AS total, pg_catalog.pg_relation_size(c.oid) >= 0 AS own
    FROM pg_class c WHERE c.relnamespace = '@{public::regnamespace}' AND c.relkind = 'r'

-- sessions
SELECT sa.pid = pg_backend_pid(), sa.datname, sa.usename, sa.application_name FROM pg_catalog.pg_stat_activity sa WHERE sa.pid = pg_backend_pid()

-- a view's text
SELECT pg_catalog.pg_get_viewdef(@{active_customer}, true)

-- extensions
SELECT e.oid, cfg.tbls, n.nspname AS schema_name, e.* FROM pg_catalog.pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
    LEFT JOIN (SELECT ARRAY_AGG(ns.nspname || '.' || cls.relname) tbls, oid_ext FROM (SELECT unnest(e1.extconfig) oid, e1.oid oid_ext FROM pg_catalog.pg_extension e1) c
        JOIN pg_class cls ON cls.oid = c.oid JOIN pg_namespace ns ON ns.oid = cls.relnamespace GROUP BY oid_ext) cfg ON cfg.oid_ext = e.oid ORDER BY e.oid
