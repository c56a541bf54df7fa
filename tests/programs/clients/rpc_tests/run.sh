#!/usr/bin/env bash
# usage: run.sh [--upstream] [--server upstream] WHEEL [PATTERN...]
#
# Runs TVM's own tests of RPC with `rpc.Server` replaced by `ferrite rpc serve`: conftest.py makes
# the replacement, and functions.c has the functions that tests call on the server. Client, tracker
# and proxy are TVM's, on the library of the wheel of targets/host/python. With --server upstream
# the server is TVM's too, and with --upstream nothing is of this project. PATTERNs select tests
# whose id contains one of them.
#
# Each test passes or is in not_passed.txt with the reason. The last line is the sum; results go to
# $OUT (default target/rpc-tests).
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../tvm_tests/support.sh"

server=ferrite original= listed=$here/not_passed.txt
while [[ "${1:-}" = --* ]]; do
  case $1 in
    --upstream) server=upstream listed=$here/not_passed_upstream.txt original=--upstream && shift ;;
    --server) server=$2 listed=$here/not_passed_upstream.txt && shift 2 ;;
    *) die "no option of the name $1" ;;
  esac
done
read_arguments ${original:+"$original"} "$@"
need "${CC:-cc}" "apt-get install gcc"
prepare rpc-tests/$server tests/python/runtime/test_{runtime_rpc,rpc_base}.py tests/python/contrib/test_rpc_{proxy,tracker}.py
make_interpreter
cp "$here"/{conftest.py,command_server.py,pytest.ini} "$work/tree/tests/python"
if [ "$server" = ferrite ]; then
  "${CC:-cc}" -std=c89 -pedantic -Wall -Wextra -Werror -Wno-long-long -O1 -fPIC -shared -I"$root/include" "$here/functions.c" \
    -o "$work/functions.so"
  export FERRITE_RPC_FUNCTIONS=$work/functions.so FERRITE_RPC_COMMAND=${FERRITE_COMMAND:-$work/python/bin/ferrite}
fi
# Tests bind the same ports.
jobs=1 time_limit=600
run_tests "$server" "$listed"
