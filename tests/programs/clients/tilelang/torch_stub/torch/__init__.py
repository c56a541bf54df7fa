"""A stand-in for PyTorch: the names that packages look up on import, without tensors.

It serves clients that only generate code, in place of a download of 2 GB. Any other use is an error.
"""

from types import SimpleNamespace

from . import cuda, nn, version

__version__ = "0.0.0+stub"


class dtype:
    """A data type, by name."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"torch.{self.name}"


for _name in (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "bfloat16", "float4_e2m1fn_x2"),
    *("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
):
    globals()[_name] = dtype(_name)
half, float, double, short, int, long = float16, float32, float64, int16, int32, int64  # noqa: A001, F821


class Tensor:
    """A class for annotations and `isinstance`, without instances."""

    def __new__(cls, *_args, **_options):
        raise NotImplementedError("this torch is a stub without tensors")


class device:
    """A device, by name."""

    def __init__(self, name):
        self.type, _, index = name.partition(":")
        self.index = index or None


backends = SimpleNamespace(mps=SimpleNamespace(is_available=lambda: False))
mps = SimpleNamespace(Event=None)
