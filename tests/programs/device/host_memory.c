/*
 * host_memory.c: main memory that the library needs for kernels on a device.
 *
 *   host_memory TYPE LIBRARY
 *
 * Launches allocate nothing once everything is loaded: direct kernel calls, and host code with one
 * kernel, and with two and a workspace. If the library's n-th allocation fails, for every n, the
 * result is a MemoryError or unaffected, nothing leaks, and the next attempt succeeds; each n is a
 * process of its own. TYPE is the number of the device type, LIBRARY a library with the fixtures
 * for it.
 */
#include "../../robustness/alloc_fail/failing_malloc.h"
#include "../../watchdog/watchdog.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tvm/ffi/extra/c_env_api.h>

#include "ferrite_util.h"

enum { LAUNCHES = 200, MOST = 5000, NOT_REACHED = 3, REFUSED = 4, ABSORBED = 5, WRONG = 6 };

static int device_type;
static const char* library;

/* Number of live blocks of the library at a child's end, for the parent. */
static long* live_at_end;

static const char* kind_of_error(void) {
  static char kind[64];
  TVMFFIObjectHandle error = NULL;
  const TVMFFIErrorCell* cell;
  TVMFFIErrorMoveFromRaised(&error);
  if (error == NULL) return "nothing";
  cell = (const TVMFFIErrorCell*)((const TVMFFIObject*)error + 1);
  sprintf(kind, "%.*s", (int)(cell->kind.size < 63 ? cell->kind.size : 63), cell->kind.data);
  TVMFFIObjectDecRef(error);
  return kind;
}

static int tensor(int64_t rows, int64_t columns, TVMFFIObjectHandle* out) {
  FerriteTensor prototype;
  int64_t shape[2];
  shape[0] = rows;
  shape[1] = columns;
  ferrite_tensor_init(&prototype, NULL, kDLFloat, 32, columns == 0 ? 1 : 2, shape);
  prototype.dl.device.device_type = (DLDeviceType)device_type;
  return TVMFFIEnvTensorAlloc(&prototype.dl, out);
}

/* Objects owned by a scenario; can be released in any state. */
typedef struct {
  TVMFFIObjectHandle module, add_one, mlp, kernel, x, y, mlp_tensors[6];
} Held;

static void release(Held* held) {
  TVMFFIObjectHandle all[12];
  size_t i;
  memcpy(all, held, sizeof all);
  for (i = 0; i < sizeof all / sizeof all[0]; ++i) {
    if (all[i] != NULL) TVMFFIObjectDecRef(all[i]);
  }
  memset(held, 0, sizeof *held);
}

static int load(Held* held) {
  static const int64_t extents[6][2] = {{8, 64}, {32, 64}, {32, 0}, {10, 32}, {10, 0}, {8, 10}};
  TVMFFIAny search[3], found;
  int i;
  if (ferrite_module_load(library, &held->module) != 0) return -1;
  if (ferrite_module_function(held->module, "add_one", &held->add_one) != 0) return -1;
  if (ferrite_module_function(held->module, "mlp", &held->mlp) != 0) return -1;
  search[0] = ferrite_object(held->module);
  search[1] = ferrite_str("add_one_kernel");
  search[2] = ferrite_bool(1);
  if (ferrite_call_global("ffi.ModuleGetFunction", search, 3, &found) != 0) return -1;
  held->kernel = found.v_obj;
  if (tensor(1024, 0, &held->x) != 0 || tensor(1024, 0, &held->y) != 0) return -1;
  for (i = 0; i < 6; ++i) {
    if (tensor(extents[i][0], extents[i][1], &held->mlp_tensors[i]) != 0) return -1;
  }
  return 0;
}

static int synchronize(void) {
  TVMFFIAny wait[2], result;
  memset(wait, 0, sizeof wait);
  wait[0].type_index = kTVMFFIDevice;
  wait[0].v_device.device_type = (DLDeviceType)device_type;
  wait[1] = ferrite_int(0);
  return ferrite_call_global("runtime.Device_StreamSync", wait, 2, &result);
}

static TVMFFIAny data_of(TVMFFIObjectHandle of) {
  TVMFFIAny value = ferrite_none();
  value.type_index = kTVMFFIOpaquePtr;
  value.v_ptr = ((DLTensor*)((TVMFFIObject*)of + 1))->data;
  return value;
}

static int call_kernel(const Held* held) {
  TVMFFIAny args[4], result;
  args[0] = data_of(held->x);
  args[1] = data_of(held->y);
  args[2] = ferrite_int(16);
  args[3] = ferrite_int(64);
  return ferrite_call(held->kernel, args, 4, &result);
}

static int call_add_one(const Held* held) {
  TVMFFIAny args[2], result;
  args[0] = ferrite_object(held->x);
  args[1] = ferrite_object(held->y);
  return ferrite_call(held->add_one, args, 2, &result);
}

static int call_mlp(const Held* held) {
  TVMFFIAny args[6], result;
  int i;
  for (i = 0; i < 6; ++i) args[i] = ferrite_object(held->mlp_tensors[i]);
  return ferrite_call(held->mlp, args, 6, &result);
}

static int fill(TVMFFIObjectHandle of, size_t bytes) {
  static char zeros[8192];
  TVMFFIAny args[3], result;
  args[0] = ferrite_object(of);
  args[1] = ferrite_none();
  args[1].type_index = kTVMFFIOpaquePtr;
  args[1].v_ptr = zeros;
  args[2] = ferrite_int((int64_t)bytes);
  return ferrite_call_global("runtime.TVMTensorCopyFromBytes", args, 3, &result);
}

static int scenario(void) {
  Held held;
  int status = -1;
  memset(&held, 0, sizeof held);
  if (load(&held) == 0 && fill(held.x, 4096) == 0 && call_kernel(&held) == 0 && call_add_one(&held) == 0 &&
      call_mlp(&held) == 0) {
    status = synchronize();
  }
  release(&held);
  return status;
}

/* Counts the library's allocations in repeated calls. */
static long allocations(const char* what, int (*call)(const Held*), const Held* held) {
  long count = 0;
  int i;
  for (i = 0; i < LAUNCHES; ++i) {
    long before = heap.count;
    if (call(held) != 0) {
      printf("%s fails: ", what);
      ferrite_print_raised(stdout, "");
      exit(1);
    }
    if (i >= 2) count += heap.count - before; /* the first calls load */
    if (i % 20 == 0) synchronize();
  }
  printf("%s: %ld allocations in %d calls\n", what, count, LAUNCHES - 2);
  return count;
}

static int count_launches(void) {
  Held held;
  long count;
  memset(&held, 0, sizeof held);
  if (load(&held) != 0) {
    ferrite_print_raised(stdout, "");
    return 1;
  }
  count = allocations("a kernel", call_kernel, &held);
  count += allocations("host code with one kernel", call_add_one, &held);
  count += allocations("host code with two kernels and a workspace", call_mlp, &held);
  release(&held);
  return count != 0;
}

static int attempt(long n) {
  int status, i;
  const char* kind = "nothing";
  TVMFFIObjectHandle none;
  /* The first error of a process creates state that later ones share. */
  if (tensor(-1, 1, &none) == 0) return WRONG;
  kind_of_error();
  heap.fail_in = n;
  status = scenario();
  heap.fail_in = 0;
  if (status != 0) kind = kind_of_error();
  if (heap.failed == 0) status = status == 0 ? NOT_REACHED : WRONG;
  else if (status == 0) status = ABSORBED;
  else status = strcmp(kind, "MemoryError") == 0 ? REFUSED : WRONG;
  if (status == WRONG) printf("  allocation %ld: %s\n", n, kind);
  for (i = 0; i < 2; ++i) {
    if (scenario() != 0) {
      printf("  allocation %ld: fails afterwards: %s\n", n, kind_of_error());
      status = WRONG;
    }
  }
  *live_at_end = heap.live;
  return status;
}

static int in_child(long n) {
  int status;
  pid_t child;
  fflush(stdout);
  child = fork();
  if (child == 0) {
    watchdog(60);
    status = n == 0 ? count_launches() : attempt(n);
    fflush(stdout);
    _exit(status);
  }
  if (child < 0 || wait_for_watched(child, &status) != child) return WRONG;
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  printf("  allocation %ld: a crash by signal %d\n", n, WTERMSIG(status));
  return WRONG;
}

int main(int argc, char** argv) {
  long n, refused_count = 0, absorbed = 0, wrong = 0, expected;
  int status;
  if (argc != 3) {
    fprintf(stderr, "usage: host_memory TYPE LIBRARY\n");
    return 2;
  }
  device_type = atoi(argv[1]);
  library = argv[2];
  live_at_end = mmap(NULL, sizeof *live_at_end, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (!watch_library() || live_at_end == MAP_FAILED) return 2;
  if (in_child(0) != 0) {
    printf("launches allocate\n");
    return 1;
  }
  if (in_child(MOST) != NOT_REACHED) return 1;
  expected = *live_at_end;
  for (n = 1; n < MOST; ++n) {
    status = in_child(n);
    if (status == NOT_REACHED) break;
    if (status == REFUSED) ++refused_count;
    else if (status == ABSORBED) ++absorbed;
    else ++wrong;
    if (status != WRONG && *live_at_end != expected) {
      printf("  allocation %ld: %ld blocks live at the end, not %ld\n", n, *live_at_end, expected);
      ++wrong;
    }
  }
  printf("host_memory: %ld allocations refused, %ld did not matter, %ld wrong\n", refused_count, absorbed, wrong);
  return wrong != 0 || refused_count == 0;
}
