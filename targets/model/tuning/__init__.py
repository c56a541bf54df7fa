"""Schedules found by a search for the kernels that Ferrite's do not take: `ferrite model --tune`."""

import contextlib
import dataclasses
import os
import pathlib
import sys
import tempfile
import types

from failure import Failure

from . import isolation


@dataclasses.dataclass
class Tuning:
    """A search of some minutes, or none, and the folder of its records."""

    folder: pathlib.Path
    minutes: float | None = None

    def __call__(self, mod, target):
        """Returns a module of fused kernels in which those with a record have its schedule."""
        import tvm
        from tvm import relax

        check_serialisation()
        skip_intrinsics()
        from . import records

        threads = int(os.environ.get("TVM_NUM_THREADS") or os.cpu_count())
        name = f"{target.attrs.get('mcpu', 'any')}-{threads}-threads"
        database = records.opened(self.folder, name)
        if self.minutes:
            self._search(mod, database, tvm.target.Target({**target.export(), "num-cores": threads}), threads)
        with target, database:
            return relax.transform.MetaScheduleApplyDatabase()(mod)

    def _search(self, mod, database, target, threads):
        import library
        from schedule import elementary

        from .bench import Bench
        from .search import Search

        elementary.install()
        with tempfile.TemporaryDirectory() as folder, Bench(target, library.file("relax"), pathlib.Path(folder), os.cpu_count()) as bench:
            Search(mod, database, target, bench, threads).run(60 * self.minutes)


def prepare():
    """Lets TVM run on Ferrite's library, if Python has its wheel: before TVM is imported."""
    with contextlib.suppress(ImportError):
        import ferrite_tvm_ffi  # noqa: F401


def check_serialisation():
    """Checks that modules can be written: with apache-tvm-ffi 0.1.15, TVM 0.27 crashes."""
    import tvm

    try:
        isolation.Attempt(lambda: len(tvm.ir.save_json(tvm.tirx.IntImm("int32", 0))), 60).result()
    except isolation.Failed as failed:
        hint = "install Ferrite's wheel, or apache-tvm-ffi==0.1.14.post1"
        raise Failure(f"this apache-tvm-ffi cannot write the records of TVM ({failed}): {hint}") from None


def skip_intrinsics():
    """Keeps MetaSchedule from importing the intrinsics of all processors and GPUs, which takes 16 seconds. Schedules for CPUs use none."""
    name = "tvm.s_tir.tensor_intrin"
    sys.modules.setdefault(name, types.ModuleType(name))
