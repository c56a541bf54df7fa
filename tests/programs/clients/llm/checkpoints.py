"""Exports sequences of paged key-value caches and imports them, between this library and TVM's runtime."""

import pathlib
import subprocess
import sys
import tempfile

import ferrite_tvm_ffi  # noqa: F401  # first: tvm_ffi then runs on its library
import numpy as np

CACHE = pathlib.Path(__file__).parents[2] / "llm" / "cache"
sys.path.insert(0, str(CACHE))
import checkpoints  # noqa: E402


def on_tvm(*arguments):
    subprocess.run([sys.executable, CACHE / "on_tvm.py", "checkpoints.py", *arguments], check=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = f"{folder}/ours.npz", f"{folder}/theirs.npz"
        sys.argv = ["checkpoints.py", "save", ours]
        checkpoints.main()
        on_tvm("save", theirs)
        saved, expected = np.load(ours), np.load(theirs)
        for name in expected.files:
            if saved[name].dtype.kind == "f":
                np.testing.assert_allclose(saved[name], expected[name], atol=1e-6, err_msg=name)
            else:
                assert saved[name] == expected[name], (name, saved[name], expected[name])
        on_tvm("load", ours)
        for file in (ours, theirs):
            sys.argv = ["checkpoints.py", "load", file]
            checkpoints.main()
        for kind in checkpoints.KINDS:
            refused = checkpoints.refuses(kind, str(saved[f"{kind} metadata"]))
            print(f"{kind}: {refused} changed checkpoints were refused")


main()
