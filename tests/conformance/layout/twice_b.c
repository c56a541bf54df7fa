/* Second of two units that include each header twice, in different orders. */
#include <dlpack/dlpack.h>
#include <tvm/ffi/c_api.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <dlpack/dlpack.h>

TVMFFIAny from_unit_b(int number);

TVMFFIAny from_unit_b(int number) {
  TVMFFIAny any;
  any.type_index = kTVMFFIInt;
  any.zero_padding = 0;
  any.v_int64 = number;
  return any;
}
