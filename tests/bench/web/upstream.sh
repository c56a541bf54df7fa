#!/usr/bin/env bash
# usage: upstream.sh OUTPUT.wasm [OBJECT...]
#
# Builds TVM's own library for web pages, without asyncify, from FERRITE_TVM_GIT and the sources of
# apache-tvm-ffi, with objects of system libraries. Needs emscripten (Debian's 3.1.6 will do) and
# some minutes.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../conformance/upstream/support/cache.sh"
source "$support/tvm_sources.sh"
revision=5d4dc8721307cf9677becacf0395c19be130e206

[ $# -ge 1 ] || die "usage: upstream.sh OUTPUT.wasm [OBJECT...]"
need emcc "apt-get install emscripten"
output=$(realpath "$1")
shift
objects=()
for object; do objects+=("$(realpath "$object")"); done
open_cache
ensure_environment
ensure_sources
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unpack_tvm "$revision" "$work" web/emcc src/runtime src/support src/ir include 3rdparty/compiler-rt
ln -s "$sources" "$work/3rdparty/tvm-ffi"
cd "$work/web"
for source in wasm_runtime tvmjs_support webgpu_runtime; do
  emcc -O3 -std=c++17 -w -I.. -I../include -I../3rdparty/compiler-rt -I../3rdparty/tvm-ffi/include \
    -I../3rdparty/tvm-ffi/3rdparty/dlpack/include -c "emcc/$source.cc" -o "$source.o"
done
emcc -O3 -o module.js ./*.o "${objects[@]}" --no-entry --pre-js emcc/preload.js -s WASM_BIGINT=1 -s ALLOW_MEMORY_GROWTH=1 \
  -s STANDALONE_WASM=1 -s ERROR_ON_UNDEFINED_SYMBOLS=0
mv module.wasm "$output"
