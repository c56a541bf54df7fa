/* Checks for signals with a function for signals, but none for the interpreter's lock.
 * upstream: signal 6
 * ours: status -1, InternalError
 */
#include "finding.h"

static int quiet(void) { return 0; }

int main(void) {
  TVMFFIEnvRegisterCAPI("PyErr_CheckSignals", (void *)quiet);
  return report(TVMFFIEnvCheckSignals());
}
