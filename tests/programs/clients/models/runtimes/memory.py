"""Memory of a network on one runtime, in a process that has no other.

usage: python -m runtimes.memory JSON    time to load, largest resident memory and allocations of a call, as JSON

Allocations are counted if the library of `kernel_calls/allocations.c` is preloaded.
"""

import ctypes
import json
import pathlib
import subprocess
import sys
import tempfile
import time

from . import examples, speed
from .compiled import HERE, run

CALLS = 5
LOADS = 3
COUNTER = HERE.parents[1] / "kernel_calls/allocations.c"
RUNTIMES = ("ferrite", "onnxruntime")


def measured(runtime, name, path, batch, library, model, counter):
    arrays = examples.arrays(name, batch)
    if runtime == "ferrite":
        import execution  # noqa: F401 - before the clock
    else:
        import onnxruntime  # noqa: F401
    begin = time.perf_counter()
    call = opened(runtime, name, path, library, model, arrays)
    seconds = time.perf_counter() - begin
    counts = [allocations(call, counter) for _ in range(CALLS)]
    return {"load": 1000 * seconds, "resident": resident(), "allocations": min(counts) if counter else None}


def opened(runtime, name, path, library, model, arrays):
    """Loads a network. Returns a function that calls it."""
    if runtime == "ferrite":
        call, _ = speed.on_ferrite(library, model, list(arrays.values()))
        return call
    return speed.on_onnx_runtime(path, arrays | examples.constants(name), threads=1)


def allocations(call, counter):
    """Returns the number of blocks that a call allocates on all threads."""
    if not counter:
        return call()
    library = ctypes.CDLL(counter)
    library.begin_counting()
    call()
    return library.end_counting()


def resident():
    """Returns the most KiB of memory that this process had; unlike getrusage, without its parent's."""
    (line,) = (line for line in pathlib.Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1])


def rows(models, paths, batch, library):
    """Yields the measurements of each network on both runtimes: the shortest of a few loads, and sizes of files."""
    with tempfile.TemporaryDirectory() as folder:
        counter = pathlib.Path(folder) / "allocations.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", counter, COUNTER], check=True)
        for name, model in models.items():
            row = {"network": name, "bytes": {"ferrite": model.stat().st_size, "onnxruntime": paths[name].stat().st_size}}
            options = {"name": name, "path": str(paths[name]), "batch": batch, "library": str(library), "model": str(model)}
            for runtime in RUNTIMES:
                row[runtime] = of(runtime, options, counter)
            yield row


def of(runtime, options, counter):
    found = [process(options | {"runtime": runtime, "counter": None}) for _ in range(LOADS)]
    counted = process(options | {"runtime": runtime, "counter": str(counter)}, {"LD_PRELOAD": str(counter)})
    return {key: min(one[key] for one in found) for key in ("load", "resident")} | {"allocations": counted["allocations"]}


def process(arguments, variables=()):
    return json.loads(run(arguments["name"], ["-m", "runtimes.memory", json.dumps(arguments)], {"TVM_NUM_THREADS": "1", **dict(variables)}))


if __name__ == "__main__":
    print(json.dumps(measured(**json.loads(sys.argv[1]))))
