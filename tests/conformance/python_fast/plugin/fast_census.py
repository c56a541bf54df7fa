"""pytest plugin: counts live objects before the first and after the last test of a process, and writes their growth.

FAST_CENSUS names a folder that gets a JSON file of each process: the growth of the blocks in use (blocks.c, preloaded, and
PYTHONMALLOC=malloc), and of the instances of each class of tvm_ffi.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import sys
from collections import Counter

before: dict = {}


def take() -> dict:
    import tvm_ffi

    sys.last_value = sys.last_traceback = None
    for _ in range(3):
        gc.collect()
    base = getattr(tvm_ffi.core, "CObject", tvm_ffi.core.Object)  # release 0.1.9 has no CObject
    # Only instances of Python classes are tracked by the collector: all are blocks.
    classes = [type(value) for value in gc.get_objects() if issubclass(type(value), base)]
    instances = Counter(f"{one.__module__}.{one.__qualname__}" for one in classes)
    return {"blocks": ctypes.CDLL(None).ferrite_blocks_in_use(), "instances": instances}


def pytest_collection_finish(session):
    before.update(take())


def pytest_sessionfinish(session):
    if not session.items:
        return
    after = take()
    name = os.path.basename(str(session.items[0].path))
    growth = {"blocks": after["blocks"] - before["blocks"], "instances": dict(after["instances"] - before["instances"])}
    with open(os.path.join(os.environ["FAST_CENSUS"], f"{name}.{os.getpid()}.json"), "w", encoding="utf-8") as file:
        json.dump({"file": name, "tests": len(session.items), **growth}, file)
