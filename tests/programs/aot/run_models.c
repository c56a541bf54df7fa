/*
 * run_models.c: checks compiled models against the outputs that numpy gives.
 *
 *   run_models FORM...
 *
 * A form is the path of a shared library, or `system` for objects that are linked into this
 * program. Of each form every model is called with borrowed tensors and with Tensor objects, and
 * with arguments that its generated checks have to refuse. Prints one line per model and a total;
 * the exit status is 1 when a check has failed.
 */
#include <stdlib.h>
#include <string.h>

#include <add_one/data.h>
#include <add_one_dyn/data.h>
#include <call_host/data.h>
#include <cnn_f32/data.h>
#include <mlp_f32/data.h>
#include <mlp_i8/data.h>
#include <par_scale/data.h>
#include <softmax_f32/data.h>

#include "ferrite_util.h"

/* ---- the models ---- */

enum { MAX_ARGS = 6, ALIGNMENT = 64 };

typedef struct {
  const void* data;
  DLDataTypeCode code;
  int bits;
  int ndim;
  const int64_t* shape;
} Array;

/* `rows` calls, each with one row of the first input and one row of the output; 1 where one call
 * takes everything. */
typedef struct {
  const char* name;
  int rows;
  int num_inputs;
  Array inputs[MAX_ARGS - 1];
  Array expected;
  const int64_t* labels;
  double tolerance;
} Model;

#define ARRAY(model, array, code, bits) \
  { model##_##array, code, bits, model##_##array##_ndim, model##_##array##_shape }
#define F32(model, array) ARRAY(model, array, kDLFloat, 32)
#define I32(model, array) ARRAY(model, array, kDLInt, 32)
#define I8(model, array) ARRAY(model, array, kDLInt, 8)
#define NO_ARRAY \
  { NULL, kDLFloat, 32, 0, NULL }
#define ELEMENTWISE(model, tolerance)                                                                  \
  {                                                                                                    \
    #model, 1, 1, {F32(model, x), NO_ARRAY, NO_ARRAY, NO_ARRAY, NO_ARRAY}, F32(model, y), NULL, tolerance \
  }

static const Model models[] = {
    ELEMENTWISE(add_one, 0.0),
    ELEMENTWISE(add_one_dyn, 0.0),
    ELEMENTWISE(call_host, 0.0),
    ELEMENTWISE(par_scale, 0.0),
    ELEMENTWISE(softmax_f32, 1e-5),
    {"mlp_f32",
     20,
     5,
     {F32(mlp_f32, x), F32(mlp_f32, w1), F32(mlp_f32, b1), F32(mlp_f32, w2), F32(mlp_f32, b2)},
     F32(mlp_f32, out),
     mlp_f32_label,
     1e-4},
    {"mlp_i8",
     20,
     5,
     {I8(mlp_i8, x), I8(mlp_i8, w1), I32(mlp_i8, b1), I8(mlp_i8, w2), I32(mlp_i8, b2)},
     I32(mlp_i8, out),
     mlp_i8_label,
     0.0},
    {"cnn_f32",
     20,
     5,
     {F32(cnn_f32, x), F32(cnn_f32, wc), F32(cnn_f32, bc), F32(cnn_f32, wd), F32(cnn_f32, bd)},
     F32(cnn_f32, out),
     cnn_f32_label,
     1e-4}};

enum { MODELS = sizeof(models) / sizeof(models[0]) };

/* ---- counting checks ---- */

static int checks = 0;
static int failures = 0;

static void check(int holds, const char* model, const char* what) {
  ++checks;
  if (holds) return;
  ++failures;
  printf("FAILED %s: %s\n", model, what);
}

/* ---- memory of the arguments ---- */

/* One argument in memory of its own, so that a memory checker sees steps outside, and aligned as
 * compilers assume. */
typedef struct {
  void* block;
  size_t bytes;
  FerriteTensor tensor;
} Argument;

static size_t bytes_of(const Array* array, int rows) {
  size_t bytes = (size_t)array->bits / 8;
  int axis;
  for (axis = 0; axis < array->ndim; ++axis) bytes *= (size_t)array->shape[axis];
  return bytes / (size_t)rows;
}

/* The row of `array` as a tensor: `rows` equal slices along its first axis. */
static void argument_make(Argument* arg, const Array* array, int rows, int row, int with_data) {
  int64_t shape[FERRITE_MAX_NDIM];
  char* data;
  arg->bytes = bytes_of(array, rows);
  arg->block = malloc(arg->bytes + ALIGNMENT);
  if (arg->block == NULL) {
    fputs("error: out of memory\n", stderr);
    exit(1);
  }
  data = (char*)arg->block + ALIGNMENT - ((size_t)arg->block % ALIGNMENT);
  if (with_data) {
    memcpy(data, (const char*)array->data + (size_t)row * arg->bytes, arg->bytes);
  } else {
    memset(data, 0x5a, arg->bytes);
  }
  memcpy(shape, array->shape, (size_t)array->ndim * sizeof(shape[0]));
  shape[0] /= rows;
  ferrite_tensor_init(&arg->tensor, data, array->code, array->bits, array->ndim, shape);
}

static int arguments_make(Argument* args, const Model* model, int row) {
  int i;
  for (i = 0; i < model->num_inputs; ++i) {
    argument_make(&args[i], &model->inputs[i], i == 0 ? model->rows : 1, i == 0 ? row : 0, 1);
  }
  argument_make(&args[i], &model->expected, model->rows, row, 0);
  return i + 1;
}

static void arguments_free(Argument* args, int count) {
  while (count > 0) free(args[--count].block);
}

/* ---- comparing ---- */

static double element(const Array* type, const void* data, size_t i) {
  if (type->code == kDLFloat) return ((const float*)data)[i];
  return ((const int32_t*)data)[i];
}

static double largest_error(const Model* model, const void* output, int row) {
  size_t bytes = bytes_of(&model->expected, model->rows);
  const char* expected = (const char*)model->expected.data + (size_t)row * bytes;
  size_t i, count = bytes / 4;
  double largest = 0.0;
  for (i = 0; i < count; ++i) {
    double error = element(&model->expected, output, i) - element(&model->expected, expected, i);
    if (error < 0) error = -error;
    if (!(error <= largest)) largest = error; /* keeps what is not a number */
  }
  return largest;
}

static int arg_max(const Model* model, const void* output) {
  size_t i, count = bytes_of(&model->expected, model->rows) / 4, best = 0;
  for (i = 1; i < count; ++i) {
    if (element(&model->expected, output, i) > element(&model->expected, output, best)) best = i;
  }
  return (int)best;
}

/* ---- calls that succeed ---- */

static int call_borrowed(TVMFFIObjectHandle function, Argument* arguments, int count) {
  TVMFFIAny args[MAX_ARGS];
  TVMFFIAny result;
  int i;
  for (i = 0; i < count; ++i) args[i] = ferrite_tensor(&arguments[i].tensor);
  return ferrite_call(function, args, count, &result);
}

static int deleted = 0;

static void count_deletion(DLManagedTensor* self) {
  (void)self;
  ++deleted;
}

/* Calls with Tensor objects, each of which owns its DLPack record until the last reference is
 * released. */
static int call_owned(TVMFFIObjectHandle function, Argument* arguments, int count, const char* model) {
  DLManagedTensor managed[MAX_ARGS];
  TVMFFIAny args[MAX_ARGS];
  TVMFFIAny result;
  int i, status;
  for (i = 0; i < count; ++i) {
    TVMFFIObjectHandle tensor = NULL;
    managed[i].dl_tensor = arguments[i].tensor.dl;
    managed[i].manager_ctx = NULL;
    managed[i].deleter = count_deletion;
    ferrite_check(TVMFFITensorFromDLPack(&managed[i], ALIGNMENT, 1, &tensor), "TVMFFITensorFromDLPack");
    args[i] = ferrite_object(tensor);
  }
  status = ferrite_call(function, args, count, &result);
  deleted = 0;
  for (i = 0; i < count; ++i) ferrite_release(&args[i]);
  check(deleted == count, model, "each Tensor object deletes its record once");
  return status;
}

static double check_row(const Model* model, TVMFFIObjectHandle function, int row, int owned) {
  Argument arguments[MAX_ARGS];
  int count = arguments_make(arguments, model, row);
  const void* output = arguments[count - 1].tensor.dl.data;
  double error;
  int status = owned ? call_owned(function, arguments, count, model->name) : call_borrowed(function, arguments, count);
  check(status == 0, model->name, "the call succeeds");
  if (status != 0) ferrite_print_raised(stdout, "  ");
  error = largest_error(model, output, row);
  check(error <= model->tolerance, model->name, "the output is within the tolerance");
  if (model->labels != NULL) {
    check(arg_max(model, output) == (int)model->labels[row], model->name, "the class is the label");
  }
  arguments_free(arguments, count);
  return error;
}

/* ---- calls that must fail ---- */

/* Takes the raised error; true when it is of this kind and its message contains `part`. */
static int raised_is(const char* kind, const char* part) {
  TVMFFIObjectHandle error = NULL;
  const TVMFFIErrorCell* cell;
  int same;
  size_t i;
  TVMFFIErrorMoveFromRaised(&error);
  if (error == NULL) return 0;
  cell = (const TVMFFIErrorCell*)((const char*)error + sizeof(TVMFFIObject));
  same = cell->kind.size == strlen(kind) && memcmp(cell->kind.data, kind, cell->kind.size) == 0;
  for (i = 0; same && i + strlen(part) <= cell->message.size; ++i) {
    if (memcmp(cell->message.data + i, part, strlen(part)) == 0) break;
  }
  same = same && i + strlen(part) <= cell->message.size;
  ferrite_release_object(error);
  return same;
}

/* Calls with arguments that the caller made invalid, and checks that the output is unchanged. */
static void check_refused(const Model* model, TVMFFIObjectHandle function, Argument* arguments, int count,
                          const char* kind, const char* part, const char* what) {
  const unsigned char* output = (const unsigned char*)arguments[count - 1].tensor.dl.data;
  size_t i;
  int status = call_borrowed(function, arguments, count);
  check(status != 0 && raised_is(kind, part), model->name, what);
  for (i = 0; i < arguments[count - 1].bytes && output[i] == 0x5a; ++i) continue;
  check(i == arguments[count - 1].bytes, model->name, "a refused call leaves the output alone");
}

static void check_argument_count(const Model* model, TVMFFIObjectHandle function) {
  TVMFFIAny none = ferrite_none();
  TVMFFIAny result;
  int status = ferrite_call(function, &none, 1, &result);
  check(status != 0 && raised_is("TypeError", "Expected "), model->name, "one argument is too few");
}

static void check_argument_type(const Model* model, TVMFFIObjectHandle function) {
  TVMFFIAny args[MAX_ARGS];
  TVMFFIAny result;
  int i, status;
  for (i = 0; i <= model->num_inputs; ++i) args[i] = ferrite_int(i);
  status = ferrite_call(function, args, model->num_inputs + 1, &result);
  check(status != 0 && raised_is("TypeError", "argument #0"), model->name, "integers are no tensors");
}

static void check_tensors(const Model* model, TVMFFIObjectHandle function) {
  Argument arguments[MAX_ARGS];
  int count = arguments_make(arguments, model, 0);
  DLTensor* x = &arguments[0].tensor.dl;
  x->dtype.bits = 16;
  check_refused(model, function, arguments, count, "TypeError", "x.dtype", "another dtype is refused");
  x->dtype.bits = (uint8_t)model->inputs[0].bits;
  x->ndim -= 1;
  check_refused(model, function, arguments, count, "ValueError", "x.ndim", "a missing axis is refused");
  x->ndim += 1;
  x->device.device_type = kDLCUDA;
  check_refused(model, function, arguments, count, "ValueError", "x.device_type", "another device is refused");
  x->device.device_type = kDLCPU;
  x->shape[x->ndim - 1] += 1;
  check_refused(model, function, arguments, count, "ValueError", "shape", "another length is refused");
  arguments_free(arguments, count);
}

/* ---- the function that call_host calls back ---- */

static int host_add_fails = 0;

/* aot.host_add(t, y, n): y = t + n. */
static int host_add(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  const DLTensor *t, *y;
  int64_t i;
  (void)self;
  (void)result;
  if (host_add_fails || num_args != 3) {
    TVMFFIErrorSetRaisedFromCStr("KeyError", "host_add was told to fail");
    return -1;
  }
  t = (const DLTensor*)args[0].v_ptr;
  y = (const DLTensor*)args[1].v_ptr;
  for (i = 0; i < t->shape[0]; ++i) ((float*)y->data)[i] = ((const float*)t->data)[i] + (float)args[2].v_int64;
  return 0;
}

static void check_callback_error(const Model* model, TVMFFIObjectHandle function) {
  Argument arguments[MAX_ARGS];
  int count;
  if (strcmp(model->name, "call_host") != 0) return;
  count = arguments_make(arguments, model, 0);
  host_add_fails = 1;
  check_refused(model, function, arguments, count, "KeyError", "told to fail", "an error of the callback arrives");
  host_add_fails = 0;
  arguments_free(arguments, count);
}

/* ---- one model, one form, all of them ---- */

static void check_model(const char* form, TVMFFIObjectHandle module, const Model* model) {
  TVMFFIObjectHandle function = NULL;
  int checks_before = checks, row, owned;
  double largest = 0.0;
  ferrite_check(ferrite_module_function(module, model->name, &function), model->name);
  for (owned = 0; owned < 2; ++owned) {
    for (row = 0; row < model->rows; ++row) {
      double error = check_row(model, function, row, owned);
      if (!(error <= largest)) largest = error;
    }
  }
  check_argument_count(model, function);
  check_argument_type(model, function);
  check_tensors(model, function);
  check_callback_error(model, function);
  ferrite_release_object(function);
  printf("%s %s: %d calls, %d checks, largest error %.1e of %.1e\n", form, model->name, 2 * model->rows,
         checks - checks_before, largest, model->tolerance);
}

static TVMFFIObjectHandle open_form(const char* form) {
  TVMFFIAny none = ferrite_none();
  TVMFFIAny result;
  TVMFFIObjectHandle module = NULL;
  if (strcmp(form, "system") == 0) {
    ferrite_check(ferrite_call_global("ffi.SystemLib", &none, 0, &result), "ffi.SystemLib");
    return result.v_obj;
  }
  ferrite_check(ferrite_module_load(form, &module), form);
  return module;
}

static const char* file_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash == NULL ? path : slash + 1;
}

int main(int argc, char** argv) {
  int form, i;
  if (argc < 2) {
    fputs("usage: run_models FORM...\n", stderr);
    return 2;
  }
  ferrite_check(ferrite_set_global("aot.host_add", host_add), "aot.host_add");
  for (form = 1; form < argc; ++form) {
    TVMFFIObjectHandle module = open_form(argv[form]);
    for (i = 0; i < MODELS; ++i) check_model(file_name(argv[form]), module, &models[i]);
    ferrite_release_object(module);
  }
  printf("total: %d checks, %d failed\n", checks, failures);
  return failures == 0 ? 0 : 1;
}
