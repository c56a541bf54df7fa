"""Random operations on a paged key-value cache and on one without pages, whose results are compared after each.

    python operations.py KIND COUNT [--seed N] [--like-upstream] [--record FILE]

With `--like-upstream`, operations keep clear of what TVM's cache computes wrongly; `--record` writes all results.
"""

import argparse
import random

import numpy as np

from kernels import INLINE, MHA, MLA, NONE, NORMAL, SLIDING, Config
from pair import Pair

CONFIGS = {
    "mha": Config(heads=2, key_heads=2, rope=NONE),
    "gqa": Config(heads=6, key_heads=2, rope=NORMAL, scale=0.5, theta=500.0),
    "wide_pages": Config(heads=4, key_heads=1, page=16, tokens=480),
    "inline": Config(rope=INLINE, scale=0.5),
    "window": Config(windows=True),
    "window_none": Config(windows=True, rope=NONE, page=5),
    "layer_window": Config(kinds=(SLIDING, MHA, SLIDING), layer_window=11),
    "latent": Config(kinds=(MLA, MLA), heads=3, key_heads=1, width=12, value_width=8, rope=NONE),
}


class Operations:
    """Draws operations that a cache must accept, from what the plain cache holds."""

    def __init__(self, pair, seed, like_upstream):
        self.pair, self.draw, self.like_upstream = pair, random.Random(seed), like_upstream
        self.plain, self.config = pair.plain, pair.config
        self.forks = {}  # how often each sequence was forked, or is from a fork
        self.last_tree = []  # names of the last step, if that had trees

    def fresh_name(self):
        while True:
            name = self.draw.choice([self.draw.randrange(20), self.draw.randrange(2**63)])
            if not self.like_upstream and self.draw.random() < 0.3:
                name = -1 - name
            if name not in self.plain.sequences:
                return name

    def pages_at_most(self):
        """More pages than the sequences and the shared pages can have."""
        return sum(len(s) // self.config.page + 3 for s in self.plain.sequences.values())

    def capacity(self):
        """Tokens that fit in any case."""
        return (self.config.pages - self.pages_at_most()) * self.config.page

    def committed(self):
        return [name for name, s in self.plain.sequences.items() if not s.parents]

    def position(self, length):
        page = self.config.page
        return self.draw.choice([-1, length, 0, length // page * page, length // page // 2 * page, self.draw.randint(0, length)])

    def operation(self):
        """Does one operation. Returns its name and arguments, or None if it is not possible now."""
        names = ["add"] * 2 + ["remove"] + ["fork"] * 3 + ["popn"] * 2 + ["step"] * 8 + ["contents"]
        if not self.like_upstream:
            names += ["tight_step"]
        if self.config.sliding:
            names += ["window"] * 2
        if set(self.config.kinds) == {MHA} and not self.config.windows and not self.config.inline:
            names += ["tree"] * 3 + ["commit"] * 3
        if self.draw.random() < 0.004:
            names = ["clear"]
        return getattr(self, self.draw.choice(names))()

    def do(self, name, *arguments, **other):
        self.pair.log.append((name, arguments, other))
        getattr(self.pair, name)(*arguments, **other)
        return True

    def add(self):
        if len(self.plain.sequences) >= self.config.sequences:
            return None
        name = self.fresh_name()
        self.forks[name] = 0
        return self.do("add", name)

    def remove(self):
        if not self.plain.sequences:
            return None
        return self.do("remove", self.draw.choice(list(self.plain.sequences)))

    def fork(self):
        names = self.committed()
        if not names or len(self.plain.sequences) >= self.config.sequences or self.capacity() < self.config.page * 2:
            return None
        parent = self.draw.choice(names)
        sequence = self.plain.sequences[parent]
        position = self.position(len(sequence))
        if sequence.window:
            position = self.draw.randint(0, min(sequence.pinned, len(sequence)))
        if self.like_upstream and self.is_fork_of_window_wrong(parent):
            return None
        child = self.fresh_name()
        self.forks[parent] += 1
        self.forks[child] = self.forks[parent]
        return self.do("fork", parent, child, position)

    def is_fork_of_window_wrong(self, parent):
        """Upstream is wrong for forks with layer windows, for forks of a window that has slid, and for forks of forks."""
        return SLIDING in self.config.kinds or self.config.sliding and (self.forks[parent] or self.plain.sequences[parent].slid)

    def popn(self):
        names = self.committed()
        if not names or self.capacity() < self.config.page:
            return None
        name = self.draw.choice(names)
        sequence = self.plain.sequences[name]
        if self.config.sliding and (self.like_upstream or sequence.window or sequence.prefix):
            return None
        count = self.draw.choice([0, 1, self.draw.randint(0, len(sequence)), len(sequence)])
        return self.do("popn", name, min(count, len(sequence)))

    def window(self):
        names = [name for name, s in self.plain.sequences.items() if not s.window and len(s) < 40]
        if not names:
            return None
        name = self.draw.choice(names)
        sequence = self.plain.sequences[name]
        sink = self.draw.choice([0, 0, 1, self.draw.randint(0, 9)])
        window = max(sink, sequence.prefix) + self.draw.randint(1, 20)
        return self.do("window", name, window, sink)

    def lengths(self, count):
        if self.draw.random() < 0.5:
            return [1] * count
        return [self.draw.choice([1, 2, self.draw.randint(1, 24)]) for _ in range(count)]

    def batch(self, names):
        names = list(names)
        self.draw.shuffle(names)
        return names[: self.draw.randint(1, len(names))]

    def fits(self, lengths):
        return sum(lengths) <= min(self.config.chunk, self.capacity() - self.config.page * (len(lengths) + 1))

    def step(self):
        if not self.committed() or self.like_upstream and self.last_tree:
            return self.commit() if self.last_tree else None
        names = self.batch(self.committed())
        lengths = self.lengths(len(names))
        if not self.fits(lengths):
            return self.remove()
        shared = MLA not in self.config.kinds and not self.config.sliding and self.draw.random() < 0.2
        padding = self.draw.choice([0, 0, 0, 3])
        return self.do("step", names, lengths, shared=shared, padding=padding)

    def tight_step(self):
        """Does a step that takes about all free pages: one that does not fit changes nothing."""
        names, free = self.committed(), self.pair.free_pages()
        if not names:
            return None
        names, size = self.batch(names), self.config.page
        lengths = [self.draw.randint(1, max(1, free * size // len(names) + size)) for _ in names]
        if sum(lengths) > self.config.chunk:
            return None
        old = [len(self.plain.sequences[name]) for name in names]
        needed = sum(-(-(n + length) // size) + -n // size for n, length in zip(old, lengths))
        fits = None if self.config.sliding else needed <= free
        return self.do("step", names, lengths, fits=fits, may_be_refused=True)

    def tree(self):
        names = self.plain.sequences if not self.last_tree or not self.like_upstream else []
        if not names:
            return None
        names = self.batch(names)
        if self.like_upstream and any(self.plain.sequences[name].parents for name in names):
            return None
        lengths = [self.draw.choice([1, 2, 3, self.draw.randint(1, 9)]) for _ in names]
        if not self.fits(lengths):
            return None
        parents = []
        for name, length in zip(names, lengths):
            nodes = len(self.plain.sequences[name].parents)
            chain = self.draw.random() < 0.3
            parents += [node - 1 if chain else self.draw.randint(-1, node - 1) for node in range(nodes, nodes + length)]
        if self.like_upstream and self.is_chain(parents[-lengths[-1] :]):
            return None
        self.last_tree = names
        return self.do("step", names, lengths, parents, shared=self.draw.random() < 0.2)

    def is_chain(self, parents):
        return all(parent == node - 1 for node, parent in enumerate(parents))

    def commit(self):
        names = [name for name in self.last_tree if name in self.plain.sequences] if self.like_upstream else []
        if self.like_upstream and len(names) != len(self.last_tree):
            # Upstream pops by the step's order, so that the rest cannot be committed.
            self.last_tree = []
            return self.do("clear")
        if not self.like_upstream:
            names = [name for name, s in self.plain.sequences.items() if s.parents]
            names = self.batch(names) if names else []
        self.last_tree = []
        if not names:
            return None
        return self.do("commit", names, [self.draw.randint(-1, self.plain.sequences[name].newest - 1) for name in names])

    def contents(self):
        return self.do("contents")

    def clear(self):
        self.last_tree = []
        return self.do("clear")


def run(kind, count, seed=0, like_upstream=False, record=None):
    """Does `count` operations. Returns the number of each, and of calls of kernels."""
    pair = Pair(CONFIGS[kind], seed)
    pair.record = record
    operations, done = Operations(pair, f"{kind} {seed}", like_upstream), {}
    while sum(done.values()) < count:
        if operations.operation():
            name = pair.log[-1][0]
            done[name] = done.get(name, 0) + 1
            pair.compare()
    for name in list(pair.plain.sequences):
        pair.remove(name)
        pair.compare()
    return done, pair.kernels.calls


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=CONFIGS)
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--like-upstream", action="store_true")
    parser.add_argument("--record")
    a = parser.parse_args()
    record = [] if a.record else None
    done, calls = run(a.kind, a.count, a.seed, a.like_upstream, record)
    if a.record:
        np.savez(a.record, names=[name for name, _ in record], **{str(i): value for i, (_, value) in enumerate(record)})
    print(a.kind, done, dict(calls))


if __name__ == "__main__":
    main()
