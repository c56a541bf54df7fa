"""A decoder of Llama's family in TVM's frontend `nn`, with the functions that programs of MLC-LLM call."""

import json

import tvm
from tvm import relax
from tvm.relax.frontend import nn
from tvm.relax.frontend.nn import Tensor, op
from tvm.relax.frontend.nn.llm import kv_cache

from language import kernels
from language.parameters import GROUP, PER_WORD

STEPS = ("embed", "prefill", "decode", "batch_prefill", "batch_decode", "batch_verify", "softmax_with_temperature")
"""Functions whose memory is planned for the longest step."""


class Matrix(nn.Module):
    """A matrix of weights, whole or quantised to 4 bits, and a bias."""

    def __init__(self, options, inputs, outputs, bias=False):
        self.options, self.outputs = options, outputs
        if options.bits == 4:
            self.q_weight = nn.Parameter((outputs, inputs // PER_WORD), "uint32")
            self.q_scale = nn.Parameter((outputs, inputs // GROUP), options.dtype)
        else:
            self.weight = nn.Parameter((outputs, inputs), options.dtype)
        self.bias = nn.Parameter((outputs,), options.dtype) if bias else None

    def table(self):
        return [self.q_weight, self.q_scale] if self.options.bits == 4 else [self.weight]

    def forward(self, x, dtype=None):
        out = kernels.product(x, self.table(), self.outputs, dtype or self.options.dtype, self.options.target)
        return out if self.bias is None else out + self.bias


class Attention(nn.Module):
    def __init__(self, d, options):
        self.d = d
        self.qkv_proj = Matrix(options, d.width, d.qkv_rows, d.qkv_bias)
        self.o_proj = Matrix(options, d.heads * d.head, d.width, d.output_bias)

    def forward(self, x, cache, layer):
        d, (batch, length, _) = self.d, x.shape
        qkv = op.reshape(self.qkv_proj(x), (batch, length, d.heads + 2 * d.kv_heads, d.head))
        mixed = cache.attention_with_fused_qkv(layer, qkv, d.heads, sm_scale=d.head**-0.5)
        return self.o_proj(op.reshape(mixed, (batch, length, d.heads * d.head)))


class FeedForward(nn.Module):
    def __init__(self, d, options):
        self.gate_up_proj = Matrix(options, d.width, 2 * d.hidden)
        self.down_proj = Matrix(options, d.hidden, d.width)

    def forward(self, x):
        gate, up = op.split(self.gate_up_proj(x), 2, axis=-1)
        return self.down_proj(op.silu(gate) * up)


class Layer(nn.Module):
    def __init__(self, d, options):
        self.self_attn, self.mlp = Attention(d, options), FeedForward(d, options)
        self.input_layernorm = nn.RMSNorm(d.width, -1, d.epsilon, bias=False, dtype=options.dtype)
        self.post_attention_layernorm = nn.RMSNorm(d.width, -1, d.epsilon, bias=False, dtype=options.dtype)

    def forward(self, x, cache, layer):
        x = x + self.self_attn(self.input_layernorm(x), cache, layer)
        return x + self.mlp(self.post_attention_layernorm(x))


class Layers(nn.Module):
    def __init__(self, d, options):
        self.embed_tokens = Matrix(options, d.width, d.vocab)
        self.layers = nn.ModuleList([Layer(d, options) for _ in range(d.layers)])
        self.norm = nn.RMSNorm(d.width, -1, d.epsilon, bias=False, dtype=options.dtype)

    def forward(self, x, cache):
        for number, layer in enumerate(self.layers):
            x = layer(x, cache, number)
        return self.norm(x)


class Decoder(nn.Module):
    unused_kernels = ()

    def __init__(self, d, options):
        self.d, self.options = d, options
        self.model = Layers(d, options)
        self.lm_head = None if d.tied else Matrix(options, d.width, d.vocab)

    def logits(self, x):
        return (self.model.embed_tokens if self.d.tied else self.lm_head)(x, "float32")

    def embed(self, input_ids: Tensor):
        return kernels.rows_of(self.model.embed_tokens.table(), input_ids, self.d.width, self.options.dtype)

    def prefill(self, input_embed: Tensor, paged_kv_cache):
        width = self.d.width

        def last(x):
            return tvm.te.compute((1, 1, width), lambda i, _, k: x[i, x.shape[1] - 1, k], name="last")

        x = op.tensor_expr_op(last, "last", [self.model(input_embed, paged_kv_cache)])
        return self.logits(x), paged_kv_cache

    def decode(self, input_embed: Tensor, paged_kv_cache):
        return self.logits(self.model(input_embed, paged_kv_cache)), paged_kv_cache

    def batch_prefill(self, input_embeds: Tensor, logit_positions: Tensor, paged_kv_cache):
        x = self.model(input_embeds, paged_kv_cache)
        return self.logits(op.take(x, logit_positions, axis=1)), paged_kv_cache

    def batch_decode(self, input_embeds: Tensor, paged_kv_cache):
        return self.decode(input_embeds, paged_kv_cache)

    def batch_verify(self, input_embeds: Tensor, paged_kv_cache):
        return self.decode(input_embeds, paged_kv_cache)

    def softmax_with_temperature(self, logits: Tensor, temperature: Tensor):
        return op.softmax(logits / op.reshape(temperature, (temperature.shape[0], 1, 1)), axis=-1)

    def create_paged_kv_cache(self, max_batch_size, max_total_seq_len, prefill_chunk_size, page_size, support_sliding_window):
        sizes = (max_batch_size, max_total_seq_len, prefill_chunk_size, page_size, support_sliding_window)
        return kernels.cache(self.d, self.options.dtype, self.options.target, sizes, self.unused_kernels)

    def functions(self):
        """Returns the arguments of each function, by its name."""
        d, dtype = self.d, self.options.dtype
        cache, tensor = {"paged_kv_cache": nn.spec.Object(object_type=kv_cache.PagedKVCache)}, nn.spec.Tensor
        packed = {"$": {"param_mode": "packed", "effect_mode": "none"}}
        plain = {"$": {"param_mode": "none", "effect_mode": "none"}}
        sizes = ("max_batch_size", "max_total_seq_len", "prefill_chunk_size", "page_size", "support_sliding_window")
        many = tensor([1, "seq_len", d.width], dtype)
        return {
            "embed": {"input_ids": tensor(["seq_len"], "int32"), **packed},
            "prefill": {"input_embed": many, **cache, **packed},
            "decode": {"input_embed": tensor([1, 1, d.width], dtype), **cache, **packed},
            "batch_prefill": {"input_embeds": many, "logit_positions": tensor(["batch_size"], "int32"), **cache, **packed},
            "batch_decode": {"input_embeds": tensor(["batch_size", 1, d.width], dtype), **cache, **packed},
            "batch_verify": {"input_embeds": many, **cache, **packed},
            "softmax_with_temperature": {
                "logits": tensor(["batch_size", 1, d.vocab], "float32"),
                "temperature": tensor(["batch_size"], "float32"),
                **plain,
            },
            "create_paged_kv_cache": {**dict.fromkeys(sizes, int), **plain},
        }

    def spec(self):
        return nn.spec.ModuleSpec.from_raw(self.functions(), self)


def module(description, options, kind=Decoder):
    """Returns the IRModule of a decoder, and the names, shapes and data types of its parameters in the order of the packed argument."""
    decoder = kind(description, options)
    mod, params = decoder.export_tvm(spec=decoder.spec(), allow_extern=False)[:2]
    table = [{"name": name, "shape": [int(n) for n in p.shape], "dtype": str(p.dtype)} for name, p in params]
    finish(mod, options.metadata(description) | {"params": table}, STEPS, {"seq_len": options.chunk, "batch_size": options.batch})
    return mod, table


def finish(mod, metadata, functions, bounds):
    """Adds the function `_metadata`, and the largest sizes for which memory is planned."""
    mod["_metadata"] = constant("_metadata", json.dumps(metadata))
    for variable, function in list(mod.functions.items()):
        if isinstance(function, relax.Function) and variable.name_hint in functions:
            mod[variable] = function.with_attr("tir_var_upper_bound", bounds)


def constant(name, text):
    """Returns a function that returns a string."""
    builder = relax.BlockBuilder()
    with builder.function(name, params=[]):
        builder.emit_func_output(tvm.ir.StringImm(text))
    return builder.finalize()[name].with_attr("global_symbol", name)
