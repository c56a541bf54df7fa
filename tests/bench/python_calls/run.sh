#!/usr/bin/env bash
# usage: run.sh [--times|--instructions|--goals|--record] [--torch FOLDER] PACKAGE [ARGUMENT...]
#
# Measures calls from Python through upstream's front end as it is, through upstream's with
# Ferrite's extension, through nanobind, through pybind11, and through C by hand. --times: the time,
# a minute, the default; --instructions: counted by callgrind, independent of the load, 3 minutes;
# --goals: fails if a count is above its limit in goals.txt; --record: writes the limits. PACKAGE is
# the wheel of targets/host/python, or a folder with its content. --torch FOLDER adds the rows of
# PyTorch's tensors; the folder is one of installed packages with it. ARGUMENTs are those of
# compare.py: `--rows REGEX` measures some rows, `--json FILE` writes the results.
#
# PYTHON is a CPython from 3.10 on. Installed once into the cache: upstream's package, nanobind,
# pybind11.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
# shellcheck source=../../conformance/upstream/support/cache.sh
source "$root/tests/conformance/upstream/support/cache.sh"
# shellcheck source=../../conformance/python_fast/interpreters.sh
source "$root/tests/conformance/python_fast/interpreters.sh"

usage() { die "usage: run.sh [--times|--instructions|--goals|--record] [--torch FOLDER] PACKAGE [ARGUMENT...]"; }

mode=times torch=()
while [[ ${1:-} == --* ]]; do
  case $1 in
    --times | --instructions | --goals | --record) mode=${1#--} ;;
    --torch)
      export FERRITE_TORCH=${2:-}
      torch=(--torch)
      shift
      ;;
    *) usage ;;
  esac
  shift
done
[ $# -ge 1 ] && [ -e "$1" ] || usage
package=$1
shift
need "${CC:-cc}" "apt-get install gcc"
need "${CXX:-c++}" "apt-get install g++"
[ "$mode" = times ] || need valgrind "apt-get install valgrind"
open_cache
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ensure_fast_base "$("$python" -c 'import sys; print(sys.executable)')" "$here/requirements.txt"
unpack_package "$package" "$work/package"
PYTHON=$fast_base/bin/python "$here/build.sh" "$work/build"
PYTHONDONTWRITEBYTECODE='' "$python" "$here/compare.py" "$mode" --python "$fast_base/bin/python" --build "$work/build" \
  --package "$work/package" ${torch[@]+"${torch[@]}"} "$@"
