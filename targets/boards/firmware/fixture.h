/* fixture.h: compiled models with weights, inputs and expected outputs; calls with comparison. */
#ifndef FIXTURE_H_
#define FIXTURE_H_

#include "ffi.h"

enum { FIXTURE_ARGS = 6, FIXTURE_NDIM = 4 };

typedef struct {
  const void* data;
  DLDataTypeCode code;
  int bits;
  int ndim;
  const int64_t* shape;
} Array;

/* A model to call `rows` times, each time with one row of the first input and of the output; `rows`
 * is 1 if one call takes everything. */
typedef struct {
  const char* name;
  CompiledFunction function; /* from C source; null if it comes from the system library */
  int rows;
  int num_inputs;
  Array inputs[FIXTURE_ARGS - 1];
  Array expected;
  const int64_t* labels; /* expected index of each row's largest score; null if there are none */
  double tolerance;
} Fixture;

extern const Fixture fixture_add_one, fixture_add_one_dyn, fixture_call_host, fixture_cnn_f32, fixture_mlp_f32,
    fixture_mlp_i8, fixture_par_scale, fixture_softmax_f32;

/* Arguments of one call. Weights and inputs are read in place, from flash. */
typedef struct {
  TVMFFIAny args[FIXTURE_ARGS];
  DLTensor tensors[FIXTURE_ARGS];
  int64_t row_shapes[2][FIXTURE_NDIM]; /* shapes of one row of the first input and of the output */
  int count;
} Call;

/* Accuracy of all rows of a fixture, and the cost of a call. */
typedef struct {
  int right; /* rows whose largest score is at the label */
  double largest_error;
  uint64_t instructions; /* of one call */
} Outcome;

size_t fixture_output_bytes(const Fixture* fixture);
/* Prepares the call with one row; the output is written to `output`. The call must not be moved
 * while it is in use. */
void fixture_call(const Fixture* fixture, int row, void* output, Call* call);
/* Calls every row and compares the results. Returns -1 with an error raised if a call fails. */
int fixture_run(const Fixture* fixture, TVMFFIObjectHandle function, void* output, Outcome* outcome);

/*
 * Registers aot.host_add(t, y, c), which computes y = t + c for compiled functions, and creates the
 * module in which code compiled to C looks it up.
 */
int fixture_prepare_host(void);

#endif /* FIXTURE_H_ */
