#!/usr/bin/env bash
# usage: run.sh WHEEL
#
# Runs the scripts of this folder, each in an interpreter of its own, with the wheel of targets/host/python: clients from
# PyPI that link the library's C++ symbols, pinned in requirements.txt, downloaded once and kept in the cache. The
# last line is the sum.
# shellcheck source=support/cache.sh
source "$(dirname "${BASH_SOURCE[0]}")/../upstream/support/cache.sh"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

install_clients() {
  "$python" -m venv "$1" || die "Python's venv is missing: apt-get install python3-venv"
  "$1/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
    -r "$here/requirements.txt" >&2
}

[ $# -eq 1 ] && [ -f "$1" ] || die "usage: run.sh WHEEL"
need "${CC:-cc}" "apt-get install gcc"
open_cache
clients=$cache/clients-$(cat "$here/requirements.txt" - <<<"$("$python" -VV)" | key)
once "$clients" install_clients
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$clients/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --target "$work/site" "$1"

passed=0
failed=0
for script in "$here"/*.py; do
  name=$(basename "$script" .py)
  if PYTHONPATH=$work/site timeout 300 "$clients/bin/python" "$script" >"$work/log" 2>&1; then
    passed=$((passed + 1))
    echo "ok      $name"
  else
    failed=$((failed + 1))
    echo "FAILED  $name"
    tail -n 30 "$work/log"
  fi
done
echo "clients: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
