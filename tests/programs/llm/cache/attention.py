"""Attention and rotary embeddings in numpy, for kernels and for the model without pages."""

import numpy as np

LOWEST = -5e4  # the score of what is masked, in TVM's kernels


def rotate(x, positions, theta, scale=1.0):
    """Rotates x (rows, heads, width) by the positions of its rows."""
    width = x.shape[-1]
    angle = np.asarray(positions, float)[:, None] * scale / theta ** (np.arange(0, width, 2) / width)
    cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
    a, b = x[..., : width // 2], x[..., width // 2 :]
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], -1).astype(x.dtype)


def attend(q, keys, values, visible, scale):
    """Returns the output and the log2 of the sums, for q (rows, heads, width) over keys and values (positions, key heads, width).

    Rows that see nothing give zeros and `LOWEST`.
    """
    heads, key_heads = q.shape[1], keys.shape[1]
    keys, values = (np.repeat(x, heads // key_heads, 1).astype(float) for x in (keys, values))
    scores = np.einsum("nhd,mhd->nhm", q.astype(float), keys) * (scale / np.log(2))
    scores = np.where(visible[:, None], scores, -np.inf)
    top = np.maximum(scores.max(-1, initial=LOWEST), LOWEST)
    weights = np.exp2(scores - top[..., None])
    total = weights.sum(-1)
    out = np.einsum("nhm,mhd->nhd", weights, values) / np.where(total > 0, total, 1)[..., None]
    return out, np.where(total > 0, np.log2(np.where(total > 0, total, 1)) + top, LOWEST)


def merged(out, sums, other, other_sums):
    """Returns the output and sums over the union of two disjoint sets of keys."""
    top = np.maximum(sums, other_sums)
    a, b = np.exp2(sums - top), np.exp2(other_sums - top)
    return (out * a[..., None] + other * b[..., None]) / (a + b)[..., None], np.log2(a + b) + top


def causal(rows, positions):
    """Returns the causal mask of rows, of which the last is at the last position."""
    return np.arange(positions)[None] <= np.arange(rows)[:, None] + positions - rows
