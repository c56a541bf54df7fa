/*
 * vector_math.h: elementary functions of float32 that compilers turn into vector code: no branches,
 * no calls, no tables.
 *
 * Copyright the Ferrite developers. SPDX-License-Identifier: Apache-2.0
 */
#ifndef FERRITE_KERNELS_VECTOR_MATH_H_
#define FERRITE_KERNELS_VECTOR_MATH_H_

#include <math.h>
#include <stdint.h>

/* The type of a float's bits; a union reads them. */
typedef union {
  float value;
  int32_t bits;
} FloatBits;

/*
 * Returns e^x, with a relative error below 2e-7; 0 below -86.9, where e^x is 2e-38, and infinity
 * above 88.7.
 *
 * x = n ln 2 + r with |r| <= ln 2 / 2, and 2^n is built from its bits. Adding 1.5 * 2^23 rounds x /
 * ln 2 to n, which is then in the low bits of the sum. The polynomial is the best relative one of
 * degree 6 at Chebyshev's nodes; ln 2 has two parts, to keep r exact.
 */
static inline float vector_exp(float x) {
  const float low = -86.9f, high = 88.7f;
  const float bounded = x < low ? low : x > high ? high : x;
  FloatBits sum = {.value = bounded * 1.44269504f + 12582912.0f};
  const float n = sum.value - 12582912.0f;
  const float r = (bounded - n * 0.693145752f) - n * 1.42860677e-6f;
  const float p =
      1 + r * (1.00000004f + r * (0.499999915f + r * (0.166664208f + r * (0.041668358f + r * (0.00837477152f + r * 0.00138294205f)))));
  const FloatBits half_power = {.bits = (int32_t)((uint32_t)sum.bits << 23) + (126 << 23)};
  const float result = 2 * (p * half_power.value);
  return x < low ? 0 : x > high ? INFINITY : result;
}

/* Returns 1 / (1 + e^-x). */
static inline float vector_sigmoid(float x) { return 1 / (1 + vector_exp(-x)); }

/*
 * Returns 1 - erf(z) for z >= 0, with a relative error below 1e-6 up to z = 3 and 1e-5 up to z = 9,
 * where it leaves float32.
 *
 * With t = 1 / (1 + z / 2), ln(erfc(z) / t) + z^2 is smooth in t: a polynomial of degree 8 at
 * Chebyshev's nodes of z from 0 to 10.
 */
static inline float vector_erfc(float z) {
  const float t = 1 / (1 + 0.5f * z);
  const float high = -1.79754856f + t * (1.48908688f + t * (-0.562047996f + t * 0.0800564442f));
  const float p = -1.26518567f + t * (0.992849649f + t * (0.440265723f + t * (-0.240359338f + t * (0.8628827f + t * high))));
  return t * vector_exp(p - z * z);
}

/* Returns the maximum of two numbers; `a` if `b` is not a number. */
static inline float vector_max(float a, float b) { return b > a ? b : a; }
static inline float vector_min(float a, float b) { return b < a ? b : a; }

#endif /* FERRITE_KERNELS_VECTOR_MATH_H_ */
