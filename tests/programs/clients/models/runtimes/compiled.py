"""Compiled libraries of networks: by `ferrite model`, and by TVM's default pipeline. A library that exists is kept.

usage: python -m runtimes.compiled MODEL LIBRARY SHAPES VALUES    compiles by TVM's default pipeline
"""

import json
import os
import pathlib
import subprocess
import sys

from . import examples
from .paths import TOOL

HERE = pathlib.Path(__file__).resolve().parent


def library(name, path, batch, folder, options, variables=()):
    """Compiles a network by `ferrite model`. Returns the path of its library."""
    identifier = f"{name.replace('-', '_')}_{batch}"
    place = folder / identifier / f"{identifier}.so"
    if not place.is_file():
        shapes = [f"{key}={','.join(map(str, shape))}" for key, shape in examples.shapes(name, batch).items()]
        arguments = [word for shape in shapes for word in ("--shape", shape)]
        arguments += [word for key, value in examples.VALUES.get(name, {}).items() for word in ("--value", f"{key}={value}")]
        run(name, [TOOL, path, "--target", "host", "--name", identifier, "-o", place.parent, *arguments, *options], variables)
    return place


def tvm_library(name, path, batch, folder):
    """Compiles a network by TVM's default pipeline for the same processor. Returns the path of its library."""
    place = folder / "tvm" / f"{name.replace('-', '_')}_{batch}.so"
    if not place.is_file():
        place.parent.mkdir(exist_ok=True)
        arguments = [json.dumps(value) for value in (examples.shapes(name, batch), examples.VALUES.get(name, {}))]
        run(name, ["-m", "runtimes.compiled", path, place, *arguments])
    return place


def run(name, command, variables=()):
    """Runs a program of Python in a process of its own, on upstream's library. Returns its output; an error ends this one."""
    words = [sys.executable, "-B", *map(str, command)]
    outcome = subprocess.run(words, env=os.environ | {"PYTHONPATH": "", **dict(variables)}, cwd=HERE.parent, capture_output=True, text=True)
    if outcome.returncode:
        raise SystemExit(f"{name}: {(outcome.stderr.strip() or f'status {outcome.returncode}').splitlines()[-1]}")
    return outcome.stdout


def main(path, place, shapes, values):
    import frontend
    import targets
    import tvm
    from tvm import relax

    mod = frontend.load(pathlib.Path(path), json.loads(shapes), json.loads(values), loops=False)
    unfinished = pathlib.Path(place).with_suffix(".part.so")
    relax.build(mod, tvm.target.Target(targets.description(targets.HOST))).export_library(str(unfinished))
    unfinished.replace(place)


if __name__ == "__main__":
    main(*sys.argv[1:])
