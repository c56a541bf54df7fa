"""Times of the kernels beside ONNX Runtime, in one process, interleaved, the best of each: GFLOP/s, their share of the peak, and the ratio.

usage: bench.py LIBFERRITE_KERNELS.SO LIBTVM_FFI.SO [THREADS]
needs: numpy, onnx, onnxruntime; a libtvm_ffi with the feature `backend`
"""

import os
import sys
import time

THREADS = int(sys.argv[3]) if len(sys.argv) > 3 else 1
os.environ["TVM_NUM_THREADS"] = str(THREADS)

import numpy  # noqa: E402
import onnxruntime  # noqa: E402
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


def normal(*extents):
    return random.standard_normal(extents, dtype="float32")


def integers(dtype, *extents):
    limits = numpy.iinfo(dtype)
    return random.integers(limits.min, limits.max + 1, extents, dtype)


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
    binding, y = running.io_binding(), numpy.zeros(result, dtype)
    for name, array in inputs.items():
        binding.bind_cpu_input(name, array)
    binding.bind_output("y", "cpu", 0, numpy.dtype(dtype), list(result), y.ctypes.data)

    def run():
        running.run_with_iobinding(binding)
        return y

    return run


def best(functions):
    """Returns the shortest time of each function; they take turns."""
    times = [float("inf")] * len(functions)
    for function in functions:
        function()
    end = time.perf_counter() + SECONDS
    while times[0] == float("inf") or time.perf_counter() < end:
        for at, function in enumerate(functions):
            start = time.perf_counter()
            function()
            times[at] = min(times[at], time.perf_counter() - start)
    return times


class Bench:
    def __init__(self, kernels):
        self.kernels, self.rates = kernels, []

    def report(self, name, operations, ours, theirs, out):
        numpy.testing.assert_allclose(out, theirs(), rtol=1e-3, atol=1e-3)
        times = best([ours, theirs])
        self.rates.append((name, *(operations / seconds / 1e9 for seconds in times)))

    def product(self, m, k, n):
        x, w, out = normal(m, k), normal(k, n), numpy.zeros((m, n), "float32")
        call = Call(self.kernels, "dense", x, self.kernels.pack("dense", w, 0), ABSENT, ABSENT, 0, 0.0, 0.0, out)
        call()
        theirs = session([helper.make_node("MatMul", ["x", "w"], ["y"])], {"x": x}, {"w": w}, (m, n))
        self.report(f"{m} x {k} x {n}", 2 * m * k * n, call, theirs, out)

    def convolution(self, channels, size, outputs, kernel, stride, groups):
        pad = kernel // 2
        extent = (size + 2 * pad - kernel) // stride + 1
        x, w, bias = normal(1, channels, size, size), normal(outputs, channels // groups, kernel, kernel), normal(outputs)
        parameters = shape([kernel, kernel, stride, stride, pad, pad, pad, pad, 1, 1, groups])
        out = numpy.zeros((1, outputs, extent, extent), "float32")
        packed = self.kernels.pack("conv2d", w, parameters)
        call = Call(self.kernels, "conv2d", x, packed, bias, ABSENT, parameters, RELU, 0.0, 0.0, out)
        call()
        attributes = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [pad] * 4, "group": groups}
        nodes = [helper.make_node("Conv", ["x", "w", "bias"], ["z"], **attributes), helper.make_node("Relu", ["z"], ["y"])]
        theirs = session(nodes, {"x": x}, {"w": w, "bias": bias}, out.shape)
        operations = 2 * outputs * channels // groups * kernel**2 * extent**2
        name = f"{channels} x {size}² to {outputs}, kernel {kernel}, stride {stride}" + (", depthwise" if groups > 1 else "")
        self.report(name, operations, call, theirs, out)

    def product_of_integers(self, m, k, n):
        x, w, out = integers("uint8", m, k), integers("int8", k, n), numpy.zeros((m, n), "int32")
        zero = numpy.array([120], "uint8")
        packed = self.kernels.pack("qdense", w, 0)
        call = Call(self.kernels, "qdense", x, packed, zero, ABSENT, 0, ABSENT, ABSENT, 0, 0.0, 0.0, out)
        call()
        nodes = [helper.make_node("MatMulInteger", ["x", "w", "zero"], ["y"])]
        theirs = session(nodes, {"x": x}, {"w": w, "zero": zero.reshape(())}, (m, n), "int32")
        self.report(f"{m} x {k} x {n}, int8", 2 * m * k * n, call, theirs, out)

    def convolution_of_integers(self, channels, size, outputs, kernel, stride, groups):
        pad = kernel // 2
        extent = (size + 2 * pad - kernel) // stride + 1
        x, w = integers("uint8", 1, channels, size, size), integers("int8", outputs, channels // groups, kernel, kernel)
        bias, factor = integers("int8", outputs).astype("int32"), numpy.float32(1 / (10 * kernel * (channels // groups) ** 0.5))
        parameters = shape([kernel, kernel, stride, stride, pad, pad, pad, pad, 1, 1, groups])
        out, zero = numpy.zeros((1, outputs, extent, extent), "uint8"), numpy.array([120], "uint8")
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
        self.report(f"{name}, int8", operations, call, theirs, out)

    def print(self):
        """Prints a table. The peak is the highest rate of either side."""
        peak = max(max(ours, theirs) for _, ours, theirs in self.rates)
        print("| | GFLOP/s | share of peak | ONNX Runtime | time / ONNX Runtime |\n|---|---|---|---|---|")
        for name, ours, theirs in self.rates:
            print(f"| {name} | {ours:.1f} | {ours / peak:.0%} | {theirs:.1f} | {theirs / ours:.2f} |")
        print(f"geometric mean {numpy.exp(numpy.mean([numpy.log(theirs / ours) for _, ours, theirs in self.rates])):.2f}, {THREADS} threads")


def main():
    bench = Bench(Kernels(sys.argv[1], sys.argv[2]))
    for extents in PRODUCTS:
        bench.product(*extents)
    for geometry in RESNET_18 + MOBILENET_V2:
        bench.convolution(*geometry)
    bench.print()


if __name__ == "__main__":
    main()
