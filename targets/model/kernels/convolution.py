"""Calls of the kernel `conv2d` in place of convolutions in one and two dimensions."""

from tvm import relax

from . import epilogue
from .call import kernel
from .graph import array, is_float32, shape

LAYOUTS = {"nn.conv1d": ("NCW", "OIW"), "nn.conv2d": ("NCHW", "OIHW")}


def match(graph, functions, var, packer):
    """Returns the last variable of a convolution with its epilogue, and the call in its place; None if it stays."""
    call = graph.values[var]
    attributes = call.attrs
    weights = array(call.args[1])
    layouts = LAYOUTS[call.op.name.removeprefix("relax.")]
    if weights is None or weights.size == 0 or not is_float32(*call.args, call) or shape(call) is None:
        return None
    if (attributes.data_layout, attributes.kernel_layout) != layouts or attributes.out_layout not in ("", layouts[0]):
        return None
    x, padding = _unpadded(graph, call.args[0], [int(extent) for extent in attributes.padding])
    rank = weights.ndim - 2
    found = epilogue.after(graph, functions, var, weights.shape[0], -1 - rank)
    weights = found.scaled(weights, 0)
    if rank == 1:
        weights = weights[:, :, None, :]
    parameters = _parameters(weights, attributes, padding)
    packed = relax.const(packer.conv2d(weights, parameters))
    (bias, residual), activation = found.arguments()
    result = found.end.ty
    if rank == 1:
        x, residual = _with_height(x), residual if found.residual is None else _with_height(residual)
        result = relax.TensorType(_extents_with_height(shape(found.end)), "float32")
    replacement = kernel("conv2d", [x, packed, bias, residual, relax.ShapeExpr(parameters), *activation], result)
    return found.end, replacement if rank == 2 else relax.op.reshape(replacement, found.end.ty.shape)


def _parameters(weights, attributes, padding):
    """Returns the extents of the kernel, strides, padding, dilation and groups; one dimension becomes the second of two."""
    strides, dilation = ([1] * (2 - len(values)) + [int(value) for value in values] for values in (attributes.strides, attributes.dilation))
    before, after = padding[: len(padding) // 2], padding[len(padding) // 2 :]
    top, left = [0] * (2 - len(before)) + before
    bottom, right = [0] * (2 - len(after)) + after
    return [*weights.shape[2:], *strides, top, left, bottom, right, *dilation, int(attributes.groups)]


def _unpadded(graph, x, padding):
    """Returns the input and padding of a convolution, with those of an operator that pads it by zeros."""
    call = graph.call(x, "nn.pad")
    if call is None or call.attrs.pad_mode != "constant":
        return x, padding
    value = call.attrs.pad_value if hasattr(call.attrs, "pad_value") else 0
    widths = [int(width) for width in call.attrs.pad_width]
    if float(value) != 0 or any(widths[:4]) or min(widths) < 0:
        return x, padding
    both = widths[4::2] + widths[5::2]
    return call.args[0], [own + more for own, more in zip(padding, both)]


def _extents_with_height(extents):
    return [*extents[:2], 1, extents[2]]


def _with_height(x):
    return relax.op.reshape(x, _extents_with_height(shape(x)))
