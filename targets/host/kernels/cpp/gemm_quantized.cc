// Products with quantised factors: int8 and float8 with a scale for each row of both, and float activations with int4 weights.
#include "gemm.hpp"

namespace kernels {
namespace {

// ---- int8 ----------------------------------------------------------------------------------

// Rows of b that a task converts and multiplies by all rows of a.
constexpr int64_t kTaskColumns8 = 32;

// The largest number of products of int8 whose sum an int32 holds.
constexpr int64_t kMostInt8 = (int64_t{1} << 31) / (128 * 128) - 1;

// Processors multiply int16 and add the products in pairs.
KERNELS_CLONES void widen_int8(const int8_t* x, int64_t count, int16_t* out) {
  for (int64_t i = 0; i < count; ++i) out[i] = x[i];
}

// Writes the exact products of a row with four others, `stride` apart.
KERNELS_CLONES void dot_int16_4(const int16_t* a, const int16_t* b, int64_t stride, int64_t k, float* out) {
  const int16_t *b1 = b + stride, *b2 = b1 + stride, *b3 = b2 + stride;
  int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  for (int64_t i = 0; i < k; ++i) {
    s0 += a[i] * b[i];
    s1 += a[i] * b1[i];
    s2 += a[i] * b2[i];
    s3 += a[i] * b3[i];
  }
  out[0] = static_cast<float>(s0);
  out[1] = static_cast<float>(s1);
  out[2] = static_cast<float>(s2);
  out[3] = static_cast<float>(s3);
}

KERNELS_CLONES float dot_int16(const int16_t* a, const int16_t* b, int64_t k) {
  int32_t sum = 0;
  for (int64_t i = 0; i < k; ++i) sum += a[i] * b[i];
  return static_cast<float>(sum);
}

// Writes the products of all rows of a with `count` rows of b, from row `left`, to their columns of out.
void columns_int8(const int16_t* a, const int16_t* b, int64_t m, int64_t n, int64_t k, int64_t left, int64_t count,
                  float* out) {
  for (int64_t row = 0; row < m; ++row, a += k, out += n) {
    int64_t column = 0;
    for (; column + 4 <= count; column += 4) dot_int16_4(a, b + column * k, k, k, out + left + column);
    for (; column < count; ++column) out[left + column] = dot_int16(a, b + column * k, k);
  }
}

// Writes the exact products of rows of a and rows of b. False if there is no memory.
bool multiply_int8(int64_t m, int64_t n, int64_t k, const int8_t* a, const int8_t* b, float* out) {
  Scratch wide_a(static_cast<size_t>(m * k) * sizeof(int16_t)), wide_b(static_cast<size_t>(n * k) * sizeof(int16_t));
  if (wide_a.failed() || wide_b.failed()) return false;
  parallel_for(m, k, [&](int64_t row) { widen_int8(a + row * k, k, wide_a.data<int16_t>() + row * k); });
  parallel_for(ceil_div(n, kTaskColumns8), m * k * kTaskColumns8, [&](int64_t task) {
    int64_t left = task * kTaskColumns8, count = minimum(kTaskColumns8, n - left);
    int16_t* columns = wide_b.data<int16_t>() + left * k;
    widen_int8(b + left * k, count * k, columns);
    columns_int8(wide_a.data<int16_t>(), columns, m, n, k, left, count, out);
  });
  return true;
}

// Multiplies element [i, j] by a[i] * b[j].
void apply_scales(int64_t m, int64_t n, const float* a, const float* b, float* out) {
  for (int64_t row = 0; row < m; ++row) {
    for (int64_t column = 0; column < n; ++column) out[row * n + column] *= a[row] * b[column];
  }
}

// ---- int4 ----------------------------------------------------------------------------------

// Weights that quantize_int4_per_group packed: rows of `bytes` bytes, with `groups` scales for `group_size` elements each.
struct Int4 {
  const uint8_t* packed;
  const float* scales;
  int64_t bytes, groups, group_size;

  float code(int64_t row, int64_t i) const {
    const int32_t byte = packed[row * bytes + i / 2];
    return static_cast<float>((byte >> i % 2 * 4 & 15) - 8);
  }

  void read(int64_t row, int64_t first, int64_t count, float* to) const {
    for (int64_t i = first; i < first + count;) {
      const int64_t end = minimum((i / group_size + 1) * group_size, first + count);
      const float scale = scales[row * groups + i / group_size];
      for (; i < end; ++i) to[i - first] = code(row, i) * scale;
    }
  }
};

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
  if (!multiply_int8(m, n, k, a.data<int8_t>(), b.data<int8_t>(), out.data<float>())) return out_of_memory();
  apply_scales(m, n, a_scales.data<float>(), b_scales.data<float>(), out.data<float>());
  return out.finish(result);
}

FERRITE_EXPORT(gemm_fp8, SCALED_TYPES, FERRITE_RETURNS_OUT, SCALED_ARGUMENTS("float8_e4m3fn"),
               "Multiplies a by the transpose of b, with sums of float32, and element [i, j] by a_scales[i] * b_scales[j].") {
  using T = Float8E4M3;
  Call call(args);
  Dim m, k, n;
  Tensor a = call.tensor(0, "a", kFloat8E4M3, {&m, &k});
  Tensor b = call.tensor(1, "b", kFloat8E4M3, {&n, &k});
  Tensor a_scales = call.tensor(2, "a_scales", kFloat32, {&m});
  Tensor b_scales = call.tensor(3, "b_scales", kFloat32, {&n});
  Output out = call.output(4, "out", kFloat32, {&m, &n});
  if (call.failed()) return -1;
  const Dense<T> left{a.data<T>(), k}, right{b.data<T>(), k};
  if (!multiply<Order::kSums>(m, n, k, left, right, out.data<float>())) return out_of_memory();
  apply_scales(m, n, a_scales.data<float>(), b_scales.data<float>(), out.data<float>());
  return out.finish(result);
}

FERRITE_EXPORT(gemm_w4a16, FERRITE_PARAMS_4(FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_OUT), FERRITE_RETURNS_OUT,
               "x: Tensor([m, 2 * half], T), weight: Tensor([n, half], uint8), "
               "scales: Tensor([n, groups], float32), out: Tensor([m, n], float32) = None",
               "Multiplies x by the transpose of the weights that quantize_int4_per_group packed." KERNELS_TYPES) {
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
  const Int4 weights{weight.data<uint8_t>(), scales.data<float>(), half, groups, k / groups};
  bool done = false;
  with_float_type(x.dtype(), [&](auto type) {
    using T = decltype(type);
    done = multiply<Order::kSums>(m, n, k, Dense<T>{x.data<T>(), k}, weights, out.data<float>());
  });
  return done ? out.finish(result) : out_of_memory();
}

}  // namespace kernels
