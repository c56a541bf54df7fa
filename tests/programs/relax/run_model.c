/*
 * run_model.c: runs a function of a compiled model, and compares the results with expected ones.
 *
 *   run_model [-r RUNTIME] [-n REPETITIONS] [-a ALLOCATOR] [-m LOADS] MODEL FUNCTION TOLERANCE
 *   ARGUMENT... -- RESULT...
 *
 * An argument is a file of numpy (`x.npy`), a shape (`shape:2,3`) or a tuple of files
 * (`tuple:a.npy,b.npy`); tuples among the results are flattened. RUNTIME is a library that is
 * opened first, such as libtvm_runtime.so. ALLOCATOR is 1 for naive, 2 for pooled memory. With -n,
 * `repeat` calls the function REPETITIONS times, so that `--toggle-collect=repeat` counts its
 * instructions. With -m, loads the model LOADS times, prints the bytes of the heap and the KiB of
 * resident memory that the process then has, and ends.
 */
#include <dlfcn.h>
#include <malloc.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dlpack/dlpack.h>
#include <tvm/ffi/c_api.h>

enum { MAX_VALUES = 16, MAX_NDIM = 8, CPU = 1 };

static void fail(const char* what, const char* which) {
  fprintf(stderr, "run_model: %s %s\n", what, which);
  exit(1);
}

/* Ends the program with the raised error unless the status is 0. */
static void must(int status, const char* what) {
  TVMFFIObjectHandle error = NULL;
  if (status == 0) return;
  TVMFFIErrorMoveFromRaised(&error);
  if (error != NULL) {
    TVMFFIErrorCell* cell = (TVMFFIErrorCell*)((char*)error + sizeof(TVMFFIObject));
    fprintf(stderr, "%.*s: %.*s\n", (int)cell->kind.size, cell->kind.data, (int)cell->message.size, cell->message.data);
  }
  fail("error in", what);
}

/* ---- values ---- */

static TVMFFIAny none(void) {
  TVMFFIAny any;
  memset(&any, 0, sizeof(any));
  return any;
}

static TVMFFIAny integer(int64_t number) {
  TVMFFIAny any = none();
  any.type_index = kTVMFFIInt;
  any.v_int64 = number;
  return any;
}

static TVMFFIAny text(const char* content) {
  TVMFFIAny any = none();
  any.type_index = kTVMFFIRawStr;
  any.v_c_str = content;
  return any;
}

static TVMFFIAny call(TVMFFIObjectHandle function, TVMFFIAny* args, int count, const char* what) {
  TVMFFIAny result = none();
  must(TVMFFIFunctionCall(function, args, count, &result), what);
  return result;
}

static TVMFFIAny call_global(const char* name, TVMFFIAny* args, int count) {
  TVMFFIObjectHandle function = NULL;
  TVMFFIAny result;
  TVMFFIByteArray key = {name, strlen(name)};
  must(TVMFFIFunctionGetGlobal(&key, &function), name);
  if (function == NULL) fail("no function", name);
  result = call(function, args, count, name);
  TVMFFIObjectDecRef(function);
  return result;
}

/* Returns a function of a module. */
static TVMFFIObjectHandle method(TVMFFIAny module, const char* name) {
  TVMFFIAny args[3], found;
  args[0] = module;
  args[1] = text(name);
  args[2] = integer(0);
  args[2].type_index = kTVMFFIBool;
  found = call_global("ffi.ModuleGetFunction", args, 3);
  if (found.type_index != kTVMFFIFunction) fail("no function", name);
  return found.v_obj;
}

/* ---- files of numpy ---- */

typedef struct {
  DLTensor tensor;
  int64_t shape[MAX_NDIM];
  size_t bytes;
  void* data;
} Array;

static void read_type(Array* array, const char* header) {
  const char* descr = strstr(header, "'descr': '");
  if (descr == NULL) fail("no type in", header);
  descr += strlen("'descr': '");
  array->tensor.dtype.lanes = 1;
  array->tensor.dtype.bits = (uint8_t)(8 * atoi(descr + 2));
  array->tensor.dtype.code = descr[1] == 'f' ? kDLFloat : descr[1] == 'i' ? kDLInt : descr[1] == 'u' ? kDLUInt : kDLBool;
}

static void read_shape(Array* array, const char* header) {
  const char* at = strstr(header, "'shape': (");
  char* end;
  if (at == NULL) fail("no shape in", header);
  at += strlen("'shape': (");
  array->tensor.ndim = 0;
  array->bytes = array->tensor.dtype.bits / 8;
  while (*at != ')') {
    int64_t extent = strtoll(at, &end, 10);
    if (end == at) {
      ++at;
      continue;
    }
    at = end;
    if (array->tensor.ndim == MAX_NDIM) fail("too many dimensions in", header);
    array->shape[array->tensor.ndim++] = extent;
    array->bytes *= (size_t)extent;
  }
  array->tensor.shape = array->shape;
}

static Array* load(const char* path) {
  unsigned char start[10];
  char header[4096];
  size_t length;
  Array* array = calloc(1, sizeof(Array));
  FILE* file = fopen(path, "rb");
  if (file == NULL || fread(start, 1, 10, file) != 10) fail("cannot read", path);
  length = start[8] | (size_t)start[9] << 8;
  if (length >= sizeof(header) || fread(header, 1, length, file) != length) fail("cannot read", path);
  header[length] = 0;
  read_type(array, header);
  read_shape(array, header);
  if (posix_memalign(&array->data, 64, array->bytes + 64) != 0) fail("no memory for", path);
  if (fread(array->data, 1, array->bytes, file) != array->bytes) fail("cannot read", path);
  fclose(file);
  array->tensor.data = array->data;
  array->tensor.device.device_type = kDLCPU;
  return array;
}

/* ---- arguments ---- */

static void give_up(DLManagedTensorVersioned* managed) { free(managed); }

/* Returns a tensor object that refers to an array, which is never freed. */
static TVMFFIAny tensor_of(const char* path) {
  Array* array = load(path);
  TVMFFIObjectHandle handle = NULL;
  TVMFFIAny any = none();
  DLManagedTensorVersioned* managed = calloc(1, sizeof(*managed));
  managed->version.major = DLPACK_MAJOR_VERSION;
  managed->version.minor = DLPACK_MINOR_VERSION;
  managed->dl_tensor = array->tensor;
  managed->deleter = give_up;
  must(TVMFFITensorFromDLPackVersioned(managed, 0, 0, &handle), path);
  any.type_index = kTVMFFITensor;
  any.v_obj = handle;
  return any;
}

/* Calls a global function with the values of a comma-separated list. */
static TVMFFIAny of_list(char* list, const char* function, TVMFFIAny (*value)(const char*)) {
  TVMFFIAny values[MAX_VALUES];
  int count = 0;
  char* word;
  for (word = strtok(list, ","); word != NULL; word = strtok(NULL, ",")) {
    if (count == MAX_VALUES) fail("too many values:", word);
    values[count++] = value(word);
  }
  return call_global(function, values, count);
}

static TVMFFIAny number_of(const char* word) { return integer(strtoll(word, NULL, 10)); }

static TVMFFIAny argument(char* word) {
  if (strncmp(word, "shape:", 6) == 0) return of_list(word + 6, "ffi.Shape", number_of);
  if (strncmp(word, "tuple:", 6) == 0) return of_list(word + 6, "ffi.Array", tensor_of);
  return tensor_of(word);
}

/* ---- results ---- */

static double element(const void* data, DLDataType dtype, size_t index) {
  if (dtype.code == kDLFloat) return dtype.bits == 32 ? ((const float*)data)[index] : ((const double*)data)[index];
  switch (dtype.bits) {
    case 8:
      return ((const int8_t*)data)[index];
    case 32:
      return ((const int32_t*)data)[index];
    default:
      return (double)((const int64_t*)data)[index];
  }
}

static void compare(const void* data, DLDataType dtype, int ndim, const int64_t* shape, const char* path, double tolerance) {
  Array* expected = load(path);
  size_t index, count = expected->bytes / (expected->tensor.dtype.bits / 8);
  int axis;
  if (dtype.code != expected->tensor.dtype.code || dtype.bits != expected->tensor.dtype.bits) fail("another type than", path);
  if (ndim != expected->tensor.ndim) fail("other dimensions than", path);
  for (axis = 0; axis < ndim; ++axis) {
    if (shape[axis] != expected->shape[axis]) fail("another shape than", path);
  }
  for (index = 0; index < count; ++index) {
    double difference = fabs(element(data, dtype, index) - element(expected->data, dtype, index));
    if (!(difference <= tolerance)) fail("another value than", path);
  }
}

/* Compares a result, or each element of a nested one, with the next expected files. */
static void check(TVMFFIAny result, char*** expected, double tolerance) {
  const DLDataType int64_type = {kDLInt, 64, 1};
  if (result.type_index == kTVMFFIArray) {
    TVMFFISeqCell* cell = (TVMFFISeqCell*)((char*)result.v_obj + sizeof(TVMFFIObject));
    int64_t index;
    for (index = 0; index < cell->size; ++index) check(((TVMFFIAny*)cell->data)[index], expected, tolerance);
    return;
  }
  if (**expected == NULL) fail("more results than", "expected");
  if (result.type_index == kTVMFFIShape) {
    TVMFFIShapeCell* cell = (TVMFFIShapeCell*)((char*)result.v_obj + sizeof(TVMFFIObject));
    int64_t size = (int64_t)cell->size;
    compare(cell->data, int64_type, 1, &size, *(*expected)++, tolerance);
  } else if (result.type_index == kTVMFFITensor) {
    DLTensor* tensor = (DLTensor*)((char*)result.v_obj + sizeof(TVMFFIObject));
    compare((char*)tensor->data + tensor->byte_offset, tensor->dtype, tensor->ndim, tensor->shape, *(*expected)++, tolerance);
  } else {
    fail("a result is not a tensor:", *(*expected));
  }
}

/* ---- the model ---- */

__attribute__((noinline)) void repeat(TVMFFIObjectHandle function, TVMFFIAny* args, int count, int repetitions) {
  int round;
  for (round = 0; round < repetitions; ++round) {
    TVMFFIAny result = call(function, args, count, "a repetition");
    if (result.type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectDecRef(result.v_obj);
  }
}

static TVMFFIAny machine_of(const char* path, int allocator) {
  TVMFFIAny model, machine, device[3];
  TVMFFIObjectHandle function;
  TVMFFIAny arg = text(path);
  model = call_global("ffi.ModuleLoadFromFile", &arg, 1);
  function = method(model, "vm_load_executable");
  machine = call(function, NULL, 0, "vm_load_executable");
  TVMFFIObjectDecRef(function);
  device[0] = integer(CPU);
  device[1] = integer(0);
  device[2] = integer(allocator);
  function = method(machine, "vm_initialization");
  call(function, device, 3, "vm_initialization");
  TVMFFIObjectDecRef(function);
  TVMFFIObjectDecRef(model.v_obj);
  return machine;
}

/* Returns the resident memory of the process in KiB. */
static long resident(void) {
  long pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%*d %ld", &pages) != 1) fail("cannot read", "/proc/self/statm");
  fclose(file);
  return pages * 4;
}

/* Returns the bytes of live blocks of the heap. */
static size_t heap_bytes(void) {
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

/* Loads a model some times, each time with a new machine, and prints the memory of the process. */
static int measure_loading(const char* path, int allocator, int loads) {
  int load;
  for (load = 0; load < loads; ++load) machine_of(path, allocator);
  printf("heap %zu resident %ld\n", heap_bytes(), resident());
  return 0;
}

int main(int argc, char** argv) {
  int at = 1, repetitions = 0, allocator = 1, loads = 0, count = 0, index;
  TVMFFIAny machine, result, args[MAX_VALUES];
  TVMFFIObjectHandle function;
  char** expected;
  double tolerance;
  for (; at + 1 < argc && argv[at][0] == '-'; at += 2) {
    if (argv[at][1] == 'r' && dlopen(argv[at + 1], RTLD_NOW | RTLD_GLOBAL) == NULL) fail("cannot open:", dlerror());
    if (argv[at][1] == 'n') repetitions = atoi(argv[at + 1]);
    if (argv[at][1] == 'a') allocator = atoi(argv[at + 1]);
    if (argv[at][1] == 'm') loads = atoi(argv[at + 1]);
  }
  if (argc - at < 4) fail("usage:", "run_model [OPTION...] MODEL FUNCTION TOLERANCE ARGUMENT... -- RESULT...");
  if (loads > 0) return measure_loading(argv[at], allocator, loads);
  machine = machine_of(argv[at], allocator);
  function = method(machine, argv[at + 1]);
  tolerance = atof(argv[at + 2]);
  for (at += 3; at < argc && strcmp(argv[at], "--") != 0; ++at) {
    if (count == MAX_VALUES) fail("too many arguments:", argv[at]);
    args[count++] = argument(argv[at]);
  }
  result = call(function, args, count, "the function");
  expected = argv + at + 1;
  check(result, &expected, tolerance);
  if (*expected != NULL) fail("missing result", *expected);
  TVMFFIObjectDecRef(result.v_obj);
  if (repetitions > 0) repeat(function, args, count, repetitions);
  for (index = 0; index < count; ++index) TVMFFIObjectDecRef(args[index].v_obj);
  TVMFFIObjectDecRef(function);
  TVMFFIObjectDecRef(machine.v_obj);
  puts("ok");
  return 0;
}
