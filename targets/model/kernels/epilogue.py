"""The epilogue of a dense operator: what follows it for each element, and its kernel does before it stores the result."""

import dataclasses
import math

import numpy
from tvm import relax

from . import activation
from .call import kernel
from .graph import are_floats, array, dtype, operator, permutation, same_extents, same_shape, shape


@dataclasses.dataclass
class Epilogue:
    """Scale and bias for each channel, a residual, and an activation function, in the order of their application.

    Constants of a scale become part of the weights. `end` is the last variable, whose channels are in `axis`, counted from the end.
    It may have other extents than `root`, the operator's own result, or be a permutation of it: then `axes` has the axis of `root` for each
    of its own, and `residual_axes` that for those of the residual.
    """

    root: relax.Var
    end: relax.Var
    channels: int
    axis: int
    axes: tuple = ()
    residual_axes: tuple = ()
    scale: numpy.ndarray = None
    shift: numpy.ndarray = None
    bias: relax.Expr = None
    residual: relax.Expr = None
    code: int = activation.NONE
    low: float = 0
    high: float = 0

    def call(self, name, inputs, parameters=(), extents=None, kind=None):
        """Returns the call of a kernel, whose result has these extents and type or those of `root`, with the extents of `end`."""
        extents = shape(self.root) if extents is None else extents
        arguments = [*inputs, *self.addends(extents), *parameters, self.code, number(self.low), number(self.high)]
        return self.moved(kernel(name, arguments, relax.TensorType(extents, kind or dtype(self.root))), extents)

    def addends(self, extents):
        """Returns the bias and the residual of a kernel whose result has these extents."""
        return self._bias(), self._residual(extents)

    def moved(self, result, extents):
        """Returns the result of a kernel, with the extents of `end`."""
        if self.axes:
            return relax.op.permute_dims(_reshaped(result, extents, shape(self.root)), self.axes)
        return _reshaped(result, extents, shape(self.end))

    def _residual(self, extents):
        if self.residual is None:
            return absent()
        if self.residual_axes:
            inverse = [self.residual_axes.index(axis) for axis in range(len(self.residual_axes))]
            return _reshaped(relax.op.permute_dims(self.residual, inverse), shape(self.root), extents)
        return _reshaped(self.residual, shape(self.residual), extents)

    def _bias(self):
        if self.bias is not None:
            return _reshaped(self.bias, shape(self.bias), [self.channels])
        return absent() if self.shift is None else relax.const(self.shift, dtype(self.root))

    def scaled(self, weights, axis):
        """Returns constant weights with the scale of the channel in `axis`."""
        if self.scale is None:
            return weights
        form = [1] * weights.ndim
        form[axis] = -1
        return (weights * self.scale.reshape(form)).astype(weights.dtype)


def absent(kind="float32"):
    return relax.const(numpy.zeros(0, kind))


def number(value):
    """Returns a number as an argument: whole ones as integers, which cost the model's machine no call to compute them."""
    return int(value) if float(value).is_integer() and abs(value) < 2**53 else relax.prim_value(float(value))


def _reshaped(x, extents, wanted):
    return x if same_extents(extents, wanted) else relax.op.reshape(x, wanted)


def after(graph, functions, root, channels, axis, activations=activation.CODES):
    """Returns the epilogue of the operator that `root` is bound to, with its channels in `axis`, counted from the end."""
    found = Epilogue(root, root, channels, axis)
    while True:
        before = found.end, found.axis, found.axes
        _pass_moves(graph, found)
        if _activate(graph, functions, found, activations):
            return found
        user = graph.only_user(found.end)
        if user is None or not _absorb(graph.values[user], found):
            found.end, found.axis, found.axes = before
            return found
        graph.taken.add(user)
        found.end = user


def _pass_moves(graph, found):
    """Goes on to the last of the permutations, or of the reshapes that keep channels apart."""
    while (user := graph.only_user(found.end)) is not None:
        if (call := graph.call(user, "permute_dims")) is not None and (found.axes or same_shape(found.root, found.end)):
            order = permutation(call)
            axes = tuple(found.axes[axis] for axis in order) if found.axes else tuple(order)
            axis = order.index(len(order) + found.axis) - len(order)
        elif graph.call(user, "reshape", "squeeze", "expand_dims") is not None and not found.axes:
            axes, axis = (), _axis_after(shape(found.end), shape(user), found)
        else:
            return
        if axis is None:
            return
        found.end, found.axis, found.axes = user, axis, axes


def _axis_after(before, extents, found):
    """Returns the axis of the channels after a reshape, or None if they are not an axis of the result."""
    inner = before[found.axis :][1:]
    if extents is None or not all(isinstance(extent, int) for extent in inner):
        return None
    for axis in range(-1, -len(extents) - 1, -1):
        rest = extents[axis:][1:]
        if extents[axis] == found.channels and all(isinstance(extent, int) for extent in rest) and math.prod(rest) == math.prod(inner):
            return axis
    return None


def _activate(graph, functions, found, activations):
    known = activation.recognise(graph, functions, found.end)
    if known is None or known[1] not in activations:
        return False
    found.end, found.code, found.low, found.high = known
    graph.taken.add(found.end)
    return True


def _absorb(call, found):
    """Makes an operator part of the epilogue; returns `False` if it cannot be."""
    name = operator(call)
    if name not in ("add", "subtract", "multiply", "divide") or not same_shape(call, found.end) or not are_floats(found.end, *call.args):
        return False
    left, right = call.args
    first = left.same_as(found.end)
    other = right if first else left
    if other.same_as(found.end) or (name == "divide" and not first):
        return False
    constant = _for_channels(array(other), found)
    if constant is None:
        return name == "add" and _add(other, found)
    return _fold(name, constant, first, found)


def _for_channels(value, found):
    """Returns a constant as one number for each channel, or None if it has another shape."""
    if value is None or value.ndim > 0 and value.size not in (1, found.channels):
        return None
    if value.size == 1:
        return numpy.full(found.channels, value.reshape(()), "float64")
    inner = -1 - found.axis
    form = (found.channels,) + (1,) * inner
    return value.reshape(-1).astype("float64") if value.shape[-len(form) :] == form else None


def _fold(name, constant, first, found):
    is_sum = name == "add" or name == "subtract" and first
    if found.bias is not None or found.residual is not None and not is_sum:
        return False
    scale = 1 if found.scale is None else found.scale
    shift = 0 if found.shift is None else found.shift
    if name == "add":
        shift = shift + constant
    elif name == "subtract":
        scale, shift = (scale, shift - constant) if first else (-1 * scale, constant - shift)
    else:
        factor = constant if name == "multiply" else 1 / constant
        scale, shift = scale * factor, shift * factor
    found.scale = None if numpy.ndim(scale) == 0 and scale == 1 else numpy.broadcast_to(scale, [found.channels])
    found.shift = None if numpy.ndim(shift) == 0 else shift
    return True


def _add(other, found):
    """Adds a tensor that is not a constant for each channel: a bias, or a residual."""
    extents = shape(other)
    if same_shape(other, found.end) and found.residual is None:
        found.residual, found.residual_axes = other, found.axes
        return True
    form = [found.channels] + [1] * (-1 - found.axis)
    is_bias = extents is not None and extents[-len(form) :] == form and all(extent == 1 for extent in extents[: -len(form)])
    if not is_bias or found.bias is not None or found.shift is not None or found.residual is not None:
        return False
    found.bias = other
    return True
