/* rpc_evaluator.c: time evaluators; see ferrite/rpc.h. */
#include <ferrite/rpc.h>
#include <string.h>
#include <tvm_ffi_platform.h>

static int fail(const char* kind, const char* message) {
  TVMFFIErrorSetRaisedFromCStr(kind, message);
  return -1;
}

typedef struct {
  const FerriteRpcBoard* board;
  TVMFFIObjectHandle function;
  uint32_t number, repeat, milliseconds;
  uint64_t times[1]; /* of the repetitions: seconds per call, as doubles */
} Evaluator;

static void free_evaluator(void* self) {
  TVMFFIObjectDecRef(((Evaluator*)self)->function);
  FerritePlatformRelease(self);
}

/* Calls a function `number` times. */
static int repeat_call(const Evaluator* evaluator, uint32_t number, const TVMFFIAny* args, int32_t num_args) {
  for (; number != 0; --number) {
    TVMFFIAny result;
    memset(&result, 0, sizeof(result));
    if (TVMFFIFunctionCall(evaluator->function, (TVMFFIAny*)args, num_args, &result) != 0) return -1;
    if (result.type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectDecRef(result.v_obj);
  }
  return 0;
}

/* Returns the double `nanoseconds / (1e9 * count)`, with the digits of a float, so that no doubles
 * are linked. */
static uint64_t seconds(uint64_t nanoseconds, uint32_t count) {
  union {
    float number;
    uint32_t bits;
  } quotient;
  quotient.number = (float)(uint32_t)(nanoseconds >> 32) * 4294967296.0f + (float)(uint32_t)nanoseconds;
  quotient.number /= (float)count * 1e9f;
  return ((uint64_t)quotient.bits << 29) + ((uint64_t)(1023 - 127) << 52);
}

/* Measures a repetition. The number of calls grows until they take the given time, or none. */
static int measure(const Evaluator* evaluator, const TVMFFIAny* args, int32_t num_args, uint64_t* out) {
  const FerriteRpcBoard* board = evaluator->board;
  uint32_t number = evaluator->number;
  for (;; number += number / 8 * 5 + 1) {
    uint64_t time = board->nanoseconds(board->self);
    if (repeat_call(evaluator, number, args, num_args) != 0) return -1;
    time = board->nanoseconds(board->self) - time;
    *out = time == 0 ? 0 : seconds(time, number);
    if (time == 0 || time >= evaluator->milliseconds * (uint64_t)1000000 || number > INT32_MAX / 2) return 0;
  }
}

/* Returns the times as bytes. */
static int evaluate(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  Evaluator* evaluator = self;
  TVMFFIByteArray bytes;
  uint32_t i;
  if (repeat_call(evaluator, 1, args, num_args) != 0) return -1;
  for (i = 0; i < evaluator->repeat; ++i) {
    if (measure(evaluator, args, num_args, &evaluator->times[i]) != 0) return -1;
  }
  bytes.data = (const char*)evaluator->times;
  bytes.size = evaluator->repeat * 8;
  return TVMFFIBytesFromByteArray(&bytes, result);
}

/* Finds the function to measure by the first arguments of a time evaluator: a module or None, and
 * its name. A missing one is an error. */
static int find_function(const FerriteRpcBoard* board, const TVMFFIAny* args, TVMFFIObjectHandle* out) {
  TVMFFIAny result;
  TVMFFIObjectHandle get;
  int status = FerriteRpcFindFunction(board, args[0].type_index == kTVMFFINone ? args[1].v_c_str : "tvm.rpc.server.ModuleGetFunction", out);
  if (status != 0) return -1;
  if (args[0].type_index != kTVMFFINone && *out != NULL) {
    get = *out;
    memset(&result, 0, sizeof(result));
    /* The third argument, the type of the device, is 1: imported modules are searched, too. */
    status = TVMFFIFunctionCall(get, (TVMFFIAny*)args, 3, &result);
    TVMFFIObjectDecRef(get);
    if (status != 0) return -1;
    *out = result.type_index == kTVMFFIFunction ? result.v_obj : NULL;
  }
  return *out != NULL ? 0 : fail("ValueError", "no such function");
}

/* runtime.RPCTimeEvaluator: module, name, device type, device id, number, repeat, min_repeat_ms,
 * what boards do not need, and the name of a preprocessing function, `f_preproc` of TVM's client,
 * which must be empty. */
static int make_evaluator(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  const TVMFFIAny* end = args + num_args;
  Evaluator* evaluator;
  uint32_t number, repeat;
  if (num_args < 8 || args[1].type_index != kTVMFFIRawStr) return fail("ValueError", "wrong arguments");
  if (end[-1].type_index != kTVMFFIRawStr || *end[-1].v_c_str != '\0') return fail("ValueError", "no f_preproc on boards");
  repeat = (uint32_t)args[5].v_int64 & INT32_MAX / 16;
  evaluator = FerritePlatformAllocate(sizeof(*evaluator) + repeat * 8, 8);
  if (evaluator == NULL) return fail("MemoryError", "too many repeats");
  number = (uint32_t)args[4].v_int64;
  evaluator->board = self;
  evaluator->number = number != 0 ? number : 1;
  evaluator->repeat = repeat;
  evaluator->milliseconds = (uint32_t)args[6].v_int64;
  if (find_function(self, args, &evaluator->function) != 0) {
    FerritePlatformRelease(evaluator);
    return -1;
  }
  if (TVMFFIFunctionCreate(evaluator, evaluate, free_evaluator, (TVMFFIObjectHandle*)&result->v_obj) != 0) {
    free_evaluator(evaluator);
    return -1;
  }
  result->type_index = kTVMFFIFunction;
  return 0;
}

int FerriteRpcRegister(const FerriteRpcBoard* board) {
  static const TVMFFIByteArray name = {"runtime.RPCTimeEvaluator", 24};
  TVMFFIObjectHandle function;
  int status;
  if (TVMFFIFunctionCreate((void*)board, make_evaluator, NULL, &function) != 0) return -1;
  status = TVMFFIFunctionSetGlobal(&name, function, 1);
  TVMFFIObjectDecRef(function); /* the table has its own reference */
  return status;
}
