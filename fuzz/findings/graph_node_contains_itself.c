/* Reads a graph of objects whose only node, a List, contains itself.
 * upstream: signal 11
 * ours: status -1, ValueError
 */
#include "finding.h"

int main(void) {
  const char *graph = "{\"root_index\":0,\"nodes\":[{\"type\":\"ffi.List\",\"data\":[0]}]}";
  call("ffi.FromJSONGraphString", 1, value(kTVMFFIRawStr, (int64_t)graph), NONE);
  return report(status);
}
