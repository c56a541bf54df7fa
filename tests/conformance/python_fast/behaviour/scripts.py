"""Programs that run in an interpreter of their own."""

import subprocess
import sys
import textwrap

HEAD = """
import gc, os, sys, threading
import numpy
import tvm_ffi
from tvm_ffi import testing
echo, nop, apply = (tvm_ffi.get_global_func(f"testing.{name}") for name in ("echo", "nop", "apply"))

def use():
    array = numpy.arange(3, dtype="float32")
    assert echo(1) == 1 and echo("text" * 20) == "text" * 20 and echo([1, 2])[1] == 2
    assert echo(array).shape == (3,) and apply(lambda value: value + 1, 4) == 5
    pair = testing.TestIntPair(1, 2)
    assert pair.sum() == 3 and pair.a == 1 and list(tvm_ffi.Array([pair]))[0].same_as(pair)
    try:
        tvm_ffi.Array([1])[5]
    except IndexError:
        pass
    else:
        raise AssertionError
"""


def run(source: str, seconds: float = 120):
    """Run a program; return its exit status, output, and the last line of its errors."""
    done = subprocess.run([sys.executable, "-X", "faulthandler", "-c", HEAD + textwrap.dedent(source)], capture_output=True, text=True, timeout=seconds)
    errors = done.stderr.strip().split("\n")
    return done.returncode, done.stdout, errors[-1]
