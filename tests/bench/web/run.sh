#!/usr/bin/env bash
# usage: run.sh FOLDER [RUNTIME UPSTREAM]
#
# Compares the library in Node, and in Chromium where it is installed, with onnxruntime-web, which
# has one thread: start, inference and size of the digits. FOLDER is a result of
# `ferrite model tests/programs/relax/cnn/digits.onnx --target web -o FOLDER`. With two modules of
# tests/programs/web/add_one.o, compares them under TVM's JavaScript runtime, too: RUNTIME is one of
# targets/web/link.sh, UPSTREAM one of upstream.sh.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../conformance/upstream/support/cache.sh"

install_packages() {
  cp "$here/package.json" "$1"
  npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$1" >&2
}

[ $# -eq 1 ] || [ $# -eq 3 ] || die "usage: run.sh FOLDER [RUNTIME UPSTREAM]"
need node "apt-get install nodejs"
need npm "apt-get install npm"
open_cache
packages=$cache/bench-web-$(key <"$here/package.json")
once "$packages" install_packages
node "$here/run.mjs" "$packages" "$@"
