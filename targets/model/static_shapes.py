"""Static shapes for models whose sizes are symbolic, such as those of `torch.export` with dynamic axes."""

import tvm
from failure import Failure
from tvm import relax


def fixed(mod, shapes):
    """Returns a module whose function `main` has static inputs.

    An open axis has the size that `shapes` gives to its input or to its name; a batch axis has 1 otherwise.
    """
    main = mod["main"]
    inputs = {parameter.name: dims(parameter) for parameter in main.params}
    symbols = {dim.name: dim for extents in inputs.values() for dim in extents if isinstance(dim, tvm.tirx.Var)}
    for unknown in sorted({*shapes} - {*inputs, *symbols}):
        raise Failure(f"the model has no input {unknown}; its inputs are: {listed(inputs)}")
    sizes = {name: sizes[0] for name, sizes in shapes.items() if name in symbols}
    for name in {*shapes} & {*inputs}:
        match(name, inputs[name], shapes[name], sizes)
    for extents in inputs.values():
        if extents and isinstance(extents[0], tvm.tirx.Var):
            sizes.setdefault(extents[0].name, 1)
    if still := [name for name in symbols if name not in sizes]:
        name = still[0]
        raise Failure(f"the sizes {', '.join(still)} of the inputs are open: {listed(inputs)}. Give each, such as --shape {name}=32")
    # A size that only results have stays symbolic.
    mod = tvm.IRModule(dict(mod.functions_items()), attrs=mod.attrs)
    mod["main"] = main.bind_symbolic_vars({symbols[name]: size for name, size in sizes.items()})
    return mod


def dims(parameter):
    """Returns the extents of an input, numbers and variables; none for what is not a tensor with a shape."""
    kind = parameter.ty
    if not isinstance(kind, relax.TensorType) or not isinstance(kind.shape, relax.ShapeExpr):
        return []
    return [int(dim) if isinstance(dim, tvm.tirx.IntImm) else dim for dim in kind.shape.values]


def match(name, declared, given, sizes):
    """Adds the sizes of an input's axes, or reports a shape that does not fit."""
    fits = len(declared) == len(given)
    for dim, size in zip(declared, given):
        fits = fits and (sizes.setdefault(dim.name, size) if isinstance(dim, tvm.tirx.Var) else dim) == size
    if not fits:
        raise Failure(f"the shape {given} does not fit the input {text(name, declared)}")


def listed(inputs):
    return ", ".join(text(name, extents) for name, extents in inputs.items())


def text(name, extents):
    return f"{name}[{', '.join(str(dim) if isinstance(dim, int) else dim.name for dim in extents)}]"
