#!/usr/bin/env python3
"""Draws doc comments or names at random, to be judged by a reader who did not write them.

usage: doc_sample.py [--seed N] [--count N] [--public] [--names] [FOLDER...]

Draws 60 doc comments from the sources of the crates unless told otherwise: of items, public and private, and of files.
--public draws from public items only. --names draws names of public functions, types, modules and fields. Code for tests
does not count. The same seed draws the same sample while the sources are unchanged.
"""

import argparse
import random
import re

from prose import ROOT, files, line_comments, COMMENT

CRATES = ["core/src", "alloc-ext/src", "capi/src", "capi/boundary/src", "capi/cxx/src", "capi/legacy", "capi/minimal/src", "targets"]
ITEM = re.compile(r'\s*pub (?:(?:default|const|async|unsafe|extern "[^"]*") )*(fn|struct|enum|union|trait|type|mod) (\w+)')
FIELD = re.compile(r"\s+pub (?:r#)?(\w+): ")


def sources(folders):
    """Yield the name and the lines of each source file, without code for tests."""
    for name, path in files(folders):
        if path.suffix == ".rs" and not {"tests", "examples", "tests.rs"} & set(path.parts[len(ROOT.parts):]):
            source = path.read_text().splitlines()
            end = next((number for number, line in enumerate(source) if line == "#[cfg(test)]"), len(source))
            yield name, source[:end]


def doc_comments(folders):
    for name, source in sources(folders):
        for block in line_comments(source, COMMENT[".rs"]):
            if block.kind == "//!":
                yield f"{name}:{block.lines[0][0]}", "the file", block
            elif block.kind == "///":
                yield f"{name}:{block.lines[0][0]}", block.item.rstrip(" {;,("), block


def public_names(folders):
    for name, source in sources(folders):
        for number, line in enumerate(source, 1):
            if match := ITEM.match(line):
                yield f"{name}:{number}", match[1], match[2], line.strip()
            elif match := FIELD.match(line):
                yield f"{name}:{number}", "field", match[1], line.strip()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--public", action="store_true")
    parser.add_argument("--names", action="store_true")
    parser.add_argument("folders", nargs="*", default=CRATES)
    options = parser.parse_args()
    every = list(public_names(options.folders) if options.names else doc_comments(options.folders))
    if options.public and not options.names:
        every = [entry for entry in every if re.match(r"pub\s", entry[1])]
    drawn = random.Random(options.seed).sample(every, min(options.count, len(every)))
    print(f"{len(drawn)} of {len(every)} {'names' if options.names else 'doc comments'}, seed {options.seed}")
    for number, entry in enumerate(drawn, 1):
        if options.names:
            print(f"{number}.", *entry)
        else:
            place, item, block = entry
            print(f"\n{number}. {place}\n   {item}", *(f"   | {text}" for _, text in block.lines), sep="\n")


if __name__ == "__main__":
    main()
