"""Run a googletest program built with gtest_main.cc, and survive crashes.

Each test suite has a process of its own. If it crashes or hangs, the running test is recorded as crashed
or timed out, and the suite is restarted without the tests already run.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import process
import results
from results import Result


class SuiteRun:
    """Runs of one test suite, until all of its tests have results."""

    def __init__(self, name: str, tests: list[str], options: argparse.Namespace, deadline: float) -> None:
        self.name = name
        self.tests = tests
        self.options = options
        self.deadline = deadline
        self.stem = name.replace("/", "_")
        self.log: Path = options.out / "log" / f"{self.stem}.log"
        self.done: dict[str, Result] = {}
        self.problems: list[str] = []

    def run(self) -> None:
        attempt = 0
        while left := [test for test in self.tests if test not in self.done]:
            if time.monotonic() > self.deadline:
                self.problems.append(f"{self.name}: not finished in time")
                break
            before = len(self.done)
            self.attempt(attempt, left)
            attempt += 1
            if len(self.done) == before:
                break
        for test in self.tests:
            self.put(test, "notrun", text="; ".join(self.problems))

    def put(self, test: str, status: str, seconds: float = 0.0, text: str = "") -> None:
        # Two source files may each have a test of this name: both must pass.
        if test not in self.done or (self.done[test].status == "passed" and status != "notrun"):
            self.done[test] = Result(test, self.name, status, seconds, text)

    def attempt(self, number: int, left: list[str]) -> None:
        """Run the remaining tests until the process ends."""
        log_start = self.log.stat().st_size if self.log.exists() else 0
        record = self.options.out / "record" / f"{self.stem}.{number}"
        ended = self.start(record, left)
        running, finished = self.read(record, log_start)
        if running:
            status = "timeout" if ended.stalled else "crashed"
            self.put(running, status, text=f"{self.output_of(running, log_start)}\n{ended.how}")
        elif not finished or ended.returncode not in (0, 1):
            when = "after its tests" if finished else "outside a test"
            self.problems.append(f"{self.name}: died {when}, {ended.how}")

    def start(self, record: Path, left: list[str]) -> process.Ended:
        # Passed in a file, since a list of tests may exceed a command line.
        flags = record.with_suffix(".flags")
        flags.write_text(f"--gtest_filter={':'.join(left)}\n--gtest_color=no\n")
        return process.run(
            [str(self.options.program), f"--gtest_flagfile={flags}"],
            env={**os.environ, "FERRITE_RECORD": str(record)},
            cwd=self.options.cwd,
            log=self.log,
            progress=record,
            stall=self.options.test_timeout,
            deadline=self.deadline,
        )

    def read(self, record: Path, log_start: int) -> tuple[str | None, bool]:
        """Read the results from `record`; return the test without a result, and whether the program ended."""
        running, finished = None, False
        for line in record.read_text().splitlines() if record.exists() else []:
            kind, *rest = line.split("\t")
            if kind == "start":
                running = rest[0]
            elif kind == "end" and len(rest) == 3:
                test, status, milliseconds = rest
                text = self.output_of(test, log_start) if status == "failed" else ""
                self.put(test, status, int(milliseconds) / 1000, text)
                running = None
            elif kind == "finish":
                finished = True
        return running, finished

    def output_of(self, test: str, log_start: int) -> str:
        """Return the log of the last run of `test`."""
        text = self.log.read_bytes()[log_start:].decode(errors="replace")
        _, _, text = text.rpartition(f"[ RUN      ] {test}\n")
        return text.partition(f"[  FAILED  ] {test}")[0][-3000:]


def main() -> int:
    parser = results.options()
    parser.add_argument("--cwd", type=Path, required=True)
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--list", type=Path, required=True, help="ids of the program's tests")
    options = parser.parse_args()
    process.kill_children_when_terminated()
    deadline = time.monotonic() + options.time_limit
    suites: dict[str, list[str]] = {}
    for test in options.list.read_text().split():
        if results.selected(test, options.select):
            suites.setdefault(test.rpartition(".")[0], []).append(test)
    runs = [SuiteRun(name, tests, options, deadline) for name, tests in suites.items()]
    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(SuiteRun.run, runs))
    everything = [result for run in runs for result in run.done.values()]
    results.write(options.out, everything, [problem for run in runs for problem in run.problems])
    return 0


if __name__ == "__main__":
    sys.exit(main())
