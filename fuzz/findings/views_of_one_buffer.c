/* Compares two views of one buffer, and one with its own copy: is each pair equal?
 * upstream: views 1, view and copy 0
 * ours: views 0, view and copy 1
 */
#include "finding.h"

static void delete(DLManagedTensorVersioned *self) { (void)self; }

static TVMFFIAny tensor(DLManagedTensorVersioned *managed, void *data, uint64_t byte_offset) {
  static int64_t shape = 2, stride = 1;
  TVMFFIObjectHandle made = NULL;
  *managed = (DLManagedTensorVersioned){
      .version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION},
      .deleter = delete,
      .dl_tensor = {data, {kDLCPU, 0}, 1, {kDLInt, 32, 1}, &shape, &stride, byte_offset},
  };
  TVMFFITensorFromDLPackVersioned(managed, 4, 1, &made);
  return value(kTVMFFITensor, (int64_t)made);
}

static int are_equal(TVMFFIAny a, TVMFFIAny b) {
  TVMFFIByteArray name = {"ffi.StructuralEqual", 19};
  TVMFFIAny args[4] = {a, b, value(kTVMFFIBool, 0), value(kTVMFFIBool, 0)}, result = NONE;
  TVMFFIObjectHandle function = NULL;
  TVMFFIFunctionGetGlobal(&name, &function);
  TVMFFIFunctionCall(function, args, 4, &result);
  return (int)result.v_int64;
}

int main(void) {
  int32_t buffer[4] = {1, 2, 3, 4}, elements[2] = {3, 4};
  DLManagedTensorVersioned records[3];
  TVMFFIAny first = tensor(&records[0], buffer, 0), second = tensor(&records[1], buffer, 8);
  printf("views %d, ", are_equal(first, second));
  printf("view and copy %d\n", are_equal(second, tensor(&records[2], elements, 0)));
  return 0;
}
