"""TVM's MetaSchedule tunes products of matrices on `ferrite rpc serve` through `ferrite rpc tracker`, without a failed trial.

usage: tuning.py [--server ferrite|upstream] [TEST...]
"""

import pathlib
import sys
import tempfile
import unittest

import ferrite_tvm_ffi  # noqa: F401  # first: tvm_ffi then runs on its library
import numpy as np
import tvm
from tvm import rpc, te
from tvm.s_tir import meta_schedule
from tvm.s_tir.meta_schedule.builder import LocalBuilder
from tvm.s_tir.meta_schedule.runner import EvaluatorConfig, RPCConfig, RPCRunner
from tvm.s_tir.meta_schedule.search_strategy import EvolutionarySearch

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "rpc/support"))

import servers  # noqa: E402

SERVER = servers.chosen(sys.argv)
TRIALS = 16
TARGET = {"kind": "llvm", "mcpu": "x86-64-v2", "num-cores": 1}


def product(size):
    left, right = (te.placeholder((size, size), "float32", name=name) for name in ("left", "right"))
    k = te.reduce_axis((0, size), name="k")
    output = te.compute((size, size), lambda i, j: te.sum(left[i, k] * right[k, j], axis=k), name="output")
    return tvm.IRModule({"main": te.create_prim_func([left, right, output])})


class Tuning(unittest.TestCase):
    def test_a_product_of_64(self):
        self.tune(64)

    def test_a_product_of_128(self):
        self.tune(128)

    def tune(self, size):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        with SERVER.tracker() as tracker, SERVER.serve(key="board", tracker=tracker.port):
            config = RPCConfig("127.0.0.1", tracker.port, "board", session_timeout_sec=600)
            database = meta_schedule.tune_tir(
                product(size),
                target=tvm.target.Target(TARGET),
                work_dir=folder,
                max_trials_global=TRIALS,
                num_trials_per_iter=TRIALS // 2,
                builder=LocalBuilder(max_workers=1, timeout_sec=600),
                runner=RPCRunner(config, EvaluatorConfig(number=1, repeat=1, min_repeat_ms=10)),
                num_tuning_cores=1,
                cost_model="random",
                strategy=EvolutionarySearch(population_size=32, init_min_unmeasured=TRIALS, genetic_num_iters=2),
                seed=0,
            )
            self.check_trials(f"{size} x {size}", database)
            best = tvm.compile(meta_schedule.tir_integration.compile_tir(database, product(size), TARGET).mod, target=TARGET)
            path = str(pathlib.Path(folder, "best.tar"))
            best.export_library(path)
            self.check_result(rpc.connect_tracker("127.0.0.1", tracker.port).request("board"), path, size)

    def check_trials(self, name, database):
        """Check that each trial was measured. Those that fail take 1e10 seconds."""
        seconds = [float(run) for record in database.get_all_tuning_records() for run in record.run_secs]
        self.assertEqual((len(seconds), sum(second > 1e9 for second in seconds)), (TRIALS, 0), "trials, and those that failed")
        print(f"{name}: {max(seconds) * 1e6:.1f} us to {min(seconds) * 1e6:.1f} us in {TRIALS} trials")

    def check_result(self, session, path, size):
        session.upload(path)
        left, right = (np.random.default_rng(seed).random((size, size), "float32") for seed in (1, 2))
        arrays = [tvm.runtime.tensor(array, session.cpu(0)) for array in (left, right, np.zeros_like(left))]
        session.load_module(pathlib.Path(path).name)["main"](*arrays)
        np.testing.assert_allclose(arrays[2].numpy(), left @ right, rtol=1e-4)


if __name__ == "__main__":
    unittest.main()
