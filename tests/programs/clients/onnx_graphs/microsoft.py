"""Operators of the domain com.microsoft, rewritten by `ferrite model` into those of the standard: results are ONNX Runtime's."""

import unittest

import numpy as np
from graphs import FLOAT, INT8, INT32, UINT8, Failure, Graphs, model, operators, prepared, results
from onnx import TensorProto, helper

DOMAIN = "com.microsoft"
BATCH, LENGTH, HEADS, SIZE = 2, 5, 3, 4
WIDTH = HEADS * SIZE


class Microsoft(Graphs):
    def contributed(self, operator, feeds, weights=None, absent=(), **options):
        """Checks one node whose inputs are the feeds, then the weights, in the order of their names' numbers."""
        names = sorted({**feeds, **(weights or {})}, key=lambda name: int(name[1:]))
        inputs = ["" if f"i{at}" not in names else f"i{at}" for at in range(int(names[-1][1:]) + 1)]
        options = {"domain": DOMAIN} | options
        ours = self.one(operator, inputs, feeds, weights, **options)
        self.assertEqual({node.domain for node in ours.graph.node}, {""})
        return ours


def numbered(*values):
    """Returns values by the numbers of their inputs; absent ones are None."""
    return {f"i{at}": np.asarray(value) for at, value in enumerate(values) if value is not None}


class Fused(Microsoft):
    def test_matrix_products(self):
        left, right = self.floats(2, 3, 4), self.floats(2, 4, 5)
        self.contributed("FusedMatMul", numbered(left, right), alpha=0.5)
        turned = numbered(left.transpose(0, 2, 1).copy(), right.transpose(0, 2, 1).copy())
        for operator in ("FusedMatMul", "TransposeMatMul"):
            self.contributed(operator, turned, transA=1, transB=1)
        for name, given in (("Relu", {}), ("LeakyRelu", {"activation_alpha": 0.3}), ("HardSigmoid", {"activation_alpha": 0.4, "activation_beta": 0.6})):
            self.contributed("FusedGemm", numbered(left[0], right[0], self.floats(5)), activation=name, alpha=2.0, **given)

    def test_convolutions(self):
        operands = numbered(self.floats(1, 2, 5, 5), self.floats(3, 2, 3, 3), self.floats(3))
        for name, parameters in (("Clip", [-0.5, 0.75]), ("LeakyRelu", [0.2]), ("HardSigmoid", [0.3, 0.4])):
            self.contributed("FusedConv", operands, activation=name, activation_params=parameters, pads=[1] * 4)
        self.contributed("FusedConv", operands, activation="Tanh", strides=[2, 2])
        self.contributed("FusedConv", operands | {"i3": self.floats(1, 3, 3, 3)}, activation="Relu")
        self.contributed("FusedConv", numbered(self.floats(1, 2, 5, 5), self.floats(3, 2, 3, 3)))

    def test_activation_functions(self):
        x, bias = 3 * self.floats(2, 4), self.floats(4)
        for operator in ("Gelu", "QuickGelu", "FastGelu"):
            self.contributed(operator, numbered(x))
        self.contributed("QuickGelu", numbered(x), alpha=1.0)
        for operator in ("BiasGelu", "FastGelu"):
            self.contributed(operator, numbered(x, bias))


class Normalised(Microsoft):
    def test_layers_in_old_operator_sets(self):
        x, scale, bias = self.floats(2, 3, 4), self.floats(4), self.floats(4)
        for opset in (13, 17, 18):
            self.one("LayerNormalization", ["x", "s", "b"], {"x": x}, {"s": scale, "b": bias}, opset=opset, epsilon=1e-3)
            self.one("SimplifiedLayerNormalization", ["x", "s"], {"x": x}, {"s": scale}, opset=opset)
            self.one("LayerNormalization", ["x", "s"], {"x": x}, {"s": self.floats(3, 4)}, opset=opset, axis=1, outputs=["y", "mean", "inverse"])

    def test_sums_before(self):
        x, skipped, scale, bias, addend = self.floats(2, 3, 4), self.floats(2, 3, 4), self.floats(4), self.floats(4), self.floats(4)
        outputs = ["y", "", "", "sum"]
        for opset in (14, 17):
            self.contributed("SkipLayerNormalization", numbered(x, skipped, scale, bias, addend), opset=opset, outputs=outputs)
            self.contributed("SkipLayerNormalization", numbered(x, skipped, scale), opset=opset, epsilon=1e-2)
            self.contributed("SkipSimplifiedLayerNormalization", numbered(x, skipped, scale, addend), opset=opset, outputs=outputs)
            self.contributed("SkipSimplifiedLayerNormalization", numbered(x, skipped[0], scale), opset=opset)

    def test_embeddings(self):
        tokens, kinds = self.random.integers(0, 7, (2, 3)).astype(np.int32), self.random.integers(0, 2, (2, 3)).astype(np.int32)
        tables = self.floats(7, 4), self.floats(6, 4), self.floats(2, 4), self.floats(4), self.floats(4)
        words, positions, segments, *layer = tables
        mask, indices = np.int32([[1, 1, 0], [1, 0, 0]]), np.int32([[3, 4, 5], [0, 0, 1]])
        self.contributed("EmbedLayerNormalization", numbered(tokens, None, words, positions, None, *layer), outputs=["y", "lengths"], kind={"y": FLOAT, "lengths": INT32})
        types = {"y": FLOAT, "lengths": INT32, "sum": FLOAT}
        whole = numbered(tokens, kinds, words, positions, segments, *layer, mask, indices)
        self.contributed("EmbedLayerNormalization", whole, outputs=[*types], kind=types)


class Attended(Microsoft):
    def masks(self):
        keys = np.int32([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
        return keys, np.int32([5, 3]), np.stack([keys] * LENGTH, 1)

    def test_attention(self):
        x, weights, bias = self.floats(BATCH, LENGTH, 7), self.floats(7, 3 * WIDTH), self.floats(3 * WIDTH)
        for options in ({}, {"unidirectional": 1}, {"scale": 0.3}):
            self.contributed("Attention", numbered(x), numbered(None, weights, bias), num_heads=HEADS, **options)
        for mask in self.masks():
            self.contributed("Attention", numbered(x, None, None, mask), numbered(None, weights, bias), num_heads=HEADS)
        addend = self.floats(BATCH, HEADS, LENGTH, LENGTH)
        inputs = numbered(x, None, None, self.masks()[0], None, addend)
        self.contributed("Attention", inputs, numbered(None, weights, bias), num_heads=HEADS, unidirectional=1)
        wide = self.floats(7, 4 * WIDTH), self.floats(4 * WIDTH)
        self.contributed("Attention", numbered(x), numbered(None, *wide), num_heads=HEADS, qkv_hidden_sizes=[WIDTH, WIDTH, 2 * WIDTH])

    def test_attention_of_separate_operands(self):
        query, key, value = self.floats(BATCH, LENGTH, WIDTH), self.floats(BATCH, 4, WIDTH), self.floats(BATCH, 4, 2 * WIDTH)
        for options in ({}, {"scale": 0.3}, {"outputs": ["y", "k", "v"]}):
            self.contributed("MultiHeadAttention", numbered(query, key, value), num_heads=HEADS, **options)
        mask, addend = np.int32([[1, 1, 1, 0], [1, 1, 0, 0]]), self.floats(1, HEADS, LENGTH, 4)
        self.contributed("MultiHeadAttention", numbered(query, key, value, self.floats(4 * WIDTH), mask, addend), num_heads=HEADS)
        self.contributed("MultiHeadAttention", numbered(query, query, query), num_heads=HEADS, unidirectional=1)
        caches = self.floats(BATCH, HEADS, 4, SIZE), self.floats(BATCH, HEADS, 4, SIZE)
        self.contributed("MultiHeadAttention", numbered(query, *caches), num_heads=HEADS)
        inputs = numbered(query, query, query, None, None, None, *caches)
        self.contributed("MultiHeadAttention", inputs, num_heads=HEADS, outputs=["y", "k", "v"])

    def test_rotations_by_position(self):
        angles = self.floats(9, SIZE // 2)
        tables = np.cos(angles), np.sin(angles)
        for positions in (np.array([2]), self.random.integers(0, 9, (BATCH, LENGTH))):
            for interleaved in (0, 1):
                for x in (self.floats(BATCH, LENGTH, WIDTH), self.floats(BATCH, HEADS, LENGTH, SIZE)):
                    self.contributed("RotaryEmbedding", numbered(x, positions, *tables), interleaved=interleaved)
        x = self.floats(BATCH, LENGTH, 2 * WIDTH)
        self.contributed("RotaryEmbedding", numbered(x, np.array([0]), *tables), num_heads=HEADS, rotary_embedding_dim=SIZE)

    def test_what_is_left_is_named(self):
        x, weights, past = self.floats(1, 2, 6), self.floats(6, 18), self.floats(2, 1, 3, 1, 2)
        node = helper.make_node("Attention", ["x", "w", "", "", "p"], ["y", "present"], domain=DOMAIN, num_heads=3, name="first")
        inputs = {"x": (FLOAT, x.shape), "p": (FLOAT, past.shape)}
        with self.assertRaisesRegex(Failure, r"does not import these operators: com.microsoft.Attention \(node first\)"):
            prepared(model([node], inputs, {"y": (FLOAT, None)}, {"w": weights}))


class Integers(Microsoft):
    def bytes(self, *shape, dtype=np.uint8):
        limits = np.iinfo(dtype)
        return self.random.integers(limits.min, limits.max + 1, shape).astype(dtype)

    def operand(self, *shape, scale=0.05, dtype=np.uint8):
        return self.bytes(*shape, dtype=dtype), np.float32(scale), dtype(3)

    def test_operators_with_one_operand(self):
        for dtype, kind in ((np.uint8, UINT8), (np.int8, INT8)):
            x = self.operand(1, 3, 4, 4, dtype=dtype)
            self.contributed("QLinearSigmoid", numbered(*x, np.float32(1 / 256), dtype(0)), kind=kind)
            self.contributed("QLinearLeakyRelu", numbered(*x, np.float32(0.04), dtype(9)), kind=kind, alpha=0.2)
            self.contributed("QLinearGlobalAveragePool", numbered(*x, np.float32(0.01), dtype(9)), kind=kind)
            self.contributed("QLinearAveragePool", numbered(*x, np.float32(0.04), dtype(9)), kind=kind, kernel_shape=[2, 2])

    def test_softmax_divides_by_the_scale(self):
        """ONNX Runtime multiplies by the whole part of its inverse: by 254 for 1 / 255."""
        for dtype, kind in ((np.uint8, UINT8), (np.int8, INT8)):
            x, zero = np.arange(0, 125, 25, dtype=dtype)[None], dtype(np.iinfo(dtype).min)
            powers = np.exp(0.02 * x)
            for scale, theirs in ((1 / 256, 256), (1 / 255, 254)):
                feeds = numbered(x, np.float32(0.02), dtype(0), np.float32(scale), zero)
                given = {name: (kind if value.dtype == dtype else FLOAT, value.shape) for name, value in feeds.items()}
                source = model([helper.make_node("QLinearSoftmax", [*feeds], ["y"], domain=DOMAIN, opset=13, axis=1)], given, {"y": (kind, None)})
                for graph, factor in ((prepared(source), 1 / scale), (source, theirs)):
                    np.testing.assert_array_equal(results(graph, feeds)[0], np.rint(factor * powers / powers.sum()) + zero)

    def test_operators_with_more_operands(self):
        out = np.float32(0.1), np.uint8(20)
        for operator in ("QLinearAdd", "QLinearMul"):
            self.contributed(operator, numbered(*self.operand(2, 3), *self.operand(3, scale=0.08), *out), kind=UINT8)
        self.contributed("QLinearConcat", numbered(*out, *self.operand(2, 3), *self.operand(2, 2, scale=0.2)), kind=UINT8, axis=1)
        condition = self.random.integers(0, 2, (2, 3)).astype(bool)
        self.contributed("QLinearWhere", numbered(condition, *self.operand(2, 3), *self.operand(3, scale=0.2), *out), kind=UINT8)

    def test_matrix_products(self):
        x, bias = self.operand(4, 6), self.random.integers(-999, 999, 5).astype(np.int32)
        weights = self.bytes(5, 6, dtype=np.int8), np.float32([0.01, 0.02, 0.03, 0.04, 0.05]), np.zeros(5, np.int8)
        out = np.float32(0.5), np.uint8(99)
        self.contributed("QGemm", numbered(*x), numbered(None, None, None, *weights, bias, *out), kind=UINT8, transB=1)
        single = self.bytes(6, 5), np.float32([0.02]), np.uint8([7])
        self.contributed("QGemm", numbered(*x), numbered(None, None, None, *single, bias), alpha=2.0)
        right = self.bytes(6, 5), np.float32(0.02), np.uint8(7)
        left, scale, zero = x
        operands = numbered(left, right[0], scale, right[1], zero, right[2], self.floats(5))
        self.contributed("MatMulIntegerToFloat", operands)
        self.contributed("DynamicQuantizeMatMul", numbered(self.floats(4, 6), *right, self.floats(5)), tolerance=1e-4)
        self.contributed("DynamicQuantizeMatMul", numbered(self.floats(4, 6), *right[:2]), tolerance=1e-4)

    def test_products_by_packed_weights(self):
        rows, inner, size = 8, 40, 16
        count = -(-inner // size)
        for bits in (4, 8):
            packed, scales = self.bytes(rows, count, size * bits // 8), self.floats(rows, count) / 16
            zeros = self.bytes(rows, -(-count * bits // 8))
            for weights in ((packed, scales), (packed, scales, zeros), (packed, scales, zeros, None, self.floats(rows))):
                given = {"K": inner, "N": rows, "block_size": size, "bits": bits}
                self.contributed("MatMulNBits", numbered(self.floats(2, 3, inner)), numbered(None, *weights), tolerance=1e-4, **given)

    def test_conversions(self):
        x, scale = self.floats(2, 3), np.float32(0.02)
        nodes = [
            helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], domain=DOMAIN),
            helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"], domain=DOMAIN),
        ]
        source = model(nodes, {"x": (TensorProto.FLOAT, x.shape)}, {"y": (FLOAT, None)}, {"s": scale, "z": np.uint8(99)})
        self.assertEqual(operators(self.agrees(source, {"x": x})), ["QuantizeLinear", "DequantizeLinear"])


if __name__ == "__main__":
    unittest.main()
