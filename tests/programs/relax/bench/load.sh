#!/usr/bin/env bash
# usage: load.sh LIBRARY_FOLDER [PYTHON]
#
# Prints what it takes to load each model and to make its machine ready, in both execution modes,
# with our machine and with TVM's, and the ratios: instructions of a process that does nothing else,
# dynamic linker included; instructions of loading the model once more in the same process; heap and
# resident memory of the process. The last line compares the sizes of the libraries that a program
# needs. Arguments and requirements are those of run.sh.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
ours=$(cd "$1" && pwd)
python=${2:-python3}
models=(chain cnn control mlp mlp_dyn mlp_i8 transformer values)

package() { # package NAME: the folder of an installed Python package
  "$python" -c 'import importlib.util, os, sys; print(os.path.dirname(importlib.util.find_spec(sys.argv[1]).origin))' "$1"
}
runtime=$(package tvm)/lib/libtvm_runtime.so
theirs=$(package tvm_ffi)/lib
[ -f "$runtime" ] || { echo "load.sh: there is no $runtime" >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${CC:-cc}" -O1 -I "$here/../../../include" "$here/run_model.c" -o "$work/run_model" -L "$ours" -ltvm_ffi -ldl -lm

run() { # run LIBRARY_FOLDER MODEL MODE LOADS RUNTIME [PREFIX...]: a process that loads the model
  local words=("$work/run_model" -a 2 -m "$4" "./$3.so" main 0 --)
  [ -z "$5" ] || words=("${words[0]}" -r "$5" "${words[@]:1}")
  (cd "$here/models/$2" && LD_LIBRARY_PATH=$1 "${@:6}" "${words[@]}" 2>&1)
}
instructions() { # instructions LIBRARY_FOLDER MODEL MODE LOADS RUNTIME
  run "$@" valgrind --tool=callgrind --callgrind-out-file=/dev/null | sed -n 's/.*Collected : //p'
}
memory() { run "$1" "$2" "$3" 1 "$4" env | sed -n 's/^heap \([0-9]*\) resident \([0-9]*\)/\1 \2/p'; }
ratio() { awk "BEGIN { printf \"%.2f\", $1 / $2 }"; }

row() { # row NAME MODE LABEL OUR THEIR
  printf '%-12s %-9s %-14s %10d %10d %6s\n' "$@" "$(ratio "$4" "$5")"
}
printf '%-12s %-9s %-14s %10s %10s %6s\n' model mode "" ours TVM ratio
for mode in bytecode compiled; do
  for model in "${models[@]}"; do
    our=$(instructions "$ours" "$model" "$mode" 1 "")
    their=$(instructions "$theirs" "$model" "$mode" 1 "$runtime")
    row "$model" "$mode" process "$our" "$their"
    our=$(($(instructions "$ours" "$model" "$mode" 2 "") - our))
    their=$(($(instructions "$theirs" "$model" "$mode" 2 "$runtime") - their))
    row "$model" "$mode" "once more" "$our" "$their"
    read -r our our_resident < <(memory "$ours" "$model" "$mode" "")
    read -r their their_resident < <(memory "$theirs" "$model" "$mode" "$runtime")
    row "$model" "$mode" "heap, bytes" "$our" "$their"
    row "$model" "$mode" "resident, KiB" "$our_resident" "$their_resident"
  done
done
size() { cat "$@" | wc -c; }
our=$(size "$ours/libtvm_ffi.so")
their=$(size "$theirs/libtvm_ffi.so" "$runtime")
echo "libraries: $our bytes, TVM $their, ratio $(ratio "$our" "$their")"
