"""The kernels by which WebLLM chooses tokens compute what numpy computes, compiled for this machine; on TVM alone."""

import pathlib
import sys

import numpy as np
import tvm

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "targets/model"))

from language import sampling  # noqa: E402

TARGET = tvm.target.Target("llvm")
ROWS = 3
numbers = np.random.default_rng(5)


def compiled(vocab):
    kernels = {"argsort": sampling.sorted_probabilities(vocab, TARGET), "sample": sampling.top_p_sample(vocab, TARGET)}
    named = {name: kernel.with_attr("global_symbol", name) for name, kernel in kernels.items()}
    return tvm.compile(tvm.IRModule(named | sampling.changes(vocab, TARGET)), target=TARGET)


def run(function, *arrays):
    """Calls a kernel, and returns the arrays after it."""
    tensors = [tvm.runtime.tensor(array) for array in arrays]
    function(*tensors)
    return [tensor.numpy() for tensor in tensors]


def integers(*values):
    return np.array(values, np.int32)


def check_choice(library, vocab):
    probabilities = numbers.random((ROWS, vocab)).astype(np.float32).round(2)
    probabilities[-1] = 0
    probabilities[-1, vocab // 2] = 1
    probabilities /= probabilities.sum(-1, keepdims=True)
    order = np.argsort(-probabilities, axis=1, kind="stable").astype(np.int32)
    sorted_ones = np.take_along_axis(probabilities, order, 1)
    found = run(library["argsort"], probabilities, np.zeros_like(probabilities), np.zeros_like(order))
    np.testing.assert_array_equal(found[1], sorted_ones)
    np.testing.assert_array_equal(found[2], order)

    rows, uniform = np.repeat(np.arange(ROWS, dtype=np.int32), 50), np.tile(np.linspace(0, 0.999, 50, dtype=np.float32), ROWS)
    for top_p in (1e-5, 0.3, 1.0):
        limits = np.full(ROWS, top_p, np.float32)
        tokens = run(library["sample"], sorted_ones, order, uniform, rows, limits, np.zeros_like(rows))[-1]
        sums = np.cumsum(sorted_ones, axis=1)
        kept = [sums[row, np.argmax(sums[row] >= top_p)] if sums[row, -1] >= top_p else sums[row, -1] for row in rows]
        expected = [order[row, np.argmax(sums[row] > total * at)] for row, total, at in zip(rows, kept, uniform)]
        np.testing.assert_array_equal(tokens, expected)


def check_changes(library, vocab):
    logits = numbers.standard_normal((ROWS, vocab)).astype(np.float32)
    rows, tokens, biases = integers(0, 2, 2), integers(1, 0, vocab - 1), np.array([3, -2, 0.5], np.float32)
    expected = logits.copy()
    expected[rows, tokens] += biases
    np.testing.assert_array_equal(run(library["apply_logit_bias_inplace"], logits, rows, tokens, biases)[0], expected)

    sequences, at, uses = integers(2, 0), integers(0, 1, 1), integers(1, 4, 2)
    penalties = np.array([[0.5, 0.25, 1.5], [-1, 0, 0.5]], np.float32)
    presence, frequency, repetition = penalties[at].T
    expected = logits.copy()
    lower = expected[sequences[at], tokens] - presence - uses * frequency
    expected[sequences[at], tokens] = np.where(lower < 0, lower * repetition, lower / repetition)
    found = run(library["apply_penalty_inplace"], logits, sequences, at, tokens, uses, penalties)[0]
    np.testing.assert_allclose(found, expected, rtol=1e-6)

    allowed = numbers.random((ROWS, vocab)) < 0.5
    bits = np.packbits(np.pad(allowed, ((0, 0), (0, -vocab % 32))), axis=1, bitorder="little").view(np.int32)
    expected = logits.copy()
    expected[sequences] = np.where(allowed[sequences], logits[sequences], np.finfo(np.float32).min)
    np.testing.assert_array_equal(run(library["apply_bitmask_inplace"], logits, sequences, bits)[0], expected)


for count in (32, 77, 1000):
    built = compiled(count)
    check_choice(built, count)
    check_changes(built, count)
print("tokens are chosen as in numpy")
