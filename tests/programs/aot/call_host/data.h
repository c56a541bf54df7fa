#include <stdint.h>
/* calls the global function "aot.host_add"(t, y, 7), which the host must register: y = t + 7 with
 * t = 2 * x; arguments (x, y) */
enum { call_host_x_ndim = 1 };
static const int64_t call_host_x_shape[] = {4};
static const float call_host_x[4] = {
  0.0f, 1.0f, 2.0f, 3.0f
};
enum { call_host_y_ndim = 1 };
static const int64_t call_host_y_shape[] = {4};
static const float call_host_y[4] = {
  7.0f, 9.0f, 11.0f, 13.0f
};
