// Products with quantised factors: int8 and float8 with a scale for each row of both, and float activations with int4 weights.
#include "gemm.hpp"

namespace kernels {
namespace {

// Products of a row of int8 with four others: `b` and the rows that are `stride` after it.
KERNELS_CLONES void dot_int8_4(const int8_t* a, const int8_t* b, int64_t stride, int64_t k, int32_t* sums) {
  int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
  for (int64_t i = 0; i < k; ++i) {
    s0 += a[i] * b[i];
    s1 += a[i] * b[stride + i];
    s2 += a[i] * b[2 * stride + i];
    s3 += a[i] * b[3 * stride + i];
  }
  sums[0] = s0;
  sums[1] = s1;
  sums[2] = s2;
  sums[3] = s3;
}

KERNELS_CLONES int32_t dot_int8(const int8_t* a, const int8_t* b, int64_t k) {
  int32_t sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < k; ++i) sum += a[i] * b[i];
  return sum;
}

// Writes the exact products of a row with all rows of b.
void row_int8(const int8_t* a, const int8_t* b, int64_t n, int64_t k, float* out) {
  int32_t sums[4];
  int64_t column = 0;
  for (; column + 4 <= n; column += 4) {
    dot_int8_4(a, b + column * k, k, k, sums);
    for (int64_t i = 0; i < 4; ++i) out[column + i] = static_cast<float>(sums[i]);
  }
  for (; column < n; ++column) out[column] = static_cast<float>(dot_int8(a, b + column * k, k));
}

// Multiplies element [i, j] by a[i] * b[j].
void apply_scales(int64_t m, int64_t n, const float* a, const float* b, float* out) {
  for (int64_t row = 0; row < m; ++row) {
    for (int64_t column = 0; column < n; ++column) out[row * n + column] *= a[row] * b[column];
  }
}

// The largest sum of products of int8 that an int32 holds.
constexpr int64_t kMostInt8 = (int64_t{1} << 31) / (128 * 128) - 1;

#define SCALED_ARGUMENTS(code)                           \
  "a: Tensor([m, k], " code "), b: Tensor([n, k], " code \
  "), a_scales: Tensor([m], float32), "                  \
  "b_scales: Tensor([n], float32), out: Tensor([m, n], float32) = None"
#define SCALED_TYPES FERRITE_PARAMS_5(FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_OUT)

}  // namespace

FERRITE_EXPORT(gemm_int8, SCALED_TYPES, FERRITE_RETURNS_OUT, SCALED_ARGUMENTS("int8"),
               "Multiplies a by the transpose of b, exactly, and element [i, j] by a_scales[i] * b_scales[j].") {
  Call call(args);
  Dim m, k, n;
  Tensor a = call.tensor(0, "a", kInt8, {&m, &k});
  Tensor b = call.tensor(1, "b", kInt8, {&n, &k});
  Tensor a_scales = call.tensor(2, "a_scales", kFloat32, {&m});
  Tensor b_scales = call.tensor(3, "b_scales", kFloat32, {&n});
  call.at_most(a, 1, kMostInt8);
  Output out = call.output(4, "out", kFloat32, {&m, &n});
  if (call.failed()) return -1;
  parallel_for(m, n * k,
               [&](int64_t row) { row_int8(a.data<int8_t>() + row * k, b.data<int8_t>(), n, k, out.data<float>() + row * n); });
  apply_scales(m, n, a_scales.data<float>(), b_scales.data<float>(), out.data<float>());
  return out.finish(result);
}

FERRITE_EXPORT(gemm_fp8, SCALED_TYPES, FERRITE_RETURNS_OUT, SCALED_ARGUMENTS("float8_e4m3fn"),
               "Multiplies a by the transpose of b, with sums of float32, and element [i, j] by a_scales[i] * b_scales[j].") {
  Call call(args);
  Dim m, k, n;
  Tensor a = call.tensor(0, "a", kFloat8E4M3, {&m, &k});
  Tensor b = call.tensor(1, "b", kFloat8E4M3, {&n, &k});
  Tensor a_scales = call.tensor(2, "a_scales", kFloat32, {&m});
  Tensor b_scales = call.tensor(3, "b_scales", kFloat32, {&n});
  Output out = call.output(4, "out", kFloat32, {&m, &n});
  if (call.failed()) return -1;
  bool done = multiply<Order::kSums>(
      m, n, k, [&](int64_t row, int64_t step) { return float(a.data<Float8E4M3>()[row * k + step]); },
      [&](int64_t column, int64_t step) { return float(b.data<Float8E4M3>()[column * k + step]); }, out.data<float>());
  if (!done) return out_of_memory();
  apply_scales(m, n, a_scales.data<float>(), b_scales.data<float>(), out.data<float>());
  return out.finish(result);
}

FERRITE_EXPORT(gemm_w4a16, FERRITE_PARAMS_4(FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_OUT), FERRITE_RETURNS_OUT,
               "x: Tensor([m, 2 * half], float32 | float16 | bfloat16), weight: Tensor([n, half], uint8), "
               "scales: Tensor([n, groups], float32), out: Tensor([m, n], float32) = None",
               "Multiplies x by the transpose of the weights that quantize_int4_per_group packed.") {
  Call call(args);
  Dim m, k, n, groups;
  Tensor x = call.floats(0, "x", {&m, &k});
  call.divisible(x, 1, 2);
  Dim half(k / 2);
  Tensor weight = call.tensor(1, "weight", kUInt8, {&n, &half});
  Tensor scales = call.tensor(2, "scales", kFloat32, {&n, &groups});
  call.at_least(scales, 1, 1);
  call.divisible(weight, 1, groups);
  Output out = call.output(3, "out", kFloat32, {&m, &n});
  if (call.failed()) return -1;
  const int64_t size = k / groups;
  auto weight_at = [&](int64_t column, int64_t step) {
    int32_t byte = weight.data<uint8_t>()[column * half + step / 2];
    int32_t code = step % 2 == 0 ? byte & 15 : byte >> 4;
    return static_cast<float>(code - 8) * scales.data<float>()[column * groups + step / size];
  };
  bool done = false;
  with_float_type(x.dtype(), [&](auto type) {
    using T = decltype(type);
    done = multiply<Order::kSums>(
        m, n, k, [&](int64_t row, int64_t step) { return float(x.data<T>()[row * k + step]); }, weight_at, out.data<float>());
  });
  return done ? out.finish(result) : out_of_memory();
}

}  // namespace kernels
