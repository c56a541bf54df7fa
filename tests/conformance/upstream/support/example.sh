#!/usr/bin/env bash
# usage: example.sh NAME TREE
#
# Builds and runs one of upstream's examples in TREE, a private copy of the source distribution,
# with the tvm-ffi-config and python found on PATH. Fails unless it prints the expected output.
set -euo pipefail

support=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
name=$1
tree=$2

# expect LINE...: checks that ./output contains each LINE, and prints it.
expect() {
  local line status=0
  cat output
  for line in "$@"; do
    grep -qxF -- "$line" output || {
      echo "missing from the output: $line"
      status=1
    }
  done
  return "$status"
}

folder=$(tvm-ffi-config --libdir)
ours=(-I "$support/../../../../include" -L "$folder" -ltvm_ffi "-Wl,-rpath,$folder")
in_c='[ 2.000000 3.000000 4.000000 5.000000 6.000000 ]'
in_cpp='[ 2 3 4 5 6 ]'
in_numpy='[2. 3. 4. 5. 6.]'

case $name in
  stable_c_abi/raw_compile)
    cd "$tree/examples/stable_c_abi"
    bash raw_compile.sh >output
    expect "$in_c"
    ;;
  stable_c_abi/run_all)
    cd "$tree/examples/stable_c_abi"
    bash run_all.sh >output
    expect "$in_c"
    ;;
  abi_overview)
    cd "$tree/examples/abi_overview"
    read -ra cflags < <(tvm-ffi-config --cflags)
    read -ra ldflags < <(tvm-ffi-config --ldflags)
    read -ra libs < <(tvm-ffi-config --libs)
    "${CC:-cc}" example_code.c "${cflags[@]}" "${ldflags[@]}" "${libs[@]}" \
      -Wl,-rpath,"$(tvm-ffi-config --libdir)" -o example_code
    ./example_code
    ;;
  our_headers/stable_c_abi)
    cd "$tree/examples/stable_c_abi"
    rm -rf build
    mkdir build
    "${CC:-cc}" -shared -O3 -std=c11 -Wall -Werror -fPIC -fvisibility=hidden src/add_one_cpu.c \
      "${ours[@]}" -o build/add_one_cpu.so
    "${CC:-cc}" -O3 -std=c11 -Wall -Werror src/load.c "${ours[@]}" -o build/load
    build/load >output
    expect "$in_c"
    ;;
  our_headers/abi_overview)
    cd "$tree/examples/abi_overview"
    "${CC:-cc}" example_code.c "${ours[@]}" -o example_code
    ./example_code
    ;;
  quickstart/raw_compile)
    cd "$tree/examples/quickstart"
    bash raw_compile.sh >output
    expect "$in_cpp"
    ;;
  quickstart/load_numpy)
    cd "$tree/examples/quickstart"
    cmake . -B build -DEXAMPLE_NAME=compile_cpu -DCMAKE_BUILD_TYPE=RelWithDebInfo
    cmake --build build --config RelWithDebInfo
    python load/load_numpy.py >output
    expect "$in_numpy"
    ;;
  quickstart/run_all_cpu)
    cd "$tree/examples/quickstart"
    bash run_all_cpu.sh >output
    expect "$in_numpy" "$in_cpp"
    ;;
  inline_module/cpu)
    cd "$tree/examples/inline_module"
    python "$support/inline_module_cpu.py" main.py >output
    expect "$in_numpy"
    ;;
  python_packaging)
    cd "$tree/examples/python_packaging"
    python -m pip install --no-build-isolation --no-deps .
    python run_example.py >output 2>&1
    expect 3 4 'RuntimeError: This is an error' a=1 b=2 sum=3
    ;;
  rust_load_library)
    cd "$tree/rust"
    cargo run --locked --quiet -p tvm-ffi --features example --example load_library >output
    cat output
    ;;
  rust_stubgen)
    cd "$tree/examples/rust_stubgen"
    cp -a rust/src rust/src.before
    cmake -B build -DCMAKE_BUILD_TYPE=Release
    cmake --build build
    # The generated bindings must equal those that upstream checked in.
    diff -r rust/src.before rust/src
    cp "$tree/rust/Cargo.lock" rust/Cargo.lock
    cd rust
    cargo run --quiet >output
    expect 'a=2 b=1 kind=PairKind(0)' sum=3
    ;;
  *)
    echo "no such example: $name"
    exit 2
    ;;
esac
