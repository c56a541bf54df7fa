"""Packs constant weights by the kernels' own functions."""

import pathlib
import tempfile

import numpy

from . import link
from .call import PREFIX, typed

KINDS = ("dense", "conv2d", "qdense", "qconv2d")
HALVES = ("pack_dense_float16", "pack_conv2d_float16")
FUNCTIONS = [*(f"packed_{kind}_shape" for kind in KINDS), *(f"pack_{kind}" for kind in KINDS), *HALVES]


class Packer:
    """The functions of an archive of kernels that pack weights, in a library of their own."""

    def __init__(self, archive):
        import tvm_ffi

        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "pack.so"
            link.shared(path, archive, FUNCTIONS)
            self._module = tvm_ffi.load_module(str(path))
        self._functions = {name: self._module[PREFIX + name] for name in FUNCTIONS}

    def dense(self, weights):
        """Packs weights of extents [K, N]."""
        return self._packed("dense", weights, 0)

    def conv2d(self, weights, parameters):
        """Packs weights of extents [O, I / groups, height, width]."""
        import tvm_ffi

        return self._packed("conv2d", weights, tvm_ffi.Shape(parameters))

    def quantized_dense(self, weights):
        """Packs weights of 8 bits, of extents [K, N]."""
        return self._packed("qdense", weights, 0)

    def quantized_conv2d(self, weights, parameters):
        """Packs weights of 8 bits, of extents [O, I / groups, height, width]."""
        import tvm_ffi

        return self._packed("qconv2d", weights, tvm_ffi.Shape(parameters))

    def _packed(self, kind, weights, *arguments):
        import tvm_ffi

        weights = tvm_ffi.from_dlpack(numpy.ascontiguousarray(weights))
        shape = self._functions[f"packed_{kind}_shape"](weights, *arguments, str(weights.dtype))
        packed = numpy.empty(tuple(shape), str(weights.dtype))
        self._functions[typed(f"pack_{kind}", str(weights.dtype))](weights, *arguments, tvm_ffi.from_dlpack(packed))
        return packed
