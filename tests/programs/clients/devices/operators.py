"""Test operators at real sizes, and a small model of several kernels, compiled for each kind of device and compared with
numpy.

FERRITE_DEVICE_KINDS names the kinds, opencl unless it is set. A kind whose modules the compiler cannot make in its own process is
exported and loaded.
"""

import os
import sys
import tempfile
from pathlib import Path

import ferrite_tvm_ffi  # noqa: F401
import numpy as np
import tvm
import tvm_ffi
from tvm import te, topi
from tvm.s_tir import dlight

KINDS = os.environ.get("FERRITE_DEVICE_KINDS", "opencl").split()
RANDOM = np.random.default_rng(5)
# Optional data types of drivers: PoCL on x86-64 has no half.
OPTIONAL = ("float16",)
FAILED = []


def schedule(function, target):
    with target:
        return dlight.ApplyDefaultSchedule(
            dlight.gpu.Matmul(),
            dlight.gpu.GEMV(),
            dlight.gpu.Reduction(),
            dlight.gpu.GeneralReduction(),
            dlight.gpu.Fallback(),
        )(tvm.IRModule({"main": function}))


def runnable(built, kind, folder):
    """Return the host function and the source of the kernels."""
    [kernels] = built.mod.imports
    source = kernels.inspect_source("")
    if tvm_ffi.get_global_func(f"ffi.Module.create.{kind}", allow_missing=True) is not None:
        return built["main"], source
    library = str(Path(folder, "library.so"))
    built.export_library(library)
    return tvm.runtime.load_module(library)["main"], source


class Runner:
    """Compile functions for one kind, and call them on its device."""

    def __init__(self, kind):
        self.kind = kind
        self.target = tvm.target.Target(kind, host="llvm")
        self.device = tvm.device(kind, 0)
        self.checks = self.kernels = self.lacking = 0
        assert self.device.exist, f"there is no device of kind {kind}"

    def check(self, name, inputs, output, calls, tolerance=1e-4, shared=False, kernels=1):
        """Compile a function, and call it with each list of arrays, whose last array is the expected output."""
        function = te.create_prim_func([*inputs, output])
        built = tvm.compile(schedule(function, self.target), target=self.target)
        with tempfile.TemporaryDirectory() as folder:
            main, source = runnable(built, self.kind, folder)
            count = source.count("// Function: ")
            assert count >= kernels, f"{name}: {count} kernels, expected {kernels}:\n{source}"
            assert not shared or self.uses_shared_memory(source), f"{name}: no shared memory:\n{source}"
            self.kernels += count
            for *arrays, expected in calls:
                try:
                    found = self.call(main, arrays, expected)
                except Exception as error:  # noqa: BLE001 - any error of the driver
                    assert any(str(array.dtype) in OPTIONAL for array in arrays), error
                    assert "build error" in str(error), error
                    print(f"{self.kind} {name}: the driver has no such data type")
                    self.lacking += 1
                    continue
                self.checks += 1
                if not np.allclose(found, expected, rtol=tolerance, atol=tolerance):
                    FAILED.append(f"{self.kind} {name} {[array.shape for array in arrays]}")
                    print(f"FAILED {FAILED[-1]}: {found} instead of {expected}")

    def call(self, main, arrays, expected):
        # Old content must not mask a wrong result.
        output = tvm.runtime.tensor(np.full_like(expected, 7), self.device)
        main(*(tvm.runtime.tensor(array, self.device) for array in arrays), output)
        return output.numpy()

    def uses_shared_memory(self, source):
        return {"opencl": "__local", "webgpu": "var<workgroup>", "metal": "threadgroup "}.get(self.kind, "__shared__") in source


def placeholder(*shape, dtype="float32", name="x"):
    return te.placeholder(shape, dtype, name=name)


def normal(*shape, dtype="float32"):
    return RANDOM.standard_normal(shape).astype(dtype)


def softmax(x):
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def convolution(data, weight, pad):
    """Return the convolution in NCHW layout with stride 1."""
    padded = np.pad(data, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, weight.shape[2:], axis=(2, 3))
    return np.einsum("nchwij,ocij->nohw", windows, weight, optimize=True).astype(data.dtype)


def matrix_products(run):
    a, b = (placeholder(512, 512, name=name) for name in "ab")
    x, y = normal(512, 512), normal(512, 512)
    run.check("matmul", [a, b], topi.matmul(a, b), [(x, y, x @ y)], tolerance=1e-2, shared=True)
    n = te.var("n")
    a, b = placeholder(n, 128, name="a"), placeholder(128, 96, name="b")
    calls = [(x := normal(rows, 128), y := normal(128, 96), x @ y) for rows in (1, 7, 64, 333, 1024)]
    run.check("matmul, n rows", [a, b], topi.matmul(a, b), calls, tolerance=1e-2, shared=True)
    a, b = placeholder(1, 1024, name="a"), placeholder(1024, 512, name="b")
    x, y = normal(1, 1024), normal(1024, 512)
    run.check("vector times matrix", [a, b], topi.matmul(a, b), [(x, y, x @ y)], tolerance=1e-2)


def convolutions(run):
    data, weight = placeholder(1, 16, 32, 32, name="data"), placeholder(32, 16, 3, 3, name="weight")
    x, w = normal(1, 16, 32, 32), normal(32, 16, 3, 3)
    output = topi.nn.conv2d_nchw(data, weight, 1, 1, 1)
    run.check("conv2d", [data, weight], output, [(x, w, convolution(x, w, 1))], tolerance=1e-2)


def reductions(run):
    a = placeholder(64, 1000, name="a")
    x = normal(64, 1000)
    run.check("softmax", [a], topi.nn.softmax(a), [(x, softmax(x))], shared=True)
    run.check("sum of rows", [a], topi.sum(a, axis=1), [(x, x.sum(axis=1))], tolerance=1e-3)
    run.check("sum of columns", [a], topi.sum(a, axis=0), [(x, x.sum(axis=0))], tolerance=1e-3)
    run.check("largest of all", [a], topi.max(a), [(x, x.max())])
    run.check("place of the largest", [a], topi.argmax(a, axis=1), [(x, x.argmax(axis=1).astype("int32"))])


def element_types(run):
    n = te.var("n")
    a = placeholder(n, name="a")
    lengths = (1, 63, 64, 65, 100_003)
    output = topi.add(topi.multiply(a, 2), 1)
    run.check("n floats", [a], output, [(x := normal(length), x * np.float32(2) + np.float32(1)) for length in lengths])
    rows, columns = (tvm.tirx.IntImm("int64", extent) for extent in (37, 211))
    a = placeholder(rows, columns, name="a")
    x = normal(37, 211)
    run.check("64-bit indices", [a], topi.transpose(a), [(x, x.T.copy())])
    for dtype in ("int8", "uint8", "int16", "int32", "int64"):
        a, b = (placeholder(4099, dtype=dtype, name=name) for name in "ab")
        x, y = (RANDOM.integers(-60, 60, 4099).astype(dtype) for _ in range(2))
        run.check(dtype, [a, b], topi.subtract(topi.add(a, b), a), [(x, y, y)])
    a, b = (placeholder(4099, name=name) for name in "ab")
    x, y = normal(4099), normal(4099)
    run.check("bool as output", [a, b], topi.greater(a, b), [(x, y, x > y)])
    flag = placeholder(4099, dtype="bool", name="flag")
    run.check("bool as input", [flag, a, b], topi.where(flag, a, b), [(x > 0, x, y, np.where(x > 0, x, y))])
    for dtype, tolerance in (("float16", 1e-2), ("float64", 1e-12)):
        a = placeholder(4099, dtype=dtype, name="a")
        x = normal(4099, dtype=dtype)
        run.check(dtype, [a], topi.add(a, a), [(x, x + x)], tolerance=tolerance)


def model(run):
    """Compile conv2d, ReLU, pooling, dense and softmax: several kernels, with device workspaces between them."""
    shapes = {"image": (2, 1, 16, 16), "filters": (8, 1, 3, 3), "weight": (10, 512), "bias": (10,)}
    image, filters, weight, bias = (placeholder(*shape, name=name) for name, shape in shapes.items())
    features = topi.nn.relu(topi.nn.conv2d_nchw(image, filters, 1, 1, 1))
    pooled = topi.nn.pool2d(features, (2, 2), (2, 2), (1, 1), (0, 0, 0, 0), "max")
    scores = topi.nn.softmax(topi.add(topi.nn.dense(topi.nn.flatten(pooled), weight), bias))

    x, f, w, b = (normal(*shape) * np.float32(0.5) for shape in shapes.values())
    hidden = np.maximum(convolution(x, f, 1), 0)
    hidden = hidden.reshape(2, 8, 8, 2, 8, 2).max(axis=(3, 5)).reshape(2, 512)
    expected = softmax(hidden @ w.T + b)
    calls = [(x, f, w, b, expected)] * 3
    run.check("model", [image, filters, weight, bias], scores, calls, tolerance=1e-3, kernels=4)


for kind in KINDS:
    run = Runner(kind)
    for group in (matrix_products, convolutions, reductions, element_types, model):
        group(run)
    run.device.sync()
    print(f"{kind}: {run.checks} results, {run.kernels} kernels, {run.lacking} data types that the driver lacks")
sys.exit(bool(FAILED))
