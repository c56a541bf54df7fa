"""Records of DLPack in Python: to read and make capsules, and to allocate by a framework."""

from __future__ import annotations

import contextlib
import ctypes
from typing import Any, Callable, Iterator

import tvm_ffi
from tvm_ffi import libinfo


class DLTensor(ctypes.Structure):
    """The record of a tensor."""

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


class Managed(ctypes.Structure):
    """The record DLManagedTensorVersioned: a tensor, its owner, and what releases it."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("owner", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", DLTensor),
    )


_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.restype, _is_valid.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]


def record(capsule: Any) -> DLTensor:
    """Return the record in a capsule that is not used yet, of either version; valid as long as the capsule."""
    if _is_valid(capsule, b"dltensor_versioned"):
        return Managed.from_address(_pointer(capsule, b"dltensor_versioned")).tensor
    return DLTensor.from_address(_pointer(capsule, b"dltensor"))


_Set_error = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
_Allocate = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(DLTensor), ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p, _Set_error)
_Delete = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_alive: dict[int, tuple[Any, ...]] = {}  # what records of `_lend` point into, by their addresses
_release = _Delete(lambda address: _alive.pop(address, None))


def _lend(array: Any) -> int:
    """Return the address of a record that owns an array until its deleter runs."""
    capsule = array.__dlpack__()
    managed = Managed(major=1, minor=0, deleter=ctypes.cast(_release, ctypes.c_void_p).value, tensor=record(capsule))
    address = ctypes.addressof(managed)
    _alive[address] = (managed, capsule, array)
    return address


def allocator(empty: Callable[[tuple[int, ...], str, tuple[int, int]], Any]) -> Any:
    """Return an allocator of the environment that calls `empty(shape, name of the type, device)` for an array."""

    def allocate(prototype: Any, out: Any, context: int, set_error: Any) -> int:
        try:
            wanted = prototype[0]
            name = str(tvm_ffi.dtype(_type_name(wanted.code, wanted.bits, wanted.lanes)))
            out[0] = _lend(empty(tuple(wanted.shape[: wanted.ndim]), name, (wanted.device_type, wanted.device_id)))
            return 0
        except Exception as error:  # noqa: BLE001 - no exception may pass through C
            set_error(context, type(error).__name__.encode(), str(error).encode())
            return -1

    return _Allocate(allocate)


_KINDS = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex", 6: "bool"}
_FLOAT8 = {7: "e3m4", 8: "e4m3", 9: "e4m3b11fnuz", 10: "e4m3fn", 11: "e4m3fnuz", 12: "e5m2", 13: "e5m2fnuz", 14: "e8m0fnu"}


def _type_name(code: int, bits: int, lanes: int) -> str:
    """Return the name of a type, such as `float32`; a ValueError for those that arrays of Python lack."""
    if lanes == 1 and code in _FLOAT8 and bits == 8:
        return f"float8_{_FLOAT8[code]}"
    if lanes != 1 or code not in _KINDS:
        raise ValueError(f"no type of arrays has code {code}, {bits} bits and {lanes} lanes")
    return "bool" if code == 6 else f"{_KINDS[code]}{bits}"


_library = ctypes.CDLL(libinfo.find_libtvm_ffi())
_set_allocator = _library.TVMFFIEnvSetDLPackManagedTensorAllocator
_set_allocator.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p)]

# Whether the library allocates main memory without an allocator of the environment, as Ferrite's
# does and upstream's does not.
HAS_DEFAULT_ALLOCATOR = tvm_ffi.get_global_func("ffi.ferrite.ServeRelease", allow_missing=True) is not None


@contextlib.contextmanager
def allocating_by(chosen: Any) -> Iterator[None]:
    """Set this thread's allocator of the environment, and the one before it at the end."""
    before = ctypes.c_void_p()
    _set_allocator(ctypes.cast(chosen, ctypes.c_void_p), 0, ctypes.byref(before))
    try:
        yield
    finally:
        _set_allocator(before, 0, None)
