/*
 * model_no_memory.c: calls the functions of tvm_ffi_model.h while the library's n-th allocation
 * fails, for every n. Each gives a MemoryError, leaks nothing, and leaves the model usable.
 *
 *   model_no_memory MODELS        # the folder models
 *
 * Prints "ok".
 */
#include "../../robustness/alloc_fail/failing_malloc.h"

#include <pthread.h>

#include "model_support.h"

enum { KEPT_TENSORS = 4 };

typedef struct {
  TVMFFIObjectHandle model, parameters, kernels, out;
  const Input* input;
  char *executable, *weights;
  size_t executable_size, weights_size;
  TVMFFIAny args[5];
} Setup;

static int duplicate(Setup* setup) { return FerriteModelDuplicate(setup->model, &setup->out); }
static int load(Setup* setup) { return FerriteModelLoad(path_of("bytecode.so"), &setup->out); }
static int load_from_memory(Setup* setup) {
  return FerriteModelLoadFromMemory(setup->executable, setup->executable_size, setup->kernels, &setup->out);
}
static int load_parameters(Setup* setup) { return FerriteModelLoadParameters(path_of("params.bin"), &setup->out); }
static int read_parameters(Setup* setup) {
  return FerriteModelReadParameters(setup->weights, setup->weights_size, &setup->out);
}
static int call_by_name(Setup* setup) {
  TVMFFIAny result;
  int status = call_named(setup->model, setup->input, setup->parameters, &result);
  if (status == 0) setup->out = result.v_obj;
  return status;
}
static void ignore(void* context, const TVMFFIByteArray* name, uint64_t calls, uint64_t nanoseconds) {
  (void)context;
  (void)name;
  (void)calls;
  (void)nanoseconds;
}

static int profile(Setup* setup) {
  return FerriteModelProfile(setup->model, "main", setup->args, 5, 1, ignore, NULL);
}

typedef struct {
  int (*body)(Setup*);
  Setup* setup;
  int status;
} Run;

static void* run(void* argument) {
  Run* run = argument;
  run->status = run->body(run->setup);
  CHECK(run->status == 0 || (raised("MemoryError", "") && run->setup->out == NULL));
  return NULL;
}

/* Runs the body in a new thread, which keeps no memory of earlier calls. */
static int in_new_thread(int (*body)(Setup*), Setup* setup) {
  pthread_t thread;
  Run argument;
  argument.body = body;
  argument.setup = setup;
  CHECK(pthread_create(&thread, NULL, run, &argument) == 0 && pthread_join(thread, NULL) == 0);
  return argument.status;
}

/* Repeats a call with the n-th allocation failing, for n from 1 until none fails. Returns the
 * number of errors. */
static long with_failures(int (*body)(Setup*), Setup* setup) {
  long n, errors = 0, live;
  /* What is made once stays. */
  CHECK(body(setup) == 0);
  release(&setup->out);
  live = heap.live;
  for (n = 1;; ++n) {
    int status;
    heap.failed = 0;
    heap.fail_in = n;
    status = in_new_thread(body, setup);
    heap.fail_in = 0;
    errors += status != 0;
    release(&setup->out);
    if (heap.failed == 0) break;
  }
  CHECK(body(setup) == 0);
  release(&setup->out);
  CHECK(heap.live <= live + KEPT_TENSORS);
  return errors;
}

/* Later calls allocate nothing if their results are released before. */
static void only_the_first_call_allocates(Setup* setup) {
  int i;
  for (i = 0; i < 8; ++i) {
    long before = heap.count;
    TVMFFIAny result = none();
    CHECK(FerriteModelCall(setup->model, "main", setup->args, 5, &result) == 0);
    CHECK(is_expected(result));
    TVMFFIObjectDecRef(result.v_obj);
    CHECK(i == 0 || heap.count == before);
  }
}

static void every_failing_allocation_is_an_error(TVMFFIObjectHandle model, const Input* input, TVMFFIObjectHandle parameters) {
  Setup setup;
  int i;
  memset(&setup, 0, sizeof(setup));
  setup.model = model;
  setup.parameters = parameters;
  setup.input = input;
  setup.kernels = module_of(path_of("bytecode.so"));
  setup.executable = read_file("bytecode.vm", &setup.executable_size);
  setup.weights = read_file("params.bin", &setup.weights_size);
  in_order(input, parameters, setup.args);
  CHECK(with_failures(duplicate, &setup) > 8);
  CHECK(with_failures(load, &setup) > 50);
  CHECK(with_failures(load_from_memory, &setup) > 50);
  CHECK(with_failures(load_parameters, &setup) > 10);
  CHECK(with_failures(read_parameters, &setup) > 10);
  CHECK(with_failures(call_by_name, &setup) > 8);
  CHECK(with_failures(profile, &setup) > 8);
  call_and_compare(model, input, parameters);
  only_the_first_call_allocates(&setup);
  for (i = 1; i < 5; ++i) TVMFFIObjectDecRef(setup.args[i].v_obj);
  release(&setup.kernels);
  free(setup.executable);
  free(setup.weights);
}

int main(int argc, char** argv) {
  TVMFFIObjectHandle model = NULL, parameters = NULL;
  Input input;
  if (argc != 2 || !set_folder(argv[1]) || !watch_library()) return 2;
  make_input(&input);
  /* The first error makes what later ones use. */
  FAILS(FerriteModelLoad(path_of("nope.so"), &model), "InternalError", "nope.so");
  CHECK(FerriteModelLoadParameters(path_of("params.bin"), &parameters) == 0);
  CHECK(FerriteModelLoad(path_of("bytecode.so"), &model) == 0);
  every_failing_allocation_is_an_error(model, &input, parameters);
  release(&model);
  CHECK(FerriteModelLoad(path_of("compiled.so"), &model) == 0);
  every_failing_allocation_is_an_error(model, &input, parameters);
  release(&model);
  release(&parameters);
  puts("ok");
  return 0;
}
