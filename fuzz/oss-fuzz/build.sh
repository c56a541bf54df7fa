#!/bin/bash -eu
# Builds every fuzz target, and its kept inputs as an archive beside it. OSS-Fuzz sets SRC and OUT.
cd "$SRC/ferrite"
cargo fuzz build -O --debug-assertions
for source in fuzz/fuzz_targets/*.rs; do
  name=$(basename "$source" .rs)
  cp "fuzz/target/x86_64-unknown-linux-gnu/release/$name" "$OUT/"
  if [ -d "fuzz/corpus/$name" ]; then
    (cd "fuzz/corpus/$name" && zip -q -r "$OUT/${name}_seed_corpus.zip" .)
  fi
done
