/* Functions that return their argument, and tensors of every layout: views with strides, an offset,
 * or on a device. */
#include <ferrite/kernel.h>

#define PACKED(symbol)                                                                                             \
  TVM_FFI_DLL_EXPORT int symbol(void *self, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result);           \
  TVM_FFI_DLL_EXPORT int symbol(void *self, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result)

/* Returns its argument. */
PACKED(__tvm_ffi_echo) {
  (void)self;
  if (num_args != 1) return ferrite_fail("TypeError", "echo: expected one argument");
  if (args[0].type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectIncRef(args[0].v_obj);
  *result = args[0];
  return 0;
}

/* A tensor in static memory, which nobody releases. */
static int view(void *data, DLDataType dtype, DLDeviceType device, uint64_t offset, int64_t *shape, int64_t *strides,
                TVMFFIAny *result) {
  static DLManagedTensor managed;
  TVMFFIObjectHandle tensor;
  managed.dl_tensor.data = data;
  managed.dl_tensor.device.device_type = device;
  managed.dl_tensor.device.device_id = 0;
  managed.dl_tensor.ndim = 2;
  managed.dl_tensor.dtype = dtype;
  managed.dl_tensor.shape = shape;
  managed.dl_tensor.strides = strides;
  managed.dl_tensor.byte_offset = offset;
  if (TVMFFITensorFromDLPack(&managed, 0, 0, &tensor) != 0) return -1;
  result->type_index = kTVMFFITensor;
  result->v_obj = tensor;
  return 0;
}

static int16_t numbers[] = {0, 1, 2, 3, 4, 5, 6, 7};
static const DLDataType int16 = {kDLInt, 16, 1};

/* The transpose of rows of three. */
PACKED(__tvm_ffi_transposed) {
  static int64_t shape[] = {3, 2}, strides[] = {1, 3};
  (void)self, (void)args, (void)num_args;
  return view(numbers, int16, kDLCPU, 0, shape, strides, result);
}

/* Rows of two, of which the first begins four bytes behind the data. */
PACKED(__tvm_ffi_behind) {
  static int64_t shape[] = {3, 2}, strides[] = {2, 1};
  (void)self, (void)args, (void)num_args;
  return view(numbers, int16, kDLCPU, 4, shape, strides, result);
}

/* Numbers from the last to the first. */
PACKED(__tvm_ffi_reversed) {
  static int64_t shape[] = {2, 2}, strides[] = {-2, -1};
  (void)self, (void)args, (void)num_args;
  return view(numbers, int16, kDLCPU, 2 * 7, shape, strides, result);
}

/* Every third number of 4 bits, which begins within a byte. */
PACKED(__tvm_ffi_thirds) {
  static uint8_t nibbles[] = {0x10, 0x32, 0x54, 0x76};
  static int64_t shape[] = {1, 3}, strides[] = {8, 3};
  static const DLDataType uint4 = {kDLUInt, 4, 1};
  (void)self, (void)args, (void)num_args;
  return view(nibbles, uint4, kDLCPU, 0, shape, strides, result);
}

/* A tensor whose data no processor can read. */
PACKED(__tvm_ffi_elsewhere) {
  static int64_t shape[] = {2, 2}, strides[] = {2, 1};
  (void)self, (void)args, (void)num_args;
  return view((void *)16, int16, kDLCUDA, 0, shape, strides, result);
}

/* An Array of its argument and a number. */
PACKED(__tvm_ffi_listed) {
  TVMFFIByteArray name = {"ffi.Array", 9};
  TVMFFIObjectHandle make;
  TVMFFIAny items[2];
  int status;
  (void)self;
  if (num_args != 1) return ferrite_fail("TypeError", "listed: expected one argument");
  if (TVMFFIFunctionGetGlobal(&name, &make) != 0) return -1;
  items[0] = args[0];
  memset(&items[1], 0, sizeof(items[1]));
  items[1].type_index = kTVMFFIInt;
  items[1].v_int64 = 5;
  status = TVMFFIFunctionCall(make, items, 2, result);
  TVMFFIObjectDecRef(make);
  return status;
}
