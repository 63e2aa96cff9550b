"""What a task written in Python can ask of Signalbox while it runs. The standard library alone.

    import os, sys
    sys.path.insert(0, os.environ["SIGNALBOX_HELPERS"])
    import signalbox

    done = signalbox.checkpoint() or 0
    signalbox.progress(done / 10, f"{done} files")
    signalbox.save(done + 1)
"""
import datetime
import http.client
import json
import os
import socket


class Stopped(Exception):
    """This attempt does not hold the task any more, or was cancelled: see `reason`."""

    def __init__(self, reason, message):
        super().__init__(message)
        self.reason = reason


class _Connection(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(os.environ["SIGNALBOX_SOCKET"])


def _ask(method, path, *body):
    connection = _Connection("signalbox")
    try:
        connection.request(method, path, *[json.dumps(one) for one in body])
        answer = connection.getresponse()
        text = answer.read().decode()
    finally:
        connection.close()
    value = json.loads(text) if text else None
    if answer.status == 409:
        raise Stopped(value["code"], value["message"])
    if answer.status >= 400:
        raise RuntimeError(value["message"])
    return value


class Window:
    """The window that the run is for: `at` is its scheduled time; the data interval goes from `start` to `end`."""

    def __init__(self, at, start, end):
        self.at, self.start, self.end = at, start, end


def window():
    """The window of this run, with datetimes in UTC; None for a run on demand."""
    texts = [os.environ.get("SIGNALBOX_WINDOW_" + name) for name in ("AT", "START", "END")]
    if texts[0] is None:
        return None
    return Window(*[datetime.datetime.fromisoformat(text.replace("Z", "+00:00")) for text in texts])


def progress(fraction=None, note=""):
    """Tells how far it is: 0 to 1, or None for what is not known."""
    _ask("POST", "/progress", {"fraction": fraction, "note": note})


def checkpoint():
    """What was saved last, by this attempt or an earlier one; None when there is nothing."""
    return _ask("GET", "/checkpoint")


def save(value):
    """Kept for the next attempt once this returns. JSON of at most 256 KiB."""
    _ask("PUT", "/checkpoint", value)


def assert_owned():
    """Raises Stopped when this attempt does not hold the task any more: ask before a write to an outside system."""
    _ask("POST", "/assert-owned")


def extend(ms):
    """Asks for more time; returns the milliseconds that are left."""
    return _ask("POST", "/extend", {"ms": ms})["leftMs"]


def add_tasks(tasks):
    """Adds tasks to this run, such as {"name": "load-a", "template": "load", "inputs": {"file": "a"}}: all of them or none.
    They begin once this task has succeeded."""
    _ask("POST", "/tasks", tasks)


def output(value):
    """What the next tasks get."""
    _ask("PUT", "/output", value)


def fail(kind, message="", retry_after_ms=0, memory_bytes=0):
    """What the exit that follows means: transient, permanent or resource."""
    said = {"class": kind, "message": message, "retryAfterMs": retry_after_ms, "memoryBytes": memory_bytes}
    _ask("POST", "/failure", said)
