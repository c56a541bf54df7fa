"""Calls of kernels."""

import tvm
from tvm import relax

PREFIX = "ferrite."


def kernel(name, arguments, result):
    """Returns the call of a kernel whose result has the type of `result`, a variable or a type."""
    values = [value if isinstance(value, tvm.runtime.Object) else relax.prim_value(value) for value in arguments]
    return relax.call_dps_packed(PREFIX + name, relax.Tuple(values), getattr(result, "ty", result))


def called(mod):
    """Returns the names of the kernels that a module calls, one for each call."""
    names = []

    def visit(expr):
        if isinstance(expr, relax.ExternFunc) and expr.global_symbol.startswith(PREFIX):
            names.append(expr.global_symbol.removeprefix(PREFIX))

    for function in mod.functions.values():
        if isinstance(function, relax.Function):
            relax.analysis.post_order_visit(function, visit)
    return names
