#!/usr/bin/env bash
# A linker for cargo, which build.sh sets: links for FERRITE_LINK_TARGET, such as
# x86_64-linux-gnu.2.17, by the stubs of that glibc that zig has. Zig would link an unwinder and a
# C++ runtime of its own; both must be those of the process, since exceptions cross libraries, so
# they are the system's, of which the library needs the oldest symbols only.
set -euo pipefail
triple=${FERRITE_LINK_TARGET%.*.*}
compiler=gcc
if [ "${triple%%-*}" != "$(uname -m)" ]; then compiler=$triple-gcc; fi
arguments=()
for argument; do
  case $argument in
    -lgcc_s) arguments+=("$("$compiler" -print-file-name=libgcc_s.so.1)") ;;
    -lstdc++) arguments+=("$("$compiler" -print-file-name=libstdc++.so)") ;;
    *) arguments+=("$argument") ;;
  esac
done
# Cargo links build scripts with it, too: the system's unwinder may need a later glibc, which is
# there when they run. shellcheck disable=SC2086 # the default is a command of three words
exec ${ZIG:-python3 -m ziglang} cc -target "$FERRITE_LINK_TARGET" "${arguments[@]}" -Wl,--allow-shlib-undefined
