"""Test models that TVM's compiler builds in this process, on the machine of this library and on TVM's, in both execution modes.

TVM is imported, so that the global names are its own: executables are loaded by `ferrite.relax.load_from_bytes` and
`ferrite.relax.load_from_file`, and builtins are those of `ferrite.relax.builtins`.
"""

import pathlib
import tempfile

import ferrite_tvm_ffi  # noqa: F401  # first: tvm_ffi then runs on its library
import numpy as np
import tvm
import tvm_ffi
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

LOADER = "ffi.Module.load_from_bytes.relax.VMExecutable"
MODES = ("bytecode", "compiled")


@I.ir_module
class Model:
    @R.function
    def static(x: R.Tensor((3, 4), "float32"), w: R.Tensor((4, 5), "float32")):
        h = R.matmul(x, w)
        return R.nn.softmax(R.nn.relu(h))

    @R.function
    def dynamic(x: R.Tensor(("n", "m"), "float32")):
        n, m = T.int64(), T.int64()
        y = R.reshape(R.permute_dims(x), R.shape([n * m]))
        return (y, R.shape([m, n]), R.add(x, x))

    @R.function
    def cast(x: R.Tensor(ndim=2, dtype="float32")):
        n = T.int64()
        y = R.match_cast(x, R.Tensor((n, 4), "float32"))
        return R.sum(y, axis=1)

    @R.function
    def branch(c: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")):
        if c:
            y = R.add(x, x)
        else:
            y = R.multiply(x, x)
        return y

    @R.function
    def power(n: R.Tensor((), "int64"), x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Model
        done = R.less(n, R.const(1, "int64"))
        if done:
            y: R.Tensor((4,), "float32") = R.ones((4,), "float32")
        else:
            rest = cls.power(R.subtract(n, R.const(1, "int64")), x)
            y: R.Tensor((4,), "float32") = R.multiply(x, rest)
        return y

    @R.function
    def closure(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
        @R.function
        def inner(z: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            return R.subtract(z, x)

        return inner(R.add(y, y))

    @R.function
    def tuples(pair: R.Tuple(R.Tensor((4,), "float32"), R.Tuple(R.Tensor((4,), "float32")))):
        a = pair[0]
        b = pair[1][0]
        return (R.add(a, b), (R.subtract(a, b), a))

    @R.function(pure=False)
    def python(x: R.Tensor((4,), "float32")):
        y = R.call_dps_packed("test.double_into", (x,), out_ty=R.Tensor((4,), "float32"))
        z = R.call_packed("test.identity", y, ty_args=R.Tensor((4,), "float32"))
        return R.add(z, z)


def unaligned(array, by):
    """Return a tensor with the elements of an array at an address that is `by` bytes behind a multiple of 64."""
    block = np.zeros(array.nbytes + 128, dtype="uint8")
    start = -block.ctypes.data % 64 + by
    view = block[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    view[...] = array
    return tvm_ffi.from_dlpack(view)


@tvm_ffi.register_global_func("test.double_into")
def double_into(x, out):
    np.from_dlpack(out)[...] = 2 * np.from_dlpack(x)


@tvm_ffi.register_global_func("test.identity")
def identity(x):
    return x


def plain(value):
    """Return a result as arrays, tuples of shapes, and lists."""
    if isinstance(value, tvm_ffi.Shape):
        return [np.array(tuple(value))]
    if isinstance(value, tvm_ffi.Tensor):
        return [np.from_dlpack(value)]
    return [leaf for part in value for leaf in plain(part)]


def compiled(mode, folder):
    """Return the library of the model, and its executable."""
    executable = relax.build(relax.transform.LambdaLift()(Model), target="llvm", exec_mode=mode)
    path = str(pathlib.Path(folder) / f"{mode}.so")
    executable.export_library(path)
    return path, executable


def machine_of(executable):
    machine = executable["vm_load_executable"]()
    machine["vm_initialization"](1, 0, 2)
    return machine


def close(found, expected, what):
    found, expected = plain(found), plain(expected)
    assert len(found) == len(expected), what
    for one, other in zip(found, expected):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6, err_msg=what)


RANDOM = np.random.default_rng(3)


def floats(*shape):
    return RANDOM.standard_normal(shape).astype("float32")


CALLS = {
    "static": (floats(3, 4), floats(4, 5)),
    "dynamic": (floats(2, 7),),
    "cast": (floats(6, 4),),
    "branch": (np.array(False), floats(4)),
    "power": (np.array(3, "int64"), floats(4)),
    "closure": (floats(4), floats(4)),
    "tuples": ((floats(4), (floats(4),)),),
    "python": (floats(4),),
}


def convert(value, make):
    if isinstance(value, tuple):
        return tvm_ffi.convert([convert(part, make) for part in value])
    return make(value)


def same_results(ours, theirs, mode):
    """Each function gives TVM's results, from inputs that are aligned and that are not, in each way of calling."""
    for name, inputs in CALLS.items():
        aligned = [convert(value, tvm.runtime.tensor) for value in inputs]
        expected = theirs[name](*aligned)
        close(ours[name](*aligned), expected, f"{name} {mode}")
        for by in (4, 8):
            moved = [convert(value, lambda array: unaligned(array, by)) for value in inputs]
            what = f"{name} {mode}, {by} bytes off"
            close(ours[name](*moved), expected, what)
            ours["set_input"](name, *moved)
            ours["invoke_stateful"](name)
            if ours["get_output_arity"](name) == -1:
                close(ours["get_output"](name), expected, what)
            ours["save_function"](name, f"saved_{name}", True, *moved)
            close(ours[f"saved_{name}"](), expected, what)
            close(ours["invoke_closure"](ours[name], *moved), expected, what)


def errors_are_those_of_the_model(ours, mode):
    for name, inputs, text in (
        ("static", (floats(3, 4),), "expects 2 arguments"),
        ("static", (floats(3, 5), floats(4, 5)), "match_cast error"),
        ("cast", (floats(4),), "expect Tensor with ndim 2 but get 1"),
    ):
        try:
            ours[name](*[tvm.runtime.tensor(array) for array in inputs])
        except Exception as error:  # noqa: BLE001
            assert text in str(error), (name, mode, str(error))
        else:
            raise AssertionError((name, mode))
    assert ours["get_function_arity"]("static") == 2
    assert ours["get_function_param_name"]("static", 1) == "w"


def instrument(ours):
    """An instrument in Python sees the calls of kernels, before and after."""
    seen = []

    @tvm_ffi.convert
    def record(function, name, before, result, *args):
        seen.append((name, before))
        return 0

    ours["set_instrument"](record)
    ours["branch"](tvm.runtime.tensor(np.array(True)), tvm.runtime.tensor(floats(4)))
    assert [before for name, before in seen if name == "add"] == [True, False], seen


def builtins_work_without_a_model():
    builtins = tvm_ffi.get_global_func("ferrite.relax.builtins")()
    x = tvm.runtime.tensor(floats(2, 3))
    view = builtins["vm.builtin.reshape"](x, tvm_ffi.Shape([3, 2]))
    np.testing.assert_array_equal(np.from_dlpack(view), x.numpy().reshape(3, 2))
    pair = builtins["vm.builtin.make_tuple"](x, 1)
    assert builtins["vm.builtin.tuple_getitem"](pair, 1) == 1
    assert tuple(builtins["vm.builtin.shape_of"](x)) == (2, 3)
    builtins["vm.builtin.memory_manager.clear"]()


def main():
    theirs_loader = tvm_ffi.get_global_func(LOADER)
    ours_loader = tvm_ffi.get_global_func("ferrite.relax.load_from_bytes")
    with tempfile.TemporaryDirectory() as folder:
        for mode in MODES:
            path, executable = compiled(mode, folder)
            theirs = relax.VirtualMachine(executable, tvm.cpu())
            tvm_ffi.register_global_func(LOADER, ours_loader, override=True)
            ours = machine_of(tvm_ffi.load_module(path))
            tvm_ffi.register_global_func(LOADER, theirs_loader, override=True)
            same_results(ours, theirs, mode)
            errors_are_those_of_the_model(ours, mode)
            if mode == "bytecode":
                instrument(ours)
                file = str(pathlib.Path(folder) / "model.vm")
                executable.mod.write_to_file(file, "vm")
                loaded = tvm_ffi.get_global_func("ferrite.relax.load_from_file")(file)
                assert loaded["as_text"]() == executable.as_text()
                assert loaded["stats"]() == executable.stats()
        builtins_work_without_a_model()
    print(f"{len(CALLS)} functions in two modes give TVM's results")


main()
