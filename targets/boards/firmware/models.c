/*
 * models.c: runs every compiled model that fits, and compares the results with numpy's.
 *
 * Functions from C source are registered as global functions; with FROM_SYSTEM_LIBRARY they come
 * from objects that registered themselves before main.
 */
#include "fixture.h"
#include "print.h"
#include "profile.h"
#include "workspace.h"

static const Fixture* const fixtures[] = {&fixture_add_one,  &fixture_add_one_dyn, &fixture_mlp_f32,
                                          &fixture_mlp_i8,   &fixture_cnn_f32,     &fixture_softmax_f32,
                                          &fixture_call_host, &fixture_par_scale};

enum { FIXTURES = sizeof(fixtures) / sizeof(fixtures[0]) };

/* OUTPUT_BYTES is the board's memory for the output of one model. */
static uint64_t output[OUTPUT_BYTES / 8];

static int get_function(const Fixture* fixture, TVMFFIObjectHandle* out) {
#ifdef FROM_SYSTEM_LIBRARY
  return profile_system_library_function(fixture->name, out);
#else
  if (set_global_compiled(fixture->name, fixture->function) != 0) return -1;
  return get_global(fixture->name, out);
#endif
}

static void print_outcome(const Fixture* fixture, const Outcome* outcome, int good) {
  print_row_start(fixture->name);
  print_text(good ? "ok" : "FAILED");
  if (fixture->labels != NULL) {
    print_text(", ");
    print_number((uint32_t)outcome->right);
    print_text(" of ");
    print_number((uint32_t)fixture->rows);
    print_text(" digits");
  }
  print_text(", error ");
  print_small(outcome->largest_error);
  print_text(" of ");
  print_small(fixture->tolerance);
  print_row_end_measured((uint32_t)(10 * outcome->instructions));
}

/* Prints why a model cannot run on this board; returns 0 if it can. */
static int left_out(const Fixture* fixture) {
  size_t bytes = fixture_output_bytes(fixture);
#ifdef WITHOUT_MODULES
  if (fixture == &fixture_call_host) {
    print_row_start(fixture->name);
    print_text("left out: this profile has no modules");
    print_row_end();
    return 1;
  }
#endif
  if (bytes <= sizeof(output)) return 0;
  print_row_start(fixture->name);
  print_text("left out: output of ");
  print_number((uint32_t)bytes);
  print_text(" bytes, room for ");
  print_number((uint32_t)sizeof(output));
  print_row_end();
  return 1;
}

static int run(const Fixture* fixture) {
  TVMFFIObjectHandle function = NULL;
  Outcome outcome;
  int good, status;
  if (left_out(fixture)) return 1;
  status = get_function(fixture, &function);
  if (status == 0) {
    status = fixture_run(fixture, function, output, &outcome);
    TVMFFIObjectDecRef(function);
  }
  if (status != 0) {
    print_row_start(fixture->name);
    print_text("FAILED: ");
    print_raised();
    return 0;
  }
  good = outcome.largest_error <= fixture->tolerance && (fixture->labels == NULL || outcome.right == fixture->rows);
  print_outcome(fixture, &outcome, good);
  return good;
}

int main(void) {
  int i, failures = 0;
  if (workspace_start() != 0 || fixture_prepare_host() != 0) {
    print_raised();
    return 1;
  }
  for (i = 0; i < FIXTURES; ++i) failures += !run(fixtures[i]);
  print_stack();
  workspace_print();
  profile_print_pool();
  return failures == 0 ? 0 : 1;
}
