"""Times a network on each runtime, in one process, in rounds in which the runtimes take turns.

usage: python -m runtimes.speed JSON    a row as JSON: results of `row` for these arguments
"""

import json
import statistics
import sys
import time

from . import examples

ROUNDS = 9
ROUND_SECONDS = 0.1
MOST_SECONDS = 5
"""Time of a runtime in all rounds, after which it leaves."""
LONG = 1
"""Seconds of a call that is timed without one before it."""


def turns(runs):
    """Returns the median seconds of a call of each function."""
    counts, times, spent = {}, {name: [] for name in runs}, {}
    for name, run in runs.items():
        spent[name] = seconds = timed(run, 1)
        if seconds > MOST_SECONDS:
            times[name].append(seconds)
        elif seconds < LONG:
            seconds = timed(run, 1)
        counts[name] = max(1, round(ROUND_SECONDS / seconds))
    for _ in range(ROUNDS):
        for name, run in runs.items():
            if spent[name] < MOST_SECONDS:
                # Threads of the one before may still spin.
                warm = timed(run, 1)
                times[name].append(timed(run, counts[name]) if warm < LONG else warm)
                spent[name] += warm + times[name][-1] * counts[name]
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


def on_onnx_runtime(path, feeds, threads, is_fused=True):
    """Returns a function that runs a model, and returns its results.

    Fused, a Softmax of integers is ONNX Runtime's QLinearSoftmax, which divides by a scale whose inverse is a whole number.
    """
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.add_session_config_entry("session.disable_quant_qdq", str(int(not is_fused)))
    settings.intra_op_num_threads, settings.inter_op_num_threads = threads, 1
    settings.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, settings, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, feeds)


def row(name, path, batch, threads, library, models, beside):
    """Returns times in milliseconds by runtime, the largest differences from ONNX Runtime's results, and errors.

    `models` has the compiled libraries of the network by runtime; `beside` names PyTorch's that take part.
    """
    arrays = examples.arrays(name, batch)
    runs, results, errors = {}, {}, {}
    for runtime, model in models.items():
        runs[runtime], found = on_ferrite(library, model, list(arrays.values()))
        results[runtime] = found()
    feeds = arrays | examples.constants(name)
    runs["onnxruntime"] = on_onnx_runtime(path, feeds, threads)
    expected = on_onnx_runtime(path, feeds, threads, is_fused=False)()
    for runtime in {"pytorch", "compiled"} & {*beside}:
        from . import pytorch

        try:
            run = pytorch.function(path, arrays, examples.VALUES.get(name, {}), threads, runtime == "compiled")
            results[runtime] = run()
            runs[runtime] = run
        except Exception as error:  # noqa: BLE001 - of many classes
            errors[runtime] = (str(error).strip() or repr(error)).splitlines()[0]
    return {
        "network": name,
        "batch": batch,
        "threads": threads,
        "milliseconds": {runtime: 1000 * seconds for runtime, seconds in turns(runs).items()},
        "differences": {runtime: difference(found, expected) for runtime, found in results.items()},
        "errors": errors,
    }


def difference(found, expected):
    return max(float(abs(one - other).max()) for one, other in zip(found, expected, strict=True))


if __name__ == "__main__":
    print(json.dumps(row(**json.loads(sys.argv[1]))))
