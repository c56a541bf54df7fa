"""Rows of a profile: calls of one operator with one shape, with the bytes and operations that they need."""

import math
import re

SHOWN = 20
"""Rows of the table and of the picture."""
PREFIX = "ferrite."


def overhead(measured):
    """Returns the nanoseconds of measuring in each call: the mean by which calls take longer together than a run that is not measured."""
    times = [call["nanoseconds"] for call in measured["calls"]]
    return max(0, (sum(times) - 1e9 * measured["seconds"]) / len(times)) if times else 0


def rows(measured):
    """Returns the operators of a model, the longest time first."""
    found, extra = {}, overhead(measured)
    for call in measured["calls"]:
        row = found.setdefault(label(call), {"operator": label(call), "calls": 0, "nanoseconds": 0, "bytes": 0, "operations": 0})
        row["calls"] += 1
        row["nanoseconds"] += max(0, call["nanoseconds"] - extra)
        row["bytes"] += moved(call)
        row["operations"] += operations(call)
    total = sum(row["nanoseconds"] for row in found.values()) or 1
    for row in found.values():
        row["share"] = row["nanoseconds"] / total
    return sorted(found.values(), key=lambda row: -row["nanoseconds"])


def label(call):
    """Returns the name of an operator, with the extents of its result if it is a kernel of Ferrite."""
    name = call["name"]
    if not name.startswith(PREFIX) or not tensors(call):
        return name
    window = next((f", {values[0]}x{values[1]}" for values in call["arguments"] if isinstance(values, list)), "")
    return f"{name} {'x'.join(map(str, tensors(call)[-1]['shape']))}{window}"


def tensors(call):
    return [argument for argument in call["arguments"] if isinstance(argument, dict)]


def moved(call):
    """Returns the bytes of the tensors of a call, each once; builtins move none."""
    if call["name"].startswith("vm.builtin."):
        return 0
    bits = (int((re.findall(r"\d+", tensor["dtype"]) or [8])[0]) for tensor in tensors(call))
    return sum(math.prod(tensor["shape"]) * width // 8 for tensor, width in zip(tensors(call), bits))


def operations(call):
    """Returns the operations of a dense kernel, a multiplication and an addition each; 0 for other operators."""
    name, shapes = re.sub(f"^{re.escape(PREFIX)}|_b?float16$", "", call["name"]), [tensor["shape"] for tensor in tensors(call)]
    if name in ("dense", "qdense", "batch_matmul"):
        return 2 * math.prod(shapes[-1]) * shapes[0][-1]
    if name in ("conv2d", "qconv2d"):
        height, width, *_, groups = next(argument for argument in call["arguments"] if isinstance(argument, list))
        return 2 * math.prod(shapes[-1]) * height * width * shapes[0][1] // groups
    if name == "attention":
        return 2 * math.prod(shapes[0][:3]) * shapes[1][2] * (shapes[0][3] + shapes[2][3])
    return 0


def table(measured, rows):
    """Returns the profile as lines."""
    peak, bandwidth = measured["peak_flops"], measured["peak_bytes"]
    lines = [
        f"one call takes {1e6 * measured['seconds']:.1f} us on {measured['library']}'s library with {measured['threads']} threads",
        f"this machine's peak: {peak / 1e9:.0f} GFLOP/s (numpy's matrix product), {bandwidth / 1e9:.1f} GB/s (copy)",
        f"measuring took {overhead(measured) / 1e3:.1f} us for each call, which times are without",
        f"{'us':>10} {'share':>6} {'calls':>5} {'kB':>9} {'GB/s':>6} {'GFLOP/s':>8} {'peak':>5}  operator",
    ]
    for row in rows[:SHOWN]:
        time = row["nanoseconds"] or 1
        rate = row["operations"] / time
        work = f"{rate:8.1f} {100e9 * rate / peak:4.0f}%" if rate else " " * 14
        data = f"{row['bytes'] / 1e3:9.1f} {row['bytes'] / time:6.1f}" if row["bytes"] else " " * 16
        lines.append(f"{time / 1e3:10.1f} {100 * row['share']:5.1f}% {row['calls']:5} {data} {work}  {row['operator']}")
    if rest := rows[SHOWN:]:
        share = sum(row["share"] for row in rest)
        time, calls = (sum(row[key] for row in rest) for key in ("nanoseconds", "calls"))
        lines.append(f"{time / 1e3:10.1f} {100 * share:5.1f}% {calls:5} {' ' * 31}  {len(rest)} other operators, which profile.json has")
    return "\n".join(lines)
