# shellcheck shell=bash
# shellcheck disable=SC2154  # ci.sh sets NIGHTLY, MSRV and CROSS_TARGETS
#
# Installs the tools that the checks need, as root on Debian and derivatives. Sourced by ci.sh.

setup_first_set() {
  install_packages gcc g++ make cmake meson ninja-build pkgconf clang libclang-rt-dev valgrind binutils python3 python3-pip python3-venv util-linux xz-utils \
    libgtest-dev qemu-system-arm qemu-system-misc gcc-arm-none-eabi libnewlib-arm-none-eabi \
    gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf lld nodejs \
    ocl-icd-libopencl1 pocl-opencl-icd \
    libvulkan1 mesa-vulkan-drivers vulkan-validationlayers
  have_rustup || return
  rustup toolchain install --no-self-update >/dev/null 2>&1 # the one that rust-toolchain.toml names
  rustup target add "${CROSS_TARGETS[@]}" aarch64-apple-darwin
  install_toolchain "$NIGHTLY"
  rustup component add --toolchain "$NIGHTLY" miri rust-src
  install_toolchain "$MSRV"
}

setup_second_set() {
  install_packages gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-arm-linux-gnueabihf libc6-dev-armhf-cross qemu-user
  have_rustup || return
  rustup target add aarch64-unknown-linux-gnu armv7-unknown-linux-gnueabihf
  install_tool cargo-fuzz
  install_tool cargo-deny
}

install_packages() {
  local missing=() package
  command -v dpkg >/dev/null || return
  for package; do
    dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then return; fi
  if [ "$(id -u)" != 0 ]; then
    echo "missing: sudo apt-get install ${missing[*]}"
    return
  fi
  apt-get update -qq
  # Installs one package at a time: if one cannot be installed, only its own checks fail.
  for package in "${missing[@]}"; do
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$package"
  done
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

install_tool() { command -v "$1" >/dev/null || cargo install --quiet --locked "$1"; }
