#!/usr/bin/env python3
"""The summary of the book, the sentence of the README, and the pictures, from results/.

usage: summary.py            writes them
       summary.py --check    fails if one of the two strings is not that of the recorded results
"""

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import tables

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BEGIN, END = "<!-- speed: written by tests/bench/run.sh -->", "<!-- end of speed -->"


# Folder of the results of each kind of processor, and its name in sentences. The pictures show the
# first.
PROCESSORS = {
    "results": "an AMD EPYC whose locked instructions take 5 ns",
    "results/zen4": "an AMD EPYC (Zen 4), where they take 2 ns",
}


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


def sentence(results):
    """Return the README's claim: the mean of all operations on each processor, and how many take longer than upstream's."""
    parts = []
    for name, rows in zip(PROCESSORS.values(), results):
        ratios = [row["ratio"] for row in operations(rows) if row["ratio"]]
        mean, slower = tables.ratio(tables.geometric_mean(ratios)), sum(ratio > 1 for ratio in ratios)
        parts.append(f"{mean} on {name} ({slower} take longer)")
    text = f"Share of upstream's time in the mean of {len(ratios)} operations: {', '.join(parts)}:"
    return "\n" + "".join(f"  {line}\n" for line in textwrap.wrap(text, 98)) + "  "


def operations(rows):
    return [row for row in rows if row["group"] != "load"]


def section(folder, rows):
    """Return the tables of one processor, below the first sentence of its results, which names the conditions."""
    conditions = (HERE / folder / "full.md").read_text().split("\n\n")[1].replace("\n", " ")
    conditions = textwrap.fill(conditions.split(" Upstream is ")[0], 100, break_on_hyphens=False)
    return f"\n{conditions}\n\n{summary(rows)}\n{tables.sums(operations(rows))}\n{tables.missed(rows)}"


def texts():
    """Yield each file with a summary: its path, its text, and what the text should be."""
    results = [json.loads((HERE / folder / "full.json").read_text()) for folder in PROCESSORS]
    book = "".join(map(section, PROCESSORS, results))
    for name, between in (("docs/performance.md", book), ("README.md", sentence(results))):
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
