"""pgAdmin in a browser: a server, its tree down to a materialized view, rows, dashboards."""

import os
import re
import tempfile
from pathlib import Path

from playwright.sync_api import Error

from stage import (
    DATABASE, HOST, PORT, SCHEMA, USER, browsing, free_port, picture, program, running, said, sql,
    wait_for,
)

port = free_port()
site = f"http://127.0.0.1:{port}"
home = tempfile.TemporaryDirectory(prefix="weir-pgadmin-")
folder = Path(home.name)

# docs: connect
SERVER = {"host": HOST, "port": PORT, "db": DATABASE, "username": USER}
# docs: end

(folder / "config_local.py").write_text(f"""
SERVER_MODE = False
DATA_DIR = {str(folder / "data")!r}
DEFAULT_SERVER_PORT = {port}
# There is no network.
UPGRADE_CHECK_ENABLED = False
""")
environment = os.environ | {"HOME": home.name, "PYTHONPATH": home.name}

# A row of the tree by the names above it, what is below it, and what opens it.
FIND = """path => {
    const rows = [...document.querySelectorAll('.file-entry')];
    const depth = row => Number(row.dataset.depth);
    const name = row => row.querySelector('.file-name').innerText;
    const top = row => row.getBoundingClientRect().top;
    rows.sort((a, b) => top(a) - top(b));
    let at = -1;
    for (const [level, wanted] of path.entries()) {
        at++;
        while (at < rows.length && depth(rows[at]) > level
                && !(depth(rows[at]) == level + 1 && name(rows[at]) == wanted)) at++;
        if (at == rows.length || depth(rows[at]) != level + 1) return null;
    }
    const children = [];
    for (let below = at + 1; below < rows.length && depth(rows[below]) > path.length; below++) {
        const note = rows[below].querySelector('.text-muted').innerText;
        if (depth(rows[below]) == path.length + 1)
            children.push((name(rows[below]) + ' ' + note).trim());
    }
    const toggle = rows[at].querySelector('.directory-toggle');
    const has = state => toggle != null && toggle.classList.contains(state);
    return {
        label: rows[at].querySelector('.file-name'), toggle, children,
        closed: toggle != null && !has('open'), loading: has('loading'),
    };
}"""


class Row:
    """A row of the tree, as it is now."""

    def __init__(self, page, path):
        found = wait_for(lambda: page.evaluate_handle(FIND, path).get_properties(), f"row {path}")
        self.label, self.toggle = (found[name].as_element() for name in ("label", "toggle"))
        self.closed, self.loading, self.children = (
            found[name].json_value() for name in ("closed", "loading", "children")
        )


def click(page, path, part="label", **how):
    """Clicks a row. The tree is drawn anew as it pleases, so the row may go meanwhile."""

    def clicked():
        try:
            getattr(Row(page, path), part).click(timeout=5000, **how)
        except Error:
            return False
        return True

    wait_for(clicked, f"a click on {path}")


def opened(page, path):
    """Opens a row, and says what is below it."""
    said("tree", path[-1], [name for name in below(page, path) if name not in ONE_SIDED])


def below(page, path):
    """Opens a row; the names below it."""
    def ready():
        row = Row(page, path)
        if row.closed:
            # A click while the tree is drawn anew is lost.
            click(page, path, "toggle")
            page.wait_for_timeout(2000)
        return not row.closed and not row.loading and row.children

    return wait_for(ready, f"what is below {path}")


def tab(page, name):
    page.locator(".dock-tab", has_text=name).first.click()
    return page.locator(f"#id-{name.lower()}")


def look_at(page, path, *expected):
    """What pgAdmin shows of an object: its properties, its SQL, and its other tabs."""
    click(page, path)
    properties = tab(page, "Properties")
    name = properties.locator("input[name=name]")
    wait_for(lambda: name.count() and name.input_value() == path[-1], f"properties of {path}")
    values = properties.locator("input, textarea").evaluate_all(
        "all => all.map(one => [one.name, one.type == 'checkbox' ? one.checked : one.value])"
    )
    said("properties", path[-1], [value for value in values if value[0] in SHOWN and value[1]])
    code = tab(page, "SQL").locator(".cm-content")
    wait_for(lambda: f".{path[-1]}" in code.inner_text(), f"SQL of {path}")
    for line in code.inner_text().splitlines():
        if line.strip():
            said("   ", line.rstrip())
    for name in expected:
        shown = tab(page, name)
        # What was counted is each server's own.
        wait_for(lambda: shown.inner_text().strip(), f"{name} of {path}")
        said("shown", name)


def start(page):
    page.goto(site)
    dialog = page.locator(".MuiDialog-root")
    dialog.locator("input[type=password]").fill("to keep passwords")
    dialog.locator("button", has_text="OK").click()
    dialog.wait_for(state="hidden")


def add_server(page):
    page.get_by_text("Add New Server").click()
    dialog = page.locator(".dock-fbox .dock-panel")
    fill(dialog, "name", "shop")
    dialog.get_by_role("tab", name="Connection", exact=True).click()
    for name, value in SERVER.items():
        fill(dialog, name, str(value))
    dialog.locator("button", has_text="Save").click()
    dialog.wait_for(state="hidden")
    # The row above opens by itself.
    Row(page, server)


def fill(dialog, name, value):
    """The form may take the focus while one writes."""
    field = dialog.locator(f"input[name={name}]")

    def stays():
        field.fill(value)
        dialog.page.wait_for_timeout(300)
        return field.input_value() == value

    wait_for(stays, f"the field {name}")


def dashboard(page, path):
    click(page, path)
    shown = tab(page, "Dashboard")
    charts = shown.locator("canvas")
    wait_for(lambda: charts.count() >= 5, f"the charts of {path}")
    # They ask every second.
    page.wait_for_timeout(5000)
    said("dashboard", path[-1], charts.count(), shown.get_by_text("An error occurred").count())
    shown.get_by_role("tab", name="State").click()
    shown.get_by_text("Sessions", exact=True).first.wait_for()
    wait_for(lambda: USER in shown.inner_text(), f"the sessions of {path}")
    said("sessions", "pgAdmin 4" in shown.inner_text())


def open_tree(page):
    opened(page, ["Servers"])
    dashboard(page, server)
    picture(page, "pgadmin_dashboard")
    opened(page, server)
    said("database", DATABASE in below(page, database[:-1]))
    opened(page, database)
    dashboard(page, database)
    opened(page, [*database, "Schemas"])
    opened(page, public)
    views = [*public, "Materialized Views"]
    opened(page, views)
    view = [*views, "totals"]
    opened(page, view)
    opened(page, [*view, "Columns"])
    look_at(page, view, "Statistics", "Dependencies", "Dependents")
    tab(page, "SQL")
    said("a picture", picture(page, "pgadmin"))
    click(page, views, "toggle")


def open_table(page):
    tables = [*public, "Tables"]
    table = [*tables, "payments"]
    opened(page, tables)
    opened(page, table)
    for kind in ("Columns", "Constraints", "Indexes"):
        opened(page, [*table, kind])
    look_at(page, table, "Statistics")
    look_at(page, [*table, "Columns", "amount"])
    look_at(page, [*table, "Indexes", "payments_by_account"])


def edit_rows(page):
    """View/Edit Data of the table; the rows in a frame of their own."""
    click(page, [*public, "Tables", "payments"], button="right")
    page.get_by_role("menuitem", name="View/Edit Data").hover()
    page.get_by_role("menuitem", name="All Rows").click()
    said("rows", rows(page, "cmd_type=3"))


def query(page):
    """The query tool over the view, before and after rows come."""
    sql("""
        INSERT INTO payments VALUES (4, 'eve', 20.25, '2026-03-01'), (5, 'bob', 4, '2026-03-02');
        REFRESH MATERIALIZED VIEW totals
    """)
    click(page, database)
    page.keyboard.press("Alt+Shift+Q")
    frame = query_frame(page, "is_query_tool=true")
    frame.locator(".cm-content").first.click()
    page.keyboard.type("SELECT * FROM totals ORDER BY account")
    page.keyboard.press("F5")
    said("rows", rows(page, "is_query_tool=true"))
    said("a picture", picture(page, "pgadmin_query"))


def query_frame(page, part):
    def found():
        # What there is comes to be known while the page is waited for.
        page.wait_for_timeout(100)
        return next((frame for frame in page.frames if part in frame.url), None)

    return wait_for(found, f"frame {part}")


def rows(page, part):
    grid = query_frame(page, part).locator("[role=grid]")
    grid.get_by_text("ada").first.wait_for()
    return grid.locator("[role=row]").evaluate_all("""rows => rows.map(row =>
        [...row.querySelectorAll('[role=gridcell], [role=columnheader]')].map(c => c.innerText))
    """)


def answered(response):
    """pgAdmin says what fails in its answers."""
    if response.status >= 400:
        failed.append((response.status, response.url.removeprefix(site), response.text()[:500]))


# A schema that only Weir has, and what is a plain view on PostgreSQL.
ONE_SIDED = ("weir", "balance")
# Properties that are compared.
SHOWN = ("name", "owner", "spcname", "amname", "cltype", "attlen", "attprecision", "description")
server = ["Servers", "shop"]
database = [*server, "Databases", DATABASE]
public = [*database, "Schemas", "public"]
failed = []
sql(SCHEMA)
log = folder / "out"
with running([program("pgadmin/bin/pgadmin4")], environment, log, site):
    # The tree has only the rows that fit.
    with browsing("pgadmin", height=2000) as page:
        page.on("response", answered)
        for step in (start, add_server, open_tree, open_table, edit_rows, query):
            step(page)
            said("done", step.__name__)
said("failed", failed)
errors = log.read_text() + (folder / "data/pgadmin4.log").read_text()
said("errors in the log", re.findall(r"(?:ERROR|CRITICAL)\s.*|^\w+Error.*", errors, re.MULTILINE))
