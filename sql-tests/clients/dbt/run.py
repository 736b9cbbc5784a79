"""dbt: a project's seeds, materialized views, tests and documentation, and all of it anew."""

import json
import os
from pathlib import Path
from urllib.parse import urlsplit

import psycopg2
from dbt.cli.main import dbtRunner

URL = os.environ["DATABASE_URL"]
PROJECT = Path(__file__).with_name("project")
WHERE = urlsplit(URL)
os.environ |= {
    "PGHOST": WHERE.hostname,
    "PGPORT": str(WHERE.port),
    "PGUSER": WHERE.username,
    "PGDATABASE": WHERE.path[1:],
    "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
    "DBT_LOG_LEVEL": "none",
    "DBT_PROJECT_DIR": str(PROJECT),
    "DBT_PROFILES_DIR": str(PROJECT),
}


def dbt(*arguments):
    """Runs a command of dbt, as its own `dbt` does, and prints how each node ended."""
    print("dbt", *arguments)
    done = dbtRunner().invoke(list(arguments))
    print("success", done.success, done.exception)
    results = getattr(done.result, "results", [])
    for result in sorted(results, key=lambda r: getattr(r, "node", r).unique_id):
        # A materialized view that is made says so in one, and how many rows it has in the other.
        made = str(result.message).startswith(("SELECT ", "CREATE MATERIALIZED VIEW"))
        message = "made" if made else result.message
        print(" ", result.node.unique_id, result.status, message, result.failures)


def show(query):
    """What is in the database after it."""
    connection = psycopg2.connect(URL)
    with connection.cursor() as cursor:
        cursor.execute(query)
        for row in cursor.fetchall():
            print(" ", *row)
    connection.close()


def contents():
    show("SELECT * FROM shop.payments ORDER BY id")
    show("SELECT * FROM shop.balances ORDER BY account")
    show("SELECT paid_on, payments, balance::numeric(8,2) FROM shop.daily ORDER BY paid_on")
    show(
        "SELECT c.relname, c.relkind FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE n.nspname = 'shop' AND c.relkind <> 'i' ORDER BY 1"
    )


dbt("seed")
dbt("run")
contents()
dbt("test")
dbt("build", "--full-refresh")
contents()
# What makes a test fail.
connection = psycopg2.connect(URL)
with connection.cursor() as cursor:
    cursor.execute("INSERT INTO shop.payments VALUES (1, 'eve', 1.25, '2026-03-02')")
connection.commit()
connection.close()
dbt("test", "--select", "payments", "--exclude", "test_type:singular")
dbt("docs", "generate")
catalog = json.loads((PROJECT / "target" / "catalog.json").read_text())
print("errors", catalog["errors"])
for name, node in sorted(catalog["nodes"].items()):
    metadata = node["metadata"]
    print(" ", name, metadata["type"], metadata["schema"], metadata["name"], metadata["comment"])
    for column in sorted(node["columns"].values(), key=lambda column: column["index"]):
        # The type of a sum says its digits in one and not in the other.
        shown = column["type"].partition("(")[0]
        print("   ", column["index"], column["name"], shown, column["comment"])
