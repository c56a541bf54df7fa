"""Kernels allocate memory in the first call of a model only: the library keeps their workspaces.

Blocks are counted in a process into which allocations.c is preloaded, with one thread and with two.
"""

import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
COUNTER = "KERNEL_CALLS_COUNTER"
CALLS = 100
THREADS = int(os.environ.get("TVM_NUM_THREADS", 1))
WORKSPACES = 4
"""The most workspaces of a kernel's task."""


def with_counter():
    """Runs this program again, with allocations.c."""
    with tempfile.TemporaryDirectory() as folder:
        counter = pathlib.Path(folder) / "allocations.so"
        subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O1", "-o", counter, HERE / "allocations.c"], check=True)
        for threads in ("1", "2"):
            environment = os.environ | {COUNTER: str(counter), "LD_PRELOAD": str(counter), "TVM_NUM_THREADS": threads}
            subprocess.run([sys.executable, __file__], env=environment, check=True)


if COUNTER not in os.environ:
    with_counter()
    sys.exit()

sys.path.insert(0, str(HERE.parents[3] / "targets/kernels/bench"))
import operators  # noqa: E402 - first: tvm_ffi then runs on Ferrite's library
import client  # noqa: E402
import numpy  # noqa: E402
import tvm_ffi  # noqa: E402
from kernels import link  # noqa: E402
from operators import constant, normal  # noqa: E402
from tvm import relax  # noqa: E402

RUNTIME = tvm_ffi.libinfo.find_libtvm_ffi()


def blocks(call, function, values, count):
    """Returns the number of blocks that each of several calls allocates."""
    counter, runtime = ctypes.CDLL(os.environ[COUNTER]), ctypes.CDLL(RUNTIME)
    counter.allocations_of.restype = ctypes.c_long
    found = []
    for _ in range(CALLS):
        result = client.Any()
        found.append(counter.allocations_of(call, ctypes.c_void_p(function), values, count, ctypes.byref(result)))
        if result.type_index >= 64:
            runtime.TVMFFIObjectDecRef(ctypes.c_void_p(result.payload))
    return found


def workspaces(kernels):
    """Returns the most blocks that kernels allocate after the first call.

    The machine's load decides in which call a thread gets its first task, and the number of tasks, on which sizes of workspaces depend. One thread
    has everything after the first call.
    """
    return kernels * WORKSPACES * THREADS if THREADS > 1 else 0


def network(emit, x):
    value = emit(relax.op.nn.conv2d(x, constant(8, 8, 3, 3), padding=1))
    value = emit(relax.op.nn.conv2d(value, constant(8, 1, 3, 3), padding=1, groups=8))
    keys = emit(relax.op.permute_dims(value, [0, 1, 3, 2]))
    attended = emit(relax.op.matmul(emit(relax.op.nn.softmax(emit(relax.op.matmul(value, keys)))), value))
    product = emit(relax.op.astype(emit(relax.op.matmul(attended, keys)), "float16"))
    return relax.op.matmul(product, relax.const(normal(64, 48).astype("float16")))


class Allocations(unittest.TestCase):
    def test_models_with_kernels_allocate_the_same_objects_in_each_call(self):
        mod = operators.kernels.use(operators.model([(1, 8, 64, 64)], network), operators.PACKER)
        self.assertEqual(sorted(operators.called(mod)), ["attention", "batch_matmul", "conv2d", "conv2d", "dense_float16"])
        function, x = operators.loaded(mod), client.tensor(normal(1, 8, 64, 64))
        argument = client.Any(client.DL_TENSOR, 0, ctypes.addressof(x))
        call = ctypes.CDLL(RUNTIME).TVMFFIFunctionCall
        first, _, *others = blocks(call, function.__chandle__(), ctypes.byref(argument), 1)
        # Tensors and other objects of the machine, which needs two calls to settle.
        least = min(others)
        self.assertLessEqual(sum(others) - least * len(others), workspaces(kernels=5))
        self.assertLess(0, least)
        self.assertLess(least, first)

    def test_kernels_allocate_nothing_from_the_second_call_on(self):
        with tempfile.TemporaryDirectory() as folder:
            path = str(pathlib.Path(folder) / "kernels.so")
            link.shared(path, operators.ARCHIVE, sorted(link.defined(operators.ARCHIVE)))
            kernels = client.Kernels(path, RUNTIME)
        total = 0
        for name, arguments in calls(kernels):
            call = client.Call(kernels, name, *arguments)
            first, *others = blocks(call.function, None, call.values, call.count)
            total += first
            self.assertLessEqual(sum(others), workspaces(kernels=1), name)
        self.assertLess(0, total)


def calls(kernels):
    """Returns calls that need workspaces."""
    absent, plain = numpy.zeros(0, "float32"), [0, 0, 0]
    window = [3, 3, 1, 1, 1, 1, 1, 1, 1, 1]
    depthwise, whole = (client.shape([*window, groups]) for groups in (8, 1))
    image = normal(1, 8, 64, 64)
    half = normal(64, 64).astype("float16")
    return [
        ("conv2d", [image, normal(8, 1, 3, 3), absent, absent, depthwise, *plain, numpy.empty_like(image)]),
        ("conv2d", [image, kernels.pack("conv2d", normal(8, 8, 3, 3), whole), absent, absent, whole, *plain, numpy.empty_like(image)]),
        ("dense_float16", [half, kernels.pack("dense", half, 0), absent, absent, *plain, numpy.empty_like(half)]),
        ("batch_matmul", [image[0], image[0], 1, 1.0, numpy.empty_like(image[0])]),
        ("attention", [image, image, image, absent, 1.0, 0, numpy.empty_like(image)]),
    ]


if __name__ == "__main__":
    unittest.main()
