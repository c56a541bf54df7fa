"""Rewrites an ONNX model into one that TVM imports: static shapes, folded constants, recurrent operators as steps."""

from onnx_graph import inputs, operators
from onnx_graph.fold import REWRITES, folded


def prepared(model, shapes, values, supported):
    """Returns a rewritten copy of a model.

    `shapes` has the shapes of inputs, and sizes of named axes; `values` the constants that replace inputs; `supported`
    the operators that TVM imports.
    """
    model = inputs.fixed(model, shapes, values)
    model = folded(operators.inlined(model, {*supported, *REWRITES}))
    operators.check(model, supported)
    return model
