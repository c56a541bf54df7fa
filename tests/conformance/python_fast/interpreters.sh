# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # cache.sh sets some, those that source this file use the others
#
# Interpreters of CPython and an environment for each. Sourced after cache.sh of
# tests/conformance/upstream.

fast_here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

version_of() { # version_of PYTHON: prints 3.11, or 3.13t for a free-threaded build; nothing if it does not run
  "$1" -c 'import sys, sysconfig
print("%d.%d" % sys.version_info[:2] + "t" * bool(sysconfig.get_config_var("Py_GIL_DISABLED")))' 2>/dev/null || true
}

find_interpreter() { # find_interpreter VERSION: prints the path of an installed CPython; nothing if there is none
  local candidate
  for candidate in "${PYTHON:-python3}" "python$1" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$1".*/bin/python; do
    if [ "$(version_of "$candidate")" = "$1" ]; then
      "$candidate" -c 'import sys; print(sys.executable)'
      return
    fi
  done
}

install_requirements() { # install_requirements FOLDER: $requirements for $interpreter
  local file
  "$interpreter" -m venv "$1" || die "Python's venv is missing: apt-get install python3-venv"
  for file in $requirements; do
    "$1/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary :all: \
      -r "$file" >&2
  done
}

# An environment with upstream's package, kept in the cache: sets `fast_base`.
ensure_fast_base() { # ensure_fast_base INTERPRETER [REQUIREMENTS...]
  interpreter=$1
  shift
  requirements="$fast_here/requirements.txt $*"
  # shellcheck disable=SC2086  # several files
  fast_base=$cache/python-fast-$(cat $requirements - <<<"$("$interpreter" -VV)" | key)
  once "$fast_base" install_requirements
}

unpack_package() { # unpack_package PACKAGE FOLDER: the wheel of targets/host/python, or a folder with its files
  mkdir -p "$2"
  if [ -d "$1" ]; then cp -r "$1"/. "$2"; else "$python" -m zipfile -e "$1" "$2"; fi
}

# A new environment over $fast_base with the package in it. `ferrite_tvm_ffi` is imported at start
# (FERRITE_TVM_FFI_FAST chooses), except by tvm-ffi-config, which tells linkers where upstream's
# other libraries are. Sets `fast_python`.
make_fast_environment() { # make_fast_environment PACKAGE FOLDER
  local site folders='import sysconfig; print(sysconfig.get_path("purelib"))'
  "$fast_base/bin/python" -m venv --without-pip "$2"
  fast_python=$2/bin/python
  site=$("$fast_python" -c "$folders")
  echo "import site; site.addsitedir('$("$fast_base/bin/python" -c "$folders")')" >"$site/base.pth"
  unpack_package "$1" "$site"
  echo "import sys; any('tvm-ffi-config' in word for word in getattr(sys, 'orig_argv', sys.argv)) or __import__('ferrite_tvm_ffi')" \
    >"$site/ferrite.pth"
}
