#!/usr/bin/env python3
"""Counts imports between the rooms of a crate: its root modules, in the order of the table on its front page.

usage: import_rooms.py [--at-most N] [--list] CRATE_FOLDER...

The table is in the documentation of lib.rs, a row for each room: `| [`name`] | content |`. Root modules without a row come last. An
arrow is a room that imports another one; it goes up if the other room has a later row. A floor is a room above the rooms that it
imports, arrows up aside. Test code does not count. With --at-most, more arrows up are a failure; --list names their files.
"""

import re
import sys
from pathlib import Path

import import_circles

ROW = re.compile(r"^//! \| \[`(?:mod@)?(\w+)`\]", re.MULTILINE)


def arrows(crate):
    """Return {(room, room): {(file, file)}} of all imports from one room to another."""
    found = {}
    for file, (path, _) in crate.code.items():
        for other in crate.imports(file) if path else ():
            there = crate.code[other][0]
            if there and there[0] != path[0]:
                found.setdefault((path[0], there[0]), set()).add((file, other))
    return found


def column(crate, root):
    """Return the rooms in reading order."""
    rows = re.findall(ROW, root.read_text())
    rooms = {path[0] for path, _ in crate.code.values() if path}
    return [name for name in rows if name in rooms] + sorted(rooms.difference(rows))


def floors(order, pairs):
    """Return the number of floors."""
    floor = {}
    for room in order:
        below = [floor[there] for here, there in pairs if here == room and there in floor]
        floor[room] = max(below, default=0) + 1
    return max(floor.values(), default=0)


def main(arguments):
    limit, listed = None, "--list" in arguments
    arguments = [one for one in arguments if one != "--list"]
    if arguments[:1] == ["--at-most"]:
        limit, arguments = int(arguments[1]), arguments[2:]
    too_many = False
    for folder, root in import_circles.crates(Path(one).resolve() for one in arguments):
        crate = import_circles.Crate(root)
        order, pairs = column(crate, root), arrows(crate)
        place = {room: index for index, room in enumerate(order)}
        up = sorted(pair for pair in pairs if place[pair[0]] < place[pair[1]])
        print(f"{folder.name}: {len(order)} rooms, {floors(order, pairs)} floors, {len(pairs)} arrows, {len(up)} up")
        for here, there in up:
            print(f"  {here} -> {there}: {len(pairs[here, there])} imports")
            for file, other in sorted(pairs[here, there]) if listed else ():
                print(f"    {file.relative_to(folder / 'src')} -> {other.relative_to(folder / 'src')}")
        too_many |= limit is not None and len(up) > limit
    return int(too_many)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
