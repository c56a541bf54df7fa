"""Tests errors of models and their virtual machines: TVM's messages, and a machine that still works afterwards."""

import gc
import pathlib
import sys
import threading

import ferrite_tvm_ffi  # noqa: F401  # first: tvm_ffi then runs on its library
import numpy as np
import tvm_ffi

FOLDER = pathlib.Path(__file__).parents[2] / "relax" / "models"
CPU, NAIVE, POOLED = 1, 1, 2


def refused(kind, text, function, *args):
    """Checks that a call raises an error of this kind whose message contains this text. tvm_ffi has no class for InternalError."""
    kind = kind.replace("InternalError", "RuntimeError")
    try:
        function(*args)
    except Exception as error:  # noqa: BLE001
        assert type(error).__name__ == kind, (type(error).__name__, str(error), text)
        assert text in str(error), (str(error), text)
        return
    raise AssertionError(f"no error: {text}")


def tensor(*shape, dtype="float32"):
    return tvm_ffi.from_dlpack(np.ones(shape, dtype))


def load(model, mode):
    return tvm_ffi.load_module(str(FOLDER / model / f"{mode}.so"))


def check_arguments(vm):
    """Checks that the model rejects wrong arguments, and names function, position and parameter."""
    forward, x = vm["forward"], tensor(1, 64)
    place = 'ErrorContext(fn=forward, loc=param[0], param=x, annotation=R.Tensor((1, 64), dtype="float32")) '
    refused("ValueError", place + " expect Tensor with ndim 2 but get 1", forward, tensor(64))
    refused("ValueError", place + " expect Tensor with dtype float32 but get int32", forward, tensor(1, 64, dtype="int32"))
    refused("TypeError", place + " expect a Tensor but get int", forward, 3)
    refused("RuntimeError", place + " match_cast error,  shape[1] mismatch to specified constant.", forward, tensor(1, 63))
    assert forward(x).shape == (1, 10)


def check_counts(vm, mode):
    if mode == "bytecode":
        text = "Invoking function forward expects 1 arguments (x), but 0 arguments were provided."
        refused("InternalError", text, vm["forward"])
    else:
        refused("InternalError", "Function forward expects 1 arguments", vm["forward"])
    assert vm["forward"](tensor(1, 64)).shape == (1, 10)


def check_functions(vm, executable, mode):
    assert executable["has_function"]("forward")
    assert executable["has_function"]("vm.builtin.alloc_storage") == (mode == "bytecode")
    assert not executable["has_function"]("backward")
    assert vm["get_function_arity"]("forward") == 1 and vm["get_function_param_name"]("forward", 0) == "x"
    refused("ValueError", "Unknown function: backward", vm["get_function_arity"], "backward")
    refused("ValueError", "Invalid index for forward (1 out of 1)", vm["get_function_param_name"], "forward", 1)
    refused("ValueError", "Invalid index for forward (-1 out of 1)", vm["get_function_param_name"], "forward", -1)
    refused("AttributeError", "backward", lambda: vm["backward"])
    refused("ValueError", "Unknown function: backward", vm["set_input"], "backward", 1)
    refused("ValueError", "Unknown function: backward", vm["invoke_stateful"], "backward")
    refused("ValueError", "No inputs set for stateful call of forward; use `set_input` first.", vm["invoke_stateful"], "forward")
    text = 'No output saved for call of "forward"; use `invoke_stateful` to call it first.'
    refused("ValueError", text, vm["get_output"], "forward")
    text = "The number of provided parameters doesn't match the number of arguments for"
    refused("InternalError", text, vm["set_input"], "forward")
    refused("TypeError", "Cannot convert from type `int` to `ffi.Object`", vm["invoke_closure"], 1)
    refused("InternalError", "Cannot find factory no.such.factory", vm["set_instrument"], "no.such.factory")
    for name in ("invoke_closure", "set_instrument", "save_function", "set_input", "get_output"):
        refused("TypeError", "Mismatched number of arguments", vm[name])
    refused("TypeError", "Expected `str` but got `int`", vm["set_input"], 1)


def check_initialization(executable):
    vm = executable["vm_load_executable"]()
    refused("InternalError", "call vm_initialization first", vm["forward"], tensor(1, 64))
    refused("InternalError", "call vm_initialization first", vm["set_input"], "forward", tensor(1, 64))
    initialize = vm["vm_initialization"]
    refused("InternalError", "args.size() % 3 == 0", initialize, CPU)
    refused("InternalError", "Unknown allocator type: 7", initialize, CPU, 0, 7)
    refused("InternalError", "needs at least one device", initialize)
    refused("InternalError", "", initialize, 99, 0, NAIVE, CPU, 0, NAIVE)
    refused("InternalError", "", initialize, -1, 0, NAIVE, CPU, 0, NAIVE)
    initialize(CPU, 0, NAIVE)
    assert vm["forward"](tensor(1, 64)).shape == (1, 10)


def check_missing_kernels():
    alone = tvm_ffi.get_global_func("relax.ExecutableLoadFromFile")(str(FOLDER / "mlp" / "bytecode.vm"))
    text = "Error: Cannot find ffi::Function transpose in either Relax VM kernel library"
    refused("InternalError", text, alone["vm_load_executable"]()["vm_initialization"], CPU, 0, NAIVE)
    refused("InternalError", "Cannot open /no/such.vm", tvm_ffi.get_global_func("relax.ExecutableLoadFromFile"), "/no/such.vm")
    alone.import_module(load("mlp", "bytecode").imports[0])
    vm = alone["vm_load_executable"]()
    vm["vm_initialization"](CPU, 0, POOLED)
    assert vm["forward"](tensor(1, 64)).shape == (1, 10)


def check_tuples():
    vm = load("values", "bytecode")["vm_load_executable"]()
    vm["vm_initialization"](CPU, 0, POOLED)
    vm["set_input"]("pair", tensor(3, 4), tvm_ffi.Array([tensor(4), tensor(4)]))
    vm["invoke_stateful"]("pair")
    text = "`get_output` cannot return a tuple for RPC compatibility. Please specify another index argument."
    refused("ValueError", text, vm["get_output"], "pair")
    refused("IndexError", "Invalid index (5 >= 2).", vm["get_output"], "pair", 5)
    refused("ValueError", "Attempted to index into an object that is not an Array.", vm["get_output"], "pair", 0, 0)
    assert (vm["get_output_arity"]("pair"), vm["get_output_arity"]("pair", 0)) == (2, -1)
    text = " expect a Tuple with 2 elements,  but get a Tuple with 1 elements."
    refused("ValueError", text, vm["pair"], tensor(3, 4), tvm_ffi.Array([tensor(4)]))
    refused("TypeError", " expect a Tuple but get ffi.Tensor", vm["pair"], tensor(3, 4), tensor(4))
    refused("TypeError", " expect a Shape but get ffi.Tensor", vm["fill"], tensor(4))
    refused("ValueError", " expect Shape with ndim 2 but get 1", vm["fill"], tvm_ffi.Shape([4]))


def check_instrument():
    vm = load("mlp", "bytecode")["vm_load_executable"]()
    vm["vm_initialization"](CPU, 0, POOLED)
    seen = []

    def instrument(function, name, before, result, *args):
        seen.append((name, before))
        if name == "vm.builtin.alloc_tensor":
            assert args[3] == "float32", args
        return 0

    vm["set_instrument"](tvm_ffi.convert(instrument))
    vm["forward"](tensor(1, 64))
    calls = len(load("mlp", "bytecode")["as_text"]().split("call  ")) - 1
    assert len(seen) == 2 * calls and seen[0] == ("vm.builtin.check_tensor_info", True), seen[:2]


def check_threads(executable):
    """Checks that machines of one executable run concurrently. One machine is for one thread at a time."""
    machines = [executable["vm_load_executable"]() for _ in range(4)]
    results = []

    def work(vm):
        vm["vm_initialization"](CPU, 0, POOLED)
        results.append(np.from_dlpack(vm["forward"](tensor(1, 64))).copy())
        for _ in range(200):
            vm["forward"](tensor(1, 64))

    threads = [threading.Thread(target=work, args=(vm,)) for vm in machines]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert len(results) == 4 and all(np.array_equal(result, results[0]) for result in results)


def run_choose(executable):
    vm = executable["vm_load_executable"]()
    vm["vm_initialization"](CPU, 0, POOLED)
    return np.from_dlpack(vm["choose"](tvm_ffi.from_dlpack(np.array(True)), tensor(4))).tolist()


def check_second_module():
    """Checks that the code of a library can call its builtins after the module that found them was destroyed."""
    first, second = load("control", "compiled"), load("control", "compiled")
    assert run_choose(first) == [2.0] * 4
    del first
    gc.collect()
    assert run_choose(second) == [2.0] * 4


def check_modules(executable, vm):
    assert (executable.kind, vm.kind) == ("relax.VMExecutable", "relax.VirtualMachine")
    mask = tvm_ffi.get_global_func("ffi.ModuleGetPropertyMask")
    assert (mask(executable), mask(vm)) == (1, 0)
    assert [module.kind for module in vm.imports] == ["library"]


def main():
    for mode in ("bytecode", "compiled"):
        executable = load("mlp", mode)
        vm = executable["vm_load_executable"]()
        vm["vm_initialization"](CPU, 0, POOLED)
        check_modules(executable, vm)
        check_arguments(vm)
        check_counts(vm, mode)
        check_functions(vm, executable, mode)
        check_initialization(executable)
        check_threads(executable)
    check_missing_kernels()
    check_tuples()
    check_instrument()
    check_second_module()
    assert "tvm" not in sys.modules
    print("refused as TVM refuses")


main()
