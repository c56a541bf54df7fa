/* fixture.c: see fixture.h. */
#include "fixture.h"

#include <add_one/data.h>
#include <add_one_dyn/data.h>
#include <call_host/data.h>
#include <cnn_f32/data.h>
#include <mlp_f32/data.h>
#include <mlp_i8/data.h>
#include <par_scale/data.h>
#include <softmax_f32/data.h>

#include "board.h"
#include "profile.h"

/* ---- the models ---- */

#ifdef FROM_SYSTEM_LIBRARY
#define COMPILED(model) NULL
#else
#define COMPILED(model) __tvm_ffi_##model
int32_t __tvm_ffi_add_one(void*, void*, int32_t, void*);
int32_t __tvm_ffi_add_one_dyn(void*, void*, int32_t, void*);
#ifdef WITHOUT_MODULES
#define __tvm_ffi_call_host NULL /* looks its callee up in its module */
#else
int32_t __tvm_ffi_call_host(void*, void*, int32_t, void*);
#endif
int32_t __tvm_ffi_cnn_f32(void*, void*, int32_t, void*);
int32_t __tvm_ffi_mlp_f32(void*, void*, int32_t, void*);
int32_t __tvm_ffi_mlp_i8(void*, void*, int32_t, void*);
int32_t __tvm_ffi_par_scale(void*, void*, int32_t, void*);
int32_t __tvm_ffi_softmax_f32(void*, void*, int32_t, void*);
#endif

#define ARRAY(model, array, code, bits) \
  { model##_##array, code, bits, model##_##array##_ndim, model##_##array##_shape }
#define F32(model, array) ARRAY(model, array, kDLFloat, 32)
#define I32(model, array) ARRAY(model, array, kDLInt, 32)
#define I8(model, array) ARRAY(model, array, kDLInt, 8)
#define NONE \
  { NULL, kDLFloat, 32, 0, NULL }
#define ELEMENTWISE(model, tolerance)                                                                    \
  const Fixture fixture_##model = {#model, COMPILED(model), 1, 1, {F32(model, x), NONE, NONE, NONE, NONE}, \
                                   F32(model, y), NULL, tolerance}

ELEMENTWISE(add_one, 0.0);
ELEMENTWISE(add_one_dyn, 0.0);
ELEMENTWISE(call_host, 0.0);
ELEMENTWISE(par_scale, 0.0);
ELEMENTWISE(softmax_f32, 1e-5);

const Fixture fixture_mlp_f32 = {
    "mlp_f32",
    COMPILED(mlp_f32),
    20,
    5,
    {F32(mlp_f32, x), F32(mlp_f32, w1), F32(mlp_f32, b1), F32(mlp_f32, w2), F32(mlp_f32, b2)},
    F32(mlp_f32, out),
    mlp_f32_label,
    1e-4};

const Fixture fixture_mlp_i8 = {
    "mlp_i8",
    COMPILED(mlp_i8),
    20,
    5,
    {I8(mlp_i8, x), I8(mlp_i8, w1), I32(mlp_i8, b1), I8(mlp_i8, w2), I32(mlp_i8, b2)},
    I32(mlp_i8, out),
    mlp_i8_label,
    0.0};

const Fixture fixture_cnn_f32 = {
    "cnn_f32",
    COMPILED(cnn_f32),
    20,
    5,
    {F32(cnn_f32, x), F32(cnn_f32, wc), F32(cnn_f32, bc), F32(cnn_f32, wd), F32(cnn_f32, bd)},
    F32(cnn_f32, out),
    cnn_f32_label,
    1e-4};

/* ---- arguments ---- */

static size_t row_bytes(const Array* array, int rows) {
  size_t bytes = (size_t)array->bits / 8;
  int axis;
  for (axis = 0; axis < array->ndim; ++axis) bytes *= (size_t)array->shape[axis];
  return bytes / (size_t)rows;
}

static const char* row_of(const Array* array, int rows, int row) {
  return (const char*)array->data + (size_t)row * row_bytes(array, rows);
}

/* DLPack has no const, but the source shows that the function only reads its weights. */
static void describe(DLTensor* tensor, const Array* array, const void* data, const int64_t* shape) {
  tensor->data = (void*)data;
  tensor->device.device_type = kDLCPU;
  tensor->device.device_id = 0;
  tensor->ndim = array->ndim;
  tensor->dtype.code = (uint8_t)array->code;
  tensor->dtype.bits = (uint8_t)array->bits;
  tensor->dtype.lanes = 1;
  tensor->shape = (int64_t*)shape;
  tensor->strides = NULL; /* compact */
  tensor->byte_offset = 0;
}

static void one_row(int64_t* shape, const Array* array, int rows) {
  int axis;
  for (axis = 0; axis < array->ndim; ++axis) shape[axis] = array->shape[axis];
  shape[0] /= rows;
}

size_t fixture_output_bytes(const Fixture* fixture) { return row_bytes(&fixture->expected, fixture->rows); }

void fixture_call(const Fixture* fixture, int row, void* output, Call* call) {
  const Array* x = &fixture->inputs[0];
  int i, last = fixture->num_inputs;
  one_row(call->row_shapes[0], x, fixture->rows);
  one_row(call->row_shapes[1], &fixture->expected, fixture->rows);
  describe(&call->tensors[0], x, row_of(x, fixture->rows, row), call->row_shapes[0]);
  for (i = 1; i < last; ++i) {
    describe(&call->tensors[i], &fixture->inputs[i], fixture->inputs[i].data, fixture->inputs[i].shape);
  }
  describe(&call->tensors[last], &fixture->expected, output, call->row_shapes[1]);
  call->count = last + 1;
  for (i = 0; i < call->count; ++i) call->args[i] = any_tensor(&call->tensors[i]);
}

/* ---- comparing ---- */

static double element(const Array* type, const void* data, size_t i) {
  if (type->code == kDLFloat) return ((const float*)data)[i];
  return ((const int32_t*)data)[i];
}

static void compare(const Fixture* fixture, int row, const void* output, Outcome* outcome) {
  const Array* type = &fixture->expected;
  const char* expected = row_of(type, fixture->rows, row);
  size_t i, best = 0, count = fixture_output_bytes(fixture) / 4;
  for (i = 0; i < count; ++i) {
    double error = element(type, output, i) - element(type, expected, i);
    if (error < 0) error = -error;
    if (!(error <= outcome->largest_error)) outcome->largest_error = error; /* keeps a NaN, too */
    if (element(type, output, i) > element(type, output, best)) best = i;
  }
  if (fixture->labels != NULL && (int64_t)best == fixture->labels[row]) ++outcome->right;
}

int fixture_run(const Fixture* fixture, TVMFFIObjectHandle function, void* output, Outcome* outcome) {
  Call call;
  TVMFFIAny result;
  uint64_t start;
  int row;
  outcome->right = 0;
  outcome->largest_error = 0.0;
  outcome->instructions = 0;
  for (row = 0; row < fixture->rows; ++row) {
    fixture_call(fixture, row, output, &call);
    result = any_none();
    start = board_instructions();
    if (TVMFFIFunctionCall(function, call.args, call.count, &result) != 0) return -1;
    outcome->instructions += board_instructions() - start;
    compare(fixture, row, output, outcome);
  }
  outcome->instructions /= (uint64_t)fixture->rows;
  return 0;
}

/* ---- the host's part ---- */

static const DLTensor* tensor_of(const TVMFFIAny* value) {
  if (value->type_index == kTVMFFITensor) return (const DLTensor*)((const char*)value->v_obj + sizeof(TVMFFIObject));
  return value->type_index == kTVMFFIDLTensorPtr ? (const DLTensor*)value->v_ptr : NULL;
}

static int host_add(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  const DLTensor *t, *y;
  int64_t i;
  (void)self;
  (void)result;
  if (num_args != 3 || (t = tensor_of(&args[0])) == NULL || (y = tensor_of(&args[1])) == NULL) {
    TVMFFIErrorSetRaisedFromCStr("TypeError", "aot.host_add takes two tensors and a number");
    return -1;
  }
  for (i = 0; i < t->shape[0]; ++i) ((float*)y->data)[i] = ((const float*)t->data)[i] + (float)args[2].v_int64;
  return 0;
}

#ifndef WITHOUT_MODULES
static int open_library(void) {
#ifdef FROM_SYSTEM_LIBRARY
  return profile_open_library(NULL);
#else
  /* Variable of the generated code for its module. */
  extern void* __tvm_ffi__library_ctx;
  return profile_open_library(&__tvm_ffi__library_ctx);
#endif
}
#endif

int fixture_prepare_host(void) {
#ifdef WITHOUT_MODULES
  return set_global("aot.host_add", host_add);
#else
  if (set_global("aot.host_add", host_add) != 0) return -1;
  return open_library();
#endif
}
