#!/usr/bin/env bash
# usage: test.sh [WHEEL]
#
# Installs the wheel (builds it first, with the command in it, if none is named) and its
# dependencies into a new virtual environment, and runs test_wheel.py and the other tests there.
# PYTHON names the interpreter.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=${PYTHON:-python3}
export PIP_DISABLE_PIP_VERSION_CHECK=1

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ $# -gt 0 ]; then
  wheel=$1
else
  FERRITE_WHEEL_COMMAND=1 "$python" -m pip wheel --quiet --no-deps -w "$work" "$here"
  wheel=$(echo "$work"/*.whl)
fi
"$python" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --quiet --no-deps --require-hashes -r "$here/requirements-test.txt"
"$work/venv/bin/python" -m pip install --quiet --no-deps "$wheel"
"$work/venv/bin/python" "$here/test_build.py"
"$work/venv/bin/python" "$here/test_pickle.py"
"$work/venv/bin/python" "$here/test_docs.py"
"$work/venv/bin/python" "$here/test_rpc.py"
"$work/venv/bin/python" "$here/test_cut.py"
PATH=$work/venv/bin:$PATH "$work/venv/bin/python" "$here/test_wheel.py" "$wheel"
