# shellcheck shell=bash
# shellcheck disable=SC2154  # ci.sh sets logs
#
# Runs checks, counts their tests, and prints one line for each. Sourced by ci.sh.

passed=0
failed=0
skipped=() # what checks left out, and why: they print it as "skipped: TEXT"

# Prints the sum of the test runners' summaries in a log, as "passed failed"; nothing without one. The runners are cargo,
# unittest, pytest, and this project's scripts that end with "NAME: N passed, N failed".
counted() {
  awk 'function number_of(what) { return match($0, what) ? substr($0, RSTART) + 0 : 0 }
       function after(what) { return match($0, what) ? substr($0, RSTART + length(what)) + 0 : 0 }
       /^test result: / { p += $4; f += $6; seen = 1 }
       /^Ran [0-9]+ tests? in / { p += $2; seen = 1 }
       /^(OK|FAILED) \((failures|errors|skipped|expected failures|unexpected successes)=/ {
         bad = after("failures=") + after("errors="); f += bad; p -= bad + after("skipped=")
       }
       /^[0-9]+ (passed|failed|error|skipped).* in [0-9.]+s/ {
         p += number_of("[0-9]+ passed"); f += number_of("[0-9]+ failed") + number_of("[0-9]+ error"); seen = 1
       }
       /^(upstream|differential|findings|coverage|boards|platform|clients|drift|install|windows|planted|mutants|python-programs): [0-9]+ passed, [0-9]+ failed$/ { p += $2; f += $4; seen = 1 }
       END { if (seen) print (p > 0 ? p : 0), f + 0 }' "$1"
}

# Prints the part of a log that explains a failure, without the output of passed tests.
explanation() {
  awk '/^successes:$/ { hidden = 1 } /^(failures:|test result: )/ { hidden = 0 } !hidden' "$1" |
    grep -vE '^(test .* \.\.\. ok|   Compiling|  Downloaded|$)'
}

run_check() { # run_check NAME: one line, and what explains a failure, printed in one piece since lanes share the output
  local name=$1 log=$logs/$1.log start=$SECONDS status=0 good bad
  ("check_$name") >"$log" 2>&1 </dev/null || status=$?
  read -r good bad < <(counted "$log") || { good= && bad=; }
  if [ "$status" -eq 0 ]; then
    if grep -q '^skipped: ' "$log"; then : "${good:=0}"; fi
    : "${good:=1}" "${bad:=0}"
    printf 'ok      %-17s %5d s  %s passed\n' "$name" $((SECONDS - start)) "$good"
  else
    : "${good:=0}"
    if [ "${bad:-0}" -eq 0 ]; then bad=1; fi
    printf 'FAILED  %-17s %5d s  %s passed, %s failed: %s\n%s\n' "$name" $((SECONDS - start)) "$good" "$bad" "$log" \
      "$(explanation "$log" | tail -n 60 | sed 's/^/        /')"
  fi
  tell_skipped "$name" "$log"
  passed=$((passed + good))
  failed=$((failed + bad))
  return "$status"
}

tell_skipped() { # tell_skipped NAME LOG
  local line
  while read -r line; do
    printf 'SKIPPED %-17s %s\n' "$1" "$line"
    skipped+=("$1: $line")
  done < <(sed -n 's/^skipped: //p' "$2")
}

run_checks() {
  local name
  for name; do run_check "$name" || true; done
}

lane() { # lane FILE NAME...: the sum goes to FILE
  local file=$1
  shift
  run_checks "$@"
  echo "$passed $failed" >"$file"
}

run_lanes() { # run_lanes "NAME..." "NAME...": lanes of checks, in parallel
  local names good bad index=0 lanes=()
  set -m # a process group for each lane, to end it as a whole
  for names; do
    index=$((index + 1))
    echo "0 1" >"$logs/lane-$index"
    # shellcheck disable=SC2086 # the names are words
    lane "$logs/lane-$index" $names &
    lanes+=($!)
  done
  set +m
  # shellcheck disable=SC2064 # expanded now, with the current lanes
  trap "kill ${lanes[*]/#/-- -} 2>/dev/null" EXIT
  wait "${lanes[@]}"
  trap - EXIT
  for ((; index > 0; index--)); do
    read -r good bad <"$logs/lane-$index"
    passed=$((passed + good))
    failed=$((failed + bad))
  done
}

# Prints a key of the sources: the commit, the differences from it, and untracked files.
sources_key() {
  {
    git rev-parse HEAD && git diff HEAD
    git ls-files --others --exclude-standard -z | xargs -0r sha256sum
  } | sha256sum
}

resume() { # resume NAME...: runs the checks that have not passed with these sources yet
  local name start before mark key
  key=$(sources_key)
  mkdir -p "$logs/passed"
  for name; do
    mark=$logs/passed/$name
    if [ -f "$mark" ] && [ "$(head -n 1 "$mark")" = "$key" ]; then
      before=$(tail -n 1 "$mark")
      printf 'ok      %-17s passed before with these sources: %s passed\n' "$name" "$before"
      passed=$((passed + before))
      continue
    fi
    before=$passed start=$SECONDS
    run_check "$name" || continue
    if [ $((SECONDS - start)) -gt 3600 ]; then
      echo "FAILED  $name takes longer than an hour: split it"
      failed=$((failed + 1))
    else
      printf '%s\n' "$key" $((passed - before)) >"$mark"
    fi
  done
}

with_sum() { # with_sum COMMAND...: prints the sum of what it ran; fails when a check did, or changed a tracked file
  local before
  before=$(git diff 2>/dev/null | sha256sum)
  "$@" || return
  if [ "${CI:-}" = true ] && [ "$(git diff 2>/dev/null | sha256sum)" != "$before" ]; then
    printf 'FAILED  the checks changed tracked files:\n%s\n' "$(git diff --stat | sed 's/^/        /')"
    failed=$((failed + 1))
  fi
  if [ ${#skipped[@]} -gt 0 ]; then echo "${#skipped[@]} skipped"; fi
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
}
