#!/usr/bin/env python3
"""Draws the pictures of the book and the README.

usage: draw.py            writes NAME.svg beside this file: diagrams, and plots of the results in tests/
       draw.py --check    fails when one of them is not what this file draws
"""

import sys
from pathlib import Path

sys.dont_write_bytecode = True

from diagrams import DIAGRAMS  # noqa: E402
from plots import PLOTS  # noqa: E402

FOLDER = Path(__file__).resolve().parent


def main(arguments):
    stale = 0
    for name, draw in (DIAGRAMS | PLOTS).items():
        file, svg = FOLDER / f"{name}.svg", draw().svg()
        if arguments != ["--check"]:
            file.write_text(svg)
        elif not file.exists() or file.read_text() != svg:
            print(f"error: {file.name} is not what docs/pictures/draw.py draws", file=sys.stderr)
            stale += 1
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
