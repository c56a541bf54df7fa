"""Calls of the kernels from Python, in the process of a libtvm_ffi."""

import ctypes
import os

import numpy

INT, FLOAT, DL_TENSOR, SHAPE = 1, 3, 7, 69
CODES = {"f": 2, "i": 0, "u": 1}


class Any(ctypes.Structure):
    _fields_ = [("type_index", ctypes.c_int32), ("small_len", ctypes.c_uint32), ("payload", ctypes.c_int64)]


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
    ]


class Shape(ctypes.Structure):
    """A Shape object that the program owns."""

    _fields_ = [("header", ctypes.c_int64 * 3), ("data", ctypes.c_void_p), ("size", ctypes.c_size_t)]


def tensor(array, dtype=None):
    """Returns the DLTensor of a compact array; `dtype` is (code, bits) for types that numpy lacks."""
    assert array.flags.c_contiguous
    record = DLTensor(data=array.ctypes.data, device_type=1, ndim=array.ndim, lanes=1)
    record.code, record.bits = dtype or (CODES[array.dtype.kind], array.dtype.itemsize * 8)
    record.shape = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
    record.keep = array
    return record


def shape(extents):
    """Returns a Shape object."""
    record = Shape()
    record.keep = (ctypes.c_int64 * len(extents))(*extents)
    record.data, record.size = ctypes.addressof(record.keep), len(extents)
    return record


class Call:
    """A function with its arguments, ready to be called again and again."""

    def __init__(self, kernels, name, *arguments):
        self.function = getattr(kernels.library, "__tvm_ffi_ferrite." + name)
        self.kernels, self.count, self.keep = kernels, len(arguments), []
        self.values, self.result = (Any * len(arguments))(), Any()
        for value, argument in zip(self.values, arguments):
            self.set(value, argument)

    def set(self, value, argument):
        if isinstance(argument, float):
            value.type_index = FLOAT
            value.payload = int(numpy.float64(argument).view(numpy.int64))
        elif isinstance(argument, int):
            value.type_index, value.payload = INT, argument
        else:
            if isinstance(argument, numpy.ndarray):
                argument = tensor(argument)
            self.keep.append(argument)
            value.type_index = SHAPE if isinstance(argument, Shape) else DL_TENSOR
            value.payload = ctypes.addressof(argument)

    def __call__(self):
        status = self.function(None, self.values, self.count, ctypes.byref(self.result))
        if status != 0:
            raise RuntimeError(self.kernels.raised())
        return self.result


class Kernels:
    """The kernels as a shared library, beside a libtvm_ffi with the symbols of the thread pool."""

    def __init__(self, library, runtime):
        self.runtime = ctypes.CDLL(runtime, os.RTLD_GLOBAL | os.RTLD_NOW)
        self.library = ctypes.CDLL(library)

    def raised(self):
        error = ctypes.c_void_p()
        self.runtime.TVMFFIErrorMoveFromRaised(ctypes.byref(error))
        cell = ctypes.cast(error.value + 24, ctypes.POINTER(ctypes.c_size_t))
        return ": ".join(ctypes.string_at(cell[2 * at], cell[2 * at + 1]).decode() for at in range(2))

    def shape(self, name, *arguments):
        """Calls a function that returns a Shape."""
        result = Call(self, name, *arguments)()
        cell = ctypes.cast(result.payload + 24, ctypes.POINTER(ctypes.c_size_t))
        return tuple(ctypes.cast(cell[0], ctypes.POINTER(ctypes.c_int64))[: cell[1]])

    def pack(self, name, weights, parameters):
        """Packs weights by `pack_NAME`; `parameters` is the argument after them."""
        packed = numpy.zeros(self.shape(f"packed_{name}_shape", weights, parameters, 0), weights.dtype)
        suffix = "" if weights.dtype in ("float32", "int8") else f"_{weights.dtype}"
        Call(self, f"pack_{name}{suffix}", weights, parameters, packed)()
        return packed
