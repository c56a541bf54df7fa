#!/usr/bin/env bash
# usage: drift.sh VERSION WHEEL|LIB
#        drift.sh --newest
#
# Compares a release of upstream, downloaded from PyPI, with the features of this library, given as
# LIB or in the WHEEL of targets/host/python: C symbols, C++ names, headers, layouts of C++ classes,
# global functions, reflected types with their fields, methods and attributes, and all metadata.
# Prints what is new or changed in the release, and the steps to adapt. Exits with 0 only if nothing
# is, except for differences explained in drift/explained/VERSION.txt.
#
# With --newest, prints the newest version on PyPI.
source "$(dirname "${BASH_SOURCE[0]}")/support/cache.sh"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)

newest() {
  "$python" -m pip index versions --disable-pip-version-check apache-tvm-ffi 2>/dev/null |
    sed -nE '1s/^apache-tvm-ffi \((.*)\)$/\1/p'
}

download_release() { # download_release FOLDER: wheel and sources of $version, which nobody has pinned, unpacked
  "$python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --implementation cp \
    --python-version 3.11 --abi cp311 --platform manylinux_2_28_x86_64 -d "$1" "apache-tvm-ffi==$version" >&2
  # pip gets the sources' metadata from the build backend, which is in the environment.
  "$base_python" -m pip download --quiet --disable-pip-version-check --no-deps --no-build-isolation \
    --no-binary apache-tvm-ffi -d "$1" "apache-tvm-ffi==$version" >&2
  "$python" -m zipfile -e "$1"/*.whl "$1"
  tar -xzf "$1"/*.tar.gz -C "$1" --strip-components=1
}

compile_served() { # compile_served LIBRARY INCLUDE OUTPUT
  "${CC:-cc}" -O1 -Wall -Werror -o "$3" "$here/drift/served.c" -I "$2" "$1" -Wl,-rpath,"$(dirname "$1")" ||
    die "drift/served.c does not compile with the headers in $2"
}

if [ "${1:-}" = --newest ]; then
  newest
  exit
fi
[ $# -eq 2 ] && [ -f "$2" ] || die "usage: drift.sh VERSION WHEEL|LIB"
version=$1
library=$(realpath "$2")
need "${CC:-cc}" "apt-get install gcc"
need "${CXX:-g++}" "apt-get install g++"
need "${CLANG:-clang}" "apt-get install clang"
need nm "apt-get install binutils"
open_cache
ensure_environment
base_version=$(sed -nE 's/^apache-tvm-ffi==([^ ]+).*/\1/p' "$upstream_pin")
ensure_wheel
ensure_sources
base=("$wheel" "$sources")
if [ -f "$pins/releases/$version.txt" ]; then
  upstream_pin=$pins/releases/$version.txt
  ensure_wheel
  ensure_sources
elif [ "$version" != "$base_version" ]; then
  wheel=$cache/release-$version
  sources=$wheel
  once "$wheel" download_release
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case $library in
  *.whl)
    "$python" -m zipfile -e "$library" "$work/wheel"
    library=$work/wheel/ferrite_tvm_ffi.libs/libtvm_ffi.so
    ;;
  *)
    mkdir "$work/lib"
    cp "$library" "$work/lib/libtvm_ffi.so" # under its soname
    library=$work/lib/libtvm_ffi.so
    ;;
esac
package=$wheel/tvm_ffi
compile_served "$package/lib/libtvm_ffi.so" "$package/include" "$work/served"
compile_served "$library" "$root/include" "$work/our-served"
mapfile -t hashes < <(sha256sum "$wheel"/*.whl "$sources"/*.tar.gz | cut -d' ' -f1)
PYTHONDONTWRITEBYTECODE=1 "$python" "$here/drift/report.py" --version "$version" --base-version "$base_version" \
  --package "$package" --sources "$sources" --base-package "${base[0]}/tvm_ffi" --base-sources "${base[1]}" \
  --library "$library" --include "$root/include" --served "$work/served" --our-served "$work/our-served" \
  --hashes "${hashes[@]}"
