"""Generates the language models of the folder above.

    pip install apache-tvm==0.27.0.post1 apache-tvm-ffi==0.1.15.post2 numpy==2.4.6 ml_dtypes
    python gen_llm.py [FOLDER] [MODEL ...]            # default: the folder above, all models

Expected results are those of TVM's own runtime for bytecode.so.  Before they are written, every logit is compared with numpy
(reference.py, float64, no pages), and the other libraries of the model with both.  Weights come from a fixed seed.  Libraries are
stripped.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import tvm
import tvm_ffi
from tvm.contrib import tvmjs

import gpu
import reference
from llm_model import Config, build

HERE = str(pathlib.Path(__file__).parents[1])
sys.path.insert(0, HERE)
import scenario  # noqa: E402


def weights(params, seed, gain=8.0):
    """Random weights; the gain of the projections back into the stream is large, so that greedy tokens vary."""
    r, out = np.random.default_rng(seed), {}
    for n, p in params:
        shape = [int(i) for i in p.shape]
        g = gain if "o_proj" in n or "down_proj" in n else 1.0
        if p.dtype == "uint32":
            q = np.clip(np.round(r.standard_normal((shape[0], shape[1] * 8)) * 2.5) + 7, 0, 15).astype(np.uint64)
            a = sum(q[:, j::8] << np.uint64(4 * j) for j in range(8))
        elif n.endswith("scale") or n == "embed_s":
            a = g / 2.5 * (1 + 0.2 * r.standard_normal(shape)) * (0.3 if n == "embed_s" else (shape[1] * 32) ** -0.5)
        elif "norm" in n:
            a = 1 + 0.1 * r.standard_normal(shape)
        elif n == "embed_tokens":
            a = 0.3 * r.standard_normal(shape)
        else:
            a = g * r.standard_normal(shape) * shape[-1] ** -0.5
        out[n] = a.astype(str(p.dtype))
    return out


# ---- scenarios
def add(*seqs):
    return [{"op": "add", "seq": s} for s in seqs]


def remove(*seqs):
    return [{"op": "remove", "seq": s} for s in seqs]


def prefill(seq, tokens):
    return [{"op": "prefill", "seq": seq, "tokens": tokens}]


def batch(seqs, tokens):
    return [{"op": "batch_prefill", "seqs": seqs, "tokens": tokens}]


def decode(seqs, count):
    return [{"op": "decode", "seqs": seqs, "count": count}]


def fork(parent, child, pos=-1):
    return [{"op": "fork", "parent": parent, "child": child, "pos": pos}]


def popn(seq, n):
    return [{"op": "popn", "seq": seq, "n": n}]


def window(seq, size, sink):
    return [{"op": "window", "seq": seq, "size": size, "sink": sink}]


def tree(seqs, tokens, parents, leaves):
    return [{"op": "verify", "seqs": seqs, "tokens": tokens, "parents": parents, "leaves": leaves},
            {"op": "commit", "seqs": seqs, "leaves": leaves}]


def state(*seqs):
    return [{"op": "state", "seqs": list(seqs)}]


def scenarios(seed, c):
    r = np.random.default_rng(seed)
    t = lambda n: [int(i) for i in r.integers(0, c.vocab, n)]
    kv = lambda seq, start, n: [{"op": "kv", "seq": seq, "start": start, "dtype": c.dtype,
                                 "shape": [c.layers, n, c.rank + c.rope] if c.attn == "mla" else [c.layers, n, c.kv_heads, c.head]}]
    sample = lambda seqs: [] if c.dtype != "float32" else [{"op": "sample", "seqs": seqs, "temperature": [0.7 + 0.1 * i for i in range(len(seqs))],
                            "top_p": [0.9] * len(seqs), "uniform": [float(v) for v in np.round(r.random(len(seqs)), 3)]}]
    s = {}
    # three sequences, 32 tokens each; forks within a page, at its end and in an earlier one
    s["chat"] = [4, 512, 64, 16, 0], (
        add(0, 1, 2) + prefill(0, t(21)) + prefill(1, t(6)) + decode([0], 4) + batch([2], [t(32)]) + state(0, 1, 2) + decode([0, 1, 2], 20)
        + popn(1, 9) + state(1) + decode([1, 0], 4) + fork(0, 7) + fork(2, 8, 32) + state() + decode([0, 7, 8], 4) + remove(1)
        + batch([7, 0, 8], [t(3), t(17), t(1)]) + kv(7, 10, 12) + sample([0, 7, 8]) + remove(0) + decode([8, 2, 7], 4) + popn(7, 40) + state(2, 7, 8)
        + decode([7], 2) + remove(2, 7, 8) + state())
    # shared prefixes: tables of depth 2, blocks beyond it, decodes that become one prefill
    s["shared"] = [48, 2048, 128, 16, 0], (
        add(0) + prefill(0, t(64)) + sum((fork(0, i, 64) for i in range(1, 40)), []) + state(0, 1) + batch(list(range(1, 40)), [t(1 + i % 3) for i in range(39)])
        + decode(list(range(1, 40)), 1) + decode([3, 2, 1], 2) + fork(3, 50, 66) + fork(3, 51) + batch([50, 51], [t(20), t(30)]) + fork(51, 52, 80) + fork(52, 53, 64)
        + batch([52, 53, 0], [t(2), t(5), t(1)]) + decode([53, 52, 51, 50, 0], 3) + state(50, 51, 52, 53) + remove(*range(0, 40)) + decode([53, 52], 2)
        + popn(52, 50) + decode([52], 2) + kv(52, 0, 20) + state(52) + [{"op": "clear"}] + state())
    # token trees: the last sequence of each batch branches, since upstream moves nothing otherwise
    if c.attn != "mla":
        s["tree"] = [4, 512, 64, 16, 0], (
            add(0, 1) + prefill(0, t(30)) + prefill(1, t(3)) + tree([1, 0], [t(4), t(6)], [[-1, 0, 1, 2], [-1, 0, 0, 1, 2, 2]], [2, 5]) + state(0, 1)
            + decode([0, 1], 3) + tree([0], [t(5)], [[-1, -1, 1, 1, 3]], [4]) + decode([1, 0], 2) + tree([1, 0], [t(3), t(3)], [[-1, 0, 0], [-1, 0, 0]], [-1, 2])
            + batch([0, 1], [t(4), t(2)]) + state(0, 1) + kv(0, 20, 20))
        s["window"] = [4, 512, 64, 16, 1], (
            add(0) + window(0, 24, 3) + prefill(0, t(40)) + state(0) + decode([0], 20) + state(0) + prefill(0, t(7)) + add(1) + prefill(1, t(37))
            + fork(1, 2, 20) + window(2, 28, 4) + batch([2, 1], [t(11), t(3)]) + decode([0, 2, 1], 16) + state(0, 1, 2) + add(3) + prefill(3, t(9)) + window(3, 12, 0)
            + decode([3, 0], 12) + state(0, 3))
    return {k: {"create": create, "steps": steps} for k, (create, steps) in s.items()}


def failures(c):
    """Calls that have to be refused, after which the cache still works: (function, arguments) with "cache" for the cache, a list for a Shape."""
    P, K = "vm.builtin.kv_state_", "vm.builtin.attention_kv_cache_"
    calls = [(P + "add_sequence", "cache", 0), (P + "add_sequence", "cache", 0), (P + "remove_sequence", "cache", 9), (P + "popn", "cache", 9, 1),
             (P + "popn", "cache", 0, -1), (P + "popn", "cache", 0, 1), (P + "fork_sequence", "cache", 9, 1, -1), (P + "fork_sequence", "cache", 0, 0, -1),
             (P + "fork_sequence", "cache", 0, 1, 1), (P + "fork_sequence", "cache", 0, 1, -2), (P + "begin_forward", "cache", [0, 1], [1]),
             (P + "begin_forward", "cache", [9], [1]), (P + "begin_forward", "cache"), (K + "enable_sliding_window_for_seq", "cache", 0, 8, 0),
             (K + "get_sequence_length", "cache", 9), (K + "commit_accepted_token_tree_nodes", "cache", [0], [0]), (K + "commit_accepted_token_tree_nodes", "cache", [0, 1], [0]),
             (K + "get_layout_hash", "cache"), (K + "get_checkpoint_metadata", "cache", 0), (K + "get_checkpoint_metadata", "cache", 1), (K + "finish_import", "cache", 0),
             (P + "end_forward", "cache")]
    return calls


def refuse(model, create, calls):
    cache, out = model.create(create), []
    for name, *args in calls:
        args = [cache if a == "cache" else tvm_ffi.Shape(a) if isinstance(a, list) else a for a in args]
        try:
            v = tvm_ffi.get_global_func(name)(*args)
            out.append({"value": v if isinstance(v, (int, str, bool)) else None})
        except Exception as e:  # noqa: BLE001
            out.append({"kind": getattr(e, "__class__", type(e)).__name__, "message": str(e).split("\n")[0]})
    return out


# ---- fixtures
def check(c, arrays, sc, got, tolerance):
    fed = {l: v for l, v in got if l.endswith(".tokens")}
    want, worst = dict(reference.run(c, arrays, sc, fed)), 0.0
    for label, value in got:
        if label in want:
            worst = max(worst, float(np.abs(value - want[label]).max()))
    assert worst < tolerance, (worst, tolerance)
    return worst


def margin(sc, got):
    """Smallest distance between the best two logits of rows whose best token was fed on."""
    rows = [v for l, v in got if v.ndim == 2 and v.dtype == np.float32 and not l.endswith(".p")]
    top = np.sort(np.concatenate(rows), -1)
    return float((top[:, -1] - top[:, -2]).min())


def store(folder, name, sc, got):
    at, entries, data = 0, [], b""
    for label, v in got:
        v = np.ascontiguousarray(v)
        entries.append({"label": label, "dtype": str(v.dtype), "shape": list(v.shape), "offset": at})
        data += v.tobytes() + b"\0" * (-v.nbytes % 8)
        at = len(data)
    fed = {l: v.tolist() for l, v in got if l.endswith(".tokens")}
    for i, s in enumerate(sc["steps"]):
        if s["op"] == "decode":
            s["fed"] = fed["%d.decode.tokens" % i]
    json.dump({**sc, "expect": entries}, open(os.path.join(folder, name + ".json"), "w"), separators=(",", ":"))
    open(os.path.join(folder, name + ".bin"), "wb").write(data)


MODELS = {
    # name: configuration, seed, scenarios, tolerance, libraries
    "llama": (dict(), 1, ("chat", "shared", "tree", "window"), 2e-4, ("bytecode", "compiled", "opencl")),
    "llama_f16": (dict(dtype="float16"), 2, ("chat",), 0.15, ("bytecode",)),
    "llama_q4": (dict(quant="q4", layers=3, width=128, heads=4, kv_heads=1, head=32, hidden=192), 3, ("chat",), 2e-4, ("bytecode",)),
}


def compiled(c, kind, path):
    """Writes the library for one target; returns the parameters in order."""
    if kind in ("bytecode", "compiled"):
        mod, params, _ = build(c, "llvm")
        tvm.relax.build(mod, target="llvm", exec_mode=kind).export_library(path)
        return params
    return gpu.write(c, kind, path)


def main():
    out = sys.argv[1] if len(sys.argv) > 1 else HERE
    manifest = {"apache_tvm": tvm.__version__, "models": {}}
    file = os.path.join(out, "manifest.json")
    if os.path.exists(file):
        manifest = json.load(open(file))
    for name, (config, seed, which, tolerance, kinds) in MODELS.items():
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        folder = os.path.join(out, name)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        c = Config(**config)
        entry = {"config": c.json(), "seed": seed, "tolerance": tolerance, "libraries": {}, "scenarios": {}}
        for kind in kinds:
            path = os.path.join(folder, kind + ".so")
            params = compiled(c, kind, path)
            subprocess.run(["strip", path], check=True)
            entry["libraries"][kind] = os.path.basename(path)
            if kind == kinds[0]:
                names, arrays = [n for n, _ in params], weights(params, seed)
                tvmjs.dump_tensor_cache(arrays, os.path.join(folder, "params"), encode_format="raw", show_progress=False)
                entry["params"] = names
            if kind not in ("bytecode", "compiled"):
                continue
            model = scenario.Model(name, kind, folder=pathlib.Path(out), names=names)
            for s, sc in scenarios(seed, c).items():
                if s not in which:
                    continue
                got = scenario.run(model, sc)
                worst = check(c, arrays, sc, got, tolerance)
                if kind == "bytecode":
                    store(folder, s, sc, got)
                    entry["scenarios"][s] = {"numpy": worst, "margin": margin(sc, got), "rows": sum(len(v) for _, v in got)}
                else:
                    same = dict(got)
                    stored = np.frombuffer(open(os.path.join(folder, s + ".bin"), "rb").read(), np.uint8)
                    for e in json.load(open(os.path.join(folder, s + ".json")))["expect"]:
                        v = same[e["label"]]
                        assert np.array_equal(stored[e["offset"]:e["offset"] + v.nbytes], np.ascontiguousarray(v).view(np.uint8).reshape(-1)), (s, e["label"])
                print(name, kind, s, "numpy %.2e" % worst, entry["scenarios"][s], flush=True)
            if name == "llama" and kind == "bytecode":
                calls = failures(c)
                result = refuse(model, [4, 128, 64, 16, 0], calls)
                json.dump({"create": [4, 128, 64, 16, 0], "calls": [{"call": a, **b} for a, b in zip(calls, result)]}, open(os.path.join(folder, "refused.json"), "w"), indent=1)
        entry["config"].pop("target", None)
        manifest["models"][name] = entry
        json.dump(manifest, open(file, "w"), indent=1)


if __name__ == "__main__":
    main()
