/* An application of a system that has a kernel: calls a function by name, and says how often the
 * kernel's lock was taken. */
#include <tvm/ffi/c_api.h>

#include "print.h"

extern int lock_depth, locks;

static int add(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self;
  if (num_args != 2) {
    TVMFFIErrorSetRaisedFromCStr("TypeError", "add takes two ints");
    return -1;
  }
  result->type_index = kTVMFFIInt;
  result->v_int64 = args[0].v_int64 + args[1].v_int64;
  return 0;
}

int main(void) {
  static const TVMFFIByteArray name = {"app.add", 7};
  TVMFFIObjectHandle function;
  TVMFFIAny args[2] = {{0}, {0}}, result = {0};
  args[0].type_index = args[1].type_index = kTVMFFIInt;
  args[0].v_int64 = 3;
  args[1].v_int64 = 4;
  if (TVMFFIFunctionCreate(NULL, add, NULL, &function) != 0 || TVMFFIFunctionSetGlobal(&name, function, 0) != 0) return 1;
  if (TVMFFIFunctionGetGlobal(&name, &function) != 0 || TVMFFIFunctionCall(function, args, 2, &result) != 0) return 1;
  print_text("3 + 4 = ");
  print_number((uint32_t)result.v_int64);
  print_text(lock_depth != 0 ? ", locked\n" : locks > 0 ? ", with the kernel's lock\n" : ", without the kernel's lock\n");
  return 0;
}
