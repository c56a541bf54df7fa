/*
 * usage: two_copies LIBRARY COPY
 *
 * Two copies of the library in one process: the library and a copy of its file under another name,
 * and a third one in a namespace of its own. Each has tables, errors and types of its own; objects
 * of the classes that the ABI fixes pass between them, since each carries its deleter; the program
 * forks and exits as ever.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tvm/ffi/c_api.h>

#include "../../watchdog/watchdog.h"

static int checks;
static int failures;

static int check_that(int holds, const char* what, int line) {
  checks++;
  if (!holds) {
    failures++;
    printf("two_copies.c:%d: FAILED: %s\n", line, what);
  }
  return holds;
}

#define CHECK(condition) check_that((condition) ? 1 : 0, #condition, __LINE__)

/* The symbols of one copy. */
typedef struct {
  int (*get_global)(const TVMFFIByteArray*, TVMFFIObjectHandle*);
  int (*set_global)(const TVMFFIByteArray*, TVMFFIObjectHandle, int);
  int (*create)(void*, TVMFFISafeCallType, void (*)(void*), TVMFFIObjectHandle*);
  int (*call)(TVMFFIObjectHandle, TVMFFIAny*, int32_t, TVMFFIAny*);
  int (*retain)(TVMFFIObjectHandle);
  int (*release)(TVMFFIObjectHandle);
  void (*move_raised)(TVMFFIObjectHandle*);
  void (*set_raised)(const char*, const char*);
  int32_t (*alloc_type)(const TVMFFIByteArray*, int32_t, int32_t, int32_t, int32_t, int32_t);
  int (*key_to_index)(const TVMFFIByteArray*, int32_t*);
} copy;

/* Finds a symbol; functions and data pointers have one size here (POSIX). */
static void find(void* library, const char* name, void* place) {
  void* found = dlsym(library, name);
  if (!CHECK(found != NULL)) {
    printf("  %s\n", name);
    exit(2);
  }
  memcpy(place, &found, sizeof(found));
}

static copy open_copy(void* library) {
  copy made;
  if (library == NULL) {
    printf("%s\n", dlerror());
    exit(2);
  }
  find(library, "TVMFFIFunctionGetGlobal", &made.get_global);
  find(library, "TVMFFIFunctionSetGlobal", &made.set_global);
  find(library, "TVMFFIFunctionCreate", &made.create);
  find(library, "TVMFFIFunctionCall", &made.call);
  find(library, "TVMFFIObjectIncRef", &made.retain);
  find(library, "TVMFFIObjectDecRef", &made.release);
  find(library, "TVMFFIErrorMoveFromRaised", &made.move_raised);
  find(library, "TVMFFIErrorSetRaisedFromCStr", &made.set_raised);
  find(library, "TVMFFITypeGetOrAllocIndex", &made.alloc_type);
  find(library, "TVMFFITypeKeyToIndex", &made.key_to_index);
  return made;
}

static TVMFFIByteArray bytes_of(const char* text) {
  TVMFFIByteArray bytes;
  bytes.data = text;
  bytes.size = strlen(text);
  return bytes;
}

static TVMFFIAny any_text(const char* text) {
  TVMFFIAny any;
  memset(&any, 0, sizeof(any));
  any.type_index = kTVMFFIRawStr;
  any.v_c_str = text;
  return any;
}

static TVMFFIAny any_object(TVMFFIObjectHandle object) {
  TVMFFIAny any;
  memset(&any, 0, sizeof(any));
  any.type_index = ((TVMFFIObject*)object)->type_index;
  any.v_obj = (TVMFFIObject*)object;
  return any;
}

/* Calls a global function of a copy. */
static int call_global(const copy* by, const char* name, TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  TVMFFIByteArray bytes = bytes_of(name);
  TVMFFIObjectHandle function = NULL;
  int status;
  memset(result, 0, sizeof(*result));
  CHECK(by->get_global(&bytes, &function) == 0 && function != NULL);
  status = by->call(function, args, count, result);
  CHECK(by->release(function) == 0);
  return status;
}

/* Takes the raised error of a copy. Returns whether there was one. */
static int takes_error(const copy* by) {
  TVMFFIObjectHandle error = NULL;
  by->move_raised(&error);
  if (error != NULL) {
    CHECK(by->release(error) == 0);
  }
  return error != NULL;
}

static int give_seven(void* self, const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  (void)args;
  (void)count;
  memset(result, 0, sizeof(*result));
  result->type_index = kTVMFFIInt;
  result->v_int64 = self == NULL ? 7 : 8;
  return 0;
}

/* Tables and errors of one copy are not those of the other. */
static void test_apart(const copy* one, const copy* other) {
  static int rounds;
  char text[40];
  TVMFFIByteArray name;
  TVMFFIObjectHandle function = NULL;
  TVMFFIObjectHandle found = NULL;
  int32_t index = 0;
  sprintf(text, "two_copies.name_%d", rounds++);
  name = bytes_of(text);
  CHECK(one->create(NULL, give_seven, NULL, &function) == 0);
  CHECK(one->set_global(&name, function, 1) == 0);
  CHECK(other->get_global(&name, &found) == 0 && found == NULL);
  CHECK(one->alloc_type(&name, -1, 1, 0, 1, kTVMFFIObject) > 0);
  CHECK(other->key_to_index(&name, &index) == -1 && takes_error(other));
  one->set_raised("ValueError", "an error of one copy");
  CHECK(!takes_error(other));
  CHECK(takes_error(one));
  CHECK(one->get_global(&name, &found) == 0 && found == function);
  CHECK(one->release(found) == 0 && one->release(function) == 0);
}

/* Objects of fixed classes pass from one copy to the other, which may also be the one that destroys
 * them. */
static void test_shared_objects(const copy* one, const copy* other) {
  TVMFFIAny text = any_text("{\"a key that is long\": [1, 2.5, \"a text that is long\"]}");
  TVMFFIAny value;
  TVMFFIAny printed;
  TVMFFIAny again;
  TVMFFIObjectHandle function = NULL;
  CHECK(call_global(one, "ffi.json.Parse", &text, 1, &value) == 0);
  CHECK(call_global(other, "ffi.ReprPrint", &value, 1, &printed) == 0);
  CHECK(call_global(one, "ffi.ReprPrint", &value, 1, &again) == 0);
  CHECK(((TVMFFIByteArray*)(void*)(printed.v_obj + 1))->size == ((TVMFFIByteArray*)(void*)(again.v_obj + 1))->size);
  CHECK(one->release(printed.v_obj) == 0 && other->release(again.v_obj) == 0);
  CHECK(other->release(value.v_obj) == 0);
  CHECK(one->create(NULL, give_seven, NULL, &function) == 0);
  CHECK(other->call(function, NULL, 0, &value) == 0 && value.v_int64 == 7);
  CHECK(other->release(function) == 0);
}

/* A function that fails in one copy, called by the other: the error is raised in the copy whose
 * function it is. */
static void test_errors_across(const copy* one, const copy* other) {
  TVMFFIByteArray name = bytes_of("ffi.ArraySize");
  TVMFFIObjectHandle function = NULL;
  TVMFFIAny result;
  TVMFFIAny text = any_text("no array");
  memset(&result, 0, sizeof(result));
  CHECK(one->get_global(&name, &function) == 0);
  CHECK(other->call(function, &text, 1, &result) == -1);
  CHECK(takes_error(one));
  CHECK(!takes_error(other));
  CHECK(other->release(function) == 0);
}

/* Objects of classes that a copy registered itself: an error or a result in the other copy, but no
 * crash. */
static void test_registered_classes(const copy* one, const copy* other) {
  TVMFFIAny args[1];
  TVMFFIAny value;
  TVMFFIAny result;
  args[0] = any_text("a text that is long");
  CHECK(call_global(one, "ffi.VisitInterrupt", args, 1, &value) == 0);
  args[0] = any_object(value.v_obj);
  if (call_global(other, "ffi.ReprPrint", args, 1, &result) == 0) {
    CHECK(one->release(result.v_obj) == 0);
  } else {
    CHECK(takes_error(other));
  }
  CHECK(other->release(value.v_obj) == 0);
}

/* Forks hold the locks of both copies. */
static void test_forks(const copy* one, const copy* other) {
  int i;
  for (i = 0; i < 20; i++) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
      watchdog(30);
      test_apart(one, other);
      test_shared_objects(other, one);
      _exit(failures != 0);
    }
    CHECK(wait_for_watched(child, &status) == child && status == 0);
  }
}

static void test(const char* what, const copy* one, const copy* other) {
  printf("%s\n", what);
  fflush(stdout);
  test_apart(one, other);
  test_shared_objects(one, other);
  test_errors_across(one, other);
  test_registered_classes(one, other);
  test_forks(one, other);
}

int main(int argc, char** argv) {
  copy first;
  copy second;
  copy apart;
  if (argc != 3) {
    printf("usage: two_copies LIBRARY COPY\n");
    return 2;
  }
  watchdog(120);
  first = open_copy(dlopen(argv[1], RTLD_NOW | RTLD_LOCAL));
  second = open_copy(dlopen(argv[2], RTLD_NOW | RTLD_LOCAL));
  apart = open_copy(dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW | RTLD_LOCAL));
  CHECK(first.create != second.create && first.create != apart.create);
  test("a copy under another name", &first, &second);
  test("and the other way round", &second, &first);
  test("a namespace of its own", &first, &apart);
  test("and the other way round", &apart, &first);
  printf("two_copies: %d checks, %d failed\n", checks, failures);
  fflush(stdout);
  return failures == 0 ? 0 : 1;
}
