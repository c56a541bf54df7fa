#!/usr/bin/env bash
# usage: run.sh LIBRARY [RELEASE...]
#
# Runs the unmodified ctypes front ends of earlier releases of TVM with a libtvm_ffi.so built with the feature `legacy` in place
# of their libtvm_runtime.so. No registry has these front ends: their archives, tvm-python-vRELEASE.tar.xz with `python/tvm` of
# the tag, are searched for in the folder FERRITE_UPSTREAM, by default ../shared/upstream next to the checkout.
source "$(dirname "${BASH_SOURCE[0]}")/../upstream/support/cache.sh"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
archives=${FERRITE_UPSTREAM:-$root/../shared/upstream}

install_numpy() { # the last release that all of these front ends run with, and what they import
  "$python" -m venv "$1" || die "Python's venv is missing: apt-get install python3-venv"
  "$1/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: \
    numpy==1.23.5 decorator attrs psutil typing_extensions cloudpickle ml_dtypes >&2
}

front_end() { # front_end RELEASE: the folder with python/tvm of that release
  local archive=$archives/tvm-python-v$1.tar.xz
  [ -f "$archive" ] || die "no $archive: git clone --depth 1 --branch v$1 https://github.com/apache/tvm, and pack its
python/tvm with: tar -cJf tvm-python-v$1.tar.xz python/tvm; then set FERRITE_UPSTREAM to the folder of the archive"
  mkdir -p "$work/v$1"
  tar -xJf "$archive" -C "$work/v$1"
  echo "$work/v$1/python"
}

[ -f "${1:-}" ] || die "usage: run.sh LIBRARY [RELEASE...]"
library=$1
shift
[ $# -gt 0 ] || set -- 0.5 0.6.1 0.8.0 0.14.0 0.18.0
need "${CC:-cc}" "apt-get install gcc"
need xz "apt-get install xz-utils"
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
  folder=$(front_end "$release")
  echo "== $release"
  # The front end of 0.8 cannot parse tracebacks with position markers.
  RELEASE=$release LIBRARIES=$work PYTHONPATH=$folder PYTHONNODEBUGRANGES=1 \
    TVM_FFI=ctypes TVM_USE_RUNTIME_LIB=1 TVM_LIBRARY_PATH=$work \
    timeout 300 "$environment/bin/python" -W ignore "$here/front_end.py" 2>&1 || status=1
done
exit "$status"
