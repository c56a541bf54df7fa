/* fixture.h: compiled models with their weights, inputs and expected outputs, and calls that compare. */
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

/* `rows` calls, each with one row of the first input and one row of the output; 1 where one call takes everything. */
typedef struct {
  const char* name;
  CompiledFunction function; /* from C source; null where the system library has it */
  int rows;
  int num_inputs;
  Array inputs[FIXTURE_ARGS - 1];
  Array expected;
  const int64_t* labels; /* what the largest score of each row is at; null without */
  double tolerance;
} Fixture;

extern const Fixture fixture_add_one, fixture_add_one_dyn, fixture_call_host, fixture_cnn_f32, fixture_mlp_f32,
    fixture_mlp_i8, fixture_par_scale, fixture_softmax_f32;

/* The arguments of one call: weights and inputs are read where they lie, in flash. */
typedef struct {
  TVMFFIAny args[FIXTURE_ARGS];
  DLTensor tensors[FIXTURE_ARGS];
  int64_t row_shapes[2][FIXTURE_NDIM]; /* of the first input and of the output, of which a call sees one row */
  int count;
} Call;

/* How well all rows of a fixture came out. */
typedef struct {
  int right; /* rows whose largest score is at the label */
  double largest_error;
  uint64_t instructions; /* of one call */
} Outcome;

size_t fixture_output_bytes(const Fixture* fixture);
/* Prepares the call with one row; the output goes to `output`. Keep the call where it is as long as it is used. */
void fixture_call(const Fixture* fixture, int row, void* output, Call* call);
/* Calls every row and compares; -1 with the error raised when a call fails. */
int fixture_run(const Fixture* fixture, TVMFFIObjectHandle function, void* output, Outcome* outcome);

/*
 * Prepares what compiled functions call: aot.host_add(t, y, c), which computes y = t + c, and the module through which
 * code compiled to C finds it.
 */
int fixture_prepare_host(void);

#endif /* FIXTURE_H_ */
