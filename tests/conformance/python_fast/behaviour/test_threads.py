"""Threads: the policy on the interpreter's lock, and calls from many threads at once."""

import ctypes
import sys
import threading
import time

import numpy
import pytest

import tvm_ffi
from tvm_ffi import testing

echo, nop, apply = (tvm_ffi.get_global_func(f"testing.{name}") for name in ("echo", "nop", "apply"))


@pytest.fixture
def lock_probe():
    """Return a function whose call raises if its kernel runs with the interpreter's lock."""
    library = tvm_ffi.LIB
    raised = library.TVMFFIErrorSetRaisedFromCStr
    # PyGILState_Check ignores its arguments: 0 is success, 1 an error.
    address = ctypes.cast(ctypes.pythonapi.PyGILState_Check, ctypes.c_void_p).value
    function = tvm_ffi.Function.__from_extern_c__(address)

    def is_held(*arguments):
        raised(b"ValueError", b"held")
        try:
            function(*arguments)
        except ValueError:
            return True
        return False

    return function, is_held


def test_the_lock_is_released_by_default(lock_probe, observe):
    function, is_held = lock_probe
    observe((function.release_gil, is_held(), is_held(1), is_held("text"), is_held(numpy.zeros(2)), is_held(1, 2.0, None)))
    observe((is_held([1, 2]), is_held({"a": 1}), is_held(testing.TestIntPair(1, 2)), is_held(lambda: 1)))


def test_the_lock_is_kept_on_request(lock_probe, observe):
    function, is_held = lock_probe
    function.release_gil = False
    observe((is_held(), is_held(1), is_held("text"), is_held(numpy.zeros(2))))
    function.release_gil = True
    observe((is_held(), is_held(1), is_held("text"), is_held(numpy.zeros(2))))


def test_another_thread_runs_during_a_call():
    seen = threading.Event()
    threading.Thread(target=seen.set).start()
    tvm_ffi.get_global_func("testing.run_check_signal")(1)
    assert seen.is_set()


def run_in_threads(number, body):
    """Run the body in threads; raise the first of their exceptions."""
    errors = []

    def run(index):
        try:
            body(index)
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=run, args=(index,)) for index in range(number)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    if errors:
        raise errors[0]


def test_calls_from_many_threads():
    pair, array = testing.TestIntPair(1, 2), numpy.arange(5, dtype="float32")
    sequence, mapping = tvm_ffi.Array([1, "two", pair]), tvm_ffi.Map({"a": 1})

    def body(index):
        own = numpy.full(index + 1, index, "int32")
        for _ in range(300):
            assert echo(index) == index and echo(f"text of thread {index}") == f"text of thread {index}"
            assert echo(array).shape == (5,) and echo(own).shape == (index + 1,)
            assert numpy.from_dlpack(echo(own))[0] == index
            assert echo(pair).sum() == 3 and sequence[2].same_as(pair) and len(sequence) == 3
            assert list(sequence)[1] == "two" and mapping["a"] == 1 and echo([index, own])[0] == index

    run_in_threads(8, body)
    assert testing.object_use_count(pair) == testing.object_use_count(testing.TestIntPair(1, 2)) + 1


def test_callbacks_from_many_threads():
    def body(index):
        for number in range(200):
            assert apply(lambda value: value + index, number) == number + index
            with pytest.raises(ValueError, match=f"of {index}"):
                apply(lambda value: (_ for _ in ()).throw(ValueError(f"of {index}")), number)

    run_in_threads(6, body)


def test_constructors_and_fields_from_many_threads():
    shared = testing.TestObjectBase(0, 0.0, "shared")

    def body(index):
        for number in range(300):
            pair = testing.TestIntPair(number, index)
            assert (pair.a, pair.b, pair.sum()) == (number, index, number + index)
            shared.v_i64 = number
            assert 0 <= shared.v_i64 < 300 and shared.v_str == "shared"

    run_in_threads(6, body)


def test_errors_stay_in_their_thread():
    def body(index):
        for _ in range(100):
            try:
                tvm_ffi.Array([index])[index + 1]
            except IndexError:
                pass
            with pytest.raises(TypeError):
                testing.add_one(f"{index}")
            assert echo(index) == index

    run_in_threads(6, body)


def test_a_function_is_dropped_while_it_runs():
    gate, entered = threading.Event(), threading.Event()

    def callback():
        entered.set()
        gate.wait(10)
        return 5

    holder = [tvm_ffi.convert(callback)]
    results = []
    thread = threading.Thread(target=lambda: results.append(holder[0]()))
    thread.start()
    entered.wait(10)
    holder.clear()
    time.sleep(0.01)
    gate.set()
    thread.join()
    assert results == [5]


def test_an_array_is_dropped_while_the_kernel_runs():
    gate, entered = threading.Event(), threading.Event()
    results = []

    def callback(tensor):
        entered.set()
        gate.wait(10)
        results.append(numpy.from_dlpack(echo(tensor)).copy())

    values = [numpy.arange(100, dtype="float32")]
    thread = threading.Thread(target=lambda: apply(callback, values.pop()))
    thread.start()
    entered.wait(10)
    for _ in range(50):
        nop(numpy.zeros(100, "float32"))
    gate.set()
    thread.join()
    numpy.testing.assert_array_equal(results[0], numpy.arange(100))
