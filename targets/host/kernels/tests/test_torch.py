"""The adaptor to PyTorch: results, allocation, gradients and compiled graphs."""

from __future__ import annotations

import ferrite_kernels
import numpy as np
import pytest
import torch
import tvm_ffi
from adaptors import CASES, LANGUAGES, adaptor, check
from ferrite_kernels import torch as kernels

torch.manual_seed(0)


# ---- results
# -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("language, operator, size", CASES)
def test_torch(language, operator, size):
    check(getattr(adaptor("torch", language), operator.name), operator, size, torch.from_numpy, torch.Tensor.numpy)


@pytest.mark.parametrize("language", LANGUAGES)
def test_results_are_allocated_by_torch(language):
    call, x = adaptor("torch", language).sum_rows, torch.ones(3, 4)
    with torch.autograd.profiler.profile() as profile:
        result = call(x)
    assert "aten::empty" in {event.name for event in profile.function_events}
    assert type(result) is torch.Tensor and result.tolist() == [4, 4, 4]


@pytest.mark.parametrize("language", LANGUAGES)
def test_given_outputs_are_written_and_returned(language):
    out = torch.empty(3)
    assert adaptor("torch", language).sum_rows(torch.ones(3, 4), out=out) is out
    assert out.tolist() == [4, 4, 4]


def test_one_library_with_numpy_and_torch():
    x = np.random.default_rng(0).standard_normal((7, 33)).astype("float32")
    np.testing.assert_array_equal(adaptor("numpy", "c").silu_and_mul(x[:, :32].copy()), kernels.of("c").silu_and_mul(torch.tensor(x[:, :32])))


# ---- gradients
# -----------------------------------------------------------------------------------------


def test_tensors_that_require_gradients_are_refused():
    x, weight, bias = torch.ones(2, 4), torch.ones(4, requires_grad=True), torch.zeros(4)
    wanted = (
        r"^Mismatched weight.requires_grad on argument #1 when calling:\n  `layernorm2d\(x: .*\)`,\n"
        r"  expected a tensor that requires no gradient, since the operator has no derivative: detach it, got True$"
    )
    with pytest.raises(ValueError, match=wanted):
        kernels.layernorm2d(x, weight, bias, 1e-5)
    assert kernels.layernorm2d(x, weight.detach(), bias, 1e-5).shape == (2, 4)
    with torch.no_grad():
        assert kernels.layernorm2d(x, weight, bias, 1e-5).shape == (2, 4)


def wanting(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, requires_grad=True)


def silu_and_mul(x):
    gate, up = x.chunk(2, dim=-1)
    return torch.nn.functional.silu(gate) * up


REGISTERED = [
    pytest.param(kernels.gemm, torch.matmul, lambda: (wanting(5, 7), wanting(7, 3)), id="gemm"),
    pytest.param(
        lambda x, weight: kernels.rmsnorm(x, weight, 1e-5),
        lambda x, weight: torch.nn.functional.rms_norm(x, weight.shape, weight, 1e-5),
        lambda: (wanting(5, 16), wanting(16)),
        id="rmsnorm",
    ),
    pytest.param(kernels.silu_and_mul, silu_and_mul, lambda: (wanting(5, 12),), id="silu_and_mul"),
]


def with_gradients(function, inputs):
    """Return the result, and the gradients of the inputs, for a loss that weighs elements differently."""
    result = function(*inputs)
    weights = torch.arange(1.0, result.numel() + 1).reshape(result.shape)
    return [result, *torch.autograd.grad((result * weights).sum(), inputs)]


@pytest.mark.parametrize("ours, theirs, inputs", REGISTERED)
def test_gradients(ours, theirs, inputs):
    values = inputs()
    for actual, expected in zip(with_gradients(ours, values), with_gradients(theirs, values), strict=True):
        torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("ours, theirs, inputs", REGISTERED)
def test_compiled_graphs(ours, theirs, inputs):
    values = inputs()
    compiled = torch.compile(lambda *x: ours(*x) * 2, fullgraph=True, backend="aot_eager")
    expected = with_gradients(lambda *x: theirs(*x) * 2, values)
    for actual, wanted in zip(with_gradients(compiled, values), expected, strict=True):
        torch.testing.assert_close(actual, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("operator, inputs", [
    pytest.param(kernels.gemm, lambda: (wanting(3, 4), wanting(4, 2)), id="gemm"),
    pytest.param(kernels.rmsnorm, lambda: (wanting(3, 4), wanting(4), 1e-5), id="rmsnorm"),
    pytest.param(kernels.silu_and_mul, lambda: (wanting(3, 8),), id="silu_and_mul"),
])  # fmt: skip
def test_registrations_by_torchs_own_checks(operator, inputs):
    torch.library.opcheck(operator, inputs(), test_utils=("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic"))


def test_default_compiler():
    x, weight = torch.randn(8, 32), torch.randn(32)
    compiled = torch.compile(lambda x: torch.relu(kernels.rmsnorm(x + 1, weight, 1e-5)), fullgraph=True)
    torch.testing.assert_close(compiled(x), torch.relu(torch.nn.functional.rms_norm(x + 1, (32,), weight, 1e-5)), rtol=1e-4, atol=1e-4)


# ---- streams and errors
# ------------------------------------------------------------------------------------


def test_errors_name_function_and_argument_and_leave_no_allocator():
    with pytest.raises(TypeError, match=r"^Mismatched x.dtype on argument #0 when calling:\n  `sum_rows\("):
        kernels.sum_rows(torch.ones(2, 2, dtype=torch.float64))
    with pytest.raises(ValueError, match=r"^Mismatched x.strides on argument #0"):
        kernels.sum_rows(torch.ones(4, 3).t())
    plain = ferrite_kernels.c.sum_rows(tvm_ffi.from_dlpack(torch.ones(2, 2)), None)
    assert isinstance(plain, tvm_ffi.Tensor), "torch's allocator is that of calls with its tensors only"
