/*
 * norm.c: normalization of rows.
 *
 * Copyright the Ferrite developers. SPDX-License-Identifier: Apache-2.0
 */
#include "kernels.h"

/* ---- layernorm ---------------------------------------------------------------------------- */

VECTOR static void layernorm_row(float* out, const float* x, const float* weight, const float* bias, int64_t cols, float eps) {
  float sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < cols; ++i) sum += x[i];
  const float mean = sum / (float)cols;
#pragma omp simd reduction(+ : squares)
  for (int64_t i = 0; i < cols; ++i) squares += (x[i] - mean) * (x[i] - mean);
  const float scale = 1 / sqrtf(squares / (float)cols + eps);
  for (int64_t i = 0; i < cols; ++i) out[i] = (x[i] - mean) * scale * weight[i] + bias[i];
}

FERRITE_EXPORT(layernorm2d, FERRITE_PARAMS_5(FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_FLOAT, FERRITE_OUT),
               FERRITE_RETURNS_OUT,
               "x: Tensor([rows, cols], float32), weight: Tensor([cols], float32), bias: Tensor([cols], float32), eps: float, "
               "out: Tensor([rows, cols], float32) = None",
               "Normalizes each row of x to mean 0 and variance 1, multiplies it by weight, and adds bias.") {
  FerriteExtent rows = FERRITE_ANY_EXTENT, cols = FERRITE_ANY_EXTENT;
  FerriteTensorArg x, weight, bias;
  FerriteOut out;
  double eps;
  if (ferrite_take_2(args, 0, "x", FERRITE_F32, &rows, &cols, &x)) return -1;
  if (ferrite_take_1(args, 1, "weight", FERRITE_F32, &cols, &weight)) return -1;
  if (ferrite_take_1(args, 2, "bias", FERRITE_F32, &cols, &bias)) return -1;
  if (ferrite_arg_float(args, 3, &eps) || ferrite_out_like(args, 4, "out", &x, &out)) return -1;
  const int64_t n = cols.value;
#pragma omp parallel for if (rows.value * n > PARALLEL)
  for (int64_t row = 0; row < rows.value; ++row) {
    layernorm_row(f32(&out.tensor) + row * n, f32(&x) + row * n, f32(&weight), f32(&bias), n, (float)eps);
  }
  return ferrite_return_out(result, &out);
}

/* ---- rmsnorm ------------------------------------------------------------------------------ */

VECTOR static void rmsnorm_row(float* out, const float* x, const float* weight, int64_t cols, float eps) {
  float squares = 0;
#pragma omp simd reduction(+ : squares)
  for (int64_t i = 0; i < cols; ++i) squares += x[i] * x[i];
  const float scale = 1 / sqrtf(squares / (float)cols + eps);
  for (int64_t i = 0; i < cols; ++i) out[i] = x[i] * scale * weight[i];
}

FERRITE_EXPORT(rmsnorm, FERRITE_PARAMS_4(FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_FLOAT, FERRITE_OUT), FERRITE_RETURNS_OUT,
               "x: Tensor([rows, cols], float32), weight: Tensor([cols], float32), eps: float, "
               "out: Tensor([rows, cols], float32) = None",
               "Divides each row of x by its root mean square, and multiplies it by weight.") {
  FerriteExtent rows = FERRITE_ANY_EXTENT, cols = FERRITE_ANY_EXTENT;
  FerriteTensorArg x, weight;
  FerriteOut out;
  double eps;
  if (ferrite_take_2(args, 0, "x", FERRITE_F32, &rows, &cols, &x)) return -1;
  if (ferrite_take_1(args, 1, "weight", FERRITE_F32, &cols, &weight)) return -1;
  if (ferrite_arg_float(args, 2, &eps) || ferrite_out_like(args, 3, "out", &x, &out)) return -1;
  const int64_t n = cols.value;
#pragma omp parallel for if (rows.value * n > PARALLEL)
  for (int64_t row = 0; row < rows.value; ++row) {
    rmsnorm_row(f32(&out.tensor) + row * n, f32(&x) + row * n, f32(&weight), n, (float)eps);
  }
  return ferrite_return_out(result, &out);
}
