"""Normalisation of layers, with sums and embeddings before it."""

import numpy
from onnx import TensorProto

from onnx_graph.emit import Emitter, attributes, inputs

LAYER_NORMALIZATION = 17
"""Operator set of the standard that has LayerNormalization; ONNX Runtime takes it in older ones, too."""
EPSILON, SMALL_EPSILON = 1e-5, 1e-12


def layer_normalization(node, folder):
    """Replaces the operator in old operator sets, and one whose statistics are outputs, which TVM imports as scalars."""
    if folder.versions[""] >= LAYER_NORMALIZATION and not any(node.output[1:]):
        return None
    value, scale, bias = inputs(node, 3)
    emit = Emitter(node, folder)
    result, *statistics = normalised(emit, folder, node, value, scale, is_centred=True)
    return emit.results(emit("Add", result, bias) if bias else result, *statistics)


def simplified(node, folder):
    if folder.shape(node.input[0]) is None:
        return None
    emit = Emitter(node, folder)
    result, _, inverse = normalised(emit, folder, node, *node.input, is_centred=False)
    return emit.results(result, inverse)


def normalised(emit, folder, node, value, scale, is_centred, source=None, epsilon=EPSILON):
    """Returns a value times its scale after normalisation, the mean, and the inverse of the deviation, in float32 for float16."""
    given, source = attributes(node), source or value
    axis, rank = given.get("axis", -1), len(folder.shape(source))
    axes = list(range(axis % rank, rank))
    is_half = folder.element_type(source) == TensorProto.FLOAT16
    value = emit("Cast", value, to=TensorProto.FLOAT) if is_half else value
    dtype = numpy.dtype("float32") if is_half else folder.dtype(source)
    mean = emit.mean(value, axes) if is_centred else None
    centred = emit("Sub", value, mean) if is_centred else value
    variance = emit.mean(emit("Mul", centred, centred), axes)
    inverse = emit("Reciprocal", emit("Sqrt", emit("Add", variance, emit.number(given.get("epsilon", epsilon), dtype))))
    result = emit("Mul", centred, inverse)
    result = emit("Cast", result, to=TensorProto.FLOAT16) if is_half else result
    return emit("Mul", result, scale), mean, inverse


def skip(node, folder):
    value, skipped, scale, bias, addend = inputs(node, 5)
    if any(node.output[1:3]):
        return None
    emit = Emitter(node, folder)
    total = summed(emit, value, skipped, addend)
    result = emit("LayerNormalization", total, scale, bias, epsilon=attributes(node).get("epsilon", SMALL_EPSILON))
    return emit.results(result, "", "", total)


def skip_simplified(node, folder):
    value, skipped, scale, addend = inputs(node, 4)
    if any(node.output[1:3]) or folder.shape(value) is None:
        return None
    emit = Emitter(node, folder)
    total = summed(emit, value, skipped, addend)
    result, _, _ = normalised(emit, folder, node, total, scale, is_centred=False, source=value, epsilon=SMALL_EPSILON)
    return emit.results(result, "", "", total)


def summed(emit, *values):
    """Returns the sum of those values that are given."""
    total, *others = filter(None, values)
    for other in others:
        total = emit("Add", total, other)
    return total


def embedding(node, folder):
    tokens, segments, words, positions, kinds, scale, bias, mask, indices = inputs(node, 9)
    shape = folder.shape(tokens)
    if shape is None:
        return None
    emit = Emitter(node, folder)
    indices = indices or emit.constant(numpy.arange(shape[1]))
    parts = [emit("Gather", words, tokens), emit("Gather", positions, indices), emit("Gather", kinds, segments) if segments else None]
    total = summed(emit, *parts)
    result = emit("LayerNormalization", total, scale, bias, epsilon=attributes(node).get("epsilon", SMALL_EPSILON))
    lengths = emit.reshape(emit.sum(mask, [1]), -1) if mask else emit.constant(numpy.zeros(shape[:1], "int32"))
    return emit.results(result, lengths, total)


REPLACEMENTS = {
    "EmbedLayerNormalization": embedding,
    "SimplifiedLayerNormalization": simplified,
    "SkipLayerNormalization": skip,
    "SkipSimplifiedLayerNormalization": skip_simplified,
}
STANDARD = {"LayerNormalization": layer_normalization, "SimplifiedLayerNormalization": simplified}
