"""Calls the functions of paged key-value caches with any arguments, from failing and from re-entrant kernels, and from threads."""

import os
import pathlib
import resource
import sys
import threading

import ferrite_tvm_ffi  # noqa: F401  # first: tvm_ffi then runs on its library

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "llm" / "cache"))
import hostile  # noqa: E402
import operations  # noqa: E402
from pair import Pair  # noqa: E402

COUNT, SEED = int(os.environ.get("LLM_OPERATIONS", "150")), int(os.environ.get("LLM_SEED", "1"))


def in_threads(count, body):
    errors = []

    def run(number):
        try:
            body(number)
        except BaseException as error:  # noqa: BLE001
            errors.append((number, error))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors


def one_cache_for_all():
    """Calls one cache from several threads: calls that overlap may be refused, and the cache works on."""
    pair = Pair(operations.CONFIGS["gqa"])
    hostile.rebuilt(pair)

    def run(number):
        values = hostile.Values(pair, number)
        for _ in range(COUNT // 4):
            function, *arguments = values.draw.choice(hostile.right_arguments(pair, values.draw))
            try:
                function(*arguments)
            except Exception:  # noqa: BLE001
                pass

    in_threads(4, run)
    assert hostile.works(pair, 0)


def main():
    # Sizes that are accepted must not take the memory of the machine.
    resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
    kinds = list(operations.CONFIGS)
    for kind in kinds:
        succeeded, refused = hostile.methods(kind, 4 * COUNT, SEED)
        print(f"{kind}: {succeeded} calls succeeded, {refused} were refused", flush=True)
        hostile.failing_kernels(kind)
        hostile.reentrant_kernels(kind)
    succeeded, refused = hostile.constructors(4 * COUNT, SEED)
    print(f"constructor: {succeeded} calls succeeded, {refused} were refused", flush=True)
    in_threads(8, lambda number: operations.run(kinds[number], COUNT // 2, SEED + number))
    one_cache_for_all()
    print("threads work")


main()
