/*
 * Values nested a million deep, on a stack of 8 MiB: every operation that walks them succeeds
 * without recursion. Upstream's library crashes in JSON, in structural operations and in the
 * release.
 */
#include "check.h"

#include <pthread.h>

/* Nests containers around the number 1, with one item or one entry each. */
static TVMFFIAny nest(const char* maker, int32_t num_args, long depth) {
  TVMFFIObjectHandle function = global_function(maker);
  TVMFFIAny current = any_int(1);
  long i;
  for (i = 0; i < depth; i++) {
    TVMFFIAny outer = any_none();
    TVMFFIAny args[2];
    args[0] = num_args == 2 ? any_text("k") : current;
    args[1] = current;
    if (TVMFFIFunctionCall(function, args, num_args, &outer) != 0) {
      CHECK(raised_is("never", NULL));
      break;
    }
    release_any(&current); /* owned by the outer one */
    current = outer;
  }
  TVMFFIObjectDecRef(function);
  return current;
}

/* An operation on one value, or on two equal ones; further arguments are false or None. */
typedef struct {
  const char* name;
  int values;
  enum { NOTHING, FALSES, NONE } rest;
  int32_t result; /* expected type index; kTVMFFIAny stands for the container's own */
  int64_t number; /* expected content; -1 stands for any */
} Operation;

static const Operation operations[] = {
    {"ffi.ReprPrint", 1, NOTHING, kTVMFFIStr, -1},
    {"ffi.RecursiveEq", 2, NOTHING, kTVMFFIBool, 1},
    {"ffi.RecursiveLt", 2, NOTHING, kTVMFFIBool, 0},
    {"ffi.RecursiveHash", 1, NOTHING, kTVMFFIInt, -1},
    {"ffi.DeepCopy", 1, NOTHING, kTVMFFIAny, -1},
    {"ffi.json.Stringify", 1, NONE, kTVMFFIStr, -1},
    {"ffi.StructuralEqual", 2, FALSES, kTVMFFIBool, 1},
    {"ffi.StructuralHash", 1, FALSES, kTVMFFIInt, -1},
    {"ffi.GetFirstStructuralMismatch", 2, FALSES, kTVMFFINone, -1},
    {"ffi.ToJSONGraphString", 1, NONE, kTVMFFIStr, -1},
};

static void run(const Operation* operation, const TVMFFIAny* values, int32_t container) {
  TVMFFIAny args[4];
  TVMFFIAny result = any_none();
  int count = operation->values;
  args[0] = values[0];
  args[1] = values[1];
  if (operation->rest == NONE) args[count++] = any_none();
  if (operation->rest == FALSES) {
    args[count++] = any_bool(0);
    args[count++] = any_bool(0);
  }
  if (call_global(operation->name, args, count, &result) != 0) {
    CHECK(raised_is("never", NULL));
    return;
  }
  CHECK_INT(result.type_index, operation->result == kTVMFFIAny ? container : operation->result);
  if (operation->number >= 0) CHECK_INT(result.v_int64, operation->number);
  release_any(&result);
}

static void run_all(const char* maker, int32_t num_args, int32_t container, long depth) {
  TVMFFIAny values[2];
  size_t i;
  values[0] = nest(maker, num_args, depth);
  values[1] = nest(maker, num_args, depth);
  for (i = 0; i < sizeof operations / sizeof operations[0]; i++) run(&operations[i], values, container);
  release_any(&values[0]);
  release_any(&values[1]);
}

static void test_arrays(void) { run_all("ffi.Array", 1, kTVMFFIArray, stress(1000000)); }

/* Fewer, since each level takes longer. */
static void test_maps(void) { run_all("ffi.Map", 2, kTVMFFIMap, stress(200000)); }

static void* tests(void* unused) {
  (void)unused;
  RUN_BALANCED(test_arrays);
  RUN_BALANCED(test_maps);
  return NULL;
}

int main(void) {
  pthread_attr_t attributes;
  pthread_t thread;
  if (!bad_input()) return check_report("depth"); /* too deep for upstream */
  census_install();
  pthread_attr_init(&attributes);
  CHECK_INT(pthread_attr_setstacksize(&attributes, 8 << 20), 0);
  CHECK_INT(pthread_create(&thread, &attributes, tests, NULL), 0);
  pthread_join(thread, NULL);
  pthread_attr_destroy(&attributes);
  return check_report("depth");
}
