"""TVM's MetaSchedule tunes products of matrices on `ferrite rpc serve` through `ferrite rpc tracker`, without a failed trial.

usage: tuning.py [--server ferrite|upstream] [TEST...]
"""

import pathlib
import sys
import unittest

import ferrite_tvm_ffi  # noqa: F401  # first: tvm_ffi then runs on its library

sys.path[:0] = [str(pathlib.Path(__file__).parent / "support"), str(pathlib.Path(__file__).parents[1] / "rpc/support")]

import products  # noqa: E402
import servers  # noqa: E402

SERVER = servers.chosen(sys.argv)
TARGET = {"kind": "llvm", "mcpu": "x86-64-v2", "num-cores": 1}


class Tuning(unittest.TestCase):
    def test_a_product_of_64(self):
        self.tune(64)

    def test_a_product_of_128(self):
        self.tune(128)

    def tune(self, size):
        with SERVER.tracker() as tracker, SERVER.serve(key=products.KEY, tracker=tracker.port):
            records, best = products.tune(tracker, size, TARGET)
            products.check_trials(self, f"{size} x {size}", records)
            products.check_result(products.request(tracker), best, size)


if __name__ == "__main__":
    unittest.main()
