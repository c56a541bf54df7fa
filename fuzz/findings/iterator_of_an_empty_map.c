/* Asks the iterator of an empty Dict for its key: upstream reads memory that is not initialised,
 * and retains what it finds. upstream: signal 11
 * ours: status -1, IndexError
 */
#include "finding.h"

int main(void) {
  TVMFFIAny step = value(kTVMFFIInt, 0), key = NONE;
  TVMFFIAny iterator = call("ffi.DictForwardIterFunctor", 1, call("ffi.Dict", 0, NONE, NONE), NONE);
  return report(TVMFFIFunctionCall(iterator.v_obj, &step, 1, &key));
}
