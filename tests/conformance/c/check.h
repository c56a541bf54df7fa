/*
 * Checks of the C test programs: counted, and printed on failure.
 *
 * A program is a single translation unit that includes this file, calls its tests from main and
 * returns check_report(). The good-input parts hold for any implementation of the ABI. The parts
 * behind bad_input() hold for this one; they are skipped when CHECK_GOOD_INPUT_ONLY is set in the
 * environment, as it is when the programs run against upstream's library.
 */
#ifndef FERRITE_TESTS_C_CHECK_H_
#define FERRITE_TESTS_C_CHECK_H_

#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tvm/ffi/c_api.h>
#include <tvm/ffi/extra/c_env_api.h>

#include "system.h"

#define UNUSED_OK __attribute__((unused))

/* ---- counting ---------------------------------------------------------------------------- */

static int checks_done;
static int checks_failed;

UNUSED_OK static int check_that(int holds, const char* what, const char* file, int line) {
  checks_done++;
  if (!holds) {
    checks_failed++;
    printf("%s:%d: FAILED: %s\n", file, line, what);
    fflush(stdout);
  }
  return holds;
}

#define CHECK(condition) check_that((condition) ? 1 : 0, #condition, __FILE__, __LINE__)
#define CHECK_INT(a, b) check_equal((long)(a), (long)(b), #a " == " #b, __FILE__, __LINE__)

UNUSED_OK static int check_equal(long a, long b, const char* what, const char* file, int line) {
  if (a != b) {
    printf("%s:%d: %ld is not %ld\n", file, line, a, b);
  }
  return check_that(a == b, what, file, line);
}

UNUSED_OK static int check_report(const char* program) {
  printf("%s: %d checks, %d failed\n", program, checks_done, checks_failed);
  fflush(stdout);
  return checks_failed == 0 ? 0 : 1;
}

/* Returns true if bad input is tested: upstream's library may crash on it. */
UNUSED_OK static int bad_input(void) { return getenv("CHECK_GOOD_INPUT_ONLY") == NULL; }

/* Returns the size of a stress test, scaled down if each step is slow (sanitizers, valgrind). */
UNUSED_OK static long stress(long full) {
  const char* divisor = getenv("CHECK_STRESS_DIVISOR");
  long by = divisor == NULL ? 1 : atol(divisor);
  return by > 1 ? full / by : full;
}

/* ---- values ------------------------------------------------------------------------------ */

/* An address that no function may write to or return. */
#define UNTOUCHED ((TVMFFIObjectHandle)(uintptr_t)0xABCDEF00u)

UNUSED_OK static TVMFFIByteArray bytes_of(const char* text) {
  TVMFFIByteArray bytes;
  bytes.data = text;
  bytes.size = strlen(text);
  return bytes;
}

UNUSED_OK static TVMFFIByteArray bytes_of_length(const char* data, size_t size) {
  TVMFFIByteArray bytes;
  bytes.data = data;
  bytes.size = size;
  return bytes;
}

UNUSED_OK static int bytes_equal(const TVMFFIByteArray* bytes, const char* text) {
  size_t size = strlen(text);
  return bytes->size == size && (size == 0 || memcmp(bytes->data, text, size) == 0);
}

UNUSED_OK static TVMFFIAny any_none(void) {
  TVMFFIAny any;
  memset(&any, 0, sizeof(any));
  return any;
}

UNUSED_OK static TVMFFIAny any_int(int64_t value) {
  TVMFFIAny any = any_none();
  any.type_index = kTVMFFIInt;
  any.v_int64 = value;
  return any;
}

UNUSED_OK static TVMFFIAny any_bool(int value) {
  TVMFFIAny any = any_none();
  any.type_index = kTVMFFIBool;
  any.v_int64 = value;
  return any;
}

UNUSED_OK static TVMFFIAny any_float(double value) {
  TVMFFIAny any = any_none();
  any.type_index = kTVMFFIFloat;
  any.v_float64 = value;
  return any;
}

UNUSED_OK static TVMFFIAny any_text(const char* text) {
  TVMFFIAny any = any_none();
  any.type_index = kTVMFFIRawStr;
  any.v_c_str = text;
  return any;
}

UNUSED_OK static TVMFFIAny any_pointer(void* pointer) {
  TVMFFIAny any = any_none();
  any.type_index = kTVMFFIOpaquePtr;
  any.v_ptr = pointer;
  return any;
}

UNUSED_OK static TVMFFIAny any_bytes(TVMFFIByteArray* bytes) {
  TVMFFIAny any = any_none();
  any.type_index = kTVMFFIByteArrayPtr;
  any.v_ptr = bytes;
  return any;
}

UNUSED_OK static TVMFFIAny any_object(TVMFFIObjectHandle object) {
  TVMFFIAny any = any_none();
  any.type_index = ((TVMFFIObject*)object)->type_index;
  any.v_obj = (TVMFFIObject*)object;
  return any;
}

/* Returns a result slot with garbage, as C code may leave it, but without an object. */
UNUSED_OK static TVMFFIAny any_garbage(int32_t type_index) {
  TVMFFIAny any;
  memset(&any, 0x5a, sizeof(any));
  any.type_index = type_index;
  return any;
}

UNUSED_OK static int any_same(const TVMFFIAny* a, const TVMFFIAny* b) {
  return memcmp(a, b, sizeof(TVMFFIAny)) == 0;
}

UNUSED_OK static int any_is_string(const TVMFFIAny* any, const char* text) {
  TVMFFIByteArray small;
  if (any->type_index == kTVMFFISmallStr || any->type_index == kTVMFFISmallBytes) {
    small = bytes_of_length(any->v_bytes, any->small_str_len);
    return bytes_equal(&small, text);
  }
  if (any->type_index == kTVMFFIStr || any->type_index == kTVMFFIBytes) {
    return bytes_equal((const TVMFFIByteArray*)(const void*)(any->v_obj + 1), text);
  }
  return 0;
}

UNUSED_OK static uint32_t strong_count(TVMFFIObjectHandle object) {
  return (uint32_t)(((TVMFFIObject*)object)->combined_ref_count & 0xFFFFFFFFu);
}

UNUSED_OK static void release_any(TVMFFIAny* any) {
  if (any->type_index >= kTVMFFIStaticObjectBegin && any->v_obj != NULL) {
    TVMFFIObjectDecRef(any->v_obj);
  }
  *any = any_none();
}

/* The content after the header of an object of a known type. */
#define CELL(type, object) ((type*)(void*)((char*)(object) + sizeof(TVMFFIObject)))

/* Function pointers as void* arguments of the ABI, without a cast that ISO C lacks. */
typedef void (*check_any_function)(void);
UNUSED_OK static void* address_of_function(check_any_function function) {
  void* address;
  memcpy(&address, &function, sizeof(address));
  return address;
}

/* ---- the raised error -------------------------------------------------------------------- */

/* Takes the raised error, if any, and returns whether it has this kind (any kind if null) and
 * contains this text (any string if null). */
UNUSED_OK static int raised_is(const char* kind, const char* text) {
  TVMFFIObjectHandle error = NULL;
  TVMFFIErrorCell* cell;
  int matches = 1;
  char* message;
  TVMFFIErrorMoveFromRaised(&error);
  if (error == NULL) {
    printf("  no error is raised\n");
    return 0;
  }
  cell = CELL(TVMFFIErrorCell, error);
  if (((TVMFFIObject*)error)->type_index != kTVMFFIError || cell->kind.size == 0) {
    matches = 0;
  }
  message = (char*)malloc(cell->message.size + 1);
  if (message == NULL) {
    abort();
  }
  if (cell->message.size != 0) {
    memcpy(message, cell->message.data, cell->message.size);
  }
  message[cell->message.size] = '\0';
  if (kind != NULL && !bytes_equal(&cell->kind, kind)) {
    matches = 0;
  }
  if (text != NULL && strstr(message, text) == NULL) {
    matches = 0;
  }
  if (!matches || getenv("CHECK_PRINT_ERRORS") != NULL) {
    printf("  raised: %.*s: %s\n", (int)cell->kind.size, cell->kind.data, message);
  }
  free(message);
  TVMFFIObjectDecRef(error);
  return matches;
}

UNUSED_OK static int nothing_raised(void) {
  TVMFFIObjectHandle error = NULL;
  TVMFFIErrorMoveFromRaised(&error);
  if (error != NULL) {
    TVMFFIErrorCell* cell = CELL(TVMFFIErrorCell, error);
    printf("  raised: %.*s: %.*s\n", (int)cell->kind.size, cell->kind.data,
           (int)cell->message.size, cell->message.data);
    TVMFFIObjectDecRef(error);
    return 0;
  }
  return 1;
}

UNUSED_OK static int check_status(int status, const char* what, const char* file, int line) {
  if (status != 0) {
    raised_is("no such kind", NULL); /* prints */
  }
  return check_that(status == 0, what, file, line);
}

UNUSED_OK static int check_error(int status, const char* kind, const char* text, const char* what,
                                 const char* file, int line) {
  int holds = status == -1;
  if (status == 0) {
    printf("  status 0\n");
  } else {
    holds = raised_is(kind, text) && holds;
  }
  return check_that(holds, what, file, line);
}

#define CHECK_OK(call) check_status((call), #call, __FILE__, __LINE__)
/* Expects status -1 and a raised error of this kind, or of any kind. */
#define CHECK_ERROR(call, kind) check_error((call), kind, NULL, #call, __FILE__, __LINE__)
#define CHECK_ERROR_TEXT(call, kind, text) \
  check_error((call), kind, text, #call, __FILE__, __LINE__)
#define CHECK_FAILS(call) check_error((call), NULL, NULL, #call, __FILE__, __LINE__)

/* ---- global functions -------------------------------------------------------------------- */

/* Returns a new reference to a global function; null if there is none. */
UNUSED_OK static TVMFFIObjectHandle global_function(const char* name) {
  TVMFFIByteArray bytes = bytes_of(name);
  TVMFFIObjectHandle function = NULL;
  if (TVMFFIFunctionGetGlobal(&bytes, &function) != 0) {
    return NULL;
  }
  return function;
}

/* Calls a global function; returns the status of the call, or 1 if there is no such function. */
UNUSED_OK static int call_global(const char* name, TVMFFIAny* args, int32_t num_args,
                                 TVMFFIAny* result) {
  TVMFFIObjectHandle function = global_function(name);
  int status;
  *result = any_none();
  if (function == NULL) {
    return 1;
  }
  status = TVMFFIFunctionCall(function, args, num_args, result);
  TVMFFIObjectDecRef(function);
  return status;
}

/* ---- the census: every object counted through the ABI's allocator record ------------------ */

typedef struct {
  long live;
  long made;
  long fail_in;     /* 1 fails the next allocation, 0 fails none */
  int fail_onwards; /* and all later ones; fail_in is then -1 */
} check_census;

static check_census census;

/* Stored before each object: the start of its block, then the header required by the ABI. */
typedef struct {
  void* block;
  TVMFFIObjectAllocHeader header;
} census_prefix;

/* Adds to a counter. Atomic where C89 can say so: the tasks of a launch make objects at once. */
UNUSED_OK static void census_add(long* counter, long change) {
#if defined(__GNUC__)
  __atomic_fetch_add(counter, change, __ATOMIC_RELAXED);
#else
  *counter += change;
#endif
}

UNUSED_OK static void census_delete(void* object) {
  census_prefix* prefix = (census_prefix*)object - 1;
  census_add(&census.live, -1);
  release_aligned(prefix->block);
}

UNUSED_OK static void* census_allocate(size_t size, size_t alignment, int32_t type_index,
                                       void* context) {
  size_t before = sizeof(census_prefix);
  char* block;
  census_prefix* prefix;
  (void)type_index;
  (void)context;
  if (census.fail_in < 0) {
    return NULL;
  }
  if (census.fail_in > 0 && --census.fail_in == 0) {
    census.fail_in = census.fail_onwards ? -1 : 0;
    return NULL; /* without raising an error, like a careless allocator */
  }
  if (alignment < sizeof(void*)) {
    alignment = sizeof(void*);
  }
  before = (before + alignment - 1) / alignment * alignment;
  block = size > SIZE_MAX - before ? NULL : (char*)allocate_aligned(alignment, before + size);
  if (block == NULL) {
    return NULL;
  }
  memset(block, 0xA5, before + size); /* storage must not be assumed to be zeroed */
  prefix = (census_prefix*)(void*)(block + before) - 1;
  prefix->block = block;
  prefix->header.delete_space = census_delete;
  census_add(&census.live, 1);
  census_add(&census.made, 1);
  return block + before;
}

static TVMFFICustomAllocator census_record = {census_allocate, NULL};

/* Looks up all built-in functions, since each becomes a permanent object on its first lookup. */
UNUSED_OK static void census_warm(void) {
  TVMFFIAny names = any_none();
  TVMFFIAny arg = any_int(-1);
  TVMFFIAny count = any_none();
  int64_t i;
  CHECK_OK(call_global("ffi.FunctionListGlobalNamesFunctor", NULL, 0, &names));
  CHECK_OK(TVMFFIFunctionCall(names.v_obj, &arg, 1, &count));
  for (i = 0; i < count.v_int64; i++) {
    TVMFFIObjectHandle function = NULL;
    TVMFFIAny name = any_none();
    TVMFFIByteArray bytes;
    arg = any_int(i);
    CHECK_OK(TVMFFIFunctionCall(names.v_obj, &arg, 1, &name));
    bytes = name.type_index == kTVMFFISmallStr
                ? bytes_of_length(name.v_bytes, name.small_str_len)
                : *CELL(TVMFFIByteArray, name.v_obj);
    CHECK_OK(TVMFFIFunctionGetGlobal(&bytes, &function));
    if (CHECK(function != NULL)) {
      TVMFFIObjectDecRef(function);
    }
    release_any(&name);
  }
  release_any(&names);
}

/* Counts every new object of the library from here on. */
UNUSED_OK static void census_install(void) {
  if (!bad_input()) {
    return; /* upstream's objects are not allocated through the record */
  }
  CHECK_OK(TVMFFISetCustomAllocator(&census_record));
  census_warm();
}

/* Runs a test, and checks that the number of live objects is unchanged and no error is left. */
UNUSED_OK static void balanced(void (*test)(void), const char* name, const char* file, int line) {
  long before = census.live;
  test();
  check_that(nothing_raised(), name, file, line);
  if (census.live != before) {
    printf("  %s: %ld objects before, %ld after\n", name, before, census.live);
  }
  check_that(census.live == before, name, file, line);
}

#define RUN_BALANCED(test) balanced(test, #test, __FILE__, __LINE__)
#define RUN(test) test()

#endif /* FERRITE_TESTS_C_CHECK_H_ */
