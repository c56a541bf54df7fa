"""Operators on PyTorch's tensors.

    from ferrite_kernels import torch as kernels

    y = kernels.layernorm2d(x, weight, bias, 1e-5)

Results are allocated by PyTorch, and kernels run on its current stream: `tvm_ffi` does both for the tensors of a call. `kernels.gemm`,
`kernels.rmsnorm` and `kernels.silu_and_mul` are registered with autograd and `torch.compile`. Others refuse tensors that require
gradients, which would be lost.
"""

from __future__ import annotations

from typing import Any, Callable

import torch

from .adaptor import Adaptor, refuse
from .library import Operator


class Torch(Adaptor):
    """Operators that take PyTorch's tensors and return them."""

    def run(self, found: Operator, values: list[Any], writes: list[int]) -> Any:
        if torch.is_grad_enabled():
            for at, value in enumerate(values):
                if isinstance(value, torch.Tensor) and value.requires_grad:
                    wanted = "a tensor that requires no gradient, since the operator has no derivative: detach it"
                    raise refuse(found, at, "Mismatched {}.requires_grad", wanted, "True")
        return found.function(*values)


_adaptor = Torch()
of = _adaptor.of


def registered(name: str, schema: str, setup: Callable[..., None], backward: Callable[..., Any]) -> Any:
    """Register an operator with autograd and torch.compile. `setup` keeps what `backward` needs, as in torch.library."""

    def call(*args: Any) -> torch.Tensor:
        return getattr(_adaptor, name)(*args)

    def fake(*args: Any) -> torch.Tensor:
        shape, dtype = _adaptor.described(name, args)
        return args[0].new_empty(shape, dtype=dtype if isinstance(dtype, torch.dtype) else getattr(torch, dtype))

    library = torch.library.custom_op(f"ferrite_kernels::{name}", call, mutates_args=(), schema=schema)
    library.register_fake(fake)
    library.register_autograd(backward, setup_context=setup)
    return library


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    ctx.save_for_backward(*(value for value in inputs if isinstance(value, torch.Tensor)))
    ctx.rest = [value for value in inputs if not isinstance(value, torch.Tensor)]


def _gemm_backward(ctx: Any, grad: torch.Tensor) -> tuple[Any, ...]:
    a, b = ctx.saved_tensors
    grad = grad.contiguous()
    return gemm(grad, b.t().contiguous()), gemm(a.t().contiguous(), grad)


def _rmsnorm_backward(ctx: Any, grad: torch.Tensor) -> tuple[Any, ...]:
    x, weight = ctx.saved_tensors
    scale = torch.rsqrt(x.square().mean(-1, keepdim=True) + ctx.rest[0])
    normal, weighted = x * scale, grad * weight
    return scale * (weighted - normal * (weighted * normal).mean(-1, keepdim=True)), (grad * normal).sum(0), None


def _silu_and_mul_backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
    gate, up = ctx.saved_tensors[0].chunk(2, dim=-1)
    share = torch.sigmoid(gate)
    return torch.cat((grad * up * share * (1 + gate * (1 - share)), grad * gate * share), dim=-1)


gemm = registered("gemm", "(Tensor a, Tensor b) -> Tensor", _keep, _gemm_backward)
rmsnorm = registered("rmsnorm", "(Tensor x, Tensor weight, float eps) -> Tensor", _keep, _rmsnorm_backward)
silu_and_mul = registered("silu_and_mul", "(Tensor x) -> Tensor", _keep, _silu_and_mul_backward)


def __getattr__(name: str) -> Any:
    return getattr(_adaptor, name)
