"""Builds schedules as libraries, and measures these on Ferrite's library: a crash or a hang costs one of them."""

import contextlib
import json
import pathlib
import subprocess
import sys

from tvm import driver
from tvm.s_tir.transform import RemoveWeightLayoutRewriteBlock

from .isolation import Attempt, Failed

WORKER = pathlib.Path(__file__).resolve().parent / "worker.py"
BUILD_LIMIT, RUN_LIMIT = 10, 10
"""Seconds to build a library, and to run it beyond the time that its measurement takes."""
SECONDS = 0.05
"""Seconds to measure a candidate."""


class Bench:
    """A place to measure kernels of one target. `library` is the path of Ferrite's library."""

    def __init__(self, target, library, folder, processes):
        self.target, self.library, self.folder, self.processes = target, library, folder, processes
        self.worker, self.count = None, 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stop()

    def built(self, mods):
        """Builds modules, several at a time. Yields the path of each library, or the error, in order."""
        attempts = []
        try:
            for mod in mods:
                if len(attempts) == self.processes:
                    yield finished(*attempts.pop(0))
                self.count += 1
                path = str(self.folder / f"{self.count}.so")
                attempts.append((Attempt(lambda mod=mod, path=path: self._build(mod, path), BUILD_LIMIT), path))
            while attempts:
                yield finished(*attempts.pop(0))
        finally:
            for attempt, _ in attempts:
                attempt.end_process()

    def _build(self, mod, path):
        mod = RemoveWeightLayoutRewriteBlock(skip_tensor_rewrite=True)(mod)
        driver.build(mod, target=self.target).export_library(path)

    def seconds(self, paths, arguments, seconds=SECONDS):
        """Returns the seconds of a call of each library; they take turns. The results of all must equal those of the first."""
        request = {"paths": paths, "arguments": arguments, "seconds": seconds, "limit": seconds + RUN_LIMIT}
        answer = json.loads(self._answer(json.dumps(request)))
        if answer["error"] is not None:
            raise Failed(answer["error"])
        return answer["seconds"]

    def _answer(self, request):
        self.worker = self.worker or self._started()
        line = ""
        with contextlib.suppress(BrokenPipeError):
            print(request, file=self.worker.stdin, flush=True)
            line = self.worker.stdout.readline()
        if not line:
            self._stop()
            raise Failed("the process that measures has ended")
        return line

    def _started(self):
        command = [sys.executable, "-B", str(WORKER), str(self.library)]
        # In a session of its own: the keyboard interrupts the search alone.
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)

    def _stop(self):
        if self.worker:
            with contextlib.suppress(BrokenPipeError), self.worker as worker:
                worker.terminate()
            self.worker = None


def finished(attempt, path):
    """Returns the path of a library, or the `Failed` of its build."""
    try:
        attempt.result()
        return path
    except Failed as failed:
        return failed


