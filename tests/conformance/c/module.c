/* Modules: loading, functions, imports, context symbols, the system library. */
#include "modules.h"

static const char* kernels;

static void test_load(void) {
  TVMFFIAny module;
  TVMFFIAny args[3];
  TVMFFIAny result;
  if (!CHECK_OK(load(kernels, &module))) {
    return;
  }
  CHECK_INT(module.type_index, kTVMFFIModule);
  args[0] = any_object(module.v_obj);
  CHECK_OK(call_global("ffi.ModuleGetKind", args, 1, &result));
  CHECK(any_is_string(&result, "library"));
  CHECK_OK(call_global("ffi.ModuleGetPropertyMask", args, 1, &result));
  CHECK_INT(result.v_int64, 3);
  args[1] = any_text("add_one");
  args[2] = any_bool(0);
  CHECK_OK(call_global("ffi.ModuleImplementsFunction", args, 3, &result));
  CHECK_INT(result.v_int64, 1);
  CHECK_OK(call_global("ffi.ModuleGetFunctionMetadata", args, 3, &result));
  CHECK(any_is_string(&result, "{\"type_schema\": \"int -> int\"}"));
  release_any(&result);
  CHECK_OK(call_global("ffi.ModuleGetFunctionDoc", args, 3, &result));
  CHECK(any_is_string(&result, "Adds one to an integer."));
  release_any(&result);
  args[1] = any_text("missing");
  CHECK_OK(call_global("ffi.ModuleImplementsFunction", args, 3, &result));
  CHECK_INT(result.v_int64, 0);
  CHECK_OK(call_global("ffi.ModuleGetFunction", args, 3, &result));
  CHECK_INT(result.type_index, kTVMFFINone);
  CHECK_OK(call_global("ffi.ModuleGetFunctionDoc", args, 3, &result));
  CHECK_INT(result.type_index, kTVMFFINone);
  args[1] = any_text("context");
  CHECK_ERROR(call_global("ffi.ModuleGetFunctionDoc", args, 3, &result), "TypeError");
  CHECK_INT(add_one(module.v_obj, 41), 42);
  release_any(&module);
}

/* A function keeps its library loaded. */
static void test_function_outlives_module(void) {
  TVMFFIAny module;
  TVMFFIAny function;
  TVMFFIAny arg = any_int(1);
  TVMFFIAny result = any_none();
  CHECK_OK(load(kernels, &module));
  CHECK_OK(module_function(module.v_obj, "add_one", 0, &function));
  release_any(&module);
  CHECK_OK(TVMFFIFunctionCall(function.v_obj, &arg, 1, &result));
  CHECK_INT(result.v_int64, 2);
  arg = any_float(1.0);
  result = any_none();
  CHECK_ERROR_TEXT(TVMFFIFunctionCall(function.v_obj, &arg, 1, &result), "TypeError",
                   "add_one takes an integer");
  release_any(&function);
}

static TVMFFIObjectHandle context_of(TVMFFIObject* module) {
  TVMFFIAny function;
  TVMFFIAny result = any_none();
  CHECK_OK(module_function(module, "context", 0, &function));
  CHECK_OK(TVMFFIFunctionCall(function.v_obj, NULL, 0, &result));
  release_any(&function);
  return result.v_ptr;
}

static int times_ten(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self;
  *result = any_int(num_args == 1 ? args[0].v_int64 * 10 : -1);
  return 0;
}

/* The kernels and their context pointer are in a dependency of the loaded library. Windows finds
 * only what a library itself exports. */
static void test_context_of_a_dependency(void) {
  TVMFFIAny module;
  CHECK_OK(load(required("CHECK_NEEDS_KERNELS"), &module));
#ifdef _WIN32
  {
    TVMFFIAny function;
    CHECK_OK(module_function(module.v_obj, "context", 0, &function));
    CHECK(function.type_index == kTVMFFINone);
  }
#else
  CHECK(context_of(module.v_obj) == (char*)module.v_obj - 8);
#endif
  release_any(&module);
}

static void test_lookup_from_imports(void) {
  TVMFFIAny module;
  TVMFFIAny function;
  TVMFFIAny args[2];
  TVMFFIAny result = any_none();
  TVMFFIObjectHandle found = UNTOUCHED;
  TVMFFIObjectHandle again = UNTOUCHED;
  TVMFFIObjectHandle global = NULL;
  TVMFFIObjectHandle context;
  TVMFFIByteArray name = bytes_of("test.module.times_ten");
  CHECK_OK(load(kernels, &module));
  context = context_of(module.v_obj);
  CHECK(context == (char*)module.v_obj - 8);
  CHECK_ERROR_TEXT(TVMFFIEnvModLookupFromImports(context, "test.module.times_ten", &found),
                   "RuntimeError",
                   "Cannot find function test.module.times_ten in the imported modules or global "
                   "registry.");
  CHECK(found == UNTOUCHED);
  CHECK_OK(TVMFFIFunctionCreate(NULL, times_ten, NULL, &global));
  CHECK_OK(TVMFFIFunctionSetGlobal(&name, global, 0));
  CHECK_INT(strong_count(global), 2);
  CHECK_OK(TVMFFIEnvModLookupFromImports(context, "test.module.times_ten", &found));
  CHECK(found == global);
  CHECK_INT(strong_count(global), 3); /* owned by the module's cache, borrowed by the caller */
  CHECK_OK(TVMFFIEnvModLookupFromImports(context, "test.module.times_ten", &again));
  CHECK(again == found);
  CHECK_INT(strong_count(global), 3);
  CHECK_OK(module_function(module.v_obj, "call_import", 0, &function));
  args[0] = any_text("test.module.times_ten");
  args[1] = any_int(7);
  CHECK_OK(TVMFFIFunctionCall(function.v_obj, args, 2, &result));
  CHECK_INT(result.v_int64, 70);
  release_any(&function);
  release_any(&module);
  CHECK_INT(strong_count(global), 2);
  args[0] = any_text("test.module.times_ten");
  CHECK_OK(call_global("ffi.FunctionRemoveGlobal", args, 1, &result));
  TVMFFIObjectDecRef(global);
}

/* Two modules of one file share the code, which uses the module that is still alive. */
static void test_loaded_twice(void) {
  TVMFFIAny first;
  TVMFFIAny second;
  TVMFFIAny third;
  CHECK_OK(load(kernels, &first));
  CHECK_OK(load(kernels, &second));
  CHECK_OK(load(kernels, &third));
  CHECK(context_of(first.v_obj) == (char*)third.v_obj - 8);
  release_any(&second);
  CHECK(context_of(first.v_obj) == (char*)third.v_obj - 8);
  release_any(&third);
  CHECK(context_of(first.v_obj) == (char*)first.v_obj - 8);
  release_any(&first);
}

static void test_imports(void) {
  TVMFFIAny first;
  TVMFFIAny second;
  TVMFFIAny third;
  TVMFFIAny function;
  TVMFFIAny arg = any_text("");
  TVMFFIAny args[2];
  TVMFFIAny result = any_none();
  CHECK_OK(load(kernels, &first));
  CHECK_OK(call_global("ffi.SystemLib", &arg, 1, &second));
  CHECK_OK(load(kernels, &third));
  CHECK_OK(import_module(second.v_obj, first.v_obj));
  CHECK_OK(module_function(second.v_obj, "add_one", 0, &function));
  CHECK_INT(function.type_index, kTVMFFINone);
  CHECK_OK(module_function(second.v_obj, "add_one", 1, &function));
  CHECK_INT(function.type_index, kTVMFFIFunction);
  release_any(&function);

  /* first -> third is valid, a cycle is not; the rejected import has no effect */
  CHECK_OK(import_module(first.v_obj, third.v_obj));
  CHECK_ERROR_TEXT(import_module(third.v_obj, second.v_obj), "RuntimeError", "Cyclic dependency");
  CHECK_ERROR_TEXT(import_module(third.v_obj, first.v_obj), "RuntimeError", "Cyclic dependency");
  CHECK_ERROR_TEXT(import_module(first.v_obj, first.v_obj), "RuntimeError", "Cyclic dependency");
  CHECK_OK(module_function(third.v_obj, "call_import", 0, &function));
  args[0] = any_text("add_one");
  args[1] = any_int(1);
  CHECK_ERROR(TVMFFIFunctionCall(function.v_obj, args, 2, &result), "RuntimeError");
  release_any(&function);

  CHECK_OK(clear_imports(second.v_obj));
  CHECK_OK(module_function(second.v_obj, "add_one", 1, &function));
  CHECK_INT(function.type_index, kTVMFFINone);
  CHECK_OK(clear_imports(first.v_obj));
  release_any(&third);
  release_any(&second);
  release_any(&first);
}

static int symbol_value;

static void test_context_symbols(void) {
  TVMFFIAny module;
  TVMFFIAny function;
  TVMFFIAny result = any_none();
  CHECK_OK(TVMFFIEnvModRegisterContextSymbol("__test_context_symbol", &symbol_value));
  CHECK_OK(TVMFFIEnvModRegisterContextSymbol("__test_symbol_nobody_has", &symbol_value));
  CHECK_OK(load(kernels, &module));
  CHECK_OK(module_function(module.v_obj, "context_symbol", 0, &function));
  CHECK_OK(TVMFFIFunctionCall(function.v_obj, NULL, 0, &result));
  CHECK(result.v_ptr == &symbol_value);
  release_any(&function);
  release_any(&module);
}

/* ---- the system library ------------------------------------------------------------------ */

static int answer(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self;
  (void)args;
  (void)num_args;
  *result = any_int(42);
  return 0;
}

static int other_answer(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self;
  (void)args;
  (void)num_args;
  *result = any_int(43);
  return 0;
}

static int64_t system_answer(const char* prefix, const char* name) {
  TVMFFIAny arg = any_text(prefix);
  TVMFFIAny module;
  TVMFFIAny function;
  TVMFFIAny result = any_none();
  if (!CHECK_OK(call_global("ffi.SystemLib", &arg, 1, &module))) {
    return -1;
  }
  CHECK_OK(module_function(module.v_obj, name, 0, &function));
  release_any(&module);
  if (function.type_index != kTVMFFIFunction) {
    return -2;
  }
  CHECK_OK(TVMFFIFunctionCall(function.v_obj, NULL, 0, &result));
  release_any(&function);
  return result.v_int64;
}

static void test_system_library(void) {
  TVMFFIAny without;
  TVMFFIAny with;
  TVMFFIAny arg = any_text("");
  CHECK_OK(TVMFFIEnvModRegisterSystemLibSymbol("__tvm_ffi_test_answer",
                                               address_of_function((check_any_function)answer)));
  CHECK_OK(TVMFFIEnvModRegisterSystemLibSymbol("__tvm_ffi_test_answer",
                                               address_of_function((check_any_function)answer)));
  CHECK_OK(TVMFFIEnvModRegisterSystemLibSymbol(
      "__tvm_ffi_mine_test_answer", address_of_function((check_any_function)other_answer)));
  CHECK_INT(system_answer("", "test_answer"), 42);
  CHECK_INT(system_answer("mine_", "test_answer"), 43);
  CHECK_INT(system_answer("mine_", "mine_test_answer"), 43);
  CHECK_INT(system_answer("other_", "test_answer"), 42);
  CHECK_INT(system_answer("", "no_such_answer"), -2);
  CHECK_OK(call_global("ffi.SystemLib", NULL, 0, &without));
  CHECK_OK(call_global("ffi.SystemLib", &arg, 1, &with));
  CHECK(with.v_obj == without.v_obj); /* one module for each prefix */
  release_any(&with);
  release_any(&without);
  arg = any_int(1);
  CHECK_ERROR(call_global("ffi.SystemLib", &arg, 1, &with), "TypeError");
}

static void test_globals(void) {
  TVMFFIAny module;
  TVMFFIAny arg;
  TVMFFIAny result;
  CHECK_OK(load(kernels, &module));
  arg = any_object(module.v_obj);
  CHECK_OK(call_global("ffi.ModuleGlobalsAdd", &arg, 1, &result));
  CHECK_OK(call_global("ffi.ModuleGlobalsAdd", &arg, 1, &result));
  CHECK(strong_count(module.v_obj) >= 2);
  CHECK_OK(call_global("ffi.ModuleGlobalsRemove", &arg, 1, &result));
  CHECK_OK(call_global("ffi.ModuleGlobalsRemove", &arg, 1, &result));
  CHECK_INT(strong_count(module.v_obj), 1);
  release_any(&module);
}

/* ---- invalid library files ----- --------------------------------------------------------- */

static void test_bad_files(void) {
  char path[4096];
  TVMFFIAny module;
  FILE* file;
  CHECK_ERROR_TEXT(load("/nonexistent/folder/library.so", &module), NULL,
                   "Failed to load dynamic shared library /nonexistent/folder/library.so");
  CHECK_INT(module.type_index, kTVMFFINone);
  CHECK_ERROR_TEXT(load("no_extension", &module), "RuntimeError", "Failed to get file format");
  CHECK_ERROR_TEXT(load("", &module), "RuntimeError", "Failed to get file format");
  CHECK_ERROR_TEXT(load("library.unheard", &module), "RuntimeError",
                   "ffi.Module.load_from_file.unheard");
  CHECK_FAILS(load("ends_in_dot.", &module));
  sprintf(path, "%.3900s/not_a_library.so", required("CHECK_SCRATCH"));
  file = fopen(path, "w");
  fputs("This is text.\n", file);
  fclose(file);
  CHECK_FAILS(load(path, &module));
  file = fopen(path, "w");
  fclose(file);
  CHECK_FAILS(load(path, &module));
  remove(path);
  CHECK_FAILS(load(path, &module));
}

/* ---- bad input --------------------------------------------------------------------------- */

static void test_bad_arguments(void) {
  TVMFFIAny module;
  TVMFFIAny text = any_none();
  TVMFFIAny args[3];
  TVMFFIAny result;
  TVMFFIObjectHandle out = UNTOUCHED;
  TVMFFIObjectHandle context;
  TVMFFIByteArray long_text = bytes_of("a text that lives in an object");
  static const char* const functions[] = {
      "ffi.ModuleGetFunction",    "ffi.ModuleImplementsFunction", "ffi.ModuleGetFunctionDoc",
      "ffi.ModuleImportModule",   "ffi.ModuleGetKind",            "ffi.ModuleClearImports",
      "ffi.ModuleGetPropertyMask", "ffi.ModuleInspectSource",     "ffi.ModuleLoadFromFile",
      "ffi.ModuleGlobalsAdd",     "ffi.ModuleWriteToFile",        "ffi.ModuleGetWriteFormats"};
  size_t i;
  int32_t count;
  CHECK_OK(load(kernels, &module));
  context = context_of(module.v_obj);
  CHECK_ERROR(TVMFFIEnvModLookupFromImports(NULL, "name", &out), "ValueError");
  CHECK_ERROR(TVMFFIEnvModLookupFromImports(context, NULL, &out), "ValueError");
  CHECK_ERROR(TVMFFIEnvModLookupFromImports(context, "name", NULL), "ValueError");
  CHECK_ERROR(TVMFFIEnvModLookupFromImports(context, "", &out), "RuntimeError");
  CHECK_OK(TVMFFIStringFromByteArray(&long_text, &text));
  CHECK_ERROR(TVMFFIEnvModLookupFromImports((char*)text.v_obj - 8, "name", &out), "TypeError");
  CHECK(out == UNTOUCHED);
  CHECK_ERROR(TVMFFIEnvModRegisterContextSymbol(NULL, &symbol_value), "ValueError");
  CHECK_ERROR(TVMFFIEnvModRegisterSystemLibSymbol(NULL, &symbol_value), "ValueError");
  /* wrong types and wrong numbers of arguments */
  args[0] = any_object(text.v_obj);
  args[1] = any_int(1);
  args[2] = any_float(2.0);
  for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
    for (count = 0; count <= 3; count++) {
      if (!CHECK_FAILS(call_global(functions[i], args, count, &result))) {
        printf("  %s with %d\n", functions[i], (int)count);
        release_any(&result);
      }
    }
  }
  release_any(&text);
  release_any(&module);
}

/* A name with a NUL byte would be truncated by the system, and name another file. */
static void test_name_with_nul(void) {
  char path[4096];
  TVMFFIByteArray bytes;
  TVMFFIAny arg = any_none();
  TVMFFIAny module;
  sprintf(path, "%.3900s", kernels);
  memcpy(path + strlen(path) + 1, "x.so", 5);
  bytes = bytes_of_length(path, strlen(path) + 5);
  CHECK_OK(TVMFFIStringFromByteArray(&bytes, &arg));
  if (call_global("ffi.ModuleLoadFromFile", &arg, 1, &module) == 0) {
    CHECK(!"a file of another name was loaded");
    release_any(&module);
  } else {
    CHECK(raised_is(NULL, NULL));
  }
  release_any(&arg);
}

/* The result slot of a library's function contains garbage when the call begins. */
static void test_library_function_that_breaks_the_contract(void) {
  TVMFFIAny module;
  TVMFFIAny function;
  TVMFFIAny arg = any_int(1);
  TVMFFIAny result;
  int32_t kind;
  CHECK_OK(load(kernels, &module));
  CHECK_OK(module_function(module.v_obj, "add_one", 0, &function));
  for (kind = -1; kind < 14; kind++) {
    result = any_garbage(kind);
    CHECK_OK(TVMFFIFunctionCall(function.v_obj, &arg, 1, &result));
    CHECK_INT(result.v_int64, 2);
  }
  release_any(&function);
  release_any(&module);
}

static void test_no_memory(void) {
  TVMFFIAny module;
  TVMFFIAny function;
  long n;
  for (n = 1; n < 100; n++) {
    int status;
    census.fail_in = n;
    status = load(kernels, &module);
    if (census.fail_in != 0) { /* it took fewer allocations than that */
      census.fail_in = 0;
      CHECK_OK(status);
      release_any(&module);
      break;
    }
    CHECK_ERROR(status, "MemoryError");
  }
  CHECK(n > 1 && n < 100);
  CHECK_OK(load(kernels, &module));
  for (n = 1; n < 100; n++) {
    int status;
    census.fail_in = n;
    status = module_function(module.v_obj, "add_one", 0, &function);
    if (census.fail_in != 0) {
      census.fail_in = 0;
      CHECK_OK(status);
      release_any(&function);
      break;
    }
    CHECK_ERROR(status, "MemoryError");
  }
  CHECK(n > 1 && n < 100);
  release_any(&module);
}

int main(void) {
  kernels = required("CHECK_KERNELS");
  census_install();
  RUN_BALANCED(test_load);
  RUN_BALANCED(test_function_outlives_module);
  RUN_BALANCED(test_context_of_a_dependency);
  RUN(test_lookup_from_imports);
  RUN(test_imports); /* creates the system library, which is permanent */
  RUN(test_context_symbols);
  RUN(test_system_library);
  RUN(test_globals);
  RUN_BALANCED(test_bad_files);
  if (bad_input()) {
    RUN_BALANCED(test_bad_arguments);
    RUN_BALANCED(test_loaded_twice); /* upstream's library leaves a dangling module pointer there */
    RUN_BALANCED(test_name_with_nul);
    RUN_BALANCED(test_library_function_that_breaks_the_contract);
    RUN_BALANCED(test_no_memory);
  }
  return check_report("module");
}
