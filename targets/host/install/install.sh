#!/usr/bin/env bash
# usage: install.sh install|uninstall
#
# Copies the built library to its places, or removes it; the Makefile sets the variables and
# describes them. All files that refer to others do it by relative paths, so the tree may be staged
# and moved. The file COMMAND is installed as the command `ferrite`, with its completions, manual
# pages and kernels, if it exists. Refuses libraries for which the pkg-config files and the CMake
# package are wrong, and a command of another version.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
here=targets/host/install

die() {
  echo "error: $*" >&2
  exit 1
}

# Headers for the features of the host's build; the others in include/ are for firmware and for
# programs of old releases of TVM.
headers=(
  dlpack/dlpack.h tvm/ffi/c_api.h tvm/ffi/extra/c_env_api.h tvm/runtime/base.h tvm/runtime/c_backend_api.h
  tvm/runtime/c_runtime_api.h tvm_ffi_model.h tvm_ffi_rpc.h ferrite/kernel.h
)

below_prefix() { # below_prefix VARIABLE: prints the folder's path below PREFIX
  # Quotes, and signs of CMake, of pkg-config and of make, have no form that all of them read.
  case ${!1} in
    *[[:cntrl:]\"\'\\\$\#\;\`]*) die "$1=${!1} has a character that no pkg-config file or CMake package can have: \" ' \\ \$ # ; \` or a control character" ;;
    */./* | */../* | */. | */..) die "$1=${!1} has . or .. in it" ;;
    "$PREFIX"/?*) printf '%s\n' "${!1#"$PREFIX"/}" ;;
    *) die "$1=${!1} is not below PREFIX=$PREFIX" ;;
  esac
}

up_from() { sed -E 's,[^/]+,..,g' <<<"$1"; } # up_from FOLDER: the relative path back to PREFIX

version() { # the ABI's, as TVMFFIGetVersion returns it
  awk '/#define TVM_FFI_VERSION_(MAJOR|MINOR|PATCH) / { printf "%s%s", point, $3; point = "." }' include/tvm/ffi/c_api.h
}

quoted_for() { # quoted_for TEMPLATE FOLDER: files of pkg-config separate words as the shell does, CMake files have strings
  case $1 in
    *.pc.in) sed "s/ /\\\\ /g" <<<"$2" ;;
    *) printf '%s\n' "$2" ;;
  esac
}

# Prints the template with the places of this installation, in one pass: what a folder's name has in
# it stays as it is.
render() { # render TEMPLATE UP: UP leads from its folder to PREFIX
  local rest value
  rest=$(<"$1")
  while [[ $rest =~ @[A-Z_]+@ ]]; do
    case ${BASH_REMATCH[0]} in
      @UP@) value=$2 ;;
      @LIBDIR@) value=$(quoted_for "$1" "$libdir") ;;
      @INCLUDEDIR@) value=$(quoted_for "$1" "$includedir") ;;
      @VERSION@) value=$(version) ;;
      @SHARED@) value=$shared ;;
      @CXX_OPTION@) value=$cxx_option ;;
      @CXX_LIBRARY@) value=$cxx_library ;;
      *) die "$1 has an unknown ${BASH_REMATCH[0]}" ;;
    esac
    printf '%s%s' "${rest%%"${BASH_REMATCH[0]}"*}" "$value"
    rest=${rest#*"${BASH_REMATCH[0]}"}
  done
  printf '%s\n' "$rest"
}

# One of the symbols that C++ clients link: those of the feature cxx-abi.
cxx_symbol=_ZN3tvm3ffi11RecursiveEqERKNS0_3AnyES3_

# Checks that the libraries are what the installed files say of them.
check_libraries() {
  local name found=() wanted=$CXX_ABI
  for name in "$shared" libtvm_ffi.a; do
    [ -f "$BUILT/$name" ] || die "$BUILT has no $name: run make first"
    if grep -aq "$cxx_symbol" "$BUILT/$name"; then found+=(yes); else found+=(no); fi
  done
  [ "${found[0]}" = "${found[1]}" ] || die "$shared and libtvm_ffi.a in $BUILT are of different builds: one has the symbols for C++"
  case $wanted${found[0]} in
    yesyes | nono) ;;
    yesno) die "the libraries in $BUILT are for C alone: run make, whose libraries also serve C++, or pass CXX_ABI=no" ;;
    noyes) die "the libraries in $BUILT have the symbols for C++, and need libstdc++: leave CXX_ABI=no out" ;;
    *) die "CXX_ABI=$wanted is neither yes nor no" ;;
  esac
}

# Checks that the command is of the same version as the libraries.
check_command() {
  local wanted found
  wanted="ferrite $(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)"
  found=$("$command" --version) || die "$command does not run"
  [ "$found" = "$wanted" ] || die "$command is '$found', not '$wanted': run make command"
}

# Calls its argument with the source and the target of each file; templates are rendered before.
each_file() { # each_file FUNCTION
  local name lib=$DESTDIR$PREFIX/$libdir
  for name in "${headers[@]}"; do "$1" "include/$name" "$DESTDIR$PREFIX/$includedir/$name"; done
  "$1" LICENSE "$DESTDIR$PREFIX/share/licenses/libtvm_ffi/LICENSE"
  "$1" "$BUILT/$shared" "$lib/$shared"
  "$1" "$BUILT/libtvm_ffi.a" "$lib/libtvm_ffi.a"
  for name in tvm_ffi tvm_ffi-static; do "$1" "$rendered/$name.pc" "$lib/pkgconfig/$name.pc"; done
  for name in config config-version functions; do
    "$1" "$rendered/tvm_ffi-$name.cmake" "$lib/cmake/tvm_ffi/tvm_ffi-$name.cmake"
  done
}

render_templates() {
  local name
  for name in tvm_ffi tvm_ffi-static; do
    render "$here/$name.pc.in" "$(up_from "$libdir/pkgconfig")" >"$rendered/$name.pc"
  done
  for name in config config-version functions; do
    render "$here/cmake/tvm_ffi-$name.cmake.in" "$(up_from "$libdir/cmake/tvm_ffi")" >"$rendered/tvm_ffi-$name.cmake"
  done
}

# Calls its argument with the source and the target of each file of the command. The folder PAGES
# has its pages.
each_file_of_command() { # each_file_of_command FUNCTION PAGES
  local page share=$DESTDIR$PREFIX/share
  "$1" "$command" "$DESTDIR$PREFIX/bin/ferrite" 755
  "$1" "$rendered/bash" "$share/bash-completion/completions/ferrite"
  "$1" "$rendered/zsh" "$share/zsh/site-functions/_ferrite"
  "$1" "$rendered/fish" "$share/fish/vendor_completions.d/ferrite.fish"
  for page in "$2"/ferrite*.1; do
    [ ! -f "$page" ] || "$1" "$page" "$share/man/man1/$(basename "$page")"
  done
}

# The command writes its completions and pages itself.
render_command() {
  local shell
  for shell in bash zsh fish; do "$command" completions "$shell" >"$rendered/$shell"; done
  "$command" man "$rendered/man"
}

# Installs the archive that the command links into models, if it was built with the command.
install_kernels() {
  local archive
  archive=$(dirname "$command")/$kernels
  if [ -f "$archive" ]; then
    put "$archive" "$DESTDIR$PREFIX/$libdir/$kernels"
  else
    echo "note: there is no $archive, so ferrite model leaves dense operators to TVM" >&2
  fi
}

put() { # put SOURCE TARGET [MODE]
  mkdir -p "$(dirname "$2")"
  # A library is removed first, since a running program may have it open.
  rm -f "$2"
  install -m "${3:-644}" "$1" "$2"
  echo "$2"
}

remove() { # remove SOURCE TARGET: the file, and the folders below LIBDIR, INCLUDEDIR and PREFIX/share that it leaves empty
  local folder
  rm -f "$2"
  folder=$(dirname "$2")
  while :; do
    case $folder in "$DESTDIR$PREFIX/$libdir" | "$DESTDIR$PREFIX/$includedir" | "$DESTDIR$PREFIX/share" | "$DESTDIR$PREFIX/bin") break ;; esac
    rmdir "$folder" 2>/dev/null || break
    folder=$(dirname "$folder")
  done
}

PREFIX=${PREFIX%/}
command=${COMMAND:-}
case $command in "" | */*) ;; *) command=./$command ;; esac
kernels=libferrite_kernels.a
libdir=$(below_prefix LIBDIR)
includedir=$(below_prefix INCLUDEDIR)
case $(uname -s) in
  Darwin) shared=libtvm_ffi.dylib ;;
  *) shared=libtvm_ffi.so ;;
esac

CXX_ABI=${CXX_ABI:-yes}
cxx_option='' cxx_library=''
if [ "$CXX_ABI" = yes ]; then cxx_option='-lstdc++ ' cxx_library='stdc++;'; fi

case ${1:-} in
  install)
    check_libraries
    if [ -x "$command" ]; then check_command; fi
    rendered=$(mktemp -d)
    trap 'rm -rf "$rendered"' EXIT
    render_templates
    each_file put
    if [ -x "$command" ]; then
      render_command
      each_file_of_command put "$rendered/man"
      install_kernels
    fi
    ;;
  uninstall)
    rendered=
    each_file remove
    each_file_of_command remove "$DESTDIR$PREFIX/share/man/man1"
    remove "" "$DESTDIR$PREFIX/$libdir/$kernels"
    ;;
  *) die "usage: install.sh install|uninstall" ;;
esac
