/* element.c: see element.h. */
#include "element.h"

/* A format of numbers with a point, in fewer bits than `float`: a sign, an exponent, a mantissa. */
typedef struct {
  uint8_t code, bits;
  uint8_t mantissa; /* bits of the mantissa */
  uint8_t bias;     /* of the exponent */
  uint8_t specials; /* which bits are not a number: see below */
} Format;

enum {
  NONE,
  LARGEST,         /* all bits but the sign: NaN */
  NEGATIVE_ZERO,   /* the sign alone: NaN */
  LARGEST_EXPONENT /* the largest exponent: infinity if the mantissa is 0, otherwise NaN */
};

static const Format formats[] = {
    {kDLFloat, 16, 10, 15, LARGEST_EXPONENT},
    {kDLBfloat, 16, 7, 127, LARGEST_EXPONENT},
    {kDLFloat8_e3m4, 8, 4, 3, LARGEST_EXPONENT},
    {kDLFloat8_e4m3, 8, 3, 7, LARGEST_EXPONENT},
    {kDLFloat8_e4m3b11fnuz, 8, 3, 11, NEGATIVE_ZERO},
    {kDLFloat8_e4m3fn, 8, 3, 7, LARGEST},
    {kDLFloat8_e4m3fnuz, 8, 3, 8, NEGATIVE_ZERO},
    {kDLFloat8_e5m2, 8, 2, 15, LARGEST_EXPONENT},
    {kDLFloat8_e5m2fnuz, 8, 2, 16, NEGATIVE_ZERO},
    {kDLFloat6_e2m3fn, 6, 3, 1, NONE},
    {kDLFloat6_e3m2fn, 6, 2, 3, NONE},
    {kDLFloat4_e2m1fn, 4, 1, 1, NONE},
};

static double not_a_number(void) {
  union {
    uint64_t bits;
    double value;
  } nan = {UINT64_C(0x7FF8000000000000)};
  return nan.value;
}

/* Returns value * 2^exponent. */
static double scaled(double value, int exponent) {
  for (; exponent > 0; --exponent) value *= 2;
  for (; exponent < 0; ++exponent) value /= 2;
  return value;
}

static double decoded(const Format* format, uint32_t bits) {
  uint32_t sign = UINT32_C(1) << (format->bits - 1), one = UINT32_C(1) << format->mantissa;
  uint32_t most = (sign >> format->mantissa) - 1;
  uint32_t exponent = (bits & (sign - 1)) >> format->mantissa, mantissa = bits & (one - 1);
  double value;
  if (format->specials == LARGEST && (bits & (sign - 1)) == sign - 1) return not_a_number();
  if (format->specials == NEGATIVE_ZERO && bits == sign) return not_a_number();
  if (format->specials == LARGEST_EXPONENT && exponent == most) {
    if (mantissa != 0) return not_a_number();
    value = scaled(1, 1024);
  } else if (exponent == 0) {
    value = scaled(mantissa, 1 - format->bias - format->mantissa);
  } else {
    value = scaled(one + mantissa, (int)exponent - format->bias - format->mantissa);
  }
  return (bits & sign) != 0 ? -value : value;
}

/* Returns the bits of an element, at most 64. */
static uint64_t bits_of(const DLTensor* tensor, int64_t at) {
  const uint8_t* data = (const uint8_t*)tensor->data + tensor->byte_offset;
  uint64_t result = 0;
  int bits = tensor->dtype.bits, done = 0;
  int64_t bit = at * (bits == 1 ? 8 : bits);
  while (done < bits) {
    int offset = (int)((bit + done) % 8);
    result |= (uint64_t)(data[(bit + done) / 8] >> offset) << done;
    done += 8 - offset;
  }
  return bits < 64 ? result & ((UINT64_C(1) << bits) - 1) : result;
}

double element_of(const DLTensor* tensor, int64_t at) {
  union {
    uint64_t bits;
    double number;
  } wide;
  union {
    uint32_t bits;
    float number;
  } narrow;
  DLDataType type = tensor->dtype;
  size_t i;
  if (type.lanes != 1 || type.bits == 0 || type.bits > 64) return not_a_number();
  wide.bits = bits_of(tensor, at);
  narrow.bits = (uint32_t)wide.bits;
  if (type.code == kDLFloat && type.bits == 64) return wide.number;
  if (type.code == kDLFloat && type.bits == 32) return narrow.number;
  if (type.code == kDLUInt || type.code == kDLBool) return (double)wide.bits;
  if (type.code == kDLInt) {
    /* Repeats the sign. */
    uint64_t sign = UINT64_C(1) << (type.bits - 1);
    return (double)(int64_t)((wide.bits ^ sign) - sign);
  }
  if (type.code == kDLFloat8_e8m0fnu && type.bits == 8) {
    return wide.bits == 255 ? not_a_number() : scaled(1, (int)wide.bits - 127);
  }
  for (i = 0; i < sizeof(formats) / sizeof(formats[0]); ++i) {
    if (formats[i].code == type.code && formats[i].bits == type.bits) return decoded(&formats[i], narrow.bits);
  }
  return not_a_number();
}
