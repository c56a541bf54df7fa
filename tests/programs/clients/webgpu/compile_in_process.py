"""Test WebGPU kernels that TVM compiles and runs in one process, which its own runtime cannot; also exported and loaded
again."""

import tempfile
from pathlib import Path

import ferrite_tvm_ffi  # noqa: F401
import numpy
import tvm
import tvm_ffi
from tvm import te

device = tvm.device("webgpu", 0)
RANDOM = numpy.random.default_rng(3)


def on_device(array):
    return tvm.runtime.tensor(array, device)


def bind(schedule, block, threads=32):
    fused = schedule.fuse(*schedule.get_loops(block)[:2])
    outer, inner = schedule.split(fused, [None, threads])
    schedule.bind(outer, "blockIdx.x")
    schedule.bind(inner, "threadIdx.x")


def two_kernels():
    """Compile relu(a @ b) + a, with the product in a device workspace."""
    a, b = (te.placeholder((64, 64), "float32", name=name) for name in ("a", "b"))
    k = te.reduce_axis((0, 64), name="k")
    product = te.compute((64, 64), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="product")
    zero = tvm.tirx.const(0, "float32")
    output = te.compute((64, 64), lambda i, j: tvm.tirx.max(product[i, j], zero) + a[i, j], name="output")
    schedule = tvm.s_tir.Schedule(tvm.IRModule({"main": te.create_prim_func([a, b, output])}))
    for name in ("product", "output"):
        bind(schedule, schedule.get_sblock(name))
    return schedule.mod


def check(function):
    a, b = (RANDOM.standard_normal((64, 64)).astype("float32") for _ in range(2))
    output = on_device(numpy.zeros((64, 64), "float32"))
    for _ in range(3):
        function(on_device(a), on_device(b), output)
    numpy.testing.assert_allclose(output.numpy(), numpy.maximum(a @ b, 0) + a, rtol=1e-4, atol=1e-4)
    try:
        function(tvm.runtime.tensor(a), on_device(b), output)
    except Exception as error:
        assert "device" in str(error), error
    else:
        raise AssertionError("a tensor of the CPU was accepted")


assert device.exist and device.max_threads_per_block >= 32 and device.device_name
assert not tvm.device("webgpu", 99).exist

round_trip = RANDOM.standard_normal((5, 7)).astype("float32")
there = on_device(round_trip)
numpy.testing.assert_array_equal(there.numpy(), round_trip)
assert there.device.type == "webgpu"
# The other runtime still serves its own devices.
numpy.testing.assert_array_equal(tvm.runtime.tensor(round_trip).numpy(), round_trip)
device.sync()

for host in ("llvm", "c"):
    built = tvm.compile(two_kernels(), target=tvm.target.Target("webgpu", host=host))
    [kernels] = built.mod.imports
    assert kernels.kind == "webgpu" and "@compute" in kernels.inspect_source("")
    if host == "llvm":
        check(built["main"])
    with tempfile.TemporaryDirectory() as folder:
        library = str(Path(folder, "library.so"))
        built.export_library(library)
        loaded = tvm.runtime.load_module(library)
        check(loaded["main"])
        # Functions that the runtime for browsers calls.
        [kernels] = loaded.imports
        assert kernels["webgpu.get_fmap"]() == built.mod.imports[0].inspect_source("func_info")
        assert kernels["webgpu.get_shader"]("main_kernel") in kernels.inspect_source("wgsl")

kernel = tvm_ffi.get_global_func("ffi.Module.load_from_bytes.webgpu")
try:
    kernel(b"no payload")
except Exception as error:
    assert "Malformed webgpu module" in str(error), error
else:
    raise AssertionError("nonsense was loaded")
