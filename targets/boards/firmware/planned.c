/* planned.c: firmware with a whole model and exactly the memory that was planned for it, or less. ARENA_BYTES is the memory; with
 * TOO_LITTLE, it must be an error that names the bytes asked and free. */
#include <cnn_f32/data.h>
#include <tvm_ffi_model.h>
#include <tvm_ffi_platform.h>

#include "board.h"
#include "ffi.h"
#include "print.h"

enum { CALLS = 3 };

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

/* Loads the model and calls it; everything comes from the arena, workspaces of kernels, too. */
static int run(void) {
  TVMFFIObjectHandle model = NULL;
  int at, status;
  if (FerriteMemoryAdd(arena, sizeof(arena)) != 0) return -1;
  status = cnn_create(&model);
  for (at = 0; at < CALLS && status == 0; ++at) status = classify(model);
  if (model != NULL) TVMFFIObjectDecRef(model);
  return status;
}

int main(void) {
  int status = run();
#ifdef TOO_LITTLE
  int ok = status != 0 && raised_is("MemoryError", " bytes asked, ");
#else
  int ok = status == 0;
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
