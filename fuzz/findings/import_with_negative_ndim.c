/* Imports a tensor whose number of dimensions is negative.
 * upstream: signal 6
 * ours: status -1, ValueError
 */
#include "finding.h"

int main(void) {
  static int64_t shape[1] = {1};
  static float data;
  static DLManagedTensor managed;
  TVMFFIObjectHandle out = NULL;
  managed.dl_tensor.data = &data;
  managed.dl_tensor.ndim = -8;
  managed.dl_tensor.shape = shape;
  managed.dl_tensor.device.device_type = kDLCPU;
  managed.dl_tensor.dtype.bits = 32, managed.dl_tensor.dtype.lanes = 1, managed.dl_tensor.dtype.code = kDLFloat;
  return report(TVMFFITensorFromDLPack(&managed, 0, 0, &out));
}
