"""The operators in Rust, compared with numpy."""

import re
import subprocess

import numpy as np
import pytest
import reference
from conftest import BUILD
from operators import COMMON, Operator, call, cases, check, normal
from reference import softmax

# Rows of logits: a model's vocabulary, odd sizes, single elements and none.
LOGITS = [(3, 32000), (1, 1), (3, 17), (17, 33), (0, 8)]


def slot_inputs(*outputs):
    """Return inputs of experts' ids and a number of experts, and outputs of int32 with the given sizes."""

    def inputs(rng, tokens, k, experts):
        ids = rng.integers(0, experts, (tokens, k), dtype="int32")
        return [ids, experts, *(np.zeros(size(tokens * k, experts), "int32") for size in outputs)]

    return inputs


def align_inputs(rng, tokens, k, experts, block_size):
    ids = rng.integers(0, experts, (tokens, k), dtype="int32")
    room = ids.size + experts * (block_size - 1)
    outputs = [np.zeros(size, "int32") for size in (room, -(-room // block_size), 1)]
    return [ids, experts, block_size, *outputs]


def permute_inputs(rng, tokens, k, experts, cols):
    ids = rng.integers(0, experts, (tokens, k), dtype="int32")
    return [normal(rng, tokens, cols), ids, experts, np.zeros((ids.size, cols), "float32"), np.zeros(ids.size, "int32")]


def unpermute_inputs(rng, tokens, k, cols):
    return [normal(rng, tokens * k, cols), rng.permutation(tokens * k).astype("int32"), normal(rng, tokens, k)]


def penalty_inputs(rng, rows, vocab, n):
    tokens = rng.integers(-1, vocab, (rows, n))
    return [normal(rng, rows, vocab), tokens, rng.uniform(1, 2, rows).astype("float32")]


def count_inputs(rng, rows, vocab):
    counts = rng.integers(0, 3, (rows, vocab), dtype="int32")
    return [normal(rng, rows, vocab), counts, normal(rng, rows), normal(rng, rows)]


def bias_inputs(rng, rows, vocab, n):
    return [normal(rng, rows, vocab), rng.integers(0, rows, n, dtype="int32"), rng.integers(0, vocab, n), normal(rng, n)]


def bitmask_inputs(rng, rows, vocab):
    return [normal(rng, rows, vocab), rng.integers(-(2**31), 2**31, (rows, -(-vocab // 32))).astype("int32")]


OPERATORS = [
    *COMMON,
    Operator("expert_histogram", slot_inputs(), [(512, 8, 64), (1, 1, 1), (3, 5, 17), (0, 2, 4)], reference.histogram, out="int32"),
    Operator(
        "moe_align_block_size",
        align_inputs,
        [(512, 8, 64, 16), (1, 1, 1, 1), (3, 5, 17, 3), (0, 2, 4, 8)],
        reference.align_blocks,
        writes=(3, 4, 5),
        out=None,
    ),
    Operator("moe_permute", permute_inputs, [(33, 8, 64, 4096), (1, 1, 1, 1), (17, 3, 5, 3), (0, 2, 4, 8)], reference.permute, writes=(3, 4), out=None),
    Operator("moe_unpermute", unpermute_inputs, [(33, 8, 4096), (1, 1, 1), (17, 3, 3), (0, 2, 8), (3, 0, 5)], reference.unpermute),
    Operator(
        "embedding",
        lambda rng, tokens, vocab, cols: [rng.integers(0, vocab, tokens), normal(rng, vocab, cols)],
        [(17, 32000, 64), (3, 5, 4096), (1, 1, 1), (0, 3, 4), (3, 2, 0)],
        lambda ids, table: table[ids],
        rtol=0,
        atol=0,
    ),
    Operator(
        "repetition_penalty",
        penalty_inputs,
        [(3, 32000, 500), (1, 1, 1), (17, 33, 40), (3, 5, 0), (0, 8, 3)],
        reference.repetition_penalty,
        writes=(0,),
        out=None,
    ),
    Operator("presence_frequency_penalty", count_inputs, LOGITS, reference.presence_frequency_penalty, writes=(0,), out=None),
    Operator(
        "logit_bias",
        bias_inputs,
        [(3, 32000, 500), (1, 1, 3), (17, 33, 17), (3, 5, 0)],
        reference.logit_bias,
        writes=(0,),
        out=None,
    ),
    Operator("apply_token_bitmask", bitmask_inputs, LOGITS, reference.token_bitmask, writes=(0,), out=None),
    Operator(
        "token_ranks",
        lambda rng, rows, vocab: [normal(rng, rows, vocab).round(1), rng.integers(0, vocab, rows)],
        LOGITS,
        lambda logits, tokens: (logits > np.take_along_axis(logits, tokens[:, None], -1)).sum(-1),
        out="int32",
    ),
    Operator(
        "token_log_probs",
        lambda rng, rows, vocab: [normal(rng, rows, vocab) * 3, rng.integers(0, vocab, rows)],
        LOGITS,
        lambda logits, tokens: np.log(np.take_along_axis(softmax(logits), tokens[:, None], -1))[:, 0],
    ),
]


@pytest.mark.parametrize("operator, size", cases(OPERATORS))
def test_operator(rust, operator, size):
    check(rust, operator, size)


def test_every_export_is_compared():
    symbols = subprocess.run(["nm", "-D", "--defined-only", BUILD / "kernels_rust.so"], capture_output=True, text=True, check=True).stdout
    exports = set(re.findall(r" __tvm_ffi_(?!_)(\w+)", symbols))
    assert exports == {operator.name for operator in OPERATORS}


@pytest.mark.parametrize("rows, cols", [(1000, 4096), (1001, 4095)])
def test_rows_on_several_threads(rust, rows, cols):
    """So much work that it is split where there are several processors."""
    rng = np.random.default_rng(7)
    x, weight = normal(rng, rows, cols), normal(rng, cols)
    actual = np.from_dlpack(call(rust, "rmsnorm", x, weight, 1e-6, None))
    np.testing.assert_allclose(actual, reference.rmsnorm(x.astype("float64"), weight, 1e-6), rtol=1e-5, atol=1e-5)


def test_exponentials_are_exact_to_the_last_places(rust):
    """Of all magnitudes: silu_and_mul with a gate of x and a factor of 1 / x is the logistic function."""
    x = np.linspace(-86, 86, 100_000, dtype="float32")[None]
    actual = np.from_dlpack(call(rust, "silu_and_mul", np.concatenate([x, 1 / x], -1), None))
    np.testing.assert_allclose(actual, 1 / (1 + np.exp(-x.astype("float64"))), rtol=6e-7)


REFUSED = [
    ("topk", "topk_softmax", lambda x: [x(2, 3), False, x(2, 4), x(2, 4, dtype="int32")], ValueError, "weights.shape[1]", "at most 3, got 4"),
    ("odd", "silu_and_mul", lambda x: [x(2, 3), None], ValueError, "x.shape[1]", "to be divisible by 2, got 3"),
    ("dtype", "sum_rows", lambda x: [x(2, 3, dtype="float64"), None], TypeError, "x.dtype on argument #0", "float32, got float64"),
    ("rank", "sum_rows", lambda x: [x(2), None], ValueError, "x.ndim on argument #0", "expected 2, got 1"),
    ("strides", "sum_rows", lambda x: [x(2, 4)[:, ::2], None], ValueError, "x.strides on argument #0", "compact array, got stride[1] = 2"),
    ("extent", "gemm", lambda x: [x(2, 3), x(4, 5), None], ValueError, "b.shape[0] on argument #1", "a.shape[1] = 3, got 4"),
    ("output", "gemm", lambda x: [x(2, 3), x(3, 5), x(2, 4)], ValueError, "out.shape[1] on argument #2", "expected 5, got 4"),
    ("index", "embedding", lambda x: [x(2, dtype="int64") + 9, x(9, 3), None], IndexError, "ids[0]", "0 to less than 9, got 9"),
    ("block", "paged_attention_decode", lambda x: decode(x, table=7), ValueError, "block_tables.values", "0 to less than 2"),
    ("length", "paged_attention_decode", lambda x: decode(x, length=9), IndexError, "context_lens[0]", "0 to less than 9, got 9"),
    ("expert", "expert_histogram", lambda x: [x(2, 2, dtype="int32") - 1, 4, None], IndexError, "topk_ids[0]", "got -1"),
    ("experts", "expert_histogram", lambda x: [x(2, 2, dtype="int32"), 1 << 40, None], ValueError, "experts", "at most 65536"),
    ("slots", "moe_unpermute", lambda x: [x(2, 3), x(2, dtype="int32"), x(2, 1), None], ValueError, "slots.values", "each number"),
]


def decode(x, table=0, length=1):
    return [x(1, 1, 4), x(2, 4, 1, 4), x(2, 4, 1, 4), x(1, 2, dtype="int32") + table, x(1, dtype="int32") + length, 1.0, None]


@pytest.mark.parametrize("operator, inputs, error, where, wanted", [pytest.param(*case[1:], id=case[0]) for case in REFUSED])
def test_bad_input_is_refused(rust, operator, inputs, error, where, wanted):
    with pytest.raises(error) as caught:
        call(rust, operator, *inputs(lambda *shape, dtype="float32": np.zeros(shape, dtype)))
    text = str(caught.value)
    assert where in text and wanted in text and (operator in text or operator == "expert_histogram")


def test_outputs_that_share_memory_are_refused(rust):
    memory = np.zeros(24, "float32")
    x, out = memory[:12].reshape(3, 4), memory[11:23].reshape(3, 4)
    with pytest.raises(ValueError, match=r"Overlapping out on argument #3(.|\n)*memory apart from argument #0, got common bytes"):
        call(rust, "rmsnorm", x, np.zeros(4, "float32"), 1e-6, out)
    assert call(rust, "rmsnorm", x, np.zeros(4, "float32"), 1e-6, memory[12:].reshape(3, 4)) is None
