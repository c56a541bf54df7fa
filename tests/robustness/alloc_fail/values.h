/*
 * Operations on whole values, applied to one that contains every kind of value. A build may lack
 * some.
 */
#ifndef FERRITE_TESTS_ALLOC_FAIL_VALUES_H_
#define FERRITE_TESTS_ALLOC_FAIL_VALUES_H_

#include "steps.h"

/* Calls a function and ignores its result. */
static void operate(const char* name, TVMFFIAny* args, int32_t count) {
  TVMFFIAny result;
  if (call_step(name, args, count, &result)) {
    release_any(&result);
  }
}

/* Calls a function that must fail with an error of this kind or a MemoryError. */
static void refuse(const char* name, TVMFFIAny* args, int32_t count, const char* kind) {
  TVMFFIAny result = any_none();
  TVMFFIByteArray bytes = bytes_of(name);
  TVMFFIObjectHandle function = NULL;
  if (!STEP(TVMFFIFunctionGetGlobal(&bytes, &function)) || function == NULL) {
    return;
  }
  CHECK_INT(TVMFFIFunctionCall(function, args, count, &result), -1);
  expect_raised(kind);
  drop(function);
}

/* Creates a List with a string, twice, and a Dict. */
static int make_list(TVMFFIAny* list) {
  TVMFFIAny args[3];
  TVMFFIAny dict;
  int made;
  args[0] = any_text("a key that needs an object of its own");
  args[1] = any_int(7);
  if (!call_step("ffi.Dict", args, 2, &dict)) {
    return 0;
  }
  args[1] = args[0];
  args[2] = any_object(dict.v_obj);
  made = call_step("ffi.List", args, 3, list);
  release_any(&dict);
  return made;
}

/* Creates an Array with a shared List, a Map, a big integer, bytes and a shape. */
static int make_value(TVMFFIAny* value) {
  TVMFFIByteArray words = bytes_of("two whole words.");
  TVMFFIAny parts[5];
  TVMFFIAny entry[2];
  TVMFFIAny extent = any_int(3);
  int made;
  int i;
  for (i = 0; i < 5; i++) {
    parts[i] = any_none();
  }
  made = make_list(&parts[0]);
  if (made) {
    entry[0] = any_text("list");
    entry[1] = any_object(parts[0].v_obj);
    made = call_step("ffi.Map", entry, 2, &parts[1]) &&
           STEP(TVMFFIBigIntFromByteArray(&words, &parts[2])) &&
           STEP(TVMFFIBytesFromByteArray(&words, &parts[3])) &&
           call_step("ffi.Shape", &extent, 1, &parts[4]) &&
           call_step("ffi.Array", parts, 5, value);
  }
  for (i = 0; i < 5; i++) {
    release_any(&parts[i]);
  }
  return made;
}

/* Converts a value to a graph and back. */
static void walk_graph(const char* to, const char* from, TVMFFIAny* value) {
  TVMFFIAny args[2];
  TVMFFIAny graph;
  args[0] = *value;
  args[1] = any_text("metadata");
  if (call_step(to, args, 2, &graph)) {
    operate(from, &graph, 1);
    release_any(&graph);
  }
}

/* Compares two values that are equal, and two that differ. */
static void walk_pair(TVMFFIAny* value, TVMFFIAny* copy) {
  TVMFFIAny args[4];
  TVMFFIAny result;
  args[0] = *value;
  args[1] = *copy;
  if (call_step("ffi.RecursiveEq", args, 2, &result)) {
    CHECK_INT(result.v_int64, 1);
  }
  args[2] = any_bool(0);
  args[3] = any_bool(0);
  if (call_step("ffi.StructuralEqual", args, 4, &result)) {
    CHECK_INT(result.v_int64, 1);
  }
  if (call_step("ffi.Array", args, 1, &result)) {
    TVMFFIAny other = result;
    args[0] = any_object(other.v_obj);
    operate("ffi.GetFirstStructuralMismatch", args, 4);
    release_any(&other);
  }
}

/* Uses an object of a reflected class. */
static void walk_object(TVMFFIAny* value) {
  TVMFFIAny object;
  if (call_step("ffi.VisitInterrupt", value, 1, &object)) {
    operate("ffi.ReprPrint", &object, 1);
    operate("ffi.RecursiveHash", &object, 1);
    operate("ffi.DeepCopy", &object, 1);
    walk_graph("ffi.ToJSONGraphString", "ffi.FromJSONGraphString", &object);
    release_any(&object);
  }
}

/* Uses a List that contains itself. */
static void walk_cycle(void) {
  TVMFFIAny args[2];
  TVMFFIAny list;
  TVMFFIAny result;
  TVMFFIByteArray name = bytes_of("ffi.ListClear");
  TVMFFIObjectHandle clear = UNTOUCHED;
  if (!STEP_OUT(TVMFFIFunctionGetGlobal(&name, &clear), &clear)) {
    return;
  }
  if (!call_step("ffi.List", NULL, 0, &list)) {
    drop(clear);
    return;
  }
  args[0] = list;
  args[1] = list;
  if (call_step("ffi.ListAppend", args, 2, &result)) {
    operate("ffi.ReprPrint", args, 1);
    args[1] = any_none();
    refuse("ffi.ToJSONGraph", args, 2, "ValueError");
    refuse("ffi.json.Stringify", args, 2, "ValueError");
  }
  /* The list may contain itself. */
  CHECK_INT(TVMFFIFunctionCall(clear, args, 1, &result), 0);
  drop(clear);
  release_any(&list);
}

static void walk_values(void) {
  TVMFFIAny args[3];
  TVMFFIAny value;
  TVMFFIAny copy;
  args[0] = any_text("{\"root_index\":0,\"nodes\":[{\"type\":\"ffi.List\",\"data\":[0]}]}");
  refuse("ffi.FromJSONGraphString", args, 1, "ValueError");
  walk_cycle();
  if (!make_value(&value)) {
    return;
  }
  args[0] = value;
  args[1] = any_bool(0);
  args[2] = any_bool(0);
  operate("ffi.ReprPrint", args, 1);
  operate("ffi.RecursiveHash", args, 1);
  operate("ffi.StructuralHash", args, 3);
  operate("ffi.StructuralKey", args, 1);
  walk_graph("ffi.ToJSONGraph", "ffi.FromJSONGraph", &value);
  walk_graph("ffi.ToJSONGraphString", "ffi.FromJSONGraphString", &value);
  if (call_step("ffi.DeepCopy", args, 1, &copy)) {
    walk_pair(&value, &copy);
    release_any(&copy);
  }
  walk_object(&value);
  release_any(&value);
}

#endif /* FERRITE_TESTS_ALLOC_FAIL_VALUES_H_ */
