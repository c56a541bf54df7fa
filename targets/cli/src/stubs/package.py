"""Imports a package, and prints as JSON the global functions and types that it registers.

usage: python -c SOURCE PACKAGE. The status is 4 if the package or tvm_ffi is not installed.
"""

import ctypes
import importlib
import json
import sys


def fail(message, status):
    print(message, file=sys.stderr)
    sys.exit(status)


try:
    import tvm_ffi
except ModuleNotFoundError:
    fail(f"{sys.executable} has no package tvm_ffi: pip install apache-tvm-ffi", 4)


class Text(ctypes.Structure):
    """The C record TVMFFIByteArray."""

    _fields_ = (("data", ctypes.c_void_p), ("size", ctypes.c_size_t))

    def __str__(self):
        return ctypes.string_at(self.data, self.size).decode(errors="replace") if self.size else ""


class Field(ctypes.Structure):
    """The C record TVMFFIFieldInfo."""

    _fields_ = (("name", Text), ("doc", Text), ("metadata", Text), ("flags", ctypes.c_int64), ("rest", ctypes.c_int64 * 8))


class Method(ctypes.Structure):
    """The C record TVMFFIMethodInfo."""

    _fields_ = (("name", Text), ("doc", Text), ("metadata", Text), ("flags", ctypes.c_int64), ("rest", ctypes.c_int64 * 2))


class Metadata(ctypes.Structure):
    """The C record TVMFFITypeMetadata."""

    _fields_ = (("doc", Text),)


class Any(ctypes.Structure):
    """The C record TVMFFIAny."""

    _fields_ = (("type_index", ctypes.c_int32), ("rest", ctypes.c_uint32), ("payload", ctypes.c_int64))


class Column(ctypes.Structure):
    """The C record TVMFFITypeAttrColumn."""

    _fields_ = (("data", ctypes.POINTER(Any)), ("size", ctypes.c_int32), ("begin_index", ctypes.c_int32))


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
    ("metadata", ctypes.POINTER(Metadata)),
)


def registered():
    functions = set(tvm_ffi.registry.list_global_func_names())
    return functions, {str(key) for key in tvm_ffi.get_global_func("ffi.GetRegisteredTypeKeys")()}


def member(info):
    texts = {"name": str(info.name), "doc": str(info.doc) or None, "metadata": str(info.metadata) or None}
    return {**texts, "flags": info.flags}


def has_derived_init(index):
    """Return whether a class has a constructor that is derived from its fields: a type attribute."""
    name = b"__ffi_init__"
    text = Text(ctypes.cast(ctypes.c_char_p(name), ctypes.c_void_p), len(name))
    column = tvm_ffi.LIB.TVMFFIGetTypeAttrColumn(ctypes.byref(text))
    place = index - column.contents.begin_index if column else -1
    return place >= 0 and place < column.contents.size and column.contents.data[place].type_index != 0


def describe(key):
    index, name = ctypes.c_int32(), key.encode()
    text = Text(ctypes.cast(ctypes.c_char_p(name), ctypes.c_void_p), len(name))
    if tvm_ffi.LIB.TVMFFITypeKeyToIndex(ctypes.byref(text), ctypes.byref(index)) != 0:
        fail(f"the type {key} is gone", 1)
    info = tvm_ffi.LIB.TVMFFIGetTypeInfo(index).contents
    return {
        "key": key,
        "parent": str(info.ancestors[info.depth - 1].contents.key) if info.depth else None,
        "has_derived_init": has_derived_init(index.value),
        "doc": (str(info.metadata.contents.doc) or None) if info.metadata else None,
        "fields": [member(info.fields[place]) for place in range(info.num_fields)],
        "methods": [member(info.methods[place]) for place in range(info.num_methods)],
    }


def metadata(name):
    ask = tvm_ffi.get_global_func("ffi.GetGlobalFuncMetadata")
    return str(ask(name)) or None


def main(package):
    tvm_ffi.LIB.TVMFFIGetTypeInfo.restype = ctypes.POINTER(Type)
    tvm_ffi.LIB.TVMFFIGetTypeAttrColumn.restype = ctypes.POINTER(Column)
    functions, types = registered()
    try:
        importlib.import_module(package)
    except ModuleNotFoundError as error:
        parts = package.split(".")
        own = error.name in {".".join(parts[: place + 1]) for place in range(len(parts))}
        fail(f"{sys.executable} has no package {package}" if own else f"importing {package}: {error}", 4)
    except Exception as error:
        fail(f"importing {package}: {type(error).__name__}: {error}", 1)
    after = registered()
    found = {
        "functions": {},
        "global_functions": {name: metadata(name) for name in sorted(after[0] - functions)},
        "types": [describe(key) for key in sorted(after[1] - types)],
    }
    print("\n" + json.dumps(found))


main(sys.argv[1])
