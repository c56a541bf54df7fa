"""An encoder of BERT's kind in TVM's frontend `nn`: sentences become vectors of length 1, the mean over their tokens."""

import tvm
from tvm import tirx
from tvm.relax.frontend import nn
from tvm.relax.frontend.nn import Tensor, op

from language import kernels
from language.network import Matrix, finish

MASKED = -1e4
"""Added to the scores of tokens that pad a sentence; float16 has it."""


class Embeddings(nn.Module):
    def __init__(self, d, options):
        self.d, self.options = d, options
        self.word = Matrix(options, d.width, d.vocab)
        self.position = Matrix(options, d.width, d.positions)
        self.token_type = Matrix(options, d.width, d.types)
        self.norm = nn.LayerNorm(d.width, d.epsilon, dtype=options.dtype)

    def forward(self, ids):
        tables = [module.table() for module in (self.word, self.position, self.token_type)]
        count, dtype = len(tables[0]), self.options.dtype

        def summed(ids, *weights):
            word, position, kind = (kernels.weight_at(weights[at * count : (at + 1) * count], dtype) for at in range(3))
            zero = tirx.const(0, "int32")
            at = lambda i, j, k: word(ids[i, j], k) + position(j, k) + kind(zero, k)
            return tvm.te.compute((*ids.shape, self.d.width), at, name="embed")

        return self.norm(op.tensor_expr_op(summed, "embed", [ids, *tables[0], *tables[1], *tables[2]]))


class Layer(nn.Module):
    def __init__(self, d, options):
        self.d = d
        self.qkv = Matrix(options, d.width, 3 * d.width, True)
        self.out = Matrix(options, d.width, d.width, True)
        self.norm = nn.LayerNorm(d.width, d.epsilon, dtype=options.dtype)
        self.up = Matrix(options, d.width, d.hidden, True)
        self.down = Matrix(options, d.hidden, d.width, True)
        self.feed_norm = nn.LayerNorm(d.width, d.epsilon, dtype=options.dtype)

    def forward(self, x, mask):
        d, (batch, length, _) = self.d, x.shape
        qkv = op.permute_dims(op.reshape(self.qkv(x), (batch, length, 3 * d.heads, d.head)), [0, 2, 1, 3])
        q, k, v = op.split(qkv, 3, axis=1)
        scores = op.matmul(q, op.permute_dims(k, [0, 1, 3, 2])) * d.head**-0.5 + mask
        mixed = op.permute_dims(op.matmul(op.softmax(scores, axis=-1), v), [0, 2, 1, 3])
        x = self.norm(x + self.out(op.reshape(mixed, (batch, length, d.width))))
        return self.feed_norm(x + self.down(op.gelu(self.up(x))))


class Encoder(nn.Module):
    def __init__(self, d, options):
        self.d, self.options = d, options
        self.embeddings = Embeddings(d, options)
        self.layers = nn.ModuleList([Layer(d, options) for _ in range(d.layers)])

    def encode(self, input_ids: Tensor, attention_mask: Tensor):
        batch, length = input_ids.shape
        kept = op.astype(attention_mask, self.options.dtype)
        mask = op.reshape((kept - 1.0) * -MASKED, (batch, 1, 1, length))
        x = self.embeddings(input_ids)
        for layer in self.layers:
            x = layer(x, mask)
        return self.pooled(op.astype(x, "float32"), op.astype(attention_mask, "float32"))

    def pooled(self, x, kept):
        """Adds the vectors of the tokens that are kept, and divides by the length of the sum: that of the mean needs no count."""
        total = op.sum(x * op.reshape(kept, (*kept.shape, 1)), axis=1)
        return total / op.sqrt(op.sum(total * total, axis=-1, keepdims=True))

    def spec(self):
        tensor = nn.spec.Tensor(["batch_size", "seq_len"], "int32")
        function = {"input_ids": tensor, "attention_mask": tensor, "$": {"param_mode": "packed", "effect_mode": "none"}}
        return nn.spec.ModuleSpec.from_raw({"encode": function}, self)


def module(description, options):
    """Returns the IRModule of an encoder, and the names, shapes and data types of its parameters in the order of the packed argument."""
    encoder = Encoder(description, options)
    mod, params = encoder.export_tvm(spec=encoder.spec(), allow_extern=False)[:2]
    table = [{"name": name, "shape": [int(n) for n in p.shape], "dtype": str(p.dtype)} for name, p in params]
    metadata = {"model_type": description.kind, "quantization": options.quantization, "context_window_size": options.context}
    metadata |= {"max_batch_size": options.batch, "embedding_size": description.width, "params": table}
    finish(mod, metadata, ("encode",), {"seq_len": options.context, "batch_size": options.batch})
    return mod, table
