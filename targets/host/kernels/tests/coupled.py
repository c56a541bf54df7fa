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
    yield kernels.sum_rows(x, out=np.empty(4, "float32"))
    yield kernels.layernorm2d(x, weight, weight, 1e-5)
    yield kernels.rmsnorm(x, weight, 1e-5)
    try:
        kernels.sum_rows(x[:, ::2])
    except ValueError as error:
        yield str(error).splitlines()[0]


def results_in_c(library):
    kernels = on_numpy.of(library)
    x = np.arange(24, dtype="float32").reshape(4, 6) - 9
    yield kernels.gemm(x, np.ascontiguousarray(x.T))
    yield kernels.silu_and_mul(x)
    yield from kernels.topk_softmax(x, True, np.zeros((4, 2), "float32"), np.zeros((4, 2), "int32"))


def listed(results):
    return [one if isinstance(one, str) else one.tolist() for one in results]


def main(folder):
    libraries = {language: Library(language, f"{folder}/kernels_{language}.so") for language in ("c", "cpp", "rust")}
    ferrite = tvm_ffi.get_global_func("ffi.ferrite.ServeRelease", allow_missing=True) is not None
    printed = {"python": platform.python_version(), "ferrite": ferrite}
    printed["results"] = {language: listed(results(library)) for language, library in libraries.items()}
    printed["in_c"] = listed(results_in_c(libraries["c"]))
    print(json.dumps(printed))


if __name__ == "__main__":
    main(sys.argv[1])
