"""Superset in a browser: a database, a dataset of a materialized view, SQL Lab, a chart of it."""

import os
import re
import subprocess
import tempfile
from pathlib import Path

from playwright.sync_api import TimeoutError

from stage import (
    DATABASE, HOST, PORT, SCHEMA, USER, browsing, free_port, picture, program, running, said, sql,
    wait_for,
)

# docs: connect
uri = f"postgresql+psycopg2://{USER}@{HOST}:{PORT}/{DATABASE}"
# docs: end

CONFIG = """
SECRET_KEY = "of no use to anybody, and long enough for its check"
SQLALCHEMY_DATABASE_URI = "sqlite:///{home}/superset.db"
# It would run `ecpg` to look for errors, which is no part of Superset.
SQL_VALIDATORS_BY_ENGINE = {{}}
"""

# A schema that only Weir has.
ONE_SIDED = ("weir",)

home = tempfile.TemporaryDirectory(prefix="weir-superset-")
folder = Path(home.name)
config = folder / "superset_config.py"
config.write_text(CONFIG.format(home=folder))
environment = os.environ | {
    "HOME": home.name,
    "SUPERSET_HOME": home.name,
    "SUPERSET_CONFIG_PATH": str(config),
    "FLASK_APP": "superset",
}
superset = program("superset/bin/superset")


def prepare(*arguments):
    done = subprocess.run(
        [superset, *arguments], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"superset {arguments[0]}:\n{done.stdout[-1000:]}{done.stderr[-3000:]}")


def toast(page, text):
    page.get_by_text(text, exact=True).first.wait_for()
    said("Superset says", text)


def choose(page, name, choice):
    """Chooses from a list; all that is in it."""
    open_list = page.locator(".ant-select-dropdown:not(.ant-select-dropdown-hidden)")
    page.get_by_role("combobox", name=name).click()
    options = open_list.locator(".ant-select-item-option")
    wanted = options.filter(has=page.get_by_text(choice, exact=True))
    wanted.wait_for()
    names = options.all_inner_texts()
    wanted.click()
    open_list.wait_for(state="hidden")
    return [name for name in names if name not in ONE_SIDED]


def log_in(page):
    page.goto(f"{site}/login/")
    page.get_by_label("Username:").fill("admin")
    page.get_by_label("Password:").fill("secret")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/welcome/**")


def add_database(page):
    page.goto(f"{site}/databaseview/list/")
    page.get_by_role("button", name="Database", exact=False).first.click()
    dialog = page.locator(".ant-modal")
    dialog.get_by_role("button", name="PostgreSQL").click()
    dialog.get_by_role("button", name="Connect this database with a SQLAlchemy URI").click()
    dialog.locator("input[name=database_name]").fill("shop")
    dialog.locator("input[name=sqlalchemy_uri]").fill(uri)
    dialog.get_by_role("button", name="Test connection").click()
    toast(page, "Connection looks good!")
    dialog.get_by_role("button", name="Connect", exact=True).click()
    toast(page, "Database connected")


def add_dataset(page):
    page.goto(f"{site}/dataset/add/")
    choose(page, "Select database", "shop")
    said("schemas", choose(page, "Select schema", "public"))
    said("tables", choose(page, "Select table", "totals"))
    page.get_by_text("last_paid").wait_for()
    said("columns", page.locator("tbody").last.inner_text().split())
    page.get_by_role("button", name="Create and explore dataset").click()
    toast(page, "The dataset has been saved")


def sync_dataset(page):
    """The view is made anew with a column more, and the dataset follows."""
    sql("""
        DROP MATERIALIZED VIEW totals;
        CREATE MATERIALIZED VIEW totals AS
            SELECT account, count(*) AS payments, sum(amount)::numeric(12,2) AS total,
                max(paid_at) AS last_paid, bool_or(amount < 0) AS refunded
            FROM payments GROUP BY account
    """)
    page.goto(f"{site}/tablemodelview/list/")
    row = page.locator("tr", has_text="totals")
    row.hover()
    row.get_by_label("edit").first.click()
    dialog = page.locator(".ant-modal").first
    dialog.get_by_role("tab", name="Columns", exact=False).first.click()
    dialog.get_by_role("button", name="Sync columns from source").click()
    dialog.get_by_text("refunded").wait_for()
    dialog.get_by_role("button", name="Save").last.click()
    page.locator(".ant-modal").last.get_by_role("button", name="OK").click()
    toast(page, "The dataset has been saved")
    columns = page.request.get(f"{site}/api/v1/dataset/1").json()["result"]["columns"]
    for column in sorted(columns, key=lambda column: column["column_name"]):
        said("column", column["column_name"], column["type"], column["is_dttm"])


def run_sql(page):
    query = "SELECT * FROM totals ORDER BY account"
    page.goto(f"{site}/sqllab/?dbid=1&schema=public&title=totals&sql={query}")
    page.get_by_role("button", name="Run", exact=False).first.click()
    results = page.locator("[role=grid]").last
    results.get_by_text("eve").or_(results.get_by_text("bob")).first.wait_for()
    said("SQL Lab", results.inner_text().split())
    tree = page.locator("[role=tree]")
    tree.get_by_text("public", exact=True).click()
    wait_for(lambda: opens(tree, "payments", "paid_at"), "the columns of a table")
    said("tree", [name for name in tree.inner_text().split() if name not in ONE_SIDED])
    picture(page, "sql_lab")


def opens(tree, name, child):
    """Whether a click shows what is under a name: one while the tree is being made is lost."""
    tree.get_by_text(name, exact=True).click()
    shown = tree.get_by_text(child)
    try:
        shown.wait_for(timeout=10_000)
    except TimeoutError:
        return False
    return shown.is_visible()


def pick(page, name, value):
    """Chooses from a list of the dialog over a chart's control."""
    page.locator(".ant-popover:not(.ant-popover-hidden)").get_by_role(
        "combobox", name=name
    ).fill(value)
    page.locator(".ant-select-item-option-active", has_text=value).first.wait_for()
    page.keyboard.press("Enter")


def save_popover(page):
    dialog = page.locator(".ant-popover:not(.ant-popover-hidden)")
    dialog.get_by_role("button", name="Save").click()
    dialog.wait_for(state="hidden")


def make_chart(page):
    page.goto(f"{site}/chart/add?dataset=totals")
    page.get_by_text("Bar Chart", exact=True).first.click()
    page.get_by_role("button", name="Create new chart").click()
    page.wait_for_url("**/explore/**")
    page.get_by_text("Drop a column here or click").first.click()
    dialog = page.locator(".ant-popover:not(.ant-popover-hidden)")
    dialog.get_by_role("tab", name="Simple").click()
    pick(page, "Columns and metrics", "account")
    save_popover(page)
    page.get_by_text("Drop columns/metrics here or click").first.click()
    dialog.get_by_role("tab", name="Simple").click()
    pick(page, "Select column", "total")
    pick(page, "Select aggregate", "SUM")
    save_popover(page)
    draw(page, "Create chart")
    page.get_by_role("tab", name="Results").click()


def draw(page, button):
    """Has the chart drawn, and compares its data with what the view has."""
    with page.expect_response(is_for_chart) as answer:
        page.get_by_role("button", name=button).click()
    result = answer.value.json()["result"][0]
    said("chart", result["status"], result["error"], result["data"])
    view = sql("SELECT account, total FROM totals ORDER BY account")
    data = sorted((row["account"], row["SUM(total)"]) for row in result["data"])
    said("as in the view", data == [(account, float(total)) for account, total in view])
    # Charts are drawn on a canvas.
    page.locator("canvas").first.wait_for()


def is_for_chart(response):
    """The table under a chart asks too."""
    asked = response.request.post_data or ""
    return "/api/v1/chart/data" in response.url and '"result_type":"full"' in asked


def change_chart(page):
    shown = page.locator("[role=tabpanel]:visible").last
    shown.get_by_text("bob", exact=True).wait_for()
    said("results", rows_shown(shown))
    sql("""
        INSERT INTO payments VALUES (4, 'eve', 20.25, '2026-03-01'), (5, 'bob', 4, '2026-03-02');
        REFRESH MATERIALIZED VIEW totals
    """)
    draw(page, "Update chart")
    shown.get_by_text("eve", exact=True).wait_for()
    said("results", rows_shown(shown))
    # The bars grow.
    page.wait_for_timeout(2000)
    said("a picture", picture(page, "superset"))


def rows_shown(panel):
    """The table under a chart."""
    return panel.inner_text().partition("account")[2].split()


sql(SCHEMA)
prepare("db", "upgrade")
prepare("fab", "create-admin", "--username", "admin", "--password", "secret",
        "--firstname", "A", "--lastname", "B", "--email", "admin@example.com")
prepare("init")
port = free_port()
site = f"http://127.0.0.1:{port}"
log = folder / "superset.log"
command = [superset, "run", "--host", "127.0.0.1", "--port", str(port), "--with-threads"]
with running(command, environment, log, f"{site}/health"), browsing("superset") as page:
    steps = (log_in, add_database, add_dataset, sync_dataset, run_sql, make_chart, change_chart)
    for step in steps:
        step(page)
        said("done", step.__name__)
# Superset asks for a database that is called like the schema, everywhere: an error in both runs.
for line in log.read_text().splitlines():
    if error := re.search(r":ERROR:.*|^\w+Error\b.*", line):
        said("in the log", re.sub(r"port \d+", "port N", error[0]))
