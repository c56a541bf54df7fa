/*
 * Forks at arbitrary moments: a process forks while another thread works in the library, and the
 * child then performs every operation of the library under a watchdog.
 *
 *     forks COUNT [WORK]
 *
 * forks this often for each kind of work, or for one kind. Work that happens once per process, such
 * as the first lookup of types, needs a new process for every fork. CHECK_KERNELS names the library
 * to load. Upstream's library works for comparison, without the TVMBackend* symbols that it lacks.
 */
#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700
#include "../../conformance/c/check.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <tvm/runtime/c_backend_api.h>

#pragma weak TVMBackendParallelLaunch
#pragma weak TVMBackendParallelBarrier
#pragma weak TVMBackendRunOnce

/* Seconds without processor time after which a child counts as hanging. */
enum { PATIENCE = 30 };
/* Forks of one process, if the work can be repeated. */
enum { FORKS_OF_ONE = 50 };
/* Number of hangs after which a kind of work stops. */
enum { ENOUGH_HANGS = 3 };

/* ---- calls ------------------------------------------------------------------------------- */

static TVMFFIObjectHandle global(const char* text) {
  TVMFFIByteArray name = bytes_of(text);
  TVMFFIObjectHandle function = NULL;
  return TVMFFIFunctionGetGlobal(&name, &function) == 0 ? function : NULL;
}

static int drop_error(void) {
  TVMFFIObjectHandle error = NULL;
  TVMFFIErrorMoveFromRaised(&error);
  if (error != NULL) {
    TVMFFIObjectDecRef(error);
  }
  return error != NULL;
}

/* Calls a global function; returns whether it failed. The result is dropped if `result` is null. */
static int call(const char* name, TVMFFIAny* args, int num_args, TVMFFIAny* result) {
  TVMFFIObjectHandle function = global(name);
  TVMFFIAny unwanted = any_none();
  int failed;
  if (function == NULL) {
    return 1;
  }
  failed = TVMFFIFunctionCall(function, args, num_args, result == NULL ? &unwanted : result) != 0;
  if (failed) {
    drop_error();
  }
  release_any(&unwanted);
  TVMFFIObjectDecRef(function);
  return failed;
}

static TVMFFIAny text_any(const char* text) {
  TVMFFIByteArray bytes = bytes_of(text);
  TVMFFIAny any = any_none();
  TVMFFIStringFromByteArray(&bytes, &any);
  return any;
}

static int number_of(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)args;
  (void)num_args;
  *result = any_int((int64_t)(intptr_t)self);
  return 0;
}

/* ---- kinds of work: each round returns the number of failures */

enum { MOST_BUILTINS = 512 };
static char builtins[MOST_BUILTINS][64];
static int builtin_count;

static long register_functions(long round) {
  TVMFFIByteArray shared = bytes_of("forks.shared");
  TVMFFIObjectHandle function = NULL;
  TVMFFIObjectHandle found = NULL;
  TVMFFIAny name = any_none();
  TVMFFIMethodInfo described;
  TVMFFIByteArray own;
  char text[64];
  long bad = TVMFFIFunctionCreate((void*)(intptr_t)round, number_of, NULL, &function) != 0;
  sprintf(text, "forks.function.%ld", round);
  own = bytes_of(text);
  memset(&described, 0, sizeof(described));
  described.name = shared;
  described.doc = bytes_of("replaced again and again");
  described.metadata = bytes_of("{}");
  described.method = any_object(function);
  bad += TVMFFIFunctionSetGlobal(&own, function, 1) != 0;
  bad += TVMFFIFunctionSetGlobalFromMethodInfo(&described, 1) != 0;
  bad += TVMFFIFunctionGetGlobal(&shared, &found) != 0 || found != function;
  TVMFFIObjectDecRef(found);
  name = text_any("forks.shared");
  bad += call("ffi.GetGlobalFuncMetadata", &name, 1, NULL);
  release_any(&name);
  name = text_any(text);
  bad += call("ffi.FunctionRemoveGlobal", &name, 1, NULL);
  release_any(&name);
  TVMFFIObjectDecRef(function);
  return bad;
}

static int get_nothing(void* field, TVMFFIAny* result) {
  (void)field;
  *result = any_none();
  return 0;
}

static long register_types(long round) {
  TVMFFIFieldInfo field;
  TVMFFIByteArray key;
  TVMFFIByteArray column;
  TVMFFIAny value = any_int(round);
  char key_text[64];
  char column_text[64];
  int32_t found = 0;
  int32_t index;
  long bad;
  sprintf(key_text, "forks.Type%ld", round);
  sprintf(column_text, "__forks_%ld__", round % 1000);
  key = bytes_of(key_text);
  column = bytes_of(column_text);
  index = TVMFFITypeGetOrAllocIndex(&key, -1, 1, 0, 1, kTVMFFIObject);
  memset(&field, 0, sizeof(field));
  field.name = bytes_of("field");
  field.doc = bytes_of("");
  field.metadata = bytes_of("{}");
  field.size = 8;
  field.alignment = 8;
  field.getter = get_nothing;
  bad = index < 0 || TVMFFITypeRegisterField(index, &field) != 0;
  bad += TVMFFITypeRegisterAttr(index, &column, &value) != 0;
  bad += TVMFFITypeKeyToIndex(&key, &found) != 0 || found != index;
  bad += TVMFFIGetTypeInfo(index)->num_fields != 1;
  return bad;
}

static long register_symbols(long round) {
  TVMFFIAny prefix;
  char name[64];
  long bad;
  sprintf(name, "__tvm_ffi_forks_symbol_%ld", round);
  bad = TVMFFIEnvModRegisterSystemLibSymbol(name, address_of_function((check_any_function)number_of)) != 0;
  /* A different address would cause a warning. */
  bad += TVMFFIEnvModRegisterSystemLibSymbol("forks_replaced", name + round % 2) != 0;
  sprintf(name, "__forks_context_%ld", round % 1000);
  bad += TVMFFIEnvModRegisterContextSymbol(name, &builtin_count) != 0;
  sprintf(name, "forks_%ld_", round % 100);
  prefix = text_any(name);
  bad += call("ffi.SystemLib", &prefix, 1, NULL);
  release_any(&prefix);
  return bad;
}

static long use_builtins(long round) {
  long bad = 0;
  int i;
  (void)round;
  for (i = 0; i < builtin_count; i++) {
    TVMFFIObjectHandle function = global(builtins[i]);
    bad += function == NULL;
    if (function != NULL) {
      TVMFFIObjectDecRef(function);
    }
  }
  return bad;
}

static long look_at_types(long round) {
  TVMFFIByteArray key = bytes_of("ffi.reflection.AccessPath");
  TVMFFIByteArray column_name = bytes_of("__ffi_repr__");
  const TVMFFITypeAttrColumn* column = TVMFFIGetTypeAttrColumn(&column_name);
  const TVMFFITypeInfo* info;
  int32_t type_index = 0;
  long bad = TVMFFITypeKeyToIndex(&key, &type_index) != 0;
  (void)round;
  info = bad == 0 ? TVMFFIGetTypeInfo(type_index) : NULL;
  bad += info == NULL || info->num_methods < 5 || info->metadata == NULL || info->num_fields < 2;
  bad += column == NULL;
  return bad;
}

enum { HANDLES = 4 };
static void* made[HANDLES];
static void* once[HANDLES];

static void spin(long rounds) {
  volatile long left = rounds;
  while (left > 0) {
    left--;
  }
}

static int make(void** result) {
  spin(3000);
  *result = made;
  return 0;
}

static int unmake(void* handle) { return handle != made; }

static int run(void* data) {
  spin(3000);
  return data != NULL;
}

static long make_once(long round) {
  void** handle = &made[round % HANDLES];
  long bad = TVMFFIHandleInitOnce(handle, make) != 0 || *handle != made;
  bad += TVMFFIHandleDeinitOnce(handle, unmake) != 0 || *handle != NULL;
  if (TVMBackendRunOnce != NULL) {
    once[round % HANDLES] = NULL;
    bad += TVMBackendRunOnce(&once[round % HANDLES], run, NULL, 0) != 0;
  }
  return bad;
}

static TVMFFIAny common;

static long make_objects(long round) {
  TVMFFIAny texts[8];
  TVMFFIAny array = any_none();
  TVMFFIAny json = text_any("[{\"a\": \"some text that is longer than seven bytes\", \"b\": [1, 2.5, \"and another one of these\"]},"
                            " \"a text that is in a chunk of memory with all others\", \"a second text of this kind\"]");
  long bad;
  int i;
  (void)round;
  TVMFFIObjectIncRef(common.v_obj);
  for (i = 0; i < 8; i++) {
    texts[i] = text_any("a text with more bytes than a value has");
  }
  bad = call("ffi.Array", texts, 8, &array);
  bad += call("ffi.json.Parse", &json, 1, NULL);
  for (i = 0; i < 8; i++) {
    release_any(&texts[i]);
  }
  release_any(&array);
  release_any(&json);
  TVMFFIObjectDecRef(common.v_obj);
  return bad;
}

static long raise_errors(long round) {
  const TVMFFIByteArray* trace = TVMFFIBacktrace(NULL, 0, NULL, 1);
  TVMFFIByteArray absent = bytes_of("forks.no.such.type");
  int32_t index = 0;
  (void)round;
  TVMFFIErrorSetRaisedFromCStr("ValueError", "raised and dropped");
  return (trace == NULL) + (drop_error() != 1) + (TVMFFITypeKeyToIndex(&absent, &index) == 0) + (drop_error() != 1);
}

static int task(int task_id, TVMParallelGroupEnv* env, void* data) {
  ((int*)data)[task_id] = 1;
  return TVMBackendParallelBarrier(task_id, env);
}

static long launch(long round) {
  int ran[3] = {0, 0, 0};
  int tasks = 2 + (int)(round % 2);
  TVMFFIAny settings[2];
  long bad;
  if (TVMBackendParallelLaunch == NULL) {
    return 0;
  }
  settings[0] = any_int(1);
  settings[1] = any_int(3);
  bad = round % 8 == 0 && call("runtime.config_threadpool", settings, 2, NULL);
  return bad + (TVMBackendParallelLaunch(task, ran, tasks) != 0) + (ran[0] + ran[1] + ran[2] != tasks);
}

/* Callback of a mutator: sets a substitution, which the mutator's lock protects. */
static int substitute(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  TVMFFIAny pair[3];
  (void)num_args;
  pair[0] = args[1];
  pair[1] = args[0];
  pair[2] = args[0];
  *(long*)self += call("ffi.StructuralMutatorVarRemapSet", pair, 3, NULL) != 0;
  *(long*)self += call("ffi.StructuralMutatorVarRemapGet", pair, 2, result) != 0;
  return 0;
}

static long mutate(long round) {
  TVMFFIObjectHandle function = NULL;
  TVMFFIAny entry[3];
  TVMFFIAny args[2];
  TVMFFIAny inner = any_none();
  TVMFFIAny result = any_none();
  long bad = 0;
  (void)round;
  args[0] = any_none();
  args[1] = any_none();
  bad += call("ffi.Array", NULL, 0, &args[0]);
  bad += TVMFFIFunctionCreate(&bad, substitute, NULL, &function) != 0;
  entry[0] = any_int(kTVMFFIArray);
  entry[1] = any_object(function);
  entry[2] = any_bool(0);
  bad += call("ffi.Array", entry, 3, &inner);
  bad += call("ffi.Array", &inner, 1, &args[1]);
  bad += call("ffi.StructuralMutate", args, 2, &result) || result.v_obj != args[0].v_obj;
  release_any(&result);
  release_any(&args[0]);
  release_any(&args[1]);
  release_any(&inner);
  TVMFFIObjectDecRef(function);
  return bad;
}

static TVMFFIAny load(void) {
  TVMFFIAny path = text_any(getenv("CHECK_KERNELS"));
  TVMFFIAny module = any_none();
  call("ffi.ModuleLoadFromFile", &path, 1, &module);
  release_any(&path);
  return module;
}

static long load_library(long round) {
  TVMFFIAny args[3];
  TVMFFIAny function = any_none();
  TVMFFIAny result = any_none();
  TVMFFIAny number = any_int(round);
  long bad;
  args[0] = load();
  args[1] = text_any("add_one");
  args[2] = any_bool(0);
  bad = args[0].type_index != kTVMFFIModule || call("ffi.ModuleGetFunction", args, 3, &function);
  bad += function.type_index != kTVMFFIFunction;
  bad += bad == 0 && TVMFFIFunctionCall(function.v_obj, &number, 1, &result) != 0;
  bad += result.v_int64 != round + 1;
  release_any(&function);
  release_any(&args[1]);
  release_any(&args[0]);
  return bad;
}

static long import_modules(long round) {
  TVMFFIAny prefix = text_any("forks_root_");
  TVMFFIAny pair[2];
  TVMFFIAny name;
  TVMFFIAny args[3];
  TVMFFIAny function = any_none();
  long bad;
  (void)round;
  pair[0] = any_none();
  pair[1] = any_none();
  bad = call("ffi.SystemLib", &prefix, 1, &pair[0]);
  release_any(&prefix);
  prefix = text_any("forks_child_");
  bad += call("ffi.SystemLib", &prefix, 1, &pair[1]);
  bad += bad == 0 && call("ffi.ModuleImportModule", pair, 2, NULL);
  name = text_any("forks_no_such_function");
  args[0] = pair[0];
  args[1] = name;
  args[2] = any_bool(1);
  bad += bad == 0 && call("ffi.ModuleGetFunction", args, 3, &function);
  bad += function.type_index != kTVMFFINone;
  bad += bad == 0 && call("ffi.ModuleClearImports", pair, 1, NULL);
  bad += bad == 0 && call("ffi.ModuleGlobalsAdd", pair, 1, NULL);
  bad += bad == 0 && call("ffi.ModuleGlobalsRemove", pair, 1, NULL);
  release_any(&name);
  release_any(&pair[0]);
  release_any(&pair[1]);
  release_any(&prefix);
  return bad;
}

typedef struct {
  const char* name;
  long (*work)(long round);
  /* Microseconds in a new process, for work that happens once in each. */
  long first_use;
} kind_of_work;

static const kind_of_work kinds[] = {
    {"functions", register_functions, 0}, {"types", register_types, 0},   {"symbols", register_symbols, 0},
    {"builtins", use_builtins, 300},      {"look", look_at_types, 800},   {"once", make_once, 0},
    {"objects", make_objects, 0},         {"errors", raise_errors, 0},    {"launches", launch, 0},
    {"loads", load_library, 0},           {"modules", import_modules, 0}, {"mutators", mutate, 0},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* ---- forks --------------------------------------------------------------------------------- */

/* State shared by all processes. */
typedef struct {
  volatile int step;
  volatile long forks;
  volatile long hangs;
  volatile long failures;
} record;

static record* seen;
static const kind_of_work* kind;
static volatile int at_work;
/* Set while a child works: otherwise the parent's thread would fill the memory meanwhile. */
static volatile int resting;
static volatile int stop;
static volatile long worker_failures;
static unsigned long random_state;

static long random_below(long end) {
  random_state = random_state * 1103515245u + 12345u;
  return (long)((random_state >> 16) % (unsigned long)end);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void wait_microseconds(long count) {
  double end = now() + (double)count * 1e-6;
  while (now() < end) {
  }
}

static void* worker(void* unused) {
  long round = 0;
  at_work = 1;
  do {
    while (resting && !stop) {
      usleep(10);
    }
    worker_failures += kind->work(round++);
  } while (!stop && kind->first_use == 0);
  return unused;
}

/* The child: everything, twice, with names that the worker has not reached yet and with its
 * handles. Never returns. */
static void do_everything(void) {
  long round;
  int at;
  watchdog(PATIENCE);
  for (round = 0; round < 2; round++) {
    for (at = 0; at < KINDS; at++) {
      seen->step = at;
      if (kinds[at].work(1000000000 + round) != 0) {
        _exit(1);
      }
    }
  }
  for (at = 0; at < HANDLES; at++) {
    seen->step = 5;
    if (TVMFFIHandleInitOnce(&made[at], make) != 0 || made[at] != made) {
      _exit(1);
    }
    if (TVMBackendRunOnce != NULL && TVMBackendRunOnce(&once[at], run, NULL, 0) != 0) {
      _exit(1);
    }
  }
  _exit(0);
}

static void judge(const char* who, int status) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
    seen->hangs++;
    printf("%s: %s hung at \"%s\"\n", kind->name, who, kinds[seen->step].name);
  } else if (status != 0) {
    seen->failures++;
    printf("%s: %s failed at \"%s\" with status 0x%x\n", kind->name, who, kinds[seen->step].name, (unsigned)status);
  }
  fflush(stdout);
}

static void fork_once(void) {
  int status = 0;
  pid_t child;
  resting = 0;
  wait_microseconds(random_below(kind->first_use == 0 ? 200 : kind->first_use));
  child = fork();
  if (child == 0) {
    do_everything();
  }
  resting = 1;
  seen->forks++;
  if (child < 0 || waitpid(child, &status, 0) != child) {
    status = 1;
  }
  judge("a child", status);
}

/* Runs in a new process with a thread at work: forks this often, then exits. Never returns. */
static void be_parent(long count) {
  pthread_t thread;
  random_state = (unsigned long)getpid() * 2654435761u + (unsigned long)count;
  watchdog(10 * PATIENCE);
  if (pthread_create(&thread, NULL, worker, NULL) != 0) {
    _exit(3);
  }
  while (!at_work) {
    sched_yield();
  }
  for (; count > 0 && seen->hangs < ENOUGH_HANGS; count--) {
    fork_once();
  }
  stop = 1;
  pthread_join(thread, NULL);
  _exit(worker_failures == 0 ? 0 : 2);
}

static void fork_beside(const kind_of_work* chosen, long count) {
  long of_one = chosen->first_use == 0 ? FORKS_OF_ONE : 1;
  double start = now();
  kind = chosen;
  memset(seen, 0, sizeof(*seen));
  while (seen->forks < count && seen->hangs < ENOUGH_HANGS) {
    int status = 0;
    pid_t parent = fork();
    if (parent == 0) {
      be_parent(count - seen->forks < of_one ? count - seen->forks : of_one);
    }
    if (parent < 0 || waitpid(parent, &status, 0) != parent) {
      status = 1;
    }
    judge("a parent", status);
  }
  printf("%-10s %6ld forks, %ld hangs, %ld failures, %.1f s\n", chosen->name, seen->forks, seen->hangs, seen->failures,
         now() - start);
  fflush(stdout);
  CHECK_INT(seen->hangs, 0);
  CHECK_INT(seen->failures, 0);
}

static void find_builtins(void) {
  TVMFFIAny functor = any_none();
  TVMFFIAny argument = any_int(-1);
  TVMFFIAny count = any_none();
  long i;
  CHECK_INT(call("ffi.FunctionListGlobalNamesFunctor", NULL, 0, &functor), 0);
  CHECK_INT(TVMFFIFunctionCall(functor.v_obj, &argument, 1, &count), 0);
  for (i = 0; i < count.v_int64 && builtin_count < MOST_BUILTINS; i++) {
    TVMFFIAny name = any_none();
    argument = any_int(i);
    CHECK_INT(TVMFFIFunctionCall(functor.v_obj, &argument, 1, &name), 0);
    if (name.type_index == kTVMFFIStr) {
      const TVMFFIByteArray* bytes = (const TVMFFIByteArray*)(const void*)(name.v_obj + 1);
      if (bytes->size < sizeof(builtins[0])) {
        memcpy(builtins[builtin_count++], bytes->data, bytes->size);
      }
    }
    release_any(&name);
  }
  release_any(&functor);
  CHECK(builtin_count > 50);
}

int main(int argc, char** argv) {
  long count = argc > 1 ? atol(argv[1]) : 100;
  int at;
  watchdog(0); /* this process waits for others */
  seen = (record*)mmap(NULL, sizeof(record), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (seen == (record*)MAP_FAILED || getenv("CHECK_KERNELS") == NULL || freopen("/dev/null", "w", stderr) == NULL) {
    return 1;
  }
  find_builtins();
  common = text_any("an object that all processes have");
  for (at = 0; at < KINDS; at++) {
    if (argc < 3 || strcmp(argv[2], kinds[at].name) == 0) {
      fork_beside(&kinds[at], count);
    }
  }
  return check_report("forks");
}
