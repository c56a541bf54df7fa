/*
 * model_api.c: checks every function of tvm_ffi_model.h with good and with bad input.
 *
 *   model_api MODELS        # the folder models
 *
 * Prints "ok".
 */
#include <dlfcn.h>
#include <pthread.h>
#include <tvm/ffi/extra/c_env_api.h>

#include "model_support.h"

enum { THREADS = 4, CALLS = 100, REPETITIONS = 3 };

/* ---- what the functions say ---- */

static void describes(TVMFFIObjectHandle model, int is_bytecode) {
  static const char* const names[] = {"x", "w1", "b1", "w2", "b2"};
  TVMFFIByteArray name;
  DLDataType dtype;
  int64_t shape[4] = {7, 7, 7, 7};
  int32_t count = 0, ndim = 0, i;
  CHECK(FerriteModelNumFunctions(model, &count) == 0 && count == 1);
  CHECK(FerriteModelFunctionName(model, 0, &name) == 0 && is_named(name, "main"));
  CHECK(FerriteModelNumInputs(model, "main", &count) == 0 && count == 5);
  for (i = 0; i < 5; ++i) CHECK(FerriteModelInputName(model, "main", i, &name) == 0 && is_named(name, names[i]));
  CHECK(FerriteModelInputType(model, "main", 3, &dtype, &ndim, shape, 1) == 0);
  if (is_bytecode) {
    CHECK(ndim == 2 && dtype.code == kDLInt && dtype.bits == 8 && dtype.lanes == 1);
    CHECK(shape[0] == 10 && shape[1] == 7); /* no more than asked for */
    CHECK(FerriteModelInputType(model, "main", 3, &dtype, &ndim, shape, 4) == 0);
    CHECK(shape[0] == 10 && shape[1] == 32 && shape[2] == 7);
    CHECK(FerriteModelInputType(model, "main", 4, &dtype, &ndim, NULL, 0) == 0);
    CHECK(ndim == 1 && dtype.code == kDLInt && dtype.bits == 32);
    CHECK(FerriteModelNumOutputs(model, "main", &count) == 0 && count == 1);
  } else {
    CHECK(ndim == -1 && dtype.bits == 0 && shape[0] == 7);
    CHECK(FerriteModelNumOutputs(model, "main", &count) == 0 && count == -1);
  }
}

/* ---- weights ---- */

static void weights_come_from_a_file(TVMFFIObjectHandle model, const Input* input) {
  TVMFFIObjectHandle parameters = NULL, same = NULL, other = NULL;
  TVMFFIAny values[2], result = none();
  const char* both[2];
  size_t size, length;
  int64_t zeros[10] = {0}, extent = 10;
  DLTensor biases = {NULL, {kDLCPU, 0}, 1, {kDLInt, 32, 1}, NULL, NULL, 0};
  char* content = read_file("params.bin", &size);
  CHECK(FerriteModelLoadParameters(path_of("params.bin"), &parameters) == 0);
  call_and_compare(model, input, parameters);
  CHECK(FerriteModelReadParameters(content, size, &same) == 0);
  call_and_compare(model, input, same);

  /* A value goes before a parameter of the same name. */
  biases.data = zeros;
  biases.shape = &extent;
  both[0] = "b2";
  both[1] = "x";
  values[0] = none();
  values[0].type_index = kTVMFFIDLTensorPtr;
  values[0].v_ptr = &biases;
  values[1] = input->any;
  CHECK(FerriteModelCallNamed(model, "main", both, values, 2, parameters, &result) == 0);
  CHECK(!is_expected(result));
  TVMFFIObjectDecRef(result.v_obj);

  for (length = 0; length < size; ++length) {
    FAILS(FerriteModelReadParameters(content, length, &other), "InternalError", "Invalid parameters file format");
  }
  content[0] ^= 1;
  FAILS(FerriteModelReadParameters(content, size, &other), "InternalError", "Invalid parameters file format");
  content[0] ^= 1;
  memset(content + 16, 0xff, 8); /* the number of names */
  FAILS(FerriteModelReadParameters(content, size, &other), "InternalError", "Invalid parameters file format");
  FAILS(FerriteModelLoadParameters(path_of("nope.bin"), &other), "InternalError", "nope.bin");
  FAILS(FerriteModelLoadParameters(path_of("bytecode.vm"), &other), "InternalError", "Invalid parameters file format");
  CHECK(other == NULL);
  release(&same);
  release(&parameters);
  free(content);
}

/* ---- memory and time ---- */

typedef struct {
  uint64_t calls, kernels;
} Report;

static void count(void* context, const TVMFFIByteArray* name, uint64_t calls, uint64_t nanoseconds) {
  Report* report = context;
  (void)nanoseconds;
  report->calls += calls;
  if (is_named(*name, "matmul")) report->kernels += calls;
}

static void measures(TVMFFIObjectHandle model, const Input* input, TVMFFIObjectHandle parameters, int is_bytecode) {
  TVMFFIAny args[5];
  Report report = {0, 0}, untouched = {0, 0};
  size_t used = 0, peak = 0;
  int i;
  in_order(input, parameters, args);
  CHECK(FerriteModelProfile(model, "main", args, 5, REPETITIONS, count, &report) == 0);
  if (is_bytecode) {
    CHECK(report.calls > 20 * REPETITIONS && report.calls % REPETITIONS == 0);
    CHECK(report.kernels == REPETITIONS);
  } else {
    CHECK(report.calls == 0);
  }
  CHECK(FerriteModelMemory(model, &used, &peak) == 0 && used == 0 && peak >= 2376 && peak < 1 << 20);
  FAILS(FerriteModelProfile(model, "main", args, 4, 1, count, &untouched), "InternalError", "expects 5 arguments");
  FAILS(FerriteModelProfile(model, "nope", args, 5, 1, count, &untouched), "ValueError", "Unknown function: nope");
  FAILS(FerriteModelProfile(model, "main", args, -1, 1, count, &untouched), "ValueError", "");
  FAILS(FerriteModelProfile(model, "main", args, 5, 1, NULL, &untouched), "ValueError", "report");
  CHECK(untouched.calls == 0);
  CHECK(FerriteModelProfile(model, "main", args, 5, 0, count, &untouched) == 0 && untouched.calls == 0);
  for (i = 1; i < 5; ++i) TVMFFIObjectDecRef(args[i].v_obj);
}

/* ---- threads ---- */

typedef struct {
  pthread_t thread;
  TVMFFIObjectHandle model, parameters;
  const Input* input;
} Worker;

static void* work(void* context) {
  Worker* worker = context;
  int i;
  for (i = 0; i < CALLS; ++i) call_and_compare(worker->model, worker->input, worker->parameters);
  return NULL;
}

static void duplicates_run_in_threads(TVMFFIObjectHandle model, const Input* input, TVMFFIObjectHandle parameters) {
  Worker workers[THREADS];
  int i;
  call_and_compare(model, input, parameters); /* reads the expected result before the threads do */
  for (i = 0; i < THREADS; ++i) {
    workers[i].model = NULL;
    workers[i].parameters = parameters;
    workers[i].input = input;
    CHECK(FerriteModelDuplicate(model, &workers[i].model) == 0 && workers[i].model != model);
    CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
  }
  for (i = 0; i < THREADS; ++i) {
    CHECK(pthread_join(workers[i].thread, NULL) == 0);
    release(&workers[i].model);
  }
}

/* ---- models from memory ---- */

static void loads_from_memory(const Input* input, TVMFFIObjectHandle parameters) {
  TVMFFIObjectHandle model = NULL, kernels = module_of(path_of("bytecode.so"));
  size_t size;
  char* content = read_file("bytecode.vm", &size);
  FAILS(FerriteModelLoadFromMemory(content, size, NULL, &model), "InternalError", "Cannot find ffi::Function");
  FAILS(FerriteModelLoadFromMemory(content, size, parameters, &model), "TypeError", "kernels");
  FAILS(FerriteModelLoadFromMemory(content, size / 2, kernels, &model), "InternalError", "Invalid VM file format");
  FAILS(FerriteModelLoadFromMemory(NULL, size, kernels, &model), "ValueError", "executable");
  FAILS(FerriteModelLoadFromMemory(content, size, kernels, NULL), "ValueError", "out");
  CHECK(model == NULL);
  CHECK(FerriteModelLoadFromMemory(content, size, kernels, &model) == 0);
  /* The bytes were copied, and the model keeps the module. */
  memset(content, 0, size);
  free(content);
  release(&kernels);
  describes(model, 1);
  call_and_compare(model, input, parameters);
  release(&model);
}

/* ---- models in a system library ---- */

/* Registers the symbols of a library as objects in the program do before main. */
static void register_symbols(const char* path) {
  static const char* const kernels[] = {"add",     "add1",    "add2",        "cast",      "matmul",    "matmul1",
                                        "maximum", "minimum", "right_shift", "transpose", "transpose1"};
  void* library = dlopen(path, RTLD_NOW);
  char name[64];
  size_t i;
  CHECK(library != NULL);
  for (i = 0; i < sizeof(kernels) / sizeof(kernels[0]); ++i) {
    sprintf(name, "__tvm_ffi_%s", kernels[i]);
    CHECK(TVMFFIEnvModRegisterSystemLibSymbol(name, dlsym(library, name)) == 0);
  }
  CHECK(TVMFFIEnvModRegisterSystemLibSymbol("digits___tvm_ffi__library_bin", dlsym(library, "__tvm_ffi__library_bin")) == 0);
}

static void finds_system_libraries(const Input* input, TVMFFIObjectHandle parameters) {
  TVMFFIObjectHandle model = NULL;
  FAILS(FerriteModelCreateFromSystemLibrary("no_model_", &model), "TypeError", "no Relax executable");
  FAILS(FerriteModelCreateFromSystemLibrary(NULL, &model), "ValueError", "prefix");
  FAILS(FerriteModelCreateFromSystemLibrary("digits_", NULL), "ValueError", "out");
  register_symbols(path_of("bytecode.so"));
  CHECK(FerriteModelCreateFromSystemLibrary("digits_", &model) == 0);
  describes(model, 1);
  call_and_compare(model, input, parameters);
  release(&model);
}

/* ---- bad input ---- */

static void bad_input_is_an_error(TVMFFIObjectHandle model, const Input* input, TVMFFIObjectHandle parameters) {
  static const char* const unknown[] = {"y"};
  static const char* const missing[] = {NULL};
  TVMFFIObjectHandle out = NULL;
  TVMFFIAny result = none();
  TVMFFIByteArray name = {NULL, 0};
  DLDataType dtype = {9, 9, 9};
  int32_t count = 99, ndim = 99;
  int64_t extent = 99;
  size_t bytes = 99;
  const char* const value_error = "ValueError";

  FAILS(FerriteModelNumFunctions(NULL, &count), value_error, "model");
  FAILS(FerriteModelNumFunctions(model, NULL), value_error, "count");
  FAILS(FerriteModelNumFunctions(parameters, &count), "TypeError", "model");
  FAILS(FerriteModelFunctionName(model, 1, &name), "IndexError", "no function 1");
  FAILS(FerriteModelFunctionName(model, -1, &name), "IndexError", "no function -1");
  FAILS(FerriteModelFunctionName(model, 0, NULL), value_error, "name");
  FAILS(FerriteModelFunctionName(NULL, 0, &name), value_error, "model");
  FAILS(FerriteModelNumInputs(model, NULL, &count), value_error, "function");
  FAILS(FerriteModelNumInputs(model, "nope", &count), value_error, "Unknown function: nope");
  FAILS(FerriteModelInputName(model, "main", 5, &name), "IndexError", "no input 5");
  FAILS(FerriteModelInputName(model, "main", -1, &name), "IndexError", "no input -1");
  FAILS(FerriteModelInputType(model, "main", 5, &dtype, &ndim, &extent, 1), "IndexError", "no input 5");
  FAILS(FerriteModelInputType(model, "nope", 0, &dtype, &ndim, &extent, 1), value_error, "nope");
  FAILS(FerriteModelInputType(model, "main", 0, NULL, &ndim, &extent, 1), value_error, "dtype");
  FAILS(FerriteModelInputType(model, "main", 0, &dtype, NULL, &extent, 1), value_error, "ndim");
  FAILS(FerriteModelInputType(model, "main", 0, &dtype, &ndim, NULL, 1), value_error, "shape");
  FAILS(FerriteModelInputType(model, "main", 0, &dtype, &ndim, &extent, -1), value_error, "shape");
  FAILS(FerriteModelNumOutputs(model, "nope", &count), value_error, "nope");
  FAILS(FerriteModelNumOutputs(model, "main", NULL), value_error, "count");
  FAILS(FerriteModelMemory(NULL, &bytes, &bytes), value_error, "model");
  FAILS(FerriteModelMemory(model, NULL, &bytes), value_error, "used");
  FAILS(FerriteModelMemory(model, &bytes, NULL), value_error, "peak");
  FAILS(FerriteModelDuplicate(NULL, &out), value_error, "model");
  FAILS(FerriteModelDuplicate(model, NULL), value_error, "out");
  FAILS(FerriteModelDuplicate(parameters, &out), "TypeError", "model");
  FAILS(FerriteModelLoadParameters(NULL, &out), value_error, "path");
  FAILS(FerriteModelLoadParameters(path_of("params.bin"), NULL), value_error, "out");
  FAILS(FerriteModelReadParameters(NULL, 1, &out), value_error, "bytes");
  FAILS(FerriteModelReadParameters("", 0, NULL), value_error, "out");
  FAILS(FerriteModelLoad(path_of("bytecode.vm"), &out), "RuntimeError", "vm");

  FAILS(FerriteModelCallNamed(model, "main", X, &input->any, 1, NULL, &result), value_error, "input w1");
  FAILS(FerriteModelCallNamed(model, "main", unknown, &input->any, 1, parameters, &result), value_error, "no input y");
  FAILS(FerriteModelCallNamed(model, "main", missing, &input->any, 1, parameters, &result), value_error, "names");
  FAILS(FerriteModelCallNamed(model, "main", NULL, NULL, 0, parameters, &result), value_error, "input x");
  FAILS(FerriteModelCallNamed(model, "main", NULL, &input->any, 1, parameters, &result), value_error, "names");
  FAILS(FerriteModelCallNamed(model, "main", X, NULL, 1, parameters, &result), value_error, "values");
  FAILS(FerriteModelCallNamed(model, "main", X, &input->any, -1, parameters, &result), value_error, "names");
  FAILS(FerriteModelCallNamed(model, "nope", X, &input->any, 1, parameters, &result), value_error, "nope");
  FAILS(FerriteModelCallNamed(model, NULL, X, &input->any, 1, parameters, &result), value_error, "function");
  FAILS(FerriteModelCallNamed(NULL, "main", X, &input->any, 1, parameters, &result), value_error, "model");
  FAILS(FerriteModelCallNamed(model, "main", X, &input->any, 1, parameters, NULL), value_error, "result");
  FAILS(FerriteModelCallNamed(model, "main", X, &input->any, 1, model, &result), "TypeError", "parameters");

  /* A failure writes nothing. */
  CHECK(out == NULL && result.type_index == kTVMFFINone && name.data == NULL && count == 99 && ndim == 99);
  CHECK(dtype.bits == 9 && extent == 99 && bytes == 99);
  call_and_compare(model, input, parameters);
}

int main(int argc, char** argv) {
  static const char* const libraries[] = {"bytecode.so", "compiled.so"};
  TVMFFIObjectHandle model = NULL, parameters = NULL;
  Input input;
  int mode;
  if (argc != 2 || !set_folder(argv[1])) return 2;
  make_input(&input);
  CHECK(FerriteModelLoadParameters(path_of("params.bin"), &parameters) == 0);
  for (mode = 0; mode < 2; ++mode) {
    CHECK(FerriteModelLoad(path_of(libraries[mode]), &model) == 0);
    describes(model, mode == 0);
    weights_come_from_a_file(model, &input);
    measures(model, &input, parameters, mode == 0);
    duplicates_run_in_threads(model, &input, parameters);
    bad_input_is_an_error(model, &input, parameters);
    release(&model);
  }
  loads_from_memory(&input, parameters);
  finds_system_libraries(&input, parameters);
  release(&parameters);
  puts("ok");
  return 0;
}
