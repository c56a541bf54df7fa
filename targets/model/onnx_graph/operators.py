"""The operators of an ONNX model that TVM lacks."""

from failure import Failure
from onnx_graph.names import bodies

OTHERS = {"Attention"}
"""Operators that TVM imports for another domain with the same name."""
SHOWN = 5


def all_nodes(nodes):
    for node in nodes:
        yield node
        for body in bodies(node):
            yield from all_nodes(body.node)


def check(model, supported):
    """Names the nodes whose operators TVM does not import."""
    lacking = {}
    for node in all_nodes(model.graph.node):
        if node.op_type not in supported:
            lacking.setdefault(operator(node), []).append(node.name or node.output[0])
    if lacking:
        listed = "; ".join(f"{name} (node {', '.join(nodes[:SHOWN])}{', …' if nodes[SHOWN:] else ''})" for name, nodes in lacking.items())
        raise Failure(f"TVM does not import these operators: {listed}. Export the model without them, or replace them by others")


def operator(node):
    return f"{node.domain}.{node.op_type}" if node.domain not in ("", "ai.onnx") else node.op_type
