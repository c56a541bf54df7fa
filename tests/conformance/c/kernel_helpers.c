/* The helpers of ferrite/kernel.h, by kernels that use them: values, one message for each check, and the quick start's library. */
#include "check.h"

#include "../../../targets/host/quickstart/scale.c"

#define SIGNATURE "checked(a, b, x, y)"
#define WHEN(index) " on argument #" index " when calling:\n  `" SIGNATURE "`,\n  expected "

static FerriteArgs args_of(TVMFFIAny* values, int32_t count) {
  FerriteArgs args;
  args.signature = SIGNATURE;
  args.values = values;
  args.count = count;
  return args;
}

/* ---- a tensor whose parts the tests change ----------------------------------------------- */

typedef struct {
  DLTensor dl;
  int64_t shape[2];
  int64_t strides[2];
  float data[6];
} matrix;

static void matrix_init(matrix* m) {
  int i;
  memset(m, 0, sizeof(*m));
  m->dl.data = m->data;
  m->dl.device.device_type = kDLCPU;
  m->dl.ndim = 2;
  m->dl.dtype.code = kDLFloat;
  m->dl.dtype.bits = 32;
  m->dl.dtype.lanes = 1;
  m->shape[0] = 2;
  m->shape[1] = 3;
  m->strides[0] = 3;
  m->strides[1] = 1;
  m->dl.shape = m->shape;
  m->dl.strides = m->strides;
  for (i = 0; i < 6; i++) m->data[i] = (float)i;
}

static TVMFFIAny any_tensor(matrix* m) {
  TVMFFIAny any = any_none();
  any.type_index = kTVMFFIDLTensorPtr;
  any.v_ptr = &m->dl;
  return any;
}

/* ---- arguments --------------------------------------------------------------------------- */

static void test_count(void) {
  TVMFFIAny values[2];
  FerriteArgs args = args_of(values, 2);
  CHECK_OK(ferrite_check_count(&args, 2));
  CHECK_ERROR_TEXT(ferrite_check_count(&args, 12), "TypeError", "Expected 12 arguments when calling:\n  `" SIGNATURE "`, got 2");
  args.values = NULL;
  CHECK_ERROR_TEXT(ferrite_check_count(&args, 2), "TypeError", "args pointer is NULL when calling:\n  `" SIGNATURE "`");
  args.count = 0;
  CHECK_OK(ferrite_check_count(&args, 0));
}

static void test_numbers(void) {
  TVMFFIAny values[4];
  FerriteArgs args = args_of(values, 4);
  int64_t integer = 0;
  double number = 0;
  int flag = -1;
  values[0] = any_int(-7);
  values[1] = any_bool(1);
  values[2] = any_float(0.5);
  values[3] = any_none();
  CHECK_OK(ferrite_arg_int(&args, 0, &integer));
  CHECK(integer == -7);
  CHECK_OK(ferrite_arg_int(&args, 1, &integer));
  CHECK(integer == 1);
  CHECK_ERROR_TEXT(ferrite_arg_int(&args, 2, &integer), "TypeError", "Mismatched type" WHEN("2") "int, got float");
  CHECK(integer == 1);
  CHECK_OK(ferrite_arg_float(&args, 0, &number));
  CHECK(number == -7.0);
  CHECK_OK(ferrite_arg_float(&args, 1, &number));
  CHECK(number == 1.0);
  CHECK_OK(ferrite_arg_float(&args, 2, &number));
  CHECK(number == 0.5);
  CHECK_ERROR_TEXT(ferrite_arg_float(&args, 3, &number), "TypeError", "Mismatched type" WHEN("3") "float, got None");
  CHECK_OK(ferrite_arg_bool(&args, 0, &flag));
  CHECK_INT(flag, 1);
  values[0] = any_int(0);
  CHECK_OK(ferrite_arg_bool(&args, 0, &flag));
  CHECK_INT(flag, 0);
  CHECK_ERROR_TEXT(ferrite_arg_bool(&args, 2, &flag), "TypeError", "Mismatched type" WHEN("2") "boolean, got float");
  CHECK_INT(ferrite_arg_is_none(&args, 3), 1);
  CHECK_INT(ferrite_arg_is_none(&args, 0), 0);
}

static void test_strings_and_objects(void) {
  TVMFFIAny values[4];
  FerriteArgs args = args_of(values, 4);
  TVMFFIByteArray small = bytes_of("small"), large = bytes_of("a string that is not small"), text;
  TVMFFIObjectHandle function = global_function("ffi.String"), found = NULL;
  CHECK_OK(TVMFFIStringFromByteArray(&small, &values[0]));
  CHECK_OK(TVMFFIStringFromByteArray(&large, &values[1]));
  values[2] = any_text("raw");
  values[3] = any_object(function);
  CHECK_OK(ferrite_arg_str(&args, 0, &text));
  CHECK(bytes_equal(&text, "small"));
  CHECK_OK(ferrite_arg_str(&args, 1, &text));
  CHECK(bytes_equal(&text, "a string that is not small"));
  CHECK_OK(ferrite_arg_str(&args, 2, &text));
  CHECK(bytes_equal(&text, "raw"));
  CHECK_ERROR_TEXT(ferrite_arg_str(&args, 3, &text), "TypeError", "Mismatched type" WHEN("3") "ffi.String, got ffi.Function");
  CHECK_OK(ferrite_arg_object(&args, 3, kTVMFFIFunction, "ffi.Function", &found));
  CHECK(found == function);
  CHECK_ERROR_TEXT(ferrite_arg_object(&args, 1, kTVMFFIFunction, "ffi.Function", &found), "TypeError",
                   "Mismatched type" WHEN("1") "ffi.Function, got ffi.String");
  release_any(&values[1]);
  TVMFFIObjectDecRef(function);
}

/* ---- checks ------------------------------------------------------------------------------ */

static void test_tensors(void) {
  TVMFFIAny values[4];
  FerriteArgs args = args_of(values, 4);
  FerriteTensorArg x, y;
  matrix a, b;
  matrix_init(&a);
  matrix_init(&b);
  values[0] = any_none();
  values[1] = any_pointer(&a);
  values[2] = any_tensor(&a);
  values[3] = any_tensor(&b);
  CHECK_ERROR_TEXT(ferrite_arg_tensor(&args, 0, "x", &x), "TypeError", "Mismatched type" WHEN("0") "Tensor, got None");
  CHECK_ERROR_TEXT(ferrite_arg_tensor(&args, 1, "x", &x), "TypeError", "Mismatched type" WHEN("1") "Tensor, got void*");
  CHECK_OK(ferrite_arg_tensor(&args, 2, "x", &x));
  CHECK_OK(ferrite_arg_tensor(&args, 3, "y", &y));

  CHECK_OK(ferrite_check_ndim(&x, 2));
  CHECK_ERROR_TEXT(ferrite_check_ndim(&x, 3), "ValueError", "Mismatched x.ndim" WHEN("2") "3, got 2");
  CHECK_OK(ferrite_check_dtype(&x, kDLFloat, 32, 1));
  CHECK_ERROR_TEXT(ferrite_check_dtype(&x, kDLInt, 32, 1), "TypeError", "Mismatched x.dtype" WHEN("2") "int32, got float32");
  CHECK_ERROR_TEXT(ferrite_check_dtype(&x, kDLFloat, 16, 1), "TypeError", "Mismatched x.dtype" WHEN("2") "float16, got float32");
  CHECK_ERROR_TEXT(ferrite_check_dtype(&x, kDLFloat, 32, 4), "TypeError", "Mismatched x.dtype" WHEN("2") "float32x4");
  CHECK_OK(ferrite_check_device(&x, kDLCPU));
  CHECK_ERROR_TEXT(ferrite_check_device(&y, kDLCUDA), "ValueError", "Mismatched y.device_type" WHEN("3") "cuda, got cpu");
  CHECK_OK(ferrite_check_same_device(&x, &y));
  b.dl.device.device_id = 1;
  CHECK_ERROR_TEXT(ferrite_check_same_device(&y, &x), "ValueError",
                "Mismatched y.device_id on argument #3 when calling:\n  `" SIGNATURE "`,\n  expected to match x.device_id = 0, got 1");
  CHECK_OK(ferrite_check_shape(&x, 1, 3));
  CHECK_ERROR_TEXT(ferrite_check_shape(&x, 1, -9223372036854775807), "ValueError",
                "Invalid x.shape[1]" WHEN("2") "-9223372036854775807, got 3");
  CHECK_OK(ferrite_check_same_extent(&x, 0, &y, 0));
  CHECK_ERROR_TEXT(ferrite_check_same_extent(&y, 0, &x, 1), "ValueError",
                "Mismatched y.shape[0] on argument #3 when calling:\n  `" SIGNATURE "`,\n  expected to match x.shape[1] = 3, got 2");
}

static void test_memory(void) {
  TVMFFIAny values[1];
  FerriteArgs args = args_of(values, 1);
  FerriteTensorArg x;
  matrix a;
  matrix_init(&a);
  values[0] = any_tensor(&a);
  CHECK_OK(ferrite_arg_tensor(&args, 0, "x", &x));
  CHECK_OK(ferrite_check_stride(&x, 0, 3));
  CHECK_ERROR_TEXT(ferrite_check_stride(&x, 0, 4), "ValueError", "Invalid x.strides[0]" WHEN("0") "4, got 3");
  CHECK_OK(ferrite_check_compact(&x));
  a.strides[0] = 4;
  CHECK_ERROR_TEXT(ferrite_check_compact(&x), "ValueError", "Mismatched x.strides" WHEN("0") "to be compact array, got stride[0] = 4");
  a.shape[0] = 1;
  CHECK_OK(ferrite_check_compact(&x));
  a.shape[0] = 2;
  a.dl.strides = NULL;
  CHECK_OK(ferrite_check_compact(&x));
  CHECK_OK(ferrite_check_stride(&x, 0, 3));
  CHECK(ferrite_numel(&x) == 6);
  CHECK_OK(ferrite_check_data(&x));
  a.dl.byte_offset = 8;
  CHECK(ferrite_data(&x) == &a.data[2]);
  a.dl.data = NULL;
  CHECK_ERROR_TEXT(ferrite_check_data(&x), "ValueError", "x data pointer is NULL" WHEN("0") "non-NULL data pointer");
  a.shape[1] = 0;
  CHECK_OK(ferrite_check_data(&x));
}

static void test_device_names(void) {
  CHECK(strcmp(ferrite_device_name(kDLROCMHost), "rocm_host") == 0);
  CHECK(strcmp(ferrite_device_name(kDLTrn), "trn") == 0);
  CHECK(strcmp(ferrite_device_name(5), "unknown") == 0);
}

/* ---- allocation, results and exports ----------------------------------------------------- */

static void test_results(void) {
  TVMFFIAny result = any_garbage(kTVMFFINone);
  CHECK_OK(ferrite_return_int(&result, -3));
  CHECK(result.type_index == kTVMFFIInt && result.zero_padding == 0 && result.v_int64 == -3);
  CHECK_OK(ferrite_return_bool(&result, 8));
  CHECK(result.type_index == kTVMFFIBool && result.v_int64 == 1);
  CHECK_OK(ferrite_return_float(&result, 1.5));
  CHECK(result.type_index == kTVMFFIFloat && result.zero_padding == 0 && result.v_float64 == 1.5);
  CHECK_OK(ferrite_return_none(&result));
  CHECK(result.type_index == kTVMFFINone && result.zero_padding == 0 && result.v_int64 == 0);
  CHECK_OK(ferrite_return_str(&result, "a string that is not small"));
  CHECK(any_is_string(&result, "a string that is not small"));
  release_any(&result);
}

/* An allocator of the environment that refuses with an error of its own. */
static int refuses(DLTensor* prototype, DLManagedTensorVersioned** out, void* context,
                   void (*set_error)(void* context, const char* kind, const char* message)) {
  (void)prototype;
  (void)out;
  set_error(context, "ValueError", "refused by the environment");
  return -1;
}

static void test_allocation(void) {
  DLDevice device;
  DLDataType dtype;
  int64_t shape[2];
  TVMFFIObjectHandle made = NULL;
  memset(&device, 0, sizeof(device));
  memset(&dtype, 0, sizeof(dtype));
  device.device_type = kDLCPU;
  dtype.code = kDLInt;
  dtype.bits = 4;
  dtype.lanes = 1;
  shape[0] = 3;
  shape[1] = 0;
  CHECK_OK(ferrite_alloc(device, dtype, 2, shape, &made));
  TVMFFIObjectDecRef(made);
  CHECK_OK(ferrite_alloc(device, dtype, 0, NULL, &made));
  TVMFFIObjectDecRef(made);
  shape[1] = -1;
  made = UNTOUCHED;
  CHECK_ERROR_TEXT(ferrite_alloc(device, dtype, 2, shape, &made), "ValueError", "negative or too large");
  CHECK_ERROR_TEXT(ferrite_alloc(device, dtype, -1, shape, &made), "ValueError", "negative or too large");
  shape[0] = shape[1] = (int64_t)1 << 31;
  CHECK_ERROR_TEXT(ferrite_alloc(device, dtype, 2, shape, &made), "ValueError", "negative or too large");
  shape[1] = (int64_t)1 << 22; /* two exbibytes, which malloc refuses */
  dtype.bits = 8;
  CHECK_ERROR_TEXT(ferrite_alloc(device, dtype, 2, shape, &made), "MemoryError", "out of memory");
  CHECK(made == UNTOUCHED);
}

static void test_library(void) {
  matrix m, column;
  TVMFFIAny values[2], result = any_none();
  const DLTensor* made;
  int i;
  matrix_init(&m);
  values[0] = any_tensor(&m);
  values[1] = any_none();
  CHECK_OK(TVMFFIEnvSetDLPackManagedTensorAllocator(refuses, 0, NULL));
  CHECK_ERROR_TEXT(__tvm_ffi_scale(NULL, values, 2, &result), "ValueError", "refused by the environment");
  CHECK_OK(TVMFFIEnvSetDLPackManagedTensorAllocator(NULL, 0, NULL));
  CHECK_OK(__tvm_ffi_scale(NULL, values, 2, &result));
  CHECK_INT(result.type_index, kTVMFFITensor);
  made = ferrite_tensor_in(result.v_obj);
  CHECK(made->ndim == 2 && made->shape[0] == 2 && made->shape[1] == 3 && made->strides[0] == 3 && made->strides[1] == 1);
  CHECK((uintptr_t)made->data % 64 == 0);
  for (i = 0; i < 6; i++) CHECK(((const float*)made->data)[i] == 2 * m.data[i]);
  release_any(&result);
  values[1] = any_text("three");
  CHECK_ERROR_TEXT(__tvm_ffi_scale(NULL, values, 2, &result), "TypeError",
                   "Mismatched type on argument #1 when calling:\n  `scale(x: Tensor([m, n], float32), factor: float = 2)`,\n"
                   "  expected float, got const char*");
  CHECK_ERROR_TEXT(__tvm_ffi_scale(NULL, values, 1, &result), "TypeError", "Expected 2 arguments when calling:\n  `scale(");

  matrix_init(&column);
  column.shape[1] = column.strides[0] = 1;
  values[1] = any_tensor(&column);
  CHECK_OK(__tvm_ffi_add_column(NULL, values, 2, &result));
  CHECK(m.data[0] == 0 && m.data[5] == 6);
  column.shape[0] = 3;
  CHECK_ERROR_TEXT(__tvm_ffi_add_column(NULL, values, 2, &result), "ValueError", "Mismatched column.shape[0] on argument #1");

  CHECK_OK(__tvm_ffi__doc_add_column(NULL, NULL, 0, &result));
  CHECK(any_is_string(&result, "Adds a column to each column of x, in place."));
  release_any(&result);
  CHECK_OK(__tvm_ffi__metadata_scale(NULL, NULL, 0, &result));
  CHECK(any_is_string(&result,
                      "{\"type_schema\":\"{\\\"type\\\":\\\"ffi.Function\\\",\\\"named_args\\\":{\\\"return\\\":[{\\\"type\\\":"
                      "\\\"ffi.Tensor\\\"}],\\\"params\\\":[{\\\"type\\\":\\\"DLTensor*\\\"},{\\\"type\\\":\\\"Optional\\\","
                      "\\\"args\\\":[{\\\"type\\\":\\\"float\\\"}]}]}}\","
                      "\"signature\":\"scale(x: Tensor([m, n], float32), factor: float = 2)\"}"));
  release_any(&result);
}

int main(void) {
  test_count();
  test_numbers();
  test_strings_and_objects();
  test_tensors();
  test_memory();
  test_device_names();
  test_results();
  test_allocation();
  test_library();
  return check_report("kernel_helpers");
}
