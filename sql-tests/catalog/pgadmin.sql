-- pgAdmin 4 9: its browser tree, properties and dashboards, after what its templates ask.

-- start of a session
SELECT set_config('bytea_output', 'hex', false) FROM pg_show_all_settings() WHERE name = 'bytea_output'

-- the database
SELECT db.oid AS did, db.datname, db.datallowconn, pg_encoding_to_char(db.encoding) AS serverencoding,
    has_database_privilege(db.oid, 'CREATE') AS cancreate, datistemplate
    FROM pg_catalog.pg_database db WHERE db.datname = current_database()

-- encryption
SELECT gss_authenticated, encrypted FROM pg_catalog.pg_stat_gssapi WHERE pid = pg_backend_pid()

-- the role
SELECT roles.oid AS id, roles.rolname AS name, roles.rolsuper AS is_superuser,
    CASE WHEN roles.rolsuper THEN true ELSE roles.rolcreaterole END AS can_create_role,
    CASE WHEN roles.rolsuper THEN true ELSE roles.rolcreatedb END AS can_create_db,
    CASE WHEN 'pg_signal_backend' = ANY (ARRAY(WITH RECURSIVE cte AS (
            SELECT pg_roles.oid, pg_roles.rolname FROM pg_roles WHERE pg_roles.oid = roles.oid
            UNION ALL SELECT m.roleid, pgr.rolname FROM cte cte_1
            JOIN pg_auth_members m ON m.member = cte_1.oid JOIN pg_roles pgr ON pgr.oid = m.roleid)
        SELECT rolname FROM cte)) THEN true ELSE false END AS can_signal_backend
    FROM pg_catalog.pg_roles AS roles WHERE rolname = current_user

-- recovery
SELECT CASE WHEN usesuper THEN pg_is_in_recovery() ELSE false END AS inrecovery, false AS isreplaypaused
    FROM pg_catalog.pg_user WHERE usename = current_user

-- replication
SELECT CASE WHEN (SELECT count(extname) FROM pg_catalog.pg_extension WHERE extname = 'bdr') > 0 THEN 'pgd'
    WHEN (SELECT count(*) FROM pg_catalog.pg_stat_replication) > 0 THEN 'log' ELSE NULL END AS type

-- databases of the tree
SELECT db.oid AS did, db.datname AS name, ta.spcname, db.datallowconn, db.datistemplate AS is_template,
    pg_catalog.has_database_privilege(db.oid, 'CREATE') AS cancreate, datdba AS owner,
    descr.description
    FROM pg_catalog.pg_database db LEFT OUTER JOIN pg_catalog.pg_tablespace ta ON db.dattablespace = ta.oid
    LEFT OUTER JOIN pg_catalog.pg_shdescription descr
        ON (db.oid = descr.objoid AND descr.classoid = 'pg_database'::regclass)
    WHERE db.oid > 0 AND NOT db.datistemplate ORDER BY datname

-- schemas of the tree
SELECT nsp.oid, nsp.nspname AS name, pg_catalog.has_schema_privilege(nsp.oid, 'CREATE') AS can_create,
    pg_catalog.has_schema_privilege(nsp.oid, 'USAGE') AS has_usage, des.description
    FROM pg_catalog.pg_namespace nsp
    LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid = nsp.oid AND des.classoid = 'pg_namespace'::regclass)
    WHERE nspname NOT LIKE E'pg\\_%' AND NOT ((nsp.nspname = 'pg_catalog'
            AND EXISTS (SELECT 1 FROM pg_catalog.pg_class WHERE relname = 'pg_class' AND relnamespace = nsp.oid LIMIT 1))
        OR (nsp.nspname = 'information_schema'
            AND EXISTS (SELECT 1 FROM pg_catalog.pg_class WHERE relname = 'tables' AND relnamespace = nsp.oid LIMIT 1)))
    ORDER BY nspname

-- a schema's properties
SELECT nsp.nspname AS name, nsp.oid, pg_catalog.array_to_string(nsp.nspacl::text[], ', ') AS acl,
    r.rolname AS namespaceowner, description,
    pg_catalog.array_to_string(ARRAY(SELECT pg_catalog.array_to_string(defaclacl::text[], ', ')
        FROM pg_catalog.pg_default_acl WHERE defaclobjtype = 'r' AND defaclnamespace = nsp.oid), ', ') AS tblacl,
    (SELECT pg_catalog.array_agg(provider || '=' || label) FROM pg_catalog.pg_seclabels sl1 WHERE sl1.objoid = nsp.oid) AS seclabels
    FROM pg_catalog.pg_namespace nsp
    LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid = nsp.oid AND des.classoid = 'pg_namespace'::regclass)
    LEFT JOIN pg_catalog.pg_roles r ON (r.oid = nsp.nspowner) WHERE nsp.oid = @{shop::regnamespace}::oid

-- access privileges of a schema
SELECT 'nspacl' AS deftype, COALESCE(gt.rolname, 'PUBLIC') AS grantee, g.rolname AS grantor,
    pg_catalog.array_agg(b.privilege_type) AS privileges, pg_catalog.array_agg(b.is_grantable) AS grantable
    FROM (SELECT (d).grantee AS grantee, (d).grantor AS grantor, (d).is_grantable AS is_grantable,
            CASE (d).privilege_type WHEN 'CREATE' THEN 'C' WHEN 'USAGE' THEN 'U' ELSE 'UNKNOWN' END AS privilege_type
        FROM (SELECT pg_catalog.aclexplode(nsp.nspacl) AS d FROM pg_catalog.pg_namespace nsp
            WHERE nsp.oid = @{shop::regnamespace}) a ORDER BY 1, 4) b
    LEFT JOIN pg_catalog.pg_roles g ON (b.grantor = g.oid)
    LEFT JOIN pg_catalog.pg_roles gt ON (b.grantee = gt.oid) GROUP BY g.rolname, gt.rolname

-- tables of the tree
SELECT rel.oid, rel.relname AS name,
    (SELECT count(*) FROM pg_catalog.pg_trigger WHERE tgrelid = rel.oid AND tgisinternal = false) AS triggercount,
    (SELECT count(*) FROM pg_catalog.pg_trigger WHERE tgrelid = rel.oid AND tgisinternal = false AND tgenabled = 'O') AS has_enable_triggers,
    (CASE WHEN rel.relkind = 'p' THEN true ELSE false END) AS is_partitioned,
    nsp.nspname AS schema, nsp.oid AS schemaoid,
    (SELECT count(1) FROM pg_catalog.pg_inherits WHERE inhrelid = rel.oid LIMIT 1) AS is_inherits,
    (SELECT count(1) FROM pg_catalog.pg_inherits WHERE inhparent = rel.oid LIMIT 1) AS is_inherited
    FROM pg_catalog.pg_class rel INNER JOIN pg_catalog.pg_namespace nsp ON rel.relnamespace = nsp.oid
    WHERE rel.relkind IN ('r', 't', 'p') AND rel.relnamespace = @{public::regnamespace}::oid AND NOT rel.relispartition
    ORDER BY rel.relname

-- a table's properties
SELECT rel.oid, rel.relname AS name, rel.reltablespace AS spcoid, rel.relacl AS relacl_str,
    (CASE WHEN length(spc.spcname::text) > 0 OR rel.relkind = 'p' THEN spc.spcname
        ELSE (SELECT sp.spcname FROM pg_catalog.pg_database dtb JOIN pg_catalog.pg_tablespace sp ON dtb.dattablespace = sp.oid
            WHERE dtb.datname = current_database()) END) AS spcname,
    (SELECT st.setting FROM pg_catalog.pg_show_all_settings() st WHERE st.name = 'default_table_access_method') AS default_amname,
    am.amname, rel.relkind, (CASE rel.relkind WHEN 'p' THEN true ELSE false END) AS is_partitioned,
    nsp.nspname AS schema, pg_catalog.pg_get_userbyid(rel.relowner) AS relowner, rel.relhassubclass, rel.relispartition, des.description,
    con.conname, con.conkey, EXISTS (SELECT 1 FROM pg_catalog.pg_trigger JOIN pg_catalog.pg_proc pt ON pt.oid = tgfoid AND pt.proname = 'logtrigger'
        JOIN pg_catalog.pg_proc pc ON pc.pronamespace = pt.pronamespace AND pc.proname = 'slonyversion' WHERE tgrelid = rel.oid) AS isrepl,
    substring(pg_catalog.array_to_string(rel.reloptions, ',') FROM 'fillfactor=([0-9]*)') AS fillfactor,
    rel.reloptions AS reloptions, rel.reloftype, typ.typname, rel.relrowsecurity AS rlspolicy, rel.relforcerowsecurity AS forcerlspolicy,
    (SELECT pg_catalog.array_agg(provider || '=' || label) FROM pg_catalog.pg_seclabels sl1 WHERE sl1.objoid = rel.oid AND sl1.objsubid = 0) AS seclabels,
    (CASE WHEN rel.oid <= 13000::oid THEN true ELSE false END) AS is_sys_table,
    pg_catalog.pg_get_partkeydef(rel.oid) AS partition_scheme
    FROM pg_catalog.pg_class rel LEFT OUTER JOIN pg_catalog.pg_tablespace spc ON spc.oid = rel.reltablespace
    LEFT JOIN pg_catalog.pg_namespace nsp ON rel.relnamespace = nsp.oid
    LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid = rel.oid AND des.objsubid = 0 AND des.classoid = 'pg_class'::regclass)
    LEFT OUTER JOIN pg_catalog.pg_constraint con ON con.conrelid = rel.oid AND con.contype = 'p'
    LEFT JOIN pg_catalog.pg_type typ ON rel.reloftype = typ.oid
    LEFT JOIN pg_catalog.pg_am am ON am.oid = rel.relam
    WHERE rel.relkind IN ('r', 's', 't', 'p') AND rel.relnamespace = @{public::regnamespace}::oid AND rel.oid = @{customer}::oid

-- columns of the tree
SELECT DISTINCT att.attname AS name, att.attnum AS oid, pg_catalog.format_type(ty.oid, NULL) AS datatype,
    pg_catalog.format_type(ty.oid, att.atttypmod) AS displaytypname, att.attnotnull AS not_null,
    CASE WHEN att.atthasdef OR att.attidentity != '' OR ty.typdefault IS NOT NULL THEN true ELSE false END AS has_default_val,
    des.description, seq.seqtypid
    FROM pg_catalog.pg_attribute att JOIN pg_catalog.pg_type ty ON ty.oid = atttypid
    JOIN pg_catalog.pg_namespace tn ON tn.oid = ty.typnamespace JOIN pg_catalog.pg_class cl ON cl.oid = att.attrelid
    JOIN pg_catalog.pg_namespace na ON na.oid = cl.relnamespace
    LEFT OUTER JOIN pg_catalog.pg_type et ON et.oid = ty.typelem
    LEFT OUTER JOIN pg_catalog.pg_attrdef def ON adrelid = att.attrelid AND adnum = att.attnum
    LEFT OUTER JOIN (pg_catalog.pg_depend JOIN pg_catalog.pg_class cs ON classid = 'pg_class'::regclass AND objid = cs.oid AND cs.relkind = 'S')
        ON refobjid = att.attrelid AND refobjsubid = att.attnum
    LEFT OUTER JOIN pg_catalog.pg_namespace ns ON ns.oid = cs.relnamespace
    LEFT OUTER JOIN pg_catalog.pg_index pi ON pi.indrelid = att.attrelid AND indisprimary
    LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid = att.attrelid AND des.objsubid = att.attnum AND des.classoid = 'pg_class'::regclass)
    LEFT OUTER JOIN pg_catalog.pg_sequence seq ON cs.oid = seq.seqrelid
    WHERE att.attrelid = @{customer}::oid AND att.attnum > 0 AND att.attisdropped IS FALSE ORDER BY att.attnum

-- a column's properties
SELECT att.attname AS name, att.*, def.*, pg_catalog.pg_get_expr(def.adbin, def.adrelid) AS defval,
    CASE WHEN att.attndims > 0 THEN 1 ELSE 0 END AS isarray, format_type(ty.oid, NULL) AS typname,
    format_type(ty.oid, att.atttypmod) AS displaytypname,
    CASE WHEN length(coll.collname::text) > 0 AND length(nspc.nspname::text) > 0
        THEN pg_catalog.concat(pg_catalog.quote_ident(nspc.nspname), '.', pg_catalog.quote_ident(coll.collname)) ELSE '' END AS collspcname,
    EXISTS (SELECT 1 FROM pg_catalog.pg_constraint WHERE conrelid = att.attrelid AND contype = 'f' AND att.attnum = ANY (conkey)) AS is_fk
    FROM pg_catalog.pg_attribute att JOIN pg_catalog.pg_type ty ON ty.oid = atttypid
    LEFT OUTER JOIN pg_catalog.pg_attrdef def ON adrelid = att.attrelid AND adnum = att.attnum
    LEFT OUTER JOIN pg_catalog.pg_collation coll ON att.attcollation = coll.oid
    LEFT OUTER JOIN pg_catalog.pg_namespace nspc ON coll.collnamespace = nspc.oid
    WHERE att.attrelid = @{customer}::oid AND att.attnum = 3::int AND att.attisdropped IS FALSE ORDER BY att.attnum

-- indexes of the tree
SELECT DISTINCT ON (cls.relname) cls.oid, cls.relname AS name,
    (SELECT (CASE WHEN count(i.inhrelid) > 0 THEN true ELSE false END) FROM pg_inherits i WHERE i.inhrelid = cls.oid) AS is_inherited, des.description
    FROM pg_catalog.pg_index idx JOIN pg_catalog.pg_class cls ON cls.oid = indexrelid
    JOIN pg_catalog.pg_class tab ON tab.oid = indrelid
    LEFT OUTER JOIN pg_catalog.pg_tablespace ta ON ta.oid = cls.reltablespace
    JOIN pg_catalog.pg_namespace n ON n.oid = tab.relnamespace
    LEFT JOIN pg_catalog.pg_depend dep ON (dep.classid = cls.tableoid AND dep.objid = cls.oid AND dep.refobjsubid = '0' AND dep.refclassid = (SELECT oid FROM pg_catalog.pg_class WHERE relname = 'pg_constraint') AND dep.deptype = 'i')
    LEFT OUTER JOIN pg_catalog.pg_constraint con ON (con.tableoid = dep.refclassid AND con.oid = dep.refobjid)
    LEFT OUTER JOIN pg_catalog.pg_description des ON des.objoid = cls.oid
    WHERE indrelid = @{orders}::oid AND conname IS NULL ORDER BY cls.relname

-- an index's properties
SELECT DISTINCT ON (cls.relname) cls.oid, cls.relname AS name, indrelid, indkey, indisclustered, indisvalid, indisunique, indisprimary, indnkeyatts,
    n.nspname, indnatts, cls.reltablespace AS spcoid, CASE WHEN length(spcname::text) > 0 THEN spcname ELSE 'pg_default' END AS spcname,
    tab.relname AS tabname, indclass, con.oid AS conoid, CASE WHEN contype IN ('p', 'u', 'x') THEN desp.description ELSE des.description END AS description,
    pg_catalog.pg_get_expr(indpred, indrelid, true) AS indconstraint, contype, condeferrable, condeferred, amname,
    substring(pg_catalog.array_to_string(cls.reloptions, ',') FROM 'fillfactor=([0-9]*)') AS fillfactor
    FROM pg_catalog.pg_index idx JOIN pg_catalog.pg_class cls ON cls.oid = indexrelid
    JOIN pg_catalog.pg_class tab ON tab.oid = indrelid
    LEFT OUTER JOIN pg_catalog.pg_tablespace ta ON ta.oid = cls.reltablespace
    JOIN pg_catalog.pg_namespace n ON n.oid = tab.relnamespace JOIN pg_catalog.pg_am am ON am.oid = cls.relam
    LEFT JOIN pg_catalog.pg_depend dep ON (dep.classid = cls.tableoid AND dep.objid = cls.oid AND dep.refobjsubid = '0' AND dep.refclassid = (SELECT oid FROM pg_catalog.pg_class WHERE relname = 'pg_constraint') AND dep.deptype = 'i')
    LEFT OUTER JOIN pg_catalog.pg_constraint con ON (con.tableoid = dep.refclassid AND con.oid = dep.refobjid)
    LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid = cls.oid AND des.classoid = 'pg_class'::regclass)
    LEFT OUTER JOIN pg_catalog.pg_description desp ON (desp.objoid = con.oid AND desp.objsubid = 0 AND desp.classoid = 'pg_constraint'::regclass)
    WHERE indrelid = @{orders}::oid AND cls.oid = @{orders_by_customer}::oid AND conname IS NULL ORDER BY cls.relname

-- an index's columns
SELECT i.indexrelid, CASE i.indoption[i.attnum - 1] WHEN 0 THEN ARRAY['ASC', 'NULLS LAST'] WHEN 1 THEN ARRAY['DESC', 'NULLS LAST']
        WHEN 2 THEN ARRAY['ASC', 'NULLS FIRST'] WHEN 3 THEN ARRAY['DESC', 'NULLS FIRST'] ELSE ARRAY['UNKNOWN OPTION' || i.indoption[i.attnum - 1]::text, ''] END::text[] AS options,
    i.attnum, pg_catalog.pg_get_indexdef(i.indexrelid, i.attnum, true) AS attdef,
    CASE WHEN (o.opcdefault = false) THEN o.opcname ELSE NULL END AS opcname, op.oprname AS oprname,
    CASE WHEN length(nspc.nspname::text) > 0 AND length(coll.collname::text) > 0 THEN pg_catalog.concat(pg_catalog.quote_ident(nspc.nspname), '.', pg_catalog.quote_ident(coll.collname)) ELSE '' END AS collnspname
    FROM (SELECT indexrelid, i.indoption, i.indclass, pg_catalog.unnest(ARRAY(SELECT pg_catalog.generate_series(1, i.indnkeyatts) AS n)) AS attnum
        FROM pg_catalog.pg_index i WHERE i.indexrelid = @{orders_by_customer}::oid) i
    LEFT JOIN pg_catalog.pg_opclass o ON (o.oid = i.indclass[i.attnum - 1])
    LEFT OUTER JOIN pg_catalog.pg_constraint c ON (c.conindid = i.indexrelid)
    LEFT OUTER JOIN pg_catalog.pg_operator op ON (op.oid = c.conexclop[i.attnum])
    LEFT JOIN pg_catalog.pg_attribute a ON (a.attrelid = i.indexrelid AND a.attnum = i.attnum)
    LEFT OUTER JOIN pg_catalog.pg_collation coll ON a.attcollation = coll.oid
    LEFT OUTER JOIN pg_catalog.pg_namespace nspc ON coll.collnamespace = nspc.oid ORDER BY i.attnum

-- included columns
SELECT pg_catalog.pg_get_indexdef(i.indexrelid, i.attnum, true) AS colname
    FROM (SELECT indexrelid, unnest(ARRAY(SELECT generate_series(indnkeyatts + 1, indnatts) AS n)) AS attnum
        FROM pg_catalog.pg_index WHERE indexrelid = @{orders_status_total_idx}::oid) i

-- constraints of the tree
SELECT conindid AS oid, conname AS name, NOT convalidated AS convalidated
    FROM pg_catalog.pg_constraint ct WHERE conrelid = @{shop.order_line}::oid AND contype = 'p'

-- columns of a key
SELECT COALESCE(attname, '') AS column, pg_catalog.pg_get_indexdef(i.indexrelid, k.n::int, true)
    FROM pg_catalog.pg_index i CROSS JOIN LATERAL pg_catalog.unnest(i.indkey) WITH ORDINALITY AS k (attnum, n)
    LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
    WHERE i.indexrelid = @{shop.order_line_key}::oid ORDER BY k.n

-- views of the tree
SELECT c.oid, c.relname AS name, description AS comment FROM pg_catalog.pg_class c
    LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid = c.oid AND des.objsubid = 0 AND des.classoid = 'pg_class'::regclass)
    WHERE c.relkind = 'v' AND c.relnamespace = @{public::regnamespace}::oid ORDER BY c.relname

-- a materialized view's properties
SELECT c.oid, c.relname AS name, c.reltablespace AS spcoid, c.relispopulated AS with_data,
    (CASE WHEN length(spc.spcname::text) > 0 THEN spc.spcname ELSE (SELECT sp.spcname FROM pg_catalog.pg_database dtb JOIN pg_catalog.pg_tablespace sp ON dtb.dattablespace = sp.oid WHERE dtb.oid = (SELECT oid FROM pg_database WHERE datname = current_database())::oid) END) AS spcname,
    (SELECT st.setting FROM pg_show_all_settings() st WHERE st.name = 'default_table_access_method') AS default_amname,
    c.relacl, nsp.nspname AS schema, pg_catalog.pg_get_userbyid(c.relowner) AS owner, description AS comment,
    (SELECT st.setting FROM pg_catalog.pg_show_all_settings() st WHERE st.name = 'default_tablespace') AS default_spc,
    (CASE WHEN length(pg_catalog.pg_get_viewdef(c.oid, true)) > 0 THEN pg_catalog.pg_get_viewdef(c.oid, true) ELSE NULL END) AS definition,
    pg_catalog.array_to_string(c.relacl::text[], ', ') AS acl,
    (substring(pg_catalog.array_to_string(c.reloptions, ',') FROM 'autovacuum_enabled=([a-z|0-9]*)'))::bool AS autovacuum_enabled
    FROM pg_catalog.pg_class c LEFT OUTER JOIN pg_catalog.pg_namespace nsp ON nsp.oid = c.relnamespace
    LEFT OUTER JOIN pg_catalog.pg_tablespace spc ON spc.oid = c.reltablespace
    LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid = c.oid AND des.objsubid = 0 AND des.classoid = 'pg_class'::regclass)
    WHERE c.relkind = 'm' AND c.oid = @{turnover}::oid

-- functions of the tree
SELECT pr.oid, pg_catalog.concat(pr.proname, '(', pg_catalog.pg_get_function_identity_arguments(pr.oid), ')') AS name,
    lanname, pg_catalog.pg_get_userbyid(proowner) AS funcowner, description
    FROM pg_catalog.pg_proc pr JOIN pg_catalog.pg_type typ ON typ.oid = prorettype
    JOIN pg_catalog.pg_language lng ON lng.oid = prolang
    LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid = pr.oid AND des.classoid = 'pg_proc'::regclass)
    WHERE pr.prokind IN ('f', 'w') AND pronamespace = @{shop::regnamespace}::oid AND typname NOT IN ('trigger', 'event_trigger') ORDER BY proname

-- a function's properties
SELECT pr.oid, pr.xmin IS NOT NULL, pr.proname, pr.prosrc, pr.prokind, pr.provolatile, pr.pronargs, pr.prorettype, pr.proretset, pr.procost, pr.prorows,
    pr.proargtypes, pr.proallargtypes, pr.proargmodes, pr.proargnames, pr.pronargdefaults,
    typns.nspname AS typnsp, lanname, proacl, pg_catalog.array_to_string(proacl::text[], ', ') AS acl,
    pg_catalog.pg_get_function_result(pr.oid) AS result, pg_catalog.pg_get_function_arguments(pr.oid) AS arguments, (CASE WHEN proretset THEN 'SETOF ' || typname ELSE typname END) AS kind,
    pg_catalog.pg_get_userbyid(proowner) AS funcowner, description
    FROM pg_catalog.pg_proc pr JOIN pg_catalog.pg_type typ ON typ.oid = prorettype JOIN pg_catalog.pg_namespace typns ON typns.oid = typ.typnamespace
    JOIN pg_catalog.pg_language lng ON lng.oid = prolang
    LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid = pr.oid AND des.classoid = 'pg_proc'::regclass)
    WHERE pr.oid = @{gross::regproc}::oid

-- roles of the tree
SELECT r.oid, r.rolname, r.rolcanlogin, r.rolsuper, pg_catalog.shobj_description(r.oid, 'pg_authid') AS description
    FROM pg_catalog.pg_roles r WHERE r.rolname !~ '^pg_' ORDER BY r.rolcanlogin, r.rolname

-- a role's properties
SELECT r.oid, r.rolname, r.rolsuper, r.rolinherit, r.rolcreaterole, r.rolcreatedb, r.rolcanlogin, r.rolreplication, r.rolconnlimit, r.rolbypassrls,
    ARRAY(SELECT CASE WHEN am.admin_option THEN '1' ELSE '0' END || rm.rolname
        FROM (SELECT * FROM pg_catalog.pg_auth_members WHERE member = r.oid) am
        LEFT JOIN pg_catalog.pg_roles rm ON (rm.oid = am.roleid) ORDER BY rm.rolname) AS rolmembership,
    (SELECT pg_catalog.array_agg(provider || '=' || label) FROM pg_catalog.pg_shseclabel sl1 WHERE sl1.objoid = r.oid) AS seclabels
    FROM pg_catalog.pg_roles r WHERE r.rolname = 'catalog_boss'

-- dashboard: sessions
SELECT datname, usename, state, wait_event_type || ': ' || wait_event AS wait_event, pg_blocking_pids(pid) AS blocking_pids, backend_type
    FROM pg_catalog.pg_stat_activity WHERE pid = pg_backend_pid()

-- dashboard: sessions by state
SELECT (SELECT count(*) FROM pg_catalog.pg_stat_activity WHERE datname = current_database() AND state = 'active') >= 1 AS active,
    (SELECT count(*) FROM pg_catalog.pg_stat_activity WHERE state = 'none') AS none

-- dashboard: locks
SELECT count(*) >= 0 FROM pg_catalog.pg_locks l LEFT OUTER JOIN pg_catalog.pg_database d ON (l.database = d.oid)
    WHERE relation::regclass::text IS NOT NULL OR virtualtransaction IS NOT NULL OR mode IS NOT NULL OR granted OR fastpath

-- dashboard: prepared transactions
SELECT gid, database, owner, pg_catalog.concat(prepared) AS prepared, transaction FROM pg_catalog.pg_prepared_xacts ORDER BY gid, database, owner

-- dashboard: settings
SELECT name, setting, unit FROM pg_catalog.pg_show_all_settings() WHERE name IN ('max_identifier_length', 'standard_conforming_strings', 'server_encoding')

-- completion: objects
SELECT nspname AS schema_name, relname AS object_name FROM pg_catalog.pg_class c
    LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = ANY (ARRAY['r', 'p', 'f']) AND nspname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2

-- what a table depends on
SELECT DISTINCT dep.deptype, dep.refclassid, cl.relkind,
    CASE WHEN cl.relkind IS NOT NULL THEN cl.relkind::text || COALESCE(dep.refobjsubid::text, '') WHEN ns.oid IS NOT NULL THEN 'n' ELSE '' END AS type,
    COALESCE(cl.relname, ns.nspname) AS refname
    FROM pg_catalog.pg_depend dep LEFT JOIN pg_catalog.pg_class cl ON dep.refobjid = cl.oid AND dep.refclassid = 'pg_class'::regclass
    LEFT JOIN pg_catalog.pg_namespace ns ON dep.refobjid = ns.oid AND dep.refclassid = 'pg_namespace'::regclass
    WHERE dep.objid = @{customer}::oid AND dep.classid = 'pg_class'::regclass ORDER BY 1, 2
