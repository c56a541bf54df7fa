/* Modules, streams and lazily created handles. */
#include "bench.h"

static void reps_verify(void) {
  CHECK(bench.sum == (uint64_t)bench.reps);
}

static TVMFFIObjectHandle f_load, f_get;
static TVMFFIAny module_path, fname, mod;
static void mod_setup(void) {
  if (!bench.module) fail("no --module");
  f_load = global("ffi.ModuleLoadFromFile");
  f_get = global("ffi.ModuleGetFunction");
  module_path = str_c(bench.module);
  fname = str_c("add_one");
}
static void one_module(TVMFFIAny m) {
  CHECK(m.type_index == kTVMFFIModule);
  TVMFFIAny f = call3(f_get, m, fname, any_bool(0));
  CHECK(f.type_index == kTVMFFIFunction);
  TVMFFIAny r = call1(f.v_obj, any_int(41));
  bench.sum += r.type_index == kTVMFFIInt && r.v_int64 == 42;
  any_drop(&f);
}
static void load_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) {
    TVMFFIAny m = call1(f_load, module_path);
    one_module(m);
    any_drop(&m);
  }
}
static void modget_setup(void) {
  mod_setup();
  mod = call1(f_load, module_path);
}
static void modget_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) one_module(mod);
}

static void stream_get_setup(void) {
  CHECK(api.EnvSetStream(kDLCUDA, 1, (void*)0x1234, NULL) == 0);
}
static void stream_get_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) bench.sum += api.EnvGetStream(kDLCUDA, 1) == (void*)0x1234;
}
static void stream_set_run(int64_t reps) {
  void* prev = (void*)0x1234;
  for (int64_t i = 0; i < reps; i++) {
    void* next = i + 1 == reps ? (void*)0x1234 : (void*)(uintptr_t)(i + 1);
    void* old = NULL;
    CHECK(api.EnvSetStream(kDLCUDA, 1, next, &old) == 0);
    bench.sum += old == prev;
    prev = next;
  }
}
static void* once_handle;
static int once_calls;
static int once_init(void** out) {
  once_calls++;
  *out = &once_calls;
  return 0;
}
static void once_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++)
    bench.sum += api.HandleInitOnce(&once_handle, once_init) == 0 && once_handle == &once_calls;
}
static void once_verify(void) {
  reps_verify();
  CHECK(once_calls == 1);
}

const Operation module_operations[] = {{.name = "module_load",
                                        .what = "ffi.ModuleLoadFromFile, get and call one function, release",
                                        .flags = COUNTED,
                                        .floors = "f_dlopen",
                                        .setup = mod_setup,
                                        .run = load_run,
                                        .verify = reps_verify},
                                       {.name = "module_get",
                                        .what = "ffi.ModuleGetFunction, one call, release",
                                        .flags = COUNTED,
                                        .floors = "f_dlsym",
                                        .setup = modget_setup,
                                        .run = modget_run,
                                        .verify = reps_verify},
                                       {.name = "stream_get",
                                        .what = "TVMFFIEnvGetStream",
                                        .flags = COUNTED,
                                        .floors = "f_thread_get",
                                        .setup = stream_get_setup,
                                        .run = stream_get_run,
                                        .verify = reps_verify},
                                       {.name = "stream_set",
                                        .what = "TVMFFIEnvSetStream with the old stream",
                                        .flags = COUNTED,
                                        .floors = "f_thread_set",
                                        .setup = stream_get_setup,
                                        .run = stream_set_run,
                                        .verify = reps_verify},
                                       {.name = "init_once",
                                        .what = "TVMFFIHandleInitOnce, initialised",
                                        .flags = COUNTED,
                                        .floors = "f_made_once",
                                        .run = once_run,
                                        .verify = once_verify},
                                       {.name = NULL}};
