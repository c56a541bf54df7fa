/*
 * ferrite_device.h: tensors on devices, for C programs with a libtvm_ffi that was built with a
 * device feature.
 *
 * Copy this pair of files into your project, beside ferrite_util. They call global functions,
 * `runtime.*`, so the library needs no further symbols; ferrite_device.c shows the calls.
 *
 * Functions return 0 on success; otherwise an error is raised on this thread, also for a missing
 * driver.
 */
#ifndef FERRITE_DEVICE_H_
#define FERRITE_DEVICE_H_

#include "ferrite_util.h"

/* Returns a device; the first has number 0. Opens no driver. */
DLDevice ferrite_device(DLDeviceType type, int id);
/* Returns 1 if the device can be used, else 0. To learn why it cannot, ask for its name: that
 * raises an error. */
int ferrite_device_exists(DLDevice device);

/* Attributes of a device; None if unknown. The numbers are TVM's, which has more. */
enum {
  FERRITE_DEVICE_MAX_BLOCK = 1,
  FERRITE_DEVICE_NAME = 5,
  FERRITE_DEVICE_GCN_ARCH = 10,
  FERRITE_DEVICE_API_VERSION = 11,
  FERRITE_DEVICE_DRIVER_VERSION = 12,
  FERRITE_DEVICE_MEMORY = 14
};
int ferrite_device_attribute(DLDevice device, int attribute, TVMFFIAny* result);

/* Creates a compact, uninitialised tensor on the device. `*out` is a new reference: the memory is
 * freed with the last one. */
int ferrite_device_tensor(DLDevice device, DLDataTypeCode code, int bits, int ndim, const int64_t* shape,
                          TVMFFIObjectHandle* out);
/* Copy `bytes` bytes, the whole tensor, after all commands queued on the device. The copy is
 * complete on return. */
int ferrite_device_write(TVMFFIObjectHandle tensor, const void* data, size_t bytes);
int ferrite_device_read(TVMFFIObjectHandle tensor, void* data, size_t bytes);
/* Waits until all commands queued on the device's default stream are complete. Kernel calls only
 * queue commands. */
int ferrite_device_sync(DLDevice device);

#endif /* FERRITE_DEVICE_H_ */
