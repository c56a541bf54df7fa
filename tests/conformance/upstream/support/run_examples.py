"""Run the examples of example.sh, one after the other.

Each must have mapped the replaced library, so the maps of different examples are kept apart.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import process
import results
from results import Result

_EXAMPLES = (
    "stable_c_abi/raw_compile",
    "stable_c_abi/run_all",
    "abi_overview",
    "our_headers/stable_c_abi",
    "our_headers/abi_overview",
    "quickstart/raw_compile",
    "quickstart/load_numpy",
    "quickstart/run_all_cpu",
    "inline_module/cpu",
    "python_packaging",
    "rust_load_library",
    "rust_stubgen",
)


def run(name: str, tree: Path, out: Path, deadline: float) -> Result:
    log = out / "log" / f"{name.replace('/', '.')}.log"
    maps = Path(os.environ["FERRITE_MAPS_DIR"])
    before = set(maps.iterdir())
    start = time.monotonic()
    ended = process.run(
        ["bash", str(Path(__file__).with_name("example.sh")), name, str(tree)],
        env=dict(os.environ),
        cwd=tree,
        log=log,
        progress=None,
        stall=600,
        deadline=deadline,
    )
    status = "timeout" if ended.stalled else "failed" if ended.returncode else "passed"
    text = "" if status == "passed" else process.tail(log)
    if status == "passed" and set(maps.iterdir()) == before:
        status, text = "failed", "no process had the library mapped"
    return Result(name, "examples", status, time.monotonic() - start, text)


def main() -> int:
    parser = results.options()
    parser.add_argument("--tree", type=Path, required=True)
    options = parser.parse_args()
    process.kill_children_when_terminated()
    deadline = time.monotonic() + options.time_limit
    names = [name for name in _EXAMPLES if results.selected(name, options.select)]
    found = [run(name, options.tree, options.out, deadline) for name in names]
    results.write(options.out, found, [])
    return 0


if __name__ == "__main__":
    sys.exit(main())
