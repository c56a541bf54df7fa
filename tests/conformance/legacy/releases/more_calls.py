"""Tests of calls.py for data types, views, weights and the text of nodes."""

import ctypes
import json
import os
import struct
import tempfile
from ctypes import byref, c_void_p

import client as api
from __main__ import FOLDER, LIBRARY, RELEASE, SINCE_0_7, SINCE_0_14, echo, named, plain, raises, tvm
from client import DType
from current import Current

current = Current(LIBRARY)

# Former types: name, (code, bits, lanes), bytes per element of an array, type of the array in
# tvm-ffi, first release.
TYPES = [
    ("bool", (1, 1, 1), 1, (6, 8, 1), "0.5"),
    ("int8", (0, 8, 1), 1, (0, 8, 1), "0.5"),
    ("uint16", (1, 16, 1), 2, (1, 16, 1), "0.5"),
    ("int64", (0, 64, 1), 8, (0, 64, 1), "0.5"),
    ("float16", (2, 16, 1), 2, (2, 16, 1), "0.5"),
    ("float64", (2, 64, 1), 8, (2, 64, 1), "0.5"),
    ("float32x4", (2, 32, 4), 16, (2, 32, 4), "0.5"),
    ("custom[posit]16", (131, 16, 1), 2, (131, 16, 1), "0.6"),
    ("bfloat16", (4, 16, 1), 2, (4, 16, 1), "0.8"),
    ("int4", (0, 4, 1), 1, (0, 8, 1), "0.8"),
    ("uint4", (1, 4, 1), 1, (1, 8, 1), "0.8"),
    ("int1", (0, 1, 1), 1, (0, 8, 1), "0.8"),
    ("int4x8", (0, 4, 8), 4, (0, 8, 4), "0.8"),
    ("uint1x4", (1, 1, 4), 1, (1, 8, 1), "0.8"),
    ("e4m3_float8", (6, 8, 1), 1, (10, 8, 1), "0.14"),
    ("e5m2_float8", (7, 8, 1), 1, (12, 8, 1), "0.14"),
    ("e4m3_float8x4", (6, 8, 4), 4, (10, 8, 4), "0.14"),
]
# Types as values, which say nothing of memory: name, former and current type.
VALUES = [
    ("bool", (1, 1, 1), (6, 8, 1)), ("uint1x4", (1, 1, 4), (6, 8, 4)), ("int4", (0, 4, 1), (0, 4, 1)),
    ("handle", (3, 64, 1), (3, 64, 1)), ("e4m3_float8", (6, 8, 1), (10, 8, 1)), ("e5m2_float8x2", (7, 8, 2), (12, 8, 2)),
]


def version(text):
    return tuple(int(part) for part in text.split("."))


def types():
    found = [row for row in TYPES if version(row[4]) <= tvm.version]
    if tvm.version >= (0, 6):
        prefix = "runtime." if SINCE_0_7 else ""
        tvm.get(prefix + "_datatype_register")("posit", 131)
    return found


def seen_by_tvm_ffi(array):
    """Returns the data type that a function of tvm-ffi sees."""
    seen = []
    current.register("calls.see", lambda argument: seen.append(argument.dtype))
    assert tvm.get("calls.see")(array) is None
    return seen[0]


def test_data_types_of_arrays():
    """Each type, at each entry point: allocation, copies, callbacks, tvm-ffi, DLPack in both directions."""
    for name, dtype, size, now, _ in types():
        data, one = bytes(range(1, 6 * size + 1)), tvm.empty((6,), name, dtype)
        assert one.dtype == dtype and one.record.strides[0] == 1, name
        one.write(data)
        assert one.read(len(data)) == data, name
        raises(lambda: one.read(len(data) + 1), "%d bytes" % len(data))
        assert echo(one).handle == one.handle and echo(one).dtype == dtype, name
        assert named(lambda a: a.read(len(data)) == data and a.dtype == dtype)(one), name
        other = tvm.empty((6,), name, dtype)
        tvm.check(tvm.lib.TVMArrayCopyFromTo(c_void_p(one.handle), c_void_p(other.handle), None))
        assert other.read(len(data)) == data, name
        assert seen_by_tvm_ffi(one) == now, name
        managed, back = c_void_p(), c_void_p()
        tvm.check(tvm.lib.TVMArrayToDLPack(c_void_p(one.handle), byref(managed)))
        assert api.ManagedTensor.from_address(managed.value).tensor.dtype.parts() == now, name
        tvm.check(tvm.lib.TVMArrayFromDLPack(managed, byref(back)))
        back = api.Array(tvm, back.value)
        assert back.read(len(data)) == data and seen_by_tvm_ffi(back) == now, name
        assert size * 8 % 8 or back.dtype == (dtype if now != (0, 8, size) and now != (1, 8, size) else now), name
        before = one.count()
        for _ in range(5):
            echo(one)
        assert one.count() == before, name


def table():
    """Returns the rows of the table in capi/legacy/README.md, of the types that the other tests check."""
    for name, dtype, size, now, since in TYPES:
        yield "| `%s` | %d, %d, %d | %d | %d, %d, %d | %s |" % ((name,) + dtype + (size,) + now + (since,))


def test_table_in_the_readme():
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "../../../../capi/legacy/README.md")) as stream:
        lines = stream.read().splitlines()
    missing = [row for row in table() if row not in lines]
    assert not missing, "\n".join(missing)


def test_a_kernel_writes_each_element():
    """1,000 booleans have as many bytes, which a compiled function writes."""
    one = tvm.empty((1000,), "bool", (1, 1, 1))
    ctypes.memset(one.record.data, 1, 1000)
    assert one.read(1000) == b"\1" * 1000
    raises(lambda: one.read(125), "1000 bytes")


def test_tensors_of_tvm_ffi():
    """Tensors that tvm-ffi returns: as former types, and the same object when they go back."""
    returned, seen = [None], []
    current.register("calls.give", lambda: current.retain(returned[0]))
    current.register("calls.take", lambda tensor: seen.append(tensor.bits))
    for dtype, size, former in [((6, 8, 1), 1, (1, 1, 1)), ((10, 8, 1), 1, (6, 8, 1)), ((12, 8, 2), 2, (7, 8, 2)), ((2, 32, 1), 4, (2, 32, 1))]:
        returned[0] = current.tensor(bytes(range(4 * size)), (4,), dtype)
        one = tvm.get("calls.give")()
        assert one.dtype == former and one.read(4 * size) == bytes(range(4 * size))
        tvm.get("calls.take")(one)
        assert seen.pop() == returned[0]
        assert echo(one).dtype == former
        del one
        current.lib.TVMFFIObjectDecRef(c_void_p(returned[0]))
    for dtype, size, name in [((0, 4, 1), 2, "int4"), ((17, 4, 1), 2, "float4_e2m1fn"), ((7, 8, 1), 4, "float8_e3m4")]:
        returned[0] = current.tensor(bytes(size), (4,), dtype)
        raises(tvm.get("calls.give"), name, kind="TypeError")
        current.lib.TVMFFIObjectDecRef(c_void_p(returned[0]))


def test_programs_with_both_apis():
    """The handle of a tensor of tvm-ffi, which its type does not tell from an array: nothing is read past its end."""
    for dtype, size in [((0, 4, 1), 4), ((1, 1, 1), 1), ((6, 8, 1), 8), ((17, 4, 1), 4)]:
        tensor = current.tensor(bytes(range(size)), (8,), dtype)
        one = api.Array(tvm, tensor + 24)
        assert one.read(size) == bytes(range(size)), dtype
        raises(lambda: one.read(16), "%d bytes" % size)
        assert seen_by_tvm_ffi(one) == dtype
        other = current.tensor(bytes(size), (8,), dtype)
        tvm.check(tvm.lib.TVMArrayCopyFromTo(c_void_p(one.handle), c_void_p(other + 24), None))
        assert api.Array(tvm, other + 24).read(size) == bytes(range(size))


def test_data_types_as_values():
    seen = []
    current.register("calls.see_type", lambda argument: seen.append(argument.dtype))
    for name, former, now in VALUES:
        if name.startswith("e") and not SINCE_0_14:
            continue
        tvm.get("calls.see_type")(DType(*former))
        assert seen.pop() == now, name
        assert echo(DType(*former)) == name
        assert named(lambda dtype: dtype.parts() == former)(DType(*former)), name
        if name in ("bool", "int4"):
            constant = tvm.api("node._const", "_const")(1, name, *[None] * SINCE_0_7)
            assert tvm.attribute(constant, "dtype") == name and tvm.attribute(constant, "value") == 1
    raises(lambda: tvm.api("node._const", "_const")(1, "no_type"), "no_type")


def test_custom_types():
    if tvm.version < (0, 6):
        return
    code, name, register, known = (
        tvm.api("_datatype_" + what, "_datatype_" + what)
        for what in ["get_type_code", "get_type_name", "register", "get_type_registered"]
    )
    register("mine", 150)
    assert code("mine") == 150 and name(150) == "mine" and known(150) and not known(151)
    assert echo(DType(150, 16, 2)) == "custom[mine]16x2"
    raises(lambda: code("not mine"), "not mine")
    raises(lambda: name(151), "151")
    raises(lambda: register("low", 5), "129")


def test_limits():
    if SINCE_0_7:
        return
    value = lambda which, dtype: tvm.attribute(tvm.get(which)(dtype), "value")
    assert (value("_min_value", "int8"), value("_max_value", "int8")) == (-128, 127)
    assert (value("_min_value", "int64"), value("_max_value", "int64")) == (-(2**63), 2**63 - 1)
    assert (value("_min_value", "uint8"), value("_max_value", "uint8")) == (0, 255)
    assert value("_max_value", "float16") == 65504.0 and value("_min_value", "float32") < -3.4e38
    raises(lambda: tvm.get("_max_value")("handle"), "no limits")


def test_views():
    """0.14 passes two arguments, 0.18 four."""
    if not SINCE_0_14:
        return
    create, shape = tvm.get("runtime.TVMArrayCreateView"), tvm.get("runtime.ShapeTuple")
    one = tvm.array(struct.pack("6f", *range(6)), (6,))
    view = create(one, shape(2, 3))
    assert view.shape == (2, 3) and view.record.data == one.record.data and view.read(24) == one.read(24)
    raises(lambda: create(one, shape(7)), "24 bytes")
    part = create(one, shape(2), "float32", 8)
    assert part.read(8) == struct.pack("2f", 2, 3) and create(one, shape(24), "uint8", 0).read(24) == one.read(24)
    raises(lambda: create(one, shape(2), "float32", 20), "24 bytes")
    raises(lambda: create(one, shape(2), "float32", -4), "24 bytes")
    bools = tvm.array(b"\1\0\1\0", (4,), "bool", (1, 1, 1))
    assert create(bools, shape(2, 2)).dtype == (1, 1, 1) and create(bools, shape(2, 2)).read(4) == b"\1\0\1\0"
    assert create(tvm.empty((4,), "int4", (0, 4, 1)), shape(2, 2)).dtype == (0, 4, 1)
    del one
    assert view.read(24)[:4] == struct.pack("f", 0)


def test_weights():
    if not SINCE_0_7:
        return
    data = struct.pack("3f", 1, 2, 3)
    weights = tvm.get("runtime.Map")("w", tvm.array(data, (3,)), "mask", tvm.array(b"\1\0", (2, 1), "bool", (1, 1, 1)))
    saved = tvm.get("runtime.SaveParams")(weights)
    head = struct.pack("<3Q", 0xF7E58D4F05049CB7, 0, 2)
    array = struct.pack("<2Q2i i4B q q", 0xDD5E40F096B4A13F, 0, 1, 0, 1, 2, 32, 1, 0, 3, 12) + data
    assert saved.startswith(head) and array in saved and len(saved) == 24 + 9 + 12 + 8 + len(array) + 54 + 4, len(saved)
    back = tvm.get("runtime.LoadParams")(saved)
    item = tvm.get("runtime.MapGetItem")
    assert item(back, "w").read(12) == data and item(back, "mask").dtype == (1, 1, 1) and item(back, "mask").shape == (2, 1)
    for cut in range(0, len(saved), 7):
        raises(lambda: tvm.get("runtime.LoadParams")(saved[:cut]), "arameters file" if cut else "")
    if SINCE_0_14:
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "weights")
            tvm.get("runtime.SaveParamsToFile")(weights, file)
            with open(file, "rb") as stream:
                assert stream.read() == saved
            assert item(tvm.get("runtime.LoadParamsFromFile")(file), "w").read(12) == data
            raises(lambda: tvm.get("runtime.LoadParamsFromFile")(file + ".no"), "weights.no")


def in_and_out(value):
    """Writes a value as JSON, and reads it back."""
    text = tvm.api("node.SaveJSON", "_save_json")(value)
    parsed = json.loads(text)
    assert parsed["nodes"][0] == {"type_key": ""} and parsed["b64ndarrays"] == [] and "tvm_version" in parsed["attrs"]
    return parsed, tvm.api("node.LoadJSON", "_load_json")(text)


def test_json():
    """The format of each release, in both directions."""
    array, item, size = (tvm.api(name, "_" + name) for name in ["Array", "ArrayGetItem", "ArraySize"])
    mapped = tvm.api("Map", "_Map")("a", 1, "b", array())
    strings = ["three", "line\n \"quoted\" \u00e4", ""]
    boxed = [tvm.api("String", "_str")(text) for text in strings]
    parsed, back = in_and_out(array(1, 2.5, None, mapped, mapped, *boxed))
    nodes = parsed["nodes"]
    root = nodes[parsed["root"]]
    keys = [nodes[i]["type_key"] for i in root["data"]]
    number = ["runtime.BoxInt", "runtime.BoxFloat"] if tvm.version >= (0, 18) else ["IntImm", "FloatImm"]
    string = "runtime.String" if SINCE_0_7 else "StringImm"
    assert keys == number + ["", "Map" if SINCE_0_7 else "StrMap"] + ["Map" if SINCE_0_7 else "StrMap"] + [string] * 3
    one, many = nodes[root["data"][0]], nodes[root["data"][3]]
    if tvm.version >= (0, 18):
        assert one["repr_str"] == "1"
    else:
        assert one["attrs"] == dict({"dtype": "int32", "value": "1"}, **{"span": "0"} if SINCE_0_7 else {})
    assert many["keys"] == ["a", "b"] and root["data"][3] == root["data"][4]
    assert [plain(item(back, i)) for i in range(2)] == [1, 2.5] and item(back, 2) is None and size(back) == 8
    assert item(back, 3).handle == item(back, 4).handle
    assert [tvm.get("ffi.ArrayGetItem")(back, 5 + i) for i in range(3)] == strings
    other = tvm.api("node._const", "_const")(7, "int64", *[None] * SINCE_0_7)
    _, back = in_and_out(array(other))
    assert tvm.attribute(item(back, 0), "dtype") == "int64"
    if SINCE_0_7:
        data = struct.pack("2f", 1, 2)
        parsed, back = in_and_out(array(tvm.array(data, (2,)), tvm.get("runtime.ShapeTuple")(3, 4)))
        assert {node["type_key"] for node in parsed["nodes"]} == {"", "Array", "runtime.NDArray", "runtime.ShapeTuple"}
        assert item(back, 0).read(8) == data and tvm.get("runtime.GetShapeTupleElem")(item(back, 1), 1) == 4


# Written by hand in the format of each generation, with spaces and line breaks as those releases
# write them.
TEXTS = {
    (0, 5): """{
  "root": 1, 
  "nodes": [
    {
      "type_key": ""
    }, 
    {
      "type_key": "Array", 
      "data": [2, 3]
    }, 
    {
      "type_key": "IntImm", 
      "attrs": {
        "dtype": "int32", 
        "value": "5"
      }
    }, 
    {
      "type_key": "StringImm", 
      "attrs": {
        "dtype": "handle", 
        "value": "six"
      }
    }
  ], 
  "b64ndarrays": [], 
  "attrs": {"tvm_version": "0.5.dev"}
}""",
    (0, 7): """{"root": 1, "nodes": [{"type_key": ""}, {"type_key": "Array", "data": [2, 3]}, {"type_key": "IntImm", "attrs":
{"dtype": "int32", "span": "0", "value": "5"}}, {"type_key": "runtime.String", "repr_str": "six"}], "b64ndarrays": [], "attrs":
{"tvm_version": "0.8.0"}}""",
    (0, 18): """{"root": 1, "nodes": [{"type_key": ""}, {"type_key": "Array", "data": [2, 3]}, {"type_key": "runtime.BoxInt",
"repr_str": "5"}, {"type_key": "runtime.String", "repr_b64": "AwAAAAAAAABzaXg="}], "b64ndarrays": [], "attrs":
{"tvm_version": "0.18.0"}}""",
}


def test_json_of_the_release():
    load, item = tvm.api("node.LoadJSON", "_load_json"), tvm.get("ffi.ArrayGetItem")
    for text in TEXTS.values():  # each release reads those of all
        listed = load(text)
        assert item(listed, 0) == 5 and item(listed, 1) == "six"
    text = max((since, text) for since, text in TEXTS.items() if since <= tvm.version)[1]
    for old, new, message in [
        ('"root": 1', '"root": 9', "refers to a node"), ("[2, 3]", "[2, 1]", "cycle"), ("[2, 3]", "[2, -1]", "refers to a node"),
        ('"Array"', '"relay.Call"', "relay.Call"), ('"5"', '"five"', "five"), ('"nodes"', '"n"', "nodes"),
    ]:
        assert old in text
        raises(lambda: load(text.replace(old, new)), message)
    deep = ", ".join('{"type_key": "Array", "data": [%d]}' % (i + 2) for i in range(20000)) + ', {"type_key": ""}'
    load('{"root": 1, "nodes": [{"type_key": ""}, %s]}' % deep)
    for i in range(0, len(text), 29):
        raises(lambda: load(text[:i]))
    raises(lambda: tvm.api("node.SaveJSON", "_save_json")(tvm.api("Array", "_Array")(echo)), "cannot be written")


def test_time_evaluator():
    module = tvm.load_module(os.path.join(FOLDER, "today.so"))
    more = [""] if tvm.version == (0, 8) else [100, 0, 1, 0, ""] if SINCE_0_14 else []
    evaluate = tvm.api("RPCTimeEvaluator", "module._RPCTimeEvaluator")
    measure = evaluate(module, "add_one", 1, 0, 10, 3, 0, *more)
    seconds = struct.unpack("@ddd", measure(1))
    assert all(0 <= second < 60 for second in seconds)
    raises(lambda: measure("text"), "add_one takes an int")
    raises(lambda: evaluate(module, "no_such", 1, 0, 10, 3, 0, *more), "no_such")
