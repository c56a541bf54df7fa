"""The description of a decoder: what `config.json` says of it, and which of that can be compiled."""

import dataclasses
import json

from failure import Failure

FAMILY = {"llama": "LlamaForCausalLM", "mistral": "MistralForCausalLM", "qwen2": "Qwen2ForCausalLM"}
"""Values of `model_type`, each with its class in Hugging Face's transformers."""
SCALINGS = {"llama3": ("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings")}
"""Ways to scale rotary positions, each with the numbers that it needs."""


@dataclasses.dataclass(frozen=True)
class Description:
    """Sizes and options of a decoder of Llama's family."""

    kind: str
    layers: int
    width: int
    heads: int
    kv_heads: int
    head: int
    hidden: int
    vocab: int
    positions: int
    epsilon: float
    theta: float
    scaling: dict
    tied: bool
    qkv_bias: bool
    output_bias: bool
    window: int | None
    bos: int | None
    eos: tuple

    @property
    def qkv_rows(self):
        return (self.heads + 2 * self.kv_heads) * self.head


def read(path):
    """Returns the description in a `config.json`."""
    return described(content(path), path)


def content(path):
    """Returns the JSON object of a `config.json`."""
    try:
        config = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise Failure(f"{path} cannot be read: {error}") from None
    if not isinstance(config, dict):
        raise Failure(f"{path} is not a JSON object")
    return config


def described(config, path="config.json"):
    """Returns the description in a parsed `config.json`, or says what of it cannot be compiled."""
    kind = config.get("model_type")
    if kind not in FAMILY:
        classes = ", ".join(config.get("architectures") or []) or "unknown class"
        raise Failure(f"{path}: model_type {kind!r} ({classes}) is not supported; supported are: {', '.join(FAMILY)}")
    refuse(config, path)
    width, heads = size(config, "hidden_size", path), size(config, "num_attention_heads", path)
    kv_heads = size(config, "num_key_value_heads", path, heads)
    if heads % kv_heads:
        raise Failure(f"{path}: {heads} attention heads cannot share {kv_heads} key heads")
    if not config.get("head_dim") and width % heads:
        raise Failure(f"{path}: hidden_size {width} is not a multiple of num_attention_heads {heads}, and head_dim is missing")
    head = size(config, "head_dim", path, width // heads)
    if head % 2:
        raise Failure(f"{path}: head_dim {head} is odd, and rotary positions need pairs")
    biased = bool(config.get("attention_bias", False))
    windowed = kind == "mistral" or config.get("use_sliding_window", False)
    theta, scaling = rotary(config, path)
    return Description(
        kind=kind,
        layers=size(config, "num_hidden_layers", path),
        width=width,
        heads=heads,
        kv_heads=kv_heads,
        head=head,
        hidden=size(config, "intermediate_size", path),
        vocab=size(config, "vocab_size", path),
        positions=size(config, "max_position_embeddings", path, 2048),
        epsilon=number(config, "rms_norm_eps", path, 1e-6),
        theta=theta,
        scaling=scaling,
        tied=bool(config.get("tie_word_embeddings", False)),
        qkv_bias=biased or kind == "qwen2",
        output_bias=biased,
        window=size(config, "sliding_window", path) if windowed and config.get("sliding_window") else None,
        bos=config.get("bos_token_id") if isinstance(config.get("bos_token_id"), int) else None,
        eos=tokens(config.get("eos_token_id")),
    )


def refuse(config, path):
    """Refuses options that change what a layer computes."""
    if config.get("hidden_act", "silu") not in ("silu", "swish"):
        raise Failure(f"{path}: hidden_act {config['hidden_act']!r} is not supported, only silu")
    if config.get("mlp_bias"):
        raise Failure(f"{path}: mlp_bias is not supported")
    if config.get("partial_rotary_factor", 1) != 1:
        raise Failure(f"{path}: partial_rotary_factor {config['partial_rotary_factor']} is not supported, only 1")
    if config.get("quantization_config"):
        raise Failure(f"{path}: the weights are quantised already ({config['quantization_config'].get('quant_method')}): give the original ones")


def rotary(config, path):
    """Returns the base of rotary positions and their scaling, from either of the two places where transformers write them."""
    options = config.get("rope_parameters") or config.get("rope_scaling") or {}
    theta = options.get("rope_theta", config.get("rope_theta", 10000.0))
    kind = options.get("rope_type", options.get("type", "default"))
    if kind == "default":
        return float(theta), {}
    if kind not in SCALINGS:
        raise Failure(f"{path}: rotary positions of type {kind!r} are not supported; supported are: default, {', '.join(SCALINGS)}")
    lacking = [name for name in SCALINGS[kind] if name not in options]
    if lacking:
        raise Failure(f"{path}: rotary positions of type {kind!r} lack {', '.join(lacking)}")
    return float(theta), {"rope_type": kind, **{name: options[name] for name in SCALINGS[kind]}}


def size(config, name, path, default=None):
    value = config.get(name)
    value = default if value is None else value
    if value is None:
        raise Failure(f"{path} lacks {name}")
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise Failure(f"{path}: {name} is {value!r}, not a positive integer")
    return value


def number(config, name, path, default):
    value = config.get(name, default)
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise Failure(f"{path}: {name} is {value!r}, not a number")
    return float(value)


def tokens(value):
    return () if value is None else (value,) if isinstance(value, int) else tuple(value)
