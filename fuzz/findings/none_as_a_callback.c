/* Visits a List with None in place of the function for Lists.
 * upstream: signal 11
 * ours: status -1, TypeError
 */
#include "finding.h"

int main(void) {
  TVMFFIAny pair = call("ffi.Array", 2, value(kTVMFFIInt, kTVMFFIList), NONE);
  TVMFFIAny pairs = call("ffi.Array", 1, pair, NONE);
  call("ffi.StructuralVisit", 2, call("ffi.List", 0, NONE, NONE), pairs);
  return report(status);
}
