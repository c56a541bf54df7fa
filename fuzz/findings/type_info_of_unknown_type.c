/* Asks for the information of a type index that no type has.
 * upstream: exit 255
 * ours: status 0
 */
#include "finding.h"

int main(void) { return report(TVMFFIGetTypeInfo(100000) != NULL); }
