/* chain.c: calls of the model chain with TVM's results; written by gen_relax.py. */
#include "fixtures.h"

static const float data_0[] = {0.0, 1.0, 2.0, 3.0};
static const int64_t shape_0[] = {4};
static const float data_1[] = {1000.0, 1001.0, 1002.0, 1003.0};
static const int64_t shape_1[] = {4};
static const Value call_2_0[] = {{TENSOR, data_0, {kDLFloat, 32, 1}, 1, shape_0}};
static const Value call_2_1[] = {{TENSOR, data_1, {kDLFloat, 32, 1}, 1, shape_1}};
static const ModelCall calls[] = {
  {"main", 1, call_2_0, 1, call_2_1},
};
const ModelFixture fixture = {"chain", "fixture_chain_", 1, calls, 0.0};

extern const char FerriteModelBuiltin_check_tensor_info;
extern const char FerriteModelBuiltin_match_shape;
extern const char FerriteModelBuiltin_alloc_storage;
extern const char FerriteModelBuiltin_alloc_tensor;
extern const char FerriteModelBuiltin_null_value;
const void* const FerriteModelBuiltins[] = {&FerriteModelBuiltin_check_tensor_info, &FerriteModelBuiltin_match_shape, &FerriteModelBuiltin_alloc_storage, &FerriteModelBuiltin_alloc_tensor, &FerriteModelBuiltin_null_value, NULL};
