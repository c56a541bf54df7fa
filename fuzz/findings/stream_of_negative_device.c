/* Sets the stream of a device whose number is negative.
 * upstream: signal 11
 * ours: status -1, ValueError
 */
#include "finding.h"

int main(void) { return report(TVMFFIEnvSetStream(kDLCUDA, -1, NULL, NULL)); }
