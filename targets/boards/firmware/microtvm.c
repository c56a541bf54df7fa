/*
 * microtvm.c: firmware of microTVM 0.8 to 0.14 over the library: each way in which such firmware
 * runs a model, calls in both directions between its functions and tvm-ffi's, and mistakes, after
 * each of which the model still works.
 *
 * The models in microtvm/ are written by hand in the form of that time's code generator, and
 * checked against numpy's outputs.
 */
#include <tvm/runtime/c_backend_api.h>
#include <tvm/runtime/crt/module.h>
#include <tvm/runtime/crt/stack_allocator.h>
#include <tvm/runtime/metadata_types.h>
#include <tvmgen_plain.h>

#include "board.h"
#include "ffi.h"
#include "microtvm/data.h"
#include "print.h"
#include "profile.h"
#include "workspace.h"

enum { MOST_ARGUMENTS = 17 };

extern const TVMModule byhand_system_lib_of_0_8;
int32_t tvmgen_byhand_run(TVMValue*, int*, int, TVMValue*, int*, void*);
int32_t tvmgen_byhand_fused_multiply_add_relu(void*, int32_t*, int32_t, void*, int32_t*, void*);

static float output[OUTPUTS];
static int64_t shapes[2][2] = {{1, WIDTH}, {1, OUTPUTS}};
static DLTensor tensors[2];
static TVMValue values[MOST_ARGUMENTS];
static int codes[MOST_ARGUMENTS];
static TVMValue returned;
static int returned_code;
static TVMModuleHandle module_handle;

/* ---- arguments and results ---- */

static void describe(DLTensor* tensor, const float* data, int64_t* shape) {
  tensor->data = (void*)data; /* DLPack has no const */
  tensor->device.device_type = kDLCPU;
  tensor->device.device_id = 0;
  tensor->ndim = 2;
  tensor->dtype.code = kDLFloat;
  tensor->dtype.bits = 32;
  tensor->dtype.lanes = 1;
  tensor->shape = shape;
  tensor->strides = NULL;
  tensor->byte_offset = 0;
}

/* Sets the arguments of the packed model to a row of inputs, and clears output and result. */
static void prepare(int row) {
  int i;
  shapes[0][1] = WIDTH;
  describe(&tensors[0], model_x[row], shapes[0]);
  describe(&tensors[1], output, shapes[1]);
  for (i = 0; i < OUTPUTS; ++i) output[i] = -1.0f;
  for (i = 0; i < MOST_ARGUMENTS; ++i) {
    values[i].v_handle = &tensors[i < 2 ? i : 0];
    codes[i] = kTVMDLTensorHandle;
  }
  returned.v_int64 = 12;
  returned_code = 12;
}

/* Returns 1 if the output is numpy's times `factor`. */
static int is_right(int row, float factor) {
  int i;
  for (i = 0; i < OUTPUTS; ++i) {
    if (output[i] != factor * model_expected[row][i]) return 0;
  }
  return 1;
}

static int call(TVMFunctionHandle function, int count) {
  return TVMFuncCall(function, values, codes, count, &returned, &returned_code);
}

/* ---- ways to run the model: 0 on success ---- */

static int run_c_interface(int row) {
  struct tvmgen_plain_inputs inputs;
  struct tvmgen_plain_outputs outputs;
  inputs.x = (void*)model_x[row];
  outputs.output = output;
  return tvmgen_plain_run(&inputs, &outputs);
}

static int run_pools(int row) {
  static uint64_t sram[TVMGEN_POOLS_SRAM_WORKSPACE_POOL_SIZE / 8];
  struct tvmgen_pools_inputs inputs;
  struct tvmgen_pools_outputs outputs;
  struct tvmgen_pools_workspace_pools pools;
  inputs.x = (void*)model_x[row];
  outputs.output = output;
  pools.sram = sram;
  return tvmgen_pools_run(&inputs, &outputs, &pools);
}

static int run_packed(int row) {
  (void)row;
  return tvmgen_byhand_run(values, codes, 2, &returned, &returned_code, NULL);
}

static int run_found_in(const TVMModule* module) {
  TVMModuleHandle handle;
  TVMFunctionHandle function;
  if (TVMModCreateFromCModule(module, &handle) != 0) return -1;
  if (TVMModGetFunction(handle, "tvmgen_byhand_run", 0, &function) != 0 || call(function, 2) != 0) return -1;
  if (TVMFuncFree(function) != 0 || TVMModFree(handle) != 0) return -1;
  return returned_code == kTVMNullptr ? 0 : -1;
}

static int run_from_table(int row) {
  (void)row;
  return run_found_in(TVMSystemLibEntryPoint());
}

static int run_from_table_of_0_8(int row) {
  (void)row;
  return run_found_in(&byhand_system_lib_of_0_8);
}

/* Looks the function up in the table of names, without a module. */
static int run_by_index(int row) {
  tvm_function_index_t index;
  TVMBackendPackedCFunc function;
  const TVMFuncRegistry* registry = TVMSystemLibEntryPoint()->registry;
  (void)row;
  if (TVMFuncRegistry_Lookup(registry, "tvmgen_byhand_run", &index) != kTvmErrorNoError || index != 4) return -1;
  if (TVMFuncRegistry_GetByIndex(registry, index, &function) != kTvmErrorNoError) return -1;
  return function(values, codes, 2, &returned, &returned_code, NULL);
}

static int run_from_globals(int row) {
  TVMFunctionHandle function;
  int status;
  (void)row;
  if (TVMFuncGetGlobal("byhand.run", &function) != 0 || function == NULL) return -1;
  status = call(function, 2);
  return TVMFuncFree(function) != 0 ? -1 : status;
}

static int run_by_tvm_ffi(int row) {
  TVMFFIAny args[2], result = any_none();
  TVMFFIObjectHandle function;
  int status;
  (void)row;
  if (get_global("byhand.run", &function) != 0) return -1;
  args[0] = any_tensor(&tensors[0]);
  args[1] = any_tensor(&tensors[1]);
  status = TVMFFIFunctionCall(function, args, 2, &result);
  return TVMFFIObjectDecRef(function) != 0 ? -1 : status;
}

typedef struct {
  const char* name;
  int (*run)(int row);
} Way;

static const Way ways[] = {
    {"C interface", run_c_interface},        {"C interface, pools", run_pools},
    {"packed", run_packed},                  {"table", run_from_table},
    {"table of 0.8", run_from_table_of_0_8}, {"index in table", run_by_index},
    {"global function", run_from_globals},   {"called by tvm-ffi", run_by_tvm_ffi},
};

/* ---- functions that compiled code calls ---- */

static int find(const char* name, TVMFunctionHandle* out) { return TVMModGetFunction(module_handle, name, 0, out); }

/* Function of tvm-ffi, called by code in the earlier API. */
static int halve(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self;
  if (num_args != 1 || args[0].type_index != kTVMFFIFloat) {
    TVMFFIErrorSetRaisedFromCStr("TypeError", "byhand.halve takes a float");
    return -1;
  }
  *result = args[0];
  result->v_float64 = args[0].v_float64 / 2;
  return 0;
}

/* Function of tvm-ffi that returns a value for which the earlier API has no type code. */
static int say(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  TVMFFIByteArray text = bytes_of("a text in an object");
  (void)self;
  (void)args;
  (void)num_args;
  return TVMFFIStringFromByteArray(&text, result);
}

/* Calls a function of the model that halves its output. */
static int halves(void) {
  TVMFunctionHandle function;
  values[0].v_handle = &tensors[1];
  if (find("tvmgen_byhand_halve_all", &function) != 0 || call(function, 1) != 0) return 0;
  return is_right(0, 0.5f);
}

static int doubles_in_parallel(void) {
  TVMFunctionHandle function;
  values[0].v_handle = &tensors[1];
  if (find("tvmgen_byhand_double_all", &function) != 0 || call(function, 1) != 0) return 0;
  return is_right(0, 2.0f);
}

static int tells_about_the_model(void) {
  TVMFunctionHandle function;
  const struct TVMMetadata* metadata;
  if (find("tvmgen_byhand_get_c_metadata", &function) != 0 || call(function, 0) != 0) return 0;
  if (returned_code != kTVMOpaqueHandle) return 0;
  metadata = (const struct TVMMetadata*)returned.v_handle;
  return metadata->num_inputs == 1 && metadata->inputs[0].shape[1] == WIDTH && metadata->outputs[0].dtype.bits == 32;
}

/* Function in the earlier API: returns the type codes of its arguments. */
static int32_t tell_codes(void* args, int32_t* type_codes, int32_t num_args, void* result, int32_t* result_code,
                          void* resource) {
  int64_t told = 0;
  int i;
  (void)args;
  (void)resource;
  for (i = 0; i < num_args; ++i) told = 100 * told + type_codes[i];
  ((TVMValue*)result)->v_int64 = told;
  *result_code = kTVMArgInt;
  return 0;
}

/* Passes a value of every code through tvm-ffi and back, and an object. */
static int keeps_codes(void) {
  static const int sent[] = {kTVMArgInt, 1, kTVMArgFloat, kTVMOpaqueHandle, kTVMNullptr, kTVMDataType, kDLDevice, kTVMStr};
  TVMFunctionHandle function;
  int i, status;
  for (i = 0; i < 8; ++i) codes[i] = sent[i];
  values[7].v_str = "text";
  if (TVMFuncGetGlobal("byhand.tell", &function) != 0) return 0;
  status = call(function, 8);
  if (status != 0 || returned_code != kTVMArgInt || returned.v_int64 != 203040506 * 100LL + 11) return 0;
  values[0].v_handle = values[2].v_handle = function;
  codes[0] = codes[2] = kTVMPackedFuncHandle;
  values[1].v_handle = &tensors[0];
  codes[1] = kTVMNDArrayHandle;
  status = call(function, 3);
  return TVMFuncFree(function) == 0 && status == 0 && returned.v_int64 == 100710;
}

typedef struct {
  const char* name;
  int (*works)(void);
} Service;

static const Service services[] = {
    {"calls tvm-ffi", halves},
    {"parallel loop", doubles_in_parallel},
    {"metadata", tells_about_the_model},
    {"type codes", keeps_codes},
};

/* ---- mistakes: each returns -1 with a message that starts with these words ---- */

static int call_of_nothing(void) { return call(NULL, 2); }

static int call_global(int count) {
  TVMFunctionHandle function;
  int status;
  if (TVMFuncGetGlobal("byhand.run", &function) != 0) return 0;
  status = call(function, count);
  TVMFuncFree(function);
  return status;
}

static int negative_count(void) { return call_global(-1); }
static int too_many(void) { return call_global(MOST_ARGUMENTS); }

static int call_with(int code, void* handle) {
  codes[1] = code;
  values[1].v_handle = handle;
  return call_global(2);
}

static int unknown_code(void) { return call_with(99, &tensors[1]); }
static int negative_code(void) { return call_with(-1, &tensors[1]); }
static int module_as_argument(void) { return call_with(kTVMModuleHandle, (void*)TVMSystemLibEntryPoint()); }
static int null_text(void) { return call_with(kTVMStr, NULL); }
static int null_bytes(void) { return call_with(kTVMBytes, NULL); }

static int null_values(void) {
  TVMFunctionHandle function;
  int status = find("tvmgen_byhand_run", &function);
  if (status == 0) status = TVMFuncCall(function, NULL, codes, 2, &returned, &returned_code);
  return status;
}

static int null_result(void) {
  TVMFunctionHandle function;
  int status = find("tvmgen_byhand_run", &function);
  if (status == 0) status = TVMFuncCall(function, values, codes, 2, NULL, &returned_code);
  return status;
}

static int unknown_function(void) {
  TVMFunctionHandle function;
  return find("tvmgen_byhand_ru", &function);
}

static int longer_name(void) {
  TVMFunctionHandle function;
  return find("tvmgen_byhand_runs", &function);
}

static int null_module(void) {
  TVMFunctionHandle function;
  return TVMModGetFunction(NULL, "tvmgen_byhand_run", 0, &function);
}

static int null_table(void) {
  TVMModuleHandle handle;
  return TVMModCreateFromCModule(NULL, &handle);
}

static int empty_module(void) {
  static const TVMFuncRegistry nothing;
  static TVMModule module;
  TVMFunctionHandle function;
  module.registry = &nothing;
  return TVMModGetFunction(&module, "tvmgen_byhand_run", 0, &function);
}

static int null_name(void) {
  TVMFunctionHandle function;
  return TVMFuncGetGlobal(NULL, &function);
}

static int unknown_in_environment(void) {
  TVMFunctionHandle function;
  return TVMBackendGetFuncFromEnv(NULL, "byhand.nobody", &function);
}

static int null_function(void) { return TVMFuncRegisterGlobal("byhand.null", NULL, 0); }

static int name_taken(void) {
  return TVMFuncRegisterGlobal("byhand.run", (TVMFunctionHandle)tell_codes, 0);
}

static int unknown_tensor_code(void) {
  codes[0] = kTVMArgFloat;
  return tvmgen_byhand_fused_multiply_add_relu(values, (int32_t*)codes, 2, &returned, (int32_t*)&returned_code, NULL);
}

static int wrong_shape(void) {
  shapes[0][1] = WIDTH + 1;
  return call_global(2);
}

static int wrong_type_in_callee(void) {
  TVMFunctionHandle function;
  int status = TVMFuncGetGlobal("byhand.halve", &function);
  if (status == 0) status = call(function, 1);
  TVMFuncFree(function);
  return status;
}

/* Function in the earlier API: returns a value that tvm-ffi does not have, or fails without a
 * message. */
static int32_t return_text(void* args, int32_t* type_codes, int32_t num_args, void* result, int32_t* result_code,
                           void* resource) {
  (void)args;
  (void)type_codes;
  (void)num_args;
  (void)resource;
  ((TVMValue*)result)->v_str = "text";
  *result_code = kTVMStr;
  return 0;
}

static int32_t fail_silently(void* args, int32_t* type_codes, int32_t num_args, void* result, int32_t* result_code,
                             void* resource) {
  (void)args;
  (void)type_codes;
  (void)num_args;
  (void)result;
  (void)result_code;
  (void)resource;
  return -7;
}

/* Registers a function in the earlier API, replacing the one before, and calls it from tvm-ffi. */
static int call_instead(int32_t (*function)(void*, int32_t*, int32_t, void*, int32_t*, void*)) {
  TVMFFIAny result = any_none();
  TVMFFIObjectHandle found;
  int status;
  if (TVMFuncRegisterGlobal("byhand.other", (TVMFunctionHandle)function, 1) != 0) return 0;
  if (get_global("byhand.other", &found) != 0) return 0;
  status = TVMFFIFunctionCall(found, NULL, 0, &result);
  TVMFFIObjectDecRef(found);
  return status;
}

/* Calls it more often than strings can exist at a time: each result must be freed. */
static int text_of_tvm_ffi(void) {
  TVMFunctionHandle function;
  int i, status = TVMFuncGetGlobal("byhand.say", &function);
  for (i = 0; i < 512 && status == 0; ++i) status = call(function, 0) == -1 ? 0 : -1;
  if (status == 0) status = call(function, 0);
  TVMFuncFree(function);
  return status;
}

static int text_as_result(void) { return call_instead(return_text); }

/* The error of an earlier mistake, which nobody takes, is not that of the function. */
static int failure_without_text(void) {
  TVMFFIErrorSetRaisedFromCStr("ValueError", "of an earlier mistake");
  return call_instead(fail_silently);
}

static int no_workspace(void) {
  void* taken[8];
  int count, status;
  for (count = 0; count < 8; ++count) {
    taken[count] = TVMBackendAllocWorkspace(kDLCPU, 0, 600, kDLFloat, 32);
    if (taken[count] == NULL) break;
  }
  status = run_c_interface(0);
  while (count > 0) TVMBackendFreeWorkspace(kDLCPU, 0, taken[--count]);
  return status;
}

static int huge_workspace(void) {
  return TVMBackendAllocWorkspace(kDLCPU, 0, (uint64_t)-1, kDLFloat, 32) == NULL ? -1 : 0;
}

typedef struct {
  const char* name;
  int (*make)(void);
  const char* words;
} Mistake;

static const Mistake mistakes[] = {
    {"call of nothing", call_of_nothing, "ValueError: "},
    {"null values", null_values, "ValueError: "},
    {"null result", null_result, "ValueError: "},
    {"negative count", negative_count, "ValueError: "},
    {"17 arguments", too_many, "TypeError: more than 16 arguments"},
    {"unknown code", unknown_code, "TypeError: a type code has no value"},
    {"negative code", negative_code, "TypeError: a type code has no value"},
    {"module as argument", module_as_argument, "TypeError: a type code has no value"},
    {"null text", null_text, "TypeError: a type code has no value"},
    {"null bytes", null_bytes, "TypeError: a type code has no value"},
    {"unknown function", unknown_function, "Cannot find function tvmgen_byhand_ru"},
    {"longer name", longer_name, "Cannot find function tvmgen_byhand_runs"},
    {"null module", null_module, "ValueError: "},
    {"null table", null_table, "ValueError: "},
    {"empty module", empty_module, "Cannot find function tvmgen_byhand_run"},
    {"null name", null_name, "ValueError: "},
    {"unknown in environment", unknown_in_environment, "Cannot find function byhand.nobody"},
    {"null function", null_function, "ValueError: "},
    {"name taken", name_taken, "RuntimeError: "},
    {"code of no tensor", unknown_tensor_code, "Assert fail: arg_x_code == 3"},
    {"wrong shape", wrong_shape, "Argument arg_x.shape[1] has an unsatisfied"},
    {"wrong type in callee", wrong_type_in_callee, "TypeError: byhand.halve takes a float"},
    {"text of tvm-ffi", text_of_tvm_ffi, "TypeError: a result has no type code"},
    {"text as result", text_as_result, "TypeError: a type code has no value"},
    {"failure without text", failure_without_text, "a compiled function failed: status -7"},
    {"no workspace", no_workspace, "MemoryError: "},
    {"huge workspace", huge_workspace, "MemoryError: "},
};

/* ---- statuses of the runtime of that time ---- */

static int tables_refuse(void) {
  const TVMFuncRegistry* registry = TVMSystemLibEntryPoint()->registry;
  tvm_function_index_t index = 77;
  TVMBackendPackedCFunc function;
  if (TVMFuncFree(NULL) != 0 || TVMModFree(NULL) != 0) return 0;
  return TVMFuncRegistry_Lookup(registry, "nobody", &index) == kTvmErrorFunctionNameNotFound && index == 77 &&
         TVMFuncRegistry_Lookup(byhand_system_lib_of_0_8.registry, "nobody", &index) == kTvmErrorFunctionNameNotFound &&
         TVMFuncRegistry_Lookup(byhand_system_lib_of_0_8.registry, "tvmgen_byhand_fused_multiply_add_relu", &index) == 0 &&
         index == 0 &&
         TVMFuncRegistry_Lookup(NULL, "nobody", &index) == kTvmErrorFunctionCallInvalidArg &&
         TVMFuncRegistry_GetByIndex(registry, 6, &function) == kTvmErrorFunctionIndexInvalid &&
         TVMFuncRegistry_GetByIndex(registry, 0, NULL) == kTvmErrorFunctionCallInvalidArg;
}

static int stack_refuses(void) {
  static uint8_t memory[64 + 15];
  tvm_workspace_t stack;
  void *first = NULL, *second = NULL;
  if (StackMemoryManager_Init(&stack, memory, sizeof(memory)) != kTvmErrorNoError) return 0;
  if (StackMemoryManager_Allocate(&stack, 17, &first) != kTvmErrorNoError || (uintptr_t)first % 16 != 0) return 0;
  if (StackMemoryManager_Allocate(&stack, 33, &second) != kTvmErrorPlatformNoMemory || second != NULL) return 0;
  if (StackMemoryManager_Allocate(&stack, -1, &second) != kTvmErrorPlatformNoMemory) return 0;
  if (StackMemoryManager_Allocate(&stack, 32, &second) != kTvmErrorNoError || second != (uint8_t*)first + 32) return 0;
  if (StackMemoryManager_Free(&stack, (uint8_t*)second + 48) != kTvmErrorPlatformStackAllocBadFree) return 0;
  if (StackMemoryManager_Free(&stack, (uint8_t*)second + 1) != kTvmErrorPlatformStackAllocBadFree) return 0;
  if (StackMemoryManager_Free(&stack, second) != kTvmErrorNoError) return 0;
  if (StackMemoryManager_Free(&stack, second) != kTvmErrorNoError || stack.next_alloc != second) return 0;
  if (StackMemoryManager_Free(&stack, first) != kTvmErrorNoError || stack.next_alloc != first) return 0;
  return StackMemoryManager_Free(&stack, second) == kTvmErrorPlatformStackAllocBadFree &&
         StackMemoryManager_Init(NULL, memory, 64) == kTvmErrorFunctionCallInvalidArg &&
         StackMemoryManager_Allocate(NULL, 1, &first) == kTvmErrorFunctionCallInvalidArg;
}

static const Service refusals[] = {
    {"statuses of tables", tables_refuse},
    {"statuses of stacks", stack_refuses},
};

/* ---- checking ---- */

static int starts_with(const char* text, const char* words) {
  while (*words != '\0') {
    if (*text++ != *words++) return 0;
  }
  return 1;
}

/* Prints a row of the table: whether a check passed. */
static int report(const char* name, int good) {
  print_row_start(name);
  print_text(good ? "ok" : "FAILED");
  if (!good) {
    print_text(": ");
    print_text(TVMGetLastError());
  }
  print_row_end();
  return good;
}

static int check_way(const Way* way) {
  uint64_t start, instructions = 0;
  int row, good = 1;
  for (row = 0; row < ROWS && good; ++row) {
    prepare(row);
    start = board_instructions();
    good = way->run(row) == 0;
    instructions += board_instructions() - start;
    good = good && is_right(row, 1.0f);
  }
  if (!good) return report(way->name, 0);
  print_row_start(way->name);
  print_text("ok");
  print_row_end_measured((uint32_t)(10 * instructions / ROWS));
  return 1;
}

/* Checks a service after a run of the model, whose output it may change. */
static int check_service(const Service* service) {
  prepare(0);
  return report(service->name, run_packed(0) == 0 && service->works());
}

static int check_mistake(const Mistake* mistake) {
  int refused;
  prepare(0);
  refused = mistake->make() == -1 && starts_with(TVMGetLastError(), mistake->words);
  if (returned_code != 12 && mistake->make != null_values) refused = 0; /* nothing was written */
  if (refused) {
    print_text(TVMGetLastError());
    print_text("\n");
  }
  prepare(1);
  return report(mistake->name, refused && run_from_globals(1) == 0 && is_right(1, 1.0f));
}

/* Checks that long messages are cut, and that a new one replaces the last. */
static int keeps_texts(void) {
  static char text[512];
  const char* kept;
  int i;
  for (i = 0; i < 511; ++i) text[i] = 'a';
  TVMAPISetLastError(text);
  kept = TVMGetLastError();
  for (i = 0; kept[i] == 'a';) ++i;
  if (i < 100 || kept[i] != '\0') return 0;
  TVMAPISetLastError("ValueError: as it was: set");
  if (!starts_with(TVMGetLastError(), "ValueError: as it was: set")) return 0;
  TVMAPISetLastError(NULL);
  return TVMGetLastError()[0] == '\0';
}

#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

int main(void) {
  int i, failures = 0;
  if (TVMGetLastError()[0] != '\0' || workspace_start() != 0 || set_global("byhand.halve", halve) != 0 ||
      set_global("byhand.say", say) != 0 ||
      TVMFuncRegisterGlobal("byhand.run", (TVMFunctionHandle)tvmgen_byhand_run, 0) != 0 ||
      TVMFuncRegisterGlobal("byhand.tell", (TVMFunctionHandle)tell_codes, 0) != 0 ||
      TVMModCreateFromCModule(TVMSystemLibEntryPoint(), &module_handle) != 0) {
    print_text(TVMGetLastError());
    return 1;
  }
  for (i = 0; i < COUNT(ways); ++i) failures += !check_way(&ways[i]);
  for (i = 0; i < COUNT(services); ++i) failures += !check_service(&services[i]);
  for (i = 0; i < COUNT(mistakes); ++i) failures += !check_mistake(&mistakes[i]);
  for (i = 0; i < COUNT(refusals); ++i) failures += !report(refusals[i].name, refusals[i].works());
  failures += !report("texts", keeps_texts());
  print_stack();
  workspace_print();
  profile_print_pool();
  return failures == 0 ? 0 : 1;
}
