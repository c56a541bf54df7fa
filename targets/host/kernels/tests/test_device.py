"""The operators of the C++ library on devices.

Kernels run on OpenCL and CUDA where the process has Ferrite's libtvm_ffi with these kinds, and a device: PoCL is one on the processor, and
tests/programs/device has a stand-in for CUDA's driver, which runs sum_rows. CUDA source is compiled if FERRITE_NVRTC names the folder of the
package nvidia-cuda-nvrtc. FERRITE_DEVICE_TESTS names the kinds, such as `opencl cuda`, for which a missing device or compiler is a failure.
"""

from __future__ import annotations

import ctypes
import os
import re
from pathlib import Path

import numpy as np
import pytest
import tvm_ffi
from dlpack import tensor
from operators import COMMON, cases, widened

DEVICE = Path(__file__).parent.parent / "device"
NAMES = ("rmsnorm", "sum_rows")
OPERATORS = [one for one in COMMON if one.name in NAMES]


def missing(kind: str, what: str) -> None:
    """End a test for lack of something."""
    if kind in os.environ.get("FERRITE_DEVICE_TESTS", "").split():
        pytest.fail(what)
    pytest.skip(what)


# ---- devices -------------------------------------------------------------------------------------

STAND_IN = "Stand-in for a GPU"


class Device:
    """A device, used by the global functions of the library."""

    def __init__(self, kind: str):
        self.device = tvm_ffi.device(kind, 0)
        names = ("TVMTensorAllocWithScope", "TVMTensorCopyFromBytes", "TVMTensorCopyToBytes", "GetDeviceAttr")
        self.allocate, self.write, self.read, self.attribute = (tvm_ffi.get_global_func(f"runtime.{name}", True) for name in names)
        if self.allocate is None or not self.attribute(self.device.dlpack_device_type(), 0, 0):
            missing(kind, f"libtvm_ffi has no {kind}, or there is no device")
        self.name = self.attribute(self.device.dlpack_device_type(), 0, 5)

    def tensor(self, array: np.ndarray):
        there = self.allocate(tvm_ffi.Shape(array.shape), tvm_ffi.dtype(str(array.dtype)), self.device, None)
        if array.size:
            self.write(there, ctypes.c_void_p(array.ctypes.data), array.nbytes)
        return there

    def array(self, there) -> np.ndarray:
        array = np.zeros(there.shape, str(there.dtype))
        if array.size:
            self.read(there, ctypes.c_void_p(array.ctypes.data), array.nbytes)
        return array

    def arguments(self, inputs: list) -> list:
        return [self.tensor(one) if isinstance(one, np.ndarray) else one for one in inputs]


@pytest.fixture(scope="session")
def opencl():
    return Device("opencl")


@pytest.fixture(scope="session")
def cuda():
    return Device("cuda")


@pytest.mark.parametrize("operator, size", cases(OPERATORS))
def test_on_opencl(cpp, opencl, operator, size):
    check_on(opencl, cpp, operator, size)


@pytest.mark.parametrize("operator, size", cases(OPERATORS))
def test_on_cuda(cpp, cuda, operator, size):
    if cuda.name == STAND_IN and operator.name != "sum_rows":
        pytest.skip("the stand-in has no such kernel")
    check_on(cuda, cpp, operator, size)


def check_on(device: Device, cpp, operator, size):
    """The export that runs on arrays runs on tensors of the device, into its own result or one of the caller."""
    inputs = operator.inputs(np.random.default_rng(sum(size)), *size)
    expected = operator.reference(*map(widened, inputs))
    arguments = device.arguments(inputs)
    given = device.tensor(np.full(np.shape(expected), 7, "float32"))
    allocated = cpp[operator.name](*arguments, None)
    assert cpp[operator.name](*arguments, given) is None
    for actual in (allocated, given):
        assert actual.device == device.device
        np.testing.assert_allclose(device.array(actual), expected, rtol=operator.rtol, atol=10 * operator.atol)


def test_queued_after_each_other(cpp, opencl):
    """Kernels of one thread run in order: each takes the result of the one before."""
    x, weight = opencl.tensor(np.full((64, 64), 3, "float32")), opencl.tensor(np.full(64, 0.5, "float32"))
    for _ in range(10):
        x = cpp.rmsnorm(x, weight, 0.75, x) or x
    expected = 3.0
    for _ in range(10):
        expected = expected / (expected**2 + 0.75) ** 0.5 / 2
    np.testing.assert_allclose(opencl.array(x), expected, rtol=1e-5)


def test_current_stream(cpp, cuda):
    """A kernel is queued on the stream that is current: it has not run when another stream is read."""
    if cuda.name != STAND_IN:
        pytest.skip("only the stand-in waits with a kernel until its stream is waited for")
    create, wait, free = (tvm_ffi.get_global_func(f"runtime.Device_Stream{name}") for name in ("Create", "Sync", "Free"))
    x, out, stream = cuda.tensor(np.ones((2, 4), "float32")), cuda.tensor(np.zeros(2, "float32")), create(cuda.device)
    with tvm_ffi.use_raw_stream(cuda.device, stream):
        cpp.sum_rows(x, out)
    assert list(cuda.array(out)) == [0, 0]
    wait(cuda.device, stream)
    assert list(cuda.array(out)) == [4, 4]
    free(cuda.device, stream)


def test_tensors_on_two_devices(cpp, opencl):
    x, weight = opencl.tensor(np.ones((2, 4), "float32")), tvm_ffi.from_dlpack(np.ones(4, "float32"))
    with pytest.raises(ValueError, match="Mismatched weight.device_type on argument #1(.|\n)*expected opencl, got cpu"):
        cpp.rmsnorm(x, weight, 1e-6, None)


def test_types_without_a_kernel(cpp, opencl):
    x = opencl.tensor(np.ones((2, 4), "float16"))
    with pytest.raises(TypeError, match="Mismatched x.dtype on argument #0(.|\n)*expected float32, got float16"):
        cpp.sum_rows(x, None)


def test_output_that_is_an_input(cpp, opencl):
    weight = opencl.tensor(np.ones(4, "float32"))
    row = tensor(np.ones((1, 4), "float32"), device=(weight.device.dlpack_device_type(), 0), data=weight.data_ptr())
    with pytest.raises(ValueError, match="Overlapping out on argument #3(.|\n)*expected a buffer that is no other argument's"):
        cpp.rmsnorm(opencl.tensor(np.ones((1, 4), "float32")), weight, 0.0, row)
    x = opencl.tensor(np.full((2, 4), 3, "float32"))
    cpp.rmsnorm(x, opencl.tensor(np.ones(4, "float32")), 0.0, x)
    np.testing.assert_allclose(opencl.array(x), np.ones((2, 4)), rtol=1e-6)


def test_operators_without_a_device_variant(cpp, opencl):
    x, weight = opencl.tensor(np.ones((2, 4), "float32")), opencl.tensor(np.ones(4, "float32"))
    with pytest.raises(ValueError, match="Mismatched x.device_type on argument #0(.|\n)*expected cpu, got opencl"):
        cpp.layernorm2d(x, weight, weight, 1e-5, None)


# ---- CUDA ----------------------------------------------------------------------------------------


def text(name: str) -> str:
    """Return what is between the quotes of a source."""
    return re.fullmatch(r'R"\((.*)\)"\n', (DEVICE / f"{name}.inl").read_text(), re.DOTALL)[1]


class Nvrtc:
    """NVIDIA's compiler for CUDA source."""

    def __init__(self, folder: str):
        found = sorted(Path(folder).rglob("libnvrtc.so*"))
        self.library = ctypes.CDLL(str(found[0]))

    def compile(self, source: str) -> str:
        program, size = ctypes.c_void_p(), ctypes.c_size_t()
        self.check(self.library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None))
        status = self.library.nvrtcCompileProgram(program, 1, (ctypes.c_char_p * 1)(b"--gpu-architecture=compute_75"))
        read = ("nvrtcGetPTXSize", "nvrtcGetPTX") if status == 0 else ("nvrtcGetProgramLogSize", "nvrtcGetProgramLog")
        self.check(getattr(self.library, read[0])(program, ctypes.byref(size)))
        result = ctypes.create_string_buffer(size.value)
        self.check(getattr(self.library, read[1])(program, result))
        assert status == 0, result.value.decode()
        return result.value.decode()

    def check(self, status: int) -> None:
        assert status == 0, f"NVRTC fails with code {status}"


@pytest.mark.parametrize("name", NAMES)
def test_cuda_source_compiles(name):
    folder = os.environ.get("FERRITE_NVRTC")
    if folder is None:
        missing("cuda", "FERRITE_NVRTC names no folder with NVRTC")
    assert f".entry {name}(" in Nvrtc(folder).compile(f"// Function: {name}" + text("cuda") + text(name))
