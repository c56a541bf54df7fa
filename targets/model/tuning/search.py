"""A search for schedules with MetaSchedule. Its time is divided among kernels by their share of the model's time."""

import dataclasses
import importlib.util
import itertools
import math
import signal
import time

import quote
from failure import Failure
from schedule import kernel
from tvm.s_tir import Schedule, meta_schedule

from . import records
from .isolation import Failed

BATCH = 16
"""Candidates of a kernel that are built and measured before another kernel may be next."""
POPULATION = 64
"""Candidates among which the model of their times chooses."""
PROGRESS = 10
"""Seconds between two lines of progress."""
CONFIRMATION = 0.3
"""Seconds to measure the best schedule of a kernel at the end."""
SHOWN = 12
"""Kernels in the list of gains."""
TRIALS = 1 << 20
"""Most candidates of a kernel, which time limits before."""


@dataclasses.dataclass
class Task:
    """A kernel: how often the model calls it, and what the search knows of it."""

    name: str
    calls: int
    context: object
    workload: object
    arguments: object
    ours: object
    library: str = ""
    """Path of the kernel with Ferrite's schedule."""
    first: float = 0
    """Seconds of a call with Ferrite's schedule."""
    best: float = 0
    """Seconds of a call with the best schedule."""
    winner: str = ""
    """Path of the best kernel that this search found."""
    spent: float = 0
    trials: int = 0
    failed: int = 0
    is_searched: bool = False

    @property
    def shapes(self):
        """The element types and extents of the arguments."""
        return [info.as_json()[1:] for info in self.arguments]


class Search:
    """The tasks of a model, and the database of their records."""

    def __init__(self, mod, database, target, bench, threads):
        self.database, self.target, self.bench = database, target, bench
        self.model = cost_model(threads)
        extracted = meta_schedule.relax_integration.extract_tasks(mod, target)
        self.tasks = [task for found in extracted if (task := self._task(found, threads))]

    def _task(self, extracted, threads):
        """Returns the task of a kernel, or None if its extents are known at run time only, or its loops are fixed."""
        mod = extracted.dispatched[0]
        function = mod["main"]
        if function.attrs.get("tirx.is_scheduled", False):
            return None
        try:
            arguments = meta_schedule.arg_info.ArgInfo.from_prim_func(function)
        except Exception:  # noqa: BLE001 - its class is not public
            return None
        context = meta_schedule.TuneContext(
            mod=mod,
            target=self.target,
            space_generator=meta_schedule.space_generator.PostOrderApply(sch_rules=rules(), postprocs="llvm", mutator_probs="llvm"),
            search_strategy=meta_schedule.search_strategy.EvolutionarySearch(population_size=POPULATION, init_min_unmeasured=BATCH, genetic_num_iters=2),
            task_name=extracted.task_name,
            num_threads=threads,
        )
        ours = kernel.schedule_of(function) or Schedule(function)
        return Task(extracted.task_name, extracted.weight, context, self.database.commit_workload(mod), arguments, ours)

    def run(self, seconds):
        """Searches until the time is over. An interrupt ends it earlier, and keeps what was found."""
        with Deadline() as deadline:
            self._prepare(deadline)
            print(f"tuning       {len(self.tasks)} kernels, which take {self._total('first')} of a call, for {seconds / 60:g} minutes", flush=True)
            deadline.start(seconds)
            shown = 0
            while not deadline.is_over and (task := self._next()):
                self._step(task, deadline)
                if deadline.spent > shown + PROGRESS:
                    shown = deadline.spent
                    print(self._progress(shown), flush=True)
            if deadline.is_interrupted:
                print("interrupted  the records have what was found")
        self._confirm()
        print(self._gains())

    def _prepare(self, deadline):
        """Builds each kernel with Ferrite's schedule, and measures those of which there is no record."""
        built, error = list(self.bench.built(task.ours.mod for task in self.tasks)), None
        for task, library in zip(self.tasks, built):
            if deadline.is_over:
                break
            try:
                task.library = path_of(library)
                task.first = records.seconds(self.database, task.workload, task.ours.trace) or self._first(task)
            except Failed as failed:
                error = failed
                continue
            task.best = float(records.best(self.database, task.workload).run_secs[0])
            task.context.pre_tuning(TRIALS, BATCH, database=self.database, cost_model=self.model)
        if error and not any(task.first for task in self.tasks):
            raise Failure(f"no kernel of the model runs on this machine: {quote.visible(error)}")
        self.tasks = [task for task in self.tasks if task.first]

    def _first(self, task):
        """Measures a kernel with Ferrite's schedule."""
        seconds = self.bench.seconds([task.library], task.shapes)[0]
        self._commit(task, task.ours.trace, seconds)
        return seconds

    def _next(self):
        """Returns the task whose part of the time is furthest below its share."""
        open_tasks = (task for task in self.tasks if not task.is_searched)
        return min(open_tasks, key=lambda task: (1 + task.spent) / (task.calls * task.best), default=None)

    def _step(self, task, deadline):
        """Builds and measures some candidates of a task."""
        begin = deadline.spent
        candidates = task.context.generate_measure_candidates()
        if not candidates:
            task.is_searched = True
            return
        # All are built first, so that measurements have the machine for themselves.
        mods = itertools.takewhile(lambda _: not deadline.is_over, (candidate.sch.mod for candidate in candidates))
        libraries = list(self.bench.built(mods))
        results = [self._result(task, *pair) for pair in zip(candidates, libraries)]
        if len(results) == len(candidates):
            task.context.notify_runner_results(candidates, results)
            self.model.update(task.context, candidates, results)
        task.spent += deadline.spent - begin

    def _result(self, task, candidate, library):
        """Measures a candidate beside Ferrite's schedule. The time in its record is in relation to the first one of that schedule."""
        task.trials += 1
        try:
            ours, theirs = self.bench.seconds([task.library, path_of(library)], task.shapes)
        except Failed as failed:
            task.failed += 1
            return meta_schedule.runner.RunnerResult(None, str(failed))
        seconds = task.first * theirs / ours
        if seconds < task.best:
            task.best, task.winner = seconds, library
        self._commit(task, candidate.sch.trace, seconds)
        return meta_schedule.runner.RunnerResult([seconds], None)

    def _confirm(self):
        """Measures the best schedules for longer. Ferrite's gets another record, in relation to the best one's time: so the faster is first."""
        for task in self.tasks:
            if task.winner:
                try:
                    ours, theirs = self.bench.seconds([task.library, task.winner], task.shapes, CONFIRMATION)
                except Failed:
                    # It fails at times, so Ferrite's must be first.
                    ours, theirs = 0.9, 1
                task.first = task.best * ours / theirs
                self._commit(task, task.ours.trace, task.first)
            task.best = min(task.best, task.first)

    def _commit(self, task, trace, seconds):
        records.commit(self.database, task.workload, trace, seconds, self.target, task.arguments)

    def _total(self, time_of):
        return f"{1e6 * sum(task.calls * getattr(task, time_of) for task in self.tasks):.1f} us"

    def _progress(self, seconds):
        trials, failed = (sum(getattr(task, name) for task in self.tasks) for name in ("trials", "failed"))
        return f"{int(seconds) // 60:9}:{int(seconds) % 60:02} {trials} candidates, {failed} failed, {self._total('best')} of {self._total('first')}"

    def _gains(self):
        """Returns the times of the kernels before and after, the longest first."""
        lines = [f"{'us before':>10} {'after':>10} {'calls':>5} {'tried':>6}  kernel"]
        for task in sorted(self.tasks, key=lambda task: -task.calls * task.first):
            lines.append(f"{1e6 * task.first:10.1f} {1e6 * task.best:10.1f} {task.calls:5} {task.trials:6}  {task.name}")
        return "\n".join([*lines[: SHOWN + 1], f"tuned        {self._total('best')} in place of {self._total('first')} in each call"])


class Deadline:
    """The end of a search: after some seconds, or at an interrupt. An exception instead would reach TVM's threads, and crash."""

    def __init__(self):
        self.is_interrupted, self.begin, self.seconds = False, time.monotonic(), math.inf

    def __enter__(self):
        self.earlier = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, *_):
        signal.signal(signal.SIGINT, self.earlier)

    def _interrupt(self, *_):
        self.is_interrupted = True

    def start(self, seconds):
        self.begin, self.seconds = time.monotonic(), seconds

    @property
    def spent(self):
        return time.monotonic() - self.begin

    @property
    def is_over(self):
        return self.is_interrupted or self.spent > self.seconds


def rules():
    """Returns TVM's rules for CPUs without its own schedules of some operators, of which the wheel lacks the code.

    Loops are hardly unrolled: the simplifier takes minutes for hundreds of copies of the polynomials in `schedule/elementary.py`.
    """
    known = meta_schedule.schedule_rule
    steps = {"max_jobs_per_core": 16, "max_vectorize_extent": 64, "unroll_max_steps": [0, 16], "unroll_explicit": True}
    replaced = (known.ApplyCustomRule, known.ParallelizeVectorizeUnroll)
    found = [rule for rule in known.ScheduleRule.create("llvm") if not isinstance(rule, replaced)]
    # RandomComputeLocation remains the last.
    return [*found[:-1], known.ParallelizeVectorizeUnroll(**steps), found[-1]]


def path_of(library):
    """Returns the path of a library. A failed build is raised."""
    if isinstance(library, Failed):
        raise library
    return library


def cost_model(threads):
    """Returns the model that chooses candidates: that of XGBoost, if it is installed."""
    if importlib.util.find_spec("xgboost"):
        return meta_schedule.cost_model.CostModel.create("xgb", num_tuning_cores=threads)
    print("tuning       candidates are chosen at random: pip install xgboost for a model of their times")
    return meta_schedule.cost_model.CostModel.create("random")
