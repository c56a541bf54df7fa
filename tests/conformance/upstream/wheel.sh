#!/usr/bin/env bash
# usage: wheel.sh
#
# Prints the folder of upstream's unpacked wheel (with tvm_ffi/include and tvm_ffi/lib), which is
# downloaded from PyPI the first time, verified by its checksum, and kept in the cache. The variable
# upstream_release names an earlier release, one of pins/releases/.
source "$(dirname "${BASH_SOURCE[0]}")/support/cache.sh"

open_cache
ensure_wheel
echo "$wheel"
