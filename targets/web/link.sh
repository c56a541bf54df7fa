#!/usr/bin/env bash
# usage: link.sh [--called] [--with NAME]... [--asyncify | --shrink] OUTPUT.wasm ARCHIVE [OBJECT...]
#
# Links the library for web pages and compiled models, as objects of system libraries, into one
# module for TVM's JavaScript runtime: see ../host/python/ferrite_tvm_ffi_web.py.
exec python3 "$(dirname "${BASH_SOURCE[0]}")/../host/python/ferrite_tvm_ffi_web.py" "$@"
