"""Test a small model, compiled by TVM for two targets, run in memory and from an exported library, and on Relax's virtual
machine."""

import tempfile
from pathlib import Path

import ferrite_tvm_ffi
import numpy
import tvm
from tvm import relax, te
from tvm.script import relax as R

LEFT, RIGHT = (numpy.random.default_rng(seed).standard_normal((8, 8)).astype("float32") for seed in (1, 2))
WANTED = numpy.maximum(LEFT @ RIGHT, 0)


def kernel():
    """Compile relu(left @ right)."""
    left, right = (te.placeholder((8, 8), "float32", name=name) for name in ("left", "right"))
    k = te.reduce_axis((0, 8), name="k")
    product = te.compute((8, 8), lambda i, j: te.sum(left[i, k] * right[k, j], axis=k), name="product")
    output = te.compute((8, 8), lambda i, j: tvm.tirx.max(product[i, j], tvm.tirx.const(0, "float32")), name="output")
    return tvm.IRModule({"main": te.create_prim_func([left, right, output])})


def check(function):
    arguments = [tvm.runtime.tensor(array) for array in (LEFT, RIGHT, numpy.zeros((8, 8), "float32"))]
    function(*arguments)
    numpy.testing.assert_allclose(arguments[2].numpy(), WANTED, rtol=1e-5, atol=1e-5)
    try:
        function(*arguments[:2])
    except TypeError as error:
        assert "Expected 3" in str(error) or "num_args" in str(error), error
    else:
        raise AssertionError("two arguments were enough")


with tempfile.TemporaryDirectory() as folder:
    for target in ("llvm", "c"):
        built = tvm.compile(kernel(), target=target)
        assert built.mod.kind == target
        if target == "llvm":
            check(built["main"])
        else:
            assert "main" in built.mod.inspect_source()
        library = str(Path(folder, f"{target}.so"))
        built.export_library(library)
        check(tvm.runtime.load_module(library)["main"])


@tvm.script.ir_module
class Model:
    @R.function
    def main(left: R.Tensor((8, 8), "float32"), right: R.Tensor((8, 8), "float32")) -> R.Tensor((8, 8), "float32"):
        with R.dataflow():
            product = R.matmul(left, right)
            output = R.nn.relu(product)
            R.output(output)
        return output


machine = relax.VirtualMachine(tvm.compile(Model, target="llvm"), tvm.cpu())
output = machine["main"](tvm.runtime.tensor(LEFT), tvm.runtime.tensor(RIGHT))
numpy.testing.assert_allclose(output.numpy(), WANTED, rtol=1e-5, atol=1e-5)
assert ferrite_tvm_ffi.mapped() == {str(ferrite_tvm_ffi.LIBRARY)}
