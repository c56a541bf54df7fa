"""The text by which two libraries are compared: what a value prints and what an exception says, without addresses and paths."""

from __future__ import annotations

import functools
import hashlib
import re
import threading
import types

ADDRESS = re.compile(r"0x[0-9a-fA-F]+|\b(9\d{13}|1[0-4]\d{13})\b")  # also in decimal, as in the texts of classes without a repr
PATH = re.compile(r"(/[\w.+@-]+){2,}")
CHECK = re.compile(r"Check failed: \(.*?\) is false: ")  # the C++ expression that failed, which only upstream names
LONGEST = 1500  # characters; the rest is replaced by its hash


def clean(text: str) -> str:
    text = CHECK.sub("", text)
    text = PATH.sub("PATH", ADDRESS.sub("ADDRESS", text))
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]}... {hashlib.sha256(text.encode('utf-8', 'backslashreplace')).hexdigest()[:16]}"
    return text.encode("utf-8", "backslashreplace").decode()


def of_exception(error: BaseException) -> str:
    links = [one_exception(error)]
    if error.__cause__ is not None:
        links.append("cause " + one_exception(error.__cause__))
    elif error.__context__ is not None and not error.__suppress_context__:
        links.append("context " + one_exception(error.__context__))
    links += [f"note {clean(note)}" for note in getattr(error, "__notes__", ())]
    return "raises " + "; ".join(links)


def one_exception(error: BaseException) -> str:
    if type(error).__name__ == "_RemoteTraceback":  # of multiprocessing: frames
        return "_RemoteTraceback"
    try:
        text = str(error)
    except BaseException as second:  # noqa: BLE001
        text = f"(its text raises {type(second).__name__})"
    return f"{type(error).__name__}: {clean(text)}"


def of_value(value: object, depth: int = 3) -> str:
    try:
        return clean(describe(value, depth))
    except BaseException as error:  # noqa: BLE001
        return f"{type(value).__name__} whose text {of_exception(error)}"


def describe(value: object, depth: int) -> str:  # noqa: PLR0911
    import numpy as np  # noqa: PLC0415

    kind = type(value)
    inner = functools.partial(of_value, depth=depth - 1)
    if kind in (list, tuple) and depth:
        return f"{kind.__name__}[{', '.join(map(inner, value))}]"
    if kind is dict and depth:
        return f"dict{{{', '.join(f'{inner(key)}: {inner(item)}' for key, item in value.items())}}}"
    if isinstance(value, np.ndarray):
        return f"ndarray({value.dtype}, {value.shape}, {value.strides if value.size else ''}, {value.tolist()!r})"
    if isinstance(value, BaseException):
        return one_exception(value)
    if isinstance(value, (types.FunctionType, types.BuiltinFunctionType, type, types.ModuleType)):
        return f"{kind.__name__} {getattr(value, '__name__', '')}"
    if isinstance(value, (threading.Thread, types.GeneratorType, types.CodeType, types.FrameType)):
        return kind.__name__
    return f"{kind.__name__} {value!r}"
