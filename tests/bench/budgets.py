"""Compares this library's instruction counts with budgets.txt: more than 5 % growth fails."""

import re
from pathlib import Path

FILE = Path(__file__).with_name("budgets.txt")
GROWTH = 1.05
HEAD = """\
# Instructions of each operation of our library, x86-64 (callgrind, tests/bench/run.sh --budgets).
# Growth of more than 5 % fails. If there is a reason for it, record new ones with
# tests/bench/run.sh --record.
"""


def record(counts):
    failed = errors(counts)
    if not failed:
        FILE.write_text(HEAD + "".join(f"{row['op']} {row['ours']:.1f}\n" for row in counts))
    return failed


def check(counts, pattern):
    """Print each count with its budget; return 1 if a count is above it, if either is missing, or if nothing was counted."""
    budgets = dict(line.split() for line in FILE.read_text().splitlines() if not line.startswith("#"))
    failed = errors(counts)
    expected = {op for op in budgets if re.search(pattern, op.split("/")[0])}
    gone = sorted(expected - {row["op"] for row in counts})
    for op in gone:
        print(f"FAILED {op}: a budget of no operation")
    if not counts:
        print(f"FAILED: no operation matches {pattern!r}")
    failed |= bool(gone) or not counts
    for row in counts:
        budget = budgets.get(row["op"])
        over = row["ours"] is not None and (budget is None or row["ours"] > GROWTH * float(budget))
        print(f"{row['op']:24} {row['ours'] or 0:12.1f} {budget or 'no budget':>12}{'  ABOVE' if over else ''}")
        failed |= over
    return int(failed)


def errors(counts):
    for row in counts:
        if row.get("ours_error"):
            print(f"FAILED {row['op']}: {row['ours_error']}")
    return int(any(row.get("ours_error") for row in counts))
