"""The bindings of a Relax function: definitions and uses of variables, and properties of expressions."""

import tvm
from tvm import relax


class Graph:
    """Definitions and uses of the variables of a function. Variables that a pattern has taken belong to no other."""

    def __init__(self, function):
        self.values = {}
        self.users = {}
        self.blocks = {}
        self.taken = set()
        self._visit(function.body)

    def _visit(self, sequence):
        for block in sequence.blocks:
            for binding in block.bindings:
                self.values[binding.var] = binding.value
                self.blocks[binding.var] = block
                for used in relax.analysis.free_vars(binding.value):
                    self.users.setdefault(used, []).append(binding.var)
                if isinstance(binding.value, relax.If):
                    self._visit(binding.value.true_branch)
                    self._visit(binding.value.false_branch)
        for used in relax.analysis.free_vars(sequence.body):
            # A result: a use that no pattern can take.
            self.users.setdefault(used, []).append(None)

    def call(self, var, *names):
        """Returns the call to one of the operators that a variable is bound to, or None."""
        value = self.values.get(var)
        return value if operator(value) in names else None

    def free_call(self, var, *names):
        """Returns the call that a variable is bound to if this pattern is its only use and no other has taken it, or None."""
        return self.call(var, *names) if self.users_of(var) == 1 and var not in self.taken else None

    def unreshaped(self, var):
        """Returns the variable below reshapes of which each is the only use of its argument."""
        while (call := self.free_call(var, "reshape")) is not None:
            var = call.args[0]
        return var

    def users_of(self, var):
        return len(self.users.get(var, ()))

    def only_user(self, var):
        """Returns the variable whose value is the only use of `var`, in the same block, or None."""
        users = self.users.get(var, ())
        return users[0] if len(users) == 1 and self.is_free(users[0], var) else None

    def is_free(self, user, var):
        return user is not None and user not in self.taken and self.blocks[user] is self.blocks[var]


def operator(value):
    """Returns the name of the operator of a call, without `relax.`, or None."""
    if isinstance(value, relax.Call) and isinstance(value.op, tvm.ir.Op):
        return value.op.name.removeprefix("relax.")
    return None


def shape(expr):
    """Returns the extents of a tensor, integers where they are known; None if their number is not."""
    known = expr.ty.shape if isinstance(expr.ty, relax.TensorType) else None
    if not isinstance(known, relax.ShapeExpr):
        return None
    return [int(extent) if isinstance(extent, tvm.tirx.IntImm) else extent for extent in known.values]


def dtype(expr):
    """Returns the name of a tensor's element type, or None."""
    return str(expr.ty.dtype) if isinstance(expr.ty, relax.TensorType) else None


def are_floats(*exprs):
    """Returns `True` for tensors of one type that kernels take."""
    types = set(map(dtype, exprs))
    return len(types) == 1 and types <= {"float32", "float16"}


def permutation(call):
    """Returns the axes of a `permute_dims`."""
    rank = len(shape(call))
    return [int(axis) % rank for axis in call.attrs.axes] if call.attrs.axes is not None else list(reversed(range(rank)))


def same_extents(a, b):
    analyzer = tvm.sym.Analyzer()
    return len(a) == len(b) and all(analyzer.can_prove_equal(x, y) for x, y in zip(a, b))


def same_shape(a, b):
    return shape(a) is not None and shape(b) is not None and same_extents(shape(a), shape(b))


def array(expr):
    """Returns the value of a constant as numpy's array, or None."""
    return expr.value.numpy() if isinstance(expr, tvm.ir.GenericConst) else None


def scalar(expr):
    """Returns the value of a constant of one element, or None."""
    value = array(expr)
    return float(value.reshape(())) if value is not None and value.size == 1 else None
