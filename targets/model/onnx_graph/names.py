"""Names of values in ONNX graphs: which nodes need them, and other names for those of a branch."""

import onnx


def renamed(node, names):
    """Returns a copy of a node that calls its values by other names, also in its branches."""
    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    if names:
        rename(copy, names)
    return copy


def rename(node, names):
    node.input[:] = [names.get(name, name) for name in node.input]
    node.output[:] = [names.get(name, name) for name in node.output]
    for body in bodies(node):
        for inner in body.node:
            rename(inner, names)
        for output in body.output:
            output.name = names.get(output.name, output.name)


def bodies(node):
    """Returns the graphs in a node's attributes."""
    return [attribute.g for attribute in node.attribute if attribute.type == onnx.AttributeProto.GRAPH]


def read(node):
    """Returns the names of the values that a node and its branches read."""
    found = set(node.input)
    for body in bodies(node):
        found.update(*map(read, body.node))
        found.update(output.name for output in body.output)
    return found - {""}


def reachable(nodes, results):
    """Returns the nodes that the results need, and the names of all values that these nodes read."""
    needed, kept = set(results), []
    for node in reversed(nodes):
        if needed.intersection(node.output):
            kept.append(node)
            needed |= read(node)
    return kept[::-1], needed
