#!/usr/bin/env python3
"""Run a command and end it if it hangs, however slow or busy the machine is.

usage: watched.py SECONDS COMMAND...    status 124 for a command that hangs, otherwise the command's own

Like `timeout`, but of the command's own time: processor time, and time in which none of its processes could run. A command
that waits for a processor is slow, and does not hang.
"""

import os
import signal
import subprocess
import sys
import time

TICK = 1.0  # seconds between two looks
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
HUNG = 124


class OwnTime:
    """The own time in seconds of a session, in which a process and its children run."""

    def __init__(self, session: int) -> None:
        self.session = session
        self.seconds = 0.0
        self._used = 0.0
        self._looked = time.monotonic()

    def look(self) -> float:
        """Take the time since the last look into account, and return the sum."""
        now, (used, is_runnable) = time.monotonic(), self._state()
        # The time of an ended process is lost, unless its parent has waited for it.
        progress = max(used - self._used, 0.0)
        idle = 0.0 if is_runnable or progress else min(now - self._looked, 2 * TICK)
        self._used, self._looked = used, now
        self.seconds += progress + idle
        return self.seconds

    def _state(self) -> tuple[float, bool]:
        used, is_runnable = 0, False
        for entry in os.scandir("/proc"):
            if entry.name.isdigit() and (fields := self._fields(entry.path)):
                used += sum(map(int, fields[11:15]))
                is_runnable = is_runnable or self._can_run(entry.path)
        return used / TICKS_PER_SECOND, is_runnable

    def _fields(self, process: str) -> list[str] | None:
        """Return the fields of a process of the session, from its state on."""
        try:
            with open(f"{process}/stat", encoding="utf-8", errors="replace") as stat:
                fields = stat.read().rpartition(")")[2].split()
        except OSError:
            return None  # it has ended
        return fields if len(fields) > 15 and int(fields[3]) == self.session else None

    @staticmethod
    def _can_run(process: str) -> bool:
        """Return whether a thread runs, waits for a processor, or for a disk."""
        try:
            with os.scandir(f"{process}/task") as threads:
                for thread in threads:
                    with open(f"{thread.path}/stat", encoding="utf-8", errors="replace") as stat:
                        if stat.read().rpartition(")")[2].split()[0] in "RD":
                            return True
        except OSError:
            pass  # it has ended
        return False


def end(session: int) -> None:
    """End all processes of a session that this process began."""
    try:
        os.killpg(session, signal.SIGKILL)
    except ProcessLookupError:
        pass


def run(limit: float, command: list[str]) -> int:
    """Return the status of the command as a shell would, or HUNG."""
    child = subprocess.Popen(command, start_new_session=True)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, _: (end(child.pid), sys.exit(128 + number)))
    own = OwnTime(child.pid)
    while True:
        try:
            status = child.wait(TICK)
            return status if status >= 0 else 128 - status
        except subprocess.TimeoutExpired:
            if own.look() > limit:
                end(child.pid)
                child.wait()
                print(f"watched: {command[0]} hangs, after {limit:g} s of its own time", file=sys.stderr)
                return HUNG


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(run(float(sys.argv[1]), sys.argv[2:]))
