"""The search for schedules of `ferrite model --tune`: candidates that crash, hang or give other results, records that are reused or damaged."""

import contextlib
import io
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import ferrite_tvm_ffi  # first: tvm_ffi then runs on its library
import numpy
import tvm
from tvm import relax
from tvm.s_tir import meta_schedule

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "targets/model"))

import compiler  # noqa: E402
import processor  # noqa: E402
import tuning  # noqa: E402
from failure import Failure  # noqa: E402
from tuning import bench, isolation, records, search  # noqa: E402

TARGET = processor.target()
SHAPES = [["float32", [64, 100]], ["float32", [64]]]
WRONG = {
    "crash": ("int __tvm_ffi_main(void) { __builtin_trap(); }", "crash: "),
    "hang": ("int __tvm_ffi_main(void) { for (;;) {} }", "no result within "),
    "idle": ("int __tvm_ffi_main(void) { return 0; }", "its results differ"),
    "empty": ("int other(void) { return 0; }", "main"),
}
"""Sources of libraries, and the reasons why they are refused."""
TRIALS = 8


def model():
    """Returns a module with a sum along rows."""
    builder = relax.BlockBuilder()
    x = relax.Var("x", relax.TensorType([64, 100], "float32"))
    with builder.function("main", [x]):
        with builder.dataflow():
            result = builder.emit_output(relax.op.sum(x, axis=[1]))
        builder.emit_func_output(result)
    return builder.get()


class Search(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.records = self.folder / "records"
        self.enterContext(mock.patch("library.file", lambda _: ferrite_tvm_ffi.LIBRARY))
        # The number of candidates ends the search, rather than time.
        self.enterContext(mock.patch.multiple(search, BATCH=4, TRIALS=TRIALS, POPULATION=8, CONFIRMATION=0.01, PROGRESS=-1))
        self.enterContext(mock.patch.multiple(bench, SECONDS=0.001))

    def compiled(self, minutes=10):
        """Compiles the model with a search, or with records alone, and checks its result. Returns what was printed."""
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            executable = compiler.executable(model(), TARGET, None, tuning.Tuning(self.records, minutes))
        x = numpy.random.default_rng(0).random((64, 100), "float32")
        result = relax.VirtualMachine(executable, tvm.cpu())["main"](tvm.runtime.tensor(x)).numpy()
        numpy.testing.assert_allclose(result, x.sum(1), rtol=1e-5)
        return printed.getvalue()

    def files(self):
        return sorted(self.records.glob("*/*.json"))

    def lines(self):
        return self.files()[0].read_text().count("\n")

    def library(self, name):
        source, path = self.folder / f"{name}.c", self.folder / f"{name}.so"
        source.write_text(WRONG[name][0])
        subprocess.run(["cc", "-shared", "-fPIC", source, "-o", path], check=True)
        return path

    def test_records_are_used_without_measuring(self):
        printed = self.compiled()
        self.assertRegex(printed, r"tuning +1 kernels, which take [\d.]+ us of a call, for 10 minutes")
        self.assertRegex(printed, r"tuned +[\d.]+ us in place of [\d.]+ us in each call")
        self.assertGreater(self.lines(), TRIALS // 2)
        before = [file.read_bytes() for file in self.files()]
        with mock.patch.object(bench, "Bench", side_effect=AssertionError("it measures")):
            self.assertEqual(self.compiled(None), "")
        self.assertEqual([file.read_bytes() for file in self.files()], before)

    def test_the_fastest_schedule_of_the_records_is_used(self):
        self.compiled()
        database = records.opened(self.records, self.files()[0].parent.name)
        workload = database.get_all_tuning_records()[0].workload
        expected = tvm.s_tir.Schedule(workload.mod)
        expected.vectorize(expected.split(expected.get_loops(expected.get_sblock(expected_block(workload)))[0], [None, 4])[1])
        records.commit(database, workload, expected.trace, 1e-12, tvm.target.Target(TARGET), meta_schedule.arg_info.ArgInfo.from_prim_func(workload.mod["main"]))
        with mock.patch("tvm.relax.build") as build:
            compiler.executable(model(), TARGET, None, tuning.Tuning(self.records))
        (kernel,) = (function for function in build.call_args.args[0].functions.values() if isinstance(function, tvm.tirx.PrimFunc))
        tvm.ir.assert_structural_equal(kernel.body, expected.mod["main"].body, map_free_vars=True)

    def test_candidates_that_fail_are_told_apart(self):
        with bench.Bench(tvm.target.Target(TARGET), ferrite_tvm_ffi.LIBRARY, self.folder, 1) as place, mock.patch.object(bench, "RUN_LIMIT", 2):
            (right,) = place.built([self.kernel()])
            self.assertEqual(len(place.seconds([right, right], SHAPES)), 2)
            for name, (_, message) in WRONG.items():
                with self.subTest(name), self.assertRaisesRegex(isolation.Failed, message):
                    place.seconds([right, str(self.library(name))], SHAPES)
            # The worker goes on.
            self.assertEqual(len(place.seconds([right], SHAPES)), 1)

    def kernel(self):
        import schedule

        target = tvm.target.Target(TARGET)
        with target:
            mod = schedule.legalization(target)(model())
        return meta_schedule.relax_integration.extract_tasks(mod, target)[0].dispatched[0]

    def test_a_failed_candidate_costs_itself_alone(self):
        libraries = [self.library(name) for name in WRONG]
        build = bench.Bench._build

        def wrong_at_times(place, mod, path):
            # The first is Ferrite's schedule.
            at = place.count - 2
            if at == len(libraries):
                raise RuntimeError("it cannot be built")
            shutil.copy(libraries[at], path) if 0 <= at < len(libraries) else build(place, mod, path)

        with mock.patch.object(bench.Bench, "_build", wrong_at_times), mock.patch.object(bench, "RUN_LIMIT", 2):
            printed = self.compiled()
        tried, failed = map(int, re.findall(r"(\d+) candidates, (\d+) failed", printed)[-1])
        self.assertGreaterEqual(failed, len(WRONG) + 1)
        self.assertGreater(tried, failed)

    def test_an_interrupt_keeps_what_was_found(self):
        seconds, calls = bench.Bench.seconds, []

        def interrupted(place, *arguments):
            calls.append(arguments)
            if len(calls) == 3:
                signal.raise_signal(signal.SIGINT)
            return seconds(place, *arguments)

        with mock.patch.object(bench.Bench, "seconds", interrupted):
            printed = self.compiled()
        self.assertIn("interrupted  the records have what was found", printed)
        self.assertGreaterEqual(self.lines(), 3)

    def test_the_search_goes_on_after_the_worker_ends(self):
        with bench.Bench(tvm.target.Target(TARGET), ferrite_tvm_ffi.LIBRARY, self.folder, 1) as place:
            (library,) = place.built([self.kernel()])
            place.seconds([library], SHAPES)
            place.worker.kill()
            place.worker.wait()
            with self.assertRaisesRegex(isolation.Failed, "the process that measures has ended"):
                place.seconds([library], SHAPES)
            self.assertEqual(len(place.seconds([library], SHAPES)), 1)

    def test_a_release_of_tvm_ffi_that_cannot_write_modules_is_refused(self):
        program = "import sys; sys.path.insert(0, sys.argv[1]); import tuning; tuning.check_serialisation()"
        tool = str(pathlib.Path(tuning.__file__).parents[1])
        outcome = subprocess.run([sys.executable, "-c", program, tool], env=os.environ | {"PYTHONPATH": ""}, capture_output=True, text=True)
        self.assertIn("this apache-tvm-ffi cannot write the records of TVM (crash: Segmentation fault): install Ferrite's wheel", outcome.stderr)

    def test_damaged_records_are_named(self):
        self.compiled()
        record, workload = self.files()
        text = record.read_text()
        for file, damage, message in (
            (record, text[:-9], r"database_tuning_record.json are damaged, line \d+ is not JSON"),
            (record, "[null]\n", "database_tuning_record.json are damaged"),
            (record, text.replace("[0,", "[7,"), "database_tuning_record.json are damaged"),
            (workload, "\xff\n", "database_workload.json are damaged, line 1 is not JSON"),
        ):
            before = file.read_text()
            file.write_text(damage)
            with self.subTest(message), self.assertRaisesRegex(Failure, message + ".*: remove their folder"):
                self.compiled(None)
            file.write_text(before)
        self.compiled(None)


def expected_block(workload):
    """Returns the name of the block of the kernel."""
    return next(name for name in re.findall(r'T.sblock\("(\w+)"\)', workload.mod.script()) if name != "root")


if __name__ == "__main__":
    unittest.main()
