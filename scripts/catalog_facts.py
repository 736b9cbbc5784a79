#!/usr/bin/env python3
"""Writes src/catalog/pg/data/{relations,indexes,rows}.tsv from a PostgreSQL 15 as initdb leaves it.

Usage: catalog_facts.py PSQL-ARGUMENTS, of a database that is as template0 is; the extension
plpgsql must be dropped. The OIDs that initdb gives as they come are given anew, from 15,000 on;
relations that the files have keep theirs.
"""
import os
import subprocess
import sys

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../src/catalog/pg/data")
# OIDs from here on differ from build to build.
FIRST_GIVEN, FIRST_OWN = 12_000, 15_000
INFORMATION_SCHEMA = 13183
# Relations whose rows are facts, and which of them.
FIXED = {
    "pg_am": "", "pg_language": "", "pg_tablespace": "", "pg_range": "", "pg_cast": "",
    "pg_operator": "", "pg_opclass": "", "pg_opfamily": "", "pg_amop": "", "pg_amproc": "",
    "pg_conversion": "", "pg_ts_config": "", "pg_ts_config_map": "", "pg_ts_dict": "",
    "pg_ts_parser": "", "pg_ts_template": "",
    "pg_collation": "WHERE collname IN ('default', 'C', 'POSIX', 'ucs_basic')",
    "pg_type": "WHERE typrelid = 0 AND typelem NOT IN (SELECT oid FROM pg_type WHERE typrelid <> 0)",
    "pg_proc": "", "pg_aggregate": "",
    "information_schema.sql_features": "", "information_schema.sql_implementation_info": "",
    "information_schema.sql_parts": "", "information_schema.sql_sizing": "",
    "pg_description": "WHERE classoid NOT IN ('pg_collation'::regclass, 'pg_namespace'::regclass)"
    " OR objoid IN (100, 950, 951)",
}
# What has an OID, by the column that has it; and which columns hold OIDs of what.
OID_TYPES = {"oid", "regproc", "oidvector", "_oid", "regclass", "regtype"}


def psql(sql):
    command = ["psql", "-X", "-q", "-At", "-F", "\t", "-P", "null=\\N", *sys.argv[1:], "-c", sql]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [line.split("\t") for line in out.splitlines()]


def read_old():
    with open(os.path.join(DATA, "relations.tsv")) as file:
        lines = [line.rstrip("\n").split("\t") for line in file]
    return {(line[0], line[1]): line[2] for line in lines}


def given():
    """New OIDs for those that initdb gives."""
    old = read_old()
    result = {psql("SELECT oid FROM pg_namespace WHERE nspname = 'information_schema'")[0][0]:
              str(INFORMATION_SCHEMA)}
    fresh = FIRST_OWN
    known = psql(f"""
        SELECT * FROM (
            SELECT 'class' AS kind, c.oid, n.nspname, c.relname::text AS name FROM pg_class c
                JOIN pg_namespace n ON n.oid = relnamespace WHERE n.nspname <> 'pg_toast'
            UNION ALL SELECT 'type', t.oid, n.nspname, typname FROM pg_type t
                JOIN pg_namespace n ON n.oid = typnamespace WHERE n.nspname <> 'pg_toast'
            UNION ALL SELECT 'proc', p.oid, n.nspname, p.oid::regprocedure::text FROM pg_proc p
                JOIN pg_namespace n ON n.oid = pronamespace
            UNION ALL SELECT 'cast', oid, '', format_type(castsource, NULL) || format_type(casttarget, NULL) FROM pg_cast
            UNION ALL SELECT 'opclass', oid, '', opcname || opcmethod FROM pg_opclass
            UNION ALL SELECT 'opfamily', oid, '', opfname || opfmethod FROM pg_opfamily
            UNION ALL SELECT 'amop', oid, '', concat_ws(' ', amopfamily, amoplefttype, amoprighttype, amopstrategy) FROM pg_amop
            UNION ALL SELECT 'amproc', oid, '', concat_ws(' ', amprocfamily, amproclefttype, amprocrighttype, amprocnum) FROM pg_amproc
            UNION ALL SELECT 'collation', oid, '', collname FROM pg_collation WHERE collname = 'ucs_basic'
            UNION ALL SELECT 'ts', oid, '', dictname FROM pg_ts_dict
            UNION ALL SELECT 'ts', oid, '', cfgname FROM pg_ts_config
            UNION ALL SELECT 'ts', oid, '', tmplname FROM pg_ts_template
            UNION ALL SELECT 'constraint', oid, '', conname || contypid || conrelid FROM pg_constraint
            ) AS one WHERE oid BETWEEN {FIRST_GIVEN} AND 16383
        ORDER BY kind COLLATE "C", nspname COLLATE "C", name COLLATE "C" """)
    taken = set(old.values())
    for kind, oid, schema, name in known:
        result[oid] = old.get((schema, name)) if kind == "class" else None
        while result[oid] is None:
            result[oid] = str(fresh) if str(fresh) not in taken else None
            fresh += 1
    assert fresh < 16384, fresh
    return result


def main():
    new = given()

    def renamed(value, kind):
        if kind not in OID_TYPES or value == "\\N":
            return value
        if kind == "oidvector":
            return " ".join(new.get(one, one) for one in value.split(" "))
        if kind == "_oid":
            return "{" + ",".join(new.get(one, one) for one in value[1:-1].split(",")) + "}"
        return new.get(value, value)

    relations = psql("""
        SELECT n.nspname, c.relname, c.oid, c.relkind, string_agg(a.attname || ':' || a.atttypid ||
                CASE WHEN b.typbasetype <> 0 THEN '/' || b.typbasetype ELSE '' END ||
                CASE WHEN a.attnotnull THEN '!' ELSE '' END ||
                CASE WHEN a.attcollation = 100 THEN '~' ELSE '' END, ' ' ORDER BY a.attnum),
            c.reltype, t.typarray, CASE WHEN c.relisshared THEN 's' ELSE '-' END,
            replace(c.relacl::text, current_user, 'weir')
        FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 JOIN pg_type t ON t.oid = reltype
        JOIN pg_type b ON b.oid = a.atttypid
        WHERE c.relkind IN ('r', 'v') AND nspname IN ('pg_catalog', 'information_schema')
        GROUP BY c.oid, n.nspname, t.typarray, c.relacl::text
        ORDER BY n.nspname COLLATE "C" DESC, c.relname COLLATE "C" """)
    with open(os.path.join(DATA, "relations.tsv"), "w") as file:
        for schema, name, oid, kind, columns, row, array, shared, acl in relations:
            columns = " ".join(rename_column(new, column) for column in columns.split(" "))
            of = [new.get(one, one) for one in (oid, row, array)]
            file.write("\t".join([schema, name, of[0], kind, columns, *of[1:], shared, acl]) + "\n")

    indexes = psql("""
        SELECT i.relname, i.oid, c.relname, indisunique, indisprimary, indkey, indcollation,
            indclass, indoption, coalesce((SELECT p.oid FROM pg_constraint p
                WHERE conindid = i.oid AND contype IN ('p', 'u')), 0)
        FROM pg_index JOIN pg_class i ON i.oid = indexrelid JOIN pg_class c ON c.oid = indrelid
        WHERE i.relnamespace = 'pg_catalog'::regnamespace ORDER BY i.relname COLLATE "C" """)
    with open(os.path.join(DATA, "indexes.tsv"), "w") as file:
        for row in indexes:
            row[1], row[9] = new.get(row[1], row[1]), new.get(row[9], row[9])
            row[7] = renamed(row[7], "oidvector")
            file.write("\t".join(row) + "\n")

    with open(os.path.join(DATA, "rows.tsv"), "w") as file:
        for relation, condition in FIXED.items():
            write_rows(file, relation, condition, renamed)


def rename_column(new, column):
    name, kind = column.split(":")
    oid = kind.rstrip("!~").split("/")[0]
    return f"{name}:{new.get(oid, oid)}{kind[len(oid):]}"


def write_rows(file, relation, condition, renamed):
    columns = psql(f"SELECT attname, atttypid::regtype FROM pg_attribute WHERE attnum > 0"
                   f" AND attrelid = '{relation}'::regclass ORDER BY attnum")
    names = [name for name, _ in columns]
    types = {name: psql(f"SELECT typname FROM pg_type WHERE oid = '{kind}'::regtype")[0][0]
             for name, kind in columns}
    # Numbers, not the names that they print as; texts in one line.
    shown = {"regproc": "{}::oid", "text": "regexp_replace({}, '\\s+', ' ', 'g')",
             "_aclitem": "replace({}::text, current_user, 'weir')",
             # Of functions they are long, and of use to PostgreSQL alone.
             "pg_node_tree": "NULL::text" if relation == "pg_proc" else "{}"}
    chosen = ", ".join(shown.get(types[name], "{}").format(name) for name in names)
    rows = psql(f"SELECT {chosen} FROM {relation} {condition} ORDER BY ctid")
    rows = [[renamed(value, types[name]) for name, value in zip(names, row)] for row in rows]
    same = {name: rows[0][at] for at, name in enumerate(names)
            if len({row[at] for row in rows}) == 1 and len(rows) > 1}
    own = [at for at, name in enumerate(names) if name not in same]
    file.write(f"# {relation}\t" + " ".join(names[at] for at in own) + "\n")
    file.write("=\t" + "\t".join(f"{name}={value}" for name, value in same.items()) + "\n")
    for row in rows:
        # The database's own collation, which is not Weir's.
        of_here = relation.endswith("implementation_info")
        row = ["\\N" if of_here and value == "ucs_basic" else value for value in row]
        file.write("\t".join(row[at] for at in own) + "\n")


main()
