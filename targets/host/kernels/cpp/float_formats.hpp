// The float formats of 16 bits, each a struct of its bits, with conversions from and to float32.
//
// Conversions to a format round to the nearest value, ties to even. A value that is too large
// becomes infinity. They are plain arithmetic without branches, so that compilers turn loops of
// them into vectors.
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

// float16: 5 bits of exponent and 10 of fraction.
struct Half {
  uint16_t bits;
  KERNELS_CONVERT Half of(float value) { return Half{static_cast<uint16_t>(narrow(value))}; }
  inline __attribute__((always_inline)) operator float() const { return widen(bits); }

 private:
  // Bits of fraction that float32 has and float16 lacks, and the patterns of infinity and of the
  // quiet NaN.
  static constexpr int shift = 13;
  static constexpr uint32_t infinity = 0x7c00u, nan = 0x7e00u;
  // The float32 exponents of the smallest normal value, and of the difference between both biases.
  static constexpr uint32_t smallest_normal = 113u << 23, rebias = 112u << 23;

  KERNELS_CONVERT uint32_t narrow(float value) {
    uint32_t bits = bits_of(value);
    uint32_t magnitude = bits & 0x7fffffffu;
    uint32_t odd = (magnitude >> shift) & 1;
    uint32_t normal = (magnitude - rebias + ((1u << (shift - 1)) - 1) + odd) >> shift;
    // The addition of a number whose unit in the last place is the format's smallest value rounds
    // there.
    constexpr uint32_t magic = rebias + (static_cast<uint32_t>(shift + 1) << 23);
    uint32_t subnormal = bits_of(float_of(magnitude) + float_of(magic)) - magic;
    uint32_t rounded = magnitude < smallest_normal ? subnormal : normal;
    rounded = rounded >= infinity || magnitude >= 0x7f800000u ? infinity : rounded;
    // A NaN keeps the upper bits of its payload.
    rounded = magnitude > 0x7f800000u ? nan | ((magnitude >> shift) & 0x7fffu) : rounded;
    return rounded | ((bits >> 31) << 15);
  }

  KERNELS_CONVERT float widen(uint32_t bits) {
    uint32_t magnitude = bits & 0x7fffu;
    uint32_t normal = (magnitude << shift) + rebias;
    uint32_t subnormal = bits_of(float_of(smallest_normal + (magnitude << shift)) - float_of(smallest_normal));
    uint32_t wide = magnitude < 0x400u ? subnormal : normal;
    wide = magnitude >= infinity ? 0x7f800000u | ((magnitude & 0x3ffu) << shift) : wide;
    return float_of(wide | (bits >> 15) << 31);
  }
};

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
