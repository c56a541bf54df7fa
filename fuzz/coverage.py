#!/usr/bin/env python3
"""Prints the coverage of each crate, and fails if a C symbol was not called.

usage: coverage.py EXPORT SYMBOLS...

EXPORT is the output of `llvm-cov export`; each file SYMBOLS names C symbols, one a line.
"""

import json
import re
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KINDS = ("functions", "lines", "branches")


def crate_of(path):
    """Returns the folder of a crate of this repository, or None."""
    try:
        parts = Path(path).resolve().relative_to(ROOT).parts
    except ValueError:
        return None
    return "/".join(parts[: parts.index("src")]) if "src" in parts else None


def print_crates(files):
    sums = defaultdict(lambda: {kind: [0, 0] for kind in KINDS})
    for file in files:
        crate = crate_of(file["filename"])
        if crate is None:
            continue
        for kind in KINDS:
            sums[crate][kind][0] += file["summary"][kind]["covered"]
            sums[crate][kind][1] += file["summary"][kind]["count"]
    for crate in sorted(sums):
        shares = (f"{covered:6} of {count:6} {kind}" for kind, (covered, count) in sums[crate].items())
        print(f"{crate:14}", *shares)


def missing(functions, names):
    """Returns the symbols without a call."""
    called = {re.split(r"[:.]", function["name"])[-1] for function in functions if function["count"] > 0}
    return [name for name in names if name not in called]


def main():
    export, *lists = sys.argv[1:]
    data = json.loads(Path(export).read_text())["data"][0]
    print_crates(data["files"])
    names = [name for one in lists for name in Path(one).read_text().split()]
    left = missing(data["functions"], names)
    for name in left:
        print(f"no program calls {name}")
    print(f"coverage: {len(names) - len(left)} passed, {len(left)} failed")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
