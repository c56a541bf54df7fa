"""Operators on quantised tensors: between conversions to floats and back, which kernels of integers may take."""

import numpy
from onnx import helper

from onnx_graph.emit import Emitter, attributes, inputs

SOFTMAX = 13
"""Operator set since which Softmax is that of one axis."""


def real(emit, folder, value, scale, zero, **axis):
    """Returns a quantised tensor as floats."""
    return emit("DequantizeLinear", value, single(emit, folder, scale), single(emit, folder, zero), **axis)


def rounded(emit, folder, value, scale, zero, like):
    """Returns floats as a quantised tensor, without a zero point of the element type of `like`."""
    zero = single(emit, folder, zero) if zero else emit.number(0, folder.dtype(like))
    return emit("QuantizeLinear", value, single(emit, folder, scale), zero)


def single(emit, folder, name):
    """Returns a tensor, without axes if it has one element, or None."""
    return emit.reshape(name) if name and folder.shape(name) == [1] else name


def unary(operator, *ignored):
    """Returns the replacement of a quantised operator with one operand."""

    def replaced(node, folder):
        value, scale, zero, out_scale, out_zero = inputs(node, 5)
        emit, given = Emitter(node, folder), {key: value for key, value in attributes(node).items() if key not in ignored}
        if given.pop("channels_last", 0):
            return None
        result = emit(operator, real(emit, folder, value, scale, zero), **given)
        return emit.results(rounded(emit, folder, result, out_scale, out_zero, value))

    return replaced


def binary(operator):
    """Returns the replacement of a quantised operator with two operands."""

    def replaced(node, folder):
        left, scale, zero, right, right_scale, right_zero, out_scale, out_zero = inputs(node, 8)
        emit = Emitter(node, folder)
        result = emit(operator, real(emit, folder, left, scale, zero), real(emit, folder, right, right_scale, right_zero))
        return emit.results(rounded(emit, folder, result, out_scale, out_zero, left))

    return replaced


def softmax(node, folder):
    given, shape = attributes(node), folder.shape(node.input[0])
    if shape is None or given["opset"] < SOFTMAX and given.get("axis", 1) % len(shape) != len(shape) - 1:
        return None
    return unary("Softmax", "opset")(node, folder)


def concat(node, folder):
    scale, zero, *others = node.input
    emit = Emitter(node, folder)
    parts = [real(emit, folder, *others[at : at + 3]) for at in range(0, len(others), 3)]
    return emit.results(rounded(emit, folder, emit("Concat", *parts, **attributes(node)), scale, zero, others[0]))


def where(node, folder):
    condition, left, scale, zero, right, right_scale, right_zero, out_scale, out_zero = node.input
    emit = Emitter(node, folder)
    result = emit("Where", condition, real(emit, folder, left, scale, zero), real(emit, folder, right, right_scale, right_zero))
    return emit.results(rounded(emit, folder, result, out_scale, out_zero, left))


def gemm(node, folder):
    left, scale, zero, right, right_scale, right_zero, bias, out_scale, out_zero = inputs(node, 9)
    emit, given = Emitter(node, folder), attributes(node)
    axis = 0 if given.get("transB") else 1
    result = emit("Gemm", real(emit, folder, left, scale, zero), real(emit, folder, right, right_scale, right_zero, axis=axis), **given)
    if bias:
        factor = emit.scaled(emit("Mul", scale, right_scale), given.get("alpha", 1), folder.dtype(scale))
        result = emit("Add", result, emit("Mul", emit("Cast", bias, to=folder.element_type(scale)), factor))
    return emit.results(rounded(emit, folder, result, out_scale, out_zero, left) if out_scale else result)


def to_float(node, folder):
    """Replaces a product of integers with scales and bias of floats."""
    left, right, scale, right_scale, zero, right_zero, bias = inputs(node, 7)
    emit = Emitter(node, folder)
    return emit.results(scaled_product(emit, folder, (left, scale, zero), (right, right_scale, right_zero), bias))


def dynamic(node, folder):
    """Replaces a product whose first operand is rounded in the range of its elements."""
    left, right, right_scale, right_zero, bias = inputs(node, 5)
    emit = Emitter(node, folder)
    operand = emit("DynamicQuantizeLinear", left, outputs=3)
    return emit.results(scaled_product(emit, folder, operand, (right, right_scale, right_zero), bias))


def scaled_product(emit, folder, left, right, bias):
    (left, scale, zero), (right, right_scale, right_zero) = left, right
    zero = zero or emit.number(0, folder.dtype(left))
    product = emit("MatMulInteger", left, right, zero, right_zero)
    factor = emit("Mul", scale, right_scale)
    product = emit("Mul", emit("Cast", product, to=folder.element_type(right_scale)), factor)
    return emit("Add", product, bias) if bias else product


def same(node, _folder):
    """Replaces an operator by the standard's."""
    return [helper.make_node(node.op_type, node.input, node.output, **attributes(node))]


def blocks(node, folder):
    """Replaces a product whose weights are packed, with a scale and a zero point for each block of a row: by floats."""
    left, packed, scales, zeros, groups, bias = inputs(node, 6)
    if groups or not all(name in folder.constants for name in (packed, scales, zeros) if name):
        return None
    emit, given = Emitter(node, folder), attributes(node)
    rows, bits = given["N"], given.get("bits", 4)
    scales = folder.value(scales).reshape(rows, -1)
    values = unpacked(folder.value(packed).reshape(rows, -1), bits).reshape(*scales.shape, given["block_size"])
    zeros = block_zeros(folder.value(zeros) if zeros else None, scales.shape, bits)
    weights = (values.astype("float32") - zeros[..., None]) * scales.astype("float32")[..., None]
    weights = weights.reshape(rows, -1)[:, : given["K"]].T.astype(scales.dtype)
    product = emit("MatMul", left, emit.constant(numpy.ascontiguousarray(weights)))
    return emit.results(emit("Add", product, bias) if bias else product)


def block_zeros(zeros, shape, bits):
    if zeros is None:
        return numpy.full(shape, 1 << bits - 1, "float32")
    zeros = unpacked(zeros.reshape(shape[0], -1), bits)[:, : shape[1]] if zeros.dtype == numpy.uint8 else zeros.reshape(shape)
    return zeros.astype("float32")


def unpacked(data, bits):
    """Returns the numbers in the bytes of each row, the lowest bits first."""
    shifts = numpy.arange(0, 8, bits, dtype=numpy.uint8)
    return ((data[..., None] >> shifts) & ((1 << bits) - 1)).reshape(len(data), -1)


REPLACEMENTS = {
    "DequantizeLinear": same,
    "DynamicQuantizeMatMul": dynamic,
    "MatMulIntegerToFloat": to_float,
    "MatMulNBits": blocks,
    "QGemm": gemm,
    "QLinearAdd": binary("Add"),
    "QLinearAveragePool": unary("AveragePool"),
    "QLinearConcat": concat,
    "QLinearGlobalAveragePool": unary("GlobalAveragePool"),
    "QLinearLeakyRelu": unary("LeakyRelu"),
    "QLinearMul": binary("Mul"),
    "QLinearSigmoid": unary("Sigmoid"),
    "QLinearSoftmax": softmax,
    "QLinearWhere": where,
    "QuantizeLinear": same,
}
