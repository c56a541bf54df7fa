#!/usr/bin/env bash
# usage: build.sh FOLDER
#
# Builds the extensions that calls.py compares into FOLDER, for the interpreter PYTHON (default
# python3), which has numpy, nanobind, pybind11, and upstream's tvm_ffi with its headers and
# library.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=${PYTHON:-python3}
mkdir -p "$1"
read -r include suffix < <("$python" -c 'import sysconfig as s; print(s.get_path("include"), s.get_config_var("EXT_SUFFIX"))')
tvm_ffi=$("$python" -c 'import importlib.util as u; print(u.find_spec("tvm_ffi").submodule_search_locations[0])')
read -r nanobind nanobind_include < <("$python" -c 'import nanobind; print(nanobind.source_dir(), nanobind.include_dir())')
pybind11=$("$python" -c 'import pybind11; print(pybind11.get_include())')
robin_map=$(find "${nanobind%/src}" -type d -name include -path "*robin_map*" -print -quit)
flags=(-O2 -fPIC -shared -DNDEBUG -fvisibility=hidden -I"$include")

# The library is found by its soname among those that the process has loaded.
"${CC:-cc}" "${flags[@]}" -I"$tvm_ffi/include" "$here/kernels.c" "$here/floor.c" "$tvm_ffi/lib/libtvm_ffi.so" \
  -o "$1/pycalls_floor$suffix"
"${CC:-cc}" "${flags[@]}" "$here/counter.c" -o "$1/pycalls_counter$suffix"
"${CXX:-c++}" "${flags[@]}" -std=c++17 -I"$pybind11" "$here/with_pybind11.cpp" -o "$1/pycalls_pybind11$suffix"
"${CXX:-c++}" "${flags[@]}" -std=c++17 -fno-strict-aliasing -DNB_COMPACT_ASSERTIONS -I"$nanobind_include" \
  -I"$robin_map" "$here/with_nanobind.cpp" "$nanobind/nb_combined.cpp" -o "$1/pycalls_nanobind$suffix"
