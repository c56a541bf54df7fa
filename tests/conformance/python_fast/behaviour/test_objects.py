"""Pickling, copies, the collector, and weak references."""

import copy
import gc
import pickle
import sys
import weakref

import numpy
import pytest

import tvm_ffi
from tvm_ffi import dataclasses, testing

from test_conversions import outcome, shown

echo, nop, apply = (tvm_ffi.get_global_func(f"testing.{name}") for name in ("echo", "nop", "apply"))


def values():
    """Return values to carry, by name."""
    return {
        "object": testing.TestIntPair(1, 2),
        "object with fields": testing.TestObjectBase(1, 2.5, "text"),
        "Array": tvm_ffi.Array([1, "two", [3.0]]),
        "List": tvm_ffi.List([1, None]),
        "Map": tvm_ffi.Map({"a": [1]}),
        "Dict": tvm_ffi.Dict({"a": 1}),
        "text": echo("0123456789" * 4),
        "bytes": echo(b"0123456789" * 4),
        "shape": tvm_ffi.Shape((1, 2)),
        "dtype": tvm_ffi.dtype("float32"),
        "device": tvm_ffi.device("cpu:0"),
    }


@pytest.mark.parametrize("name", values())
@pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
def test_values_are_pickled(name, protocol, observe):
    value = values()[name]
    observe(outcome(lambda: shown(pickle.loads(pickle.dumps(value, protocol))).split(" at ")[0]))
    observe(outcome(lambda: shown(copy.copy(value)).split(" at ")[0]))
    observe(outcome(lambda: shown(copy.deepcopy(value)).split(" at ")[0]))
    observe((outcome(lambda: len(value.__reduce__()) > 1), outcome(lambda: type(value.__getstate__()).__name__)))


def test_results_are_pickled_as_their_arguments(observe):
    pair = echo(testing.TestIntPair(1, 2))
    observe(outcome(lambda: pickle.loads(pickle.dumps(pair)).sum()))
    observe(outcome(lambda: pickle.loads(pickle.dumps([echo("x" * 30), echo(1), echo([1])]))[0]))


def test_exceptions_are_pickled_with_their_error(observe):
    with pytest.raises(ValueError, match="message") as caught:
        tvm_ffi.get_global_func("testing.test_raise_error")("ValueError", "message")
    again = pickle.loads(pickle.dumps(caught.value))
    observe((type(again).__name__, str(again), hasattr(again, "__tvm_ffi_error__")))
    with pytest.raises(ValueError, match="own") as caught:
        apply(lambda value: (_ for _ in ()).throw(ValueError("own")), 1)
    observe(outcome(lambda: str(pickle.loads(pickle.dumps(caught.value)))))


def test_no_cycle_is_left_by_errors(observe):
    gc.collect()
    gc.disable()

    class Marker:
        pass

    def fail():
        marker = Marker()
        seen.append(weakref.ref(marker))
        raise ValueError("in a callback")

    seen = []
    for function in (tvm_ffi.convert(fail),):
        try:
            function()
        except ValueError:
            pass
    observe(seen[0]() is None)
    raising = tvm_ffi.get_global_func("testing.test_raise_error")

    def caller():
        marker = Marker()
        seen.append(weakref.ref(marker))
        try:
            raising("ValueError", "message")
        except ValueError:
            pass

    caller()
    assert seen[-1]() is None


def test_the_collector_sees_cycles_through_python(observe):
    @dataclasses.py_class("fast.Node")
    class Node(tvm_ffi.Object):
        value: int

    class Own:
        pass

    owner = Own()
    owner.node = Node(1)
    owner.function = tvm_ffi.convert(lambda: 1)
    owner.self = owner
    seen = weakref.ref(owner)
    del owner
    gc.collect()
    assert seen() is None
    function = tvm_ffi.convert(lambda: 1)
    function.itself = function
    observe((gc.is_tracked(function), len([one for one in gc.get_referents(function) if one is function.__dict__])))
    del function
    gc.collect()


def test_what_the_collector_tracks(observe):
    pair = testing.TestIntPair(1, 2)
    for value in (pair, echo(pair), tvm_ffi.Array([1]), echo([1]), nop, echo(numpy.zeros(2)), echo("x" * 20), tvm_ffi.Map({})):
        observe((type(value).__name__, [type(one).__name__ for one in gc.get_referents(value)]))
        if value is not nop:  # a Function may have a word more, for its vectorcall
            observe(sys.getsizeof(value))


def test_collections_during_calls():
    gc.set_threshold(1)
    pair, array = testing.TestIntPair(1, 2), numpy.zeros(3)
    for number in range(300):
        assert echo([number, [pair], {"a": array}])[0] == number
        assert apply(lambda value: [value, [value]], number)[1][0] == number
        assert echo(array).shape == (3,) and echo(pair).sum() == 3
        assert list(tvm_ffi.Array([pair, number]))[1] == number and testing.TestIntPair(number, 1).a == number


def test_collections_of_frozen_objects():
    gc.freeze()
    for number in range(50):
        assert echo(testing.TestIntPair(number, 1)).a == number
    gc.unfreeze()
    gc.collect()


def test_a_finalizer_calls_functions():
    seen = []

    class Last:
        def __del__(self):
            seen.append((echo(1), echo("text" * 5), tvm_ffi.Array([1, 2])[1], testing.TestIntPair(1, 2).sum(), apply(lambda value: value, 3)))

    function = tvm_ffi.convert(Last())
    del function
    apply(lambda value: value, Last())
    cycle = [Last()]
    cycle.append(cycle)
    del cycle
    gc.collect()
    assert len(seen) == 3 and set(seen) == {(1, "text" * 5, 2, 3, 3)}


def test_a_finalizer_runs_in_the_middle_of_a_conversion():
    class Last:
        def __del__(self):
            seen.append(echo([1, numpy.zeros(2)])[0])

    seen = []

    class Value:
        def __tvm_ffi_value__(self):
            Last()
            return numpy.ones(2)

    assert echo([Value(), numpy.zeros(3)])[1].shape == (3,)
    nop(Value(), numpy.zeros(3), Value())
    assert seen == [1, 1, 1]


def test_weak_references(observe):
    class Weak(testing.TestIntPair):
        __slots__ = ("__weakref__",)

    for value in (testing.TestIntPair(1, 2), tvm_ffi.Array([1]), nop, echo(numpy.zeros(2)), echo("x" * 20), tvm_ffi.Map({})):
        observe(outcome(lambda: type(weakref.ref(value)).__name__))
    value = Weak(1, 2)
    seen = []
    reference = weakref.ref(value, lambda _: seen.append("gone"))
    assert reference() is value and echo(value).sum() == 3
    del value
    gc.collect()
    assert reference() is None and seen == ["gone"]


def test_equality_hash_and_repr(observe):
    pair = testing.TestIntPair(1, 2)
    observe((pair == echo(pair), pair != echo(pair), hash(pair) == hash(echo(pair)), pair.same_as(echo(pair)), pair == 1, pair is echo(pair)))
    observe((repr(pair).split(" at ")[0], repr(tvm_ffi.Array([1, "a"])), repr(tvm_ffi.Map({"a": 1})), repr(nop).split(" at ")[0]))
    first, second = tvm_ffi.Array([1, 2]), tvm_ffi.Array([1, 2])
    observe((first == second, first != second, hash(first) == hash(second), first + second if hasattr(first, "__add__") else None))
