"""Tests weights in a file of their own: TVM's format of parameters, read without tvm, as named inputs of a model."""

import pathlib

import ferrite_tvm_ffi  # noqa: F401  # first: tvm_ffi then runs on its library
import numpy as np
import tvm_ffi

FOLDER = pathlib.Path(__file__).parents[2] / "relax" / "models" / "mlp_i8"
FILE = FOLDER / "params.bin"

load = tvm_ffi.get_global_func("runtime.LoadParams")
load_file = tvm_ffi.get_global_func("runtime.LoadParamsFromFile")


def machine():
    new = tvm_ffi.load_module(str(FOLDER / "bytecode.so"))["vm_load_executable"]()
    new["vm_initialization"](1, 0, 2)
    return new


def call(vm, function, inputs):
    """Call a function with inputs by name."""
    count = vm["get_function_arity"](function)
    return vm[function](*[inputs[vm["get_function_param_name"](function, i)] for i in range(count)])


def is_refused(action, text):
    try:
        action()
    except Exception as error:  # noqa: BLE001
        assert text in str(error), error
        return True
    return False


def main():
    content = FILE.read_bytes()
    vm = machine()
    expected = np.load(FOLDER / "c0_out0.npy")
    x = tvm_ffi.from_dlpack(np.load(FOLDER / "c0_arg0.npy"))
    for parameters in (load(content), load(bytearray(content)), load_file(str(FILE))):
        assert list(parameters.keys()) == ["w1", "b1", "w2", "b2"], list(parameters.keys())
        for index, name in enumerate(parameters.keys(), start=1):
            np.testing.assert_array_equal(np.from_dlpack(parameters[name]), np.load(FOLDER / f"c0_arg{index}.npy"))
        result = call(vm, "main", {"x": x, **{name: parameters[name] for name in parameters.keys()}})
        np.testing.assert_array_equal(np.from_dlpack(result), expected)
    # A tensor keeps what it refers to.
    weight = load(content)["w1"]
    np.testing.assert_array_equal(np.from_dlpack(weight), np.load(FOLDER / "c0_arg1.npy"))

    for length in range(0, len(content), 97):
        assert is_refused(lambda: load(content[:length]), "Invalid parameters file format"), length
    assert is_refused(lambda: load_file(str(FOLDER / "bytecode.vm")), "Invalid parameters file format")
    assert is_refused(lambda: load_file(str(FOLDER / "nope.bin")), "nope.bin")
    assert is_refused(lambda: load(3), "Expected `bytes` but got `int`")
    print("parameters were read from bytes and from a file")


main()
