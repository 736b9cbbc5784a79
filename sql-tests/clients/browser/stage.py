"""What the scripts share: where the server is, programs that run while they are needed, and a page.

With WEIR_SCREENSHOTS set, pictures are kept in that folder, under the name of the server's user.
"""

import contextlib
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import psycopg2
from playwright.sync_api import sync_playwright

URL = os.environ["DATABASE_URL"]
HOST, PORT, USER = urlsplit(URL).hostname, urlsplit(URL).port, urlsplit(URL).username
DATABASE = urlsplit(URL).path[1:]

# The machine may be busy.
SECONDS_MAX = 90

# The view is written as PostgreSQL writes it back: Weir keeps a query as it is.
SCHEMA = """
    CREATE TABLE payments
        (id bigint PRIMARY KEY, account text NOT NULL, amount numeric(12,2), paid_at timestamp);
    CREATE INDEX payments_by_account ON payments (account);
    COMMENT ON TABLE payments IS 'What was paid';
    CREATE MATERIALIZED VIEW totals AS
 SELECT payments.account,
    count(*) AS payments,
    sum(payments.amount)::numeric(12,2) AS total,
    max(payments.paid_at) AS last_paid
   FROM payments
  GROUP BY payments.account;
    INSERT INTO payments VALUES
        (1, 'ada', 10.50, '2026-01-02 03:04:05'), (2, 'bob', 3, '2026-01-03'),
        (3, 'ada', -0.50, '2026-02-01');
    REFRESH MATERIALIZED VIEW totals
"""


def sql(statements):
    """Runs statements, and gives what the last one has."""
    connection = psycopg2.connect(URL)
    connection.autocommit = True
    with contextlib.closing(connection), connection.cursor() as cursor:
        for statement in statements.split(";"):
            if statement.strip():
                cursor.execute(statement)
        return cursor.fetchall() if cursor.description else None


def said(*values):
    """Prints what was seen; what the database and the user are called is each server's own."""
    text = " ".join(map(str, values))
    print(re.sub(rf"\b(?:{DATABASE}|{USER})\b", "NAME", text), flush=True)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def program(name):
    """One that is installed beside this script's Python: `superset/bin/superset`."""
    return str(Path(sys.prefix).parent / name)


@contextlib.contextmanager
def running(command, environment, log, ready):
    """A program that serves `ready`, while it is needed. It dies with this script."""
    with open(log, "wb") as out:
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", *command],
            env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
        )
    try:
        wait_for(lambda: process.poll() is not None or serves(ready), f"{command[0]} to start")
        if process.poll() is not None:
            raise RuntimeError(f"{command[0]} ended:\n{Path(log).read_text()[-3000:]}")
        yield
    finally:
        process.kill()
        process.wait()


def serves(url):
    try:
        with urllib.request.urlopen(url, timeout=10):
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False


def wait_for(condition, what, seconds_max=SECONDS_MAX):
    """The first value of `condition()` that is one."""
    until = time.monotonic() + seconds_max
    while not (found := condition()):
        if time.monotonic() > until:
            raise TimeoutError(f"waited {seconds_max} s for {what}")
        time.sleep(0.1)
    return found


SEEN = {"width": 1280, "height": 800}


@contextlib.contextmanager
def browsing(name, height=800):
    """A page of Debian's Chromium; a picture of it is kept where a step fails."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium",
            args=["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-sync",
                  "--disable-background-networking", "--disable-component-update"],
        )
        page = browser.new_page(viewport=SEEN | {"height": height}, timezone_id="UTC")
        page.set_default_timeout(SECONDS_MAX * 1000)
        try:
            yield page
        except BaseException:
            picture(page, f"{name}_failed")
            raise
        finally:
            browser.close()


def picture(page, name):
    """A picture of what is seen on a page of a common size."""
    size = page.viewport_size
    page.set_viewport_size(SEEN)
    page.wait_for_timeout(1000)
    taken = page.screenshot()
    page.set_viewport_size(size)
    if folder := os.environ.get("WEIR_SCREENSHOTS"):
        (Path(folder) / f"{name}_{USER}.png").write_bytes(taken)
    return len(taken) > 10_000
