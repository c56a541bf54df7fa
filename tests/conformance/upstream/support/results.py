"""Results of one suite: writing and reading, and the options of all runners."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass
class Result:
    """One test: `group` is the file, test suite or program that it belongs to.

    `status` is passed, failed, error, crashed, timeout, skipped, xfailed, xpassed or notrun;
    only "passed" counts as a pass.
    """

    id: str
    group: str
    status: str
    seconds: float = 0.0
    text: str = ""


def write(out: Path, results: list[Result], problems: list[str]) -> None:
    """Write results, and problems that belong to no test, such as a crash at exit."""
    rows = [{"problem": problem} for problem in problems] + [asdict(result) for result in results]
    (out / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def read(out: Path) -> tuple[list[Result], list[str]]:
    path = out / "results.jsonl"
    if not path.exists():
        return [], ["no results were written"]
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    results = [Result(**row) for row in rows if "problem" not in row]
    return results, [row["problem"] for row in rows if "problem" in row]


def options() -> argparse.ArgumentParser:
    """Parse the options of all runners, passed by suite.sh."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--jobs", type=int, required=True)
    parser.add_argument("--test-timeout", type=float, required=True)
    parser.add_argument("--time-limit", type=float, required=True, help="of the whole suite")
    parser.add_argument("select", nargs="*", help="only tests whose id contains one of these")
    return parser


def selected(test: str, select: list[str]) -> bool:
    return not select or any(word in test for word in select)


if __name__ == "__main__":  # prints passed tests, for record.sh
    for test in sorted(result.id for result in read(Path(sys.argv[1]))[0] if result.status == "passed"):
        print(test)
