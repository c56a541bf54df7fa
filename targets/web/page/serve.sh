#!/usr/bin/env bash
# usage: serve.sh [--build] [FOLDER]
#
# Builds the page in FOLDER, by default target/page of the clone, serves it on this machine, and
# prints its address. It needs a Rust toolchain with the target wasm32-unknown-unknown, and an
# interpreter with TVM, NumPy and onnx, which PYTHON names. The first build trains the two networks,
# which takes about two minutes. FERRITE_WEB names a library for WebAssembly that is built already,
# PORT the port. With --build the page is not served.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
python=${PYTHON:-python3}

serve=1
if [ "${1:-}" = --build ]; then
  serve=
  shift
fi
page=${1:-$root/target/page}

die() {
  echo "error: $1" >&2
  exit 1
}

train() { # train NETWORK: once, and again when its program changes
  local program=$here/train/$1.py
  if [ ! -e "$page/build/$1.onnx" ] || [ "$program" -nt "$page/build/$1.onnx" ]; then
    echo "training $1"
    "$python" "$program" "$page/build"
  fi
}

compile() { # compile NETWORK: for both devices
  "$python" -B "$root/targets/model" "$page/build/$1.onnx" --target web -o "$page/build/$1-cpu" >&2
  "$python" -B "$root/targets/model" "$page/build/$1.onnx" --target web,webgpu -o "$page/build/$1-webgpu" >&2
  cp "$page/build/$1-cpu/model.wasm" "$page/site/models/$1-cpu.wasm"
  cp "$page/build/$1-webgpu/model.wasm" "$page/site/models/$1-webgpu.wasm"
}

# The worker keeps these files, and fetches them again when one has changed.
list_files() {
  local files version
  files=$(cd "$page/site" && find . -type f ! -name worker.js ! -name '*.d.mts' | LC_ALL=C sort)
  version=$(cd "$page/site" && xargs cat <<<"$files" | sha256sum | cut -c 1-16)
  sed -e "s|@VERSION@|$version|" -e "s|@FILES@|\"./\", $(sed 's/.*/"&"/' <<<"$files" | paste -sd,)|" "$here/worker.js" >"$page/site/worker.js"
}

"$python" -c 'import numpy, onnx, tvm' 2>/dev/null ||
  die "$python lacks packages: pip install apache-tvm==0.27.0.post1 apache-tvm-ffi==0.1.15.post2 numpy onnx==1.22.0"
mkdir -p "$page/build"
rm -rf "$page/site"
mkdir -p "$page/site/models"
train digits
train letters
compile digits
compile letters
cp "$page/build/letters.json" "$page/site/models"
cp "$here"/*.html "$here"/*.css "$here"/*.mjs "$page/site"
cp -r "$here/../npm/src" "$page/site/ferrite"
list_files
[ "$serve" ] || exit 0
echo "http://localhost:${PORT:-8000}/"
exec "$python" -m http.server --bind localhost --directory "$page/site" "${PORT:-8000}"
