"""Operators on quantised tensors that TVM lacks, by those on float32: sums are exact below 2^24, and have fast kernels."""

from onnx import TensorProto

from onnx_graph.emit import Emitter, attributes


def shifted(emit, value, zero):
    """Returns a quantised tensor as float32, less its zero point."""
    wide = real(emit, value)
    return emit("Sub", wide, real(emit, zero)) if zero else wide


def real(emit, value):
    return emit("Cast", value, to=TensorProto.FLOAT)


def per_channel(emit, folder, value, rank):
    """Returns a scalar or a vector of output channels in the shape that broadcasts over a convolution's result."""
    shape = folder.shape(value)
    return value if not shape or shape == [1] else emit.reshape(value, 1, shape[0], *[1] * (rank - 2))


def convolved(emit, folder, node, data, zero, weight, weight_zero):
    """Returns the convolution of integers."""
    if weight_zero and folder.shape(weight_zero) not in ([], [1]):
        weight_zero = emit.reshape(weight_zero, -1, *[1] * (len(folder.shape(weight)) - 1))
    return emit("Conv", shifted(emit, data, zero), shifted(emit, weight, weight_zero), **attributes(node))


def conv_integer(node, folder):
    data, weight, zero, weight_zero = [*node.input, None, None][:4]
    if None in (folder.shape(data), folder.shape(weight)):
        return None
    emit = Emitter(node, folder)
    total = convolved(emit, folder, node, data, zero or None, weight, weight_zero or None)
    return emit.results(emit("Cast", total, to=TensorProto.INT32))


def qlinear_conv(node, folder):
    data, scale, zero, weight, weight_scale, weight_zero, out_scale, out_zero, bias = [*node.input, None][:9]
    if None in (folder.shape(data), folder.shape(weight), folder.shape(weight_scale)):
        return None
    emit, rank = Emitter(node, folder), len(folder.shape(data))
    total = convolved(emit, folder, node, data, zero, weight, weight_zero)
    if bias:
        total = emit("Add", total, emit.reshape(real(emit, bias), 1, -1, *[1] * (rank - 2)))
    factor = emit("Mul", scale, per_channel(emit, folder, weight_scale, rank))
    return emit.results(requantized(emit, total, factor, out_scale, out_zero))


def qlinear_matmul(node, folder):
    left, scale, zero, right, right_scale, right_zero, out_scale, out_zero = node.input
    if any(folder.shape(name) not in ([], [1]) for name in (scale, zero, right_scale, right_zero)):
        return None
    emit = Emitter(node, folder)
    total = emit("MatMul", shifted(emit, left, zero), shifted(emit, right, right_zero))
    return emit.results(requantized(emit, total, emit("Mul", scale, right_scale), out_scale, out_zero))


def requantized(emit, total, factor, out_scale, out_zero):
    """Returns a result in units of `factor` as a quantised tensor."""
    return emit("QuantizeLinear", emit("Mul", total, real(emit, factor)), real(emit, out_scale), out_zero)


REPLACEMENTS = {"ConvInteger": conv_integer, "QLinearConv": qlinear_conv, "QLinearMatMul": qlinear_matmul}
"""Functions that return the nodes in place of one, or None to leave it."""
