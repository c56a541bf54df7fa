"""Networks of packages, compiled by `ferrite model`: results beside ONNX Runtime's, and times on one and two threads.

usage: networks.py [--network NAME]... [--batch N]... [--threads N]... [--work FOLDER] [--library FILE] [--json FILE] [-- OPTION...]

Compiles each network for batch 1, and for 8 where its batch is open; OPTIONs go to `ferrite model`. A result that differs
by more than a thousandth fails. Times are medians of rounds in which both take turns. A FOLDER keeps the compiled models.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[4]
TOOL = ROOT / "targets/model"
sys.path.insert(0, str(TOOL))
TOLERANCE = 1e-3
ROUNDS = 9
ROUND_SECONDS = 0.1
BATCHES = (1, 8)
NETWORKS = {
    "magika": {"bytes": ("int32", lambda n: (n, 2048))},
    "basic-pitch": {"serving_default_input_2:0": ("float32", lambda n: (n, 43844, 1))},
    "recogniser": {"x": ("float32", lambda n: (n, 3, 48, 320))},
    "direction": {"x": ("float32", lambda n: (n, 3, 48, 192))},
    "voice": {"input": ("float32", lambda n: (n, 576)), "state": ("float32", lambda n: (2, n, 128))},
    "minilm": {"ids": ("int64", lambda n: (n, 128)), "mask": ("float32", lambda n: (n, 128)), "positions": ("int64", lambda n: (128,))},
    "digits": {"x": ("float32", lambda n: (n, 1, 8, 8))},
}
"""Inputs of the networks: element type, and shape for a batch."""
VALUES = {"voice": {"sr": 16000}}
"""Inputs that are constants of the compiled model."""
FIXED = {"digits"}
"""Networks whose batch is one."""


def examples(name, batch):
    """Returns an array for each input: numbers that are valid tokens and bytes, or random floats."""
    import numpy as np

    random, arrays = np.random.default_rng(7), {}
    for key, (dtype, shape) in NETWORKS[name].items():
        if key == "positions":
            arrays[key] = np.arange(128)
        elif key == "mask":
            arrays[key] = np.ones(shape(batch), dtype)
        elif dtype.startswith("int"):
            arrays[key] = random.integers(0, 256, shape(batch)).astype(dtype)
        else:
            arrays[key] = 0.1 * random.standard_normal(shape(batch)).astype(dtype)
    return arrays


def compiled(name, path, batch, folder, options):
    """Compiles a network. Returns the path of its library."""
    identifier = f"{name.replace('-', '_')}_{batch}"
    library = folder / identifier / f"{identifier}.so"
    if not library.is_file():
        shapes = [f"{key}={','.join(map(str, shape(batch)))}" for key, (_, shape) in NETWORKS[name].items()]
        arguments = [word for shape in shapes for word in ("--shape", shape)]
        arguments += [word for key, value in VALUES.get(name, {}).items() for word in ("--value", f"{key}={value}")]
        command = [sys.executable, "-B", TOOL, path, "--target", "host", "--name", identifier, "-o", library.parent, *arguments, *options]
        # The compiler runs on upstream's library.
        outcome = subprocess.run(command, env=os.environ | {"PYTHONPATH": ""}, capture_output=True, text=True)
        if outcome.returncode:
            raise SystemExit(f"{name}: {outcome.stderr.strip().splitlines()[-1]}")
    return library


def rounds(runs):
    """Returns the median seconds of a call of each function; they take turns, in rounds of equal length."""
    counts = []
    for run in runs:
        run()
        begin = time.perf_counter()
        run()
        counts.append(max(1, round(ROUND_SECONDS / (time.perf_counter() - begin))))
    times = [[] for _ in runs]
    for _ in range(ROUNDS):
        for run, count, seconds in zip(runs, counts, times):
            # The other's threads may still spin.
            run()
            begin = time.perf_counter()
            for _ in range(count):
                run()
            seconds.append((time.perf_counter() - begin) / count)
    return [statistics.median(seconds) for seconds in times]


def measure(name, path, library, model, batch, threads):
    """Compares a compiled network with ONNX Runtime. Returns the differences and times."""
    import execution
    import numpy as np
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads, settings.inter_op_num_threads = threads, 1
    settings.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, settings, providers=["CPUExecutionProvider"])
    arrays = examples(name, batch)
    inputs = arrays | {key: np.array(value) for key, value in VALUES.get(name, {}).items()}
    ours = execution.Model(library, model)
    expected, found = session.run(None, inputs), ours(list(arrays.values()))
    arguments, result = execution.Arguments(list(arrays.values())), execution.Any()

    def call():
        ours.call(arguments, result)
        ours.release(result)

    times = rounds([call, lambda: session.run(None, inputs)])
    difference = max(float(abs(one - other).max()) for one, other in zip(found, expected, strict=True))
    return {"network": name, "batch": batch, "threads": threads, "difference": difference, "ours": 1000 * times[0], "onnxruntime": 1000 * times[1]}


def measured(*arguments):
    """Measures in a process of its own, whose pool has that many threads."""
    environment = os.environ | {"TVM_NUM_THREADS": str(arguments[-1]), "PYTHONPATH": ""}
    command = [sys.executable, "-B", __file__, "--measure", json.dumps(list(map(str, arguments)))]
    outcome = subprocess.run(command, env=environment, capture_output=True, text=True)
    if outcome.returncode:
        raise SystemExit(f"{arguments[0]}: {outcome.stderr.strip().splitlines()[-1]}")
    return json.loads(outcome.stdout)


def ferrite_library():
    """Returns the library of the installed wheel, or of this clone."""
    if found := importlib.util.find_spec("ferrite_tvm_ffi"):
        return next(pathlib.Path(found.origin).parent.glob("ferrite_tvm_ffi.libs/libtvm_ffi.so"))
    import library

    return library.file("relax")


def line(row):
    ours, theirs = row["ours"], row["onnxruntime"]
    print(f"{row['network']:<12} batch {row['batch']}  threads {row['threads']}", end="")
    print(f"  {ours:9.3f} {theirs:9.3f} ms  {ours / theirs:6.2f}  difference {row['difference']:.1e}", flush=True)


def main(arguments, folder):
    from fetch import fetched

    paths = fetched() | {"digits": ROOT / "tests/programs/relax/cnn/digits.onnx"}
    library, rows = arguments.library or ferrite_library(), []
    print("network      batch    threads         ours  ONNX Runtime  ratio")
    for name in arguments.network or NETWORKS:
        for batch in arguments.batch or BATCHES:
            if batch != 1 and name in FIXED:
                continue
            model = compiled(name, paths[name], batch, folder, arguments.options)
            for threads in arguments.threads or (1, 2):
                rows.append(measured(name, paths[name], library, model, batch, threads))
                line(rows[-1])
    print(f"geometric mean of the ratios: {statistics.geometric_mean(row['ours'] / row['onnxruntime'] for row in rows):.2f}")
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")
    wrong = [row for row in rows if not row["difference"] <= TOLERANCE]
    assert not wrong, f"results differ: {wrong}"


def parsed():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].splitlines()[0])
    parser.add_argument("--network", action="append", choices=NETWORKS)
    parser.add_argument("--batch", type=int, action="append")
    parser.add_argument("--threads", type=int, action="append")
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--library", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("options", nargs="*")
    return parser.parse_args()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        name, path, library, model, batch, threads = json.loads(sys.argv[2])
        print(json.dumps(measure(name, path, library, model, int(batch), int(threads))))
    else:
        arguments = parsed()
        with tempfile.TemporaryDirectory() as temporary:
            main(arguments, arguments.work or pathlib.Path(temporary))
