#!/usr/bin/env bash
# usage: ci.sh               runs the first set: what each change must pass
#        ci.sh nightly       runs the second set: what takes long. Goes on where a run of the same sources stopped.
#                            With names, runs these of it
#        ci.sh NAME...       runs these checks
#        ci.sh --list        names the checks of all sets, one line each
#        ci.sh setup [first] installs what the checks need, or those of the first set (on Debian and its like, as root or with
#                            sudo); fails when something is missing
#
# The same as `cargo xtask ci`, `nightly`, `check NAME...` and `list`: tests/xtask says more. With
# CI=true, the first set installs what it needs. Logs go to target/ci/NAME.log; the last line is the
# sum: "N passed, N failed".
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# Builds the runner and becomes it, without the variables that `cargo run` sets.
xtask() {
  cargo build --quiet --package xtask
  exec "${CARGO_TARGET_DIR:-target}/debug/xtask" "$@"
}

install_first_set() {
  local logs=${CARGO_TARGET_DIR:-target}/ci
  mkdir -p "$logs"
  tests/ci/setup.sh first >"$logs/setup.log" 2>&1 || true # a check that lacks a tool fails and says so
}

{ # read to the end before it runs: the file may change meanwhile
  case ${1:-} in
    --help | -h) sed -n '2,11s/^# \{0,1\}//p' ci.sh ;;
    setup) tests/ci/setup.sh "${@:2}" ;;
    --list) xtask list ;;
    nightly) xtask "$@" ;;
    '')
      if [ "${CI:-}" = true ]; then install_first_set; fi
      xtask ci
      ;;
    *) xtask check "$@" ;;
  esac
  exit
}
