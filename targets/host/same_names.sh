#!/usr/bin/env bash
# A wrapper of rustc for cargo, which build.sh sets: names symbols independently of the clone's
# folder. Cargo hashes the path of a package outside of the workspace, such as core/ for
# targets/kernels, and rustc puts this hash into the names of symbols.
set -euo pipefail
arguments=()
for argument; do
  case $argument in metadata=*) argument=metadata=ferrite ;; esac
  arguments+=("$argument")
done
exec "${arguments[@]}"
