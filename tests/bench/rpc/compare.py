"""Compare `ferrite rpc serve` with TVM's minimal server over loopback: calls, copies, sessions, and the most memory that a session's
process had; then 10,000 sessions of the former, which may leave nothing behind.

usage: compare.py CLIENT MINIMAL FERRITE FUNCTIONS [--record]

Both servers have the same client, client.c, and start a process for each session: TVM's by minimal.py. Rounds alternate; the ratio is
the median over them. All share one core: between two idle ones, a call is mostly the time until the other wakes up. The memory of a
session is the sum over its processes: the peak of their own pages, without shared ones.
"""

import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).parent
SERVE = ["rpc", "serve", "--tcp", "127.0.0.1:9312", "--key", "device", "--sessions", "2"]
ROUNDS = 7
CALLS = 20_000
COPY = 64 << 20
SESSIONS = 10_000
GOALS = {"call": 0.9, "copy to the server": 0.4, "copy from the server": 0.4, "memory of copies": 0.3}


class Server:
    def __init__(self, arguments, folder):
        self.process = subprocess.Popen(
            arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, process_group=0, env=os.environ | {"TMPDIR": folder}
        )
        self.port = self.process.stdout.readline().rpartition(":")[2].strip()

    def end(self):
        self.process.terminate()
        self.process.wait()


def children(pid):
    """Return the processes below a process."""
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            found += [int(child), *children(int(child))]
    return found


def number(pid, name):
    """Return a number of /proc/PID/status, 0 when the process has ended."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    found = re.search(rf"^{name}:\s+(\d+)", status, re.M)
    return int(found.group(1)) if found else 0


class Peak(threading.Thread):
    """The most anonymous memory in KiB of the processes below a server, looked at all the time."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server, self.most, self.over = server, 0, threading.Event()

    def run(self):
        while not self.over.wait(0.002):
            try:
                processes = [*children(self.server.process.pid)]
            except OSError:
                continue
            self.most = max(self.most, sum(number(pid, "RssAnon") for pid in processes))

    def __exit__(self, *_):
        self.over.set()
        self.join()

    def __enter__(self):
        self.start()
        return self


def measure(client, server):
    """Return the figures of one round."""

    def run(*arguments):
        command = [client, server.port, "device", *map(str, arguments)]
        return [float(word) for word in subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.split()]

    figures = {"call": run("calls", CALLS)[0], "session": run("sessions", 50)[0]}
    figures["copy to the server"], figures["copy from the server"] = run("copies", 5, COPY)
    with Peak(server) as peak:
        run("copies", 3, COPY)
    figures["memory of copies"] = peak.most
    return figures


def shown(name, value):
    if name.startswith("memory"):
        return f"{value / 1024:.1f} MiB"
    return f"{value / 1e3:.1f} us" if value < 1e6 else f"{value / 1e6:.1f} ms"


def table(rounds):
    """Return the lines of a table, and the names that miss their goal."""
    lines, missed = ["| 64 MiB copies, calls that add 1 | TVM's minimal server | `ferrite rpc serve` | ratio | goal |", "|---|---:|---:|---:|---:|"], []
    for name in rounds[0]["ferrite"]:
        theirs, ours = (statistics.median(figures[which][name] for figures in rounds) for which in ("minimal", "ferrite"))
        ratio = statistics.median(figures["ferrite"][name] / figures["minimal"][name] for figures in rounds)
        goal = GOALS.get(name)
        lines.append(f"| {name} | {shown(name, theirs)} | {shown(name, ours)} | {ratio:.2f} | {goal or ''} |")
        if goal and ratio > goal:
            missed.append(name)
    return lines, missed


def state(server, folder):
    """Return what a server holds: resident KiB, open descriptors, threads, processes below it, files in its folder."""
    pid = server.process.pid
    descriptors = len(os.listdir(f"/proc/{pid}/fd"))
    files = sum(len(names) + len(folders) for _, folders, names in os.walk(folder))
    return [number(pid, "VmRSS"), descriptors, number(pid, "Threads"), len(children(pid)), files]


def growth(client, server, folder):
    """Run sessions. Return the lines of a table, and whether anything grew."""
    states = []
    for count in (100, SESSIONS):
        subprocess.run([client, server.port, "device", "sessions", str(count)], check=True, stdout=subprocess.DEVNULL)
        time.sleep(2)
        states.append(state(server, folder))
    names = ("resident KiB", "descriptors", "threads", "processes below", "files in its folder")
    lines = [f"| the server | after 100 sessions | after {SESSIONS:,} more |", "|---|---:|---:|"]
    lines += [f"| {name} | {before:,} | {after:,} |" for name, before, after in zip(names, *states)]
    (before, *others), (after, *others_after) = states
    return lines, after > 1.05 * before + 64 or others != others_after


def main():
    client, minimal, ferrite, functions, *options = sys.argv[1:]
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as folder:
        servers = {
            "minimal": Server([sys.executable, str(HERE / "minimal.py"), minimal, "9311"], folder),
            "ferrite": Server([ferrite, *SERVE, "--library", functions], folder),
        }
        try:
            rounds = []
            for turn in range(ROUNDS):
                order = sorted(servers, reverse=turn % 2 == 1)
                rounds.append({name: measure(client, servers[name]) for name in order})
            lines, missed = table(rounds)
            grown, has_grown = growth(client, servers["ferrite"], folder)
        finally:
            for server in servers.values():
                server.end()
    text = "\n".join([*lines, "", *grown]) + "\n"
    print(text, end="")
    if "--record" in options:
        head = "# Remote procedure calls\n\n`tests/bench/rpc/run.sh WHEEL --record` wrote this page.\n\n"
        (HERE.parent / "results/rpc.md").write_text(head + text)
    for name in missed:
        print(f"missed: {name}")
    return bool(missed) or has_grown


sys.exit(main())
