#!/usr/bin/env python3
"""Reads the serialised executable of a model, and writes it as C for firmware: its bytes, and the functions that it calls.

usage: executable.py EXECUTABLE NAME >NAME.c
       executable.py --builtins EXECUTABLE... >builtins.c      for models in system libraries: the builtins that they call

EXECUTABLE is a file with the bytes that follow the kind `relax.VMExecutable` in a library compiled by TVM, or with the result of the
module's `save_to_bytes`. The firmware uses the weights in place, so they are aligned: the padding of the first is an additional memory
scope that no constant refers to, that of others a String constant that no instruction uses.
"""

import dataclasses
import pathlib
import struct
import sys

import quote
from failure import Failure

MAGIC = 0xD225DE2F4214151E
VERSION = "0.14"
TENSOR_MAGIC = 0xDD5E40F096B4A13F
PACKED, BYTECODE = 0, 1
INT, FLOAT, DTYPE, TEXT, SHAPE, TENSOR = 1, 3, 5, 65, 69, 70
BUILTIN = "vm.builtin."


class Malformed(Exception):
    """The bytes are not an executable that this program knows."""


class Reader:
    """Reads the fields of a serialised executable in order."""

    def __init__(self, data):
        self.data = data
        self.at = 0

    def take(self, form):
        try:
            (value,) = struct.unpack_from("<" + form, self.data, self.at)
        except struct.error:
            raise Malformed("the executable is truncated") from None
        self.at += struct.calcsize("<" + form)
        return value

    def bytes(self, count):
        if count > len(self.data) - self.at:
            raise Malformed("the executable is truncated")
        self.at += count
        return self.data[self.at - count : self.at]

    def text(self):
        try:
            return self.bytes(self.take("Q")).decode()
        except UnicodeDecodeError:
            raise Malformed("a name in the executable is not valid UTF-8") from None

    def words(self):
        return [self.take("q") for _ in range(self.take("Q"))]


@dataclasses.dataclass
class Function:
    """An entry of the function table."""

    kind: int
    name: str
    instructions: range
    parameters: list


@dataclasses.dataclass
class Constant:
    """A constant: its type index, its value (the shape and dtype of a tensor), and where it is in the executable."""

    kind: int
    value: object
    start: int
    end: int
    data: int | None = None
    """Offset of a tensor's data."""


@dataclasses.dataclass
class DataType:
    """An element type of tensors, by the numbers of DLPack."""

    code: int
    bits: int
    lanes: int

    NAMES = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 6: "bool"}

    def __str__(self):
        name = self.NAMES.get(self.code, f"code{self.code}_")
        return name if name == "bool" else f"{name}{self.bits}" + (f"x{self.lanes}" if self.lanes != 1 else "")

    @property
    def bytes(self):
        return (self.bits * self.lanes + 7) // 8


def read_constant(reader):
    start = reader.at
    kind, data = reader.take("i"), None
    if kind == INT:
        value = reader.take("q")
    elif kind == FLOAT:
        value = reader.take("d")
    elif kind == DTYPE:
        value = read_dtype(reader)
    elif kind == TEXT:
        value = reader.text()
    elif kind == SHAPE:
        value = tuple(reader.words())
    elif kind == TENSOR:
        if reader.take("Q") != TENSOR_MAGIC:
            raise Malformed("a constant is not a tensor")
        reader.bytes(8 + 4 + 4)
        ndim, dtype = reader.take("i"), read_dtype(reader)
        value = (tuple(reader.take("q") for _ in range(ndim)), dtype)
        size = reader.take("Q")
        data = reader.at
        reader.bytes(size)
    else:
        raise Malformed(f"there is no constant of type {kind}")
    return Constant(kind, value, start, reader.at, data)


def read_dtype(reader):
    return DataType(reader.take("B"), reader.take("B"), reader.take("H"))


def read_function(reader):
    kind, name = reader.take("i"), reader.text()
    start, end = reader.take("q"), reader.take("q")
    reader.bytes(2 * 8)
    return Function(kind, name, range(start, end), [reader.text() for _ in range(reader.take("Q"))])


class Executable:
    """The parts of a serialised executable."""

    def __init__(self, data):
        self.data = data
        reader = Reader(data)
        if reader.take("Q") != MAGIC:
            raise Malformed("this is not an executable with memory scopes")
        version = reader.text()
        if version != VERSION:
            raise Malformed(f"the executable has version {version}, not {VERSION}")
        self.functions = [read_function(reader) for _ in range(reader.take("Q"))]
        self.scopes_at = reader.at
        self.scopes = [(reader.take("q"), reader.text()) for _ in range(reader.take("Q"))]
        self.scopes_end = reader.at
        self.constants = [read_constant(reader) for _ in range(reader.take("Q"))]
        self.constants_end = reader.at
        self.offsets = reader.words()
        self.words = reader.words()
        self.check_instructions()

    def check_instructions(self):
        """Raises Malformed unless instructions and the arguments of calls are where they should be."""
        places = range(len(self.words))
        for at in self.offsets:
            is_call = at in places and self.words[at] == 1
            count = self.words[at + 3] if is_call and at + 3 in places else 0
            words = self.words[at + 4 : at + 4 + count] if count > 0 else []
            if at not in places or is_call and not (
                at + 3 in places
                and len(words) == count
                and self.words[at + 2] in range(len(self.functions))
                and all(self.is_argument(word) for word in words)
            ):
                raise Malformed("an instruction of the executable is damaged")
        for function in self.functions:
            steps = function.instructions
            if function.kind == BYTECODE and not 0 <= steps.start <= steps.stop <= len(self.offsets):
                raise Malformed(f"the function {function.name} has no instructions")

    def is_argument(self, word):
        kind, value = (word >> 56) & 0xFF, word & (1 << 56) - 1
        return kind < 4 and (kind != 2 or value < len(self.constants))

    @property
    def packed(self):
        """Names of the functions that the executable calls but does not contain."""
        return [function.name for function in self.functions if function.kind == PACKED]

    @property
    def kernels(self):
        return [name for name in self.packed if not name.startswith(BUILTIN)]

    @property
    def builtins(self):
        return [name.removeprefix(BUILTIN) for name in self.packed if name.startswith(BUILTIN)]

    @property
    def weight_bytes(self):
        return sum(constant.end - constant.data for constant in self.constants if constant.kind == TENSOR)

    def calls(self, function):
        """Yields the calls of a bytecode function in order: name, arguments as (kind, value), destination."""
        for number in function.instructions:
            at = self.offsets[number]
            if self.words[at] != 1:
                continue
            destination, callee, count = self.words[at + 1 : at + 4]
            arguments = [self.argument(word) for word in self.words[at + 4 : at + 4 + count]]
            yield self.functions[callee].name, arguments, destination

    def has_branches(self):
        return any(self.words[at] == 4 for at in self.offsets)

    def argument(self, word):
        """Decodes an argument word: ("register", number), ("constant", its value), ("int", value) or ("function", number)."""
        kind, value = (word >> 56) & 0xFF, ((word & (1 << 56) - 1) ^ 1 << 55) - (1 << 55)
        name = ("register", "int", "constant", "function")[kind]
        return (name, self.constants[value].value) if name == "constant" else (name, value)


def padded(executable, offset=0, alignment=None):
    """Returns the bytes of the executable with the data of each tensor aligned, in a file where the executable begins at an offset.

    The data is aligned to its elements and to at least four bytes, if the alignment is not given. An alignment adds no memory scope, of
    which TVM's machine would warn.
    """
    out = bytearray(executable.data[: executable.scopes_at])
    scopes = executable.data[executable.scopes_at + 8 : executable.scopes_end]
    first = next((constant for constant in executable.constants if constant.kind == TENSOR), None)
    # An entry has 16 bytes and its text.
    padding = -(first.data + 16) % 8 if not alignment and first and first.data % 8 else None
    entry = b"" if padding is None else struct.pack("<qQ", -1, padding) + b"-" * padding
    out += struct.pack("<Q", len(executable.scopes) + (padding is not None)) + scopes + entry
    count_at = len(out)
    out += bytes(8)
    numbers = []
    count = 0
    for constant in executable.constants:
        start = len(out)
        if constant.kind == TENSOR:
            needed = alignment or max(4, 1 << (constant.value[1].bytes - 1).bit_length())
            data = offset + start + constant.data - constant.start
            if data % needed:
                # A String constant has 12 bytes and its text.
                text = -(data + 12) % needed
                out += struct.pack("<iQ", TEXT, text) + b"-" * text
                count += 1
        numbers.append(count)
        out += executable.data[constant.start : constant.end]
        count += 1
    out[count_at : count_at + 8] = struct.pack("<Q", count)
    out += renumbered(executable, numbers)
    return bytes(out)


def renumbered(executable, numbers):
    """Returns the instructions with other numbers of constants."""
    if numbers == list(range(len(numbers))):
        return executable.data[executable.constants_end :]
    if any(constant >= 0 for constant, _ in executable.scopes):
        raise Malformed("constants with memory scopes cannot be aligned")
    words = list(executable.words)
    for at in executable.offsets:
        if words[at] != 1:
            continue
        for place in range(at + 4, at + 4 + words[at + 3]):
            if words[place] >> 56 == 2:
                words[place] = 2 << 56 | numbers[words[place] & (1 << 56) - 1]
    lists = (executable.offsets, words)
    return b"".join(struct.pack(f"<Q{len(list_)}q", len(list_), *list_) for list_ in lists)


def bytes_as_c(data, name):
    """Yields C code with the bytes, as words for their alignment, in the byte order of the core."""
    yield f"static const uint64_t {name}[] = {{"
    words = struct.unpack(f"<{-(-len(data) // 8)}Q", data + bytes(-len(data) % 8))
    for start in range(0, len(words), 4):
        yield "  " + " ".join(f"UINT64_C(0x{word:x})," for word in words[start : start + 4])
    yield "};\n"


def functions_as_c(executable):
    for name in map(quote.symbol, executable.kernels):
        yield f"int32_t __tvm_ffi_{name}(void*, void*, int32_t, void*);"
    yield "\nstatic const FerriteModelKernel kernels[] = {"
    for name in executable.kernels:
        yield f'  {{{quote.c_literal(name)}, (TVMFFISafeCallType)__tvm_ffi_{name}}},'
    yield "};\n"
    yield from builtins_as_c([executable])


def builtins_as_c(executables):
    """Yields C code with the list of the builtins that the models of the firmware call."""
    builtins = dict.fromkeys(quote.symbol(name.replace(".", "_")) for executable in executables for name in executable.builtins)
    for name in builtins:
        yield f"extern const char FerriteModelBuiltin_{name};"
    yield "const void* const FerriteModelBuiltins[] = {"
    for name in builtins:
        yield f"  &FerriteModelBuiltin_{name},"
    yield "  NULL,\n};\n"


def as_c(data, name):
    """Yields C code with the executable, and the function NAME_create that makes a model of it."""
    executable = Executable(data)
    data = padded(executable)
    yield f"/* {name}.c: the model {name}, {len(data)} bytes; written by targets/model/executable.py. */"
    yield "#include <tvm_ffi_model.h>\n"
    yield from functions_as_c(executable)
    yield from bytes_as_c(data, "executable")
    yield f"int {name}_create(TVMFFIObjectHandle* model) {{"
    yield f"  return FerriteModelCreate(executable, {len(data)}, kernels, sizeof(kernels) / sizeof(kernels[0]), model);"
    yield "}"


def main(arguments):
    only_builtins = arguments[:1] == ["--builtins"]
    paths = arguments[1:] if only_builtins else arguments[:1]
    if not paths or not only_builtins and len(arguments) != 2:
        sys.exit(__doc__)
    try:
        name = None if only_builtins else quote.checked_model_name(arguments[1])
        data = [pathlib.Path(path).read_bytes() for path in paths]
        lines = builtins_as_c(list(map(Executable, data))) if only_builtins else as_c(data[0], name)
        print("\n".join(lines))
    except (Malformed, Failure) as error:
        sys.exit(f"error: {', '.join(paths)}: {quote.visible(error)}")


if __name__ == "__main__":
    main(sys.argv[1:])
