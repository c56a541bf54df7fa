#!/usr/bin/env bash
# usage: run.sh COMMAND FOLDER
#
# Makes declarations with COMMAND, the program `ferrite`, for the library of
# tests/programs/rust_objects and for a Python package, and uses them: in Python under
# `mypy --strict`, in C, and in Rust beside the libtvm_ffi.so of FOLDER. The last line is the sum.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
# shellcheck disable=SC1091,SC2154 # it sets the folder of downloads and the interpreter
source "$root/tests/conformance/upstream/support/cache.sh"
need "${CC:-cc}" "apt-get install gcc"
[ -x "${1:-}" ] && [ -f "${2:-}/libtvm_ffi.so" ] || die "usage: run.sh COMMAND FOLDER, with libtvm_ffi.so in FOLDER"
ferrite=$1
built=$(cd "$2" && pwd)
open_cache

target=${CARGO_TARGET_DIR:-$root/target}/c-tests/rust_objects
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
done_with() { # done_with WHAT
  passed=$((passed + 1))
  echo "ok: $1"
}

install_checker() { # install_checker FOLDER
  "$python" -m venv "$1" || die "Python's venv is missing: apt-get install python3-venv"
  "$1/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
    -r "$here/requirements.txt" >&2
}

mypy() { # mypy FILE...: with the stubs of $work
  (cd "$work" && MYPYPATH=$work "$checker/bin/python" -m mypy --strict --no-color-output --cache-dir "$work/cache" "$@")
}

same() { # same EXPECTED FILE
  if [ -n "${FERRITE_UPDATE_GOLDEN:-}" ]; then cp "$2" "$1"; fi
  diff -u "$1" "$2" || die "$(basename "$1") differs"
}

in_python() {
  "$ferrite" stubs "$library" --python -o "$work/rust_objects.pyi"
  same "$here/golden/rust_objects.pyi" "$work/rust_objects.pyi"
  mypy "$here/python/good.py" "$root"/targets/cli/tests/golden/stubs/*.pyi || die "mypy refuses a stub or a good use"
  local refused expected
  refused=$({ mypy "$here/python/wrong.py" || true; } | sed -nE 's/^.*wrong\.py:([0-9]+): error: .*\[(.*)\]$/\1 \2/p')
  expected=$(grep -nE '  # [a-z-]+$' "$here/python/wrong.py" | sed -E 's/^([0-9]+):.*# (.*)$/\1 \2/')
  [ "$refused" = "$expected" ] || die "mypy refuses other lines: $refused, not $expected"
  done_with "Python: mypy --strict accepts the stubs and the good uses, and refuses the wrong ones"
}

in_c() {
  "$ferrite" stubs "$library" --c -o "$work/rust_objects.h"
  "${CC:-cc}" -std=c89 -pedantic -Wall -Wextra -Werror -I"$root/include" -I"$work" "$here/client.c" "$library" \
    -L"$built" -ltvm_ffi -Wl,-rpath,"$built" -Wl,-rpath,"$(dirname "$library")" -o "$work/client_c"
  "$work/client_c" >"$work/printed"
  diff -u - "$work/printed" <<<$'add: 42\nvalue: 42\nnew: 7\nset and add: 10\nanother class: -1\ngreet: 0' || die "the program in C prints other lines"
  done_with "C: a program uses a class and functions by the header"
}

in_rust() {
  mkdir -p "$work/client/src"
  cp "$here/rust/main.rs" "$work/client/src"
  cp "$root/tests/programs/rust_objects/Cargo.lock" "$work/client"
  "$ferrite" stubs "$library" --rust -o "$work/client/src/rust_objects.rs"
  printf '%s\n' '[package]' 'name = "client"' 'version = "0.1.0"' 'edition = "2024"' '[dependencies]' \
    "ferrite-ffi-sys = { path = '$root/targets/rust/sys' }" >"$work/client/Cargo.toml"
  RUSTFLAGS="${RUSTFLAGS:-} -Dwarnings" TVM_FFI_LIB_DIR=$built cargo run --quiet --manifest-path "$work/client/Cargo.toml" \
    --target-dir "$target/client" -- "$library" >"$work/printed"
  diff -u - "$work/printed" <<<$'before: true\ncounter: 42 42\nnew: 5, set: 9\ngreet: hello you\ntotals: 1' ||
    die "the program in Rust prints other lines"
  done_with "Rust: a program uses classes and functions by the module, beside libtvm_ffi.so"
}

refused() { # refused STATUS TEXT PACKAGE
  local status=0
  stubs_of "$3" >"$work/printed" 2>&1 || status=$?
  [ "$status" = "$1" ] && grep -qF "$2" "$work/printed" || die "stubs of $3: status $status, $(cat "$work/printed")"
}

stubs_of() { # stubs_of PACKAGE
  PYTHON=$checker/bin/python PYTHONPATH=$here/python:$work DEMO_LIBRARY=$library "$ferrite" stubs "$1" --python
}

of_a_package() {
  stubs_of demo_package >"$work/demo_package.pyi"
  same "$here/golden/demo_package.pyi" "$work/demo_package.pyi"
  mypy "$work/demo_package.pyi" || die "mypy refuses the stub of a package"
  echo 'import no_such_dependency' >"$work/lacks.py"
  echo 'raise ValueError("on purpose")' >"$work/raises.py"
  echo 'import os; os.abort()' >"$work/aborts.py"
  refused 4 "has no package no_such_package" no_such_package
  refused 4 "importing lacks: No module named 'no_such_dependency'" lacks
  refused 1 "importing raises: ValueError: on purpose" raises
  refused 5 "importing aborts ended the child process" aborts
  done_with "a package: functions of Python, and classes of its library; what cannot be imported is refused"
}

checker=$cache/stubs-$(cat "$here/requirements.txt" - <<<"$("$python" -VV)" | key)
once "$checker" install_checker
cargo build --quiet --locked --manifest-path "$root/tests/programs/rust_objects/Cargo.toml" --target-dir "$target"
library=$target/debug/librust_objects.so
in_python
in_c
in_rust
of_a_package
echo "stubs: $passed passed, 0 failed"
