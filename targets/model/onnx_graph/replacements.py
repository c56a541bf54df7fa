"""Operators in others that TVM imports, where the ONNX standard has no definition of them."""

import numpy
from onnx import TensorProto, helper

from onnx_graph import resize
from onnx_graph.emit import Emitter, attributes


def power(node, folder):
    """Gives both operands of Pow one element type, of floats: TVM has no other."""
    base, exponent = (folder.element_type(name) for name in node.input)
    is_float = base in (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16)
    if base == exponent and is_float or None in (base, exponent):
        return None
    emit, floats = Emitter(node, folder), (TensorProto.FLOAT, TensorProto.DOUBLE)
    wide = next((kind for kind in (base, exponent) if kind in floats), TensorProto.DOUBLE)
    result = emit("Pow", *[emit("Cast", name, to=wide) for name in node.input])
    return emit.results(emit("Cast", result, to=base))


def one_hot(node, folder):
    """Compares the indices with each number below the depth."""
    indices, depth, values = node.input
    shape = folder.shape(indices)
    if depth not in folder.constants or shape is None:
        return None
    depth, axis = int(folder.value(depth).item()), attributes(node).get("axis", -1)
    axis += (len(shape) + 1) * (axis < 0)
    emit = Emitter(node, folder)
    indices = emit("Cast", indices, to=TensorProto.INT64)
    is_negative = emit("Less", indices, emit.constant(numpy.int64(0)))
    wrapped = emit("Where", is_negative, emit("Add", indices, emit.constant(numpy.int64(depth))), indices)
    numbers = numpy.arange(depth).reshape([-1 if at == axis else 1 for at in range(len(shape) + 1)])
    is_hot = emit("Equal", emit.reshape(wrapped, *shape[:axis], 1, *shape[axis:]), emit.constant(numbers))
    off, on = (emit.element(values, at) for at in (0, 1))
    return emit.results(emit("Where", is_hot, on, off))


def lp_normalization(node, folder):
    """Divides by the norm; zeros stay zeros."""
    emit, given = Emitter(node, folder), attributes(node)
    dtype = folder.dtype(node.input[0])
    axes = [given.get("axis", -1)]
    power, size = given.get("p", 2), emit("Abs", node.input[0])
    total = emit.sum(size if power == 1 else emit("Mul", size, size), axes)
    norm = total if power == 1 else emit("Sqrt", total)
    is_zero = emit("Equal", norm, emit.constant(dtype.type(0)))
    return emit.results(emit("Div", node.input[0], emit("Where", is_zero, emit.constant(dtype.type(1)), norm)))


def eye_like(node, folder):
    """Makes a matrix that depends on a shape a constant."""
    shape, given = folder.shape(node.input[0]), attributes(node)
    if shape is None:
        return None
    dtype = helper.tensor_dtype_to_np_dtype(given.get("dtype") or folder.element_type(node.input[0]))
    emit = Emitter(node, folder)
    return emit.results(emit.constant(numpy.eye(*shape, k=given.get("k", 0), dtype=dtype)))


def reverse_sequence(node, folder):
    """Reverses the first elements of each sequence, by indices."""
    given = attributes(node)
    shape, lengths = folder.shape(node.input[0]), node.input[1]
    if shape is None or lengths not in folder.constants:
        return None
    batch_axis, time_axis = given.get("batch_axis", 1), given.get("time_axis", 0)
    time = numpy.arange(shape[time_axis])
    limits = folder.value(lengths)[:, None]
    indices = numpy.where(time < limits, limits - 1 - time, time)
    if batch_axis > time_axis:
        indices = indices.T
    whole = numpy.broadcast_to(indices.reshape(*indices.shape, *[1] * (len(shape) - 2)), shape)
    emit = Emitter(node, folder)
    return emit.results(emit("GatherElements", node.input[0], emit.constant(numpy.ascontiguousarray(whole)), axis=time_axis))


def expand(node, folder):
    """Gives Expand the shape of its result: TVM takes an extent of one for the result's, though the input's may be larger."""
    shape, target = folder.shape(node.input[0]), node.input[1]
    if shape is None or target not in folder.constants:
        return None
    wanted = folder.value(target).tolist()
    whole = list(numpy.broadcast_shapes(tuple(shape), tuple(wanted)))
    if whole == wanted:
        return None
    emit = Emitter(node, folder)
    return emit.results(emit("Expand", node.input[0], emit.constant(numpy.array(whole, numpy.int64))))


def is_infinite(node, folder):
    """Compares with the infinity that IsInf selects, where it selects one."""
    given = attributes(node)
    signs = [sign for sign, name in ((1, "detect_positive"), (-1, "detect_negative")) if given.get(name, 1)]
    if len(signs) != 1:
        return None
    emit, dtype = Emitter(node, folder), folder.dtype(node.input[0])
    return emit.results(emit("Equal", node.input[0], emit.constant(dtype.type(signs[0] * numpy.inf))))


REPLACEMENTS = {
    "Expand": expand,
    "EyeLike": eye_like,
    "IsInf": is_infinite,
    "LpNormalization": lp_normalization,
    "OneHot": one_hot,
    "Pow": power,
    "Resize": resize.replaced,
    "ReverseSequence": reverse_sequence,
}
"""Functions that return the nodes in place of one, or None to leave it."""
