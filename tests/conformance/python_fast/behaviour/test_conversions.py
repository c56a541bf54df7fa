"""Values and errors of conversions are upstream's, also where a conversion calls Python."""

import ctypes
import enum
import gc
import sys
import traceback

import numpy
import pytest

import tvm_ffi
from tvm_ffi import testing

echo, nop, apply = (tvm_ffi.get_global_func(f"testing.{name}") for name in ("echo", "nop", "apply"))


class Number(enum.IntEnum):
    TWO = 2


class Whole(int):
    pass


class Word(str):
    __slots__ = ("extra",)


class Octets(bytes):
    pass


class Sequence(list):
    pass


class Fraction(float):
    pass


class AsValue:
    def __init__(self, value):
        self.value = value

    def __tvm_ffi_value__(self):
        return self.value


class AsInt:
    def __tvm_ffi_int__(self):
        return 7


class AsFloat:
    def __tvm_ffi_float__(self):
        return 7.5


class AsObject:
    def __init__(self):
        self.pair = testing.TestIntPair(5, 6)

    def __tvm_ffi_object__(self):
        return self.pair


class AsArray:
    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class View(numpy.ndarray):
    pass


def read_only():
    array = numpy.zeros(3)
    array.flags.writeable = False
    return array


VALUES = [
    None, True, False, 0, 1, -1, 127, 255, 256, 257, -5, -6, 1 << 30, -(1 << 30), 1 << 31, 1 << 60, (1 << 63) - 1, -(1 << 63), 1 << 63, 1 << 64,
    -(1 << 63) - 1, 1 << 100, -(1 << 200), 0.0, -0.0, 1.5, float("inf"), float("nan"), 1e308,
    "", "a", "1234567", "12345678", "é", "ééé", "éééé", "日本", "日本語日本語", "\0", "a\0b", "\U0001f600" * 3, "x" * 1000,
    b"", b"1234567", b"12345678", b"\0\xff", bytearray(b"abc"), bytearray(b"abcdefghij"),
    [], [1], [1, "a", None, 2.5], [[1], [2, [3]]], (), (1, 2), ((1,), [2]), {}, {"a": 1}, {1: "a", "b": [2]}, {"a": {"b": {}}},
    Number.TWO, Whole(5), Word("a word longer than seven"), Word("short"), Octets(b"octets, many of them"), Sequence([1, 2]), Fraction(2.5),
    numpy.int32(3), numpy.int64(-3), numpy.uint8(200), numpy.float32(1.5), numpy.float64(2.5), numpy.bool_(True),
    numpy.dtype("int16"), "float32", tvm_ffi.dtype("float32x4"), tvm_ffi.device("cpu:0"), ctypes.c_void_p(64), ctypes.c_void_p(0),
    range(3), {1, 2}, frozenset([1]), 1j, memoryview(b"abc"), Ellipsis, type, ValueError("an exception"), len,
]  # fmt: skip


def shown(value):
    """Return a text of a value without addresses."""
    if isinstance(value, tvm_ffi.Tensor):
        return f"Tensor {value.shape} {value.strides} {value.dtype} {value.device} {value.is_contiguous()}"
    if isinstance(value, ctypes.c_void_p):
        return f"c_void_p {value.value}"
    if isinstance(value, (tvm_ffi.Function, tvm_ffi.core.Error)) or callable(value):
        return type(value).__name__
    if isinstance(value, (set, frozenset)):
        return f"{type(value).__name__} {sorted(value)}"
    return f"{type(value).__name__} {value!r}" if " object at 0x" not in repr(value) else type(value).__name__


def outcome(function, *arguments, **keywords):
    """Return the result as text, or the exception."""
    try:
        return shown(function(*arguments, **keywords))
    except BaseException as error:  # noqa: BLE001
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("index", range(len(VALUES)))
def test_values_come_back_the_same(index, observe):
    value = VALUES[index]
    observe(outcome(echo, value))
    observe(outcome(echo, [value]))
    observe(outcome(apply, echo, value))
    observe(outcome(apply, shown, value))
    observe(outcome(tvm_ffi.convert, value))
    observe(outcome(nop, 1, value, "a", value))


@pytest.mark.parametrize("value", [True, False, None])
def test_singletons_come_back_as_themselves(value):
    assert echo(value) is value
    assert apply(lambda argument: argument is value, value) is True


def test_opaque_objects_come_back_as_themselves():
    value = object()
    assert echo(value) is value
    assert echo([value])[0] is value


ARRAYS = {
    "vector": lambda: numpy.arange(4, dtype="float32"),
    "matrix": lambda: numpy.arange(6, dtype="int64").reshape(2, 3),
    "transposed": lambda: numpy.arange(6, dtype="int64").reshape(2, 3).T,
    "every second": lambda: numpy.arange(6, dtype="int16")[::2],
    "reversed": lambda: numpy.arange(6, dtype="int16")[::-1],
    "broadcast": lambda: numpy.broadcast_to(numpy.arange(3.0), (2, 3)),
    "of no dimension": lambda: numpy.array(3, dtype="uint8"),
    "empty": lambda: numpy.zeros((0, 3), "float16"),
    "empty in the middle": lambda: numpy.zeros((2, 0, 3)),
    "no column": lambda: numpy.zeros((4, 3))[:, 3:],
    "one row of a larger array": lambda: numpy.zeros((4, 3))[::2][1:],
    "one element of a larger array": lambda: numpy.zeros((4, 6))[1:2, 2:3],
    "one row, reversed": lambda: numpy.zeros((1, 3))[::-1],
    "one row, from a column": lambda: numpy.zeros((3, 1)).T,
    "eight dimensions": lambda: numpy.zeros((1,) * 8),
    "forty dimensions": lambda: numpy.zeros((1,) * 30),
    "bool": lambda: numpy.zeros(2, "bool"),
    "float16": lambda: numpy.zeros(2, "float16"),
    "uint64": lambda: numpy.zeros(2, "uint64"),
    "complex64": lambda: numpy.zeros(2, "complex64"),
    "complex128": lambda: numpy.zeros(2, "complex128"),
    "long double": lambda: numpy.zeros(2, "longdouble"),
    "big endian": lambda: numpy.zeros(2, ">f4"),
    "little endian": lambda: numpy.zeros(2, "<f4"),
    "structured": lambda: numpy.zeros(2, [("a", "i4"), ("b", "f8")]),
    "texts": lambda: numpy.array(["a", "b"]),
    "objects": lambda: numpy.array([None, 1], dtype=object),
    "dates": lambda: numpy.array(["2026-01-01"], dtype="datetime64[D]"),
    "read only": read_only,
    "unaligned": lambda: numpy.frombuffer(bytearray(17), "uint8")[1:].view("float64"),
    "subclass": lambda: numpy.arange(3.0).view(View),
    "masked": lambda: numpy.ma.array([1, 2], mask=[0, 1]),
    "field of a record": lambda: numpy.zeros(3, [("a", "i1"), ("b", "f8")])["b"],
    "by protocol": lambda: AsArray(numpy.arange(3.0)),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays(name, observe):
    array = ARRAYS[name]()
    before = sys.getrefcount(array)
    observe(outcome(echo, array))
    observe(outcome(nop, array, 1, array))
    observe(outcome(apply, shown, array))
    observe(outcome(echo, [array, array]))
    gc.collect()
    assert sys.getrefcount(array) == before


def test_arrays_are_not_copied():
    array = numpy.zeros(3)
    tensor = echo(array)
    assert tensor.data_ptr() == array.ctypes.data
    array[1] = 5
    assert numpy.from_dlpack(tensor)[1] == 5


@pytest.mark.parametrize("value", [AsValue(3), AsValue([1, AsValue("a")]), AsValue(AsValue(None)), AsInt(), AsFloat(), AsObject()])
def test_protocols(value, observe):
    observe(outcome(echo, value))
    observe(outcome(echo, [value, value]))


def raising(hook, kind):
    def fail(self, *arguments, **options):
        raise kind("own")

    names = {hook: fail}
    if hook == "__dlpack__":
        names["__dlpack_device__"] = lambda self: (1, 0)
    return type("Raising", (), names)()


HOOKS = ["__dlpack__", "__tvm_ffi_object__", "__tvm_ffi_value__", "__tvm_ffi_int__", "__tvm_ffi_float__", "__cuda_stream__", "__dlpack_data_type__", "__tvm_ffi_opaque_ptr__"]


@pytest.mark.parametrize("hook", HOOKS)
@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt, SystemExit, MemoryError, StopIteration])
def test_errors_of_hooks_reach_the_caller(hook, kind, observe):
    value = raising(hook, kind)
    first = [1, 2, 3]
    before = sys.getrefcount(first)
    observe(outcome(nop, first, value))
    observe(outcome(echo, [first, value]))
    gc.collect()
    assert sys.getrefcount(first) == before
    assert echo(1) == 1


class Unusual(Exception):
    """An exception that the library has no name for."""


class WithArguments(ValueError):
    def __init__(self, code, text):
        super().__init__(code, text)
        self.code = code


ERRORS = [ValueError("m"), TypeError("m"), IndexError("m"), KeyError("m"), AttributeError("m"), RuntimeError("m"), ZeroDivisionError("m"),
          Unusual("m"), WithArguments(3, "m"), StopIteration(3), KeyboardInterrupt(), SystemExit(4), GeneratorExit(), AssertionError(), OSError(2, "m"),
          UnicodeDecodeError("utf8", b"x", 0, 1, "m"), NotImplementedError("é" * 20), ValueError(), ValueError("")]  # fmt: skip


@pytest.mark.parametrize("index", range(len(ERRORS)))
def test_errors_of_callbacks_reach_the_caller(index, observe):
    error = ERRORS[index]

    def callback(*_):
        raise error

    for call in (lambda: apply(callback, 1), lambda: tvm_ffi.convert(callback)(), lambda: apply(lambda value: apply(callback, value), 2)):
        try:
            call()
        except BaseException as caught:  # noqa: BLE001
            observe((type(caught).__name__, str(caught), caught is error, type(caught.__cause__).__name__, type(caught.__context__).__name__))
            observe([frame.name for frame in traceback.extract_tb(caught.__traceback__) if frame.filename == __file__])
        else:
            raise AssertionError("no error")
        error.__traceback__ = None
    assert echo(1) == 1


def test_tracebacks_name_the_functions(observe):
    def inner():
        raise ValueError("inner")

    def outer():
        tvm_ffi.convert(inner)()

    with pytest.raises(ValueError, match="inner") as caught:
        outer()
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__) if frame.filename == __file__]
    assert observe(names) == ["test_tracebacks_name_the_functions", "outer", "inner"]


def test_errors_of_the_library(observe):
    raise_error = tvm_ffi.get_global_func("testing.test_raise_error")
    for kind in ("ValueError", "TypeError", "IndexError", "KeyError", "AttributeError", "RuntimeError", "InternalError", "Unknown", "MemoryError"):
        try:
            raise_error(kind, "a message")
        except BaseException as error:  # noqa: BLE001
            names = [frame.name for frame in traceback.extract_tb(error.__traceback__) if frame.filename == __file__]
            observe((type(error).__name__, str(error), hasattr(error, "__tvm_ffi_error__"), names))
            observe(getattr(getattr(error, "__tvm_ffi_error__", None), "kind", None))


def test_frames_of_the_library(observe):
    raise_error = tvm_ffi.get_global_func("testing.test_raise_error")
    kept = []
    for round in range(3):
        with pytest.raises(ValueError, match="a message") as caught:
            raise_error("ValueError", f"a message {round}")
        frames = traceback.extract_tb(caught.value.__traceback__)
        observe([(frame.name, frame.lineno, frame.line) for frame in frames if frame.filename != __file__])
        kept.append(caught.value)
        traceback.clear_frames(caught.value.__traceback__.tb_next)
    assert len({id(error.__tvm_ffi_error__) for error in kept}) == 3
    assert [str(error) for error in kept] == ["a message 0", "a message 1", "a message 2"]


class Refusing(ValueError):
    def __init__(self, message):
        raise KeyError(message)


class Counting(ValueError):
    made = 0

    def __init__(self, message):
        super().__init__(message, 1)
        type(self).made += 1


@pytest.mark.parametrize("made", [Refusing, Counting, Unusual, lambda message: TypeError(message + "!"), lambda message: 3, WithArguments, 3, SystemExit])
def test_classes_of_errors(made, monkeypatch, observe):
    monkeypatch.setitem(tvm_ffi.core.ERROR_NAME_TO_TYPE, "test.Kind", made)
    raise_error = tvm_ffi.get_global_func("testing.test_raise_error")
    for message in ("a message", "", "\u00e9\u20ac"):
        observe(outcome(raise_error, "test.Kind", message))
    observe(Counting.made)


def test_backtraces_in_every_form(observe):
    texts = (
        "", "\n", '  File "a.py", line 3, in f\n', 'File "a", line 1, in b', 'File "", line 1, in b', 'File "a", line x", line 2, in g\t \n  text',
        'File "\u00e9.py", line 1, in \u00e9', 'File "a", line \u0663, in b', 'File "a", line 1, in \x00b', 'File "a", line 4, in b\r\n' * 100,
        'File "a", line 0, in b', 'File "a", line 1, in ', 'x File "a", line 1, in b',
    )  # fmt: skip

    def fail(text):
        error = ValueError("a message")
        error.__tvm_ffi_error__ = tvm_ffi.core.Error("ValueError", "a message", text)
        raise error

    for text in texts:
        monkey = tvm_ffi.core._TRACEBACK_TO_BACKTRACE_STR
        tvm_ffi.core._TRACEBACK_TO_BACKTRACE_STR = lambda _: text + "\n"  # noqa: B023 - used in this round
        try:
            tvm_ffi.convert(fail)(text)
        except ValueError as error:
            frames = traceback.extract_tb(error.__traceback__)
            observe([(frame.filename, frame.name, frame.lineno) for frame in frames if frame.filename in ("a", "a.py", "\u00e9.py", 'a", line x')])
        finally:
            tvm_ffi.core._TRACEBACK_TO_BACKTRACE_STR = monkey


def test_wrong_arguments(observe):
    for call in (
        lambda: testing.add_one("text"), lambda: testing.add_one(), lambda: testing.add_one(1, 2), lambda: testing.add_one(None),
        lambda: nop(key=1), lambda: echo(1, 2), lambda: echo(*[1], **{}), lambda: echo(**{"a": 1}),
        lambda: testing.TestIntPair(), lambda: testing.TestIntPair(1), lambda: testing.TestIntPair(1, 2, 3), lambda: testing.TestIntPair("a", 2),
        lambda: testing.TestIntPair(a=1, b=2), lambda: testing.TestIntPair(a=1, c=2), lambda: testing.TestIntPair(1, a=2),
        lambda: testing.TestIntPair(1, 2).sum(3), lambda: testing.TestIntPair(1, 2).none, lambda: setattr(testing.TestIntPair(1, 2), "a", 3),
        lambda: setattr(testing.TestObjectBase(1, 2.0, "s"), "v_i64", "text"), lambda: delattr(testing.TestObjectBase(1, 2.0, "s"), "v_i64"),
        lambda: testing.TestIntPair.sum(3), lambda: testing.TestIntPair.sum(), lambda: testing.TestIntPair.a.__get__(3),
        lambda: testing.schema_id_tensor(1), lambda: testing.schema_id_arr_int([1, "a"]), lambda: testing.schema_id_map_str_int({"a": "b"}),
    ):  # fmt: skip
        observe(outcome(call))


def test_surrogates(observe):
    observe(outcome(echo, "\ud800"))
    observe(outcome(echo, "a" * 20 + "\udcff"))
    observe(outcome(echo, ["\ud800"]))
    observe(outcome(apply, lambda value: "\ud800", 1))


def test_values_that_change_during_the_call(observe):
    values = [1, 2, 3]

    def shrink(value):
        values.clear()
        return value

    class Shrinking:
        def __tvm_ffi_value__(self):
            del items[2:]
            return 1

    items = [1, Shrinking(), 3, 4, 5]
    observe(outcome(echo, items))
    observe(outcome(apply, shrink, values))
    mapping = {}

    class Growing:
        def __tvm_ffi_value__(self):
            mapping[len(mapping)] = 1
            return 1

    mapping["a"] = Growing()
    observe(outcome(echo, mapping).split(":")[0])
