#!/usr/bin/env bash
# usage: run.sh FOLDER COMMAND
#
# Installs the library of FOLDER and the file COMMAND, the program `ferrite`, as package managers do
# (staged, then moved), and builds programs on the installed files: ours by CMake, pkg-config and
# Meson, with the shared and the static library, and upstream's examples by its own CMake files,
# unchanged.
# The last line is the sum.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
# shellcheck disable=SC1091,SC2154 # it sets the folders of downloads
source "$root/tests/conformance/upstream/support/cache.sh"
need cmake "apt-get install cmake"
need meson "apt-get install meson ninja-build"
need pkg-config "apt-get install pkgconf"
need g++ "apt-get install g++"
[ -f "${1:-}/libtvm_ffi.so" ] && [ -x "${2:-}" ] || die "usage: run.sh FOLDER COMMAND, with libtvm_ffi.so and .a in FOLDER"
built=$(cd "$1" && pwd)
command=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
open_cache
ensure_environment
ensure_wheel
ensure_sources

work=${CARGO_TARGET_DIR:-$root/target}/install
rm -rf "$work"
mkdir -p "$work"
export PYTHONDONTWRITEBYTECODE=1 # the cache stays as it is
passed=0
prefix="$work/moved to" # with a space
lib=lib/$(gcc -print-multiarch) # as distributions have it
package=$prefix/$lib/cmake/tvm_ffi

done_with() { # done_with WHAT
  passed=$((passed + 1))
  echo "ok: $1"
}

runs_on() { # runs_on LIBRARY PROGRAM: whether the program prints its line, and loads this library, or none if it is `inside`
  local loaded
  [ "$("$2")" = "0.1.16: 16 bits" ] || die "$2 does not print its line"
  loaded=$(ldd "$2" | sed -n 's/^.*libtvm_ffi\.so => \(.*\) (0x.*/\1/p')
  [ "${loaded:-inside}" = "$1" ] || die "$2 runs on '${loaded:-inside}', not on '$1'"
}

quietly() { # quietly NAME COMMAND...: the output goes to a log, which is printed when the command fails
  local log=$work/$1.log
  shift
  "$@" >"$log" 2>&1 || {
    cat "$log"
    die "$* failed"
  }
}

installs() {
  local folder=$work/command kernels=libferrite_kernels.a
  mkdir "$folder"
  cp "$command" "$folder/ferrite"
  ar rcs "$folder/$kernels" "$here/program.c"
  local options=(PREFIX=/opt/f "LIBDIR=/opt/f/$lib" "DESTDIR=$work/stage" "BUILT=$built" "COMMAND=$folder/ferrite")
  make --silent -C "$root" install "${options[@]}" >"$work/files"
  if grep -rn -e "$root" -e /opt/f -e "$work" "$work/stage" --include='*.pc' --include='*.cmake'; then
    die "installed files have absolute paths"
  fi
  make --silent -C "$root" uninstall "${options[@]}"
  [ -z "$(find "$work/stage" -type f)" ] || die "uninstall leaves files"
  make --silent -C "$root" install "${options[@]}" >"$work/files"
  [ "$(find "$work/stage" -type f | wc -l)" = "$(wc -l <"$work/files")" ] || die "the list of installed files is not complete"
  mv "$work/stage/opt/f" "$prefix"
  cmp "$folder/$kernels" "$prefix/$lib/$kernels" || die "the kernels are not installed with the command"
  make --silent -C "$root" install "DESTDIR=$work/without" "BUILT=$built" COMMAND= >"$work/files_without"
  if grep -e ferrite$ -e /share/man -e completion -e "$kernels" "$work/files_without"; then die "a command is installed that is not there"; fi
  rm "$folder/$kernels"
  make --silent -C "$root" install "DESTDIR=$work/no_kernels" "BUILT=$built" "COMMAND=$folder/ferrite" >"$work/files_no_kernels" 2>"$work/no_kernels.log"
  if grep "$kernels" "$work/files_no_kernels"; then die "kernels are installed that are not there"; fi
  grep -qF "there is no $folder/$kernels" "$work/no_kernels.log" || die "missing kernels are not reported"
  done_with "install, uninstall, $(wc -l <"$work/files") files"
}

refuses() { # refuses TEXT OPTION...: whether `make install` ends with this error, and installs nothing
  local text=$1
  shift
  rm -rf "$work/refused"
  if make --silent -C "$root" install "DESTDIR=$work/refused" "$@" >"$work/refused.log" 2>&1; then die "make install takes $*"; fi
  grep -qF "$text" "$work/refused.log" || die "not '$text', but: $(cat "$work/refused.log")"
  [ ! -e "$work/refused" ] || die "files are installed with $*"
}

# Libraries that are not what the installed files say, as other builds leave them.
other_builds() {
  local for_c=$work/for_c mixed=$work/mixed default
  mkdir -p "$for_c" "$mixed"
  echo 'int TVMFFIObjectIncRef(void* object) { return object == 0; }' >"$work/for_c.c"
  gcc -shared -fPIC "$work/for_c.c" -o "$for_c/libtvm_ffi.so"
  gcc -c "$work/for_c.c" -o "$work/for_c.o" && ar rcs "$for_c/libtvm_ffi.a" "$work/for_c.o"
  cp "$built/libtvm_ffi.so" "$for_c/libtvm_ffi.a" "$mixed"
  printf '#!/bin/sh\necho ferrite 0.0.1\n' >"$for_c/ferrite" && chmod +x "$for_c/ferrite"
  refuses 'for C alone' "BUILT=$for_c"
  refuses 'of different builds' "BUILT=$mixed"
  refuses 'need libstdc++' "BUILT=$built" CXX_ABI=no
  refuses 'neither yes nor no' "BUILT=$built" CXX_ABI=maybe
  refuses "is 'ferrite 0.0.1'" "BUILT=$built" "COMMAND=$for_c/ferrite"
  refuses 'run make first' "BUILT=$work/nowhere"
  make --silent -C "$root" install "DESTDIR=$work/c" "BUILT=$for_c" CXX_ABI=no >"$work/files_for_c"
  if grep -e /bin/ferrite "$work/files_for_c"; then die "the command beside other libraries is installed"; fi
  if grep -rn 'stdc++' "$work/c" --include='*.pc' --include='*.cmake'; then die "a library for C alone is linked with libstdc++"; fi
  grep -rq 'stdc++' "$prefix/$lib/pkgconfig/tvm_ffi-static.pc" || die "the static library is linked without libstdc++"
  # Other commands build in target/release.
  printf 'include Makefile\nshow:\n\t@echo "$(BUILT) $(COMMAND)"\n' >"$work/show.mk"
  default=$(env -u BUILT -u COMMAND make --silent -C "$root" -f "$work/show.mk" show)
  [ "$default" = "target/make/release target/make/release/ferrite" ] || die "make install takes $default"
  make -C "$root" -n all | grep -e "--target-dir target/make" >/dev/null || die "make builds elsewhere than it installs from"
  cmp "$root/LICENSE" "$prefix/share/licenses/libtvm_ffi/LICENSE" || die "the licence is not installed"
  done_with "libraries and commands of other builds are refused; the licence"
}

# Folders whose names have signs of sed, of the shell and of the templates.
difficult_folders() {
  local name="a,b&c d@LIBDIR@&1" stage=$work/difficult kind sign
  local -x PKG_CONFIG_PATH="$stage/my &, prefix/$name/pkgconfig"
  local options=("PREFIX=/my &, prefix" "LIBDIR=/my &, prefix/$name" "INCLUDEDIR=/my &, prefix/h,&@UP@" "DESTDIR=$stage" "BUILT=$work/for_c")
  make --silent -C "$root" install "${options[@]}" CXX_ABI=no COMMAND= >/dev/null
  echo 'int TVMFFIObjectIncRef(void*); int main(void) { return TVMFFIObjectIncRef(0) != 1; }' >"$work/difficult.c"
  for kind in tvm_ffi tvm_ffi-static; do
    eval "gcc -include tvm/ffi/c_api.h $(pkg-config --cflags "$kind") '$work/difficult.c' -o '$work/difficult.out' $(pkg-config --libs "$kind")"
    LD_LIBRARY_PATH=$stage/my\ \&,\ prefix/$name "$work/difficult.out" || die "a program of $kind does not run"
  done
  mkdir -p "$work/difficult_cmake"
  sed 's/find_package(.*/find_package(tvm_ffi CONFIG REQUIRED)\nset(CMAKE_SKIP_RPATH ON)/' "$here/CMakeLists.txt" >"$work/difficult_cmake/CMakeLists.txt"
  cp "$work/difficult.c" "$work/difficult_cmake/program.c"
  quietly difficult cmake -S "$work/difficult_cmake" -B "$work/difficult_cmake/build" -Dtvm_ffi_DIR="$stage/my &, prefix/$name/cmake/tvm_ffi"
  quietly difficult-build cmake --build "$work/difficult_cmake/build"
  "$work/difficult_cmake/build/program_static"
  make --silent -C "$root" uninstall "${options[@]}" COMMAND=
  [ -z "$(find "$stage" -type f)" ] || die "uninstall leaves files in $name"
  for sign in '"' "'" '\' '#' ';' '`'; do
    if PREFIX=/p LIBDIR=/p/a${sign}b INCLUDEDIR=/p/i DESTDIR=$work/refused BUILT=$work/for_c CXX_ABI=no COMMAND='' \
      "$root/targets/host/install/install.sh" install 2>"$work/refused.log"; then die "a folder with $sign is taken"; fi
    grep -q 'has a character' "$work/refused.log" || die "not refused: $(cat "$work/refused.log")"
  done
  [ ! -e "$work/refused" ] || die "files are installed in a folder with a refused name"
  done_with "folders with signs of sed, the shell and templates in their names"
}

installed_command() {
  local share=$prefix/share
  PATH=$prefix/bin:$PATH
  [ "$(command -v ferrite)" = "$prefix/bin/ferrite" ] || die "the command is not in bin"
  # shellcheck disable=SC1091 # the file is made by the command
  (source "$share/bash-completion/completions/ferrite" && complete -p ferrite >/dev/null) || die "bash does not complete the command"
  grep -q '^#compdef ferrite' "$share/zsh/site-functions/_ferrite" || die "zsh has no completions"
  grep -q '^complete -c ferrite' "$share/fish/vendor_completions.d/ferrite.fish" || die "fish has no completions"
  [ -f "$share/man/man1/ferrite-inspect.1" ] && grep -q '^.TH ferrite 1' "$share/man/man1/ferrite.1" || die "manual pages are missing"
  ferrite inspect "$prefix/$lib/libtvm_ffi.so" | grep -qx '  ELF shared library, .*' || die "the command does not read the library"
  done_with "the command: completions of three shells, manual pages"
}

model_project() { # from a folder that is not a clone, with the installed library alone
  local project=$work/model/digits
  mkdir -p "$work/model"
  (
    cd "$work/model"
    unset FERRITE
    export CARGO_MANIFEST_DIR=
    "$prefix/bin/ferrite" model --help >help.txt
    quietly model "$prefix/bin/ferrite" model "$root/tests/programs/relax/models/cnn/bytecode.so" --target host -o "$project"
    quietly model-build "$project/build.sh" run
  ) || die "ferrite model failed"
  grep -q 'largest of 10 values' "$work/model-build.log" || die "the project of a model does not print its results"
  rm -r "$project/include" && mv "$prefix/$lib/libtvm_ffi.so" "$work/model"
  if "$project/build.sh" 2>"$work/model.err"; then die "a project is built without a library"; fi
  mv "$work/model/libtvm_ffi.so" "$prefix/$lib"
  grep -q 'name the folder of .* by FERRITE_LIBRARY' "$work/model.err" || die "a missing library is not explained"
  done_with "a project of ferrite model, without a clone"
}

cmake_project() {
  quietly cmake cmake -S "$here" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix"
  quietly cmake-build cmake --build "$work/cmake"
  runs_on "$prefix/$lib/libtvm_ffi.so" "$work/cmake/program_shared"
  runs_on inside "$work/cmake/program_static"
  done_with "a CMake project in C: shared and static"
}

pkg_config() {
  local compiler
  local -x PKG_CONFIG_PATH=$prefix/$lib/pkgconfig
  for compiler in "gcc -std=c89 -pedantic -Wall -Wextra -Werror" "g++ -x c++"; do
    pkg_config_links tvm_ffi "$compiler" "-Wl,-rpath,$prefix/$lib"
    runs_on "$prefix/$lib/libtvm_ffi.so" "$work/program"
    pkg_config_links tvm_ffi-static "$compiler"
    runs_on inside "$work/program"
    done_with "pkg-config, shared and static: ${compiler%% *}"
  done
}

pkg_config_links() { # pkg_config_links NAME COMPILER [LINKER_OPTION]
  # pkg-config escapes spaces, which eval understands as make does.
  eval "$2 -c $(pkg-config --cflags "$1") '$here/program.c' -o '$work/program.o'"
  eval "${2%% *} '$work/program.o' -o '$work/program' $(pkg-config --libs "$1") ${3:+\"\$3\"}"
}

meson_subproject() {
  local project=$work/meson
  mkdir -p "$project/subprojects"
  cp "$here/meson.build" "$here/program.c" "$project"
  ln -s "$root" "$project/subprojects/tvm_ffi"
  export CARGO_TARGET_DIR
  CARGO_TARGET_DIR=$(dirname "$built")
  quietly meson meson setup "$project" "$project/build"
  quietly meson-build meson compile -C "$project/build"
  unset CARGO_TARGET_DIR
  runs_on "$(cd "$project/build/subprojects/tvm_ffi" && pwd)/libtvm_ffi.so" "$project/build/program_tvm_ffi"
  runs_on inside "$project/build/program_tvm_ffi-static"
  done_with "a Meson project: shared and static"
}

# Upstream's projects name the folder of its Python package themselves; tvm_ffi_DIR precedes it.
upstream_example() { # upstream_example NAME PROJECT [OPTION...]
  local name=$1 project=$2
  shift 2
  # The projects run from their own folder, and load `build/...`.
  [ -d "$work/examples" ] || cp -a "$sources/examples" "$work/examples"
  quietly "$name" env PYTHONPATH="$wheel" cmake -S "$work/examples/$project" -B "$work/examples/$project/build" -Dtvm_ffi_DIR="$package" \
    -DPython_EXECUTABLE="$base_python" "$@"
  quietly "$name-build" env PYTHONPATH="$wheel" cmake --build "$work/examples/$project/build"
}

loads_ours() { # loads_ours FILE
  ldd "$1" | grep -F "libtvm_ffi.so => $prefix/$lib/libtvm_ffi.so " >/dev/null || die "$1 is not linked with our library"
}

upstream_examples() {
  local folder=$work/examples
  upstream_example c-kernel stable_c_abi -DEXAMPLE_NAME=kernel
  upstream_example c-load stable_c_abi -DEXAMPLE_NAME=load
  loads_ours "$folder/stable_c_abi/build/load"
  (cd "$folder/stable_c_abi" && quietly c-run build/load)
  done_with "upstream's example in C: $(tail -n 1 "$work/c-run.log")"

  upstream_example cpp-kernel quickstart -DEXAMPLE_NAME=compile_cpu
  upstream_example cpp-load quickstart -DEXAMPLE_NAME=load_cpp
  loads_ours "$folder/quickstart/build/load_cpp"
  (cd "$folder/quickstart" && quietly cpp-run build/load_cpp)
  done_with "upstream's example in C++: $(tail -n 1 "$work/cpp-run.log")"

  upstream_example extension python_packaging
  loads_ours "$folder/python_packaging/build/libmy_ffi_extension.so"
  done_with "upstream's example of a Python package, with its stubs"
}

block_of() { # block_of LANGUAGE FILE: prints the first block of code in a language
  sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/{ /^\`\`\`/d; p; }" "$2"
}

# The page for authors of kernels: its code compiles with the installed header, and runs on
# upstream's library.
kernel_page() {
  local page=$root/docs/kernels-in-c.md
  local -x PKG_CONFIG_PATH=$prefix/$lib/pkgconfig
  block_of c "$page" >"$work/dot.c"
  eval "gcc -std=c89 -pedantic -Wall -Wextra -Werror -fPIC -shared '$work/dot.c' -o '$work/dot.so' $(pkg-config --cflags --libs tvm_ffi)"
  block_of python "$page" >"$work/dot.py"
  [ "$(cd "$work" && PYTHONPATH=$wheel "$base_python" dot.py)" = 3.0 ] || die "the page's kernel does not return 3.0"
  done_with "the kernel of docs/kernels-in-c.md"
}

installs
other_builds
difficult_folders
installed_command
model_project
cmake_project
pkg_config
kernel_page
meson_subproject
upstream_examples
echo "install: $passed passed, 0 failed"
