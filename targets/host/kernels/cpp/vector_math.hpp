// The exponential function as arithmetic without branches, which compilers turn into vectors.
#ifndef FERRITE_VECTOR_MATH_HPP_
#define FERRITE_VECTOR_MATH_HPP_

#include "float_formats.hpp"

namespace kernels {

// Returns exp(x) with an error of at most 2 units in the last place. Results below 2^-126 are 0 and above the largest float
// infinite; exp(NaN) is NaN.
//
// x = n * log(2) + r with |r| <= log(2) / 2; a polynomial of degree 6 gives exp(r), and 2^n goes into the exponent in two
// halves.
static inline __attribute__((always_inline)) float exp_approx(float x) {
  float clamped = x < -104.0f ? -104.0f : x;
  clamped = clamped > 89.0f ? 89.0f : clamped;
  // The addition of 1.5 * 2^23 rounds to an integer, which is then in the low bits.
  float shifted = clamped * 1.44269504f + 12582912.0f;
  int32_t n = static_cast<int32_t>(bits_of(shifted) - bits_of(12582912.0f));
  float whole = static_cast<float>(n);
  float r = clamped - whole * 0.693145752f;  // log(2) in two parts: the first has few bits, so that the product is exact
  r = r - whole * 1.42860677e-6f;
  float y = 1.3981999507e-3f;
  y = y * r + 8.3334519073e-3f;
  y = y * r + 4.1665795894e-2f;
  y = y * r + 1.6666665459e-1f;
  y = y * r + 0.5f;
  y = y * r * r + r + 1.0f;
  int32_t half = n >> 1;
  return y * float_of(static_cast<uint32_t>(half + 127) << 23) * float_of(static_cast<uint32_t>(n - half + 127) << 23);
}

}  // namespace kernels

#endif  // FERRITE_VECTOR_MATH_HPP_
