"""A library under test: a Python interpreter with upstream's package around it, which runs programs and is restarted when it dies."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "watchdog"))
from watched import TICK, OwnTime  # noqa: E402

PROGRAMS_A_PROCESS = 150  # registered types stay in a process
TIME_LIMIT = 45  # seconds of its own time for one program; session.py has a shorter limit of its own


@dataclass
class Result:
    """Outcome of a program: the outcome of each statement, or how its process ended."""

    outcomes: list[str]
    death: str = ""
    at: int = -1  # the statement that a process died in, or after


def death(code: int, errors: str) -> str:
    """How a process ended, in words; nothing if it ended well."""
    if "Timeout (" in errors:
        return "takes too long"
    return f"signal {-code}" if code < 0 else f"exit {code}" if code else ""


class Library:
    """The folder `packages` holds tvm_ffi, which has the library in it."""

    def __init__(self, name: str, packages: Path):
        self.name = name
        self.packages = packages
        self.process: subprocess.Popen | None = None
        self.programs = 0
        self.folder = Path(tempfile.mkdtemp(prefix="python-programs-"))

    def run(self, seed: int, source: str, alone: bool = False, fresh: bool = False) -> Result:
        """Runs a program where no other has left a trace: in a process of its own, or in a child of one that has run nothing.

        Children of one process have the same addresses; with `fresh`, the process is a new one.
        """
        if self.programs or fresh:
            self.stop()
        self.start(seed, source, alone, fork=not alone)
        return self.finish()

    def start(self, seed: int, source: str, alone: bool = False, fork: bool = False) -> None:
        if alone or self.programs >= PROGRAMS_A_PROCESS:
            self.stop()
        if self.process is None:
            self.launch()
        self.alone = alone
        self.programs += not fork
        try:
            self.process.stdin.write(json.dumps({"seed": seed, "source": source, "fork": fork}) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # finish() tells why
        self.result = Result([]) if fork else None

    def finish(self) -> Result:
        own = OwnTime(self.process.pid)
        limit = own.look() + TIME_LIMIT
        at = -1
        while line := self.read_line(own, limit):
            answer = json.loads(line)
            if "begins" in answer:
                at += 1
                continue
            if "ended" in answer:
                return self.child_result(answer["ended"], at)
            result = Result(answer["outcomes"])
            if self.result is None:
                return self.complete(result, at)
            self.result = result
        ended = self.stop(kill=own.seconds >= limit)
        return Result([], ended or "ended early", at)

    def child_result(self, code: int, at: int) -> Result:
        if code == 0:
            return self.result
        errors = self.errors()
        self.stop()
        return Result([], death(code, errors), at)

    def complete(self, result: Result, at: int) -> Result:
        """A program of its own process is complete when that has ended, too."""
        if self.alone:
            result.death, result.at = self.stop(), at
        return result

    def read_line(self, own: OwnTime, limit: float) -> str:
        while "\n" not in self.pending:
            if not select.select([self.process.stdout], [], [], TICK)[0]:
                if own.look() >= limit:
                    return ""
                continue
            if not (chunk := os.read(self.process.stdout.fileno(), 1 << 20)):
                return ""
            self.pending += chunk.decode()
        line, _, self.pending = self.pending.partition("\n")
        return line

    def launch(self) -> None:
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("TVM_FFI", "LD_", "PYTHON"))},
            "PYTHONPATH": str(self.packages),
            "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
            "TVM_FFI_DISABLE_TORCH_C_DLPACK": "1",
            "LC_ALL": "C.UTF-8",
        }
        self.pending = ""
        self.programs = 0
        work = self.folder / "work"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        with (self.folder / "errors").open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-X", "faulthandler", str(HERE / "session.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=errors, env=environment, cwd=work, text=True, bufsize=-1, start_new_session=True,
            )  # fmt: skip

    def stop(self, kill: bool = False) -> str:
        """Ends the process; returns how it died, or nothing if it ended well."""
        if self.process is None:
            return ""
        process, self.process = self.process, None
        try:
            process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            if kill:
                process.kill()
            code = process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return "hangs at exit"
        finally:
            process.stdout.close()
        return "takes too long" if kill else death(code, self.errors())

    def errors(self) -> str:
        return (self.folder / "errors").read_text(errors="replace")[-3000:]

    def close(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
