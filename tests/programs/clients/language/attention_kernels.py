"""The attention kernels that `ferrite model` makes for CPUs compute what numpy computes, over pages and over the tokens of a step.

They run on TVM alone: no cache is needed.
"""

import functools
import pathlib
import sys

import numpy as np
import tvm

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path[:0] = [str(ROOT / "targets/model"), str(ROOT / "tests/programs/llm/cache")]

from attention import LOWEST, attend, causal, rotate  # noqa: E402
from language import attention as kernels  # noqa: E402

SIZES = {"float32": (2, 6, 24, 2e-5), "float16": (1, 3, 32, 4e-3)}
"""For each type of the elements: key heads, query heads, width, tolerance."""
PAGES, FACTOR, THETA, SCALE = 12, 0.3, 500.0, 0.5
NEW, CACHED = (3, 1, 20, 2), (21, 16, 5, 0)
"""Tokens of each sequence in a step, and before it: pages that are full, in part, and none."""
numbers = np.random.default_rng(3)


def drawn(dtype, *shape):
    return numbers.standard_normal(shape).astype(dtype)


def ends(lengths):
    return np.cumsum([0, *lengths], dtype=np.int32)


@functools.cache
def compiled(name, dtype):
    kv_heads, heads, width, _ = SIZES[dtype]
    more = [{}] if name == "ragged" else []
    function = getattr(kernels, name)(kv_heads, heads, width, dtype, *more)
    return tvm.compile(tvm.IRModule({"main": function.with_attr("global_symbol", "main")}), target="llvm")["main"]


def run(name, dtype, rows, *arguments):
    """Calls a kernel, whose results are behind the arrays among the arguments."""
    _, heads, width, _ = SIZES[dtype]
    results = [np.full((rows, heads, width), np.nan, dtype), np.full((rows, heads), np.nan, "float32")]
    arrays = [value for value in arguments if isinstance(value, np.ndarray)]
    tensors = [tvm.runtime.tensor(array) for array in arrays + results]
    compiled(name, dtype)(*tensors, *arguments[len(arrays) :])
    return [tensor.numpy() for tensor in tensors[-2:]]


def same(what, dtype, found, expected):
    for value, other in zip(found, expected):
        far = np.abs(value - other).max()
        assert far <= SIZES[dtype][-1] * max(1, np.abs(other).max()), (what, dtype, far)


class Table:
    """Sequences in pages, with their keys and values in rows."""

    def __init__(self, dtype):
        kv_heads, _, width, _ = SIZES[dtype]
        self.pages = drawn(dtype, PAGES, 2, kv_heads, kernels.TILE, width)
        counts = [-(-length // kernels.TILE) for length in CACHED]
        self.ends, self.numbers = ends(counts), numbers.permutation(PAGES)[: sum(counts)].astype(np.int32)
        self.last = np.array([(length - 1) % kernels.TILE + 1 if length else 0 for length in CACHED], np.int32)
        rows = [self.pages[self.numbers[first:last]].transpose(1, 0, 3, 2, 4).reshape(2, -1, kv_heads, width) for first, last in zip(self.ends, self.ends[1:])]
        self.rows = [values[:, :length] for values, length in zip(rows, CACHED)]

    def arguments(self, positions):
        return self.pages, self.ends, self.numbers, self.last, np.zeros(len(CACHED), np.int32), np.zeros(positions, np.int32)


def decode(dtype):
    table = Table(dtype)
    q = drawn(dtype, len(CACHED), *SIZES[dtype][1:3])
    found = run("decode", dtype, len(q), q, *table.arguments(len(q)), 0, 1.0, 1.0, FACTOR)
    parts = [attend(q[row : row + 1], *keys, np.ones((1, keys.shape[1]), bool), FACTOR) for row, keys in enumerate(table.rows)]
    assert found[1][-1].max() == LOWEST, "a sequence without tokens"
    same("decode", dtype, found, map(np.concatenate, zip(*parts)))


def prefill(dtype, masked):
    table = Table(dtype)
    lengths = [min(new, cached) for new, cached in zip(NEW, CACHED)] if masked else NEW
    q = drawn(dtype, sum(lengths), *SIZES[dtype][1:3])
    found = run("prefill", dtype, len(q), q, ends(lengths), *table.arguments(len(q)), int(masked), 0, 1.0, 1.0, FACTOR)
    parts, first = [], 0
    for new, keys in zip(lengths, table.rows):
        visible = causal(new, keys.shape[1]) if masked else np.ones((new, keys.shape[1]), bool)
        parts.append(attend(q[first : first + new], *keys, visible, FACTOR))
        first += new
    same("prefill", dtype, found, map(np.concatenate, zip(*parts)))


def ragged(dtype, rotates):
    kv_heads, heads, width, _ = SIZES[dtype]
    rows, at = sum(NEW), ends(NEW)
    q, k, v = drawn(dtype, rows, heads, width), drawn(dtype, rows, kv_heads, width), drawn(dtype, rows, kv_heads, width)
    offsets = np.array(CACHED, np.int32)
    positions = np.concatenate([offset + np.arange(new) for offset, new in zip(offsets, NEW)]).astype(np.int32)
    found = run("ragged", dtype, rows, q, at, k, v, at, positions, offsets, 1, int(rotates), SCALE, THETA, FACTOR)
    turned = (lambda x, own: rotate(x[own], positions[own], THETA, SCALE)) if rotates else lambda x, own: x[own]
    sequences = [slice(*at[number : number + 2]) for number in range(len(NEW))]
    parts = [attend(turned(q, own), turned(k, own), v[own], causal(new, new), FACTOR) for own, new in zip(sequences, NEW)]
    same("ragged", dtype, found, map(np.concatenate, zip(*parts)))


for element in SIZES:
    decode(element)
    for flag in (False, True):
        prefill(element, flag)
        ragged(element, flag)
    print(element, "is as in numpy")
