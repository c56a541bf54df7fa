#!/usr/bin/env bash
# usage: run.sh WHEEL [--record]
#
# Runs run.py with the library of the wheel of targets/host/python, and TVM's runtime from PyPI.
# Needs valgrind.
source "$(dirname "${BASH_SOURCE[0]}")/../../conformance/upstream/support/cache.sh"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
requirements=$here/../../programs/clients/llm/requirements.txt

install_clients() {
  "$python" -m venv "$1" || die "Python's venv is missing: apt-get install python3-venv"
  "$1/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
    -r "$requirements" >&2
}

[ $# -ge 1 ] && [ -f "$1" ] || die "usage: run.sh WHEEL [--record]"
need valgrind "apt-get install valgrind"
open_cache
clients=$cache/clients-llm-$(cat "$requirements" - <<<"$("$python" -VV)" | key)
once "$clients" install_clients
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m pip install --quiet --disable-pip-version-check --no-deps --root-user-action ignore \
  --target "$work/site" "$1"
PYTHONPATH=$work/site "$clients/bin/python" "$here/run.py" "${@:2}"
