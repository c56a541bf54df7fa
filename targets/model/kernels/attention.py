"""Calls of the kernel `attention` in place of softmax(scale · query · keyᵀ + mask) · value."""

from tvm import relax

from . import dense, epilogue
from .call import kernel
from .graph import are_floats, dtype, same_extents, same_shape, shape

HEADS_FIRST = [0, 2, 1, 3]


def match(graph, var):
    """Returns a variable and the call in place of the attention that it is bound to; None if it is something else."""
    outer = graph.values[var]
    probabilities = graph.unreshaped(outer.args[0])
    softmax = graph.free_call(probabilities, "nn.softmax")
    if softmax is None or not are_floats(outer) or not _is_of_last_axis(softmax, outer.args[0]):
        return None
    scores, mask, scale, inner = _scores(graph, graph.unreshaped(softmax.args[0]))
    if inner is None or not same_shape(scores, outer.args[0]):
        return None
    factor, query = dense.unscaled(graph, inner.args[0])
    key, value = _untransposed(graph, inner.args[1]), outer.args[1]
    operands = [query, key, value]
    if key is None or not are_floats(query, value, inner) or not _fits(operands) or not (mask is None or _is_mask(mask, scores)):
        return None
    graph.taken.update((outer.args[0], probabilities, scores))
    rank = len(shape(query))
    operands = [_with_rank(operand, rank) for operand in (*operands, *([] if mask is None else [mask]))]
    result = var.ty if rank == 4 else relax.TensorType(_extents(shape(var), rank), dtype(var))
    arguments = [*operands, *([epilogue.absent()] if mask is None else []), epilogue.number(scale * factor), 0]
    replacement = kernel("attention", arguments, result)
    return var, replacement if rank == 4 else relax.op.reshape(replacement, var.ty.shape)


def _is_of_last_axis(softmax, probabilities):
    """Returns `True` if a softmax is that of the last axis, and reshapes to the extents of `probabilities` keep this axis."""
    extents = shape(softmax)
    return int(softmax.attrs.axis) in (-1, len(extents) - 1) and same_extents(extents[-1:], shape(probabilities)[-1:])


def _scores(graph, var):
    """Returns the product of query and key below its scale and mask: its variable, the mask, the scale, and the call."""
    mask = None
    if (call := graph.free_call(var, "add")) is not None:
        left, right = call.args
        var, mask = (left, right) if _product(graph, left)[0] is not None else (right, left)
    inner, var, factor = _product(graph, var)
    return var, mask, factor, inner


def _product(graph, var):
    """Returns the matrix product below constant factors, its variable, and the product of these factors."""
    factor, var = dense.unscaled(graph, var)
    return graph.free_call(var, "matmul"), var, factor


def _untransposed(graph, key):
    """Returns the key whose last two axes an operator exchanges; None without one."""
    call = graph.call(key, "permute_dims")
    if call is None:
        return None
    axes = dense.transposition(call)
    return call.args[0] if axes == sorted(axes) else relax.op.permute_dims(call.args[0], axes)


def _fits(operands):
    query, key, value = operands
    leading = [shape(query), shape(value)]
    if any(extents is None or len(extents) not in (3, 4) for extents in leading) or len(leading[0]) != len(leading[1]):
        return False
    if not same_extents(leading[0][:-2], leading[1][:-2]) or leading[0][-1] != leading[1][-1]:
        return False
    return isinstance(leading[0][-1], int)


def _is_mask(mask, scores):
    """Returns `True` if a mask broadcasts to the scores without extents that have to be compared when the model runs."""
    extents, whole = shape(mask), shape(scores)
    if extents is None or len(extents) > len(whole) or not are_floats(mask, scores):
        return False
    return all(extent == 1 or same_extents([extent], [of]) for extent, of in zip(reversed(extents), reversed(whole)))


def _extents(extents, rank):
    """Returns four extents: heads are one if they are part of the batch, and leading ones broadcast."""
    padded = [1] * (rank - len(extents)) + extents
    return padded if rank == 4 else [padded[0], 1, *padded[1:]]


def _with_rank(x, rank):
    """Returns an operand with four extents; a key may be the call of a new permutation, which has no type yet."""
    source = shape(x.args[0]) if isinstance(x, relax.Call) else shape(x)
    extents = [source[int(axis)] for axis in x.attrs.axes] if isinstance(x, relax.Call) else source
    return x if len(extents) == 4 else relax.op.reshape(x, _extents(extents, rank))


def match_operator(graph, var):
    """Returns a variable and the call in place of Relax's operator `nn.attention`; its heads follow the sequence."""
    call = graph.values[var]
    causal = {None: 0, "None": 0, "TopLeft": 1, "BottomRight": 1}
    kind = call.attrs.causal_mask
    queries, keys = (shape(argument) for argument in call.args[:2])
    if kind not in causal or not are_floats(*call.args) or queries is None or keys is None or len(queries) != 4:
        return None
    if causal[kind] and not same_extents(queries[1:2], keys[1:2]):
        return None
    if queries[-1] != shape(call.args[2])[-1]:
        return None
    scale = call.attrs.scale
    scale = float(scale.value if hasattr(scale, "value") else scale) if scale is not None else float(queries[-1]) ** -0.5
    operands = [_heads_first(graph, argument) for argument in call.args[:3]]
    mask = _with_rank(call.args[3], 4) if len(call.args) > 3 else epilogue.absent()
    batch, length, heads, size = shape(var)
    result = relax.TensorType([batch, heads, length, size], dtype(var))
    replacement = kernel("attention", [*operands, mask, epilogue.number(scale), causal[kind]], result)
    return var, relax.op.permute_dims(replacement, HEADS_FIRST)


def _heads_first(graph, x):
    call = graph.call(x, "permute_dims")
    if call is not None and call.attrs.axes is not None and [int(axis) for axis in call.attrs.axes] == HEADS_FIRST:
        return call.args[0]
    return relax.op.permute_dims(x, HEADS_FIRST)
