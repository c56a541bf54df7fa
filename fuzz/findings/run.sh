#!/usr/bin/env bash
# usage: run.sh UPSTREAM OURS
#
# Compiles each program of this folder, runs it with both libraries, and compares the outcomes with
# those that its comment names: what it prints, `signal N` or `exit N`. The libraries are files
# named libtvm_ffi.so.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 2

work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
passed=0 failed=0

outcome() { # outcome LIBRARY PROGRAM
  local printed status
  printed=$(LD_LIBRARY_PATH=$(dirname "$1") ../../tests/watchdog/watched.py 60 "$2" 2>/dev/null)
  status=$?
  if [ $status -eq 0 ]; then
    echo "$printed"
  elif [ $status -gt 128 ] && [ $status -lt 160 ]; then
    echo "signal $((status - 128))"
  else
    echo "exit $status"
  fi
}

for source in *.c; do
  grep -q "^| \`${source%.c}\`:" ../../docs/faults.md || {
    failed=$((failed + 1))
    echo "$source has no line in docs/faults.md"
  }
  program=$work/${source%.c}
  ${CC:-cc} -std=gnu11 -Wall -Wextra -Werror -I../../include "$source" -o "$program" "$2" || exit 2
  for which in upstream ours; do
    library=$1
    if [ $which = ours ]; then library=$2; fi
    expected=$(sed -n "s/^ \* $which: //p" "$source")
    found=$(outcome "$library" "$program" 2>/dev/null)
    if [ "$found" = "$expected" ]; then
      passed=$((passed + 1))
    else
      failed=$((failed + 1))
      echo "$source with $which: $found, not: $expected"
    fi
  done
done
echo "findings: $passed passed, $failed failed"
[ $failed -eq 0 ]
