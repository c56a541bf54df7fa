"""The weights of a compiled model: their names, made from those of a checkpoint, in 32, 16 or 4 bits."""

from failure import Failure
from frontend import TVM, require

GROUP = 32
"""Weights that share a scale."""
PER_WORD = 8
"""Weights of 4 bits in a uint32, the lowest bits first."""
LARGEST = 7
"""A quantised weight is (q - LARGEST) * scale, with q from 0 to 2 * LARGEST."""
IGNORED = ("rotary_emb.inv_freq", "embeddings.position_ids", "pooler.dense.weight", "pooler.dense.bias")
"""Ends of names of tensors that can be computed, or that no function uses."""


def decoder(d):
    """Returns the tensors from which each parameter of a decoder is made, with their shapes, one below the other."""
    table = {"model.embed_tokens.weight": [("model.embed_tokens.weight", (d.vocab, d.width))]}
    for layer in range(d.layers):
        at = f"model.layers.{layer}."
        table |= {f"{at}{name}.weight": [(f"{at}{name}.weight", (d.width,))] for name in ("input_layernorm", "post_attention_layernorm")}
        table |= attention(d, at + "self_attn.")
        table[f"{at}mlp.gate_up_proj.weight"] = [(f"{at}mlp.{name}.weight", (d.hidden, d.width)) for name in ("gate_proj", "up_proj")]
        table[f"{at}mlp.down_proj.weight"] = [(f"{at}mlp.down_proj.weight", (d.width, d.hidden))]
    table["model.norm.weight"] = [("model.norm.weight", (d.width,))]
    if not d.tied:
        table["lm_head.weight"] = [("lm_head.weight", (d.vocab, d.width))]
    return table


def attention(d, at):
    rows = (("q_proj", d.heads * d.head), ("k_proj", d.kv_heads * d.head), ("v_proj", d.kv_heads * d.head))
    table = {f"{at}qkv_proj.weight": [(f"{at}{name}.weight", (count, d.width)) for name, count in rows]}
    if d.qkv_bias:
        table[f"{at}qkv_proj.bias"] = [(f"{at}{name}.bias", (count,)) for name, count in rows]
    table[f"{at}o_proj.weight"] = [(f"{at}o_proj.weight", (d.width, d.heads * d.head))]
    if d.output_bias:
        table[f"{at}o_proj.bias"] = [(f"{at}o_proj.bias", (d.width,))]
    return table


class Sources:
    """The tensors of a checkpoint from which parameters are made."""

    def __init__(self, table):
        self.table = table

    def check(self, checkpoint):
        """Refuses a checkpoint whose tensors are not those of the description."""
        wanted = dict(pair for sources in self.table.values() for pair in sources)
        for name, shape in wanted.items():
            checkpoint.check(name, shape)
        for name in sorted(set(checkpoint.entries) - set(wanted)):
            if not name.endswith(IGNORED) and name != "lm_head.weight":
                raise Failure(f"the tensor {name} is not part of the model that config.json describes")

    def array(self, name, checkpoint):
        """Returns the weights of a parameter in float32: tensors of a checkpoint, one below the other."""
        numpy = require("numpy", TVM)
        return numpy.concatenate([checkpoint.tensor(source) for source, _ in self.table[name]])


def stored(name, sources, checkpoint, dtype):
    """Yields the arrays that are stored for a parameter's name: itself, or the two of its quantised form."""
    base, _, end = name.rpartition(".")
    if end == "q_scale":
        return
    if end == "q_weight":
        words, scales = quantised(sources.array(f"{base}.weight", checkpoint), name)
        yield name, words
        yield f"{base}.q_scale", within(scales, dtype, f"{base}.q_scale")
    else:
        yield name, within(sources.array(name, checkpoint), dtype, name)


def within(array, dtype, name):
    """Converts an array, and refuses values that the data type cannot hold."""
    numpy = require("numpy", TVM)
    with numpy.errstate(over="ignore"):
        converted = array.astype(dtype)
    if not numpy.isfinite(converted).all():
        cause = "is not finite" if not numpy.isfinite(array).all() else f"is too large for {dtype}: choose another --quantization"
        raise Failure(f"a value of the tensor {name} {cause}")
    return converted


def quantised(array, name):
    """Returns words and scales of a matrix in groups of 32 along its rows, as MLC-LLM's q4f32_1 and q4f16_1 have them."""
    numpy = require("numpy", TVM)
    rows, columns = array.shape
    if columns % GROUP:
        raise Failure(f"the tensor {name} has rows of {columns} weights, and 4 bits need a multiple of {GROUP}: choose another --quantization")
    groups = array.reshape(rows, columns // GROUP, GROUP)
    scales = numpy.abs(groups).max(-1) / LARGEST
    levels = numpy.rint(groups / numpy.where(scales == 0, 1, scales)[..., None]) + LARGEST
    levels = numpy.clip(levels, 0, 2 * LARGEST).astype(numpy.uint32).reshape(rows, columns // PER_WORD, PER_WORD)
    shifts = numpy.arange(PER_WORD, dtype=numpy.uint32) * 4
    return numpy.bitwise_or.reduce(levels << shifts, -1).astype(numpy.uint32), scales


def dequantised(words, scales):
    """Returns the matrix of words and scales in float32."""
    numpy = require("numpy", TVM)
    shifts = numpy.arange(PER_WORD, dtype=numpy.uint32) * 4
    levels = ((words[..., None] >> shifts) & 15).reshape(words.shape[0], -1).astype(numpy.float32)
    return (levels - LARGEST) * numpy.repeat(scales.astype(numpy.float32), GROUP, -1)
