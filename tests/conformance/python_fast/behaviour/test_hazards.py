"""Python code that runs in the middle of a call, a conversion or a release, and changes what is in use."""

from __future__ import annotations

import ctypes
import gc
import sys

import numpy
import pytest

import fast_state
import tvm_ffi
from tvm_ffi import dataclasses, testing

echo, apply, raising = (tvm_ffi.get_global_func(f"testing.{name}") for name in ("echo", "apply", "test_raise_error"))
core = tvm_ffi.core

needs_extension = pytest.mark.skipif(not fast_state.wanted(), reason="upstream's code corrupts memory here")


OPAQUE_PY_OBJECT = 74  # a type index


class Any(ctypes.Structure):
    """A value of the library."""

    _fields_ = [("type_index", ctypes.c_int32), ("padding", ctypes.c_uint32), ("payload", ctypes.c_uint64)]


@pytest.mark.parametrize("name", ["__tvm_ffi_object__", "__dlpack_c_exchange_api__"])
@pytest.mark.parametrize("kind", [list, dict])
def test_a_metaclass_changes_the_list_that_is_converted(name, kind, observe):
    kept, filled = [], kind()

    class Meta(type):
        def __getattribute__(cls, asked):
            if asked == name:
                filled.clear()
                gc.collect()
                kept.append([bytes(64) for _ in range(2000)])
            return super().__getattribute__(asked)

    values = [testing.TestIntPair(i, 1) for i in range(5)] + [Meta("Odd", (), {})()] + [testing.TestIntPair(i, 1) for i in range(200)]
    if kind is list:
        filled.extend(values)
    else:
        filled.update(enumerate(values))
    del values
    observe(len(echo(filled)))


def test_a_descriptor_of_a_class_changes_the_list_that_is_converted(observe):
    filled = []

    class Clears:
        def __get__(self, instance, owner):
            filled.clear()
            raise AttributeError

    class Odd:
        __dlpack_c_exchange_api__ = Clears()

    filled.extend([testing.TestIntPair(1, 2), Odd(), testing.TestIntPair(3, 4)])
    observe(len(echo(filled)))


class Noisy:
    """A callable whose finalizer calls a function that fails."""

    def __call__(self, *arguments):
        return 1

    def __del__(self):
        try:
            raising("ValueError", "of the finalizer")
        except ValueError as error:
            Noisy.seen.append(str(error))

    seen: list[str] = []


@needs_extension
def test_the_error_of_a_call_outlives_the_release_of_its_arguments():
    items = [tvm_ffi.convert(Noisy())]

    def fails(value):
        items.clear()
        gc.collect()
        raise KeyError("of the callback")

    Noisy.seen.clear()
    with pytest.raises(KeyError, match="of the callback"):
        apply(fails, items)
    assert [text.split("\n")[0] for text in Noisy.seen] == ["of the finalizer"]


@pytest.mark.parametrize("value", [5, "text", None, object()])
def test_the_class_of_tensors_is_not_a_class(value, observe):
    tensor = tvm_ffi.from_dlpack(numpy.zeros(3))
    former = core._CLASS_TENSOR
    core._set_class_tensor(value)
    try:
        echo(tensor)
    except TypeError as error:
        observe(str(error))
    except AttributeError as error:
        observe(str(error))
    finally:
        core._set_class_tensor(former)
    assert type(echo(tensor)) is former


@needs_extension
def test_new_returns_another_object():
    @dataclasses.py_class("hazards.Other")
    class Other(tvm_ffi.Object):
        x: int

    made = Other(3)
    assert echo(made).x == 3
    for other in (object(), 5, "text", None, tvm_ffi.dtype("int8")):
        Other.__new__ = staticmethod(lambda cls, *arguments, other=other: other)
        with pytest.raises(TypeError, match="has made another object"):
            echo(made)
    del Other.__new__


@needs_extension
def test_new_of_tensors_returns_another_object():
    class Tensor(tvm_ffi.Tensor):
        def __new__(cls, *arguments):
            return tvm_ffi.Object.__new__(tvm_ffi.Object)

    tensor, former = tvm_ffi.from_dlpack(numpy.zeros(3)), core._CLASS_TENSOR
    core._set_class_tensor(Tensor)
    try:
        with pytest.raises(TypeError, match="has made another object"):
            echo(tensor)
    finally:
        core._set_class_tensor(former)
    assert echo(tensor).shape == (3,)


@pytest.mark.parametrize("error", [ValueError, TypeError, KeyboardInterrupt])
def test_the_bounds_of_a_slice_are_asked_once(error, observe):
    asked = []

    class Bound:
        def __index__(self):
            asked.append(1)
            if len(asked) > 1:
                return 1
            raise error("of the bound")

    for sequence in (tvm_ffi.Array([1, 2, 3]), tvm_ffi.List([1, 2, 3])):
        asked.clear()
        with pytest.raises(error):
            sequence[Bound() :]
        observe(len(asked))


def test_a_bound_of_a_slice_changes_the_list(observe):
    items = tvm_ffi.List(list(range(100)))

    class Bound:
        def __index__(self):
            items.clear()
            return 0

    try:
        observe(items[Bound() :])
    except IndexError as error:
        observe(str(error))


def test_types_of_methods_and_iterators_make_no_instances():
    for value in (vars(testing.TestIntPair)["sum"], vars(tvm_ffi.Array)["__getitem__"], iter(tvm_ffi.Array([1])), iter(tvm_ffi.List([1]))):
        if type(value).__module__ == "builtins":
            continue  # a function of Python
        with pytest.raises(TypeError):
            type(value)()
        if type(value).__module__ == "ferrite_python":
            with pytest.raises(TypeError):
                object.__new__(type(value))


@needs_extension
def test_a_callable_is_released_while_it_runs():
    released = []

    class Value:
        def __del__(self):
            released.append(len(steps))

    def pairs():
        for index in range(100):
            functions.clear()
            steps.append(index)
            yield index, bytes(index)

    # Only the function has the method, and only the method has the dict.
    steps, functions = [], [tvm_ffi.convert({"value": Value()}.update)]
    handle, source = functions[0].__chandle__(), core._convert_to_opaque_object(pairs())
    argument, result = Any(OPAQUE_PY_OBJECT, 0, source.__chandle__()), Any(0, 0, 0)
    assert tvm_ffi.LIB.TVMFFIFunctionCall(ctypes.c_void_p(handle), ctypes.byref(argument), 1, ctypes.byref(result)) == 0
    assert released == [100]


@needs_extension
def test_an_exception_without_text_is_an_error_of_the_library(capsys):
    class Mute(Exception):
        def __str__(self):
            raise ValueError("no text")

    def fails(value):
        raise Mute

    unraisable, hook = [], sys.unraisablehook
    sys.unraisablehook = unraisable.append
    try:
        with pytest.raises(RuntimeError, match="could not be converted"):
            apply(fails, 1)
    finally:
        sys.unraisablehook = hook
    assert [one.exc_type for one in unraisable] == [ValueError]
    assert apply(lambda value: value, 2) == 2


@pytest.mark.parametrize("form", [list, tuple, dict])
def test_values_deeper_than_the_recursion_limit(form, observe):
    # A list in itself ends the process, with upstream's code.
    value = 1
    for _ in range(3000):
        value = {0: value} if form is dict else form((value,))
    converted, depth = echo(value), 0
    while not isinstance(converted, int):
        converted, depth = converted[0], depth + 1
    observe((converted, depth))


def test_a_property_is_initialised_anew(observe):
    @dataclasses.py_class("hazards.Setter")
    class Setter(tvm_ffi.Object):
        x: int

    made, field = Setter(1), vars(Setter)["x"]
    property.__init__(field, lambda self: 7, lambda self, value: observe(value))
    observe(made.x)
    made.x = 9
    property.__init__(field)
    for use in (lambda: made.x, lambda: setattr(made, "x", 1), lambda: delattr(made, "x")):
        try:
            observe(use())
        except AttributeError as error:
            observe(str(error))


def test_a_function_is_registered_anew_while_it_runs(observe):
    def second(value):
        return value + 2

    def first(value):
        tvm_ffi.register_global_func("hazards.again", second, override=True)
        gc.collect()
        return value + 1

    for _ in range(3):
        tvm_ffi.register_global_func("hazards.again", first, override=True)
        observe([tvm_ffi.get_global_func("hazards.again")(1) for _ in range(2)])


def test_a_constructor_is_replaced_while_it_runs(observe):
    def replaces():
        Point.__init__ = lambda self, *arguments: calls.append(arguments)
        gc.collect()
        return 5

    calls = []

    @dataclasses.py_class("hazards.Replaced")
    class Point(tvm_ffi.Object):
        x: int
        y: int = dataclasses.field(default_factory=replaces)

    made = Point(1)
    observe((made.x, made.y, calls))
    Point(2)
    observe(calls)


def test_a_class_is_registered_anew_while_its_object_is_made(observe):
    @dataclasses.py_class("hazards.Renewed")
    class First(tvm_ffi.Object):
        x: int

    made = First(1)

    def new(cls, *arguments):
        core._type_index_to_type_info(9)
        tvm_ffi.register_global_func("hazards.renewed", lambda: 1, override=True)

        @dataclasses.py_class("hazards.Other%d" % len(classes))
        class Other(tvm_ffi.Object):
            y: int

        classes.append(Other)
        return tvm_ffi.Object.__new__(cls)

    classes = []
    First.__new__ = staticmethod(new)
    for _ in range(3):
        observe((type(echo(made)).__name__, echo(made).x))
    observe(len(classes))
    del First.__new__


def test_an_iterator_of_a_map_is_asked_while_it_runs(observe):
    @dataclasses.py_class("hazards.Asks")
    class Asks(tvm_ffi.Object):
        x: int

    values, seen = iter(tvm_ffi.Map({1: Asks(1), 2: Asks(2)}).values()), []

    def new(cls, *arguments):
        try:
            seen.append(next(values).x)
        except ValueError as error:
            seen.append(str(error))
        return tvm_ffi.Object.__new__(cls)

    Asks.__new__ = staticmethod(new)
    try:
        found = [value.x for value in values]
    finally:
        del Asks.__new__
    observe([found, seen])


@needs_extension
@pytest.mark.parametrize("part", ["keys", "values", "items"])
@pytest.mark.parametrize("kind", [tvm_ffi.Map, tvm_ffi.Dict])
def test_a_map_is_moved_before_its_iteration(kind, part):
    mapping = kind({1: 2})
    entries = iter(getattr(mapping, part)())
    assert echo(mapping._move())[1] == 2
    with pytest.raises(ValueError, match="the map was moved"):
        next(entries)


def test_the_collector_runs_in_every_allocation():
    threshold = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for _ in range(20):
            pair = testing.TestIntPair(1, 2)
            assert list(tvm_ffi.Array([pair, "text", [1, (2, 3)], {"a": [1]}]))[0].same_as(pair)
            assert apply(lambda value: [value, value], "text" * 5)[1] == "text" * 5
            for wrong in ("\ud800", ["\ud800"], {"\ud800": 1}):
                with pytest.raises(UnicodeEncodeError):
                    echo(wrong)
            with pytest.raises(IndexError):
                tvm_ffi.Array([1])[5]
    finally:
        gc.set_threshold(*threshold)
