"""Run a googletest program built with gtest_main.cc, and survive crashes.

Each test suite has a process of its own. When a process dies or hangs, the test
that was running is noted as crashed or timed out and the suite is started again
without the tests already run.
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


def output_of(test: str, log: Path, start: int) -> str:
    """What the last run of `test` wrote to the log."""
    text = log.read_bytes()[start:].decode(errors="replace")
    _, _, text = text.rpartition(f"[ RUN      ] {test}\n")
    return text.partition(f"[  FAILED  ] {test}")[0][-3000:]


def run_suite(
    suite: str, tests: list[str], options: argparse.Namespace, deadline: float
) -> tuple[list[Result], list[str]]:
    done: dict[str, Result] = {}
    problems: list[str] = []
    stem = suite.replace("/", "_")
    log = options.out / "log" / f"{stem}.log"
    starts = 0
    while left := [test for test in tests if test not in done]:
        if time.monotonic() > deadline:
            problems.append(f"{suite}: not finished in time")
            break
        record = options.out / "record" / f"{stem}.{starts}"
        starts += 1
        log_start = log.stat().st_size if log.exists() else 0
        # From a file, as a list of tests may be too long for a command line.
        flags = options.out / "record" / f"{stem}.flags"
        flags.write_text(f"--gtest_filter={':'.join(left)}\n--gtest_color=no\n")
        ended = process.run(
            [str(options.program), f"--gtest_flagfile={flags}"],
            env={**os.environ, "FERRITE_RECORD": str(record)},
            cwd=options.cwd,
            log=log,
            progress=record,
            stall=options.test_timeout,
            deadline=deadline,
        )
        running, finished, new = None, False, 0
        for line in record.read_text().splitlines() if record.exists() else []:
            kind, *rest = line.split("\t")
            if kind == "start":
                running = rest[0]
            elif kind == "end" and len(rest) == 3:
                name, status, milliseconds = rest
                text = output_of(name, log, log_start) if status == "failed" else ""
                # Two source files may each have a test of this name: both must pass.
                if name not in done or done[name].status == "passed":
                    done[name] = Result(name, suite, status, int(milliseconds) / 1000, text)
                running = None
                new += 1
            elif kind == "finish":
                finished = True
        if running:
            status = "timeout" if ended.stalled else "crashed"
            text = f"{output_of(running, log, log_start)}\n{ended.how}"
            done[running] = Result(running, suite, status, text=text)
        elif not finished or ended.returncode not in (0, 1):
            when = "after its tests" if finished else "outside a test"
            problems.append(f"{suite}: died {when}, {ended.how}")
            if not new:
                text = f"{process.tail(log, log_start)}\n{ended.how}"
                for test in left:
                    done[test] = Result(test, suite, "notrun", text=text)
        elif not new:
            problems.append(f"{suite}: no test of {len(left)} ran")
            break
    for test in tests:
        done.setdefault(test, Result(test, suite, "notrun"))
    return list(done.values()), problems


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
    with ThreadPoolExecutor(options.jobs) as pool:
        parts = list(pool.map(lambda suite: run_suite(*suite, options, deadline), suites.items()))
    everything = [result for part, _ in parts for result in part]
    results.write(options.out, everything, [problem for _, more in parts for problem in more])
    return 0


if __name__ == "__main__":
    sys.exit(main())
