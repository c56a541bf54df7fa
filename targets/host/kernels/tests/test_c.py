"""The operators in C, compared with numpy."""

import ml_dtypes  # noqa: F401 - gives numpy the type bfloat16
import numpy as np
import pytest
import reference
from dlpack import array_of
from operators import (
    COMMON,
    IN_C,
    ROTARY,
    ROWS,
    TOPK,
    Operator,
    call,
    cases,
    check,
    distinct,
    layernorm_inputs,
    normal,
    rmsnorm_inputs,
    rotary_inputs,
)

SHAPES = [(4096,), (3, 17), (2, 3, 5, 7), (1,), (), (0,), (3, 0, 2), (70001,)]
WITH_COLUMNS = [size for size in ROWS if size[1]]
SORTED = [(3, 1000), (2, 4096), *ROWS]
VOCAB = [(2, 32000), *WITH_COLUMNS]


def matrix(rng, rows, cols):
    return [normal(rng, rows, cols)]


# ---- norms, activations, rotary embeddings, softmax ----------------------------------------------


def with_residual(inputs):
    return lambda rng, rows, cols: [normal(rng, rows, cols), *inputs(rng, rows, cols)]


def groupnorm_inputs(rng, batch, channels, length, groups):
    return [normal(rng, batch, channels, length) + 1, groups, normal(rng, channels), normal(rng, channels), 1e-5]


def activation(name):
    return Operator(name, lambda rng, *shape: [np.asarray(normal(rng, *shape) * 4)], SHAPES, getattr(reference, name), over=0)


def gated(name):
    inputs = lambda rng, rows, cols: [normal(rng, rows, 2 * cols) * 4]  # noqa: E731
    return Operator(f"{name}_and_mul", inputs, ROWS, reference.gated(getattr(reference, name)))


MAPS = [
    Operator(
        "layernorm2d_residual", with_residual(layernorm_inputs), ROWS, reference.layernorm2d_residual, writes=(1,), over=0, atol=2e-5
    ),
    Operator("rmsnorm_residual", with_residual(rmsnorm_inputs), ROWS, reference.rmsnorm_residual, writes=(1,), over=0),
    Operator("l2norm", lambda rng, rows, cols: [normal(rng, rows, cols), 1e-12], ROWS, reference.l2norm, over=0),
    Operator(
        "groupnorm",
        groupnorm_inputs,
        [(2, 320, 256, 32), (3, 6, 17, 2), (1, 1, 1, 1), (0, 4, 4, 2), (2, 4, 0, 2)],
        reference.groupnorm,
        over=0,
    ),
    *map(activation, ("relu", "sigmoid", "silu", "tanh", "gelu", "gelu_tanh")),
    *map(gated, ("relu", "sigmoid", "gelu", "gelu_tanh")),
    Operator(
        "rotary_embedding_interleaved", rotary_inputs, ROTARY, reference.rotary_embedding_interleaved, writes=(1, 2), out=None
    ),
    Operator(
        "rotary_cache",
        lambda rng, positions, dim: [10000.0, np.zeros((positions, dim), "float32")],
        [(4096, 128), (3, 6), (1, 2), (0, 4), (4, 0)],
        reference.rotary_cache,
        writes=(1,),
        out=None,
    ),
    Operator("softmax", matrix, [(2, 32000), *ROWS], reference.softmax, over=0, atol=1e-7),
    Operator("log_softmax", matrix, [(2, 32000), *ROWS], reference.log_softmax, over=0),
    Operator(
        "causal_softmax",
        lambda rng, heads, queries, keys: [normal(rng, heads, queries, keys), 0.125],
        [(8, 128, 256), (2, 3, 3), (1, 1, 1), (2, 0, 4), (0, 3, 4), (3, 5, 17)],
        reference.causal_softmax,
        over=0,
        atol=1e-7,
    ),
]

# ---- reductions and sorting ----------------------------------------------------------------------


def reduction(name, sizes=ROWS, **options):
    return Operator(name, matrix, sizes, getattr(reference, name), **options)


def ordered(name, descending, **options):
    return Operator(name, lambda rng, *size: [np.round(normal(rng, *size), 1), descending], SORTED, getattr(reference, name), **options)


def topk_inputs(rng, rows, cols, k):
    return [distinct(rng, rows, cols), np.zeros((rows, k), "float32"), np.zeros((rows, k), "int32")]


ORDERS = [
    *map(reduction, ("mean_rows", "var_rows", "max_rows", "min_rows", "logsumexp_rows")),
    Operator("prod_rows", lambda rng, *size: [1 + normal(rng, *size) / 64], ROWS, reference.prod_rows),
    reduction("norm_rows", atol=1e-4),
    reduction("cumsum_rows", over=0, atol=1e-4),
    reduction("argmax_rows", WITH_COLUMNS, out="int32"),
    reduction("argmin_rows", WITH_COLUMNS, out="int32"),
    ordered("sort_rows", False),
    ordered("sort_rows", True),
    ordered("argsort_rows", False, out="int32"),
    ordered("argsort_rows", True, out="int32"),
    Operator("topk", topk_inputs, [(2, 32000, 50), *TOPK], reference.topk, writes=(1, 2), out=None),
]

# ---- sampling ------------------------------------------------------------------------------------


def probabilities(rng, rows, cols):
    return reference.softmax(normal(rng, rows, cols).astype("float64") * 2).astype("float32")


def numbers(rng, low, high, rows):
    return rng.uniform(low, high, rows).astype("float32")


def share_inputs(rng, rows, cols):
    return [probabilities(rng, rows, cols), numbers(rng, 0.1, 0.95, rows)]


def sampling_inputs(rng, rows, cols):
    k = rng.integers(0, cols + 1, rows, dtype="int32")
    shares = numbers(rng, 0.3, 0.9, rows)
    return [normal(rng, rows, cols), numbers(rng, 0.5, 2, rows), k, shares, numbers(rng, 0, 1, rows), np.zeros((rows, cols), "float32")]


SAMPLING = [
    Operator("sample_greedy", matrix, VOCAB, reference.argmax_rows, out="int32"),
    Operator(
        "temperature_softmax",
        lambda rng, rows, cols: [normal(rng, rows, cols), numbers(rng, 0.2, 2, rows)],
        VOCAB,
        reference.temperature_softmax,
        over=0,
        atol=1e-7,
    ),
    Operator(
        "top_k_probabilities",
        lambda rng, rows, cols: [probabilities(rng, rows, cols), min(cols, 7)],
        VOCAB,
        reference.top_k_probabilities,
        over=0,
        atol=1e-7,
    ),
    Operator("top_p_probabilities", share_inputs, VOCAB, reference.top_p_probabilities, over=0, atol=1e-7),
    Operator("min_p_probabilities", share_inputs, VOCAB, reference.min_p_probabilities, over=0, atol=1e-7),
    Operator(
        "sample_probabilities",
        lambda rng, rows, cols: [probabilities(rng, rows, cols), numbers(rng, 0, 1, rows)],
        VOCAB,
        reference.sample_probabilities,
        out="int32",
    ),
    Operator("sample_top_k_top_p", sampling_inputs, VOCAB, reference.sample_top_k_top_p, writes=(5,), out="int32", atol=1e-7),
]

# ---- paged caches --------------------------------------------------------------------------------

CACHES = [(20, 8, 16, 8, 128), (3, 2, 4, 2, 17), (1, 1, 1, 1, 1), (0, 2, 2, 2, 2), (0, 0, 4, 2, 8)]


def elements(rng, dtype, *shape):
    return rng.integers(-100, 100, shape).astype(dtype)


def paged(name, inputs, dtype, **options):
    return Operator(name, lambda rng, *size: inputs(rng, dtype, *size), CACHES, getattr(reference, name), **options)


def store_inputs(rng, dtype, tokens, blocks, block_size, heads, head_size):
    slots = rng.permutation(blocks * block_size)[:tokens].astype("int64")
    slots[1::3] = -1
    new, cache = (tokens, heads, head_size), (blocks, block_size, heads, head_size)
    return [elements(rng, dtype, *new), elements(rng, dtype, *new), elements(rng, dtype, *cache), elements(rng, dtype, *cache), slots]


def gather_inputs(rng, dtype, tokens, blocks, block_size, heads, head_size):
    slots = rng.integers(0, max(1, blocks * block_size), tokens, dtype="int64")
    return [elements(rng, dtype, blocks, block_size, heads, head_size), slots]


def copy_inputs(rng, dtype, count, *cache):
    pairs = rng.integers(0, max(1, cache[0]), (count, 2), dtype="int64")
    return [elements(rng, dtype, *cache), elements(rng, dtype, *cache), pairs]


def swap_inputs(rng, dtype, count, blocks, *rest):
    sources, targets = rng.integers(0, max(1, blocks), count, dtype="int64"), rng.integers(0, blocks + 1, count, dtype="int64")
    return [elements(rng, dtype, blocks, *rest), elements(rng, dtype, blocks + 1, *rest), sources, targets]


PAGED = [
    operator
    for dtype in ("float32", "bfloat16", "int8")
    for operator in (
        paged("reshape_and_cache", store_inputs, dtype, writes=(2, 3), out=None),
        paged("gather_cache", gather_inputs, dtype, out=dtype),
        paged("copy_blocks", copy_inputs, dtype, writes=(0, 1), out=None),
        paged("swap_blocks", swap_inputs, dtype, writes=(1,), out=None),
    )
]

OPERATORS = [*COMMON, *IN_C, *MAPS, *ORDERS, *SAMPLING, *PAGED]


@pytest.mark.parametrize("operator, size", cases(OPERATORS))
def test_operator(c, operator, size):
    check(c, operator, size)


# ---- what random numbers do not show -------------------------------------------------------------


def test_functions_are_exact_to_the_last_places(c):
    x = np.linspace(-86, 86, 200_001, dtype="float32")
    np.testing.assert_allclose(result(c, "sigmoid", x), reference.sigmoid(x.astype("float64")), rtol=5e-7)
    x = np.linspace(-4, 4, 200_001, dtype="float32")
    np.testing.assert_allclose(result(c, "tanh", x), np.tanh(x.astype("float64")), rtol=1e-6)
    np.testing.assert_allclose(result(c, "gelu", x), reference.gelu(x.astype("float64")), rtol=2e-6)


@pytest.mark.filterwarnings("ignore:(overflow|invalid value) encountered")
@pytest.mark.parametrize("name", ["relu", "sigmoid", "silu", "tanh", "gelu_tanh"])
def test_extreme_numbers(c, name):
    """Of each sign; minus infinity has no product with 0."""
    x = np.array([0.0, -0.0, 1e-30, -1e-30, 88, -88, 1e30, -1e30, np.inf, np.nan], "float32")
    np.testing.assert_allclose(result(c, name, x), getattr(reference, name)(x.astype("float64")), rtol=1e-5, atol=1e-36)


def test_softmax_of_masked_scores(c):
    x = np.array([[0, -np.inf, 1, -np.inf], [-np.inf, 1e30, -1e30, 1e30], [-200, -201, -np.inf, -199]], "float32")
    expected = reference.softmax(x.astype("float64"))
    for name in ("softmax", "temperature_softmax"):
        arguments = [np.ones(3, "float32")] if name == "temperature_softmax" else []
        np.testing.assert_allclose(result(c, name, x, *arguments), expected, rtol=1e-5, atol=1e-12)
    np.testing.assert_allclose(result(c, "logsumexp_rows", np.full((1, 3), -np.inf, "float32")), [-np.inf])


def test_reductions_skip_what_is_not_a_number(c):
    x = np.array([[np.nan, 1, 3, 2], [-np.inf, np.nan, -np.inf, np.nan], [np.nan] * 4], "float32")
    np.testing.assert_array_equal(result(c, "max_rows", x), [3, -np.inf, -np.inf])
    np.testing.assert_array_equal(result(c, "argmax_rows", x, dtype="int32"), [2, 0, 0])
    np.testing.assert_array_equal(result(c, "argmin_rows", x, dtype="int32"), [1, 0, 0])


def test_first_of_equal_maxima(c):
    for cols in (1, 63, 64, 65, 200):
        for place in {0, cols // 2, cols - 1}:
            x = np.zeros((1, cols), "float32")
            x[0, place:] = 1
            assert result(c, "argmax_rows", x, dtype="int32") == [place]


def test_order_of_what_is_not_a_number_and_of_zeros(c):
    x = np.array([[np.nan, 1, -np.inf, -0.0, np.inf, 0.0, -np.nan]], "float32")
    np.testing.assert_array_equal(result(c, "argsort_rows", x, False, dtype="int32"), [[2, 3, 5, 1, 4, 0, 6]])
    np.testing.assert_array_equal(result(c, "argsort_rows", x, True, dtype="int32"), [[4, 1, 3, 5, 2, 0, 6]])
    values, indices = np.zeros((1, 3), "float32"), np.zeros((1, 3), "int32")
    call(c, "topk", x, values, indices)
    np.testing.assert_array_equal(indices, [[4, 1, 3]])


def test_impossible_tokens_are_never_drawn(c):
    probs = np.array([[0, 0, 0.25, 0, 0.75, 0]] * 5, "float32")
    uniform = np.array([0, 0.2499, 0.25, 0.9999999, 1], "float32")
    np.testing.assert_array_equal(result(c, "sample_probabilities", probs, uniform, dtype="int32"), [2, 2, 4, 4, 4])


def test_equal_probabilities_are_kept_together(c):
    probs = np.array([[0.25, 0.25, 0.25, 0.15, 0.1]], "float32")
    third = [[1 / 3, 1 / 3, 1 / 3, 0, 0]]
    np.testing.assert_allclose(result(c, "top_k_probabilities", probs, 2), third, rtol=1e-6)
    np.testing.assert_allclose(result(c, "top_p_probabilities", probs, np.array([0.5], "float32")), third, rtol=1e-6)


def result(module, name, *arguments, dtype="float32"):
    """Call an operator that allocates its output."""
    return array_of(call(module, name, *arguments, None), dtype)
