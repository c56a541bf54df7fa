"""Work in a process of its own: a crash or a hang costs its result alone."""

import contextlib
import json
import os
import select
import signal
import time


class Failed(Exception):
    """The reason why there is no result."""


class Attempt:
    """A call of a function in a fork of this process, with a time limit. The result must have a representation in JSON."""

    def __init__(self, work, seconds):
        self.seconds, self.end = seconds, time.monotonic() + seconds
        self.reader, writer = os.pipe()
        self.process = os.fork()
        if not self.process:
            _answer(work, writer)
        os.close(writer)

    def result(self):
        """Waits for the result. A `Failed` has the error of the function, or the signal that ended the process."""
        try:
            answer = self._read()
        finally:
            status = self.end_process()
        if not answer:
            signaled = os.WIFSIGNALED(status)
            raise Failed(f"crash: {signal.strsignal(os.WTERMSIG(status))}" if signaled else "exit without a result")
        result, error = json.loads(answer)
        if error is not None:
            raise Failed(error)
        return result

    def _read(self):
        answer = b""
        while select.select([self.reader], [], [], max(0, self.end - time.monotonic()))[0]:
            part = os.read(self.reader, 1 << 16)
            if not part:
                return answer
            answer += part
        raise Failed(f"no result within {self.seconds:g} seconds")

    def end_process(self):
        """Ends the process with its children, if it still runs. Returns its status."""
        if self.process is None:
            return 0
        process, self.process = self.process, None
        os.close(self.reader)
        for kill in os.killpg, os.kill:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                kill(process, signal.SIGKILL)
        return os.waitpid(process, 0)[1]


def _answer(work, writer):
    """Writes the result and ends this process, which is a fork: nothing of its parent's is cleaned up."""
    try:
        os.setsid()
        silence = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(silence, stream)
        answer = [work(), None]
    except BaseException as error:  # noqa: BLE001 - it is reported
        answer = [None, (str(error).strip().splitlines() or [type(error).__name__])[-1]]
    with os.fdopen(writer, "w") as file:
        json.dump(answer, file)
    os._exit(0)
