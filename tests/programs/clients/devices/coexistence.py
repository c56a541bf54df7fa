"""Test kernels in a process with libtvm_runtime, with either library used first, each order in a process of its own.

FERRITE_DEVICE_KINDS names the kinds, opencl unless it is set.
"""

import ctypes
import os
import subprocess
import sys
import tempfile
from pathlib import Path

WATCHED = Path(__file__).resolve().parents[3] / "watchdog" / "watched.py"
KINDS = os.environ.get("FERRITE_DEVICE_KINDS", "opencl").split()
NUMBERS = {"cuda": 2, "opencl": 4, "vulkan": 7, "metal": 8, "rocm": 10, "webgpu": 15}


def compile_libraries(kind, folder):
    """Compile relu(a @ b) + a, with the product in a device workspace; host code through LLVM and through C."""
    import ferrite_tvm_ffi  # noqa: F401
    import tvm
    from tvm import te, topi
    from tvm.s_tir import dlight

    a, b = (te.placeholder((64, 64), name=name) for name in "ab")
    output = topi.add(topi.nn.relu(topi.matmul(a, b)), a)
    for host in ("llvm", "c"):
        target = tvm.target.Target(kind, host=host)
        module = tvm.IRModule({"main": te.create_prim_func([a, b, output])})
        with target:
            module = dlight.ApplyDefaultSchedule(dlight.gpu.Fallback())(module)
        tvm.compile(module, target=target).export_library(str(Path(folder, f"{host}.so")))


class Device:
    """A device used by global functions only, with or without TVM's Python package."""

    def __init__(self, kind):
        import tvm_ffi

        self.ffi = tvm_ffi
        self.number = NUMBERS[kind]
        self.device = tvm_ffi.device(kind, 0)
        self.allocate, self.write, self.read, self.attribute, self.wait = (
            tvm_ffi.get_global_func(f"runtime.{name}")
            for name in (
                "TVMTensorAllocWithScope",
                "TVMTensorCopyFromBytes",
                "TVMTensorCopyToBytes",
                "GetDeviceAttr",
                "Device_StreamSync",
            )
        )

    def tensor(self, array):
        there = self.allocate(self.ffi.Shape(array.shape), self.ffi.dtype(str(array.dtype)), self.device, None)
        self.write(there, pointer(array), array.nbytes)
        return there

    def check(self, function):
        import numpy as np

        random = np.random.default_rng(2)
        a, b = (random.standard_normal((64, 64)).astype("float32") for _ in range(2))
        output = np.zeros((64, 64), "float32")
        there = self.tensor(output)
        function(self.tensor(a), self.tensor(b), there)
        self.wait(self.device, 0)
        self.read(there, pointer(output), output.nbytes)
        np.testing.assert_allclose(output, np.maximum(a @ b, 0) + a, rtol=1e-3, atol=1e-3)
        assert self.attribute(self.number, 0, 0) == 1
        self.ffi.get_global_func("__tvm_set_device")(self.number, 0)


def pointer(array):
    return ctypes.c_void_p(array.ctypes.data)


def load(folder, hosts):
    import tvm_ffi

    return [tvm_ffi.load_module(str(Path(folder, f"{host}.so")))["main"] for host in hosts]


def check_tvm():
    """Check that TVM's package works on the CPU, including kernels."""
    import numpy as np
    import tvm
    from tvm import te, topi

    x = te.placeholder((100,), name="x")
    function = tvm.compile(tvm.IRModule({"main": te.create_prim_func([x, topi.add(x, x)])}), target="llvm")
    there = tvm.runtime.tensor(np.zeros(100, "float32"))
    function["main"](tvm.runtime.tensor(np.ones(100, "float32")), there)
    assert (there.numpy() == 2).all()


def library_first(kind, folder):
    """Run kernels with the library, then import TVM: functions found before and after still work."""
    import ferrite_tvm_ffi  # noqa: F401

    device = Device(kind)
    functions = load(folder, ("llvm", "c"))
    for function in functions:
        device.check(function)
    import tvm

    for function in functions + load(folder, ("llvm", "c")):
        device.check(function)
        Device(kind).check(function)
    assert tvm.device(kind, 0).exist and not tvm.device(kind, 99).exist
    check_tvm()


def tvm_first(kind, folder):
    """Import TVM, then run the library's first kernels."""
    import ferrite_tvm_ffi  # noqa: F401
    import tvm

    check_tvm()
    assert tvm.device(kind, 0).exist
    for function in load(folder, ("llvm", "c")):
        Device(kind).check(function)
    check_tvm()


def too_late(kind, _folder):
    """With TVM imported on upstream's library, this library reports it, and TVM still works."""
    import tvm

    try:
        import ferrite_tvm_ffi  # noqa: F401
    except ImportError as error:
        assert "imported already" in str(error), error
    else:
        raise AssertionError("two libraries in one process")
    assert not tvm.device(kind, 0).exist
    check_tvm()


ORDERS = {order.__name__: order for order in (library_first, tvm_first, too_late)}


def main():
    if len(sys.argv) > 1:
        name, kind, folder = sys.argv[1:]
        ORDERS[name](kind, folder)
        return
    for kind in KINDS:
        with tempfile.TemporaryDirectory() as folder:
            compile_libraries(kind, folder)
            for name in ORDERS:
                program = [sys.executable, "-X", "faulthandler", __file__, name, kind, folder]
                subprocess.run([sys.executable, WATCHED, "200", *program], check=True)
                print(f"{kind}: {name}")


main()
