"""Values carried by dask between processes of its distributed scheduler."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "shared"))
if sys.argv[1:] != ["upstream"]:
    import ferrite_tvm_ffi  # noqa: F401

import carried
import numpy as np
import tvm_ffi


def rows(tensor):
    return np.from_dlpack(tensor).shape[0]


def between_workers(client):
    """Check that results stay in the workers, which pass them to one another, in place where the memory is aligned."""
    first, second = client.scheduler_info()["workers"]
    tensor = client.submit(carried.doubled, tvm_ffi.from_dlpack(np.ones((1000, 1001), "float32")), workers=[first])
    again = client.submit(carried.doubled, tensor, workers=[second])
    assert client.submit(rows, again, workers=[first]).result() == 1000
    np.testing.assert_array_equal(np.from_dlpack(again.result()), 4)


if __name__ == "__main__":
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        carried.main(lambda function, value: client.submit(function, value, pure=False).result())
        if sys.argv[1:] != ["upstream"]:
            between_workers(client)
