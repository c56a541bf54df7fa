"""Calls of the kernel `conv2d` in place of convolutions in one and two dimensions."""

import dataclasses

import numpy
import tvm
from tvm import relax

from . import epilogue
from .graph import are_floats, array, operator, shape

LAYOUTS = {"nn.conv1d": ("NCW", "OIW"), "nn.conv2d": ("NCHW", "OIHW")}


def with_channels_first(mod):
    """Returns a module whose convolutions have the layout of the kernels. TVM moves transpositions through element-wise operators."""
    found = []

    def visit(expr):
        if operator(expr) == "nn.conv2d" and expr.attrs.data_layout == "NHWC":
            found.append(expr)

    for function in mod.functions.values():
        if isinstance(function, relax.Function):
            relax.analysis.post_order_visit(function, visit)
    layouts = {"relax.nn.conv2d": list(LAYOUTS["nn.conv2d"])}
    return tvm.transform.Sequential([relax.transform.ConvertLayout(layouts), relax.transform.Normalize()])(mod) if found else mod


def match(graph, functions, var, packer):
    """Returns the last variable of a convolution with its epilogue, and the call in its place; None if it stays."""
    call = graph.values[var]
    attributes = call.attrs
    weights = array(call.args[1])
    layouts = LAYOUTS[call.op.name.removeprefix("relax.")]
    if weights is None or weights.size == 0 or not are_floats(*call.args, call) or shape(call) is None:
        return None
    if (attributes.data_layout, attributes.kernel_layout) != layouts or attributes.out_layout not in ("", layouts[0]):
        return None
    x, padding = unpadded(graph, call.args[0], [int(extent) for extent in attributes.padding])
    found = epilogue.after(graph, functions, var, weights.shape[0], 1 - weights.ndim)
    window = Window.of(found.scaled(weights, 0), attributes, padding)
    is_row = len(shape(x)) == 3
    if window.is_of_columns(x):
        is_row, window = True, window.transposed()
    packed = relax.const(packer.conv2d(window.weights, window.parameters()))
    if is_row:
        x = relax.op.reshape(x, one_row(shape(x)))
    extents = one_row(shape(var)) if is_row else None
    return found.end, found.call("conv2d", [x, packed], [relax.ShapeExpr(window.parameters())], extents)


@dataclasses.dataclass
class Window:
    """Weights, strides, padding before and after, and dilation of a convolution in two dimensions; a single one is the width."""

    weights: numpy.ndarray
    strides: list
    before: list
    after: list
    dilation: list
    groups: int

    @staticmethod
    def of(weights, attributes, padding):
        if is_single := weights.ndim == 3:
            weights = weights[:, :, None, :]
        both = [[int(value) for value in values] for values in (attributes.strides, attributes.dilation)]
        strides, dilation = ([1, *values] if is_single else values for values in both)
        half = len(padding) // 2
        before, after = ([0, *values] if is_single else values for values in (padding[:half], padding[half:]))
        return Window(weights, strides, before, after, dilation, int(attributes.groups))

    def parameters(self):
        return [*self.weights.shape[2:], *self.strides, *self.before, *self.after, *self.dilation, self.groups]

    def is_of_columns(self, x):
        """Returns `True` if an input has one column, which may become a row: kernels calculate along the width."""
        extents = shape(x)
        return len(extents) == 4 and extents[3] == 1 and extents[2] != 1 and (self.weights.shape[3], self.before[1], self.after[1]) == (1, 0, 0)

    def transposed(self):
        swapped = ([second, first] for first, second in (self.strides, self.before, self.after, self.dilation))
        return Window(self.weights.swapaxes(2, 3), *swapped, self.groups)


def unpadded(graph, x, padding):
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


def one_row(extents):
    """Returns the extents of a row for those of a row or a column."""
    return [*extents[:2], 1, extents[2]]
