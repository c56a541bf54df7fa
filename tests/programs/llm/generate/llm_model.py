"""Small language models in TVM's nn frontend, in the shape that MLC-LLM compiles: weights as one packed argument, attention
through a paged key-value cache that the model itself creates.  Used by gen_llm.py; needs apache-tvm 0.27.0.post1."""

import json

import tvm
from tvm import relax, tirx
from tvm.relax.frontend import nn
from tvm.relax.frontend.nn import Tensor, op
from tvm.relax.frontend.nn.llm import kv_cache as kv
from tvm.script import tirx as T


class Config:
    """layers, width, heads, kv_heads, head, hidden, vocab, dtype, theta, quant ("" or "q4"), attn (kind per layer, or one kind),
    window (of layers of kind mha_sliding), and for MLA rank, nope, rope, value."""

    def __init__(self, **more):
        self.__dict__.update(layers=2, width=64, heads=4, kv_heads=2, head=16, hidden=128, vocab=256, dtype="float32", theta=10000,
                             quant="", attn="mha", window=1024, eps=1e-5, rank=32, nope=16, rope=8, value=16, rope_scaling={})
        self.__dict__.update(more)

    def json(self):
        return {k: v for k, v in self.__dict__.items() if k != "target"}


class QuantLinear(nn.Module):
    """Weights of 4 bits in groups of 32 along the input: eight to a uint32, lowest bits first; value = (q - 7) * scale."""

    def __init__(self, inputs, outputs, dtype):
        self.inputs, self.outputs, self.dtype = inputs, outputs, dtype
        self.q_weight = nn.Parameter((outputs, inputs // 8), "uint32")
        self.q_scale = nn.Parameter((outputs, inputs // 32), dtype)

    def weight(self):
        return dequantized(self.q_weight, self.q_scale, self.outputs, self.inputs, self.dtype)

    def forward(self, x):
        return op.matmul(x, op.permute_dims(self.weight()))


def dequantized(q, s, rows, columns, dtype):
    def f(q, s):
        return tvm.te.compute(
            (rows, columns),
            lambda i, j: (tirx.bitwise_and(tirx.shift_right(q[i, j // 8], tirx.Cast("uint32", (j % 8) * 4)), tirx.const(15, "uint32"))
                          .astype(dtype) - tirx.const(7, dtype)) * s[i, j // 32], name="dequantize")
    return op.tensor_expr_op(f, "dequantize", [q, s])


def linear(c, inputs, outputs):
    return QuantLinear(inputs, outputs, c.dtype) if c.quant else nn.Linear(inputs, outputs, bias=False)


class Attention(nn.Module):
    def __init__(self, c):
        self.c = c
        self.qkv_proj = linear(c, c.width, (c.heads + 2 * c.kv_heads) * c.head)
        self.o_proj = linear(c, c.heads * c.head, c.width)

    def forward(self, x, cache, layer):
        c = self.c
        b, s, _ = x.shape
        qkv = op.reshape(self.qkv_proj(x), (b, s, c.heads + 2 * c.kv_heads, c.head))
        o = cache.attention_with_fused_qkv(layer, qkv, c.heads, sm_scale=c.head ** -0.5)
        return self.o_proj(op.reshape(o, (b, s, c.heads * c.head)))


class LatentAttention(nn.Module):
    """Multi-head latent attention without query compression.  New tokens use keys and values of full width, cached ones the compressed
    keys, and the two results are merged: "prefill" has only the first part, "decode" only the second, "extend" both."""

    def __init__(self, c):
        self.c = c
        self.q_proj = nn.Linear(c.width, c.heads * (c.nope + c.rope), bias=False)
        self.kv_a_proj = nn.Linear(c.width, c.rank + c.rope, bias=False)
        self.w_uk = nn.Parameter((c.heads, c.nope, c.rank))
        self.w_uv = nn.Parameter((c.heads, c.rank, c.value))
        self.o_proj = nn.Linear(c.heads * c.value, c.width, bias=False)

    def forward(self, x, cache, layer, mode):
        c = self.c
        b, s, _ = x.shape
        scale = (c.nope + c.rope) ** -0.5
        q = op.reshape(self.q_proj(x), (b, s, c.heads, c.nope + c.rope))
        q_nope, q_pe = op.split(q, [c.nope], axis=-1)
        ckv, k_pe = op.split(self.kv_a_proj(x), [c.rank], axis=-1)
        positions = cache.get_query_positions(b * s)
        q_pe, k_pe = rotate(q_pe, positions, c), rotate(op.reshape(k_pe, (b, s, 1, c.rope)), positions, c)
        latent = op.concat([op.reshape(ckv, (b, s, 1, c.rank)), k_pe], dim=-1)
        cache = cache.append_mla_kv(layer, latent)
        # queries in the space of the compressed keys
        q_c = op.permute_dims(op.matmul(op.permute_dims(op.reshape(q_nope, (b * s, c.heads, c.nope)), [1, 0, 2]), self.w_uk), [1, 0, 2])
        q_all = op.concat([op.reshape(q_c, (b, s, c.heads, c.rank)), q_pe], dim=-1)
        if mode != "prefill":
            o, lse = cache.cross_attention(layer, q_all, c.rank, scale)
            o = self.up(o, b, s)
        if mode != "decode":
            flat = op.reshape(ckv, (1, b * s, c.rank))
            k = op.permute_dims(op.matmul(op.broadcast_to(flat, (c.heads, b * s, c.rank)), op.permute_dims(self.w_uk, [0, 2, 1])), [1, 0, 2])
            v = op.permute_dims(op.matmul(op.broadcast_to(flat, (c.heads, b * s, c.rank)), self.w_uv), [1, 0, 2])
            k = op.concat([op.reshape(k, (b, s, c.heads, c.nope)), op.broadcast_to(k_pe, (b, s, c.heads, c.rope))], dim=-1)
            new, new_lse = cache.self_attention(layer, op.concat([q_nope, q_pe], dim=-1), k, op.reshape(v, (b, s, c.heads, c.value)), scale)
            o = new if mode == "prefill" else cache.merge_attn_output_inplace(new, new_lse, o, lse)[0]
        return self.o_proj(op.reshape(o, (b, s, c.heads * c.value)))

    def up(self, o, b, s):
        c = self.c
        o = op.permute_dims(op.reshape(o, (b * s, c.heads, c.rank)), [1, 0, 2])
        return op.reshape(op.permute_dims(op.matmul(o, self.w_uv), [1, 0, 2]), (b, s, c.heads, c.value))


def rotate(x, positions, c):
    """RoPE with the halves rotated, computed in float32."""
    b, s, h, d = x.shape

    def f(x, p):
        def at(i, j, k, m):
            pos = p[i * s + j].astype("float32")
            freq = tirx.power(tirx.const(float(c.theta), "float32"), (2 * (m % (d // 2))).astype("float32") / tirx.const(float(d), "float32"))
            other = tirx.if_then_else(m < d // 2, -x[i, j, k, m + d // 2], x[i, j, k, m - d // 2])
            return (tirx.cos(pos / freq) * x[i, j, k, m].astype("float32") + tirx.sin(pos / freq) * other.astype("float32")).astype(c.dtype)
        return tvm.te.compute((b, s, h, d), at, name="rotate")
    return op.tensor_expr_op(f, "rotate", [x, positions])


class Layer(nn.Module):
    def __init__(self, c):
        self.c = c
        self.self_attn = LatentAttention(c) if c.attn == "mla" else Attention(c)
        self.gate_up_proj = linear(c, c.width, 2 * c.hidden)
        self.down_proj = linear(c, c.hidden, c.width)
        self.input_layernorm = nn.RMSNorm(c.width, -1, c.eps, bias=False)
        self.post_attention_layernorm = nn.RMSNorm(c.width, -1, c.eps, bias=False)

    def forward(self, x, cache, layer, mode):
        c = self.c
        more = (mode,) if c.attn == "mla" else ()
        x = x + self.self_attn(self.input_layernorm(x), cache, layer, *more)
        gate, up = op.split(self.gate_up_proj(self.post_attention_layernorm(x)), 2, axis=-1)
        return x + self.down_proj(op.silu(gate) * up)


class Model(nn.Module):
    def __init__(self, c):
        self.c = c
        if c.quant:
            self.embed_q, self.embed_s = nn.Parameter((c.vocab, c.width // 8), "uint32"), nn.Parameter((c.vocab, c.width // 32), c.dtype)
        else:
            self.embed_tokens = nn.Parameter((c.vocab, c.width), c.dtype)
        self.layers = nn.ModuleList([Layer(c) for _ in range(c.layers)])
        self.norm = nn.RMSNorm(c.width, -1, c.eps, bias=False)

    def table(self):
        c = self.c
        return dequantized(self.embed_q, self.embed_s, c.vocab, c.width, c.dtype) if c.quant else self.embed_tokens

    def hidden(self, x, cache, mode="prefill"):
        for i, layer in enumerate(self.layers):
            x = layer(x, cache, i, mode)
        return self.norm(x)

    def logits(self, x):
        return op.astype(op.matmul(x, op.permute_dims(self.table())), "float32")

    def embed(self, input_ids: Tensor):
        return op.take(self.table(), input_ids, axis=0)

    def prefill(self, input_embed: Tensor, paged_kv_cache):
        c, x = self.c, self.hidden(input_embed, paged_kv_cache)
        last = op.tensor_expr_op(lambda x: tvm.te.compute((1, 1, c.width), lambda i, _, k: x[i, x.shape[1] - 1, k], name="last"), "last", [x])
        return self.logits(last), paged_kv_cache

    def decode(self, input_embed: Tensor, paged_kv_cache):
        return self.logits(self.hidden(input_embed, paged_kv_cache, "decode")), paged_kv_cache

    def batch_prefill(self, input_embeds: Tensor, logit_positions: Tensor, paged_kv_cache):
        x = self.hidden(input_embeds, paged_kv_cache, "extend")
        return self.logits(op.take(x, logit_positions, axis=1)), paged_kv_cache

    def batch_decode(self, input_embeds: Tensor, paged_kv_cache):
        return self.logits(self.hidden(input_embeds, paged_kv_cache, "decode")), paged_kv_cache

    def batch_verify(self, input_embeds: Tensor, paged_kv_cache):
        return self.logits(self.hidden(input_embeds, paged_kv_cache, "extend")), paged_kv_cache

    def softmax_with_temperature(self, logits: Tensor, temperature: Tensor):
        return op.softmax(logits / op.reshape(temperature, (temperature.shape[0], 1, 1)), axis=-1)

    def create_paged_kv_cache(self, max_batch_size, max_total_seq_len, prefill_chunk_size, page_size, support_sliding_window):
        c = self.c
        cls = LatentCache if c.attn == "mla" and c.target.kind.name == "llvm" else OrderedCache if c.target.kind.name == "llvm" else kv.TIRPagedKVCache
        mla = c.attn == "mla"
        return cls(
            attn_kind=c.attn, max_batch_size=max_batch_size, max_total_seq_len=max_total_seq_len, prefill_chunk_size=prefill_chunk_size,
            page_size=page_size, support_sliding_window=support_sliding_window, layer_partition=relax.ShapeExpr([0, c.layers]),
            num_hidden_layers=c.layers, num_attention_heads=c.heads, num_key_value_heads=1 if mla else c.kv_heads,
            qk_head_dim=c.rank + c.rope if mla else c.head, v_head_dim=c.rank if mla else c.head,
            mla_original_qk_head_dim=c.nope + c.rope, mla_original_v_head_dim=c.value,
            rope_mode=kv.RopeMode.NONE if mla else kv.RopeMode.NORMAL, rope_scale=1, rope_theta=c.theta, rope_scaling=c.rope_scaling,
            rope_ext_factors=relax.prim_value(0), rotary_dim=c.rope if mla else c.head, enable_disaggregation=False, dtype=c.dtype,
            target=c.target, layer_sliding_window_size=c.window)

    def spec(self):
        c = self.c
        obj = nn.spec.Object(object_type=kv.PagedKVCache)
        T_ = nn.spec.Tensor
        packed, plain = {"$": {"param_mode": "packed", "effect_mode": "none"}}, {"$": {"param_mode": "none", "effect_mode": "none"}}
        s = {
            "embed": {"input_ids": T_(["seq_len"], "int32"), **packed},
            "prefill": {"input_embed": T_([1, "seq_len", c.width], c.dtype), "paged_kv_cache": obj, **packed},
            "decode": {"input_embed": T_([1, 1, c.width], c.dtype), "paged_kv_cache": obj, **packed},
            "batch_prefill": {"input_embeds": T_([1, "seq_len", c.width], c.dtype), "logit_positions": T_(["batch_size"], "int32"),
                              "paged_kv_cache": obj, **packed},
            "batch_decode": {"input_embeds": T_(["batch_size", 1, c.width], c.dtype), "paged_kv_cache": obj, **packed},
            "batch_verify": {"input_embeds": T_([1, "seq_len", c.width], c.dtype), "paged_kv_cache": obj, **packed},
            "softmax_with_temperature": {"logits": T_(["batch_size", 1, c.vocab], "float32"), "temperature": T_(["batch_size"], "float32"), **plain},
            "create_paged_kv_cache": {"max_batch_size": int, "max_total_seq_len": int, "prefill_chunk_size": int, "page_size": int,
                                      "support_sliding_window": int, **plain},
        }
        if c.attn == "mla":
            del s["batch_verify"]
        return nn.spec.ModuleSpec.from_raw(s, self)


class OrderedCache(kv.TIRPagedKVCache):
    """The frontend's cache for CPUs.  The frontend passes the two kernels for token trees in the opposite order to the one that
    the runtime reads (only for CPUs), so they change places here, and their names in the module with them."""

    def __init__(self, **more):
        kv.tree_attn_cpu, kv.tree_attn_with_paged_kv_cache_cpu = kv.tree_attn_with_paged_kv_cache_cpu, kv.tree_attn_cpu
        try:
            super().__init__(**more)
        finally:
            kv.tree_attn_cpu, kv.tree_attn_with_paged_kv_cache_cpu = kv.tree_attn_with_paged_kv_cache_cpu, kv.tree_attn_cpu


def latent_attention_cpu(heads, rank, rope, dtype, page_size=16):
    """Paged attention over compressed keys and values, for CPUs: three passes, own code."""
    d = rank + rope

    @T.prim_func(s_tir=True)
    def mla_attention_cpu(var_q: T.handle, var_q_indptr: T.handle, var_pages: T.handle, var_page_indptr: T.handle, var_page_values: T.handle,
                          var_length_info: T.handle, var_output: T.handle, var_lse: T.handle, causal: T.int32, sm_scale: T.float32):
        T.func_attr({"tirx.is_scheduled": True})
        batch = T.int32()
        total = T.int32()
        nnz = T.int32()
        npages = T.int32()
        o1 = T.int32()
        o2 = T.int32()
        o3 = T.int32()
        o4 = T.int32()
        q = T.match_buffer(var_q, (total, heads, d), dtype)
        q_indptr = T.match_buffer(var_q_indptr, (batch + 1,), "int32", elem_offset=o1)
        pages = T.match_buffer(var_pages, (npages, page_size, d), dtype)
        page_indptr = T.match_buffer(var_page_indptr, (batch + 1,), "int32", elem_offset=o2)
        page_values = T.match_buffer(var_page_values, (nnz,), "int32", elem_offset=o3)
        length_info = T.match_buffer(var_length_info, (batch,), "int32", elem_offset=o4)
        output = T.match_buffer(var_output, (total, heads, rank), dtype)
        lse = T.match_buffer(var_lse, (total, heads), "float32")
        for b in T.serial(batch):
            with T.sblock("attn"):
                top = T.sblock_alloc_buffer((1,), "float32")
                total_weight = T.sblock_alloc_buffer((1,), "float32")
                score = T.sblock_alloc_buffer((1,), "float32")
                acc = T.sblock_alloc_buffer((rank,), "float32")
                n = T.sblock_alloc_buffer((1,), "int32")
                n[0] = T.if_then_else(page_indptr[b + 1] == page_indptr[b], 0,
                                      (page_indptr[b + 1] - page_indptr[b] - 1) * page_size + length_info[b])
                for i in T.serial(q_indptr[b + 1] - q_indptr[b]):
                    for h in T.serial(heads):
                        top[0] = T.float32(-5e4)
                        total_weight[0] = T.float32(0)
                        for k in T.serial(rank):
                            acc[k] = T.float32(0)
                        for two in T.serial(2):
                            for j in T.serial(n[0]):
                                if causal == 0 or j < n[0] - (q_indptr[b + 1] - q_indptr[b]) + i + 1:
                                    score[0] = T.float32(0)
                                    for k in T.serial(d):
                                        score[0] += T.Cast("float32", q[q_indptr[b] + i, h, k]) * T.Cast(
                                            "float32", pages[page_values[page_indptr[b] + j // page_size], j % page_size, k])
                                    score[0] = score[0] * sm_scale * T.float32(1.4426950408889634)
                                    if two == 0:
                                        top[0] = T.max(top[0], score[0])
                                    else:
                                        score[0] = T.exp2(score[0] - top[0])
                                        total_weight[0] += score[0]
                                        for k in T.serial(rank):
                                            acc[k] += score[0] * T.Cast("float32", pages[page_values[page_indptr[b] + j // page_size], j % page_size, k])
                        for k in T.serial(rank):
                            output[q_indptr[b] + i, h, k] = T.Cast(dtype, acc[k] / T.max(total_weight[0], T.float32(1e-30)))
                        lse[q_indptr[b] + i, h] = top[0] + T.log2(T.max(total_weight[0], T.float32(1e-30)))

    return mla_attention_cpu


def copy_latent_page_cpu(d, dtype, page_size=16):
    @T.prim_func(s_tir=True)
    def copy_single_page_mla_cpu(var_pages: T.handle, src: T.int64, dst: T.int64, length: T.int64):
        T.func_attr({"tirx.is_scheduled": True})
        npages = T.int32()
        pages = T.match_buffer(var_pages, (npages, page_size, d), dtype)
        for p in T.serial(length):
            for k in T.serial(d):
                with T.sblock("copy"):
                    vp = T.axis.spatial(length, p)
                    vk = T.axis.spatial(d, k)
                    pages[dst, vp, vk] = pages[src, vp, vk]

    return copy_single_page_mla_cpu


class LatentCache(kv.PagedKVCache):
    """The cache of kind MLA for CPUs: the frontend has kernels for GPUs only."""

    def __init__(self, **m):
        bb = relax.BlockBuilder.current()
        add, tir, none = bb.add_func, tvm.ir.StringImm("tirx"), relax.Tuple([])
        heads, d, rank, dtype, n = m["num_attention_heads"], m["qk_head_dim"], m["v_head_dim"], m["dtype"], m["num_hidden_layers"]
        args = [
            relax.ShapeExpr([m[k] for k in ("max_batch_size", "max_total_seq_len", "prefill_chunk_size", "page_size", "support_sliding_window")]),
            m["layer_partition"], relax.prim_value(heads), relax.prim_value(1), relax.prim_value(d), relax.prim_value(rank),
            relax.ShapeExpr([int(kv.AttnKind.MLA)] * n), relax.prim_value(False), relax.prim_value(m["rope_mode"]), relax.prim_value(1),
            relax.prim_value(m["rope_theta"]), m["rope_ext_factors"], relax.op.zeros((), dtype), relax.prim_value(0),
            add(kv._kv_cache_transpose_append_mla(d, dtype), "kv_cache_transpose_append_mla"),
            relax.Tuple([tir, add(kv._attention_prefill_ragged_cpu(heads, heads, m["mla_original_qk_head_dim"], m["mla_original_v_head_dim"], dtype, {}),
                                  "attention_prefill_ragged_cpu")]),
            none, none, none, none, none, none,
            relax.Tuple([tir, add(latent_attention_cpu(heads, rank, d - rank, dtype), "attention_prefill_mla_cpu")]),
            relax.Tuple([add(kv._merge_state_inplace_cpu(dtype), "merge_state_cpu"), add(kv._merge_state_inplace_cpu(dtype), "merge_state_mla_cpu")]),
            add(kv.llama_rope_with_position_map(m["rope_theta"], 1, d, heads, 1, dtype, {}, m["rotary_dim"]), "split_rotary"),
            add(copy_latent_page_cpu(d, dtype), "copy_single_page_mla_cpu"),
            add(kv._kv_cache_debug_get_kv_mla(n, d, dtype), "debug_get_kv_mla"),
            add(kv._compact_kv_copy_cpu(1, d, dtype), "compact_kv_copy_cpu"),
        ]
        super().__init__(_expr=relax.call_pure_packed("vm.builtin.paged_attention_kv_cache_create", *args, ty_args=relax.AnyType()), _name="paged_kv_cache")


def build(c, target, **options):
    """(compiled module, IRModule, names and specs of parameters)"""
    c.target = tvm.target.Target(target)
    model = Model(c)
    model.to(c.dtype) if not c.quant else to_dtype(model, c.dtype)
    mod, params = model.export_tvm(spec=model.spec(), allow_extern=False)[:2]
    meta = {"model_type": "tiny-llama", "context_window_size": 512, "sliding_window_size": -1, "prefill_chunk_size": 128, "attention_sink_size": -1,
            "tensor_parallel_shards": 1, "params": [{"name": n, "shape": [int(i) for i in p.shape], "dtype": str(p.dtype)} for n, p in params]}
    bb = relax.BlockBuilder()
    with bb.function("_metadata", params=[]):
        bb.emit_func_output(tvm.ir.StringImm(json.dumps(meta)))
    mod["_metadata"] = bb.finalize()["_metadata"].with_attr("global_symbol", "_metadata")
    for g, f in list(mod.functions.items()):
        # Not for MLA: the memory plan reuses the first argument of the merge for its result.
        if c.attn != "mla" and isinstance(f, relax.Function) and g.name_hint in ("embed", "prefill", "batch_prefill", "batch_verify", "batch_decode", "softmax_with_temperature"):
            mod[g] = f.with_attr("tir_var_upper_bound", {"seq_len": 128, "batch_size": 64})
    return mod, params, meta


def to_dtype(module, dtype):
    for _, p in module.named_parameters():
        if p.dtype != "uint32":
            p.to(dtype)
