"""Embeds an executable in its library, with the weights aligned as kernels need them: the runtime then uses them in place, and copies none."""

import pathlib
import struct
import sys

import quote
from executable import Executable, Malformed, padded

ALIGNMENT = 64
"""Alignment of weights on hosts, in bytes."""
MOST_BYTES = 1 << 30
"""Larger data needs a section of its own, which TVM knows."""
KIND = "relax.VMExecutable"
DATA = {"linux": '.section .rodata,"a"', "darwin": ".section __TEXT,__const"}
"""Section of constant data in the assembler of each system."""


def packing(executable):
    """Returns the arguments of `export_library` that embed an executable; none where TVM has to."""
    mod = executable.mod
    is_code = all(one.is_compilation_exportable() and not one.imports for one in mod.imports)
    return {"fpack_imports": pack} if sys.platform in DATA and mod.imports and is_code else {}


def pack(mod, _is_system_lib, prefix, folder):
    """Writes the modules of a library as assembly. Returns its path."""
    folder = pathlib.Path(folder)
    serialised = folder / "executable"
    mod.write_to_file(str(serialised), "")
    data = serialised.read_bytes()
    blob, path = folder / "devc.bin", folder / "devc.s"
    blob.write_bytes(modules(data))
    path.write_text(assembly(prefix + "__tvm_ffi__library_bin", blob))
    return str(path)


def modules(executable):
    """Returns the stream of a library's modules: the executable, which imports the library's functions."""
    # Row pointers of the import tree, and its only child.
    head = struct.pack("<6Q", 3, 0, 1, 1, 1, 1) + struct.pack("<Q", len(KIND)) + KIND.encode()
    # The length of the stream, and that of the executable.
    offset = 8 + len(head) + 8
    try:
        executable = padded(Executable(executable), offset, ALIGNMENT)
    except Malformed:
        pass  # Of another release of TVM: its weights are copied.
    stream = head + struct.pack("<Q", len(executable)) + executable + struct.pack("<Q", 4) + b"_lib"
    return struct.pack("<Q", len(stream)) + stream


def assembly(symbol, blob):
    lines = [DATA[sys.platform], f".balign {ALIGNMENT}", f".globl {symbol}", f"{symbol}:", f".incbin {quote.c_literal(str(blob))}"]
    if sys.platform == "linux":
        lines += [f".type {symbol}, %object", f".size {symbol}, . - {symbol}", '.section .note.GNU-stack,"",%progbits']
    else:
        lines = [line.replace(symbol, "_" + symbol) for line in lines]
    return "\n".join(lines) + "\n"
