"""Signatures of operators, as the metadata of their libraries has them.

    silu_and_mul(x: Tensor([rows, 2 * cols], float32 | float16), out: Tensor([rows, cols], x.dtype) = None)

An adaptor takes from it the names of the arguments, the optional ones, and the shape and type of a result before a kernel runs.
"""

from __future__ import annotations

import json
import re
from typing import Any, Mapping, NamedTuple, Sequence

# Arguments that operators write, besides those whose names begin with `out`: no type says so.
WRITES: Mapping[str, Sequence[str]] = {
    "apply_token_bitmask": ("logits",),
    "copy_blocks": ("key_cache", "value_cache"),
    "layernorm2d_residual": ("residual",),
    "logit_bias": ("logits",),
    "mla_decode_split_k": ("partial", "log_sums"),
    "moe_align_block_size": ("sorted_slots", "block_experts", "padded"),
    "moe_permute": ("slots",),
    "paged_attention_split_k": ("partial", "log_sums"),
    "presence_frequency_penalty": ("logits",),
    "quantize": ("codes", "packed", "scales"),  # quantize_int8_per_token and the like
    "repetition_penalty": ("logits",),
    "reshape_and_cache": ("key_cache", "value_cache"),
    "rmsnorm_residual": ("residual",),
    "rotary_cache": ("cos_sin_cache",),
    "rotary_embedding": ("query", "key"),
    "rotary_embedding_interleaved": ("query", "key"),
    "sample_top_k_top_p": ("probs",),
    "swap_blocks": ("target",),
    "topk": ("values", "indices"),
    "topk_softmax": ("weights", "indices"),
}


class Parameter(NamedTuple):
    """A parameter of an operator. `shape` is None if the signature lacks it, and `...` in it stands for any axes."""

    name: str
    is_tensor: bool
    is_optional: bool
    shape: tuple[str, ...] | None = None
    dtype: str = ""


class Signature:
    """The parameters of an operator, by its metadata."""

    def __init__(self, name: str, metadata: Mapping[str, str]) -> None:
        self.name, self.text = name, metadata.get("signature", name)
        types = json.loads(metadata.get("type_schema", "{}")).get("named_args", {}).get("params", [])
        texts = split(self.text.partition("(")[2].rpartition(")")[0])
        if len(texts) != len(types):  # names are unknown
            texts = [f"_{at}" for at in range(len(types))]
        self.parameters = tuple(_parameter(text, kind) for text, kind in zip(texts, types))
        self.names = tuple(parameter.name for parameter in self.parameters)
        names = WRITES.get(name) or WRITES.get(name.partition("_")[0], ())
        self.writes = tuple(at for at, one in enumerate(self.names) if one in names or one.startswith("out"))

    def arguments(self, positional: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
        """Return the arguments in their order, with None for optional ones that are left out; TypeError as for functions of Python."""
        if not self.names:
            return list(positional)
        if len(positional) > len(self.names):
            raise TypeError(f"{self.name}() takes {len(self.names)} arguments, {len(positional)} given")
        values = dict(zip(self.names, positional))
        for name, value in named.items():
            if name in values or name not in self.names:
                raise TypeError(f"{self.name}() {'got twice' if name in values else 'has no'} argument {name!r}")
            values[name] = value
        for one in self.parameters:
            if one.name not in values and not one.is_optional:
                raise TypeError(f"{self.name}() lacks the argument {one.name!r}")
        return [values.get(name) for name in self.names]

    def result(self, values: Sequence[Any]) -> tuple[tuple[int, ...], Any]:
        """Return the shape of the result that an operator allocates, and its type: that of an argument, or a name such as `float32`.

        Arguments need `shape` and `dtype` only. LookupError if the signature does not say it.
        """
        given = [(one, value) for one, value in zip(self.parameters, values) if value is not None]
        out = next((one for one in self.parameters if one.name == "out" and one.shape is not None), None)
        if out is None:
            raise LookupError(f"the signature of {self.name} has no shape of a result: {self.text}")
        extents = _extents(given)
        types = {key: value.dtype for one, value in reversed(given) if one.shape is not None for key in (one.dtype, f"{one.name}.dtype")}
        return tuple(extent for dim in out.shape or () for extent in _extent(dim, extents)), types.get(out.dtype, out.dtype)


def split(text: str) -> list[str]:
    """Split a string at the commas outside of brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([<") - (letter in ")]>")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def _parameter(text: str, schema: Mapping[str, Any]) -> Parameter:
    name, _, kind = text.partition(":")
    is_optional = schema["type"] == "Optional"
    is_tensor = (schema["args"][0] if is_optional else schema)["type"] in ("DLTensor*", "ffi.Tensor")
    tensor = re.match(r"\s*Tensor\(\[([^]]*)\](?:, *([^)]*))?\)", kind)
    if tensor is None:
        return Parameter(name.strip(), is_tensor, is_optional)
    return Parameter(name.strip(), is_tensor, is_optional, tuple(split(tensor[1])), (tensor[2] or "").strip())


def _extents(given: Sequence[tuple[Parameter, Any]]) -> dict[str, tuple[int, ...]]:
    """Return the extents that the names in shapes stand for, from tensors and integers; `...` stands for any number of them."""
    extents: dict[str, tuple[int, ...]] = {}
    for one, value in given:
        if isinstance(value, int):
            extents.setdefault(one.name, (value,))
        elif one.shape is None:
            continue
        elif one.shape == ("...",):
            extents.setdefault("...", tuple(value.shape))
        else:
            for dim, extent in zip(one.shape, value.shape):
                factor, _, name = dim.rpartition("* ")
                extents.setdefault(name, (extent // int(factor or 1),))
    return extents


def _extent(dim: str, extents: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    factor, _, name = dim.rpartition("* ")
    if name.isdigit():
        return (int(name),)
    return extents[name] if not factor else (int(factor) * extents[name][0],)
