"""Time per operator of a compiled model: a table, JSON and a picture."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import quote
from failure import Failure

from . import picture, report

RUN = pathlib.Path(__file__).resolve().parent / "run.py"


def write(library, function, arrays, folder):
    """Runs a model in a process of its own, prints the table, and writes `profile.json` and `profile.svg`."""
    measured = _measured(library, function, arrays)
    rows = report.rows(measured)
    content = {key: measured[key] for key in ("library", "threads", "seconds", "peak_flops", "peak_bytes")}
    (folder / "profile.json").write_text(json.dumps(content | {"operators": rows}, indent=1) + "\n")
    (folder / "profile.svg").write_text(picture.svg(rows, library.stem))
    print(report.table(measured, rows))


def _measured(library, function, arrays):
    import numpy

    with tempfile.TemporaryDirectory() as place:
        inputs, result = pathlib.Path(place, "inputs.npz"), pathlib.Path(place, "result.json")
        numpy.savez(inputs, *arrays)
        command = [sys.executable, "-B", str(RUN), str(library), function, str(inputs), str(result)]
        threads = os.environ.get("TVM_NUM_THREADS")
        # The peak is that of as many threads as the model has.
        environment = os.environ | ({"OPENBLAS_NUM_THREADS": threads} if threads else {})
        outcome = subprocess.run(command, capture_output=True, text=True, env=environment)
        if outcome.returncode:
            last = (outcome.stderr.strip().splitlines() or ["without a message"])[-1]
            raise Failure(f"the model cannot be profiled: {quote.visible(last)}")
        return json.loads(result.read_text())
