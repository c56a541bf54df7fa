/* planned.c: firmware with a whole model and exactly the memory that was planned for it, or less.
 * ARENA_BYTES is the memory; with TOO_LITTLE, it must be an error that names the bytes asked and
 * free, with any amount of memory below it, too. */
#include <cnn_f32/data.h>
#include <tvm/runtime/c_backend_api.h>
#include <tvm_ffi_model.h>
#include <tvm_ffi_platform.h>

#include "board.h"
#include "ffi.h"
#include "print.h"

/* ERROR_BYTES is room for an error with its message, though it may be in pieces. */
enum { CALLS = 3, STEP = 40, ERROR_BYTES = 256 };

/* tests/programs/relax/cnn/executable.c */
int cnn_create(TVMFFIObjectHandle* model);

static uint64_t arena[ARENA_BYTES / 8] __attribute__((aligned(16)));

static int classify(TVMFFIObjectHandle model) {
  static const int64_t shape[] = {1, 1, 8, 8};
  DLTensor tensor = {(void*)cnn_f32_x, {kDLCPU, 0}, 4, {kDLFloat, 32, 1}, (int64_t*)shape, NULL, 0};
  TVMFFIAny arg = any_tensor(&tensor), scores = any_none();
  if (FerriteModelCall(model, "main", &arg, 1, &scores) != 0) return -1;
  TVMFFIObjectDecRef(scores.v_obj);
  return 0;
}

/* Loads the model and calls it; everything comes from the arena, workspaces of kernels, too. Stores
 * what is free in the end. */
static int run(size_t* left) {
  TVMFFIObjectHandle model = NULL;
  int at, status = cnn_create(&model);
  for (at = 0; at < CALLS && status == 0; ++at) status = classify(model);
  *left = FerriteMemoryFree();
  if (model != NULL) TVMFFIObjectDecRef(model);
  return status;
}

#ifdef TOO_LITTLE
static int is_refused(void) {
  size_t left;
  if (run(&left) == 0) return 0;
  return raised_is("MemoryError", left < ERROR_BYTES ? "Out of memory" : " bytes asked, ");
}

/* Leaves less and less memory, until there is none for an error. */
static int is_always_refused(void) {
  size_t left = FerriteMemoryFree();
  int ok = is_refused();
  while (ok && left > STEP + ERROR_BYTES) {
    void* taken;
    left -= STEP;
    taken = TVMBackendAllocWorkspace(kDLCPU, 0, FerriteMemoryFree() - left, kDLFloat, 32);
    ok = taken != NULL && is_refused();
    TVMBackendFreeWorkspace(kDLCPU, 0, taken);
  }
  return ok;
}
#endif

int main(void) {
  int ok = FerriteMemoryAdd(arena, sizeof(arena)) == 0;
#ifdef TOO_LITTLE
  ok &= is_always_refused();
#else
  size_t left;
  ok &= run(&left) == 0;
  if (!ok) print_raised();
#endif
  ok &= FerriteMemoryUsed() == 0;
  print_row_start("arena");
  print_number(sizeof(arena));
  print_text(ok ? " bytes: ok" : " bytes: FAILED");
  print_row_end();
  print_measure("pool", FerriteMemoryHighWater());
  return ok ? 0 : 1;
}
