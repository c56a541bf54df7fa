/* Allocates a tensor with an allocator that returns -7 and raises nothing, while an earlier error
 * was not taken. upstream: status -7, KeyError
 * ours: status -1, InternalError
 */
#include "finding.h"

static int fail(DLTensor *prototype, DLManagedTensorVersioned **out, void *context,
                void (*set_error)(void *, const char *, const char *)) {
  (void)prototype, (void)out, (void)context, (void)set_error;
  return -7;
}

int main(void) {
  int64_t shape = 2;
  DLTensor wanted = {NULL, {kDLCPU, 0}, 1, {kDLInt, 32, 1}, &shape, NULL, 0};
  TVMFFIObjectHandle made = NULL;
  TVMFFIEnvSetDLPackManagedTensorAllocator(fail, 0, NULL);
  TVMFFIErrorSetRaisedFromCStr("KeyError", "of an earlier call");
  return report(TVMFFIEnvTensorAlloc(&wanted, &made));
}
