"""Calls of the kernels `dense` and `batch_matmul` in place of matrix products."""

from tvm import relax

from . import epilogue
from .call import kernel
from .graph import are_floats, array, permutation, same_extents, same_shape, scalar, shape


def match(graph, functions, var, packer):
    """Returns the last variable of a matrix product with its epilogue, and the call in its place; None if it stays."""
    call = graph.values[var]
    x, weights = call.args
    if not are_floats(x, weights, call) or shape(x) is None or shape(weights) is None or min(len(shape(x)), len(shape(weights))) < 2:
        return None
    value = array(weights)
    if value is not None and value.size == value.shape[-1] * value.shape[-2] and value.size:
        return _dense(graph, functions, var, x, value.reshape(value.shape[-2:]), packer)
    return _batch_matmul(graph, var, x, weights)


def _dense(graph, functions, var, x, weights, packer):
    found = epilogue.after(graph, functions, var, weights.shape[1], -1)
    packed = relax.const(packer.dense(found.scaled(weights, 1)))
    return found.end, found.call("dense", [x, packed])


def _batch_matmul(graph, var, a, b):
    batches = [_batch(shape(side)) for side in (a, b)]
    if all(batches) and not same_extents(*batches):
        return None
    factor, a = unscaled(graph, a)
    b, transposed = untransposed(graph, b)
    end, alpha = scaled(graph, var)
    return end, kernel("batch_matmul", [a, b, transposed, epilogue.number(factor * alpha)], end)


def _batch(extents):
    """Returns the leading extents, without those that broadcast; empty if all do."""
    leading = extents[:-2]
    return [] if all(extent == 1 for extent in leading) else leading


def untransposed(graph, b):
    """Returns the matrix whose last two axes an operator exchanges, and 1; the matrix itself and 0 without one."""
    if (call := graph.call(b, "permute_dims")) is not None:
        axes = transposition(call)
        if axes == list(range(len(axes))):
            return call.args[0], 1
    return b, 0


def transposition(call):
    """Returns the axes of a `permute_dims` followed by an exchange of the last two."""
    axes = permutation(call)
    return [*axes[:-2], axes[-1], axes[-2]]


def scaled(graph, var):
    """Returns the last variable of a product and of the constants that multiply it, and their product."""
    alpha = 1.0
    while (user := graph.only_user(var)) is not None:
        factor = scale(graph, user)
        if factor is None or not same_shape(user, var):
            break
        alpha *= factor
        graph.taken.add(user)
        var = user
    return var, alpha


def unscaled(graph, var):
    """Returns the product of the constants that multiply a tensor that is used once, and the tensor without them."""
    factor = 1.0
    while graph.free_call(var, "multiply", "divide") is not None and (constant := scale(graph, var)) is not None:
        argument = next(argument for argument in graph.values[var].args if scalar(argument) is None)
        if not same_shape(argument, var):
            break
        factor, var = factor * constant, argument
    return factor, var


def scale(graph, var):
    """Returns the constant by which an operator multiplies its other argument, or None."""
    if (call := graph.call(var, "multiply")) is not None:
        left, right = map(scalar, call.args)
        return right if left is None else left
    call = graph.call(var, "divide")
    divisor = None if call is None else scalar(call.args[1])
    return 1 / divisor if divisor else None
