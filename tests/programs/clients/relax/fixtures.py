"""Runs the Relax fixtures with tvm_ffi alone, and compares the results with those of TVM's machine.

Each model runs in both execution modes and with both allocators, is called directly, by `invoke_stateful` and by a saved function,
and shows the same text and statistics as TVM's executable, before and after it was saved and loaded.
"""

import json
import pathlib
import sys

import ferrite_tvm_ffi  # noqa: F401  # first: tvm_ffi then runs on its library
import numpy as np
import tvm_ffi

FOLDER = pathlib.Path(__file__).parents[2] / "relax" / "models"
CPU = 1


def value(model, description):
    """The argument that a description in the manifest stands for."""
    if "tuple" in description:
        return tvm_ffi.Array([value(model, part) for part in description["tuple"]])
    if "shape" in description:
        return tvm_ffi.Shape(description["shape"])
    return tvm_ffi.from_dlpack(np.load(FOLDER / model / description["tensor"]))


def flatten(result):
    """The tensors and shapes of a result, in order, as arrays."""
    if isinstance(result, tvm_ffi.Array):
        return [leaf for part in result for leaf in flatten(part)]
    if isinstance(result, tvm_ffi.Shape):
        return [np.array(list(result), np.int64)]
    return [np.from_dlpack(result)]


def check(model, call, result, tolerance):
    found = flatten(result)
    assert len(found) == len(call["results"]), (model, call["function"], len(found))
    for array, expected in zip(found, call["results"]):
        reference = np.load(FOLDER / model / expected["tensor"])
        assert array.shape == reference.shape and array.dtype == reference.dtype, (model, array.shape, array.dtype)
        difference = np.abs(array.astype(np.float64) - reference.astype(np.float64)).max(initial=0)
        assert difference <= tolerance, (model, call["function"], difference)


def machine(executable, allocator):
    new = executable["vm_load_executable"]()
    new["vm_initialization"](CPU, 0, allocator)
    return new


def run_call(vm, model, call, tolerance):
    """The ways to call a function: directly, with inputs that are set, and saved."""
    name, args = call["function"], [value(model, arg) for arg in call["args"]]
    check(model, call, vm[name](*args), tolerance)
    vm["set_input"](name, *args)
    assert vm["invoke_stateful"](name) is None
    arity = vm["get_output_arity"](name)
    results = [vm["get_output"](name)] if arity < 0 else None
    if results is None:  # nested tuples of the fixtures have depth 2
        results = []
        for index in range(arity):
            inner = vm["get_output_arity"](name, index)
            results += [vm["get_output"](name, index)] if inner < 0 else [
                vm["get_output"](name, index, at) for at in range(inner)
            ]
    check(model, call, tvm_ffi.Array(results), tolerance)
    vm["save_function"](name, "saved", True, *args)
    check(model, call, vm["saved"](), tolerance)
    vm["save_function"](name, "saved", False, *args)
    assert vm["saved"]() is None


def run_model(model, path, description):
    library = tvm_ffi.load_module(str(path))
    assert library.kind == "relax.VMExecutable", library.kind
    for allocator in (1, 2):
        vm = machine(library, allocator)
        for call in description["calls"]:
            run_call(vm, model, call, description["tolerance"])
    return library


def check_texts(model, library):
    for name in ("as_text", "stats"):
        path = FOLDER / model / f"{name}.txt"
        if path.exists():
            text = library[name]()
            assert text == path.read_text(), (model, name)
    loaded = tvm_ffi.get_global_func("relax.ExecutableLoadFromFile")(str(FOLDER / model / "bytecode.vm"))
    for name in ("as_text", "as_python", "stats"):
        assert loaded[name]() == library[name](), (model, name)


def main():
    models = json.loads((FOLDER / "manifest.json").read_text())["models"]
    for model, description in models.items():
        for mode in ("bytecode", "compiled"):
            library = run_model(model, FOLDER / model / f"{mode}.so", description)
            if mode == "bytecode":
                check_texts(model, library)
    assert "tvm" not in sys.modules
    print(f"{len(models)} models passed in both modes")


if __name__ == "__main__":
    main()
