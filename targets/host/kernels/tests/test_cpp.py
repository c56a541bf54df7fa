"""The operators in C++, compared with numpy."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import reference
import tvm_ffi
from dlpack import array_of, tensor
from operators import COMMON, DECODE, Operator, call, cases, check, decode_inputs, normal

# ---- the operators that every language has, in each type of elements ------------------------------

# Relative error of one rounding to a type, with some for the sums before it.
PRECISION = {"float16": 2e-3, "bfloat16": 1e-2}


def in_type(operator: Operator, dtype: str) -> Operator:
    """Return an operator with inputs of a narrow type. What it writes with a type of its own keeps that."""

    def inputs(rng, *size):
        values = operator.inputs(rng, *size)
        narrow = [isinstance(value, np.ndarray) and value.dtype == "float32" for value in values]
        if operator.name == "topk_softmax":
            narrow[2] = False
        return [value.astype(dtype) if one else value for one, value in zip(narrow, values, strict=True)]

    precision = PRECISION[dtype]
    sizes = [size for size in operator.sizes if operator.name != "topk_softmax" or size[1] <= 64]
    return dataclasses.replace(
        operator, inputs=inputs, sizes=sizes, out=operator.out and dtype, rtol=precision, atol=max(operator.atol, 4 * precision)
    )


TYPED = [in_type(operator, dtype) for operator in COMMON for dtype in PRECISION]


@pytest.mark.parametrize("operator, size", cases([*COMMON, *TYPED]))
def test_common(cpp, operator, size):
    check(cpp, operator, size)


# ---- matrices ------------------------------------------------------------------------------------

# Some rows and many, more steps than a panel has, more columns than a block has, edges of tiles, and none.
MATRICES = [(64, 256, 192), (1, 300, 64), (1, 2, 1), (3, 18, 5), (17, 34, 33), (0, 4, 4), (4, 0, 4), (4, 4, 0), (130, 600, 257)]
MATRICES += [(3, 1100, 1029), (10, 300, 2100)]
TYPES = ["float32", "float16", "bfloat16"]


def scales(rng, count):
    return rng.uniform(0.5, 2, count).astype("float32")


def int8_inputs(rng, m, k, n):
    return [rng.integers(-128, 128, (m, k), "int8"), rng.integers(-128, 128, (n, k), "int8"), scales(rng, m), scales(rng, n)]


def fp8_inputs(rng, m, k, n):
    return [normal(rng, m, k, dtype="float8_e4m3fn"), normal(rng, n, k, dtype="float8_e4m3fn"), scales(rng, m), scales(rng, n)]


def scaled_product(a, b, a_scales, b_scales):
    return (a.astype("float64") @ b.astype("float64").T) * a_scales[:, None] * b_scales


def batched_inputs(dtype):
    return lambda rng, m, k, n: [normal(rng, 3, m, k, dtype=dtype), normal(rng, 3, k, n, dtype=dtype)]


def linear_inputs(dtype):
    return lambda rng, m, k, n: [normal(rng, m, k, dtype=dtype), normal(rng, n, k, dtype=dtype)]


def w4_inputs(groups, dtype):
    def inputs(rng, m, k, n):
        return [
            normal(rng, m, k, dtype=dtype),
            rng.integers(0, 256, (n, k // 2), "uint8"),
            scales(rng, n * groups).reshape(n, groups),
        ]

    return inputs


def unpack(packed, scales):
    """Return the weights of int4 codes: the lower half of a byte first, each the value plus 8."""
    codes = np.stack([packed & 15, packed >> 4], -1).astype("int64").reshape(len(packed), 2 * packed.shape[1]) - 8
    groups = scales.shape[1]
    return (codes.reshape(len(codes), groups, codes.shape[1] // groups) * scales[:, :, None]).reshape(codes.shape)


def w4_product(x, packed, scales):
    return x @ unpack(packed, scales).T


PRODUCTS = [
    Operator("gemm_int8", int8_inputs, [*MATRICES, (8, 4096, 32)], scaled_product),
    Operator("gemm_fp8", fp8_inputs, MATRICES, scaled_product, atol=1e-3),
    *(Operator("linear", linear_inputs(dtype), MATRICES, lambda x, w: x @ w.T, atol=2e-4) for dtype in TYPES),
    *(Operator("gemm_w4a16", w4_inputs(1, dtype), MATRICES, w4_product, rtol=1e-4, atol=2e-3) for dtype in TYPES),
    Operator("gemm_w4a16", w4_inputs(4, "float16"), [(64, 256, 192), (1, 8, 3)], w4_product, rtol=1e-4, atol=2e-3),
    Operator("batched_gemm", batched_inputs("float32"), [(64, 64, 64), *MATRICES], np.matmul, atol=2e-4),
    *(
        Operator("batched_gemm", batched_inputs(dtype), MATRICES, np.matmul, out=dtype, rtol=precision, atol=4 * precision)
        for dtype, precision in PRECISION.items()
    ),
]


@pytest.mark.parametrize("operator, size", cases(PRODUCTS))
def test_product(cpp, operator, size):
    check(cpp, operator, size)


# ---- casts ---------------------------------------------------------------------------------------

FORMATS = {"f16": "float16", "bf16": "bfloat16", "f8_e4m3fn": "float8_e4m3fn", "f8_e5m2": "float8_e5m2"}


def bits(values: np.ndarray) -> np.ndarray:
    return values.view(f"uint{8 * values.itemsize}")


def assert_same(actual: np.ndarray, expected: np.ndarray) -> None:
    """Compare bits, so that zeros have signs; of NaN only that it is one, as processors differ in its payload."""
    both_nan = np.isnan(actual.astype("float32")) & np.isnan(expected.astype("float32"))
    np.testing.assert_array_equal(np.where(both_nan, 0, bits(actual)), np.where(both_nan, 0, bits(expected)))


def all_values(dtype) -> np.ndarray:
    """Return all values of a type of 8 or 16 bits."""
    unsigned = f"uint{8 * np.dtype(dtype).itemsize}"
    return np.arange(2 ** (8 * np.dtype(dtype).itemsize), dtype="uint64").astype(unsigned).view(dtype).reshape(-1, 256)


def edges(dtype) -> np.ndarray:
    """Return the values of a type as float32, and those around the middle between neighbours, where rounding decides."""
    values = all_values(dtype).astype("float32").ravel()
    finite = np.sort(values[np.isfinite(values)])
    middle = (finite[1:].astype("float64") + finite[:-1]) / 2
    near = middle.astype("float32")
    limits = np.float32(
        [0, np.inf, np.nan, 3.4e38, 1e-45, 1e-38, 448, 463.99, 464, 464.01, 480, 57344, 61440, 65504, 65519.99, 65520]
    )
    parts = [finite, near, np.nextafter(near, np.float32(np.inf)), np.nextafter(near, np.float32(-np.inf)), limits, -limits]
    return np.concatenate(parts).astype("float32").reshape(1, -1)


def rounded(dtype):
    return lambda x: x.astype("float32").astype(dtype).astype("float64")


def in_format(dtype):
    return lambda rng, *shape: [normal(rng, *shape).astype(dtype)]


def random_floats() -> np.ndarray:
    """Return float32 of random bits: all exponents, infinities and NaN."""
    return np.random.default_rng(3).integers(0, 2**32, (16, 65536), "uint32").view("float32")


@pytest.mark.parametrize("short", FORMATS)
def test_cast_from_every_value(cpp, short):
    values = all_values(FORMATS[short])
    actual = array_of(cpp[f"cast_{short}_to_f32"](tensor(values), None), "float32")
    with np.errstate(invalid="ignore"):
        assert_same(actual, values.astype("float32"))


@pytest.mark.parametrize("short", FORMATS)
@pytest.mark.parametrize("values", [edges, random_floats], ids=["edges", "random"])
def test_cast_to_format(cpp, short, values):
    x = values(FORMATS[short]) if values is edges else values()
    actual = array_of(cpp[f"cast_f32_to_{short}"](tensor(x), None), FORMATS[short])
    with np.errstate(over="ignore", invalid="ignore"):
        assert_same(actual, x.astype(FORMATS[short]))


SHAPES = [(3, 17), (0, 5), (5, 0), (1, 1)]
CASTS = [
    *(
        Operator(
            f"cast_f32_to_{short}", lambda rng, *shape: [normal(rng, *shape)], SHAPES, rounded(dtype), out=dtype, rtol=0, atol=0
        )
        for short, dtype in FORMATS.items()
    ),
    *(Operator(f"cast_{short}_to_f32", in_format(dtype), SHAPES, lambda x: x, rtol=0, atol=0) for short, dtype in FORMATS.items()),
]


@pytest.mark.parametrize("operator, size", cases(CASTS))
def test_cast(cpp, operator, size):
    check(cpp, operator, size)


# ---- quantisation --------------------------------------------------------------------------------

# What has a scale: the axis to split into groups, and their number.
GROUPS = {"per_tensor": None, "per_token": 1, "per_group": 4}
CODES = {"int8": ("int8", 127), "fp8": ("float8_e4m3fn", 448)}
ROWS = [(4, 4096), (1, 4), (3, 20), (17, 12), (0, 8), (5, 0)]


def grouped(x: np.ndarray, kind: str) -> np.ndarray:
    """Return a view with a row for each scale."""
    if kind == "per_tensor":
        return x.reshape(1, x.size)
    rows, cols = x.shape
    return x.reshape(rows * GROUPS[kind], cols // GROUPS[kind])


def scale_shape(x: np.ndarray, kind: str) -> tuple[int, ...]:
    return {"per_tensor": (1,), "per_token": (len(x),), "per_group": (len(x), 4)}[kind]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("kind", GROUPS)
@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("shape", ROWS)
def test_quantize(cpp, code, kind, dtype, shape):
    storage, largest = CODES[code]
    x = (normal(np.random.default_rng(5), *shape) * 3).astype(dtype)
    codes, scales = np.zeros(shape, storage), np.full(scale_shape(x, kind), 7, "float32")
    assert call(cpp, f"quantize_{code}_{kind}", x, codes, scales) is None
    wide = grouped(x.astype("float64"), kind)
    most = np.abs(wide).max(-1, initial=0)
    np.testing.assert_allclose(scales.ravel(), most / largest, rtol=1e-6)
    scaled = np.divide(wide, scales.reshape(-1, 1), out=np.zeros_like(wide), where=most[:, None] > 0)
    check_codes(grouped(codes.astype("float64"), kind), scaled, code)
    back = array_of(call(cpp, f"dequantize_{code}_{kind}", codes, scales, None), "float32")
    np.testing.assert_allclose(grouped(back, kind), grouped(codes.astype("float64"), kind) * scales.reshape(-1, 1), rtol=1e-6)


def check_codes(codes: np.ndarray, scaled: np.ndarray, code: str) -> None:
    """Check that each code is a nearest one: the step between codes is 1, or 1/8 of the power of two."""
    step = 1.0 if code == "int8" else 2.0 ** np.maximum(np.floor(np.log2(np.maximum(np.abs(scaled), 1e-30))) - 3, -9)
    assert (np.abs(codes - scaled) <= step / 2 + 1e-4 * np.maximum(1, step)).all()


def quantize_inputs(code: str, kind: str):
    def inputs(rng, rows, cols):
        x = normal(rng, rows, cols)
        return [x, np.zeros(x.shape, CODES[code][0]), np.zeros(scale_shape(x, kind), "float32")]

    return inputs


def quantized(code: str, kind: str):
    """Return the function in float32, as the largest element decides about the rounding of all."""

    def function(x, _codes, scales):
        wide = grouped(x.astype("float32"), kind)
        most = np.abs(wide).max(-1, initial=0)
        scaled = wide * np.divide(np.float32(CODES[code][1]), most, out=np.zeros_like(most), where=most > 0)[:, None]
        codes = np.rint(scaled) if code == "int8" else scaled.astype("float8_e4m3fn").astype("float32")
        return codes.reshape(x.shape), (most / CODES[code][1]).reshape(scales.shape)

    return function


def dequantize_inputs(code: str, kind: str):
    def inputs(rng, rows, cols):
        codes = rng.integers(-100, 100, (rows, cols)).astype(CODES[code][0])
        shape = scale_shape(codes, kind)
        return [codes, scales(rng, int(np.prod(shape))).reshape(shape)]

    return inputs


def dequantized(kind: str):
    return lambda codes, scales: (grouped(codes.astype("float64"), kind) * scales.reshape(-1, 1)).reshape(codes.shape)


def int4_inputs(groups: int):
    return lambda rng, rows, half: [
        normal(rng, rows, 2 * half),
        np.zeros((rows, half), "uint8"),
        np.zeros((rows, groups), "float32"),
    ]


def pack(x, _packed, scales):
    """Return int4 codes, two a byte, and their scales."""
    groups = x.astype("float32").reshape(len(x), scales.shape[1], x.shape[1] // scales.shape[1])
    most = np.abs(groups).max(-1, initial=0)
    codes = np.rint(groups * (np.float32(7) / most)[..., None]).astype("int64").reshape(x.shape) + 8
    return codes[:, ::2] | codes[:, 1::2] << 4, most / 7


def packed_inputs(groups: int):
    return lambda rng, rows, half: [
        rng.integers(0, 256, (rows, half), "uint8"),
        scales(rng, rows * groups).reshape(rows, groups),
    ]


QUANTIZATION = [
    *(
        Operator(f"quantize_{code}_{kind}", quantize_inputs(code, kind), ROWS, quantized(code, kind), writes=(1, 2), out=None)
        for code in CODES
        for kind in GROUPS
    ),
    *(
        Operator(f"dequantize_{code}_{kind}", dequantize_inputs(code, kind), ROWS, dequantized(kind))
        for code in CODES
        for kind in GROUPS
    ),
    Operator("quantize_int4_per_group", int4_inputs(2), [(3, 6), (4, 2048), (1, 2), (0, 8)], pack, writes=(1, 2), out=None),
    Operator("quantize_int4_per_group", int4_inputs(1), [(3, 17), (1, 1)], pack, writes=(1, 2), out=None),
    Operator("dequantize_int4_per_group", packed_inputs(4), [(3, 8), (4, 2048), (0, 8), (5, 0)], unpack),
]


@pytest.mark.parametrize("operator, size", cases(QUANTIZATION))
def test_quantization(cpp, operator, size):
    check(cpp, operator, size)


@pytest.mark.parametrize("code", CODES)
def test_quantize_extremes(cpp, code):
    """Zeros, magnitudes near the smallest and the largest float, and a value that is the largest code."""
    x = np.float32([[0, 0, 0, 0], [1e-42, 0, 0, 0], [3e38, -3e38, 1e38, 0], [1, -1, 0.5, 0]])
    codes, scales = np.zeros(x.shape, CODES[code][0]), np.zeros(4, "float32")
    call(cpp, f"quantize_{code}_per_token", x, codes, scales)
    values = codes.astype("float64")
    largest = CODES[code][1]
    assert (values[:2] == 0).all()
    assert list(values[2:, 0]) == [largest, largest] and list(values[2:, 1]) == [-largest, -largest]
    assert (values[:, 3] == 0).all()


# ---- attention -----------------------------------------------------------------------------------


def split_inputs(inputs, value_size):
    """Return inputs of an operator, with outputs for a number of splits, the last of the sizes."""

    def with_outputs(rng, *size):
        values = inputs(rng, *size[:-1])
        shape = (*values[0].shape[:2], size[-1])
        return [*values, np.full((*shape, value_size(*size[:-1])), 7, "float32"), np.full(shape, 7, "float32")]

    return with_outputs


def split(attend, tables_at: int):
    """Return the function for splits of an attention: the results of parts of the tokens, and the logarithms of their sums."""

    def function(*inputs):
        *values, partial, log_sums = inputs
        lengths = values[tables_at + 1]
        query, keys, scale = values[0], values[1], values[tables_at + 2]
        for part in range(log_sums.shape[2]):
            for seq, length in enumerate(lengths):
                size = -(-length // log_sums.shape[2])
                tokens = np.arange(min(part * size, length), min((part + 1) * size, length))
                partial[seq, :, part], log_sums[seq, :, part] = attend(values, seq, tokens, query, keys, scale, partial.shape[-1])
        return partial, log_sums

    return function


def attend_tokens(query, keys, values, scale):
    """Attend from [heads, size] to [tokens, heads, size]: the result, and the logarithm of the sum of exp(score)."""
    if len(keys) == 0:
        return np.zeros((len(query), values.shape[-1])), np.full(len(query), -np.inf)
    scores = np.einsum("hd,thd->ht", query, keys) * scale
    return np.einsum("ht,thd->hd", reference.softmax(scores), values), np.logaddexp.reduce(scores, -1)


def rows_of(cache, tables, seq, tokens, heads):
    """Return the rows of some tokens of a sequence, for each head of the query."""
    rows = cache[tables[seq]].reshape(-1, *cache.shape[2:])[tokens]
    return rows.repeat(heads // cache.shape[2], 1)


def attend_paged(values, seq, tokens, query, keys, scale, _size):
    rows = [rows_of(cache, values[3], seq, tokens, query.shape[1]) for cache in (keys, values[2])]
    return attend_tokens(query[seq], *rows, scale)


def attend_latent(values, seq, tokens, query, cache, scale, size):
    rows = rows_of(cache[:, :, None], values[2], seq, tokens, query.shape[1])
    return attend_tokens(query[seq], rows, rows[..., :size], scale)


def combine_inputs(rng, seqs, heads, splits, size):
    log_sums = normal(rng, seqs, heads, splits) * 3
    log_sums[rng.uniform(size=log_sums.shape) < 0.3] = -np.inf
    return [normal(rng, seqs, heads, splits, size), log_sums]


def combine(partial, log_sums):
    most = np.where(np.isinf(log_sums), -1e30, log_sums).max(-1, keepdims=True, initial=-1e30)
    weights = np.exp(log_sums - most)
    total = weights.sum(-1)[..., None]
    return np.divide(
        (partial * weights[..., None]).sum(2), total, out=np.zeros(partial.shape[:2] + partial.shape[3:]), where=total > 0
    )


def mla_inputs(rng, seqs, heads, latent, block_size, max_blocks, dtype="float32"):
    blocks = max(1, seqs * max_blocks)
    tables = rng.permutation(blocks)[: seqs * max_blocks].astype("int32").reshape(seqs, max_blocks)
    lengths = rng.integers(0, block_size * max_blocks + 1, seqs, dtype="int32")
    query, cache = normal(rng, seqs, heads, latent, dtype=dtype), normal(rng, blocks, block_size, latent, dtype=dtype)
    return [query, cache, tables, lengths, latent**-0.5]


def mla(query, cache, tables, lengths, scale, value_size):
    """Attend with one key head, whose values are the first part of the keys."""
    keys = cache[:, :, None]
    return reference.paged_attention_decode(query, keys, keys, tables, lengths, scale)[..., :value_size]


# seqs, heads, latent, block_size, max_blocks, value_size: the first is DeepSeek's.
MLA = [
    (2, 16, 576, 64, 3, 512),
    (3, 128, 576, 16, 4, 512),
    (1, 1, 1, 1, 1, 1),
    (4, 3, 17, 3, 5, 11),
    (0, 4, 8, 4, 2, 8),
    (2, 4, 8, 4, 0, 4),
]
LATENT = [
    Operator("mla_decode", lambda rng, *size: [*mla_inputs(rng, *size[:-1]), size[-1]], MLA, mla),
    Operator(
        "mla_decode",
        lambda rng, *size: [*mla_inputs(rng, *size[:-1], dtype="bfloat16"), size[-1]],
        MLA,
        mla,
        out="bfloat16",
        rtol=1e-2,
        atol=1e-2,
    ),
]


SPLITS = (3, 1, 8, 64)
SPLIT = [
    Operator(
        "paged_attention_split_k",
        split_inputs(decode_inputs, lambda *size: size[3]),
        [(*size, splits) for size in DECODE for splits in SPLITS],
        split(attend_paged, 3),
        writes=(6, 7),
        out=None,
    ),
    Operator(
        "mla_decode_split_k",
        split_inputs(lambda rng, *size: mla_inputs(rng, *size[:-1]), lambda *size: size[-1]),
        [(*size, splits) for size in MLA for splits in (3, 17)],
        split(attend_latent, 2),
        writes=(5, 6),
        out=None,
    ),
    Operator(
        "attention_combine", combine_inputs, [(2, 3, 4, 5), (3, 32, 8, 128), (1, 1, 1, 1), (2, 2, 0, 4), (0, 4, 2, 8)], combine
    ),
]


@pytest.mark.parametrize("operator, size", cases([*LATENT, *SPLIT]))
def test_attention(cpp, operator, size):
    check(cpp, operator, size)


def split_and_combine(module, name: str, inputs: list, splits: int, size: int) -> np.ndarray:
    seqs, heads = inputs[0].shape[:2]
    partial, log_sums = np.full((seqs, heads, splits, size), 7, "float32"), np.full((seqs, heads, splits), 7, "float32")
    call(module, name, *inputs, partial, log_sums)
    return array_of(call(module, "attention_combine", partial, log_sums, None), "float32")


@pytest.mark.parametrize("splits", SPLITS)
def test_splits_combine_to_the_whole(cpp, splits):
    inputs = decode_inputs(np.random.default_rng(9), *DECODE[0])
    whole = array_of(call(cpp, "paged_attention_decode", *inputs, None), "float32")
    np.testing.assert_allclose(split_and_combine(cpp, "paged_attention_split_k", inputs, splits, 128), whole, rtol=1e-5, atol=1e-6)
    inputs = mla_inputs(np.random.default_rng(4), *MLA[0][:-1])
    whole = array_of(call(cpp, "mla_decode", *inputs, 512, None), "float32")
    np.testing.assert_allclose(split_and_combine(cpp, "mla_decode_split_k", inputs, splits, 512), whole, rtol=1e-5, atol=1e-6)


def test_large_scores_do_not_overflow(cpp):
    """Scores of some thousands: the largest one takes all the weight."""
    query, cache = np.full((1, 1, 8), 100, "float32"), np.zeros((1, 4, 1, 8), "float32")
    cache[0, :, 0] = np.arange(4, dtype="float32")[:, None]
    tables, lengths = np.zeros((1, 1), "int32"), np.full(1, 4, "int32")
    out = array_of(call(cpp, "paged_attention_decode", query, cache, cache, tables, lengths, 1.0, None), "float32")
    np.testing.assert_array_equal(out, np.full((1, 1, 8), 3, "float32"))


# ---- devices that a process lacks ----------------------------------------------------------------


def test_kinds_of_device_without_kernels(cpp):
    x = tensor(np.ones((2, 4), "float32"), device=(8, 0))
    with pytest.raises(ValueError, match="Mismatched x.device_type on argument #0(.|\n)*expected cpu, got metal"):
        cpp.sum_rows(x, tvm_ffi.from_dlpack(np.zeros(2, "float32")))


def test_library_without_device_modules(cpp):
    if tvm_ffi.get_global_func("ffi.Module.load_from_bytes.cuda", True) is not None:
        pytest.skip("this libtvm_ffi has CUDA: see targets/gpu for what happens without a driver")
    x, out = (tensor(np.ones(shape, "float32"), device=(2, 0)) for shape in ((2, 4), 2))
    with pytest.raises(RuntimeError, match="runs no kernels on the device: it has no function ffi.Module.load_from_bytes.cuda"):
        cpp.sum_rows(x, out)


# The table of all operators, for the tests of bad input.
OPERATORS = [*COMMON, *PRODUCTS, *CASTS, *QUANTIZATION, *LATENT, *SPLIT]
