"""Calls of cuBLASLt in place of matrix products, for the target `cuda`."""

from tvm import relax

from . import activation, epilogue
from .call import packed
from .dense import scaled, unscaled, untransposed
from .graph import array, dtype, same_extents, shape

NAME = "ferrite.cublaslt.matmul"
TYPES = ("float32", "float16", "bfloat16")
ACTIVATIONS = (activation.NONE, activation.RELU, activation.GELU_TANH)
"""Activation functions of cuBLASLt, whose GELU is the one by tanh."""


def match(graph, functions, var, tf32):
    """Returns the last variable of a matrix product with its epilogue, and the call in its place; None if it stays."""
    call = graph.values[var]
    x, weights = call.args
    kinds = {dtype(value) for value in (x, weights, call)}
    if len(kinds) > 1 or not kinds <= set(TYPES) or not _is_batch(shape(x), shape(weights)):
        return None
    if (value := array(weights)) is not None:
        found = epilogue.after(graph, functions, var, value.shape[-1], -1, ACTIVATIONS)
        if found.scale is not None:
            weights = relax.const(found.scaled(value, -1), dtype(weights))
        result = _call([x, weights], found.addends(shape(var)), [0, 0, 1], found.code, tf32, var)
        return found.end, found.moved(result, shape(var))
    factor, x = unscaled(graph, x)
    x, transpose_x = untransposed(graph, x)
    weights, transpose_w = untransposed(graph, weights)
    end, alpha = scaled(graph, var)
    absent = [epilogue.absent()] * 2
    return end, _call([x, weights], absent, [transpose_x, transpose_w, epilogue.number(factor * alpha)], activation.NONE, tf32, end)


def _call(factors, addends, parameters, code, tf32, result):
    return packed(NAME, [*factors, *addends, *parameters, code, int(tf32)], result.ty)


def _is_batch(x, weights):
    """Returns `True` for matrices of which either side has one, or both have the same number in the same axes."""
    if x is None or weights is None or min(len(x), len(weights)) < 2:
        return False
    batches = x[:-2], weights[:-2]
    known = [batch for batch in batches if not all(extent == 1 for extent in batch)]
    return len(known) < 2 or same_extents(*known)
