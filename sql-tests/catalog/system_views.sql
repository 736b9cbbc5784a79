-- Each system relation, and the types and functions that statements over them use.

-- pg_tables
SELECT * FROM pg_tables WHERE schemaname IN ('public', 'shop', 'Odd Names')

-- pg_views
SELECT * FROM pg_views WHERE schemaname IN ('public', 'shop', 'Odd Names')

-- pg_matviews
SELECT * FROM pg_matviews WHERE schemaname IN ('public', 'shop', 'Odd Names')

-- pg_indexes
SELECT * FROM pg_indexes WHERE schemaname IN ('public', 'shop', 'Odd Names')

-- pg_policies
SELECT * FROM pg_policies WHERE schemaname IN ('public', 'shop', 'Odd Names')

-- pg_rules
SELECT * FROM pg_rules WHERE schemaname IN ('public', 'shop', 'Odd Names')

-- pg_sequences
SELECT * FROM pg_sequences WHERE schemaname IN ('public', 'shop', 'Odd Names')

-- pg_stats
SELECT * FROM pg_stats WHERE schemaname IN ('public', 'shop', 'Odd Names')

-- pg_stats_ext
SELECT * FROM pg_stats_ext WHERE schemaname IN ('public', 'shop', 'Odd Names')

-- pg_publication_tables
SELECT * FROM pg_publication_tables WHERE schemaname IN ('public', 'shop', 'Odd Names')

-- pg_stat_user_tables
SELECT relid, schemaname, relname FROM pg_stat_user_tables WHERE schemaname IN ('public', 'shop', 'Odd Names')

-- pg_stat_all_tables
SELECT relid, schemaname, relname FROM pg_stat_all_tables WHERE schemaname IN ('public', 'shop', 'Odd Names')

-- pg_stat_user_indexes
SELECT relid, indexrelid, schemaname, relname, indexrelname FROM pg_stat_user_indexes WHERE schemaname IN ('public', 'shop', 'Odd Names')

-- pg_statio_user_tables
SELECT relid, schemaname, relname FROM pg_statio_user_tables WHERE schemaname IN ('public', 'shop', 'Odd Names')

-- pg_statio_user_indexes
SELECT relid, indexrelid, schemaname, relname, indexrelname FROM pg_statio_user_indexes WHERE schemaname IN ('public', 'shop', 'Odd Names')

-- pg_statio_user_sequences
SELECT relid, schemaname, relname FROM pg_statio_user_sequences WHERE schemaname IN ('public', 'shop', 'Odd Names')

-- pg_stat_xact_user_tables
SELECT relid, schemaname, relname FROM pg_stat_xact_user_tables WHERE schemaname IN ('public', 'shop', 'Odd Names')

-- pg_stat_user_functions
SELECT * FROM pg_stat_user_functions WHERE schemaname IN ('public', 'shop', 'Odd Names')

-- pg_tables of the system
SELECT * FROM pg_tables WHERE schemaname = 'pg_catalog'

-- pg_indexes of the system
SELECT * FROM pg_indexes WHERE schemaname = 'pg_catalog'

-- pg_views of the system
SELECT schemaname, viewname, viewowner FROM pg_views WHERE schemaname IN ('pg_catalog', 'information_schema')

-- pg_enum
SELECT * FROM pg_catalog.pg_enum

-- pg_extension
SELECT * FROM pg_catalog.pg_extension

-- pg_event_trigger
SELECT * FROM pg_catalog.pg_event_trigger

-- pg_foreign_data_wrapper
SELECT * FROM pg_catalog.pg_foreign_data_wrapper

-- pg_foreign_server
SELECT * FROM pg_catalog.pg_foreign_server

-- pg_foreign_table
SELECT * FROM pg_catalog.pg_foreign_table

-- pg_user_mapping
SELECT * FROM pg_catalog.pg_user_mapping

-- pg_user_mappings
SELECT * FROM pg_catalog.pg_user_mappings

-- pg_inherits
SELECT * FROM pg_catalog.pg_inherits

-- pg_largeobject_metadata
SELECT * FROM pg_catalog.pg_largeobject_metadata

-- pg_partitioned_table
SELECT * FROM pg_catalog.pg_partitioned_table

-- pg_policy
SELECT * FROM pg_catalog.pg_policy

-- pg_publication
SELECT * FROM pg_catalog.pg_publication

-- pg_publication_rel
SELECT * FROM pg_catalog.pg_publication_rel

-- pg_publication_namespace
SELECT * FROM pg_catalog.pg_publication_namespace

-- pg_replication_slots
SELECT * FROM pg_catalog.pg_replication_slots

-- pg_replication_origin
SELECT * FROM pg_catalog.pg_replication_origin

-- pg_seclabel
SELECT * FROM pg_catalog.pg_seclabel

-- pg_seclabels
SELECT * FROM pg_catalog.pg_seclabels

-- pg_shseclabel
SELECT * FROM pg_catalog.pg_shseclabel

-- pg_sequence
SELECT * FROM pg_catalog.pg_sequence

-- pg_statistic_ext
SELECT * FROM pg_catalog.pg_statistic_ext

-- pg_subscription
SELECT * FROM pg_catalog.pg_subscription

-- pg_transform
SELECT * FROM pg_catalog.pg_transform

-- pg_trigger
SELECT * FROM pg_catalog.pg_trigger

-- pg_db_role_setting
SELECT * FROM pg_catalog.pg_db_role_setting

-- pg_parameter_acl
SELECT * FROM pg_catalog.pg_parameter_acl

-- pg_prepared_xacts
SELECT * FROM pg_catalog.pg_prepared_xacts

-- pg_stat_replication
SELECT * FROM pg_catalog.pg_stat_replication

-- pg_stat_subscription
SELECT * FROM pg_catalog.pg_stat_subscription

-- pg_stat_progress_copy
SELECT * FROM pg_catalog.pg_stat_progress_copy

-- pg_stat_progress_vacuum
SELECT * FROM pg_catalog.pg_stat_progress_vacuum

-- pg_stat_progress_create_index
SELECT * FROM pg_catalog.pg_stat_progress_create_index

-- pg_stat_wal_receiver
SELECT * FROM pg_catalog.pg_stat_wal_receiver

-- pg_group
SELECT * FROM pg_catalog.pg_group

-- pg_user
SELECT * FROM pg_catalog.pg_user

-- pg_auth_members
SELECT * FROM pg_catalog.pg_auth_members

-- pg_range
SELECT * FROM pg_catalog.pg_range

-- pg_language
SELECT * FROM pg_catalog.pg_language

-- pg_am
SELECT * FROM pg_catalog.pg_am

-- pg_cast
SELECT * FROM pg_catalog.pg_cast

-- pg_tablespace
SELECT * FROM pg_catalog.pg_tablespace

-- pg_aggregate
SELECT * FROM pg_catalog.pg_aggregate

-- pg_operator
SELECT * FROM pg_catalog.pg_operator

-- pg_opclass
SELECT * FROM pg_catalog.pg_opclass

-- pg_opfamily
SELECT * FROM pg_catalog.pg_opfamily

-- pg_amop
SELECT * FROM pg_catalog.pg_amop

-- pg_amproc
SELECT * FROM pg_catalog.pg_amproc

-- pg_conversion
SELECT * FROM pg_catalog.pg_conversion

-- pg_ts_config
SELECT * FROM pg_catalog.pg_ts_config

-- pg_ts_config_map
SELECT * FROM pg_catalog.pg_ts_config_map

-- pg_ts_dict
SELECT * FROM pg_catalog.pg_ts_dict

-- pg_ts_parser
SELECT * FROM pg_catalog.pg_ts_parser

-- pg_ts_template
SELECT * FROM pg_catalog.pg_ts_template

-- pg_roles
SELECT * FROM pg_catalog.pg_roles

-- pg_default_acl
SELECT * FROM pg_catalog.pg_default_acl

-- pg_namespace
SELECT * FROM pg_catalog.pg_namespace

-- pg_attrdef
SELECT oid, adrelid, adnum, pg_get_expr(adbin, adrelid), pg_get_expr(adbin, adrelid, true) FROM pg_attrdef

-- pg_class
SELECT oid, relname, relnamespace, reltype, reloftype, relowner, relam, reltablespace, relhasindex,
    relisshared, relpersistence, relkind, relnatts, relchecks, relhasrules, relhastriggers, relhassubclass,
    relrowsecurity, relforcerowsecurity, relispopulated, relreplident, relispartition, relacl
    FROM pg_class WHERE relnamespace <> 'pg_toast'::regnamespace AND relname NOT LIKE 'pg_toast%'

-- pg_attribute
SELECT a.* FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    WHERE c.relnamespace IN ('public'::regnamespace, 'shop'::regnamespace)

-- pg_attribute of the system
SELECT a.attrelid, a.attname, a.atttypid, a.attlen, a.attnum, a.attnotnull, a.atttypmod, a.attcollation
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    WHERE c.relnamespace IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)

-- pg_index
SELECT * FROM pg_index WHERE indrelid IN ('customer'::regclass, 'orders'::regclass, 'shop.order_line'::regclass)

-- pg_index of the system
SELECT i.* FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relnamespace = 'pg_catalog'::regnamespace

-- pg_constraint
SELECT * FROM pg_constraint WHERE conrelid <> 0 AND connamespace <> 'pg_toast'::regnamespace

-- pg_type
SELECT * FROM pg_type WHERE typnamespace <> 'pg_toast'::regnamespace

-- pg_type by the functions that read it
SELECT t.typname, p.proname, q.proname FROM pg_type t JOIN pg_proc p ON p.oid = t.typreceive JOIN pg_proc q ON q.oid = t.typsend

-- pg_proc
SELECT p.oid, p.proname, p.pronamespace, p.proowner, p.prolang, p.procost, p.prorows, p.provariadic, p.prokind, p.prosecdef,
    p.proleakproof, p.proisstrict, p.proretset, p.provolatile, p.proparallel, p.pronargs, p.pronargdefaults, p.prorettype,
    p.proargtypes, p.proallargtypes, p.proargmodes, p.proargnames, p.probin, p.proconfig, p.proacl FROM pg_proc p

-- pg_description
SELECT * FROM pg_description WHERE classoid IN ('pg_class'::regclass, 'pg_proc'::regclass, 'pg_type'::regclass, 'pg_operator'::regclass, 'pg_namespace'::regclass)

-- pg_collation
SELECT oid, collname, collnamespace, collowner, collprovider, collisdeterministic, collencoding, collcollate, collctype
    FROM pg_collation WHERE collname IN ('default', 'C', 'POSIX', 'ucs_basic')

-- pg_depend of a table
SELECT classid::regclass, objid, objsubid, refclassid::regclass, refobjid, refobjsubid, deptype FROM pg_depend
    WHERE objid = 'customer'::regclass AND classid = 'pg_class'::regclass

-- pg_database
SELECT oid, datname, datdba, encoding, datlocprovider, datistemplate, datallowconn, datconnlimit, dattablespace, datcollate, datacl FROM pg_database

-- pg_settings
SELECT name, setting, unit, vartype, context FROM pg_settings WHERE name IN ('max_identifier_length', 'max_index_keys',
    'standard_conforming_strings', 'server_encoding', 'integer_datetimes', 'search_path', 'statement_timeout', 'extra_float_digits',
    'client_encoding', 'bytea_output', 'default_transaction_isolation', 'row_security', 'lock_timeout')

-- pg_stat_activity
SELECT datid, datname, pid = pg_backend_pid(), usesysid, usename, client_hostname, backend_type, state FROM pg_stat_activity WHERE pid = pg_backend_pid()

-- pg_stat_database
SELECT datid, datname FROM pg_stat_database WHERE datname = current_database()

-- pg_stat_ssl
SELECT pid = pg_backend_pid(), version, cipher FROM pg_stat_ssl WHERE pid = pg_backend_pid()

-- pg_locks of nobody
SELECT locktype, database, relation, page, mode, granted FROM pg_locks WHERE pid = 0

-- an alias of each kind
SELECT 'customer'::regclass, 'shop.order_line'::regclass::oid, 'integer'::regtype, 'text[]'::regtype, 'shop'::regnamespace, 'catalog_clerk'::regrole,
    'pg_get_userbyid'::regproc, 'lower(text)'::regprocedure, 'pg_catalog.int4in'::regproc, '2205'::regtype, 1259::regclass, 0::regclass

-- a function that is not the only one
SELECT 'lower'::regproc

-- aliases as texts
SELECT 'customer'::regclass::text, 'customer'::regtype::text, 'shop.priced'::regclass::text, '"Odd Names"."Table One"'::regclass::text, 'pg_class'::regclass::text

-- aliases compared
SELECT count(*) FROM pg_class WHERE oid = 'customer'::regclass OR oid = 'shop.order_line'::regclass::oid OR relnamespace = 'shop'::regnamespace AND relkind = 'v'

-- what is not there
SELECT to_regclass('nosuch'), to_regtype('nosuch'), to_regnamespace('nosuch'), to_regproc('nosuch'), to_regrole('nosuch')

-- types of the catalogs
SELECT pg_typeof(oid), pg_typeof(relname), pg_typeof(relkind), pg_typeof(relacl), pg_typeof(relfrozenxid) FROM pg_class WHERE relname = 'pg_class'

-- vectors
SELECT indkey, indkey[0], indclass, indclass[0], array_length(indkey, 1) FROM pg_index WHERE indexrelid = 'orders_by_customer'::regclass

-- operators with their schema
SELECT relname FROM pg_class WHERE relname OPERATOR(pg_catalog.~) '^(customer)$' COLLATE pg_catalog.default AND oid OPERATOR(pg_catalog.<>) 0 AND relkind OPERATOR(pg_catalog.=) 'r'

-- functions with their schema
SELECT pg_catalog.version() IS NOT NULL, pg_catalog.current_database(), pg_catalog.current_schema(), pg_catalog.has_schema_privilege('shop', 'USAGE'),
    pg_catalog.pg_get_userbyid(10), pg_catalog.format_type(23, NULL), pg_catalog.quote_ident('a b'), pg_catalog.obj_description('customer'::regclass, 'pg_class')

-- formatted types
SELECT oid, format_type(oid, NULL) FROM pg_type WHERE typtype IN ('b', 'p', 'r', 'm', 'd') AND typrelid = 0 AND oid < 12000

-- arguments of functions
SELECT p.oid, pg_get_function_identity_arguments(p.oid), pg_get_function_result(p.oid) FROM pg_proc p
