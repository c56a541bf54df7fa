"""Sends the dense operators of a Relax module to the kernels of `targets/kernels`: matrix products, convolutions and attention."""

import tvm
from tvm import relax
from tvm.relax.expr_functor import PyExprMutator, mutator

from . import attention, convolution, dense, fold, integer, quantized
from .graph import Graph, operator
from .link import export_library
from .pack import Packer

__all__ = ["Packer", "export_library", "use"]

CONVOLUTIONS = tuple(convolution.LAYOUTS)


def use(mod, packer):
    """Returns a module whose dense operators are calls of kernels. It comes before operators are legalised; `packer` packs constant weights."""
    mod = convolution.with_channels_first(relax.transform.DecomposeOpsForInference()(mod))
    mod = _CLEANING(fold.folded(mod))
    changed = _Replacer(mod)
    for name, function in mod.functions.items():
        if isinstance(function, relax.Function):
            changed.replacements = _replacements(mod, function, packer)
            changed.builder_.update_func(name, changed.visit_expr(function))
    # Once more: permutations around kernels may undo each other.
    return _CLEANING(fold.folded(changed.builder_.get()))


_CLEANING = tvm.transform.Sequential([relax.transform.CanonicalizeBindings(), relax.transform.DeadCodeElimination()])


def _replacements(mod, function, packer):
    """Returns calls of kernels by the last operator that each calculates."""
    graph = Graph(function)
    found = {}

    def replace(matched, root):
        if matched is not None:
            end, replacement = matched
            graph.taken.update((root, end))
            found[graph.values[end]] = replacement

    def each(*names):
        return [var for var, value in graph.values.items() if operator(value) in names and var not in graph.taken]

    for var in each("nn.attention", "nn.attention_bias"):
        replace(attention.match_operator(graph, var), var)
    for var in each("matmul"):
        replace(attention.match(graph, var), var)
    for var in each("matmul"):
        replace(quantized.match_dense(graph, mod, var, packer), var)
    for var in each(*CONVOLUTIONS):
        replace(quantized.match_convolution(graph, mod, var, packer), var)
    for var in each("matmul"):
        replace(integer.match(graph, var, packer), var)
    for var in each("matmul"):
        replace(dense.match(graph, mod, var, packer), var)
    for var in each(*CONVOLUTIONS):
        replace(convolution.match(graph, mod, var, packer), var)
    return found


@mutator
class _Replacer(PyExprMutator):
    """Replaces calls of operators by calls of kernels."""

    def visit_call_(self, call):
        if call in self.replacements:
            return self.visit_expr(self.replacements[call])
        return self.visit_expr_post_order(call)
