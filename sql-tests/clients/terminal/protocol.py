"""psql 18 by protocol 3.2, which PostgreSQL 15 does not speak: the version, and a cancelling."""

import os
import signal
import subprocess
import time

from psql18 import PSQL, URL

os.environ |= {"PGMINPROTOCOLVERSION": "3.2", "PGMAXPROTOCOLVERSION": "latest"}
COMMAND = [PSQL, "-X", "-A", "-t", "-P", "pager=off", URL]
told = subprocess.run([*COMMAND, "-c", "\\conninfo"], capture_output=True, text=True)
print(*(line for line in told.stdout.splitlines() if "Protocol" in line), told.stderr)
# The key that cancels has 32 bytes in this version.
sleeping = subprocess.Popen(
    [*COMMAND, "-c", "SELECT pg_sleep(60)"], stderr=subprocess.PIPE, text=True
)
time.sleep(1)
sleeping.send_signal(signal.SIGINT)
print(sleeping.communicate(timeout=30)[1])
