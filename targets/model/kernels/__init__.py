"""Sends the dense operators of a Relax module to the kernels of `targets/kernels`: matrix products, convolutions and attention."""

import tvm
from tvm import relax
from tvm.relax.expr_functor import PyExprMutator, mutator

from . import attention, convolution, cublaslt, dense, fold, integer, portable, quantized
from .call import called
from .graph import Graph, operator
from .link import export_library
from .pack import Packer

__all__ = ["Packer", "export_library", "use", "use_cublaslt", "use_integers"]

CONVOLUTIONS = tuple(convolution.LAYOUTS)


def use(mod, packer):
    """Returns a module whose dense operators are calls of kernels. It comes before operators are legalised; `packer` packs constant weights."""
    mod = convolution.with_channels_first(relax.transform.DecomposeOpsForInference()(mod))
    return _replaced(mod, lambda mod, graph: _replacements(mod, graph, packer))


def use_integers(mod):
    """Returns a module whose products and convolutions of 8-bit integers are loops of integers, or the same module without any."""
    changed = convolution.with_channels_first(relax.transform.DecomposeOpsForInference()(mod))
    changed = _replaced(changed, lambda mod, graph: _quantized(_Matches(graph), mod, portable.Unpacked()).found)
    return portable.lowered(changed) if called(changed) else mod


def use_cublaslt(mod, tf32):
    """Returns a module whose matrix products are calls of cuBLASLt. It comes before operators are legalised; `tf32` rounds factors in float32."""
    mod = relax.transform.DecomposeOpsForInference()(mod)
    return _replaced(mod, lambda mod, graph: _Matches(graph).each(["matmul"], lambda var: cublaslt.match(graph, mod, var, tf32)).found)


def _replaced(mod, replacements):
    """Returns a module with the replacements of calls that a function finds in the graph of each function."""
    mod = _CLEANING(fold.folded(mod))
    changed = _Replacer(mod)
    for name, function in mod.functions.items():
        if isinstance(function, relax.Function):
            changed.replacements = replacements(mod, Graph(function))
            changed.builder_.update_func(name, changed.visit_expr(function))
    # Once more: permutations around kernels may undo each other.
    return _CLEANING(fold.folded(changed.builder_.get()))


_CLEANING = tvm.transform.Sequential([relax.transform.CanonicalizeBindings(), relax.transform.DeadCodeElimination()])


def _replacements(mod, graph, packer):
    """Returns calls of kernels by the last operator that each calculates."""
    matches = _Matches(graph)
    matches.each(["nn.attention", "nn.attention_bias"], lambda var: attention.match_operator(graph, var))
    matches.each(["matmul"], lambda var: attention.match(graph, var))
    _quantized(matches, mod, packer)
    matches.each(["matmul"], lambda var: integer.match(graph, var, packer))
    matches.each(["matmul"], lambda var: dense.match(graph, mod, var, packer))
    matches.each(CONVOLUTIONS, lambda var: convolution.match(graph, mod, var, packer))
    return matches.found


def _quantized(matches, mod, packer):
    """Adds the matches of products and convolutions of 8-bit integers."""
    graph = matches.graph
    matches.each(["matmul"], lambda var: quantized.match_dense(graph, mod, var, packer))
    return matches.each(CONVOLUTIONS, lambda var: quantized.match_convolution(graph, mod, var, packer))


class _Matches:
    """Replacements by the call that each replaces."""

    def __init__(self, graph):
        self.graph = graph
        self.found = {}

    def each(self, names, match):
        """Adds the matches of the operators with these names that are free."""
        for var in [var for var, value in self.graph.values.items() if operator(value) in names]:
            if var not in self.graph.taken and (matched := match(var)) is not None:
                end, replacement = matched
                self.graph.taken.update((var, end))
                self.found[self.graph.values[end]] = replacement
        return self


@mutator
class _Replacer(PyExprMutator):
    """Replaces calls of operators by calls of kernels."""

    def visit_call_(self, call):
        if call in self.replacements:
            return self.visit_expr(self.replacements[call])
        return self.visit_expr_post_order(call)
