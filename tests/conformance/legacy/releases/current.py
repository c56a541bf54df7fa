"""The side of tvm-ffi: functions that see arguments as tvm-ffi does, and tensors made by it."""

import ctypes
from ctypes import POINTER, byref, c_int32, c_int64, c_uint32, c_uint64, c_void_p

from client import Deleter, Device, DLTensor, DType, ManagedTensor


class ByteArray(ctypes.Structure):
    _fields_ = [("data", ctypes.c_char_p), ("size", ctypes.c_size_t)]


class Any(ctypes.Structure):
    _fields_ = [("type_index", c_int32), ("length", c_uint32), ("bits", c_uint64)]

    @property
    def dtype(self):
        """Returns the data type of a tensor, or the data type itself."""
        found = DType.from_buffer_copy(self, 8) if self.type_index == 5 else DLTensor.from_address(self.bits + 24).dtype
        return found.parts()


SafeCall = ctypes.CFUNCTYPE(c_int32, c_void_p, POINTER(Any), c_int32, POINTER(Any))


class Current:
    def __init__(self, library):
        self.lib, self.kept = ctypes.CDLL(library), []

    def register(self, name, body):
        """Registers a global function of tvm-ffi. `body` takes the arguments, and returns the address of an owned tensor or None."""

        def run(_self, args, count, result):
            tensor = body(*[args[i] for i in range(count)])
            if tensor:
                result[0] = Any(70, 0, tensor)
            return 0

        self.kept.append(SafeCall(run))
        function, text = c_void_p(), name.encode()
        assert self.lib.TVMFFIFunctionCreate(None, self.kept[-1], None, byref(function)) == 0
        assert self.lib.TVMFFIFunctionSetGlobal(byref(ByteArray(text, len(text))), function, 1) == 0
        self.lib.TVMFFIObjectDecRef(function)

    def tensor(self, data, shape, dtype):
        """Returns an owned tensor object over a copy of `data`."""
        memory, extents = ctypes.create_string_buffer(bytes(data), max(len(data), 1)), (c_int64 * len(shape))(*shape)
        managed, out = ManagedTensor(), c_void_p()
        managed.tensor = DLTensor(ctypes.addressof(memory), Device(1, 0), len(shape), DType(*dtype), extents, None, 0)
        managed.deleter = Deleter(lambda _: None)
        self.kept.append((memory, extents, managed))
        assert self.lib.TVMFFITensorFromDLPack(byref(managed), 0, 0, byref(out)) == 0
        return out.value

    def retain(self, address):
        self.lib.TVMFFIObjectIncRef(c_void_p(address))
        return address
