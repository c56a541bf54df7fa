"""Test a function of apache-tvm-tirx, compiled for two targets, run in memory and from an exported library, and as a value."""

import tempfile
from pathlib import Path

import ferrite_tvm_ffi
import numpy
import tvm_ffi
import tvm_tirx as tvm
from tvm_tirx.script import tirx as T

N = 32
LEFT, RIGHT = (numpy.random.default_rng(seed).standard_normal((N, N)).astype("float32") for seed in (1, 2))


@T.function
def main(A: T.Tensor((N, N), "float32"), B: T.Tensor((N, N), "float32"), C: T.Tensor((N, N), "float32")):
    for i, j in T.grid(N, N):
        C[i, j] = T.float32(0)
        for k in T.serial(N):
            C[i, j] = C[i, j] + A[i, k] * B[k, j]


def check(function):
    arguments = [tvm.runtime.tensor(array) for array in (LEFT, RIGHT, numpy.zeros((N, N), "float32"))]
    function(*arguments)
    numpy.testing.assert_allclose(arguments[2].numpy(), LEFT @ RIGHT, rtol=1e-4, atol=1e-4)
    try:
        function(*arguments[:2])
    except TypeError as error:
        assert "Expected 3 arguments" in str(error), error
    else:
        raise AssertionError("two arguments were enough")


with tempfile.TemporaryDirectory() as folder:
    for target in ("llvm", "c"):
        built = tvm.tirx.compile(main, target=target)
        assert built.mod.kind == target
        check(built["main"])
        library = str(Path(folder, f"{target}.so"))
        built.export_library(library)
        check(tvm.runtime.load_module(library)["main"])

module = tvm.IRModule({"main": main})
read = tvm.ir.load_json(tvm.ir.save_json(module))
tvm.ir.assert_structural_equal(module, read)
assert tvm_ffi.structural_hash(module) == tvm_ffi.structural_hash(read)
assert read.script() == module.script()
assert ferrite_tvm_ffi.mapped() == {str(ferrite_tvm_ffi.LIBRARY)}
