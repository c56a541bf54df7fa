"""The kernels `qdense` and `qconv2d` as TVM's loops, for targets without an archive: weights stay bytes, and sums are those of integers."""

import math

import numpy
import tvm
from tvm import relax, te
from tvm.relax.expr_functor import PyExprMutator, mutator

from . import activation
from .call import PREFIX
from .graph import array

FLOAT = "float32"


class Unpacked:
    """Keeps constant weights as they are, in place of a packer."""

    def quantized_dense(self, weights):
        return weights

    def quantized_conv2d(self, weights, _parameters):
        return weights


def lowered(mod):
    """Returns a module with loops in place of calls of kernels."""
    changed = _Loops(mod)
    for name, function in mod.functions.items():
        if isinstance(function, relax.Function):
            changed.builder_.update_func(name, changed.visit_expr(function))
    return changed.builder_.get()


@mutator
class _Loops(PyExprMutator):
    """Replaces calls of kernels by calls of loops."""

    def visit_call_(self, call):
        call = self.visit_expr_post_order(call)
        if call.op != tvm.ir.Op.get("relax.call_dps_packed") or not call.args[0].global_symbol.startswith(PREFIX):
            return call
        name = call.args[0].global_symbol.removeprefix(PREFIX)
        (x, weights, zero, scale, out_zero, bias, residual, *window), numbers = call.args[1].fields[:-3], call.args[1].fields[-3:]
        tensors = {"zero": zero, "scale": scale, "bias": bias, "residual": residual}
        tensors = {key: value for key, value in tensors.items() if not _is_empty(value)}
        parameters = [int(value) for shape in window for value in shape.values]
        last = _Last(call.ty_args[0].dtype, int(_number(out_zero)), int(_number(numbers[0])), *map(_number, numbers[1:]))

        def loops(x, weights, *values):
            given = dict(zip(tensors, values))
            sums = _convolved(x, weights, given.get("zero"), parameters) if window else _multiplied(x, weights, given.get("zero"))
            return last.finished(sums, given, 1 if window else -1)

        return self.builder_.call_te(loops, x, weights, *tensors.values(), primfunc_name_hint=name)


def _is_empty(expr):
    value = array(expr)
    return value is not None and value.size == 0


def _number(expr):
    value = getattr(expr, "value", expr)
    return getattr(value, "value", value)


def _difference(value, zero):
    """Returns an integer less a zero point, in 16 bits."""
    value = value.astype("int16")
    return value - zero(*[0] * len(zero.shape)).astype("int16") if zero is not None else value


def _multiplied(x, weights, zero):
    inner = te.reduce_axis((0, weights.shape[0]), "inner")

    def sums(*at):
        return te.sum(_difference(x(*at[:-1], inner), zero).astype("int32") * weights[inner, at[-1]].astype("int32"), inner)

    return te.compute([*x.shape[:-1], weights.shape[1]], sums, "sums")


def _convolved(x, weights, zero, parameters):
    height, width, down, right, *padding, dilation_down, dilation_right, groups = parameters
    padded = _padded(x, zero, *padding)
    channels, inner = weights.shape[:2]
    rows = (padded.shape[2] - dilation_down * (height - 1) - 1) // down + 1
    columns = (padded.shape[3] - dilation_right * (width - 1) - 1) // right + 1
    axes = [te.reduce_axis((0, extent), name) for extent, name in ((inner, "channel"), (height, "down"), (width, "right"))]
    channel, row, column = axes

    def sums(batch, out, y, x):
        source = out // (channels // groups) * inner + channel
        value = padded[batch, source, y * down + row * dilation_down, x * right + column * dilation_right]
        return te.sum(value.astype("int32") * weights[out, channel, row, column].astype("int32"), axes)

    return te.compute((x.shape[0], channels, rows, columns), sums, "sums")


def _padded(x, zero, top, left, bottom, right):
    """Returns the differences of an image to the zero point, with zeros around it."""
    rows, columns = x.shape[2:]

    def element(batch, channel, y, column):
        inside = tvm.tirx.all(y >= top, y < rows + top, column >= left, column < columns + left)
        value = _difference(x[batch, channel, y - top, column - left], zero)
        return te.if_then_else(inside, value, tvm.tirx.const(0, "int16")) if any((top, left, bottom, right)) else value

    return te.compute((*x.shape[:2], rows + top + bottom, columns + left + right), element, "padded")


class _Last:
    """The operators after a sum: bias, scale, residual, activation function and rounding."""

    def __init__(self, dtype, zero, code, low, high):
        self.dtype, self.zero, self.code, self.low, self.high = str(dtype), zero, code, float(low), float(high)

    def finished(self, sums, given, axis):
        return te.compute(sums.shape, lambda *at: self.element(sums(*at), given, at, at[axis]), "finished")

    def element(self, value, given, at, channel):
        bias, scale, residual = (given.get(key) for key in ("bias", "scale", "residual"))
        is_integer = bias is not None and bias.dtype == "int32"
        value = value + bias[channel] if is_integer else value
        if self.dtype == "int32":
            return value
        value = value.astype(FLOAT) * scale[channel if scale.shape[0] > 1 else 0]
        value = value + bias[channel] if bias is not None and not is_integer else value
        value = value + residual(*at) if residual is not None else value
        value = self.activated(value)
        return value if self.dtype == FLOAT else self.rounded(value)

    def rounded(self, value):
        limits = numpy.iinfo(self.dtype)
        value = _clipped(value, limits.min - self.zero, limits.max - self.zero)
        return (te.nearbyint(value).astype("int32") + self.zero).astype(self.dtype)

    def activated(self, value):
        if self.code == activation.LEAKY_RELU:
            return te.max(value, 0.0) + te.min(value, 0.0) * self.low
        if self.code == activation.CLIP:
            return _clipped(value, self.low, self.high)
        return FUNCTIONS[self.code](value)


def _clipped(value, low, high):
    return te.max(te.min(value, tvm.tirx.const(high, FLOAT)), tvm.tirx.const(low, FLOAT))


FUNCTIONS = {
    activation.NONE: lambda x: x,
    activation.RELU: lambda x: te.max(x, tvm.tirx.const(0, FLOAT)),
    activation.RELU6: lambda x: _clipped(x, 0, 6),
    activation.SIGMOID: te.sigmoid,
    activation.TANH: te.tanh,
    activation.GELU: lambda x: x * (te.erf(x * math.sqrt(0.5)) + 1) * 0.5,
    activation.GELU_TANH: lambda x: x * (te.tanh((x * x * x * 0.044715 + x) * math.sqrt(2 / math.pi)) + 1) * 0.5,
    activation.SILU: lambda x: x * te.sigmoid(x),
    activation.HARD_SWISH: lambda x: x * _clipped(x + 3, 0, 6) / 6,
    activation.HARD_SIGMOID: lambda x: _clipped(x + 3, 0, 6) / 6,
}
