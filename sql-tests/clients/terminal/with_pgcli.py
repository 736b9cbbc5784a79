"""pgcli in a terminal, as somebody types: names are completed, queries and \\d are answered."""

import os
import sys
import tempfile
from pathlib import Path

import pexpect

URL = os.environ["DATABASE_URL"]
PGCLI = Path(sys.executable).with_name("pgcli")
SECONDS_MAX = 40
TRIES_MAX = 15
home = tempfile.TemporaryDirectory()
settings = Path(home.name, "config")
settings.write_text(
    "[main]\nprompt = 'ready> '\nenable_pager = False\ntable_format = csv\nless_chatty = True\n"
    "smart_completion = True\nauto_suggest = False\ntiming = False\n"
)
# docs: connect
terminal = pexpect.spawn(
    str(PGCLI),
    ["--pgclirc", str(settings), URL],
    # docs: end
    env=os.environ | {"HOME": home.name, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"},
    dimensions=(50, 200),
    encoding="utf-8",
    timeout=SECONDS_MAX,
)


def ask(keys, answer):
    """Types, waits for the answer, which has more than what was typed, and prints it."""
    terminal.send(keys)
    try:
        terminal.expect(answer)
    except pexpect.TIMEOUT:
        print("FAILED", repr(keys), terminal.before)
        sys.exit(1)
    print(repr(keys), terminal.after.split())


terminal.expect("ready>")
ask("INSERT INTO payment VALUES (1, 'ada', 10.5), (2, 'bob', 3), (3, 'ada', -0.5);\r", "INSERT 0 3")
ask("SELECT account, total FROM balance ORDER BY 1;\r", '"ada","10.00"\r\n"bob","3.00"')
# Names are completed from the catalogs, which it reads in the background.
for _ in range(TRIES_MAX):
    terminal.send("SELECT payments FROM bal\t")
    completed = terminal.expect(["balance", pexpect.TIMEOUT], timeout=3) == 0
    if completed:
        break
    terminal.send("\x05\x15")
print("completes a name", completed)
ask("\t WHERE total > 5;\r", '"payments"\r\n"2"')
ask("\\dt\r", '"public","payment","table"')
ask("SELECT nosuch FROM payment;\r", 'column "nosuch" does not exist')
ask("begin;\r", "BEGIN")
ask("INSERT INTO payment VALUES (4, 'eve', 1);\r", "INSERT 0 1")
ask("rollback;\r", "ROLLBACK")
ask("SELECT count(*) AS many FROM payment;\r", '"many"\r\n"3"')
# A key that comes before it has its prompt again is lost.
for _ in range(TRIES_MAX):
    terminal.sendeof()
    if terminal.expect([pexpect.EOF, pexpect.TIMEOUT], timeout=3) == 0:
        break
terminal.close()
print("ended", terminal.exitstatus)
