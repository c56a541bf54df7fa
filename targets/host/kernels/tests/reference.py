"""The operators in numpy. Arrays of floating point are float64; results are new arrays."""

from __future__ import annotations

import numpy as np

# ---- norms ---------------------------------------------------------------------------------------


def layernorm2d(x, weight, bias, eps):
    if x.size == 0:
        return x
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) * weight + bias


def rmsnorm(x, weight, eps):
    if x.size == 0:
        return x
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * weight


# ---- activations ---------------------------------------------------------------------------------


def silu(x):
    return x / (1 + np.exp(-x))


def silu_and_mul(x):
    gate, up = np.split(x, 2, -1)
    return silu(gate) * up


# ---- rotary embeddings ---------------------------------------------------------------------------


def rotary_embedding(positions, query, key, cache):
    half = cache.shape[1] // 2
    cos, sin = cache[positions][:, None, :half], cache[positions][:, None, half:]
    for x in (query, key):
        a, b = x[..., :half].copy(), x[..., half : 2 * half].copy()
        x[..., :half], x[..., half : 2 * half] = a * cos - b * sin, b * cos + a * sin
    return query, key


# ---- softmax -------------------------------------------------------------------------------------


def softmax(x):
    if x.size == 0:
        return x
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def topk_softmax(gating, renormalize, weights, indices):
    """Return the largest k probabilities of each row, largest first, and their columns."""
    order = np.argsort(-gating, -1, kind="stable")[:, : weights.shape[1]]
    chosen = np.take_along_axis(softmax(gating), order, -1)
    return chosen / chosen.sum(-1, keepdims=True) if renormalize and chosen.size else chosen, order


# ---- matrices ------------------------------------------------------------------------------------


def gemm(a, b):
    return a @ b


# ---- reductions of rows --------------------------------------------------------------------------


def sum_rows(x):
    return x.sum(-1)


# ---- attention -----------------------------------------------------------------------------------


def paged_attention_decode(query, key_cache, value_cache, block_tables, context_lens, scale):
    """Attend from one token of each sequence to its cached tokens; zeros for a sequence that has none."""
    out = np.zeros_like(query)
    group = query.shape[1] // max(1, key_cache.shape[2])
    for seq, length in enumerate(context_lens):
        if length == 0:
            continue
        keys = key_cache[block_tables[seq]].reshape(-1, *key_cache.shape[2:])[:length].repeat(group, 1)
        values = value_cache[block_tables[seq]].reshape(-1, *value_cache.shape[2:])[:length].repeat(group, 1)
        weights = softmax(np.einsum("hd,thd->ht", query[seq], keys) * scale)
        out[seq] = np.einsum("ht,thd->hd", weights, values)
    return out
