/*
 * program.c: a program on the installed library, in C or C++ and linked either way. Parses a data
 * type and prints its bits.
 */
#include <stdio.h>

#include <ferrite/kernel.h>
#include <tvm/ffi/c_api.h>
#include <tvm/runtime/c_backend_api.h>
#include <tvm_ffi_model.h>

int main(void) {
  TVMFFIByteArray text;
  DLDataType dtype;
  TVMFFIVersion version;
  text.data = "bfloat16x4";
  text.size = 10;
  if (TVMFFIDataTypeFromString(&text, &dtype) != 0) return 1;
  TVMFFIGetVersion(&version);
  printf("%d.%d.%d: %d bits\n", (int)version.major, (int)version.minor, (int)version.patch, (int)dtype.bits);
  return dtype.bits == 16 && dtype.lanes == 4 ? 0 : 1;
}
