/*
 * Modules, functions, containers, errors and threads while the system refuses mappings of memory:
 * calls give errors or do with fewer threads.
 */
#include "refused_mappings.h"

#include <tvm/runtime/c_backend_api.h>

/* Each returns whether all of its calls worked. */

static int load_a_module(void) {
  TVMFFIAny module;
  TVMFFIAny function;
  TVMFFIAny arg = any_int(4);
  TVMFFIAny result = any_none();
  int good = 0;
  if (!works(load(required("CHECK_KERNELS"), &module))) {
    return 0;
  }
  if (works(module_function(module.v_obj, "add_one", 0, &function))) {
    good = works(TVMFFIFunctionCall(function.v_obj, &arg, 1, &result));
    CHECK(!good || result.v_int64 == 5);
    release_any(&function);
  }
  release_any(&module);
  return good;
}

static int identity(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self;
  *result = num_args == 1 ? args[0] : any_none();
  return 0;
}

/* Registers so many functions that the tables grow. */
static int register_and_call(void) {
  enum { NAMES = 3000 };
  char text[40];
  int i;
  TVMFFIAny arg = any_int(7);
  for (i = 0; i < NAMES; i++) {
    TVMFFIByteArray name;
    TVMFFIObjectHandle function = NULL;
    TVMFFIAny result = any_none();
    int good;
    sprintf(text, "mappings.%d", i);
    name = bytes_of(text);
    if (!works(TVMFFIFunctionCreate(NULL, identity, NULL, &function))) {
      return 0;
    }
    good = works(TVMFFIFunctionSetGlobal(&name, function, 1));
    TVMFFIObjectDecRef(function);
    if (!good || !works(call_global(text, &arg, 1, &result))) {
      return 0;
    }
    CHECK_INT(result.v_int64, 7);
  }
  return 1;
}

/* A list and a dictionary that grow beyond what malloc has in its heap, and copies of them. */
static int fill_containers(void) {
  enum { ELEMENTS = 40000 };
  TVMFFIAny args[3];
  TVMFFIAny result;
  TVMFFIAny list;
  TVMFFIAny dict;
  int good = 1;
  int i;
  if (!works(call_global("ffi.List", NULL, 0, &list))) {
    return 0;
  }
  if (!works(call_global("ffi.Dict", NULL, 0, &dict))) {
    release_any(&list);
    return 0;
  }
  for (i = 0; i < ELEMENTS && good; i++) {
    args[0] = list;
    args[1] = any_int(i);
    good = works(call_global("ffi.ListAppend", args, 2, &result));
    args[0] = dict;
    args[2] = any_int(-i);
    good = good && works(call_global("ffi.DictSetItem", args, 3, &result));
  }
  args[0] = good ? dict : list;
  if (works(call_global("ffi.DeepCopy", args, 1, &result))) {
    release_any(&result);
  } else {
    good = 0;
  }
  release_any(&list);
  release_any(&dict);
  return good;
}

static int keep_errors(void) { return raise_errors(600); }

static int count_task(int task, TVMParallelGroupEnv* env, void* data) {
  __sync_fetch_and_add((int*)data, 1);
  CHECK(task < env->num_task);
  return 0;
}

/* A loop runs on fewer threads, or not at all. */
static int start_threads(void) {
  enum { TASKS = 4 };
  TVMFFIAny settings[2];
  TVMFFIAny result;
  int ran = 0;
  int good;
  settings[0] = any_int(1);
  settings[1] = any_int(TASKS);
  good = works(call_global("runtime.config_threadpool", settings, 2, &result));
  if (works(TVMBackendParallelLaunch(count_task, &ran, 0))) {
    CHECK(ran >= 1);
  } else {
    good = 0;
  }
  ran = 0;
  if (works(TVMBackendParallelLaunch(count_task, &ran, TASKS))) {
    CHECK_INT(ran, TASKS);
  } else {
    CHECK_INT(ran, 0);
    good = 0;
  }
  return good;
}

static const scenario SCENARIOS[] = {
    {"a module is loaded", load_a_module, 1},      {"functions are registered", register_and_call, 1},
    {"containers are filled", fill_containers, 1}, {"errors are raised", keep_errors, 1},
    {"threads are started", start_threads, 0},
};

int main(void) {
  return check_scenarios("mappings", required("CHECK_KERNELS"), SCENARIOS, sizeof(SCENARIOS) / sizeof(SCENARIOS[0]));
}
