/* First of two units that include each header twice, in different orders. */
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/c_api.h>
#include <dlpack/dlpack.h>
#include <tvm/ffi/c_api.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm_ffi_platform.h>
#include <tvm_ffi_minimal.h>
#include <tvm_ffi_model.h>
#include <ferrite/kernel.h>
#include <ferrite/kernel.h>
#include <tvm_ffi_platform.h>

TVMFFIAny from_unit_b(int number);

int main(void) {
  TVMFFIAny any = from_unit_b(3);
  return any.type_index == kTVMFFIInt && any.v_int64 == 3 ? 0 : 1;
}
