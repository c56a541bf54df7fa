"""Measures kernels on Ferrite's library, in a process without TVM, whose library has the same symbols.

usage: worker.py LIBRARY

A line of standard input is a request in JSON: the paths of libraries with a function `main` each, the element types and extents of
its arguments, the seconds to measure, and a time limit. The answer is a line with the seconds of a call of each, or the error. Each
request has a process of its own.
"""

import ctypes
import json
import math
import pathlib
import signal
import sys
import time

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from execution import Any, Arguments, Bytes, check  # noqa: E402
from isolation import Attempt, Failed  # noqa: E402

NONE, BOOL, RAW_STRING = 0, 2, 8
"""Type indices of the ABI."""
ENTRY = b"main"
ALIGNMENT = 64
"""Bytes, as TVM's allocations have."""
ROUND = 1e-3
"""Seconds of a round, in which one kernel is called again and again."""
FEWEST = 3
"""Fewest rounds."""
HOPELESS = 4
"""Ratio of times from which a candidate is not measured further."""
TOLERANCE = 1e-3
"""Largest difference of results, in relation to the largest number of an argument."""


class Kernel:
    """The function `main` of a library that TVM's compiler wrote."""

    def __init__(self, library, path):
        self.library = library
        path, entry = ctypes.c_char_p(path.encode()), ctypes.c_char_p(ENTRY)
        module = self._global(b"ffi.ModuleLoadFromFile", string(path))
        self.function = self._global(b"ffi.ModuleGetFunction", module, string(entry), Any(BOOL, 0, None))
        if self.function.type_index == NONE:
            raise RuntimeError(f"the library has no function {ENTRY.decode()}")

    def __call__(self, arguments):
        self._call(self.function.pointer, arguments.values, len(arguments.arrays))

    def _global(self, name, *values):
        function = ctypes.c_void_p()
        text = Bytes(ctypes.cast(ctypes.c_char_p(name), ctypes.c_void_p), len(name))
        check(self.library, self.library.TVMFFIFunctionGetGlobal(ctypes.byref(text), ctypes.byref(function)))
        return self._call(function.value, (Any * len(values))(*values), len(values))

    def _call(self, function, values, count):
        result = Any()
        check(self.library, self.library.TVMFFIFunctionCall(ctypes.c_void_p(function), values, count, ctypes.byref(result)))
        return result


def string(text):
    return Any(RAW_STRING, 0, ctypes.cast(text, ctypes.c_void_p))


def example(at, dtype, extents):
    """Returns an argument: positive numbers, of which logarithms and roots exist, or 0 and 1, which are valid indices."""
    random, dtype = numpy.random.default_rng(at), numpy.dtype(dtype)
    array = random.uniform(0.1, 1, extents) if dtype.kind == "f" else random.integers(0, 2, extents)
    return aligned(array.astype(dtype))


def aligned(array):
    """Returns a copy that is aligned as compiled kernels expect it."""
    memory = numpy.empty(array.nbytes + ALIGNMENT, "uint8")
    begin = -memory.ctypes.data % ALIGNMENT
    copy = memory[begin : begin + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def measured(library, paths, arguments, seconds):
    """Returns the seconds of a call of each kernel. A kernel whose results differ from those of the first is an error."""
    kernels = [Kernel(library, path) for path in paths]
    values = [Arguments([example(at, *argument) for at, argument in enumerate(arguments)]) for _ in kernels]
    for kernel, value in zip(kernels, values):
        kernel(value)
        compare(value.arrays, values[0].arrays)
    return times([lambda k=kernel, v=value: k(v) for kernel, value in zip(kernels, values)], seconds)


def compare(arrays, expected):
    """Compares arguments after a call, so that results are among them."""
    for array, wanted in zip(arrays, expected):
        if array.dtype.kind != "f":
            is_equal = numpy.array_equal(array, wanted)
        else:
            largest = numpy.abs(wanted[numpy.isfinite(wanted)]).max(initial=0).astype("float64")
            is_equal = numpy.allclose(array, wanted, rtol=0, atol=TOLERANCE * largest, equal_nan=True)
        if not is_equal:
            raise RuntimeError("its results differ from those of the schedule that it should replace")


def times(calls, seconds):
    """Returns the seconds of each call, in the fastest round. Calls take turns, so that other work on the machine slows all of them."""
    counts = [max(1, int(ROUND / timed(call, 1))) for call in calls]
    best, end, rounds = [math.inf] * len(calls), time.perf_counter() + seconds, 0
    while rounds < FEWEST or time.perf_counter() < end:
        best = [min(least, timed(call, count)) for least, call, count in zip(best, calls, counts)]
        rounds += 1
        if best[-1] > HOPELESS * best[0]:
            break
    return best


def timed(call, count):
    begin = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - begin) / count


def main(path):
    # An exit ends the process of the present request, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    library = ctypes.CDLL(path, ctypes.RTLD_GLOBAL)
    for line in sys.stdin:
        request = json.loads(line)
        limit = request.pop("limit")
        try:
            answer = {"seconds": Attempt(lambda: measured(library, **request), limit).result(), "error": None}
        except Failed as failed:
            answer = {"seconds": None, "error": str(failed)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
