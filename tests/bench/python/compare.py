#!/usr/bin/env python3
"""Compares upstream's Python package with our library and with its own. Called by run.sh."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
import tables  # noqa: E402  (it lies one folder up)


def measure(args, name):
    """Measure each operation in nanoseconds, in a process of its own."""
    # A single numpy thread and a fixed order of dicts and sets: their variation would exceed the
    # measured differences.
    environment = {"PYTHONPATH": f"{args.packages}/{name}", "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}
    cpu = os.cpu_count() - 1
    command = ["taskset", "-c", str(cpu), args.python, HERE / "operations.py"]
    return json.loads(subprocess.run(command, env={**os.environ, **environment}, check=True, capture_output=True).stdout)


def rows(rounds):
    """Return for each operation both times, the median ratio, and half the interquartile range."""
    for name in rounds[0]["ours"]:
        ratios = [one["ours"][name] / one["theirs"][name] for one in rounds]
        low, _, high = statistics.quantiles(ratios, n=4)
        sides = [statistics.median(one[side][name] for one in rounds) for side in ("ours", "theirs")]
        yield name, *sides, statistics.median(ratios), (high - low) / 2


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", required=True)
    parser.add_argument("--packages", required=True, help="folder with the packages `ours` and `theirs`")
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--results", required=True, help="the file that gets the table")
    args = parser.parse_args()
    # The order alternates between rounds.
    orders = [["ours", "theirs"], ["theirs", "ours"]]
    rounds = [{name: measure(args, name) for name in orders[index % 2]} for index in range(max(args.rounds, 2))]
    table = list(rows(rounds))
    head = ["Operation", "ours, ns", "upstream, ns", "ratio", "+-"]
    lines = [[name, tables.number(ours), tables.number(theirs), f"{ratio:.2f}", f"{spread:.2f}"]
             for name, ours, theirs, ratio, spread in table]  # fmt: skip
    mean = tables.geometric_mean([row[3] for row in table])
    text = tables.table(head, lines) + f"\nGeometric mean of {len(table)} ratios: {mean:.2f}.\n"
    heading = tables.heading("What Python programs see", "tests/bench/python/run.sh")
    pathlib.Path(args.results).write_text(heading + text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
