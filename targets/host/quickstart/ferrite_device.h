/*
 * ferrite_device.h: tensors on devices, for C programs over a libtvm_ffi that was built with a kind of device.
 *
 * Copy this pair of files into a project, beside ferrite_util. The functions behind it are global ones, `runtime.*`, so that
 * the library needs no further symbols; ferrite_device.c shows how they are called.
 *
 * Functions return 0 on success; otherwise an error is raised on this thread, a missing driver among them.
 */
#ifndef FERRITE_DEVICE_H_
#define FERRITE_DEVICE_H_

#include "ferrite_util.h"

/* The first device is number 0. Making one of these opens no driver. */
DLDevice ferrite_device(DLDeviceType type, int id);
/* 1 if the device can be used, else 0. Its name tells why not: asking for it is an error then. */
int ferrite_device_exists(DLDevice device);

/* What a device tells of itself; None where it cannot. The numbers are TVM's, and there are more. */
enum {
  FERRITE_DEVICE_MAX_BLOCK = 1,
  FERRITE_DEVICE_NAME = 5,
  FERRITE_DEVICE_GCN_ARCH = 10,
  FERRITE_DEVICE_API_VERSION = 11,
  FERRITE_DEVICE_DRIVER_VERSION = 12,
  FERRITE_DEVICE_MEMORY = 14
};
int ferrite_device_attribute(DLDevice device, int attribute, TVMFFIAny* result);

/* Makes a compact tensor on the device, with any content. `*out` is a new reference: the memory is freed with the last one. */
int ferrite_device_tensor(DLDevice device, DLDataTypeCode code, int bits, int ndim, const int64_t* shape,
                          TVMFFIObjectHandle* out);
/* Copy `bytes` bytes, all of the tensor, after everything that was queued on the device; the copy is over on return. */
int ferrite_device_write(TVMFFIObjectHandle tensor, const void* data, size_t bytes);
int ferrite_device_read(TVMFFIObjectHandle tensor, void* data, size_t bytes);
/* Waits until everything that was queued on the default stream of the device is done. Calls of kernels only queue. */
int ferrite_device_sync(DLDevice device);

#endif /* FERRITE_DEVICE_H_ */
