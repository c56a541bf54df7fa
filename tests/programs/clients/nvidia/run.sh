#!/usr/bin/env bash
# usage: run.sh WHEEL
#
# Runs kernels of CUTLASS's DSL, FlashInfer, JAX, SGLang, TileLang and XGrammar on an NVIDIA GPU
# with the library of the wheel of targets/host/python. The interpreter (PYTHON, by default python3)
# must have PyTorch and JAX with CUDA, and nvcc must be there, which most compile with: 10 minutes
# on an H100.
# shellcheck disable=SC2154 # cache.sh sets the folder of downloads and the interpreter
source "$(dirname "${BASH_SOURCE[0]}")/../../../conformance/upstream/support/cache.sh"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

install_clients() { # install_clients FOLDER: of the pins in $requirements
  "$python" -m venv --system-site-packages "$1" || die "Python's venv is missing: apt-get install python3-venv"
  "$1/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: -r "$requirements" >&2
}

[ $# -eq 1 ] && [ -f "$1" ] || die "usage: run.sh WHEEL"
need nvcc "install the CUDA toolkit"
open_cache
"$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' || die "PyTorch with CUDA and an NVIDIA GPU are missing"
site=$(mktemp -d)
trap 'rm -rf "$site"' EXIT
"$python" -m pip install --quiet --disable-pip-version-check --no-deps --root-user-action ignore --target "$site" "$1"
failed=0
export JAX_PLATFORMS=cuda,cpu # JAX fails without a GPU
for script in "$here"/*.py "$here"/../jax/jax_kernels.py; do
  requirements=$here/requirements-$(basename "$script" .py).txt
  clients=$cache/clients-nvidia-$(cat "$requirements" - <<<"$("$python" -VV)" | key)
  once "$clients" install_clients
  PYTHONPATH=$site:$here/../cutlass "$here/../../../watchdog/watched.py" 600 "$clients/bin/python" "$script" || failed=$((failed + 1))
done
echo "programs on an NVIDIA GPU: $failed failed"
[ "$failed" -eq 0 ]
