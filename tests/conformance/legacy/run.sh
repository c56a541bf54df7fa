#!/usr/bin/env bash
# usage: run.sh LIBRARY [RELEASE...]
#
# Runs the unmodified ctypes front ends of earlier releases of TVM with a libtvm_ffi.so built with
# the feature `legacy` in place of their libtvm_runtime.so. No registry has these front ends:
# FERRITE_TVM_GIT names a git directory of apache/tvm with the tags.
source "$(dirname "${BASH_SOURCE[0]}")/../upstream/support/cache.sh"
source "$support/tvm_sources.sh"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)

install_numpy() { # the last release that all of these front ends run with, and what they import
  "$python" -m venv "$1" || die "Python's venv is missing: apt-get install python3-venv"
  "$1/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: \
    numpy==1.23.5 decorator attrs psutil typing_extensions cloudpickle ml_dtypes >&2
}

[ -f "${1:-}" ] || die "usage: run.sh LIBRARY [RELEASE...]"
library=$1
shift
[ $# -gt 0 ] || set -- 0.5 0.6.1 0.8.0 0.14.0 0.18.0
need "${CC:-cc}" "apt-get install gcc"
open_cache
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
environment=$cache/legacy-$(cat "${BASH_SOURCE[0]}" - <<<"$("$python" -VV)" | key)
once "$environment" install_numpy

cp "$library" "$work/libtvm_runtime.so"
for name in old3 old6 today; do
  "${CC:-cc}" -std=c99 -shared -fPIC -I "$root/include" "$here/$name.c" -o "$work/$name.so"
done
status=0
for release; do
  unpack_tvm "v$release" "$work/v$release" python/tvm
  echo "== $release"
  # The front end of 0.8 cannot parse tracebacks with position markers.
  RELEASE=$release LIBRARIES=$work PYTHONPATH=$work/v$release/python PYTHONNODEBUGRANGES=1 \
    TVM_FFI=ctypes TVM_USE_RUNTIME_LIB=1 TVM_LIBRARY_PATH=$work \
    "$root/tests/watchdog/watched.py" 300 "$environment/bin/python" -W ignore "$here/front_end.py" 2>&1 || status=1
done
echo "== global functions"
"$environment/bin/python" -W ignore "$here/global_functions.py" --quiet "$FERRITE_TVM_GIT" "$work/libtvm_runtime.so" || status=1
exit "$status"
