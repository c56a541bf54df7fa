/*
 * Mappings of memory that the system refuses: the n-th mmap, mremap, mprotect or brk of a process fails, for every n, whoever
 * makes it: the library, malloc, the stacks of threads, the dynamic linker. Calls give errors or do with fewer threads, nothing leaks,
 * and the same calls work when the system gives again. Each n is a process of its own.
 *
 * A seccomp filter makes a signal of each such system call; the handler fails one, and makes the others. x86-64 Linux only.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../alloc_fail/failing_malloc.h"
/* After it, since it needs its feature macros. */
#include "../../conformance/c/modules.h"

#include <tvm/runtime/c_backend_api.h>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef __x86_64__
#error "this program makes system calls of x86-64"
#endif

/* ---- the system calls -------------------------------------------------------------------- */

/* Makes a system call from the one address that the filter lets through. */
long unfiltered(long number, long a, long b, long c, long d, long e, long f);
extern const char after_unfiltered[];
__asm__(
    ".text\n.type unfiltered, @function\nunfiltered:\n"
    "movq %rdi, %rax\nmovq %rsi, %rdi\nmovq %rdx, %rsi\nmovq %rcx, %rdx\nmovq %r8, %r10\nmovq %r9, %r8\nmovq 8(%rsp), %r9\n"
    "syscall\nafter_unfiltered:\nret\n.size unfiltered, . - unfiltered\n");

static struct {
  int fail_in; /* 1 fails the next one, 0 none */
  int onwards; /* whether all later ones fail, too */
  int failed;
} mappings;

/* Returns whether this call of any thread is to fail. */
static int is_refused(void) {
  if (mappings.fail_in > 0 && __sync_sub_and_fetch(&mappings.fail_in, 1) == 0) {
    if (mappings.onwards) {
      mappings.fail_in = 1;
    }
    mappings.failed++;
    return 1;
  }
  return 0;
}

static void handle(int signal, siginfo_t* info, void* context) {
  greg_t* r = ((ucontext_t*)context)->uc_mcontext.gregs;
  (void)signal;
  if (!is_refused()) {
    r[REG_RAX] =
        unfiltered(info->si_syscall, r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]);
  } else if (info->si_syscall == SYS_brk) {
    r[REG_RAX] = unfiltered(SYS_brk, 0, 0, 0, 0, 0, 0); /* the end of the heap stays where it is */
  } else {
    r[REG_RAX] = -ENOMEM;
  }
}

static int filter_mappings(void) {
  const uintptr_t let_through = (uintptr_t)after_unfiltered;
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, 9),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mremap, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_brk, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer) + 4),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
  };
  struct sock_fprog program;
  struct sigaction action;
  code[8].k = (uint32_t)let_through;
  code[10].k = (uint32_t)(let_through >> 32);
  memset(&action, 0, sizeof(action));
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  program.len = sizeof(code) / sizeof(code[0]);
  program.filter = code;
  return sigaction(SIGSYS, &action, NULL) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* ---- what the processes do --------------------------------------------------------------- */

/* Takes the raised error of a call that failed. Returns whether it succeeded. */
static int works(int status) {
  TVMFFIObjectHandle error = NULL;
  if (status == 0) {
    return 1;
  }
  TVMFFIErrorMoveFromRaised(&error);
  if (CHECK(error != NULL)) {
    CHECK(CELL(TVMFFIErrorCell, error)->message.size > 0);
    TVMFFIObjectDecRef(error);
  }
  return 0;
}

/* Each returns whether all of its calls worked. */

static int load_a_module(void) {
  TVMFFIAny module;
  TVMFFIAny function;
  TVMFFIAny arg = any_int(4);
  TVMFFIAny result = any_none();
  int good = 0;
  if (!works(load(required("CHECK_KERNELS"), &module))) {
    return 0;
  }
  if (works(module_function(module.v_obj, "add_one", 0, &function))) {
    good = works(TVMFFIFunctionCall(function.v_obj, &arg, 1, &result));
    CHECK(!good || result.v_int64 == 5);
    release_any(&function);
  }
  release_any(&module);
  return good;
}

static int identity(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self;
  *result = num_args == 1 ? args[0] : any_none();
  return 0;
}

/* Registers so many functions that the tables grow. */
static int register_and_call(void) {
  enum { NAMES = 3000 };
  char text[40];
  int i;
  TVMFFIAny arg = any_int(7);
  for (i = 0; i < NAMES; i++) {
    TVMFFIByteArray name;
    TVMFFIObjectHandle function = NULL;
    TVMFFIAny result = any_none();
    int good;
    sprintf(text, "mappings.%d", i);
    name = bytes_of(text);
    if (!works(TVMFFIFunctionCreate(NULL, identity, NULL, &function))) {
      return 0;
    }
    good = works(TVMFFIFunctionSetGlobal(&name, function, 1));
    TVMFFIObjectDecRef(function);
    if (!good || !works(call_global(text, &arg, 1, &result))) {
      return 0;
    }
    CHECK_INT(result.v_int64, 7);
  }
  return 1;
}

/* A list and a dictionary that grow beyond what malloc has in its heap, and copies of them. */
static int fill_containers(void) {
  enum { ELEMENTS = 40000 };
  TVMFFIAny args[3];
  TVMFFIAny result;
  TVMFFIAny list;
  TVMFFIAny dict;
  int good = 1;
  int i;
  if (!works(call_global("ffi.List", NULL, 0, &list))) {
    return 0;
  }
  if (!works(call_global("ffi.Dict", NULL, 0, &dict))) {
    release_any(&list);
    return 0;
  }
  for (i = 0; i < ELEMENTS && good; i++) {
    args[0] = list;
    args[1] = any_int(i);
    good = works(call_global("ffi.ListAppend", args, 2, &result));
    args[0] = dict;
    args[2] = any_int(-i);
    good = good && works(call_global("ffi.DictSetItem", args, 3, &result));
  }
  args[0] = good ? dict : list;
  if (works(call_global("ffi.DeepCopy", args, 1, &result))) {
    release_any(&result);
  } else {
    good = 0;
  }
  release_any(&list);
  release_any(&dict);
  return good;
}

/* Errors with backtraces, for which symbols are read. They may lack the backtraces. */
static int raise_errors(int count) {
  enum { MOST = 600 };
  TVMFFIObjectHandle errors[MOST];
  TVMFFIAny arg = any_int(1);
  TVMFFIAny result;
  int good = 1;
  int i;
  for (i = 0; i < count && i < MOST; i++) {
    CHECK_INT(call_global("ffi.ArraySize", &arg, 1, &result), -1);
    TVMFFIErrorMoveFromRaised(&errors[i]);
    if (!CHECK(errors[i] != NULL)) {
      break;
    }
    good = good && bytes_equal(&CELL(TVMFFIErrorCell, errors[i])->kind, "TypeError") &&
           CELL(TVMFFIErrorCell, errors[i])->backtrace.size > 0;
  }
  while (i-- > 0) {
    TVMFFIObjectDecRef(errors[i]);
  }
  return good;
}

static int keep_errors(void) { return raise_errors(600); }

static int count_task(int task, TVMParallelGroupEnv* env, void* data) {
  __sync_fetch_and_add((int*)data, 1);
  CHECK(task < env->num_task);
  return 0;
}

/* A loop runs on fewer threads, or not at all. */
static int start_threads(void) {
  enum { TASKS = 4 };
  TVMFFIAny settings[2];
  TVMFFIAny result;
  int ran = 0;
  int good;
  settings[0] = any_int(1);
  settings[1] = any_int(TASKS);
  good = works(call_global("runtime.config_threadpool", settings, 2, &result));
  if (works(TVMBackendParallelLaunch(count_task, &ran, 0))) {
    CHECK(ran >= 1);
  } else {
    good = 0;
  }
  ran = 0;
  if (works(TVMBackendParallelLaunch(count_task, &ran, TASKS))) {
    CHECK_INT(ran, TASKS);
  } else {
    CHECK_INT(ran, 0);
    good = 0;
  }
  return good;
}

static const struct {
  const char* name;
  int (*run)(void);
  int onwards; /* whether all later mappings may fail, too: a thread that starts then is ended by Rust's standard library */
} SCENARIOS[] = {
    {"a module is loaded", load_a_module, 1},      {"functions are registered", register_and_call, 1},
    {"containers are filled", fill_containers, 1}, {"errors are raised", keep_errors, 1},
    {"threads are started", start_threads, 0},
};

/* ---- one process for each n -------------------------------------------------------------- */

/* State of a process at its end. */
typedef struct {
  int refused;
  long blocks; /* live blocks of the library */
  long files;  /* mappings of files other than the module */
} outcome;

/* Counts the mappings of files: of the module, or of all others. */
static long mappings_of_files(int of_module) {
  char line[600];
  long count = 0;
  FILE* file = fopen("/proc/self/maps", "r");
  if (!CHECK(file != NULL)) {
    return -1;
  }
  while (fgets(line, sizeof(line), file) != NULL) {
    count += strchr(line, '/') != NULL && (strstr(line, required("CHECK_KERNELS")) != NULL) == of_module;
  }
  fclose(file);
  return count;
}

/* Runs a scenario while mappings are refused, and twice after that. */
static void run_refused(int (*run)(void), int nth, int onwards, outcome* end) {
  long left;
  int i;
  alarm(60);
  checks_failed = 0;
  if (CHECK(filter_mappings())) {
    mappings.onwards = onwards;
    mappings.fail_in = nth;
    CHECK(run() || mappings.failed > 0);
    mappings.fail_in = 0;
    left = mappings_of_files(1); /* a dlopen that fails leaves the mappings that it made: glibc 2.36 */
    for (i = 0; i < 2; i++) {
      CHECK(run());
    }
    CHECK_INT(mappings_of_files(1), left);
    raise_errors(1); /* what the first error allocates stays */
    CHECK(nothing_raised());
  }
  end->refused = mappings.failed;
  end->blocks = heap.live;
  end->files = mappings_of_files(0);
  fflush(stdout);
  _exit(checks_failed == 0 ? 0 : 1);
}

/* Returns whether a mapping was refused. */
static int check(int scenario, int nth, int onwards, outcome* end, const outcome* without) {
  int status = 0;
  pid_t child;
  fflush(stdout);
  memset(end, 0, sizeof(*end));
  child = fork();
  if (child == 0) {
    run_refused(SCENARIOS[scenario].run, nth, onwards, end);
  }
  CHECK_INT(waitpid(child, &status, 0), child);
  if (!(CHECK_INT(status, 0) & CHECK_INT(end->blocks, without->blocks) & CHECK_INT(end->files, without->files))) {
    printf("  %s, mapping %d is refused%s\n", SCENARIOS[scenario].name, nth, onwards ? ", and all later ones" : "");
  }
  return end->refused > 0;
}

int main(void) {
  enum { COUNT = sizeof(SCENARIOS) / sizeof(SCENARIOS[0]), MOST = 1000 };
  outcome* end = mmap(NULL, sizeof(outcome), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int scenario;
  if (end == MAP_FAILED || !watch_library()) {
    return 2;
  }
  /* glibc ends a process when it has no memory to register the destructors of a thread's values. */
  raise_errors(1);
  for (scenario = 0; scenario < COUNT; scenario++) {
    int nth = 1;
    outcome without;
    int status;
    pid_t child;
    fflush(stdout);
    memset(end, 0, sizeof(*end));
    child = fork();
    if (child == 0) {
      run_refused(SCENARIOS[scenario].run, 0, 0, end);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    without = *end;
    while (nth < MOST && check(scenario, nth, 0, end, &without)) {
      if (SCENARIOS[scenario].onwards) {
        check(scenario, nth, 1, end, &without);
      }
      nth++;
    }
    printf("%s: %d mappings\n", SCENARIOS[scenario].name, nth - 1);
    CHECK(nth > 1 && nth < MOST);
  }
  return check_report("mappings");
}
