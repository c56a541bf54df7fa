#!/usr/bin/env bash
# usage: run.sh                                  every table of results/, the plots, the book's summary, and the README's sentence
#        run.sh --MODE [OURS [THEIRS]] [OPTION...]   one table, printed:
#          --quick         times, sizes of at most 2,000, a minute
#          --full          times of all sizes, up to 15 rounds, 8 minutes
#          --scaling       ns an element at 10^2 to 10^6 elements, 4 minutes
#          --instructions  counts of callgrind, which no load of the machine changes
#          --budgets       counts of OURS alone, against budgets.txt; fails above 5 % growth
#          --record        writes budgets.txt
#
# OURS and THEIRS are shared libraries that export the C ABI: by default this repository's, built
# as released, and `upstream`, the one of upstream's wheel. Options are those of bench.py: --ops
# REGEX, --rounds N, --ms N, --seconds N, --cpu N, --results FOLDER.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
build=$target/bench

need() { # need TOOL PACKAGE: fails loudly without it
  command -v "$1" >/dev/null && return 0
  echo "error: $1 is missing: apt-get install $2" >&2
  exit 2
}

library() { # library NAME: the path of a library, built or downloaded when it has to be
  case $1 in
    ours)
      cargo build --quiet --release --manifest-path "$root/Cargo.toml" -p ferrite-ffi-capi --features backend >&2
      echo "$target/release/libtvm_ffi.so"
      ;;
    upstream) echo "$("$here/../conformance/upstream/wheel.sh")/tvm_ffi/lib/libtvm_ffi.so" ;;
    *) realpath "$1" ;;
  esac
}

build_worker() {
  mkdir -p "$build"
  "${CC:-cc}" -O2 -g -Wall -I"$root/include" -I"$here/worker" -o "$build/worker" \
    "$here"/worker/{main,load,values}.c "$here"/operations/*.c "$here"/floors/*.c -ldl -lpthread
  "${CC:-cc}" -O2 -shared -fPIC -I"$root/include" -o "$build/module.so" "$here/worker/module.c"
  "${CC:-cc}" -O2 -Wall -shared -fPIC -o "$build/shared.so" "$here/floors/shared/state.c"
}

build_floors() {
  CARGO_TARGET_DIR=$build/cargo cargo build --release --locked --quiet --manifest-path "$here/floors/rust/Cargo.toml"
  cp "$build/cargo/release/libbench_floors.so" "$build"
}

compare() { # compare MODE OURS THEIRS [OPTION...]
  local mode=$1 ours=$2 theirs=$3
  shift 3
  python3 "$here/bench.py" --build "$build" --mode "$mode" --ours "$ours" --theirs "$theirs" "$@"
}

main() {
  local mode=${1:-} ours=ours theirs=upstream one
  need "${CC:-cc}" gcc
  need python3 python3
  case $mode in
    --quick | --full | --scaling | --instructions | --budgets | --record) shift ;;
    "") ;;
    --help | -h)
      sed -n '2,13s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
      return
      ;;
    *)
      sed -n '2,13s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
      exit 2
      ;;
  esac
  if [ $# -gt 0 ] && [ "${1#--}" = "$1" ]; then ours=$1 && shift; fi
  if [ $# -gt 0 ] && [ "${1#--}" = "$1" ]; then theirs=$1 && shift; fi
  case $mode in --instructions | --budgets | --record | "") need valgrind valgrind ;; esac
  build_worker
  ours=$(library "$ours")
  case $mode in
    --budgets | --record)
      compare "${mode#--}" "$ours" - "$@"
      return
      ;;
  esac
  theirs=$(library "$theirs")
  build_floors
  if [ -n "$mode" ]; then
    compare "${mode#--}" "$ours" "$theirs" "$@"
    return
  fi
  for one in full scaling instructions; do
    compare "$one" "$ours" "$theirs" --results "$here/results" "$@"
  done
  python3 "$here/summary.py"
}

main "$@"
