#!/usr/bin/env python3
"""Writes the tables of ../README.md: the operators by family, and the figures of ../bench/results.json.

usage: readme.py            writes the tables between their marks; `make` must have built the libraries
       readme.py --check    fails when one of them is another one
"""

import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent
BUILD = FOLDER / "build"
# Files whose family has another name.
SAME = {"sort": "sorting", "reduce": "reductions"}

FIGURES = {
    "build_file_s": ("Build of one file, processor seconds", "{:.3f}"),
    "build_torch_s": ("the same with PyTorch's headers", "{:.1f}"),
    "build_different_s": ("Build of 70 exports, processor seconds", "{:.1f}"),
    "size_different_bytes": ("Size of 70 exports, stripped, KB", "{:.0f}"),
    "size_copies_bytes": ("the same if all call one kernel", "{:.0f}"),
    "import_ms": ("Load of 70 exports, ms", "{:.2f}"),
    "numpy_ns": ("Call with numpy arrays, ns", "{:.0f}"),
    "numpy_allocates_ns": ("the same, output allocated", "{:.0f}"),
    "torch_ns": ("Call with tensors of PyTorch, ns", "{:.0f}"),
    "torch_allocates_ns": ("the same, output allocated", "{:.0f}"),
    "prebuilt_ns": ("Call with prebuilt tensors, ns", "{:.0f}"),
    "prebuilt_allocates_ns": ("the same, output allocated", "{:.0f}"),
    "numpy_instructions": ("Instructions of a call with numpy arrays", "{:,.0f}"),
    "prebuilt_instructions": ("Instructions of a call with prebuilt tensors", "{:,.0f}"),
}


def exports():
    """Return the languages of each operator, by family: by the name of the source file."""
    if not any(BUILD.glob("c/*.o")) or not any(BUILD.glob("cpp/*.o")):
        sys.exit(f"error: no libraries in {BUILD}: run make")
    families = {}
    for language, files, names_of in [("C", "build/c/*.o", symbols), ("C++", "build/cpp/*.o", symbols), ("Rust", "rust/src/*.rs", attributes)]:
        for file in sorted(FOLDER.glob(files)):
            family = SAME.get(file.stem, file.stem)
            for name in names_of(file):
                families.setdefault(family, {}).setdefault(name, []).append(language)
    return families


def symbols(file):
    """Return the exports of a library, or of an object that `make` built."""
    option = ["-D"] if file.suffix == ".so" else []
    text = subprocess.run(["nm", *option, "--defined-only", file], capture_output=True, text=True, check=True).stdout
    return re.findall(r" T __tvm_ffi_(?!_)(\w+)", text)


def attributes(file):
    """Return the exports of a source in Rust, whose library is one object."""
    return re.findall(r"#\[ferrite::export\]\s*fn (\w+)", file.read_text())


def operators():
    """Return one row for each family; operators of several languages are in the family of the first one."""
    seen, rows = {}, []
    for members in exports().values():
        for name, languages in members.items():
            seen.setdefault(name, []).extend(languages)
    written = set()
    for family, members in exports().items():
        own = [name for name in members if name not in written]
        written.update(own)
        if own:
            rows.append(f"| {family} | " + ", ".join(f"`{name}` ({', '.join(seen[name])})" for name in own) + " |")
    count = len(seen)
    return f"{count} operators:\n\n| Family | Operators |\n|---|---|\n" + "\n".join(rows) + "\n"


def figures():
    results = json.loads((FOLDER / "bench/results.json").read_text())
    names = list(results["bindings"])
    lines = ["| | " + " | ".join(names) + " |", "|---|" + "---:|" * len(names)]
    for key, (title, form) in FIGURES.items():
        values = [results["bindings"][name].get(key) for name in names]
        if any(value is not None for value in values):
            scale = 1024 if key.endswith("_bytes") else 1
            lines.append(f"| {title} | " + " | ".join("" if value is None else form.format(value / scale) for value in values) + " |")
    machine = results["machine"]
    tools = f"numpy {machine['numpy']}, pybind11 {machine['pybind11']}, nanobind {machine['nanobind']}, apache-tvm-ffi {machine['apache-tvm-ffi']}, torch {machine['torch']}"
    where = f"On {machine['processor']}, Python {machine['python']}, {tools}, {machine['rustc'].split(' (')[0]}, {machine['compiler']}."
    return "\n".join(lines) + "\n\n" + textwrap.fill(where, 100) + "\n"


def written(text):
    """Return the text with the tables of today."""
    for mark, table in {"operators": operators(), "figures": figures()}.items():
        begin, end = f"<!-- {mark}, by tests/readme.py -->\n", f"<!-- end of {mark} -->"
        text = text[: text.index(begin) + len(begin)] + "\n" + table + "\n" + text[text.index(end) :]
    return text


def main(arguments):
    file = FOLDER / "README.md"
    text = file.read_text()
    if arguments != ["--check"]:
        file.write_text(written(text))
    elif written(text) != text:
        sys.exit("error: README.md has other tables than tests/readme.py writes")


if __name__ == "__main__":
    main(sys.argv[1:])
