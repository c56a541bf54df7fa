/*
 * Several threads use the tables concurrently through the C symbols: every registered name is found
 * by all threads, all counts are balanced, and errors stay with their thread.
 */
#include "check.h"

#include <pthread.h>

enum { THREADS = 8 };

/* Number of methods of `ffi.reflection.AccessPath`, which the library registers on the first lookup
 * of a type. */
enum { ACCESS_PATH_METHODS = 11 };

static pthread_barrier_t start;
static long rounds;
static TVMFFIObjectHandle shared;
static long failures[THREADS];

static int number_of(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)args;
  (void)num_args;
  *result = any_int((int64_t)(intptr_t)self);
  return 0;
}

/* The library's own types are complete for the first thread that looks them up, and for threads
 * that wait meanwhile. */
static long find_own_types(void) {
  TVMFFIByteArray key = bytes_of("ffi.reflection.AccessPath");
  TVMFFIByteArray column_name = bytes_of("__ffi_type_final__");
  const TVMFFITypeAttrColumn* column = TVMFFIGetTypeAttrColumn(&column_name);
  const TVMFFITypeInfo* info;
  int32_t type_index = 0;
  long bad = TVMFFITypeKeyToIndex(&key, &type_index) != 0;
  info = TVMFFIGetTypeInfo(type_index);
  bad += info == NULL || info->num_methods != ACCESS_PATH_METHODS || info->metadata == NULL;
  bad += column == NULL || column->size <= type_index;
  return bad;
}

/* Registers names specific to this thread, and looks them all up. */
static long register_names(int thread) {
  long bad = 0;
  long i;
  for (i = 0; i < rounds; i++) {
    char text[64];
    TVMFFIByteArray name;
    TVMFFIObjectHandle function = NULL;
    TVMFFIObjectHandle found = NULL;
    TVMFFIAny result = any_none();
    sprintf(text, "threads.%d.%ld", thread, i);
    name = bytes_of(text);
    bad += TVMFFIFunctionCreate((void*)(intptr_t)(thread * 1000 + i), number_of, NULL,
                                &function) != 0;
    bad += TVMFFIFunctionSetGlobal(&name, function, 0) != 0;
    bad += TVMFFIFunctionGetGlobal(&name, &found) != 0 || found != function;
    bad += TVMFFIFunctionCall(found, NULL, 0, &result) != 0 || result.v_int64 != thread * 1000 + i;
    TVMFFIObjectDecRef(found);
    TVMFFIObjectDecRef(function);
  }
  return bad;
}

/* All threads register the same names: one registration of each succeeds, and all threads see
 * it. */
static long register_the_same(void) {
  long bad = 0;
  long i;
  for (i = 0; i < rounds; i++) {
    char text[64];
    TVMFFIByteArray name;
    TVMFFIObjectHandle function = NULL;
    TVMFFIObjectHandle first = NULL;
    TVMFFIObjectHandle second = NULL;
    int32_t type_index;
    sprintf(text, "threads.same.%ld", i);
    name = bytes_of(text);
    bad += TVMFFIFunctionCreate((void*)(intptr_t)i, number_of, NULL, &function) != 0;
    if (TVMFFIFunctionSetGlobal(&name, function, 0) != 0) {
      bad += !raised_is("RuntimeError", "already registered");
    }
    bad += TVMFFIFunctionGetGlobal(&name, &first) != 0 || first == NULL;
    bad += TVMFFIFunctionGetGlobal(&name, &second) != 0 || second != first;
    TVMFFIObjectDecRef(first);
    TVMFFIObjectDecRef(second);
    TVMFFIObjectDecRef(function);
    sprintf(text, "threads.Type%ld", i);
    name = bytes_of(text);
    type_index = TVMFFITypeGetOrAllocIndex(&name, -1, 1, 0, 1, kTVMFFIObject);
    bad += type_index < kTVMFFIDynObjectBegin;
    bad += !bytes_equal(&TVMFFIGetTypeInfo(type_index)->type_key, text);
    bad += TVMFFITypeGetOrAllocIndex(&name, -1, 1, 0, 1, kTVMFFIObject) != type_index;
  }
  return bad;
}

/* Retains and releases one shared object, and raises errors of this thread. */
static long count_and_raise(int thread) {
  long bad = 0;
  long i;
  char text[32];
  sprintf(text, "of thread %d", thread);
  for (i = 0; i < rounds * 10; i++) {
    bad += TVMFFIObjectIncRef(shared) != 0;
    TVMFFIErrorSetRaisedFromCStr("ValueError", text);
    bad += TVMFFIObjectDecRef(shared) != 0;
    bad += !raised_is("ValueError", text);
  }
  return bad;
}

static void* work(void* argument) {
  int thread = (int)(intptr_t)argument;
  pthread_barrier_wait(&start);
  failures[thread] = find_own_types();
  failures[thread] += register_names(thread);
  failures[thread] += register_the_same();
  failures[thread] += count_and_raise(thread);
  return NULL;
}

static void test_threads(void) {
  pthread_t threads[THREADS];
  int i;
  CHECK_OK(TVMFFIFunctionCreate(NULL, number_of, NULL, &shared));
  pthread_barrier_init(&start, NULL, THREADS);
  for (i = 0; i < THREADS; i++) {
    CHECK_INT(pthread_create(&threads[i], NULL, work, (void*)(intptr_t)i), 0);
  }
  for (i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    CHECK_INT(failures[i], 0);
  }
  pthread_barrier_destroy(&start);
  CHECK_INT(strong_count(shared), 1);
  TVMFFIObjectDecRef(shared);
}

/* All names registered by the threads exist afterwards. */
static void test_afterwards(void) {
  long i;
  for (i = 0; i < rounds; i++) {
    char text[64];
    int thread;
    for (thread = 0; thread < THREADS; thread++) {
      TVMFFIObjectHandle found;
      TVMFFIAny result = any_none();
      sprintf(text, "threads.%d.%ld", thread, i);
      found = global_function(text);
      if (found == NULL || TVMFFIFunctionCall(found, NULL, 0, &result) != 0 ||
          result.v_int64 != thread * 1000 + i) {
        CHECK(0);
        printf("  %s\n", text);
      }
      if (found != NULL) {
        TVMFFIObjectDecRef(found);
      }
    }
  }
}

int main(void) {
  if (!bad_input()) {
    return check_report("threads"); /* upstream's tables support one writer at a time */
  }
  rounds = stress(400) < 50 ? 50 : stress(400);
  test_threads();
  test_afterwards();
  return check_report("threads");
}
