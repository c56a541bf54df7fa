/* values.c: calls of the model values with TVM's results; written by gen_relax.py. */
#include "fixtures.h"

static const float data_0[] = {2.040919, -2.555665, 0.41809884, -0.5677696, -0.4526493, -0.21559717, -2.0199862, -0.23193237, -0.8652131, 3.3229995, 0.22578661, -0.3526308};
static const int64_t shape_0[] = {3, 4};
static const float data_1[] = {-0.28128743, -0.66804636, -1.0551505, -0.39080098};
static const int64_t shape_1[] = {4};
static const float data_2[] = {0.4819454, -0.23855361, 0.9577587, -0.19980213};
static const int64_t shape_2[] = {4};
static const Value parts_3[] = {{TENSOR, data_1, {kDLFloat, 32, 1}, 1, shape_1}, {TENSOR, data_2, {kDLFloat, 32, 1}, 1, shape_2}};
static const float data_4[] = {1.7596316, -3.2237115, -0.6370517, -0.9585706, -0.7339367, -0.8836435, -3.0751367, -0.62273335, -1.1465006, 2.654953, -0.8293639, -0.7434318};
static const int64_t shape_4[] = {3, 4};
static const float data_5[] = {0.9836115, 0.6096631, 0.4004378, 0.11344157, -0.21815224, 0.051431485, -1.9346594, 0.04634058, -0.41698548, -0.7927135, 0.2162491, 0.070456386};
static const int64_t shape_5[] = {3, 4};
static const int64_t data_6[] = {3, 12};
static const int64_t shape_6[] = {2};
static const Value call_7_0[] = {{TENSOR, data_0, {kDLFloat, 32, 1}, 2, shape_0}, {TUPLE, parts_3, {0, 0, 0}, 2, NULL}};
static const Value call_7_1[] = {{TENSOR, data_4, {kDLFloat, 32, 1}, 2, shape_4}, {TENSOR, data_5, {kDLFloat, 32, 1}, 2, shape_5}, {TENSOR, data_6, {kDLInt, 64, 1}, 1, shape_6}};
static const float data_9[] = {2.040919, -2.555665, 0.41809884, -0.5677696, -0.4526493, -0.21559717, -2.0199862, -0.23193237, -0.8652131, 3.3229995, 0.22578661, -0.3526308};
static const int64_t shape_9[] = {12};
static const Value call_10_0[] = {{TENSOR, data_0, {kDLFloat, 32, 1}, 2, shape_0}};
static const Value call_10_1[] = {{TENSOR, data_9, {kDLFloat, 32, 1}, 1, shape_9}};
static const int64_t shape_12[] = {2, 3};
static const float data_13[] = {2.5, 2.5, 2.5, 2.5, 2.5, 2.5};
static const int64_t shape_13[] = {2, 3};
static const Value call_14_0[] = {{SHAPE, NULL, {0, 0, 0}, 2, shape_12}};
static const Value call_14_1[] = {{TENSOR, data_13, {kDLFloat, 32, 1}, 2, shape_13}};
static const float data_16[] = {0.024259565, 1.5458208, 0.5451055, -0.50522876, -0.18283898, 0.54052514};
static const int64_t shape_16[] = {6};
static const int64_t data_17[] = {2, 3};
static const int64_t shape_17[] = {2};
static const float data_18[] = {0.024259565, 1.5458208, 0.5451055, -0.50522876, -0.18283898, 0.54052514};
static const int64_t shape_18[] = {2, 3};
static const Value call_19_0[] = {{TENSOR, data_16, {kDLFloat, 32, 1}, 1, shape_16}, {TENSOR, data_17, {kDLInt, 64, 1}, 1, shape_17}};
static const Value call_19_1[] = {{TENSOR, data_18, {kDLFloat, 32, 1}, 2, shape_18}};
static const float data_21[] = {1.935088, -0.26962033, -0.24355868, 1.0023136};
static const int64_t shape_21[] = {4};
static const float data_22[] = {-0.88645995, -0.29172024, 0.882539, 0.58035004};
static const int64_t shape_22[] = {4};
static const float data_23[] = {1.0486281, -0.5613406, 0.63898027, 1.5826637};
static const int64_t shape_23[] = {4};
static const Value call_24_0[] = {{TENSOR, data_21, {kDLFloat, 32, 1}, 1, shape_21}, {TENSOR, data_22, {kDLFloat, 32, 1}, 1, shape_22}};
static const Value call_24_1[] = {{TENSOR, data_23, {kDLFloat, 32, 1}, 1, shape_23}};
static const ModelCall calls[] = {
  {"pair", 2, call_7_0, 3, call_7_1},
  {"flatten", 1, call_10_0, 1, call_10_1},
  {"fill", 1, call_14_0, 1, call_14_1},
  {"to_shape", 2, call_19_0, 1, call_19_1},
  {"closure", 2, call_24_0, 1, call_24_1},
};
const ModelFixture fixture = {"values", "fixture_values_", 5, calls, 1e-06};

extern const char FerriteModelBuiltin_check_tensor_info;
extern const char FerriteModelBuiltin_match_shape;
extern const char FerriteModelBuiltin_make_closure;
extern const char FerriteModelBuiltin_invoke_closure;
extern const char FerriteModelBuiltin_null_value;
extern const char FerriteModelBuiltin_alloc_shape_heap;
extern const char FerriteModelBuiltin_check_shape_info;
extern const char FerriteModelBuiltin_make_shape;
extern const char FerriteModelBuiltin_alloc_storage;
extern const char FerriteModelBuiltin_alloc_tensor;
extern const char FerriteModelBuiltin_check_tuple_info;
extern const char FerriteModelBuiltin_tuple_getitem;
extern const char FerriteModelBuiltin_make_tuple;
extern const char FerriteModelBuiltin_tensor_to_shape;
extern const char FerriteModelBuiltin_copy;
const void* const FerriteModelBuiltins[] = {&FerriteModelBuiltin_check_tensor_info, &FerriteModelBuiltin_match_shape, &FerriteModelBuiltin_make_closure, &FerriteModelBuiltin_invoke_closure, &FerriteModelBuiltin_null_value, &FerriteModelBuiltin_alloc_shape_heap, &FerriteModelBuiltin_check_shape_info, &FerriteModelBuiltin_make_shape, &FerriteModelBuiltin_alloc_storage, &FerriteModelBuiltin_alloc_tensor, &FerriteModelBuiltin_check_tuple_info, &FerriteModelBuiltin_tuple_getitem, &FerriteModelBuiltin_make_tuple, &FerriteModelBuiltin_tensor_to_shape, &FerriteModelBuiltin_copy, NULL};
