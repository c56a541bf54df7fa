"""Folds constants in ONNX graphs with static shapes, and replaces operators on the way: each node is visited once, in order."""

import numpy
import onnx
from onnx import checker, helper, numpy_helper, shape_inference
from onnx.reference import ReferenceEvaluator

from onnx_graph import definitions, loops, microsoft, quantized, recurrent, replacements
from onnx_graph.names import reachable, renamed

STANDARD = recurrent.REPLACEMENTS | replacements.REPLACEMENTS | quantized.REPLACEMENTS | microsoft.STANDARD
REPLACEMENTS = {"": STANDARD, "ai.onnx": STANDARD, microsoft.DOMAIN: microsoft.REPLACEMENTS}
"""Functions that replace nodes, by their domain and operator."""
RANDOM = {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial", "Bernoulli"}
SMALL = 1 << 16
"""Bytes below which a constant may replace smaller ones; above, it must not enlarge the model."""
SHAPE_ELEMENTS = 4096
"""Elements of the constants that the inference of shapes reads."""


class Folder:
    """Rewrites a model in place: each node sees the types and the constants of those before it.

    Folded are shapes, constants and branches whose condition is known. Operators that are not in `supported` become
    their definitions in others.
    """

    def __init__(self, model, supported):
        self.supported = supported
        self.model = model
        self.graph = model.graph
        self.types = {value.name: value.type for value in self.graph.input}
        self.constants = {weight.name: weight for weight in self.graph.initializer}
        self.versions = {opset.domain or "": opset.version for opset in model.opset_import}
        self.count = 0
        for weight in self.graph.initializer:
            self.types[weight.name] = helper.make_tensor_type_proto(weight.data_type, weight.dims)

    def run(self):
        nodes = self.with_constant_outputs(self.visited(self.graph.node, {}))
        nodes, needed = reachable(nodes, {value.name for value in self.graph.output})
        del self.graph.node[:], self.graph.initializer[:], self.graph.value_info[:]
        self.graph.node.extend(nodes)
        self.graph.initializer.extend(constant for name, constant in self.constants.items() if name in needed)
        for output in self.graph.output:
            output.type.CopyFrom(self.types.get(output.name, output.type))
        known = {value for node in nodes for value in node.output if value in self.types}
        self.graph.value_info.extend(helper.make_value_info(name, self.types[name]) for name in sorted(known))

    def with_constant_outputs(self, nodes):
        """Returns the nodes, after those that copy constants to outputs of the model."""
        copies = {}
        for output in self.graph.output:
            if output.name in self.constants:
                copy = output.name + ".constant"
                self.define(copy, self.constants.pop(output.name))
                copies[output.name] = copy
        # Before the nodes, since they may read the output.
        made = [helper.make_node("Identity", [copy], [name]) for name, copy in copies.items()]
        return [*made, *(renamed(node, copies) for node in nodes)]

    def visited(self, nodes, names):
        """Returns what is left of the nodes. `names` renames the values of a branch."""
        left = []
        for node in nodes:
            node = renamed(node, names)
            left += FLOW.get(node.op_type, Folder.node)(self, node)
        return left

    def node(self, node):
        if node.op_type == "Constant":
            tensor = constant_tensor(node)
            if tensor is None:
                return [node]
            self.define(node.output[0], tensor)
            return []
        replaced = self.replaced(node)
        if replaced is not None:
            return self.visited(replaced, {})
        self.infer(node)
        if self.fold_shape(node) or self.fold_values(node):
            return []
        return [node] if node.op_type in self.supported else self.defined(node)

    def replaced(self, node):
        """Returns the nodes in place of one whose operator TVM lacks or imports in part, or None."""
        replacement = REPLACEMENTS.get(node.domain, {}).get(node.op_type)
        is_constant = node.domain != microsoft.DOMAIN and all(name in self.constants for name in node.input if name)
        return replacement(node, self) if replacement and not is_constant else None

    def defined(self, node):
        """Returns the nodes of an operator's definition, or the node if it has none."""
        if node.domain not in self.versions or any(name and name not in self.types for name in node.input):
            return [node]
        function = definitions.body(node, self.versions[node.domain], self.types)
        if function is None:
            return [node]
        return self.visited(*definitions.instance(function, node, node.output[0] + self.fresh()))

    def define(self, name, tensor):
        self.constants[name] = renamed_tensor(tensor, name)
        self.types[name] = helper.make_tensor_type_proto(tensor.data_type, tensor.dims)

    def infer(self, node):
        """Records the types of a node's outputs, if the types of its inputs are known."""
        if node.domain not in self.versions or any(name and name not in self.types for name in node.input):
            return
        data = {name: self.constants[name] for name in node.input if name in self.constants and elements(self.constants[name]) <= SHAPE_ELEMENTS}
        types = {name: self.types[name] for name in node.input if name}
        try:
            schema = onnx.defs.get_schema(node.op_type, self.versions[node.domain], node.domain)
            found = shape_inference.infer_node_outputs(schema, node, types, data, opset_imports=self.model.opset_import)
        except (onnx.defs.SchemaError, shape_inference.InferenceError, checker.ValidationError):
            return
        self.types.update(found)

    def fold_shape(self, node):
        """Folds Shape and Size of a value with a static shape."""
        shape = self.shape(node.input[0]) if node.op_type in ("Shape", "Size") else None
        if shape is None:
            return False
        return self.evaluate(node, {node.input[0]: numpy.broadcast_to(numpy.int8(0), shape)})

    def fold_values(self, node):
        """Folds a node whose inputs are constants."""
        if node.op_type in RANDOM or not all(name in self.constants for name in node.input if name):
            return False
        if any(attribute.type in (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS) for attribute in node.attribute):
            return False
        return self.evaluate(node, {name: self.value(name) for name in node.input if name})

    def evaluate(self, node, values):
        """Makes the outputs of a node constants. Returns whether that was possible, and worth their size."""
        inputs = [helper.make_value_info(name, self.types[name]) for name in values]
        outputs = [helper.make_value_info(name, onnx.TypeProto()) for name in node.output if name]
        graph = helper.make_graph([node], "node", inputs, outputs)
        try:
            found = ReferenceEvaluator(helper.make_model(graph, opset_imports=self.model.opset_import)).run(None, values)
            tensors = [numpy_helper.from_array(value) for value in found]
        except Exception:  # noqa: BLE001 - the evaluator raises errors of many classes; the node stays
            return False
        size = sum(value.nbytes for value in found)
        if size > max(SMALL, sum(value.nbytes for value in values.values())):
            return False
        for name, tensor in zip(filter(None, node.output), tensors):
            self.define(name, tensor)
        return True

    def branches(self, node):
        """Returns the nodes of the branch that a known condition selects, or the node with both branches folded."""
        bodies = {attribute.name: attribute.g for attribute in node.attribute}
        if node.input[0] not in self.constants:
            for body in bodies.values():
                self.fold_branch(body)
            self.types.update({name: self.common(at, bodies) for at, name in enumerate(node.output)})
            return [node]
        return self.inlined(bodies["then_branch" if self.value(node.input[0]).item() else "else_branch"], node)

    def rounds(self, node):
        """Returns the rounds of a loop, or the loop if their number depends on data."""
        return loops.unrolled(node, self)

    def fold_branch(self, body):
        names, nodes = self.enter(body)
        left = self.visited(nodes, names)
        results = [names.get(output.name, output.name) for output in body.output]
        del body.node[:], body.initializer[:]
        body.node.extend(left)
        for output, result in zip(body.output, results):
            if result in self.constants or result in self.types and not any(result in kept.output for kept in left):
                copy = result + ".result"
                body.node.append(helper.make_node("Identity", [result], [copy]))
                self.types[copy] = self.types[result]
                result = copy
            output.name = result
            output.type.CopyFrom(self.types.get(result, output.type))

    @staticmethod
    def common(at, bodies):
        """Returns the type of an output of two branches: without a shape if theirs differ."""
        one, other = (body.output[at].type for body in bodies.values())
        return one if one == other else helper.make_tensor_type_proto(one.tensor_type.elem_type, None)

    def inlined(self, body, node):
        names, nodes = self.enter(body)
        left = self.visited(nodes, names)
        for output, result in zip(node.output, body.output):
            left += self.node(helper.make_node("Identity", [names.get(result.name, result.name)], [output]))
        return left

    def fresh(self):
        """Returns an ending that makes names unique in the model."""
        self.count += 1
        return f".{self.count}"

    def constant(self, node, value):
        """Returns the name of a new constant, for a node's replacement."""
        name = node.output[0] + self.fresh()
        self.define(name, numpy_helper.from_array(numpy.asarray(value)))
        return name

    def enter(self, body):
        """Returns new names for the values of a branch, which are unique in it only, and its nodes."""
        prefix = self.fresh()
        own = [weight.name for weight in body.initializer] + [name for node in body.node for name in node.output if name]
        names = {name: name + prefix for name in own}
        for weight in body.initializer:
            self.define(names[weight.name], weight)
        nodes = [renamed(node, {}) for node in body.node]
        for node in nodes:
            node.name += prefix if node.name else ""
        return names, nodes

    def value(self, name):
        """Returns the value of a constant."""
        return numpy_helper.to_array(self.constants[name])

    def element_type(self, name):
        """Returns ONNX's number of a value's element type, or None."""
        kind = self.types.get(name)
        return kind.tensor_type.elem_type if kind is not None else None

    def dtype(self, name):
        return helper.tensor_dtype_to_np_dtype(self.element_type(name))

    def shape(self, name):
        """Returns the static shape of a value, or None."""
        kind = self.types.get(name)
        if kind is None or not kind.HasField("tensor_type") or not kind.tensor_type.HasField("shape"):
            return None
        dims = kind.tensor_type.shape.dim
        return [dim.dim_value for dim in dims] if all(dim.HasField("dim_value") for dim in dims) else None


FLOW = {"If": Folder.branches, "Loop": Folder.rounds, "Scan": Folder.rounds}
"""Operators with graphs of their own, and how they are visited."""


def elements(tensor):
    return numpy.prod(tensor.dims, dtype=int)


def renamed_tensor(tensor, name):
    copy = onnx.TensorProto()
    copy.CopyFrom(tensor)
    copy.name = name
    return copy


def constant_tensor(node):
    """Returns the value of a node Constant, or None for a sparse tensor and strings."""
    (attribute,) = node.attribute
    if attribute.name == "value":
        return attribute.t
    if attribute.name in ("value_float", "value_floats", "value_int", "value_ints"):
        dtype = numpy.float32 if "float" in attribute.name else numpy.int64
        return numpy_helper.from_array(numpy.array(helper.get_attribute_value(attribute), dtype))
    return None
