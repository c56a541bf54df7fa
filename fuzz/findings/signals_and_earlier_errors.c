/* Checks for signals, while an earlier error was not taken: the handler raises an error, or leaves
 * it to the interpreter. upstream: status -1, RuntimeError
 * upstream: status -1, KeyError
 * ours: status -1, RuntimeError
 * ours: status -1, EnvErrorAlreadySet
 */
#include "finding.h"

static int raises(void) { return TVMFFIErrorSetRaisedFromCStr("RuntimeError", "interrupted"), -1; }
static int leaves_it(void) { return -1; }
static void *ensure(void) { return NULL; }
static void release(void *state) { (void)state; }

static void check(int (*handler)(void)) {
  TVMFFIEnvRegisterCAPI("PyErr_CheckSignals", (void *)handler);
  TVMFFIErrorSetRaisedFromCStr("KeyError", "of an earlier call");
  report(TVMFFIEnvCheckSignals());
}

int main(void) {
  TVMFFIEnvRegisterCAPI("PyGILState_Ensure", (void *)ensure);
  TVMFFIEnvRegisterCAPI("PyGILState_Release", (void *)release);
  check(raises);
  check(leaves_it);
  return 0;
}
