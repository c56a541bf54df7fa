#!/usr/bin/env bash
# usage: run.sh [quiet] [busy]     writes ../results/backend-quiet.md, by default, and backend-busy.md; 1 and 3 minutes
#
# Measures the functions that compiled models call, alternating between this repository's library
# and TVM's runtime, with TVM_NUM_THREADS tasks (2 by default). `quiet` is for an idle machine;
# `busy` starts four processes that compute without end, and stops them.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
build=${CARGO_TARGET_DIR:-$root/target}/bench/backend
export TVM_NUM_THREADS=${TVM_NUM_THREADS:-2}

runtime_environment() { # the Python environment with TVM's runtime; made once
  [ -x "$build/venv/bin/python" ] || python3 -m venv "$build/venv"
  "$build/venv/bin/python" -m pip install --quiet apache-tvm==0.27.0.post1 apache-tvm-ffi==0.1.15.post2 >&2
  "$build/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))'
}

busy=()
stop_busy() {
  [ ${#busy[@]} = 0 ] || kill "${busy[@]}"
  busy=()
}
trap stop_busy EXIT
start_busy() {
  local i
  for i in 1 2 3 4; do
    (while :; do :; done) &
    busy+=($!)
  done
}

measure() { # measure NAME SAMPLES ROUNDS: writes a file for each library
  local round
  rm -f "$build/$1-ours" "$build/$1-runtime"
  for ((round = 0; round < $3; round++)); do
    "$build/backend" "$2" "$ours" >>"$build/$1-ours"
    "$build/backend" "$2" "$site/tvm/lib/libtvm_runtime.so" "$site/tvm_ffi/lib/libtvm_ffi.so" >>"$build/$1-runtime"
  done
}

mkdir -p "$build"
if [ -z "${OURS:-}" ]; then
  cargo build --quiet --release --manifest-path "$root/Cargo.toml" -p ferrite-ffi-capi --features backend
  OURS=$(dirname "$(dirname "$build")")/release/libtvm_ffi.so
fi
ours=$(realpath "$OURS")
site=$(runtime_environment)
"${CC:-cc}" -O2 -Wall -Wextra -D_POSIX_C_SOURCE=200809L -I"$root/include" -o "$build/backend" "$here/backend.c" -ldl

for kind in "${@:-quiet}"; do
  case $kind in
    quiet) measure quiet 2000 "${ROUNDS:-5}" ;;
    busy)
      start_busy
      measure busy 200 "${ROUNDS:-3}"
      stop_busy
      ;;
    *) sed -n 2,10p "$0" && exit 2 ;;
  esac
  "$build/venv/bin/python" "$here/compare.py" "$kind" "$build/$kind-ours" "$build/$kind-runtime" |
    tee "$here/../results/backend-$kind.md"
done
