#!/usr/bin/env bash
# usage: launch.sh [KIND...]
#
# Compares the cost of a launch through the library with that of its driver calls, for each kind of
# device (default: opencl): the time on this machine, which should have no other load, and the
# instructions of the launching thread, by callgrind. Writes results/launch.md. Fails if the median
# time is above 1.3 of the driver's.
#
# tests/programs/device/KIND/launch_cost.c measures; its argument is the kind's payload, its output
# lines have the form `NAME DRIVER LIBRARY RATIO`.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
device=$root/tests/programs/device
rounds=200
limit=1.3

need() { # need TOOL PACKAGE: fails loudly without it
  command -v "$1" >/dev/null && return 0
  echo "error: $1 is missing: apt-get install $2" >&2
  exit 2
}

build() { # build KIND: sets `program`
  program=$work/launch_cost_$1
  "${CC:-cc}" -O2 -I"$root/include" -I"$quickstart" -o "$program" "$device/$1/launch_cost.c" "$quickstart/ferrite_util.c" \
    -L"$target/gpu/release" -ltvm_ffi -Wl,-rpath,"$target/gpu/release" -Wl,--disable-new-dtags -ldl -lm
}

# Counts the instructions of both sides in a run of some rounds, including the very first launch.
counted() { # counted KIND ROUNDS: prints DRIVER LIBRARY
  local counts=$work/callgrind
  valgrind --quiet --tool=callgrind --callgrind-out-file="$counts" "$program" "$device/$1/module.bin" "$2" >/dev/null 2>&1
  callgrind_annotate --threshold=100 --inclusive=yes "$counts" | tr -d , |
    awk '/round_of_driver/ { driver = $1 } /round_of_library/ { library = $1 } END { print driver, library }'
}

instructions() { # instructions KIND: prints `instructions DRIVER LIBRARY RATIO`, each of a launch
  local one three
  counted "$1" 1 >/dev/null # fills the driver's cache of compiled code
  one=$(counted "$1" 1)
  three=$(counted "$1" 3)
  awk -v launches=4000 '{
    driver = ($3 - $1) / launches; library = ($4 - $2) / launches
    printf "instructions %.0f %.0f %.3f\n", driver, library, library / driver
  }' <<<"$one $three"
}

measure() { # measure KIND: rows of the table
  local name driver library ratio
  build "$1"
  { "$program" "$device/$1/module.bin" "$rounds" 2>/dev/null && instructions "$1"; } | grep -E '^[a-z]+( [0-9.]+){3}$' >"$work/rows"
  while read -r name driver library ratio; do
    [ "$name" = instructions ] || name="$name, us"
    echo "| $1 | $name | $driver | $library | $ratio |"
  done <"$work/rows"
  awk -v limit="$limit" '$1 == "median" { found = 1; bad = $4 > limit } END { exit bad || !found }' "$work/rows" || {
    echo "error: the median of $1 is above $limit, or missing" >&2
    status=1
  }
}

need "${CC:-cc}" gcc
need valgrind valgrind
quickstart=$(dirname "$(find "$root/targets/host" -name ferrite_util.c)")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
kinds=("${@:-opencl}")
features=$(IFS=, && echo "${kinds[*]}")
cargo build --quiet --release --manifest-path "$root/Cargo.toml" -p ferrite-ffi-capi --features "$features" --target-dir "$target/gpu"
{
  echo "# A launch beside the driver calls in it"
  echo
  echo "Made by \`tests/bench/launch.sh ${kinds[*]}\`: $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), $(nproc) processors. Kernel \`add_one\`, one block of 64"
  echo "threads, two buffers; $rounds rounds of 2,000 launches and a wait on each side, in turns. The driver's side sets the arguments and"
  echo "queues the kernel; the library's is a packed call. Instructions are those of the thread that launches, the driver's included."
  echo
  echo "| Kind | Of a launch | driver | library | ratio |"
  echo "|---|---|---:|---:|---:|"
} >"$work/table"
for kind in "${kinds[@]}"; do measure "$kind" >>"$work/table"; done
cat "$work/table"
[ "$status" -ne 0 ] || cp "$work/table" "$here/results/launch.md"
exit "$status"
