#!/usr/bin/env bash
# usage: setup.sh [first]   installs what checks need, or those of the first set: the commands of tools.txt, and toolchains
#
# On Debian and derivatives, as root or with sudo. Fails when something is missing afterwards.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 2
NIGHTLY=${FERRITE_NIGHTLY:-nightly}
MSRV=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)

setup() { # setup [first]
  local status=0
  setup_set first || status=1
  setup_toolchains || status=1
  if [ "${1:-}" != first ]; then setup_set second || status=1; fi
  if [ $status -ne 0 ]; then echo "error: setup is not complete: see above"; fi
  return $status
}

setup_set() { # setup_set SECTION: of tools.txt
  local status=0 packages targets package command
  mapfile -t packages < <(installed_by "$1" 'apt-get install' | sed 's/:.*//' | tr ' ' '\n')
  install_packages "${packages[@]}" || status=1
  have_rustup || return
  mapfile -t targets < <(installed_by "$1" 'rustup target add' | sed 's/:.*//')
  rustup toolchain install --no-self-update >/dev/null 2>&1 || status=1 # the one that rust-toolchain.toml names
  rustup target add "${targets[@]}" || status=1
  while IFS=': ' read -r package command; do
    command -v "$command" >/dev/null || cargo install --quiet --locked "$package" </dev/null || status=1
  done < <(installed_by "$1" 'cargo install --locked')
  return $status
}

installed_by() { # installed_by SECTION COMMAND: the lines with this command, without it
  sed -n "/^$1:/,/^[a-z-]*:\$/s/^  $2 //p" tests/ci/tools.txt
}

setup_toolchains() {
  local status=0
  have_rustup || return
  install_toolchain "$NIGHTLY" || status=1
  rustup component add --toolchain "$NIGHTLY" miri rust-src llvm-tools || status=1
  install_toolchain "$MSRV" || status=1
  return $status
}

missing_of() { # missing_of PACKAGE...: prints those that are not installed, nor their command by another package
  local package
  for package; do
    dpkg -s "$package" >/dev/null 2>&1 || command -v "$package" >/dev/null || echo "$package"
  done
}

install_packages() { # fails when a package is missing afterwards
  local missing package as_root=()
  command -v dpkg >/dev/null || {
    echo "not a Debian system: install what these packages have: $*"
    return 1
  }
  mapfile -t missing < <(missing_of "$@")
  if [ ${#missing[@]} -eq 0 ]; then return; fi
  if [ "$(id -u)" != 0 ]; then
    sudo -n true 2>/dev/null || {
      echo "missing: sudo apt-get install ${missing[*]}"
      return 1
    }
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update -qq
  # Installs one package at a time: if one cannot be installed, only its own checks fail.
  for package in "${missing[@]}"; do
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$package"
  done
  mapfile -t missing < <(missing_of "$@")
  if [ ${#missing[@]} -gt 0 ]; then
    echo "missing: ${missing[*]}"
    return 1
  fi
}

have_rustup() {
  command -v rustup >/dev/null || {
    echo "rustup is missing: see https://rustup.rs"
    return 1
  }
}

install_toolchain() {
  rustup run "$1" rustc --version >/dev/null 2>&1 || rustup toolchain install "$1" --profile minimal --no-self-update
}

setup "$@"
