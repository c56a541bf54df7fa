#!/usr/bin/env bash
# usage: run.sh ARCHIVE [--suites WHEEL | --pages WHEEL]
#
# Runs TVM's JavaScript runtime (tvmjs), releases 0.27.0-dev0 and 0.28.0-dev0, on modules that
# targets/web/link.sh makes of ARCHIVE, the libtvm_ffi.a of the features `web` and `testing`: the
# models of ../relax, memory.js, webgpu.js and behaviour.js. With --suites, its own tests and
# these programs with asyncify, and ../clients/web with the wheel of targets/host/python;
# FERRITE_TVM_GIT names a git directory with the tests, which no package contains. With --pages,
# chromium.js and ../clients/web_pages. The last line is the sum; ../clients prints one, too.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
source "$root/tests/conformance/upstream/support/cache.sh"
source "$support/tvm_sources.sh"
revision=5d4dc8721307cf9677becacf0395c19be130e206

install_packages() { # install_packages FOLDER: with both releases of tvmjs as tvmjs-VERSION.js
  cp "$here/package.json" "$1"
  npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$1" >&2
  cp "$1/node_modules/@mlc-ai/web-runtime/lib/index.js" "$1/tvmjs-0.27.js"
  (cd "$1" && node -e '
    const fs = require("fs");
    const { sources, sourcesContent } = JSON.parse(fs.readFileSync("node_modules/@mlc-ai/web-llm/lib/index.js.map"));
    const at = sources.findIndex((source) => source.endsWith("@mlc-ai/web-runtime/lib/index.js"));
    fs.writeFileSync("tvmjs-0.28.js", sourcesContent[at]);')
}

# Links the modules that the tests load, and four of this project.
link_modules() { # link_modules FOLDER [OPTION]
  mkdir -p "$1"
  "$root/targets/web/link.sh" ${2:-} "$1/tvmjs_runtime.wasm" "$archive"
  "$root/targets/web/link.sh" ${2:-} "$1/test_addone.wasm" "$archive" "$here/add_one.o"
  "$root/targets/web/link.sh" ${2:-} "$1/test_relax.wasm" "$archive" "$here/add.o"
  "$root/targets/web/link.sh" ${2:-} "$1/webgpu.wasm" "$archive" "$here"/*_webgpu.o
  "$root/targets/web/link.sh" ${2:-} "$1/fixtures.wasm" "$archive" "$here"/*_fixtures.o
  "$root/targets/web/link.sh" ${2:-} "$1/models.wasm" "$archive" "$root"/tests/programs/relax/boards/*_wasm32.o
}

# Links upstream's library for its own tests.
link_upstream() { # link_upstream FOLDER
  local upstream=$root/tests/bench/web/upstream.sh
  mkdir -p "$1"
  "$upstream" "$1/tvmjs_runtime.wasm"
  "$upstream" "$1/test_addone.wasm" "$here/add_one.o"
  "$upstream" "$1/test_relax.wasm" "$here/add.o"
}

# Runs tvmjs's own tests on upstream's library, as a column beside ours: its failures are not ours.
compare_upstream() {
  if ! command -v emcc >/dev/null; then
    echo "upstream: not built, since emcc is missing: apt-get install emscripten"
    return
  fi
  link_upstream "$work/upstream"
  local release ours
  echo "| tvmjs's own tests | ferrite | upstream |"
  for release in 0.27 0.28; do
    run_jest "$release" "$work/modules"
    ours=$(passed_tests)
    run_jest "$release" "$work/upstream"
    echo "| $release | $ours | $(passed_tests) |"
  done
}

passed_tests() { sed -n 's/^Tests: *//p' "$work/log"; }

run_suites() { # run_suites RELEASE MODULES: tvmjs's own tests
  run_jest "$@"
  # Fewer tests than there are would mean that some were not found.
  if grep -q '^Test Suites: 9 passed, 9 total' "$work/log" && grep -q '^Tests: *64 passed, 64 total' "$work/log"; then
    passed=$((passed + 64))
  else
    fail "tvmjs $1, $(basename "$2")"
  fi
}

run_jest() { # run_jest RELEASE MODULES
  local tree=$work/web
  rm -rf "$tree/dist"
  mkdir -p "$tree/dist"
  ln -s "$2" "$tree/dist/wasm"
  cp "$packages/tvmjs-$1.js" "$tree/dist/index.js"
  cp "$packages/tvmjs-$1.js" "$tree/dist/tvmjs.bundle.js"
  (cd "$tree" && node_modules/.bin/jest) >"$work/log" 2>&1 || true
}

run_program() { # run_program PROGRAM RELEASE MODULE(S)
  if node "$here/$1" "$packages/tvmjs-$2.js" "$3" >"$work/log" 2>&1; then
    passed=$((passed + 1))
    tail -n 1 "$work/log"
  else
    fail "$1 $2 $3"
  fi
}

run_programs() { # run_programs MODULES: under both releases
  local release
  for release in 0.27 0.28; do
    run_program models.js "$release" "$1/models.wasm"
    run_program memory.js "$release" "$1/models.wasm"
    run_program webgpu.js "$release" "$1"
    run_program behaviour.js "$release" "$1/tvmjs_runtime.wasm"
  done
}

run_all_suites() {
  need wasm-opt "apt-get install binaryen"
  unpack_tvm "$revision" "$work" web/src web/tests/node web/tests/typescript_transformer.cjs web/jest.config.js
  ln -s "$packages/node_modules" "$work/web/node_modules"
  link_modules "$work/asyncify" --asyncify
  local release modules
  for release in 0.27 0.28; do
    for modules in "$work/modules" "$work/asyncify"; do
      run_suites "$release" "$modules"
    done
  done
  run_programs "$work/asyncify"
  compare_upstream
}

run_in_pages() {
  need chromium "apt-get install chromium"
  run_program chromium.js 0.27 "$work/modules"
  run_program chromium.js 0.28 "$work/modules"
}

run_clients() { # run_clients SET WHEEL: prints a sum of its tests
  TVMJS=$packages FERRITE_WEB=$archive "$here/../clients/run.sh" "$2" "$1" || status=1
}

fail() {
  failed=$((failed + 1))
  echo "FAILED  $1"
  # tvmjs is one long line.
  tail -n 40 "$work/log" | cut -c 1-300
}

[ -f "${1:-}" ] && { [ $# -eq 1 ] || { [ $# -eq 3 ] && [ -f "$3" ]; }; } || die "usage: run.sh ARCHIVE [--suites WHEEL | --pages WHEEL]"
archive=$(realpath "$1")
need node "apt-get install nodejs"
need npm "apt-get install npm"
open_cache
packages=$cache/web-$(key <"$here/package.json")
once "$packages" install_packages
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
link_modules "$work/modules"

passed=0
failed=0
status=0
case ${2:-} in
  "") run_programs "$work/modules" ;;
  --suites)
    run_all_suites
    run_clients web "$3"
    ;;
  --pages)
    run_in_pages
    run_clients web_pages "$3"
    ;;
  *) die "unknown option $2" ;;
esac
echo "web: $passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$status" -eq 0 ]
