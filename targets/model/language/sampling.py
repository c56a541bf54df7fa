"""Choice of the next token on the device that has the logits: the functions that WebLLM calls by name."""

from tvm.script import tirx as T

THREADS = 64
"""Threads of a block: every device has as many."""


def loops(target):
    """Returns the loops over blocks and over threads of a block: on CPUs they are serial."""
    if "gpu" in target.keys:
        return lambda count: T.thread_binding(count, thread="blockIdx.x"), lambda: T.thread_binding(THREADS, thread="threadIdx.x")
    return lambda count: T.serial(count), lambda: T.serial(THREADS)


def changes(vocab, target):
    """Returns the functions that change logits in place, by their names."""
    blocks, threads = loops(target)
    per_row = (vocab + THREADS - 1) // THREADS
    attributes = {"tirx.is_scheduled": True, "tirx.noalias": True}

    @T.prim_func(s_tir=True)
    def add_biases(logits: T.handle, rows: T.handle, tokens: T.handle, biases: T.handle):
        T.func_attr(attributes | {"global_symbol": "apply_logit_bias_inplace"})
        batch = T.int32()
        count = T.int32()
        L = T.match_buffer(logits, (batch, vocab), "float32")
        R = T.match_buffer(rows, (count,), "int32")
        K = T.match_buffer(tokens, (count,), "int32")
        B = T.match_buffer(biases, (count,), "float32")
        for block in blocks((count + (THREADS - 1)) // THREADS):
            for thread in threads():
                with T.sblock("bias"):
                    T.reads()
                    T.writes()
                    i: T.let[T.int32] = block * THREADS + thread
                    if i < count:
                        L[R[i], K[i]] = L[R[i], K[i]] + B[i]

    @T.prim_func(s_tir=True)
    def subtract_penalties(logits: T.handle, sequences: T.handle, rows: T.handle, tokens: T.handle, uses: T.handle, penalties: T.handle):
        T.func_attr(attributes | {"global_symbol": "apply_penalty_inplace"})
        batch = T.int32()
        chosen = T.int32()
        count = T.int32()
        L = T.match_buffer(logits, (batch, vocab), "float32")
        S = T.match_buffer(sequences, (chosen,), "int32")
        R = T.match_buffer(rows, (count,), "int32")
        K = T.match_buffer(tokens, (count,), "int32")
        U = T.match_buffer(uses, (count,), "int32")
        # Of presence, frequency and repetition.
        P = T.match_buffer(penalties, (chosen, 3), "float32")
        for block in blocks((count + (THREADS - 1)) // THREADS):
            for thread in threads():
                with T.sblock("penalty"):
                    T.reads()
                    T.writes()
                    i: T.let[T.int32] = block * THREADS + thread
                    if i < count:
                        row: T.let[T.int32] = S[R[i]]
                        changed: T.let[T.float32] = L[row, K[i]] - P[R[i], 0] - T.Cast("float32", U[i]) * P[R[i], 1]
                        L[row, K[i]] = T.if_then_else(changed < T.float32(0), changed * P[R[i], 2], changed / P[R[i], 2])

    @T.prim_func(s_tir=True)
    def mask(logits: T.handle, sequences: T.handle, masks: T.handle):
        T.func_attr(attributes | {"global_symbol": "apply_bitmask_inplace"})
        batch = T.int32()
        chosen = T.int32()
        L = T.match_buffer(logits, (batch, vocab), "float32")
        S = T.match_buffer(sequences, (chosen,), "int32")
        M = T.match_buffer(masks, (batch, (vocab + 31) // 32), "int32")
        for block in blocks(chosen * per_row):
            for thread in threads():
                with T.sblock("mask"):
                    T.reads()
                    T.writes()
                    row: T.let[T.int32] = S[block // per_row]
                    token: T.let[T.int32] = block % per_row * THREADS + thread
                    if token < vocab:
                        if (M[row, token // 32] >> (token % 32)) & 1 == 0:
                            L[row, token] = T.min_value("float32")

    return {function.attrs["global_symbol"]: function for function in (add_biases, subtract_penalties, mask)}


def sorted_probabilities(vocab, target):
    """Returns the kernel that sorts the rows of a matrix from the largest number, and returns the columns, too: of equal ones the first comes first.

    It is a bitonic sort whose steps all have one direction. Numbers that a power of two would need at the end are the smallest, so that
    they never move, and need not be there.
    """
    blocks, threads = loops(target)
    stages = max(1, (vocab - 1).bit_length())
    per_row = (vocab + THREADS - 1) // THREADS
    pairs = ((1 << stages) // 2 + THREADS - 1) // THREADS

    @T.prim_func(s_tir=True)
    def argsort(probabilities: T.handle, sorted_handle: T.handle, columns: T.handle):
        T.func_attr({"tirx.is_scheduled": True, "tirx.noalias": True})
        rows = T.int32()
        P = T.match_buffer(probabilities, (rows, vocab), "float32")
        V = T.match_buffer(sorted_handle, (rows, vocab), "float32")
        C = T.match_buffer(columns, (rows, vocab), "int32")
        for block in blocks(rows * per_row):
            for thread in threads():
                with T.sblock("copy"):
                    T.reads()
                    T.writes()
                    row: T.let[T.int32] = block // per_row
                    at: T.let[T.int32] = block % per_row * THREADS + thread
                    if at < vocab:
                        V[row, at] = P[row, at]
                        C[row, at] = at
        for stage in T.serial(stages):
            for step in T.serial(stage + 1):
                for block in blocks(rows * pairs):
                    for thread in threads():
                        with T.sblock("exchange"):
                            T.reads()
                            T.writes()
                            # A buffer: TVM would repeat the expression of a variable.
                            at = T.sblock_alloc_buffer((2,), "int32", scope="local")
                            row: T.let[T.int32] = block // pairs
                            pair: T.let[T.int32] = block % pairs * THREADS + thread
                            size: T.let[T.int32] = 1 << (stage - step)
                            at[0] = (pair >> (stage - step)) * 2 * size
                            # The first step of a stage pairs the ends of two sorted runs.
                            at[1] = at[0] + T.Select(step == 0, 2 * size - 1 - (pair & (size - 1)), size + (pair & (size - 1)))
                            at[0] = at[0] + (pair & (size - 1))
                            if at[1] < vocab:
                                if V[row, at[1]] > V[row, at[0]] or (V[row, at[1]] == V[row, at[0]] and C[row, at[1]] < C[row, at[0]]):
                                    value: T.let[T.float32] = V[row, at[0]]
                                    column: T.let[T.int32] = C[row, at[0]]
                                    V[row, at[0]] = V[row, at[1]]
                                    C[row, at[0]] = C[row, at[1]]
                                    V[row, at[1]] = value
                                    C[row, at[1]] = column

    return argsort


def top_p_sample(vocab, target):
    """Returns the kernel that draws a column for each sample, from the largest probabilities of a row whose sum reaches `top_p`."""
    blocks, _ = loops(target)

    @T.prim_func(s_tir=True)
    def sample(sorted_handle: T.handle, columns: T.handle, uniform: T.handle, rows: T.handle, top_p: T.handle, tokens: T.handle):
        T.func_attr({"tirx.is_scheduled": True, "tirx.noalias": True})
        batch = T.int32()
        samples = T.int32()
        V = T.match_buffer(sorted_handle, (batch, vocab), "float32")
        C = T.match_buffer(columns, (batch, vocab), "int32")
        U = T.match_buffer(uniform, (samples,), "float32")
        R = T.match_buffer(rows, (samples,), "int32")
        P = T.match_buffer(top_p, (batch,), "float32")
        K = T.match_buffer(tokens, (samples,), "int32")
        for i in blocks(samples):
            with T.sblock("sample"):
                T.reads()
                T.writes()
                total = T.sblock_alloc_buffer((2,), "float32", scope="local")
                at = T.sblock_alloc_buffer((1,), "int32", scope="local")
                row: T.let[T.int32] = R[i]
                total[0] = T.float32(0)
                at[0] = 0
                while at[0] < vocab and total[0] < P[row]:
                    total[0] = total[0] + V[row, at[0]]
                    at[0] = at[0] + 1
                total[0] = total[0] * U[i]
                total[1] = V[row, 0]
                at[0] = 0
                while at[0] + 1 < vocab and total[1] <= total[0]:
                    at[0] = at[0] + 1
                    total[1] = total[1] + V[row, at[0]]
                K[i] = C[row, at[0]]

    return sample
