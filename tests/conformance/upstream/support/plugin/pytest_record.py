"""pytest plugin: record every event immediately, so that a crash loses only one test.

Each event is one JSON line, appended with a single write to the file named by FERRITE_RECORD.
FERRITE_ONLY is a JSON list of strings: tests whose id contains none of them do not run;
FERRITE_DONE names a file with the ids of tests that ran before a crash.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

_RECORD = os.open(os.environ["FERRITE_RECORD"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
_MAX_TEXT = 6000


def _put(**event) -> None:
    os.write(_RECORD, (json.dumps(event) + "\n").encode())


def _text(longrepr) -> str:
    if longrepr is None:
        return ""
    if isinstance(longrepr, tuple):  # a skip: (path, line, reason)
        return str(longrepr[2])
    return str(longrepr)[-_MAX_TEXT:]


def _dump_maps(when: str) -> None:
    """Record the memory map like maps_dump.c, but before the process can crash at its end."""
    code = [
        line
        for line in Path("/proc/self/maps").read_text().splitlines()
        if " r-xp " in line and "/" in line
    ]
    path = Path(os.environ["FERRITE_MAPS_DIR"]) / f"{os.getpid()}.{when}"
    path.write_text("".join(f"{line}\n" for line in code))


def pytest_collection_modifyitems(items) -> None:
    done = set(Path(os.environ["FERRITE_DONE"]).read_text().splitlines())
    only = json.loads(os.environ["FERRITE_ONLY"])
    items[:] = [
        item
        for item in items
        if json.dumps(item.nodeid) not in done
        and (not only or any(word in item.nodeid for word in only))
    ]


def pytest_collection_finish(session) -> None:
    _put(event="collected", ids=[item.nodeid for item in session.items])
    _dump_maps("collected")


def pytest_collectreport(report) -> None:
    if report.failed:
        _put(event="collect_error", id=report.nodeid, text=_text(report.longrepr))
    elif report.skipped:
        _put(event="collect_skip", id=report.nodeid, text=_text(report.longrepr))


def pytest_runtest_logstart(nodeid) -> None:
    _put(event="start", id=nodeid)


def pytest_runtest_logreport(report) -> None:
    _put(
        event="report",
        id=report.nodeid,
        when=report.when,
        outcome=report.outcome,
        duration=report.duration,
        xfail=hasattr(report, "wasxfail"),
        text=_text(report.longrepr),
    )


def pytest_runtest_logfinish(nodeid) -> None:
    _put(event="finish", id=nodeid)


def pytest_sessionfinish() -> None:
    _put(event="session_end")
    _dump_maps("session")
