"""MetaSchedule's search for schedules of products of matrices on a device behind a tracker."""

import os
import pathlib
import tempfile

import numpy as np
import tvm
from tvm import rpc, te
from tvm.s_tir import meta_schedule
from tvm.s_tir.meta_schedule.builder import LocalBuilder
from tvm.s_tir.meta_schedule.runner import EvaluatorConfig, RPCConfig, RPCRunner
from tvm.s_tir.meta_schedule.search_strategy import EvolutionarySearch

TRIALS = 16
KEY = "board"


def product(size):
    left, right = (te.placeholder((size, size), "float32", name=name) for name in ("left", "right"))
    k = te.reduce_axis((0, size), name="k")
    output = te.compute((size, size), lambda i, j: te.sum(left[i, k] * right[k, j], axis=k), name="output")
    return tvm.IRModule({"main": te.create_prim_func([left, right, output])})


def linked_by(*command):
    """Return a function that exports a module as a library, which this machine's `command` links for the device."""

    # TVM's builder runs it in another process, so that it imports what it needs.
    def export(module):
        from tvm.support import cc

        path = os.path.join(tempfile.mkdtemp(), "candidate.so")
        module.export_library(path, fcompile=cc.cross_compiler(command[0], options=list(command[1:])))
        return path

    return export


def archive(module):
    """Export a module as an archive of objects, which the device links."""
    path = os.path.join(tempfile.mkdtemp(), "candidate.tar")
    module.export_library(path)
    return path


def tune(tracker, size, target, export=None):
    """Tune a product on the device, and return its records and the best candidate, exported by `export`."""
    with tempfile.TemporaryDirectory() as folder:
        database = meta_schedule.tune_tir(
            product(size),
            target=tvm.target.Target(target),
            work_dir=folder,
            max_trials_global=TRIALS,
            num_trials_per_iter=TRIALS // 2,
            builder=LocalBuilder(max_workers=1, timeout_sec=600, f_export=export),
            runner=RPCRunner(
                RPCConfig("127.0.0.1", tracker.port, KEY, session_timeout_sec=600),
                EvaluatorConfig(number=1, repeat=1, min_repeat_ms=10),
            ),
            num_tuning_cores=1,
            cost_model="random",
            strategy=EvolutionarySearch(population_size=32, init_min_unmeasured=TRIALS, genetic_num_iters=2),
            seed=0,
        )
        best = tvm.compile(meta_schedule.tir_integration.compile_tir(database, product(size), target).mod, target=target)
        return database.get_all_tuning_records(), (export or archive)(best)


def check_trials(test, name, records):
    """Check that each trial was measured. Those that fail take 1e10 seconds."""
    seconds = [float(run) for record in records for run in record.run_secs]
    test.assertEqual((len(seconds), sum(second > 1e9 for second in seconds)), (TRIALS, 0), "trials, and those that failed")
    print(f"{name}: {max(seconds) * 1e6:.1f} us to {min(seconds) * 1e6:.1f} us in {TRIALS} trials")


def request(tracker):
    """Return a session with the device."""
    return rpc.connect_tracker("127.0.0.1", tracker.port).request(KEY)


def check_result(session, path, size):
    """Upload a product, and compare its result with NumPy's."""
    session.upload(path)
    left, right = (np.random.default_rng(seed).random((size, size), "float32") for seed in (1, 2))
    arrays = [tvm.runtime.tensor(array, session.cpu(0)) for array in (left, right, np.zeros_like(left))]
    session.load_module(pathlib.Path(path).name)["main"](*arrays)
    np.testing.assert_allclose(arrays[2].numpy(), left @ right, rtol=1e-4)
