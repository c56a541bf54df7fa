#!/usr/bin/env python3
"""Runs a compiled model on Ferrite's library, by ctypes: in a process without TVM, whose library has the same symbols.

usage: execution.py LIBRARY MODEL FUNCTION INPUTS.npz OUTPUTS.npz

The arrays in INPUTS.npz are the arguments in order; OUTPUTS.npz has the results as output_0, output_1, ….
"""

import ctypes
import math
import sys

import numpy

CPU = 1
DL_TENSOR, OBJECTS, TENSOR, ARRAY = 7, 64, 70, 71
"""Type indices of the ABI."""
CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
"""DLPack's codes by numpy's kinds."""
KINDS = {code: kind for kind, code in CODES.items()}


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Any(ctypes.Structure):
    """`TVMFFIAny`."""

    _fields_ = [("type_index", ctypes.c_int32), ("zero", ctypes.c_uint32), ("pointer", ctypes.c_void_p)]


class Bytes(ctypes.Structure):
    """`TVMFFIByteArray`."""

    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t)]

    def __str__(self):
        return ctypes.string_at(self.data, self.size).decode(errors="replace")


class Sequence(ctypes.Structure):
    """The first fields of `TVMFFISeqCell`."""

    _fields_ = [("data", ctypes.POINTER(Any)), ("size", ctypes.c_int64)]


HEADER = 24
"""Bytes of `TVMFFIObject`, after which an object's content begins."""


class Arguments:
    """Arrays as arguments of calls; the tensors point into the arrays."""

    def __init__(self, arrays):
        self.arrays = [numpy.ascontiguousarray(array).reshape(array.shape) for array in arrays]
        self.shapes = [(ctypes.c_int64 * max(1, array.ndim))(*array.shape) for array in self.arrays]
        self.tensors = [view(array, shape) for array, shape in zip(self.arrays, self.shapes)]
        self.values = (Any * max(1, len(arrays)))(*(Any(DL_TENSOR, 0, ctypes.addressof(tensor)) for tensor in self.tensors))


def view(array, shape):
    code = CODES[array.dtype.kind]
    return DLTensor(array.ctypes.data, CPU, 0, array.ndim, code, 8 * array.itemsize, 1, shape, None, 0)


class Model:
    """A model that `FerriteModelLoad` loaded."""

    def __init__(self, library, path, function="main"):
        self.library = ctypes.CDLL(str(library), ctypes.RTLD_GLOBAL)
        self.function = function.encode()
        self.handle = ctypes.c_void_p()
        check(self.library, self.library.FerriteModelLoad(str(path).encode(), ctypes.byref(self.handle)))

    def __call__(self, arrays):
        """Returns the results for these arrays, as a flat list."""
        arguments, result = Arguments(arrays), Any()
        self.call(arguments, result)
        try:
            return list(self.arrays(result))
        finally:
            self.release(result)

    def call(self, arguments, result):
        """Calls the model. The caller releases the result."""
        count = len(arguments.arrays)
        check(self.library, self.library.FerriteModelCall(self.handle, self.function, arguments.values, count, ctypes.byref(result)))

    def release(self, result):
        if result.type_index >= OBJECTS:
            self.library.TVMFFIObjectDecRef(ctypes.c_void_p(result.pointer))

    def arrays(self, result):
        """Yields copies of the tensors in a result."""
        if result.type_index == ARRAY:
            sequence = Sequence.from_address(result.pointer + HEADER)
            for at in range(sequence.size):
                yield from self.arrays(sequence.data[at])
        elif result.type_index == TENSOR:
            yield copied(DLTensor.from_address(result.pointer + HEADER))
        else:
            raise RuntimeError(f"a result of the model has the type {result.type_index}, which is not a tensor")


def check(library, status):
    """Raises the library's error."""
    if status:
        error = ctypes.c_void_p()
        library.TVMFFIErrorMoveFromRaised(ctypes.byref(error))
        kind, message = (Bytes.from_address(error.value + HEADER + at * ctypes.sizeof(Bytes)) for at in (0, 1))
        raise RuntimeError(f"{kind}: {message}")


def copied(tensor):
    shape = tensor.shape[: tensor.ndim]
    dtype = numpy.dtype(bool if tensor.code == CODES["b"] else f"{KINDS[tensor.code]}{tensor.bits // 8}")
    count = math.prod(shape)
    data = ctypes.string_at(tensor.data + tensor.byte_offset, count * dtype.itemsize) if count else b""
    return numpy.frombuffer(data, dtype).reshape(shape)


def main(library, model, function, inputs, outputs):
    with numpy.load(inputs) as file:
        arrays = list(file.values())
    try:
        results = Model(library, model, function)(arrays)
    except (OSError, RuntimeError) as error:
        sys.exit(str(error))
    numpy.savez(outputs, **{f"output_{at}": result for at, result in enumerate(results)})


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    main(*sys.argv[1:])
