#!/usr/bin/env bash
# usage: link.sh OUTPUT.wasm ARCHIVE [OBJECT...]
#
# Links the library for web pages and compiled models, as objects of system libraries, into one
# module for TVM's JavaScript runtime. ARCHIVE is the libtvm_ffi.a of the feature `web`. With
# ASYNCIFY=1, Binaryen's `wasm-opt` lets calls into JavaScript suspend the module.
set -euo pipefail
output=$1
archive=$2
shift 2
# Functions that JavaScript calls. The rest is linked only if one of them, or a model, uses it.
exports=(
  TVMFFIAnyViewToOwnedAny TVMFFIDataTypeToString TVMFFIErrorSetRaisedFromCStr TVMFFIFunctionCall
  TVMFFIFunctionGetGlobal TVMFFIFunctionSetGlobal TVMFFIGetTypeInfo TVMFFIObjectDecRef
  TVMFFIObjectIncRef TVMFFITypeKeyToIndex TVMFFIWasmFunctionCreate TVMFFIWasmGetLastError
  TVMWasmAllocSpace TVMWasmFreeSpace _initialize
)
# What JavaScript provides; any other unknown symbol is an error.
imports=(TVMFFIWasmFunctionDeleter TVMFFIWasmSafeCall __console_log)
# Features that rustc enables by default for this target; older versions of Binaryen do not.
features=(--enable-bulk-memory --enable-mutable-globals --enable-nontrapping-float-to-int --enable-sign-ext)

die() {
  echo "error: $1" >&2
  exit 1
}
command -v rustc >/dev/null || die "rustc is missing, whose linker makes the module: install Rust by rustup"
sysroot=$(rustc --print sysroot)
host=$(rustc -vV | sed -n 's/^host: //p')
linker=$sysroot/lib/rustlib/$host/bin/rust-lld
[ -x "$linker" ] || die "there is no $linker: install Rust by rustup, whose toolchains have it"
# The stack is below the data: one that is exhausted traps, and overwrites nothing.
options=(--no-entry --gc-sections --strip-all --stack-first -z stack-size=1048576)
if [ -n "${ASYNCIFY:-}" ]; then wanted=$output.unchanged; else wanted=$output; fi
"$linker" -flavor wasm "${options[@]}" "${exports[@]/#/--export=}" "$archive" "$@" -o "$wanted"
if [ -n "${ASYNCIFY:-}" ]; then
  imported=$(printf ',env.%s' "${imports[@]}")
  wasm-opt "$wanted" "${features[@]}" -O2 --asyncify --pass-arg=asyncify-imports@"${imported#,}" -o "$output"
  rm "$wanted"
fi
