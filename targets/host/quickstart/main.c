/*
 * main.c: the quick start, a C89 program over TVM-FFI.
 *
 *   quickstart KERNELS CNN MLP [RUST_KERNELS]
 *
 * Loads a kernel library, calls its functions on plain C arrays, shows how errors are reported, and
 * classifies digit pictures with two networks compiled by TVM. The program does not depend on how
 * the libraries were written.
 */
#include "digits.h"
#include "ferrite_util.h"
#include "signature.h"

enum { LENGTH = 6 };

/* ---- printing ---- */

static void heading(const char* text) { printf("\n== %s\n\n", text); }

static void print_vector(const char* name, const float* values) {
  int i;
  printf("  %-12s", name);
  for (i = 0; i < LENGTH; ++i) printf(" %6.2f", values[i]);
  putchar('\n');
}

/* ---- descriptions of a module's functions ---- */

/* Returns a description of a function, which the caller releases. `getter` is
 * ffi.ModuleGetFunctionDoc or ffi.ModuleGetFunctionMetadata, which returns a string, or None if
 * there is none. */
static TVMFFIAny description(const char* getter, TVMFFIObjectHandle module, const char* name) {
  TVMFFIAny args[3];
  TVMFFIAny result;
  args[0] = ferrite_object(module);
  args[1] = ferrite_str(name);
  args[2] = ferrite_bool(0);
  ferrite_check(ferrite_call_global(getter, args, 3, &result), getter);
  return result;
}

/* Prints name, types and documentation of a function. */
static void describe(TVMFFIObjectHandle module, const char* name) {
  TVMFFIAny metadata = description("ffi.ModuleGetFunctionMetadata", module, name);
  TVMFFIAny doc = description("ffi.ModuleGetFunctionDoc", module, name);
  TVMFFIByteArray type = ferrite_text(&metadata), text = ferrite_text(&doc);
  printf("  %s", name);
  signature_print(&type);
  printf("\n      %.*s\n", (int)text.size, text.data);
  ferrite_release(&doc);
  ferrite_release(&metadata);
}

/* ---- calls ---- */

static TVMFFIObjectHandle function_of(TVMFFIObjectHandle module, const char* name) {
  TVMFFIObjectHandle function;
  ferrite_check(ferrite_module_function(module, name, &function), name);
  return function;
}

/* Calls a function that writes to a tensor of the caller. */
static void call_add_one(TVMFFIObjectHandle module, const char* name, const float* x) {
  static const int64_t shape[1] = {LENGTH};
  TVMFFIObjectHandle function = function_of(module, name);
  FerriteTensor x_tensor, y_tensor;
  TVMFFIAny args[2];
  TVMFFIAny result;
  float y[LENGTH];
  ferrite_tensor_init(&x_tensor, x, kDLFloat, 32, 1, shape);
  ferrite_tensor_init(&y_tensor, y, kDLFloat, 32, 1, shape);
  args[0] = ferrite_tensor(&x_tensor);
  args[1] = ferrite_tensor(&y_tensor);
  ferrite_check(ferrite_call(function, args, 2, &result), name);
  print_vector(name, y);
  ferrite_release_object(function);
}

/* Calls a function that returns a value. */
static void call_dot(TVMFFIObjectHandle module, const char* name, const float* x) {
  static const int64_t shape[1] = {LENGTH};
  TVMFFIObjectHandle function = function_of(module, name);
  FerriteTensor x_tensor;
  TVMFFIAny args[2];
  TVMFFIAny result;
  ferrite_tensor_init(&x_tensor, x, kDLFloat, 32, 1, shape);
  args[0] = ferrite_tensor(&x_tensor);
  args[1] = ferrite_tensor(&x_tensor);
  ferrite_check(ferrite_call(function, args, 2, &result), name);
  printf("  %-12s %6.2f\n", name, result.v_float64);
  ferrite_release_object(function);
}

/* Makes a call that fails: float64 where float32 is expected. */
static void call_with_wrong_type(TVMFFIObjectHandle module, const char* name) {
  static const double x[LENGTH] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
  static const int64_t shape[1] = {LENGTH};
  TVMFFIObjectHandle function = function_of(module, name);
  FerriteTensor tensor;
  TVMFFIAny args[2];
  TVMFFIAny result;
  ferrite_tensor_init(&tensor, x, kDLFloat, 64, 1, shape);
  args[0] = ferrite_tensor(&tensor);
  args[1] = ferrite_tensor(&tensor);
  printf("  %s with vectors of float64:\n    ", name);
  if (ferrite_call(function, args, 2, &result) == 0) {
    puts("no error");
  } else {
    ferrite_print_raised(stdout, "    ");
  }
  ferrite_release_object(function);
}

/* ---- main ---- */

static void show_version(void) {
  TVMFFIVersion version;
  TVMFFIGetVersion(&version);
  printf("libtvm_ffi answers as version %u.%u.%u of the TVM-FFI ABI.\n", (unsigned)version.major,
         (unsigned)version.minor, (unsigned)version.patch);
}

static void show_kernels(const char* path, const char* add_one, const char* dot) {
  static const float x[LENGTH] = {0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 2.5f};
  TVMFFIObjectHandle module;
  ferrite_check(ferrite_module_load(path, &module), path);
  describe(module, add_one);
  describe(module, dot);
  putchar('\n');
  print_vector("x", x);
  call_add_one(module, add_one, x);
  call_dot(module, dot, x);
  ferrite_release_object(module);
}

static void show_errors(const char* kernels_path, const char* cnn_path) {
  TVMFFIObjectHandle module;
  ferrite_check(ferrite_module_load(kernels_path, &module), kernels_path);
  call_with_wrong_type(module, "add_one");
  ferrite_release_object(module);
  digits_show_error(cnn_path);
}

int main(int argc, char** argv) {
  if (argc < 4 || argc > 5) {
    fprintf(stderr, "usage: %s KERNELS CNN MLP [RUST_KERNELS]\n", argc > 0 ? argv[0] : "quickstart");
    return 2;
  }
  show_version();
  heading("A kernel library written in C");
  show_kernels(argv[1], "add_one", "dot");
  if (argc == 5) {
    heading("A kernel library written in Rust");
    show_kernels(argv[4], "rust_add_one", "rust_dot");
  }
  heading("Errors: a kind and a message");
  show_errors(argv[1], argv[2]);
  heading("Digits, classified by networks that TVM compiled to C");
  digits_run(argv[2], argv[3]);
  return 0;
}
