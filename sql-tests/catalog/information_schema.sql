-- The standard's schema, as tools and people read it.

-- tables
SELECT * FROM information_schema.tables
    WHERE table_schema IN ('public', 'shop', 'Odd Names')

-- columns
SELECT * FROM information_schema.columns
    WHERE table_schema IN ('public', 'shop', 'Odd Names')

-- views
SELECT * FROM information_schema.views
    WHERE table_schema IN ('public', 'shop', 'Odd Names')

-- table_constraints
SELECT * FROM information_schema.table_constraints
    WHERE table_schema IN ('public', 'shop', 'Odd Names')

-- key_column_usage
SELECT * FROM information_schema.key_column_usage
    WHERE table_schema IN ('public', 'shop', 'Odd Names')

-- constraint_column_usage
SELECT * FROM information_schema.constraint_column_usage
    WHERE table_schema IN ('public', 'shop', 'Odd Names')

-- constraint_table_usage
SELECT * FROM information_schema.constraint_table_usage
    WHERE table_schema IN ('public', 'shop', 'Odd Names')

-- referential_constraints
SELECT * FROM information_schema.referential_constraints
    WHERE constraint_schema IN ('public', 'shop', 'Odd Names')

-- check_constraints
SELECT * FROM information_schema.check_constraints
    WHERE constraint_schema IN ('public', 'shop', 'Odd Names')

-- routines
SELECT * FROM information_schema.routines
    WHERE routine_schema IN ('public', 'shop', 'Odd Names')

-- parameters
SELECT * FROM information_schema.parameters
    WHERE specific_schema IN ('public', 'shop', 'Odd Names')

-- sequences
SELECT * FROM information_schema.sequences
    WHERE sequence_schema IN ('public', 'shop', 'Odd Names')

-- schemata
SELECT * FROM information_schema.schemata
    WHERE schema_name IN ('public', 'shop', 'Odd Names')

-- table_privileges
SELECT * FROM information_schema.table_privileges
    WHERE table_schema IN ('public', 'shop', 'Odd Names')

-- role_table_grants
SELECT * FROM information_schema.role_table_grants
    WHERE table_schema IN ('public', 'shop', 'Odd Names')

-- column_privileges
SELECT * FROM information_schema.column_privileges
    WHERE table_schema IN ('public', 'shop', 'Odd Names')

-- role_column_grants
SELECT * FROM information_schema.role_column_grants
    WHERE table_schema IN ('public', 'shop', 'Odd Names')

-- routine_privileges
SELECT * FROM information_schema.routine_privileges
    WHERE routine_schema IN ('public', 'shop', 'Odd Names')

-- role_routine_grants
SELECT * FROM information_schema.role_routine_grants
    WHERE routine_schema IN ('public', 'shop', 'Odd Names')

-- triggers
SELECT * FROM information_schema.triggers
    WHERE trigger_schema IN ('public', 'shop', 'Odd Names')

-- triggered_update_columns
SELECT * FROM information_schema.triggered_update_columns
    WHERE trigger_schema IN ('public', 'shop', 'Odd Names')

-- domains
SELECT * FROM information_schema.domains
    WHERE domain_schema IN ('public', 'shop', 'Odd Names')

-- domain_constraints
SELECT * FROM information_schema.domain_constraints
    WHERE domain_schema IN ('public', 'shop', 'Odd Names')

-- domain_udt_usage
SELECT * FROM information_schema.domain_udt_usage
    WHERE domain_schema IN ('public', 'shop', 'Odd Names')

-- element_types
SELECT * FROM information_schema.element_types
    WHERE object_schema IN ('public', 'shop', 'Odd Names')

-- data_type_privileges
SELECT * FROM information_schema.data_type_privileges
    WHERE object_schema IN ('public', 'shop', 'Odd Names')

-- attributes
SELECT * FROM information_schema.attributes
    WHERE udt_schema IN ('public', 'shop', 'Odd Names')

-- user_defined_types
SELECT * FROM information_schema.user_defined_types
    WHERE user_defined_type_schema IN ('public', 'shop', 'Odd Names')

-- view_table_usage
SELECT * FROM information_schema.view_table_usage
    WHERE view_schema IN ('public', 'shop', 'Odd Names')

-- view_column_usage
SELECT * FROM information_schema.view_column_usage
    WHERE view_schema IN ('public', 'shop', 'Odd Names')

-- view_routine_usage
SELECT * FROM information_schema.view_routine_usage
    WHERE table_schema IN ('public', 'shop', 'Odd Names')

-- column_udt_usage
SELECT * FROM information_schema.column_udt_usage
    WHERE table_schema IN ('public', 'shop', 'Odd Names')

-- column_options
SELECT * FROM information_schema.column_options
    WHERE table_schema IN ('public', 'shop', 'Odd Names')

-- column_domain_usage
SELECT * FROM information_schema.column_domain_usage
    WHERE table_schema IN ('public', 'shop', 'Odd Names')

-- column_column_usage
SELECT * FROM information_schema.column_column_usage
    WHERE table_schema IN ('public', 'shop', 'Odd Names')

-- udt_privileges
SELECT * FROM information_schema.udt_privileges
    WHERE udt_schema IN ('public', 'shop', 'Odd Names')

-- usage_privileges
SELECT * FROM information_schema.usage_privileges
    WHERE object_schema IN ('public', 'shop', 'Odd Names')

-- role_usage_grants
SELECT * FROM information_schema.role_usage_grants
    WHERE object_schema IN ('public', 'shop', 'Odd Names')

-- role_udt_grants
SELECT * FROM information_schema.role_udt_grants
    WHERE udt_schema IN ('public', 'shop', 'Odd Names')

-- foreign_tables
SELECT * FROM information_schema.foreign_tables
    WHERE foreign_table_schema IN ('public', 'shop', 'Odd Names')

-- routine_column_usage
SELECT * FROM information_schema.routine_column_usage
    WHERE table_schema IN ('public', 'shop', 'Odd Names')

-- routine_routine_usage
SELECT * FROM information_schema.routine_routine_usage
    WHERE routine_schema IN ('public', 'shop', 'Odd Names')

-- routine_sequence_usage
SELECT * FROM information_schema.routine_sequence_usage
    WHERE sequence_schema IN ('public', 'shop', 'Odd Names')

-- routine_table_usage
SELECT * FROM information_schema.routine_table_usage
    WHERE table_schema IN ('public', 'shop', 'Odd Names')

-- transforms
SELECT * FROM information_schema.transforms
    WHERE udt_schema IN ('public', 'shop', 'Odd Names')

-- information_schema_catalog_name
SELECT * FROM information_schema.information_schema_catalog_name

-- enabled_roles
SELECT * FROM information_schema.enabled_roles

-- applicable_roles
SELECT * FROM information_schema.applicable_roles

-- administrable_role_authorizations
SELECT * FROM information_schema.administrable_role_authorizations

-- character_sets
SELECT * FROM information_schema.character_sets

-- collation_character_set_applicability
SELECT * FROM information_schema.collation_character_set_applicability
    WHERE collation_name IN ('C', 'POSIX', 'ucs_basic')

-- foreign_data_wrappers
SELECT * FROM information_schema.foreign_data_wrappers

-- foreign_data_wrapper_options
SELECT * FROM information_schema.foreign_data_wrapper_options

-- foreign_servers
SELECT * FROM information_schema.foreign_servers

-- foreign_server_options
SELECT * FROM information_schema.foreign_server_options

-- foreign_table_options
SELECT * FROM information_schema.foreign_table_options

-- user_mappings
SELECT * FROM information_schema.user_mappings

-- user_mapping_options
SELECT * FROM information_schema.user_mapping_options

-- sql_features
SELECT * FROM information_schema.sql_features

-- sql_implementation_info
SELECT * FROM information_schema.sql_implementation_info

-- sql_parts
SELECT * FROM information_schema.sql_parts

-- sql_sizing
SELECT * FROM information_schema.sql_sizing

-- collations
SELECT * FROM information_schema.collations WHERE collation_name IN ('C', 'POSIX', 'ucs_basic')

-- tables of the system
SELECT table_schema, table_name, table_type, is_typed FROM information_schema.tables
    WHERE table_schema IN ('pg_catalog', 'information_schema')

-- columns of the system
SELECT table_name, column_name, ordinal_position, data_type, udt_name, is_nullable
    FROM information_schema.columns WHERE table_schema = 'pg_catalog'

-- columns of itself
SELECT table_name, column_name, ordinal_position, data_type, udt_name, domain_name
    FROM information_schema.columns WHERE table_schema = 'information_schema'

-- primary keys
SELECT tc.table_schema, tc.table_name, kcu.column_name, kcu.ordinal_position
    FROM information_schema.table_constraints tc JOIN information_schema.key_column_usage kcu
        USING (constraint_catalog, constraint_schema, constraint_name)
    WHERE tc.constraint_type = 'PRIMARY KEY' ORDER BY 1, 2, 4

-- columns by a parameter
-- $1: public
-- $2: orders
SELECT column_name, is_nullable, data_type FROM information_schema.columns
    WHERE table_schema = $1 AND table_name = $2 ORDER BY ordinal_position
