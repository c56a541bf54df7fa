"""The operators in C, compared with numpy."""

import pytest
from operators import COMMON, cases, check

DONE = ("layernorm2d", "rmsnorm")
OPERATORS = [one for one in COMMON if one.name in DONE]


@pytest.mark.parametrize("operator, size", cases(OPERATORS))
def test_operator(c, operator, size):
    check(c, operator, size)
