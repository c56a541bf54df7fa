/* Creates an object of a type index that no type has.
 * upstream: exit 255
 * ours: status -1, InternalError
 */
#include "finding.h"

int main(void) {
  call("ffi.MakeObjectFromPackedArgs", 1, value(kTVMFFIInt, 262147), NONE);
  return report(status);
}
