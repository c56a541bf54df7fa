# shellcheck shell=bash
# shellcheck disable=SC2154  # ci.sh sets NIGHTLY, MSRV and CROSS_TARGETS
#
# Installs the tools that the checks need, as root on Debian and derivatives. Sourced by ci.sh.

setup() { # setup [first]: for both sets, or for the first one; fails when something is missing afterwards
  local status=0
  setup_first_set || status=1
  if [ "$1" != first ]; then setup_second_set || status=1; fi
  if [ $status -ne 0 ]; then echo "error: setup is not complete: see above"; fi
  return $status
}

setup_first_set() {
  local status=0
  install_packages gcc g++ make cmake meson ninja-build pkgconf clang libclang-rt-dev valgrind groff-base binutils python3 python3-pip python3-venv \
    util-linux xz-utils libgtest-dev qemu-system-arm qemu-system-misc gcc-arm-none-eabi libnewlib-arm-none-eabi \
    gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf lld nodejs \
    ocl-icd-libopencl1 pocl-opencl-icd \
    libvulkan1 mesa-vulkan-drivers vulkan-validationlayers || status=1
  have_rustup || return
  rustup toolchain install --no-self-update >/dev/null 2>&1 || status=1 # the one that rust-toolchain.toml names
  rustup target add "${CROSS_TARGETS[@]}" aarch64-apple-darwin x86_64-pc-windows-gnu || status=1
  install_toolchain "$NIGHTLY" || status=1
  rustup component add --toolchain "$NIGHTLY" miri rust-src llvm-tools || status=1
  install_toolchain "$MSRV" || status=1
  return $status
}

setup_second_set() {
  local status=0
  install_packages gcc-aarch64-linux-gnu g++-aarch64-linux-gnu libc6-dev-arm64-cross gcc-arm-linux-gnueabihf libc6-dev-armhf-cross qemu-user \
    dpkg-dev lintian npm debootstrap musl-tools gcc-mingw-w64-x86-64 wine wine64 || status=1
  have_rustup || return
  rustup target add aarch64-unknown-linux-gnu armv7-unknown-linux-gnueabihf x86_64-unknown-linux-musl || status=1
  install_tool cargo-fuzz || status=1
  install_tool cargo-mutants cargo-mutants@27.1.0 || status=1
  install_tool cargo-deny || status=1
  install_tool cargo-cinstall cargo-c@0.10.24 || status=1
  install_tool mdbook mdbook@0.5.4 || status=1
  return $status
}

missing_of() { # missing_of PACKAGE...: prints those that are not installed
  local package
  for package; do
    dpkg -s "$package" >/dev/null 2>&1 || echo "$package"
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

install_tool() { # install_tool COMMAND [PACKAGE]: by cargo; the package has the command's name unless it is named
  command -v "$1" >/dev/null || cargo install --quiet --locked "${2:-$1}"
}
