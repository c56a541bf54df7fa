/*
 * Releasing deeply nested values takes no stack: ten million nested arrays, and long chains of
 * every other class that refers to objects, released on a thread with a small stack.
 */
#include "check.h"

#include <pthread.h>

/* Nests values with ffi.Array, ffi.List, or any other function that wraps its arguments. */
static TVMFFIAny nest(const char* maker, TVMFFIAny innermost, int32_t num_args, long depth) {
  TVMFFIObjectHandle function = global_function(maker);
  TVMFFIAny current = innermost;
  long i;
  for (i = 0; i < depth; i++) {
    TVMFFIAny args[2];
    TVMFFIAny outer = any_none();
    args[0] = num_args == 2 ? any_int(1) : current;
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

static int ends;

static void count_end(void* handle) {
  (void)handle;
  ends++;
}

static TVMFFIAny innermost(void) {
  TVMFFIObjectHandle object = NULL;
  CHECK_OK(TVMFFIObjectCreateOpaque(NULL, kTVMFFIOpaquePyObject, count_end, &object));
  return any_object(object);
}

/* A deleter that starts a thread, which releases its value while the destruction continues. */
static TVMFFIAny passed_on;

static void* let_go(void* argument);

static void release_elsewhere(void* self) {
  pthread_t thread;
  CHECK_INT(pthread_create(&thread, NULL, let_go, &passed_on), 0);
  pthread_join(thread, NULL);
  TVMFFIObjectDecRef(self);
}

static void* let_go(void* argument) {
  TVMFFIAny* any = (TVMFFIAny*)argument;
  release_any(any);
  return NULL;
}

/* Releases on a stack of 256 KiB, and checks that the end of the chain is destroyed. */
static void release_on_small_stack(TVMFFIAny any) {
  pthread_attr_t attributes;
  pthread_t thread;
  ends = 0;
  pthread_attr_init(&attributes);
  CHECK_INT(pthread_attr_setstacksize(&attributes, 256 * 1024), 0);
  CHECK_INT(pthread_create(&thread, &attributes, let_go, &any), 0);
  pthread_join(thread, NULL);
  pthread_attr_destroy(&attributes);
  CHECK_INT(ends, 1);
}

/* On the main stack, whose size depends on the system (usually 8 MB). */
static void test_ten_million_arrays(void) {
  TVMFFIAny chain = nest("ffi.Array", innermost(), 1, stress(10000000));
  ends = 0;
  release_any(&chain);
  CHECK_INT(ends, 1);
}

static void test_arrays(void) {
  release_on_small_stack(nest("ffi.Array", innermost(), 1, stress(1000000)));
}

static void test_lists(void) {
  release_on_small_stack(nest("ffi.List", innermost(), 1, stress(1000000)));
}

static void test_maps(void) {
  release_on_small_stack(nest("ffi.Map", innermost(), 2, stress(500000)));
}

static void test_dicts(void) {
  release_on_small_stack(nest("ffi.Dict", innermost(), 2, stress(500000)));
}

static void test_interrupts(void) {
  TVMFFIObjectHandle maker = global_function("ffi.VisitInterrupt");
  if (maker == NULL) {
    return; /* not in every build */
  }
  TVMFFIObjectDecRef(maker);
  release_on_small_stack(nest("ffi.VisitInterrupt", innermost(), 1, stress(500000)));
}

static void test_errors(void) {
  TVMFFIByteArray kind = bytes_of("ValueError");
  TVMFFIByteArray empty = bytes_of("");
  TVMFFIAny context = innermost();
  TVMFFIObjectHandle chain = NULL;
  long depth = stress(500000);
  long i;
  CHECK_INT(TVMFFIErrorCreateWithCauseAndExtraContext(&kind, &empty, &empty, NULL, context.v_obj,
                                                      &chain),
            0);
  release_any(&context);
  for (i = 0; i < depth; i++) {
    TVMFFIObjectHandle outer = NULL;
    if (TVMFFIErrorCreateWithCauseAndExtraContext(&kind, &empty, &empty, chain, NULL, &outer) !=
        0) {
      CHECK(0);
      break;
    }
    TVMFFIObjectDecRef(chain);
    chain = outer;
  }
  release_on_small_stack(any_object(chain));
}

static void no_deleter(DLManagedTensor* self) {
  (void)self;
  ends++;
}

/* Nested views, each of which keeps its source alive. */
static void test_tensor_views(void) {
  DLManagedTensor source;
  TVMFFIObjectHandle chain = NULL;
  float number = 0;
  int64_t shape[1];
  int64_t strides[1];
  DLTensor prototype;
  long depth = stress(500000);
  long i;
  shape[0] = 1;
  strides[0] = 1;
  memset(&source, 0, sizeof(source));
  source.dl_tensor.data = &number;
  source.dl_tensor.device.device_type = kDLCPU;
  source.dl_tensor.ndim = 1;
  source.dl_tensor.dtype.code = kDLFloat;
  source.dl_tensor.dtype.bits = 32;
  source.dl_tensor.dtype.lanes = 1;
  source.dl_tensor.shape = shape;
  source.dl_tensor.strides = strides;
  source.deleter = no_deleter;
  prototype = source.dl_tensor;
  CHECK_OK(TVMFFITensorFromDLPack(&source, 0, 0, &chain));
  for (i = 0; i < depth; i++) {
    TVMFFIObjectHandle view = NULL;
    if (!CHECK(TVMFFITensorCreateUnsafeView(chain, &prototype, &view) == 0)) {
      break;
    }
    TVMFFIObjectDecRef(chain);
    chain = view;
  }
  release_on_small_stack(any_object(chain));
}

/* A function whose deleter releases the next one: a user callback in the chain, which may recurse
 * once. */
static void release_self(void* self) { TVMFFIObjectDecRef(self); }

static int do_nothing(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self;
  (void)args;
  (void)num_args;
  *result = any_none();
  return 0;
}

static void test_functions(void) {
  TVMFFIAny end = innermost();
  TVMFFIObjectHandle chain = end.v_obj;
  long depth = stress(500000);
  long i;
  for (i = 0; i < depth; i++) {
    TVMFFIObjectHandle outer = NULL;
    if (TVMFFIFunctionCreate(chain, do_nothing, release_self, &outer) != 0) {
      CHECK(0);
      break;
    }
    chain = outer;
  }
  release_on_small_stack(any_object(chain));
}

/* The first additional thread of the process starts during a release: both chains must be
 * destroyed. */
static void test_a_thread_starts_meanwhile(void) {
  TVMFFIObjectHandle middle = NULL;
  TVMFFIAny inner = nest("ffi.Array", innermost(), 1, stress(100000));
  TVMFFIAny outer;
  passed_on = nest("ffi.List", innermost(), 1, stress(100000));
  CHECK_OK(TVMFFIFunctionCreate(inner.v_obj, do_nothing, release_elsewhere, &middle));
  outer = nest("ffi.Array", any_object(middle), 1, stress(100000));
  ends = 0;
  release_any(&outer);
  CHECK_INT(ends, 2);
}

int main(void) {
  if (!bad_input()) {
    /* upstream's library recurses until the stack overflows */
    return check_report("deep_release");
  }
  RUN(test_ten_million_arrays);
  RUN(test_a_thread_starts_meanwhile); /* before any other thread starts */
  census_install();
  RUN_BALANCED(test_arrays);
  RUN_BALANCED(test_lists);
  RUN_BALANCED(test_maps);
  RUN_BALANCED(test_dicts);
  RUN_BALANCED(test_interrupts);
  RUN_BALANCED(test_errors);
  RUN_BALANCED(test_tensor_views);
  RUN_BALANCED(test_functions);
  return check_report("deep_release");
}
