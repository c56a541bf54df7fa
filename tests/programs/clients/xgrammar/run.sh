#!/usr/bin/env bash
# usage: run.sh [--calls] WHEEL
#
# Runs XGrammar's own tests that need no login and no GPU, with the wheel of targets/host/python: a
# client whose Python, C++ and PyTorch parts share libtvm_ffi.so. Its 6 GB of packages (PyTorch's
# CUDA libraries) are downloaded once and kept in the cache. The last line is pytest's. With
# --calls, times calls with PyTorch's tensors instead, beside upstream's Python package.
source "$(dirname "${BASH_SOURCE[0]}")/../../../conformance/upstream/support/cache.sh"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

install_client() {
  "$python" -m venv "$1" || die "Python's venv is missing: apt-get install python3-venv"
  "$1/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: -r "$here/requirements.txt" >&2
  PATH=$1/bin:$PATH "$1/bin/python" -m pip download --quiet --disable-pip-version-check --no-deps --no-build-isolation \
    --require-hashes --no-binary xgrammar -d "$1/sources" -r "$here/requirements-source.txt" >&2
  tar -xzf "$1"/sources/*.tar.gz -C "$1/sources" --strip-components=1
}

calls=
if [ "${1:-}" = --calls ]; then calls=yes && shift; fi
[ $# -eq 1 ] && [ -f "$1" ] || die "usage: run.sh [--calls] WHEEL"
open_cache
client=$cache/xgrammar-$(cat "$here"/requirements*.txt - <<<"$("$python" -VV)" | key)
once "$client" install_client
if [ -n "$calls" ]; then
  packages=$("$client/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  exec "$here/../../../bench/python_calls/run.sh" --times --torch "$packages" "$1" --rows PyTorch
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$client/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --target "$work/site" "$1"
cp -r "$client/sources/tests" "$work/tests"
cd "$work/tests/python"
PYTHONPATH=$work/site:$work/tests "$client/bin/python" -m pytest -q -p ferrite_tvm_ffi -p no:cacheprovider -W ignore \
  -m "not hf_token_required"
