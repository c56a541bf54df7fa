"""Makes calls of tvm_ffi faster: replaces slots of the extension `tvm_ffi.core` in the running process.

`install` is called once tvm_ffi is imported. The replacement is an extension in Rust, one file per CPython. It probes the layout of
upstream's types, and leaves to upstream's code whatever differs. FERRITE_TVM_FFI_FAST=0 in the environment leaves all to upstream's code.
"""

from __future__ import annotations

import ctypes
import functools
import gc
import importlib.machinery
import importlib.util
import os
import sys
from pathlib import Path

SWITCH = "FERRITE_TVM_FFI_FAST"
FOLDER = Path(__file__).resolve().parent / "ferrite_tvm_ffi.libs"
NAME = "ferrite_python"
# Functions of tvm_ffi.core that change which class is registered for a type.
REGISTRATIONS = ("_register_object_by_index", "_register_py_class", "_rollback_py_class", "_set_type_cls")

# The parts, and why one was left to upstream's code (None if it was not).
INSTALLED: dict[str, str | None] = {}


class Watcher:
    """Import hook that finds nothing: sees the imports that `tvm_ffi.core` makes while it is executed.

    Then its classes are ready, and `Function` has no instances: the time to give them a place for a vectorcall.
    """

    def __init__(self) -> None:
        self.is_done = False
        self.before: list[int] | None = None  # collections before tvm_ffi.core
        self.outcome: str | None = "tvm_ffi.core was executed unseen"

    def find_spec(self, name, path=None, target=None):
        core = None if self.is_done else sys.modules.get("tvm_ffi.core")
        if core is None and name == "tvm_ffi.core":
            self.before = collections()
        if core is not None and hasattr(core, "Function"):
            self.is_done = True  # the list of hooks cannot change here: it is being read
            try:
                self.outcome = enlarged(core.Function, younger(self.before))
            except Exception as error:  # noqa: BLE001 - the import of tvm_ffi must not fail for this
                self.outcome = f"the extension cannot be used: {error!r}"
        return None

    def stop(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)


def collections() -> list[int]:
    """Return how often the collector has looked at the middle and at the old generation."""
    return [generation["collections"] for generation in gc.get_stats()[1:]]


def younger(before: list[int] | None) -> list:
    """Return the objects of the collector that may be younger than this result of `collections`.

    An object leaves the first two generations only when the second is collected. A program may have a million older objects, which
    take 50 ms. CPython 3.14 has other generations.
    """
    if before != collections() or sys.version_info >= (3, 14):
        return gc.get_objects()
    return gc.get_objects(generation=0) + gc.get_objects(generation=1)


def enlarged(function, objects: list) -> str | None:
    """Give the class `Function` a place for a vectorcall; return why that is impossible, or None. Its instances are among `objects`."""
    if function in map(type, objects) or function.__subclasses__():
        return "Function has instances already"
    return extension().enlarge(function)


WATCHER = Watcher()


def prepare() -> None:
    """Prepare a later import of tvm_ffi, so that its functions are called without a tuple of arguments."""
    if not forbidden() and "tvm_ffi.core" not in sys.modules:
        sys.meta_path.insert(0, WATCHER)


def install(tvm_ffi) -> None:
    """Make tvm_ffi faster, unless the environment or a probe forbids it; fill INSTALLED."""
    WATCHER.stop()
    if reason := forbidden():
        INSTALLED["fast calls"] = reason
        return
    if not hasattr(tvm_ffi, "core"):
        INSTALLED["fast calls"] = "tvm_ffi has imported no core, as in tvm-ffi-config"
        return
    if missing := [name for name in REGISTRATIONS if not hasattr(tvm_ffi.core, name)]:
        INSTALLED["fast calls"] = f"tvm_ffi.core has no {', '.join(missing)}"
        return
    if not hasattr(tvm_ffi.core, "CContainerBase") and tvm_ffi.Array.__basicsize__ != tvm_ffi.core.Object.__basicsize__:
        INSTALLED["fast calls"] = "tvm_ffi.core has no CContainerBase, and containers are larger than objects"
        return
    try:
        fast = extension()
        probes = ((failing_call, ".__call__"), (failing_setter, ".__call__"), (failing_method, ".wrapper"))
        frames = {index: frame for index, probe in enumerate(probes) if (frame := frame_of(*probe, tvm_ffi))}
        parts = fast.activate(tvm_ffi.core, tvm_ffi.LIB._handle)
    except Exception as error:  # noqa: BLE001 - a wrong file, or a release that lacks what the probes need
        INSTALLED["fast calls"] = f"the extension cannot be used: {error!r}"
        return
    if parts.get("calls", "") is None:
        follow_registrations(tvm_ffi.core, fast.forget_classes)
        parts["calls without a tuple"] = WATCHER.outcome
        for index, frame in frames.items():
            fast.frame(index, *frame)
        parts["errors"] = attempt(errors, fast, tvm_ffi)
        parts["callbacks"] = attempt(callbacks, fast, tvm_ffi)
        parts["containers"] = attempt(containers, fast, tvm_ffi)
        parts["methods"] = attempt(methods, fast, tvm_ffi)
        parts["constructors"] = attempt(constructors, fast, tvm_ffi)
        parts["fields"] = attempt(fields, fast, tvm_ffi)
        import ferrite_tvm_ffi_docs  # noqa: PLC0415 - imported only when needed

        ferrite_tvm_ffi_docs.describe_globals(fast, tvm_ffi.core)
    INSTALLED.update((f"fast {part}", reason) for part, reason in parts.items())


def failing_call(tvm_ffi) -> None:
    tvm_ffi._ffi_api.ArrayGetItem(tvm_ffi.Array([]), 0)


def failing_setter(tvm_ffi) -> None:
    from tvm_ffi.access_path import AccessStep  # noqa: PLC0415 - part of the probe

    core = tvm_ffi.core
    field = next(field for field in core._type_cls_to_type_info(AccessStep).fields if field.name == "kind")
    step = AccessStep.__new__(AccessStep)
    step.__init_handle_by_constructor__(tvm_ffi._ffi_api.Array)  # any object: the value is refused before the field is written
    field.setter(step, "text")


def failing_method(tvm_ffi) -> None:
    method = object.__new__(tvm_ffi.core.TypeMethod)
    method.name, method.doc, method.is_static, method.func = "probe", None, False, tvm_ffi._ffi_api.ArrayGetItem
    tvm_ffi.core.TypeMethod.as_callable(method, tvm_ffi.Array)(tvm_ffi.Array([]), 0)


def failing_constructor(tvm_ffi, is_of_python: bool) -> None:
    from tvm_ffi.access_path import AccessStep  # noqa: PLC0415 - part of the probe

    info = tvm_ffi.core._type_cls_to_type_info(AccessStep)
    make_init = getattr(tvm_ffi._dunder._make_init, "__wrapped__", tvm_ffi._dunder._make_init)
    make_init(AccessStep, info, tvm_ffi._ffi_api.ArrayGetItem, is_of_python)(AccessStep.__new__(AccessStep))


def frames_of(probe, *arguments) -> list[tuple[str, str, int]]:
    """Return file, name and line of the frames that a probe's error has in its traceback, outermost first."""
    found = []
    try:
        probe(*arguments)
    except Exception as error:  # noqa: BLE001 - only its traceback counts
        traceback = error.__traceback__
        while traceback is not None:
            code = traceback.tb_frame.f_code
            found.append((code.co_filename, code.co_name, traceback.tb_lineno))
            traceback = traceback.tb_next
    return found


def frame_of(probe, ending: str, tvm_ffi) -> tuple[str, str, int] | None:
    """Return the frame of the function of upstream's extension whose name has that ending."""
    frames = frames_of(probe, tvm_ffi)
    return next((frame for frame in frames if frame[1].startswith("tvm_ffi.core.") and frame[1].endswith(ending)), None)


def constructor_frames(tvm_ffi, is_of_python: bool) -> str:
    """Return the lines of the frames that upstream's constructors have in a traceback, innermost first."""
    own = tvm_ffi._dunder.__file__
    frames = frames_of(failing_constructor, tvm_ffi, is_of_python)
    return "\n".join(
        f'File "{file}", line {line}, in {name}' for file, name, line in reversed(frames) if file == own or name.startswith("tvm_ffi.core.")
    )


# Lines that upstream's parser of backtraces takes, or does not.
BACKTRACE = """
  File "a.py", line 1, in <module>
File "a", line x", line 23, in f", line 4, in g \t
  File "", line 1, in f
  File "a.py", line , in f
File "a.py", line 1, in
 text
"""


def errors(extension, tvm_ffi) -> str | None:
    """Make exceptions of the library's errors fast, after a comparison of a traceback with upstream's."""
    error, core = tvm_ffi.error, tvm_ffi.core
    append = core._WITH_APPEND_BACKTRACE
    if append is not error._with_append_backtrace or getattr(append, "__globals__", None) is not vars(error):
        return "_WITH_APPEND_BACKTRACE is not upstream's function"
    if extension.lines(BACKTRACE) != error._parse_backtrace(BACKTRACE):
        return "upstream reads backtraces in another way"
    extension.tracebacks(append)
    if reason := unlike_upstream(tvm_ffi):
        extension.tracebacks(None)
    return reason


def unlike_upstream(tvm_ffi) -> str | None:
    """Return how the exception of a failing call differs from what upstream would make of its error; None if it does not."""
    try:
        failing_call(tvm_ffi)
    except Exception as exception:  # noqa: BLE001 - it is compared
        source, traceback, frames = exception.__tvm_ffi_error__, exception.__traceback__, []
        while traceback is not None:
            code = traceback.tb_frame.f_code
            frames.append((code.co_filename, traceback.tb_lineno, code.co_name))
            traceback = traceback.tb_next
        expected = tvm_ffi.error._parse_backtrace(source.backtrace)[::-1]
        if type(exception) is not tvm_ffi.core.ERROR_NAME_TO_TYPE.get(source.kind) or exception.args != (source.message,):
            return f"an exception differs: {exception!r}"
        if frames[len(frames) - len(expected) :] != expected:
            return f"a traceback differs: {frames} instead of {expected}"
        return None
    return "the call did not fail"


def attempt(part, extension, tvm_ffi) -> str | None:
    """Install a part; return why it was left to upstream's code, or None."""
    try:
        return part(extension, tvm_ffi)
    except Exception as error:  # noqa: BLE001 - whatever a later release lacks, upstream's code does the work
        return f"tvm_ffi differs: {error!r}"


def callbacks(extension, tvm_ffi) -> str | None:
    """Make callables that become functions fast."""
    if not extension.callbacks(tvm_ffi.Array([1])):
        return "CAny retains its value in another way"
    convert = tvm_ffi.core._convert_to_ffi_func
    if type(convert) is not type(tvm_ffi.core.TypeMethod.as_callable):
        return "_convert_to_ffi_func is not upstream's function"

    @functools.wraps(convert)
    def _convert_to_ffi_func(pyfunc, tensor_cls=None):
        return extension.function_of(pyfunc) if tensor_cls is None else convert(pyfunc, tensor_cls)

    tvm_ffi.core._convert_to_ffi_func = _convert_to_ffi_func
    return None


# Methods of containers: name, fast path, and the library's function that the path calls.
SEQUENCES = (
    ("__getitem__", "sequence item", None),
    ("__len__", "length", None),
    ("__iter__", "sequence iterator", None),
    ("__bool__", "truth", None),
    ("__contains__", "contains", "Contains"),
)
MAPS = (
    ("__getitem__", "map item", "GetItem"),
    ("__len__", "length", None),
    ("__bool__", "truth", None),
    ("__contains__", "map contains", "Count"),
    ("get", "map get", "GetItemOrMissing"),
    ("__iter__", "map iterator", "ForwardIterFunctor"),
)
# Classes of views, and the fast path of their `__iter__`.
VIEWS = (("KeysView", "keys", "keys iterator"), ("ValuesView", "values", "values iterator"), ("ItemsView", "items", "items iterator"))


def containers(extension, tvm_ffi) -> str | None:
    """Make the methods of containers fast, after a comparison of each with upstream's on a value."""
    if not hasattr(tvm_ffi.core, "CContainerBase"):
        return "tvm_ffi.core has no CContainerBase"
    api = tvm_ffi._ffi_api
    array, list_, map_, dict_ = classes = (tvm_ffi.Array, tvm_ffi.List, tvm_ffi.Map, tvm_ffi.Dict)
    samples = (array([3, "text", None, 2.5]), list_([3, "text", None, 2.5]), map_({"a": 3, 1: 2.5}), dict_({"a": 3, 1: 2.5}))
    extension.containers(*classes, api.ListGetItem, tvm_ffi.core.MISSING)
    made = []
    for cls, sample in zip(classes, samples):
        for name, path, function in SEQUENCES if cls in (array, list_) else MAPS:
            original = vars(cls)[name]
            if getattr(original, "__globals__", None) is not vars(tvm_ffi.container):
                return f"{cls.__name__}.{name} is not upstream's function"
            extra = getattr(api, cls.__name__ + function) if function else None
            method = extension.method(path, original, extra)
            if reason := difference(method, original, sample):
                return f"{cls.__name__}.{name} {reason}"
            made.append((cls, name, method))
    for name, method_name, path in VIEWS:
        cls = getattr(tvm_ffi.container, name)
        original = vars(cls)["__iter__"]
        if getattr(original, "__globals__", None) is not vars(tvm_ffi.container):
            return f"{name}.__iter__ is not upstream's function"
        method = extension.method(path, original, None)
        for sample in (map_({"a": 3, 1: 2.5}), dict_({"a": 3, 1: 2.5}), dict_({})):
            if reason := difference(method, original, getattr(sample, method_name)()):
                return f"{name}.__iter__ {reason}"
        made.append((cls, "__iter__", method))
    for cls, name, method in made:
        setattr(cls, name, method)
    extension.sequence_slots(array)
    extension.sequence_slots(list_)
    return None


def difference(method, original, sample) -> str | None:
    """Compare a method with upstream's on a value, by each way of calling it."""
    arguments = {"__getitem__": (1, -1, "a"), "__contains__": (3, "a", "b", 9), "get": (1, "b")}.get(original.__name__)
    for given in ((),) if arguments is None else ((one,) for one in arguments):
        outcomes = []
        for function in (method, original):
            try:
                outcome = function(sample, *given)
                outcomes.append(list(outcome) if original.__name__ == "__iter__" else outcome)
            except (IndexError, KeyError, TypeError) as error:
                outcomes.append(repr(error))
        if outcomes[0] != outcomes[1]:
            return f"differs: {outcomes[0]!r} instead of {outcomes[1]!r}"
    return None


def methods(extension, tvm_ffi) -> str | None:
    """Make the methods of natively declared classes fast."""
    core = tvm_ffi.core
    as_callable = core.TypeMethod.as_callable

    def fast(method, made):
        if method.is_static or type(method.func) is not core.Function:
            return made
        return extension.method("function", made, method.func)

    @functools.wraps(as_callable)
    def fast_callable(self, cls):
        return fast(self, as_callable(self, cls))

    core.TypeMethod.as_callable = fast_callable
    kind = type(as_callable)  # of functions of upstream's extension, such as those that as_callable makes
    for info in registered(core):
        for method in info.methods:
            made = vars(info.type_cls).get(method.name) if info.type_cls else None
            if type(made) is kind and made.__module__ == info.type_cls.__module__:
                setattr(info.type_cls, method.name, fast(method, made))
    return None


def registered(core):
    """Return what upstream's registry has about the types that have a class."""
    found, classes = {}, [core.CObject]
    while classes:
        cls = classes.pop()
        classes += type.__subclasses__(cls)
        if (info := core._type_cls_to_type_info(cls)) is not None and info.type_cls is cls:
            found[info.type_index] = info
    return list(found.values())


STATIC_TYPES_END = 80
# Functions that know what upstream's `__init__` does beyond the call of the library.
HOOKS = ("_init_normalization_fields", "_normalize_field_value", "_collect_init_property_funcs")
# What `_make_init` uses in releases whose `__init__` passes its arguments as they are.
PLAIN = {"_make_init_signature", "core", "KWARGS", "MISSING", "hasattr", "__name__", "__qualname__", "__module__", "__signature__"}


def constructors(extension, tvm_ffi) -> str | None:
    """Make the `__init__` fast that upstream makes for classes with fields, unless it does more than to call the library."""
    if not hasattr(tvm_ffi, "_dunder"):
        return "tvm_ffi has no _dunder"
    dunder = tvm_ffi._dunder
    make_init = dunder._make_init
    if getattr(make_init, "__globals__", None) is not vars(dunder):
        return "_make_init is not upstream's function"
    is_plain = set(make_init.__code__.co_names) <= PLAIN
    if missing := [name for name in HOOKS if not is_plain and not hasattr(dunder, name)]:
        return f"_dunder has no {', '.join(missing)}"

    def passes_values(fields) -> bool:
        return all(field.ty is None or field.ty.origin_type_index < STATIC_TYPES_END for field in fields)

    def does_more(type_cls, type_info) -> bool:
        if hasattr(type_cls, "__post_init__"):
            return True
        if is_plain:
            return False
        positional, _ = dunder._init_normalization_fields(type_info)
        return not passes_values(positional) or bool(dunder._collect_init_property_funcs(type_cls))

    def takes_names(type_info) -> bool:
        return has_names and passes_values(dunder._init_normalization_fields(type_info)[1].values())

    core = tvm_ffi.core
    has_names = not is_plain and hasattr(core, "KWARGS") and hasattr(core, "MISSING")
    for info in registered(core):  # a trial
        does_more(info.type_cls, info)
        takes_names(info)
    frames = [constructor_frames(tvm_ffi, is_of_python) for is_of_python in (False, True)]
    extension.constructors(getattr(core, "KWARGS", None), getattr(core, "MISSING", None), *frames)

    @functools.wraps(make_init)
    def _make_init(type_cls, type_info, ffi_init, py_class_mode=False):
        made = make_init(type_cls, type_info, ffi_init, py_class_mode)
        if type(ffi_init) is not tvm_ffi.core.Function or does_more(type_cls, type_info):
            return made
        path = ("Python" if py_class_mode else "native") + " constructor" + " by name" * takes_names(type_info)
        return extension.method(path, made, ffi_init, type_cls)

    dunder._make_init = _make_init
    return None


def fields(extension, tvm_ffi) -> str | None:
    """Make the fields of classes fast."""
    core = tvm_ffi.core
    samples = [(info.type_index, info) for info in registered(core) if info.fields]
    address = ctypes.cast(tvm_ffi.LIB.TVMFFIGetTypeInfo, ctypes.c_void_p).value
    return extension.fields(core.FFIProperty, core.FieldGetter, core.FieldSetter, samples, address)


def forbidden() -> str | None:
    """Return why this process uses upstream's code alone; None if it does not."""
    if os.environ.get(SWITCH, "1") == "0":
        return f"{SWITCH}=0"
    if not getattr(sys, "_is_gil_enabled", lambda: True)() or "t" in getattr(sys, "abiflags", ""):
        return "free-threaded builds of CPython are not supported"
    if not file().is_file():
        return f"this wheel has no {file().name}"
    return None


def file() -> Path:
    """Return the extension's file for this interpreter."""
    return FOLDER / (NAME + importlib.machinery.EXTENSION_SUFFIXES[0])


@functools.lru_cache(maxsize=None)
def extension():
    """Load the extension, which no package contains."""
    loader = importlib.machinery.ExtensionFileLoader(NAME, str(file()))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(NAME, loader))
    loader.exec_module(module)
    return module


def follow_registrations(core, forget_classes) -> None:
    """Forget the remembered classes after each change of the registry."""
    for name in REGISTRATIONS:
        setattr(core, name, followed(getattr(core, name), forget_classes))


def followed(register, forget_classes):
    @functools.wraps(register)
    def call(*args, **options):
        try:
            return register(*args, **options)
        finally:
            forget_classes()

    return call
