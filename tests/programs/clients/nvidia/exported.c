/* Runs the kernel `add` of a shared object that CUTLASS's DSL exported, on the first NVIDIA GPU: in
 * C, without Python. */
#include <stdio.h>

#include "ferrite_device.h"

enum { LENGTH = 1000 };

int main(int argc, char** argv) {
  static const int64_t shape[1] = {LENGTH};
  static float values[LENGTH];
  DLDevice device = ferrite_device(kDLCUDA, 0);
  TVMFFIObjectHandle module, add, x, y;
  TVMFFIAny args[3], result;
  int i;
  if (argc != 2) return 2;
  for (i = 0; i < LENGTH; ++i) values[i] = (float)i;

  ferrite_check(ferrite_device_tensor(device, kDLFloat, 32, 1, shape, &x), "x");
  ferrite_check(ferrite_device_tensor(device, kDLFloat, 32, 1, shape, &y), "y");
  ferrite_check(ferrite_device_write(x, values, sizeof values), "x");
  ferrite_check(ferrite_module_load(argv[1], &module), argv[1]);
  ferrite_check(ferrite_module_function(module, "add", &add), "add");

  args[0] = ferrite_object(x);
  args[1] = ferrite_object(y);
  args[2].type_index = kTVMFFIFloat;
  args[2].zero_padding = 0;
  args[2].v_float64 = 2.5;
  ferrite_check(ferrite_call(add, args, 3, &result), "add");
  ferrite_check(ferrite_device_read(y, values, sizeof values), "y");
  for (i = 0; i < LENGTH; ++i) {
    if (values[i] != (float)i + 2.5f) return 1;
  }

  args[1] = ferrite_int(3); /* not a tensor: an error, not a crash */
  if (ferrite_call(add, args, 3, &result) == 0) return 1;
  ferrite_print_raised(stdout, "  ");
  ferrite_release_object(add);
  ferrite_release_object(module);
  ferrite_release_object(y);
  ferrite_release_object(x);
  return 0;
}
