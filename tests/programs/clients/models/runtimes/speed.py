"""Times a network on each runtime, in one process, in rounds in which the runtimes take turns.

usage: python -m runtimes.speed JSON    a row as JSON: results of `row` for these arguments
"""

import json
import statistics
import sys
import time

from . import examples, paths  # noqa: F401 - modules of `ferrite model`

ROUNDS = 9
ROUND_SECONDS = 0.1
MOST_SECONDS = 5
"""Time of a runtime in all rounds, after which it leaves."""
LONG = 1
"""Seconds of a call that is not repeated before it is timed."""


def turns(runs):
    """Returns the median seconds of a call of each function."""
    counts, times, spent = {}, {name: [] for name in runs}, dict.fromkeys(runs, 0)
    for name, run in runs.items():
        run()
        counts[name] = max(1, round(ROUND_SECONDS / timed(run, 1)))
    for _ in range(ROUNDS):
        for name, run in runs.items():
            if spent[name] < MOST_SECONDS:
                # Threads of the one before may still spin.
                if not times[name] or times[name][-1] < LONG:
                    run()
                seconds = timed(run, counts[name])
                times[name].append(seconds)
                spent[name] += seconds * (counts[name] + 1)
    return {name: statistics.median(seconds) for name, seconds in times.items()}


def timed(run, count):
    """Returns the mean seconds of a call."""
    begin = time.perf_counter()
    for _ in range(count):
        run()
    return (time.perf_counter() - begin) / count


def on_ferrite(library, model, arrays):
    """Returns a function that calls a compiled model, and one that returns its results."""
    import execution

    loaded = execution.Model(library, model)
    arguments, result = execution.Arguments(arrays), execution.Any()

    def call():
        loaded.call(arguments, result)
        loaded.release(result)

    return call, lambda: list(loaded(arrays))


def on_onnx_runtime(path, feeds, threads):
    """Returns a function that runs a model, and returns its results."""
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads, settings.inter_op_num_threads = threads, 1
    settings.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, settings, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, feeds)


def row(name, path, batch, threads, library, models, torch, only_compile):
    """Returns times in milliseconds by runtime, the largest differences from ONNX Runtime's results, and errors.

    `models` has the compiled libraries of the network by runtime; with `torch`, PyTorch takes part. With `only_compile`,
    nothing is timed.
    """
    arrays = examples.arrays(name, batch)
    runs, results, errors = {}, {}, {}
    for runtime, model in models.items():
        runs[runtime], found = on_ferrite(library, model, list(arrays.values()))
        results[runtime] = found()
    runs["onnxruntime"] = on_onnx_runtime(path, arrays | examples.constants(name), threads)
    expected = runs["onnxruntime"]()
    if torch:
        from . import pytorch

        for runtime, run in pytorch.functions(path, arrays, examples.VALUES.get(name, {}), threads).items():
            try:
                results[runtime] = run()
                runs[runtime] = run
            except Exception as error:  # noqa: BLE001 - of many classes
                errors[runtime] = (str(error).strip() or repr(error)).splitlines()[0]
    times = {} if only_compile else turns(runs)
    return {
        "network": name,
        "batch": batch,
        "threads": threads,
        "milliseconds": {runtime: 1000 * seconds for runtime, seconds in times.items()},
        "differences": {runtime: difference(found, expected) for runtime, found in results.items()},
        "errors": errors,
    }


def difference(found, expected):
    return max(float(abs(one - other).max()) for one, other in zip(found, expected, strict=True))


if __name__ == "__main__":
    print(json.dumps(row(**json.loads(sys.argv[1]))))
