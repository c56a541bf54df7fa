#!/usr/bin/env bash
# usage: deb.sh
#
# Makes target/libtvm-ffi-ferrite_VERSION_ARCHITECTURE.deb, a Debian package of the files that
# `make install` installs, and prints its path. The Makefile sets BUILT, the folder of the
# libraries, and COMMAND; MAINTAINER, as "NAME <ADDRESS>", who answers for the package.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
name=libtvm-ffi-ferrite
for tool in dpkg-deb dpkg-shlibdeps; do
  command -v "$tool" >/dev/null || {
    echo "error: $tool is missing: apt-get install dpkg-dev" >&2
    exit 1
  }
done
maintainer=${MAINTAINER:-The Ferrite developers <maintainers@localhost>}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
architecture=$(dpkg --print-architecture)
libraries=/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
# The same commit gives the same bytes.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
PREFIX=/usr LIBDIR=$libraries INCLUDEDIR=/usr/include DESTDIR=$tree targets/host/install/install.sh install >/dev/null

find "$tree/usr/share/man" -name '*.1' -exec gzip -9n {} + 2>/dev/null || true # there are none without the command

rm -r "$tree/usr/share/licenses" # Debian's place is below, and refers to the system's copy
documents=$tree/usr/share/doc/$name
mkdir -p "$documents"
cat >"$documents/copyright" <<END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Ferrite

Files: *
Copyright: 2026 The Ferrite developers
License: Apache-2.0

License: Apache-2.0
 On Debian systems, the text of this licence is in /usr/share/common-licenses/Apache-2.0.
END
printf '%s (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md in the sources.\n\n -- %s  %s\n' "$name" "$version" \
  "$maintainer" "$(date -Ru -d "@$SOURCE_DATE_EPOCH")" | gzip -9n >"$documents/changelog.gz"

# dpkg-shlibdeps finds the packages of the libraries that ours and the command need; it wants to run
# beside debian/control.
mkdir -p "$work/debian" "$tree/DEBIAN"
printf 'Source: %s\n\nPackage: %s\nArchitecture: any\n' "$name" "$name" >"$work/debian/control"
binaries=("$tree$libraries/libtvm_ffi.so")
if [ -e "$tree/usr/bin/ferrite" ]; then binaries+=("$tree/usr/bin/ferrite"); fi
depends=$(cd "$work" && dpkg-shlibdeps -O --ignore-missing-info "${binaries[@]}" 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
cat >"$tree/DEBIAN/control" <<END
Package: $name
Version: $version
Section: libdevel
Priority: optional
Architecture: $architecture
Maintainer: $maintainer
Depends: $depends
Conflicts: libdlpack-dev
Installed-Size: $(du -sk --exclude=DEBIAN "$tree" | cut -f1)
Description: stable C ABI of TVM-FFI, with headers
 The library libtvm_ffi by Ferrite, shared and static, with C headers,
 pkg-config files and a CMake package. It takes the place of the library
 of apache-tvm-ffi. The command ferrite looks into libraries of the ABI
 and calls their functions.
END
echo 'activate-noawait ldconfig' >"$tree/DEBIAN/triggers"
(cd "$tree" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
find "$tree" -type d -exec chmod 755 {} +

file=${CARGO_TARGET_DIR:-target}/${name}_${version}_$architecture.deb
dpkg-deb --root-owner-group --build "$tree" "$file" >/dev/null
echo "$file"
