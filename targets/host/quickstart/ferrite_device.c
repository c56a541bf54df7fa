/* ferrite_device.c: see ferrite_device.h. */
#include "ferrite_device.h"

#include <tvm/ffi/extra/c_env_api.h>

static TVMFFIAny device_value(DLDevice device) {
  TVMFFIAny value = ferrite_none();
  value.type_index = kTVMFFIDevice;
  value.v_device = device;
  return value;
}

static TVMFFIAny pointer_value(void* pointer) {
  TVMFFIAny value = ferrite_none();
  if (pointer != NULL) {
    value.type_index = kTVMFFIOpaquePtr;
    value.v_ptr = pointer;
  }
  return value;
}

DLDevice ferrite_device(DLDeviceType type, int id) {
  DLDevice device;
  device.device_type = type;
  device.device_id = id;
  return device;
}

int ferrite_device_attribute(DLDevice device, int attribute, TVMFFIAny* result) {
  TVMFFIAny args[3];
  args[0] = ferrite_int(device.device_type);
  args[1] = ferrite_int(device.device_id);
  args[2] = ferrite_int(attribute);
  return ferrite_call_global("runtime.GetDeviceAttr", args, 3, result);
}

int ferrite_device_exists(DLDevice device) {
  TVMFFIAny result;
  TVMFFIObjectHandle error = NULL;
  if (ferrite_device_attribute(device, 0, &result) == 0) return result.v_int64 != 0;
  TVMFFIErrorMoveFromRaised(&error);
  ferrite_release_object(error);
  return 0;
}

int ferrite_device_tensor(DLDevice device, DLDataTypeCode code, int bits, int ndim, const int64_t* shape,
                          TVMFFIObjectHandle* out) {
  FerriteTensor prototype;
  ferrite_tensor_init(&prototype, NULL, code, bits, ndim, shape);
  prototype.dl.device = device;
  *out = NULL;
  return TVMFFIEnvTensorAlloc(&prototype.dl, out);
}

static int copy(const char* function, TVMFFIObjectHandle tensor, void* data, size_t bytes) {
  TVMFFIAny args[3], result;
  args[0] = ferrite_object(tensor);
  args[1] = pointer_value(data);
  args[2] = ferrite_int((int64_t)bytes);
  return ferrite_call_global(function, args, 3, &result);
}

int ferrite_device_write(TVMFFIObjectHandle tensor, const void* data, size_t bytes) {
  return copy("runtime.TVMTensorCopyFromBytes", tensor, (void*)data, bytes);
}

int ferrite_device_read(TVMFFIObjectHandle tensor, void* data, size_t bytes) {
  return copy("runtime.TVMTensorCopyToBytes", tensor, data, bytes);
}

int ferrite_device_sync(DLDevice device) {
  TVMFFIAny args[2], result;
  args[0] = device_value(device);
  args[1] = ferrite_int(0);
  return ferrite_call_global("runtime.Device_StreamSync", args, 2, &result);
}
