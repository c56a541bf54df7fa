#!/usr/bin/env bash
# A linker for cargo, which build.sh sets: links for musl by MUSL_CC, or musl-gcc; if MUSL_LIBC
# names a device's /lib/ld-musl-*.so.1, by Rust's own linker and with that library, for devices that
# have it at that path or at MUSL_LOADER. It replaces `libgcc_s`, which rustc names and Debian's
# musl-tools lack, as many devices do: the library opens the unwinder when it first needs one, and a
# program contains Rust's, which MUSL_UNWINDER names.
set -euo pipefail
unwinder=("$MUSL_UNWINDER")
for argument; do
  if [ "$argument" = -shared ]; then unwinder=(); fi
done
arguments=()
for argument; do
  case ${MUSL_LIBC:+linker}$argument in
    *-lgcc_s) arguments+=("${unwinder[@]}") ;;
    linker-Wl,*) # an option of build scripts, for compilers
      IFS=, read -ra options <<<"${argument#-Wl,}"
      arguments+=("${options[@]}")
      ;;
    *) arguments+=("$argument") ;;
  esac
done
if [ -z "${MUSL_LIBC:-}" ]; then
  # shellcheck disable=SC2086 # a compiler may be a command of several words
  exec ${MUSL_CC:-musl-gcc} "${arguments[@]}"
fi
host=$(rustc -vV | sed -n 's/^host: //p')
libraries=$(mktemp -d)
trap 'rm -r "$libraries"' EXIT
ln -s "$(realpath "$MUSL_LIBC")" "$libraries/libc.so"
# The first two arguments are the flavor. The folder precedes that of Rust's own libc.a.
"$(rustc --print sysroot)/lib/rustlib/$host/bin/rust-lld" "${arguments[@]:0:2}" -L "$libraries" \
  --dynamic-linker "${MUSL_LOADER:-/lib/$(basename "$MUSL_LIBC")}" "${arguments[@]:2}"
