#!/usr/bin/env python3
"""The README's summary and the pictures, from results/."""

import json
import subprocess
from pathlib import Path

import tables

HERE = Path(__file__).parent
README = HERE / "../../README.md"
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


def main():
    rows = json.loads((HERE / "results/full.json").read_text())
    subprocess.run([HERE / "../../docs/pictures/draw.py"], check=True)
    before, rest = README.read_text().split(BEGIN)
    after = rest.split(END)[1]
    operations = [row for row in rows if row["group"] != "load"]
    README.write_text(f"{before}{BEGIN}\n{summary(rows)}\n{tables.sums(operations)}\n{tables.missed(rows)}{END}{after}")


if __name__ == "__main__":
    main()
