"""Operators on numpy's arrays.

    from ferrite_kernels import numpy as kernels

    y = kernels.layernorm2d(x, weight, bias, 1e-5)

Arrays are passed without a copy, those of the types of ml_dtypes (bfloat16, float8) too. Results are allocated by Ferrite's library where it
runs, and by `numpy.empty` on upstream's. Read-only arrays may be inputs; as outputs they are refused.
"""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import tvm_ffi

from . import dlpack
from .adaptor import Adaptor, refuse
from .library import Operator

# Types that numpy does not export: their names, and code and bits in DLPack.
_EXTENDED = {"bfloat16": (4, 16), "float8_e4m3fn": (10, 8), "float8_e5m2": (12, 8)}
_NAMES = {code_and_bits: name for name, code_and_bits in _EXTENDED.items()}


class Numpy(Adaptor):
    """Operators that take numpy's arrays and return them."""

    def run(self, found: Operator, values: list[Any], writes: list[int]) -> Any:
        for at in writes:
            if isinstance(values[at], np.ndarray) and not values[at].flags.writeable:
                raise refuse(found, at, "Read-only {}", "a writable array", "one with flags.writeable = False")
        with _allocating():
            result = found.function(*(tensor(value) if isinstance(value, np.ndarray) else value for value in values))
        return array(result) if isinstance(result, tvm_ffi.Tensor) else result


def tensor(x: np.ndarray) -> tvm_ffi.Tensor:
    """Return a tensor in the memory of an array."""
    extended = _EXTENDED.get(x.dtype.name)
    capsule = _capsule(x if extended is None else x.view(f"u{x.itemsize}"))
    if extended is not None:
        into = dlpack.record(capsule)
        into.code, into.bits = extended
    return tvm_ffi.from_dlpack(capsule)


def _capsule(x: np.ndarray) -> Any:
    """Return a capsule of an array; read-only ones need DLPack 1.0, which older releases of numpy lack."""
    if x.flags.writeable:
        return x.__dlpack__()
    try:
        return x.__dlpack__(max_version=(1, 0))
    except TypeError:
        return _writable(x).__dlpack__()


def array(x: tvm_ffi.Tensor) -> np.ndarray:
    """Return an array in the memory of a tensor."""
    capsule = x.__dlpack__()
    into = dlpack.record(capsule)
    name = _NAMES.get((into.code, into.bits))
    if name is not None:
        into.code = 1
    found = np.from_dlpack(_Capsule(capsule))
    if not found.flags.writeable:
        found = _writable(found)  # numpy before 2.1 takes every capsule for read-only
    return found.view(_type(name)) if name is not None else found


def _writable(x: np.ndarray) -> np.ndarray:
    """Return a writable view of an array."""
    pointer, _ = x.__array_interface__["data"]
    interface = {**x.__array_interface__, "data": (pointer, False)}
    return np.asarray(_Interface(interface, x))


def _type(name: str) -> Any:
    import ml_dtypes  # noqa: PLC0415 - only for types that numpy lacks

    return getattr(ml_dtypes, name)


class _Capsule:
    """A producer of one capsule."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


class _Interface:
    """Memory of an array, which stays alive with it."""

    def __init__(self, interface: dict[str, Any], owner: Any) -> None:
        self.__array_interface__, self.owner = interface, owner


def _empty(shape: tuple[int, ...], dtype: str, _: tuple[int, int]) -> np.ndarray:
    return np.empty(shape, dtype)


_ALLOCATOR = None if dlpack.HAS_DEFAULT_ALLOCATOR else dlpack.allocator(_empty)


def _allocating() -> Any:
    return contextlib.nullcontext() if _ALLOCATOR is None else dlpack.allocating_by(_ALLOCATOR)


_adaptor = Numpy()
of = _adaptor.of


def __getattr__(name: str) -> Any:
    return getattr(_adaptor, name)
