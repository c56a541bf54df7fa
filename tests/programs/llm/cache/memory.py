"""Failing allocations, and what caches leave behind: run under LD_PRELOAD of counted_malloc.c, with `library` loaded."""

import ctypes
import gc

import tvm_ffi

from kernels import MLA
from operations import CONFIGS, Operations
from pair import Pair, method, shape, state

MOST = 2000


class Heap:
    """The malloc of counted_malloc.c."""

    def __init__(self):
        library = ctypes.CDLL(None)
        self.fail, self.allocations, self.live, self.bytes = (
            getattr(library, "llm_" + name) for name in ("fail", "allocations", "live", "bytes")
        )
        for function in (self.allocations, self.live, self.bytes):
            function.restype = ctypes.c_long
        self.fail.argtypes = [ctypes.c_long]
        assert library.llm_watch(), "the library is not loaded"


def prepared(kind):
    """A pair of caches with forks and, where it can have one, a tree."""
    pair = Pair(CONFIGS[kind])
    for name, length in enumerate((9, 4, 17)):
        pair.add(name)
        if pair.config.sliding and name == 1:
            pair.window(name, 12, 5)
        pair.step([name], [length])
    pair.fork(2, 3, 10)
    pair.step([3, 2], [1, 1])
    if has_trees(pair):
        pair.step([1], [5], [-1, 0, 0, 2, 2])
    return pair


def has_trees(pair):
    return set(pair.config.kinds) == {0} and not pair.config.windows and not pair.config.inline


def operations(kind):
    """Names of methods of `Pair`, and arguments."""
    trees = has_trees(Pair(CONFIGS[kind]))
    return [
        ("add", 50), ("remove", 2), ("fork", 2, 51, 13), ("fork", 2, 51, 8), ("clear",), ("step", [0, 2, 3], [1, 1, 1]),
        ("step", [2, 0], [9, 3]), ("contents",), *([] if MLA in CONFIGS[kind].kinds or CONFIGS[kind].windows else [("popn", 3, 5)]),
        *([("commit", [1], [4]), ("step", [0, 2], [2, 3], [-1, -1, -1, 0, 0])] if trees else []),
        *([("window", 0, 20, 3)] if CONFIGS[kind].sliding else []),
    ]  # fmt: skip


def fail_each(heap, kind, name, *arguments):
    """Fails each allocation of an operation. Returns the number of errors."""
    errors = 0
    for number in range(1, MOST):
        pair = prepared(kind)
        before = pair.plain.sequences
        lengths = {key: len(value) for key, value in before.items()}
        heap.fail(number)
        try:
            getattr(pair, name)(*arguments)
            error = None
        except Exception as raised:  # noqa: BLE001
            error = raised
        failed = heap.fail(0)
        if error is not None:
            errors += 1
            assert failed, (kind, name, error)
            check_after(pair, name, arguments, lengths)
        pair.clear()
        pair.compare()
        if not failed:
            return errors
    raise AssertionError((kind, name, "does not end"))


def check_after(pair, name, arguments, lengths):
    """The cache is as before the operation. A step may have begun: its tokens are counted then, and all of them."""
    if name == "contents":
        return
    found = {key: method("get_sequence_length")(pair.cache, key) for key in lengths}
    if name == "step":
        grown = {key: value + dict(zip(arguments[0], arguments[1])).get(key, 0) for key, value in lengths.items()}
        assert found in (lengths, grown, windowed(pair, grown)), (arguments, found, lengths)
        return
    assert found == lengths, (name, arguments, found, lengths)
    pair.compare()
    getattr(pair, name)(*arguments)
    pair.compare()
    pair.contents()


def windowed(pair, lengths):
    windows = {key: value.window for key, value in pair.plain.sequences.items() if value.window}
    return {key: min(value, windows.get(key, value)) for key, value in lengths.items()}


def fail_constructors(heap, kind):
    """Fails each allocation of the constructor. Returns the number of errors."""
    for number in range(1, MOST):
        heap.fail(number)
        try:
            Pair(CONFIGS[kind])
            error = None
        except Exception as raised:  # noqa: BLE001
            error = raised
        failed = heap.fail(0)
        assert failed or error is None, error
        if not failed:
            return number - 1
    raise AssertionError("does not end")


def leaves_nothing(heap, kind, count):
    """Runs operations on caches. `clear` gives all pages back, and the last reference all memory."""
    def once(seed):
        pair = Pair(CONFIGS[kind], seed)
        work = Operations(pair, f"memory {seed}", like_upstream=False)
        done = 0
        while done < count:
            done += bool(work.operation())
        pair.clear()
        pair.compare()

    once(0)
    gc.collect()
    live, size = heap.live(), heap.bytes()
    for seed in range(3):
        once(seed)
        gc.collect()
    assert heap.live() <= live and heap.bytes() <= size, (kind, heap.live() - live, heap.bytes() - size)


def clear_leaves_nothing(heap, kind):
    """Fills and clears one cache again and again: its memory does not grow."""
    pair, sizes = Pair(CONFIGS[kind]), []
    for _ in range(6):
        for name in range(4):
            pair.add(name)
            pair.step([name], [13])
        pair.fork(0, 9, 6)
        pair.step([9, 1], [1, 1])
        pair.clear()
        gc.collect()
        sizes.append((heap.live(), heap.bytes()))
    assert sizes[-1] <= sizes[1], sizes


def allocations_of_steps(heap, batch, steps=40):
    """Number of allocations of the library in decode steps, with kernels that do nothing.

    The sequences have been as long before: their lists of pages grow, by doubling.
    """
    pair = Pair(CONFIGS["gqa"])
    idle = {name: tvm_ffi.convert(lambda *_: None) for name in ("split", "append", "decode", "prefill", "ragged", "merge")}
    cache, c = pair.kernels.create(**idle), pair.config
    for name in range(batch):
        state("add_sequence")(cache, name)
    names, ones = shape(range(batch)), shape([1] * batch)
    qkv = pair.drawn(batch, c.heads + 2 * c.key_heads, c.width)
    qkv, out = tvm_ffi.from_dlpack(qkv), tvm_ffi.from_dlpack(pair.drawn(batch, c.heads, c.value_width))
    begin, attend, end = state("begin_forward"), method("attention_with_fused_qkv"), state("end_forward")

    def step():
        begin(cache, names, ones)
        attend(cache, 0, 0.5, qkv, out)
        attend(cache, 1, 0.5, qkv, out)
        end(cache)

    for _ in range(steps):
        step()
    for name in range(batch):
        state("popn")(cache, name, steps)
    before = heap.allocations()
    for _ in range(steps):
        step()
    return heap.allocations() - before
