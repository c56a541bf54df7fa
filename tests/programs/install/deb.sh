#!/usr/bin/env bash
# usage: deb.sh FOLDER
#
# Makes the Debian package of the library and the command in FOLDER, installs it with dpkg below a
# folder that stands for `/`, builds and runs programs on it, and removes it again. The last line is
# the sum.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
work=${CARGO_TARGET_DIR:-$root/target}/install-deb
rm -rf "$work"
mkdir -p "$work"
system=$work/system

die() {
  echo "error: $*" >&2
  exit 1
}

built=$(cd "$1" && pwd)
package=$(make --silent -C "$root" deb BUILT="$built" COMMAND="$built/ferrite")
package=$(cd "$root" && realpath "$package")
cp "$package" "$work/first.deb"
make --silent -C "$root" deb BUILT="$built" COMMAND="$built/ferrite" >/dev/null
cmp "$work/first.deb" "$package" || die "the same sources give another package"
echo "ok: $(basename "$package"), $(stat -c %s "$package") bytes, twice the same"

for needed in libc6 'libstdc++6' libgcc-s1; do
  dpkg-deb --field "$package" Depends | grep -F "$needed" >/dev/null || die "the package does not depend on $needed"
done
# The soname has no version, since that of upstream's library has none. The packager's address is a
# placeholder.
lintian --fail-on error --suppress-tags bogus-mail-host-in-debian-changelog,bogus-mail-host,shared-library-lacks-version "$package"
echo "ok: lintian"

as_root() { dpkg --root="$system" --force-not-root --force-depends --log="$work/dpkg.log" "$@"; }

mkdir -p "$system"/var/lib/dpkg/{info,updates,triggers,parts}
: >"$system/var/lib/dpkg/status"
: >"$system/var/lib/dpkg/available"
as_root --install "$package" >"$work/install.log" 2>&1 || die "$(cat "$work/install.log")"
PKG_CONFIG_PATH=$(find "$system" -name pkgconfig)
export PKG_CONFIG_PATH
for name in tvm_ffi tvm_ffi-static; do
  # shellcheck disable=SC2046 # options are words
  cc "$here/program.c" $(pkg-config --cflags --libs "$name") -Wl,-rpath,"$(dirname "$PKG_CONFIG_PATH")" -o "$work/program"
  [ "$("$work/program")" = "0.1.16: 16 bits" ] || die "the program on $name does not print its line"
done
kernels=$work/kernels.so
cc -shared -fPIC -I"$root/include" "$root/targets/host/quickstart/kernels.c" -o "$kernels"
[ "$("$system/usr/bin/ferrite" call "$kernels" dot '[1,2]' '[3,4]')" = 11 ] || die "the installed command does not call a function"
cc -shared -o "$work/dense.so" -Wl,-u,__tvm_ffi_ferrite.dense -Wl,--gc-sections "$(dirname "$PKG_CONFIG_PATH")/libferrite_kernels.a"
"$system/usr/bin/ferrite" inspect "$work/dense.so" | grep -F ferrite.dense >/dev/null || die "the archive of kernels does not have ferrite.dense"
[ -e "$system/usr/share/man/man1/ferrite.1.gz" ] || die "the manual page is missing"
cmake -S "$here" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$system/usr" >"$work/cmake.log" && cmake --build "$work/cmake" >>"$work/cmake.log" ||
  die "$(cat "$work/cmake.log")"
[ "$("$work/cmake/program_shared")" = "0.1.16: 16 bits" ] || die "the CMake project does not print its line"
echo "ok: installed; the command, and programs by pkg-config and CMake"

as_root --purge libtvm-ffi-ferrite >>"$work/install.log" 2>&1
left=$(find "$system" -path '*/usr/*' -type f)
[ -z "$left" ] || die "files are left: $left"
echo "ok: removed"
echo "install: 1 passed, 0 failed"
