/* The helpers of ferrite/kernel.h, by kernels that use them: values, one message for each check,
 * and the quick start's library. */
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
  values[0] = any_int(5);
  CHECK_OK(ferrite_arg_int_in(&args, 0, "k", 5, 5, &integer));
  CHECK(integer == 5);
  CHECK_ERROR_TEXT(ferrite_arg_int_in(&args, 0, "k", -9, 4, &integer), "ValueError", "Invalid k" WHEN("0") "-9 to 4, got 5");
  CHECK_ERROR_TEXT(ferrite_arg_int_in(&args, 0, "k", 6, 7, &integer), "ValueError", "Invalid k" WHEN("0") "6 to 7, got 5");
  CHECK_ERROR_TEXT(ferrite_arg_int_in(&args, 2, "k", 0, 9, &integer), "TypeError", "Mismatched type" WHEN("2") "int, got float");
  values[0] = any_int(0);
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
  CHECK_ERROR_TEXT(ferrite_check_shape(&x, 1, -INT64_MAX), "ValueError",
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

/* Extents that have a rule, types without a name, and addresses. */
static void test_rules(void) {
  TVMFFIAny values[1];
  FerriteArgs args = args_of(values, 1);
  FerriteTensorArg x;
  matrix a;
  matrix_init(&a);
  values[0] = any_tensor(&a);
  CHECK_OK(ferrite_arg_tensor(&args, 0, "x", &x));
  CHECK_OK(ferrite_check_divisible(&x, 1, 3));
  CHECK_ERROR_TEXT(ferrite_check_divisible(&x, 1, 2), "ValueError",
                   "Invalid x.shape[1]" WHEN("0") "to be divisible by 2, got 3");
  CHECK_OK(ferrite_check_at_least(&x, 1, 3));
  CHECK_ERROR_TEXT(ferrite_check_at_least(&x, 1, 4), "ValueError", "Invalid x.shape[1]" WHEN("0") "at least 4, got 3");
  CHECK_OK(ferrite_check_at_most(&x, 1, 3));
  CHECK_ERROR_TEXT(ferrite_check_at_most(&x, 1, 2), "ValueError", "Invalid x.shape[1]" WHEN("0") "at most 2, got 3");
  CHECK_OK(ferrite_check_alignment(&x, 4));
  a.dl.byte_offset = 2;
  CHECK_ERROR_TEXT(ferrite_check_alignment(&x, 4), "ValueError",
                   "Misaligned Tensor data" WHEN("0") "data alignment=4 bytes, got an address with remainder ");
  a.dl.byte_offset = 0;

  CHECK_INT(ferrite_dtype_of(&x), FERRITE_F32);
  CHECK_OK(ferrite_check_whole_bytes(&x));
  a.dl.dtype.lanes = 2;
  CHECK_ERROR_TEXT(ferrite_check_whole_bytes(&x), "TypeError",
                   "Mismatched x.dtype" WHEN("0") "numbers of whole bytes, got float32x2");
  a.dl.dtype.lanes = 1;
  a.dl.dtype.bits = 4;
  a.dl.dtype.code = kDLInt;
  CHECK_ERROR_TEXT(ferrite_check_whole_bytes(&x), "TypeError", "numbers of whole bytes, got int4");
  a.dl.dtype.code = 120;
  CHECK_ERROR_TEXT(ferrite_check_dtype(&x, kDLFloat, 32, 1), "TypeError", WHEN("0") "float32, got type code 120 of 4 bits");
}

/* Elements that say where to read or write. */
static void test_elements(void) {
  TVMFFIAny values[1];
  FerriteArgs args = args_of(values, 1);
  FerriteTensorArg x;
  matrix a;
  int32_t small[6];
  int64_t large[6];
  int i;
  matrix_init(&a);
  for (i = 0; i < 6; i++) large[i] = small[i] = i - 1;
  values[0] = any_tensor(&a);
  CHECK_OK(ferrite_arg_tensor(&args, 0, "x", &x));
  a.dl.data = small;
  a.dl.dtype.code = kDLInt;
  CHECK_OK(ferrite_check_elements(&x, -1, 4));
  CHECK_OK(ferrite_check_element(&x, 5, 4, 4));
  CHECK_ERROR_TEXT(ferrite_check_elements(&x, 0, 4), "IndexError", "Invalid x[0]" WHEN("0") "0 to 4, got -1");
  CHECK_ERROR_TEXT(ferrite_check_elements(&x, -1, 3), "IndexError", "Invalid x[5]" WHEN("0") "-1 to 3, got 4");
  a.dl.data = large;
  a.dl.dtype.bits = 64;
  large[3] = (int64_t)1 << 40;
  CHECK_ERROR_TEXT(ferrite_check_elements(&x, -1, 4), "IndexError", "Invalid x[3]" WHEN("0") "-1 to 4, got 1099511627776");
}

/* ---- outputs and what they may overlap --------------------------------------------------- */

static void test_overlap(void) {
  TVMFFIAny values[3];
  FerriteArgs args = args_of(values, 3);
  FerriteTensorArg x, y;
  matrix a, b;
  matrix_init(&a);
  matrix_init(&b);
  values[0] = any_tensor(&a);
  values[1] = any_tensor(&b);
  values[2] = any_none();
  CHECK_OK(ferrite_arg_tensor(&args, 0, "x", &x));
  CHECK_OK(ferrite_arg_tensor(&args, 1, "y", &y));
  CHECK_OK(ferrite_check_output(&y, NULL));
  b.dl.data = a.data;
  CHECK_INT(ferrite_overlaps(&x, &y), 1);
  CHECK_ERROR_TEXT(ferrite_check_apart(&y, NULL), "ValueError",
                   "Overlapping y" WHEN("1") "memory apart from argument #0, got common bytes");
  CHECK_OK(ferrite_check_apart(&y, &x));
  b.shape[0] = 1;
  CHECK_ERROR_TEXT(ferrite_check_apart(&y, &x), "ValueError", "memory apart from argument #0");
  b.dl.byte_offset = 12;
  CHECK_ERROR_TEXT(ferrite_check_output(&y, NULL), "ValueError", "memory apart from argument #0");
  a.shape[0] = 1;
  CHECK_INT(ferrite_overlaps(&x, &y), 0);
  a.dl.byte_offset = 12;
  b.dl.byte_offset = 0;
  CHECK_INT(ferrite_overlaps(&x, &y), 0);
  a.shape[0] = 2;
  a.strides[0] = -3; /* row 1 is before the first element */
  CHECK_INT(ferrite_overlaps(&x, &y), 1);
  b.shape[0] = 0;
  CHECK_INT(ferrite_overlaps(&x, &y), 0);
  b.shape[0] = 1;
  b.dl.device.device_type = kDLCUDA;
  CHECK_OK(ferrite_check_apart(&y, NULL));
  /* handles of buffers, not addresses */
  a.dl.device.device_type = b.dl.device.device_type = kDLOpenCL;
  a.dl.byte_offset = b.dl.byte_offset = 0;
  a.strides[0] = 3;
  b.dl.data = (char*)a.dl.data + 4;
  CHECK_INT(ferrite_overlaps(&x, &y), 0);
  b.dl.data = a.dl.data;
  CHECK_INT(ferrite_overlaps(&x, &y), 1);
}

static void release_nothing(DLManagedTensorVersioned* tensor) { (void)tensor; }

/* Upstream's library does not keep the flag. */
static void test_read_only(void) {
  TVMFFIObjectHandle ferrite = global_function("ffi.ferrite.ServeRelease"), tensor = NULL;
  DLManagedTensorVersioned managed;
  TVMFFIAny values[1];
  FerriteArgs args = args_of(values, 1);
  FerriteTensorArg x;
  matrix a;
  matrix_init(&a);
  memset(&managed, 0, sizeof(managed));
  managed.version.major = DLPACK_MAJOR_VERSION;
  managed.dl_tensor = a.dl;
  managed.deleter = release_nothing;
  managed.flags = DLPACK_FLAG_BITMASK_READ_ONLY;
  values[0] = any_tensor(&a);
  CHECK_OK(ferrite_arg_tensor(&args, 0, "x", &x));
  CHECK_OK(ferrite_check_writable(&x));
  CHECK_OK(TVMFFITensorFromDLPackVersioned(&managed, 0, 0, &tensor));
  values[0] = any_object(tensor);
  values[0].type_index = kTVMFFITensor;
  CHECK_OK(ferrite_arg_tensor(&args, 0, "x", &x));
  if (ferrite != NULL) {
    CHECK_ERROR_TEXT(ferrite_check_writable(&x), "ValueError",
                     "Read-only x" WHEN("0") "a writable tensor, got one with the read-only flag");
    TVMFFIObjectDecRef(ferrite);
  }
  TVMFFIObjectDecRef(tensor);
}

/* ---- tensors with their checks ----------------------------------------------------------- */

static void test_take(void) {
  FerriteExtent rows = FERRITE_ANY_EXTENT, cols = FERRITE_ANY_EXTENT, two = ferrite_extent(2);
  TVMFFIAny values[2];
  FerriteArgs args = args_of(values, 2);
  FerriteTensorArg x, y;
  matrix a, b;
  matrix_init(&a);
  matrix_init(&b);
  values[0] = any_tensor(&a);
  values[1] = any_tensor(&b);
  CHECK_OK(ferrite_take_2(&args, 0, "x", FERRITE_F32, &rows, &cols, &x));
  CHECK(rows.value == 2 && cols.value == 3 && cols.tensor == &x && cols.axis == 1);
  CHECK_OK(ferrite_take_2(&args, 1, "y", FERRITE_F32, &two, &cols, &y));
  b.shape[1] = 4;
  CHECK_ERROR_TEXT(ferrite_take_2(&args, 1, "y", FERRITE_F32, &rows, &cols, &y), "ValueError",
                   "Mismatched y.shape[1]" WHEN("1") "to match x.shape[1] = 3, got 4");
  b.shape[1] = 3;
  b.shape[0] = 1;
  CHECK_ERROR_TEXT(ferrite_take_2(&args, 1, "y", FERRITE_F32, &two, &cols, &y), "ValueError",
                   "Invalid y.shape[0]" WHEN("1") "2, got 1");
  b.shape[0] = -1;
  rows = ferrite_extent(-1);
  CHECK_ERROR_TEXT(ferrite_take_2(&args, 1, "y", FERRITE_F32, &rows, &cols, &y), "ValueError",
                   "Invalid y.shape[0]" WHEN("1") "at least 0, got -1");
  b.shape[0] = 2;
  CHECK_ERROR_TEXT(ferrite_take_1(&args, 1, "y", FERRITE_F32, &cols, &y), "ValueError", "Mismatched y.ndim" WHEN("1") "1, got 2");
  CHECK_ERROR_TEXT(ferrite_take_2(&args, 1, "y", FERRITE_BF16, &rows, &cols, &y), "TypeError", "bfloat16, got float32");
  CHECK_OK(ferrite_take_2(&args, 1, "y", FERRITE_ANY_DTYPE, &rows, &cols, &y));
  CHECK_OK(ferrite_take_any(&args, 1, "y", FERRITE_F32, &y));
  b.strides[0] = 4;
  CHECK_ERROR_TEXT(ferrite_take_any(&args, 1, "y", FERRITE_F32, &y), "ValueError", "Mismatched y.strides");
  b.shape[1] = 0; /* without elements, strides say nothing */
  CHECK_OK(ferrite_take_any(&args, 1, "y", FERRITE_F32, &y));
  matrix_init(&b);
  b.dl.data = NULL;
  CHECK_ERROR_TEXT(ferrite_take_any(&args, 1, "y", FERRITE_F32, &y), "ValueError", "y data pointer is NULL");
  b.dl.data = (char*)b.data + 1;
  CHECK_ERROR_TEXT(ferrite_take_any(&args, 1, "y", FERRITE_F32, &y), "ValueError", "Misaligned Tensor data");
  b.dl.device.device_type = kDLCUDA;
  CHECK_ERROR_TEXT(ferrite_take_any(&args, 1, "y", FERRITE_F32, &y), "ValueError", "cpu, got cuda");
}

static void test_take_more_axes(void) {
  FerriteExtent one = ferrite_extent(1), two = ferrite_extent(2), three = ferrite_extent(3), any = FERRITE_ANY_EXTENT;
  TVMFFIAny values[1];
  FerriteArgs args = args_of(values, 1);
  FerriteTensorArg x;
  FerriteOut out;
  int64_t shape[4];
  matrix a;
  matrix_init(&a);
  shape[0] = 1;
  shape[1] = 2;
  shape[2] = 1;
  shape[3] = 3;
  a.dl.shape = shape;
  a.dl.strides = NULL;
  a.dl.ndim = 4;
  values[0] = any_tensor(&a);
  CHECK_OK(ferrite_take_4(&args, 0, "x", FERRITE_F32, &one, &two, &one, &three, &x));
  a.dl.ndim = 3;
  CHECK_OK(ferrite_take_3(&args, 0, "x", FERRITE_F32, &one, &two, &any, &x));
  CHECK(any.value == 1);
  CHECK_OK(ferrite_out_3(&args, 0, "x", FERRITE_F32, &one, &two, &one, &out));
  CHECK(out.made == NULL);
  a.dl.ndim = 1;
  CHECK_OK(ferrite_out_1(&args, 0, "x", FERRITE_F32, &one, &out));
  CHECK_ERROR_TEXT(ferrite_out_1(&args, 0, "x", FERRITE_F32, &two, &out), "ValueError", "Invalid x.shape[0]" WHEN("0") "2, got 1");
}

static void test_out(void) {
  FerriteExtent two = ferrite_extent(2), three = ferrite_extent(3);
  TVMFFIAny values[2], result = any_garbage(kTVMFFINone);
  FerriteArgs args = args_of(values, 2);
  FerriteTensorArg x;
  FerriteOut out;
  matrix a, b;
  matrix_init(&a);
  matrix_init(&b);
  values[0] = any_tensor(&a);
  values[1] = any_tensor(&b);
  CHECK_OK(ferrite_arg_tensor(&args, 0, "x", &x));
  CHECK_OK(ferrite_out_2(&args, 1, "out", FERRITE_F32, &two, &three, &out));
  CHECK(out.made == NULL && ferrite_data(&out.tensor) == b.data);
  CHECK_OK(ferrite_return_out(&result, &out));
  CHECK_INT(result.type_index, kTVMFFINone);
  b.dl.data = a.data;
  CHECK_ERROR_TEXT(ferrite_out_2(&args, 1, "out", FERRITE_F32, &two, &three, &out), "ValueError", "Overlapping out" WHEN("1"));
  CHECK_OK(ferrite_out_like(&args, 1, "out", &x, &out));
  b.dl.data = b.data;
  b.shape[0] = 1;
  CHECK_ERROR_TEXT(ferrite_out_like(&args, 1, "out", &x, &out), "ValueError",
                   "Mismatched out.shape[0]" WHEN("1") "to match x.shape[0] = 2, got 1");
  b.shape[0] = 2;
  b.dl.dtype.bits = 64;
  CHECK_ERROR_TEXT(ferrite_out_like(&args, 1, "out", &x, &out), "TypeError", "Mismatched out.dtype" WHEN("1") "float32, got float64");

  values[1] = any_none();
  CHECK_OK(ferrite_out_like(&args, 1, "out", &x, &out));
  CHECK(out.made != NULL && out.tensor.dl->shape[1] == 3);
  ferrite_drop_out(&out);
  CHECK(out.made == NULL);
  ferrite_drop_out(&out);
  CHECK_OK(ferrite_out_2(&args, 1, "out", FERRITE_I64, &three, &two, &out));
  CHECK(out.tensor.dl->dtype.bits == 64 && out.tensor.dl->dtype.code == kDLInt && out.tensor.dl->shape[0] == 3);
  CHECK_OK(ferrite_return_out(&result, &out));
  CHECK(result.type_index == kTVMFFITensor && result.v_obj == out.made);
  release_any(&result);
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
  test_rules();
  test_elements();
  test_overlap();
  test_read_only();
  test_take();
  test_take_more_axes();
  test_out();
  test_device_names();
  test_results();
  test_allocation();
  test_library();
  return check_report("kernel_helpers");
}
