"""Tensors of DLPack with every part under the test's control: numpy refuses to export some, and has no names for some types.

`tensor(array)` shares the memory of an array, also of the types of ml_dtypes. Its keywords change what the consumer is told:

    tensor(x, device=(2, 0))    a tensor on a GPU that is not there
    tensor(x, data=None)        a tensor without memory
    tensor(x, flags=READ_ONLY)  a read-only tensor
"""

from __future__ import annotations

import ctypes

import numpy as np
import tvm_ffi

READ_ONLY = 1
VERSION = (1, 1)
# Bytes of the record that each object of TVM-FFI begins with; in a tensor, the description follows.
OBJECT_HEADER = 24
# DLPack's codes and widths of the types that numpy lacks.
EXTENDED = {"bfloat16": (4, 16), "float8_e4m3fn": (10, 8), "float8_e5m2": (12, 8)}
CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}


class DLTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class DLManagedTensorVersioned(ctypes.Structure):
    _fields_ = (
        ("version", ctypes.c_uint32 * 2),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", DLTensor),
    )


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)

# Arrays and records that tensors use, by the address of the record, until the consumer deletes
# them.
alive: dict[int, tuple] = {}


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def delete(address: int) -> None:
    alive.pop(address, None)


def numbers(values) -> ctypes.Array:
    return (ctypes.c_int64 * max(1, len(values)))(*values)


def dtype_code(dtype: np.dtype) -> tuple[int, int]:
    return EXTENDED.get(dtype.name) or (CODES[dtype.kind], 8 * dtype.itemsize)


def tensor(array: np.ndarray, *, device=(1, 0), flags=0, **parts) -> tvm_ffi.Tensor:
    """Return a tensor that shares the memory of an array."""
    steps = parts.get("strides", [stride // array.itemsize for stride in array.strides])
    data = parts.get("data", array.ctypes.data)
    shape, strides = numbers(array.shape), numbers(steps)
    record = DLManagedTensorVersioned(flags=flags, deleter=ctypes.cast(delete, ctypes.c_void_p))
    record.version[:] = VERSION
    record.tensor = DLTensor(data, *device, array.ndim, *dtype_code(array.dtype), 1, shape, strides, 0)
    address = ctypes.addressof(record)
    alive[address] = (record, shape, strides, array)
    return tvm_ffi.from_dlpack(new_capsule(address, b"dltensor_versioned", None))


def array_of(result: tvm_ffi.Tensor, dtype) -> np.ndarray:
    """Return a copy of a compact tensor in main memory, whose elements have this type."""
    dtype, shape = np.dtype(dtype), tuple(result.shape)
    assert str(result.dtype) == dtype.name
    record = DLTensor.from_address(result.__chandle__() + OBJECT_HEADER)
    size = dtype.itemsize * int(np.prod(shape))
    return np.frombuffer(ctypes.string_at(record.data + record.byte_offset, size) if size else b"", dtype).reshape(shape)
