"""Tests of front_end.py for data types, views, weights, modules and the JSON of nodes."""

import ctypes
import json
import os
import pickle

import numpy as np
import tvm
from __main__ import FOLDER, RELEASE, array, convert, cpu, echo, get, load_module, named, numpy_of, raises, system_library


def narrow_types():
    return ["bool"] + (["int4"] if RELEASE >= (0, 14) else []) + (["e4m3_float8", "e5m2_float8"] if RELEASE >= (0, 14) else [])


def test_array_of_bool():
    data = np.arange(1000) % 3 == 0
    nd = array(data)
    assert nd.dtype == "bool" and (numpy_of(nd) == data).all() and numpy_of(nd).dtype == bool
    assert echo(nd).handle.contents.data == nd.handle.contents.data and echo(nd).dtype == "bool"
    assert (numpy_of(echo(nd)) == data).all()
    assert named(lambda a: a.dtype)(nd) == "bool"
    other = tvm.nd.empty((1000,), "bool")
    nd.copyto(other)
    assert (numpy_of(other) == data).all()
    if RELEASE >= (0, 6):
        assert (numpy_of(tvm.nd.from_dlpack(nd.to_dlpack())) == data).all()


def test_narrow_types():
    for name in narrow_types():
        nd = tvm.nd.empty((6,), name)
        assert nd.dtype == name and echo(nd).dtype == name
        ctypes.memset(nd.handle.contents.data, 1, 6)
        assert numpy_of(nd).size == 6
    if RELEASE >= (0, 14):
        import ml_dtypes

        for kind in [ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2]:
            data = np.arange(8).astype(kind)
            assert (numpy_of(array(data)) == data).all()
    if RELEASE >= (0, 8):
        assert tvm.nd.empty((2,), "bfloat16").dtype == "bfloat16"


def data_type(name):
    kind = tvm.TVMType if hasattr(tvm, "TVMType") else getattr(tvm, "DataType", None)
    return (kind or (tvm._ffi.runtime_ctypes.TVMType if RELEASE < (0, 7) else tvm._ffi.runtime_ctypes.DataType))(name)


def test_names_of_types():
    for name in ["bool", "int8", "uint16", "float64", "int32x4"] + narrow_types():
        assert echo(data_type(name)) == name, name
        assert str(data_type(echo(data_type(name)))) == name, name


def test_custom_types():
    if RELEASE < (0, 6):
        return
    if RELEASE < (0, 7):
        from tvm import datatype as api

        register_type, code, name = api.register, api.get_type_code, api.get_type_name
        known = api.get_type_registered
    else:
        register_type, code, name, known = (
            get("runtime._datatype_" + what) for what in ["register", "get_type_code", "get_type_name", "get_type_registered"]
        )
    register_type("posit", 131)
    assert code("posit") == 131 and name(131) == "posit" and known(131) and not known(132)
    assert str(data_type("custom[posit]32")) == "custom[posit]32"
    assert echo(data_type("custom[posit]16x2")) == "custom[posit]16x2"
    assert tvm.nd.empty((3,), "custom[posit]16").dtype == "custom[posit]16"


def test_views():
    if RELEASE < (0, 14):
        return
    nd = array(np.arange(6, dtype="float32"))
    view = nd._create_view([2, 3])
    assert (numpy_of(view) == np.arange(6).reshape(2, 3)).all()
    view[:] = np.zeros((2, 3), "float32")
    assert numpy_of(nd).sum() == 0
    raises(Exception, lambda: nd._create_view([7]))
    if RELEASE >= (0, 18):
        assert list(numpy_of(array(np.arange(6, dtype="int8"))._create_view([2], "int8", 3))) == [3, 4]


def test_weights():
    if RELEASE < (0, 7):
        return
    weights = {"w": np.arange(3, dtype="float32"), "mask": np.array([[True], [False]])}
    from tvm.runtime import params

    back = params.load_param_dict(params.save_param_dict({name: array(value) for name, value in weights.items()}))
    assert {str(k): numpy_of(v).tolist() for k, v in back.items()} == {k: v.tolist() for k, v in weights.items()}
    if RELEASE >= (0, 14):
        file = os.path.join(FOLDER, "weights")
        params.save_param_dict_to_file(weights, file)
        assert numpy_of(params.load_param_dict_from_file(file)["w"]).tolist() == [0, 1, 2]


def test_source_and_type_key():
    mod = load_module(os.path.join(FOLDER, "today.so"))
    raises(Exception, lambda: mod.get_source(), "does not support GetSource")
    assert system_library().type_key == ("system_lib" if RELEASE < (0, 7) else "library")
    if RELEASE >= (0, 14):
        assert mod.implements_function("add_one") and not mod.implements_function("no_such")
        assert isinstance(mod.format, str) and isinstance(mod.get_property_mask(), int)


def test_time_evaluator():
    mod = load_module(os.path.join(FOLDER, "today.so"))
    found = mod.time_evaluator("add_one", cpu(0), number=10, repeat=3)(1)
    assert len(found.results) == 3 and all(0 <= result < 60 for result in found.results)


def test_limits():
    if RELEASE < (0, 7):
        assert tvm.min_value("int8").value == -128 and tvm.max_value("uint8").value == 255
        assert tvm.max_value("float32").value > 3e38


def test_pickled_nodes():
    """Front ends pickle nodes as JSON."""
    plain = lambda x: getattr(x, "value", x)
    listed = convert([1, 2.5, "three", {"a": [4]}])
    back = pickle.loads(pickle.dumps(listed))
    assert [plain(back[i]) for i in range(3)] == [1, 2.5, "three"] and plain(back[3]["a"][0]) == 4
    save, load = (get("_save_json"), get("_load_json")) if RELEASE < (0, 7) else (get("node.SaveJSON"), get("node.LoadJSON"))
    graph = json.loads(save(listed))
    assert set(graph) >= {"root", "nodes", "b64ndarrays"} and graph["nodes"][0] == {"type_key": ""}
    assert plain(load(save(listed))[1]) == 2.5


def test_numbers_of_threads():
    if RELEASE >= (0, 14):
        from tvm.runtime import num_threads

        assert num_threads() >= 1
