// Products of matrices of float32, float16 and bfloat16, with sums of float32.
#include "gemm.hpp"
#include "../device/device.hpp"

#include <atomic>

namespace kernels {
namespace {

#define KERNELS_UNROLL _Pragma("GCC unroll 16")

#define TILE_NAME multiply_base
#define TILE_TARGET
#define TILE_LANES 4
#define TILE_ROWS 4
#include "gemm_tile.inl"

#ifdef __x86_64__
#define TILE_NAME multiply_avx2
#define TILE_TARGET __attribute__((target("avx2,fma")))
#define TILE_LANES 8
#define TILE_ROWS 6
#include "gemm_tile.inl"

#define TILE_NAME multiply_avx512
#define TILE_TARGET __attribute__((target("avx512f")))
#define TILE_LANES 16
#define TILE_ROWS 12
#include "gemm_tile.inl"
#endif

Tile choose_tile() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f")) return Tile{12, 32, multiply_avx512};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Tile{6, 16, multiply_avx2};
#endif
  return Tile{4, 8, multiply_base};
}

// Multiplies compact matrices of one type. Sums of a narrow type are in scratch memory until they are complete.
template <class T> bool multiply_typed(int64_t m, int64_t n, int64_t k, const T* a, const T* b, T* out) {
  const Dense<T> left{a, k}, right{b, n};
  if constexpr (sizeof(T) == sizeof(float)) {
    return multiply<Order::kSteps>(m, n, k, left, right, out);
  } else {
    Scratch sums(static_cast<size_t>(m * n) * sizeof(float));
    if (sums.failed() || !multiply<Order::kSteps>(m, n, k, left, right, sums.data<float>())) return false;
    narrow_row(sums.data<float>(), m * n, out);
    return true;
  }
}

}  // namespace

const Tile& tile() {
  static const Tile chosen = choose_tile();
  return chosen;
}

FERRITE_EXPORT(gemm, FERRITE_PARAMS_3(FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_OUT), FERRITE_RETURNS_OUT,
               "a: Tensor([m, k], T), b: Tensor([k, n], T), out: Tensor([m, n], T) = None",
               "Multiplies matrices, with sums of float32. Runs on the device of a." KERNELS_TYPES) {
  Call call(args, Place::kAnyDevice);
  Dim m, k, n;
  Tensor a = call.floats(0, "a", {&m, &k});
  Tensor b = call.tensor(1, "b", a.dtype(), {&k, &n});
  Output out = call.output(2, "out", a.dtype(), {&m, &n});
  if (call.failed()) return -1;
  if (!a.on_host()) return device::gemm(a, b, m, n, k, out) ? -1 : out.finish(result);
  bool done = false;
  with_float_type(a.dtype(), [&](auto type) {
    using T = decltype(type);
    done = multiply_typed(m, n, k, a.data<T>(), b.data<T>(), out.data<T>());
  });
  return done ? out.finish(result) : out_of_memory();
}

FERRITE_EXPORT(batched_gemm, FERRITE_PARAMS_3(FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_OUT), FERRITE_RETURNS_OUT,
               "a: Tensor([batch, m, k], T), b: Tensor([batch, k, n], T), "
               "out: Tensor([batch, m, n], T) = None",
               "Multiplies the matrices of two batches, with sums of float32." KERNELS_TYPES) {
  Call call(args);
  Dim batch, m, k, n;
  Tensor a = call.floats(0, "a", {&batch, &m, &k});
  Tensor b = call.tensor(1, "b", a.dtype(), {&batch, &k, &n});
  Output out = call.output(2, "out", a.dtype(), {&batch, &m, &n});
  if (call.failed()) return -1;
  std::atomic<bool> failed{false};
  with_float_type(a.dtype(), [&](auto type) {
    using T = decltype(type);
    parallel_for(batch, m * n * k, [&](int64_t i) {
      if (!multiply_typed(m, n, k, a.data<T>() + i * m * k, b.data<T>() + i * k * n, out.data<T>() + i * m * n)) failed = true;
    });
  });
  return failed ? out_of_memory() : out.finish(result);
}

FERRITE_EXPORT(linear, FERRITE_PARAMS_3(FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_OUT), FERRITE_RETURNS_OUT,
               "x: Tensor([m, k], T), weight: Tensor([n, k], T), out: Tensor([m, n], float32) = None",
               "Multiplies x by the transpose of weight, as a linear layer does. The result is float32." KERNELS_TYPES) {
  Call call(args);
  Dim m, k, n;
  Tensor x = call.floats(0, "x", {&m, &k});
  Tensor weight = call.tensor(1, "weight", x.dtype(), {&n, &k});
  Output out = call.output(2, "out", kFloat32, {&m, &n});
  if (call.failed()) return -1;
  bool done = false;
  with_float_type(x.dtype(), [&](auto type) {
    using T = decltype(type);
    done = multiply<Order::kSums>(m, n, k, Dense<T>{x.data<T>(), k}, Dense<T>{weight.data<T>(), k}, out.data<float>());
  });
  return done ? out.finish(result) : out_of_memory();
}

}  // namespace kernels
