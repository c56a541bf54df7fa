"""Makes many calls of each kind, and records the blocks of memory that they leave in use.

usage: memory.py CALLS      with blocks.c preloaded and PYTHONMALLOC=malloc; writes the JSON file that FAST_RECORD names
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import sys

import numpy

import tvm_ffi
from tvm_ffi import dataclasses, testing

import fast_state

blocks = ctypes.CDLL(None).ferrite_blocks_in_use


@dataclasses.py_class("memory.Point")
class Point(tvm_ffi.Object):
    x: int
    name: str = "a name of thirty-two characters.."


def kinds():
    """Yield name and function of each kind of call."""
    echo, nop, apply = (tvm_ffi.get_global_func(f"testing.{name}") for name in ("echo", "nop", "apply"))
    long_text = "0123456789" * 4
    array, matrix = numpy.zeros(16, "float32"), numpy.zeros((2, 3), "int64")
    tensor = tvm_ffi.from_dlpack(array)
    foreign = tvm_ffi.core.DLTensorTestWrapper(tvm_ffi.core.from_dlpack(array))
    pair, point = testing.TestIntPair(1, 2), Point(1)
    sequence, items = tvm_ffi.Array([1, "two", pair, None]), tvm_ffi.List([1, 2, 3])
    mapping, dictionary = tvm_ffi.Map({"a": 1, long_text: pair}), tvm_ffi.Dict({"a": 1})
    raising = tvm_ffi.get_global_func("testing.test_raise_error")

    def fails(function, *arguments, **keywords):
        try:
            function(*arguments, **keywords)
        except (ValueError, TypeError, IndexError, KeyError, AttributeError, BufferError):
            return
        raise AssertionError("no error")

    def bad(*_):
        raise ValueError("of a callback")

    yield "no argument", nop
    yield "numbers", lambda: echo(1) + echo(1.5) + echo(True)
    yield "None", lambda: echo(None)
    yield "large int", lambda: echo(1 << 62)
    yield "int beyond 64 bits", lambda: echo(1 << 100)
    yield "short text", lambda: echo("text")
    yield "long text", lambda: echo(long_text)
    yield "text returned, passed again", lambda: echo(echo(long_text))
    yield "bytes", lambda: echo(b"0123456789abcdef")
    yield "numpy array", lambda: nop(array)
    yield "numpy array, returned", lambda: echo(matrix)
    yield "three numpy arrays", lambda: nop(array, matrix, array)
    yield "tensor", lambda: echo(tensor)
    yield "tensor by exchange API", lambda: nop(foreign)
    yield "tensor by exchange API, returned", lambda: echo(foreign)
    yield "object", lambda: echo(pair)
    yield "object moved", lambda: echo(testing.TestIntPair(3, 4)._move())
    yield "list", lambda: echo([1, 2, long_text])
    yield "nested values", lambda: echo((1, [2.5, {"a": [None]}], (pair, array)))
    yield "dict", lambda: echo({"a": 1, "b": [1]})
    yield "empty containers", lambda: (echo([]), echo(()), echo({}))
    yield "dtype, device", lambda: (echo(tvm_ffi.dtype("float32")), echo(tvm_ffi.device("cpu:0")))
    yield "pointer", lambda: echo(ctypes.c_void_p(16))
    yield "function", lambda: echo(nop)
    yield "callback", lambda: apply(lambda value: value, 5)
    yield "callback of text", lambda: apply(lambda value: value + "x", long_text)
    yield "callback of an object", lambda: apply(lambda value: value, pair)
    yield "callback with list", lambda: apply(lambda value: [value, value], 5)
    yield "callback that raises", lambda: fails(apply, bad, 1)
    yield "callback as function", lambda: tvm_ffi.convert(lambda: 1)()
    yield "error from C++", lambda: fails(raising, "ValueError", "message")
    yield "error of arguments", lambda: fails(testing.TestIntPair, "a", "b")
    yield "error of a method", lambda: fails(pair.sum, 1)
    yield "wrong array", lambda: fails(echo, numpy.zeros(2, dtype=">f4"))
    yield "opaque object", lambda: echo(object())
    yield "keyword arguments", lambda: fails(nop, key=1)
    yield "constructor", lambda: testing.TestIntPair(1, 2)
    yield "constructor with keywords", lambda: testing.TestObjectBase(v_i64=1, v_str=long_text)
    yield "field", lambda: (pair.a, pair.b)
    yield "field set", lambda: (setattr(point, "x", 5), setattr(point, "name", long_text))
    yield "field of a wrong type", lambda: fails(setattr, point, "x", "text")
    yield "method", pair.sum
    yield "class of Python", lambda: Point(1)
    yield "class of Python with keywords", lambda: Point(x=1, name=long_text)
    yield "class of Python, fields", lambda: (point.x, point.name)
    yield "index", lambda: (sequence[0], sequence[1], sequence[2], sequence[-1])
    yield "index out of range", lambda: fails(lambda: sequence[10])
    yield "slice", lambda: sequence[1:3]
    yield "length", lambda: (len(sequence), len(items), len(mapping), len(dictionary))
    yield "iteration", lambda: (list(sequence), list(items), list(mapping), list(dictionary))
    yield "iteration left early", lambda: (next(iter(sequence)), next(iter(mapping.items())))
    yield "containment", lambda: ("two" in sequence, 2 in items, "a" in mapping, "b" in dictionary)
    yield "map", lambda: (mapping["a"], mapping[long_text], mapping.get("none"))
    yield "missing key", lambda: fails(lambda: mapping["none"])
    yield "map items", lambda: (list(mapping.items()), list(dictionary.values()))
    yield "list changed", lambda: (items.append(4), items.pop())
    yield "dict changed", lambda: (dictionary.__setitem__("b", [1]), dictionary.pop("b"))
    yield "array made", lambda: tvm_ffi.Array([1, 2, 3])
    yield "map made", lambda: tvm_ffi.Map({"a": 1})
    yield "comparison, hash", lambda: (sequence == sequence, hash(pair), pair.same_as(pair))
    yield "global function", lambda: tvm_ffi.get_global_func("testing.nop")


def growth(function, calls: int) -> int:
    """Return the blocks that the calls after the first tenth left in use."""
    for _ in range(max(calls // 10, 100)):
        function()
    gc.collect()
    before = blocks()
    for _ in range(calls):
        function()
    gc.collect()
    return blocks() - before


def main() -> None:
    calls = int(sys.argv[1])
    left = {}
    for name, function in kinds():
        left[name] = growth(function, calls)
        print(f"{name}: {left[name]} blocks after {calls} calls", flush=True)
    with open(os.environ["FAST_RECORD"], "w", encoding="utf-8") as file:
        json.dump({"left": left, "calls": calls, "state": fast_state.state()}, file)


if __name__ == "__main__":
    main()
