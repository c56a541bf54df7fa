/* call.c: the smallest program that uses the library: registers a function, looks it up and calls
 * it. */
#include "board.h"
#include "ffi.h"
#include "print.h"

static int add_one(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self;
  if (num_args != 1 || args[0].type_index != kTVMFFIInt) {
    TVMFFIErrorSetRaisedFromCStr("TypeError", "add_one takes an integer");
    return -1;
  }
  *result = any_int(args[0].v_int64 + 1);
  return 0;
}

int main(void) {
  TVMFFIObjectHandle function;
  TVMFFIAny number = any_int(41), result = any_none();
  if (set_global("add_one", add_one) != 0 || get_global("add_one", &function) != 0) return 1;
  if (TVMFFIFunctionCall(function, &number, 1, &result) != 0) return 1;
  if (TVMFFIObjectDecRef(function) != 0 || result.v_int64 != 42) return 1;
  print_row_start("register, look up, call");
  print_text("ok");
  print_row_end();
  print_stack();
  return 0;
}
