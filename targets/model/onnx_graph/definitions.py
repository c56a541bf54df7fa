"""Definitions of operators in other operators, as the ONNX standard and models have them."""

import onnx
from onnx import defs



def body(node, version, types):
    """Returns the standard's definition of an operator for inputs of these types, or None."""
    try:
        schema = defs.get_schema(node.op_type, version, node.domain)
    except defs.SchemaError:
        return None
    function = onnx.FunctionProto()
    if schema.has_function:
        known = [known for known in schema.function_opset_versions if known <= version]
        data = schema.get_function_with_opset_version(max(known)) if known else b""
    elif schema.has_context_dependent_function:
        known = [known for known in schema.context_dependent_function_opset_versions if known <= version]
        inputs = [types[name].SerializeToString() if name else b"" for name in node.input]
        data = schema.get_context_dependent_function_with_opset_version(max(known), node.SerializeToString(), inputs) if known else b""
    else:
        return None
    function.ParseFromString(data)
    declared = {attribute.name for attribute in function.attribute_proto}
    defaults = [attribute.default_value for name, attribute in schema.attributes.items() if name not in declared]
    function.attribute_proto.extend(default for default in defaults if default.name)
    return function if data else None


def instance(function, node, prefix):
    """Returns the nodes of a definition with the attributes of the node that it defines, and new names of their values."""
    given = {attribute.name: attribute for attribute in node.attribute}
    given = {attribute.name: attribute for attribute in function.attribute_proto} | given
    names = {name: "" for name in function.input} | dict(zip(function.input, node.input))
    for inner in function.node:
        names.update({name: f"{prefix}.{name}" for name in inner.output if name})
    names.update({name: own for name, own in zip(function.output, node.output) if own})
    return [with_attributes(inner, given) for inner in function.node], names


def with_attributes(node, given):
    """Replaces references to the attributes of the definition by those that the node gives."""
    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    del copy.attribute[:]
    for attribute in node.attribute:
        if not attribute.ref_attr_name:
            kept = copy.attribute.add()
            kept.CopyFrom(attribute)
            if attribute.type == onnx.AttributeProto.GRAPH:
                inner = [with_attributes(part, given) for part in attribute.g.node]
                del kept.g.node[:]
                kept.g.node.extend(inner)
        elif attribute.ref_attr_name in given:
            kept = copy.attribute.add()
            kept.CopyFrom(given[attribute.ref_attr_name])
            kept.name = attribute.name
    return copy
