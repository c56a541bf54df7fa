#!/usr/bin/env bash
# usage: run.sh COMMAND
#
# Lets COMMAND, the program `ferrite`, describe and check the libraries of clients from PyPI that
# use libtvm_ffi, and compares what it prints with golden/. FERRITE_UPDATE_GOLDEN=1 writes these
# files anew. The last line is the sum.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck disable=SC1091,SC2154 # it sets the folder of downloads and the interpreter
source "$here/../../conformance/upstream/support/cache.sh"
[ -x "${1:-}" ] || die "usage: run.sh COMMAND"
ferrite=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
open_cache

install_packages() { # install_packages FOLDER
  "$python" -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: --implementation cp --abi cp311 --abi abi3 \
    --abi none --python-version 3.11 --platform manylinux_2_28_x86_64 --platform manylinux_2_27_x86_64 \
    --platform manylinux_2_17_x86_64 --platform manylinux2014_x86_64 --target "$1" -r "$here/requirements.txt" >&2
}

uses_the_library() { # uses_the_library FILE
  "$ferrite" inspect "$1" | grep -q '^needed from libtvm_ffi: [1-9]'
}

packages=$cache/inspected-$(key <"$here/requirements.txt")
once "$packages" install_packages
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$packages"
passed=0
while read -r library; do
  uses_the_library "$library" || continue
  package=${library%%/*}
  # Status 6: the library does not load on this machine, for lack of a driver for instance, which is
  # not recorded.
  checked=$("$ferrite" check "$library") || [ $? = 6 ] || die "$library has mistakes"
  {
    "$ferrite" inspect "$library"
    echo
    sed -e '/^  note: /d' -e 's/ in the file$//' <<<"$checked"
    echo
  } >>"$work/$package.txt"
  passed=$((passed + 1))
  echo "ok: $library"
done < <(find . -name '*.so' -printf '%P\n' | grep -v '\.libs/' | LC_ALL=C sort)

[ -z "${FERRITE_UPDATE_GOLDEN:-}" ] || cp "$work"/*.txt "$here/golden"
diff -ru "$here/golden" "$work" || die "the descriptions differ"
for package in tvm tilelang tvm_ffi_orcjit xgrammar; do
  [ -f "$work/$package.txt" ] || die "no library of $package was found"
done
echo "inspected: $passed passed, 0 failed"
