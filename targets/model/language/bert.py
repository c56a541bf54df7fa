"""The description of an encoder, such as MiniLM, that turns sentences into vectors."""

import dataclasses
import json

from failure import Failure
from language.description import number, size

KIND = "bert"
"""The value of `model_type`."""


@dataclasses.dataclass(frozen=True)
class Encoder:
    """Sizes of an encoder of BERT's kind."""

    layers: int
    width: int
    heads: int
    hidden: int
    vocab: int
    types: int
    positions: int
    epsilon: float
    kind = KIND
    window = None

    @property
    def head(self):
        return self.width // self.heads


def described(config, path="config.json"):
    """Returns the description in a parsed `config.json`, or says what of it cannot be compiled."""
    if config.get("hidden_act", "gelu") != "gelu":
        raise Failure(f"{path}: hidden_act {config['hidden_act']!r} is not supported, only gelu")
    if config.get("position_embedding_type", "absolute") != "absolute":
        raise Failure(f"{path}: position_embedding_type {config['position_embedding_type']!r} is not supported, only absolute")
    width, heads = size(config, "hidden_size", path), size(config, "num_attention_heads", path)
    if width % heads:
        raise Failure(f"{path}: hidden_size {width} is not a multiple of num_attention_heads {heads}")
    return Encoder(
        layers=size(config, "num_hidden_layers", path),
        width=width,
        heads=heads,
        hidden=size(config, "intermediate_size", path),
        vocab=size(config, "vocab_size", path),
        types=size(config, "type_vocab_size", path, 2),
        positions=size(config, "max_position_embeddings", path, 512),
        epsilon=number(config, "layer_norm_eps", path, 1e-12),
    )


def check_pooling(folder):
    """Refuses sentence vectors that are not the mean over tokens."""
    path = folder / "1_Pooling/config.json"
    if not path.is_file():
        return
    try:
        modes = [name for name, value in json.loads(path.read_text()).items() if name.startswith("pooling_mode_") and value is True]
    except (ValueError, AttributeError) as error:
        raise Failure(f"{path} cannot be read: {error}") from None
    if modes != ["pooling_mode_mean_tokens"]:
        raise Failure(f"{path}: {', '.join(modes) or 'no pooling'} is not supported, only pooling_mode_mean_tokens")


def parameters(d):
    """Returns the tensors from which each parameter is made, with their shapes, one below the other."""

    def norm(name, source):
        return {f"{name}.{end}": [(f"{source}.LayerNorm.{end}", (d.width,))] for end in ("weight", "bias")}

    def linear(name, sources, rows, columns):
        return {
            f"{name}.weight": [(f"{source}.weight", (rows, columns)) for source in sources],
            f"{name}.bias": [(f"{source}.bias", (rows,)) for source in sources],
        }

    at = "embeddings."
    table = {f"{at}{name}.weight": [(f"{at}{name}_embeddings.weight", (rows, d.width))] for name, rows in tables(d)}
    table |= norm(at + "norm", "embeddings")
    for layer in range(d.layers):
        at, source = f"layers.{layer}.", f"encoder.layer.{layer}."
        table |= linear(at + "qkv", [f"{source}attention.self.{name}" for name in ("query", "key", "value")], d.width, d.width)
        table |= linear(at + "out", [source + "attention.output.dense"], d.width, d.width)
        table |= norm(at + "norm", source + "attention.output")
        table |= linear(at + "up", [source + "intermediate.dense"], d.hidden, d.width)
        table |= linear(at + "down", [source + "output.dense"], d.width, d.hidden)
        table |= norm(at + "feed_norm", source + "output")
    return table


def tables(d):
    return (("word", d.vocab), ("position", d.positions), ("token_type", d.types))
