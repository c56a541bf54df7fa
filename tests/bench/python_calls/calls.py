"""Measures calls from Python in this process: through tvm_ffi, nanobind, pybind11 and a C extension by hand.

usage: calls.py BUILD FRONT [--others] [--torch] [--rows REGEX] [--count [--only-import]]

FRONT is the name of the column of the installed tvm_ffi, which the environment chooses: upstream's as it is, or with
Ferrite's extension. With --others, the bindings of BUILD (build.sh) are measured, too. Answers each line of standard input
with a JSON line: for each row and column the nanoseconds of a call, and of the empty loop. With --count, dumps instructions
under callgrind instead, and those of the import.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import json
import os
import re
import sys
import time

# The rows: name, statement, calls of one execution. A column that lacks one of the names has no
# cell in that row.
ROWS = [
    ("f()", "nop()", 1),
    ("f(1)", "one(1)", 1),
    ("f(1, 2, 3)", "three(1, 2, 3)", 1),
    ("f(1.5)", "real(1.5)", 1),
    ("f(None, True)", "ignore(None, True)", 1),
    ("f(4 bytes)", "ignore(b'byte')", 1),
    ("f('text')", "text('text')", 1),
    ("f(40 characters)", "text(long_text)", 1),
    ("f('text') -> 'text'", "echo_text('text')", 1),
    ("f(40 characters) -> same", "echo_text(long_text)", 1),
    ("f(numpy array)", "take_numpy(array)", 1),
    ("f(3 numpy arrays)", "take_numpy(array, array, array)", 1),
    ("f(tensor)", "take_tensor(own_tensor)", 1),
    ("f(tensor) -> tensor", "echo_tensor(own_tensor)", 1),
    ("f(foreign tensor, C exchange API)", "take_tensor(foreign)", 1),
    ("f(PyTorch tensor)", "take_tensor(torch_tensor)", 1),
    ("f(3 PyTorch tensors)", "take_tensor(torch_tensor, torch_tensor, torch_tensor)", 1),
    ("f(object)", "take_pair(pair)", 1),
    ("f(object) -> object", "echo_pair(pair)", 1),
    ("f(None) -> None", "echo_any(None)", 1),
    ("f(True) -> True", "echo_any(True)", 1),
    ("f(1.5) -> 1.5", "echo_any(1.5)", 1),
    ("f(integer of 70 bits)", "ignore(big)", 1),
    ("f(integer of 70 bits) -> same", "echo_any(big)", 1),
    ("f(4 bytes) -> same", "echo_any(b'byte')", 1),
    ("f(40 bytes) -> same", "echo_any(long_bytes)", 1),
    ("f(data type) -> data type", "echo_any(data_type)", 1),
    ("f(device) -> device", "echo_any(device)", 1),
    ("f(nested list, tuple and dict)", "ignore(nested)", 1),
    ("Pair(1, 2)", "Pair(1, 2)", 1),
    ("object.a", "pair.a", 1),
    ("object.a = 3", "pair.a = 3", 1),
    ("object.sum()", "pair.sum()", 1),
    ("Point(1, 2)", "Point(1, 2)", 1),
    ("Point(x=1, y=2)", "Point(x=1, y=2)", 1),
    ("point.x", "point.x", 1),
    ("sequence[3]", "sequence[3]", 1),
    ("len(sequence)", "len(sequence)", 1),
    ("list(sequence), 8 items", "list(sequence)", 1),
    ("3 in sequence", "3 in sequence", 1),
    ("mapping['key']", "mapping['key']", 1),
    ("'key' in mapping", "'key' in mapping", 1),
    ("list(mapping), 2 entries", "list(mapping)", 1),
    ("list(mapping.keys())", "list(mapping.keys())", 1),
    ("list(mapping.values())", "list(mapping.values())", 1),
    ("list(mapping.items())", "list(mapping.items())", 1),
    ("f([8 ints]) -> sequence", "take_list(ints)", 1),
    ("f({'key': 1})", "ignore(plain_dict)", 1),
    ("C calls Python f(i) -> int", "repeat(identity, 100)", 100),
    ("f() raises ValueError", "try:\n      bad()\n    except ValueError:\n      pass", 1),
]
FUNCTIONS = "nop one three real text echo tensor bad repeat take_pair".split()
# Words of the statements that are not names of a column.
OTHER_WORDS = {"len", "list", "in", "try", "except", "ValueError", "pass", "None", "True", "a", "x", "y", "sum", "b"} | {
    *("keys", "values", "items")
}
# Variants with the interpreter's lock released, or called through an object: only of these rows.
VARIANTS = ("floor +gil", "nanobind +gil", "floor, object")
VARIANT_ROWS = ("f()", "f(1)", "object.sum()", "C calls Python f(i) -> int")
REPEATED = {row: calls for row, _, calls in ROWS}
COUNTED = 100
IMPORT = "import"


def identity(i):
    return i


def values():
    """Return the arguments that all columns share."""
    import numpy

    names = {"long_text": "0123456789" * 4, "array": numpy.zeros(16, "float32"), "ints": list(range(8))}
    names |= {"long_bytes": b"0123456789" * 4, "big": 1 << 69, "nested": [[1, 2], (3, {"key": 4.5}), "text"]}
    return {**names, "plain_dict": {"key": 1}, "identity": identity}


def import_front(front, counter):
    """Import tvm_ffi as the environment has it; return the module. Its instructions are the row `import`."""
    import numpy  # noqa: F401 - it takes most of the time, with every front end

    if counter:
        counter.zero()
    if os.environ.get("FERRITE_TVM_FFI", "0") != "0":
        import ferrite_tvm_ffi  # noqa: F401
    import tvm_ffi

    if counter:
        counter.dump(f"{IMPORT}|{front}")
    return tvm_ffi


def front_names(tvm_ffi, classes, release_gil):
    """Return the names of a column of tvm_ffi; `release_gil` is None to leave it as it comes."""
    names = values()
    for name in FUNCTIONS:
        names[name] = tvm_ffi.get_global_func("bench." + name)
        if release_gil is not None:
            names[name].release_gil = release_gil
    names["ignore"] = names["nop"]
    names["echo_text"] = names["echo_pair"] = names["echo_tensor"] = names["take_list"] = names["echo_any"] = names["echo"]
    names["take_numpy"] = names["take_tensor"] = names["tensor"]
    names["Pair"], names["Point"] = classes
    names["pair"], names["point"] = names["Pair"](1, 2), names["Point"](1, 2)
    names["sequence"], names["mapping"] = tvm_ffi.Array(range(8)), tvm_ffi.Map({"key": 1, "other": 2})
    names["data_type"], names["device"] = tvm_ffi.dtype("float32"), tvm_ffi.device("cuda", 1)
    names["own_tensor"] = tvm_ffi.from_dlpack(names["array"])
    names["foreign"] = tvm_ffi.core.DLTensorTestWrapper(tvm_ffi.core.from_dlpack(names["array"]))
    if "torch" in sys.modules:
        names["torch_tensor"] = sys.modules["torch"].from_numpy(names["array"])
    return names


def register_classes(tvm_ffi):
    """Return the class of kernels.c, and one declared in Python."""
    from tvm_ffi import dataclasses

    pair = tvm_ffi.register_object("bench.Pair")(type("Pair", (tvm_ffi.Object,), {"__slots__": ()}))

    @dataclasses.py_class("bench.Point")
    class Point(tvm_ffi.Object):
        x: int
        y: int

    return pair, Point


def binding_names(module):
    names = {**values(), **{name: value for name, value in vars(module).items() if not name.startswith("__")}}
    names["pair"] = module.Pair(1, 2)
    names["sequence"] = module.take_list(list(range(8)))
    if hasattr(module, "make_tensor"):
        names["own_tensor"] = module.make_tensor(names["array"])
    return names


def columns(tvm_ffi, front, others):
    """Return the names of each column."""
    import pycalls_floor as floor

    classes = register_classes(tvm_ffi)
    found = {front: front_names(tvm_ffi, classes, None), front + " -gil": front_names(tvm_ffi, classes, False)}
    if not others:
        return found
    import pycalls_nanobind as nanobind
    import pycalls_pybind11 as pybind11

    found |= {"floor": binding_names(floor), "nanobind": binding_names(nanobind), "pybind11": binding_names(pybind11)}
    found["floor +gil"] = {"nop": floor.nop_nogil, "one": floor.one_nogil, "pair": floor.PairNoGil(1, 2)}
    found["floor, object"] = {"nop": floor.nop_object, "one": floor.one_object}
    found["nanobind +gil"] = {"nop": nanobind.nop_nogil, "one": nanobind.one_nogil, "repeat": nanobind.repeat_nogil, "identity": identity}
    return found


def loop(statement, names):
    """Return a function that executes the statement n times; None if a name is missing."""
    words = set(re.findall(r"\b[a-z_A-Z]\w*", re.sub(r"b?'[^']*'", "", statement)))
    used = words & set(names)
    if words - OTHER_WORDS - used:
        return None
    parameters = ", ".join(["n", "repeat_=repeat_", *(f"{name}={name}" for name in sorted(used))])
    scope = {**names, "repeat_": itertools.repeat}
    exec(f"def run({parameters}):\n  for _ in repeat_(None, n):\n    {statement}\n", scope)
    return scope["run"]


def cells(all_columns, pattern):
    """Yield row, column, loop and calls of each cell."""
    for row, statement, _ in ROWS:
        for column, names in all_columns.items():
            if not re.search(pattern, row) or (column in VARIANTS and row not in VARIANT_ROWS):
                continue
            if run := loop(statement, names):
                yield row, column, run


def count(found, front, counter):
    """Dump the instructions of each cell under `row|column`, and of the empty loop."""
    for row, column, run in [("empty", front, loop("pass", {}))] * 3 + list(found):
        run(60)
        counter.zero()
        run(COUNTED)
        counter.dump(f"{row}|{column}")


class Cell:
    """A cell, and the length of its batches."""

    clock = staticmethod(time.thread_time_ns)
    empty = staticmethod(loop("pass", {}))

    def __init__(self, row, column, run, batch_ns):
        self.row, self.column, self.run = row, column, run
        n = 16
        while (spent := self.time(run, n)) < batch_ns * 0.4 and n < 1 << 22:
            n *= 2
        self.n = max(16, int(n * batch_ns / max(spent, 1)))

    def time(self, run, n):
        begin = self.clock()
        run(n)
        return self.clock() - begin

    def batch(self):
        """Return nanoseconds of one execution of the empty loop and of this one."""
        return self.time(self.empty, self.n) / self.n, self.time(self.run, self.n) / self.n


def answer(found, batch_ms):
    """Measure a batch of each cell per line of standard input."""
    found = [Cell(*one, batch_ms * 1e6) for one in found]
    for number, _ in enumerate(sys.stdin):
        order = found if number % 2 else found[::-1]
        print(json.dumps([(cell.row, cell.column, REPEATED[cell.row], *cell.batch()) for cell in order]), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("front")
    parser.add_argument("--others", action="store_true")
    parser.add_argument("--torch", action="store_true")
    parser.add_argument("--rows", default="")
    parser.add_argument("--batch-ms", type=float, default=2.0)
    parser.add_argument("--count", action="store_true")
    parser.add_argument("--only-import", action="store_true")
    options = parser.parse_args()
    sys.path.insert(0, options.build)
    counter = importlib.import_module("pycalls_counter") if options.count else None
    if options.torch:
        importlib.import_module("torch")  # before tvm_ffi, which then gives it the exchange API
    tvm_ffi = import_front(options.front, counter)
    if options.only_import:
        return
    found = list(cells(columns(tvm_ffi, options.front, options.others), options.rows))
    if counter:
        count(found, options.front, counter)
    else:
        answer(found, options.batch_ms)


if __name__ == "__main__":
    main()
