"""Calls of kernels."""

import tvm
from tvm import relax

PREFIX = "ferrite."


def typed(name, dtype):
    """Returns the name of a kernel for an element type: libraries contain the code of those types that they call."""
    return f"{name}_{dtype}" if "float16" in dtype else name


def kernel(name, arguments, result):
    """Returns the call of a kernel whose result has the type of `result`, a variable or a type."""
    result = getattr(result, "ty", result)
    return packed(PREFIX + typed(name, str(result.dtype)), arguments, result)


def packed(name, arguments, result):
    """Returns the call of a global function that writes a result of this type."""
    values = [value if isinstance(value, tvm.runtime.Object) else relax.prim_value(value) for value in arguments]
    return relax.call_dps_packed(name, relax.Tuple(values), result)


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
