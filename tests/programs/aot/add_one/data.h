#include <stdint.h>
/* y = x + 1, fixed shape 16; arguments (x, y) */
enum { add_one_x_ndim = 1 };
static const int64_t add_one_x_shape[] = {16};
static const float add_one_x[16] = {
  0.91595155f, 1.0081892f, -0.55046314f, 0.0288348664f, 0.00630447827f, 0.146534726f, -1.56638706f, -0.252914399f,
  0.051738739f, 0.89024502f, 2.27916765f, 0.478654027f, -0.58011812f, -0.528943777f, -0.486599803f, 0.125668824f
};
enum { add_one_y_ndim = 1 };
static const int64_t add_one_y_shape[] = {16};
static const float add_one_y[16] = {
  1.91595149f, 2.0081892f, 0.44953686f, 1.02883482f, 1.0063045f, 1.14653468f, -0.566387057f, 0.747085571f,
  1.05173874f, 1.89024496f, 3.27916765f, 1.47865403f, 0.41988188f, 0.471056223f, 0.513400197f, 1.12566876f
};
