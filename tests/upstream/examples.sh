#!/usr/bin/env bash
# usage: examples.sh LIB [NAME...]
#
# Builds and runs upstream's C examples, unchanged, with LIB in place of libtvm_ffi.so, for
# linking and for running: first as upstream says (its headers, its tvm-ffi-config, its CMake
# files), then with our headers and nothing of upstream's but the sources.
#
# What is upstream's comes from PyPI, pinned, and is kept in the cache:
# ${FERRITE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ferrite}.
set -euo pipefail

version=0.1.15.post2
sdist=apache_tvm_ffi-$version
sdist_sum=909be9ef5af07726aa9afd38a3111abc4d86cfd5927ebedfa9166232ce7d287b
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
cache=${FERRITE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ferrite}
expected='[ 2.000000 3.000000 4.000000 5.000000 6.000000 ]'

die() {
  echo "error: $*" >&2
  exit 2
}

[ $# -ge 1 ] || die "usage: examples.sh LIB [NAME...]"
[ -f "$1" ] || die "$1: no such file"
library=$(realpath "$1")
shift
names=("$@")
[ ${#names[@]} -gt 0 ] ||
  names=(stable_c_abi/raw_compile stable_c_abi/run_all abi_overview
    our_headers/stable_c_abi our_headers/abi_overview)

python=${PYTHON:-python3}
for tool in gcc make sha256sum flock "$python"; do
  command -v "$tool" >/dev/null ||
    die "$tool is missing: apt-get install gcc make coreutils util-linux python3 python3-venv"
done
"$python" -c 'import ensurepip, venv' 2>/dev/null ||
  die "Python's venv is missing: apt-get install python3-venv"
unset LD_LIBRARY_PATH LD_PRELOAD CFLAGS CPATH LIBRARY_PATH PYTHONPATH

mkdir -p "$cache"
cache=$(cd "$cache" && pwd -P)
exec 9>"$cache/lock"
flock 9

# An environment with upstream's package, whose library is then replaced.
key=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
venv=$cache/examples-$version-$key
if [ ! -e "$venv/.complete" ]; then
  rm -rf "$venv"
  "$python" -m venv "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
    "apache-tvm-ffi==$version" scikit_build_core==1.1.2 setuptools-scm==10.3.4 'setuptools<81' \
    cython cmake ninja
  : >"$venv/.complete"
fi
if [ ! -e "$cache/$sdist/.complete" ]; then
  # pip asks the build backend for the metadata; it is in the environment already.
  "$venv/bin/python" -m pip download --quiet --disable-pip-version-check --no-deps \
    --no-build-isolation --no-binary apache-tvm-ffi -d "$cache" "apache-tvm-ffi==$version"
  echo "$sdist_sum  $cache/$sdist.tar.gz" | sha256sum --check --quiet
  rm -rf "${cache:?}/$sdist"
  tar -xzf "$cache/$sdist.tar.gz" -C "$cache"
  : >"$cache/$sdist/.complete"
fi

overlay=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
overlay=$overlay/tvm_ffi/lib
rm -f "$overlay/libtvm_ffi.so"
cp "$library" "$overlay/libtvm_ffi.so"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -a "$cache/$sdist/examples" "$work/"
mkdir "$work/lib"
cp "$library" "$work/lib/libtvm_ffi.so"

# has_line: standard input has the line that the kernel's result makes.
has_line() { grep -qxF -- "$expected"; }

# resolves_to PROGRAM LIB: the program runs with this very file.
resolves_to() {
  local found
  found=$(ldd "$1" | awk '$1 == "libtvm_ffi.so" { print $3 }')
  [ "$(realpath "$found")" = "$(realpath "$2")" ] || {
    echo "$1 would run with $found"
    return 1
  }
}

run_example() {
  local examples=$work/examples ours=(-I "$root/include" -L "$work/lib" -ltvm_ffi "-Wl,-rpath,$work/lib")
  case $1 in
    stable_c_abi/raw_compile | stable_c_abi/run_all)
      cd "$examples/stable_c_abi"
      rm -rf build
      PATH=$venv/bin:$PATH VIRTUAL_ENV=$venv bash "${1#*/}.sh" | tee output
      has_line <output
      resolves_to build/load "$overlay/libtvm_ffi.so"
      ;;
    abi_overview)
      cd "$examples/abi_overview"
      PATH=$venv/bin:$PATH
      # shellcheck disable=SC2046  # the flags are several words
      gcc example_code.c $(tvm-ffi-config --cflags) $(tvm-ffi-config --ldflags) \
        $(tvm-ffi-config --libs) -Wl,-rpath,"$(tvm-ffi-config --libdir)" -o example_code
      ./example_code
      resolves_to example_code "$overlay/libtvm_ffi.so"
      ;;
    our_headers/stable_c_abi)
      cd "$examples/stable_c_abi"
      rm -rf build
      mkdir build
      gcc -shared -O3 -std=c11 -Wall -Werror -fPIC -fvisibility=hidden src/add_one_cpu.c \
        "${ours[@]}" -o build/add_one_cpu.so
      gcc -O3 -std=c11 -Wall -Werror src/load.c "${ours[@]}" -o build/load
      build/load | tee output
      has_line <output
      resolves_to build/load "$work/lib/libtvm_ffi.so"
      ;;
    our_headers/abi_overview)
      cd "$examples/abi_overview"
      gcc example_code.c "${ours[@]}" -o example_code
      ./example_code
      resolves_to example_code "$work/lib/libtvm_ffi.so"
      ;;
    *) die "no such example: $1" ;;
  esac
}

passed=0
failed=0
for name in "${names[@]}"; do
  # Not as a condition: errexit holds within.
  set +e
  (
    set -e
    run_example "$name"
  ) >"$work/log" 2>&1
  status=$?
  set -e
  if [ "$status" -eq 0 ]; then
    passed=$((passed + 1))
    echo "ok      $name"
  else
    failed=$((failed + 1))
    echo "FAILED  $name"
    sed 's/^/    /' "$work/log"
  fi
done
[ "$(sha256sum <"$overlay/libtvm_ffi.so")" = "$(sha256sum <"$library")" ] ||
  die "the library changed while the examples ran"
echo "examples: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
