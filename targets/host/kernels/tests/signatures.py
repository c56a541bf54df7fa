"""The parameters of a kernel, read from the signature in its metadata."""

from __future__ import annotations

import dataclasses
import json
import re

# `x: Tensor([rows, 2 * cols], float32) = None`, or `eps: float`. Those of Rust have types alone:
# `out: Optional<DLTensor*>`.
PARAMETER = re.compile(r"(\w+): (?:Tensor\(\[([^]]*)\], (\w+)\)|([\w<>*]+))(?: = (\w+))?")


@dataclasses.dataclass(frozen=True)
class Parameter:
    index: int
    name: str
    # The extents of a tensor, such as `2 * cols`; `...` for any number of axes, or those that the
    # signature does not tell; None for other values.
    shape: tuple[str, ...] | None
    # The type of its elements, such as `float32`, or a name for several, such as `T`; that of other
    # values.
    dtype: str
    optional: bool

    @property
    def is_tensor(self) -> bool:
        return self.shape is not None

    def symbols(self, axis: int) -> set[str]:
        return set(re.findall(r"[a-z_]\w*", self.shape[axis]))


def parameters(module, name: str) -> list[Parameter]:
    metadata = module.get_function_metadata(name)
    text = (json.loads(metadata) if isinstance(metadata, str) else metadata)["signature"]
    inside = text.removeprefix(f"{name}(").removesuffix(")")
    return [parameter(index, match) for index, match in enumerate(PARAMETER.finditer(inside))]


def parameter(index: int, match: re.Match) -> Parameter:
    name, shape, dtype, kind, default = match.groups()
    if kind in ("DLTensor*", "Optional<DLTensor*>"):
        return Parameter(index, name, ("...",), "T", kind.startswith("Optional"))
    extents = None if shape is None else tuple(part.strip() for part in shape.split(",") if part.strip())
    return Parameter(index, name, extents, dtype or kind, default is not None)
