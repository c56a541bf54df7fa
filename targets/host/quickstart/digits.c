/* digits.c: runs networks compiled to C by TVM on pictures of 8 by 8 pixels. */
#include "digits.h"

#include <time.h>

/* Pictures, labels and weights, as plain C arrays. */
#include <cnn_f32/data.h>
#include <mlp_f32/data.h>

#include "ferrite_util.h"

enum { SIDE = 8, PIXELS = SIDE * SIDE, CLASSES = 10, PICTURES = 20, DRAWN = 4, TIMED_RUNS = 2000 };

/* A loaded network: its function takes a picture, four constant tensors and a tensor for the
 * scores. */
typedef struct {
  const char* name;
  TVMFFIObjectHandle module;
  TVMFFIObjectHandle function;
  int picture_ndim;
  int64_t picture_shape[FERRITE_MAX_NDIM];
  FerriteTensor constants[4];
} Network;

static void constant(Network* net, int place, const float* data, int ndim, const int64_t* shape) {
  ferrite_tensor_init(&net->constants[place], data, kDLFloat, 32, ndim, shape);
}

/* Sets the shape of a picture: both networks get the same pictures, each in the shape that it was
 * compiled for. */
static void set_picture_shape(Network* net, int ndim) {
  int axis;
  net->picture_ndim = ndim;
  for (axis = 0; axis < FERRITE_MAX_NDIM; ++axis) net->picture_shape[axis] = 1;
  net->picture_shape[ndim - 1] = ndim == 2 ? PIXELS : SIDE;
  if (ndim == 4) net->picture_shape[2] = SIDE;
}

static void load(Network* net, const char* name, const char* path) {
  net->name = name;
  ferrite_check(ferrite_module_load(path, &net->module), path);
  ferrite_check(ferrite_module_function(net->module, name, &net->function), name);
}

static void load_cnn(Network* net, const char* path) {
  load(net, "cnn_f32", path);
  set_picture_shape(net, 4);
  constant(net, 0, cnn_f32_wc, cnn_f32_wc_ndim, cnn_f32_wc_shape);
  constant(net, 1, cnn_f32_bc, cnn_f32_bc_ndim, cnn_f32_bc_shape);
  constant(net, 2, cnn_f32_wd, cnn_f32_wd_ndim, cnn_f32_wd_shape);
  constant(net, 3, cnn_f32_bd, cnn_f32_bd_ndim, cnn_f32_bd_shape);
}

static void load_mlp(Network* net, const char* path) {
  load(net, "mlp_f32", path);
  set_picture_shape(net, 2);
  constant(net, 0, mlp_f32_w1, mlp_f32_w1_ndim, mlp_f32_w1_shape);
  constant(net, 1, mlp_f32_b1, mlp_f32_b1_ndim, mlp_f32_b1_shape);
  constant(net, 2, mlp_f32_w2, mlp_f32_w2_ndim, mlp_f32_w2_shape);
  constant(net, 3, mlp_f32_b2, mlp_f32_b2_ndim, mlp_f32_b2_shape);
}

static void unload(Network* net) {
  ferrite_release_object(net->function);
  ferrite_release_object(net->module);
}

static const float* pixels_of(int picture) { return cnn_f32_x + picture * PIXELS; }

static int label_of(int picture) { return (int)cnn_f32_label[picture]; }

/* Calls the compiled function. */
static int infer(Network* net, FerriteTensor* picture, float* scores) {
  static const int64_t scores_shape[2] = {1, CLASSES};
  FerriteTensor out;
  TVMFFIAny args[6];
  TVMFFIAny result;
  int i;
  ferrite_tensor_init(&out, scores, kDLFloat, 32, 2, scores_shape);
  args[0] = ferrite_tensor(picture);
  for (i = 0; i < 4; ++i) args[1 + i] = ferrite_tensor(&net->constants[i]);
  args[5] = ferrite_tensor(&out);
  return ferrite_call(net->function, args, 6, &result);
}

static int classify(Network* net, int picture) {
  FerriteTensor input;
  float scores[CLASSES];
  int best = 0, i;
  ferrite_tensor_init(&input, pixels_of(picture), kDLFloat, 32, net->picture_ndim, net->picture_shape);
  ferrite_check(infer(net, &input, scores), net->name);
  for (i = 1; i < CLASSES; ++i) {
    if (scores[i] > scores[best]) best = i;
  }
  return best;
}

/* ---- drawing ---- */

static char shade(float light) {
  static const char shades[] = " .:-=+*#%@";
  int i = (int)(light * 9.0f + 0.5f);
  return shades[i < 0 ? 0 : i > 9 ? 9 : i];
}

static void draw_line(const float* pixels) {
  int i;
  for (i = 0; i < SIDE; ++i) {
    char c = shade(pixels[i]);
    putchar(c);
    putchar(c);
  }
}

/* Draws the first pictures side by side. */
static void draw_row(void) {
  int line, i;
  for (line = 0; line < SIDE; ++line) {
    for (i = 0; i < DRAWN; ++i) {
      fputs("  |", stdout);
      draw_line(pixels_of(i) + line * SIDE);
      putchar('|');
    }
    putchar('\n');
  }
}

static void caption_row(const int* answers) {
  int i;
  for (i = 0; i < DRAWN; ++i) {
    int right = answers[i] == label_of(i);
    printf("%s   says %d, is %d %s", i == 0 ? "" : "   ", answers[i], label_of(i), right ? " " : "!");
  }
  puts("\n");
}

/* ---- reports ---- */

static int count_right(const int* answers) {
  int i, right = 0;
  for (i = 0; i < PICTURES; ++i) right += answers[i] == label_of(i);
  return right;
}

static double microseconds_per_inference(Network* net) {
  FerriteTensor input;
  float scores[CLASSES];
  clock_t start;
  int i;
  ferrite_tensor_init(&input, pixels_of(0), kDLFloat, 32, net->picture_ndim, net->picture_shape);
  start = clock();
  for (i = 0; i < TIMED_RUNS; ++i) ferrite_check(infer(net, &input, scores), net->name);
  return (double)(clock() - start) * 1e6 / CLOCKS_PER_SEC / TIMED_RUNS;
}

static void classify_all(Network* net, int* answers) {
  int i;
  for (i = 0; i < PICTURES; ++i) answers[i] = classify(net, i);
}

static void report(Network* net, const char* what, const int* answers) {
  printf("  %s  %-32s %d of %d right, %.1f us per inference\n", net->name, what, count_right(answers), PICTURES,
         microseconds_per_inference(net));
}

void digits_run(const char* cnn_path, const char* mlp_path) {
  Network cnn, mlp;
  int cnn_answers[PICTURES], mlp_answers[PICTURES];
  load_cnn(&cnn, cnn_path);
  load_mlp(&mlp, mlp_path);
  classify_all(&cnn, cnn_answers);
  classify_all(&mlp, mlp_answers);
  draw_row();
  caption_row(cnn_answers);
  report(&cnn, "convolution, pooling and dense:", cnn_answers);
  report(&mlp, "two dense layers:", mlp_answers);
  unload(&mlp);
  unload(&cnn);
}

void digits_show_error(const char* cnn_path) {
  Network cnn;
  FerriteTensor picture;
  float scores[CLASSES];
  load_cnn(&cnn, cnn_path);
  cnn.picture_shape[2] = SIDE - 1;
  ferrite_tensor_init(&picture, pixels_of(0), kDLFloat, 32, cnn.picture_ndim, cnn.picture_shape);
  puts("  cnn_f32 with a picture of 7 by 8 pixels:");
  fputs("    ", stdout);
  if (infer(&cnn, &picture, scores) == 0) {
    puts("no error");
  } else {
    ferrite_print_raised(stdout, "    ");
  }
  unload(&cnn);
}
