/*
 * Mappings of memory that the system refuses: the n-th mmap, mremap, mprotect or brk of a process
 * fails, for every n, whoever makes it: the library, malloc, the stacks of threads, the dynamic
 * linker. Each n is a process of its own, in which a scenario runs once with the failure and twice
 * after it: it gives an error or works, nothing leaks, and it works when the system gives again.
 *
 * A seccomp filter makes a signal of each such system call; the handler fails one, and makes the
 * others. x86-64 Linux only.
 */
#ifndef FERRITE_TESTS_RESOURCES_REFUSED_MAPPINGS_H_
#define FERRITE_TESTS_RESOURCES_REFUSED_MAPPINGS_H_

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../alloc_fail/failing_malloc.h"
/* After it, since it needs its feature macros. */
#include "../../conformance/c/modules.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
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

/* ---- scenarios --------------------------------------------------------------------------- */

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

/* What a process does. */
typedef struct {
  const char* name;
  int (*run)(void); /* returns whether all of its calls worked */
  int onwards;      /* whether all later mappings may fail, too: a thread that starts then is ended by Rust's standard library */
} scenario;

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

/* ---- one process for each n -------------------------------------------------------------- */

/* State of a process at its end. */
typedef struct {
  int refused;
  long blocks; /* live blocks of the library */
  long files;  /* mappings of files other than modules */
} outcome;

/* Part of the path of the modules that scenarios load. */
static const char* modules;

/* Counts the mappings of files: of modules, or of all others. */
static long mappings_of_files(int of_module) {
  char line[600];
  long count = 0;
  FILE* file = fopen("/proc/self/maps", "r");
  if (!CHECK(file != NULL)) {
    return -1;
  }
  while (fgets(line, sizeof(line), file) != NULL) {
    count += strchr(line, '/') != NULL && (strstr(line, modules) != NULL) == of_module;
  }
  fclose(file);
  return count;
}

/* Runs a scenario while mappings are refused, and twice after that. */
static void run_refused(const scenario* one, int nth, int onwards, outcome* end) {
  long left, live = 0;
  int i;
  watchdog(60);
  checks_failed = 0;
  if (CHECK(filter_mappings())) {
    mappings.onwards = onwards;
    mappings.fail_in = nth;
    CHECK(one->run() || mappings.failed > 0);
    mappings.fail_in = 0;
    left = mappings_of_files(1); /* a dlopen that fails leaves the mappings that it made: glibc 2.36 */
    for (i = 0; i < 3; i++) {
      CHECK(one->run());
      CHECK(i < 2 || CHECK_INT(heap.live, live));
      live = heap.live;
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
static int check_nth(const scenario* one, int nth, int onwards, outcome* end, const outcome* without) {
  int status = 0;
  pid_t child;
  fflush(stdout);
  memset(end, 0, sizeof(*end));
  child = fork();
  if (child == 0) {
    run_refused(one, nth, onwards, end);
  }
  CHECK_INT(wait_for_watched(child, &status), child);
  /* Types that are registered after a failure may need one more block of their table. It stays. */
  if (!(CHECK_INT(status, 0) & CHECK(end->blocks == without->blocks || end->blocks == without->blocks + 1) &
        CHECK_INT(end->files, without->files))) {
    printf("  %s, mapping %d is refused%s\n", one->name, nth, onwards ? ", and all later ones" : "");
  }
  return end->refused > 0;
}

/* Runs a scenario for each n. */
static void check_scenario(const scenario* one, outcome* end) {
  enum { MOST = 1000 };
  int nth = 1;
  outcome without;
  int status;
  pid_t child;
  fflush(stdout);
  memset(end, 0, sizeof(*end));
  child = fork();
  if (child == 0) {
    run_refused(one, 0, 0, end);
  }
  CHECK(wait_for_watched(child, &status) == child && status == 0);
  without = *end;
  while (nth < MOST && check_nth(one, nth, 0, end, &without)) {
    if (one->onwards) {
      check_nth(one, nth, 1, end, &without);
    }
    nth++;
  }
  printf("%s: %d mappings\n", one->name, nth - 1);
  CHECK(nth > 1 && nth < MOST);
}

/* Runs all scenarios. Returns the status of the program. */
static int check_scenarios(const char* program, const char* part_of_path, const scenario* all, int count) {
  outcome* end = mmap(NULL, sizeof(outcome), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int i;
  if (end == MAP_FAILED || !watch_library()) {
    return 2;
  }
  modules = part_of_path;
  for (i = 0; i < count; i++) {
    check_scenario(&all[i], end);
  }
  return check_report(program);
}

#endif /* FERRITE_TESTS_RESOURCES_REFUSED_MAPPINGS_H_ */
