/*
 * gpu.c: lists the devices of a kind, and classifies digits on each.
 *
 *   gpu TYPE LIBRARY
 *
 * TYPE is the number of the device type, LIBRARY the network compiled for it by TVM. Exits with 0
 * if every device returns the expected classes, with 3 and an explanation if there is no device,
 * and otherwise with 1.
 */
#define _POSIX_C_SOURCE 200112L
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Pictures, labels and weights, as plain C arrays. */
#include <cnn_f32/data.h>

#include "ferrite_device.h"

enum { PIXELS = 64, CLASSES = 10, PICTURES = 20, TIMED_RUNS = 300, NO_DEVICE = 3 };

/* Arguments of the network's function, in this order. */
enum { X, WC, BC, WD, BD, OUT, ARGUMENTS };

typedef struct {
  DLDevice device;
  TVMFFIObjectHandle module, function;
  TVMFFIObjectHandle tensors[ARGUMENTS];
} Network;

/* ---- devices ---- */

static void print_attribute(DLDevice device, int attribute, const char* before) {
  TVMFFIAny value;
  TVMFFIByteArray text;
  ferrite_check(ferrite_device_attribute(device, attribute, &value), "runtime.GetDeviceAttr");
  text = ferrite_text(&value);
  if (text.size != 0) {
    printf("%s%.*s", before, (int)text.size, text.data);
  } else if (value.type_index == kTVMFFIInt) {
    printf("%s%ld", before, (long)value.v_int64);
  }
  ferrite_release(&value);
}

static void print_device(DLDevice device) {
  printf("  %d ", (int)device.device_id);
  print_attribute(device, FERRITE_DEVICE_NAME, " ");
  print_attribute(device, FERRITE_DEVICE_DRIVER_VERSION, ", driver ");
  putchar('\n');
}

/* Returns true if the network runs on the device: code objects for AMD GPUs are specific to an
 * architecture. */
static int is_compiled_for(DLDevice device) {
  static const char architecture[] = "gfx1100";
  TVMFFIAny value;
  TVMFFIByteArray text;
  int fits;
  ferrite_check(ferrite_device_attribute(device, FERRITE_DEVICE_GCN_ARCH, &value), "runtime.GetDeviceAttr");
  text = ferrite_text(&value);
  fits = text.size == 0 || (text.size >= sizeof architecture - 1 && memcmp(text.data, architecture, sizeof architecture - 1) == 0);
  if (!fits) printf("     not run: the network here is compiled for %s, not %.*s\n", architecture, (int)text.size, text.data);
  ferrite_release(&value);
  return fits;
}

static void explain_absence(DLDeviceType type) {
  TVMFFIAny name;
  fputs("  no device: ", stdout);
  if (ferrite_device_attribute(ferrite_device(type, 0), FERRITE_DEVICE_NAME, &name) != 0) {
    ferrite_print_raised(stdout, "    ");
  } else {
    puts("the driver has none");
    ferrite_release(&name);
  }
}

/* ---- the network ---- */

static void make_tensor(Network* net, int which, int ndim, const int64_t* shape, const float* data) {
  size_t count = 1;
  int axis;
  for (axis = 0; axis < ndim; ++axis) count *= (size_t)shape[axis];
  ferrite_check(ferrite_device_tensor(net->device, kDLFloat, 32, ndim, shape, &net->tensors[which]), "TVMFFIEnvTensorAlloc");
  if (data != NULL) ferrite_check(ferrite_device_write(net->tensors[which], data, count * sizeof(float)), "a copy to the device");
}

static void load(Network* net, DLDevice device, const char* path) {
  static const int64_t picture_shape[4] = {1, 1, 8, 8}, scores_shape[2] = {1, CLASSES};
  net->device = device;
  ferrite_check(ferrite_module_load(path, &net->module), path);
  ferrite_check(ferrite_module_function(net->module, "digits", &net->function), "digits");
  make_tensor(net, X, 4, picture_shape, NULL);
  make_tensor(net, WC, cnn_f32_wc_ndim, cnn_f32_wc_shape, cnn_f32_wc);
  make_tensor(net, BC, cnn_f32_bc_ndim, cnn_f32_bc_shape, cnn_f32_bc);
  make_tensor(net, WD, cnn_f32_wd_ndim, cnn_f32_wd_shape, cnn_f32_wd);
  make_tensor(net, BD, cnn_f32_bd_ndim, cnn_f32_bd_shape, cnn_f32_bd);
  make_tensor(net, OUT, 2, scores_shape, NULL);
}

static void unload(Network* net) {
  int i;
  for (i = 0; i < ARGUMENTS; ++i) ferrite_release_object(net->tensors[i]);
  ferrite_release_object(net->function);
  ferrite_release_object(net->module);
}

/* Queues the network's kernels. */
static void infer(Network* net) {
  TVMFFIAny args[ARGUMENTS], result;
  int i;
  for (i = 0; i < ARGUMENTS; ++i) args[i] = ferrite_object(net->tensors[i]);
  ferrite_check(ferrite_call(net->function, args, ARGUMENTS, &result), "digits");
}

static int classify(Network* net, int picture) {
  float scores[CLASSES];
  int best = 0, i;
  ferrite_check(ferrite_device_write(net->tensors[X], cnn_f32_x + picture * PIXELS, PIXELS * sizeof(float)), "a copy to the device");
  infer(net);
  ferrite_check(ferrite_device_read(net->tensors[OUT], scores, sizeof scores), "a copy from the device");
  for (i = 1; i < CLASSES; ++i) {
    if (scores[i] > scores[best]) best = i;
  }
  return best;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

/* Measures the time per inference, waiting for each as a program does that needs its result. */
static double microseconds_per_inference(Network* net) {
  double start = now();
  int i;
  for (i = 0; i < TIMED_RUNS; ++i) {
    infer(net);
    ferrite_check(ferrite_device_sync(net->device), "runtime.Device_StreamSync");
  }
  return (now() - start) / TIMED_RUNS;
}

/* Returns true if every picture was classified correctly. */
static int run(DLDevice device, const char* path) {
  Network net;
  int right = 0, i;
  load(&net, device, path);
  for (i = 0; i < PICTURES; ++i) right += classify(&net, i) == (int)cnn_f32_label[i];
  printf("     %d of %d digits right, %.1f us per inference\n", right, PICTURES, microseconds_per_inference(&net));
  unload(&net);
  return right == PICTURES;
}

int main(int argc, char** argv) {
  DLDevice device;
  int all_right = 1;
  if (argc != 3) {
    fputs("usage: gpu TYPE LIBRARY\n", stderr);
    return 2;
  }
  device = ferrite_device((DLDeviceType)atoi(argv[1]), 0);
  if (!ferrite_device_exists(device)) {
    explain_absence(device.device_type);
    return NO_DEVICE;
  }
  for (; ferrite_device_exists(device); ++device.device_id) {
    print_device(device);
    if (is_compiled_for(device)) all_right &= run(device, argv[2]);
    fflush(stdout);
  }
  return all_right ? 0 : 1;
}
