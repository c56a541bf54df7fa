"""Operators through an adaptor: the table of operators.py with the arrays of a framework."""

from __future__ import annotations

import importlib
from typing import Any, Callable

import ferrite_kernels
import numpy as np
import operators
import pytest
from conftest import BUILD

LANGUAGES = ("c", "cpp", "rust")
# The first size of an operator is that of a model, the others are odd, one, or none.
CASES = [
    pytest.param(language, operator, size, id=f"{language}-{operator}-{'x'.join(map(str, size))}")
    for language in LANGUAGES
    for operator in [*operators.COMMON, *(operators.IN_C if language == "c" else [])]
    for size in (operator.sizes[0], operator.sizes[-1], operator.sizes[len(operator.sizes) // 2])
]


def library(language: str) -> ferrite_kernels.Library:
    """Return the library under test of a language."""
    return ferrite_kernels.Library(language, BUILD / f"kernels_{language}.so")


def adaptor(name: str, language: str) -> Any:
    """Return the operators of a language for a framework."""
    return importlib.import_module(f"ferrite_kernels.{name}").of(library(language))


def check(call: Callable[..., Any], operator: operators.Operator, size: tuple[int, ...], to: Callable, back: Callable) -> None:
    """Call an operator with arrays of a framework, made by `to`, and compare what it returns, by `back`, with numpy in float64."""
    inputs = operator.inputs(np.random.default_rng(sum(size)), *size)
    expected = operator.reference(*map(operators.widened, inputs))
    results = call(*(to(value) if isinstance(value, np.ndarray) else value for value in inputs))
    if not isinstance(expected, tuple):
        results, expected = (results,), (expected,)
    for actual, wanted in zip(results, expected, strict=True):
        operators.compare(operator, back(actual), wanted)
