#!/usr/bin/env bash
# usage: run.sh WHEEL
#
# Measures kernels and a model on an NVIDIA GPU beside PyTorch, with the library of the wheel of
# targets/host/python, and writes results/gpu.md. The interpreter (PYTHON, by default python3) must
# have PyTorch with CUDA; a C++ compiler must be there. shellcheck disable=SC2154 # cache.sh sets
# the interpreter
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../../conformance/upstream/support/cache.sh
source "$here/../../conformance/upstream/support/cache.sh"

[ $# -eq 1 ] && [ -f "$1" ] || die "usage: run.sh WHEEL"
open_cache
"$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' || die "PyTorch with CUDA and an NVIDIA GPU are missing"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
make -s -C "$here/../../../targets/host/kernels" cpp
"$python" -m venv --system-site-packages "$work/tvm"
"$work/tvm/bin/python" -m pip install --quiet --disable-pip-version-check apache-tvm==0.27.0.post1 apache-tvm-ffi==0.1.15.post2
"$work/tvm/bin/python" "$here/transformer.py" "$work"
"$work/tvm/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps "$1"
"$work/tvm/bin/python" "$here/measure.py" "$here/../../../targets/host/kernels/build/kernels_cpp.so" "$work" |
  tee "$here/../results/gpu.md"
