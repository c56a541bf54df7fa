#!/usr/bin/env bash
# usage: run.sh WHEEL SET...
#
# Runs clients of libtvm_ffi.so from PyPI with the library of the wheel of targets/host/python. A
# SET is a folder next to this file: each of its scripts runs in an interpreter of its own, once for
# each of its requirements*.txt, which pin the packages. The set's *_stub folders stand in for
# packages that are too large. Environments are created once and kept in the cache. A script has
# CLIENT_SECONDS, 300 unless given. The last line is the sum.
source "$(dirname "${BASH_SOURCE[0]}")/../../conformance/upstream/support/cache.sh"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

install_clients() { # install_clients FOLDER: of the pins in $requirements
  "$python" -m venv "$1" || die "Python's venv is missing: apt-get install python3-venv"
  "$1/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
    -r "$requirements" >&2
}

run_script() { # run_script SCRIPT NAME: with the interpreter $clients/bin/python, which finds packages in $path first
  if PYTHONPATH=$path "$here/../../watchdog/watched.py" "${CLIENT_SECONDS:-300}" "$clients/bin/python" "$1" >"$work/log" 2>&1; then
    passed=$((passed + 1))
    echo "ok      $2"
  else
    failed=$((failed + 1))
    echo "FAILED  $2"
    tail -n 30 "$work/log"
  fi
}

[ $# -ge 2 ] && [ -f "$1" ] || die "usage: run.sh WHEEL SET..."
wheel=$1
shift
need "${CC:-cc}" "apt-get install gcc"
open_cache
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m pip install --quiet --disable-pip-version-check --no-deps --root-user-action ignore \
  --target "$work/site" "$wheel"

passed=0
failed=0
for set in "$@"; do
  [ -d "$here/$set" ] || die "no set of the name $set"
  path=$work/site
  for stub in "$here/$set"/*_stub; do
    [ ! -d "$stub" ] || path=$path:$stub
  done
  for requirements in "$here/$set"/requirements*.txt; do
    clients=$cache/clients-$set-$(cat "$requirements" - <<<"$("$python" -VV)" | key)
    once "$clients" install_clients
    version=${requirements##*/requirements}
    version=${version%.txt}
    for script in "$here/$set"/*.py; do
      run_script "$script" "$set$version $(basename "$script" .py)"
    done
  done
done
echo "clients: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
