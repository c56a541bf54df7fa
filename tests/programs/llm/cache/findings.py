"""Operations that TVM's cache computes wrongly or does not survive: findings.py NAME

Prints `right` if all results are those of a cache without pages, else the first difference or the error.
"""

import sys

import numpy as np
import tvm_ffi

from kernels import MHA, SLIDING, Config
from pair import Difference, Pair, method, shape, state


def with_sequences(config, *lengths):
    """A pair of caches with the sequences 0, 1, ... of these lengths."""
    pair = Pair(config)
    for name, length in enumerate(lengths):
        pair.add(name)
        if length:
            pair.step([name], [length])
    return pair


def refused(call, *arguments):
    """Returns whether the call raises an error other than one of the C++ library."""
    try:
        call(*arguments)
    except Exception as error:  # noqa: BLE001
        return "unordered_map" not in str(error)
    return False


def commit_with_a_chain_last():
    """Commits two trees, of which the last is a chain: upstream moves no keys of the first."""
    pair = with_sequences(Config(), 5, 6)
    pair.step([0, 1], [4, 2], [-1, 0, 0, 2, -1, 0])
    pair.commit([0, 1], [3, 1])
    pair.contents()
    pair.step([0, 1], [1, 1])


def commit_in_another_order():
    """Commits the trees of a step in another order: upstream pops by the order of the step."""
    pair = with_sequences(Config(), 5, 6)
    pair.step([0, 1], [4, 2], [-1, 0, 0, 2, -1, -1])
    pair.commit([1, 0], [1, 3])
    pair.compare()
    pair.step([0, 1], [1, 1])


def commit_of_one_tree():
    """Commits one of two trees, then the other."""
    pair = with_sequences(Config(), 5, 6)
    pair.step([0, 1], [4, 3], [-1, 0, 0, 2, -1, 0, 0])
    pair.commit([1], [2])
    pair.compare()
    pair.commit([0], [3])
    pair.compare()
    pair.step([0, 1], [1, 1])


def commit_after_another_step():
    """Commits a tree after a step of another sequence: upstream moves that one's keys."""
    pair = with_sequences(Config(), 5, 6)
    pair.step([0], [4], [-1, 0, 0, 2])
    pair.step([1], [4])
    pair.commit([0], [3])
    pair.compare()
    pair.step([0, 1], [1, 1])


def window_of_a_fork_of_a_fork():
    """Lets the window of a sequence slide whose prefix is in two parts: upstream takes the sink of the last one for all."""
    pair = with_sequences(Config(windows=True), 8)
    pair.fork(0, 1, 4)
    pair.step([1], [6])
    pair.fork(1, 2, 8)
    pair.window(2, 12, 9)
    for length in (7, 1, 1, 3):
        pair.step([2], [length])


def pop_of_a_slid_window():
    """Pops tokens of a sequence whose window has slid: upstream frees pages that are in use."""
    pair = with_sequences(Config(windows=True), 0)
    pair.window(0, 10, 0)
    pair.step([0], [15])
    pair.popn(0, 2)
    pair.step([0], [1])
    pair.contents()


def fork_of_a_slid_window():
    """Forks a sequence within its sink after its window has slid: upstream keeps offsets from before the fork."""
    pair = with_sequences(Config(windows=True), 0)
    pair.window(0, 14, 8)
    pair.step([0], [20])
    pair.fork(0, 1, 6)
    pair.step([0, 1], [1, 1])


def layer_window_over_a_shared_prefix():
    """Forks a sequence with windows of layers: upstream takes a window of each part, not of the whole."""
    pair = with_sequences(Config(kinds=(SLIDING, MHA), layer_window=6), 12)
    pair.fork(0, 1, 8)
    pair.step([1], [6])
    pair.step([0, 1], [1, 1])


def pop_beside_a_negative_name():
    """Pops sequence 3 across a fork beside a sequence -4: upstream forks to that name for a moment."""
    pair = with_sequences(Config(), 0, 0, 0, 9)
    pair.add(-4)
    pair.fork(3, 5, 8)
    pair.popn(3, 4)
    pair.compare()


def step_that_does_not_fit():
    """Begins a step that needs more pages than there are: upstream counts its tokens before it refuses."""
    pair = with_sequences(Config(tokens=16, chunk=64), 9)
    if not refused(state("begin_forward"), pair.cache, shape([0]), shape([60])):
        raise Difference("a step that does not fit was not refused")
    pair.compare()
    pair.step([0], [1])


def step_with_an_unknown_sequence():
    """Begins a step of a sequence and an unknown one: upstream counts the tokens of the first before it refuses."""
    pair = with_sequences(Config(), 9)
    if not refused(state("begin_forward"), pair.cache, shape([0, 77]), shape([1, 1])):
        raise Difference("a step of an unknown sequence was not refused")
    pair.compare()
    pair.step([0], [1])


def contents_of_an_unknown_sequence():
    """Reads the keys of an unknown sequence: upstream raises the error of a C++ map."""
    pair = with_sequences(Config(), 9)
    given = [tvm_ffi.from_dlpack(np.zeros((2, 1, 2, 8), "float32")) for _ in "kv"]
    if not refused(method("debug_get_kv"), pair.cache, 77, 0, 1, *given):
        raise Difference("the error is of a C++ map")


def attention_before_a_step():
    """Calls attention before the first step: upstream reads through a null pointer."""
    pair = Pair(Config())
    qkv, out = (tvm_ffi.from_dlpack(np.zeros((1, heads, 8), "float32")) for heads in (8, 4))
    if not refused(method("attention_with_fused_qkv"), pair.cache, 0, 1.0, qkv, out):
        raise Difference("attention without a step was not refused")


FINDINGS = [value for value in list(globals().values()) if callable(value) and value.__module__ == __name__][2:]


def outcome(finding):
    try:
        finding()
    except Difference as error:
        return str(error)
    except Exception as error:  # noqa: BLE001
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"
    return "right"


if __name__ == "__main__":
    print(outcome({finding.__name__: finding for finding in FINDINGS}[sys.argv[1]]))
