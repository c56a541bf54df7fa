"""Subclasses, classes that programs set or register anew, and classes that other tools patch, work as they do upstream."""

import copy
import functools
import inspect
import operator
import pickle

import numpy
import pytest

import tvm_ffi
from tvm_ffi import core, dataclasses, testing

from test_conversions import outcome

echo, nop, apply = (tvm_ffi.get_global_func(f"testing.{name}") for name in ("echo", "nop", "apply"))


@pytest.fixture
def classes():
    """Restore the classes of results."""
    names = ("_CLASS_TENSOR", "_CLASS_DEVICE", "_CLASS_DTYPE", "_CLASS_OBJECT")
    before = {name: getattr(core, name) for name in names}
    setters = {name: getattr(core, "_set_class_" + name.rpartition("_")[2].lower()) for name in names}
    yield setters
    for name, setter in setters.items():
        setter(before[name])


def test_the_class_of_tensors_can_be_set(classes, observe):
    class OwnTensor(core.Tensor):
        __slots__ = ()

        def twice(self):
            return self.shape[0] * 2

    array = numpy.zeros(3)
    before = type(echo(array))
    classes["_CLASS_TENSOR"](OwnTensor)
    results = [echo(array), echo([array])[0], tvm_ffi.from_dlpack(array)]
    apply(results.append, array)
    observe([type(one).__name__ for one in results])
    assert echo(array).twice() == 6
    classes["_CLASS_TENSOR"](before)
    observe(type(echo(array)).__name__)


def test_the_classes_of_devices_and_dtypes_can_be_set(classes, observe):
    class OwnDevice(core.Device):
        pass

    class OwnType(core.DataType):
        pass

    classes["_CLASS_DEVICE"](OwnDevice)
    observe(outcome(lambda: type(echo(tvm_ffi.device("cpu:0"))).__name__))
    observe(outcome(lambda: type(echo(numpy.zeros(2)).device).__name__))
    observe(outcome(apply, lambda value: type(value).__name__, tvm_ffi.device("cpu:0")))
    classes["_CLASS_DTYPE"](OwnType)
    observe(outcome(lambda: type(echo(numpy.zeros(2)).dtype).__name__))


def test_the_class_of_objects_can_be_set(classes, observe):
    class OwnObject(core._CLASS_OBJECT):
        pass

    classes["_CLASS_OBJECT"](OwnObject)
    observe(type(echo(testing.TestIntPair(1, 2))).__name__)
    observe(type(echo([1])).__name__)


def test_a_class_can_be_registered_anew(observe):
    info = core._type_cls_to_type_info(testing.TestIntPair)
    pair = testing.TestIntPair(1, 2)
    assert type(echo(pair)) is testing.TestIntPair

    class Other(tvm_ffi.Object):
        __slots__ = ()

    outcome_of = outcome(core._register_object_by_index, info.type_index, Other)
    observe(outcome_of.split("(")[0])
    observe((type(echo(pair)).__name__, type(echo([pair])[0]).__name__, type(tvm_ffi.Map({"a": pair})["a"]).__name__))
    observe(outcome(core._register_object_by_index, info.type_index, testing.TestIntPair).split("(")[0])
    observe(type(echo(pair)).__name__)


def test_setting_the_class_of_a_type_changes_results(observe):
    info = core._type_cls_to_type_info(testing.TestIntPair)
    pair = testing.TestIntPair(1, 2)
    echo(pair)

    class Replacing(tvm_ffi.Object):
        __slots__ = ()

    observe(outcome(core._set_type_cls, info, Replacing).split("(")[0])
    observe((type(echo(pair)).__name__, type(tvm_ffi.Array([pair])[0]).__name__))
    observe(outcome(core._set_type_cls, info, testing.TestIntPair).split("(")[0])
    observe(type(echo(pair)).__name__)


def test_a_class_that_fails_to_register_leaves_no_trace(observe):
    def declare():
        @dataclasses.py_class("fast.Broken")
        class Broken(tvm_ffi.Object):
            x: int
            y: "NoSuchType"  # noqa: F821

        return Broken(1, 2)

    observe(outcome(declare).split("(")[0])

    @dataclasses.py_class("fast.Whole")
    class Whole(tvm_ffi.Object):
        x: int

    assert type(echo(Whole(1))) is Whole and echo(Whole(4)).x == 4


def test_unregistered_types_get_a_class(observe):
    made = tvm_ffi.get_global_func("testing.make_unregistered_object")()
    observe((type(made).__name__, type(made).__module__, [one.__name__ for one in type(made).__mro__]))
    assert type(echo(made)) is type(made)


def test_subclasses_with_slots(observe):
    class Wide(testing.TestIntPair):
        __slots__ = ("extra",)

    class Narrow(testing.TestIntPair):
        __slots__ = ()

    class Open(testing.TestIntPair):
        pass

    for one in (Wide, Narrow, Open):
        observe(outcome(one, 1, 2).split("(")[0])
        value = one(3, 4)
        observe(outcome(setattr, value, "extra", 5))
        observe((value.a, value.sum(), type(echo(value)).__name__, type(value).__basicsize__))
        observe(hasattr(value, "__dict__"))


def test_subclasses_of_functions(observe):
    class Named(tvm_ffi.Function):
        def __init__(self, function, name):
            self.__move_handle_from__(function)
            self.name = name

    class Doubling(tvm_ffi.Function):
        def __init__(self, function):
            self.__move_handle_from__(function)

        def __call__(self, value):
            return 2 * super().__call__(value)

    named, doubling = Named(tvm_ffi.convert(lambda value: value + 1), "own"), Doubling(tvm_ffi.convert(lambda value: value + 1))
    observe((named(1), named.name, doubling(1), apply(doubling, 1), apply(named, 1)))
    observe((outcome(named, 1, 2, 3).split(":")[0], outcome(doubling, key=1)))


def test_a_subclass_of_two_bases_is_filled_by_a_move(observe):
    class Base:
        def greeting(self):
            return "hello"

    class Both(tvm_ffi.Function, Base):
        __call__ = tvm_ffi.Function.__call__

        def __init__(self, function):
            self.__move_handle_from__(function)

    both = Both(tvm_ffi.convert(lambda *values: sum(values)))
    assert both(1, 2) == 3 and both.greeting() == "hello"
    observe(apply(both, 4))


def test_an_empty_function_is_refused(observe):
    empty = tvm_ffi.Function.__new__(tvm_ffi.Function)
    observe(outcome(repr, empty).split(" at ")[0])
    observe(empty.__chandle__())


def test_a_moved_function_calls_the_new_one(observe):
    first, second = tvm_ffi.convert(lambda: 1), tvm_ffi.convert(lambda: 2)
    assert (first(), second()) == (1, 2)
    first.__move_handle_from__(second)
    observe((first(), second.__chandle__()))


def test_functions_can_be_called_in_every_way(observe):
    function = tvm_ffi.convert(lambda *values: len(values))
    observe((function(), function(1), function(*range(5)), function(*range(40)), function(*range(300))))
    observe((function.__call__(1, 2), type(function).__call__(function, 1), tvm_ffi.Function.__call__(function)))
    observe((functools.partial(function, 1)(2), operator.methodcaller("__call__", 1)(function), list(map(function, [1], [2]))))
    observe((outcome(tvm_ffi.Function.__call__), outcome(tvm_ffi.Function.__call__, 3)))
    observe((callable(function), outcome(inspect.signature, function).split(":")[0], hasattr(function, "__dict__")))
    function.own = 3
    observe((function.own, vars(function), function.release_gil))


def test_items_can_be_read_in_every_way(observe):
    class Index:
        def __index__(self):
            return 1

    array, items = tvm_ffi.Array([1, "two", 3.0, None]), tvm_ffi.List([1, "two", 3.0, None])
    for one in (array, items):
        for index in (0, 3, -1, -4, 4, -5, 1 << 70, True, numpy.int64(2), Index(), 1.0, "0", None, slice(None), slice(1, 3), slice(None, None, -1), slice(3, 1), (0,)):
            observe(outcome(lambda: one[index]))
            observe(outcome(one.__getitem__, index))
            observe(outcome(type(one).__getitem__, one, index))
            observe(outcome(operator.getitem, one, index))
        observe((len(one), one.__len__(), type(one).__len__(one), bool(one), list(one), list(reversed(one)), tuple(iter(one)), [*one]))
        observe((1 in one, "two" in one, None in one, 7 in one, outcome(one.index, 3.0), outcome(one.count, 1)))
        observe((outcome(type(one).__getitem__, [1], 0), outcome(type(one).__len__, [1]), outcome(type(one).__getitem__)))
        first, *rest = one
        observe((first, rest))
        iterator = iter(one)
        observe((next(iterator), type(iterator).__name__ != "", iter(iterator) is iterator, list(iterator), outcome(next, iterator)))


def test_lists_change_under_an_iterator(observe):
    items = tvm_ffi.List([1, 2, 3])
    seen = []
    for item in items:
        seen.append(item)
        if len(items) < 6:
            items.append(item * 10)
    observe(seen)
    iterator = iter(items)
    next(iterator)
    items.clear()
    observe(outcome(next, iterator))
    items.extend([7, 8])
    observe((items[0], outcome(lambda: items[2]), len(items)))
    items[0] = "new"
    items[-1] = [1]
    del items[0]
    observe((outcome(repr, items), outcome(items.__setitem__, 9, 1), outcome(items.__delitem__, 9)))


def test_maps_can_be_read_in_every_way(observe):
    pair = testing.TestIntPair(1, 2)
    for one in (tvm_ffi.Map({"a": 1, 2: "b", 3.5: None, pair: pair}), tvm_ffi.Dict({"a": 1, 2: "b", 3.5: None, pair: pair})):
        for key in ("a", 2, 3.5, "none", None, True, 2.0, (1,), [1], numpy.int64(2), b"a"):
            observe(outcome(lambda: one[key]))
            observe(outcome(lambda: key in one))
            observe(outcome(one.get, key, "default"))
        observe((len(one), bool(one), one[pair].same_as(pair), [str(key) for key in one][:3], len(list(one.items())), len(list(one.values()))))
        observe((outcome(type(one).__getitem__, {}, "a"), outcome(type(one).__len__, {})))


def test_patched_classes_are_asked(monkeypatch, observe):
    array, mapping, pair = tvm_ffi.Array([1, 2]), tvm_ffi.Map({"a": 1}), testing.TestIntPair(1, 2)
    for _ in range(20):  # specialised by the interpreter before the patch
        array[0], len(array), mapping["a"], pair.sum(), pair.a
    seen = []

    def spy(owner, name, value):
        monkeypatch.setattr(owner, name, value)

    spy(tvm_ffi.Array, "__getitem__", lambda self, index: seen.append("getitem") or "patched")
    spy(tvm_ffi.Array, "__len__", lambda self: seen.append("len") or 7)
    spy(tvm_ffi.Array, "__iter__", lambda self: seen.append("iter") or iter(["patched"]))
    spy(tvm_ffi.Array, "__contains__", lambda self, item: seen.append("contains") or True)
    spy(tvm_ffi.Map, "__getitem__", lambda self, key: seen.append("map") or "patched")
    spy(testing.TestIntPair, "sum", lambda self: seen.append("sum") or -1)
    spy(testing.TestIntPair, "a", property(lambda self: seen.append("a") or -2))
    observe([(array[0], len(array), list(array), 5 in array, mapping["a"], pair.sum(), pair.a) for _ in range(3)][-1])
    observe(seen)
    monkeypatch.undo()
    assert (array[0], len(array), list(array), 5 in array, mapping["a"], pair.sum(), pair.a) == (1, 2, [1, 2], False, 1, 3, 1)
    for _ in range(20):
        assert (array[1], len(array), pair.sum(), pair.a) == (2, 2, 3, 1)


def test_subclasses_may_override_operators(observe):
    class Shifted(tvm_ffi.Array):
        def __getitem__(self, index):
            return super().__getitem__(index) + 100

        def __len__(self):
            return super().__len__() + 1

    shifted = Shifted([1, 2])
    observe((shifted[0], len(shifted), outcome(list, shifted), type(echo(shifted)).__name__))
    observe([tvm_ffi.Array([1, 2])[0], len(tvm_ffi.Array([1, 2]))])


METHODS = [testing.TestIntPair.sum, testing.TestIntPair.__init__, tvm_ffi.Array.__getitem__, tvm_ffi.Map.get]


@pytest.mark.parametrize("index", range(len(METHODS)))
def test_methods_are_like_functions(index, observe):
    method = METHODS[index]
    observe([getattr(method, name) for name in ("__name__", "__qualname__", "__module__", "__doc__", "__annotations__")])
    observe((str(inspect.signature(method)), method.__code__.co_name, method.__defaults__, hasattr(method, "missing")))
    assert pickle.loads(pickle.dumps(method)) is method and copy.copy(method) is method and copy.deepcopy(method) is method
    method.mark = 1
    assert method.mark == 1 and vars(method)["mark"] == 1
    del method.mark
    assert not hasattr(method, "mark")


def test_types_refuse_what_they_refused(observe):
    for name in ("__call__", "release_gil", "own"):
        observe(outcome(setattr, tvm_ffi.Function, name, 1))
    observe(outcome(setattr, core.CObject, "own", 1))
    observe(outcome(lambda: weakref_of(tvm_ffi.convert(lambda: 1))))
    # Not of Function, which may get a word for its vectorcall.
    observe((core.CObject.__basicsize__, tvm_ffi.Tensor.__basicsize__, tvm_ffi.Array.__basicsize__, core.Error.__basicsize__))
    observe([name for name in ("__getitem__", "__len__", "__iter__", "__contains__") if name in vars(tvm_ffi.Array)])
    observe((tvm_ffi.Array.__name__, tvm_ffi.Array.__qualname__, tvm_ffi.Array.__module__, [one.__name__ for one in tvm_ffi.Array.__mro__]))
    observe((isinstance(tvm_ffi.Array([]), tvm_ffi.Object), issubclass(tvm_ffi.Function, tvm_ffi.Object)))


def weakref_of(value):
    import weakref

    return type(weakref.ref(value)).__name__


def test_fields_of_classes_of_python(observe):
    @dataclasses.py_class("fast.Record")
    class Record(tvm_ffi.Object):
        number: int
        text: str = "default"
        items: list = dataclasses.field(default_factory=lambda: [1, 2])

    record = Record(1)
    observe((record.number, record.text, list(record.items), outcome(Record), outcome(Record, "a"), outcome(Record, 1, text=3)))
    record.number, record.text = 5, "a text that is longer than seven"
    observe((record.number, record.text, outcome(setattr, record, "number", "a"), outcome(setattr, record, "none", 1)))
    observe((outcome(delattr, record, "number"), outcome(getattr, Record, "number").split(" at ")[0], repr(record)))
    getter = type(record).number.__get__
    observe((getter(record), outcome(getter, 3)))
