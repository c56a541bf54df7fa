"""Prints a table of two libraries' times as Markdown: compare.py KIND OURS THEIRS. Fails if a ratio is above its goal."""

import os
import platform
import statistics
import sys

# Maximum times of this library relative to TVM's runtime: the median, and the 99th percentile.
GOALS = {"quiet": (1.0, 1.5), "busy": (1.0, 2.0)}
TITLES = {"quiet": "on a quiet machine", "busy": "beside four busy processes"}


def read(path):
    """Return for each operation the median over the rounds, of medians and of 99th percentiles."""
    rounds = {}
    with open(path) as lines:
        for line in lines:
            name, median, tail = line.rstrip("\n").split("\t")
            rounds.setdefault(name, []).append((float(median), float(tail)))
    return {name: [statistics.median(column) for column in zip(*times)] for name, times in rounds.items()}


def processor():
    with open("/proc/cpuinfo") as lines:
        return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "unknown processor")


def number(time):
    return f"{time:,.0f}" if time >= 100 else f"{time:.1f}"


def main(kind, ours, theirs):
    ours, theirs = read(ours), read(theirs)
    assert ours.keys() == theirs.keys() and ours
    print(f"# What compiled models call, {TITLES[kind]}\n")
    print(
        f"Made by `tests/bench/backend/run.sh {kind}`: {processor()}, {os.cpu_count()} processors, {platform.system()} "
        f"{platform.machine()}, TVM_NUM_THREADS={os.environ['TVM_NUM_THREADS']}. TVM's runtime is libtvm_runtime of apache-tvm "
        "0.27.0.post1; a ratio below 1 is in our favour.\n"
    )
    print("| Operation | ours, ns | TVM's, ns | ratio | ours, 99th percentile | TVM's | ratio |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    missed = []
    for name, times in ours.items():
        ratios = [time / reference for time, reference in zip(times, theirs[name])]
        cells = [
            cell
            for time, reference, ratio in zip(times, theirs[name], ratios)
            for cell in (number(time), number(reference), f"{ratio:.2f}")
        ]
        print(f"| {name} | {' | '.join(cells)} |")
        if any(ratio > goal for ratio, goal in zip(ratios, GOALS[kind])):
            missed.append(name)
    for name in missed:
        print(f"FAILED {name}: above {GOALS[kind][0]} at the median or {GOALS[kind][1]} at the 99th percentile", file=sys.stderr)
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
