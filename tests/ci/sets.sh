# shellcheck shell=bash
# shellcheck disable=SC2034  # ci.sh reads the sets
#
# The sets of checks. Each name is a function check_NAME in a file of this folder, whose comment describes it.

# The first set, which each change must pass. Its two lanes run in parallel. Checks of the second lane build in folders of their
# own, so that none overwrites a library that the other lane tests.
LANE_ONE=(
  fmt prose reviews unsafe-review book workflows clippy build test rust no-std docs headers layout exports sanitizers valgrind parity properties cross systems minimal
  core-size full-size boards model-tool platform instructions quickstart install cli stubs size
)
LANE_TWO=(
  upstream-python upstream-cpp upstream-rust upstream-examples cpp wheel hardening kernels rust-objects relax releases drift
  tvm-client tilelang gpu-opencl gpu-cuda gpu-rocm gpu-metal gpu-vulkan legacy gpu-webgpu tsan asan
)

# The second set: checks that take long.
SECOND_SET=(
  clippy-features msrv loom other-boards miri-core miri miri-safe miri-cores upstream-checked upstream-asan cpp-checked other-releases arm64 arm32 musl windows guide
  model-guide gpu-guide book-pages first-sessions rtos reproducible forks faults python-programs planted mutants fuzz corpus corpus-miri differential coverage feature-size gpu-checked xgrammar cutlass jax processes
  legacy-front-ends relax-tvm-tests gpu-tvm-tests kernels-torch inspected deny advisories package
  deb cinstall manylinux release actionlint
)

# Checks that run only when named: parts of "test", and what needs a GPU.
ON_REQUEST=(
  c alloc_fail aot gpu-stacks
)
