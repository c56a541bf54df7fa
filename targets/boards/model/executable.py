#!/usr/bin/env python3
"""Writes the serialised executable of a model as C, for firmware: its bytes, and the functions that it calls.

usage: executable.py EXECUTABLE NAME >NAME.c

EXECUTABLE is a file with the bytes that follow the kind `relax.VMExecutable` in a library compiled by TVM, or with the result of the
module's `save_to_bytes`. The firmware uses the weights in place, so they are aligned: the padding is an additional memory scope that
no constant refers to.
"""

import pathlib
import struct
import sys

MAGIC = 0xD225DE2F4214151E
TENSOR_MAGIC = 0xDD5E40F096B4A13F
ALIGNMENT = 8


class Reader:
    """Reads the fields of a serialised executable in order."""

    def __init__(self, data):
        self.data = data
        self.at = 0

    def take(self, form):
        (value,) = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return value

    def skip(self, count):
        self.at += count

    def text(self):
        count = self.take("Q")
        self.skip(count)
        return self.data[self.at - count : self.at].decode()


def functions(reader):
    """Returns the names of the functions that the executable calls but does not contain."""
    packed = []
    for _ in range(reader.take("Q")):
        kind = reader.take("i")
        name = reader.text()
        if kind == 0:
            packed.append(name)
        reader.skip(4 * 8)
        for _ in range(reader.take("Q")):
            reader.text()
    return packed


def first_weight(reader):
    """Returns the offset of the first tensor's data; None without a tensor. The reader is at the constants."""
    for _ in range(reader.take("Q")):
        kind = reader.take("i")
        if kind == 70:
            assert reader.take("Q") == TENSOR_MAGIC, "this is no tensor"
            reader.skip(8 + 4 + 4)
            ndim = reader.take("i")
            reader.skip(4 + 8 * ndim + 8)
            return reader.at
        if kind in (1, 3):
            reader.skip(8)
        elif kind == 5:
            reader.skip(4)
        elif kind == 65:
            reader.text()
        elif kind == 69:
            reader.skip(8 * reader.take("Q"))
        else:
            sys.exit(f"error: there is no constant of type {kind}")
    return None


def parse(data):
    """Returns the functions that the executable calls, and its bytes with the data of the first tensor aligned. The data of later
    tensors is then aligned to four bytes, unless texts precede it."""
    reader = Reader(data)
    if reader.take("Q") != MAGIC:
        sys.exit("error: this is no executable with memory scopes")
    reader.text()
    packed = functions(reader)
    scopes = reader.at
    count = reader.take("Q")
    for _ in range(count):
        reader.take("q")
        reader.text()
    end = reader.at
    start = first_weight(reader)
    if start is None or start % ALIGNMENT == 0:
        return packed, data
    # An entry has 16 bytes and its text.
    padding = b"-" * (-(start + 16) % ALIGNMENT)
    entry = struct.pack("<qQ", -1, len(padding)) + padding
    return packed, data[:scopes] + struct.pack("<Q", count + 1) + data[scopes + 8 : end] + entry + data[end:]


def bytes_as_c(data):
    """Yields C code with the bytes, as words for their alignment, in the byte order of the core."""
    yield "static const uint64_t executable[] = {"
    words = struct.unpack(f"<{-(-len(data) // 8)}Q", data + bytes(-len(data) % 8))
    for start in range(0, len(words), 4):
        yield "  " + " ".join(f"UINT64_C(0x{word:x})," for word in words[start : start + 4])
    yield "};\n"


def functions_as_c(packed):
    kernels = [name for name in packed if not name.startswith("vm.builtin.")]
    for name in kernels:
        yield f"int32_t __tvm_ffi_{name}(void*, void*, int32_t, void*);"
    yield "\nstatic const FerriteModelKernel kernels[] = {"
    for name in kernels:
        yield f'  {{"{name}", (TVMFFISafeCallType)__tvm_ffi_{name}}},'
    yield "};\n"
    builtins = [name.removeprefix("vm.builtin.").replace(".", "_") for name in packed if name not in kernels]
    for name in builtins:
        yield f"extern const char FerriteModelBuiltin_{name};"
    yield "const void* const FerriteModelBuiltins[] = {"
    for name in builtins:
        yield f"  &FerriteModelBuiltin_{name},"
    yield "  NULL,\n};\n"


def main(path, name):
    packed, data = parse(pathlib.Path(path).read_bytes())
    print(f"/* {name}.c: the model {name}, {len(data)} bytes; written by targets/boards/model/executable.py. */")
    print("#include <tvm_ffi_model.h>\n")
    print("\n".join(functions_as_c(packed)))
    print("\n".join(bytes_as_c(data)))
    print(f"int {name}_create(TVMFFIObjectHandle* model) {{")
    print(f"  return FerriteModelCreate(executable, {len(data)}, kernels, sizeof(kernels) / sizeof(kernels[0]), model);")
    print("}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
