"""Test devices through TVM's Python package: attributes, tensors, copies, views, streams, threads and forks, for each kind
of device.

FERRITE_DEVICE_KINDS names the kinds, opencl unless it is set.
"""

import gc
import os
import threading

import ferrite_tvm_ffi  # noqa: F401
import numpy as np
import tvm
import tvm_ffi
from tvm import te, topi
from tvm.s_tir import dlight

KINDS = os.environ.get("FERRITE_DEVICE_KINDS", "opencl").split()
RANDOM = np.random.default_rng(11)
DTYPES = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64")


def refused(action, *words):
    """Check that the action raises an error that contains one of the words."""
    try:
        action()
    except Exception as error:  # noqa: BLE001 - the exception class varies
        assert any(word in str(error) for word in words), error
    else:
        raise AssertionError(f"no error with {words} in it")


def random(shape, dtype):
    return RANDOM.integers(0, 2 if dtype == "bool" else 100, shape).astype(dtype)


def adder(kind):
    """Compile x + x for a fixed length."""
    x = te.placeholder((1000,), name="x")
    target = tvm.target.Target(kind, host="llvm")
    with target:
        module = dlight.ApplyDefaultSchedule(dlight.gpu.Fallback())(
            tvm.IRModule({"main": te.create_prim_func([x, topi.add(x, x)])})
        )
    return tvm.compile(module, target=target)


def attributes(device):
    assert device.exist
    for name in ("max_threads_per_block", "warp_size", "max_shared_memory_per_block", "total_global_memory"):
        value = getattr(device, name)
        assert value is None or value >= 1, f"{name}: {value}"
    assert device.max_threads_per_block >= 32
    assert len(device.device_name) > 1
    dimensions = device.max_thread_dimensions
    assert len(dimensions) == 3 and min(dimensions) >= 1, dimensions
    for name in ("max_clock_rate", "multi_processor_count", "l2_cache_size_bytes", "available_global_memory"):
        value = getattr(device, name)
        assert value is None or value >= 0, f"{name}: {value}"
    for name in ("compute_version", "driver_version", "api_version", "texture_spatial_limit"):
        attribute = getattr(device, name)
        attribute() if callable(attribute) else attribute
    for index in (31, 99):
        other = tvm.device(device.type, index)
        assert not other.exist
        refused(lambda other=other: other.max_threads_per_block, "device")
        refused(lambda other=other: tvm.runtime.empty((4,), "float32", other), "device")


def copies(device):
    for dtype in DTYPES:
        for shape in ((), (1,), (7,), (0,), (3, 0, 2), (5, 7), (2, 3, 4, 5), (100_003,)):
            here = random(shape, dtype)
            there = tvm.runtime.tensor(here, device)
            assert there.shape == shape and there.dtype == dtype and there.device == device
            np.testing.assert_array_equal(there.numpy(), here)
    here = random((64, 65), "float32")
    there = tvm.runtime.tensor(here[:, ::2], device)  # not contiguous in main memory
    np.testing.assert_array_equal(there.numpy(), here[:, ::2])
    # Device to device, device to CPU, CPU to device.
    source, target = tvm.runtime.tensor(here, device), tvm.runtime.empty(here.shape, "float32", device)
    source.copyto(target)
    np.testing.assert_array_equal(target.numpy(), here)
    on_cpu = tvm.runtime.empty(here.shape, "float32")
    source.copyto(on_cpu)
    device.sync()
    np.testing.assert_array_equal(on_cpu.numpy(), here)
    tvm.runtime.tensor(here + 1).copyto(target)
    np.testing.assert_array_equal(target.numpy(), here + 1)
    np.testing.assert_array_equal(source.copyto(device).numpy(), here)
    refused(lambda: source.copyto(tvm.runtime.empty((3,), "float32", device)), "size", "bytes")
    refused(lambda: tvm.runtime.empty((1 << 60,), "float32", device), "memory", "bytes", "large")
    refused(lambda: tvm.runtime.empty((4,), "float32", device, "texture"), "scope", "texture")


def views(device, add):
    here = random((40, 25), "float32")
    there = tvm.runtime.tensor(here, device)
    np.testing.assert_array_equal(there._create_view((1000,)).numpy(), here.ravel())
    tail = there._create_view((20, 25), relative_byte_offset=2000)
    np.testing.assert_array_equal(tail.numpy(), here[20:])
    tail.copyfrom(np.zeros((20, 25), "float32"))
    here[20:] = 0
    np.testing.assert_array_equal(there.numpy(), here)
    refused(lambda: there._create_view((1001,)), "view", "bytes", "allocated")
    # Host code accepts views that begin at the start of their memory.
    output = tvm.runtime.empty((1000,), "float32", device)
    add(there._create_view((1000,)), output)
    np.testing.assert_array_equal(output.numpy(), 2 * here.ravel())
    double = tvm.runtime.empty((2000,), "float32", device)
    refused(lambda: add(double._create_view((1000,), relative_byte_offset=4000), output), "offset")


def streams(device):
    stream = device.create_raw_stream()
    device.set_raw_stream(stream)
    tensor = tvm.runtime.tensor(random((99,), "int32"), device)
    device.sync(stream)
    device.sync()
    with tvm_ffi.use_raw_stream(device, stream or 0):
        tensor.numpy()
    device.set_raw_stream(0)
    device.free_raw_stream(stream)


def timers(executable, device):
    """Check TVM's timers, C++ classes over its own device interface: they raise an error, and nothing else breaks."""
    x, y = (tvm.runtime.tensor(np.ones(1000, "float32"), device) for _ in range(2))
    try:
        print(executable.mod.time_evaluator("main", device, number=3)(x, y))
    except tvm.error.InternalError as error:
        assert "is not enabled" in str(error), error
    executable["main"](x, y)
    assert y.numpy()[0] == 2


def life(kind, device):
    """Check that a function outlives its module, and that memory can be released while queued kernels use it."""
    function = adder(kind)["main"]
    gc.collect()
    for _ in range(200):
        x = tvm.runtime.tensor(np.full(1000, 3, "float32"), device)
        y = tvm.runtime.empty((1000,), "float32", device)
        function(x, y)
        del x
        z = tvm.runtime.empty((1000,), "float32", device)
        function(y, z)
        del y
    del function
    gc.collect()
    assert (z.numpy() == 12).all()


def threads(device, add):
    wrong = []

    def work(seed):
        for step in range(50):
            x = np.full(1000, seed * 100 + step, "float32")
            y = tvm.runtime.empty((1000,), "float32", device)
            add(tvm.runtime.tensor(x, device), y)
            if not np.array_equal(y.numpy(), 2 * x):
                wrong.append((seed, step))

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong, wrong


def dlpack(device):
    tensor = tvm.runtime.tensor(random((6, 7), "float32"), device)
    again = tvm_ffi.from_dlpack(tensor)
    assert again.device == device and again.shape == (6, 7)
    np.testing.assert_array_equal(tvm.runtime.from_dlpack(tensor).numpy(), tensor.numpy())


def fork(device, add):
    """Check that a child cannot use its parent's devices: each use is an error, without crashes or hangs."""
    x, y = (tvm.runtime.tensor(np.ones(1000, "float32"), device) for _ in range(2))
    child = os.fork()
    if child == 0:
        status = 1
        try:
            for action in (lambda: add(x, y), x.numpy, lambda: tvm.runtime.empty((4,), "float32", device), device.sync):
                refused(action, "fork")
            del x, y
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    add(x, y)
    assert y.numpy()[0] == 2


for kind in KINDS:
    device = tvm.device(kind, 0)
    executable = adder(kind)
    add = executable["main"]
    attributes(device)
    copies(device)
    views(device, add)
    streams(device)
    timers(executable, device)
    life(kind, device)
    threads(device, add)
    dlpack(device)
    fork(device, add)
    # The other runtime still serves the CPU.
    assert tvm.cpu().exist
    np.testing.assert_array_equal(tvm.runtime.tensor(np.arange(9)).numpy(), np.arange(9))
    print(f"{kind}: all right")
