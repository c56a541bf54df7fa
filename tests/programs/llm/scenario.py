"""Runs the scenarios of language models with tvm_ffi alone, on the machine and the cache of the process.

    model = Model("llama", "bytecode")
    results = run(model, scenario)          # a list of (label, array)

Steps (field "op"): add, remove, fork, popn, window, prefill, batch_prefill, decode, verify, commit, state, kv, sample, clear.
"""

import functools
import json
import pathlib

import numpy as np
import tvm_ffi

FOLDER = pathlib.Path(__file__).parent
CPU, OPENCL = (1, 0), (4, 0)


def builtin(name):
    """The builtin of the machine, or the method of a cache, of this name."""
    return tvm_ffi.get_global_func("vm.builtin." + name)


def shape(values):
    return tvm_ffi.Shape([int(value) for value in values])


def tensor(array):
    """A tensor with a copy of the array, aligned to 64 bytes."""
    array = np.asarray(array)
    raw = np.empty(array.nbytes + 64, np.uint8)
    at = -raw.ctypes.data % 64
    aligned = raw[at : at + array.nbytes].view(array.dtype).reshape(array.shape)
    aligned[...] = array
    return tvm_ffi.from_dlpack(aligned)


def array(value):
    return np.array(np.from_dlpack(value), copy=True)


@functools.cache
def manifest():
    return json.loads((FOLDER / "manifest.json").read_text())["models"]


class Model:
    """A model of this folder with its weights: its functions are attributes."""

    def __init__(self, name, library, device=CPU, folder=FOLDER, names=None):
        self.device = device
        self.machine = tvm_ffi.load_module(str(folder / name / f"{library}.so"))["vm_load_executable"]()
        self.machine["vm_initialization"](*device, 2, *([] if device == CPU else [1, 0, 2]))
        builtin("tensor_cache.clear")()
        builtin("tensor_cache.load")(str(folder / name / "params"), *device)
        names = names or manifest()[name]["params"]
        self.params = builtin("param_array_from_cache_by_name")(tvm_ffi.convert(list(names)))
        builtin("tensor_cache.clear")()

    def __getattr__(self, name):
        return self.machine[name]

    def create(self, config):
        return self.machine["create_paged_kv_cache"](*[shape([number]) for number in config])

    def to_device(self, value):
        return value if self.device == CPU else builtin("to_device")(value, *self.device)

    def host(self, value):
        return array(value if self.device == CPU else builtin("to_device")(value, *CPU))

    def embedded(self, tokens, dimensions):
        value = self.machine["embed"](self.to_device(tensor(np.array(tokens, "int32"))), self.params)
        return builtin("reshape")(value, shape([*dimensions, value.shape[-1]]))


class Run:
    """A run of a scenario: the cache, the results, and the last logits of each sequence."""

    def __init__(self, model, scenario, greedy):
        self.model, self.greedy = model, greedy
        self.cache, self.out, self.last = model.create(scenario["create"]), [], {}

    def forward(self, function, step, seqs, lengths, tokens, *arguments, parents=None, dimensions=None):
        extra = [] if parents is None else [shape(parents)]
        builtin("kv_state_begin_forward")(self.cache, shape(seqs), shape(lengths), *extra)
        x = self.model.embedded(tokens, dimensions or (1, sum(lengths)))
        value = function(x, *arguments, self.cache, self.model.params)[0]
        builtin("kv_state_end_forward")(self.cache)
        value = self.model.host(value)
        value = value.reshape(-1, value.shape[-1])
        self.out.append((step, value))
        return value

    def remember(self, seqs, rows):
        self.last.update(zip(seqs, rows))

    def add(self, _, step):
        builtin("kv_state_add_sequence")(self.cache, step["seq"])

    def remove(self, _, step):
        builtin("kv_state_remove_sequence")(self.cache, step["seq"])

    def fork(self, _, step):
        builtin("kv_state_fork_sequence")(self.cache, step["parent"], step["child"], step.get("pos", -1))
        self.last[step["child"]] = self.last.get(step["parent"])

    def popn(self, _, step):
        builtin("kv_state_popn")(self.cache, step["seq"], step["n"])

    def window(self, _, step):
        builtin("attention_kv_cache_enable_sliding_window_for_seq")(self.cache, step["seq"], step["size"], step["sink"])

    def clear(self, *_):
        builtin("kv_state_clear")(self.cache)

    def prefill(self, label, step):
        tokens = step["tokens"]
        self.remember([step["seq"]], self.forward(self.model.prefill, label, [step["seq"]], [len(tokens)], tokens))

    def batch_prefill(self, label, step):
        lengths = [len(tokens) for tokens in step["tokens"]]
        ends = self.model.to_device(tensor((np.cumsum(lengths) - 1).astype("int32")))
        rows = self.forward(self.model.batch_prefill, label, step["seqs"], lengths, sum(step["tokens"], []), ends)
        self.remember(step["seqs"], rows)

    def decode(self, label, step):
        seqs, fed = step["seqs"], []
        function = self.model.decode if len(seqs) == 1 else self.model.batch_decode
        for i in range(step["count"]):
            tokens = [int(np.argmax(self.last[seq])) for seq in seqs] if self.greedy else step["fed"][i]
            fed.append(tokens)
            rows = self.forward(function, f"{label}.{i}", seqs, [1] * len(seqs), tokens, dimensions=(len(seqs), 1))
            self.remember(seqs, rows)
        self.out.append((label + ".tokens", np.array(fed, "int32")))

    def verify(self, label, step):
        lengths = [len(tokens) for tokens in step["tokens"]]
        tokens, parents = sum(step["tokens"], []), sum(step["parents"], [])
        rows = self.forward(self.model.batch_verify, label, step["seqs"], lengths, tokens, parents=parents)
        for seq, leaf, begin in zip(step["seqs"], step["leaves"], np.cumsum([0, *lengths])):
            if leaf >= 0:
                self.last[seq] = rows[begin + leaf]

    def commit(self, _, step):
        commit = builtin("attention_kv_cache_commit_accepted_token_tree_nodes")
        commit(self.cache, shape(step["seqs"]), shape(step["leaves"]))

    def state(self, label, step):
        names = ["get_num_available_pages", "get_total_sequence_length", "empty"]
        values = [int(builtin("attention_kv_cache_" + name)(self.cache)) for name in names]
        length = builtin("attention_kv_cache_get_sequence_length")
        values += [length(self.cache, seq) for seq in step.get("seqs", [])]
        self.out.append((label, np.array(values, "int64")))

    def kv(self, label, step):
        parts = ("k", "v") if len(step["shape"]) == 4 else ("kv",)
        values = [self.model.to_device(tensor(np.zeros(step["shape"], step["dtype"]))) for _ in parts]
        get = builtin("attention_kv_cache_debug_get_kv" + ("" if len(parts) == 2 else "_mla"))
        get(self.cache, step["seq"], step["start"], step["start"] + step["shape"][1], *values)
        self.out += [(f"{label}.{part}", self.model.host(value)) for part, value in zip(parts, values)]

    def sample(self, label, step):
        rows = np.stack([self.last[seq] for seq in step["seqs"]]).astype("float32")[:, None, :]
        to_device = self.model.to_device
        p = self.model.softmax_with_temperature(to_device(tensor(rows)), to_device(tensor(np.array(step["temperature"], "float32"))))
        p = self.model.host(p).reshape(len(rows), -1)
        self.out.append((label + ".p", p))
        choose = builtin("sample_top_p_from_prob")
        picks = [choose(tensor(row[None]), top, uniform) for row, top, uniform in zip(p, step["top_p"], step["uniform"])]
        self.out.append((label + ".tokens", np.array(picks, "int32")))


def run(model, scenario, greedy=True):
    """Runs all steps. Without `greedy`, the tokens of decode steps are those of the scenario (field "fed")."""
    state = Run(model, scenario, greedy)
    for at, step in enumerate(scenario["steps"]):
        getattr(state, step["op"])(f"{at}.{step['op']}", step)
    return state.out


def compare(model, name, scenario_name):
    """Runs a scenario of the model `name`. Returns the largest difference from the expected results; lists must be equal."""
    scenario = json.loads((FOLDER / name / f"{scenario_name}.json").read_text())
    data = (FOLDER / name / f"{scenario_name}.bin").read_bytes()
    got, largest = run(model, scenario, greedy=False), 0.0
    assert [label for label, _ in got] == [entry["label"] for entry in scenario["expect"]]
    for (label, value), entry in zip(got, scenario["expect"]):
        count = int(np.prod(entry["shape"]))
        expected = np.frombuffer(data, entry["dtype"], count, entry["offset"]).reshape(entry["shape"])
        if value.dtype.kind == "i":
            np.testing.assert_array_equal(value, expected, f"{name} {scenario_name} {label}")
            continue
        largest = max(largest, float(np.abs(value.astype("f8") - expected).max()))
        assert largest <= manifest()[name]["tolerance"], (name, scenario_name, label, largest)
    return largest


def compare_all(name, library, device=CPU):
    """Runs all scenarios of a model with one of its libraries, and prints the largest difference of each."""
    model = Model(name, library, device)
    for scenario_name in manifest()[name]["scenarios"]:
        print(f"{name} {library} {scenario_name}: largest difference {compare(model, name, scenario_name):.1e}")
