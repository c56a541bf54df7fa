"""Values carried by joblib (loky), and files of its `dump`."""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "shared"))
if sys.argv[1:] != ["upstream"]:
    import ferrite_tvm_ffi  # noqa: F401

import carried
import joblib
import numpy as np
import tvm_ffi


def in_worker(function, value):
    return joblib.Parallel(n_jobs=2)([joblib.delayed(function)(value)])[0]


def dumped():
    tensor = tvm_ffi.from_dlpack(np.arange(12.0).reshape(3, 4))
    with tempfile.TemporaryDirectory() as folder:
        joblib.dump({"weights": tensor}, f"{folder}/model")
        np.testing.assert_array_equal(np.from_dlpack(joblib.load(f"{folder}/model")["weights"]), np.from_dlpack(tensor))
    assert joblib.hash(tensor) == joblib.hash(tvm_ffi.from_dlpack(np.arange(12.0).reshape(3, 4)))


if __name__ == "__main__":
    carried.main(in_worker)
    if sys.argv[1:] != ["upstream"]:
        dumped()
