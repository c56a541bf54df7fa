"""The operators in numpy. Arrays of floating point are float64; results are new arrays."""

from __future__ import annotations

import math

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


def layernorm2d_residual(x, residual, weight, bias, eps):
    residual = residual + x
    return layernorm2d(residual, weight, bias, eps), residual


def rmsnorm_residual(x, residual, weight, eps):
    residual = residual + x
    return rmsnorm(residual, weight, eps), residual


def l2norm(x, eps):
    return x / np.sqrt((x * x).sum(-1, keepdims=True) + eps)


def groupnorm(x, groups, weight, bias, eps):
    if x.size == 0:
        return x
    parts = x.reshape(x.shape[0], groups, -1)
    parts = (parts - parts.mean(-1, keepdims=True)) / np.sqrt(parts.var(-1, keepdims=True) + eps)
    return parts.reshape(x.shape) * weight[:, None] + bias[:, None]


# ---- activations ---------------------------------------------------------------------------------


def silu(x):
    return x / (1 + np.exp(-x))


def relu(x):
    return np.maximum(x, 0)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def tanh(x):
    return np.tanh(x)


def gelu(x):
    return x * (1 + np.vectorize(math.erf, otypes=["float64"])(x / math.sqrt(2))) / 2


def gelu_tanh(x):
    return x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2


def gated(activation):
    """Return the operator that multiplies an activation of the first half of each row by the second half."""

    def activate_and_mul(x):
        gate, up = np.split(x, 2, -1)
        return activation(gate) * up

    return activate_and_mul


# ---- rotary embeddings ---------------------------------------------------------------------------


def rotary_embedding(positions, query, key, cache):
    half = cache.shape[1] // 2
    cos, sin = cache[positions][:, None, :half], cache[positions][:, None, half:]
    for x in (query, key):
        a, b = x[..., :half].copy(), x[..., half : 2 * half].copy()
        x[..., :half], x[..., half : 2 * half] = a * cos - b * sin, b * cos + a * sin
    return query, key


def rotary_embedding_interleaved(positions, query, key, cache):
    half = cache.shape[1] // 2
    cos, sin = cache[positions][:, None, :half], cache[positions][:, None, half:]
    for x in (query, key):
        a, b = x[..., 0 : 2 * half : 2].copy(), x[..., 1 : 2 * half : 2].copy()
        x[..., 0 : 2 * half : 2], x[..., 1 : 2 * half : 2] = a * cos - b * sin, b * cos + a * sin
    return query, key


def rotary_cache(base, cache):
    positions, dim = cache.shape
    angles = np.arange(positions)[:, None] * base ** (-np.arange(0, dim, 2) / max(dim, 1))
    return np.concatenate([np.cos(angles), np.sin(angles)], -1)


# ---- softmax -------------------------------------------------------------------------------------


def softmax(x):
    if x.size == 0:
        return x
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def log_softmax(x):
    if x.size == 0:
        return x
    shifted = x - x.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def causal_softmax(scores, scale):
    queries, keys = scores.shape[1:]
    hidden = np.triu(np.ones((queries, keys), bool), keys - queries + 1)
    return softmax(np.where(hidden, -np.inf, scores * scale))


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


def mean_rows(x):
    return x.mean(-1) if x.shape[1] else np.full(x.shape[0], np.nan)


def var_rows(x):
    return x.var(-1) if x.shape[1] else np.full(x.shape[0], np.nan)


def norm_rows(x):
    return np.sqrt((x * x).sum(-1))


def prod_rows(x):
    return x.prod(-1)


def max_rows(x):
    return x.max(-1, initial=-np.inf)


def min_rows(x):
    return x.min(-1, initial=np.inf)


def logsumexp_rows(x):
    if x.shape[1] == 0:
        return np.full(x.shape[0], -np.inf)
    highest = x.max(-1)
    return highest + np.log(np.exp(x - highest[:, None]).sum(-1))


def argmax_rows(x):
    return x.argmax(-1)


def argmin_rows(x):
    return x.argmin(-1)


def cumsum_rows(x):
    return x.cumsum(-1)


# ---- sorting -------------------------------------------------------------------------------------


def argsort_rows(x, descending):
    return np.argsort(-x if descending else x, -1, kind="stable")


def sort_rows(x, descending):
    return np.take_along_axis(x, argsort_rows(x, descending), -1)


def topk(x, values, indices):
    order = argsort_rows(x, True)[:, : values.shape[1]]
    return np.take_along_axis(x, order, -1), order


# ---- sampling ------------------------------------------------------------------------------------


def temperature_softmax(logits, temperature):
    return softmax(logits / temperature[:, None])


def top_k_probabilities(probs, k):
    """Keep the k largest of each row."""
    order = argsort_rows(probs, True)[:, k:]
    kept = probs.copy()
    np.put_along_axis(kept, order, 0, -1)
    return kept / kept.sum(-1, keepdims=True)


def top_p_probabilities(probs, p):
    """Keep the fewest largest of each row that make up a share of it."""
    order = argsort_rows(probs, True)
    before = np.cumsum(np.take_along_axis(probs, order, -1), -1) - np.take_along_axis(probs, order, -1)
    kept = probs.copy()
    np.put_along_axis(kept, order, np.where(before < (p * probs.sum(-1))[:, None], np.take_along_axis(probs, order, -1), 0), -1)
    return kept / kept.sum(-1, keepdims=True)


def min_p_probabilities(probs, p):
    kept = np.where(probs >= p[:, None] * probs.max(-1, keepdims=True), probs, 0)
    return kept / kept.sum(-1, keepdims=True)


def sample_probabilities(probs, uniform):
    return (probs.cumsum(-1) <= (uniform * probs.sum(-1))[:, None]).sum(-1)


def sample_top_k_top_p(logits, temperature, k, p, uniform, probs):
    probs = temperature_softmax(logits, temperature)
    for row, keep in enumerate(k):
        if keep:
            probs[row] = top_k_probabilities(probs[row : row + 1], keep)
    probs = top_p_probabilities(probs, p)
    return sample_probabilities(probs, uniform), probs


# ---- paged caches --------------------------------------------------------------------------------


def slots_of(cache):
    """Return a view of a cache, [slots, heads, head_size]."""
    return cache.reshape(cache.shape[0] * cache.shape[1], *cache.shape[2:])


def reshape_and_cache(key, value, key_cache, value_cache, slots):
    used = slots >= 0
    slots_of(key_cache)[slots[used]] = key[used]
    slots_of(value_cache)[slots[used]] = value[used]
    return key_cache, value_cache


def gather_cache(cache, slots):
    return slots_of(cache)[slots]


def copy_blocks(key_cache, value_cache, pairs):
    for source, target in pairs:
        key_cache[target], value_cache[target] = key_cache[source], value_cache[source]
    return key_cache, value_cache


def swap_blocks(source, target, sources, targets):
    for one, other in zip(sources, targets, strict=True):
        target[other] = source[one]
    return target


# ---- attention -----------------------------------------------------------------------------------


def paged_attention_decode(query, key_cache, value_cache, block_tables, context_lens, scale):
    """Attend from one token of each sequence to its cached tokens; zeros for a sequence that has none."""
    out = np.zeros_like(query)
    group = query.shape[1] // max(1, key_cache.shape[2])
    for seq, length in enumerate(context_lens):
        if length == 0:
            continue
        keys = slots_of(key_cache[block_tables[seq]])[:length].repeat(group, 1)
        values = slots_of(value_cache[block_tables[seq]])[:length].repeat(group, 1)
        weights = softmax(np.einsum("hd,thd->ht", query[seq], keys) * scale)
        out[seq] = np.einsum("ht,thd->hd", weights, values)
    return out
