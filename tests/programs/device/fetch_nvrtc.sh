#!/usr/bin/env bash
# usage: fetch_nvrtc.sh FOLDER [VERSION]: puts NVRTC, NVIDIA's compiler for CUDA source, into FOLDER unless it is there, from
# PyPI, and prints the folder for FERRITE_NVRTC. It needs neither a GPU nor a driver.
set -euo pipefail
version=${2:-12.9.86}
folder=$1/nvrtc-$version
if [ ! -e "$folder/nvidia/cuda_nvrtc/lib/libnvrtc.so.12" ]; then
  python3 -m pip install --quiet --no-deps --disable-pip-version-check --target "$folder" "nvidia-cuda-nvrtc-cu12==$version" >&2
fi
echo "$folder/nvidia/cuda_nvrtc"
