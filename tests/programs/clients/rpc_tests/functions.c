/*
 * The global functions that TVM's RPC tests call on a server, which there are Python functions:
 * registered when the library is loaded, under the same names and with the same results.
 */
#include <ferrite/kernel.h>

typedef int (*SafeCall)(void* self, const TVMFFIAny* args, int32_t count, TVMFFIAny* result);

static FerriteArgs arguments(const char* signature, const TVMFFIAny* values, int32_t count) {
  FerriteArgs args;
  args.signature = signature;
  args.values = values;
  args.count = count;
  return args;
}

/* ---- results ------------------------------------------------------------------------------- */

static void release(void* object) { TVMFFIObjectDecRef(object); }

static int return_bytes(TVMFFIAny* result, const char* data, size_t size) {
  TVMFFIByteArray bytes;
  bytes.data = data;
  bytes.size = size;
  return TVMFFIStringFromByteArray(&bytes, result);
}

/* Returns a function that owns `self`. */
static int return_function(TVMFFIAny* result, SafeCall call, TVMFFIObjectHandle self) {
  TVMFFIObjectHandle function;
  if (TVMFFIFunctionCreate(self, call, release, &function)) {
    release(self);
    return -1;
  }
  return ferrite_return_object(result, kTVMFFIFunction, function);
}

/* Returns the two strings after one another. */
static int return_joined(TVMFFIAny* result, const TVMFFIByteArray* left, const TVMFFIByteArray* right) {
  size_t size = left->size + right->size;
  char* joined = (char*)malloc(size != 0 ? size : 1);
  int status;
  if (joined == NULL) return ferrite_fail("MemoryError", "no memory for the joined text");
  memcpy(joined, left->data, left->size);
  memcpy(joined + left->size, right->data, right->size);
  status = return_bytes(result, joined, size);
  free(joined);
  return status;
}

/* ---- numbers and strings --------------------------------------------------------------------- */

static int add_one(void* self, const TVMFFIAny* values, int32_t count, TVMFFIAny* result) {
  FerriteArgs args = arguments("addone(x: int) -> int", values, count);
  int64_t x;
  (void)self;
  if (ferrite_check_count(&args, 1) || ferrite_arg_int(&args, 0, &x)) return -1;
  return ferrite_return_int(result, x + 1);
}

static int name_and_number(void* self, const TVMFFIAny* values, int32_t count, TVMFFIAny* result) {
  FerriteArgs args = arguments("strcat(name: str, x: int) -> str", values, count);
  TVMFFIByteArray name, number;
  char buffer[24], digits[24];
  int64_t x;
  (void)self;
  if (ferrite_check_count(&args, 2) || ferrite_arg_str(&args, 0, &name) || ferrite_arg_int(&args, 1, &x)) return -1;
  digits[0] = ':';
  strcpy(digits + 1, ferrite_decimal_(x, buffer));
  number.data = digits;
  number.size = strlen(digits);
  return return_joined(result, &name, &number);
}

static int both_texts(void* self, const TVMFFIAny* values, int32_t count, TVMFFIAny* result) {
  FerriteArgs args = arguments("runtime_str_concat(x: str, y: str) -> str", values, count);
  TVMFFIByteArray x, y;
  (void)self;
  if (ferrite_check_count(&args, 2) || ferrite_arg_str(&args, 0, &x) || ferrite_arg_str(&args, 1, &y)) return -1;
  return return_joined(result, &x, &y);
}

static int raise_value_error(void* self, const TVMFFIAny* values, int32_t count, TVMFFIAny* result) {
  FerriteArgs args = arguments("except(message: str)", values, count);
  TVMFFIByteArray message;
  (void)self;
  (void)result;
  if (ferrite_check_count(&args, 1) || ferrite_arg_str(&args, 0, &message)) return -1;
  return ferrite_fail("ValueError", message.data);
}

static int raise_kind(void* self, const TVMFFIAny* values, int32_t count, TVMFFIAny* result) {
  FerriteArgs args = arguments("test_raise_error(kind: str, message: str)", values, count);
  TVMFFIByteArray kind, message;
  (void)self;
  (void)result;
  if (ferrite_check_count(&args, 2) || ferrite_arg_str(&args, 0, &kind) || ferrite_arg_str(&args, 1, &message)) return -1;
  return ferrite_fail(kind.data, message.data);
}

static int add_to_self(void* self, const TVMFFIAny* values, int32_t count, TVMFFIAny* result) {
  FerriteArgs args = arguments("(y: int) -> int", values, count);
  int64_t y;
  if (ferrite_check_count(&args, 1) || ferrite_arg_int(&args, 0, &y)) return -1;
  return ferrite_return_int(result, ((const int64_t*)self)[0] + y);
}

static int add_to_left(void* self, const TVMFFIAny* values, int32_t count, TVMFFIAny* result) {
  FerriteArgs args = arguments("add_to_lhs(x: int) -> Function", values, count);
  TVMFFIObjectHandle function;
  int64_t* left;
  int64_t x;
  (void)self;
  if (ferrite_check_count(&args, 1) || ferrite_arg_int(&args, 0, &x)) return -1;
  left = (int64_t*)malloc(sizeof(*left));
  if (left == NULL) return ferrite_fail("MemoryError", "no memory for the left number");
  *left = x;
  if (TVMFFIFunctionCreate(left, add_to_self, free, &function)) {
    free(left);
    return -1;
  }
  return ferrite_return_object(result, kTVMFFIFunction, function);
}

/* ---- tensors and shapes -------------------------------------------------------------------- */

static int check_ones(void* self, const TVMFFIAny* values, int32_t count, TVMFFIAny* result) {
  FerriteArgs args = arguments("remote_tensor_func(y: Tensor([3, 4], float64))", values, count);
  FerriteTensorArg y;
  int i;
  (void)self;
  if (ferrite_check_count(&args, 1) || ferrite_arg_tensor(&args, 0, "y", &y)) return -1;
  if (ferrite_check_ndim(&y, 2) || ferrite_check_dtype(&y, kDLFloat, 64, 1)) return -1;
  if (ferrite_check_shape(&y, 0, 3) || ferrite_check_shape(&y, 1, 4) || ferrite_check_data(&y)) return -1;
  for (i = 0; i < 12; ++i)
    if (((const double*)ferrite_data(&y))[i] != 1) return ferrite_fail("AssertionError", "not equal to ones");
  return ferrite_return_none(result);
}

static int get_array(void* self, const TVMFFIAny* values, int32_t count, TVMFFIAny* result) {
  FerriteArgs args = arguments("() -> Tensor", values, count);
  if (ferrite_check_count(&args, 0) || TVMFFIObjectIncRef(self)) return -1;
  return ferrite_return_object(result, kTVMFFITensor, self);
}

static int return_element(const DLTensor* array, const FerriteArgs* args, int32_t index, TVMFFIAny* result) {
  int64_t at;
  if (ferrite_arg_int_in(args, index, "idx", 0, array->shape[0] - 1, &at)) return -1;
  return ferrite_return_float(result, ((const float*)array->data)[at]);
}

static int get_element(void* self, const TVMFFIAny* values, int32_t count, TVMFFIAny* result) {
  FerriteArgs args = arguments("(idx: int) -> float", values, count);
  if (ferrite_check_count(&args, 1)) return -1;
  return return_element(ferrite_tensor_in(self), &args, 0, result);
}

static int get_element_of(void* self, const TVMFFIAny* values, int32_t count, TVMFFIAny* result) {
  FerriteArgs args = arguments("(arr: Tensor([n], float32), idx: int) -> float", values, count);
  FerriteTensorArg array;
  (void)self;
  if (ferrite_check_count(&args, 2) || ferrite_arg_tensor(&args, 0, "arr", &array)) return -1;
  if (ferrite_check_ndim(&array, 1) || ferrite_check_dtype(&array, kDLFloat, 32, 1)) return -1;
  return return_element(array.dl, &args, 1, result);
}

static int has_name(const TVMFFIByteArray* given, const char* name) {
  return given->size == strlen(name) && memcmp(given->data, name, given->size) == 0;
}

static int functions_of_array(void* self, const TVMFFIAny* values, int32_t count, TVMFFIAny* result) {
  static const DLDevice host = {kDLCPU, 0};
  static const DLDataType float32 = {kDLFloat, 32, 1};
  static const int64_t shape[1] = {10};
  FerriteArgs args = arguments("remote_return_nd(name: str) -> Function", values, count);
  TVMFFIByteArray name;
  TVMFFIObjectHandle array;
  SafeCall call;
  (void)self;
  if (ferrite_check_count(&args, 1) || ferrite_arg_str(&args, 0, &name)) return -1;
  if (has_name(&name, "get_arr"))
    call = get_array;
  else if (has_name(&name, "get_elem"))
    call = get_element;
  else if (has_name(&name, "get_arr_elem"))
    call = get_element_of;
  else
    return ferrite_fail("RuntimeError", "unknown name");
  if (ferrite_alloc(host, float32, 1, shape, &array)) return -1;
  memset(ferrite_tensor_in(array)->data, 0, 10 * sizeof(float));
  return return_function(result, call, array);
}

static int shape_of(const FerriteArgs* args, TVMFFIShapeCell** out) {
  if (ferrite_arg_object(args, 0, kTVMFFIShape, "ffi.Shape", (TVMFFIObjectHandle*)out)) return -1;
  *out = (TVMFFIShapeCell*)((TVMFFIObject*)*out + 1);
  return 0;
}

static int shape_size(void* self, const TVMFFIAny* values, int32_t count, TVMFFIAny* result) {
  FerriteArgs args = arguments("GetShapeSize(shape: Shape) -> int", values, count);
  TVMFFIShapeCell* shape;
  (void)self;
  if (ferrite_check_count(&args, 1) || shape_of(&args, &shape)) return -1;
  return ferrite_return_int(result, (int64_t)shape->size);
}

static int shape_element(void* self, const TVMFFIAny* values, int32_t count, TVMFFIAny* result) {
  FerriteArgs args = arguments("GetShapeElem(shape: Shape, index: int) -> int", values, count);
  TVMFFIShapeCell* shape;
  int64_t at;
  (void)self;
  if (ferrite_check_count(&args, 2) || shape_of(&args, &shape)) return -1;
  if (ferrite_arg_int_in(&args, 1, "index", 0, (int64_t)shape->size - 1, &at)) return -1;
  return ferrite_return_int(result, shape->data[at]);
}

/* ---- registration -------------------------------------------------------------------------- */

static const struct {
  const char* name;
  SafeCall call;
} FUNCTIONS[] = {
    {"rpc.test.addone", add_one},
    {"rpc.test2.addone", add_one},
    {"rpc.test.strcat", name_and_number},
    {"rpc.test.except", raise_value_error},
    {"rpc.test.runtime_str_concat", both_texts},
    {"rpc.test.remote_tensor_func", check_ones},
    {"rpc.test.add_to_lhs", add_to_left},
    {"rpc.test.remote_return_nd", functions_of_array},
    {"rpc.testing.GetShapeSize", shape_size},
    {"rpc.testing.GetShapeElem", shape_element},
    {"testing.test_raise_error", raise_kind},
};

static void __attribute__((constructor)) register_functions(void) {
  size_t i;
  for (i = 0; i < sizeof(FUNCTIONS) / sizeof(FUNCTIONS[0]); ++i) {
    TVMFFIByteArray name;
    TVMFFIAny function;
    memset(&function, 0, sizeof(function));
    name.data = FUNCTIONS[i].name;
    name.size = strlen(name.data);
    if (TVMFFIFunctionCreate(NULL, FUNCTIONS[i].call, NULL, &function.v_ptr)) abort();
    if (TVMFFIFunctionSetGlobal(&name, function.v_ptr, 1)) abort();
    TVMFFIObjectDecRef(function.v_ptr);
  }
}
