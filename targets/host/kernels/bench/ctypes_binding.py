"""The binding with ctypes: the checks are Python's."""

import ctypes

import numpy as np

F32 = np.dtype("float32")


def load(library):
    """Return the functions of a library, by name."""
    return Functions(ctypes.CDLL(library))


class Functions:
    def __init__(self, library):
        self.library = library

    def __getattr__(self, name):
        entry = getattr(self.library, name)
        pointer, extent = ctypes.c_void_p, ctypes.c_int64
        entry.argtypes = [pointer, pointer, pointer, extent, extent, ctypes.c_float, pointer]
        entry.restype = None
        return bind(entry)


def bind(entry):
    def layernorm2d(x, weight, bias, eps, out=None):
        rows, cols = x.shape
        if weight.shape != (cols,) or bias.shape != (cols,):
            raise ValueError("weight and bias must be as long as rows of x")
        result = np.empty((rows, cols), F32) if out is None else None
        target = result if out is None else out
        for array in (x, weight, bias, target):
            if array.dtype != F32 or not array.flags.c_contiguous:
                raise TypeError("arrays must be float32, in rows")
        if target.shape != x.shape:
            raise ValueError("out must be as x")
        entry(x.ctypes.data, weight.ctypes.data, bias.ctypes.data, rows, cols, eps, target.ctypes.data)
        return result

    layernorm2d.entry = entry
    return layernorm2d
