"""Tables of operators for tests: inputs of several sizes, its function in numpy, and where its results are.

A test file of a language lists its operators in a table, runs each by `check`, and takes those that all languages have from
`COMMON`:

    OPERATORS = [*COMMON, Operator("relu", inputs=lambda rng, *shape: [normal(rng, *shape)], sizes=SHAPES, reference=reference.relu)]

    @pytest.mark.parametrize("operator, size", cases(OPERATORS))
    def test_operator(c, operator, size):
        check(c, operator, size)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
import pytest
import reference
from dlpack import array_of, tensor


@dataclasses.dataclass(frozen=True)
class Operator:
    """An operator and its cases."""

    name: str
    # inputs(rng, *size) returns the arguments: arrays and numbers, without an optional output at
    # the end.
    inputs: Callable[..., list]
    sizes: Sequence[tuple[int, ...]]
    # reference(*inputs) gets copies of them, those of floating point as float64. It returns the
    # result, or a tuple of results: first the optional output, then the arguments that are written.
    reference: Callable
    # Indices of the arguments that the operator writes.
    writes: tuple[int, ...] = ()
    # The type of the optional output, which is the last argument; None if there is no such output.
    out: str | None = "float32"
    # Index of the input whose very memory the optional output may be.
    over: int | None = None
    rtol: float = 1e-5
    atol: float = 1e-5

    def __str__(self) -> str:
        return self.name


def cases(operators: Sequence[Operator]) -> list:
    """Return one parameter for each operator and size."""
    return [
        pytest.param(operator, size, id=f"{operator}-{'x'.join(map(str, size))}") for operator in operators for size in operator.sizes
    ]


def check(module, operator: Operator, size: tuple[int, ...]) -> None:
    """Call an operator in each way that it has, and compare its results with numpy's in float64."""
    expected = operator.reference(*map(widened, inputs_of(operator, size)))
    expected = expected if isinstance(expected, tuple) else (expected,)
    if operator.out is None:
        inputs = inputs_of(operator, size)
        assert call(module, operator.name, *inputs) is None
        compare(operator, written(operator, inputs), expected)
    else:
        check_allocated(module, operator, inputs_of(operator, size), expected)
        check_given(module, operator, inputs_of(operator, size), expected)


def check_allocated(module, operator: Operator, inputs: list, expected: tuple) -> None:
    """Check an operator that allocates its output."""
    actual = array_of(call(module, operator.name, *inputs, None), operator.out)
    compare(operator, [actual, *written(operator, inputs)], expected)


def check_given(module, operator: Operator, inputs: list, expected: tuple) -> None:
    """Check the same operator with an output of the caller in the middle of other numbers, which stay."""
    shape = np.shape(expected[0])
    around = np.full(int(np.prod(shape)) + 32, 7, operator.out)
    out = around[16:-16].reshape(shape)
    assert call(module, operator.name, *inputs, out) is None
    compare(operator, [out, *written(operator, inputs)], expected)
    assert (around[:16] == 7).all() and (around[-16:] == 7).all()


def inputs_of(operator: Operator, size: tuple[int, ...]) -> list:
    """Return new inputs, the same for each call."""
    return operator.inputs(np.random.default_rng(sum(size)), *size)


def written(operator: Operator, inputs: list) -> list:
    return [inputs[index] for index in operator.writes]


def compare(operator: Operator, actual: Sequence[np.ndarray], expected: tuple) -> None:
    for one, wanted in zip(actual, expected, strict=True):
        assert one.shape == np.shape(wanted)
        if one.dtype.kind in "iu":
            np.testing.assert_array_equal(one, wanted)
        else:
            np.testing.assert_allclose(one.astype("float64"), wanted, rtol=operator.rtol, atol=operator.atol)


def call(module, name: str, *arguments):
    """Call a function of a module; arrays become tensors that share their memory."""
    return module[name](*(tensor(one) if isinstance(one, np.ndarray) else one for one in arguments))


def widened(value):
    """Return a copy of an argument for the reference."""
    if not isinstance(value, np.ndarray):
        return value
    return value.copy() if value.dtype.kind in "biu" else value.astype("float64")


# ---- inputs --------------------------------------------------------------------------------------


def normal(rng, *shape: int, dtype: str = "float32") -> np.ndarray:
    return np.asarray(rng.standard_normal(shape)).astype(dtype)


def distinct(rng, *shape: int) -> np.ndarray:
    """Return rows without equal elements, whose order is thus certain."""
    return np.ascontiguousarray(rng.permuted(np.broadcast_to(np.arange(shape[-1], dtype="float32") / 8, shape), axis=-1))


# Sizes of real models, odd sizes, single elements and none.
ROWS = [(4, 4096), (33, 128), (1, 1), (3, 17), (17, 3), (0, 8), (5, 0)]


def layernorm_inputs(rng, rows, cols):
    return [normal(rng, rows, cols) * 3 + 1, normal(rng, cols), normal(rng, cols), 1e-5]


def rmsnorm_inputs(rng, rows, cols):
    return [normal(rng, rows, cols), normal(rng, cols), 1e-6]


def rotary_inputs(rng, tokens, heads, kv_heads, head_size, rotary_dim):
    positions = rng.integers(0, 512, tokens, dtype="int64")
    angles = rng.uniform(0, 6, (512, rotary_dim // 2))
    cache = np.concatenate([np.cos(angles), np.sin(angles)], -1).astype("float32")
    return [positions, normal(rng, tokens, heads, head_size), normal(rng, tokens, kv_heads, head_size), cache]


ROTARY = [(5, 32, 8, 128, 128), (3, 2, 1, 64, 32), (1, 1, 1, 2, 2), (17, 3, 3, 6, 4), (0, 4, 4, 8, 8), (2, 0, 1, 8, 8)]


def topk_inputs(renormalize):
    def inputs(rng, tokens, experts, k):
        return [distinct(rng, tokens, experts), renormalize, np.zeros((tokens, k), "float32"), np.zeros((tokens, k), "int32")]

    return inputs


TOPK = [(7, 64, 8), (3, 256, 8), (1, 1, 1), (3, 17, 17), (5, 8, 0), (0, 8, 2)]


def decode_inputs(rng, seqs, heads, kv_heads, head_size, block_size, max_blocks):
    blocks = max(1, seqs * max_blocks)
    shape = (blocks, block_size, kv_heads, head_size)
    tables = rng.permutation(blocks)[: seqs * max_blocks].astype("int32").reshape(seqs, max_blocks)
    lengths = rng.integers(0, block_size * max_blocks + 1, seqs, dtype="int32")
    return [normal(rng, seqs, heads, head_size), normal(rng, *shape), normal(rng, *shape), tables, lengths, head_size**-0.5]


DECODE = [(3, 32, 8, 128, 16, 9), (2, 32, 32, 128, 16, 4), (1, 1, 1, 1, 1, 1), (4, 6, 2, 17, 3, 5), (0, 4, 2, 8, 4, 2), (2, 4, 4, 8, 4, 0)]

# The operators that every language has.
COMMON = [
    Operator("layernorm2d", layernorm_inputs, ROWS, reference.layernorm2d, over=0),
    Operator("rmsnorm", rmsnorm_inputs, ROWS, reference.rmsnorm, over=0),
    Operator("sum_rows", lambda rng, rows, cols: [normal(rng, rows, cols)], ROWS, reference.sum_rows, atol=1e-4),
]

# Operators in C with several outputs, written arguments, integers, or types of elements that
# differ.
IN_C = [
    Operator(
        "silu_and_mul",
        lambda rng, rows, cols: [normal(rng, rows, 2 * cols) * 4],
        [(3, 11008), *ROWS],
        reference.gated(reference.silu),
    ),
    Operator("rotary_embedding", rotary_inputs, ROTARY, reference.rotary_embedding, writes=(1, 2), out=None),
    Operator("topk_softmax", topk_inputs(False), TOPK, reference.topk_softmax, writes=(2, 3), out=None),
    Operator("topk_softmax", topk_inputs(True), TOPK, reference.topk_softmax, writes=(2, 3), out=None),
    Operator(
        "gemm",
        lambda rng, m, k, n: [normal(rng, m, k), normal(rng, k, n)],
        [(64, 256, 192), (1, 4096, 128), (1, 1, 1), (3, 17, 5), (17, 3, 33), (0, 4, 4), (4, 0, 4), (4, 4, 0), (130, 70, 257)],
        reference.gemm,
        atol=1e-4,
    ),
    Operator("paged_attention_decode", decode_inputs, DECODE, reference.paged_attention_decode),
]
