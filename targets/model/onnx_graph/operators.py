"""The operators of an ONNX model that TVM lacks: replaced by their definitions in other operators, or named."""

from onnx import defs, inliner

from failure import Failure
from onnx_graph.names import bodies


def all_nodes(nodes):
    for node in nodes:
        yield node
        for body in bodies(node):
            yield from all_nodes(body.node)


def inlined(model, supported):
    """Replaces functions of the model, and operators that TVM lacks, by their definitions."""
    if model.functions:
        model = inliner.inline_local_functions(model)
    lacking = {(node.domain, node.op_type) for node in all_nodes(model.graph.node) if node.op_type not in supported}
    defined = sorted(pair for pair in lacking if is_defined(*pair))
    return inliner.inline_selected_functions(model, defined, inline_schema_functions=True) if defined else model


def is_defined(domain, name):
    """Returns `True` if the standard defines an operator by others."""
    try:
        schema = defs.get_schema(name, domain)
    except defs.SchemaError:
        return False
    return schema.has_function or schema.has_context_dependent_function


def check(model, supported):
    """Names the nodes whose operators TVM does not import."""
    lacking = [node for node in all_nodes(model.graph.node) if node.op_type not in supported]
    if lacking:
        raise Failure("; ".join(dict.fromkeys(map(explained, lacking))))


def explained(node):
    operator = f"{node.domain}.{node.op_type}" if node.domain not in ("", "ai.onnx") else node.op_type
    name = node.name or (node.output[0] if node.output else "without a name")
    return f"TVM does not import the operator {operator} (node {name})"
