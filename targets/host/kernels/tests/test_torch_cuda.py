"""PyTorch's and CuPy's tensors on an NVIDIA GPU: operators with a CUDA variant, on the framework's current stream.

They need a GPU, and Ferrite's libtvm_ffi with CUDA, which compiles the variants.
"""

from __future__ import annotations

import dataclasses

import pytest

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("there is no NVIDIA GPU", allow_module_level=True)

import test_device
import tvm_ffi
from adaptors import adaptor, check
from conftest import on_ferrite
from ferrite_kernels import torch as kernels
from operators import cases
from test_torch import REGISTERED as ALL_REGISTERED
from test_torch import with_gradients

if not on_ferrite():
    pytest.skip("the CUDA variants need Ferrite's libtvm_ffi", allow_module_level=True)

# Cycles for which a stream is kept busy: about a tenth of a second.
WHILE = 200_000_000


# Those with a CUDA variant.
REGISTERED = [one for one in ALL_REGISTERED if one.id in test_device.NAMES]

# The order of sums is not that of the CPU.
OPERATORS = [dataclasses.replace(one, atol=10 * one.atol) for one in test_device.OPERATORS]


def to_gpu(value):
    return value.detach().cuda().requires_grad_(value.requires_grad) if isinstance(value, torch.Tensor) else value


@pytest.mark.parametrize("operator, size", cases(OPERATORS))
def test_torch(operator, size):
    to, back = lambda array: torch.from_numpy(array).cuda(), lambda tensor: tensor.cpu().numpy()
    check(getattr(kernels, operator.name), operator, size, to, back)


@pytest.mark.parametrize("operator, size", cases(OPERATORS))
def test_cupy(operator, size):
    cupy = pytest.importorskip("cupy")
    check(getattr(adaptor("protocol", "cpp"), operator.name), operator, size, cupy.asarray, cupy.asnumpy)


def test_results_are_allocated_by_torch():
    x = torch.ones(1024, 1024, device="cuda")
    before = torch.cuda.memory_allocated()
    result = kernels.sum_rows(x)
    assert type(result) is torch.Tensor and result.device == x.device
    assert torch.cuda.memory_allocated() - before == result.nbytes


def test_kernels_are_queued_on_torchs_current_stream():
    """The stream of the kernel waits, then changes its input: a kernel on another stream would read the value of before."""
    x, stream = torch.zeros(4, 1024, device="cuda"), torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(WHILE)
        x.fill_(1)
        result = kernels.sum_rows(x)
    stream.synchronize()
    assert result.tolist() == [1024] * 4


def test_kernels_are_queued_on_cupys_current_stream():
    cupy = pytest.importorskip("cupy")
    x, stream = cupy.zeros((4, 1024), "float32"), cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()
    with stream:
        cupy.matmul(*[cupy.ones((4096, 4096), "float32")] * 2)
        x.fill(1)
        result = adaptor("protocol", "cpp").sum_rows(x)
    stream.synchronize()
    assert result.tolist() == [1024] * 4


def test_graphs_of_cuda():
    """A captured graph has the kernel: a replay with other values gives other results."""
    x = torch.ones(4, 8, device="cuda")
    result = kernels.sum_rows(x)  # compiles the kernel before the capture
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kernels.sum_rows(x, out=result)
    x.fill_(3)
    graph.replay()
    assert result.tolist() == [24] * 4


@pytest.mark.parametrize("ours, theirs, inputs", REGISTERED)
def test_gradients(ours, theirs, inputs):
    values = [*map(to_gpu, inputs())]
    with torch.device("cuda"):
        for actual, expected in zip(with_gradients(ours, values), with_gradients(theirs, values), strict=True):
            torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("ours, theirs, inputs", REGISTERED)
def test_compiled_graphs(ours, theirs, inputs):
    values = [*map(to_gpu, inputs())]
    compiled = torch.compile(lambda *x: ours(*x) * 2, fullgraph=True, backend="aot_eager")
    with torch.device("cuda"):
        expected = with_gradients(lambda *x: theirs(*x) * 2, values)
        for actual, wanted in zip(with_gradients(compiled, values), expected, strict=True):
            torch.testing.assert_close(actual, wanted, rtol=1e-4, atol=1e-4)


def test_tensors_on_two_devices():
    with pytest.raises(ValueError, match="Mismatched weight.device_type on argument #1(.|\n)*expected cuda, got cpu"):
        kernels.rmsnorm(torch.ones(2, 4, device="cuda"), torch.ones(4), 1e-6)


def test_types_without_a_kernel_and_operators_without_a_variant():
    x = torch.ones(2, 4, device="cuda", dtype=torch.float16)
    with pytest.raises(TypeError, match="Mismatched x.dtype on argument #0(.|\n)*expected float32, got float16"):
        kernels.sum_rows(x)
    with pytest.raises(ValueError, match="Mismatched x.device_type on argument #0(.|\n)*expected cpu, got cuda"):
        kernels.layernorm2d(x.float(), x[0].float(), x[0].float(), 1e-5)


def test_streams_after_an_error():
    """An error leaves the stream of before."""
    x, stream = torch.ones(2, 4, device="cuda", dtype=torch.float16), torch.cuda.Stream()
    device = tvm_ffi.device("cuda", 0)
    before = tvm_ffi.get_raw_stream(device)
    with torch.cuda.stream(stream), pytest.raises(TypeError):
        kernels.sum_rows(x)
    assert tvm_ffi.get_raw_stream(device) == before
