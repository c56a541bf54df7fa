#!/usr/bin/env bash
# usage: upstream.sh OUTPUT.wasm [OBJECT...]
#
# Links TVM's own library for web pages, without asyncify, with objects of system libraries. It is
# compiled once, from FERRITE_TVM_GIT and the sources of apache-tvm-ffi, which takes some minutes,
# and kept in the cache. Needs emscripten; Debian's 3.1.6 will do.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../conformance/upstream/support/cache.sh"
source "$support/tvm_sources.sh"
revision=5d4dc8721307cf9677becacf0395c19be130e206

compile_upstream() { # compile_upstream FOLDER
  local tree=$1/tree source
  unpack_tvm "$revision" "$tree" web/emcc src/runtime src/support src/ir include 3rdparty/compiler-rt
  ln -s "$sources" "$tree/3rdparty/tvm-ffi"
  for source in wasm_runtime tvmjs_support webgpu_runtime; do
    (cd "$tree/web" && emcc -O3 -std=c++17 -w -I.. -I../include -I../3rdparty/compiler-rt -I../3rdparty/tvm-ffi/include \
      -I../3rdparty/tvm-ffi/3rdparty/dlpack/include -c "emcc/$source.cc" -o "$1/$source.o")
  done
  mv "$tree/web/emcc/preload.js" "$1"
  rm -rf "$tree"
}

[ $# -ge 1 ] || die "usage: upstream.sh OUTPUT.wasm [OBJECT...]"
need emcc "apt-get install emscripten"
# Debian's emcc finds its acorn there, also with a Node.js from elsewhere.
export NODE_PATH=${NODE_PATH:-/usr/share/nodejs}
output=$(realpath "$1")
shift
objects=()
for object; do objects+=("$(realpath "$object")"); done
open_cache
ensure_environment
ensure_sources
compiled=$cache/web-upstream-$(cat "$upstream_pin" - <<<"$revision $(emcc --version | head -n 1)" | key)
once "$compiled" compile_upstream
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
emcc -O3 -o "$work/module.js" "$compiled"/*.o "${objects[@]}" --no-entry --pre-js "$compiled/preload.js" -s WASM_BIGINT=1 \
  -s ALLOW_MEMORY_GROWTH=1 -s STANDALONE_WASM=1 -s ERROR_ON_UNDEFINED_SYMBOLS=0
mv "$work/module.wasm" "$output"
