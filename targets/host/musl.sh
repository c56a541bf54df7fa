#!/usr/bin/env bash
# A linker for cargo, which build.sh sets: links for musl by MUSL_CC, or musl-gcc. It leaves out
# `libgcc_s`, which rustc names and Debian's musl-tools lack: the library opens the unwinder when it
# first needs one.
set -euo pipefail
arguments=()
for argument; do
  if [ "$argument" != -lgcc_s ]; then arguments+=("$argument"); fi
done
# shellcheck disable=SC2086 # a compiler may be a command of several words
exec ${MUSL_CC:-musl-gcc} "${arguments[@]}"
