"""Measure operations of upstream's Python package in this process; print nanoseconds of each as JSON."""

import copy
import json
import pickle
import time

import numpy
import tvm_ffi
from tvm_ffi import dataclasses

BATCH_SECONDS = 0.01
BATCHES = 12

nop = tvm_ffi.get_global_func("testing.nop")
echo = tvm_ffi.get_global_func("testing.echo")
numbers = list(range(1000))
texts = {f"name{i}": i for i in numbers}
matrix = numpy.zeros((4, 4), dtype="float32")


@dataclasses.py_class("bench.Point")
class Point(tvm_ffi.Object):
    x: int
    y: str = "y"


def raise_error():
    raise ValueError("of Python")


def caught(function, *arguments):
    """Return a function that calls `function` and catches its exception."""

    def call():
        try:
            function(*arguments)
        except (ValueError, IndexError):
            return
        raise AssertionError("no error")

    return call


def operations():
    """Yield name, function, and the number of elements per call."""
    tensor = tvm_ffi.from_dlpack(matrix)
    callback = tvm_ffi.convert(lambda *arguments: None)
    raising = tvm_ffi.convert(raise_error)
    array, mapping, dictionary = tvm_ffi.Array(numbers), tvm_ffi.Map(texts), tvm_ffi.Dict(texts)
    other, point, text40 = tvm_ffi.Map(texts), Point(1), "a text of forty characters, in an object"
    in_json = tvm_ffi.serialization.to_json_graph_str(array)
    return [
        ("call, no argument", nop, 1),
        ("call, int, float, text", lambda: nop(1, 2.0, "a"), 1),
        ("call, text of 40", lambda: nop(text40), 1),
        ("call, list of 10", lambda: nop(numbers[:10]), 1),
        ("call, tensor", lambda: nop(tensor), 1),
        ("call, numpy array", lambda: nop(matrix), 1),
        ("call of a Python function", callback, 1),
        ("int and back", lambda: echo(5), 1),
        ("text of 40 and back", lambda: echo(text40), 1),
        ("numpy to tensor", lambda: tvm_ffi.from_dlpack(matrix), 1),
        ("tensor to numpy", lambda: numpy.from_dlpack(tensor), 1),
        ("dtype of a tensor", lambda: tensor.dtype, 1),
        ("error from C++, caught", caught(tvm_ffi.get_global_func("testing.test_raise_error"), "ValueError", "m"), 1),
        ("error from Python, caught", caught(raising), 1),
        ("index error, caught", caught(array.__getitem__, 5000), 1),
        ("global function by name", lambda: tvm_ffi.get_global_func("testing.echo"), 1),
        ("dtype of a text", lambda: tvm_ffi.dtype("float32x4"), 1),
        ("Array of 1,000 ints", lambda: tvm_ffi.Array(numbers), 1000),
        ("Array, element", lambda: array[500], 1),
        ("Array, all elements", lambda: list(array), 1000),
        ("Map of 1,000 texts", lambda: tvm_ffi.Map(texts), 1000),
        ("Map, hit", lambda: mapping["name500"], 1),
        ("Map, miss", lambda: "another" in mapping, 1),
        ("Map, all items", lambda: list(mapping.items()), 1000),
        ("Dict, set", lambda: dictionary.__setitem__("name5", 7), 1),
        ("repr of a Map", lambda: repr(mapping), 1000),
        ("structural equality of Maps", lambda: tvm_ffi.structural_equal(mapping, other), 1000),
        ("structural hash of a Map", lambda: tvm_ffi.structural_hash(mapping), 1000),
        ("deep copy of an Array", lambda: copy.deepcopy(array), 1000),
        ("Array to JSON graph", lambda: tvm_ffi.serialization.to_json_graph_str(array), 1000),
        ("Array from JSON graph", lambda: tvm_ffi.serialization.from_json_graph_str(in_json), 1000),
        ("pickle and back", lambda: pickle.loads(pickle.dumps(array)), 1000),
        ("object of a py_class", lambda: Point(1), 1),
        ("field of a py_class", lambda: point.x, 1),
        ("repr of a py_class", lambda: repr(point), 1),
    ]


def seconds(function, times):
    begin = time.process_time()
    for _ in range(times):
        function()
    return time.process_time() - begin


def best(function):
    """Return the seconds of one call in the fastest of several batches."""
    times = 1
    while seconds(function, times) < BATCH_SECONDS:
        times *= 2
    return min(seconds(function, times) for _ in range(BATCHES)) / times


if __name__ == "__main__":
    print(json.dumps({name: best(function) / elements * 1e9 for name, function, elements in operations()}))
