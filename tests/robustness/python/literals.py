"""Random literals of Python source, chosen near the borders where the library's representation changes."""

from __future__ import annotations

from random import Random

INTEGERS = (0, 1, -1, 2, 3, 7, 127, 128, 255, 2**31 - 1, 2**31, -(2**31), 2**53 + 1, 2**63 - 1, -(2**63))
UNREPRESENTABLE = (2**63, -(2**63) - 1, 2**64, 2**100)  # neither is an int64
FLOATS = ("0.0", "-0.0", "1.5", "-2.25", "1e-320", "1e308", "float('inf')", "float('-inf')", "float('nan')", "0.1", "1e16", "123456.789")
# A string or bytes of up to seven bytes is stored in the Any itself.
TEXTS = ("", "a", "key", "abcdef", "abcdefg", "abcdefgh", "é", "漢字", "漢字漢", "a\0b", "seven\0\0", "😀", "😀abc", "😀abcd", 'q"q', "line\nline", "\\")
BYTE_TEXTS = (b"", b"a", b"abcdef", b"abcdefg", b"abcdefgh", b"\0", b"\xff\xfe", b"\0\0\0\0\0\0\0", b"x" * 100)
DTYPES = ("int8", "int32", "int64", "uint8", "uint64", "float16", "float32", "float64", "bool", "bfloat16", "float8_e4m3fn", "float4_e2m1fn", "int32x4", "float32x4", "handle", "int4", "uint1", "custom[a]8", "float8_e8m0fnu", "float6_e3m2fn")
BAD_DTYPES = ("", "int", "int32x", "int32x0", "intx4", "float33", "int-8", "int8x70000", "custom[", "custom[a", "flo", "int32 ", "99", "int999999999999", "uint8x1", "e4m3")
NUMPY_DTYPES = ("int8", "int32", "int64", "uint8", "uint16", "uint64", "float16", "float32", "float64", "bool", "complex64", "complex128")
DEVICES = ("cpu", "cpu:0", "cpu:3", "cuda", "cuda:1", "llvm", "opencl:2", "vulkan", "metal", "rocm:0", "webgpu", "hexagon", "ext_dev:1", "cuda_host", "vpi", "oneapi", "trn")
BAD_DEVICES = ("", "cpu:", "cpu:x", "cpu:-1", "nothing", "cuda:1:2", ":0", "cpu 0", "cpu:99999999999")
KINDS = ("ValueError", "TypeError", "IndexError", "KeyError", "AttributeError", "RuntimeError", "AssertionError", "MemoryError", "NotImplementedError", "ZeroDivisionError", "OSError", "StopIteration", "UnicodeError", "OverflowError", "RecursionError")
JSON_TEXTS = (
    "null", "true", "[1, 2.5, \"a\"]", '{"a": {"b": [null]}}', "1e400", "-0", "-0.0", "9223372036854775807", "9223372036854775808", "1E5", "[1,]", "{\"a\" 1}", "", " ", "[", '"\\u00e9"',
    '"\\ud83d\\ude00"', '"\\ud800"', "NaN", "Infinity", "-Infinity", '{"a": 1, "a": 2}', "01", "1.", ".5", "'a'", "[1] x", '"\t"', "nul", "\ufeff1", '"\\x"', "1e-400", "[[[[[[]]]]]]", "0.1", "1e16", "123456789012345678901234567890",
)  # fmt: skip

# Those that take addresses are left out: a number of a caller's choice is not an address.
LIBRARY_NAMES = tuple(
    "ffi." + name
    for name in (
        "Array ArrayContains ArrayGetItem ArraySize Bytes ContainerFindFirstNonCPUDevice DeepCopy Dict DictClear DictCount DictErase DictForwardIterFunctor DictGetItem "
        "DictGetItemOrMissing DictSetItem DictSize FromJSONGraph FromJSONGraphString FunctionListGlobalNamesFunctor FunctionRemoveGlobal GetFirstStructuralMismatch "
        "GetGlobalFuncMetadata GetInvalidObject GetKwargsObject List ListAppend ListClear ListContains ListErase ListEraseRange ListGetItem ListInsert ListPop "
        "ListReplaceSlice ListReserve ListReverse ListSetItem ListSize MakeObjectFromPackedArgs Map MapCount MapForwardIterFunctor MapGetItem MapGetItemOrMissing MapSize "
        "ModuleClearImports ModuleGetFunction ModuleGetFunctionDoc ModuleGetFunctionMetadata ModuleGetKind ModuleGetPropertyMask ModuleGetWriteFormats ModuleGlobalsAdd "
        "ModuleGlobalsRemove ModuleImplementsFunction ModuleImportModule ModuleInspectSource ModuleLoadFromFile RecursiveEq RecursiveGe RecursiveGt RecursiveHash RecursiveLe "
        "RecursiveLt ReprPrint Shape String StructuralEqual StructuralHash StructuralKey StructuralKeyEqual StructuralMap StructuralMutate StructuralVisit StructuralWalk "
        "SystemLib ToJSONGraph ToJSONGraphString VisitInterrupt json.Parse json.Stringify"
    ).split()
)


def library_name(random: Random) -> str:
    return repr(random.choice(LIBRARY_NAMES))


def integer(random: Random) -> str:
    return str(random.choice(INTEGERS) if random.random() < 0.5 else random.randint(-10, 10))


def index(random: Random) -> str:
    return str(random.randint(-5, 6)) if random.random() < 0.95 else integer(random)


def wrong_index(random: Random) -> str:
    return random.choice(("1.5", "'a'", "None", "True", "2**70", "b'x'", "()", "np.int64(1)", "[0]"))


def size(random: Random) -> str:
    return str(random.choice((0, 1, 2, 3, 4, 7, 8, 9, 16, 17, 33)))


def text(random: Random) -> str:
    if random.random() < 0.1:
        return f"{random.choice(TEXTS[:6])!r} * {random.randint(0, 40)}"
    return ascii(random.choice(TEXTS))


def byte_text(random: Random) -> str:
    return repr(random.choice(BYTE_TEXTS))


def boolean(random: Random) -> str:
    return random.choice(("True", "False"))


def floating(random: Random) -> str:
    return random.choice(FLOATS)


def dtype(random: Random) -> str:
    return repr(random.choice(DTYPES if random.random() < 0.8 else BAD_DTYPES))


def numpy_dtype(random: Random) -> str:
    return repr(random.choice(NUMPY_DTYPES))


def device(random: Random) -> str:
    return repr(random.choice(DEVICES if random.random() < 0.8 else BAD_DEVICES))


def kind(random: Random) -> str:
    return random.choice(KINDS)


def json_text(random: Random) -> str:
    return ascii(random.choice(JSON_TEXTS))


def slice_(random: Random) -> str:
    parts = [random.choice(("", "", str(random.randint(-5, 7)))) for _ in range(2)]
    if random.random() < 0.4:
        parts.append(random.choice(("1", "-1", "2", "-2", "3", "", "0")))
    return ":".join(parts)


def dimensions(random: Random) -> str:
    sizes = [random.choice((0, 1, 1, 2, 3, 4, 5)) for _ in range(random.choice((0, 1, 1, 2, 2, 3, 4)))]
    return repr(tuple(sizes))


def scalar(random: Random) -> str:
    maker = random.choice((integer, integer, text, text, floating, boolean, byte_text))
    return "None" if random.random() < 0.08 else maker(random)


def unusual(random: Random) -> str:
    """Values for which a conversion has rules of its own, or that it refuses."""
    return random.choice(
        (
            *map(str, UNREPRESENTABLE), "1 + 2j", "object", "...", "NotImplemented", "{1, 2}", "range(3)", "slice(1, 2)", "np.float32(1.5)", "np.int8(3)", "np.bool_(True)",
            "bytearray(b'ab')", "memoryview(b'ab')", "np.dtype('int32')", "np.arange(3)", "tvm_ffi.float32", "tvm_ffi.device('cpu')", "tvm_ffi.Shape((1, 2))", "ValueError('v')",
            "tvm_ffi.MISSING if hasattr(tvm_ffi, 'MISSING') else tvm_ffi.core.MISSING", "len", "lambda x: x", "Fraction(1, 3)", "Decimal('1.5')", "ctypes.c_void_p(0)", "type", "np.str_('ab')", "'\\ud800'",
        )
    )  # fmt: skip


def key(random: Random) -> str:
    maker = random.choice((text, integer, integer, floating, byte_text, boolean, short_tuple))
    return maker(random)


def short_tuple(random: Random) -> str:
    return f"({', '.join(scalar(random) for _ in range(random.randint(1, 3)))},)"


def value(random: Random, depth: int = 2) -> str:
    if depth == 0 or random.random() < 0.6:
        return scalar(random) if random.random() < 0.9 else unusual(random)
    return random.choice((values, values, items, library_values))(random, depth - 1)


def values(random: Random, depth: int = 1) -> str:
    if random.random() < 0.25:
        return random.choice((f"range({size(random)})", f"[{scalar(random)}] * {size(random)}", f"list({text(random)})"))
    return f"[{', '.join(value(random, depth) for _ in range(random.randint(0, 5)))}]"


def items(random: Random, depth: int = 1) -> str:
    if random.random() < 0.25:
        return f"{{i: str(i) for i in range({size(random)})}}"
    return f"{{{', '.join(f'{key(random)}: {value(random, depth)}' for _ in range(random.randint(0, 5)))}}}"


def library_values(random: Random, depth: int = 1) -> str:
    name = random.choice(("Array", "List", "Map", "Dict"))
    return f"tvm_ffi.{name}({(values if name in ('Array', 'List') else items)(random, depth)})"


PLACEHOLDERS = {
    "int": integer, "index": index, "wrongindex": wrong_index, "size": size, "string": text, "rawbytes": byte_text, "bool": boolean, "float": floating, "dtypename": dtype,
    "numpytype": numpy_dtype, "devicename": device, "kind": kind, "jsontext": json_text, "slice": slice_, "dims": dimensions, "scalar": scalar, "unusual": unusual, "key": key,
    "libraryname": library_name, "value": value, "values": values, "items": items,
}  # fmt: skip
