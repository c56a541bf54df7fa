"""A client of the packed-function API that makes the calls of the Python front ends of earlier releases of TVM.

The releases differ in the names of functions, in type codes and in who releases what; see capi/legacy/README.md.
"""

import ctypes
import re
import traceback
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint, c_uint8, c_uint16, c_uint64, c_void_p

INT, UINT, FLOAT, HANDLE, NULL, DTYPE, DEVICE, TENSOR, OBJECT, MODULE, FUNCTION, TEXT, BYTES, ARRAY, RVALUE, BOOL = range(16)


class Record(ctypes.Structure):
    def parts(self):
        return tuple(getattr(self, name) for name, _ in self._fields_)


class Device(Record):
    _fields_ = [("device_type", c_int32), ("device_id", c_int32)]


class DType(Record):
    _fields_ = [("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16)]


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", c_void_p), ("device", Device), ("ndim", c_int32), ("dtype", DType), ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)), ("byte_offset", c_uint64),
    ]


class ManagedTensor(ctypes.Structure):
    pass


Deleter = ctypes.CFUNCTYPE(None, POINTER(ManagedTensor))
ManagedTensor._fields_ = [("tensor", DLTensor), ("context", c_void_p), ("deleter", Deleter)]


class ByteArray(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("size", c_size_t)]


class Value(ctypes.Union):
    _fields_ = [
        ("int64", c_int64), ("float64", c_double), ("handle", c_void_p), ("text", c_char_p), ("dtype", DType), ("device", Device),
    ]


Callback = ctypes.CFUNCTYPE(c_int, POINTER(Value), POINTER(c_int), c_int, c_void_p, c_void_p)
Finalizer = ctypes.CFUNCTYPE(None, c_void_p)


class Error(Exception):
    """An error of the library, with the kind before its message as `kind`."""

    def __init__(self, text):
        super().__init__(text)
        found = re.match(r"([A-Za-z_][\w.]*): ", text)
        self.kind = found.group(1) if found else None


class Owned:
    """A handle that owns a reference."""

    free = None

    def __init__(self, client, handle):
        self.client, self.handle = client, handle

    def __del__(self):
        getattr(self.client.lib, self.free(self.client))(c_void_p(self.handle))


class Object(Owned):
    free = staticmethod(lambda client: "TVMNodeFree" if client.release == "0.5" else "TVMObjectFree")

    def type_index(self):
        return self.client.type_index_of(self)


class Module(Owned):
    free = staticmethod(lambda client: "TVMModFree")

    def function(self, name, query_imports=0):
        out = c_void_p()
        self.client.check(self.client.lib.TVMModGetFunction(c_void_p(self.handle), name.encode(), query_imports, byref(out)))
        return Function(self.client, out.value) if out.value else None

    def import_module(self, other):
        self.client.check(self.client.lib.TVMModImport(c_void_p(self.handle), c_void_p(other.handle)))


class Function(Owned):
    free = staticmethod(lambda client: "TVMFuncFree")

    def __call__(self, *arguments):
        return self.client.call(self.handle, arguments)


class Array(Owned):
    free = staticmethod(lambda client: "TVMArrayFree")

    @property
    def record(self):
        return DLTensor.from_address(self.handle)

    @property
    def shape(self):
        return tuple(self.record.shape[i] for i in range(self.record.ndim))

    @property
    def dtype(self):
        return self.record.dtype.parts()

    def count(self):
        """Returns the reference count of the tensor object, whose header precedes the record."""
        return ctypes.c_uint32.from_address(self.handle - 24).value

    def write(self, data):
        self.client.check(self.client.lib.TVMArrayCopyFromBytes(c_void_p(self.handle), data, c_size_t(len(data))))

    def read(self, size):
        data = ctypes.create_string_buffer(size)
        self.client.check(self.client.lib.TVMArrayCopyToBytes(c_void_p(self.handle), data, c_size_t(size)))
        return data.raw


class Client:
    """The calls of a release. The library is shared by all, so each release runs in its own process."""

    def __init__(self, library, release):
        self.lib, self.release = ctypes.CDLL(library, ctypes.RTLD_GLOBAL), release
        self.version = tuple(int(part) for part in release.split(".")[:2])
        self.lib.TVMGetLastError.restype = c_char_p
        self.kept, self.raised, self.names = {}, {}, iter(range(10**6))
        self.finalize = Finalizer(lambda resource: self.kept.pop(resource) and None)
        if self.version >= (0, 14):
            self.lib.TVMGetLastPythonError.restype, self.lib.TVMGetLastBacktrace.restype = c_void_p, c_char_p
            names = ["Py_IncRef", "Py_DecRef"]
            names += ["PyGILState_Ensure", "PyGILState_Release", "PyErr_CheckSignals"] if self.version >= (0, 18) else []
            for name in names:
                address = ctypes.cast(getattr(ctypes.pythonapi, name), c_void_p)
                self.check(self.lib.TVMBackendRegisterEnvCAPI(name.encode(), address))

    # Errors

    def check(self, status):
        if status == 0:
            return
        if self.version >= (0, 14):
            address = self.lib.TVMGetLastPythonError()
            if address:
                error = ctypes.cast(address, ctypes.py_object).value
                self.lib.TVMGetLastBacktrace()  # read by the front ends before they drop the error
                self.lib.TVMDropLastPythonError()
                raise error
        raise Error(self.lib.TVMGetLastError().decode())

    def set_error(self, error):
        if self.version >= (0, 14):
            self.lib.TVMAPISetLastPythonError(ctypes.py_object(error))
        elif isinstance(error, Error):
            self.lib.TVMAPISetLastError(str(error).encode())
        elif self.version >= (0, 6):
            trace = "".join("  " + line for line in traceback.format_exc().splitlines(True))
            self.lib.TVMAPISetLastError(("%s: %s\nStack trace:\n%s" % (type(error).__name__, error, trace)).encode())
        else:
            self.lib.TVMAPISetLastError(traceback.format_exc().encode())

    # Values

    def values(self, arguments):
        """Returns the values, their codes and what must outlive the call."""
        values, codes, kept = (Value * len(arguments))(), (c_int * len(arguments))(), []
        for i, argument in enumerate(arguments):
            value = values[i]
            if argument is None:
                value.handle, codes[i] = None, NULL
            elif isinstance(argument, bool):
                value.int64, codes[i] = argument, BOOL if self.version >= (0, 18) else INT
            elif isinstance(argument, int):
                value.int64, codes[i] = argument, INT
            elif isinstance(argument, float):
                value.float64, codes[i] = argument, FLOAT
            elif isinstance(argument, str):
                kept.append(argument.encode())
                value.text, codes[i] = kept[-1], TEXT
            elif isinstance(argument, (bytes, bytearray)):
                data = ctypes.create_string_buffer(bytes(argument), len(argument))
                kept += [data, ByteArray(ctypes.addressof(data), len(argument))]
                value.handle, codes[i] = ctypes.addressof(kept[-1]), BYTES
            elif isinstance(argument, DType):
                value.dtype, codes[i] = argument, DTYPE
            elif isinstance(argument, Device):
                value.device, codes[i] = argument, DEVICE
            elif isinstance(argument, c_void_p):
                value.handle, codes[i] = argument.value, HANDLE
            elif isinstance(argument, Owned):
                value.handle = argument.handle
                codes[i] = {Object: OBJECT, Module: MODULE, Function: FUNCTION, Array: ARRAY}[type(argument)]
            elif callable(argument):
                kept.append(self.function(argument))
                value.handle, codes[i] = kept[-1].handle, FUNCTION
            else:
                raise TypeError(type(argument))
        return values, codes, kept

    def value(self, value, code):
        """Takes a result."""
        if code in (OBJECT, MODULE, FUNCTION, ARRAY):
            kind = {OBJECT: Object, MODULE: Module, FUNCTION: Function, ARRAY: Array}[code]
            return kind(self, value.handle)
        if code == BYTES:
            found = ByteArray.from_address(value.handle)
            return bytearray(ctypes.string_at(found.data, found.size))
        if code == DEVICE:
            return Device(*value.device.parts())
        if code == DTYPE:
            return DType(*value.dtype.parts())
        if code == BOOL:
            return bool(value.int64)
        if code == HANDLE:
            return c_void_p(value.handle)
        return {INT: lambda: value.int64, FLOAT: lambda: value.float64, TEXT: lambda: value.text.decode(), NULL: lambda: None}[code]()

    # Functions

    def call(self, handle, arguments):
        values, codes, _kept = self.values(arguments)
        result, code = Value(), c_int(-1)
        self.check(self.lib.TVMFuncCall(c_void_p(handle), values, codes, len(arguments), byref(result), byref(code)))
        return self.value(result, code.value)

    def argument(self, values, codes, i):
        """Takes an argument of a callback, as the release does: since 0.7 by the address of its code."""
        if codes[i] in (OBJECT, MODULE, FUNCTION) or codes[i] == ARRAY and self.version >= (0, 7):
            code = byref(c_int(codes[i])) if self.version >= (0, 7) else c_int(codes[i])
            self.check(self.lib.TVMCbArgToReturn(byref(values[i]), code))
        if codes[i] == TENSOR:
            return DLTensor.from_address(values[i].handle)
        return self.value(values[i], codes[i])

    def function(self, body):
        """Makes a function of a Python callable, which lives until its finalizer runs."""

        def run(values, codes, count, ret, _resource):
            try:
                result = body(*[self.argument(values, codes, i) for i in range(count)])
                if result is not None:
                    values, codes, _kept = self.values([result])
                    self.check(self.lib.TVMCFuncSetReturn(c_void_p(ret), values, codes, 1))
                return 0
            except Exception as error:
                self.set_error(error)
                return -1

        number, out = next(self.names) + 1, c_void_p()
        self.kept[number] = Callback(run)
        self.check(self.lib.TVMFuncCreateFromCFunc(self.kept[number], c_void_p(number), self.finalize, byref(out)))
        return Function(self, out.value)

    def register(self, name, body, override=False):
        function = self.function(body)
        self.check(self.lib.TVMFuncRegisterGlobal(name.encode(), c_void_p(function.handle), int(override)))

    def get(self, name):
        out = c_void_p()
        self.check(self.lib.TVMFuncGetGlobal(name.encode(), byref(out)))
        return Function(self, out.value) if out.value else None

    def api(self, since_0_7, until_0_6):
        """Returns a global function by its names; those of `runtime.` or with a full name since 0.7."""
        name = until_0_6 if self.version < (0, 7) else since_0_7 if "." in since_0_7 else "runtime." + since_0_7
        found = self.get(name)
        assert found, name
        return found

    # Arrays and objects

    def empty(self, shape, name, dtype, device=(1, 0)):
        """Allocates an array: by the parts of its type up to 0.6, then by its name."""
        extents = (c_int64 * len(shape))(*shape)
        if self.version < (0, 7):
            out = c_void_p()
            status = self.lib.TVMArrayAlloc(extents, len(shape), *map(c_int, dtype), *map(c_int, device), byref(out))
            self.check(status)
            return Array(self, out.value)
        allocate = self.get("runtime.TVMArrayAllocWithScope")
        if self.version < (0, 14):
            return allocate(ctypes.cast(extents, c_void_p), len(shape), name, Device(*device), None)
        return allocate(self.get("runtime.ShapeTuple")(*shape), name, Device(*device), None)

    def array(self, data, shape, name="float32", dtype=(2, 32, 1)):
        made = self.empty(shape, name, dtype)
        made.write(data)
        return made

    def type_index(self, key):
        out = c_uint()
        name = "TVMNodeTypeKey2Index" if self.release == "0.5" else "TVMObjectTypeKey2Index"
        return None if getattr(self.lib, name)(key.encode(), byref(out)) else out.value

    def type_index_of(self, node):
        out = c_uint()
        name = "TVMNodeGetTypeIndex" if self.release == "0.5" else "TVMObjectGetTypeIndex"
        self.check(getattr(self.lib, name)(c_void_p(node.handle), byref(out)))
        return out.value

    def attribute(self, node, name):
        """Returns an attribute of a node: by a C function in 0.5, then by a global function."""
        if self.release != "0.5":
            return self.api("node.NodeGetAttr", "_NodeGetAttr")(node, name)
        value, code, found = Value(), c_int(), c_int()
        node_handle = c_void_p(node.handle)
        self.check(self.lib.TVMNodeGetAttr(node_handle, name.encode(), byref(value), byref(code), byref(found)))
        if not found.value:
            raise Error("AttributeError: " + name)
        return self.value(value, code.value)

    def load_module(self, file, form=""):
        return self.api("ModuleLoadFromFile", "module._LoadFromFile")(file, form)
