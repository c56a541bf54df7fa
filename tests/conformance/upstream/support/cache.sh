# shellcheck shell=bash
# shellcheck disable=SC2034  # those that source this file use the variables
#
# Cache of pinned downloads and builds in
# ${FERRITE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ferrite-upstream}. Sourced, not run.
set -euo pipefail

upstream=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
support=$upstream/support
pins=$upstream/pins
# Pinned release of upstream: the one that the library matches, or an earlier one.
upstream_pin=$pins/${upstream_release:+releases/}${upstream_release:-upstream}.txt
python=${PYTHON:-python3}
jobs=${JOBS:-$(nproc)}

note() { echo "-- $*" >&2; }
die() {
  echo "error: $*" >&2
  exit 2
}

need() { # need TOOL HOW: fails loudly without it
  command -v "$1" >/dev/null || die "$1 is missing: $2"
}

# once DIR COMMAND...: runs COMMAND unless it filled DIR before; others that want DIR wait.
once() (
  dir=$1
  shift
  exec {lock}>"$dir.lock"
  flock "$lock"
  [ -e "$dir/.complete" ] && exit 0
  note "${*//_/ } (once): $dir"
  rm -rf "$dir"
  mkdir -p "$dir"
  "$@" "$dir"
  : >"$dir/.complete"
)

# Unpacks Debian's packages for arm64, and those that they depend on, into FOLDER/root. Nothing is
# installed.
unpack_arm64_packages() { # unpack_arm64_packages FOLDER PACKAGE...
  local apt file folder=$1
  shift
  mkdir -p "$folder/apt/lists/partial" "$folder/apt/archives/partial"
  : >"$folder/apt/status"
  apt=(apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o "Dir::State::lists=$folder/apt/lists"
    -o "Dir::State::status=$folder/apt/status" -o "Dir::Cache=$folder/apt" -o "APT::Sandbox::User=$(id -un)")
  "${apt[@]}" update >&2
  "${apt[@]}" --yes --no-install-recommends --download-only install "$@" >&2
  for file in "$folder"/apt/archives/*.deb; do dpkg-deb -x "$file" "$folder/root"; done
  rm -r "$folder/apt"
}

# key TEXT: prints a short hash of standard input.
key() { sha256sum | cut -c1-12; }

# Sets `cache`.
open_cache() {
  need "$python" "apt-get install python3 python3-pip python3-venv"
  need flock "apt-get install util-linux"
  need sha256sum "apt-get install coreutils"
  cache=${FERRITE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ferrite-upstream}
  mkdir -p "$cache"
  cache=$(cd "$cache" && pwd -P)
  # Upstream's example scripts do not quote paths.
  case $cache in *[[:space:]]*) die "the path of the cache has a space in it: $cache" ;; esac
}

download_wheel() {
  "$python" -m pip --version >/dev/null || die "pip is missing: apt-get install python3-pip"
  "$python" -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes \
    --only-binary :all: --implementation cp --python-version 3.11 --abi cp311 \
    --platform manylinux_2_28_x86_64 -d "$1" -r "$upstream_pin" >&2
  "$python" -m zipfile -e "$1"/*.whl "$1"
}

# Upstream's wheel, unpacked and never changed: sets `wheel` and `upstream_library`.
ensure_wheel() {
  wheel=$cache/wheel-$(key <"$upstream_pin")
  upstream_library=$wheel/tvm_ffi/lib/libtvm_ffi.so
  once "$wheel" download_wheel
}

install_release() { # install_release PIN FOLDER
  "$python" -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary :all: \
    --root-user-action ignore --target "$2" -r "$1" >&2
}

# The Python package of an earlier release, installed in a folder for $python: sets `release`.
ensure_release() { # ensure_release PIN
  release=$cache/package-$(basename "$1" .txt)-$(cat "$1" - <<<"$("$python" -VV)" | key)
  once "$release" install_release "$1"
}

make_environment() {
  "$python" -m venv "$1" || die "Python's venv is missing: apt-get install python3-venv"
  "$1/bin/python" -m pip install --quiet --no-deps --only-binary :all: -r "$pins/python.txt" >&2
  "$1/bin/python" -m pip check >&2
}

# A Python environment without upstream's package: sets `base_python`.
ensure_environment() {
  local version
  version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2], sys.prefix)')
  case $version in
    3.11\ *) ;;
    *) die "CPython 3.11 is needed (PYTHON chooses it), and $python is ${version% *}" ;;
  esac
  base=$cache/python-$(cat "$pins/python.txt" - <<<"$version" | key)
  base_python=$base/bin/python
  once "$base" make_environment
}

download_sources() {
  # pip gets a source distribution's metadata from the build backend, which is already in the
  # environment, so nothing else is downloaded.
  "$base_python" -m pip download --quiet --no-deps --no-build-isolation --require-hashes \
    --no-binary apache-tvm-ffi -d "$1" -r "$upstream_pin" >&2
  tar -xzf "$1"/*.tar.gz -C "$1" --strip-components=1
}

# Upstream's source distribution, unpacked and never changed: sets `sources`.
ensure_sources() {
  sources=$cache/sources-$(key <"$upstream_pin")
  once "$sources" download_sources
}

compile_recorder() {
  "${CC:-cc}" -O1 -Wall -Werror -fPIC -shared -o "$1/maps_dump.so" "$support/maps_dump.c"
}

# The shared object that records the memory map of each process: sets `maps_dump`.
ensure_recorder() {
  local folder
  need "${CC:-cc}" "apt-get install gcc"
  folder=$cache/recorder-$(key <"$support/maps_dump.c")
  maps_dump=$folder/maps_dump.so
  once "$folder" compile_recorder
}
