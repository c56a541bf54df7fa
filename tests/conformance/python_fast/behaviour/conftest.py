"""Makes `scripts` importable, and leaves the collector as a test has found it."""

import gc
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def restored_process():
    thresholds = gc.get_threshold()
    yield
    gc.set_threshold(*thresholds)
    gc.enable()
    sys.setprofile(None)
    # Without a debugger: pytest-timeout and coverage are not in use.
    if sys.gettrace() is not None:
        sys.settrace(None)
