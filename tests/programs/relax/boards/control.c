/* control.c: calls of the model control with TVM's results; written by gen_relax.py. */
#include "fixtures.h"

static const uint8_t data_0[] = {1};
static const int64_t shape_0[] = {0};
static const float data_1[] = {0.5, -1.0, 2.0, 3.0};
static const int64_t shape_1[] = {4};
static const float data_2[] = {1.0, -2.0, 4.0, 6.0};
static const int64_t shape_2[] = {4};
static const Value call_3_0[] = {{TENSOR, data_0, {kDLBool, 8, 1}, 0, shape_0}, {TENSOR, data_1, {kDLFloat, 32, 1}, 1, shape_1}};
static const Value call_3_1[] = {{TENSOR, data_2, {kDLFloat, 32, 1}, 1, shape_2}};
static const uint8_t data_5[] = {0};
static const int64_t shape_5[] = {0};
static const float data_6[] = {0.25, 1.0, 4.0, 9.0};
static const int64_t shape_6[] = {4};
static const Value call_7_0[] = {{TENSOR, data_5, {kDLBool, 8, 1}, 0, shape_5}, {TENSOR, data_1, {kDLFloat, 32, 1}, 1, shape_1}};
static const Value call_7_1[] = {{TENSOR, data_6, {kDLFloat, 32, 1}, 1, shape_6}};
static const int64_t data_9[] = {0};
static const int64_t shape_9[] = {0};
static const float data_10[] = {1.0, 1.0, 1.0, 1.0};
static const int64_t shape_10[] = {4};
static const Value call_11_0[] = {{TENSOR, data_9, {kDLInt, 64, 1}, 0, shape_9}, {TENSOR, data_1, {kDLFloat, 32, 1}, 1, shape_1}};
static const Value call_11_1[] = {{TENSOR, data_10, {kDLFloat, 32, 1}, 1, shape_10}};
static const int64_t data_13[] = {1};
static const int64_t shape_13[] = {0};
static const Value call_14_0[] = {{TENSOR, data_13, {kDLInt, 64, 1}, 0, shape_13}, {TENSOR, data_1, {kDLFloat, 32, 1}, 1, shape_1}};
static const Value call_14_1[] = {{TENSOR, data_1, {kDLFloat, 32, 1}, 1, shape_1}};
static const int64_t data_16[] = {5};
static const int64_t shape_16[] = {0};
static const float data_17[] = {0.03125, -1.0, 32.0, 243.0};
static const int64_t shape_17[] = {4};
static const Value call_18_0[] = {{TENSOR, data_16, {kDLInt, 64, 1}, 0, shape_16}, {TENSOR, data_1, {kDLFloat, 32, 1}, 1, shape_1}};
static const Value call_18_1[] = {{TENSOR, data_17, {kDLFloat, 32, 1}, 1, shape_17}};
static const int64_t data_20[] = {9};
static const int64_t shape_20[] = {0};
static const float data_21[] = {0.001953125, -1.0, 512.0, 19683.0};
static const int64_t shape_21[] = {4};
static const Value call_22_0[] = {{TENSOR, data_20, {kDLInt, 64, 1}, 0, shape_20}, {TENSOR, data_1, {kDLFloat, 32, 1}, 1, shape_1}};
static const Value call_22_1[] = {{TENSOR, data_21, {kDLFloat, 32, 1}, 1, shape_21}};
static const ModelCall calls[] = {
  {"choose", 2, call_3_0, 1, call_3_1},
  {"choose", 2, call_7_0, 1, call_7_1},
  {"power", 2, call_11_0, 1, call_11_1},
  {"power", 2, call_14_0, 1, call_14_1},
  {"power", 2, call_18_0, 1, call_18_1},
  {"power", 2, call_22_0, 1, call_22_1},
};
const ModelFixture fixture = {"control", "fixture_control_", 6, calls, 0.001};

extern const char FerriteModelBuiltin_check_tensor_info;
extern const char FerriteModelBuiltin_match_shape;
extern const char FerriteModelBuiltin_read_if_cond;
extern const char FerriteModelBuiltin_alloc_storage;
extern const char FerriteModelBuiltin_alloc_tensor;
extern const char FerriteModelBuiltin_null_value;
extern const char FerriteModelBuiltin_copy;
const void* const FerriteModelBuiltins[] = {&FerriteModelBuiltin_check_tensor_info, &FerriteModelBuiltin_match_shape, &FerriteModelBuiltin_read_if_cond, &FerriteModelBuiltin_alloc_storage, &FerriteModelBuiltin_alloc_tensor, &FerriteModelBuiltin_null_value, &FerriteModelBuiltin_copy, NULL};
