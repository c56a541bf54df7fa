#!/usr/bin/env python3
"""The summary of the book, the sentence of the README, and the pictures, from results/.

usage: summary.py            writes them
       summary.py --check    fails if one of the two strings is not that of the recorded results
"""

import json
import subprocess
import sys
from pathlib import Path

import tables

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BEGIN, END = "<!-- speed: written by tests/bench/run.sh -->", "<!-- end of speed -->"


def summary(rows):
    """Return for each group of operations its mean, its slowest and its fastest."""
    groups = {}
    for row in rows:
        groups.setdefault(row["group"], []).append(row)
    lines = []
    for group, members in groups.items():
        known = sorted((row for row in members if row["ratio"]), key=lambda row: row["ratio"])
        if known:
            mean = tables.geometric_mean([row["ratio"] for row in known])
            ends = [f"{row['op'].removeprefix('load: ')} {tables.ratio(row['ratio'])}" for row in (known[0], known[-1])]
            lines.append([group, str(len(known)), tables.ratio(mean), *ends])
    return tables.table(["Operations", "number", "mean ratio", "lowest", "highest"], lines)


def sentence(operations):
    """Return the README's claim: the mean of all operations, and how many take longer than upstream's."""
    ratios = [row["ratio"] for row in operations if row["ratio"]]
    slower = sum(ratio > 1 for ratio in ratios)
    mean = tables.ratio(tables.geometric_mean(ratios))
    return f"\n  In the mean of {len(ratios)} operations, it takes {mean} of upstream's time; {slower} take longer:\n  "


def texts():
    """Yield each file with a summary: its path, its text, and what the text should be."""
    rows = json.loads((HERE / "results/full.json").read_text())
    operations = [row for row in rows if row["group"] != "load"]
    book = f"\n{summary(rows)}\n{tables.sums(operations)}\n{tables.missed(rows)}"
    for name, between in (("docs/performance.md", book), ("README.md", sentence(operations))):
        text = (ROOT / name).read_text()
        before, rest = text.split(BEGIN)
        yield ROOT / name, text, before + BEGIN + between + END + rest.split(END)[1]


def main(arguments):
    if arguments == ["--check"]:
        stale = [path for path, text, wanted in texts() if text != wanted]
        for path in stale:
            print(f"error: {path.name} has other figures than tests/bench/summary.py writes", file=sys.stderr)
        return 1 if stale else 0
    subprocess.run([ROOT / "docs/pictures/draw.py"], check=True)
    for path, _, wanted in texts():
        path.write_text(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
