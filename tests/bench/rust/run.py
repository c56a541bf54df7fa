#!/usr/bin/env python3
"""Compare the instructions of safe calls and conversions of the Rust crate with those of the same by hand.

usage: run.py    builds the program, prints the counts of each operation, and fails where the ratio is above its limit
"""

import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from worker import CALLGRIND, SSE2  # noqa: E402

REPETITIONS = 100
LIMIT = 1.05
# Higher limits. An attribute's function reads the name that its messages show from the function
# object, so a register holds the handle during the call, with a push and a pop: 7 of 80
# instructions. Floats of a container are in general registers between the conversion and their use,
# as `Result<f64>` returns them: one move an element.
LIMITS = {"serve_attribute": 1.09, "sum_floats/20": 1.08}


def main():
    target = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parents[2] / "target")) / "bench" / "rust"
    build = ["cargo", "build", "--quiet", "--release", "--locked", "--manifest-path", str(HERE / "Cargo.toml")]
    subprocess.run(build, check=True, env={**os.environ, "CARGO_TARGET_DIR": str(target)})
    program = str(target / "release" / "bench-rust")
    names = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
    failed = not names
    print(f"{'operation':20} {'safe':>10} {'by hand':>10} {'ratio':>7}")
    for name in names:
        safe, by_hand = (count(program, name, form) for form in ("safe", "by_hand"))
        if safe[1] != by_hand[1]:
            print(f"FAILED {name}: the results are {safe[1]} and {by_hand[1]}")
            failed = True
        ratio = safe[0] / by_hand[0]
        above = ratio > LIMITS.get(name, LIMIT)
        failed |= above
        print(f"{name:20} {safe[0]:10.1f} {by_hand[0]:10.1f} {ratio:7.3f}{'  ABOVE' if above else ''}")
    return int(failed)


def count(program, name, form):
    """Return the instructions of one repetition, and what the operation printed."""
    done = subprocess.run(CALLGRIND + [program, name, form], capture_output=True, text=True, env={**os.environ, **SSE2})
    found = re.findall(r"Collected\s*:\s*([\d ,]+)", done.stderr)
    if done.returncode or not found:
        sys.exit(f"FAILED {name}, {form}: {done.stderr[-400:]}")
    return int(re.sub(r"[ ,]", "", found[-1])) / REPETITIONS, done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
