/* Registers a second child of a type that reserved one slot and forbids more.
 * upstream: exit 255
 * ours: status -1, InternalError
 */
#include "finding.h"

static int32_t type(const char *key, int32_t depth, int32_t slots, int32_t parent) {
  TVMFFIByteArray bytes = {key, strlen(key)};
  return TVMFFITypeGetOrAllocIndex(&bytes, -1, depth, slots, 0, parent);
}

int main(void) {
  int32_t parent = type("finding.Parent", 1, 1, kTVMFFIObject);
  type("finding.First", 2, 0, parent);
  return report(type("finding.Second", 2, 0, parent) < 0 ? -1 : 0);
}
