#!/usr/bin/env bash
# usage: run.sh LIBRARY_FOLDER [PYTHON]
#
# Prints the instructions of one call of each model, in both execution modes, with our machine and
# with TVM's, and their ratio. LIBRARY_FOLDER has our libtvm_ffi.so, built with the features
# `backend` and `relax`. PYTHON has apache-tvm 0.27.0.post1 installed, whose libraries are used; it
# is `python3` unless given. Needs valgrind and a C compiler.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
ours=$(cd "$1" && pwd)
python=${2:-python3}
repetitions=20
models=(chain cnn control mlp mlp_dyn mlp_i8 transformer values)

package() { # package NAME: the folder of an installed Python package
  "$python" -c 'import importlib.util, os, sys; print(os.path.dirname(importlib.util.find_spec(sys.argv[1]).origin))' "$1"
}
runtime=$(package tvm)/lib/libtvm_runtime.so
theirs=$(package tvm_ffi)/lib
[ -f "$runtime" ] || { echo "run.sh: there is no $runtime" >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${CC:-cc}" -O1 -I "$here/../../../include" "$here/run_model.c" -o "$work/run_model" -L "$ours" -ltvm_ffi -ldl -lm

count() { # count LIBRARY_FOLDER MODEL MODE [OPTION...]: instructions of the model's last call
  local folder=$1 model=$2 mode=$3 words total
  shift 3
  read -r -a words < <(grep "^$model " "$here/models/calls.txt" | tail -n 1)
  total=$(cd "$here/models/$model" && LD_LIBRARY_PATH=$folder valgrind --tool=callgrind --callgrind-out-file=/dev/null \
    --collect-atstart=no --toggle-collect=repeat "$work/run_model" "$@" -a 2 -n "$repetitions" "./$mode.so" \
    "${words[@]:1}" 2>&1 | sed -n 's/.*Collected : //p')
  echo $((total / repetitions))
}

printf '%-12s %-9s %10s %10s %6s\n' model mode ours TVM ratio
for mode in bytecode compiled; do
  for model in "${models[@]}"; do
    our=$(count "$ours" "$model" "$mode")
    their=$(count "$theirs" "$model" "$mode" -r "$runtime")
    printf '%-12s %-9s %10d %10d %6.2f\n' "$model" "$mode" "$our" "$their" "$(awk "BEGIN { print $our / $their }")"
  done
done
