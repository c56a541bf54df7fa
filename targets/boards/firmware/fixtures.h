/* fixtures.h: whole models with calls and TVM's results; tests/programs/relax/boards has one file
 * for each. */
#ifndef FIXTURES_H_
#define FIXTURES_H_

#include <tvm_ffi_model.h>

enum { TENSOR, SHAPE, TUPLE };

/* An argument or a result. */
typedef struct {
  int kind;
  const void* data; /* of a tensor: its elements; of a tuple: the Values */
  DLDataType dtype;
  int size; /* dimensions of a tensor, extents of a shape, elements of a tuple */
  const int64_t* shape;
} Value;

/* A call. Results are flat: the tensors in tuples one by one, and shapes as tensors. */
typedef struct {
  const char* function;
  int num_args;
  const Value* args;
  int num_results;
  const Value* results;
} ModelCall;

typedef struct {
  const char* name;
  const char* prefix; /* of the system library */
  int num_calls;
  const ModelCall* calls;
  double tolerance;
} ModelFixture;

/* The model of the program. */
extern const ModelFixture fixture;

#endif /* FIXTURES_H_ */
