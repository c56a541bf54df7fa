"""Runs programs statement by statement, as an interactive session would, and reports what each statement did.

usage: session.py                 reads programs as JSON lines ({"seed": N, "source": TEXT, "fork": BOOLEAN}), and answers with their
                                  outcomes; those with "fork" run in a child each, and see nothing of others
       session.py PROGRAM.py      runs one program, and prints each statement with its outcome
"""

from __future__ import annotations

import ast
import contextlib
import faulthandler
import gc
import json
import os
import resource
import signal
import sys
import threading
import types
import warnings
from collections.abc import Callable
from typing import TextIO

import normal_form

TIME_LIMIT = 30  # seconds for one program
MEMORY_LIMIT = 12 << 30
RECURSION_LIMIT = sys.getrecursionlimit()
unraised: list[str] = []  # exceptions that reached no caller: of finalizers and threads


def statements(source: str) -> list[ast.stmt]:
    return ast.parse(source).body


def run_statement(node: ast.stmt, names: dict) -> str:
    unraised.clear()
    try:
        if isinstance(node, ast.Expr):
            value = eval(compile(ast.Expression(node.value), "<program>", "eval"), names)  # noqa: S307
            outcome = normal_form.of_value(value)
        else:
            exec(compile(ast.Module([node], []), "<program>", "exec"), names)  # noqa: S102
            outcome = "done"
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                outcome = normal_form.of_value(names[node.targets[0].id])
    except BaseException as error:  # noqa: BLE001
        outcome = normal_form.of_exception(error)
        error.__traceback__ = None  # frames keep objects alive
    return "; ".join([outcome, *sorted(unraised)])


def ignore(_: object) -> None: ...


def run_program(seed: int, source: str, before: Callable = ignore, after: Callable = ignore) -> list[str]:
    name = f"program_{seed}"
    module = sys.modules[name] = types.ModuleType(name)
    outcomes = []
    try:
        for node in statements(source):
            before(node)
            outcomes.append(run_statement(node, module.__dict__))
            after(outcomes[-1])
    finally:
        restore(seed)
        del sys.modules[name]
        module.__dict__.clear()
        del module
        gc.collect()
    return outcomes


def restore(seed: int) -> None:
    """Undoes changes of the process that a later program would see."""
    import tvm_ffi  # noqa: PLC0415

    sys.setrecursionlimit(RECURSION_LIMIT)
    gc.enable()
    for number in (signal.SIGUSR1, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)
    for name in tvm_ffi.registry.list_global_func_names():
        if name.startswith(f"p{seed}."):
            with contextlib.suppress(Exception):
                tvm_ffi.remove_global_func(name)


def hear_unraised() -> None:
    sys.unraisablehook = lambda hook: unraised.append(f"unraisable {normal_form.one_exception(hook.exc_value)}")
    threading.excepthook = lambda hook: unraised.append(f"thread {normal_form.one_exception(hook.exc_value)}")


def prepare() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    hear_unraised()
    faulthandler.enable()


def serve() -> None:
    import numpy  # noqa: F401, PLC0415 - children share what is imported here
    import tvm_ffi  # noqa: F401, PLC0415

    # Programs may print: only this stream answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        program = json.loads(line)
        if program["fork"]:
            print(json.dumps({"ended": in_child(program, answers)}), file=answers, flush=True)
        else:
            answer(program, answers)


def answer(program: dict, answers: TextIO) -> None:
    faulthandler.dump_traceback_later(TIME_LIMIT, exit=True)
    begin = lambda node: print('{"begins": 1}', file=answers, flush=True)  # noqa: E731
    outcomes = run_program(program["seed"], program["source"], begin)
    faulthandler.cancel_dump_traceback_later()
    print(json.dumps({"outcomes": outcomes}), file=answers, flush=True)


def in_child(program: dict, answers: TextIO) -> int:
    """Runs a program in a child; returns its exit code, negative for a signal."""
    child = os.fork()
    if child == 0:
        answer(program, answers)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def show(node: ast.stmt) -> None:
    print("\n".join(f">>> {line}" for line in ast.unparse(node).split("\n")), flush=True)


if __name__ == "__main__":
    prepare()
    if len(sys.argv) == 1:
        serve()
    else:
        with open(sys.argv[1], encoding="utf-8") as file:
            run_program(0, file.read(), show, print)
