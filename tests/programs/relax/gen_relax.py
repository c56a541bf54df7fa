"""Generate the Relax fixtures in the folder `models`: whole models compiled by Apache TVM, with inputs and outputs.

    pip install apache-tvm==0.27.0.post1 apache-tvm-ffi==0.1.15.post2 numpy==2.4.6 ml_dtypes onnx==1.22.0
    python gen_relax.py [OUTPUT_FOLDER] [NAME ...]      # default: models, every model
    python gen_relax.py --c OUTPUT_FOLDER               # only libraries from C sources, exec_mode compiled
    python gen_relax.py --boards [OUTPUT_FOLDER]        # only what boards link, default: boards

Weights and pictures of mlp, mlp_dyn, mlp_i8 and cnn are those that ../aot/gen_aot.py drew and trained; everything else
comes from a fixed seed.  Every expected output is from TVM's own virtual machine, and is first compared with numpy in
float64.  Nothing is downloaded.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
import tvm
from tvm import relax
from tvm.relax.frontend import nn
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T
from tvm.support import cc

HERE = os.path.dirname(os.path.abspath(__file__))
FROM_C = sys.argv[1:2] == ["--c"]
BOARDS = sys.argv[1:2] == ["--boards"]
ARGUMENTS = sys.argv[2:] if FROM_C or BOARDS else sys.argv[1:]
OUT = ARGUMENTS[0] if ARGUMENTS else os.path.join(HERE, "boards" if BOARDS else "models")
ONLY = ARGUMENTS[1:]
AOT = os.path.join(HERE, "..", "aot")
CPU = tvm.cpu()
MANIFEST = {"apache_tvm": tvm.__version__, "models": {}}
DECLARATIONS = """
#ifdef __cplusplus
extern "C" {
#endif
int TVMBackendAnyListSetPackedArg(void* anylist, int index, void* args, int arg_offset);
int TVMBackendAnyListResetItem(void* anylist, int index);
int TVMBackendAnyListMoveFromPackedReturn(void* anylist, int index, void* args, int ret_offset);
#ifdef __cplusplus
}
#endif
"""
MACHINES = {
    "thumbv7em": (
        {"kind": "llvm", "mtriple": "thumbv7em-none-eabihf", "mcpu": "cortex-m4", "mfloat-abi": "hard"},
        ["arm-none-eabi-ld", "-r", "-S"],
    ),
    "wasm32": ({"kind": "llvm", "mtriple": "wasm32-unknown-unknown-wasm"}, ["wasm-ld", "-r", "-S"]),
}
"""Targets of boards, and the linkers that make one object of several, without debug information."""


def aot(model, *names):
    """Return arrays of the C header that gen_aot.py wrote for a model."""
    with open(os.path.join(AOT, model, "data.h")) as f:
        text = f.read()

    def array(name):
        numbers = lambda field: [n.strip(" \nf") for n in field.split(",") if n.strip()]
        (dims,) = re.findall(r" %s_%s_shape\[\] = \{(.*?)\};" % (model, name), text, re.S)
        ((kind, values),) = re.findall(r"const (\w+) %s_%s\[\d+\] = \{(.*?)\};" % (model, name), text, re.S)
        dtype = {"float": "float32"}.get(kind, kind.removesuffix("_t"))
        return np.array(numbers(values), "float64").astype(dtype).reshape([int(d) for d in numbers(dims)])

    return [array(n) for n in names]


def tensor(a):
    return tvm.runtime.tensor(np.array(a, order="C"))


def flat(v):
    """Return the arrays of a result, which may be nested tuples."""
    if hasattr(v, "numpy"):
        return [v.numpy()]
    if isinstance(v, (int, float)):
        return [np.array(v)]
    if v is None:
        return []
    if type(v).__name__ == "Shape":
        return [np.array(list(v), np.int64)]
    return [a for e in v for a in flat(e)]


def argument(a):
    if isinstance(a, (list, tuple)) and type(a).__name__ != "Shape":
        return tvm.runtime.convert([argument(e) for e in a])
    return tensor(a) if isinstance(a, np.ndarray) else a


def describe(a, name, arrays):
    """Return the JSON of an argument or result, and name its arrays, which become .npy files."""
    if type(a).__name__ == "Shape":
        return {"shape": [int(d) for d in a]}
    if isinstance(a, (list, tuple)):
        return {"tuple": [describe(e, "%s_%d" % (name, i), arrays) for i, e in enumerate(a)]}
    if isinstance(a, np.ndarray):
        same = [k for k, v in arrays.items() if v.dtype == a.dtype and np.array_equal(v, a)]
        name = same[0] if same else name
        arrays[name] = a
        return {"tensor": name + ".npy", "dtype": str(a.dtype), "dims": list(a.shape)}
    return {type(a).__name__: a}


def repair(src):
    """Adapt C code, as in gen_aot.py. For exec_mode compiled, also add the declarations that TVM's headers lack, and store
    results: the C target of this version leaves the result of a call in a variable, and then moves the slot after the
    arguments, where LLVM code stores the result."""
    src = re.sub(
        r"^( *)(\w+\* \w+ = \(\(\w+\*\)) *(TVMFFIAny (\w+)\[\d+\];)\n(\(\(\w+\*\)\w+\)\);)$",
        r"\1\3\n\1\2\5", src, flags=re.M)
    src = re.sub(
        r"&(\w+)\) != 0\) \{\n *return -1;\n *\}\n( *)(?=TVMBackendAnyListMoveFromPackedReturn\(\w+, \d+, (\w+), (\d+)\))",
        r"&\1) != 0) {\n\2  return -1;\n\2}\n\2((TVMFFIAny*)\3)[\4] = \1;\n\2", src)
    return DECLARATIONS + src if "TVMBackendAnyList" in src else src


def link_repaired(name, files, **options):
    for f in files:
        if f.endswith(".c"):
            with open(f, "r+") as c:
                text = repair(c.read())
                c.seek(0)
                c.write(text)
    return cc.create_shared(name, files, **options)


def sources(mod):
    if mod.kind == "c":
        return mod.inspect_source()
    return "".join(sources(m) for m in mod.imports)


def vm_bytes(mod):
    with tempfile.NamedTemporaryFile() as f:
        mod.write_to_file(f.name, "")
        return f.read()


def run(so, calls):
    vm = relax.VirtualMachine(tvm.runtime.load_module(so), CPU)
    return [flat(vm[f](*[argument(a) for a in args])) for f, args, _ in calls]


def save(name, mod, calls, note, tolerance, c=("bytecode", "compiled"), text=True, **more):
    """Save a model. calls: (function, arguments, expected by numpy) each; c: modes to keep as C source."""
    if ONLY and name not in ONLY:
        return
    if BOARDS:
        save_for_boards(name, mod, calls, tolerance)
        return
    folder = os.path.join(OUT, name)
    os.makedirs(folder, exist_ok=True)
    if FROM_C:
        if "compiled" in c or not c:
            exe = relax.build(mod, target="c", exec_mode="compiled")
            exe.export_library(os.path.join(folder, "c.so"), fcompile=link_repaired, options=["-w"])
        return
    put = lambda f, data: open(os.path.join(folder, f), "wb").write(data)
    entry = {"note": note, "tolerance": tolerance, "calls": [], **more}
    runs = []
    for mode in ("bytecode", "compiled"):
        exe = relax.build(mod, target="llvm", exec_mode=mode)
        so = os.path.join(folder, mode + ".so")
        exe.export_library(so, options=["-s"])
        put("%s.vm" % mode, vm_bytes(exe.mod))
        if mode == "bytecode":
            entry["globals"] = sorted(set(re.findall(r"^@(\S+) packed_func", exe.as_text(), re.M)))
        if mode == "bytecode" and text:
            put("stats.txt", exe.stats().encode())
            put("as_text.txt", exe.as_text().encode())
        runs.append(run(so, calls))
        if mode not in c:
            continue
        exe = relax.build(mod, target="c", exec_mode=mode)
        put("kernels_%s.c" % mode, repair(sources(exe.mod)).encode())
        with tempfile.TemporaryDirectory() as d:
            exe.export_library(os.path.join(d, "c.so"), fcompile=link_repaired, options=["-w"])
            runs.append(run(os.path.join(d, "c.so"), calls))
    worst = 0.0
    arrays = {}
    for i, (f, args, expect) in enumerate(calls):
        prefix = "" if len(calls) == 1 else "c%d_" % i
        want = expect if isinstance(expect, list) else [expect]
        for results in runs:
            got = results[i]
            assert len(got) == len(want), (name, len(got), len(want))
            for g, w in zip(got, want):
                assert g.shape == np.shape(w), (name, g.shape, np.shape(w))
                worst = max(worst, float(np.abs(g.astype(np.float64) - w).max(initial=0)))
        got = runs[0][i]
        call = {"function": f, "args": [describe(a, "%sarg%d" % (prefix, k), arrays) for k, a in enumerate(args)],
                "results": [describe(g, "%sout%d" % (prefix, k), arrays) for k, g in enumerate(got)]}
        entry["calls"].append(call)
    for k, a in arrays.items():
        np.save(os.path.join(folder, k + ".npy"), a)
    assert worst <= tolerance, (name, worst)
    entry["largest_difference_from_numpy"] = worst
    MANIFEST["models"][name] = entry
    print(name, "difference from numpy %.2g" % worst)


# ------------------------------------------------------------------ what boards link
def save_for_boards(name, mod, calls, tolerance):
    """Save a model as a system library for each board, and its calls with TVM's results as C."""
    prefix = "fixture_%s_" % name
    for machine, (target, linker) in MACHINES.items():
        exe = relax.build(mod.with_attr("system_lib_prefix", prefix), target=tvm.target.Target(target), exec_mode="bytecode")
        with tempfile.TemporaryDirectory() as d:
            exe.export_library(os.path.join(d, "objects.tar"))
            subprocess.run(["tar", "xf", "objects.tar"], cwd=d, check=True)
            objects = sorted(f for f in os.listdir(d) if f.endswith(".o"))
            path = os.path.join(os.path.abspath(OUT), "%s_%s.o" % (name, machine))
            subprocess.run([*linker, *objects, "-o", path], cwd=d, check=True)
            os.chmod(path, 0o644)
    with tempfile.TemporaryDirectory() as d:
        exe = relax.build(mod, target="llvm", exec_mode="bytecode")
        exe.export_library(os.path.join(d, "model.so"))
        results = run(os.path.join(d, "model.so"), calls)
    builtins = re.findall(r"^@vm\.builtin\.(\S+) packed_func", exe.as_text(), re.M)
    with open(os.path.join(OUT, name + ".c"), "w") as f:
        f.write(calls_as_c(name, prefix, calls, results, tolerance, builtins))


def calls_as_c(name, prefix, calls, results, tolerance, builtins):
    """Return C code with the calls of a model: the `Fixture` of targets/boards/firmware/fixtures.h."""
    values, known = [], {}

    def array(a):
        key = (str(a.dtype), a.shape, a.tobytes())
        if key not in known:
            known[key] = new_array(a)
        return known[key]

    def new_array(a):
        numbers = ", ".join(str(v) for v in a.reshape(-1)).replace("True", "1").replace("False", "0")
        dims = ", ".join(map(str, np.shape(a))) or "0"
        kind = {"f": "kDLFloat", "i": "kDLInt", "b": "kDLBool"}[a.dtype.kind]
        type_ = {"float32": "float", "bool": "uint8_t"}.get(str(a.dtype), str(a.dtype) + "_t")
        n = len(values)
        values.append("static const %s data_%d[] = {%s};\nstatic const int64_t shape_%d[] = {%s};" % (type_, n, numbers, n, dims))
        return "{TENSOR, data_%d, {%s, %d, 1}, %d, shape_%d}" % (n, kind, a.dtype.itemsize * 8, np.ndim(a), n)

    def argument_as_c(a):
        if isinstance(a, np.ndarray):
            return array(a)
        if type(a).__name__ == "Shape":
            n = len(values)
            values.append("static const int64_t shape_%d[] = {%s};" % (n, ", ".join(str(int(e)) for e in a)))
            return "{SHAPE, NULL, {0, 0, 0}, %d, shape_%d}" % (len(a), n)
        parts = [argument_as_c(e) for e in a]
        n = len(values)
        values.append("static const Value parts_%d[] = {%s};" % (n, ", ".join(parts)))
        return "{TUPLE, parts_%d, {0, 0, 0}, %d, NULL}" % (n, len(parts))

    entries = []
    for (function, args, _), result in zip(calls, results):
        lists = [[argument_as_c(a) for a in args], [array(a) for a in result]]
        n = len(values)
        for at, what in enumerate(lists):
            values.append("static const Value call_%d_%d[] = {%s};" % (n, at, ", ".join(what)))
        entries.append('  {"%s", %d, call_%d_0, %d, call_%d_1},' % (function, len(lists[0]), n, len(lists[1]), n))
    symbols = ["FerriteModelBuiltin_" + b.replace(".", "_") for b in builtins]
    return "\n".join([
        "/* %s.c: calls of the model %s with TVM's results; written by gen_relax.py. */" % (name, name),
        '#include "fixtures.h"\n',
        *values,
        "static const ModelCall calls[] = {", *entries, "};",
        'const ModelFixture fixture = {"%s", "%s", %d, calls, %r};\n' % (name, prefix, len(calls), tolerance),
        *["extern const char %s;" % symbol for symbol in symbols],
        "const void* const FerriteModelBuiltins[] = {%s, NULL};\n" % ", ".join("&" + symbol for symbol in symbols),
    ])


# ------------------------------------------------------------------ mlp, from an nn.Module
class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(64, 32), nn.Linear(32, 10)

    def forward(self, x):
        return self.fc2(nn.op.relu(self.fc1(x)))


def mlp_numpy(x, w1, b1, w2, b2):
    x, w1, b1, w2, b2 = (a.astype(np.float64) for a in (x, w1, b1, w2, b2))
    return np.maximum(x @ w1.T + b1, 0) @ w2.T + b2


def do_mlp():
    x, w1, b1, w2, b2, label = aot("mlp_f32", "x", "w1", "b1", "w2", "b2", "label")
    mod, _ = MLP().export_tvm(spec={"forward": {"x": nn.spec.Tensor((1, 64), "float32")}})
    weights = {"fc1.weight": w1, "fc1.bias": b1, "fc2.weight": w2, "fc2.bias": b2}
    mod = relax.transform.BindParams("forward", {k: tensor(v) for k, v in weights.items()})(mod)
    calls = [("forward", [x[i : i + 1]], mlp_numpy(x[i : i + 1], w1, b1, w2, b2)) for i in range(5)]
    save("mlp", mod, calls, "64-32-10 perceptron as an nn.Module, weights in the executable", 1e-4,
         labels=[int(v) for v in label[:5]])


# ------------------------------------------------------------------ mlp_dyn: any number of rows,
# weights in a tuple
def do_mlp_dyn():
    x, w1, b1, w2, b2 = aot("mlp_f32", "x", "w1", "b1", "w2", "b2")
    mod, _ = MLP().export_tvm(spec={"forward": {
        "x": nn.spec.Tensor(("n", 64), "float32"), "$": {"param_mode": "packed", "effect_mode": "none"}}})
    weights = [w1, b1, w2, b2]
    calls = [("forward", [x[:n], weights], mlp_numpy(x[:n], *weights)) for n in (1, 3, 20)]
    save("mlp_dyn", mod, calls, "the same for any number of rows; the weights are one tuple argument", 1e-4)


# ------------------------------------------------------------------ cnn, from ONNX
def do_cnn():
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    from tvm.relax.frontend.onnx import from_onnx

    x, wc, bc, wd, bd, out, label = aot("cnn_f32", "x", "wc", "bc", "wd", "bd", "out", "label")
    nodes = [
        helper.make_node("Conv", ["x", "wc", "bc"], ["c"], kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[1, 1]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Flatten", ["p"], ["f"], axis=1),
        helper.make_node("Gemm", ["f", "wd", "bd"], ["z"], transB=1),
        helper.make_node("Softmax", ["z"], ["y"], axis=1),
    ]
    graph = helper.make_graph(
        nodes, "cnn", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 10])],
        [numpy_helper.from_array(a, n) for n, a in (("wc", wc), ("bc", bc), ("wd", wd), ("bd", bd))])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    onnx.checker.check_model(model)
    mod = from_onnx(model, keep_params_in_input=False)
    mod = relax.get_pipeline("zero")(mod)
    z = out.astype(np.float64)
    y = np.exp(z - z.max(1, keepdims=True))
    y /= y.sum(1, keepdims=True)
    calls = [("main", [x[i : i + 1]], y[i : i + 1]) for i in range(5)]
    save("cnn", mod, calls, "conv 3x3x8, relu, max pool 2, dense, softmax from an ONNX graph; fused kernels", 1e-4,
         labels=[int(v) for v in label[:5]])


# ------------------------------------------------------------------ transformer, 2 layers
D, H, S, V, L = 16, 2, 8, 12, 2


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2 = nn.RMSNorm(D, -1, 1e-5, bias=False), nn.RMSNorm(D, -1, 1e-5, bias=False)
        self.qkv, self.o = nn.Linear(D, 3 * D, bias=False), nn.Linear(D, D, bias=False)
        self.up, self.down = nn.Linear(D, 4 * D), nn.Linear(4 * D, D)

    def forward(self, x, mask):
        q, k, v = nn.op.split(self.qkv(self.n1(x)), 3, axis=-1)
        heads = lambda t: nn.op.permute_dims(nn.op.reshape(t, (1, S, H, D // H)), (0, 2, 1, 3))
        q, k, v = heads(q), heads(k), heads(v)
        a = nn.op.matmul(q, nn.op.permute_dims(k, (0, 1, 3, 2))) * float((D // H) ** -0.5) + mask
        a = nn.op.matmul(nn.op.softmax(a, axis=-1), v)
        x = x + self.o(nn.op.reshape(nn.op.permute_dims(a, (0, 2, 1, 3)), (1, S, D)))
        return x + self.down(nn.op.silu(self.up(self.n2(x))))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(V, D), nn.Linear(D, V, bias=False)
        self.position = nn.Parameter((1, S, D))
        self.layers = nn.ModuleList([Block() for _ in range(L)])
        self.norm = nn.RMSNorm(D, -1, 1e-5, bias=False)

    def forward(self, tokens, mask):
        x = self.embed(tokens) + self.position
        for layer in self.layers:
            x = layer(x, mask)
        return self.head(self.norm(x))


def transformer_numpy(p, tokens, mask):
    p = {k: v.astype(np.float64) for k, v in p.items()}
    norm = lambda x, w: x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * w
    heads = lambda t: t.reshape(1, S, H, D // H).transpose(0, 2, 1, 3)
    x = p["embed.weight"][tokens] + p["position"]
    for i in range(L):
        w = lambda k: p["layers.%d.%s" % (i, k)]
        q, k, v = np.split(norm(x, w("n1.weight")) @ w("qkv.weight").T, 3, -1)
        a = heads(q) @ heads(k).transpose(0, 1, 3, 2) * (D // H) ** -0.5 + mask
        a = np.exp(a - a.max(-1, keepdims=True))
        a = (a / a.sum(-1, keepdims=True)) @ heads(v)
        x = x + a.transpose(0, 2, 1, 3).reshape(1, S, D) @ w("o.weight").T
        u = norm(x, w("n2.weight")) @ w("up.weight").T + w("up.bias")
        x = x + (u / (1 + np.exp(-u))) @ w("down.weight").T + w("down.bias")
    return norm(x, p["norm.weight"]) @ p["head.weight"].T


def transformer(rng):
    """Return the model with weights inside, and its weights."""
    mod, params = Transformer().export_tvm(spec={"forward": {
        "tokens": nn.spec.Tensor((1, S), "int32"), "mask": nn.spec.Tensor((1, 1, S, S), "float32")}})
    p = {}
    for k, v in params:
        dims = [int(d) for d in v.shape]
        p[k] = (np.ones(dims) if "n1." in k or "n2." in k or k == "norm.weight" else
                rng.normal(size=dims) * dims[-1] ** -0.5).astype(np.float32)
    return relax.transform.BindParams("forward", {k: tensor(v) for k, v in p.items()})(mod), p


def do_transformer():
    rng = np.random.default_rng(7)
    mod, p = transformer(rng)
    mask = np.triu(np.full((S, S), -1e9, np.float32), 1)[None, None]
    calls = []
    for _ in range(3):
        tokens = rng.integers(0, V, (1, S)).astype(np.int32)
        calls.append(("forward", [tokens, mask], transformer_numpy(p, tokens, mask)))
    save("transformer", mod, calls, "2 layers, 2 heads, width 16, 8 tokens, causal mask; nn.Module, weights in the "
         "executable", 1e-4, c=())


# ------------------------------------------------------------------ mlp_i8
def do_mlp_i8():
    x, w1, b1, w2, b2, out, label = aot("mlp_i8", "x", "w1", "b1", "w2", "b2", "out", "label")
    shift = json.load(open(os.path.join(AOT, "manifest.json")))["models"]["mlp_i8"]["shift"]
    bb = relax.BlockBuilder()
    kinds = [((1, 64), "int8"), ((32, 64), "int8"), ((32,), "int32"), ((10, 32), "int8"), ((10,), "int32")]
    v = [relax.Var(n, R.Tensor(s, d)) for n, (s, d) in zip(("x", "w1", "b1", "w2", "b2"), kinds)]
    const = lambda c: relax.const(c, "int32")
    with bb.function("main", v):
        with bb.dataflow():
            dense = lambda a, w, b: bb.emit(relax.op.add(bb.emit(relax.op.matmul(
                a, bb.emit(relax.op.permute_dims(w)), out_dtype="int32")), b))
            h = bb.emit(relax.op.maximum(dense(v[0], v[1], v[2]), const(0)))
            h = bb.emit(relax.op.right_shift(bb.emit(relax.op.add(h, const(1 << (shift - 1)))), const(shift)))
            h = bb.emit(relax.op.astype(bb.emit(relax.op.minimum(h, const(127))), "int8"))
            z = bb.emit_output(dense(h, v[3], v[4]))
        bb.emit_func_output(z)
    calls = [("main", [x[i : i + 1], w1, b1, w2, b2], out[i : i + 1]) for i in range(3)]
    save("mlp_i8", bb.finalize(), calls, "the perceptron in int8 with int32 sums; weights are arguments", 0.0)
    if BOARDS or ONLY and "mlp_i8" not in ONLY:
        return
    weights = {"w1": w1, "b1": b1, "w2": w2, "b2": b2}
    with open(os.path.join(OUT, "mlp_i8", "params.bin"), "wb") as f:
        f.write(tvm.runtime.save_param_dict({name: tensor(a) for name, a in weights.items()}))


# ------------------------------------------------------------------ control flow
@I.ir_module
class Control:
    @R.function
    def choose(c: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        if c:
            y = R.add(x, x)
        else:
            y = R.multiply(x, x)
        return y

    @R.function(pure=True)
    def power(n: R.Tensor((), "int64"), x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Control
        done = R.less_equal(n, R.const(0, "int64"))
        if done:
            y: R.Tensor((4,), "float32") = R.ones((4,), "float32")
        else:
            m = R.subtract(n, R.const(1, "int64"))
            rest: R.Tensor((4,), "float32") = cls.power(m, x)
            y: R.Tensor((4,), "float32") = R.multiply(rest, x)
        return y


def do_control():
    x = np.array([0.5, -1.0, 2.0, 3.0], np.float32)
    calls = [("choose", [np.array(True), x], x + x), ("choose", [np.array(False), x], x * x)]
    calls += [("power", [np.array(n, np.int64), x], x.astype(np.float64) ** n) for n in (0, 1, 5, 9)]
    save("control", Control, calls, "If on a tensor; recursion.  The C target of this version prints an "
         "empty condition for exec_mode compiled", 1e-3, c=("bytecode",))


# ------------------------------------------------------------------ shapes, tuples, closures
@I.ir_module
class Values:
    @R.function
    def pair(x: R.Tensor(("n", 4), "float32"), t: R.Tuple(R.Tensor((4,), "float32"), R.Tensor((4,), "float32"))):
        n = T.int64()
        a = R.add(x, t[0])
        b = R.multiply(x, t[1])
        return (a, (b, R.shape([n, 4 * n])))

    @R.function
    def flatten(x: R.Tensor(("n", "m"), "float32")):
        n, m = T.int64(), T.int64()
        return R.reshape(x, R.shape([n * m]))

    @R.function
    def fill(s: R.Shape(["n", "m"])):
        n, m = T.int64(), T.int64()
        return R.full((n, m), R.const(2.5, "float32"), "float32")

    @R.function
    def to_shape(x: R.Tensor((6,), "float32"), dims: R.Tensor((2,), "int64")):
        a, b = T.int64(), T.int64()
        s = R.tensor_to_shape(dims)
        t = R.match_cast(s, R.Shape([a, b]))
        return R.reshape(x, R.shape([a, b]))

    @R.function
    def closure(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
        @R.function
        def inner(z: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            w = R.add(x, z)
            return w

        r = inner(y)
        return r


def do_values():
    rng = np.random.default_rng(3)
    f = lambda *s: rng.normal(size=s).astype(np.float32)
    x, t = f(3, 4), [f(4), f(4)]
    v6, a, b = f(6), f(4), f(4)
    calls = [
        ("pair", [x, t], [x + t[0], x * t[1], np.array([3, 12])]),
        ("flatten", [x], x.reshape(-1)),
        ("fill", [tvm.runtime.ShapeTuple([2, 3])], np.full((2, 3), 2.5)),
        ("to_shape", [v6, np.array([2, 3], np.int64)], v6.reshape(2, 3)),
        ("closure", [a, b], a + b),
    ]
    mod = relax.transform.LambdaLift()(Values)
    save("values", mod, calls, "nested tuples, shapes in and out, reshape, shape from a tensor, a closure", 1e-6)


# ------------------------------------------------------------------ chain: instructions, not work
def do_chain():
    bb = relax.BlockBuilder()
    x = relax.Var("x", R.Tensor((4,), "float32"))
    with bb.function("main", [x]):
        with bb.dataflow():
            v = x
            for _ in range(1000):
                v = bb.emit(relax.op.add(v, relax.const(1.0, "float32")))
            v = bb.emit_output(v)
        bb.emit_func_output(v)
    x = np.arange(4, dtype=np.float32)
    save("chain", bb.finalize(), [("main", [x], x + 1000.0)], "1000 additions of 1 to four numbers: the cost of an "
         "instruction", 0.0, c=(), text=False)


def calls_as_text(manifest):
    """Return a line for each call: model, function, tolerance, arguments, `--`, results."""

    def text(description):
        if "tuple" in description:
            return "tuple:" + ",".join(text(part) for part in description["tuple"])
        if "shape" in description:
            return "shape:" + ",".join(str(extent) for extent in description["shape"])
        return description["tensor"]

    lines = ["# Written by gen_relax.py: model, function, tolerance, arguments, --, results.\n"]
    for name, model in sorted(manifest["models"].items()):
        for call in model["calls"]:
            words = [name, call["function"], repr(model["tolerance"]), *map(text, call["args"]), "--"]
            lines.append(" ".join(words + [text(result) for result in call["results"]]) + "\n")
    return "".join(lines)


MODELS = (do_mlp, do_mlp_dyn, do_cnn, do_transformer, do_mlp_i8, do_control, do_values, do_chain)


def main():
    for f in MODELS:
        f()
    if not ONLY and not FROM_C and not BOARDS:
        with open(os.path.join(OUT, "manifest.json"), "w") as f:
            json.dump(MANIFEST, f, indent=1, sort_keys=True)
        with open(os.path.join(OUT, "calls.txt"), "w") as f:
            f.write(calls_as_text(MANIFEST))


if __name__ == "__main__":
    main()
