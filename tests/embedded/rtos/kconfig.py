#!/usr/bin/env python3
"""Checks the Zephyr module and the ESP-IDF component as their build systems read them; prints the options for a processor.

usage: kconfig.py zephyr|esp-idf [SYMBOL=VALUE...]     the options of Kconfig for these symbols, one line, for CMake
"""

import sys
import tempfile
from pathlib import Path

import kconfiglib
import yaml

BOARDS = Path(__file__).resolve().parents[3] / "targets/boards"
# Symbols of Zephyr on which the module depends.
ZEPHYR = ["CPU_CORTEX_M0", "CPU_CORTEX_M0PLUS", "CPU_CORTEX_M4", "CPU_CORTEX_M7", "CPU_CORTEX_M33", "RISCV", "FP_HARDABI", "64BIT",
          "RISCV_ISA_EXT_A", "THREAD_LOCAL_STORAGE"]


def check_module():
    """Fail unless Zephyr can read module.yml: its files must be where it says."""
    module = BOARDS / "zephyr"
    description = yaml.safe_load((module / "zephyr/module.yml").read_text())
    assert set(description) == {"name", "build"} and set(description["build"]) == {"cmake", "kconfig"}, description
    assert (module / description["build"]["cmake"] / "CMakeLists.txt").is_file()
    return module / description["build"]["kconfig"]


def options(kconfig, symbols, values):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "Kconfig"
        root.write_text("".join(f"config {symbol}\n\tbool \"{symbol}\"\n" for symbol in symbols) + f'source "{kconfig}"\n')
        parsed = kconfiglib.Kconfig(str(root), warn_to_stderr=True)
    for value in values:
        name, setting = value.split("=")
        symbol = parsed.syms[name]
        assert symbol.set_value(setting) and symbol.str_value == setting, f"{name} cannot be {setting}"
    return [symbol.config_string.strip() for symbol in parsed.unique_defined_syms
            if symbol.str_value not in ("n", "") and symbol.config_string]


def main(system, *values):
    if system == "zephyr":
        found = options(check_module(), ZEPHYR, values)
    else:
        found = options(BOARDS / "esp-idf/Kconfig", [], values)
    print(";".join(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
