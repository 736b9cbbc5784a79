"""dbt: a project's seeds, models of every kind, snapshots, tests and documentation; and all anew."""

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
    show("SELECT * FROM shop.facts ORDER BY id")
    show("SELECT * FROM shop.months ORDER BY month")
    show("SELECT * FROM shop.history ORDER BY id, amount")
    show("SELECT * FROM shop.latest ORDER BY account")
    show(
        "SELECT c.relname, c.relkind FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE n.nspname = 'shop' AND c.relkind <> 'i' ORDER BY 1"
    )


def execute(statement):
    """What happens to the tables between two runs."""
    connection = psycopg2.connect(URL)
    with connection.cursor() as cursor:
        cursor.execute(statement)
    connection.commit()
    connection.close()


dbt("seed")
dbt("run")
contents()
dbt("test")
# Tables and views are made anew; what is incremental gets what is new.
execute("INSERT INTO shop.payments VALUES (5, 'ada', 4, '2026-03-05'), (6, 'tom', 1, NULL)")
dbt("run", "--vars", "factor: 2")
contents()
dbt("run", "--full-refresh", "--select", "history", "latest", "--vars", "factor: 3")
contents()
dbt("snapshot")
execute("INSERT INTO shop.payments VALUES (7, 'bob', 5, '2026-04-01')")
dbt("run", "--select", "latest")
dbt("snapshot")
show("SELECT account, payments, total, dbt_valid_to IS NULL FROM shop.accounts ORDER BY 1, 2")
dbt("build", "--full-refresh")
contents()
# What makes a test fail.
execute("INSERT INTO shop.payments VALUES (1, 'eve', 1.25, '2026-03-02')")
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
