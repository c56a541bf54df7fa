#!/usr/bin/env bash
# usage: record.sh
#
# Regenerates the lists in baseline/: the tests that pass with upstream's own library. Run it twice,
# and check that git shows no difference: an unstable test does not belong in a list.
source "$(dirname "${BASH_SOURCE[0]}")/support/cache.sh"

open_cache
ensure_wheel
OUT=$cache/record
export OUT
for suite in python cpp rust examples; do
  "$upstream/run.sh" "$upstream_library" "$suite" || note "$suite: differs from its list"
  {
    echo "# Tests of upstream's that pass with upstream's own library."
    "$python" "$support/results.py" "$OUT/$suite"
  } >"$upstream/baseline/$suite.txt"
done
