"""Bad input: every export refuses each kind of it, for each of its arguments.

The cases come from the signature of each export and from one good call of its table: each case changes one argument of that call.
Errors name the function, the argument, what is wanted and what was given.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator

import numpy as np
import pytest
import test_c
import test_cpp
import test_device as test_device_kernels
from conftest import BUILD, load, on_ferrite
from dlpack import READ_ONLY, array_of, tensor
from operators import COMMON, Operator, call, inputs_of
from signatures import Parameter, parameters

TABLES = {"c": test_c.OPERATORS, "cpp": test_cpp.OPERATORS, "rust": COMMON}


def exports(language: str) -> set[str]:
    """Return the names of the functions that a library exports."""
    symbols = subprocess.run(
        ["nm", "-D", "--defined-only", BUILD / f"kernels_{language}.so"], capture_output=True, text=True, check=True
    )
    return set(re.findall(r" T __tvm_ffi_(?!_)(\w+)", symbols.stdout))


class Call:
    """A good call of an operator, with an output of the caller, of which a test changes one argument."""

    def __init__(self, module, operator: Operator) -> None:
        self.module, self.operator, self.parameters = module, operator, parameters(module, operator.name)
        size = min((size for size in operator.sizes if size and min(size) > 1), key=np.prod)
        self.arguments = inputs_of(operator, size)
        if operator.out is not None:
            self.arguments.append(array_of(call(module, operator.name, *self.arguments, None), operator.out).copy())

    def __call__(self, **changed):
        """Call with some arguments in place of the good ones."""
        return call(self.module, self.operator.name, *(changed.get(one.name, self.arguments[one.index]) for one in self.parameters))

    def refuses(self, kind: type, text: str, parameter: Parameter | None = None, **changed) -> None:
        with pytest.raises(kind) as caught:
            self(**changed)
        message = str(caught.value)
        assert re.search(text, message), message
        assert f"`{self.operator.name}(" in message, message
        if parameter is not None:
            assert f"on argument #{parameter.index} when" in message, message
            assert re.search("[Ee]xpected .+(, | but )got ." if "NULL" not in text else "expected non-NULL", message), message

    @property
    def tensors(self) -> Iterator[tuple[Parameter, np.ndarray]]:
        return ((one, self.arguments[one.index]) for one in self.parameters if one.is_tensor)

    @property
    def outputs(self) -> Iterator[tuple[Parameter, np.ndarray]]:
        return ((one, array) for one, array in self.tensors if one.index in self.operator.writes or one.optional)


NAMED = {(language, one.name): one for language, table in TABLES.items() for one in reversed(table)}


@pytest.fixture(params=NAMED, ids="-".join)
def good(request) -> Call:
    return Call(load(request.param[0]), NAMED[request.param])


@pytest.mark.parametrize("language", TABLES)
def test_every_export_is_in_the_table(language):
    assert exports(language) == {one.name for one in TABLES[language]}


def test_the_call_itself_is_good(good):
    assert good() is None
    assert len(good.parameters) == len(good.arguments)


def test_count(good):
    count = len(good.arguments)
    for wrong in (count - 1, count + 1, 0):
        in_c = f"Expected {count} arguments when calling:\n  `{good.operator.name}\\(.*`, got {wrong}"
        in_rust = f"Mismatched number of arguments when calling: `{good.operator.name}\\(.*Expected {count} but got {wrong}"
        with pytest.raises(TypeError, match=f"{in_c}|{in_rust}"):
            call(good.module, good.operator.name, *[1] * wrong)


def test_type(good):
    for parameter in good.parameters:
        good.refuses(TypeError, "Mismatched type", parameter, **{parameter.name: "text"})
        if not parameter.optional:
            good.refuses(TypeError, "Mismatched type(.|\n)*got `?None", parameter, **{parameter.name: None})


def test_dtype(good):
    for parameter, array in good.tensors:
        for other, given in (("complex64", "type code 5 of 64 bits|complex64"), ("int16", "int16"), ("float64", "float64")):
            wrong = {parameter.name: np.zeros(array.shape, other)}
            if parameter.dtype == "T":  # a type that arguments have in common is refused on another of them
                good.refuses(TypeError, r"Mismatched \w+\.dtype", **wrong)
            else:
                text = rf"Mismatched {parameter.name}\.dtype.*\n.*\n.*expected {parameter.dtype}, got ({given})"
                good.refuses(TypeError, text, parameter, **wrong)


def test_rank(good):
    for parameter, array in good.tensors:
        # An input of any rank is refused on the output.
        text = r"Mismatched \w+\.ndim" if parameter.shape == ("...",) else rf"Mismatched {parameter.name}\.ndim"
        good.refuses(ValueError, text, **{parameter.name: array[None]})
        if parameter.shape != ("...",):
            good.refuses(
                ValueError,
                text + rf".*\n.*\n.*expected {array.ndim}, got 0",
                parameter,
                **{parameter.name: array.flat[0:1].reshape(())},
            )


def test_extent(good):
    shared = [symbol for one in good.parameters if one.is_tensor for axis in range(len(one.shape)) for symbol in one.symbols(axis)]
    for parameter, array in good.tensors:
        if parameter.dtype == "T" and parameter.shape == ("...",):  # a signature without shapes
            continue
        for axis in range(array.ndim):
            if parameter.shape != ("...",) and all(shared.count(symbol) < 2 for symbol in parameter.symbols(axis)):
                continue
            longer = np.concatenate([array, array.take([0], axis)], axis)
            good.refuses(ValueError, r"(Mismatched|Invalid) \w+\.shape\[\d\]", **{parameter.name: longer})


def test_strides(good):
    for parameter, array in good.tensors:
        if array.shape[-1] == 1:  # the stride of a single element means nothing
            continue
        spread = np.repeat(array, 2, -1)[..., ::2]
        good.refuses(ValueError, rf"Mismatched {parameter.name}\.strides", parameter, **{parameter.name: spread})


def test_device(good):
    """A kernel with variants for devices takes that of its first tensor, and refuses the next one."""
    has_variants = good.module is load("cpp") and good.operator.name in test_device_kernels.NAMES
    tensors = list(good.tensors)
    for parameter, array in tensors:
        chooses = has_variants and parameter == tensors[0][0]
        named, wanted, given = (tensors[1][0], "cuda", "cpu") if chooses else (parameter, "cpu", "cuda")
        text = rf"Mismatched {named.name}\.device_type.*\n.*\n.*expected {wanted}, got {given}"
        good.refuses(ValueError, text, named, **{parameter.name: tensor(array, device=(2, 0))})


def test_alignment(good):
    for parameter, array in good.tensors:
        if array.itemsize == 1:
            continue
        memory = np.zeros(array.nbytes + 64, "uint8")
        start = 1 - memory.ctypes.data % 8 + 8
        memory[start : start + array.nbytes] = array.reshape(-1).view("uint8")
        askew = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
        text = rf"Misaligned (Tensor |{parameter.name}.)data.*\n.*\n.*data alignment={array.itemsize} bytes, got an address with remainder 1"
        good.refuses(ValueError, text, parameter, **{parameter.name: askew})


def test_null(good):
    for parameter, array in good.tensors:
        good.refuses(ValueError, f"{parameter.name} data pointer is NULL", parameter, **{parameter.name: tensor(array, data=None)})


def test_overlap(good):
    for output, written in good.outputs:
        for other, array in good.tensors:
            if other == output:
                continue
            longest = max(written.nbytes, array.nbytes)
            step = 8 if longest > 8 else 4
            memory = np.zeros(step + longest, "uint8")
            # The shorter one begins inside the longer one.
            starts = (step, 0) if written.nbytes < array.nbytes else (0, step)
            first, second = (
                memory[start : start + one.nbytes].view(one.dtype).reshape(one.shape)
                for start, one in zip(starts, (written, array), strict=True)
            )
            second[...] = array
            text = rf"Overlapping ({output.name}|{other.name}) .*\n.*\n.*memory apart from argument #\d, got common bytes"
            good.refuses(ValueError, text, **{output.name: first, other.name: second})


def test_same_memory(good):
    """An operator of single elements or rows may write where it reads, except in Rust, where memory has one writer and no reader."""
    if good.operator.over is None:
        return
    source, out = good.parameters[good.operator.over], good.parameters[-1]
    expected = good.arguments[-1].copy()
    same = good.arguments[source.index].copy()
    good()
    if good.module is load("rust"):
        good.refuses(ValueError, "Overlapping out", out, **{source.name: same, out.name: same})
        return
    if good.operator.writes:  # called again, it would work on its own results
        return
    good(**{source.name: same, out.name: same})
    np.testing.assert_array_equal(same, expected)


def test_read_only(good):
    """Upstream's library does not keep the flag of DLPack."""
    for parameter, array in good.outputs:
        read_only = tensor(array, flags=READ_ONLY)
        if on_ferrite():
            good.refuses(ValueError, f"Read-only {parameter.name} ", parameter, **{parameter.name: read_only})
        else:
            assert good(**{parameter.name: read_only}) is None


def test_inputs_may_be_read_only(good):
    written = [one.index for one, _ in good.outputs]
    good(**{one.name: tensor(array, flags=READ_ONLY) for one, array in good.tensors if one.index not in written})


# Numbers that a kernel would read or write by, or that its rules exclude: an argument, the value of
# its first element or of the number itself, and what the error says.
VALUES = [
    ("rotary_embedding", "positions", -1, IndexError, r"Invalid positions\[0\] .*\n.*\n.*expected 0 to 511, got -1"),
    ("rotary_embedding", "positions", 512, IndexError, r"Invalid positions\[0\] .*\n.*\n.*expected 0 to 511, got 512"),
    ("rotary_embedding_interleaved", "positions", 1 << 40, IndexError, r"Invalid positions\[0\] .*\n.*\n.*got 1099511627776"),
    ("reshape_and_cache", "slots", -2, IndexError, r"Invalid slots\[0\] .*\n.*\n.*expected -1 to 7, got -2"),
    ("reshape_and_cache", "slots", 8, IndexError, r"Invalid slots\[0\] .*\n.*\n.*expected -1 to 7, got 8"),
    ("gather_cache", "slots", -1, IndexError, r"Invalid slots\[0\] .*\n.*\n.*expected 0 to 7, got -1"),
    ("copy_blocks", "pairs", 2, IndexError, r"Invalid pairs\[0\] .*\n.*\n.*expected 0 to 1, got 2"),
    ("swap_blocks", "sources", 2, IndexError, r"Invalid sources\[0\] .*\n.*\n.*expected 0 to 1, got 2"),
    ("swap_blocks", "targets", 3, IndexError, r"Invalid targets\[0\] .*\n.*\n.*expected 0 to 2, got 3"),
    ("paged_attention_decode", "context_lens", -1, IndexError, r"Invalid context_lens\[0\] .*\n.*\n.*expected 0 to 15, got -1"),
    ("paged_attention_decode", "context_lens", 16, IndexError, r"Invalid context_lens\[0\] .*\n.*\n.*expected 0 to 15, got 16"),
    ("paged_attention_decode", "block_tables", 20, IndexError, r"Invalid block_tables\[0\] .*\n.*\n.*expected 0 to 19, got 20"),
    ("groupnorm", "groups", 0, ValueError, r"Invalid groups .*\n.*\n.*expected 1 to 2147483647, got 0"),
    ("groupnorm", "groups", 4, ValueError, r"Invalid x\.shape\[1\] .*\n.*\n.*expected to be divisible by 4, got 6"),
    ("top_k_probabilities", "k", 0, ValueError, r"Invalid k .*\n.*\n.*expected 1 to 17, got 0"),
    ("top_k_probabilities", "k", 18, ValueError, r"Invalid k .*\n.*\n.*expected 1 to 17, got 18"),
]


@pytest.mark.parametrize("name, argument, value, kind, text", VALUES)
def test_value(c, name, argument, value, kind, text):
    good = Call(c, NAMED["c", name])
    array = good.arguments[next(one.index for one in good.parameters if one.name == argument)]
    if isinstance(array, np.ndarray):
        array.reshape(-1)[0] = value
    good.refuses(kind, text, **({} if isinstance(array, np.ndarray) else {argument: value}))


# Shapes that a kernel cannot work with.
EXTENTS = [
    ("silu_and_mul", "x", (3, 5), r"Invalid x\.shape\[1\] .*\n.*\n.*expected to be divisible by 2, got 5"),
    ("argmax_rows", "x", (3, 0), r"Invalid x\.shape\[1\] .*\n.*\n.*expected at least 1, got 0"),
    ("causal_softmax", "scores", (1, 3, 2), r"Invalid scores\.shape\[2\] .*\n.*\n.*expected at least 3, got 2"),
    ("rotary_cache", "cos_sin_cache", (4, 3), r"Invalid cos_sin_cache\.shape\[1\] .*\n.*\n.*divisible by 2, got 3"),
]


@pytest.mark.parametrize("name, argument, shape, text", EXTENTS)
def test_impossible_extent(c, name, argument, shape, text):
    Call(c, NAMED["c", name]).refuses(ValueError, text, **{argument: np.zeros(shape, "float32")})


def test_largest_k(c):
    gating, two = np.zeros((2, 4), "float32"), np.zeros((2, 5), "float32")
    with pytest.raises(ValueError, match=r"Invalid weights\.shape\[1\] .*\n.*\n.*expected at most 4, got 5"):
        call(c, "topk_softmax", gating, False, two, two.astype("int32"))


def test_heads_of_the_cache_must_divide_those_of_the_query(c):
    query, cache = np.zeros((1, 4, 8), "float32"), np.zeros((1, 2, 3, 8), "float32")
    rest = (np.zeros((1, 1), "int32"), np.ones(1, "int32"), 1.0, None)
    with pytest.raises(ValueError, match=r"Invalid query\.shape\[1\] .*\n.*\n.*expected to be divisible by 3, got 4"):
        call(c, "paged_attention_decode", query, cache, cache.copy(), *rest)
    for empty in (cache[:, :, :0], cache[:, :0]):
        with pytest.raises(ValueError, match=r"Invalid key_cache\.shape\[\d\] .*\n.*\n.*expected at least 1, got 0"):
            call(c, "paged_attention_decode", query, empty.copy(), empty.copy(), *rest)
