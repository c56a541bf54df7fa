"""Calls of the kernels `qdense` and `qconv2d` in place of products and convolutions of 8-bit integers, and of the rounding that follows."""

import dataclasses

import numpy
from tvm import relax

from . import activation, convolution, epilogue
from .call import kernel
from .graph import array, dtype, permutation, same_shape, scalar, shape

BYTES = ("int8", "uint8")
CLIPS = {activation.NONE: (-activation.LARGEST, activation.LARGEST), activation.RELU: (0, activation.LARGEST), activation.RELU6: (0, 6)}
"""Activation functions that are bounds."""
FLOATS = "float32", 0, numpy.float32(1)
"""Type, zero point and step of results that are not rounded."""
EXACT = 1e-2
"""Largest distance of a bias in units of the sum from the integer that it becomes."""


@dataclasses.dataclass
class Operand:
    """Tensor of 8-bit integers, their zero point, and the factor of their differences to it."""

    value: object
    zero: object
    scale: numpy.ndarray


def match_dense(graph, functions, var, packer):
    """Returns the last variable of a matrix product with its epilogue, and the call in its place; None if it stays."""
    left, right = graph.values[var].args
    x, weights = _input(graph, left), _weights(graph, right, -1)
    if x is None or weights is None or None in (shape(left), shape(var)) or len(shape(left)) < 2 or weights.value.size != numpy.prod(weights.value.shape[-2:]):
        return None
    packed = relax.const(packer.quantized_dense(weights.value.reshape(weights.value.shape[-2:])))
    return _Product(graph, functions, x, weights, "qdense", packed, -1).replaced(var)


def match_convolution(graph, functions, var, packer):
    """Returns the last variable of a convolution with its epilogue, and the call in its place; None if it stays."""
    call = graph.values[var]
    layouts = convolution.LAYOUTS[call.op.name.removeprefix("relax.")]
    attributes = call.attrs
    if (attributes.data_layout, attributes.kernel_layout) != layouts or attributes.out_layout not in ("", layouts[0]):
        return None
    source, padding = convolution.unpadded(graph, call.args[0], [int(extent) for extent in attributes.padding])
    x, weights = _input(graph, source), _weights(graph, call.args[1], 0)
    if x is None or weights is None or shape(call) is None:
        return None
    window = convolution.Window.of(weights.value, attributes, padding)
    packed = relax.const(packer.quantized_conv2d(window.weights, window.parameters()))
    product = _Product(graph, functions, x, weights, "qconv2d", packed, 1 - weights.value.ndim)
    return product.replaced(var, [relax.ShapeExpr(window.parameters())], shape(source) if len(shape(call)) == 3 else None)


@dataclasses.dataclass
class _Product:
    """A product of integers whose output channels are in `axis`, counted from the end."""

    graph: object
    functions: object
    x: Operand
    weights: Operand
    name: str
    packed: relax.Expr
    axis: int

    def replaced(self, var, parameters=(), row=None):
        """Returns the last variable and the call in its place. `row` has the extents of an input in one dimension."""
        graph, x = self.graph, self.x.value
        if row:
            x = relax.op.reshape(x, convolution.one_row(row))
        inputs = [x, self.packed, self.x.zero]
        extents = convolution.one_row(shape(var)) if row else shape(var)
        start = self._converted(var)
        if dtype(start) == "int32":
            arguments = [*inputs, epilogue.absent(), 0, epilogue.absent(), epilogue.absent(), *parameters, activation.NONE, 0, 0]
            result = kernel(self.name, arguments, relax.TensorType(extents, "int32"))
            return start, relax.op.reshape(result, shape(var)) if row else result
        scale, start = self._scale(start)
        channels = shape(var)[self.axis]
        found = epilogue.after(graph, self.functions, start, channels, self.axis)
        factor = (self.x.scale * self.weights.scale).astype("float32")
        if found.scale is not None:
            factor = (factor * found.scale).astype("float32")
        kind, zero, step = FLOATS if scale is not None else _absorb_rounding(graph, found)
        factor = factor / step
        if scale is None:
            _bias_of_integers(found, factor)
            scale = relax.const(factor.reshape(-1))
        elif (factor != 1).any():
            scale = relax.op.multiply(scale, relax.const(factor.reshape(-1)))
        return found.end, found.call(self.name, [*inputs, scale, zero], parameters, extents, kind)

    def _converted(self, var):
        """Returns the last of the conversions to 32 bits that follow a product without factors."""
        while (user := self.graph.only_user(var)) is not None and self.graph.call(user, "astype") is not None:
            if dtype(user) not in ("int32", "float32") or self.x.scale != 1 or (self.weights.scale != 1).any():
                break
            self.graph.taken.add(user)
            var = user
        return var

    def _scale(self, var):
        """Returns a tensor that multiplies the product, for all channels or each, and the variable of the result; None without one."""
        user = self.graph.only_user(var)
        if user is None or self.graph.call(user, "multiply") is None or not same_shape(user, var):
            return None, var
        left, right = self.graph.values[user].args
        other = right if left.same_as(var) else left
        extents = shape(other)
        form = [extents[-1]] if extents and self.axis == -1 else []
        is_scale = array(other) is None and extents is not None and all(extent == 1 for extent in extents[: len(extents) - len(form)])
        if not is_scale or form not in ([], [1], [shape(var)[-1]]) or dtype(other) != "float32":
            return None, var
        self.graph.taken.add(user)
        return other, user


def _input(graph, expr):
    """Returns an operand that is computed when the model runs, or None if it has other types."""
    one = numpy.float32(1)
    if (call := graph.call(expr, "reshape", "flatten", "squeeze", "expand_dims")) is not None and shape(expr) is not None:
        found = _input(graph, call.args[0])
        return found and dataclasses.replace(found, value=relax.op.reshape(found.value, shape(expr)))
    if (call := graph.call(expr, "dequantize")) is not None:
        x, scale, zero = call.args
        if dtype(x) not in BYTES or scalar(scale) is None or scalar(zero) is None or dtype(call) != "float32":
            return None
        return Operand(x, relax.const(array(zero).reshape(1), dtype(x)), numpy.float32(scalar(scale)))
    if (x := _narrow(graph, expr)) is not None:
        return Operand(x, epilogue.absent(dtype(x)), one)
    if (call := graph.call(expr, "subtract")) is None or (x := _narrow(graph, call.args[0])) is None:
        return None
    zero = call.args[1]
    if (narrow := _narrow(graph, zero)) is not None:
        return Operand(x, narrow, one) if dtype(narrow) == dtype(x) and _is_single(narrow) else None
    value, limits = scalar(zero), numpy.iinfo(dtype(x))
    if value is None or not limits.min <= value <= limits.max or value != int(value):
        return None
    return Operand(x, relax.const(numpy.array([value], dtype(x))), one)


def _narrow(graph, expr):
    """Returns the tensor of 8 bits that is widened to an expression, or None."""
    while (call := graph.call(expr, "expand_dims", "reshape")) is not None and _is_single(call):
        expr = call.args[0]
    call = graph.call(expr, "astype")
    return call.args[0] if call is not None and dtype(call.args[0]) in BYTES else None


def _is_single(expr):
    extents = shape(expr)
    return extents is not None and all(isinstance(extent, int) and extent == 1 for extent in extents)


def _weights(graph, expr, axis):
    """Returns constant weights whose differences to the zero point have 8 bits, and the factor for each channel of an axis; or None."""
    value, factor = _differences(graph, expr)
    if value is None or value.size == 0 or value.ndim < 2 or value.min() < -128 or value.max() > 127 or (value != value.astype("int8")).any():
        return None
    factor = numpy.asarray(factor, "float32")
    if factor.size != 1:
        channels = numpy.moveaxis(factor, axis, 0).reshape(factor.shape[axis], -1)
        if factor.ndim != value.ndim or channels.shape != (value.shape[axis], 1):
            return None
    return Operand(value.astype("int8"), None, factor.reshape(-1))


def _differences(graph, expr):
    """Returns constant weights less their zero point, and the factor with as many axes or none."""
    if (value := array(expr)) is not None:
        return (value, 1) if str(value.dtype) in ("int32", "float32") else (None, 1)
    if (call := graph.call(expr, "permute_dims")) is not None:
        value, factor = _differences(graph, call.args[0])
        axes = permutation(call)
        return None if value is None else value.transpose(axes), numpy.transpose(factor, axes) if numpy.ndim(factor) else factor
    call = graph.call(expr, "dequantize")
    parts = [None] if call is None else list(map(array, call.args))
    if any(part is None for part in parts) or str(parts[0].dtype) not in BYTES:
        return None, 1
    form = [1] * parts[0].ndim
    form[int(call.attrs.axis)] = -1
    factor, zero = (part.reshape(form) if part.size > 1 else part.reshape(()) for part in parts[1:])
    return parts[0].astype("int32") - zero.astype("int32"), factor


def _absorb_rounding(graph, found):
    """Returns the type, the zero point and the step of the integers to which the result is rounded; those of floats without any."""
    user = graph.only_user(found.end)
    call = graph.call(user, "quantize") if user is not None else None
    bounds = (found.low, found.high) if found.code == activation.CLIP else CLIPS.get(found.code)
    if call is None or dtype(call) not in BYTES or bounds is None or found.residual is not None or found.bias is not None:
        return FLOATS
    step, zero = map(scalar, call.args[1:])
    if step is None or zero is None or step <= 0 or not same_shape(user, found.end):
        return FLOATS
    step = numpy.float32(step)
    if found.code != activation.NONE:
        found.code = activation.CLIP
        found.low, found.high = (bound if abs(bound) == activation.LARGEST else float(numpy.float32(bound) / step) for bound in bounds)
    if found.shift is not None:
        found.shift = found.shift / float(step)
    graph.taken.add(user)
    found.end = user
    return dtype(call), int(zero), step


def _bias_of_integers(found, factor):
    """Makes a constant bias one of integers in units of the sum, if it is: then the result is rounded once."""
    if found.shift is None or not factor.all():
        return
    units = numpy.broadcast_to(found.shift / factor.astype("float64"), [found.channels])
    whole = numpy.rint(units)
    if (abs(units - whole) <= EXACT + abs(units) * 2**-22).all() and abs(whole).max() < 2**31:
        found.bias, found.shift = relax.const(whole.astype("int32")), None
