"""A Llama-shaped decoder in numpy with its gradients: RMSNorm, rotary positions, grouped queries, SwiGLU, tied embeddings."""

import numpy as np

SIZES = {"vocab": 256, "width": 96, "layers": 4, "heads": 3, "kv_heads": 1, "head": 32, "hidden": 288}
EPSILON, THETA = 1e-5, 10000.0


def shapes(s=SIZES):
    """Returns the shapes of the weights by the names that Hugging Face gives them."""
    found = {"model.embed_tokens.weight": (s["vocab"], s["width"])}
    for layer in range(s["layers"]):
        at = f"model.layers.{layer}."
        found[at + "input_layernorm.weight"] = (s["width"],)
        found[at + "self_attn.q_proj.weight"] = (s["heads"] * s["head"], s["width"])
        found[at + "self_attn.k_proj.weight"] = (s["kv_heads"] * s["head"], s["width"])
        found[at + "self_attn.v_proj.weight"] = (s["kv_heads"] * s["head"], s["width"])
        found[at + "self_attn.o_proj.weight"] = (s["width"], s["heads"] * s["head"])
        found[at + "post_attention_layernorm.weight"] = (s["width"],)
        found[at + "mlp.gate_proj.weight"] = (s["hidden"], s["width"])
        found[at + "mlp.up_proj.weight"] = (s["hidden"], s["width"])
        found[at + "mlp.down_proj.weight"] = (s["width"], s["hidden"])
    return found | {"model.norm.weight": (s["width"],)}


class Parameters:
    """All weights in one vector, so that the optimiser is a few operations on it; `by_name` has views of it."""

    def __init__(self):
        table = shapes()
        self.flat = np.zeros(sum(int(np.prod(shape)) for shape in table.values()), np.float32)
        self.by_name, at = {}, 0
        for name, shape in table.items():
            size = int(np.prod(shape))
            self.by_name[name] = self.flat[at : at + size].reshape(shape)
            at += size

    def __getitem__(self, name):
        return self.by_name[name]

    def __setitem__(self, name, value):
        self.by_name[name][...] = value

    @classmethod
    def random(cls, seed):
        made, generator = cls(), np.random.default_rng(seed)
        for name, view in made.by_name.items():
            if "norm" in name:
                view[...] = 1
            else:
                small = (2 * SIZES["layers"]) ** -0.5 if "o_proj" in name or "down_proj" in name else 1
                scale = 0.02 if "embed" in name else small * view.shape[1] ** -0.5
                view[...] = scale * generator.standard_normal(view.shape)
        return made


def rotations(length, start=0):
    half = SIZES["head"] // 2
    angles = np.arange(start, start + length)[:, None] * THETA ** (-np.arange(half) / half)
    return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)


def rotate(x, cos, sin):
    """Rotates the halves of the last dimension; positions are the last but one."""
    low, high = np.split(x, 2, -1)
    return np.concatenate([low * cos - high * sin, high * cos + low * sin], -1)


def normalise(x, gain):
    inverse = 1 / np.sqrt((x * x).mean(-1, keepdims=True) + EPSILON)
    return x * inverse * gain, (x, inverse, gain)


def normalise_gradient(dy, saved):
    x, inverse, gain = saved
    dgain = (dy * x * inverse).reshape(-1, x.shape[-1]).sum(0)
    dy = dy * gain
    return inverse * (dy - x * (inverse * inverse * (dy * x).mean(-1, keepdims=True))), dgain


def columns(x):
    return x.reshape(-1, x.shape[-1])


def attend(x, w, at, mask, rotation):
    """Returns the output of a layer's attention, and what its gradient needs. Heads are grouped by the key head that they share."""
    s, (batch, length, _) = SIZES, x.shape
    group = s["heads"] // s["kv_heads"]
    heads = lambda y: y.reshape(batch, length, -1, s["head"]).transpose(0, 2, 1, 3)
    q = rotate(heads(x @ w[at + "q_proj.weight"].T), *rotation).reshape(batch, s["kv_heads"], group, length, s["head"])
    k = rotate(heads(x @ w[at + "k_proj.weight"].T), *rotation)[:, :, None]
    v = heads(x @ w[at + "v_proj.weight"].T)[:, :, None]
    scores = q @ k.swapaxes(-1, -2)
    scores *= s["head"] ** -0.5
    scores += mask
    scores -= scores.max(-1, keepdims=True)
    np.exp(scores, scores)
    scores /= scores.sum(-1, keepdims=True)
    mixed = (scores @ v).reshape(batch, s["heads"], length, s["head"]).transpose(0, 2, 1, 3).reshape(batch, length, -1)
    return mixed @ w[at + "o_proj.weight"].T, (x, q, k, v, scores, mixed)


def attend_gradient(dy, saved, w, d, at, rotation):
    s, (x, q, k, v, p, mixed) = SIZES, saved
    batch, length, _ = x.shape
    d[at + "o_proj.weight"] += columns(dy).T @ columns(mixed)
    dmixed = (dy @ w[at + "o_proj.weight"]).reshape(batch, length, s["heads"], s["head"]).transpose(0, 2, 1, 3).reshape(q.shape)
    dp = dmixed @ v.swapaxes(-1, -2)
    dv = (p.swapaxes(-1, -2) @ dmixed).sum(2)
    dp -= (dp * p).sum(-1, keepdims=True)
    dp *= p
    dp *= s["head"] ** -0.5
    dq = (dp @ k).reshape(batch, s["heads"], length, s["head"])
    dk = (dp.swapaxes(-1, -2) @ q).sum(2)
    cos, sin = rotation
    dx = 0
    for name, gradient in (("q", rotate(dq, cos, -sin)), ("k", rotate(dk, cos, -sin)), ("v", dv)):
        rows = gradient.transpose(0, 2, 1, 3).reshape(batch, length, -1)
        d[f"{at}{name}_proj.weight"] += columns(rows).T @ columns(x)
        dx = dx + rows @ w[f"{at}{name}_proj.weight"]
    return dx


def feed(x, w, at):
    gate, up = x @ w[at + "gate_proj.weight"].T, x @ w[at + "up_proj.weight"].T
    sigmoid = 1 / (1 + np.exp(-gate))
    inner = gate * sigmoid * up
    return inner @ w[at + "down_proj.weight"].T, (x, gate, up, sigmoid, inner)


def feed_gradient(dy, saved, w, d, at):
    x, gate, up, sigmoid, inner = saved
    d[at + "down_proj.weight"] += columns(dy).T @ columns(inner)
    dinner = dy @ w[at + "down_proj.weight"]
    dup = dinner * gate * sigmoid
    dgate = dinner * up * sigmoid * (1 + gate * (1 - sigmoid))
    d[at + "up_proj.weight"] += columns(dup).T @ columns(x)
    d[at + "gate_proj.weight"] += columns(dgate).T @ columns(x)
    return dup @ w[at + "up_proj.weight"] + dgate @ w[at + "gate_proj.weight"]


def hidden(tokens, w):
    """Returns the normalised output of the last layer, and what the gradient needs."""
    length = tokens.shape[1]
    rotation, mask = rotations(length), np.triu(np.full((length, length), -1e9, np.float32), 1)
    x, saved = w["model.embed_tokens.weight"][tokens], []
    for layer in range(SIZES["layers"]):
        at = f"model.layers.{layer}."
        y, norm = normalise(x, w[at + "input_layernorm.weight"])
        y, attention = attend(y, w, at + "self_attn.", mask, rotation)
        x = x + y
        y, norm_after = normalise(x, w[at + "post_attention_layernorm.weight"])
        y, feeding = feed(y, w, at + "mlp.")
        x = x + y
        saved.append((norm, attention, norm_after, feeding))
    y, norm = normalise(x, w["model.norm.weight"])
    return y, (saved, norm, rotation)


def logits(tokens, w):
    return hidden(tokens, w)[0] @ w["model.embed_tokens.weight"].T


def loss(tokens, targets, w):
    """Returns the mean loss of a batch in nats, and the probabilities of the next token."""
    y, saved = hidden(tokens, w)
    p = y @ w["model.embed_tokens.weight"].T
    p -= p.max(-1, keepdims=True)
    np.exp(p, p)
    p /= p.sum(-1, keepdims=True)
    chosen = np.take_along_axis(p, targets[..., None], -1)
    return float(-np.log(chosen + 1e-30).mean()), p, y, saved


def gradients(tokens, targets, w):
    """Returns the loss of a batch and the gradients of all weights."""
    mean, dlogits, y, (layers, norm, rotation) = loss(tokens, targets, w)
    d = Parameters()
    np.put_along_axis(dlogits, targets[..., None], np.take_along_axis(dlogits, targets[..., None], -1) - 1, -1)
    dlogits /= targets.size
    d["model.embed_tokens.weight"] = columns(dlogits).T @ columns(y)
    dx, d["model.norm.weight"] = normalise_gradient(dlogits @ w["model.embed_tokens.weight"], norm)
    for layer in reversed(range(SIZES["layers"])):
        at = f"model.layers.{layer}."
        before, attention, after, feeding = layers[layer]
        dy, d[at + "post_attention_layernorm.weight"] = normalise_gradient(feed_gradient(dx, feeding, w, d, at + "mlp."), after)
        dx = dx + dy
        dy, d[at + "input_layernorm.weight"] = normalise_gradient(
            attend_gradient(dx, attention, w, d, at + "self_attn.", rotation), before
        )
        dx = dx + dy
    np.add.at(d["model.embed_tokens.weight"], tokens.reshape(-1), columns(dx))
    return mean, d
