/*
 * Compiled code that calls a function of libm, which neither it nor this program links: the library
 * brings it, as upstream's does by its C++ runtime.
 */
#include "modules.h"

static void test_function_of_libm(void) {
  TVMFFIAny module, function;
  TVMFFIAny arg = any_float(1.0);
  TVMFFIAny result = any_none();
  if (!CHECK_OK(load(required("CHECK_KERNELS"), &module))) {
    return;
  }
  CHECK_OK(module_function(module.v_obj, "exponential", 0, &function));
  release_any(&module);
  CHECK_OK(TVMFFIFunctionCall(function.v_obj, &arg, 1, &result));
  CHECK(result.v_float64 > 2.718281 && result.v_float64 < 2.718282);
  release_any(&function);
}

int main(void) {
  RUN(test_function_of_libm);
  return check_report("math");
}
