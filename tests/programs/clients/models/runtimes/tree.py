"""Networks of the tree as ONNX files with an open batch: the digits' CNN and the transformer of `tests/programs/relax`."""

import numpy as np
import onnx
from onnx import TensorProto, helper

from .paths import ROOT

WIDTH, HEADS, LENGTH, TOKENS, LAYERS = 16, 2, 8, 12, 2
EPSILON = 1e-5


def write(folder):
    """Writes both files. Returns their paths by name."""
    models = {"digits": digits(), "transformer": transformer()}
    paths = {name: folder / f"{name}.onnx" for name in models}
    for name, model in models.items():
        onnx.save(model, paths[name])
    return paths


def digits():
    model = onnx.load(ROOT / "tests/programs/relax/cnn/digits.onnx")
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim[0].dim_param = "batch"
    return model


def transformer():
    """Returns two layers with RMS normalisation, SiLU and a mask, with the weights of `gen_relax.py`."""
    from onnx_encoder import FLOAT, Graph

    g, random = Graph(), np.random.default_rng(7)

    def weight(*shape):
        return (random.normal(size=shape) * shape[-1] ** -0.5).astype(np.float32)

    def linear(x, weight, bias=None):
        product = g("MatMul", x, g.constant(weight.T))
        return product if bias is None else g("Add", product, g.constant(bias))

    def norm(x):
        mean = g("ReduceMean", g("Mul", x, x), axes=[-1], keepdims=1)
        return g("Div", x, g("Sqrt", g("Add", mean, g.floats(EPSILON))))

    def heads(x, order):
        return g("Transpose", g("Reshape", x, g.constant(np.array([0, 0, HEADS, WIDTH // HEADS]))), perm=order)

    def layer(x):
        qkv = np.split(weight(3 * WIDTH, WIDTH), 3)
        out, up, up_bias, down, down_bias = (weight(*shape) for shape in ((WIDTH, WIDTH), (4 * WIDTH, WIDTH), (4 * WIDTH,), (WIDTH, 4 * WIDTH), (WIDTH,)))
        normal = norm(x)
        q, k, v = (heads(linear(normal, part), order) for part, order in zip(qkv, ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])))
        scores = g("Add", g("Mul", g("MatMul", q, k), g.floats((WIDTH // HEADS) ** -0.5)), "mask")
        mixed = g("Transpose", g("MatMul", g("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
        x = g("Add", x, linear(g("Reshape", mixed, g.constant(np.array([0, 0, WIDTH]))), out))
        raised = linear(norm(x), up, up_bias)
        return g("Add", x, linear(g("Mul", raised, g("Sigmoid", raised)), down, down_bias))

    table, head, position = weight(TOKENS, WIDTH), weight(TOKENS, WIDTH), weight(1, LENGTH, WIDTH)
    x = g("Add", g("Gather", g.constant(table), "tokens"), g.constant(position))
    for _ in range(LAYERS):
        x = layer(x)
    g.nodes.append(helper.make_node("MatMul", [norm(x), g.constant(head.T)], ["logits"]))
    inputs = [
        helper.make_tensor_value_info("tokens", TensorProto.INT32, ["batch", LENGTH]),
        helper.make_tensor_value_info("mask", FLOAT, [1, 1, LENGTH, LENGTH]),
    ]
    output = helper.make_tensor_value_info("logits", FLOAT, ["batch", LENGTH, TOKENS])
    graph = helper.make_graph(g.nodes, "transformer", inputs, [output], g.weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
