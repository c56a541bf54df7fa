"""Writes an encoder of BERT's kind as an ONNX model, from the same weights as `ferrite model` reads."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


class Graph:
    """Nodes and weights; each operation returns the name of its result."""

    def __init__(self):
        self.nodes, self.weights = [], []

    def constant(self, array):
        name = f"c{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def floats(self, value):
        return self.constant(np.float32(value))

    def __call__(self, kind, *inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name


def model(checkpoint, d):
    """Returns the ONNX model: token numbers, a mask and positions become vectors of length 1."""
    g = Graph()

    def linear(x, name):
        weight = g.constant(checkpoint.tensor(name + ".weight").T)
        return g("Add", g("MatMul", x, weight), g.constant(checkpoint.tensor(name + ".bias")))

    def norm(x, name):
        gain, shift = (g.constant(checkpoint.tensor(f"{name}.LayerNorm.{end}")) for end in ("weight", "bias"))
        return g("LayerNormalization", x, gain, shift, axis=-1, epsilon=d.epsilon)

    def heads(x, order):
        return g("Transpose", g("Reshape", x, g.constant(np.array([0, 0, d.heads, d.head]))), perm=order)

    def table(name):
        return g.constant(checkpoint.tensor(f"embeddings.{name}_embeddings.weight"))

    x = g("Add", g("Gather", table("word"), "ids"), g("Gather", table("position"), "positions"))
    x = norm(g("Add", x, g.constant(checkpoint.tensor("embeddings.token_type_embeddings.weight")[0])), "embeddings")
    hidden = g("Unsqueeze", g("Mul", g("Sub", "mask", g.floats(1)), g.floats(1e4)), g.constant(np.array([1, 2])))
    for layer in range(d.layers):
        at = f"encoder.layer.{layer}."
        q = heads(linear(x, at + "attention.self.query"), [0, 2, 1, 3])
        k = heads(linear(x, at + "attention.self.key"), [0, 2, 3, 1])
        v = heads(linear(x, at + "attention.self.value"), [0, 2, 1, 3])
        scores = g("Add", g("Mul", g("MatMul", q, k), g.floats(d.head**-0.5)), hidden)
        mixed = g("Transpose", g("MatMul", g("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
        mixed = g("Reshape", mixed, g.constant(np.array([0, 0, d.width])))
        x = norm(g("Add", x, linear(mixed, at + "attention.output.dense")), at + "attention.output")
        up = linear(x, at + "intermediate.dense")
        gate = g("Mul", g("Add", g("Erf", g("Mul", up, g.floats(0.5**0.5))), g.floats(1)), g.floats(0.5))
        x = norm(g("Add", x, linear(g("Mul", up, gate), at + "output.dense")), at + "output")
    kept = g("Unsqueeze", "mask", g.constant(np.array([2])))
    total = g("ReduceSum", g("Mul", x, kept), g.constant(np.array([1])), keepdims=0)
    square = g("ReduceSum", g("Mul", total, total), g.constant(np.array([1])), keepdims=1)
    g.nodes.append(helper.make_node("Div", [total, g("Sqrt", square)], ["vectors"]))
    inputs = [
        helper.make_tensor_value_info("ids", INT64, ["batch", "length"]),
        helper.make_tensor_value_info("mask", FLOAT, ["batch", "length"]),
        helper.make_tensor_value_info("positions", INT64, ["length"]),
    ]
    output = helper.make_tensor_value_info("vectors", FLOAT, ["batch", d.width])
    graph = helper.make_graph(g.nodes, "encoder", inputs, [output], g.weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def write(path, checkpoint, description):
    onnx.save(model(checkpoint, description), path)
