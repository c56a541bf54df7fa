#!/usr/bin/env python3
"""Draws doc comments at random, to be judged by a reader who did not write them.

usage: doc_sample.py [--seed N] [--count N] [FOLDER...]     60 of the crates' sources, unless told otherwise

Draws from the comments of items, public and private, and from the headers of files. Code for tests does not count. The same
seed draws the same comments as long as the sources stay the same.
"""

import argparse
import random

from prose import ROOT, files, line_comments, COMMENT

CRATES = ["core/src", "alloc-ext/src", "capi/src", "capi/boundary/src", "capi/cxx/src", "capi/legacy", "capi/minimal/src", "targets"]


def doc_comments(folders):
    for name, path in files(folders):
        if path.suffix == ".rs" and not {"tests", "examples", "tests.rs"} & set(path.parts[len(ROOT.parts):]):
            source = path.read_text().splitlines()
            end = next((number for number, line in enumerate(source) if line == "#[cfg(test)]"), len(source))
            for block in line_comments(source[:end], COMMENT[".rs"]):
                if block.kind == "//!":
                    yield f"{name}:{block.lines[0][0]}", "the file", block
                elif block.kind == "///":
                    yield f"{name}:{block.lines[0][0]}", block.item.rstrip(" {;,("), block


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("folders", nargs="*", default=CRATES)
    options = parser.parse_args()
    every = list(doc_comments(options.folders))
    drawn = random.Random(options.seed).sample(every, min(options.count, len(every)))
    print(f"{len(drawn)} of {len(every)} doc comments, seed {options.seed}")
    for number, (place, item, block) in enumerate(drawn, 1):
        print(f"\n{number}. {place}\n   {item}", *(f"   | {text}" for _, text in block.lines), sep="\n")


if __name__ == "__main__":
    main()
