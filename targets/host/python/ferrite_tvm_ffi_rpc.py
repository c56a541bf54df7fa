"""Sessions with servers on other machines, by TVM's remote procedure calls, without TVM.

    from ferrite_tvm_ffi import rpc

    with rpc.connect("192.168.0.7", 9090) as session:
        session.upload("kernels.so")
        kernels = session.load_module("kernels.so")
        x = session.tensor(numpy.ones(4, "float32"))
        y = session.tensor(numpy.zeros(4, "float32"))
        kernels.add_one(x, y)
        print(session.numpy(y), session.time_evaluator("add_one", kernels)(x, y))

Functions and modules of the server are those of tvm_ffi. Errors that the server raises have the class that they had there; those of the
connection are an RPCError, after which the session cannot be used.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path

import tvm_ffi

CPU = 1


def error_class(name: str) -> type[Exception]:
    """Return the class of errors of a kind: the one that is registered, or a new one, which is registered then."""
    known = tvm_ffi.core.ERROR_NAME_TO_TYPE.get(name)
    if known is None:
        known = type(name, (RuntimeError,), {"__module__": __name__})
        tvm_ffi.register_error(name, known)
    return known


RPCError = error_class("RPCError")
RPCSessionTimeoutError = error_class("RPCSessionTimeoutError")


def connect(
    host: str,
    port: int,
    key: str = "",
    *,
    token: str | None = None,
    session_timeout: float = 0,
    connect_timeout: float = 30,
    read_timeout: float = 0,
) -> Session:
    """Connect to a server; times are in seconds, and 0 means no limit.

    The server ends the session after session_timeout. read_timeout limits the time until an answer begins, which includes the time of
    a call.
    """
    times = (float(session_timeout), float(connect_timeout), float(read_timeout))
    return Session(global_function("ferrite.rpc.Connect")(host, port, key, token, *times))


def start(program: str, *arguments: str) -> Session:
    """Start a server as a child process, which gets the numbers of two file descriptors as its last arguments."""
    return Session(global_function("ferrite.rpc.Start")(program, *arguments))


def local() -> Session:
    """Start a server in a thread of this process, which offers every global function: for tests."""
    return Session(global_function("ferrite.rpc.Local")())


def global_function(name: str) -> Callable:
    """Return a global function; raise an ImportError if the library was built without it."""
    function = tvm_ffi.get_global_func(name, allow_missing=True)
    if function is None:
        raise ImportError(f"libtvm_ffi has no function {name}: it was built without the feature rpc")
    return function


def pointer(array) -> ctypes.c_void_p:
    """Return the address of the elements of an array."""
    return ctypes.c_void_p(array.ctypes.data)


class Session:
    """A session with a server. It ends when it is closed, or when nothing of the server is used any more."""

    def __init__(self, module: tvm_ffi.Module):
        self.module = module

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *reason) -> None:
        self.close()

    def close(self) -> None:
        """End the session: every later use of what belongs to the server raises an RPCError."""
        self.module.get_function("CloseRPCConnection")()

    def function(self, name: str) -> Callable:
        """Return a global function of the server."""
        return self.module.get_function(name)

    def upload(self, file: str | Path, content: bytes | None = None) -> None:
        """Store a file of this machine, or these bytes, in the session's folder."""
        if content is None:
            content = Path(file).read_bytes()
        self.function("tvm.rpc.server.upload")(Path(file).name, content)

    def download(self, name: str) -> bytes:
        """Return a file of the session's folder."""
        return bytes(self.function("tvm.rpc.server.download")(name))

    def remove(self, name: str) -> None:
        """Remove a file of the session's folder."""
        self.function("tvm.rpc.server.remove")(name)

    def load_module(self, name: str) -> tvm_ffi.Module:
        """Load a module of the session's folder on the server."""
        return global_function("ferrite.rpc.LoadModule")(self.module, name)

    def system_lib(self) -> tvm_ffi.Module:
        """Return the module of the code that is linked into the server's program."""
        return self.function("ffi.SystemLib")()

    def cpu(self):
        """Return the server's CPU."""
        return self.device(CPU)

    def device(self, kind: str | int, index: int = 0):
        """Return a device of the server, by its kind, such as "cuda" or a DLPack number, and its index."""
        if isinstance(kind, str):
            there = tvm_ffi.device(kind, index)
            kind = there.dlpack_device_type()
        return global_function("ferrite.rpc.Device")(self.module, kind, index)

    def tensor(self, array, device=None) -> tvm_ffi.Tensor:
        """Copy an array of NumPy to a device of the server, by default its CPU."""
        import numpy  # noqa: PLC0415 - only for those who use it

        array = numpy.ascontiguousarray(array)
        there = self.empty(array.shape, str(array.dtype), device)
        global_function("runtime.TVMTensorCopyFromBytes")(there, pointer(array), array.nbytes)
        return there

    def empty(self, shape, dtype: str = "float32", device=None) -> tvm_ffi.Tensor:
        """Create a tensor on a device of the server, by default its CPU."""
        where = self.cpu() if device is None else device
        allocate = global_function("runtime.TVMTensorAllocWithScope")
        return allocate(tvm_ffi.Shape(shape), tvm_ffi.dtype(dtype), where, None)

    def numpy(self, tensor: tvm_ffi.Tensor):
        """Copy a tensor of the server to an array of NumPy."""
        import numpy  # noqa: PLC0415 - only for those who use it

        array = numpy.empty(tuple(tensor.shape), str(tensor.dtype))
        global_function("runtime.TVMTensorCopyToBytes")(tensor, pointer(array), array.nbytes)
        return array

    def time_evaluator(
        self,
        name: str,
        module: tvm_ffi.Module | None = None,
        device=None,
        *,
        number: int = 10,
        repeat: int = 1,
        min_repeat_ms: int = 0,
        limit_zero_time_iterations: int = 100,
        cooldown_interval_ms: int = 0,
        repeats_to_cooldown: int = 1,
        cache_flush_bytes: int = 0,
        preprocessing: str = "",
    ) -> Callable[..., list[float]]:
        """Return a function that measures calls on the server: the seconds of one call, for each repetition.

        `module` is one of the session; without it, `name` is a global function of the server.
        """
        import struct  # noqa: PLC0415

        where = self.cpu() if device is None else device
        numbers = (number, repeat, min_repeat_ms, limit_zero_time_iterations, cooldown_interval_ms, repeats_to_cooldown, cache_flush_bytes)
        make = global_function("ferrite.rpc.TimeEvaluator")
        evaluate = make(module or self.module, name, where, *numbers, preprocessing)

        def measure(*arguments) -> list[float]:
            times = bytes(evaluate(*arguments))
            return list(struct.unpack(f"<{len(times) // 8}d", times))

        return measure
