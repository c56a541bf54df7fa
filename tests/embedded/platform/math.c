/* math.c: a model with mathematical functions, and all functions of TVM's code generator, without a
 * C library. */
#include <string.h>

#include "../../programs/aot/softmax_f32/data.h"
#include "check.h"

int32_t __tvm_ffi_softmax_f32(void* self, void* args, int32_t num_args, void* result);

/* All except acosh, whose domain differs. */
#define ONE_ARGUMENT(X)                                                                                            \
  X(acos) X(asin) X(asinh) X(atan) X(atanh) X(ceil) X(cos) X(cosh) X(erf) X(exp) X(exp10) X(exp2) X(fabs) \
  X(floor) X(log) X(log10) X(log1p) X(log2) X(nearbyint) X(rint) X(round) X(sin) X(sinh) X(sqrt) X(tan) X(tanh) X(trunc)
#define TWO_ARGUMENTS(X) X(atan2) X(copysign) X(fmax) X(fmin) X(fmod) X(hypot) X(nextafter) X(pow)

#define DECLARE_ONE(name) \
  double name(double);    \
  float name##f(float);
#define DECLARE_TWO(name)      \
  double name(double, double); \
  float name##f(float, float);
DECLARE_ONE(acosh)
ONE_ARGUMENT(DECLARE_ONE)
TWO_ARGUMENTS(DECLARE_TWO)

static int same(double wide, float narrow) {
  double difference = wide - (double)narrow, size = wide < 0 ? -wide : wide;
  if (difference < 0) difference = -difference;
  return difference <= 1e-6 * (size + 1);
}

/* Checks that the float and double versions of each function agree. */
static void functions_agree(void) {
  volatile double x = 0.625, y = 0.25, above = 1.5;
#define AGREE_ONE(name) CHECK(same(name(x), name##f((float)x)));
#define AGREE_TWO(name) CHECK(same(name(x, y), name##f((float)x, (float)y)));
  ONE_ARGUMENT(AGREE_ONE)
  TWO_ARGUMENTS(AGREE_TWO)
  CHECK(same(acosh(above), acoshf((float)above)));
}

static void values_are_right(void) {
  volatile double one = 1, half = 0.5, two = 2;
  CHECK(same(exp(one), 2.7182818f));
  CHECK(same(exp10(two), 100));
  CHECK(same(acosh(two), 1.3169579f));
  CHECK(same(asinh(one), 0.8813736f));
  CHECK(same(atanh(half), 0.5493061f));
  CHECK(nearbyint(half) == 0 && nearbyint(half + one) == 2);
  CHECK(nextafter(one, two) > one && nextafter(one, two) - one < 1e-15);
  CHECK(same(tanh(half), 0.4621172f));
  CHECK(same(pow(two, half), 1.4142136f));
}

static void bytes_are_moved(void) {
  char text[8] = "abcdefg";
  volatile size_t size = 3;
  memmove(text + 1, text, size);
  CHECK(memcmp(text, "aabcefg", size + 4) == 0);
  memset(text, 'x', size);
  memcpy(text + 4, "yz", size);
  CHECK(strlen(text) == 6 && memcmp(text, "xxxcyz", size + 3) == 0);
}

static void softmax_is_right(void) {
  static float y[40];
  int64_t shape[2] = {4, 10};
  DLTensor in = {(void*)softmax_f32_x, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, NULL, 0};
  DLTensor out = {y, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, NULL, 0};
  TVMFFIAny args[2], result = any_none();
  TVMFFIObjectHandle softmax = NULL;
  int i;
  args[0] = any_tensor(&in);
  args[1] = any_tensor(&out);
  CHECK(set_global_compiled("softmax_f32", __tvm_ffi_softmax_f32) == 0);
  CHECK(get_global("softmax_f32", &softmax) == 0);
  CHECK(TVMFFIFunctionCall(softmax, args, 2, &result) == 0);
  for (i = 0; i < 40; ++i) CHECK(y[i] - softmax_f32_y[i] < 1e-5f && softmax_f32_y[i] - y[i] < 1e-5f);
}

int main(void) {
  static char memory[4096];
  CHECK(FerriteMemoryAdd(memory, sizeof(memory)) == 0);
  functions_agree();
  values_are_right();
  bytes_are_moved();
  softmax_is_right();
  return failures;
}
