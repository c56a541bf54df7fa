#!/usr/bin/env bash
# usage: run.sh [--asan] [--release VERSION] LIB [SUITE...] [-- PATTERN...]
#
# Runs upstream's own tests with LIB in place of libtvm_ffi.so: the suites python, cpp, rust and
# examples, or the named ones; with PATTERNs, only tests whose id contains one of them. With --asan,
# LIB is built with the address sanitizer, and its reports are failures. For the suite python, LIB
# may be the wheel of targets/host/python, and VERSION an earlier release of upstream's Python
# package with its own tests: one of pins/releases/.
#
# The last line is the sum. Exits with 0 only if every test of the lists in baseline/ passed,
# nothing else went wrong, and each process had LIB mapped; with 2 if nothing could be measured.
# Results go to $OUT (default target/upstream): logs, and SUITE/shortfall.txt with failures and
# reasons.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

die() {
  echo "error: $*" >&2
  exit 2
}

# Clears variables of the caller's environment that affect libraries, flags or test options.
clean_environment() {
  local name
  for name in $(compgen -e); do
    case $name in
      LD_* | PYTHON?* | TVM_FFI_* | PYTEST_* | GTEST_* | RUST_TEST_* | RUST_BACKTRACE | CMAKE_* | VIRTUAL_ENV | \
        *FLAGS | CPATH | *_INCLUDE_PATH | LIBRARY_PATH | CARGO_* | RUSTC* | RUSTDOC* | ?SAN_OPTIONS)
        [ "$name" = CARGO_HOME ] || unset "$name"
        ;;
    esac
  done
  export LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1 CARGO_INCREMENTAL=0
  RUSTUP_TOOLCHAIN=$(sed -n 's/^channel = "\(.*\)"/\1/p' "$here/../../../rust-toolchain.toml")
  export RUSTUP_TOOLCHAIN
}

# Finds the sanitizer's runtime, which is preloaded into programs not built with it.
find_asan_runtime() {
  command -v clang >/dev/null || die "clang is missing: apt-get install clang"
  asan_runtime=$(clang -print-file-name="libclang_rt.asan-$(uname -m).so")
  [ -f "$asan_runtime" ] || die "clang's sanitizer runtime is missing: apt-get install libclang-rt-dev"
}

asan_runtime=
if [ "${1:-}" = --asan ]; then
  shift
  find_asan_runtime
fi
upstream_release=
if [ "${1:-}" = --release ]; then
  upstream_release=${2:-}
  [ -f "$here/pins/releases/$upstream_release.txt" ] || die "no release of the name $upstream_release in pins/releases"
  shift 2
fi
[ $# -ge 1 ] && [ -f "$1" ] || die "usage: run.sh [--asan] [--release VERSION] LIB [SUITE...] [-- PATTERN...]"
library=$(realpath "$1")
shift
suites=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  [ -f "$here/suites/$1.sh" ] || die "no suite of the name $1"
  suites+=("$1")
  shift
done
[ $# -eq 0 ] || shift
[ ${#suites[@]} -gt 0 ] || suites=(python cpp rust examples)
[ -z "$upstream_release" ] || [ "${suites[*]}" = python ] || die "--release is for the suite python"

out=${OUT:-$here/../../../target/upstream}
mkdir -p "$out"
results=$(cd "$out" && pwd -P)
export library results asan_runtime upstream_release
clean_environment

table=$(mktemp)
trap 'rm -f "$table"' EXIT
status=0
for suite in "${suites[@]}"; do
  begin=$SECONDS
  result=0
  "$here/suites/$suite.sh" "$@" 2>&1 | tee "$results/$suite.log" || result=${PIPESTATUS[0]}
  [ "$result" -eq 0 ] || status=$result
  line=$(grep -E "^$suite: [0-9]+ passed, [0-9]+ failed" "$results/$suite.log" | tail -n 1) || {
    # Without a summary, all of its tests count as failed.
    line="$suite: 0 passed, $(grep -vc '^#' "$here/baseline/$suite.txt") failed (not measured)"
    echo "$line"
  }
  echo "$line" $((SECONDS - begin)) "$result" >>"$table"
done

echo
awk '{ p += $2; f += $4
       printf "%-10s %5d passed %5d failed %5d s%s\n", $1, $2, $4, $(NF - 1), $NF ? "  NOT OK" : "" }
     END { printf "upstream: %d passed, %d failed\n", p, f }' "$table"
exit "$status"
