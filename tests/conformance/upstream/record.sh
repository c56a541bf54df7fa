#!/usr/bin/env bash
# usage: record.sh
#
# Makes the lists in baseline/ anew: the tests that pass with upstream's own library. Run it twice,
# and see that git shows no difference: a test that is not stable does not belong in a list.
# shellcheck source=support/cache.sh
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
