"""Runs random operations on paged key-value caches of every kind with kernels in Python, which check what they are given.

Results are compared with a model in numpy that has no pages, and with TVM's runtime, in a process of its own, where that is right.
LLM_OPERATIONS is the number of operations for each kind of cache, LLM_SEED the first seed.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import ferrite_tvm_ffi  # noqa: F401  # first: tvm_ffi then runs on its library
import numpy as np

CACHE = pathlib.Path(__file__).parents[2] / "llm" / "cache"
sys.path.insert(0, str(CACHE))
import operations  # noqa: E402
import pair  # noqa: E402

COUNT, SEED = int(os.environ.get("LLM_OPERATIONS", "150")), int(os.environ.get("LLM_SEED", "1"))


def on_tvm(kind, file):
    """Runs the operations on TVM's runtime and writes the results to the file."""
    arguments = [kind, str(COUNT), "--seed", str(SEED), "--like-upstream", "--record", file]
    subprocess.run([sys.executable, CACHE / "on_tvm.py", "operations.py", *arguments], check=True, stdout=subprocess.DEVNULL, timeout=3600)
    return np.load(file)


def differential(kind, file):
    """Compares each result with TVM's: numbers are equal, outputs as near as those of the model."""
    found, expected = [], on_tvm(kind, file)
    operations.run(kind, COUNT, SEED, like_upstream=True, record=found)
    assert [name for name, _ in found] == expected["names"].tolist(), kind
    for index, (name, value) in enumerate(found):
        other = expected[str(index)]
        if value.dtype.kind == "f":
            np.testing.assert_allclose(value, other, atol=pair.TOLERANCE, rtol=0, err_msg=f"{kind} {name}")
        else:
            assert (value == other).all(), (kind, name, value, other)
    return len(found)


def main():
    for kind in operations.CONFIGS:
        done, calls = operations.run(kind, COUNT, SEED)
        print(f"{kind}: {sum(done.values())} operations {done}, {sum(calls.values())} calls of kernels", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for kind in operations.CONFIGS:
            print(f"{kind}: {differential(kind, f'{folder}/{kind}.npz')} results as those of TVM's runtime", flush=True)


main()
