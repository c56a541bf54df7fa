"""Fails each allocation of the operations of paged key-value caches, and counts what caches leave behind."""

import os
import pathlib
import subprocess
import sys
import tempfile

import ferrite_tvm_ffi  # noqa: F401  # first: tvm_ffi then runs on its library

CACHE = pathlib.Path(__file__).parents[2] / "llm" / "cache"
sys.path.insert(0, str(CACHE))
COUNT = int(os.environ.get("LLM_OPERATIONS", "150"))


def start_again():
    """Starts the program again with the malloc that counts."""
    with tempfile.TemporaryDirectory() as folder:
        library = f"{folder}/counted_malloc.so"
        subprocess.run([os.environ.get("CC", "cc"), "-O1", "-shared", "-fPIC", CACHE / "counted_malloc.c", "-o", library], check=True)
        environment = {**os.environ, "LD_PRELOAD": library, "LLM_COUNTED": "1"}
        sys.exit(subprocess.run([sys.executable, __file__], env=environment).returncode)


def main():
    import memory

    heap = memory.Heap()
    kinds = list(memory.CONFIGS)
    for kind in kinds if COUNT > 1000 else ["gqa", "window", "latent"]:
        errors = {"create": memory.fail_constructors(heap, kind)}
        for name, *arguments in memory.operations(kind):
            errors[name] = errors.get(name, 0) + memory.fail_each(heap, kind, name, *arguments)
        print(f"{kind}: allocations that failed: {errors}", flush=True)
    for kind in kinds:
        memory.leaves_nothing(heap, kind, COUNT // 3)
        memory.clear_leaves_nothing(heap, kind)
    for batch in (1, 5):
        count = memory.allocations_of_steps(heap, batch)
        assert count == 0, f"decode steps of {batch} sequences allocate {count} times"
    print("decode steps allocate nothing, and caches leave nothing behind")


if "LLM_COUNTED" in os.environ:
    main()
else:
    start_again()
