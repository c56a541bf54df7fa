"""Checkpoints of paged key-value caches: checkpoints.py save|load FILE

`save` writes the metadata, the tensors and the keys of a sequence; `load` imports them into a new cache and continues the sequence.
"""

import json
import random
import sys

import numpy as np
import tvm_ffi

from operations import CONFIGS
from pair import Pair, method

KINDS = {"mha": 21, "gqa": 9, "wide_pages": 32, "inline": 1}


def prepared(kind, length):
    """A pair whose sequence 0 has shared pages, and is behind others."""
    pair = Pair(CONFIGS[kind])
    pair.add(7)
    pair.step([7], [length + 3])
    pair.fork(7, 0, min(length, 6))
    if length > 6:
        pair.step([0], [length - 6])
    return pair


def groups(metadata):
    return [np.zeros(group["shape"], group["dtype"]) for group in json.loads(metadata)["groups"]]


def save(kind):
    pair = prepared(kind, KINDS[kind])
    metadata = str(method("get_checkpoint_metadata")(pair.cache, 0))
    arrays = groups(metadata)
    for layer, array in enumerate(arrays):
        method("export_page_group")(pair.cache, 0, layer, tvm_ffi.from_dlpack(array))
    pair.compare()
    pair.contents()
    return {"metadata": metadata, "layers": np.stack(arrays), "tokens": pair.plain.sequences[0].tokens}


def load(kind, metadata, layers, tokens):
    """Imports a checkpoint into a cache that has other sequences, and continues."""
    pair = prepared(kind, 5)
    method("prepare_import")(pair.cache, 0, metadata)
    for layer in reversed(range(len(layers))):
        method("import_page_group")(pair.cache, 0, layer, tvm_ffi.from_dlpack(np.ascontiguousarray(layers[layer])))
    method("finish_import")(pair.cache, 0)
    pair.plain.clear()
    pair.plain.add(0)
    pair.plain.sequences[0].tokens = tokens
    pair.compare()
    pair.contents()
    pair.step([0], [5])
    pair.fork(0, 3, 4)
    pair.step([0, 3], [1, 1])
    pair.compare()


def refuses(kind, metadata, count=400):
    """Changes characters of the metadata: it is accepted with the same meaning only, and refused without a change."""
    draw, pair = random.Random(1), prepared(kind, 5)
    refused = 0
    for _ in range(count):
        text = list(metadata)
        for _ in range(draw.choice([1, 1, 2])):
            at = draw.randrange(len(text))
            text[at : at + draw.choice([0, 1, 1, 30])] = draw.choice(["", "0", "1", "9", "-", '"', "}", "null", "\0", "1e999"])
        try:
            method("prepare_import")(pair.cache, 0, "".join(text))
        except Exception:  # noqa: BLE001
            pair.compare()
            refused += 1
            continue
        pair = prepared(kind, 5)
    return refused


def main():
    what, file = sys.argv[1:]
    if what == "save":
        np.savez(file, **{f"{kind} {name}": value for kind in KINDS for name, value in save(kind).items()})
        return
    stored = np.load(file)
    for kind in KINDS:
        load(kind, *(stored[f"{kind} {name}"] if name != "metadata" else str(stored[f"{kind} metadata"]) for name in
                     ("metadata", "layers", "tokens")))  # fmt: skip


if __name__ == "__main__":
    main()
