"""Measures each call of a model, on Ferrite's library if its wheel is installed, else on TVM's.

usage: run.py LIBRARY FUNCTION INPUTS.npz RESULT.json
"""

import json
import os
import sys
import time

import numpy

SECONDS = 2
"""Time for the runs with an instrument."""
RUNS = 5, 100
"""Fewest and most of them."""

try:
    import ferrite_tvm_ffi  # noqa: F401 - first

    LIBRARY = "Ferrite"
except ImportError:
    import tvm  # noqa: F401

    LIBRARY = "TVM"

import tvm_ffi


def main(path, function, inputs, result):
    machine = tvm_ffi.load_module(path)["vm_load_executable"]()
    machine["vm_initialization"](1, 0, 2)
    with numpy.load(inputs) as file:
        arguments = [tvm_ffi.from_dlpack(array) for array in file.values()]
    call = machine[function]
    seconds = best(lambda: call(*arguments), 10)
    measured = {"library": LIBRARY, "threads": int(os.environ.get("TVM_NUM_THREADS") or os.cpu_count()), "seconds": seconds}
    measured |= {"peak_flops": peak_flops(), "peak_bytes": peak_bytes(), "calls": calls(machine, lambda: call(*arguments))}
    with open(result, "w") as file:
        json.dump(measured, file)


def best(run, count):
    """Returns the seconds of the fastest run."""
    times = []
    for _ in range(count):
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return min(times)


def peak_flops():
    """Returns the operations per second of numpy's matrix product."""
    n = 384
    matrix = numpy.ones((n, n), "float32")
    return 2 * n**3 / best(lambda: matrix @ matrix, 200)


def peak_bytes():
    """Returns the bytes per second that a copy of an array reads and writes."""
    array = numpy.ones(1 << 24, "float32")
    target = numpy.empty_like(array)
    return 2 * array.nbytes / best(lambda: numpy.copyto(target, array), 5)


def calls(machine, run):
    """Returns the calls of a run in order, each with the time of the fastest."""
    seen, started = [], 0

    def instrument(_function, name, before, _result, *arguments):
        nonlocal started
        now = time.perf_counter_ns()
        if not before:
            seen.append({"name": str(name), "nanoseconds": now - started, "arguments": list(map(described, arguments))})
        started = time.perf_counter_ns()
        return 0

    machine["set_instrument"](tvm_ffi.convert(instrument))
    fastest, end, count = None, time.perf_counter() + SECONDS, 0
    while count < RUNS[0] or count < RUNS[1] and time.perf_counter() < end:
        seen.clear()
        run()
        fastest = shorter(fastest, seen)
        count += 1
    return fastest


def shorter(one, other):
    """Returns calls with the shorter time of each, if both runs took the same branches."""
    if one is None or [call["name"] for call in one] != [call["name"] for call in other]:
        return list(other)
    return [min(pair, key=lambda call: call["nanoseconds"]) for pair in zip(one, other)]


def described(argument):
    """Returns an argument for JSON: tensors by their extents and dtype, shapes and numbers by their values."""
    if hasattr(argument, "dtype") and hasattr(argument, "shape"):
        return {"shape": list(map(int, argument.shape)), "dtype": str(argument.dtype)}
    if isinstance(argument, tvm_ffi.Shape):
        return list(map(int, argument))
    return argument if isinstance(argument, (int, float)) else None


if __name__ == "__main__":
    main(*sys.argv[1:])
