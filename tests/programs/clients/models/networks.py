"""Networks of packages and of the tree, compiled by `ferrite model`: results and times beside those of other runtimes.

usage: networks.py [--network NAME...] [--batch N...] [--threads N...] [--beside {tvm,pytorch,compiled}...] [--memory]
                   [--work FOLDER] [--compile] [--library FILE] [--json FILE] [-- OPTION...]

Prints tables in Markdown. OPTIONs go to `ferrite model`. A result that differs from ONNX Runtime's by more than a
thousandth fails, or by more than a hundredth where ranges of 8 bits are those of a run. Times are medians of rounds in
which the runtimes take turns. `--beside` adds TVM's default pipeline, PyTorch, and `torch.compile`, which take the
packages torch and onnx2torch. A FOLDER keeps what was compiled; with `--compile` nothing is measured.
"""

import argparse
import importlib.util
import json
import pathlib
import sys
import tempfile

from fetch import fetched
from runtimes import compiled, examples, memory, quantized, tables, tree

TOLERANCE = 1e-3
STEP = 1e-2
"""Tolerance of networks with ranges of a run: ONNX Runtime's results are as far from those in float64."""


def ferrite_library():
    """Returns the library of the installed wheel, or of this clone."""
    if found := importlib.util.find_spec("ferrite_tvm_ffi"):
        return next(pathlib.Path(found.origin).parent.glob("ferrite_tvm_ffi.libs/libtvm_ffi.so"))
    import library

    return library.file("relax")


def libraries(arguments, folder, paths):
    """Compiles the networks. Returns the libraries by runtime, for each network and batch."""
    found = {}
    for name in arguments.network:
        for batch in arguments.batch:
            found[name, batch] = {"ferrite": compiled.library(name, paths[name], batch, folder, arguments.options)}
            if "tvm" in arguments.beside:
                try:
                    found[name, batch]["tvm"] = compiled.tvm_library(name, paths[name], batch, folder)
                except SystemExit as error:
                    print(f"TVM's defaults fail: {error}", file=sys.stderr)
            if arguments.compile and "compiled" in arguments.beside:
                for threads in arguments.threads:
                    process("runtimes.pytorch", name, threads, folder, path=paths[name], batch=batch)
    return found


def speed_rows(arguments, folder, paths, library, models):
    """Yields the times of each network, for each batch and number of threads, in a process of its own."""
    for (name, batch), files in models.items():
        for threads in arguments.threads:
            options = {"path": paths[name], "batch": batch, "library": library, "models": files, "beside": arguments.beside}
            yield json.loads(process("runtimes.speed", name, threads, folder, **options).splitlines()[-1])


def process(module, name, threads, folder, **options):
    """Runs a module with a number of threads. Returns its output."""
    variables = {"TVM_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads), "TORCHINDUCTOR_CACHE_DIR": str(folder / "torch")}
    arguments = json.dumps(options | {"name": name, "threads": threads}, default=str)
    return compiled.run(name, ["-m", module, arguments], variables)


def print_speed(arguments, rows):
    """Prints the table of times. Returns the rows."""
    runtimes, found = ["ferrite", "onnxruntime", *arguments.beside], []
    print(tables.speed_head(runtimes))
    for row in rows:
        found.append(row)
        print(tables.speed_line(row, runtimes), flush=True)
    print(f"\n{tables.mean(found)}\n")
    return found


def print_memory(rows):
    """Prints the table of memory. Returns the rows."""
    found = []
    print(tables.memory_head())
    for row in rows:
        found.append(row)
        print(tables.memory_line(row), flush=True)
    return found


def main(arguments, folder):
    folder.mkdir(parents=True, exist_ok=True)
    paths, library = fetched() | tree.write(folder), arguments.library or ferrite_library()
    paths |= quantized.write(folder, paths, arguments.network)
    models = libraries(arguments, folder, paths)
    if arguments.compile:
        return
    found = {"speed": print_speed(arguments, speed_rows(arguments, folder, paths, library, models))}
    if arguments.memory:
        batch = arguments.batch[0]
        files = {name: models[name, batch]["ferrite"] for name in arguments.network}
        found["memory"] = print_memory(memory.rows(files, paths, batch, library))
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n")
    for error in tables.errors(found["speed"]):
        print(error)
    wrong = [row for row in found["speed"] if not max(row["differences"].values()) <= (STEP if row["network"] in quantized.DYNAMIC else TOLERANCE)]
    assert not wrong, f"results differ: {wrong}"


def parsed():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("--network", nargs="+", choices=examples.NETWORKS, default=[*examples.NETWORKS])
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--beside", nargs="+", choices=("tvm", "pytorch", "compiled"), default=[])
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--work", type=lambda text: pathlib.Path(text).absolute())
    parser.add_argument("--library", type=lambda text: pathlib.Path(text).absolute())
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("options", nargs="*")
    return parser.parse_args()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        arguments = parsed()
        main(arguments, arguments.work or pathlib.Path(temporary))
