/* Helpers of the module tests: the built-in module functions, called from C. */
#ifndef FERRITE_TESTS_C_MODULES_H_
#define FERRITE_TESTS_C_MODULES_H_

#include "check.h"

/* Returns a required environment variable: the test library with or without embedded modules, or a
 * folder for files. */
UNUSED_OK static const char* required(const char* variable) {
  const char* value = getenv(variable);
  if (value == NULL) {
    printf("%s is not set\n", variable);
    exit(2);
  }
  return value;
}

UNUSED_OK static int load(const char* path, TVMFFIAny* module) {
  TVMFFIAny arg = any_text(path);
  return call_global("ffi.ModuleLoadFromFile", &arg, 1, module);
}

UNUSED_OK static int module_function(TVMFFIObject* module, const char* name, int imports,
                                     TVMFFIAny* function) {
  TVMFFIAny args[3];
  args[0] = any_object(module);
  args[1] = any_text(name);
  args[2] = any_bool(imports);
  return call_global("ffi.ModuleGetFunction", args, 3, function);
}

UNUSED_OK static int import_module(TVMFFIObject* into, TVMFFIObject* what) {
  TVMFFIAny args[2];
  TVMFFIAny result;
  args[0] = any_object(into);
  args[1] = any_object(what);
  return call_global("ffi.ModuleImportModule", args, 2, &result);
}

UNUSED_OK static int clear_imports(TVMFFIObject* module) {
  TVMFFIAny arg = any_object(module);
  TVMFFIAny result;
  return call_global("ffi.ModuleClearImports", &arg, 1, &result);
}

/* Looks up add_one in a module, and calls it. */
UNUSED_OK static int64_t add_one(TVMFFIObject* module, int64_t value) {
  TVMFFIAny function;
  TVMFFIAny arg = any_int(value);
  TVMFFIAny result = any_none();
  if (!CHECK_OK(module_function(module, "add_one", 0, &function)) ||
      !CHECK(function.type_index == kTVMFFIFunction)) {
    return -1;
  }
  CHECK_OK(TVMFFIFunctionCall(function.v_obj, &arg, 1, &result));
  release_any(&function);
  return result.v_int64;
}

#endif /* FERRITE_TESTS_C_MODULES_H_ */
