"""Tests that kernels on CUDA find the arrays of a paged key-value cache, which are copied on a stream of their own, once for each step.

The kernels are functions in Python that read the positions of the new tokens. Where the driver is the stand-in of
tests/programs/device/stand_in, whose commands run when somebody waits for them, its calls are counted.
"""

import ctypes
import sys
from pathlib import Path

import ferrite_tvm_ffi  # noqa: F401  # first: tvm_ffi then runs on its library
import numpy
import tvm_ffi

sys.path.insert(0, str(Path(__file__).parents[2] / "llm/cache"))
from kernels import Config, Kernels  # noqa: E402

DRIVER = ctypes.CDLL("libcuda.so.1")
STEP = {b"cuMemcpyHtoDAsync_v2": 1, b"cuEventRecord": 2, b"cuStreamWaitEvent": 2}
"""Calls for each step: copies wait for the kernels of the step before, and the kernels of this one for the copy."""
CPU, CUDA = 1, 2
config, read = Config(), []


def builtin(name):
    return tvm_ffi.get_global_func("vm.builtin." + name)


def moved(tensor, kind):
    return builtin("to_device")(tensor, kind, 0)


def split(qkv, positions, *_):
    read.append(numpy.from_dlpack(moved(positions, CPU)).tolist())


def cache():
    kernels = Kernels(config)
    nothing = dict.fromkeys(("append", "ragged", "prefill", "decode", "merge"), lambda *_: None)
    arguments = kernels.arguments(split=split, **nothing)
    arguments[12] = on_device()
    return builtin("paged_attention_kv_cache_create")(*arguments)


def on_device(*shape):
    return moved(tvm_ffi.from_dlpack(numpy.zeros(shape, config.dtype)), CUDA)


def counted():
    return {name: DRIVER.stand_in_calls(name) for name in STEP} if hasattr(DRIVER, "stand_in_calls") else None


def step(cache, ids, lengths):
    """Runs a step of two layers, and returns the positions that each read."""
    rows = sum(lengths)
    fused = on_device(rows, config.heads + 2 * config.key_heads, config.width)
    out = on_device(rows, config.heads, config.value_width)
    read.clear()
    before = counted()
    builtin("kv_state_begin_forward")(cache, tvm_ffi.Shape(ids), tvm_ffi.Shape(lengths))
    for layer in range(2):
        builtin("attention_kv_cache_attention_with_fused_qkv")(cache, layer, 1.0, fused, out)
    if before is not None:
        found = {name: count - before[name] for name, count in counted().items()}
        assert found == STEP, found
    return list(read)


paged = cache()
for sequence in (0, 1):
    builtin("kv_state_add_sequence")(paged, sequence)
assert step(paged, [0], [5]) == [[0, 1, 2, 3, 4]] * 2
assert step(paged, [0, 1], [1, 3]) == [[5, 0, 1, 2]] * 2
for position in range(6, 12):
    assert step(paged, [1, 0], [1, 1]) == [[position - 3, position]] * 2
print("the calls of the driver were", "counted" if counted() else "not counted")
