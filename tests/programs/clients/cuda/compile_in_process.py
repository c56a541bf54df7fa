"""Test CUDA kernels that TVM compiles and runs in one process without its own CUDA runtime; also exported and loaded again.

Where there is no GPU, the driver is the stand-in of tests/programs/device/stand_in, which has the kernels of the fixtures only, by their
names: this function is one of them.
"""

import tempfile
from pathlib import Path

import ferrite_tvm_ffi  # noqa: F401
import numpy
import tvm
import tvm_ffi
from tvm.script import ir as I
from tvm.script import tirx as T

device = tvm.cuda(0)
RANDOM = numpy.random.default_rng(3)


@I.ir_module(s_tir=True)
class AddOne:
    @T.prim_func(s_tir=True)
    def add_one(x: T.Buffer((1024,), "float32"), y: T.Buffer((1024,), "float32")):
        T.func_attr({"tirx.noalias": True})
        for b in T.thread_binding(16, thread="blockIdx.x"):
            for t in T.thread_binding(64, thread="threadIdx.x"):
                with T.sblock("y"):
                    i = T.axis.spatial(1024, b * 64 + t)
                    y[i] = x[i] + T.float32(1)


def on_device(array):
    return tvm.runtime.tensor(array, device)


def check(function):
    x = RANDOM.standard_normal(1024).astype("float32")
    y = on_device(numpy.zeros(1024, "float32"))
    for _ in range(3):
        function(on_device(x), y)
    numpy.testing.assert_array_equal(y.numpy(), x + numpy.float32(1))
    try:
        function(tvm.runtime.tensor(x), y)
    except Exception as error:
        assert "device" in str(error), error
    else:
        raise AssertionError("a tensor of the CPU was accepted")


assert device.exist and device.max_threads_per_block == 1024 and device.warp_size == 32
print("ran on", device.device_name, device.compute_version)
assert not tvm.cuda(99).exist
assert tvm_ffi.get_global_func("runtime.GetCudaDeviceCount")() >= 1

round_trip = RANDOM.standard_normal((5, 7)).astype("float32")
numpy.testing.assert_array_equal(on_device(round_trip).numpy(), round_trip)
numpy.testing.assert_array_equal(tvm.runtime.tensor(round_trip).numpy(), round_trip)

# TVM's own compiler callback needs the toolkit; without it, NVRTC compiles.
tvm_ffi.registry.remove_global_func("tvm_callback_cuda_compile")

for host in ("llvm", "c"):
    built = tvm.compile(AddOne, target=tvm.target.Target({"kind": "cuda", "arch": "sm_75"}, host=host))
    [kernels] = built.mod.imports
    assert kernels.kind == "cuda" and "add_one_kernel" in kernels.inspect_source("")
    if host == "llvm":
        check(built["add_one"])
    with tempfile.TemporaryDirectory() as folder:
        library = str(Path(folder, "library.so"))
        built.export_library(library)
        check(tvm.runtime.load_module(library)["add_one"])

# Launch on a separate stream.
stream = device.create_raw_stream()
device.set_raw_stream(stream)
check(tvm.compile(AddOne, target=tvm.target.Target({"kind": "cuda", "arch": "sm_75"}, host="llvm"))["add_one"])
device.sync(stream)
device.set_raw_stream(0)
device.free_raw_stream(stream)
