#!/usr/bin/env python3
"""Compares calls from Python: upstream's front end, ours, nanobind, pybind11, and C by hand. Called by run.sh.

usage: compare.py MODE --python PYTHON --build FOLDER --package FOLDER [--rows REGEX] [--torch]

MODE is `times`, `instructions`, `goals`, which counts instructions and compares them with goals.txt, or `record`, which
writes its limits. PYTHON has upstream's tvm_ffi; --package is the unpacked wheel of targets/host/python, --build what
build.sh made.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import calls
import goals

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from worker import SSE2  # noqa: E402 - it lies one folder up

# The front ends, each in a process of its own, as the extension changes tvm_ffi in place. The
# bindings are measured beside ours. Of the last one, only the import is counted.
FRONTS = {
    "ours": {"FERRITE_TVM_FFI": "1", "FERRITE_TVM_FFI_FAST": "1"},
    "upstream": {"FERRITE_TVM_FFI": "0"},
    "extension off": {"FERRITE_TVM_FFI": "1", "FERRITE_TVM_FFI_FAST": "0"},
}
MEASURED = ("ours", "upstream")
COLUMNS = ("floor", "floor +gil", "floor, object", "nanobind", "nanobind +gil", "pybind11", "ours", "ours -gil", "upstream", "upstream -gil")
ROUNDS = 9


def environment(options, front):
    """Return the variables of a process: nothing of the caller's that changes tvm_ffi, and a fixed order of dicts and sets."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "TVM_FFI", "LD_", "FERRITE_TVM"))}
    if not options.torch:
        inherited["TVM_FFI_DISABLE_TORCH_C_DLPACK"] = "1"
    path = os.pathsep.join([options.package, *filter(None, [os.environ.get("FERRITE_TORCH")])])
    return {**inherited, "PYTHONPATH": path, "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", **FRONTS[front]}


def command(options, front, *arguments):
    switches = ["--others"] * (front == "ours") + ["--torch"] * options.torch
    return [options.python, str(HERE / "calls.py"), options.build, front, "--rows", options.rows, *switches, *arguments]


def times(options):
    """Return nanoseconds of a call by row and column. The processes take turns; each cell is the best of its batches."""
    pipe = subprocess.PIPE
    processes = [
        subprocess.Popen(command(options, front), env=environment(options, front), stdin=pipe, stdout=pipe, text=True) for front in MEASURED
    ]
    best = {}
    for _ in range(ROUNDS):
        for process in processes:
            process.stdin.write("\n")
            process.stdin.flush()
            for row, column, repeated, empty, full in json.loads(process.stdout.readline() or sys.exit("FAILED: a process ended")):
                old = best.get((row, column), (repeated, empty, full))
                best[row, column] = repeated, min(old[1], empty), min(old[2], full)
    for process in processes:
        process.stdin.close()
        process.wait()
    results = {row: {} for row, _, _ in calls.ROWS}
    for (row, column), (repeated, empty, full) in best.items():
        results[row][column] = (full - empty) / repeated
    return results


def instructions(options):
    """Return instructions of a call by row and column; and those of the import, in the row `import`."""
    results = {row: {} for row, _, _ in calls.ROWS} | {calls.IMPORT: {}}
    for front in FRONTS:
        only_import = [] if front in MEASURED else ["--only-import"]
        if only_import and not re.search(options.rows, calls.IMPORT):
            continue
        counts = count(command(options, front, "--count", *only_import), environment(options, front) | SSE2)
        results[calls.IMPORT][front] = counts.pop((calls.IMPORT, front))
        empty = counts.pop(("empty", front), 0)
        for (row, column), found in counts.items():
            results[row][column] = (found - empty) / calls.COUNTED / calls.REPEATED[row]
    return results


def count(arguments, variables):
    """Run a process under callgrind; return what it counted, by row and column."""
    # The first import of a file compiles it.
    subprocess.run([*arguments, "--only-import"], env=variables, check=True, stdin=subprocess.DEVNULL)
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", *arguments], env=variables, capture_output=True, text=True
        )
        if done.returncode:
            sys.exit(f"FAILED {arguments}: {done.stderr[-2000:]}")
        return dict(sorted((dump for file in Path(folder).glob("out.*") if (dump := read(file))), reverse=True))


def read(file):
    """Return row, column and instructions of a dump; None for the one at the end. Of several with one name, the least is used."""
    text = file.read_text(errors="replace")
    name = re.search(r"^desc: Trigger: Client Request: (.*)\|(.*)$", text, re.M)
    total = re.search(r"^(?:summary|totals): (\d+)", text, re.M)
    return ((name[1], name[2]), int(total[1])) if name and total else None


def table(results, unit):
    """Print the results, and in brackets the ratio to the floor."""
    columns = [column for column in COLUMNS if any(column in row for row in results.values())]
    print(f"{unit} of a call, and in brackets the ratio to the floor")
    print(f"{'':34}" + "".join(f"{column:>16}" for column in columns))
    for name, row in results.items():
        floor = row.get("floor")
        line = [f"{row[column]:,.0f}" + (f" ({row[column] / floor:5.2f})" if floor else " " * 8) if column in row else "" for column in columns]
        if row and name != calls.IMPORT:
            print(f"{name:34}" + "".join(f"{cell:>16}" for cell in line))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=("times", "instructions", "goals", "record"))
    parser.add_argument("--python", required=True)
    parser.add_argument("--build", required=True)
    parser.add_argument("--package", required=True)
    parser.add_argument("--rows", default="")
    parser.add_argument("--torch", action="store_true")
    parser.add_argument("--json", help="a file that gets the results")
    options = parser.parse_args()
    results = times(options) if options.mode == "times" else instructions(options)
    table(results, "nanoseconds" if options.mode == "times" else "instructions")
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    if options.mode == "record":
        goals.record(results)
    return goals.check(results, options.rows) if options.mode in ("goals", "record") else 0


if __name__ == "__main__":
    sys.exit(main())
