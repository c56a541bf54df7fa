"""Rates of the kernels, ONNX Runtime, oneDNN and matrixmultiply, in one process, interleaved, the best of each, and their share of the peak.

usage: bench.py LIBFERRITE_KERNELS.SO LIBTVM_FFI.SO [THREADS]
needs: numpy, onnx, onnxruntime, torch; a libtvm_ffi with the feature `backend`; what `cargo build --release --example peers` puts beside the kernels

The peak is that of a loop of multiply-adds in registers. oneDNN is called by PyTorch as `torch.compile` does: with packed weights, and images with
channels last, which the other sides have first.
"""

import ctypes
import os
import sys
import time
from pathlib import Path

THREADS = int(sys.argv[3]) if len(sys.argv) > 3 else 1
os.environ["TVM_NUM_THREADS"] = str(THREADS)

import numpy  # noqa: E402
import onnxruntime  # noqa: E402
import torch  # noqa: E402
from onnx import helper, numpy_helper  # noqa: E402

from client import Call, Kernels, shape  # noqa: E402

SECONDS = 0.3
ABSENT = numpy.zeros(0, "float32")
RELU = 1
random = numpy.random.default_rng(0)

# Matrix products: rows, inner extent, columns.
PRODUCTS = [(n, n, n) for n in (64, 128, 256, 512, 1024, 2048)]
PRODUCTS += [(m, *rest) for rest in ((384, 384), (768, 3072)) for m in (1, 2, 4, 8, 16)] + [(128, 384, 1536)]

# Convolutions: channels, size, output channels, kernel, stride, groups.
RESNET_18 = [
    (3, 224, 64, 7, 2, 1),
    (64, 56, 64, 3, 1, 1),
    (64, 56, 128, 3, 2, 1),
    (64, 56, 128, 1, 2, 1),
    (128, 28, 128, 3, 1, 1),
    (256, 14, 256, 3, 1, 1),
    (512, 7, 512, 3, 1, 1),
]
MOBILENET_V2 = [
    (3, 224, 32, 3, 2, 1),
    (32, 112, 16, 1, 1, 1),
    (96, 112, 96, 3, 2, 96),
    (144, 56, 144, 3, 1, 144),
    (144, 56, 24, 1, 1, 1),
    (192, 28, 192, 3, 1, 192),
    (576, 14, 576, 3, 1, 576),
    (96, 14, 576, 1, 1, 1),
    (960, 7, 960, 3, 1, 960),
    (160, 7, 960, 1, 1, 1),
    (960, 7, 320, 1, 1, 1),
]


def zeros(extents, dtype="float32"):
    """Returns an array that is aligned as tensors of models are: numpy's are not, which costs up to a tenth."""
    size = int(numpy.prod(extents)) * numpy.dtype(dtype).itemsize
    memory = numpy.zeros(size + 64, "uint8")
    start = -memory.ctypes.data % 64
    return memory[start : start + size].view(dtype).reshape(extents)


def aligned(array):
    result = zeros(array.shape, array.dtype)
    result[...] = array
    return result


def normal(*extents):
    return aligned(random.standard_normal(extents, dtype="float32"))


def integers(dtype, *extents):
    limits = numpy.iinfo(dtype)
    return aligned(random.integers(limits.min, limits.max + 1, extents, dtype))


def session(nodes, inputs, constants, result, dtype="float32"):
    """Returns a function that runs a graph by ONNX Runtime on memory that is bound once."""
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape) for name, array in inputs.items()],
        [helper.make_tensor_value_info("y", helper.np_dtype_to_tensor_dtype(numpy.dtype(dtype)), result)],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = THREADS, 3
    running = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    binding, y = running.io_binding(), zeros(result, dtype)
    for name, array in inputs.items():
        binding.bind_cpu_input(name, array)
    binding.bind_output("y", "cpu", 0, numpy.dtype(dtype), list(result), y.ctypes.data)

    def run():
        running.run_with_iobinding(binding)
        return y

    return run


def best(functions):
    """Returns the shortest time of each function. They take turns, and each round begins with another: the caches have what the one before left."""
    times = [float("inf")] * len(functions)
    for function in functions:
        function()
    end = time.perf_counter() + SECONDS
    rounds = 0
    while rounds < 3 or time.perf_counter() < end:
        rounds += 1
        for turn in range(len(functions)):
            at = (rounds + turn) % len(functions)
            start = time.perf_counter()
            functions[at]()
            times[at] = min(times[at], time.perf_counter() - start)
    return times


class Peers:
    """Peaks of the processor, and products of the crate matrixmultiply."""

    def __init__(self, library):
        self.library = ctypes.CDLL(library)
        self.library.peak.restype = ctypes.c_double

    def peak(self, *bits):
        """Returns the highest rate of a loop of some instructions: by the bits of its vectors of floats, or 8 for bytes."""
        return max(self.library.peak(each) for each in bits for _ in range(100))

    def product(self, a, b):
        extents, c = (ctypes.c_size_t * 3)(*a.shape, b.shape[1]), zeros((a.shape[0], b.shape[1]))
        pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in (a, b, c)]  # which keep the arrays
        return lambda: self.library.product(extents, *pointers)


def onednn_product(x, w):
    x, w = torch.from_numpy(x), torch.from_numpy(w)
    packed = torch.ops.mkldnn._reorder_linear_weight(w.t().contiguous(), len(x))
    return lambda: torch.ops.mkldnn._linear_pointwise(x, packed, None, "none", [], "")


def onednn_convolution(x, w, bias, pad, stride, groups):
    x, w, bias = (torch.from_numpy(array) for array in (x, w, bias))
    x = x.to(memory_format=torch.channels_last)
    geometry = [pad] * 2, [stride] * 2, [1, 1], groups
    packed = torch.ops.mkldnn._reorder_convolution_weight(w, *geometry, x.shape)
    return lambda: torch.ops.mkldnn._convolution_pointwise(x, packed, bias, *geometry, "relu", [], "")


class Bench:
    """Rates, in a table for each kind of operation."""

    def __init__(self, kernels, peers):
        self.kernels, self.peers, self.rates, self.peak = kernels, peers, [], 0.0

    def report(self, name, operations, functions, out, bits=(512, 256, 128)):
        """Measures our function, ONNX Runtime's, and more."""
        numpy.testing.assert_allclose(out, functions[1](), rtol=1e-3, atol=1e-3)
        self.rates.append((name, [operations / seconds / 1e9 for seconds in best(functions)]))
        self.peak = max(self.peak, self.peers.peak(*bits))

    def product(self, m, k, n):
        x, w, out = normal(m, k), normal(k, n), zeros((m, n))
        call = Call(self.kernels, "dense", x, self.kernels.pack("dense", w, 0), ABSENT, ABSENT, 0, 0.0, 0.0, out)
        call()
        theirs = session([helper.make_node("MatMul", ["x", "w"], ["y"])], {"x": x}, {"w": w}, (m, n))
        functions = [call, theirs, onednn_product(x, w), self.peers.product(x, w)]
        self.report(f"{m} x {k} x {n}", 2 * m * k * n, functions, out)

    def convolution(self, channels, size, outputs, kernel, stride, groups):
        pad = kernel // 2
        extent = (size + 2 * pad - kernel) // stride + 1
        x, w, bias = normal(1, channels, size, size), normal(outputs, channels // groups, kernel, kernel), normal(outputs)
        parameters = shape([kernel, kernel, stride, stride, pad, pad, pad, pad, 1, 1, groups])
        out = zeros((1, outputs, extent, extent))
        packed = self.kernels.pack("conv2d", w, parameters)
        call = Call(self.kernels, "conv2d", x, packed, bias, ABSENT, parameters, RELU, 0.0, 0.0, out)
        call()
        attributes = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [pad] * 4, "group": groups}
        nodes = [helper.make_node("Conv", ["x", "w", "bias"], ["z"], **attributes), helper.make_node("Relu", ["z"], ["y"])]
        theirs = session(nodes, {"x": x}, {"w": w, "bias": bias}, out.shape)
        operations = 2 * outputs * channels // groups * kernel**2 * extent**2
        name = f"{channels} x {size}² to {outputs}, kernel {kernel}, stride {stride}" + (", depthwise" if groups > 1 else "")
        self.report(name, operations, [call, theirs, onednn_convolution(x, w, bias, pad, stride, groups)], out)

    def product_of_integers(self, m, k, n):
        x, w, out = integers("uint8", m, k), integers("int8", k, n), zeros((m, n), "int32")
        zero = numpy.array([120], "uint8")
        packed = self.kernels.pack("qdense", w, 0)
        call = Call(self.kernels, "qdense", x, packed, zero, ABSENT, 0, ABSENT, ABSENT, 0, 0.0, 0.0, out)
        call()
        nodes = [helper.make_node("MatMulInteger", ["x", "w", "zero"], ["y"])]
        theirs = session(nodes, {"x": x}, {"w": w, "zero": zero.reshape(())}, (m, n), "int32")
        self.report(f"{m} x {k} x {n}", 2 * m * k * n, [call, theirs], out, [8])

    def convolution_of_integers(self, channels, size, outputs, kernel, stride, groups):
        pad = kernel // 2
        extent = (size + 2 * pad - kernel) // stride + 1
        x, w = integers("uint8", 1, channels, size, size), integers("int8", outputs, channels // groups, kernel, kernel)
        bias, factor = integers("int8", outputs).astype("int32"), numpy.float32(1 / (10 * kernel * (channels // groups) ** 0.5))
        parameters = shape([kernel, kernel, stride, stride, pad, pad, pad, pad, 1, 1, groups])
        out, zero = zeros((1, outputs, extent, extent), "uint8"), numpy.array([120], "uint8")
        packed = self.kernels.pack("qconv2d", w, parameters)
        call = Call(self.kernels, "qconv2d", x, packed, zero, factor.reshape(1), 128, bias, ABSENT, parameters, 0, 0.0, 0.0, out)
        call()
        attributes = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [pad] * 4, "group": groups}
        one = numpy.float32(1)
        constants = {"xs": one, "xz": zero.reshape(()), "w": w, "ws": factor, "wz": numpy.int8(0), "ys": one, "yz": numpy.uint8(128), "b": bias}
        nodes = [helper.make_node("QLinearConv", ["x", *constants], ["y"], **attributes)]
        theirs = session(nodes, {"x": x}, {name: numpy.asarray(value) for name, value in constants.items()}, out.shape, "uint8")
        operations = 2 * outputs * channels // groups * kernel**2 * extent**2
        name = f"{channels} x {size}² to {outputs}, kernel {kernel}, stride {stride}" + (", depthwise" if groups > 1 else "")
        self.report(name, operations, [call, theirs], out, [8])

    def print(self, title, *sides):
        """Prints the table of an operation, and begins the next one."""
        print(f"| {title} | Ferrite | share | ONNX Runtime | " + "".join(f"{side} | " for side in sides) + "time / ONNX Runtime |")
        print("|---|" + "---:|" * (4 + len(sides)))
        for name, (ours, *others) in self.rates:
            cells = [f"{ours:.1f}", f"{ours / self.peak:.0%}", *(f"{rate:.1f}" for rate in others), f"{others[0] / ours:.2f}"]
            print("|", name, "|", " | ".join(cells), "|")
        mean = numpy.exp(numpy.mean([numpy.log(others[0] / ours) for _, (ours, *others) in self.rates]))
        print(f"\npeak {self.peak:.1f}, geometric mean of ratios {mean:.2f}, {THREADS} threads\n", flush=True)
        self.rates, self.peak = [], 0.0


def main():
    torch.set_num_threads(THREADS)
    bench = Bench(Kernels(sys.argv[1], sys.argv[2]), Peers(Path(sys.argv[1]).parent / "examples/libpeers.so"))
    for extents in PRODUCTS:
        bench.product(*extents)
    bench.print("Product, GFLOP/s", "oneDNN", "matrixmultiply")
    for geometry in RESNET_18 + MOBILENET_V2:
        bench.convolution(*geometry)
    bench.print("Convolution, GFLOP/s", "oneDNN")
    for extents in PRODUCTS:
        bench.product_of_integers(*extents)
    bench.print("Product of bytes, Gop/s")
    for geometry in RESNET_18 + MOBILENET_V2:
        bench.convolution_of_integers(*geometry)
    bench.print("Convolution of bytes, Gop/s")


if __name__ == "__main__":
    main()
