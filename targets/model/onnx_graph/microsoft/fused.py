"""Products and convolutions with what follows them, and activation functions."""

import math

from onnx_graph.emit import Emitter, attributes, inputs


def fused_matmul(node, folder):
    given, left, right = attributes(node), *node.input
    if given.get("transBatchA") or given.get("transBatchB") or None in (folder.shape(left), folder.shape(right)):
        return None
    emit = Emitter(node, folder)
    left, right = (transposed(emit, folder, name) if given.get(key) else name for name, key in ((left, "transA"), (right, "transB")))
    product = emit("MatMul", left, right)
    return emit.results(emit.scaled(product, given.get("alpha", 1), folder.dtype(node.input[0])))


def transposed(emit, folder, value):
    axes = list(range(len(folder.shape(value))))
    return emit("Transpose", value, perm=[*axes[:-2], axes[-1], axes[-2]]) if axes[1:] else value


def fused_conv(node, folder):
    data, weight, bias, addend = inputs(node, 4)
    emit, given = Emitter(node, folder), attributes(node)
    name, parameters = given.pop("activation", b""), given.pop("activation_params", [])
    result = emit("Conv", data, weight, bias, **given)
    result = emit("Add", result, addend) if addend else result
    return emit.results(activated(emit, name.decode(), result, parameters, folder.dtype(data)))


def fused_gemm(node, folder):
    emit, given = Emitter(node, folder), attributes(node)
    name = given.pop("activation", b"")
    parameters = [given.pop(key) for key in ("activation_alpha", "activation_beta", "activation_gamma") if key in given]
    result = emit("Gemm", *node.input, **given)
    return emit.results(activated(emit, name.decode(), result, parameters, folder.dtype(node.input[0])))


def activated(emit, name, value, parameters, dtype):
    """Returns the result of an activation function, given by its operator's name."""
    if name == "Clip":
        return emit("Clip", value, *(emit.number(bound, dtype) for bound in parameters))
    return emit(name, value, **dict(zip(("alpha", "beta"), parameters))) if name else value


def gelu(node, folder):
    value, bias = inputs(node, 2)
    emit, dtype = Emitter(node, folder), folder.dtype(value)
    value = emit("Add", value, bias) if bias else value
    return emit.results(gated(emit, value, emit("Erf", emit.scaled(value, math.sqrt(0.5), dtype)), dtype))


def fast_gelu(node, folder):
    value, bias = inputs(node, 2)
    emit, dtype = Emitter(node, folder), folder.dtype(value)
    value = emit("Add", value, bias) if bias else value
    cube = emit("Mul", emit("Mul", value, value), value)
    inner = emit("Add", value, emit.scaled(cube, 0.044715, dtype))
    return emit.results(gated(emit, value, emit("Tanh", emit.scaled(inner, math.sqrt(2 / math.pi), dtype)), dtype))


def gated(emit, value, gate, dtype):
    """Returns half of the product of a value and the gate plus one."""
    return emit("Mul", emit.scaled(value, 0.5, dtype), emit("Add", gate, emit.number(1, dtype)))


def quick_gelu(node, folder):
    emit, (value,) = Emitter(node, folder), node.input
    alpha = attributes(node).get("alpha", 1.702)
    return emit.results(emit("Mul", value, emit("Sigmoid", emit.scaled(value, alpha, folder.dtype(value)))))


def bias_add(node, folder):
    emit, (value, bias, skip) = Emitter(node, folder), node.input
    return emit.results(emit("Add", emit("Add", value, bias), skip))


REPLACEMENTS = {
    "BiasAdd": bias_add,
    "BiasGelu": gelu,
    "FastGelu": fast_gelu,
    "FusedConv": fused_conv,
    "FusedGemm": fused_gemm,
    "FusedMatMul": fused_matmul,
    "Gelu": gelu,
    "QuickGelu": quick_gelu,
    "TransposeMatMul": fused_matmul,
}
