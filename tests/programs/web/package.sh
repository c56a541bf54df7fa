#!/usr/bin/env bash
# usage: package.sh ARCHIVE WHEEL
#
# Runs ../clients/web_package: the JavaScript package of targets/web/npm with models that link
# ARCHIVE, the libtvm_ffi.a of the feature `web`, and with bundlers from npm. WHEEL is that of
# targets/host/python. The last line is the sum.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
clients=$here/../clients
source "$here/../../conformance/upstream/support/cache.sh"

# Scripts of packages have to run: Bun's fetches nothing, but puts its program into place.
install_packages() { # install_packages FOLDER
  cp "$clients/web_package/package.json" "$1"
  npm install --silent --no-audit --no-fund --prefix "$1" >&2
}

[ $# -eq 2 ] && [ -f "$1" ] && [ -f "$2" ] || die "usage: package.sh ARCHIVE WHEEL"
need node "apt-get install nodejs"
need npm "apt-get install npm"
open_cache
packages=$cache/web-package-$(key <"$clients/web_package/package.json")
once "$packages" install_packages
PACKAGES=$packages FERRITE_WEB=$(realpath "$1") CLIENT_SECONDS=900 "$clients/run.sh" "$2" web_package
