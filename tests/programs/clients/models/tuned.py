"""A network whose schedules were searched for, by `ferrite model --tune`, beside the same one without: in rounds in which both take turns.

usage: tuned.py [NETWORK [MINUTES [WORK]]]

The search and the times are on one thread. A result that differs from ONNX Runtime's by more than a thousandth fails. WORK is a folder
that keeps the records, and what was compiled.
"""

import json
import os
import pathlib
import sys
import tempfile

from fetch import fetched
from networks import TOLERANCE, ferrite_library
from runtimes import compiled, tree

VARIABLES = {"TVM_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def main(folder, name="voice", minutes="2"):
    folder.mkdir(parents=True, exist_ok=True)
    path, library = (fetched() | tree.write(folder))[name], ferrite_library()
    # The search needs a library that writes TVM's modules.
    search = VARIABLES | {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    records = ["--records", folder / "records"]
    models = {"ferrite": compiled.library(name, path, 1, folder / "plain", [])}
    models["tuned"] = compiled.library(name, path, 1, folder / "tuned", [*records, "--tune", minutes], search)
    models["records"] = compiled.library(name, path, 1, folder / "again", records, search)
    options = {"name": name, "path": path, "batch": 1, "threads": 1, "library": library, "models": models, "beside": []}
    row = json.loads(compiled.run(name, ["-m", "runtimes.speed", json.dumps(options, default=str)], VARIABLES).splitlines()[-1])
    for runtime, milliseconds in row["milliseconds"].items():
        print(f"{name}  {runtime:<12} {milliseconds:9.3f} ms")
    wrong = {runtime: found for runtime, found in row["differences"].items() if not found <= TOLERANCE}
    assert not wrong, f"results differ: {wrong}"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        name, minutes, work = [*sys.argv[1:], *("voice", "2", temporary)[len(sys.argv) - 1 :]]
        main(pathlib.Path(work), name, minutes)
