"""Build backend of the wheel (PEP 517): hatchling's, without a compilation for the metadata, and with progress.

pip hides what a backend prints unless it is called with -v, so progress goes to the terminal itself, if there is one. The config
setting `command=yes` puts the command `ferrite` into the wheel (pip's option `--config-settings command=yes`); `python=all` puts the
extensions of every CPython into it, `python=3.11,3.13` those of these, `python=none` none: by default it has the running one's.
"""

from __future__ import annotations

import os
import re

# hatchling leaves out the hook for metadata when pip asks, and pip then builds the whole wheel for
# its metadata.
_asked_by_pip = os.environ.pop("PIP_BUILD_TRACKER", None)
from hatchling import build as hatchling  # noqa: E402 - after the change of the environment

if _asked_by_pip is not None:
    os.environ["PIP_BUILD_TRACKER"] = _asked_by_pip

get_requires_for_build_wheel = hatchling.get_requires_for_build_wheel
get_requires_for_build_sdist = hatchling.get_requires_for_build_sdist
get_requires_for_build_editable = hatchling.get_requires_for_build_editable
prepare_metadata_for_build_wheel = hatchling.prepare_metadata_for_build_wheel
prepare_metadata_for_build_editable = hatchling.prepare_metadata_for_build_editable
build_sdist = hatchling.build_sdist

# Variables by which hatch_build.py learns of the settings.
COMMAND, PYTHON = "FERRITE_WHEEL_COMMAND", "FERRITE_WHEEL_PYTHON"
ANSWERS = {"yes": "1", "no": ""}


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    apply(config_settings)
    return hatchling.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    apply(config_settings)
    return hatchling.build_editable(wheel_directory, config_settings, metadata_directory)


def apply(config_settings: dict | None) -> None:
    """Apply the config settings; raise a ValueError for one that does not exist, or has a value that it cannot have."""
    for name, value in (config_settings or {}).items():
        if name == "command" and value in ANSWERS:
            os.environ[COMMAND] = ANSWERS[value]
        elif name == "python" and re.fullmatch(r"all|none|3\.\d+(,3\.\d+)*", value):
            os.environ[PYTHON] = value
        else:
            raise ValueError(
                f"there is no config setting {name}={value}: there are command=yes, command=no, python=all, python=none and python=3.11,3.13"
            )
