#!/usr/bin/env bash
# usage: run.sh [--short|--proof|--python VERSION] PACKAGE [PART...]
#
# Runs Python tests on upstream's package with Ferrite's extension and without it
# (FERRITE_TVM_FFI_FAST=1 and 0), and compares them: each test that passes without it passes with
# it, observes the same, and leaves no more behind. PACKAGE is the wheel of targets/host/python, or
# a folder with its content. PARTs, by default all but the last:
#
#   behaviour   our tests, in behaviour/
#   wrong       types and interpreters that the extension must leave alone, in wrong/
#   memory      a million calls of each kind
#   suite       upstream's own tests, with a census of blocks before and after each file
#   sanitized   our tests and upstream's on an extension with the address sanitizer, debug assertions
#               and checks for overflow (a nightly compiler, FERRITE_NIGHTLY, and clang's runtime);
#               not with --short
#   devmode     upstream's tests in CPython's development mode, whose allocator checks its blocks;
#               not with --short
#   programs    generated Python programs of tests/robustness/python (2,000; PROGRAMS=N another
#               number); not with --short
#   releases    the tests of each earlier release of upstream, with its package, as in `suite`, or
#               release-VERSION those of one; not with --short
#
# CPython 3.11 and 3.13 run all of it, 3.9, 3.10 and 3.12 a short set of upstream's files; one that
# is not installed is counted. --short: CPython 3.11 alone, the short set, fewer calls. --proof: the
# package has no extension; both sides are the same, which shows that the tests themselves are
# stable. --python VERSION: that CPython alone, with all of it.
#
# The last line is the sum. Results go to $OUT (default target/python-fast).
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../upstream/support/cache.sh
source "$here/../upstream/support/cache.sh"
# shellcheck source=interpreters.sh
source "$here/interpreters.sh"

usage() { die "usage: run.sh [--short|--proof|--python VERSION] PACKAGE [PART...]"; }

WHOLE=(3.11 3.13) SHORT=(3.9 3.10 3.12)
# Files of upstream's tests that compile nothing, on the parts that the extension changes.
SHORT_FILES=(test_container.py test_object.py test_tensor.py test_string.py test_error.py test_dataclass_c_class.py
  test_container_dlpack_conversion.py test_typed_method.py)
CALLS=1000000 # of each kind

all=1 proof=() chosen=
while [[ ${1:-} == --* ]]; do
  case $1 in
    --short) all=0 ;;
    --proof) proof=(--proof) ;;
    --python)
      chosen=${2:?}
      shift
      ;;
    *) usage ;;
  esac
  shift
done
[ $# -ge 1 ] && [ -e "$1" ] || usage
package=$(realpath "$1")
shift
parts=("$@")
[ $# -gt 0 ] || parts=(behaviour wrong memory suite sanitized devmode programs)
if [ "$all" = 0 ]; then WHOLE=() SHORT=(3.11) CALLS=2000; fi
if [ -n "$chosen" ]; then WHOLE=("$chosen") SHORT=(); fi

passed=0 failed=0 missing=()

# Runs a command whose last line is "N passed, N failed", and adds these to the sums.
counted() { # counted NAME COMMAND...
  local name=$1 line
  shift
  "$@" 2>&1 | tee "$out/$name.log" | grep -v '^  ok ' || true
  line=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$out/$name.log" | tail -n 1) || line="0 passed, 1 failed"
  echo "== $version $name: $line"
  passed=$((passed + ${line%% *}))
  line=${line#*, }
  failed=$((failed + ${line%% *}))
}

# Prints the variables of a process of the tests: nothing of the caller's.
mode_variables() { # mode_variables FAST
  echo "FERRITE_TVM_FFI_FAST=$1 PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1 TVM_FFI_DISABLE_TORCH_C_DLPACK=1 OPENBLAS_NUM_THREADS=1"
}

# Our tests of a folder, in both modes at once.
run_pytest() { # run_pytest FOLDER
  local fast
  for fast in 0 1; do
    # shellcheck disable=SC2046  # words
    env $(mode_variables $fast) PYTHONPATH="$here/plugin" FAST_RECORD="$out/$1-$fast.json" \
      "$root/tests/watchdog/watched.py" 600 "$fast_python" -X faulthandler -m pytest -q --tb=short -p no:cacheprovider \
      -p fast_record -o addopts= -c /dev/null --rootdir "$here" --basetemp "$work/pytest-$fast" "$here/$1" \
      >"$out/$1-$fast.log" 2>&1 &
  done
  wait
  "$python" "$here/same.py" ours ${proof[@]+"${proof[@]}"} "$out/$1-0.json" "$out/$1-1.json"
}

# Upstream's package, whose extension is compiled with a pointer more in front of the handle.
compile_moved_core() { # compile_moved_core FOLDER
  local handle='    cdef void\* chandle'
  cp -r "$sources/python/tvm_ffi/cython" "$1/cython"
  grep -qx "$handle" "$1/cython/object.pxi"
  sed -i "s/^$handle\$/    cdef void* moved\n&/" "$1/cython/object.pxi"
  cp -r "$wheel"/tvm_ffi "$wheel"/*.dist-info "$1"
  "$fast_base/bin/python" -m cython --cplus "$1/cython/core.pyx" -o "$1/cython/core.cpp" --module-name tvm_ffi.core >&2
  "${CXX:-g++}" -O0 -w -std=c++17 -fPIC -shared -I"$1/cython" -I"$wheel/tvm_ffi/include" \
    -I"$("$fast_base/bin/python" -c 'import sysconfig; print(sysconfig.get_path("include"))')" "$1/cython/core.cpp" \
    "$wheel"/tvm_ffi/lib/libtvm_ffi{,_testing}.so -Wl,-rpath,'$ORIGIN/lib' -o "$1"/tvm_ffi/core.cpython-311-*.so
}

# Sets the variables of wrong/ that need downloads or compilers: they are for CPython 3.11.
prepare_wrong() {
  local pin release
  unset FAST_RELEASES FAST_MOVED_CORE
  if [ "$version" != 3.11 ] || [ "$all" = 0 ]; then return; fi
  need "${CXX:-g++}" "apt-get install g++"
  export FAST_MOVED_CORE FAST_RELEASES=
  FAST_MOVED_CORE=$cache/moved-core-$(cat "$upstream_pin" "$here/run.sh" | key)
  once "$FAST_MOVED_CORE" compile_moved_core
  for pin in "$pins"/releases/*.txt; do
    ensure_release "$pin"
    FAST_RELEASES+=${FAST_RELEASES:+:}$release
  done
}

run_memory() {
  local fast
  for fast in 0 1; do
    # shellcheck disable=SC2046  # words
    env $(mode_variables $fast) PYTHONPATH="$here/plugin" LD_PRELOAD="$blocks" PYTHONMALLOC=malloc FAST_RECORD="$out/memory-$fast.json" \
      "$root/tests/watchdog/watched.py" 3600 "$fast_python" "$here/memory.py" $CALLS >"$out/memory-$fast.log" 2>&1 &
  done
  wait
  "$python" "$here/same.py" memory ${proof[@]+"${proof[@]}"} "$out/memory-0.json" "$out/memory-1.json"
}

# Upstream's tests in a mode, with a copy of its sources and more variables. Results go to
# $out/NAME.
one_suite() { # one_suite NAME FAST [VARIABLE...] -- [FILE...]
  local folder=$out/$1 fast=$2 tree=$work/tree-$version-$1 variables=()
  shift 2
  while [ "$1" != -- ]; do
    variables+=("$1")
    shift
  done
  mkdir -p "$folder/log" "$folder/record" "$folder/census" "$folder/asan" "$work/tmp"
  cp -a "$sources" "$tree"
  cp "$pins/Cargo.lock" "$tree/rust/Cargo.lock"
  # shellcheck disable=SC2046  # words
  env $(mode_variables "$fast") FERRITE_PRELOAD="$blocks" PYTHONMALLOC=malloc FERRITE_MAPS_DIR="$work/tmp" TMPDIR="$work/tmp" \
    FAST_CENSUS="$folder/census" FAST_RECORD="$folder/state.json" PYTEST_PLUGINS=fast_record,fast_census \
    TVM_FFI_CACHE_DIR="$work/tvm-ffi-$version-${folder##*/}" CARGO_TARGET_DIR="$cache/python-cargo" VIRTUAL_ENV="$environment" \
    PATH="$environment/bin:$fast_base/bin:$PATH" ${variables[@]+"${variables[@]}"} \
    "$base_python" "$upstream/support/run_pytest.py" --out "$folder" --jobs "$jobs" --time-limit 3600 --test-timeout 240 \
    --python "$fast_python" --tree "$tree" --list "$upstream/baseline/python.txt" "$@"
  rm -rf "$tree"
}

# Upstream's tests in both modes.
run_suite() { # run_suite [FILE...]
  one_suite suite-0 0 -- "$@"
  one_suite suite-1 1 -- "$@"
  "$python" "$here/same.py" suite ${proof[@]+"${proof[@]}"} "$out/suite-0" "$out/suite-1"
}

# The tests of an earlier release in both modes, with its package.
run_release() { # run_release RELEASE
  local out=$out/$1 work=$work/$1 environment=$work/$1/python upstream_pin=$pins/releases/$1.txt
  [ -f "$upstream_pin" ] || die "no release of the name $1 in pins/releases"
  mkdir -p "$out" "$work"
  ensure_sources
  ensure_fast_base "$interpreter" "$upstream_pin"
  make_fast_environment "$package" "$environment"
  find_plugins
  # The extension leaves all of this release to upstream's code.
  [ "$1" != 0.1.9 ] || proof=(--proof)
  run_suite
}

run_releases() {
  local pin release
  for pin in "$pins"/releases/*.txt; do
    release=$(basename "$pin" .txt)
    counted "release-$release" run_release "$release"
  done
}

# Upstream's tests with the extension and more variables, compared with those of `suite` without
# it, which run first unless they have.
checked_suite() { # checked_suite NAME [VARIABLE...] -- [FILE...]
  local name=$1 files=("$@")
  while [ "${files[0]}" != -- ]; do files=("${files[@]:1}"); done
  [ -f "$out/suite-0/results.jsonl" ] || one_suite suite-0 0 "${files[@]}"
  one_suite "$name" 1 PYTEST_PLUGINS=fast_record "${@:2}"
  "$python" "$here/same.py" checked "$out/suite-0" "$out/$name"
}

# The package with an extension that checks itself: sets `asan_options` and `asan_runtime`.
make_sanitized_package() { # make_sanitized_package FOLDER
  local machine built
  need clang "apt-get install clang"
  asan_runtime=$(clang -print-file-name="libclang_rt.asan-$(uname -m).so")
  [ -f "$asan_runtime" ] || die "clang's sanitizer runtime is missing: apt-get install libclang-rt-dev"
  asan_options=detect_leaks=0:allocator_may_return_null=1:alloc_dealloc_mismatch=0:log_path=$out/sanitized/asan/report
  unpack_package "$package" "$1"
  machine=$(rustc -vV | sed -n 's/^host: //p')
  RUSTUP_TOOLCHAIN=${FERRITE_NIGHTLY:-nightly} RUSTFLAGS=-Zsanitizer=address CARGO_TARGET_DIR=$root/target/python-sanitized \
    "$root/targets/host/build.sh" --python "$version" --quiet --profile dev --target "$machine"
  built=$root/target/python-sanitized/python/$version/$machine/debug/libferrite_python.so
  nm -D --undefined-only "$built" | grep __asan_report >/dev/null || die "the extension has no checks in it"
  cp "$built" "$1"/ferrite_tvm_ffi.libs/ferrite_python.cpython-"${version/./}"-*.so
}

# In a subshell: other parts use another environment and other compilers.
run_sanitized() ( # run_sanitized [FILE...]
  rm -rf "$out/sanitized"
  mkdir -p "$out/sanitized/asan"
  make_sanitized_package "$work/sanitized-package-$version"
  environment=$work/sanitized-$version
  make_fast_environment "$work/sanitized-package-$version" "$environment"
  find_plugins
  FERRITE_PRELOAD=$asan_runtime
  # shellcheck source=../upstream/support/suite.sh
  source "$upstream/support/suite.sh"
  support=$upstream/support
  work=$work/sanitized-work-$version
  mkdir -p "$work"
  spare_compilers
  # shellcheck disable=SC2046  # words
  env $(mode_variables 1) PYTHONMALLOC=malloc LD_PRELOAD="$asan_runtime" ASAN_OPTIONS="$asan_options" PYTHONPATH="$here/plugin" \
    FAST_RECORD="$out/sanitized/ours.json" "$fast_python" -X faulthandler -m pytest -q --tb=short -p no:cacheprovider -p fast_record \
    -o addopts= -c /dev/null --rootdir "$here" --basetemp "$work/pytest" "$here/behaviour" >"$out/sanitized/ours.log" 2>&1 || true
  checked_suite sanitized FERRITE_PRELOAD="$asan_runtime" ASAN_OPTIONS="$asan_options" -- "$@"
)

# A package folder for a mode, without an environment of its own.
package_for_programs() { # package_for_programs FOLDER FAST
  local site
  site=$("$fast_base/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  mkdir -p "$1"
  cp -r "$site"/tvm_ffi "$site"/apache_tvm_ffi-*.dist-info "$1"
  unpack_package "$package" "$1"
  printf 'import os\n\nos.environ["FERRITE_TVM_FFI_FAST"] = "%s"\nimport ferrite_tvm_ffi_switch\n' "$2" >"$1/sitecustomize.py"
  "$fast_base/bin/python" -m compileall -q "$1" # programs start interpreters that write no bytecode
}

run_programs() {
  local fast line
  for fast in 0 1; do package_for_programs "$work/programs-$version-$fast" $fast; done
  "$fast_base/bin/python" "$root/tests/robustness/python/programs.py" "$work/programs-$version-0" "$work/programs-$version-1" \
    --programs "${PROGRAMS:-2000}" --seconds 3600 >"$out/programs-output.log" || true
  cat "$out/programs-output.log"
  line=$(tail -n 1 "$out/programs-output.log")
  echo "${line#python-programs: }"
}

# Lets $fast_python find the plugins of pytest.
find_plugins() {
  echo "$here/plugin" >"$("$fast_python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/plugin.pth"
}

run_version() { # run_version VERSION whole|short
  local interpreter part environment
  version=$1
  interpreter=$(find_interpreter "$version")
  if [ -z "$interpreter" ]; then
    missing+=("$version")
    echo "== $version is not installed"
    return
  fi
  ensure_fast_base "$interpreter"
  out=$results/$version
  rm -rf "$out"
  mkdir -p "$out"
  environment=$work/python-$version
  make_fast_environment "$package" "$environment"
  find_plugins
  for part in "${parts[@]}"; do
    case $part in
      behaviour) counted behaviour run_pytest behaviour ;;
      wrong)
        prepare_wrong
        counted wrong run_pytest wrong
        ;;
      memory) counted memory run_memory ;;
      sanitized) if [ "$2" = whole ]; then counted sanitized run_sanitized; fi ;;
      devmode) if [ "$2" = whole ]; then counted devmode checked_suite devmode PYTHONDEVMODE=1 PYTHONMALLOC=debug FERRITE_PRELOAD= --; fi ;;
      programs) if [ "$2" = whole ]; then counted programs run_programs; fi ;;
      releases) if [ "$2" = whole ]; then run_releases; fi ;;
      release-*) if [ "$2" = whole ]; then counted "$part" run_release "${part#release-}"; fi ;;
      suite) if [ "$2" = short ]; then counted suite run_suite "${SHORT_FILES[@]}"; else counted suite run_suite; fi ;;
      *) usage ;;
    esac
  done
}

root=$(cd "$here/../../.." && pwd)
results=${OUT:-$root/target/python-fast}
mkdir -p "$results"
results=$(cd "$results" && pwd -P)
need "${CC:-cc}" "apt-get install gcc"
open_cache
ensure_environment
ensure_wheel
ensure_sources
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
blocks=$work/blocks.so
"${CC:-cc}" -O1 -Wall -Werror -fPIC -shared "$here/plugin/blocks.c" -o "$blocks"

for version in ${WHOLE[@]+"${WHOLE[@]}"}; do run_version "$version" whole; done
for version in ${SHORT[@]+"${SHORT[@]}"}; do run_version "$version" short; done
[ ${#missing[@]} -eq 0 ] || echo "not installed: ${#missing[@]} of $((${#WHOLE[@]} + ${#SHORT[@]})) interpreters: ${missing[*]}"
[ ${#missing[@]} -lt $((${#WHOLE[@]} + ${#SHORT[@]})) ] || failed=$((failed + 1))
echo "python-fast: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
