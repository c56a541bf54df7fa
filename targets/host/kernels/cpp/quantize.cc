// Quantisation to int8, float8_e4m3fn and int4, and back. A scale belongs to a tensor, a token (row), or a group of a token's
// elements: it is the largest magnitude there, divided by the largest code. A group of zeros has the scale 0.
#include "kernels.hpp"

namespace kernels {
namespace {

// Rounds to an integer, ties to even: the addition leaves it in the low bits.
KERNELS_INLINE int32_t round_even(float x) { return static_cast<int32_t>(bits_of(x + 12582912.0f) - bits_of(12582912.0f)); }

KERNELS_INLINE float clamp(float x, float largest) { return x < -largest ? -largest : x > largest ? largest : x; }

// Codes: the largest one, and conversion from scaled values, which rounding may have moved beyond it.
struct Int8 {
  using Code = int8_t;
  static constexpr float largest = 127;
  KERNELS_CONVERT Code encode(float x) { return static_cast<Code>(round_even(clamp(x, largest))); }
};
struct Float8 {
  using Code = Float8E4M3;
  static constexpr float largest = 448;
  KERNELS_CONVERT Code encode(float x) { return Code::of(clamp(x, largest)); }
};

// ---- groups --------------------------------------------------------------------------------

template <class T> KERNELS_CLONES float largest_magnitude(const T* x, int64_t count) {
  float most = 0;
#pragma omp simd reduction(max : most)
  for (int64_t i = 0; i < count; ++i) most = __builtin_fabsf(float(x[i])) > most ? __builtin_fabsf(float(x[i])) : most;
  return most;
}

template <class T, class Q>
KERNELS_CLONES void encode_group(const T* x, int64_t count, float inverse, typename Q::Code* codes) {
  for (int64_t i = 0; i < count; ++i) codes[i] = Q::encode(float(x[i]) * inverse);
}

template <class Code> KERNELS_CLONES void decode_group(const Code* codes, int64_t count, float scale, float* out) {
  for (int64_t i = 0; i < count; ++i) out[i] = float(codes[i]) * scale;
}

// The inverse of a scale. It is 0 for magnitudes so small that it would be infinite: their codes are 0.
float inverse_of(float most, float largest) { return most > 1e-35f ? largest / most : 0.0f; }

template <class Q, class T> void quantize_group(const T* x, int64_t count, typename Q::Code* codes, float* scale) {
  float most = largest_magnitude(x, count);
  *scale = most / Q::largest;
  encode_group<T, Q>(x, count, inverse_of(most, Q::largest), codes);
}

template <class Q, class T> void quantize_whole(const T* x, int64_t rows, int64_t cols, typename Q::Code* codes, float* scale) {
  float most = 0;
#pragma omp parallel for reduction(max : most) if (rows * cols >= kParallelWork)
  for (int64_t row = 0; row < rows; ++row) {
    float of_row = largest_magnitude(x + row * cols, cols);
    most = of_row > most ? of_row : most;
  }
  *scale = most / Q::largest;
  float inverse = inverse_of(most, Q::largest);
  parallel_for(rows, cols, [&](int64_t row) { encode_group<T, Q>(x + row * cols, cols, inverse, codes + row * cols); });
}

// ---- bodies of the exports -----------------------------------------------------------------

template <class Q> int quantize_tensor(const FerriteArgs* args, TVMFFIAny* result) {
  Call call(args);
  Dim rows, cols, one(1);
  Tensor x = call.floats(0, "x", {&rows, &cols});
  Tensor codes = call.writable(1, "codes", TypeOf<typename Q::Code>::value, {&rows, &cols});
  Tensor scale = call.writable(2, "scales", kFloat32, {&one});
  if (call.failed()) return -1;
  with_float_type(x.dtype(), [&](auto type) {
    using T = decltype(type);
    quantize_whole<Q>(x.data<T>(), rows, cols, codes.data<typename Q::Code>(), scale.data<float>());
  });
  return ferrite_return_none(result);
}

template <class Q>
void quantize_groups(const Tensor& x, const Tensor& codes, const Tensor& scales, int64_t count, int64_t size) {
  with_float_type(x.dtype(), [&](auto type) {
    using T = decltype(type);
    parallel_for(count, size, [&](int64_t i) {
      quantize_group<Q>(x.data<T>() + i * size, size, codes.data<typename Q::Code>() + i * size, scales.data<float>() + i);
    });
  });
}

template <class Q> int quantize_token(const FerriteArgs* args, TVMFFIAny* result) {
  Call call(args);
  Dim rows, cols;
  Tensor x = call.floats(0, "x", {&rows, &cols});
  Tensor codes = call.writable(1, "codes", TypeOf<typename Q::Code>::value, {&rows, &cols});
  Tensor scales = call.writable(2, "scales", kFloat32, {&rows});
  if (call.failed()) return -1;
  quantize_groups<Q>(x, codes, scales, rows, cols);
  return ferrite_return_none(result);
}

template <class Q> int quantize_grouped(const FerriteArgs* args, TVMFFIAny* result) {
  Call call(args);
  Dim rows, cols, groups;
  Tensor x = call.floats(0, "x", {&rows, &cols});
  Tensor codes = call.writable(1, "codes", TypeOf<typename Q::Code>::value, {&rows, &cols});
  Tensor scales = call.writable(2, "scales", kFloat32, {&rows, &groups});
  call.at_least(scales, 1, 1);
  call.divisible(x, 1, groups);
  if (call.failed()) return -1;
  quantize_groups<Q>(x, codes, scales, rows * groups, cols / groups);
  return ferrite_return_none(result);
}

template <class Code> int dequantize(Call* call, const Tensor& codes, const Tensor& scales, Dim* rows, Dim* cols,
                                     int64_t groups, bool one_scale, TVMFFIAny* result) {
  Output out = call->output(2, "out", kFloat32, {rows, cols});
  if (call->failed()) return -1;
  int64_t size = *cols / groups;
  parallel_for(*rows * groups, size, [&](int64_t i) {
    decode_group(codes.data<Code>() + i * size, size, scales.data<float>()[one_scale ? 0 : i], out.data<float>() + i * size);
  });
  return out.finish(result);
}

template <class Code> int dequantize_tensor(const FerriteArgs* args, TVMFFIAny* result) {
  Call call(args);
  Dim rows, cols, one(1);
  Tensor codes = call.tensor(0, "codes", TypeOf<Code>::value, {&rows, &cols});
  Tensor scales = call.tensor(1, "scales", kFloat32, {&one});
  return dequantize<Code>(&call, codes, scales, &rows, &cols, 1, true, result);
}

template <class Code> int dequantize_token(const FerriteArgs* args, TVMFFIAny* result) {
  Call call(args);
  Dim rows, cols;
  Tensor codes = call.tensor(0, "codes", TypeOf<Code>::value, {&rows, &cols});
  Tensor scales = call.tensor(1, "scales", kFloat32, {&rows});
  return dequantize<Code>(&call, codes, scales, &rows, &cols, 1, false, result);
}

template <class Code> int dequantize_grouped(const FerriteArgs* args, TVMFFIAny* result) {
  Call call(args);
  Dim rows, cols, groups;
  Tensor codes = call.tensor(0, "codes", TypeOf<Code>::value, {&rows, &cols});
  Tensor scales = call.tensor(1, "scales", kFloat32, {&rows, &groups});
  call.at_least(scales, 1, 1);
  call.divisible(codes, 1, groups);
  return dequantize<Code>(&call, codes, scales, &rows, &cols, groups, false, result);
}

// ---- int4 ----------------------------------------------------------------------------------

// Two codes a byte, the lower half first; a code is the value plus 8.
template <class T> void pack_group(const T* x, int64_t count, uint8_t* packed, float* scale) {
  float most = largest_magnitude(x, count), inverse = inverse_of(most, 7);
  *scale = most / 7;
  for (int64_t i = 0; i < count; i += 2) {
    int32_t low = round_even(float(x[i]) * inverse) + 8, high = round_even(float(x[i + 1]) * inverse) + 8;
    packed[i / 2] = static_cast<uint8_t>(low | high << 4);
  }
}

void unpack_group(const uint8_t* packed, int64_t count, float scale, float* out) {
  for (int64_t i = 0; i < count; i += 2) {
    out[i] = static_cast<float>((packed[i / 2] & 15) - 8) * scale;
    out[i + 1] = static_cast<float>((packed[i / 2] >> 4) - 8) * scale;
  }
}

#define QUANTIZE(name, body, code, scales, doc)                                                        \
  FERRITE_EXPORT(name, FERRITE_PARAMS_3(FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_TENSOR), FERRITE_NONE, \
                 "x: Tensor([rows, cols], T), codes: Tensor([rows, cols], " code                       \
                 "), "                                                                                 \
                 "scales: Tensor(" scales ", float32)",                                                \
                 doc KERNELS_TYPES) {                                                                                \
    return body(args, result);                                                                         \
  }

#define DEQUANTIZE(name, body, code, scales)                                                               \
  FERRITE_EXPORT(name, FERRITE_PARAMS_3(FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_OUT), FERRITE_RETURNS_OUT, \
                 "codes: Tensor([rows, cols], " code "), scales: Tensor(" scales                           \
                 ", float32), "                                                                            \
                 "out: Tensor([rows, cols], float32) = None",                                              \
                 "Multiplies codes by their scales.") {                                                    \
    return body(args, result);                                                                             \
  }

}  // namespace

QUANTIZE(quantize_int8_per_tensor, quantize_tensor<Int8>, "int8", "[1]",
         "Quantises to int8 with one scale, the largest magnitude / 127.")
QUANTIZE(quantize_int8_per_token, quantize_token<Int8>, "int8", "[rows]", "Quantises to int8 with a scale for each row.")
QUANTIZE(quantize_int8_per_group, quantize_grouped<Int8>, "int8", "[rows, groups]",
         "Quantises to int8 with a scale for each of `groups` equal parts of a row.")
QUANTIZE(quantize_fp8_per_tensor, quantize_tensor<Float8>, "float8_e4m3fn", "[1]",
         "Quantises to float8_e4m3fn with one scale, the largest magnitude / 448.")
QUANTIZE(quantize_fp8_per_token, quantize_token<Float8>, "float8_e4m3fn", "[rows]",
         "Quantises to float8_e4m3fn with a scale for each row.")
QUANTIZE(quantize_fp8_per_group, quantize_grouped<Float8>, "float8_e4m3fn", "[rows, groups]",
         "Quantises to float8_e4m3fn with a scale for each of `groups` equal parts of a row.")

DEQUANTIZE(dequantize_int8_per_tensor, dequantize_tensor<int8_t>, "int8", "[1]")
DEQUANTIZE(dequantize_int8_per_token, dequantize_token<int8_t>, "int8", "[rows]")
DEQUANTIZE(dequantize_int8_per_group, dequantize_grouped<int8_t>, "int8", "[rows, groups]")
DEQUANTIZE(dequantize_fp8_per_tensor, dequantize_tensor<Float8E4M3>, "float8_e4m3fn", "[1]")
DEQUANTIZE(dequantize_fp8_per_token, dequantize_token<Float8E4M3>, "float8_e4m3fn", "[rows]")
DEQUANTIZE(dequantize_fp8_per_group, dequantize_grouped<Float8E4M3>, "float8_e4m3fn", "[rows, groups]")

FERRITE_EXPORT(quantize_int4_per_group, FERRITE_PARAMS_3(FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_TENSOR), FERRITE_NONE,
               "x: Tensor([rows, 2 * half], T), packed: Tensor([rows, half], uint8), "
               "scales: Tensor([rows, groups], float32)",
               "Quantises to int4 with a scale for each of `groups` equal parts of a row, the largest magnitude / 7. A byte "
               "has two codes, the lower half first; a code is the value plus 8." KERNELS_TYPES) {
  Call call(args);
  Dim rows, cols, groups;
  Tensor x = call.floats(0, "x", {&rows, &cols});
  call.divisible(x, 1, 2);
  Dim half(cols / 2);
  Tensor packed = call.writable(1, "packed", kUInt8, {&rows, &half});
  Tensor scales = call.writable(2, "scales", kFloat32, {&rows, &groups});
  call.at_least(scales, 1, 1);
  call.divisible(packed, 1, groups);
  if (call.failed()) return -1;
  int64_t size = cols / groups;
  with_float_type(x.dtype(), [&](auto type) {
    using T = decltype(type);
    parallel_for(rows * groups, size, [&](int64_t i) {
      pack_group(x.data<T>() + i * size, size, packed.data<uint8_t>() + i * size / 2, scales.data<float>() + i);
    });
  });
  return ferrite_return_none(result);
}

FERRITE_EXPORT(dequantize_int4_per_group, FERRITE_PARAMS_3(FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_OUT), FERRITE_RETURNS_OUT,
               "packed: Tensor([rows, half], uint8), scales: Tensor([rows, groups], float32), "
               "out: Tensor([rows, 2 * half], float32) = None",
               "Multiplies the codes of quantize_int4_per_group by their scales.") {
  Call call(args);
  Dim rows, half, groups;
  Tensor packed = call.tensor(0, "packed", kUInt8, {&rows, &half});
  Tensor scales = call.tensor(1, "scales", kFloat32, {&rows, &groups});
  call.at_least(scales, 1, 1);
  call.divisible(packed, 1, groups);
  Dim cols(2 * half);
  Output out = call.output(2, "out", kFloat32, {&rows, &cols});
  if (call.failed()) return -1;
  int64_t size = cols / groups;
  parallel_for(rows * groups, size, [&](int64_t i) {
    unpack_group(packed.data<uint8_t>() + i * size / 2, size, scales.data<float>()[i], out.data<float>() + i * size);
  });
  return out.finish(result);
}

}  // namespace kernels
