"""Tests of the calls that the Python front end of an earlier release makes, without the front end.

usage: calls.py LIBRARY FOLDER RELEASE

FOLDER has the compiled libraries old3.so, old6.so and today.so. Each function test_NAME is a test, run by unittest.
"""

import ctypes
import gc
import os
import struct
import sys
import threading
import unittest
import weakref
from ctypes import byref, c_int, c_uint, c_void_p

import client as api
from client import Client, Device, DType, Error

LIBRARY, FOLDER, RELEASE = sys.argv[1:4]
tvm = Client(LIBRARY, RELEASE)
SINCE_0_7, SINCE_0_14, SINCE_0_18 = (tvm.version >= version for version in [(0, 7), (0, 14), (0, 18)])


def named(body):
    """Registers a function under a new name, and returns it from the table."""
    name = "calls.%d" % next(tvm.names)
    tvm.register(name, body)
    return tvm.get(name)


def raises(body, *texts, kind=None):
    try:
        body()
    except Exception as error:
        assert all(text in str(error) for text in texts), (texts, str(error))
        found = error.kind if isinstance(error, Error) else type(error).__name__
        assert kind is None or found == kind, (kind, found, error)
        return error
    raise AssertionError("nothing was raised")


def floats(*values):
    return struct.pack("%df" % len(values), *values)


def unfloat(array):
    return list(struct.unpack("%df" % array.shape[0], array.read(4 * array.shape[0])))


echo = named(lambda *args: args[0])


def test_import():
    """The calls of `import tvm`: names are listed, each listed name is found, and unknown type keys are errors."""
    count, names = c_int(), ctypes.POINTER(ctypes.c_char_p)()
    tvm.check(tvm.lib.TVMFuncListGlobalNames(byref(count), byref(names)))
    listed = [names[i].decode() for i in range(count.value)]
    assert len(set(listed)) == len(listed) and {"ffi.Array", "runtime.Array", "_Array"} <= set(listed)
    assert all(tvm.get(name) for name in listed)
    assert tvm.type_index("relay.NoSuchNode") is None and "relay.NoSuchNode" in tvm.lib.TVMGetLastError().decode()
    known = ["Array", "Map"] + (["runtime.String", "runtime.Module", "runtime.NDArray"] if SINCE_0_7 else ["StrMap", "IntImm"])
    assert len({tvm.type_index(key) for key in known}) == len(known)
    for name in ["TVMDLManagedTensorCallDeleter", "TVMAPISetLastError", "TVMCbArgToReturn", "TVMCFuncSetReturn", "TVMFuncFree"]:
        assert getattr(tvm.lib, name)
    assert tvm.get("runtime.profiling.PAPIMetricCollector") is None


def test_plain_values():
    for value in [0, 1, -1, 2**31, -(2**31), 2**63 - 1, -(2**63), 0.0, -1.5, 1e300, float("inf"), None]:
        assert echo(value) == value and type(echo(value)) is type(value)
    assert echo(True) == 1 and isinstance(echo(True), bool) == SINCE_0_18
    assert named(lambda: None)() is None
    assert echo(Device(1, 3)).parts() == (1, 3)
    assert echo(c_void_p(0x1234)).value == 0x1234 and echo(c_void_p(None)).value is None


def test_strings_and_bytes():
    for value in ["", "a", "seven b", "eight by", "a text of many bytes" * 50, "\u00e4\u20ac\U0001d11e"]:
        assert echo(value) == value
    for value in [b"", b"a", b"a\0b", b"seven b", b"eight by", b"\xff" * 1000]:
        assert echo(bytearray(value)) == bytearray(value)
    inner = named(lambda x: "inner " + x)
    assert named(lambda x: inner(x) + " " + inner("again"))("text") == "inner text inner again"


def test_counts_of_arguments():
    total = named(lambda *args: sum(args))
    for count in [0, 1, 8, 9, 15, 16, 17, 100]:
        assert total(*range(count)) == sum(range(count))


def test_functions_as_values():
    assert named(lambda f, x: f(x) + 1)(lambda x: x * 2, 5) == 11
    assert named(lambda x: tvm.function(lambda y: x + y))(3)(4) == 7


def test_registration():
    assert tvm.get("calls.no_such") is None
    tvm.register("calls.twice", lambda: 1)
    raises(lambda: tvm.register("calls.twice", lambda: 2), "Global PackedFunc calls.twice is already registered")
    tvm.register("calls.twice", lambda: 3, override=True)
    assert tvm.get("calls.twice")() == 3
    if SINCE_0_7:
        tvm.check(tvm.lib.TVMFuncRemoveGlobal(b"calls.twice"))
        assert tvm.get("calls.twice") is None


def test_errors_of_callbacks():
    def fail(error):
        raise error

    error = ValueError("bad thing 7")
    found = raises(named(lambda: fail(error)), "bad thing 7", kind="ValueError" if tvm.version >= (0, 6) else None)
    inner = named(lambda: fail(KeyError("deep")))
    raises(named(lambda: inner()), "deep", kind="KeyError" if tvm.version >= (0, 6) else None)
    assert not SINCE_0_14 or found is error
    assert echo(5) == 5
    size = tvm.get("ffi.ArraySize")
    raises(lambda: size(1), "ffi.ArraySize", kind="TypeError")


def test_failing_calls_in_a_row():
    """The exception of one call is released when the next call fails, with the interpreter's lock: its last reference may be
    that of the library."""
    watched = []

    class Failure(ValueError):
        def __init__(self, text):
            super().__init__(text)
            watched.append(weakref.ref(self))

    def fail():
        raise Failure("again")  # held by no variable, so that no cycle keeps it

    function, values, code = named(fail), (api.Value * 1)(), (c_int * 1)()
    for _ in range(20):
        status = tvm.lib.TVMFuncCall(c_void_p(function.handle), values, code, 0, byref(api.Value()), byref(c_int()))
        assert status == -1
    raises(function, "again")
    gc.collect()
    assert len(watched) == 21 and sum(watch() is not None for watch in watched) == 0


def test_finalizers():
    class Marker:
        pass

    marker = Marker()
    watch, function = weakref.ref(marker), tvm.function(lambda held=marker: held)
    del marker
    gc.collect()
    assert watch() is not None
    del function
    gc.collect()
    assert watch() is None


def test_arrays():
    one = tvm.array(floats(0, 1, 2, 3, 4, 5), (2, 3))
    assert one.shape == (2, 3) and one.dtype == (2, 32, 1) and one.record.data % 64 == 0 and one.record.byte_offset == 0
    assert one.record.device.device_type == 1 and one.read(24) == floats(0, 1, 2, 3, 4, 5)
    other = tvm.empty((6,), "float32", (2, 32, 1))
    tvm.check(tvm.lib.TVMArrayCopyFromTo(c_void_p(one.handle), c_void_p(other.handle), None))
    assert unfloat(other) == [0, 1, 2, 3, 4, 5]
    assert tvm.array(b"", (0, 3)).shape == (0, 3) and tvm.array(floats(5), ()).read(4) == floats(5)
    raises(lambda: one.write(b"1234"), "24 bytes")
    empty = tvm.array(b"", (0,))
    raises(lambda: tvm.check(tvm.lib.TVMArrayCopyFromTo(c_void_p(one.handle), c_void_p(empty.handle), None)))
    raises(lambda: tvm.empty((-1,), "float32", (2, 32, 1)))
    raises(lambda: tvm.empty((1,), "float32", (2, 32, 1), (8, 0)), "metal")


def test_arrays_as_values():
    one = tvm.array(floats(1, 2, 3, 4), (4,))
    assert echo(one).handle == one.handle
    named(lambda a: a.write(floats(9, 9, 9, 9)))(one)
    assert unfloat(one) == [9] * 4
    made = [named(lambda: tvm.array(floats(*range(4)), (4,)))() for _ in range(20)]
    gc.collect()
    assert all(unfloat(array) == [0, 1, 2, 3] for array in made)


def test_counts_of_arrays_come_out_even():
    """Up to 0.6, front ends free the array arguments of a callback without retaining them."""
    one, kept = tvm.array(floats(1, 2), (2,)), []
    look, keep = named(lambda a: a.shape[0]), named(lambda a: kept.append(a))
    before = one.count()
    for _ in range(50):
        assert look(one) == 2 and echo(one).shape == (2,)
    assert one.count() == before
    keep(one)
    assert one.count() == before + 1 and unfloat(kept[0]) == [1, 2]
    kept.clear()
    assert one.count() == before


def test_dlpack():
    one, managed, back = tvm.array(floats(1, 2), (2,)), c_void_p(), c_void_p()
    tvm.check(tvm.lib.TVMArrayToDLPack(c_void_p(one.handle), byref(managed)))
    assert api.ManagedTensor.from_address(managed.value).tensor.data == one.record.data
    tvm.check(tvm.lib.TVMArrayFromDLPack(managed, byref(back)))
    back = api.Array(tvm, back.value)
    back.write(floats(3, 4))
    assert unfloat(one) == [3, 4] and one.count() == 2
    tvm.check(tvm.lib.TVMArrayToDLPack(c_void_p(one.handle), byref(managed)))
    tvm.lib.TVMDLManagedTensorCallDeleter(managed)
    assert one.count() == 2


def plain(value):
    """Returns a number or string in a container, which earlier releases box."""
    return tvm.attribute(value, "value") if isinstance(value, api.Object) else value


def test_lists():
    make, item = tvm.api("Array", "_Array"), tvm.api("ArrayGetItem", "_ArrayGetItem")
    size = tvm.api("ArraySize", "_ArraySize")
    boxed = tvm.api("String", "_str")("three")
    listed = make(1, 2, boxed, make(4, 5))
    assert listed.type_index() == tvm.type_index("Array") and size(listed) == 4 and size(item(listed, 3)) == 2
    assert [plain(item(listed, i)) for i in range(2)] == [1, 2]
    third = item(listed, 2)
    assert (third if isinstance(third, str) else plain(third)) == "three"
    raises(lambda: item(listed, 4), kind="IndexError")
    assert tvm.get("ffi.ArraySize")(listed) == 4 and tvm.get("ffi.ArrayGetItem")(listed, 2) == "three"
    if SINCE_0_7 and not SINCE_0_18:
        assert tvm.type_index("IntImm") == item(listed, 0).type_index()
    if SINCE_0_18:
        assert item(make(True), 0) is True and item(listed, 0) == 1


def test_maps():
    make, item, size = tvm.api("Map", "_Map"), tvm.api("MapGetItem", "_MapGetItem"), tvm.api("MapSize", "_MapSize")
    count, items = tvm.api("MapCount", "_MapCount"), tvm.api("MapItems", "_MapItems")
    mapped = make("a", 1, "b", "text")
    assert size(mapped) == 2 and plain(item(mapped, "a")) == 1 and plain(item(mapped, "b")) == "text"
    assert count(mapped, "a") == 1 and count(mapped, "z") == 0 and size(make()) == 0
    raises(lambda: item(mapped, "z"))
    assert tvm.api("ArraySize", "_ArraySize")(items(mapped)) == 4
    assert mapped.type_index() == tvm.type_index("Map" if SINCE_0_7 else "StrMap")
    assert make().type_index() == tvm.type_index("Map")


def test_nodes():
    listed = tvm.api("Array", "_Array")(1, 2)
    address = tvm.api("ObjectPtrHash", "_raw_ptr")
    assert address(listed) == address(echo(listed)) == listed.handle
    raises(lambda: tvm.attribute(listed, "no_such"), "no_such", kind="AttributeError")
    assert "1" in tvm.api("node.AsRepr", "_format_str")(listed)
    if not SINCE_0_7:
        constant = tvm.get("_const")(5, "int32")
        assert tvm.attribute(constant, "value") == 5 and tvm.attribute(constant, "dtype") == "int32"
        assert tvm.attribute(constant, "type_key") == "IntImm"


def test_attribute_names():
    constant = tvm.api("node._const", "_const")(5, "int32", *[None] * SINCE_0_7)
    if RELEASE == "0.5":
        count, names = c_int(), ctypes.POINTER(ctypes.c_char_p)()
        tvm.check(tvm.lib.TVMNodeListAttrNames(c_void_p(constant.handle), byref(count), byref(names)))
        assert {names[i] for i in range(count.value)} == {b"dtype", b"value"}
    else:
        by_index = tvm.api("node.NodeListAttrNames", "_NodeListAttrNames")(constant)
        assert {by_index(i) for i in range(by_index(-1))} == {"dtype", "value"}


def test_objects_by_reference():
    """An rvalue reference (0.7) is moved out of its slot."""
    if not SINCE_0_7:
        return
    listed = tvm.get("runtime.Array")(1)
    tvm.check(tvm.lib.TVMObjectRetain(c_void_p(listed.handle)))
    slot, value, code = c_void_p(listed.handle), api.Value(), c_int(api.RVALUE)
    value.handle = ctypes.addressof(slot)
    tvm.check(tvm.lib.TVMCbArgToReturn(byref(value), byref(code)))
    assert code.value == api.OBJECT and slot.value is None and value.handle == listed.handle
    assert api.Object(tvm, value.handle).type_index() == tvm.type_index("Array")


def test_shapes_strings_and_tuples():
    if not SINCE_0_7:
        return
    shape = tvm.get("runtime.ShapeTuple")(3, 4)
    assert tvm.get("runtime.GetShapeTupleSize")(shape) == 2 and tvm.get("runtime.GetShapeTupleElem")(shape, 1) == 4
    assert tvm.get("runtime.GetFFIString")(tvm.get("runtime.String")("boxed")) == "boxed"
    pair = tvm.get("runtime.Tuple")(tvm.get("runtime.Array")(), shape)
    assert tvm.get("runtime.GetADTTag")(pair) == 0 and tvm.get("runtime.GetADTSize")(pair) == 2
    assert tvm.get("runtime.GetADTFields")(pair, 1).handle == shape.handle
    assert tvm.get("runtime.GetADTTag")(tvm.get("runtime.ADT")(7, shape)) == 7
    if SINCE_0_14:
        assert tvm.get("node.AsLegacyRepr")(shape) == tvm.get("node.AsRepr")(shape)
        assert tvm.get("runtime.NumThreads")() >= 1


def test_devices():
    attribute = tvm.api("GetDeviceAttr", "_GetDeviceAttr")
    assert attribute(1, 0, 0) == 1 and attribute(8, 0, 0) == 0 and attribute(1, 0, 1) is None
    tvm.check(tvm.lib.TVMSynchronize(1, 0, None))
    if SINCE_0_7:
        stream = c_void_p(1)
        tvm.check(tvm.lib.TVMStreamCreate(1, 0, byref(stream)))
        assert stream.value is None
        tvm.check(tvm.lib.TVMSetStream(1, 0, stream))
        tvm.check(tvm.lib.TVMStreamFree(1, 0, stream))
    enabled = tvm.api("RuntimeEnabled", "module._Enabled")
    assert enabled("cpu") and not enabled("metal")
    raises(lambda: enabled("no_such"), "no_such")


def test_extension_types():
    if tvm.version < (0, 7):
        raises(lambda: tvm.check(tvm.lib.TVMExtTypeFree(c_void_p(1), 15)), "15")


def test_modules():
    key, size = tvm.api("ModuleGetTypeKey", "module._GetTypeKey"), tvm.api("ModuleImportsSize", "module._ImportsSize")
    item, source = tvm.api("ModuleGetImport", "module._GetImport"), tvm.api("ModuleGetSource", "module._GetSource")
    one, other = (tvm.load_module(os.path.join(FOLDER, "today.so")) for _ in range(2))
    assert one.function("add_one")(41) == 42 and one.function("no_such") is None and one.function("malloc", 1) is None
    assert key(one) == ("library" if SINCE_0_7 else "dso")
    raises(lambda: source(one, ""), "does not support GetSource")
    save = tvm.api("ModuleSaveToFile", "module._SaveToFile")
    raises(lambda: save(one, os.path.join(FOLDER, "saved.so"), ""))
    assert size(one) == 0
    one.import_module(other)
    assert size(one) == 1 and item(one, 0).function("add_one")(1) == 2
    raises(lambda: other.import_module(one))
    function = one.function("add_one")
    del one, other
    assert function(1) == 2
    raises(lambda: tvm.load_module(os.path.join(FOLDER, "missing.so")), "missing.so")
    raises(lambda: tvm.load_module(os.path.join(FOLDER, "no_dot")), "Cannot deduce format")
    system = tvm.api("SystemLib", "module._GetSystemLib")
    assert key(system(*[""] * SINCE_0_14)) == ("library" if SINCE_0_7 else "system_lib")
    out = c_void_p()
    tvm.check(tvm.lib.TVMModLoadFromFile(os.path.join(FOLDER, "today.so").encode(), b"so", byref(out)))
    again = api.Module(tvm, out.value)
    if SINCE_0_14:
        assert tvm.get("runtime.ModuleImplementsFunction")(again, "add_one", False)
        assert tvm.get("runtime.ModuleGetFormat")(again) == "" or tvm.get("runtime.ModuleGetPropertyMask")(again) >= 0
    if SINCE_0_18:
        again.import_module(tvm.load_module(os.path.join(FOLDER, "today.so")))
        tvm.get("runtime.ModuleClearImports")(again)
        assert size(again) == 0


def test_libraries_of_the_release():
    module = tvm.load_module(os.path.join(FOLDER, "old6.so" if SINCE_0_7 else "old3.so"))
    one, two, out = tvm.array(floats(0, 1, 2, 3), (4,)), tvm.array(floats(1, 1, 1, 1), (4,)), tvm.array(floats(0, 0, 0, 0), (4,))
    for name in ["add", "__tvm_main__"]:
        out.write(floats(0, 0, 0, 0))
        assert module.function(name)(one, two, out) is None and unfloat(out) == [1, 2, 3, 4]
    raises(lambda: module.function("fail")(1), "kernel says no", kind="ValueError")
    raises(lambda: module.function("add")(one), "add takes three arrays")
    tvm.register("front_end.called", lambda x: x * 10, override=True)
    if SINCE_0_7:
        assert module.function("call_back")(4) == 40
    assert module.function("malloc") is None


def test_threads():
    failures = []

    def fail(number):
        raise ValueError("thread %d" % number)

    failing = named(fail)

    def work(number):
        try:
            for turn in range(100):
                assert echo("%d.%d" % (number, turn)) == "%d.%d" % (number, turn)
                raises(lambda: failing(number), "thread %d" % number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not failures, failures


if __name__ == "__main__":
    import more_calls  # after this module is complete

    found = {**vars(more_calls), **globals()}
    tests = [unittest.FunctionTestCase(test) for name, test in sorted(found.items()) if name.startswith("test_")]
    sys.exit(not unittest.TextTestRunner().run(unittest.TestSuite(tests)).wasSuccessful())
