"""Tests of the unmodified ctypes front end of an earlier release found on the path, on this library.

Each function test_NAME is a test, run by unittest, as are those of front_end_values.py.
"""

import ctypes
import gc
import os
import subprocess
import sys
import threading
import traceback
import unittest

import numpy as np
import tvm

RELEASE = tuple(int(part) for part in os.environ["RELEASE"].split(".")[:2])
FOLDER = os.environ["LIBRARIES"]  # compiled by run.sh
LIB = tvm._ffi.base._LIB

register = tvm.register_func
get = tvm.get_global_func
array = tvm.nd.array
convert = tvm.convert if hasattr(tvm, "convert") else tvm.runtime.convert
cpu = tvm.cpu
if RELEASE < (0, 7):
    from tvm import module

    load_module = module.load
    system_library = module.system_lib
    enabled = module.enabled
    node_of = lambda value: convert(value)
else:
    load_module = tvm.runtime.load_module
    system_library = tvm.runtime.system_lib
    enabled = tvm.runtime.enabled
    node_of = lambda value: convert(value)

names = iter(range(10**6))


def named(function):
    """Register a function under a new name, and return it from the table."""
    name = "front_end.%d" % next(names)
    register(name, function)
    return get(name)


def raises(kind, body, *texts):
    try:
        body()
    except kind as error:
        for text in texts:
            assert text in str(error), (text, str(error))
        return error
    raise AssertionError("nothing was raised")


def numpy_of(nd):
    return nd.numpy() if hasattr(nd, "numpy") else nd.asnumpy()


def strong_count(nd):
    """Return the reference count of the tensor object, whose header precedes the array."""
    address = ctypes.cast(nd.handle, ctypes.c_void_p).value - 24
    return ctypes.c_uint32.from_address(address).value


echo = named(lambda *args: args[0])


def test_version():
    assert tuple(int(part) for part in tvm.__version__.split(".")[:2]) >= (0, 5)


def test_int():
    for value in [0, 1, -1, 2**31, -(2**31), 2**63 - 1, -(2**63)]:
        assert echo(value) == value and isinstance(echo(value), int)


def test_float():
    for value in [0.0, -1.5, 1e300, float("inf")]:
        assert echo(value) == value and isinstance(echo(value), float)


def test_none():
    assert echo(None) is None
    assert named(lambda: None)() is None


def test_bool():
    assert echo(True) == 1 and echo(False) == 0
    assert isinstance(echo(True), bool) == (RELEASE >= (0, 18))


def test_text():
    for value in ["", "a", "seven b", "eight by", "a text of many bytes" * 50, "ä€𝄞"]:
        assert echo(value) == value and isinstance(echo(value), str)


def test_bytes():
    for value in [b"", b"a", b"a\0b", b"seven b", b"eight by", b"\xff" * 1000]:
        if value:  # front ends of 0.5 do not accept empty buffers
            assert echo(bytearray(value)) == bytearray(value)


def test_device():
    assert echo(cpu(3)).device_type == 1 and echo(cpu(3)).device_id == 3


def test_handle():
    assert echo(ctypes.c_void_p(0x1234)).value == 0x1234
    assert echo(ctypes.c_void_p(0)).value is None


def test_dtype_is_text():
    kind = tvm.TVMType if hasattr(tvm, "TVMType") else getattr(tvm, "DataType", None)
    kind = kind or tvm._ffi.runtime_ctypes.TVMType
    assert echo(kind("float32x4")) == "float32x4"


def test_no_arguments_and_many():
    assert named(lambda *args: len(args))() == 0
    total = named(lambda *args: sum(args))
    for count in [1, 15, 16, 17, 100]:
        assert total(*range(count)) == sum(range(count))


def test_function_as_argument_and_result():
    assert named(lambda f, x: f(x) + 1)(lambda x: x * 2, 5) == 11
    add = named(lambda x: convert(lambda y: x + y))
    assert add(3)(4) == 7


def test_nested_calls_keep_their_texts():
    inner = named(lambda x: "inner " + x)
    outer = named(lambda x: inner(x) + " " + inner("again"))
    assert outer("text") == "inner text inner again"


def test_missing_function():
    raises(ValueError, lambda: get("front_end.no_such"), "front_end.no_such")
    missing = get("front_end.no_such", allow_missing=True) if RELEASE < (0, 8) else get("front_end.no_such", True)
    assert missing is None


def test_override():
    register("front_end.twice", lambda: 1)
    raises(Exception, lambda: register("front_end.twice", lambda: 2), "is already registered")
    register("front_end.twice", lambda: 3, override=True)
    assert get("front_end.twice")() == 3


def test_list_of_names():
    register("front_end.listed", lambda: 1)
    lister = tvm._ffi.function.list_global_func_names if RELEASE < (0, 7) else tvm._ffi.registry.list_global_func_names
    found = lister()
    assert "front_end.listed" in found and "ffi.Array" in found and len(found) == len(set(found))


def test_error_of_a_callback():
    def fail(x):
        raise ValueError("bad thing %d" % x)

    kind = ValueError if RELEASE >= (0, 6) else tvm._ffi.base.TVMError
    raises(kind, lambda: named(fail)(7), "bad thing 7")


def test_error_through_two_functions():
    def fail():
        raise KeyError("deep")

    inner = named(fail)
    # 0.6 has no KeyError; 0.5 has no error kinds.
    kind = KeyError if RELEASE >= (0, 8) else tvm._ffi.base.TVMError
    raises(kind, lambda: named(lambda: inner())(), "deep")


def test_same_exception_object():
    if RELEASE < (0, 14):
        return
    error = ValueError("the very same")

    def fail():
        raise error

    assert raises(ValueError, lambda: named(fail)(), "very same") is error
    inner = named(fail)
    assert raises(ValueError, lambda: named(lambda: inner())(), "very same") is error


def test_calls_after_an_error():
    raises(Exception, lambda: get("ffi.Array")(1).no_such_attribute if False else named(lambda: 1 / 0)())
    assert echo(5) == 5


def test_error_of_the_library():
    size = get("ffi.ArraySize")
    # The kind is TypeError, which all but 0.5 have.
    kind = TypeError if RELEASE >= (0, 6) else tvm._ffi.base.TVMError
    raises(kind, lambda: size(1), "ffi.ArraySize")


def test_finalizer():
    class Marker(object):
        pass

    import weakref

    marker = Marker()
    watch = weakref.ref(marker)
    function = convert(lambda held=marker: held)
    del marker
    gc.collect()
    assert watch() is not None
    del function
    gc.collect()
    assert watch() is None


def test_array_round_trip():
    for dtype in ["float32", "float64", "int8", "int32", "int64", "uint8", "float16"]:
        data = np.arange(24).reshape(2, 3, 4).astype(dtype)
        nd = array(data)
        assert nd.shape == (2, 3, 4) and nd.dtype == dtype
        assert (numpy_of(nd) == data).all()


def test_array_of_no_elements_and_no_dimensions():
    assert numpy_of(array(np.zeros((0, 3), "float32"))).shape == (0, 3)
    assert numpy_of(array(np.array(5.5))) == 5.5


def test_array_copies():
    one = array(np.arange(5, dtype="int32"))
    other = tvm.nd.empty((5,), "int32")
    one.copyto(other)
    assert list(numpy_of(other)) == [0, 1, 2, 3, 4]
    other[:] = np.full(5, 9, "int32")
    assert list(numpy_of(other)) == [9] * 5
    assert (numpy_of(one.copyto(cpu(0))) == numpy_of(one)).all()


def test_array_as_argument_and_result():
    nd = array(np.arange(4, dtype="float32"))
    assert (numpy_of(echo(nd)) == numpy_of(nd)).all()

    def fill(a, value):
        a[:] = np.full(a.shape, value, a.dtype)

    named(fill)(nd, 3)
    assert list(numpy_of(nd)) == [3] * 4


def test_array_counts_come_out_even():
    """Up to 0.6, the front end frees array arguments that are not retained."""
    nd = array(np.arange(4, dtype="float32"))
    look = named(lambda a: a.shape[0])
    before = strong_count(nd)
    for _ in range(100):
        assert look(nd) == 4
    gc.collect()
    assert strong_count(nd) == before
    for _ in range(100):
        echo(nd)
    gc.collect()
    assert strong_count(nd) == before
    kept = []
    keep = named(lambda a: kept.append(a))
    keep(nd)
    assert strong_count(nd) == before + 1 and (numpy_of(kept[0]) == numpy_of(nd)).all()
    kept.clear()
    gc.collect()
    assert strong_count(nd) == before


def test_array_outlives_its_maker():
    make = named(lambda: array(np.arange(1000, dtype="int64")))
    made = [make() for _ in range(20)]
    gc.collect()
    assert all(numpy_of(nd)[999] == 999 for nd in made)


def test_bad_arrays():
    nd = array(np.zeros(4, "float32"))
    raises(ValueError, lambda: nd.copyfrom(np.zeros(5, "float32")))
    raises(Exception, lambda: nd.copyto(tvm.nd.empty((5,), "float32")))
    raises(Exception, lambda: tvm.nd.empty((-1,), "float32"))
    raises(Exception, lambda: tvm.nd.empty((2,), "float32", tvm.opencl(0)))


def test_dlpack():
    nd = array(np.arange(6, dtype="float32"))
    if RELEASE < (0, 6):
        return  # its capsule call lacks argument types, and fails on Python 3.11
    back = tvm.nd.from_dlpack(nd.to_dlpack())
    assert (numpy_of(back) == numpy_of(nd)).all()
    back[:] = np.zeros(6, "float32")
    assert numpy_of(nd).sum() == 0


def test_list_of_values():
    listed = convert([1, 2, "three", [4, 5]])
    assert len(listed) == 4 and len(listed[3]) == 2
    raises(IndexError, lambda: listed[4])
    plain = lambda x: getattr(x, "value", x)
    assert [plain(listed[0]), plain(listed[1]), plain(listed[2])] == [1, 2, "three"]
    assert plain(listed[-1][0]) == 4


def test_dict_of_values():
    mapped = convert({"a": 1, "b": "text"})
    plain = lambda x: getattr(x, "value", x)
    assert len(mapped) == 2 and plain(mapped["a"]) == 1 and plain(mapped["b"]) == "text"
    assert "a" in mapped and "z" not in mapped
    assert {str(plain(k)): plain(v) for k, v in mapped.items()} == {"a": 1, "b": "text"}
    raises(Exception, lambda: mapped["z"])
    assert len(convert({})) == 0
    if RELEASE < (0, 7):  # texts as keys make another class, and an empty map has none
        assert [type(m).__name__ for m in (mapped, convert({}))] == ["StrMap", "Map"]


def test_containers_are_those_of_tvm_ffi():
    """A list of the front end is an ffi.Array, whose elements are plain values."""
    assert get("ffi.ArraySize")(convert([1, 2, 3])) == 3
    item = get("ffi.ArrayGetItem")
    assert item(convert([7, "eight"]), 0) == 7 and item(convert([7, "eight"]), 1) == "eight"
    assert get("ffi.MapSize")(convert({"a": 1})) == 1


def test_node_identity_and_attributes():
    listed = convert([1])
    assert listed.same_as(echo(listed))
    assert hash(listed) == hash(echo(listed))
    raises(AttributeError, lambda: listed.no_such_attribute)
    if RELEASE < (0, 7):
        constant = convert(5)
        assert constant.value == 5 and constant.dtype == "int32" and "value" in dir(constant)


def test_text_of_nodes():
    assert "1" in str(convert([1, 2])) and "2" in repr(convert([1, 2]))


def test_device_exists():
    assert cpu(0).exist
    other = tvm.gpu(0) if hasattr(tvm, "gpu") else tvm.cuda(0)
    assert not other.exist
    cpu(0).sync()


def test_module_of_today():
    """The front end loads a library compiled for tvm-ffi."""
    mod = load_module(os.path.join(FOLDER, "today.so"))
    assert mod["add_one"](41) == 42
    assert mod.type_key == ("dso" if RELEASE < (0, 7) else "library")
    raises(AttributeError, lambda: mod["no_such"])
    assert len(mod.imported_modules) == 0


def test_function_outlives_its_module():
    function = load_module(os.path.join(FOLDER, "today.so"))["add_one"]
    gc.collect()
    assert function(1) == 2


def test_module_imports():
    one = load_module(os.path.join(FOLDER, "today.so"))
    other = load_module(os.path.join(FOLDER, "today.so"))
    one.import_module(other)
    assert len(one.imported_modules) == 1
    raises(Exception, lambda: other.import_module(one))


def test_bad_modules():
    raises(Exception, lambda: load_module(os.path.join(FOLDER, "missing.so")), "missing.so")
    raises(Exception, lambda: load_module(os.path.join(FOLDER, "no_dot")))


def test_enabled():
    assert enabled("cpu") and not enabled("metal")


def test_threads():
    failures = []

    def work(number):
        try:
            for turn in range(200):
                assert echo("%d.%d" % (number, turn)) == "%d.%d" % (number, turn)
                try:
                    named_fail(number)
                except Exception as error:
                    assert "thread %d" % number in str(error)
        except Exception:
            failures.append(traceback.format_exc())

    def fail(number):
        raise ValueError("thread %d" % number)

    named_fail = named(fail)
    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not failures, failures[0]


def test_old_library():
    """The front end loads a library in the form of its own release."""
    mod = load_module(os.path.join(FOLDER, "old3.so" if RELEASE < (0, 7) else "old6.so"))
    out = tvm.nd.empty((4,), "float32")
    mod["add"](array(np.arange(4, dtype="float32")), array(np.ones(4, "float32")), out)
    assert list(numpy_of(out)) == [1, 2, 3, 4]
    assert mod(array(np.arange(4, dtype="float32")), array(np.ones(4, "float32")), out) is None  # __tvm_main__
    kind = ValueError if RELEASE >= (0, 6) else tvm._ffi.base.TVMError
    raises(kind, lambda: mod["fail"](1), "kernel says no")
    register("front_end.called", lambda x: x * 10, override=True)
    if RELEASE >= (0, 7):
        assert mod["call_back"](4) == 40
    raises(AttributeError, lambda: mod["malloc"])


def test_failing_calls_in_a_row():
    """The exception of one call is released when the next one fails. Its last reference may be that of the library."""

    def fail():
        raise ValueError("again")

    function, place = named(fail), (ctypes.c_int64 * 1)()
    for _ in range(100):
        assert LIB.TVMFuncCall(function.handle, place, place, 0, place, ctypes.byref(ctypes.c_int())) == -1
    raises(Exception, function, "again")


def main():
    import front_end_values  # after this module is complete

    found = {**vars(front_end_values), **globals()}
    tests = [unittest.FunctionTestCase(test) for name, test in sorted(found.items()) if name.startswith("test_")]
    sys.exit(not unittest.TextTestRunner().run(unittest.TestSuite(tests)).wasSuccessful())


if __name__ == "__main__":
    main()
