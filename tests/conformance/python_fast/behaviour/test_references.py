"""Calls, callbacks and moves hold the references that upstream's hold."""

import gc
import sys
import weakref

import numpy
import pytest

import tvm_ffi
from tvm_ffi import testing

echo, nop, apply = (tvm_ffi.get_global_func(f"testing.{name}") for name in ("echo", "nop", "apply"))
use_count = tvm_ffi.get_global_func("testing.object_use_count")


class Opaque:
    """A value that has no representation, and is passed as an opaque object."""


VALUES = {
    "int": lambda: 1 << 40,
    "int beyond 64 bits": lambda: 1 << 90,
    "float": lambda: 2.5,
    "short text": lambda: "".join(["ab", "c"]),
    "long text": lambda: "0123456789" * 4,
    "bytes": lambda: b"0123456789" * 4,
    "bytearray": lambda: bytearray(b"0123456789"),
    "list": lambda: [1, "two", [3.0]],
    "tuple": lambda: (1, (2, None)),
    "dict": lambda: {"a": [1]},
    "array": lambda: numpy.zeros((2, 3), "float32"),
    "scalar array": lambda: numpy.zeros((), "int64"),
    "tensor": lambda: tvm_ffi.from_dlpack(numpy.zeros(3)),
    "object": lambda: testing.TestIntPair(1, 2),
    "Array": lambda: tvm_ffi.Array([1, 2]),
    "function": lambda: tvm_ffi.convert(lambda: 1),
    "callable": lambda: lambda: 1,
    "dtype": lambda: tvm_ffi.dtype("int8"),
    "device": lambda: tvm_ffi.device("cpu:0"),
    "opaque": Opaque,
}


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("function", [nop, echo], ids=["nop", "echo"])
def test_a_call_leaves_the_counts_of_its_arguments(name, function, observe):
    value = VALUES[name]()
    before = sys.getrefcount(value)
    for _ in range(3):
        function(value)
    gc.collect()
    assert observe(sys.getrefcount(value) - before) == 0


@pytest.mark.parametrize("name", VALUES)
def test_a_result_holds_what_it_shows(name, observe):
    value = VALUES[name]()
    before = sys.getrefcount(value)
    result = echo(value)
    observe(sys.getrefcount(value) - before)
    observe(type(result).__name__)
    del result
    gc.collect()
    assert observe(sys.getrefcount(value) - before) == 0


@pytest.mark.parametrize("name", VALUES)
def test_a_failed_conversion_releases_the_arguments_before_it(name):
    value = VALUES[name]()
    bad = numpy.zeros(2, dtype=">f4")
    before = sys.getrefcount(value), sys.getrefcount(bad)
    for _ in range(3):
        with pytest.raises(BufferError):
            nop(value, bad)
    gc.collect()
    assert (sys.getrefcount(value), sys.getrefcount(bad)) == before


def test_objects_are_counted_by_their_wrappers(observe):
    pair = testing.TestIntPair(1, 2)
    observe(use_count(pair))
    other = echo(pair)
    observe(use_count(pair))
    assert other.same_as(pair) and other is not pair
    several = [echo(pair) for _ in range(5)]
    observe(use_count(pair))
    del other, several
    gc.collect()
    assert observe(use_count(pair)) == use_count(testing.TestIntPair(1, 2))


def test_containers_hold_their_elements(observe):
    pair = testing.TestIntPair(1, 2)
    before = use_count(pair)
    array, mapping = tvm_ffi.Array([pair, pair]), tvm_ffi.Map({"key": pair})
    observe(use_count(pair) - before)
    element = array[0]
    observe(use_count(pair) - before)
    found = list(array), mapping["key"], list(mapping.items())
    observe(use_count(pair) - before)
    del element, found, array, mapping
    gc.collect()
    assert observe(use_count(pair) - before) == 0


def test_a_callback_is_released_with_its_function(observe):
    class Callable:
        def __call__(self, value):
            return value

    callable_ = Callable()
    seen = weakref.ref(callable_)
    before = sys.getrefcount(callable_)
    apply(callable_, 1)
    assert observe(sys.getrefcount(callable_) - before) == 0
    function = tvm_ffi.convert(callable_)
    assert observe(sys.getrefcount(callable_) - before) == 1
    del callable_
    assert function(2) == 2 and seen() is not None
    del function
    gc.collect()
    assert seen() is None


@pytest.mark.parametrize("name", VALUES)
def test_a_callback_sees_the_counts_of_its_arguments(name, observe):
    value = VALUES[name]()

    def callback(argument):
        observe(type(argument).__name__)
        observe(sys.getrefcount(argument))
        if isinstance(argument, tvm_ffi.core.CObject) and not isinstance(argument, (tvm_ffi.Tensor,)):
            observe(use_count(argument))
        return argument

    before = sys.getrefcount(value)
    apply(callback, value)
    gc.collect()
    assert observe(sys.getrefcount(value) - before) == 0


def test_a_result_of_a_callback_moves_to_the_caller(observe):
    made = []

    def callback():
        made.append(Opaque())
        return made[-1]

    result = tvm_ffi.convert(callback)()
    assert result is made[0]
    observe(sys.getrefcount(result))
    seen = weakref.ref(result)
    made.clear()
    del result
    gc.collect()
    assert seen() is None


def test_a_moved_object_leaves_its_wrapper_empty(observe):
    pair = testing.TestIntPair(1, 2)
    moved = echo(pair._move())
    assert observe(use_count(moved)) == use_count(testing.TestIntPair(1, 2))
    observe(pair.__chandle__())
    assert moved.sum() == 3


def test_a_moved_argument_is_owned_by_the_callback(observe):
    def callback(argument, expected):
        observe(use_count(argument))
        return expected

    pair = testing.TestIntPair(1, 2)
    assert tvm_ffi.convert(callback)(pair._move(), 5) == 5
    observe(pair.__chandle__())
    kept = testing.TestIntPair(3, 4)
    tvm_ffi.convert(callback)(kept, 5)
    observe(kept.__chandle__() != 0)


def test_a_move_that_is_not_passed_keeps_the_object():
    pair = testing.TestIntPair(1, 2)
    moved = pair._move()
    with pytest.raises(BufferError):
        nop(numpy.zeros(2, dtype=">f4"), moved)
    assert pair.sum() == 3


def test_an_array_lives_as_long_as_its_tensor(observe):
    array = numpy.arange(6, dtype="int32").reshape(2, 3)
    seen = weakref.ref(array)
    tensor = echo(array)
    observe(sys.getrefcount(array))
    del array
    gc.collect()
    assert seen() is not None
    numpy.testing.assert_array_equal(numpy.from_dlpack(tensor), [[0, 1, 2], [3, 4, 5]])
    observe((tensor.shape, tensor.strides, str(tensor.dtype), str(tensor.device)))
    del tensor
    gc.collect()
    assert seen() is None


def test_a_tensor_kept_by_a_callback_outlives_the_call():
    kept = []
    array = numpy.arange(4, dtype="float32")
    seen = weakref.ref(array)
    apply(lambda tensor: kept.append(echo(tensor)), array)
    nop(numpy.ones(8, "float32"), numpy.ones(8, "float32"))  # recycled tensors must not be this one
    numpy.testing.assert_array_equal(numpy.from_dlpack(kept[0]), [0, 1, 2, 3])
    del array
    gc.collect()
    assert seen() is not None
    kept.clear()
    gc.collect()
    assert seen() is None


def test_text_returned_keeps_its_object(observe):
    text = echo("0123456789" * 4)
    observe((type(text).__name__, use_count(text)))
    again = echo(text)
    observe((type(again).__name__, use_count(again), use_count(text)))
    assert again == text
