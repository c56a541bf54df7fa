"""Plots of the results in tests/: time of each operation, growth with size, flash by part."""

import json
from math import log10
from pathlib import Path

from picture import Picture

TESTS = Path(__file__).resolve().parents[2] / "tests"


def results(name):
    return json.loads((TESTS / name).read_text())


TEN = {
    "call_3": "call a function with three arguments",
    "global_get/50": "find a function by its name",
    "refcount": "retain and release an object, one thread",
    "string/32": "make a string of 32 bytes",
    "list_append/1000": "append to a list",
    "map_hit/100": "look up a key in a map of 100",
    "json_parse/4700": "parse JSON",
    "deep_copy/100000": "copy a nested value",
    "dlpack_round_trip": "pass a tensor by DLPack and back",
    "module_load": "load a kernel library",
}


def ten():
    """Draw a bar for each of ten operations that a newcomer knows, the slowest last."""
    ratios = {row["op"]: row["ratio"] for row in results("bench/results/full.json") if row["op"] in TEN}
    picture = Picture("Time of ten operations relative to upstream", 760, 100 + len(TEN) * 24)
    picture.text(20, 26, "Time of ten operations, with upstream's library as 1: shorter is better", "head")
    left, scale, bottom = 290, 360, 64 + len(TEN) * 24
    for tick in (0, 0.25, 0.5, 0.75, 1):
        at = left + tick * scale
        picture.line("one" if tick == 1 else "grid", (at, 54), (at, bottom))
        picture.text(at, bottom + 18, "1, upstream" if tick == 1 else f"{tick:g}", "small", "middle")
    for place, name in enumerate(sorted(TEN, key=ratios.get)):
        top = 60 + place * 24
        picture.text(left - 10, top + 13, TEN[name], "", "end")
        picture.box(left, top, round(ratios[name] * scale, 1), 17, "ours" if ratios[name] <= 1 else "slow")
        picture.text(730, top + 13, f"{ratios[name]:.2f}", "", "end")
    return picture


def operations():
    """Draw a bar for each operation: its time relative to upstream's, grouped by what it works on."""
    groups = {}
    for row in results("bench/results/full.json"):
        if row["ratio"] and row["group"] != "load":
            groups.setdefault(row["group"], []).append(row)
    for members in groups.values():
        members.sort(key=lambda row: row["ratio"])
    columns = balanced(list(groups.items()))
    tallest = max(map(height, columns))
    picture = Picture("Time of each operation relative to upstream", 920, 84 + tallest * 15)
    picture.text(20, 26, "Time of each operation relative to upstream: shorter is better", "head")
    picture.text(20, 44, "The line at 1 is upstream's time in the same run.", "small")
    for number, column in enumerate(columns):
        bars(picture, column, 20 + number * 450, 84, 190, 180)
    return picture


def height(column):
    """Return the rows of a column: its bars, with a heading and an empty row for each group."""
    return sum(len(members) + 2 for _, members in column)


def balanced(groups):
    """Split the groups into two columns that differ least in height."""
    splits = [[groups[:at], groups[at:]] for at in range(len(groups) + 1)]
    return min(splits, key=lambda columns: max(map(height, columns)))


def bars(picture, column, x, top, names, width):
    """Draw a column of groups over an axis from 0 to 1.2."""
    bottom = top + height(column) * 15 - 15
    scale = width / 1.2
    for tick in (0, 0.25, 0.5, 0.75, 1):
        at = round(x + names + tick * scale, 1)
        picture.line("one" if tick == 1 else "grid", (at, top - 6), (at, bottom))
        picture.text(at, top - 12, f"{tick:g}", "small", "middle")
    y = top
    for group, members in column:
        picture.text(x, y + 11, group, "head")
        y += 15
        for row in members:
            picture.text(x + names - 6, y + 11, row["op"], "tiny", "end")
            picture.box(x + names, y + 2, round(min(row["ratio"], 1.2) * scale, 1), 11, "ours" if row["ratio"] <= 1 else "slow")
            picture.text(x + names + width + 36, y + 11, f"{row['ratio']:.2f}", "tiny", "end")
            y += 15
        y += 15


GROWTH = ["list_append", "map_build", "map_hit", "dict_str_edit", "global_get", "json_parse", "graph_to_json", "struct_hash"]


def growth():
    """Draw the time per element over the size, for both libraries, on logarithmic axes."""
    times = {}
    for row in results("bench/results/scaling.json"):
        name, size = row["op"].split("/")
        times.setdefault(name, []).append((int(size), row["ours"], row["theirs"]))
    picture = Picture("Time per element over the number of elements", 920, 490)
    picture.text(20, 26, "Nanoseconds per element, over the number of elements: lower is better", "head")
    picture.line("our-line", (20, 44), (50, 44))
    picture.text(56, 48, "Ferrite", "small")
    picture.line("their-line", (130, 44), (160, 44))
    picture.text(166, 48, "upstream", "small")
    for number, name in enumerate(GROWTH):
        panel(picture, name, sorted(times[name]), 60 + number % 4 * 218, 90 + number // 4 * 215, 170, 140)
    return picture


def panel(picture, name, points, x, y, width, depth):
    """Draw one operation; the axes have a line for each power of ten."""
    least = int(log10(min(min(ours, theirs) for _, ours, theirs in points)) // 1)
    most = int(-(-log10(max(max(ours, theirs) for _, ours, theirs in points)) // 1))

    def at(size, time):
        return round(x + (log10(size) - 2) / 4 * width, 1), round(y + depth - (log10(time) - least) / (most - least) * depth, 1)

    picture.text(x, y - 10, name, "head")
    for power in range(least, most + 1):
        level = at(100, 10**power)[1]
        picture.line("grid", (x, level), (x + width, level))
        picture.text(x - 6, level + 4, f"{10**power:,}", "tiny", "end")
    for power in range(2, 7):
        picture.text(at(10**power, 10**least)[0], y + depth + 16, f"10^{power}", "tiny", "middle")
    picture.line("our-line", *(at(size, ours) for size, ours, _ in points))
    picture.line("their-line", *(at(size, theirs) for size, _, theirs in points))


def flash():
    """Draw a bar for each part of the library in a program of each profile."""
    maps = results("embedded/flash.json")
    columns = balanced([(f"{one['profile']}: {one['total']:,} bytes in the program {one['program']}", list(one["parts"].items())) for one in maps])
    picture = Picture("Flash of each profile by part of the library", 920, 84 + max(map(height, columns)) * 15)
    picture.text(20, 26, "Bytes of flash on a Cortex-M4F, by part of the library: shorter is better", "head")
    longest = max(size for one in maps for size in one["parts"].values())
    for number, column in enumerate(columns):
        parts(picture, column, 20 + number * 450, 62, 190, 180 / longest)
    return picture


def parts(picture, column, x, top, names, scale):
    """Draw a column of profiles over an axis in KiB."""
    bottom = top + height(column) * 15 - 15
    for tick in range(0, 13, 4):
        at = round(x + names + tick * 1024 * scale, 1)
        picture.line("grid", (at, top - 6), (at, bottom))
        picture.text(at, top - 12, f"{tick} KiB" if tick else "0", "small", "middle")
    y = top
    for profile, members in column:
        picture.text(x, y + 11, profile, "head")
        y += 15
        for part, size in members:
            picture.text(x + names - 6, y + 11, part, "tiny", "end")
            picture.box(x + names, y + 2, round(size * scale, 1), 11, "ours")
            picture.text(x + names + 220, y + 11, f"{size:,}", "tiny", "end")
            y += 15
        y += 15


BINDINGS = [
    ("build_file_s", "build of one file, processor seconds", "{:.2f}", 1),
    ("size_different_bytes", "size of 70 exports, KB", "{:.0f}", 1024),
    ("import_ms", "load of 70 exports, ms", "{:.2f}", 1),
    ("numpy_ns", "call with numpy arrays, ns", "{:.0f}", 1),
    ("numpy_allocates_ns", "the same, output allocated", "{:.0f}", 1),
    ("prebuilt_ns", "call with prebuilt tensors, ns", "{:.0f}", 1),
]


def bindings():
    """Draw bars of what one binding of a kernel costs, for each tool that makes it."""
    rows = json.loads((TESTS.parent / "targets/host/kernels/bench/results.json").read_text())["bindings"]
    picture = Picture("Cost of a binding by tool", 920, 90 + 2 * (len(rows) * 15 + 45))
    picture.text(20, 26, "One kernel bound by seven tools: shorter is better", "head")
    picture.text(20, 44, "Each picture has a scale of its own. Blue: the bindings of this library.", "small")
    for number, (key, title, form, unit) in enumerate(BINDINGS):
        x, y = 20 + number % 3 * 300, 80 + number // 3 * (len(rows) * 15 + 45)
        picture.text(x, y, title, "head")
        longest = max(row[key] for row in rows.values() if key in row)
        for place, (name, row) in enumerate(rows.items()):
            top = y + 8 + place * 15
            picture.text(x + 84, top + 11, name, "tiny", "end")
            if key not in row:
                picture.text(x + 90, top + 11, "takes none", "tiny")
                continue
            width = round(max(1, row[key] / longest * 150), 1)
            picture.box(x + 90, top + 2, width, 11, "ours" if name in ("C", "C++", "Rust") else "slow")
            picture.text(x + 96 + width, top + 11, form.format(row[key] / unit), "tiny")
    return picture


PLOTS = {"chart": ten, "operations": operations, "growth": growth, "flash": flash, "bindings": bindings}
