"""Iteration of maps, constructors by keyword, values of every class, and the frames of errors are upstream's."""

import os
import sys
import traceback

import pytest

import tvm_ffi
from tvm_ffi import core, dataclasses, testing

from test_conversions import outcome

echo, nop, apply = (tvm_ffi.get_global_func(f"testing.{name}") for name in ("echo", "nop", "apply"))


@dataclasses.py_class("values.Point")
class Point(tvm_ffi.Object):
    x: int
    y: int = 7
    name: str = dataclasses.field(default="a name of thirty-two characters..", kw_only=True)


def values_of(point):
    return point.x, point.y, point.name


def maps():
    entries = {"a": 1, 2: "b", "long enough for an object": [1]}
    return [cls(content) for cls in (tvm_ffi.Map, tvm_ffi.Dict) for content in (entries, {}, {1: None})]


@pytest.mark.parametrize("index", range(len(maps())))
def test_maps_are_iterated(index, observe):
    mapping = maps()[index]
    for view in (mapping, mapping.keys(), mapping.values(), mapping.items()):
        observe([repr(one) for one in view])
        observe([type(one).__name__ for one in view])
        observe((len(list(iter(view))), sum(1 for _ in view), iter(view) is iter(view)))
        iterator = iter(view)
        observe(iter(iterator) is iterator)
        observe([outcome(next, iterator) for _ in range(5)])
        observe(outcome(next, iterator, "default"))
    observe(dict(mapping.items()) == {key: mapping[key] for key in mapping})


def test_the_size_of_a_map_is_read_at_the_first_item(observe):
    dictionary = tvm_ffi.Dict({"a": 1})
    iterators = [iter(view) for view in (dictionary, dictionary.keys(), dictionary.values(), dictionary.items())]
    dictionary["b"] = 2
    observe([list(iterator) for iterator in iterators])


def test_values_change_under_an_iterator(observe):
    dictionary = tvm_ffi.Dict({"a": 1, "b": 2, "c": 3})
    seen = []
    for key, value in dictionary.items():
        seen.append((key, value))
        dictionary[key] = value * 10
        dictionary["c"] = 100
    observe(seen)
    observe(sorted(dictionary.items()))


def test_iterators_keep_their_map(observe):
    iterator = iter(tvm_ffi.Map({"a": [1, 2]}).values())
    observe(list(next(iterator)))
    left = iter(tvm_ffi.Map({"a": 1}))
    observe(next(left))
    del left, iterator
    mapping = tvm_ffi.Map({"a": 1})
    before = sys.getrefcount(mapping)
    for _ in mapping.items():
        break
    assert sys.getrefcount(mapping) == before


def test_subclasses_of_maps_are_iterated(observe):
    class Own(tvm_ffi.Map):
        __slots__ = ()

        def keys(self):
            return [1, 2]

    observe(list(Own({"a": 1})))
    observe(list(Own({"a": 1}).values()))


@pytest.mark.parametrize(
    ("positional", "named"),
    [
        ((), {"x": 1, "y": 2}),
        ((1,), {"y": 2}),
        ((1,), {"name": "text"}),
        ((1, 2), {"name": "a string longer than seven"}),
        ((1,), {"y": core.MISSING, "name": core.MISSING}),
        ((), {"x": core.MISSING}),
        ((), {"y": 2}),
        ((1,), {"x": 2}),
        ((1,), {"unknown": 2}),
        ((1,), {"self": 2}),
        ((1, 2, 3), {}),
        (("text",), {}),
        ((), {"x": "text"}),
        ((), {}),
        ((), {"x": True, "y": 2.0}),
    ],
)
def test_constructors_take_keywords(positional, named, observe):
    observe(outcome(lambda: values_of(Point(*positional, **named))))
    observe(outcome(lambda: Point.__init__(Point.__new__(Point), *positional, **named)))


def test_constructors_of_native_classes_take_keywords(observe):
    for named in ({"a": 1, "b": 2}, {"a": 1}, {"a": 1, "c": 2}, {"b": "text", "a": 1}):
        observe(outcome(lambda named=named: (lambda pair: (pair.a, pair.b))(testing.TestIntPair(**named))))


def test_values_of_other_classes_come_back(observe):
    for value in (b"0123456789", b"short", tvm_ffi.dtype("float32"), tvm_ffi.dtype("int8x4"), tvm_ffi.device("cuda", 3)):
        for _ in range(2):
            result = echo(value)
            observe((type(result).__name__, repr(result), result == value, type(echo(result)).__name__))
    kept = echo(b"0123456789")
    observe(type(kept._tvm_ffi_cached_object).__name__)
    observe(vars(kept).keys() == {"_tvm_ffi_cached_object"})
    observe((str(echo(tvm_ffi.dtype("float32"))._tvm_ffi_dtype), echo(tvm_ffi.device("cuda", 3)).index))


def test_callbacks_have_any_number_of_arguments(observe):
    for count in range(14):
        observe(outcome(apply, lambda *values: len(values) + sum(values), *range(count)))
        observe(outcome(apply, lambda *values: [*values], *([f"a string of many characters {count}"] * count)))


def frames(function):
    """Return the frames of an error behind this file's, without those of C functions."""
    try:
        function()
    except BaseException as error:  # noqa: BLE001
        found = traceback.extract_tb(error.__traceback__)
        return [(os.path.basename(one.filename), one.lineno, one.name) for one in found if one.filename not in (__file__, "<unknown>")]
    raise AssertionError("no error")


ERRORS = {
    "constructor": lambda: Point("text"),
    "constructor by keyword": lambda: Point(x="text"),
    "constructor with too few arguments": lambda: Point(),
    "constructor of a native class": lambda: testing.TestIntPair("text", 1),
    "constructor of a native class by keyword": lambda: testing.TestIntPair(a=1, c=2),
    "method": lambda: testing.TestIntPair(1, 2).sum(1, 2),
    "method of another class": lambda: testing.TestIntPair.sum(Point(1)),
    "call": lambda: nop(key=1),
    "callback": lambda: apply(lambda: None, 1),
    "field": lambda: setattr(Point(1), "x", "text"),
    "item": lambda: tvm_ffi.Array([1])[5],
    "key": lambda: tvm_ffi.Map({})["a"],
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_have_the_frames_of_upstream(name, observe):
    for _ in range(2):
        observe([frame for frame in frames(ERRORS[name]) if not frame[0].endswith((".cc", ".h", ".rs"))])
