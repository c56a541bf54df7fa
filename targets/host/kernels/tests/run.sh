#!/usr/bin/env bash
# usage: run.sh WHEEL [torch | devices]
#
# Runs the tests of the kernel libraries, which `make` built, on upstream's libtvm_ffi and on that
# of WHEEL, the wheel of targets/host/python; with `torch`, those that need PyTorch instead, whose 3
# GB are downloaded once and kept in the cache; with `devices`, those on the devices that
# FERRITE_DEVICE_TESTS names.
# Each pytest prints its sum.
# shellcheck disable=SC2154 # cache.sh sets the folder of downloads and the interpreter
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=/dev/null
source "$here/../../../../tests/conformance/upstream/support/cache.sh"

make_environment_of() { # make_environment_of PYTHON REQUIREMENTS FOLDER
  "$1" -m venv "$3" || die "Python's venv is missing: apt-get install python3-venv"
  "$3/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: -r "$2" >&2
}

environment() { # environment PYTHON REQUIREMENTS: prints the interpreter of an environment, which is made once
  local folder
  folder=$cache/kernels-$(cat "$2" - <<<"$("$1" -VV)" | key)
  once "$folder" make_environment_of "$1" "$2" && echo "$folder/bin/python"
}

interpreters() { # prints every CPython from 3.9 on that is here, one for each version
  local found
  for found in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin/python3 $(compgen -c python3. | grep -x "python3[.][0-9]*" | sort -u); do
    "$found" -c 'import sys, venv; v = sys.version_info; v >= (3, 9) and print("%d.%d" % v[:2], sys.executable)' 2>/dev/null || true
  done | sort -u -t ' ' -k 1,1 -V | cut -d ' ' -f 2
}

run_tests() { # run_tests OPTION...: on the library of the interpreter's `tvm_ffi`
  "$main" -m pytest -q -rs -p no:cacheprovider "$@"
}

run_tests_on_ferrite() { # run_tests_on_ferrite OPTION...
  PYTHONPATH=$PYTHONPATH:$site "$main" -m ferrite_tvm_ffi run -m pytest -q -rs -p no:cacheprovider "$@"
}

everything() { # upstream's library has no devices; neither how libraries are built nor what kernels refuse depends on it
  local one
  main=$(environment "$python" "$here/requirements.txt")
  FERRITE_KERNELS_PYTHONS=
  for one in $(interpreters); do
    FERRITE_KERNELS_PYTHONS+=${FERRITE_KERNELS_PYTHONS:+:}$(environment "$one" "$here/requirements_any_python.txt")
  done
  export FERRITE_KERNELS_PYTHONS FERRITE_WHEEL=$site FERRITE_COMMAND=$site/bin/ferrite
  run_tests "$here" --ignore-glob "$here/test_torch*" --ignore "$here/test_device.py" --ignore "$here/test_bad_input.py"
  run_tests_on_ferrite "$here" --ignore-glob "$here/test_torch*" --ignore "$here/test_build.py" --ignore "$here/test_coupling.py" --ignore "$here/test_stubs.py"
}

with_torch() {
  main=$(environment "$python" "$here/requirements_torch.txt")
  run_tests "$here/test_torch.py"
  run_tests_on_ferrite "$here/test_torch.py" "$here/test_torch_cuda.py"
}

on_devices() {
  main=$(environment "$python" "$here/requirements.txt")
  run_tests_on_ferrite "$here/test_device.py"
}

[ $# -ge 1 ] && [ -f "$1" ] || die "usage: run.sh WHEEL [torch | devices]"
open_cache
site=$(mktemp -d)
trap 'rm -rf "$site"' EXIT
"$python" -m pip install --quiet --disable-pip-version-check --no-deps --target "$site" "$1"
export PYTHONPATH=$here/../python
case ${2:-} in
torch) with_torch ;;
devices) on_devices ;;
*) everything ;;
esac
