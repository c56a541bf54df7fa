/*
 * usage: functions objects|malloc once|onwards
 *
 * Calls each global function while the n-th allocation fails, for every n: a call gives its result
 * or a MemoryError, leaves nothing behind, and succeeds when it is repeated with the same
 * arguments. Each function has a process of its own, in which its first call succeeds; then, for
 * each n, another process in which the failing call is the first of all.
 *
 * A function without a line in the table below is a failure.
 */
#include "arm.h"
#include "values_by_letter.h"

#include <dlfcn.h>
#include <sys/wait.h>

enum { ROUNDS = 5000 };

/* Where a function is called. */
enum { DIRECTLY, BY_VISITOR, BY_MUTATOR };

/* What a call leaves behind, or needs. */
enum { NOTHING = 0, LEAVES_ENTRIES = 1, NEEDS_NAME = 2, KEEPS_MODULE = 4, KEPT_MODULE = 8, BEFORE_TYPES = 16 };

typedef struct {
  const char* name;
  const char* letters; /* the arguments; behind the visitor or mutator, if one calls */
  int where;
  int needs;
  const char* error; /* the kind of error that a call gives, if memory suffices */
} subject;

static const subject subjects[] = {
    {"ffi.Array", "sLM1", DIRECTLY, NOTHING, NULL},
    {"ffi.ArrayContains", "AS", DIRECTLY, NOTHING, NULL},
    {"ffi.ArrayGetItem", "A0", DIRECTLY, NOTHING, NULL},
    {"ffi.ArraySize", "A", DIRECTLY, NOTHING, NULL},
    {"ffi.Bytes", "b", DIRECTLY, NOTHING, NULL},
    {"ffi.ContainerFindFirstNonCPUDevice", "x", DIRECTLY, NOTHING, NULL},
    {"ffi.DeepCopy", "A", DIRECTLY, NOTHING, NULL},
    {"ffi.Dict", "s1oL", DIRECTLY, NOTHING, NULL},
    {"ffi.DictClear", "D", DIRECTLY, NOTHING, NULL},
    {"ffi.DictCount", "Do", DIRECTLY, NOTHING, NULL},
    {"ffi.DictErase", "Do", DIRECTLY, NOTHING, NULL},
    {"ffi.DictForwardIterFunctor", "D", DIRECTLY, NOTHING, NULL},
    {"ffi.DictGetItem", "Do", DIRECTLY, NOTHING, NULL},
    {"ffi.DictGetItemOrMissing", "Ds", DIRECTLY, NOTHING, NULL},
    {"ffi.DictSetItem", "DsL", DIRECTLY, NOTHING, NULL},
    {"ffi.DictSize", "D", DIRECTLY, NOTHING, NULL},
    {"ffi.FromJSONGraph", "G", DIRECTLY, NOTHING, NULL},
    {"ffi.FromJSONGraphString", "g", DIRECTLY, NOTHING, NULL},
    {"ffi.FunctionFromExternC", "pqp", DIRECTLY, NOTHING, NULL},
    {"ffi.FunctionListGlobalNamesFunctor", "", DIRECTLY, NOTHING, NULL},
    {"ffi.FunctionRemoveGlobal", "N", DIRECTLY, NEEDS_NAME | LEAVES_ENTRIES, NULL},
    {"ffi.GetFirstStructuralMismatch", "Aeff", DIRECTLY, NOTHING, NULL},
    {"ffi.GetGlobalFuncMetadata", "i", DIRECTLY, NOTHING, NULL},
    {"ffi.GetInvalidObject", "", DIRECTLY, NOTHING, NULL},
    {"ffi.GetKwargsObject", "", DIRECTLY, NOTHING, NULL},
    {"ffi.GetRegisteredTypeKeys", "", DIRECTLY, NOTHING, NULL},
    {"ffi.List", "sLM1", DIRECTLY, NOTHING, NULL},
    {"ffi.ListAppend", "ls", DIRECTLY, NOTHING, NULL},
    {"ffi.ListClear", "l", DIRECTLY, NOTHING, NULL},
    {"ffi.ListContains", "lS", DIRECTLY, NOTHING, NULL},
    {"ffi.ListErase", "l0", DIRECTLY, NOTHING, NULL},
    {"ffi.ListEraseRange", "l02", DIRECTLY, NOTHING, NULL},
    {"ffi.ListGetItem", "l0", DIRECTLY, NOTHING, NULL},
    {"ffi.ListInsert", "l1s", DIRECTLY, NOTHING, NULL},
    {"ffi.ListPop", "l0", DIRECTLY, NOTHING, NULL},
    {"ffi.ListReplaceSlice", "l01l", DIRECTLY, NOTHING, NULL},
    {"ffi.ListReserve", "l9", DIRECTLY, NOTHING, NULL},
    {"ffi.ListReverse", "l", DIRECTLY, NOTHING, NULL},
    {"ffi.ListSetItem", "l0s", DIRECTLY, NOTHING, NULL},
    {"ffi.ListSize", "l", DIRECTLY, NOTHING, NULL},
    {"ffi.MakeFieldGetter", "1", DIRECTLY, NOTHING, NULL},
    {"ffi.MakeFieldSetter", "10c", DIRECTLY, NOTHING, NULL},
    {"ffi.MakeObjectFromPackedArgs", "ivs", DIRECTLY, NOTHING, NULL},
    {"ffi.Map", "s1oL", DIRECTLY, NOTHING, NULL},
    {"ffi.MapCount", "Mo", DIRECTLY, NOTHING, NULL},
    {"ffi.MapForwardIterFunctor", "M", DIRECTLY, NOTHING, NULL},
    {"ffi.MapGetItem", "Mo", DIRECTLY, NOTHING, NULL},
    {"ffi.MapGetItemOrMissing", "Ms", DIRECTLY, NOTHING, NULL},
    {"ffi.MapSize", "M", DIRECTLY, NOTHING, NULL},
    {"ffi.Module.load_from_file.so", "Ps", DIRECTLY, NOTHING, NULL},
    {"ffi.ModuleClearImports", "m", DIRECTLY, NOTHING, NULL},
    {"ffi.ModuleGetFunction", "mat", DIRECTLY, NOTHING, NULL},
    {"ffi.ModuleGetFunctionDoc", "mat", DIRECTLY, NOTHING, NULL},
    {"ffi.ModuleGetFunctionMetadata", "mat", DIRECTLY, NOTHING, NULL},
    {"ffi.ModuleGetKind", "m", DIRECTLY, NOTHING, NULL},
    {"ffi.ModuleGetPropertyMask", "m", DIRECTLY, NOTHING, NULL},
    {"ffi.ModuleGetWriteFormats", "m", DIRECTLY, NOTHING, NULL},
    {"ffi.ModuleGlobalsAdd", "m", DIRECTLY, KEEPS_MODULE | LEAVES_ENTRIES, NULL},
    {"ffi.ModuleGlobalsRemove", "m", DIRECTLY, KEPT_MODULE | LEAVES_ENTRIES, NULL},
    {"ffi.ModuleImplementsFunction", "mat", DIRECTLY, NOTHING, NULL},
    {"ffi.ModuleImportModule", "my", DIRECTLY, NOTHING, NULL},
    {"ffi.ModuleInspectSource", "ms", DIRECTLY, NOTHING, NULL},
    {"ffi.ModuleLoadFromFile", "P", DIRECTLY, NOTHING, NULL},
    {"ffi.ModuleWriteToFile", "mso", DIRECTLY, NOTHING, "RuntimeError"},
    {"ffi.RecursiveEq", "AA", DIRECTLY, NOTHING, NULL},
    {"ffi.RecursiveGe", "ll", DIRECTLY, NOTHING, NULL},
    {"ffi.RecursiveGt", "ll", DIRECTLY, NOTHING, NULL},
    {"ffi.RecursiveHash", "A", DIRECTLY, NOTHING, NULL},
    {"ffi.RecursiveLe", "ll", DIRECTLY, NOTHING, NULL},
    {"ffi.RecursiveLt", "ll", DIRECTLY, NOTHING, NULL},
    {"ffi.ReprPrint", "A", DIRECTLY, NOTHING, NULL},
    {"ffi.Shape", "12", DIRECTLY, NOTHING, NULL},
    {"ffi.String", "s", DIRECTLY, NOTHING, NULL},
    {"ffi.StructuralEqual", "AAff", DIRECTLY, NOTHING, NULL},
    {"ffi.StructuralHash", "Aff", DIRECTLY, NOTHING, NULL},
    {"ffi.StructuralKey", "A", DIRECTLY, NOTHING, NULL},
    {"ffi.StructuralKeyEqual", "KK", DIRECTLY, NOTHING, NULL},
    {"ffi.StructuralMap", "YRe0", DIRECTLY, NOTHING, NULL},
    {"ffi.StructuralMutate", "YW", DIRECTLY, NOTHING, NULL},
    {"ffi.StructuralMutatorDefRegionKind", "", BY_MUTATOR, NOTHING, NULL},
    {"ffi.StructuralMutatorDefaultMutate", "Y", BY_MUTATOR, NOTHING, NULL},
    {"ffi.StructuralMutatorMutate", "Y", BY_MUTATOR, NOTHING, NULL},
    {"ffi.StructuralMutatorVarRemapGet", "A", BY_MUTATOR, NOTHING, NULL},
    {"ffi.StructuralMutatorVarRemapSet", "AL", BY_MUTATOR, NOTHING, NULL},
    {"ffi.StructuralMutatorWithDefRegionKind", "1F", BY_MUTATOR, NOTHING, NULL},
    {"ffi.StructuralVisit", "AU", DIRECTLY, NOTHING, NULL},
    {"ffi.StructuralVisitorDefRegionKind", "", BY_VISITOR, NOTHING, NULL},
    {"ffi.StructuralVisitorDefaultVisit", "A", BY_VISITOR, NOTHING, NULL},
    {"ffi.StructuralVisitorVisit", "A", BY_VISITOR, NOTHING, NULL},
    {"ffi.StructuralVisitorWithDefRegionKind", "1F", BY_VISITOR, NOTHING, NULL},
    {"ffi.StructuralWalk", "AUe0", DIRECTLY, NOTHING, NULL},
    {"ffi.SystemLib", "s", DIRECTLY, LEAVES_ENTRIES, NULL},
    {"ffi.ToJSONGraph", "As", DIRECTLY, NOTHING, NULL},
    {"ffi.ToJSONGraphString", "As", DIRECTLY, NOTHING, NULL},
    {"ffi.VisitErrorContext.FindAccessPaths", "CEf", DIRECTLY, NOTHING, NULL},
    {"ffi.VisitInterrupt", "A", DIRECTLY, NOTHING, NULL},
    {"ffi._PyClassRegisterTypeAttrColumns", "Tz", DIRECTLY, LEAVES_ENTRIES, NULL},
    {"ffi._RegisterFFIInit", "T", DIRECTLY, LEAVES_ENTRIES, NULL},
    {"ffi.ferrite.ServeRelease", "01*", DIRECTLY, BEFORE_TYPES | LEAVES_ENTRIES, NULL},
    {"ffi.json.Parse", "j", DIRECTLY, NOTHING, NULL},
    {"ffi.json.Stringify", "J2", DIRECTLY, NOTHING, NULL},
    {"runtime.NumThreads", "", DIRECTLY, NOTHING, NULL},
    {"runtime.config_threadpool", "12", DIRECTLY, NOTHING, NULL},
};

/* ---- one call ---------------------------------------------------------------------------- */

static struct {
  TVMFFIObjectHandle function;
  TVMFFIObjectHandle entrance; /* the function that makes a visitor or mutator, or null */
  TVMFFIAny entrance_args[2];
  TVMFFIAny args[8];
  int32_t count;
  int is_inside;
} call;

/* Calls the function under test with the visitor or mutator of a callback, unless it has led to
 * this callback itself. */
static int call_inside(const TVMFFIAny* callback_args) {
  TVMFFIAny answer = any_none();
  int status;
  if (call.is_inside) {
    return 0;
  }
  call.is_inside = 1;
  call.args[0] = callback_args[1];
  status = TVMFFIFunctionCall(call.function, call.args, call.count, &answer);
  call.is_inside = 0;
  if (status == 0) {
    release_any(&answer);
  } else {
    CHECK_INT(answer.type_index, kTVMFFINone);
  }
  return status;
}

static int visit_number(void* self, const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  (void)self;
  (void)count;
  *result = any_none();
  return call_inside(args);
}

static int mutate_number(void* self, const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  int status = call_inside(args);
  (void)self;
  (void)count;
  if (status == 0) {
    *result = args[0];
  }
  return status;
}

/* Makes the callbacks of a visitor or mutator: an Array of one entry for integers. */
static TVMFFIAny callbacks_of(int where) {
  TVMFFIAny entry[3];
  TVMFFIAny made;
  TVMFFIAny made_entry;
  entry[0] = any_int(kTVMFFIInt);
  entry[1] = make_function(where == BY_VISITOR ? visit_number : mutate_number);
  entry[2] = any_bool(0);
  made_entry = make_by("ffi.Array", entry, where == BY_VISITOR ? 2 : 3);
  made = make_by("ffi.Array", &made_entry, 1);
  release_any(&made_entry);
  release_any(&entry[1]);
  return made;
}

static int call_subject(TVMFFIAny* result) {
  *result = any_none();
  if (call.entrance != NULL) {
    return TVMFFIFunctionCall(call.entrance, call.entrance_args, 2, result);
  }
  return TVMFFIFunctionCall(call.function, call.args, call.count, result);
}

static void call_for_module(const char* name) {
  TVMFFIAny result;
  CHECK_OK(call_global(name, call.args, 1, &result));
}

/* Makes what a call needs. */
static void prepare(const subject* now) {
  const char* letter;
  call.function = global_function(now->name);
  call.count = now->where == DIRECTLY ? 0 : 1;
  call.args[0] = any_none();
  for (letter = now->letters; *letter != '\0'; letter++) {
    call.args[call.count++] = make_value_of(*letter);
  }
  call.entrance = NULL;
  if (now->where != DIRECTLY) {
    call.entrance = global_function(now->where == BY_VISITOR ? "ffi.StructuralVisit" : "ffi.StructuralMutate");
    call.entrance_args[0] = any_int(1);
    call.entrance_args[1] = callbacks_of(now->where);
  }
  if (now->needs & NEEDS_NAME) {
    TVMFFIByteArray name = bytes_of(call.args[0].v_c_str);
    TVMFFIAny function = make_function(add_one_to);
    CHECK_OK(TVMFFIFunctionSetGlobal(&name, function.v_obj, 1));
    release_any(&function);
  }
  if (now->needs & KEPT_MODULE) {
    call_for_module("ffi.ModuleGlobalsAdd");
  }
}

static void clean_up(const subject* now) {
  int32_t i;
  if (now->needs & KEEPS_MODULE) {
    call_for_module("ffi.ModuleGlobalsRemove");
  }
  for (i = now->where == DIRECTLY ? 0 : 1; i < call.count; i++) {
    release_any(&call.args[i]);
  }
  if (call.entrance != NULL) {
    release_any(&call.entrance_args[1]);
    TVMFFIObjectDecRef(call.entrance);
  }
  TVMFFIObjectDecRef(call.function);
}

/* Returns the kind of the error that a call gives, or null. An allocator is installed after types
 * are registered. */
static const char* error_of(const subject* now) {
  return (now->needs & BEFORE_TYPES) != 0 && !by_malloc ? "RuntimeError" : now->error;
}

/* Takes the raised error; checks that it has this kind. */
static int has_raised(const char* kind) { return CHECK(raised_is(kind, NULL)); }

/* Checks the outcome of a call with enough memory. */
static int check_success(const subject* now, int status, TVMFFIAny* result) {
  if (error_of(now) != NULL) {
    return CHECK_INT(status, -1) && has_raised(error_of(now));
  }
  release_any(result);
  return CHECK_OK(status);
}

/* Calls a function while the n-th allocation fails, and again if the call has failed. Returns
 * whether there were n. */
static int call_failing(const subject* now, long n) {
  TVMFFIAny result;
  int status;
  int reached;
  arm(n);
  status = call_subject(&result);
  reached = disarm();
  if (status == 0) {
    CHECK(error_of(now) == NULL);
    release_any(&result);
  } else {
    CHECK_INT(status, -1);
    CHECK_INT(result.type_index, kTVMFFINone);
    if (error_of(now) != NULL && !reached) {
      has_raised(error_of(now));
    } else if (error_of(now) != NULL) {
      CHECK(raised_is(NULL, NULL));
    } else if (has_raised("MemoryError")) {
      status = call_subject(&result);
      check_success(now, status, &result);
    }
  }
  return reached;
}

/* ---- rounds ------------------------------------------------------------------------------ */

enum { FINISHED = 0, FAILED = 1, NOT_REACHED = 42 };

/* Runs rounds until one needs fewer allocations; the last time, checks that none leaves
 * anything. */
static void run_rounds(const subject* now, int is_last_time) {
  long n;
  int reached = 1;
  for (n = 1; reached && n < ROUNDS && checks_failed == 0; n++) {
    long objects = census.live;
    long blocks = heap.live;
    long allocations = heap.count;
    prepare(now);
    reached = call_failing(now, n);
    clean_up(now);
    CHECK(nothing_raised());
    if (is_last_time && !(now->needs & LEAVES_ENTRIES)) {
      CHECK_INT(census.live, objects);
      if (!CHECK_INT(heap.live, blocks)) {
        print_blocks_after(allocations);
      }
    }
    if (checks_failed != 0) {
      printf("  %s: allocation %ld\n", now->name, n);
    }
  }
  CHECK(n < ROUNDS);
}

/* Rounds in one process, in which a call has succeeded and others have failed, so that all that the
 * library keeps exists. */
static int run_warm(const subject* now) {
  TVMFFIAny result;
  int status;
  prepare(now);
  status = call_subject(&result);
  check_success(now, status, &result);
  clean_up(now);
  run_rounds(now, 0);
  run_rounds(now, 1);
  return checks_failed == 0 ? FINISHED : FAILED;
}

/* A round that is the first call of its process. */
static int run_cold(const subject* now, long n) {
  int reached;
  prepare(now);
  reached = call_failing(now, n);
  clean_up(now);
  return checks_failed != 0 ? FAILED : reached ? FINISHED : NOT_REACHED;
}

/* Runs a round (or all of them, for n = 0) in a child. Returns its exit status. */
static int in_child(const subject* now, long n) {
  int status = 0;
  pid_t child;
  fflush(stdout);
  child = fork();
  if (child == 0) {
    int code;
    watchdog(60);
    checks_failed = 0;
    code = n == 0 ? run_warm(now) : run_cold(now, n);
    fflush(stdout);
    _exit(code);
  }
  if (child < 0 || wait_for_watched(child, &status) != child) {
    perror("fork");
    exit(2);
  }
  if (WIFSIGNALED(status)) {
    printf("%s: killed by signal %d\n", now->name, WTERMSIG(status));
    return FAILED;
  }
  return WEXITSTATUS(status);
}

static long run(const subject* now) {
  long n;
  int status = in_child(now, 0);
  for (n = 1; status == FINISHED && n < ROUNDS; n++) {
    status = in_child(now, n);
  }
  if (!CHECK_INT(status, NOT_REACHED)) {
    printf("  %s, allocation %ld of its first call, or of a later one if that is 0\n", now->name, n - 1);
  }
  return n - 2;
}

/* ---- every function ---------------------------------------------------------------------- */

static const subject* subject_of(const TVMFFIByteArray* name) {
  size_t i;
  for (i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++) {
    if (bytes_equal(name, subjects[i].name)) {
      return &subjects[i];
    }
  }
  return NULL;
}

/* Checks that each global function has a line in the table, and each line a function. */
static void check_table(void) {
  TVMFFIAny names = make_by("ffi.FunctionListGlobalNamesFunctor", NULL, 0);
  TVMFFIAny arg = any_int(-1);
  TVMFFIAny count = any_none();
  int64_t i;
  CHECK_OK(TVMFFIFunctionCall(names.v_obj, &arg, 1, &count));
  for (i = 0; i < count.v_int64; i++) {
    TVMFFIAny name = any_none();
    TVMFFIByteArray bytes;
    arg = any_int(i);
    CHECK_OK(TVMFFIFunctionCall(names.v_obj, &arg, 1, &name));
    bytes = name.type_index == kTVMFFISmallStr ? bytes_of_length(name.v_bytes, name.small_str_len)
                                               : *CELL(TVMFFIByteArray, name.v_obj);
    if (!CHECK(subject_of(&bytes) != NULL)) {
      printf("  add a line with valid arguments of %.*s\n", (int)bytes.size, bytes.data);
    }
    release_any(&name);
  }
  CHECK_INT(count.v_int64, sizeof(subjects) / sizeof(subjects[0]));
  release_any(&names);
}

int main(int argc, char** argv) {
  long failures = 0;
  size_t i;
  if (argc != 3) {
    printf("usage: functions objects|malloc once|onwards\n");
    return 2;
  }
  choose_failures(argv[1], argv[2]);
  check_table();
  /* Stays open, so that all rounds can name the frames of errors: looking them up takes longer than
   * a round. */
  CHECK(dlopen(required("CHECK_KERNELS"), RTLD_LAZY | RTLD_LOCAL) != NULL);
  for (i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++) {
    failures += run(&subjects[i]);
  }
  printf("%lu functions, %ld allocations of first calls failed\n", (unsigned long)i, failures);
  return check_report("functions");
}
