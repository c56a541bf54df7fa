#!/usr/bin/env python3
"""Compares two libraries that export the TVM-FFI C ABI, operation by operation. Called by run.sh."""

import argparse
import json
import sys

import budgets
import measure
import tables
from worker import Worker

MODES = ["quick", "full", "instructions", "scaling", "budgets", "record"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, help="folder with the built worker")
    parser.add_argument("--ours", required=True)
    parser.add_argument("--theirs", required=True)
    parser.add_argument("--mode", required=True, choices=MODES)
    parser.add_argument("--ops", default="", help="only operations that match this regular expression")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--ms", type=float, help="processor milliseconds of one measurement")
    parser.add_argument("--seconds", type=float, help="no further round begins after these")
    parser.add_argument("--cpu", type=int, help="the processor to use; the last one otherwise")
    parser.add_argument("--results", help="folder that gets MODE.md and MODE.json")
    return parser.parse_args()


def quick(worker, libraries, args):
    table = measure.rows(worker, args.ops, lambda o: sorted({min(s, 2000) for s in o["sizes"]}) or [0])
    return measure.timed(worker, libraries, table, args.ms or 6, args.rounds or 5, args.seconds or 60)


def full(worker, libraries, args):
    table = measure.rows(worker, args.ops, lambda o: o["sizes"] or [0])
    return measure.timed(worker, libraries, table, args.ms or 60, args.rounds or 15, args.seconds or 420)


def scaling(worker, libraries, args):
    def sizes(o):
        return [10**k for k in range(2, o["scale_max"] + 1)] if o["scale"] else []

    # The largest size comes last. Growth is measured without floors, which take as long as the
    # libraries.
    table = sorted(measure.rows(worker, args.ops, sizes), key=lambda row: row.size)
    for row in table:
        row.floors = []
    return measure.timed(worker, libraries, table, args.ms or 10, args.rounds or 3, args.seconds or 240)


def counted_sizes(o):
    return (sorted({min(s, 1000) for s in o["sizes"]}) or [0]) if o["instr"] else []


def instructions(worker, libraries, args):
    return measure.counted(worker, libraries, measure.rows(worker, args.ops, counted_sizes))


def heading(args):
    options = "".join(f" --{name} {getattr(args, name):g}" for name in ("ms", "rounds", "seconds") if getattr(args, name))
    note = "; a floor is what the processor or a good library needs for the same work"
    return tables.heading(tables.TITLES[args.mode], f"tests/bench/run.sh --{args.mode}{options}", note)


def main():
    args = arguments()
    worker = Worker(args.build, args.cpu)
    libraries = {"ours": args.ours, "theirs": args.theirs}
    if args.mode in ("budgets", "record"):
        table = measure.rows(worker, args.ops, counted_sizes)
        counts = measure.counted(worker, {"ours": args.ours}, table)
        return budgets.record(counts) if args.mode == "record" else budgets.check(counts, args.ops)
    worker.operations = {op: spec for op, spec in worker.operations.items() if not spec["ours_alone"]}
    modes = {"quick": quick, "full": full, "scaling": scaling, "instructions": instructions}
    results = modes[args.mode](worker, libraries, args)
    show = tables.scaling if args.mode == "scaling" else tables.operations
    text = show(results, "instructions" if args.mode == "instructions" else "ns")
    if args.mode in ("quick", "full") and not args.ops:
        times = 10 if args.mode == "quick" else 30
        loads = {name: worker.load(library, times) for name, library in
                 {**libraries, "floor": worker.module}.items()}  # fmt: skip
        results += tables.load_results(loads)
        text += "\n" + tables.load(results)
    print(text)
    if args.results:
        with open(f"{args.results}/{args.mode}.md", "w", encoding="utf-8") as file:
            file.write(heading(args) + text)
        with open(f"{args.results}/{args.mode}.json", "w", encoding="utf-8") as file:
            file.write("[\n" + ",\n".join(map(json.dumps, results)) + "\n]\n")
    return 1 if any(r.get("ours_error") or r.get("theirs_error") for r in results) else 0


if __name__ == "__main__":
    sys.exit(main())
