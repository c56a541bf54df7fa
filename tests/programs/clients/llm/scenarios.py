"""Runs language models with tvm_ffi alone, and compares every result with that of TVM's runtime: prompts, batches, forks, sliding
windows, token trees and samples, and calls that are refused."""

import json
import pathlib
import re
import sys

import ferrite_tvm_ffi  # noqa: F401  # first: tvm_ffi then runs on its library

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "llm"))
import scenario  # noqa: E402


def explanation(message):
    """The part of an error that explains it, behind the condition of upstream's sources."""
    return re.sub(r"Check failed: (\(.*?\) is false: |.* \(.* vs\. .*\) : )", "", message)


def outcome(cache, name, *arguments):
    """Returns what a call gives: a number or a string, or the explanation in the error."""
    arguments = [cache if a == "cache" else scenario.shape(a) if isinstance(a, list) else a for a in arguments]
    try:
        value = scenario.tvm_ffi.get_global_func(name)(*arguments)
    except Exception as error:  # noqa: BLE001
        return {"refused": explanation(str(error).split("\n")[0])}
    return {"value": value if isinstance(value, int | str) else None}


def refusals():
    """Calls that a cache refuses have the errors of TVM's, and the cache works on."""
    described = json.loads((scenario.FOLDER / "llama" / "refused.json").read_text())
    cache = scenario.Model("llama", "bytecode").create(described["create"])
    for entry in described["calls"]:
        expected = {"refused": explanation(entry["message"])} if "message" in entry else {"value": entry["value"]}
        found = outcome(cache, *entry["call"])
        assert found == expected, (entry["call"], found, expected)


def main():
    for name, model in scenario.manifest().items():
        for library in model["libraries"]:
            if library != "opencl":
                scenario.compare_all(name, library)
    refusals()


main()
