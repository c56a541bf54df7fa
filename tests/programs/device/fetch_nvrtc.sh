#!/usr/bin/env bash
# usage: fetch_nvrtc.sh FOLDER: puts NVRTC, NVIDIA's compiler for CUDA source, into FOLDER unless it
# is there, from PyPI, and prints the folder for FERRITE_NVRTC. It needs neither a GPU nor a driver.
set -euo pipefail
requirements=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/requirements-nvrtc.txt
version=$(sed -n 's/^nvidia-cuda-nvrtc-cu12==\([0-9.]*\).*/\1/p' "$requirements")
folder=$1/nvrtc-$version
if [ ! -e "$folder/nvidia/cuda_nvrtc/lib/libnvrtc.so.12" ]; then
  python3 -m pip install --quiet --no-deps --disable-pip-version-check --require-hashes --only-binary :all: --target "$folder" \
    -r "$requirements" >&2
fi
echo "$folder/nvidia/cuda_nvrtc"
