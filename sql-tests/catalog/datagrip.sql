-- DataGrip 2024: its introspector. From issues.

-- the server
SELECT current_database(), current_schema(), current_user, pg_is_in_recovery()

-- when it started
SELECT round(extract(epoch FROM pg_postmaster_start_time() AT TIME ZONE 'UTC')) > 0

-- databases
SELECT N.oid::bigint AS id, datname AS name, D.description, datistemplate AS is_template, datallowconn AS allow_connections, pg_catalog.pg_get_userbyid(N.datdba) AS "owner"
    FROM pg_catalog.pg_database N LEFT JOIN pg_catalog.pg_shdescription D ON N.oid = D.objoid
    ORDER BY CASE WHEN datname = pg_catalog.current_database() THEN -1::bigint ELSE N.oid::bigint END

-- schemas
SELECT N.oid::bigint AS id, N.nspname AS name, D.description, pg_catalog.pg_get_userbyid(N.nspowner) AS "owner"
    FROM pg_catalog.pg_namespace N LEFT JOIN pg_catalog.pg_description D ON N.oid = D.objoid
    WHERE N.nspname IN ('public', 'shop', 'Odd Names')
    ORDER BY CASE WHEN N.nspname = pg_catalog.current_schema() THEN -1::bigint ELSE N.oid::bigint END

-- roles
SELECT R.oid::bigint AS role_id, rolname AS role_name, rolsuper AS is_super, rolinherit AS is_inherit, rolcreaterole AS can_createrole, rolcreatedb AS can_createdb,
    rolcanlogin AS can_login, rolreplication AS is_replication, rolconnlimit AS conn_limit, rolvaliduntil AS valid_until, rolbypassrls AS bypass_rls, rolconfig AS config, D.description
    FROM pg_catalog.pg_roles R LEFT JOIN pg_catalog.pg_shdescription D ON D.objoid = R.oid WHERE rolname !~ '^pg_'

-- memberships
SELECT member::bigint AS id, roleid::bigint AS role_id, admin_option FROM pg_catalog.pg_auth_members WHERE member > 16000 ORDER BY id, roleid::text

-- access methods
SELECT A.oid AS access_method_id, A.amname AS access_method_name, A.amhandler::oid AS handler_id, pg_catalog.quote_ident(N.nspname) || '.' || pg_catalog.quote_ident(P.proname) AS handler_name,
    A.amtype AS access_method_type FROM pg_am A JOIN pg_proc P ON A.amhandler::oid = P.oid JOIN pg_namespace N ON P.pronamespace = N.oid ORDER BY 1

-- casts
SELECT C.oid, C.castsource AS castsource_id, pg_catalog.quote_ident(SN.nspname) || '.' || pg_catalog.quote_ident(S.typname) AS castsource_name,
    C.casttarget AS casttarget_id, C.castfunc AS castfunc_id, C.castcontext, C.castmethod
    FROM pg_cast C JOIN pg_type S ON C.castsource::oid = S.oid::oid JOIN pg_catalog.pg_namespace SN ON S.typnamespace = SN.oid
    JOIN pg_type T ON C.casttarget::oid = T.oid::oid

-- state of transactions
SELECT CASE WHEN pg_catalog.pg_is_in_recovery() THEN NULL ELSE (pg_catalog.txid_current() % 4294967296) > 0 END AS current_txid

-- oldest transaction
SELECT count(*) >= 0 FROM (SELECT L.transactionid::varchar::bigint AS transaction_id FROM pg_catalog.pg_locks L WHERE L.transactionid IS NOT NULL
    ORDER BY pg_catalog.age(L.transactionid) DESC LIMIT 1) AS t

-- relations
SELECT T.relkind AS table_kind, T.relname AS table_name, T.oid AS table_id, T.xmin IS NOT NULL AS has_state, false AS table_with_oids, T.reltablespace AS tablespace_id,
    T.reloptions AS options, T.relpersistence AS persistence, T.relispartition AS is_partition, T.relam AS am_id, pg_catalog.pg_get_userbyid(T.relowner) AS "owner",
    (SELECT pg_catalog.array_agg(inhparent::bigint ORDER BY inhseqno)::varchar FROM pg_catalog.pg_inherits WHERE T.oid = inhrelid) AS ancestors
    FROM pg_catalog.pg_class T WHERE relnamespace = @{public::regnamespace}::oid AND relkind IN ('r', 'm', 'v', 'f', 'p') ORDER BY table_kind, table_id

-- columns
WITH T AS (SELECT DISTINCT T.oid AS table_id, T.relname AS table_name FROM pg_catalog.pg_class T, pg_catalog.pg_attribute A
    WHERE T.relnamespace = @{shop::regnamespace}::oid AND T.relkind IN ('r', 'm', 'v', 'f', 'p') AND A.attrelid = T.oid)
    SELECT T.table_id, C.attnum AS column_position, C.attname AS column_name, C.atttypmod AS type_mod, C.attndims AS dimensions_number,
    pg_catalog.format_type(C.atttypid, C.atttypmod) AS type_spec, C.atttypid AS type_id, C.attnotnull AS mandatory,
    pg_catalog.pg_get_expr(D.adbin, T.table_id) AS column_default_expression, NOT C.attislocal AS column_is_inherited, C.attfdwoptions AS options, C.attisdropped AS column_is_dropped,
    C.attidentity AS identity_kind, C.attgenerated AS generated
    FROM T JOIN pg_catalog.pg_attribute C ON T.table_id = C.attrelid
    LEFT JOIN pg_catalog.pg_attrdef D ON (C.attrelid, C.attnum) = (D.adrelid, D.adnum) WHERE attnum > 0 ORDER BY table_id, attnum

-- indexes
SELECT tab.oid AS table_id, tab.relkind AS table_kind, ind_stor.relname AS index_name, ind_head.indexrelid AS index_id, ind_head.indisunique AS is_unique, ind_head.indisprimary AS is_primary,
    ind_head.indnullsnotdistinct AS nulls_not_distinct, pg_catalog.pg_get_expr(ind_head.indpred, ind_head.indrelid) AS condition,
    (SELECT pg_catalog.array_agg(inhparent::bigint ORDER BY inhseqno)::varchar FROM pg_catalog.pg_inherits WHERE ind_stor.oid = inhrelid) AS ancestors, opcmethod AS access_method_id
    FROM pg_catalog.pg_class tab JOIN pg_catalog.pg_index ind_head ON ind_head.indrelid = tab.oid JOIN pg_catalog.pg_class ind_stor ON tab.relnamespace = ind_stor.relnamespace AND ind_stor.oid = ind_head.indexrelid
    LEFT JOIN pg_catalog.pg_opclass ON pg_opclass.oid = ANY (indclass)
    WHERE tab.relnamespace = @{public::regnamespace}::oid AND tab.relkind IN ('r', 'm', 'v', 'p') AND ind_stor.relkind IN ('i', 'I')

-- index columns
SELECT ind_head.indexrelid AS index_id, k AS col_idx, k <= indnkeyatts AS in_key, indkey[k - 1] AS column_position, ind_head.indoption[k - 1] AS column_options,
    ind_head.indcollation[k - 1] AS collation, colln.nspname AS collation_schema, collname AS collation_str, ind_head.indclass[k - 1] AS opclass,
    CASE WHEN opcdefault THEN NULL ELSE opcn.nspname END AS opclass_schema, CASE WHEN opcdefault THEN NULL ELSE opcname END AS opclass_str,
    CASE WHEN indexprs IS NULL THEN NULL WHEN ind_head.indkey[k - 1] = 0 THEN chr(27) || pg_catalog.pg_get_indexdef(ind_head.indexrelid, k::int, true) ELSE pg_catalog.pg_get_indexdef(ind_head.indexrelid, k::int, true) END AS expression,
    amcanorder AS can_order
    FROM pg_catalog.pg_index ind_head JOIN pg_catalog.pg_class ind_stor ON ind_stor.oid = ind_head.indexrelid
    CROSS JOIN unnest(ind_head.indkey) WITH ORDINALITY u (u, k)
    LEFT JOIN pg_catalog.pg_collation ON pg_collation.oid = ind_head.indcollation[k - 1] LEFT JOIN pg_catalog.pg_namespace colln ON collnamespace = colln.oid
    CROSS JOIN pg_catalog.pg_indexam_has_property(ind_stor.relam, 'can_order') amcanorder
    LEFT JOIN pg_catalog.pg_opclass ON pg_opclass.oid = ind_head.indclass[k - 1] LEFT JOIN pg_catalog.pg_namespace opcn ON opcnamespace = opcn.oid
    WHERE ind_stor.relnamespace = @{public::regnamespace}::oid AND ind_stor.relkind IN ('i', 'I')

-- constraints
SELECT T.oid AS table_id, relkind AS table_kind, C.oid AS con_id, conname AS con_name, contype AS con_kind, conkey AS con_columns, conindid AS index_id, confrelid AS ref_table_id,
    condeferrable AS is_deferrable, condeferred AS is_init_deferred, confupdtype AS on_update, confdeltype AS on_delete, connoinherit AS no_inherit,
    pg_catalog.pg_get_expr(conbin, T.oid) AS con_expression, confkey AS ref_columns, conexclop::int[] AS excl_operators,
    array(SELECT unnest::regoper::varchar FROM unnest(conexclop)) AS excl_operators_str
    FROM pg_catalog.pg_constraint C JOIN pg_catalog.pg_class T ON C.conrelid = T.oid WHERE relkind IN ('r', 'v', 'f', 'p') AND relnamespace = @{shop::regnamespace}::oid AND contype IN ('p', 'u', 'f', 'c', 'x')

-- routines
WITH languages AS (SELECT oid AS lang_oid, lanname AS lang FROM pg_catalog.pg_language),
    routines AS (SELECT proname AS r_name, prolang AS lang_oid, oid AS r_id, proargnames AS arg_names, proargmodes AS arg_modes, proargtypes::int[] AS in_arg_types,
        proallargtypes::int[] AS all_arg_types, pg_catalog.pg_get_expr(proargdefaults, 0) IS NULL AS no_defaults, provariadic AS arg_variadic_id, prorettype AS ret_type_id, proretset AS ret_set,
        prokind AS kind, provolatile AS volatile_kind, proisstrict AS is_strict, prosecdef AS is_security_definer, proconfig AS configuration_parameters, procost AS cost,
        pg_catalog.pg_get_userbyid(proowner) AS "owner", prorows AS rows, proleakproof AS is_leakproof, proparallel AS concurrency_kind
        FROM pg_catalog.pg_proc WHERE pronamespace = @{shop::regnamespace}::oid AND NOT (prokind = 'a'))
    SELECT * FROM routines NATURAL JOIN languages

-- views' texts
SELECT T.relkind AS view_kind, T.oid AS view_id, pg_catalog.pg_get_viewdef(T.oid, true) AS source_text FROM pg_catalog.pg_class T
    JOIN pg_catalog.pg_namespace N ON T.relnamespace = N.oid WHERE N.oid = @{public::regnamespace}::oid AND T.relkind IN ('m', 'v')

-- rules
SELECT R.ev_class AS table_id, R.oid AS rule_id, R.rulename AS rule_name, pg_catalog.translate(ev_type, '1234', 'SUID') AS rule_event_code, R.ev_enabled AS rule_fire_mode, R.is_instead AS rule_is_instead
    FROM pg_catalog.pg_rewrite R WHERE R.ev_class IN (SELECT oid FROM pg_catalog.pg_class WHERE relnamespace = @{public::regnamespace}::oid) AND R.rulename != '_RETURN'::name ORDER BY R.ev_class::bigint, ev_type

-- descriptions
SELECT T.relkind AS kind, D.objoid AS id, D.objsubid AS col, D.description FROM pg_catalog.pg_class T JOIN pg_catalog.pg_description D ON D.objoid = T.oid AND D.classoid = 'pg_catalog.pg_class'::regclass
    WHERE relnamespace = @{public::regnamespace}::oid AND relkind IN ('r', 'm', 'v', 'f', 'p', 'i') ORDER BY id, objsubid

-- access privileges
SELECT T.oid AS object_id, T.relacl AS acl FROM pg_catalog.pg_class T WHERE relnamespace = @{public::regnamespace}::oid AND relkind IN ('m', 'v', 'r') AND T.relacl IS NOT NULL ORDER BY object_id

-- time zones
SELECT count(*) > 0 FROM pg_catalog.pg_timezone_names UNION DISTINCT SELECT true
