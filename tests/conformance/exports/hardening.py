#!/usr/bin/env python3
"""Compares how two shared objects are hardened, and prints the rows of a table.

usage: hardening.py UPSTREAM OURS            prints the table
       hardening.py UPSTREAM OURS PAGE       fails unless PAGE has it between the marks "<!-- hardening -->"
       hardening.py UPSTREAM OURS PAGE --write
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

MARK = "<!-- hardening -->"


def readelf(options: str, library: Path) -> str:
    return subprocess.run(["readelf", "-W", options, library], capture_output=True, check=True, text=True).stdout


def undefined(library: Path) -> set[str]:
    text = subprocess.run(["nm", "-D", "--undefined-only", library], capture_output=True, check=True, text=True).stdout
    return {line.split()[-1].split("@")[0] for line in text.splitlines()}


def yes(found: object) -> str:
    return "yes" if found else "no"


class Object:
    """One shared object: what readelf and nm say of it."""

    def __init__(self, library: Path):
        self.segments = readelf("-l", library)
        self.dynamic = readelf("-d", library)
        self.notes = readelf("-n", library)
        self.sections = readelf("-S", library)
        self.header = readelf("-h", library)
        self.imports = undefined(library)
        text = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, check=True, text=True).stdout
        self.exports = len(text.splitlines())

    def flags(self, kind: str) -> list[str]:
        """The permissions of the segments of a kind."""
        return [match[1].replace(" ", "") for match in re.finditer(rf"^ *{kind} +(?:0x\w+ +){{5}}([RWE ]+?) +(?:0x)?\w+$", self.segments, re.M)]

    def relro(self) -> str:
        if "GNU_RELRO" not in self.segments:
            return "none"
        return "full" if "BIND_NOW" in self.dynamic or re.search(r"FLAGS_1.*NOW", self.dynamic) else "partial: the table of functions stays writable"

    def needed(self) -> str:
        return ", ".join(f"`{name}`" for name in sorted(re.findall(r"NEEDED.*\[(.*)\]", self.dynamic)))

    def fortified(self) -> str:
        names = sorted(name for name in self.imports if name.endswith("_chk") and name != "__stack_chk_fail")
        return f"{len(names)} functions" if names else "no"

    def property_note(self, name: str) -> str:
        return yes(re.search(rf"Properties:.*\b{name}\b", self.notes))

    def rows(self) -> dict[str, str]:
        rows = {
            "RELRO": self.relro(),
            "Symbols are bound at load": yes("BIND_NOW" in self.dynamic or re.search(r"FLAGS_1.*NOW", self.dynamic)),
            "Stack is not executable (NX)": yes(self.flags("GNU_STACK") == ["RW"]),
            "No segment is writable and executable": yes(not any("W" in flags and "E" in flags for flags in self.flags("LOAD"))),
            "Position-independent, no relocation in code": yes("DYN" in self.header and "TEXTREL" not in self.dynamic),
            "Stack protector in its C and C++": yes("__stack_chk_fail" in self.imports),
            "FORTIFY in its C and C++": self.fortified(),
            "RPATH or RUNPATH": yes(re.search(r"RPATH|RUNPATH", self.dynamic)),
            "Debugging information or symbol table": yes(re.search(r"\.debug_info|\.symtab", self.sections)),
            "Build identifier": yes("Build ID" in self.notes),
            "Exported symbols": str(self.exports),
            "Libraries that it needs": self.needed(),
        }
        if "AArch64" in self.header:
            rows |= {"BTI": self.property_note("BTI"), "PAC": self.property_note("PAC")}
        else:
            rows |= {"CET: IBT": self.property_note("IBT"), "CET: shadow stack": self.property_note("SHSTK")}
        return rows


def table(upstream: Path, ours: Path) -> str:
    one, two = Object(upstream).rows(), Object(ours).rows()
    lines = ["| | upstream's | Ferrite's |", "|---|---|---|"]
    return "\n".join([*lines, *(f"| {name} | {one[name]} | {two[name]} |" for name in one)])


def main() -> int:
    upstream, ours, *rest = sys.argv[1:]
    text = table(Path(upstream), Path(ours))
    if not rest:
        print(text)
        return 0
    page = Path(rest[0])
    before, known, after = page.read_text().split(MARK)
    if "--write" in rest:
        page.write_text(f"{before}{MARK}\n\n{text}\n\n{MARK}{after}")
    elif known.strip() != text:
        print(f"{page} does not have this table: hardening.py UPSTREAM OURS {page} --write\n{text}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
