"""Rounds of measurements that alternate between the libraries, and their statistics."""

import re
import statistics
import time

SIDES = ("ours", "theirs")


class Row:
    """Measurements of one operation at one size for both libraries."""

    def __init__(self, op, size, spec, floors):
        self.op, self.size, self.spec, self.floors = op, size, spec, floors
        self.name = f"{op}/{size}" if size else op
        self.figures = {side: [] for side in SIDES}
        self.errors, self.produced, self.bytes = {}, {}, {}

    def add(self, side, answer):
        if "error" in answer:
            self.errors[side] = answer["error"]
            return
        self.figures[side].append(answer["ns"])
        self.produced[side] = answer["sig"]
        if answer.get("bytes"):
            self.bytes[side] = answer["bytes"] / answer["per_rep"]

    def summary(self, floor_figures):
        """Return a table row: medians, the median of the rounds' ratios, the lowest floor."""
        out = {"op": self.name, "what": self.spec["what"], "group": self.spec["group"], **self.errors_text()}
        for side in SIDES:
            out[side] = statistics.median(self.figures[side]) if self.figures[side] else None
            if self.bytes.get(side) and out[side]:
                out[f"{side}_mb_per_s"] = 1e3 * self.bytes[side] / out[side]
        ratios = [] if self.errors else [a / b for a, b in zip(*(self.figures[side] for side in SIDES))]
        out["ratio"] = statistics.median(ratios) if ratios else None
        out["spread"] = half_of_quartiles(ratios)
        out["floor"] = min((floor_figures[f] for f in self.floors if f in floor_figures), default=None)
        if len(set(self.produced.values())) > 1:
            out["differs"] = True
        return {key: round(value, 4) if isinstance(value, float) else value for key, value in out.items()}

    def errors_text(self):
        return {f"{side}_error": text for side, text in self.errors.items()}


def half_of_quartiles(values):
    if len(values) < 4:
        return None
    low, _, high = statistics.quantiles(values, n=4)
    return (high - low) / 2


def rows(worker, pattern, sizes_of):
    """Return a row for each matching operation and size."""
    out = []
    for op, spec in worker.operations.items():
        if spec["floor"] or not re.search(pattern, op):
            continue
        for size in sizes_of(spec):
            floors = [f if "/" in f or not worker.operations[f]["sizes"] or not size else f"{f}/{size}"
                      for f in spec["floors"].split(",") if f]  # fmt: skip
            out.append(Row(op, size, spec, floors))
    return out


def timed(worker, libraries, table, milliseconds, rounds, seconds):
    """Measure rounds over all rows until the time is used up; the order reverses each round.

    Rows that the first round does not reach stay empty.
    """
    end = time.monotonic() + seconds
    floors, cost = {}, {}
    for turn in range(rounds):
        for row in table:
            begin = time.monotonic()
            if begin + cost.get(row, 0) > end:
                continue
            for side in SIDES[:: -1 if turn % 2 else 1]:
                if side not in row.errors:
                    row.add(side, worker.time(libraries[side], row.op, row.size, milliseconds))
            cost[row] = time.monotonic() - begin
        for floor in sorted({f for row in table for f in row.floors}):
            if turn % 3 == 0 and (turn == 0 or time.monotonic() < end):
                name, _, size = floor.partition("/")
                answer = worker.time("", name, size, milliseconds)
                if "ns" in answer:
                    floors.setdefault(floor, []).append(answer["ns"])
        if time.monotonic() > end:
            break
    lowest = {floor: statistics.median(values) for floor, values in floors.items()}
    return [row.summary(lowest) for row in table]


def counted(worker, libraries, table):
    """Count instructions instead of measuring times: one round is enough."""
    floors = {}
    for row in table:
        for side in libraries:
            row.add(side, worker.count(libraries[side], row.op, row.size, repetitions(row)))
        for floor in row.floors if len(libraries) > 1 else ():
            name, _, size = floor.partition("/")
            answer = {} if floor in floors else worker.count("", name, size, repetitions(row))
            if "ns" in answer:
                floors[floor] = answer["ns"]
    return [row.summary(floors) for row in table]


def repetitions(row):
    """Return the number of repetitions, equal on all machines so that counts are equal."""
    return 1 if row.spec["once"] or row.size >= 1000 else 10 if row.size >= 50 else 100
