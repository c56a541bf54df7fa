"""Layout of the C++ classes shared by clients and library: sizes, bases and virtual functions."""

import os
import re
import subprocess
import tempfile
from pathlib import Path

SHARED = re.compile(
    r"(Class|Vtable for) (tvm::ffi::(?:\w+::)*(?:\w+(?:Obj|ObjBase|Cell)|Error|Any|AnyView|ObjectRef|Object))"
)
ADDRESS = re.compile(r" \(0x0x\w+\)")


def classes(folder):
    """Return facts by name, as g++ reports them for all C++ headers that need no GPU."""
    names = sorted(str(path.relative_to(folder)) for path in Path(folder, "tvm").rglob("*.h"))
    source = "".join(f"#include <{name}>\n" for name in names if "/cuda/" not in name)
    with tempfile.TemporaryDirectory() as work:
        dump = Path(work, "classes")
        options = ["-x", "c++", "-std=c++17", "-w", "-fsyntax-only", f"-fdump-lang-class={dump}", "-I", folder]
        subprocess.run([os.environ.get("CXX", "g++"), *options, "-"], input=source, text=True, check=True)
        blocks = dump.read_text().split("\n\n")
    facts = {}
    for block in blocks:
        head, *lines = block.strip().split("\n")
        if match := SHARED.fullmatch(head):
            kind = {"Class": "class", "Vtable for": "virtual functions of"}[match[1]]
            layout = "; ".join(ADDRESS.sub("", line).strip() for line in lines)
            facts[renamed(f"{kind} {match[2]}")] = renamed(layout)
    return facts


def renamed(text):
    """Return the text with the internal namespace renamed as in 0.1.15."""
    return text.replace("::details::", "::detail::")
