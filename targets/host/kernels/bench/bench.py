#!/usr/bin/env python3
"""Compares bindings of one function: those of this library with pybind11, nanobind, ctypes and the C++ headers of apache-tvm-ffi.

usage: bench.py [STAGE...] [--rounds N] [--calls N] [--results FILE]

Stages, all of them if none is named: `file`, `copies` and `different` build each binding once, 70 times, and 70 times with different
constants; `imports`, `calls`, `torch` and `instructions` measure the last of these. What a stage measures replaces that in FILE, by default
results.json beside this file. It takes a quarter of an hour, most of which is upstream's headers and pybind11.

It needs numpy, pybind11, nanobind, apache-tvm-ffi and torch in its Python, cc, c++ and cargo, and valgrind for the instructions. Times of builds
are of the processor, not of the clock. All bindings take turns in each round, and each keeps its best.
"""

import argparse
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import builds

FOLDER = Path(__file__).resolve().parent
WORK = FOLDER.parent / "build/bench"


STAGES = ["file", "copies", "different", "imports", "calls", "torch", "instructions"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stages", nargs="*", choices=[*STAGES, []], metavar="STAGE")
    parser.add_argument("--rounds", type=int, default=5, help="builds of a file, and of 70 exports at most 2; four times as many imports")
    parser.add_argument("--calls", type=int, default=200, help="rounds of calls")
    parser.add_argument("--results", type=Path, default=FOLDER / "results.json")
    arguments = parser.parse_args()
    known = json.loads(arguments.results.read_text())["bindings"] if arguments.results.exists() else {}
    rows = {name: known.get(name, {}) for name in builds.BINDINGS}
    for stage in arguments.stages or STAGES:
        measured = {name: {} for name in rows}
        if stage in ("file", "copies", "different"):
            build(measured, stage, arguments.rounds if stage == "file" else min(arguments.rounds, 2))
        elif stage == "imports":
            imports(measured, 4 * arguments.rounds)
        elif stage == "calls":
            calls(measured, "calls", arguments.calls)
        elif stage == "torch":
            with_torch(measured, arguments.rounds, arguments.calls)
        else:
            instructions(measured)
        for name, figures in measured.items():
            rows[name].update(figures)
        arguments.results.write_text(json.dumps({"machine": machine(), "bindings": rows}, indent=2) + "\n")


def build(rows, stage, rounds):
    """Build each binding: once, 70 copies of it, or 70 that differ by a constant. Only the last are measured later."""
    targets = {name: builds.prepare(name, WORK, 1 if stage == "file" else 70, stage == "different") for name in rows}
    for _ in range(rounds):
        for name, target in targets.items():
            before = processor_time()
            target.build()
            seconds = round(processor_time() - before, 4)
            rows[name][f"build_{stage}_s"] = min(seconds, rows[name].get(f"build_{stage}_s", seconds))
    for name, target in targets.items():
        rows[name][f"size_{stage}_bytes"] = target.stripped_size()
        print(name, rows[name], flush=True)


def processor_time():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def imports(rows, rounds):
    """Load 70 exports in new processes, in which numpy and tvm_ffi are already imported."""
    for _ in range(rounds):
        for name in rows:
            seconds = float(run(name, "import"))
            rows[name]["import_ms"] = round(min(seconds * 1e3, rows[name].get("import_ms", 1e9)), 3)


def calls(rows, mode, rounds):
    for name, times in json.loads(run("all", mode, str(rounds))).items():
        rows[name].update(times)


def with_torch(rows, builds_of_file, rounds):
    """Build what pybind11 needs to take tensors of PyTorch, its headers, and call all bindings with such tensors."""
    target, seconds = builds.prepare_with_torch(WORK), []
    for _ in range(builds_of_file):
        before = processor_time()
        target.build()
        seconds.append(round(processor_time() - before, 4))
    rows["pybind11"]["build_torch_s"] = min(seconds)
    calls(rows, "torch", rounds)


def instructions(rows):
    """Count instructions of calls. Python's hashes are fixed, so that two runs give the same numbers."""
    marks = WORK / "marks.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", FOLDER / "marks.c", "-o", marks], check=True)
    out = WORK / "callgrind"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    valgrind = ["valgrind", "--tool=callgrind", "--instr-atstart=yes", f"--callgrind-out-file={out}/out", "--quiet"]
    run("all", "instructions", str(marks), before=valgrind)
    for name, counted in builds.read_marks(out).items():
        rows[name].update(counted)


def run(*arguments, before=()):
    command = [*before, sys.executable, str(FOLDER / "worker.py"), str(WORK), *arguments]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout


def machine():
    versions = {name: __import__("importlib.metadata").metadata.version(name) for name in ("numpy", "pybind11", "nanobind", "apache-tvm-ffi", "torch")}
    model = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    first_line = lambda *command: subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0]  # noqa: E731
    return {
        "processor": model[0] if model else platform.machine(),
        "python": platform.python_version(),
        "compiler": first_line("c++", "--version"),
        "rustc": first_line("rustc", "--version"),
        "load": round(os.getloadavg()[0], 1),
        **versions,
    }


if __name__ == "__main__":
    main()
