"""MetaSchedule measures candidates on a Cortex-M4F: each is linked into firmware, which is started as a device of TVM's client."""

import importlib
import logging
import pathlib
import shutil
import sys
import tempfile

importlib.import_module("ferrite_tvm_ffi")  # first: upstream's library crashes in `tune_tir`
import numpy as np  # noqa: E402
import tvm  # noqa: E402
from tvm import te  # noqa: E402
from tvm.ir.utils import derived_object  # noqa: E402
from tvm.s_tir import meta_schedule as ms  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "rpc_board/support"))

from firmware import build, session  # noqa: E402

TARGET = tvm.target.Target(
    {
        "kind": "llvm",
        "mtriple": "thumbv7em-none-eabihf",
        "mcpu": "cortex-m4",
        "mfloat-abi": "hard",
        "num-cores": 1,
    }
)
SIZE, TRIALS = 16, 3


def product():
    """Returns a module with a product of matrices."""
    a, b = (te.placeholder((SIZE, SIZE), "float32", name=name) for name in "ab")
    k = te.reduce_axis((0, SIZE), "k")
    c = te.compute((SIZE, SIZE), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="c")
    return tvm.IRModule({"main": te.create_prim_func([a, b, c])})


def firmware_of(module, folder, name):
    """Compiles a module as a system library, and links firmware with it."""
    compiled = tvm.compile(module.with_attr("system_lib_prefix", ""), target=TARGET)
    compiled.mod.write_to_file(str(folder / f"{name}.o"), "obj")
    return build(folder, name, ["MODULES"], objects=[folder / f"{name}.o"])


def measured(firmware):
    """Starts the firmware, checks its result, and returns the seconds of a call."""
    board = session(firmware)
    device, module = board.cpu(0), board.system_lib()
    a, b = np.random.default_rng(0).random((2, SIZE, SIZE), "float32")
    arguments = [tvm.runtime.tensor(array, device) for array in (a, b, np.zeros_like(a))]
    seconds = module.time_evaluator("main", device, number=2, repeat=2)(*arguments).results
    np.testing.assert_allclose(arguments[2].numpy(), a @ b, rtol=1e-5)
    return seconds


@derived_object
class Builder(ms.builder.PyBuilder):
    """Links each candidate into firmware of its own."""

    def __init__(self, folder):
        super().__init__()
        self.folder, self.count = folder, 0

    def build(self, build_inputs):
        results = []
        for candidate in build_inputs:
            self.count += 1
            firmware = firmware_of(candidate.mod, self.folder, f"candidate{self.count}")
            # The folder of an artifact is removed after its measurement.
            own = self.folder / str(self.count)
            own.mkdir()
            results.append(ms.builder.BuilderResult(str(shutil.move(firmware, own / firmware.name)), None))
        return results


@derived_object
class Future(ms.runner.PyRunnerFuture):
    """A measurement that was made."""

    def __init__(self, seconds):
        super().__init__()
        self.seconds = seconds

    def done(self):
        return True

    def result(self):
        return ms.runner.RunnerResult(self.seconds, None)


@derived_object
class Runner(ms.runner.PyRunner):
    """Starts the firmware of one candidate after another."""

    def __init__(self):
        super().__init__()
        self.times = []

    def run(self, runner_inputs):
        for candidate in runner_inputs:
            self.times.append(measured(pathlib.Path(candidate.artifact_path)))
        return [Future(seconds) for seconds in self.times[-len(runner_inputs) :]]


def main(folder):
    logging.disable(logging.INFO)
    first = min(measured(firmware_of(product(), folder, "first")))
    runner = Runner()
    database = ms.tune_tir(
        product(),
        TARGET,
        work_dir=str(folder / "work"),
        max_trials_global=TRIALS,
        num_trials_per_iter=TRIALS,
        builder=Builder(folder),
        runner=runner,
        cost_model="random",
    )
    best = [min(float(second) for second in record.run_secs) for record in database.get_all_tuning_records()]
    assert len(best) == len(runner.times) == TRIALS, (best, runner.times)
    assert min(best) == min(map(min, runner.times))
    print(f"product of {SIZE} x {SIZE}: {first * 1e6:.0f} us, candidates " + ", ".join(f"{time * 1e6:.0f}" for time in sorted(best)))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as created:
        main(pathlib.Path(created))
