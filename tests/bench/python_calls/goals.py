"""Compares instructions of calls from Python with the goals of goals.txt."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path

import calls

FILE = Path(__file__).with_name("goals.txt")
# Rows that allocate vary by up to 4 %.
SLACK = 1.04


@dataclass
class Goal:
    """A line of goals.txt. A goal that begins with `+` is a difference, any other a ratio."""

    row: str
    column: str
    reference: str
    goal: str
    limit: str

    @property
    def allowed(self) -> float:
        return float(self.goal if self.limit == "-" else self.limit)

    def value(self, results) -> float | None:
        """Return the ratio or difference; None if one of the cells was not measured."""
        row = results.get(self.row, {})
        if self.column not in row or self.reference not in row:
            return None
        if self.goal.startswith("+"):
            return row[self.column] - row[self.reference]
        return row[self.column] / row[self.reference]

    def text(self, value: float) -> str:
        return f"{value:+,.0f}" if self.goal.startswith("+") else f"{value:.2f}"

    def line(self) -> str:
        return f"{self.row:27} | {self.column:9} | {self.reference:13} | {self.goal:>9} | {self.limit:>9}".rstrip()


def read() -> list[Goal]:
    lines = FILE.read_text(encoding="utf-8").splitlines()
    return [Goal(*(cell.strip() for cell in line.split("|"))) for line in lines if line and not line.startswith("#")]


def expanded(goals: list[Goal], results) -> list[Goal]:
    """Return the goals, with the row `*` replaced by each row of calls that has both columns."""
    found = []
    for goal in goals:
        if goal.row != "*":
            found.append(goal)
            continue
        named = {other.row for other in goals if (other.column, other.reference) == (goal.column, goal.reference)}
        rows = [row for row, cells in results.items() if row not in named and row in calls.REPEATED and {goal.column, goal.reference} <= set(cells)]
        found += [Goal(row, *list(vars(goal).values())[1:]) for row in rows]
    return found


def check(results, pattern: str = "") -> int:
    """Print each goal with its value; return 1 if one is above its limit, or was not measured."""
    failed = not any(results.values())
    print(f"\n{'row':34}{'column':>10}{'relative to':>16}{'value':>14}{'goal':>14}")
    for goal in expanded(read(), results):
        if not re.search(pattern, goal.row):
            continue
        value = goal.value(results)
        if value is None:
            print(f"FAILED {goal.row}: {goal.column} or {goal.reference} was not measured")
            failed = True
            continue
        verdict = judge(goal, value)
        failed |= verdict.startswith("FAILED")
        print(f"{goal.row:34}{goal.column:>10}{goal.reference:>16}{goal.text(value):>14}{goal.text(float(goal.goal)):>14}  {verdict}".rstrip())
    return int(failed)


def judge(goal: Goal, value: float) -> str:
    if value > goal.allowed:
        return f"FAILED: above {goal.text(goal.allowed)}"
    if goal.limit == "-":
        return ""
    verdict = "reaches" if value <= float(goal.goal) else "misses"
    return f"{verdict} its goal: limit {goal.text(goal.allowed)}"


def record(results) -> None:
    """Write the values of today, and 4 % more, as limits. The comments of the file stay."""
    lines = []
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            goal = Goal(*(cell.strip() for cell in line.split("|")))
            if (value := goal.value(results)) is not None:
                goal.limit = limit(goal, value)
            line = goal.line()
        lines.append(line)
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def limit(goal: Goal, value: float) -> str:
    """Return the limit of a ratio. That of a reached goal is not above it; a difference that reaches its goal has none."""
    is_reached = value <= float(goal.goal)
    if goal.goal.startswith("+"):
        return "-" if is_reached else f"+{math.ceil(value * SLACK)}"
    limited = math.ceil(value * SLACK * 100) / 100
    return f"{min(limited, float(goal.goal)) if is_reached else limited:.2f}"
