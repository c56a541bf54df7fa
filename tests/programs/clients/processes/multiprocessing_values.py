"""Values carried by multiprocessing, to processes that are forked and to ones that are spawned."""

import multiprocessing
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "shared"))
if sys.argv[1:] != ["upstream"]:
    import ferrite_tvm_ffi  # noqa: F401

import carried


def main():
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(1) as pool:
            carried.main(lambda function, value: pool.apply(function, (value,)))


if __name__ == "__main__":
    main()
