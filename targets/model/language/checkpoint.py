"""Reads weights from files of safetensors, without that package: a tensor at a time, from the mapped file."""

import json
import math
import mmap

from failure import Failure
from frontend import TVM, require

FLOATS = {"F64": ("<f8", 8), "F32": ("<f4", 4), "F16": ("<f2", 2), "BF16": ("<u2", 2)}
"""Data types of weights: how numpy reads each, and its bytes."""


class Checkpoint:
    """The tensors of a file, or of a folder: `model.safetensors`, or the shards that `model.safetensors.index.json` names."""

    def __init__(self, folder):
        self.folder, self.entries = folder, {}
        self.description = "the model" if folder.is_file() else "config.json"
        for file in files(folder):
            for name, entry in header(file).items():
                if name in self.entries:
                    raise Failure(f"the tensor {name} is in two files: {self.entries[name][0].name} and {file.name}")
                self.entries[name] = (file, *entry)
        self.maps = {}

    def entry(self, name):
        if name not in self.entries:
            raise Failure(f"{self.folder} lacks the tensor {name}")
        return self.entries[name]

    def check(self, name, shape):
        """Refuses a tensor that is not there, or that has another shape or no floats."""
        _, dtype, found, *_ = self.entry(name)
        if found != tuple(shape):
            raise Failure(f"the tensor {name} has the shape {list(found)}, and {self.description} means {list(shape)}")
        if dtype not in FLOATS:
            raise Failure(f"the tensor {name} has the data type {dtype}; weights are one of {', '.join(FLOATS)}")

    def tensor(self, name):
        """Returns a checked tensor in float32."""
        numpy = require("numpy", TVM)
        file, dtype, found, start, _ = self.entry(name)
        data = numpy.frombuffer(self.map(file), FLOATS[dtype][0], math.prod(found), start).reshape(found)
        if dtype == "BF16":
            # The upper half of a float32.
            return (data.astype(numpy.uint32) << 16).view(numpy.float32)
        return data.astype(numpy.float32)

    def map(self, file):
        if file not in self.maps:
            with file.open("rb") as opened:
                self.maps[file] = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
        return self.maps[file]


def files(folder):
    """Returns the files of weights in a folder, or the one that is given."""
    if folder.is_file():
        return [folder]
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        try:
            names = sorted(set(json.loads(index.read_text())["weight_map"].values()))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise Failure(f"{index} cannot be read: {error}") from None
        found = [folder / name for name in names if isinstance(name, str) and "/" not in name and "\\" not in name]
        if len(found) != len(names):
            raise Failure(f"{index} names files outside of its folder")
    else:
        found = [folder / "model.safetensors"]
    for file in found:
        if not file.is_file():
            raise Failure(f"{folder} has no file {file.name}: weights are read from safetensors")
    return found


def header(file):
    """Returns the tensors of a file by name: data type, shape, first byte and end in the file."""
    total = file.stat().st_size
    with file.open("rb") as opened:
        length = int.from_bytes(opened.read(8), "little")
        if total < 8 or length > total - 8:
            raise Failure(f"{file} is not a complete file of safetensors")
        text = opened.read(length)
    try:
        table = json.loads(text)
        entries = {name: entry_of(value, 8 + length) for name, value in table.items() if name != "__metadata__"}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Failure(f"{file} is not a file of safetensors: {error}") from None
    for name, (dtype, shape, start, end) in entries.items():
        size = math.prod(shape) * FLOATS[dtype][1] if dtype in FLOATS else end - start
        if not 8 + length <= start <= end <= total or size != end - start or min(shape, default=1) < 0:
            raise Failure(f"{file}: the tensor {name} has other bytes than its shape needs, or they are outside of the file")
    return entries


def entry_of(value, base):
    start, end = value["data_offsets"]
    return value["dtype"], tuple(map(int, value["shape"])), base + int(start), base + int(end)
