#!/usr/bin/env python3
"""Says what the flash of the library is spent on, in programs for the Cortex-M4F.

usage: flash_map.py [--record]     after `targets/boards/run.sh cortex-m4f`; --record writes flash.json beside this file

The total of a program is what the library adds to it: its size less that of the same program linked without the library. Symbols are
counted by the module that defines them. The rest of the total are strings and tables without a symbol, and code that the compiler
shares between modules.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RESULTS = Path(__file__).resolve().with_name("flash.json")
BUILT = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "boards/cortex-m4f"
PROGRAMS = {"minimal": "call", "core": "cnn", "full": "values", "modules": "models", "relax": "model"}

# The first pattern that a symbol matches names its part.
PARTS = {
    "the profile's own tables": r"^tvm_ffi::engine",
    "C symbols": r"^(TVM|Ferrite)|^tvm_ffi::",
    "executables and machine": r"ferrite_relax::(executable|model|module)|ferrite_relax::machine",
    "builtins of models": r"ferrite_relax",
    "tensors and shapes": r"ferrite_core::(tensor|value::(shape|dtype|device))|ferrite_alloc_ext::device",
    "containers": r"ferrite_alloc_ext::containers|ferrite_alloc_ext::hash_index",
    "JSON": r"ferrite_alloc_ext::(json|base64)",
    "structure": r"ferrite_alloc_ext::(structural|walk|reflection|graph|dataclass)",
    "modules": r"ferrite_alloc_ext::(module|env)",
    "functions and calls": r"ferrite_core::(call|names::(global_table|builtins|ffi_functions))|ferrite_alloc_ext::operation",
    "errors and messages": r"ferrite_core::(error|platform::(text|log))",
    "types and names": r"ferrite_core::(names|class)",
    "memory and counts": r"ferrite_core::(platform::(memory|hooks|sync|lazy_link)|object::(object_alloc|release|refcount|weak))",
    "values": r"ferrite_core::(value|object|platform::words)",
    "other": r"ferrite_core|ferrite_alloc_ext|^(<|\w*)core::",
}


def sections(program):
    """Return the bytes of flash of a program: code, constants and initial values."""
    output = subprocess.run(["arm-none-eabi-size", "-A", program], check=True, stdout=subprocess.PIPE, text=True).stdout
    found = dict(line.split()[:2] for line in output.splitlines() if line.startswith("."))
    return sum(int(found.get(name, 0)) for name in (".text", ".rodata", ".init_array", ".data"))


def symbols(program):
    """Yield (name, bytes) of the symbols in flash."""
    output = subprocess.run(["arm-none-eabi-nm", "-C", "-S", "-t", "d", program], check=True, stdout=subprocess.PIPE, text=True).stdout
    seen = set()
    for line in output.splitlines():
        match = re.match(r"(\d+) (\d+) ([tTrRwWdD]) (.+)", line)
        if match and match[1] not in seen:  # several names may have one address
            seen.add(match[1])
            yield match[4], int(match[2])


def part_of(name):
    return next((part for part, pattern in PARTS.items() if re.search(pattern, name)), None)


def map_of(profile, program):
    """Return the bytes of each part of the library in a program."""
    folder = BUILT / profile
    total = sections(folder / f"{program}.elf") - sections(folder / f"{program}-alone.elf")
    parts = {}
    for name, size in symbols(folder / f"{program}.elf"):
        part = part_of(name)
        if part:
            parts[part] = parts.get(part, 0) + size
    parts["texts, tables, shared code"] = total - sum(parts.values())
    return {"profile": profile, "program": program, "total": total, "parts": dict(sorted(parts.items(), key=lambda item: -item[1]))}


def main(arguments):
    if arguments not in ([], ["--record"]):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    missing = [profile for profile, program in PROGRAMS.items() if not (BUILT / profile / f"{program}-alone.elf").exists()]
    if missing:
        print(f"error: no programs of {', '.join(missing)}: run targets/boards/run.sh cortex-m4f first", file=sys.stderr)
        return 2
    maps = [map_of(profile, program) for profile, program in PROGRAMS.items()]
    for one in maps:
        print(f"{one['profile']}, {one['program']}: {one['total']:,} bytes")
        for part, size in one["parts"].items():
            print(f"  {size:7,}  {part}")
    if arguments:
        RESULTS.write_text(json.dumps(maps, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
