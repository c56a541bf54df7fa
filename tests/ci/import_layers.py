#!/usr/bin/env python3
"""Counts imports between the layers of a crate: its root modules, in the order of the table on its front page.

usage: import_layers.py [--at-most N] [--list] CRATE_FOLDER...

The table is in the documentation of lib.rs, with the names of layers in its first column: `| [`name`], `private` | content |`. Root
modules without a row come last. An import is upward if the imported layer has a later name. Test code does not count. The number of
levels is the length of the longest chain of imports that are not upward. With --at-most, more upward imports are a failure; --list names
their files.
"""

import re
import sys
from pathlib import Path

import import_circles

ROW = re.compile(r"^//! \| ([^|]*`[^|]*) \|", re.MULTILINE)
NAME = re.compile(r"`(?:mod@)?(\w+)`")


def imports_between(crate):
    """Return {(layer, layer): {(file, file)}} of all imports from one layer to another."""
    found = {}
    for file, (path, _) in crate.code.items():
        for other in crate.imports(file) if path else ():
            there = crate.code[other][0]
            if there and there[0] != path[0]:
                found.setdefault((path[0], there[0]), set()).add((file, other))
    return found


def reading_order(crate, root):
    """Return the layers in reading order."""
    rows = [name for row in re.findall(ROW, root.read_text()) for name in re.findall(NAME, row)]
    layers = {path[0] for path, _ in crate.code.values() if path}
    return [name for name in rows if name in layers] + sorted(layers.difference(rows))


def levels(order, pairs):
    """Return the number of levels."""
    level = {}
    for layer in order:
        below = [level[there] for here, there in pairs if here == layer and there in level]
        level[layer] = max(below, default=0) + 1
    return max(level.values(), default=0)


def main(arguments):
    limit, listed = None, "--list" in arguments
    arguments = [one for one in arguments if one != "--list"]
    if arguments[:1] == ["--at-most"]:
        limit, arguments = int(arguments[1]), arguments[2:]
    too_many = False
    for folder, root in import_circles.crates(Path(one).resolve() for one in arguments):
        crate = import_circles.Crate(root)
        order, pairs = reading_order(crate, root), imports_between(crate)
        place = {layer: index for index, layer in enumerate(order)}
        upward = sorted(pair for pair in pairs if place[pair[0]] < place[pair[1]])
        print(f"{folder.name}: {len(order)} layers, {levels(order, pairs)} levels, {len(pairs)} imports, {len(upward)} upward")
        for here, there in upward:
            print(f"  {here} -> {there}: {len(pairs[here, there])} imports")
            for file, other in sorted(pairs[here, there]) if listed else ():
                print(f"    {file.relative_to(folder / 'src')} -> {other.relative_to(folder / 'src')}")
        if limit is not None and len(upward) > limit:
            print(f"error: {folder.name} has {len(upward)} upward imports: at most {limit} are allowed", file=sys.stderr)
            too_many = True
    return int(too_many)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
