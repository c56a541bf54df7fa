#!/usr/bin/env bash
# usage: arm64.sh WHEEL
#
# Runs our tests, behaviour/, on AArch64 under qemu, with the extension and without it, and compares
# them as run.sh does. WHEEL is that of targets/host/python for AArch64. The interpreter is Debian's
# CPython for arm64, whose packages are unpacked into the cache and not installed. Tests of
# processes are left out: qemu fails when the child of a fork starts threads.
#
# The last line is the sum. Results go to $OUT (default target/python-fast/arm64).
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../upstream/support/cache.sh
source "$here/../upstream/support/cache.sh"
root=$(cd "$here/../../.." && pwd)

[ $# -eq 1 ] && [ -f "$1" ] || die "usage: arm64.sh WHEEL"
package=$(realpath "$1")

unpack_interpreter() { # unpack_interpreter FOLDER
  unpack_arm64_packages "$1" python3 libstdc++6
}

unpack_packages() { # unpack_packages FOLDER: upstream's package and pytest, for $version on AArch64
  local file glibc platforms=(--platform any)
  for glibc in 17 24 27 28 31 34; do platforms+=(--platform "manylinux_2_${glibc}_aarch64"); done
  "$python" -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary :all: \
    --implementation cp --python-version "$version" --abi "cp${version/./}" --abi abi3 --abi none "${platforms[@]}" \
    -d "$1/wheels" -r "$here/requirements.txt" >&2
  for file in "$1"/wheels/*.whl; do "$python" -m zipfile -e "$file" "$1/site"; done
  rm -r "$1/wheels"
}

write_launcher() { # write_launcher FILE: a script that runs the interpreter, the sys.executable there
  printf '#!/bin/sh\nexport PYTHONHOME=%s/root/usr\nexec qemu-aarch64 -L %s/root -0 %s %s/root/usr/bin/python%s "$@"\n' \
    "$interpreter" "$interpreter" "$1" "$interpreter" "$version" >"$1"
  chmod +x "$1"
}

run_behaviour() { # run_behaviour FAST
  env FERRITE_TVM_FFI_FAST="$1" PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1 TVM_FFI_DISABLE_TORCH_C_DLPACK=1 \
    OPENBLAS_NUM_THREADS=1 PYTHONPATH="$work/site:$packages/site:$here/plugin" FAST_RECORD="$out/$1.json" \
    "$work/python" -X faulthandler -m pytest -q --tb=short -p no:cacheprovider -p fast_record -o addopts= -c /dev/null \
    --rootdir "$here" --basetemp "$work/pytest-$1" --ignore "$here/behaviour/test_processes.py" "$here/behaviour" >"$out/$1.log" 2>&1
}

need apt-get "this runs on Debian and its derivatives"
need qemu-aarch64 "apt-get install qemu-user"
open_cache
out=$(mkdir -p "${OUT:=$root/target/python-fast/arm64}" && cd "$OUT" && pwd -P)
rm -f "$out"/*.json
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

interpreter=$cache/python-aarch64
once "$interpreter" unpack_interpreter
version=$(basename "$(readlink "$interpreter/root/usr/bin/python3")")
version=${version#python}
packages=$cache/python-aarch64-packages-$(cat "$here/requirements.txt" - <<<"$version" | key)
once "$packages" unpack_packages
"$python" -m zipfile -e "$package" "$work/site"
echo "import ferrite_tvm_ffi" >"$work/site/sitecustomize.py"
write_launcher "$work/python"
for folder in "$work/site" "$packages/site"; do "$work/python" -m compileall -q "$folder"; done

for fast in 0 1; do run_behaviour $fast || true; done
line=$("$python" "$here/same.py" ours "$out/0.json" "$out/1.json" | tee "$out/same.log" | tail -n 1) || true
grep -v '^  ok ' "$out/same.log" | head -n -1
echo "CPython $version"
echo "python-fast: ${line:-0 passed, 1 failed}"
[[ $line == *", 0 failed" ]]
