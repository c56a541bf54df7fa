#!/bin/bash -eu
# Builds every fuzz target, and its kept inputs as an archive beside it. OSS-Fuzz sets SRC, OUT,
# SANITIZER and RUSTFLAGS. From a checkout of OSS-Fuzz with this folder as projects/ferrite:
#
#   python3 infra/helper.py build_image ferrite
#   python3 infra/helper.py build_fuzzers --sanitizer address ferrite CHECKOUT
#   python3 infra/helper.py check_build --sanitizer address ferrite
#   python3 infra/helper.py run_fuzzer ferrite json_text
#
# Cargo builds the library as a part of each target, so that it has the same sanitizer.
cd "$SRC/ferrite"
# The compiler of the image, not the one that the repository names.
export RUSTUP_TOOLCHAIN=${RUSTUP_TOOLCHAIN:-nightly}
sanitizer=${SANITIZER:-address}
# For coverage, the flags of the image do all.
if [ "$sanitizer" = coverage ]; then
  sanitizer=none
fi
target=$(rustc --version --verbose | sed -n 's/^host: //p')
cargo fuzz build -O --debug-assertions --sanitizer "$sanitizer" --target "$target"
for source in fuzz/fuzz_targets/*.rs; do
  name=$(basename "$source" .rs)
  cp "fuzz/target/$target/release/$name" "$OUT/"
  # An input may ask for any number of bytes.
  cp fuzz/oss-fuzz/target.options "$OUT/$name.options"
  if [ -f "fuzz/corpus/$name.zip" ]; then
    cp "fuzz/corpus/$name.zip" "$OUT/${name}_seed_corpus.zip"
  fi
done
