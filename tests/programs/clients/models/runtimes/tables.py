"""Tables of the measurements, as Markdown."""

import math
import statistics

TITLES = {"ferrite": "Ferrite", "onnxruntime": "ONNX Runtime", "pytorch": "PyTorch", "compiled": "`torch.compile`", "tvm": "TVM's defaults"}


def digits(number):
    """Returns a number with three significant digits, and at most three decimals."""
    return f"{number:.{min(3, max(0, 2 - math.floor(math.log10(number))))}f}"


def line(cells):
    return f"| {' | '.join(cells)} |"


def head(first, others):
    return line([*first, *others]) + "\n" + line(["---"] * len(first) + ["---:"] * len(others))


def speed_head(runtimes):
    return head(["Network", "Batch", "Threads"], [TITLES[name] for name in runtimes] + ["Ferrite / ONNX Runtime", "Difference"])


def speed_line(row, runtimes):
    times = row["milliseconds"]
    cells = [digits(times[name]) if name in times else "" for name in runtimes]
    return line([row["network"], str(row["batch"]), str(row["threads"]), *cells, f"{ratio(row):.2f}", f"{row['differences']['ferrite']:.0e}"])


def ratio(row):
    return row["milliseconds"]["ferrite"] / row["milliseconds"]["onnxruntime"]


def mean(rows):
    """Returns a line about the geometric mean of the ratios."""
    return f"Geometric mean of Ferrite / ONNX Runtime: {statistics.geometric_mean(map(ratio, rows)):.2f}; largest: {max(map(ratio, rows)):.2f}."


def memory_head():
    return head(["Network"], ["Library, MB", "ONNX, MB", "Load, ms", "session, ms", "Resident, MB", "session", "Allocations", "session"])


def memory_line(row):
    ours, theirs = row["ferrite"], row["onnxruntime"]
    cells = [digits(row["bytes"][name] / 1e6) for name in ("ferrite", "onnxruntime")]
    cells += [digits(side["load"]) for side in (ours, theirs)]
    cells += [f"{side['resident'] * 1024 / 1e6:.0f}" for side in (ours, theirs)]
    cells += [str(side["allocations"]) for side in (ours, theirs)]
    return line([row["network"], *cells])


def errors(rows):
    """Returns a line for each runtime that cannot run a network."""
    return list(dict.fromkeys(f"{TITLES[runtime]} without {row['network']}: {error}" for row in rows for runtime, error in row["errors"].items()))
