# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # those that source this file use the variables; cache.sh sets
# those that it reads
#
# Runs TVM's own tests: TVM's compiler and its libtvm_runtime from PyPI, with the library of the
# wheel of targets/host/python or with upstream's. The tests are those of apache/tvm at 5d4dc872,
# which no package contains: FERRITE_TVM_GIT names a git directory with that commit. Sourced, not
# run.
tvm_tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$tvm_tests/../../../.." && pwd)
source "$root/tests/conformance/upstream/support/cache.sh"
source "$support/tvm_sources.sh"
revision=5d4dc8721307cf9677becacf0395c19be130e206

install_clients() {
  "$python" -m venv "$1" || die "Python's venv is missing: apt-get install python3-venv"
  "$1/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
    -r "$tvm_tests/requirements.txt" >&2
}

# Creates an interpreter in which every process, also those started by tests, imports the library
# first, then the file MODULE, if there is one. Sets `tests_python` and `replaced`.
make_interpreter() { # make_interpreter [MODULE]
  local packages purelib='import sysconfig; print(sysconfig.get_path("purelib"))'
  "$clients/bin/python" -m venv --without-pip "$work/python"
  tests_python=$work/python/bin/python
  packages=$("$tests_python" -c "$purelib")
  echo "import site; site.addsitedir('$("$clients/bin/python" -c "$purelib")')" >"$packages/base.pth"
  if [ "$library" = upstream ]; then
    replaced=$upstream_library
    cmp -s "$replaced" "$clients"/lib/python*/site-packages/tvm_ffi/lib/libtvm_ffi.so || die "requirements.txt has another release"
    replaced=$(echo "$clients"/lib/python*/site-packages/tvm_ffi/lib/libtvm_ffi.so)
    return
  fi
  "$python" -m pip --python "$tests_python" install --quiet --no-deps --no-index --no-compile "$wheel_of_library"
  echo "import ferrite_tvm_ffi" >"$packages/ferrite.pth"
  if [ $# -gt 0 ]; then
    cp "$1" "$packages"
    echo "import $(basename "$1" .py)" >>"$packages/ferrite.pth"
  fi
  replaced=$packages/ferrite_tvm_ffi.libs/libtvm_ffi.so
}

# Reads the arguments [--upstream] WHEEL [PATTERN...]. Sets `library`, `wheel_of_library` and
# `patterns`.
read_arguments() {
  library=ours
  if [ "${1:-}" = --upstream ]; then
    library=upstream
    shift
  fi
  [ $# -ge 1 ] && [ -f "$1" ] || die "usage: run.sh [--upstream] WHEEL [PATTERN...]"
  wheel_of_library=$(realpath "$1")
  patterns=("${@:2}")
}

# Unpacks the tests. Sets `out`, the folder of the results, and `work`, which is removed at the end.
prepare() { # prepare NAME PATTERN...: of files of the repository
  open_cache
  ensure_wheel
  ensure_recorder
  clients=$cache/device-tests-$(cat "$tvm_tests/requirements.txt" - <<<"$("$python" -VV)" | key)
  once "$clients" install_clients
  out=${OUT:-$root/target/$1}/$library
  rm -rf "$out"
  mkdir -p "$out/log" "$out/record"
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  mkdir "$work/maps"
  unpack_tvm "$revision" "$work/tree" "${@:2}"
}

# Runs the tests, for at most $time_limit seconds, and compares the results with the list FILE.
run_tests() { # run_tests KINDS FILE
  FERRITE_MAPS_DIR=$work/maps FERRITE_PRELOAD=$maps_dump PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=ignore \
    "$python" "$support/run_pytest.py" --python "$tests_python" --tree "$work/tree" --list /dev/null --out "$out" \
    --jobs "$jobs" --test-timeout 120 --time-limit "${time_limit:-900}" -- "${patterns[@]}"
  "$python" "$support/check_maps.py" "$work/maps" "$replaced" "$upstream_library"
  PYTHONPATH=$support "$python" "$tvm_tests/judge.py" "$library" "$1" "$out" "$2" "${patterns[@]}"
}
