"""Calls of all functions of paged key-value caches with any arguments: each gives a result, or an error that changes nothing."""

import math
import random

import numpy as np
import tvm_ffi

from kernels import Config, Kernels
from operations import CONFIGS, Operations
from pair import Pair, method, shape, state

EDGES = [0, 1, -1, 2, 7, 255, 256, 2**31 - 1, 2**31, -(2**31), 2**32, 2**62, 2**63 - 1, -(2**63)]
FLOATS = [0.0, -0.0, 1.5, -1e300, 1e300, math.inf, -math.inf, math.nan]


def tensor(*dimensions, dtype="float32"):
    return tvm_ffi.from_dlpack(np.zeros(dimensions, dtype))


class Values:
    """Arguments of every kind, right ones for a cache among them."""

    def __init__(self, pair, seed):
        self.pair, self.draw = pair, random.Random(seed)
        self.other = Kernels(Config()).create()
        self.objects = [
            None, True, False, "", "a string that is longer than 7 bytes", b"bytes", tvm_ffi.convert([]), tvm_ffi.convert({}),
            tvm_ffi.convert([1, "two"]), tvm_ffi.convert(lambda *_: None), tvm_ffi.convert(lambda *_: 1 / 0), tvm_ffi.device("cpu:0"),
            tvm_ffi.device("cuda:0"), tvm_ffi.dtype("float32"), self.other, pair.cache,
        ]  # fmt: skip

    def integer(self):
        return self.draw.choice([self.draw.choice(EDGES), self.draw.randint(-3, 20), *self.pair.plain.sequences])

    def shape(self):
        return shape(self.integer() for _ in range(self.draw.choice([0, 1, 1, 2, 3, 5, 6, 9])))

    def tensor(self):
        dimensions = [self.draw.choice([0, 1, 2, 3, 4, 8, 9]) for _ in range(self.draw.randint(0, 5))]
        dtype = self.draw.choice(["float32", "float32", "float16", "float64", "int32", "int64", "bool"])
        array = np.zeros(dimensions, dtype)
        if self.draw.random() < 0.2:
            array = array.T
        if self.draw.random() < 0.2 and array.ndim and array.shape[0] > 1:
            array = array[1:]
        return tvm_ffi.from_dlpack(array)

    def any(self):
        kinds = [self.integer, self.shape, self.tensor, lambda: self.draw.choice(FLOATS), lambda: self.draw.choice(self.objects)]
        return self.draw.choice(kinds)()

    def nearly(self, *arguments):
        """The arguments, of which one is another, or with one more or less."""
        arguments, choice = list(arguments), self.draw.random()
        if choice < 0.1:
            return arguments[: self.draw.randint(0, len(arguments))]
        if choice < 0.2:
            return [*arguments, self.any()]
        arguments[self.draw.randrange(len(arguments))] = self.any()
        return arguments


def heads(pair, rows):
    c = pair.config
    return tensor(rows, c.heads + 2 * c.key_heads, c.width), tensor(rows, c.heads, c.value_width)


def right_arguments(pair, draw):
    """Functions with arguments that are right, or could be."""
    c, rows, cache = pair.config, draw.choice([1, 2, 5]), pair.cache
    qkv, out = heads(pair, rows)
    q, k = tensor(rows, c.heads, c.width), tensor(rows, c.key_heads, c.width)
    sums = tensor(rows, c.heads)
    names = list(pair.plain.sequences) or [0]
    name, some = draw.choice(names), names[: draw.randint(0, len(names))]
    content = tensor(len(c.kinds), 2, c.key_heads, c.width)
    return [
        (state("clear"), cache), (state("add_sequence"), cache, 77), (state("remove_sequence"), cache, 78),
        (state("fork_sequence"), cache, name, 79, 3), (state("fork_sequence"), cache, name, name, -1),
        (state("popn"), cache, name, 1), (state("popn"), cache, name, 1000),
        (state("begin_forward"), cache, shape(some), shape([1] * len(some))),
        (state("begin_forward"), cache, shape(some), shape([draw.choice([0, -1, 2, 2**31, 2**62]) for _ in some])),
        (state("begin_forward"), cache, shape(some), shape([2] * len(some)), shape([-1, 0] * len(some))),
        (state("begin_forward"), cache, shape(some), shape([2] * len(some)), shape([draw.choice([-2, 1, 5]), 0] * len(some))),
        (state("begin_forward"), cache, shape([name, name]), shape([1, 1])), (state("begin_forward"), cache, shape([]), shape([])),
        (state("begin_forward"), cache, shape([name]), shape([300]), shape([-1] * 300)), (state("end_forward"), cache),
        (method("empty"), cache), (method("get_num_available_pages"), cache), (method("get_total_sequence_length"), cache),
        (method("get_sequence_length"), cache, name), (method("get_query_positions"), cache),
        (method("enable_sliding_window_for_seq"), cache, name, 9, 2), (method("enable_sliding_window_for_seq"), cache, name, 2, 9),
        (method("commit_accepted_token_tree_nodes"), cache, shape(some), shape([0] * len(some))),
        (method("commit_accepted_token_tree_nodes"), cache, shape([name, name]), shape([0, 0])),
        (method("attention_with_fused_qkv"), cache, draw.choice([0, 1, -1, 9]), 0.5, qkv, out),
        (method("attention_with_shared_kv"), cache, 0, 0.5, q, k, k, out), (method("self_attention"), cache, 0, 0.5, q, k, k, out, sums),
        (method("cross_attention"), cache, 0, 0.5, q, out, sums), (method("append_mla_kv"), cache, 0, tensor(rows, c.width)),
        (method("merge_attn_output_inplace"), cache, out, sums, tensor(rows, c.heads, c.value_width), tensor(rows, c.heads)),
        (method("debug_get_kv"), cache, name, 0, 2, content, content), (method("debug_get_kv"), cache, name, 5, 2, content, content),
        (method("debug_get_kv_mla"), cache, name, 0, 2, tensor(len(c.kinds), 2, c.width)),
        (method("get_checkpoint_metadata"), cache, 0), (method("get_layout_hash"), cache), (method("export_page_group"), cache, 0, 0),
        (method("prepare_import"), cache, 0, "{}"), (method("prepare_import"), cache, 0, '{"format_version":1,"seq_id":0}'),
        (method("import_page_group"), cache, 0, 0, content), (method("finish_import"), cache, 0),
    ]  # fmt: skip


def snapshot(pair, names):
    """Everything that can be asked of a cache, for these sequences."""
    values = [method(name)(pair.cache) for name in ("get_num_available_pages", "get_total_sequence_length", "empty")]
    for name in names:
        try:
            values.append(method("get_sequence_length")(pair.cache, name))
        except Exception as error:  # noqa: BLE001
            values.append(str(error).splitlines()[0])
    return values


NAMES = [0, 1, 2, 3, 77, 78, 79, *EDGES]


def call(pair, function, *arguments):
    """Returns whether the call succeeds. An error changes nothing."""
    before = snapshot(pair, NAMES)
    try:
        function(*arguments)
    except Exception:  # noqa: BLE001
        after = snapshot(pair, NAMES)
        assert before == after, (function, arguments, before, after)
        return False
    return True


def rebuilt(pair):
    """Empties the caches, and gives them four sequences with forks."""
    pair.clear()
    pair.compare()
    for name, length in enumerate((9, 4, 17)):
        pair.add(name)
        pair.step([name], [length])
    pair.fork(2, 3, 10)
    pair.compare()


def methods(kind, count, seed=0):
    """Calls methods. Returns the number of calls that succeeded and that were refused."""
    pair, numbers = Pair(CONFIGS[kind], seed), [0, 0]
    values = Values(pair, seed)
    rebuilt(pair)
    for index in range(count):
        function, *arguments = values.draw.choice(right_arguments(pair, values.draw))
        if values.draw.random() < 0.8:
            arguments = values.nearly(*arguments)
        numbers[not call(pair, function, *arguments)] += 1
        if index % 40 == 39:
            rebuilt(pair)
            assert index % 400 != 399 or works(pair, index)
    return numbers


def works(pair, seed):
    """Runs some random operations on the caches, which must agree."""
    pair.clear()
    operations = Operations(pair, f"afterwards {seed}", like_upstream=False)
    for _ in range(20):
        if operations.operation():
            pair.compare()
    rebuilt(pair)
    return True


def constructors(count, seed=0):
    """Calls the constructor. Returns the number of calls that succeeded and that were refused."""
    kinds, numbers = list(CONFIGS), [0, 0]
    pair = Pair(CONFIGS["gqa"], seed)
    values = Values(pair, seed)
    create = tvm_ffi.get_global_func("vm.builtin.paged_attention_kv_cache_create")
    for _ in range(count):
        arguments = values.nearly(*Kernels(CONFIGS[values.draw.choice(kinds)]).arguments())
        if arguments and values.draw.random() < 0.3:
            part = list(arguments[0]) if isinstance(arguments[0], tvm_ffi.Shape) else [0]
            part[values.draw.randrange(len(part))] = values.draw.choice(EDGES)
            arguments[0] = shape(part)
        try:
            cache = create(*arguments)
            numbers[0] += 1
            state("add_sequence")(cache, 5)
            state("begin_forward")(cache, shape([5]), shape([3]))
        except Exception:  # noqa: BLE001
            numbers[1] += 1
    return numbers


def failing_kernels(kind, seed=0):
    """Lets kernels raise errors: forks, pops and commits change nothing then, and the cache works on."""
    pair = Pair(CONFIGS[kind], seed)
    refusing = [0]

    def fails(body):
        def run(*arguments):
            if refusing[0] == 1:
                raise ValueError("this kernel fails")
            refusing[0] -= 1
            return body(*arguments)

        return tvm_ffi.convert(run)

    names = ("copy_page", "copy_page_latent", "compact", "split", "append", "append_latent")
    pair.cache = pair.kernels.create(**{name: fails(getattr(pair.kernels, name)) for name in names})
    rebuilt(pair)
    pair.fork(2, 4, pair.config.page)
    for at in (1, 2):
        for function, *arguments in ((state("fork_sequence"), pair.cache, 0, 5, 6), (state("popn"), pair.cache, 4, 2)):
            refusing[0] = at
            assert not call(pair, function, *arguments), (function, arguments)
            refusing[0] = 0
            pair.contents()
    assert works(pair, seed)


def reentrant_kernels(kind, seed=0):
    """Lets kernels call the cache that called them: whatever that gives, the cache works on afterwards."""
    pair, draw = Pair(CONFIGS[kind], seed), random.Random(seed)
    active = [False]

    def enters(body):
        def run(*arguments):
            if active[0]:
                active[0] = False
                function, *others = draw.choice(right_arguments(pair, draw))
                try:
                    function(*others)
                except Exception:  # noqa: BLE001
                    pass
                active[0] = True
            return body(*arguments)

        return tvm_ffi.convert(run)

    names = ("copy_page", "copy_page_latent", "split", "append", "append_latent", "read", "read_latent", "prefill", "decode")
    pair.cache = pair.kernels.create(**{name: enters(getattr(pair.kernels, name)) for name in names})
    for _ in range(60):
        rebuilt(pair)
        active[0] = True
        for _ in range(3):
            function, *arguments = draw.choice(right_arguments(pair, draw))
            try:
                function(*arguments)
            except Exception:  # noqa: BLE001
                pass
        active[0] = False
    assert works(pair, seed)
