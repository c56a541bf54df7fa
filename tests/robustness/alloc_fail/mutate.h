/*
 * Structural maps and mutations of a value, in a copy and in place.
 */
#ifndef FERRITE_TESTS_ALLOC_FAIL_MUTATE_H_
#define FERRITE_TESTS_ALLOC_FAIL_MUTATE_H_

#include "steps.h"

static int next_number(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self;
  (void)num_args;
  *result = any_int(args[0].v_int64 + 1);
  return 0;
}

/* Mutator whose callback sets a substitution. */
static TVMFFIAny told_mutator;

/* Sets a substitution of the value by itself. */
static int tell_mutator(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  TVMFFIAny call[3];
  (void)self;
  (void)num_args;
  call[0] = args[1];
  call[1] = args[0];
  call[2] = args[0];
  told_mutator = args[1];
  call_step("ffi.StructuralMutatorVarRemapSet", call, 3, result);
  told_mutator = any_none();
  return 0;
}

/* Creates callbacks for one type: an Array of Arrays of type index, function and, for mutations, a
 * flag. */
static int make_callbacks(int32_t type_index, TVMFFISafeCallType call, int with_flag, TVMFFIAny* callbacks) {
  TVMFFIObjectHandle function = UNTOUCHED;
  TVMFFIAny entry[3];
  TVMFFIAny made;
  int ok;
  if (!STEP_OUT(TVMFFIFunctionCreate(NULL, call, NULL, &function), &function)) {
    return 0;
  }
  entry[0] = any_int(type_index);
  entry[1] = any_object(function);
  entry[2] = any_bool(0);
  ok = call_step("ffi.Array", entry, with_flag ? 3 : 2, &made);
  if (ok) {
    ok = call_step("ffi.Array", &made, 1, callbacks);
    release_any(&made);
  }
  drop(function);
  return ok;
}

static void rewrite(const char* name, TVMFFIAny* args, int32_t count, int gives_up) {
  TVMFFIAny result;
  TVMFFIAny root = args[0];
  TVMFFIObjectHandle slot = root.v_obj;
  if (gives_up) {
    args[0].type_index = kTVMFFIObjectRValueRef;
    args[0].v_ptr = &slot;
  }
  if (call_step(name, args, count, &result)) {
    release_any(&result);
  }
  if (gives_up && slot != NULL) {
    drop(slot);
  }
  args[0] = root;
}

/* Creates nested lists and maps around a number, from the inside. */
static int make_nested(TVMFFIAny* value) {
  static const char* const around[] = {"ffi.List", "ffi.Array", "ffi.List", "ffi.Array"};
  TVMFFIAny entry[6];
  TVMFFIAny inner;
  size_t i;
  entry[0] = any_int(1);
  entry[1] = any_int(2);
  entry[2] = any_text("a longer key than seven");
  entry[3] = any_text("a longer value than seven");
  entry[4] = any_int(3);
  entry[5] = any_int(4);
  if (!call_step("ffi.Dict", entry, 6, value)) {
    return 0;
  }
  inner = *value;
  entry[1] = any_object(inner.v_obj);
  if (!call_step("ffi.Map", entry, 6, value)) {
    release_any(&inner);
    return 0;
  }
  release_any(&inner);
  for (i = 0; i < sizeof(around) / sizeof(around[0]); i++) {
    inner = *value;
    entry[1] = any_object(inner.v_obj);
    if (!call_step(around[i], entry, 6, value)) {
      release_any(&inner);
      return 0;
    }
    release_any(&inner);
  }
  inner = *value;
  i = (size_t)call_step("ffi.VisitInterrupt", &inner, 1, value);
  release_any(&inner);
  return i != 0;
}

static void walk_mutations(void) {
  TVMFFIAny args[4];
  TVMFFIAny none;
  int with_flag;
  int order;
  for (with_flag = 0; with_flag < 2; with_flag++) {
    TVMFFIAny callbacks;
    if (!make_callbacks(kTVMFFIInt, next_number, with_flag, &callbacks)) {
      continue;
    }
    if (call_step("ffi.Array", NULL, 0, &none)) {
      for (order = 0; order < 4; order++) {
        TVMFFIAny value;
        if (!make_nested(&value)) {
          continue;
        }
        args[0] = value;
        args[1] = any_object(callbacks.v_obj);
        args[2] = any_object(none.v_obj);
        args[3] = any_int(order & 1);
        if (order & 2) {
          rewrite(with_flag ? "ffi.StructuralMutate" : "ffi.StructuralMap", args, with_flag ? 2 : 4, 1);
        } else {
          rewrite(with_flag ? "ffi.StructuralMutate" : "ffi.StructuralMap", args, with_flag ? 2 : 4, 0);
          release_any(&value);
        }
      }
      release_any(&none);
    }
    release_any(&callbacks);
  }
}

/* Mutates a value with a callback that sets a substitution. */
static void walk_memory_of_a_mutator(void) {
  TVMFFIAny args[2];
  TVMFFIAny result;
  if (make_callbacks(kTVMFFIArray, tell_mutator, 1, &args[1])) {
    if (call_step("ffi.Array", NULL, 0, &args[0])) {
      if (call_step("ffi.StructuralMutate", args, 2, &result)) {
        release_any(&result);
      }
      release_any(&args[0]);
    }
    release_any(&args[1]);
  }
}

#endif /* FERRITE_TESTS_ALLOC_FAIL_MUTATE_H_ */
