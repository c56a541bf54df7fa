"""Run upstream's Rust test programs and documentation tests, and survive crashes.

Each program runs its tests in one process, as cargo test does. The tests that
have no result after a crash or a hang are then run one per process, except the
one that was running, which is noted as crashed or timed out.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import process
import results
from results import Result

_LINE = re.compile(r"^test (.+?)(?: - should panic)? \.\.\. (.*)$")
_STATUS = {"ok": "passed", "FAILED": "failed"}


def parse(log: str) -> tuple[dict[str, str], str | None]:
    """Return the status of each test in a log, and the last test if it has no status."""
    found: dict[str, str] = {}
    running = None
    for line in log.splitlines():
        match = _LINE.match(line)
        if not match:
            continue
        name, rest = match.groups()
        if rest in _STATUS:
            found[name], running = _STATUS[rest], None
        elif rest.startswith("ignored"):
            found[name], running = "skipped", None
        else:
            running = name
    return found, running


class Program:
    def __init__(self, path: Path, options: argparse.Namespace, deadline: float) -> None:
        self.path = path
        self.name = path.name
        self.options = options
        self.deadline = deadline
        self.results: dict[str, Result] = {}
        self.problems: list[str] = []
        words = path.with_name(path.name + ".tests").read_text().splitlines()
        self.tests = [
            test
            for test in (word.removesuffix(": test") for word in words)
            if results.selected(f"{self.name}::{test}", options.select)
        ]

    def start(self, arguments: list[str], log: Path) -> process.Ended:
        return process.run(
            [str(self.path), "--test-threads=1", *arguments],
            env=dict(os.environ),
            cwd=self.options.cwd,
            log=log,
            progress=log,
            stall=self.options.test_timeout,
            deadline=self.deadline,
        )

    def put(self, test: str, status: str, seconds: float = 0.0, text: str = "") -> None:
        self.results[test] = Result(f"{self.name}::{test}", self.name, status, seconds, text)

    def run(self) -> None:
        if not self.tests:
            return
        log = self.options.out / "log" / f"{self.name}.log"
        ended = self.start(self.tests_as_filter(), log)
        text = log.read_text(errors="replace")
        found, running = parse(text)
        for test in self.tests:
            if test in found:
                self.put(test, found[test], text=text[-3000:] if found[test] == "failed" else "")
        if ended.returncode in (0, 101) and not ended.stalled:
            running = None
        elif running in self.tests:
            status = "timeout" if ended.stalled else "crashed"
            self.put(running, status, text=f"{text[-3000:]}\n{ended.how}")
        else:
            when = "after its tests" if "\ntest result: " in text else "outside a test"
            self.problems.append(f"{self.name}: died {when}, {ended.how}")
        for test in self.tests:
            if test not in self.results:
                self.run_one(test)

    def tests_as_filter(self) -> list[str]:
        return ["--exact", *self.tests] if self.options.select else []

    def run_one(self, test: str) -> None:
        if time.monotonic() > self.deadline:
            self.put(test, "notrun", text="not finished in time")
            return
        log = self.options.out / "log" / f"{self.name}.{test.replace('::', '.')}.log"
        start = time.monotonic()
        ended = self.start(["--exact", test], log)
        text = log.read_text(errors="replace")
        if ended.stalled:
            status = "timeout"
        elif ended.returncode == 0 and " 1 passed; 0 failed;" in text:
            status = "passed"
        elif ended.returncode == 0 and " 1 ignored;" in text:
            status = "skipped"
        else:
            status = "failed" if ended.returncode == 101 else "crashed"
        self.put(test, status, time.monotonic() - start, f"{text[-3000:]}\n{ended.how}")


def doc_tests(options: argparse.Namespace, deadline: float) -> tuple[list[Result], list[str]]:
    log = options.out / "log" / "doc.log"
    env = {k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"}
    ended = process.run(
        ["cargo", "test", "--doc", "--locked", "--no-fail-fast", "-p", "tvm-ffi"],
        env=env,
        cwd=options.cwd,
        log=log,
        progress=log,
        stall=300,
        deadline=deadline,
    )
    text = log.read_text(errors="replace")
    found, _ = parse(text)
    problems = []
    if ended.returncode not in (0, 101) or ended.stalled or not found:
        problems.append(f"doc: {ended.how}")
    out = []
    for name, status in found.items():
        if name.endswith(" - compile fail"):
            continue  # unrelated to the library
        out.append(
            Result(f"doc::{name}", "doc", status, text=text[-3000:] if status == "failed" else "")
        )
    return out, problems


def main() -> int:
    parser = results.options()
    parser.add_argument("--cwd", type=Path, required=True)
    parser.add_argument("--programs", type=Path, required=True)
    parser.add_argument("--list", type=Path, required=True, help="ids of the tests")
    options = parser.parse_args()
    process.kill_children_when_terminated()
    deadline = time.monotonic() + options.time_limit
    paths = sorted(p for p in options.programs.iterdir() if not p.name.endswith(".tests"))
    programs = [Program(path, options, deadline) for path in paths]
    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(Program.run, programs))
    everything = [result for program in programs for result in program.results.values()]
    problems = [problem for program in programs for problem in program.problems]
    # The list defines which documentation tests exist, so a new one runs only together with all
    # others.
    listed = [line for line in options.list.read_text().splitlines() if line.startswith("doc::")]
    if any(results.selected(test, options.select) for test in listed):
        more, more_problems = doc_tests(options, deadline)
        everything += more
        problems += more_problems
    results.write(options.out, everything, problems)
    return 0


if __name__ == "__main__":
    sys.exit(main())
