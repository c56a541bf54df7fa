"""Forks, the end of the interpreter, and sub-interpreters."""

import os
import signal
import subprocess
import sys

import pytest

import scripts

FORK = """
def child(body):
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        try:
            body()
        except BaseException as error:
            print("child", type(error).__name__, error)
            sys.stdout.flush()
            os._exit(1)
        sys.stdout.flush()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
"""

PROGRAMS = {
    "a fork, then calls in both": FORK + """
use(); print(child(use)); use()
""",
    "a fork before any call": FORK + """
print(child(use)); use()
""",
    "a fork in a callback": FORK + """
print(apply(lambda value: child(use) + value, 5)); use()
""",
    "a fork while threads call": FORK + """
done = threading.Event()
def work():
    while not done.is_set():
        use()
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads: thread.start()
print([child(use) for _ in range(5)])
done.set()
for thread in threads: thread.join()
""",
    "a child that ends as an interpreter": FORK + """
sys.stdout.flush()
pid = os.fork()
use()
if pid == 0:
    sys.exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
""",
    "multiprocessing": """
import multiprocessing
def work(value):
    use(); return echo(value) * 2
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(pool.map(work, range(5)))
""",
    "values alive at exit": """
kept = [testing.TestIntPair(1, 2), tvm_ffi.Array([1]), tvm_ffi.convert(lambda: 1), echo(numpy.zeros(3)), echo("x" * 20), nop]
use(); print("end")
""",
    "calls at exit": """
import atexit
atexit.register(lambda: (use(), print("at exit")))
use()
""",
    "calls in finalizers at shutdown": """
class Late:
    def __init__(self): self.echo, self.array, self.pair = echo, tvm_ffi.Array([1, 2]), testing.TestIntPair(1, 2)
    def __del__(self): print(self.echo(5), self.array[1], len(self.array), self.pair.sum(), self.pair.a)
late = Late()
cycle = [Late()]; cycle.append(cycle)
use()
""",
    "exit in a callback": """
def leave(value): sys.exit(value)
apply(leave, 9)
""",
    "an error in a callback that nobody catches": """
def fail(value): raise ValueError("not caught")
apply(fail, 1)
""",
    "interrupted in a callback": """
import signal
def interrupt(value): os.kill(os.getpid(), signal.SIGINT); return value
try:
    apply(interrupt, 1); print("went on")
except KeyboardInterrupt:
    print("interrupted")
use()
""",
    "interrupted in a kernel": """
import signal
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    tvm_ffi.get_global_func("testing.run_check_signal")(20); print("went on")
except KeyboardInterrupt:
    print("interrupted")
use()
""",
    "modules imported in another order": """
for name in [name for name in sys.modules if name.startswith("tvm_ffi.testing")]: del sys.modules[name]
from tvm_ffi import testing
use(); print("end")
""",
    "profilers of all threads": """
names = set()
threading.setprofile(lambda frame, event, argument: names.add(event))
thread = threading.Thread(target=use); thread.start(); thread.join()
print("call" in names)
""",
    "the module of the extension is not in sys.modules": """
use(); print([name for name in sys.modules if "ferrite_python" in name])
""",
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name, observe):
    code, output, error = scripts.run(PROGRAMS[name])
    observe((code, output, error if "Error" in error or "Fatal" in error else ""))
    assert code in (0, 1, 9), error


def test_the_package_without_its_extension(observe):
    """The command of tvm_ffi.config imports the package, and nothing that it usually imports."""
    command = [sys.executable, "-m", "tvm_ffi.config", "--libs"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    observe((done.returncode, done.stdout, done.stderr))
    assert (done.returncode, done.stderr) == (0, "")


DAEMONS = """
def work():
    while True:
        echo(1); apply(lambda value: value, 2); echo(numpy.zeros(2)); tvm_ffi.Array([1])[0]
for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
use(); print("end")
"""


def test_daemon_threads_that_call_at_exit():
    # Before 3.14, CPython ends such a thread by unwinding its stack. Upstream's functions that
    # throw nothing turn that into an abort.
    code, output, error = scripts.run(DAEMONS)
    assert output == "end\n" and code in (0, -signal.SIGABRT), error


SUB_INTERPRETER = """
interpreters, (options, keywords) = None, (OPTIONS)
for module in ("_interpreters", "_xxsubinterpreters"):
    try:
        interpreters = __import__(module); break
    except ImportError:
        pass
use()
source = '''
try:
    import tvm_ffi
    echo = tvm_ffi.get_global_func("testing.echo")
    result = [echo(1), echo("text" * 20), list(tvm_ffi.Array([1, 2]))]
except BaseException as error:
    result = type(error).__name__
with open(%r, "w") as file:
    file.write(str(result))
'''
import tempfile
path = tempfile.mktemp()
for _ in range(2):
    new = interpreters.create(*options, **keywords)
    try:
        error = getattr(interpreters, "run_string", None)(new, source % path)
    except BaseException as caught:
        error = type(caught).__name__
    print(open(path).read() if os.path.exists(path) else "nothing written", type(error).__name__)
    interpreters.destroy(new)
    use()
"""


# Of the interpreter's module: _interpreters from 3.13 on.
OPTIONS = ["('legacy',), {}", "(), {}"] if sys.version_info >= (3, 13) else ["(), {'isolated': False}", "(), {}"]


@pytest.mark.parametrize("options", OPTIONS)
def test_sub_interpreters(options, observe):
    code, output, error = scripts.run(SUB_INTERPRETER.replace("OPTIONS", options))
    observe((code, output, error if code else ""))
    assert "Fatal" not in error
