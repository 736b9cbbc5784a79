"""What the scripts share: where the server is, and steps that print what they give."""

import os
from urllib.parse import urlsplit

URL = os.environ["DATABASE_URL"]
HOST, PORT, USER = urlsplit(URL).hostname, urlsplit(URL).port, urlsplit(URL).username
DATABASE = urlsplit(URL).path[1:]


def text(error):
    """An error as a line: its class, SQLSTATE and first line."""
    state = getattr(error, "sqlstate", None) or getattr(error, "pgcode", None)
    return f"{type(error).__name__} {state}: {str(error).partition(chr(10))[0]}"


def step(function):
    """Runs `function` at once and prints what it returns or raises."""
    try:
        print(function.__name__, function())
    except Exception as error:
        print(function.__name__, "FAILED", text(error))


def refused(call, *arguments):
    """The error that a call raises."""
    try:
        return call(*arguments)
    except Exception as error:
        return text(error)
