"""Run upstream's Python tests, one process per test file, and survive crashes.

When the process of a file dies or hangs, the test that was running is noted as crashed or timed out
and the file is started again without the tests already run: a bad test costs only itself.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import process
import results
from results import Result

# Files that compile programs: started first, to keep all processors busy.
_SLOW = ("test_rust_static_init", "test_stl", "test_dataclass_gen_abi_cpp", "test_build", "test_load")
# Tests that compare wall-clock times: another process can delay one of the two measured parts, so
# only a repeated failure counts.
_TIMED = ("::test_shared_dag_hash_scaling_not_exponential",)
_MAX_STARTS = 300
_MAX_REPEATS = 4


@dataclass
class Record:
    """The events recorded by one process (see plugin/pytest_record.py)."""

    collected: list[str] | None = None
    results: list[Result] = field(default_factory=list)
    not_collected: list[str] = field(default_factory=list)
    running: str | None = None
    finished: bool = False


class FileRun:
    """Runs of one test file, until all of its tests have results."""

    def __init__(self, name: str, options: argparse.Namespace, deadline: float) -> None:
        self.name = name
        self.options = options
        self.deadline = deadline
        self.stem = name.removesuffix(".py").replace("/", ".")
        self.log: Path = options.out / "log" / f"{self.stem}.log"
        self.collected: list[str] = []
        self.done: dict[str, Result] = {}
        self.problems: list[str] = []

    def run(self) -> None:
        for attempt in range(_MAX_STARTS):
            if not self.attempt(attempt):
                break
        else:
            self.problems.append(f"{self.name}: given up after {_MAX_STARTS} starts")
        self.repeat_timed()
        for test in self.collected:
            self.done.setdefault(test, Result(test, self.name, "notrun", text="; ".join(self.problems)))

    def repeat_timed(self) -> None:
        """Run the tests that compare times again while they fail."""
        for repeat in range(_MAX_REPEATS):
            failed = [id for id, result in self.done.items() if id.endswith(_TIMED) and result.status == "failed"]
            if not failed:
                break
            for test in failed:
                del self.done[test]
            self.attempt(_MAX_STARTS + repeat)

    def attempt(self, number: int) -> bool:
        """Run the remaining tests; return whether to restart."""
        log_start = self.log.stat().st_size if self.log.exists() else 0
        path = self.options.out / "record" / f"{self.stem}.{number}.jsonl"
        ended = self.start(path)
        record = self.read(path)
        self.collected = self.collected or record.collected or []
        self.problems += [f"{id}: error while collecting" for id in record.not_collected]
        self.done.update((result.id, result) for result in record.results)
        if record.finished and not record.running:
            if ended.returncode not in (0, 1, 5):
                self.problems.append(f"{self.name}: all tests ran, then the process ended with {ended.how}")
            return False
        text = f"{process.tail(self.log, log_start)}\n{ended.how}"
        if record.running:
            status = "timeout" if ended.stalled else "crashed"
            self.done[record.running] = Result(record.running, self.name, status, text=text)
        elif record.collected is None:
            self.problems.append(f"{self.name}: not collected, {ended.how}")
            self.done.setdefault(self.name, Result(self.name, self.name, "error", text=text))
            return False
        else:
            self.problems.append(f"{self.name}: died between two tests, {ended.how}")
        return bool(record.running or record.results) and time.monotonic() < self.deadline

    def start(self, record: Path) -> process.Ended:
        done = record.with_suffix(".done")
        done.write_text("".join(json.dumps(test) + "\n" for test in self.done))
        command = [self.options.python, "-X", "faulthandler", "-m", "pytest"]
        command += ["-p", "pytest_record", "-p", "no:cacheprovider", "-o", "addopts="]
        command += ["--tb=short", "-q", "-rP", f"--timeout={10 * self.options.test_timeout}"]
        command += ["--timeout-method=signal", self.name]
        env = {
            **os.environ,
            "FERRITE_RECORD": str(record),
            "FERRITE_DONE": str(done),
            "FERRITE_ONLY": json.dumps(self.options.select),
            "PYTHONPATH": str(Path(__file__).parent / "plugin"),
        }
        return process.run(
            command,
            env=env,
            cwd=self.options.tree,
            log=self.log,
            progress=record,
            # pytest's own time limit, a backstop, counts the time of the wall.
            stall=self.options.test_timeout,
            deadline=self.deadline,
        )

    def read(self, path: Path) -> Record:
        record = Record()
        reports: list[dict] = []
        for line in path.read_text().splitlines() if path.exists() else []:
            try:
                event = json.loads(line)
            except json.JSONDecodeError:
                continue  # cut short by a crash
            match event["event"]:
                case "collected":
                    record.collected = event["ids"]
                case "collect_error":
                    record.not_collected.append(event["id"])
                    record.results.append(Result(event["id"], self.name, "error", text=event["text"]))
                case "collect_skip":
                    record.results.append(Result(event["id"], self.name, "skipped", text=event["text"]))
                case "start":
                    record.running, reports = event["id"], []
                case "report":
                    reports.append(event)
                case "finish":
                    record.results.append(self.judge(event["id"], reports))
                    record.running = None
                case "session_end":
                    record.finished = True
        return record

    def judge(self, test: str, reports: list[dict]) -> Result:
        """Combine the reports of setup, call and teardown of one test."""
        seconds = sum(report["duration"] for report in reports)
        text = "\n".join(report["text"] for report in reports if report["text"])
        status = "passed" if any(report["when"] == "call" for report in reports) else "notrun"
        for report in reports:
            if report["outcome"] == "failed":
                status = "failed" if report["when"] == "call" else "error"
                break
            if report["outcome"] == "skipped":
                status = "xfailed" if report["xfail"] else "skipped"
            elif report["xfail"]:
                status = "xpassed"
        return Result(test, self.name, status, seconds, text)


def files_to_run(options: argparse.Namespace) -> list[str]:
    files = [
        str(path.relative_to(options.tree))
        for path in (options.tree / "tests" / "python").rglob("test_*.py")
    ]
    if options.select:
        # The list maps tests to files, so a new test is found only by its file's name.
        known = options.list.read_text().splitlines()
        wanted = {id.partition("::")[0] for id in files + known if results.selected(id, options.select)}
        files = [name for name in files if name in wanted]
    return sorted(files, key=lambda name: (not any(slow in name for slow in _SLOW), name))


def main() -> int:
    parser = results.options()
    parser.add_argument("--python", required=True)
    parser.add_argument("--tree", type=Path, required=True)
    parser.add_argument("--list", type=Path, required=True, help="ids of the tests")
    options = parser.parse_args()
    process.kill_children_when_terminated()
    deadline = time.monotonic() + options.time_limit
    runs = [FileRun(name, options, deadline) for name in files_to_run(options)]
    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(FileRun.run, runs))
    everything = [result for run in runs for result in run.done.values()]
    results.write(options.out, everything, [problem for run in runs for problem in run.problems])
    return 0


if __name__ == "__main__":
    sys.exit(main())
