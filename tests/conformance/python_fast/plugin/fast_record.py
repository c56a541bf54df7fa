"""pytest plugin: records the outcome of each test, and what it observed, in the JSON file that FAST_RECORD names."""

from __future__ import annotations

import json
import os
import re
import sys

import pytest

# Addresses, also in decimal: the text of an array of tensors whose type has no name. The heap of an
# interpreter that is not position-independent has short ones.
DECIMAL = r"(?:9\d{13}|\d{8,9})"
ADDRESS = re.compile(rf"0x[0-9a-f]{{6,}}|(?<=Array\(){DECIMAL}\b|(?<=, ){DECIMAL}(?=\))")
RECORD: dict = {"outcomes": {}, "observed": {}, "reasons": {}}


@pytest.fixture
def observe(request):
    """Return a function that records a value, which must be the same with and without the extension."""
    values = RECORD["observed"].setdefault(request.node.nodeid, [])

    def record(value):
        values.append(ADDRESS.sub("ADDRESS", value if isinstance(value, str) else repr(value)))
        return value

    return record


def pytest_runtest_logreport(report):
    outcomes = RECORD["outcomes"]
    if report.when == "call" or report.outcome != "passed":
        # A failure in set-up or teardown counts; a later success does not undo it.
        if outcomes.get(report.nodeid) != "failed":
            outcomes[report.nodeid] = report.outcome
    if report.failed:
        RECORD["reasons"][report.nodeid] = str(report.longrepr)[-3000:]


def pytest_collectreport(report):
    if report.failed:
        RECORD["outcomes"][report.nodeid] = "failed"
        RECORD["reasons"][report.nodeid] = str(report.longrepr)[-3000:]


def pytest_sessionfinish():
    import fast_state

    RECORD["state"] = fast_state.state()
    if path := os.environ.get("FAST_RECORD"):
        # Processes of a parallel run end at the same time: the file is that of one of them.
        part = f"{path}.{os.getpid()}"
        with open(part, "w", encoding="utf-8") as file:
            json.dump(RECORD, file)
        os.replace(part, path)


def pytest_report_header():
    return f"python {sys.version.split()[0]}, FERRITE_TVM_FFI_FAST={os.environ.get('FERRITE_TVM_FFI_FAST')}"
