#!/usr/bin/env bash
# usage: ci.sh               runs the first set: what each change must pass
#        ci.sh nightly       runs the second set: what takes long. Goes on where a run of the same sources stopped.
#                            With names, runs these of it
#        ci.sh NAME...       runs these checks
#        ci.sh --list        names the checks of both sets, one line each
#        ci.sh setup [first] installs what the checks need, or those of the first set (on Debian and its like, as root or with
#                            sudo); fails when something is missing
#
# The checks are in tests/ci, a file for each group; tests/ci/sets.sh says which set each is in. A check that lacks a tool
# fails and says what to install; none is skipped in silence. Logs go to target/ci/NAME.log; the last line is the sum:
# "N passed, N failed".
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 2

CROSS_TARGETS=(thumbv6m-none-eabi thumbv7em-none-eabihf thumbv8m.main-none-eabihf
  riscv32imc-unknown-none-elf riscv32imac-unknown-none-elf wasm32-unknown-unknown)
NIGHTLY=${FERRITE_NIGHTLY:-nightly}
# Features of the Rust crates for types of other crates.
OTHER_CRATES=ferrite-ffi/half,ferrite-ffi/bytes,ferrite-ffi/ndarray,ferrite-ffi/num-bigint,ferrite-ffi/serde
HOST_TARGET=x86_64-unknown-linux-gnu
MSRV=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0
# Backtraces need the tables of lines; descriptions of variables would double the space of a build.
export CARGO_PROFILE_DEV_DEBUG=${CARGO_PROFILE_DEV_DEBUG:-line-tables-only}
target=${CARGO_TARGET_DIR:-$PWD/target}
logs=$target/ci

declare -A ABOUT
about() { ABOUT[$1]=$2; } # about NAME TEXT: what the function check_NAME below checks, in one line

for part in sets setup run tools build unit platforms conformance programs kernels devices embedded robustness bench; do
  # shellcheck source=/dev/null
  . "tests/ci/$part.sh"
done

usage() { sed -n '2,12s/^# \{0,1\}//p' "$0"; }

list() {
  list_set "" "${LANE_ONE[@]}" "${LANE_TWO[@]}"
  list_set "  [nightly]" "${SECOND_SET[@]}"
  list_set "  [only when named]" "${ON_REQUEST[@]}"
}

list_set() { # list_set MARK NAME...
  local mark=$1 name
  shift
  for name; do echo "$name: ${ABOUT[$name]}$mark"; done
}

# Every check is in one set, and every name of a set is a check.
sets_are_whole() {
  local listed known
  listed=$(printf '%s\n' "${LANE_ONE[@]}" "${LANE_TWO[@]}" "${SECOND_SET[@]}" "${ON_REQUEST[@]}" | sort)
  known=$(declare -F | sed -n 's/^declare -f check_//p' | sort)
  diff <(echo "$listed") <(echo "$known") && diff <(echo "$listed") <(printf '%s\n' "${!ABOUT[@]}" | sort) || {
    echo "error: tests/ci/sets.sh does not list each check once" >&2
    return 1
  }
}

# Builds of the first set take 9 GB, and what it downloads 7 GB. On a full disk, checks fail one after the other with other messages.
enough_space() {
  local free
  free=$(($(df --output=avail -k . | tail -n 1) / 1024 / 1024))
  if [ "$free" -ge 12 ]; then return; fi
  echo "error: the first set needs 12 GiB of free disk space, and 20 GiB if nothing is downloaded yet; there are $free" >&2
  return 1
}

run_first_set() {
  enough_space || return
  if [ "${CI:-}" = true ]; then setup_first_set >"$logs/setup.log" 2>&1; fi
  run_lanes "${LANE_ONE[*]}" "${LANE_TWO[*]}"
}

run_second_set() { # run_second_set [NAME...]
  if [ $# -gt 0 ]; then resume "$@"; else resume "${SECOND_SET[@]}"; fi
}

run_named() {
  local name
  for name; do
    [ -n "${ABOUT[$name]:-}" ] || {
      echo "error: no check of the name $name: see ./ci.sh --list" >&2
      return 2
    }
  done
  run_checks "$@"
}

main() {
  mkdir -p "$logs"
  sets_are_whole || exit 2
  case ${1:-} in
    --list) list ;;
    --help | -h) usage ;;
    setup) setup "${2:-}" ;;
    '') with_sum run_first_set ;;
    nightly) with_sum run_second_set "${@:2}" ;;
    *) with_sum run_named "$@" ;;
  esac
}

{ # read to the end before it runs: the file may change meanwhile
  main "$@"
  exit
}
