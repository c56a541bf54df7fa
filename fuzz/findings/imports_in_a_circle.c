/* Reads a library whose only module imports itself.
 * upstream: status 0
 * ours: status -1, RuntimeError
 */
#include "finding.h"

int main(void) {
  /* The size in bytes; first import of each module and the end; imports; size and text of the
   * kind. */
  static uint64_t tree[] = {52, 2, 0, 1, 1, 0, 4, 0x62696c5f};
  TVMFFIEnvModRegisterSystemLibSymbol("__tvm_ffi__library_bin", tree);
  call("ffi.SystemLib", 0, NONE, NONE);
  return report(status);
}
