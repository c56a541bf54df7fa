"""Facts about operators that their types lack: the arguments written, and the shape and type of the result that is allocated.

Adaptors need the first to refuse read-only arrays and to give frameworks with immutable arrays a result; compilers of graphs (`jax.jit`,
`torch.compile`) need the second before the kernel runs. An operator without a line here can be called, and not be traced.
"""

from __future__ import annotations

from typing import Any, Callable

Description = "tuple[tuple[int, ...], Any]"


def like_first(x: Any, *_: Any) -> Description:
    """Describe a result of the shape and type of the first argument."""
    return tuple(x.shape), x.dtype


def half_columns(x: Any, *_: Any) -> Description:
    """Describe a result with half of the columns of the first argument."""
    return (*x.shape[:-1], x.shape[-1] // 2), x.dtype


def without_columns(x: Any, *_: Any) -> Description:
    """Describe a result with a value for each row of the first argument."""
    return tuple(x.shape[:-1]), x.dtype


def product(a: Any, b: Any, *_: Any) -> Description:
    """Describe the product of two matrices."""
    return (a.shape[0], b.shape[1]), a.dtype


RESULTS: dict[str, Callable[..., Description]] = {
    "gelu": like_first,
    "gelu_and_mul": half_columns,
    "gemm": product,
    "layernorm2d": like_first,
    "paged_attention_decode": like_first,
    "relu": like_first,
    "rmsnorm": like_first,
    "silu": like_first,
    "silu_and_mul": half_columns,
    "softmax": like_first,
    "sum_rows": without_columns,
}

WRITES: dict[str, tuple[str, ...]] = {
    "rotary_embedding": ("query", "key"),
    "topk_softmax": ("weights", "indices"),
}


def written(name: str, parameters: tuple[str, ...]) -> list[int]:
    """Return the positions of the arguments that an operator writes."""
    names = WRITES.get(name, ())
    return [at for at, parameter in enumerate(parameters) if parameter in names or parameter.startswith("out")]
