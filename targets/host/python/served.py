"""Prints as JSON what a libtvm_ffi.so serves, for ferrite_tvm_ffi_probe.py.

usage: served.py LIBRARY
"""

from __future__ import annotations

import ctypes
import json
import sys
from pathlib import Path

from ferrite_tvm_ffi_probe import symbol_table


class Text(ctypes.Structure):
    """The C record TVMFFIByteArray."""

    _fields_ = (("data", ctypes.c_void_p), ("size", ctypes.c_size_t))

    def __str__(self) -> str:
        return ctypes.string_at(self.data, self.size).decode()


class Any(ctypes.Structure):
    """The C record TVMFFIAny."""

    _fields_ = (("type_index", ctypes.c_int32), ("small_length", ctypes.c_uint32), ("payload", ctypes.c_int64))

    def __str__(self) -> str:
        if self.type_index == 11:  # a small string, in the payload
            return ctypes.string_at(ctypes.addressof(self) + 8, self.small_length).decode()
        return str(Text.from_address(self.payload + 24))  # a String, after the object header


class Field(ctypes.Structure):
    """The C record TVMFFIFieldInfo."""

    _fields_ = (("name", Text), ("rest", ctypes.c_int64 * 13))


class Method(ctypes.Structure):
    """The C record TVMFFIMethodInfo."""

    _fields_ = (("name", Text), ("rest", ctypes.c_int64 * 7))


class Type(ctypes.Structure):
    """The C record TVMFFITypeInfo."""


Type._fields_ = (
    ("type_index", ctypes.c_int32),
    ("depth", ctypes.c_int32),
    ("key", Text),
    ("ancestors", ctypes.POINTER(ctypes.POINTER(Type))),
    ("key_hash", ctypes.c_uint64),
    ("num_fields", ctypes.c_int32),
    ("num_methods", ctypes.c_int32),
    ("fields", ctypes.POINTER(Field)),
    ("methods", ctypes.POINTER(Method)),
    ("metadata", ctypes.c_void_p),
)


class Library:
    def __init__(self, path: Path) -> None:
        self.c = ctypes.CDLL(str(path))
        self.c.TVMFFIGetTypeInfo.restype = ctypes.POINTER(Type)

    def call(self, function: ctypes.c_void_p, *arguments: Any) -> Any:
        result = Any()
        given = (Any * max(1, len(arguments)))(*arguments)
        if self.c.TVMFFIFunctionCall(function, given, len(arguments), ctypes.byref(result)) != 0:
            raise RuntimeError("a call failed")
        return result

    def call_global(self, name: str, *arguments: Any) -> Any:
        function, text = ctypes.c_void_p(), name.encode()
        name = Text(ctypes.cast(ctypes.c_char_p(text), ctypes.c_void_p), len(text))
        if self.c.TVMFFIFunctionGetGlobal(ctypes.byref(name), ctypes.byref(function)) != 0 or not function:
            raise RuntimeError(f"there is no {text}")
        return self.call(function, *arguments)

    def version(self) -> list[int]:
        numbers = (ctypes.c_uint32 * 3)()
        self.c.TVMFFIGetVersion(numbers)
        return list(numbers)

    def functions(self) -> list[str]:
        name_of = ctypes.c_void_p(self.call_global("ffi.FunctionListGlobalNamesFunctor").payload)
        count = self.call(name_of, Any(1, 0, -1)).payload
        return sorted(str(self.call(name_of, Any(1, 0, index))) for index in range(count))

    def types(self) -> dict[str, Type]:
        keys = self.call_global("ffi.GetRegisteredTypeKeys")
        found = {}
        for index in range(self.call_global("ffi.ArraySize", keys).payload):
            key, type_index = str(self.call_global("ffi.ArrayGetItem", keys, Any(1, 0, index))), ctypes.c_int32()
            text = Text(ctypes.cast(ctypes.c_char_p(key.encode()), ctypes.c_void_p), len(key))
            if self.c.TVMFFITypeKeyToIndex(ctypes.byref(text), ctypes.byref(type_index)) != 0:
                raise RuntimeError(f"there is no type {key}")
            found[key] = self.c.TVMFFIGetTypeInfo(type_index).contents
        return found


def members(info: Type) -> list[str]:
    """Return the names of the fields and methods of a type and its ancestors."""
    line = [*(info.ancestors[depth].contents for depth in range(info.depth)), info]
    fields = {str(one.fields[index].name) for one in line for index in range(one.num_fields)}
    methods = {str(one.methods[index].name) for one in line for index in range(one.num_methods)}
    return sorted(fields | methods)


def served(path: Path) -> dict:
    library = Library(path)
    types = library.types()
    return {
        "version": library.version(),
        "symbols": sorted(symbol_table(path).defined),
        "functions": library.functions(),
        "types": {key: members(info) for key, info in types.items()},
        "built-in": sorted(info.type_index for info in types.values() if info.type_index < 128),
    }


if __name__ == "__main__":
    print(json.dumps(served(Path(sys.argv[1]).resolve()), indent=1))
