"""Decode steps of a language model: step.py STEPS BATCH all|cache [ours|tvm]

A step is begin_forward, the model's decode (or, with `cache`, only the arrays for the device) and end_forward. Tokens are embedded
once, before. Prints the time of a step, and by how many KiB the cache has enlarged the address space.
"""

import ctypes
import importlib.util
import pathlib
import statistics
import sys
import time

count, batch, part, library = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], (sys.argv[4:] or ["ours"])[0]
if library == "ours":
    import ferrite_tvm_ffi  # noqa: F401  # first: tvm_ffi then runs on its library
import tvm_ffi  # noqa: E402, F401

if library == "tvm":
    for name in ("libtvm_runtime.so", "libtvm_runtime_extra.so"):
        folder = pathlib.Path(importlib.util.find_spec("tvm").origin).parent / "lib"
        ctypes.CDLL(str(folder / name), mode=ctypes.RTLD_GLOBAL)
sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "programs" / "llm"))
import scenario  # noqa: E402
from scenario import builtin, shape  # noqa: E402

CONTEXT = 64


def address_space():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * 4


model = scenario.Model("llama", "bytecode")
before = address_space()
cache = model.create([16, 8192, 128, 16, 0])
enlarged = address_space() - before
begin, end, popn = (builtin("kv_state_" + name) for name in ("begin_forward", "end_forward", "popn"))
positions = builtin("attention_kv_cache_get_query_positions")
for seq in range(batch):
    builtin("kv_state_add_sequence")(cache, seq)
    begin(cache, shape([seq]), shape([CONTEXT]))
    model.prefill(model.embedded(list(range(CONTEXT)), (1, CONTEXT)), cache, model.params)
    end(cache)
x, seqs, ones = model.embedded([1] * batch, (batch, 1)), shape(range(batch)), shape([1] * batch)
decode, params = model.decode if batch == 1 else model.batch_decode, model.params
times = []
for _ in range(count):
    start = time.thread_time_ns()
    begin(cache, seqs, ones)
    if part == "all":
        decode(x, cache, params)
    else:
        positions(cache)
    end(cache)
    times.append(time.thread_time_ns() - start)
    for seq in range(batch):
        popn(cache, seq, 1)  # keeps the length of the context
print(f"{statistics.median(times) / 1000:.1f} us, {enlarged} KiB")
