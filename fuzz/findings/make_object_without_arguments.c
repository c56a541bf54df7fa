/* Creates an object by the names of its fields, without any argument.
 * upstream: signal 11
 * ours: status -1, InternalError
 */
#include "finding.h"

int main(void) {
  call("ffi.MakeObjectFromPackedArgs", 0, NONE, NONE);
  return report(status);
}
