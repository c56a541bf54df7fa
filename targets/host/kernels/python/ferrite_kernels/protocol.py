"""Operators on the arrays of any framework that has DLPack and the functions of the array API, such as CuPy.

    from ferrite_kernels import protocol as kernels

    y = kernels.layernorm2d(x, weight, bias, 1e-5)

The module of the first array, `x.__array_namespace__()` or the package of its class, allocates the results by `empty` and takes them by `from_dlpack`.
Kernels on devices run on its current stream, `cuda.get_current_stream().ptr`, if it has streams; afterwards, and after an error, the stream of
before is the current one.
"""

from __future__ import annotations

import contextlib
import sys
from typing import Any

import tvm_ffi

from . import dlpack
from .adaptor import Adaptor
from .library import Operator

MAIN_MEMORY = 1  # kDLCPU


class Protocol(Adaptor):
    """Operators that take the arrays of a framework and return them, by protocols only."""

    def run(self, found: Operator, values: list[Any], writes: list[int]) -> Any:
        arrays = [value for value in values if hasattr(value, "__dlpack__")]
        framework = namespace(arrays[0]) if arrays else None
        with contextlib.ExitStack() as scope:
            if framework is not None:
                scope.enter_context(dlpack.allocating_by(dlpack.allocator(lambda shape, dtype, _: framework.empty(shape, dtype=dtype))))
                scope.enter_context(stream_of(framework, arrays[0]))
            result = found.function(*(tvm_ffi.from_dlpack(value) if hasattr(value, "__dlpack__") else value for value in values))
        return framework.from_dlpack(result) if isinstance(result, tvm_ffi.Tensor) else result


def namespace(array: Any) -> Any:
    """Return the module with the functions of the array API for an array."""
    if hasattr(array, "__array_namespace__"):
        return array.__array_namespace__()
    return sys.modules[type(array).__module__.partition(".")[0]]


def stream_of(framework: Any, array: Any) -> Any:
    """Return the context in which the framework's current stream is that of kernels on the array's device."""
    kind, index = array.__dlpack_device__()
    current = getattr(getattr(framework, "cuda", None), "get_current_stream", None)
    if kind == MAIN_MEMORY or current is None:
        return contextlib.nullcontext()
    return tvm_ffi.use_raw_stream(tvm_ffi.device(kind, index), current().ptr)


_adaptor = Protocol()
of = _adaptor.of


def __getattr__(name: str) -> Any:
    return getattr(_adaptor, name)
