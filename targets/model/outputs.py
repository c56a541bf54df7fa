"""Finds the outputs of a model's functions before it is compiled, since an executable declares none."""

NAMES = "output_names"
"""Attribute of a function with the names of its outputs."""


def rename(mod, names):
    """Returns the module, in which the outputs of `main` have names."""
    mod["main"] = mod["main"].with_attr(NAMES, names)
    return mod


def described(mod, name):
    """Returns names, element types and shapes of a function's outputs, or None if one is unknown before the call."""
    from tvm import ir

    function = mod[name]
    is_tuple = isinstance(function.ret_ty, ir.TupleType)
    tensors = function.ret_ty.fields if is_tuple else [function.ret_ty]
    names = (function.attrs or {}).get(NAMES) or ([f"output{at}" for at in range(len(tensors))] if is_tuple else ["output"])
    shapes = [extents(one) for one in tensors]
    if None in shapes or len(names) != len(tensors):
        return None
    return [{"name": str(name), "dtype": str(one.dtype), "shape": shape} for name, one, shape in zip(names, tensors, shapes)]


def extents(result):
    """Returns the extents of a tensor if they are numbers."""
    from tvm import relax, tirx

    if not isinstance(result, relax.TensorType) or not isinstance(result.shape, relax.ShapeExpr):
        return None
    values = list(result.shape.values)
    return [int(one) for one in values] if all(isinstance(one, tirx.IntImm) for one in values) else None
