"""Values carried by Ray. A tensor of 64 MiB in a worker lies in the memory of Ray's store, and is read-only there."""

import os
import sys
from pathlib import Path

SHARED = str(Path(__file__).resolve().parent / "shared")
sys.path.insert(0, SHARED)
if sys.argv[1:] != ["upstream"]:
    import ferrite_tvm_ffi  # noqa: F401

os.environ["PYTHONPATH"] = os.pathsep.join([SHARED, *filter(None, [os.environ.get("PYTHONPATH")])])
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import carried
import numpy as np
import ray
import tvm_ffi


@ray.remote
def in_worker(function, value):
    return function(value)


def placed(tensor):
    """Return the file that is mapped where a tensor's elements are, and whether they may be written."""
    import ferrite_tvm_ffi_pickle
    import numpy

    elements = ferrite_tvm_ffi_pickle.elements_of(tensor)
    assert elements.nbytes == 64 << 20 and (elements == 1).all()
    for line in open("/proc/self/maps"):
        first, last = (int(end, 16) for end in line.split()[0].split("-"))
        if first <= elements.ctypes.data and elements.ctypes.data + elements.nbytes <= last:
            return line.split(maxsplit=5)[5], elements.flags.writeable, numpy.from_dlpack(tensor).flags.writeable
    return None


def in_the_store():
    tensor = tvm_ffi.from_dlpack(np.ones(64 << 20, "u1"))
    file, *writable = ray.get(in_worker.remote(placed, tensor))
    assert "/plasma" in file and writable == [False, False], (file, writable)
    kept = ray.put(tensor)
    assert placed(ray.get(kept))[0] == file
    copies = ray.get([in_worker.remote(carried.doubled, ray.put(tvm_ffi.from_dlpack(np.full(5, float(n))))) for n in range(20)])
    assert [float(np.from_dlpack(copy)[0]) for copy in copies] == [2.0 * n for n in range(20)]


if __name__ == "__main__":
    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=300 << 20, log_to_driver=False)
    carried.main(lambda function, value: ray.get(in_worker.remote(function, value)))
    if sys.argv[1:] != ["upstream"]:
        in_the_store()
    ray.shutdown()
