"""Prints as JSON what the kernel libraries give in this interpreter, with the libtvm_ffi of its choice.

usage: coupled.py FOLDER
"""

import json
import platform
import sys

import numpy as np
import tvm_ffi
from ferrite_kernels import Library
from ferrite_kernels import numpy as on_numpy


def results(library):
    kernels = on_numpy.of(library)
    x = np.arange(24, dtype="float32").reshape(4, 6) - 9
    weight = np.linspace(0.5, 1.5, 6, dtype="float32")
    out = np.empty(4, "float32")
    weights, indices = np.zeros((4, 2), "float32"), np.zeros((4, 2), "int32")
    yield kernels.layernorm2d(x, weight, weight, 1e-5)
    yield kernels.silu_and_mul(x)
    yield kernels.gemm(x, np.ascontiguousarray(x.T))
    yield kernels.sum_rows(x, out=out)
    yield from kernels.topk_softmax(x, True, weights, indices)
    try:
        kernels.sum_rows(x[:, ::2])
    except ValueError as error:
        yield str(error).splitlines()[0]


def main(folder):
    listed = {
        language: [one if isinstance(one, str) else one.tolist() for one in results(Library(language, f"{folder}/kernels_{language}.so"))]
        for language in ("c", "cpp", "rust")
    }
    ferrite = tvm_ffi.get_global_func("ffi.ferrite.ServeRelease", allow_missing=True) is not None
    print(json.dumps({"python": platform.python_version(), "ferrite": ferrite, "results": listed}))


if __name__ == "__main__":
    main(sys.argv[1])
