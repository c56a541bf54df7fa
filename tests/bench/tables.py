"""Tables in Markdown, from the rows of measure.py."""

import datetime
import math
import platform
import subprocess
import textwrap
from pathlib import Path

import goals

TITLES = {
    "quick": "Times, sizes of at most 2,000",
    "full": "Times of all operations",
    "instructions": "Instructions of all operations that have an exact count",
    "scaling": "Growth with the size",
}
LOAD = {
    "wall_ns": ("process that loads it, elapsed us", 1000),
    "cpu_ns": ("process that loads it, processor us", 1000),
    "dlopen_ns": ("dlopen, processor us", 1000),
    "first_call_ns": ("first call, processor us", 1000),
    "rss_kb": ("resident KiB", 1),
    "private_dirty_kb": ("private dirty KiB", 1),
    "file_bytes": ("file KiB", 1024),
}


def heading(title, command, note=""):
    """Return the conditions of the measurement, and the command that repeats it."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    conditions = (
        f"Made by `{command}` on {datetime.date.today()}, commit {commit}: "
        f"{processor()}, {platform.system()} {platform.machine()}, {platform.libc_ver()[0]} {platform.libc_ver()[1]}. "
        f"Upstream is the wheel of apache-tvm-ffi that `tests/conformance/upstream/wheel.sh` names; a ratio below 1 is in our favour{note}."
    )
    return f"# {title}\n\n{textwrap.fill(conditions, 100, break_on_hyphens=False)}\n\n"


def processor():
    """Return the name of the processor and, for AMD's, the microarchitecture, which virtual machines leave out of the name."""
    fields = dict(line.split(":", 1) for line in Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines())
    fields = {key.strip(): value.strip() for key, value in fields.items()}
    if fields.get("vendor_id") != "AuthenticAMD":
        return fields["model name"]
    return f"{fields['model name']} ({zen(int(fields['cpu family']), int(fields['model']))})"


def zen(family, model):
    """Return the microarchitecture of one of AMD's processors."""
    if family == 0x17:
        return "Zen" if model < 0x30 else "Zen 2"
    if family == 0x19:
        return "Zen 4" if model >> 4 in (1, 6, 7, 10) else "Zen 3"
    return "Zen 5" if family == 0x1A else f"family {family}"


def number(value):
    if value is None:
        return "-"
    return f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def ratio(value):
    return "-" if value is None else f"{value:.2f}"


def table(head, lines):
    rule = "|---" + "|---:" * (len(head) - 1) + "|"
    return "\n".join(["| " + " | ".join(head) + " |", rule] + ["| " + " | ".join(line) + " |" for line in lines]) + "\n"


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def side(row, key):
    return "FAILED" if row.get(f"{key}_error") else number(row[key])


def operations(rows, unit):
    lines = []
    for row in rows:
        note = ["at the hardware limit"] if unit == "ns" and goals.is_forbidden(row) else []
        if unit == "ns" and row.get("ours_mb_per_s"):
            note.append(f"{number(row['ours_mb_per_s'])} : {number(row.get('theirs_mb_per_s'))} MB/s")
        if row.get("differs"):
            note.append("results differ")
        over = row["ours"] / row["floor"] if row["ours"] and row["floor"] else None
        spread = "-" if row["spread"] is None else f"{row['spread']:.3f}"
        lines.append([row["op"], side(row, "ours"), side(row, "theirs"), ratio(row["ratio"]), spread,
                      number(row["floor"]), number(over), ratio(goals.floor_ratio(row)), "; ".join(note)])  # fmt: skip
    head = ["Operation", f"ours, {unit}", f"upstream, {unit}", "ratio", "+-", "floor", "ours / floor", "floor / upstream", "note"]
    return table(head, lines) + "\n" + sums(rows)


def sums(rows):
    ratios = [row["ratio"] for row in rows if row["ratio"]]
    slower = sorted((row for row in rows if (row["ratio"] or 0) > 1), key=lambda row: -row["ratio"])
    text = f"Geometric mean of {len(ratios)} ratios: {ratio(geometric_mean(ratios))}. "
    text += f"Above 1.00: {len(slower)}"
    text += ": " + ", ".join(f"{row['op']} {ratio(row['ratio'])}" for row in slower) + "." if slower else "."
    text = textwrap.fill(text, 100, break_on_hyphens=False) + "\n"
    for row in rows:
        for key in ("ours", "theirs"):
            if row.get(f"{key}_error"):
                text += f"\nFAILED {key} {row['op']}: {row[f'{key}_error']}\n"
    return text


def scaling(rows, _unit):
    """Return a line for each operation and library: ns per element at each size."""
    by_operation = {}
    for row in rows:
        op, size = row["op"].split("/")
        by_operation.setdefault(op, {})[len(size) - 1] = row
    sizes = range(2, 7)
    lines = []
    for op, by_size in by_operation.items():
        found = [by_size.get(k) for k in sizes]
        lines.append([op, "ours"] + [side(row, "ours") if row else "" for row in found])
        lines.append(["", "upstream"] + [side(row, "theirs") if row else "" for row in found])
        lines.append(["", "ratio"] + [ratio(row["ratio"]) if row else "" for row in found])
    return table(["ns an element", ""] + [f"10^{k}" for k in sizes], lines) + "\n" + sums(rows) + steepest(by_operation)


def steepest(by_operation):
    """Return for each operation the largest superlinear growth from one size to the next, and upstream's at that size."""
    found = []
    for op, by_size in by_operation.items():
        for k in sorted(by_size):
            small, large = by_size.get(k - 1), by_size[k]
            if small and all(row[side] for row in (small, large) for side in ("ours", "theirs")):
                found.append((large["ours"] / small["ours"], large["theirs"] / small["theirs"], f"{op}/10^{k}"))
    steep = [f"{op} {ratio(ours)} (upstream {ratio(theirs)})" for ours, theirs, op in sorted(found, reverse=True) if ours > 1.5]
    return f"\nFrom one size to the next more than 1.5 times of linear: {len(steep)}" + (": " + ", ".join(steep) if steep else "") + ".\n"


def load_results(loads):
    """Return rows of the same form for the cost of loading."""
    out = []
    for key, (what, unit) in LOAD.items():
        figures = {name: one[key] / unit if key in one else None for name, one in loads.items()}
        both = figures["ours"] and figures["theirs"]
        out.append({"op": f"load: {what}", "group": "load", **figures,
                    "ratio": round(figures["ours"] / figures["theirs"], 4) if both else None,
                    **{f"{name}_error": one["error"] for name, one in loads.items() if "error" in one}})  # fmt: skip
    return out


def load(rows):
    found = [row for row in rows if row["group"] == "load"]
    lines = [[row["op"][6:], side(row, "ours"), side(row, "theirs"), ratio(row["ratio"]), number(row["floor"]),
              ratio(goals.floor_ratio(row))] for row in found]  # fmt: skip
    return table(["Load of the library", "ours", "upstream", "ratio", "floor", "floor / upstream"], lines)


def missed(rows):
    """Return the operations that miss their goal, and whether their floors miss it, too."""
    lines = [[row["op"], ratio(row["ratio"]), ratio(goals.goal(row)), ratio(goals.floor_ratio(row)),
              "at the hardware limit" if goals.is_forbidden(row) else "headroom"]
             for row in rows if goals.is_missed(row)]  # fmt: skip
    return table(["Above its goal", "ratio", "goal", "floor / upstream", "the floor"], lines) if lines else ""
