#!/usr/bin/env python3
"""Runs the programs of findings/ on both libraries: upstream still does what their comments say, and so does ours.

usage: findings.py UPSTREAM OURS [NAME...]

"# upstream: TEXT" and "# ours: TEXT" are regular expressions for how a program ends: "signal N", "takes too long", the last line of its
exception, or the last line that it prints. A finding that upstream has repaired fails, too: it can go.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "findings"
WATCHED = FOLDER.parents[2] / "watchdog" / "watched.py"
HUNG = 124  # status of watched.py
TIME_LIMIT = 60  # seconds of the program's own time


def end_of(program: Path, packages: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("TVM_FFI", "LD_", "PYTHON"))}
    environment |= {"PYTHONPATH": str(packages), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, WATCHED, str(TIME_LIMIT), sys.executable, program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode == HUNG:
        return "takes too long"
    if done.returncode > 128:
        return f"signal {done.returncode - 128}"
    return (done.stderr if done.returncode else done.stdout).strip().rpartition("\n")[2]


def main() -> int:
    libraries = dict(zip(("upstream", "ours"), map(Path.absolute, map(Path, sys.argv[1:3]))))
    passed = failed = 0
    for program in sorted(FOLDER.glob("*.py")):
        if sys.argv[3:] and program.stem not in sys.argv[3:]:
            continue
        text = program.read_text()
        for name, packages in libraries.items():
            wanted = re.search(rf"^# {name}: (.*)$", text, re.M)[1]
            end = end_of(program, packages)
            if re.match(wanted, end):
                passed += 1
            else:
                failed += 1
                print(f"{program.stem}: {name}: expected {wanted}, found {end}")
    print(f"findings: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
