#!/usr/bin/env bash
# usage: run.sh WHEEL [--record]
#
# Compares `ferrite rpc serve` of the wheel with TVM's minimal server (compare.py says in what).
# That server is built from the sources of apache/tvm, which FERRITE_TVM_GIT names, on the
# libtvm_runtime of apache-tvm from PyPI. With --record, the table goes to ../results/rpc.md.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../programs/clients/tvm_tests/support.sh"

# Builds the server as tvm.rpc.with_minrpc does. Its header includes a file by a path that is wrong
# at this revision.
build_minimal() {
  local sources=$work/tree/src packages
  packages=$(echo "$clients"/lib/python*/site-packages)
  unpack_tvm "$revision" "$work/tree" src/runtime/rpc/minrpc src/support/arena.h
  ln -s ../support "$sources/runtime/support"
  gcc -O2 -c -I"$root/include" "$functions" -o "$1/functions.o"
  g++ -std=c++17 -O2 -I"$sources/runtime/rpc/minrpc" -I"$packages/tvm/include" -I"$packages/tvm_ffi/include" \
    "$sources/runtime/rpc/minrpc/posix_popen_server/posix_popen_server.cc" "$1/functions.o" -Wl,--no-as-needed \
    -L"$packages/tvm/lib" -L"$packages/tvm_ffi/lib" -ltvm_runtime -ltvm_ffi \
    -Wl,-rpath,"$packages/tvm/lib:$packages/tvm_ffi/lib" -o "$1/minimal"
}

[ $# -ge 1 ] && [ -f "$1" ] || die "usage: run.sh WHEEL [--record]"
need g++ "apt-get install g++"
open_cache
clients=$cache/device-tests-$(cat "$tvm_tests/requirements.txt" - <<<"$("$python" -VV)" | key)
once "$clients" install_clients
functions=$here/../../programs/clients/rpc_tests/functions.c
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
minimal=$cache/minimal-rpc-$(key <<<"$revision $clients $(cat "$functions")")
once "$minimal" build_minimal
"${CC:-cc}" -O2 -fPIC -shared -I"$root/include" "$functions" -o "$work/functions.so"
"${CC:-cc}" -std=c89 -pedantic -Wall -Wextra -Werror -Wno-long-long -O2 "$here/client.c" -o "$work/client"
"$python" -m pip install --quiet --disable-pip-version-check --no-deps --root-user-action ignore \
  --target "$work/site" "$1"
PYTHONPATH=$work/site:$here "$clients/bin/python" "$here/compare.py" "$work/client" "$minimal/minimal" \
  "${FERRITE_COMMAND:-$work/site/bin/ferrite}" "$work/functions.so" "${@:2}"
