/* Reads a library whose import tree has no module.
 * upstream: signal 11
 * ours: status -1, InternalError
 */
#include "finding.h"

int main(void) {
  /* The size in bytes; the end of the imports; no imports. */
  static uint64_t tree[] = {24, 1, 0, 0};
  TVMFFIEnvModRegisterSystemLibSymbol("__tvm_ffi__library_bin", tree);
  call("ffi.SystemLib", 0, NONE, NONE);
  return report(status);
}
