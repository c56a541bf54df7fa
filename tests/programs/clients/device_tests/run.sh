#!/usr/bin/env bash
# usage: run.sh [--upstream] WHEEL [PATTERN...]
#
# Runs TVM's own tests of device code generation and of runtime modules: TVM's compiler and its libtvm_runtime from PyPI, with
# the library of the wheel of targets/host/python, or with --upstream, for comparison, with upstream's library. PATTERNs select
# tests whose id contains one of them.
#
# Each test passes or is in not_passed.txt with the reason. FERRITE_DEVICE_KINDS names the kinds of devices, by default opencl.
# The tests are those of apache/tvm at 5d4dc872, which no package contains: FERRITE_TVM_TESTS names the folder of the archive
# with them. The last line is the sum; results go to $OUT (default target/device-tests).
source "$(dirname "${BASH_SOURCE[0]}")/../../../conformance/upstream/support/cache.sh"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../../.." && pwd)
archive=tvm-tests-5d4dc872.tar.xz

install_clients() {
  "$python" -m venv "$1" || die "Python's venv is missing: apt-get install python3-venv"
  "$1/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
    -r "$here/requirements.txt" >&2
}

find_tests() { # sets `tests`
  local folder=${FERRITE_TVM_TESTS:-$root/../shared/upstream}
  tests=$folder/$archive
  [ -f "$tests" ] || die "no $archive in $folder: FERRITE_TVM_TESTS names its folder; made once by
  git clone https://github.com/apache/tvm && git -C tvm archive 5d4dc872 tests/python/codegen tests/python/runtime |
    xz >$archive"
}

# Creates an interpreter in which every process, also those started by tests, imports the library first. Sets `tests_python` and
# `replaced`.
make_interpreter() {
  local packages purelib='import sysconfig; print(sysconfig.get_path("purelib"))'
  "$clients/bin/python" -m venv --without-pip "$work/python"
  tests_python=$work/python/bin/python
  packages=$("$tests_python" -c "$purelib")
  echo "import site; site.addsitedir('$("$clients/bin/python" -c "$purelib")')" >"$packages/base.pth"
  if [ "$library" = upstream ]; then
    replaced=$upstream_library
    cmp -s "$replaced" "$clients"/lib/python*/site-packages/tvm_ffi/lib/libtvm_ffi.so || die "requirements.txt has another release"
    replaced=$(echo "$clients"/lib/python*/site-packages/tvm_ffi/lib/libtvm_ffi.so)
  else
    "$python" -m pip --python "$tests_python" install --quiet --no-deps --no-index --no-compile "$wheel_of_library"
    echo "import ferrite_tvm_ffi" >"$packages/ferrite.pth"
    replaced=$packages/ferrite_tvm_ffi.libs/libtvm_ffi.so
  fi
}

library=ours
if [ "${1:-}" = --upstream ]; then
  library=upstream
  shift
fi
[ $# -ge 1 ] && [ -f "$1" ] || die "usage: run.sh [--upstream] WHEEL [PATTERN...]"
wheel_of_library=$(realpath "$1")
shift
find_tests
open_cache
ensure_wheel
ensure_recorder
clients=$cache/device-tests-$(cat "$here/requirements.txt" - <<<"$("$python" -VV)" | key)
once "$clients" install_clients
out=${OUT:-$root/target/device-tests}/$library
rm -rf "$out"
mkdir -p "$out/log" "$out/record"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/maps" "$work/tree"
tar -xJf "$tests" -C "$work/tree" tests/python/codegen tests/python/runtime
make_interpreter
kinds=${FERRITE_DEVICE_KINDS:-opencl}
export TVM_TEST_TARGETS="llvm;${kinds// /;}"
export FERRITE_MAPS_DIR=$work/maps FERRITE_PRELOAD=$maps_dump PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=ignore
"$python" "$support/run_pytest.py" --python "$tests_python" --tree "$work/tree" --list /dev/null --out "$out" \
  --jobs "$jobs" --test-timeout 120 --time-limit 900 -- "$@"
unset FERRITE_MAPS_DIR
"$python" "$support/check_maps.py" "$work/maps" "$replaced" "$upstream_library"
PYTHONPATH=$support "$python" "$here/judge.py" "$library" "$kinds" "$out" "$here/not_passed.txt" "$@"
