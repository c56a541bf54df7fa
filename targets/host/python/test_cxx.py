"""Tests of values that pass between Python, the library and the module built from test_cxx.cc.

usage: test_cxx.py MODULE TEST, where TEST is a function below; test_wheel.py runs each in an interpreter of its own.
"""

import sys

import ferrite_tvm_ffi  # noqa: F401
import tvm_ffi

module = tvm_ffi.load_module(sys.argv[1])


@tvm_ffi.register_object("ferrite_test.Point")
class Point(tvm_ffi.Object):
    def __init__(self, x, name):
        self.__ffi_init__(x, name)


@tvm_ffi.register_object("ferrite_test.Point3")
class Point3(Point):
    def __init__(self, x, name, z):
        self.__ffi_init__(x, name, z)


def raised(function, *arguments):
    try:
        function(*arguments)
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


def containers():
    groups = module.grouped([1, 2, 3, 4, 5])
    assert {key: list(group) for key, group in groups.items()} == {"even": [2, 4], "odd": [1, 3, 5]}
    values, entries = tvm_ffi.List([1]), tvm_ffi.Dict({"a": None})
    assert module.filled(values, entries, 100) == 202
    assert len(values) == 101 and values[100] == "a text of the module 99" and values[0] == 1
    assert entries[99] == values[100] or entries[99] == "a text of the module 98"
    values.append("of Python")
    assert module.filled(values, entries, 1) == 103 + 101
    assert module.described((1, "two", None)) == '(1, "two", None)'
    assert module.parsed('{"a": [1, 2.5, null, "text"]}')["a"][3] == "text"
    assert module.same_graph([1, "two", {"three": [None]}])


def objects():
    point = Point(1.5, "a name that is not short")
    assert (point.x, point.name, point.scaled(2.0)) == (1.5, "a name that is not short", 3.0)
    point.x = 4.0
    point.tags = ["first"]
    point.tags.append("second")
    assert module.moved(point, 2.0).same_as(point) and point.x == 6.0 and list(point.tags) == ["first", "second"]
    assert isinstance(raised(setattr, point, "name", "other"), AttributeError)
    corner = Point3(1.0, "corner", 7)
    assert isinstance(module.moved(corner, 1.0), Point3) and (corner.x, corner.z) == (2.0, 7)
    assert module.described(corner) == 'ferrite_test.Point3(x=2, name="corner", tags=[], z=7)'
    assert isinstance(raised(module.moved, module, 1.0), TypeError)
    echoed = tvm_ffi.convert([point, {"k": point}])
    assert echoed[0].same_as(echoed[1]["k"])


def modules():
    counter = module.counter()
    assert isinstance(counter, tvm_ffi.Module) and counter.kind == "counter" and counter.is_runnable()
    count = counter.get_function("count")
    assert [count(), counter["count"](), counter.count()] == [1, 2, 3]
    del counter
    assert count() == 4  # the function keeps its module alive
    counter = module.counter()
    assert not counter.implements_function("nothing") and counter.implements_function("count")
    assert counter.get_function_doc("it") == "counts: it" and counter.inspect_source() == "count += 1"
    error = raised(counter.get_function, "refused")
    assert isinstance(error, KeyError) and "refused here" in str(error), error
    error = raised(counter.get_function, "broken")
    assert isinstance(error, RuntimeError) and "broken here" in str(error), error
    assert isinstance(raised(counter.get_function, "thrown"), RuntimeError)  # upstream's library ends the process
    loaded = module.loaded(sys.argv[1])
    counter.import_module(loaded)
    assert counter.get_function("parsed", query_imports=True)("[1]")[0] == 1
    assert "Cyclic" in str(raised(loaded.import_module, counter))
    assert list(counter.imports)[0].same_as(loaded)
    assert "no_dot" in str(raised(module.loaded, "no_dot"))


def errors():
    for kind in (ValueError, KeyError, TypeError, IndexError):
        error = raised(module.fail, kind.__name__)
        assert type(error) is kind and "from C++" in str(error), error
    assert isinstance(raised(module.fail, "std"), RuntimeError)
    assert isinstance(raised(module.parsed, "[1, "), ValueError)

    def refuse(*arguments):
        raise IndexError("from Python")

    assert isinstance(raised(module.called, refuse, 1), IndexError)
    assert module.caught(refuse) == "IndexError: from Python"
    assert module.called(lambda x: [x, x], "text")[1] == "text"


globals()[sys.argv[2]]()
