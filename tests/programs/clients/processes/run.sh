#!/usr/bin/env bash
# usage: run.sh WHEEL
#
# Runs the programs of this folder, which carry values by multiprocessing, joblib, dask and Ray,
# with the wheel of targets/host/python, and the wheel's tests of pickling under each earlier
# release of apache-tvm-ffi. The packages are installed once and kept in the cache; the wheel is
# installed into an environment of its own, in which FERRITE_TVM_FFI=1 reaches the worker processes.
# The last line is the sum.
source "$(dirname "${BASH_SOURCE[0]}")/../../../conformance/upstream/support/cache.sh"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../../.." && pwd)

install_frameworks() { # install_frameworks FOLDER
  "$python" -m venv "$1" || die "Python's venv is missing: apt-get install python3-venv"
  "$1/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: -r "$here/requirements.txt" >&2
}

run() { # run NAME COMMAND...
  local name=$1
  shift
  if timeout 600 "$@" >"$work/log" 2>&1; then
    passed=$((passed + 1))
    echo "ok      $name"
  else
    failed=$((failed + 1))
    echo "FAILED  $name"
    tail -n 40 "$work/log"
  fi
}

[ $# -eq 1 ] && [ -f "$1" ] || die "usage: run.sh WHEEL"
need "${CC:-cc}" "apt-get install gcc"
open_cache
frameworks=$cache/processes-$(cat "$here/requirements.txt" - <<<"$("$python" -VV)" | key)
once "$frameworks" install_frameworks
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m venv --without-pip "$work/venv"
site=$("$work/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
"$frameworks/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$site/frameworks.pth"
"$frameworks/bin/python" -m pip --python "$work/venv/bin/python" install --quiet --disable-pip-version-check --no-deps "$1"

passed=0
failed=0
for program in "$here"/*.py; do
  FERRITE_TVM_FFI=1 run "$(basename "$program" .py)" "$work/venv/bin/python" "$program"
done
for pin in "$pins"/releases/*.txt; do
  ensure_release "$pin"
  PYTHONPATH=$release run "pickling with $(basename "$pin" .txt)" "$work/venv/bin/python" "$root/targets/host/python/test_pickle.py"
done
echo "processes: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
