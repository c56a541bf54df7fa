"""Folds calls of constants by numpy, those with which frontends prepare weights, and removes calls that return their argument.

TVM's own pass compiles a function for each constant.
"""

import numpy
from tvm import relax
from tvm.relax.expr_functor import PyExprMutator, mutator

from .graph import array, operator, permutation, same_shape, shape

ELEMENTWISE = {
    "add": numpy.add,
    "subtract": numpy.subtract,
    "multiply": numpy.multiply,
    "divide": numpy.divide,
    "sqrt": numpy.sqrt,
    "negative": numpy.negative,
    "isnan": numpy.isnan,
    "where": numpy.where,
}
WIDE = ("float16", "float32", "float64", "int32", "int64")
"""Types to which constants are converted."""
SHAPED = ("reshape", "expand_dims", "squeeze")
"""Operators that change the extents alone."""


def folded(mod):
    """Returns a module whose calls of constants are constants, and whose calls change something."""
    folder = _Folder(mod)
    for name, function in mod.functions.items():
        if isinstance(function, relax.Function):
            folder.builder_.update_func(name, folder.visit_expr(function))
    return folder.builder_.get()


@mutator
class _Folder(PyExprMutator):
    def __init__(self, mod):
        super().__init__(mod)
        self.known = {}
        self.same = {}
        self.permuted = {}

    def visit_var_binding_(self, binding):
        value = _value(binding.value, self.known)
        if value is not None:
            self.known[binding.var] = value
        elif isinstance(binding.var, relax.DataflowVar) and _is_identity(binding.value):
            self.same[binding.var] = binding.value.args[0]
        elif isinstance(binding.var, relax.DataflowVar) and self._is_permuted_back(binding):
            self.same[binding.var] = self.permuted[binding.value.args[0]][0]
        else:
            super().visit_var_binding_(binding)

    def _is_permuted_back(self, binding):
        """Returns `True` for a permutation that undoes another, and remembers other ones."""
        call = binding.value
        if operator(call) != "permute_dims":
            return False
        axes = permutation(call)
        self.permuted[binding.var] = call.args[0], axes
        _, first = self.permuted.get(call.args[0], (None, None))
        return first is not None and [first[axis] for axis in axes] == sorted(axes)

    def visit_var_(self, var):
        if var in self.same:
            return self.visit_expr(self.same[var])
        return self._constant(var) if var in self.known else super().visit_var_(var)

    visit_dataflow_var_ = visit_var_

    def _constant(self, var):
        value = self.known[var]
        return relax.const(value, str(value.dtype))


def _value(call, known):
    """Returns the value of a call of constants whose type is known, or None."""
    name = operator(call)
    if name not in ELEMENTWISE and name not in SHAPED and name not in ("astype", "permute_dims", "dequantize"):
        return None
    operands = [known[argument] if argument in known else array(argument) for argument in call.args if not isinstance(argument, relax.ShapeExpr)]
    extents = shape(call)
    if extents is None or not all(isinstance(extent, int) for extent in extents) or any(operand is None for operand in operands):
        return None
    if name in SHAPED:
        return operands[0].reshape(extents)
    if name == "astype":
        return operands[0].astype(str(call.ty.dtype)) if str(call.ty.dtype) in WIDE else None
    if name == "permute_dims":
        return numpy.ascontiguousarray(operands[0].transpose(permutation(call)))
    if name == "dequantize":
        return _dequantized(call, *operands) if operands[0].dtype == "int32" else None
    if name == "divide" and operands[0].dtype.kind != "f":
        return None
    return numpy.asarray(ELEMENTWISE[name](*operands), dtype=str(call.ty.dtype))


def _dequantized(call, value, scale, zero):
    """Returns a quantised bias as floats; weights stay bytes."""
    form = [1] * value.ndim
    form[int(call.attrs.axis)] = -1
    scale, zero = (part.reshape(form if part.size > 1 else ()) for part in (scale, zero))
    return ((value - zero) * scale).astype(str(call.ty.dtype))


def _is_identity(call):
    name = operator(call)
    if name == "strided_slice" and len(call.args) > 4 and any(int(stride) != 1 for stride in call.args[4].fields):
        return False
    return name in ("broadcast_to", "strided_slice", *SHAPED) and same_shape(call, call.args[0])
