/* Looks for a device in a List that contains itself.
 * upstream: signal 11
 * ours: status 0
 */
#include "finding.h"

int main(void) {
  TVMFFIAny list = call("ffi.List", 0, NONE, NONE);
  call("ffi.ListAppend", 2, list, list);
  call("ffi.ContainerFindFirstNonCPUDevice", 1, list, NONE);
  return report(status);
}
