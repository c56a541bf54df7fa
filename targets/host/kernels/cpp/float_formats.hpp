// The float formats of 16 and 8 bits, each a struct of its bits, with conversions from and to float32.
//
// Conversions to a format round to the nearest value, ties to even. A value that is too large becomes infinity, or NaN in
// float8_e4m3fn, which has no infinity. They are plain arithmetic without branches, so that compilers turn loops of them into
// vectors.
#ifndef FERRITE_FLOAT_FORMATS_HPP_
#define FERRITE_FLOAT_FORMATS_HPP_

#include <stdint.h>
#include <string.h>

namespace kernels {

#define KERNELS_CONVERT static inline __attribute__((always_inline))

KERNELS_CONVERT uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

KERNELS_CONVERT float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

// Converts between float32 and a format with `exponent` bits of exponent and `mantissa` bits of fraction. With `infinite`, the
// largest exponent is for infinity and NaN; without, only the pattern of ones is NaN.
template <int exponent, int mantissa, bool infinite> struct Format {
  static constexpr int shift = 23 - mantissa;
  static constexpr int bias = (1 << (exponent - 1)) - 1;
  static constexpr uint32_t magnitude_mask = (1u << (exponent + mantissa)) - 1;
  static constexpr uint32_t infinity = ((1u << exponent) - 1) << mantissa;
  // What a value that is too large becomes, and the quiet NaN.
  static constexpr uint32_t overflow = infinite ? infinity : magnitude_mask;
  static constexpr uint32_t nan = infinite ? infinity | (1u << (mantissa - 1)) : magnitude_mask;
  // The largest finite magnitude, and the float32 exponents of the smallest normal value and of 1.
  static constexpr uint32_t largest = infinite ? infinity - 1 : magnitude_mask - 1;
  static constexpr uint32_t smallest_normal = static_cast<uint32_t>(128 - bias) << 23;
  static constexpr uint32_t rebias = static_cast<uint32_t>(127 - bias) << 23;

  KERNELS_CONVERT uint32_t narrow(float value) {
    uint32_t bits = bits_of(value);
    uint32_t magnitude = bits & 0x7fffffffu;
    uint32_t odd = (magnitude >> shift) & 1;
    uint32_t normal = (magnitude - rebias + ((1u << (shift - 1)) - 1) + odd) >> shift;
    // The addition of a number whose unit in the last place is the format's smallest value rounds there.
    constexpr uint32_t magic = rebias + (static_cast<uint32_t>(shift + 1) << 23);
    uint32_t subnormal = bits_of(float_of(magnitude) + float_of(magic)) - magic;
    uint32_t rounded = magnitude < smallest_normal ? subnormal : normal;
    rounded = rounded > largest || magnitude >= 0x7f800000u ? overflow : rounded;
    rounded = magnitude > 0x7f800000u ? nan_of(magnitude) : rounded;
    return rounded | ((bits >> 31) << (exponent + mantissa));
  }

  KERNELS_CONVERT float widen(uint32_t bits) {
    uint32_t magnitude = bits & magnitude_mask;
    uint32_t sign = (bits >> (exponent + mantissa)) << 31;
    uint32_t normal = (magnitude << shift) + rebias;
    uint32_t subnormal = bits_of(float_of(smallest_normal + (magnitude << shift)) - float_of(smallest_normal));
    uint32_t wide = magnitude < (1u << mantissa) ? subnormal : normal;
    uint32_t special = infinite ? 0x7f800000u | ((magnitude & ((1u << mantissa) - 1)) << shift) : 0x7fc00000u;
    wide = magnitude >= (infinite ? infinity : magnitude_mask) ? special : wide;
    return float_of(wide | sign);
  }

 private:
  // float16 keeps the upper bits of a NaN's payload, formats of 8 bits have no space for it.
  KERNELS_CONVERT uint32_t nan_of(uint32_t magnitude) {
    return mantissa < 10 ? nan : nan | ((magnitude >> shift) & magnitude_mask);
  }
};

template <int exponent, int mantissa, bool infinite, class Storage> struct SmallFloat {
  using format = Format<exponent, mantissa, infinite>;
  Storage bits;
  KERNELS_CONVERT SmallFloat of(float value) { return SmallFloat{static_cast<Storage>(format::narrow(value))}; }
  inline __attribute__((always_inline)) operator float() const { return format::widen(bits); }
};

using Half = SmallFloat<5, 10, true, uint16_t>;
using Float8E4M3 = SmallFloat<4, 3, false, uint8_t>;
using Float8E5M2 = SmallFloat<5, 2, true, uint8_t>;

// bfloat16: the upper half of a float32.
struct BFloat16 {
  uint16_t bits;
  KERNELS_CONVERT BFloat16 of(float value) {
    uint32_t wide = bits_of(value);
    uint32_t rounded = (wide + 0x7fffu + ((wide >> 16) & 1)) >> 16;
    uint32_t nan = ((wide >> 16) & 0x8000u) | 0x7fc0u;
    return BFloat16{static_cast<uint16_t>((wide & 0x7fffffffu) > 0x7f800000u ? nan : rounded)};
  }
  inline __attribute__((always_inline)) operator float() const { return float_of(static_cast<uint32_t>(bits) << 16); }
};

// Converts a float32 to a type of elements.
template <class T> KERNELS_CONVERT T narrow(float value) { return T::of(value); }
template <> inline __attribute__((always_inline)) float narrow<float>(float value) { return value; }

}  // namespace kernels

#endif  // FERRITE_FLOAT_FORMATS_HPP_
