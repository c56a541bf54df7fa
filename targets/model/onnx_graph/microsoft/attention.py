"""Attention of several heads, and the rotation of its vectors by their positions."""

import numpy
from onnx import TensorProto

from onnx_graph.emit import Emitter, attributes, inputs

HEADS_FIRST = [0, 2, 1, 3]
MASKED = -10000.0
"""Number that masks add to scores, unless the node gives another."""


def attention(node, folder):
    value, weights, bias, mask, past, addend, shared = inputs(node, 7)
    given, shape, columns = attributes(node), folder.shape(value), folder.shape(weights)
    if None in (shape, columns) or past or shared or any(node.output[1:]) or given.get("do_rotary"):
        return None
    emit = Emitter(node, folder)
    product = emit("MatMul", value, weights)
    product = emit("Add", product, bias) if bias else product
    sizes = given.get("qkv_hidden_sizes") or [columns[1] // 3] * 3
    parts = emit("Split", product, emit.constant(numpy.array(sizes)), axis=-1, outputs=3)
    heads = Heads(emit, given, folder.dtype(value), shape[:2])
    operands = [heads.divided(part, shape[1]) for part in parts]
    bias = heads.bias(folder, mask, addend, shape[1])
    return None if bias is None else emit.results(heads.attended(*operands, sizes[0], bias))


def multi_head(node, folder):
    query, key, value, bias, mask, addend, past_key, past_value, *others = inputs(node, 10)
    shapes = [folder.shape(name) for name in (query, key, value)]
    if any(others) or any(node.output[3:]) or any(shape is None for shape in shapes) or len(shapes[0]) != 3:
        return None
    emit, given = Emitter(node, folder), attributes(node)
    heads = Heads(emit, given, folder.dtype(query), shapes[0][:2])
    operands = [query, key, value]
    if bias:
        addends = emit("Split", bias, emit.constant(numpy.array([shape[-1] for shape in shapes])), axis=0, outputs=3)
        operands = [emit("Add", *pair) for pair in zip(operands, addends)]
    # A key of four axes has its heads apart, as those of caches of a cross-attention.
    operands = [name if len(shape) == 4 else heads.divided(name, shape[1]) for name, shape in zip(operands, shapes)]
    total = shapes[1][-2]
    if past_key:
        operands[1:] = [emit("Concat", *pair, axis=2) for pair in zip((past_key, past_value), operands[1:])]
        total += folder.shape(past_key)[2]
    bias = heads.bias(folder, mask, addend, total)
    return None if bias is None else emit.results(heads.attended(*operands, shapes[0][2], bias), *operands[1:])


class Heads:
    """The attention of one node: its attributes, and the extents of batch and queries."""

    def __init__(self, emit, given, dtype, extents):
        self.emit, self.given, self.dtype = emit, given, dtype
        self.count = given["num_heads"]
        self.batch, self.length = extents

    def divided(self, value, length):
        """Returns a value with its heads as the second axis."""
        return self.emit("Transpose", self.emit.reshape(value, self.batch, length, self.count, -1), perm=HEADS_FIRST)

    def attended(self, query, key, value, width, bias):
        """Returns softmax(scale · query · keyᵀ + bias) · value. Queries have `width` elements in all heads, and an empty bias is absent."""
        emit = self.emit
        scale = self.given.get("scale") or (width // self.count) ** -0.5
        scores = emit.scaled(emit("MatMul", query, emit("Transpose", key, perm=[0, 1, 3, 2])), scale, self.dtype)
        scores = emit("Add", scores, bias) if bias else scores
        mixed = emit("MatMul", emit("Softmax", scores, axis=-1), value)
        return emit.reshape(emit("Transpose", mixed, perm=HEADS_FIRST), self.batch, self.length, -1)

    def bias(self, folder, mask, addend, total):
        """Returns the sum of what is added to the scores of `total` keys, an empty string for nothing, and None for unknown masks."""
        hidden = self.masked(folder.shape(mask), mask, total) if mask else ""
        if hidden is None:
            return None
        found, *others = [*filter(None, (addend, hidden, self.causal(total)))] or [""]
        for other in others:
            found = self.emit("Add", found, other)
        return found

    def masked(self, shape, mask, total):
        """Returns the numbers that a mask adds: it has zeros for hidden keys or pairs, or the lengths of sequences; None for others."""
        emit, extents = self.emit, {2: (self.batch, 1, 1, total), 3: (self.batch, 1, self.length, total)}
        if shape == [self.batch]:
            is_seen = emit("Less", emit.constant(numpy.arange(total, dtype="int32")), emit.reshape(mask, -1, 1, 1, 1))
        elif shape is not None and len(shape) in extents and shape[-1] == total:
            is_seen = emit("Cast", emit.reshape(mask, *extents[len(shape)]), to=TensorProto.BOOL)
        else:
            return None
        hidden = emit.number(self.given.get("mask_filter_value", MASKED), self.dtype)
        return emit("Where", is_seen, emit.number(0, self.dtype), hidden)

    def causal(self, total):
        """Returns the numbers that hide keys after a query, or None if all are seen."""
        if not self.given.get("unidirectional"):
            return None
        hidden = numpy.full((self.length, total), numpy.finfo(self.dtype).min, self.dtype)
        return self.emit.constant(numpy.triu(hidden, total - self.length + 1)[None, None])


def rotary(node, folder):
    value, positions, cosines, sines = node.input
    shape, table, given = folder.shape(value), folder.shape(cosines), attributes(node)
    if None in (shape, table, folder.shape(positions)) or given.get("is_packed_batching") or given.get("scale", 1) != 1:
        return None
    emit, rotated = Emitter(node, folder), 2 * table[1]
    is_divided = len(shape) == 4
    length = shape[2 if is_divided else 1]
    size = shape[3] if is_divided else shape[2] // given["num_heads"] if given.get("num_heads") else rotated
    if folder.shape(positions) == [1]:
        positions = emit("Add", positions, emit.constant(numpy.arange(length)))
    extents = (-1, 1, length, table[1]) if is_divided else (-1, length, 1, table[1])
    factors = [emit.reshape(emit("Gather", part, positions), *extents) for part in (cosines, sines)]
    heads = value if is_divided else emit.reshape(value, shape[0], length, -1, size)
    rest = []
    if rotated < size:
        heads, *rest = emit("Split", heads, emit.constant(numpy.array([rotated, size - rotated])), axis=-1, outputs=2)
    result = turned(emit, heads, factors, rotated, given.get("interleaved"))
    result = emit("Concat", result, *rest, axis=-1) if rest else result
    return emit.results(emit.reshape(result, *shape))


def turned(emit, value, factors, size, is_interleaved):
    """Returns pairs of elements turned by angles whose cosines and sines are given."""
    cosine, sine = factors
    if is_interleaved:
        pairs = emit.reshape(value, 0, 0, 0, size // 2, 2)
        real, imaginary = (emit.element(pairs, at, axis=-1) for at in (0, 1))
    else:
        real, imaginary = emit.split(value, 2, -1)
    parts = emit("Sub", emit("Mul", real, cosine), emit("Mul", imaginary, sine)), emit("Add", emit("Mul", imaginary, cosine), emit("Mul", real, sine))
    if not is_interleaved:
        return emit("Concat", *parts, axis=-1)
    joined = emit("Concat", *(emit("Unsqueeze", part, emit.constant(numpy.array([-1]))) for part in parts), axis=-1)
    return emit.reshape(joined, 0, 0, 0, size)


REPLACEMENTS = {"Attention": attention, "MultiHeadAttention": multi_head, "RotaryEmbedding": rotary}
