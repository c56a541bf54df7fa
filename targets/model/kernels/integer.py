"""Calls of the kernel `dense` in place of products of 8-bit integers by wider weights, in float32: exact, since each sum is below 2^24."""

import numpy
from tvm import relax

from .call import kernel
from .epilogue import absent
from .graph import array, dtype, operator, shape

EXACT = 1 << 24
"""Integers up to this number are numbers of float32."""
LARGEST = 255
"""Largest difference of two integers of 8 bits, both signed or both unsigned."""


def match(graph, var, packer):
    """Returns a variable and the call in place of the product that it is bound to; None if it stays."""
    call = graph.values[var]
    x, weights = call.args[0], array(call.args[1])
    if dtype(call) != "int32" or weights is None or weights.ndim != 2 or weights.size == 0 or len(shape(x) or ()) < 2:
        return None
    if not _has_8_bits(graph, x) or LARGEST * int(numpy.abs(weights.astype("int64")).sum(0).max()) >= EXACT:
        return None
    packed = relax.const(packer.dense(weights.astype("float32")))
    inputs = [relax.op.astype(x, "float32"), packed, absent(), absent(), 0, 0, 0]
    product = kernel("dense", inputs, relax.TensorType(shape(var), "float32"))
    user = graph.only_user(var)
    if user is not None and graph.call(user, "astype") is not None and dtype(graph.values[user]) == "float32":
        return user, product
    return var, relax.op.astype(product, "int32")


def _has_8_bits(graph, x):
    """Returns `True` for integers of 8 bits, as they are or less a zero point of 8 bits."""
    if graph.call(x, "subtract") is None:
        return _width(graph, x) is not None
    value, zero = graph.values[x].args
    width, constant = _width(graph, value), array(zero)
    if width is not None and constant is not None:
        return numpy.iinfo(width).min <= constant.min() and constant.max() <= numpy.iinfo(width).max
    return width is not None and width == _width(graph, zero)


def _width(graph, x):
    """Returns the dtype of 8 bits that is widened to an expression, or None."""
    while (call := graph.call(x, "astype", "expand_dims", "reshape")) is not None:
        x = call.args[0]
        if operator(call) == "astype":
            break
    return dtype(x) if dtype(x) in ("int8", "uint8") else None
