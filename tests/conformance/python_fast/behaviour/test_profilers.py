"""Profilers, tracers and debuggers see the program as they do with upstream's code."""

import sys
import threading

import numpy
import pytest

import tvm_ffi
from tvm_ffi import testing

echo, nop, apply = (tvm_ffi.get_global_func(f"testing.{name}") for name in ("echo", "nop", "apply"))


def callback(value):
    doubled = value * 2
    return doubled


def failing(value):
    raise ValueError("traced")


def program():
    pair = testing.TestIntPair(1, 2)
    echo(1)
    apply(callback, 3)
    echo(numpy.zeros(2))
    try:
        apply(failing, 1)
    except ValueError:
        pass
    return pair.sum(), pair.a, tvm_ffi.Array([1, 2])[1], len(tvm_ffi.Array([1])), list(tvm_ffi.Array([1, 2]))


def own_events(setter):
    """Run the program under a hook; return the events in this file's functions."""
    events = []

    def hook(frame, event, argument):
        if frame.f_code.co_filename == __file__ and frame.f_code.co_name in ("program", "callback", "failing"):
            events.append((event, frame.f_code.co_name, frame.f_lineno - frame.f_code.co_firstlineno))
        return hook

    before = sys.gettrace() if setter is sys.settrace else sys.getprofile()
    setter(hook)
    try:
        result = program()
    finally:
        setter(before)
    return events, result


def test_a_tracer_sees_each_line(observe):
    events, result = own_events(sys.settrace)
    observe(events)
    assert result == (3, 1, 2, 1, [1, 2])
    assert ("line", "callback", 1) in events and ("exception", "failing", 1) in events


def test_a_profiler_sees_each_call_of_python(observe):
    events, result = own_events(sys.setprofile)
    observe([event for event in events if not event[0].startswith("c_")])
    assert result == (3, 1, 2, 1, [1, 2])


@pytest.mark.parametrize("setter", [sys.settrace, sys.setprofile])
def test_a_hook_that_raises_ends_the_call(setter, observe):
    def hook(frame, event, argument):
        if frame.f_code.co_name == "callback":
            raise RuntimeError("of the hook")
        return hook

    setter(hook)
    try:
        apply(callback, 3)
    except RuntimeError as error:
        setter(None)
        observe(str(error))
    else:
        setter(None)
        observe("no error")
    assert echo(1) == 1 and apply(callback, 2) == 4


def test_hooks_set_in_a_callback(observe):
    events = []

    def begin(value):
        sys.setprofile(lambda frame, event, argument: events.append(event))
        return value

    apply(begin, 1)
    echo(1)
    sys.setprofile(None)
    observe("return" in events or "c_return" in events)
    assert echo(2) == 2


def test_a_tracer_in_another_thread(observe):
    seen = []

    def hook(frame, event, argument):
        if frame.f_code.co_name == "callback":
            seen.append((event, frame.f_lineno - frame.f_code.co_firstlineno))
        return hook

    threading.settrace(hook)
    try:
        thread = threading.Thread(target=lambda: apply(callback, 1))
        thread.start()
        thread.join()
    finally:
        threading.settrace(None)
    observe(seen)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring is new in 3.12")
def test_monitoring(observe):
    monitoring, seen = sys.monitoring, []
    monitoring.use_tool_id(3, "fast")
    try:
        monitoring.register_callback(3, monitoring.events.PY_START, lambda code, offset: seen.append(code.co_name))
        monitoring.set_events(3, monitoring.events.PY_START)
        program()
        monitoring.set_events(3, 0)
    finally:
        monitoring.free_tool_id(3)
    observe([name for name in seen if name in ("program", "callback", "failing")])


def test_frames_of_callers_are_seen_in_callbacks(observe):
    names = []

    def look(value):
        frame = sys._getframe()
        while frame is not None and len(names) < 3:
            if frame.f_code.co_filename == __file__:
                names.append(frame.f_code.co_name)
            frame = frame.f_back
        return value

    apply(look, 1)
    assert observe(names[:2]) == ["look", "test_frames_of_callers_are_seen_in_callbacks"]
