"""Test `ferrite model --cublaslt`: matrix products of a compiled model are calls of cuBLASLt, with their bias, residual and activation function.

Where there is no GPU, the library is the stand-in of tests/programs/device/stand_in, which calculates products on the CPU. It has no kernels
of TVM, so networks that consist of products run, and of a transformer's layer calls are counted.
"""

import collections
import subprocess
import sys
import tempfile
from pathlib import Path

import ferrite_tvm_ffi  # noqa: F401  # first: tvm_ffi then runs on its library
import numpy
import tvm_ffi

CPU, CUDA, POOLED = 1, 2, 2


def run_library(folder):
    """Runs the library in a folder, in a process without TVM's own machine."""
    move = tvm_ffi.get_global_func("vm.builtin.to_device")
    machine = tvm_ffi.load_module(str(folder / "library.so"))["vm_load_executable"]()
    machine["vm_initialization"](CUDA, 0, POOLED, CPU, 0, POOLED)
    # Copies read the arrays when the device gets to them.
    inputs = list(numpy.load(folder / "inputs.npz").values())
    result = machine["main"](*(move(tvm_ffi.from_dlpack(array), CUDA, 0) for array in inputs))
    numpy.save(folder / "result.npy", numpy.from_dlpack(move(result, CPU, 0)))


if len(sys.argv) > 1:
    run_library(Path(sys.argv[1]))
    sys.exit()

from tvm import relax  # noqa: E402

ROOT = Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "targets/model"))
import compiler  # noqa: E402
import targets  # noqa: E402
from executable import Executable  # noqa: E402
from kernels import cublaslt  # noqa: E402

RANDOM = numpy.random.default_rng(3)


def normal(*shape):
    return RANDOM.standard_normal(shape, "float32") / shape[0] ** 0.5


def module(body, **inputs):
    """Returns a module whose function `main` has these inputs, by their shapes, and emits what `body` emits."""
    builder = relax.BlockBuilder()
    variables = [relax.Var(name, relax.TensorType(extents, kind)) for name, (extents, kind) in inputs.items()]
    with builder.function("main", variables):
        with builder.dataflow():
            result = builder.emit_output(body(lambda value: builder.emit(value), *variables))
        builder.emit_func_output(result)
    return builder.get()


def calls(mod, precision):
    """Returns TVM's executable, and the number of calls of each function in its bytecode."""
    built = compiler.executable(mod, targets.description("cuda"), cublaslt=precision)
    executable = Executable(compiler.serialised(built))
    [main] = [function for function in executable.functions if function.name == "main"]
    return built, collections.Counter(name for name, _, _ in executable.calls(main))


def run(built, *arrays):
    with tempfile.TemporaryDirectory() as folder:
        built.export_library(str(Path(folder, "library.so")))
        numpy.savez(Path(folder, "inputs.npz"), *arrays)
        subprocess.run([sys.executable, __file__, folder], check=True)
        return numpy.load(Path(folder, "result.npy"))


def perceptron(kind):
    """Checks two layers with bias, activation function and residual: two calls."""
    weights = [normal(*shape).astype(kind) for shape in ((64, 96), (96,), (96, 64), (64,))]
    constants = list(map(relax.const, weights))

    def body(emit, x):
        y = emit(relax.op.nn.relu(emit(relax.op.add(emit(relax.op.matmul(x, constants[0])), constants[1]))))
        return relax.op.add(emit(relax.op.add(emit(relax.op.matmul(y, constants[2])), constants[3])), x)

    x = normal(8, 64).astype(kind)
    a, b, c, d = weights
    expected = numpy.maximum(x.astype("float32") @ a + b, 0) @ c + d + x
    for precision in ("float32", "tf32"):
        built, counts = calls(module(body, x=((8, 64), kind)), precision)
        assert counts[cublaslt.NAME] == 2 and not built.mod.imports[0].imports, counts
        found = run(built, x)
        tolerance = 2e-2 if kind == "float16" else 1e-5 if precision == "float32" else 5e-3
        numpy.testing.assert_allclose(found, expected, tolerance, tolerance)


def batches():
    """Checks a batch of products of inputs, one of which an operator transposes: one call."""

    def body(emit, x, y):
        product = emit(relax.op.matmul(x, emit(relax.op.permute_dims(y, [0, 2, 1]))))
        return relax.op.multiply(product, relax.const(0.25, "float32"))

    built, counts = calls(module(body, x=((3, 8, 16), "float32"), y=((3, 24, 16), "float32")), "float32")
    assert counts[cublaslt.NAME] == 1, counts
    x, y = normal(3, 8, 16), normal(3, 24, 16)
    numpy.testing.assert_allclose(run(built, x, y), x @ y.transpose(0, 2, 1) / 4, 1e-5, 1e-5)


def layer(emit, x):
    """Emits a transformer's layer of 4 heads, 128 tokens and 256 features."""

    def dense(x, rows, columns):
        product = emit(relax.op.matmul(x, relax.const(normal(rows, columns))))
        return emit(relax.op.add(product, relax.const(normal(columns))))

    def heads(x, axes):
        return emit(relax.op.permute_dims(emit(relax.op.reshape(x, (1, 128, 4, 64))), axes))

    def normalised(x):
        scale, shift = relax.const(numpy.ones(256, "float32")), relax.const(numpy.zeros(256, "float32"))
        return emit(relax.op.nn.layer_norm(x, scale, shift, axes=-1))

    query, key, value = (heads(dense(x, 256, 256), axes) for axes in ((0, 2, 1, 3), (0, 2, 3, 1), (0, 2, 1, 3)))
    scores = emit(relax.op.multiply(emit(relax.op.matmul(query, key)), relax.const(0.125, "float32")))
    mixed = emit(relax.op.matmul(emit(relax.op.nn.softmax(scores)), value))
    joined = emit(relax.op.reshape(emit(relax.op.permute_dims(mixed, [0, 2, 1, 3])), (1, 128, 256)))
    x = normalised(emit(relax.op.add(dense(joined, 256, 256), x)))
    inner = emit(relax.op.nn.gelu_tanh(dense(x, 256, 1024)))
    return relax.op.nn.layer_norm(
        emit(relax.op.add(dense(inner, 1024, 256), x)),
        relax.const(numpy.ones(256, "float32")),
        relax.const(numpy.zeros(256, "float32")),
        axes=-1,
    )


def transformer():
    """Checks that the eight products of a layer are calls, and counts those of a whole layer."""
    counts = []
    for precision in (None, "tf32"):
        _, found = calls(module(layer, x=((1, 128, 256), "float32")), precision)
        kernels = {name: count for name, count in found.items() if not name.startswith("vm.builtin")}
        counts.append((sum(kernels.values()), kernels.get(cublaslt.NAME, 0)))
        print(f"a layer with {precision or 'TVM'}: {counts[-1][0]} calls, of which {counts[-1][1]} of cuBLASLt: {kernels}")
    (_, without), (_, products) = counts
    assert (without, products) == (0, 8), counts


transformer()
if tvm_ffi.get_global_func("ferrite.cublaslt.available")():
    perceptron("float32")
    perceptron("float16")
    batches()
else:
    print("not run: products, since cuBLASLt is not installed")
