"""Checks whether a release of apache-tvm-ffi later than this wheel can run on its library.

Nothing of the release is run or loaded. Its requirements are read from its files: symbols that its binaries import, and
that its library exports to clients; the version and built-in types in its C header; global functions and reflected
members that its Python code names. They are compared with `served.json`, which `served.py` writes when the wheel is
built.
"""

from __future__ import annotations

import ast
import json
import re
import struct
from collections.abc import Iterator
from pathlib import Path

from ferrite_tvm_ffi_elf import Binary, binaries_of

SERVED = Path(__file__).resolve().parent / "ferrite_tvm_ffi.libs" / "served.json"


def missing(package: Path) -> list[str]:
    """Return descriptions of the features that the release in the folder `package` needs and this library lacks."""
    served = json.loads(SERVED.read_text())
    return [*header(package, served), *symbols(package, served), *sources(package, served)]


def header(package: Path, served: dict) -> Iterator[str]:
    """Report a different ABI version, and new built-in types."""
    path = package / "include" / "tvm" / "ffi" / "c_api.h"
    if not path.is_file():
        yield f"{path}, where its ABI is described"
        return
    text = path.read_text()
    version = [int(number) for number in re.findall(r"define TVM_FFI_VERSION_(?:MAJOR|MINOR) (\d+)", text)]
    if version != served["version"][:2]:
        yield f"version {'.'.join(map(str, version))} of the ABI"
    for name, index in re.findall(r"\b(kTVMFFI\w+) = (\d+)\b", text):
        if 64 < int(index) < 128 and name != "kTVMFFIStaticObjectEnd" and int(index) not in served["built-in"]:
            yield f"the built-in type {name}"


def symbols(package: Path, served: dict) -> Iterator[str]:
    """Report missing symbols that the release's binaries import and do not define, or that its library exports to clients."""
    library = package / "lib" / "libtvm_ffi.so"
    binaries = [path for path in binaries_of(package) if path != library]
    tables = [symbol_table(path) for path in binaries]
    needed = {name for table in tables for name in table.imported} - {name for table in tables for name in table.defined}
    if library.is_file():
        needed |= symbol_table(library).functions
    for name in sorted(needed - set(served["symbols"])):
        yield f"the symbol {name}"


def sources(package: Path, served: dict) -> Iterator[str]:
    """Report missing global functions `ffi.*`, and missing members of reflected classes `ffi.*`, that the release's code
    names."""
    functions, members = set(), set()
    for path in package.rglob("*.py"):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "_ffi_api":
                functions.add(f"ffi.{node.attr}")
            elif isinstance(node, ast.ClassDef):
                members |= {(key, name) for key in type_keys(node) for name in declared(node.body)}
    for path in [*package.rglob("*.py"), *package.glob("cython/*.p[yx][xi]")]:
        functions |= set(re.findall(r"""get_global_func\(\s*["'](ffi\.[\w.]+)["']""", path.read_text()))
    functions = {name for name in functions if not name.startswith("ffi.__")}
    for name in sorted(functions - set(served["functions"])):
        yield f"the global function {name}"
    for key, name in sorted(members):
        if name not in served["types"].get(key, ()):
            yield f"the member {name} of the class {key}"


def parsed(path: Path) -> ast.Module:
    """Parse a file; return an empty module if its syntax is newer than this Python, which cannot import it either."""
    try:
        return ast.parse(path.read_bytes())
    except SyntaxError:
        return ast.Module(body=[], type_ignores=[])
    except (RecursionError, MemoryError):
        raise ValueError(f"{path} is nested too deep") from None


def type_keys(node: ast.ClassDef) -> Iterator[str]:
    """Return the type keys `ffi.*` under which decorators register a Python class: `@register_object("ffi.Array")`."""
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and decorator.args and isinstance(decorator.args[0], ast.Constant):
            if str(decorator.args[0].value).startswith("ffi."):
                yield decorator.args[0].value


def declared(body: list[ast.stmt], *, is_stub: bool = False) -> Iterator[str]:
    """Return the fields that a class annotates at run time, and the methods that it declares for type checkers only."""
    for node in body:
        if isinstance(node, ast.If):
            yield from declared(node.body, is_stub=ast.unparse(node.test) == "TYPE_CHECKING")
        elif isinstance(node, ast.FunctionDef) and is_stub:
            if not node.name.startswith("__") and "property" not in map(ast.unparse, node.decorator_list):
                yield node.name
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and not is_stub:
            is_of_python = node.target.id.startswith(("__", "_tvm_ffi_")) or "ClassVar" in ast.unparse(node.annotation)
            if not is_of_python:
                yield node.target.id


class SymbolTable:
    """Dynamic symbols of a binary that belong to the C or C++ ABI."""

    def __init__(self) -> None:
        self.imported: set[str] = set()
        self.defined: set[str] = set()
        self.functions: set[str] = set()  # defined functions with global binding, part of the interface

    def add(self, name: str, info: int, *, is_defined: bool) -> None:
        binding, type_ = info >> 4, info & 15
        if not (name.startswith("TVMFFI") or "3tvm3ffi" in name):
            return
        if is_defined:
            self.defined.add(name)
            if binding == 1 and type_ == 2:
                self.functions.add(name)
        elif binding == 1:  # global; weak symbols may be missing
            self.imported.add(name)


def symbol_table(path: Path) -> SymbolTable:
    """Read the dynamic symbols of a 64-bit little-endian ELF file; return none for other files. Raises Damaged if it is cut."""
    table = SymbolTable()
    with Binary(path) as binary:
        if not binary.is_elf():
            return table
        binary.check()
        for symbols, names in binary.dynamic_symbols():
            for name, info, _, section, _, _ in struct.iter_unpack("<IBBHQQ", symbols):
                table.add(text_at(names, name), info, is_defined=section != 0)
    return table


def text_at(names: bytes, start: int) -> str:
    """Return a name in a table of names, whose last one ends with the table."""
    return names[start : names.find(b"\0", start)].decode(errors="replace") if start < len(names) else ""
