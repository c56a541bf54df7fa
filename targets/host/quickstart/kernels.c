/*
 * kernels.c: a kernel library in C89, in the form that a compiler generates.
 *
 * The symbol `__tvm_ffi_NAME` is the function NAME of the module that loads this library.
 * Optionally, `__tvm_ffi__metadata_NAME` returns its type as JSON, and `__tvm_ffi__doc_NAME` its
 * description.
 */
#include <string.h>

#include <tvm/ffi/c_api.h>

/* Both vectors of a call, validated. */
typedef struct {
  const DLTensor* x;
  const DLTensor* y;
  int64_t length;
} VectorPair;

static int fail(const char* kind, const char* function, const char* message) {
  const char* parts[3];
  parts[0] = function;
  parts[1] = ": ";
  parts[2] = message;
  TVMFFIErrorSetRaisedFromCStrParts(kind, parts, 3);
  return -1;
}

/* Returns the DLTensor of an argument: a borrowed DLTensor, or a Tensor object, whose DLTensor
 * follows the object header. */
static const DLTensor* tensor_of(const TVMFFIAny* value) {
  if (value->type_index == kTVMFFIDLTensorPtr) return (const DLTensor*)value->v_ptr;
  if (value->type_index == kTVMFFITensor) {
    return (const DLTensor*)((const char*)value->v_obj + sizeof(TVMFFIObject));
  }
  return NULL;
}

static int is_float32(const DLTensor* t) {
  return t->dtype.code == kDLFloat && t->dtype.bits == 32 && t->dtype.lanes == 1;
}

static int is_compact_vector(const DLTensor* t) {
  return t->ndim == 1 && (t->strides == NULL || t->strides[0] == 1 || t->shape[0] <= 1);
}

static int check_vector(const char* function, const DLTensor* t) {
  if (t == NULL) return fail("TypeError", function, "expected a tensor");
  if (t->device.device_type != kDLCPU) return fail("ValueError", function, "expected a tensor on the CPU");
  if (!is_float32(t)) return fail("TypeError", function, "expected elements of type float32");
  if (!is_compact_vector(t)) return fail("ValueError", function, "expected a compact vector");
  return 0;
}

static int take_pair(const char* function, const TVMFFIAny* args, int32_t num_args, VectorPair* pair) {
  if (num_args != 2) return fail("TypeError", function, "expected 2 arguments");
  pair->x = tensor_of(&args[0]);
  pair->y = tensor_of(&args[1]);
  if (check_vector(function, pair->x) != 0 || check_vector(function, pair->y) != 0) return -1;
  pair->length = pair->x->shape[0];
  if (pair->y->shape[0] != pair->length) return fail("ValueError", function, "expected vectors of the same length");
  return 0;
}

static float* elements(const DLTensor* t) { return (float*)((char*)t->data + t->byte_offset); }

static int answer_text(const char* text, TVMFFIAny* result) {
  TVMFFIByteArray bytes;
  bytes.data = text;
  bytes.size = strlen(text);
  return TVMFFIStringFromByteArray(&bytes, result);
}

/* ---- add_one(x, y) ---- */

TVM_FFI_DLL_EXPORT int __tvm_ffi_add_one(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  VectorPair v;
  const float* x;
  float* y;
  int64_t i;
  (void)self;
  (void)result; /* already set to None by the caller */
  if (take_pair("add_one", args, num_args, &v) != 0) return -1;
  x = elements(v.x);
  y = elements(v.y);
  for (i = 0; i < v.length; ++i) y[i] = x[i] + 1.0f;
  return 0;
}

TVM_FFI_DLL_EXPORT int __tvm_ffi__doc_add_one(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self, (void)args, (void)num_args;
  return answer_text("Write x + 1 into y, element by element.", result);
}

TVM_FFI_DLL_EXPORT int __tvm_ffi__metadata_add_one(void* self, const TVMFFIAny* args, int32_t num_args,
                                                   TVMFFIAny* result) {
  (void)self, (void)args, (void)num_args;
  return answer_text(
      "{\"type_schema\":\"{\\\"type\\\":\\\"ffi.Function\\\",\\\"named_args\\\":{\\\"return\\\":[{\\\"type\\\":"
      "\\\"None\\\"}],\\\"params\\\":[{\\\"type\\\":\\\"DLTensor*\\\"},{\\\"type\\\":\\\"DLTensor*\\\"}]}}\"}",
      result);
}

/* ---- dot(x, y) -> float ---- */

TVM_FFI_DLL_EXPORT int __tvm_ffi_dot(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  VectorPair v;
  double sum = 0.0;
  int64_t i;
  (void)self;
  if (take_pair("dot", args, num_args, &v) != 0) return -1;
  for (i = 0; i < v.length; ++i) sum += (double)elements(v.x)[i] * (double)elements(v.y)[i];
  result->type_index = kTVMFFIFloat;
  result->zero_padding = 0;
  result->v_float64 = sum;
  return 0;
}

TVM_FFI_DLL_EXPORT int __tvm_ffi__doc_dot(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self, (void)args, (void)num_args;
  return answer_text("The sum of the products of x and y, summed in double precision.", result);
}

TVM_FFI_DLL_EXPORT int __tvm_ffi__metadata_dot(void* self, const TVMFFIAny* args, int32_t num_args,
                                               TVMFFIAny* result) {
  (void)self, (void)args, (void)num_args;
  return answer_text(
      "{\"type_schema\":\"{\\\"type\\\":\\\"ffi.Function\\\",\\\"named_args\\\":{\\\"return\\\":[{\\\"type\\\":"
      "\\\"float\\\"}],\\\"params\\\":[{\\\"type\\\":\\\"DLTensor*\\\"},{\\\"type\\\":\\\"DLTensor*\\\"}]}}\"}",
      result);
}
