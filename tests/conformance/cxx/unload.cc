// Values created by a loaded library outlive the module that loaded it: the code stays loaded as
// long as it can be called, or as long as the module is kept deliberately, and is then unloaded.
#include <dlfcn.h>
#include <tvm/ffi/container/list.h>
#include <tvm/ffi/container/map.h>
#include <tvm/ffi/extra/json.h>
#include <tvm/ffi/extra/module.h>

#include "check.h"

using namespace tvm::ffi;
using check::Call;
using check::Thrown;

namespace {

std::string path;

/*! \brief Returns whether the library is loaded, although the client has no module. */
bool InMemory() {
  void* handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle != nullptr) dlclose(handle);
  return handle != nullptr;
}

Function Of(const char* name) { return Module::LoadFromFile(path)->GetFunction(name).value(); }

/*! \brief Tests that a function of the module keeps the code loaded. */
void FunctionsHoldTheCode() {
  CHECK(!InMemory());
  {
    Function add = Of("add");
    CHECK(InMemory() && add(1, 2).cast<int>() == 3);
    // In the global table, and in a container of the library.
    Function::SetGlobal("cxx_test.unload.add", add);
    Any array = Call("ffi.Array", add);
    add = Function(nullptr);
    CHECK(InMemory() && array.cast<Array<Function>>()[0](3, 4).cast<int>() == 7);
  }
  CHECK(InMemory() && Call("cxx_test.unload.add", 5, 6).cast<int>() == 11);
  Function::RemoveGlobal("cxx_test.unload.add");
  CHECK(!InMemory());
  {
    // An error created by its code needs the code, too.
    Function fail = Of("fail_with_error"), fail_with_std = Of("fail_with_std");
    CHECK_TEXT(Thrown([&] { fail(7); }), "ValueError: failed with 7");
    CHECK_TEXT(Thrown([&] { fail_with_std("text"); }), "InternalError: text");
  }
  CHECK(!InMemory());
}

/*! \brief Tests that values created by the library for the plugin do not need the plugin's code. */
void ValuesOfTheLibraryNeedNoCode() {
  List<Any> list = Of("grow_list")(100).cast<List<Any>>();
  CHECK(!InMemory() && list.size() == 100 && list[99].cast<int>() == 99);
  list.push_back(100);
  Call("ffi.ListAppend", list, 101);
  CHECK(list[101].cast<int>() == 101);
  String doc = Module::LoadFromFile(path)->GetFunctionDoc("add").value();
  String metadata = Call("ffi.ModuleGetFunctionMetadata", Module::LoadFromFile(path), "add", false).cast<String>();
  CHECK(!InMemory() && doc == "Adds two numbers.");
  CHECK(json::Parse(metadata).cast<Map<String, Any>>().count("type_schema") == 1);
  Error error("", "", "");
  try {
    Of("fail_in_library")();
  } catch (const Error& raised) {
    error = raised;
  }
  CHECK(!InMemory());
  CHECK_TEXT(error.kind() + ": " + error.message(), "IndexError: Index 5 out of bounds 1");
  CHECK(check::Contains(error.FullMessage(), "IndexError"));
}

/*! \brief Tests that a kept module keeps the code that the plugin's closures, containers and
 * modules need. */
void KeptModulesKeepTheCode() {
  Module module = Module::LoadFromFile(path);
  Call("ffi.ModuleGlobalsAdd", module);
  module = Call("ffi.SystemLib", "cxx_test_unload_").cast<Module>();
  {
    Function adder = Of("make_adder")(5).cast<Function>();
    Module made = Of("make_module")().cast<Module>();
    Array<Any> array = Of("make_array")().cast<Array<Any>>();
    CHECK(adder(6).cast<int>() == 11);
    CHECK_TEXT(made->kind(), "plugin");
    CHECK(Call("ffi.ModuleGetKind", made).cast<String>() == "plugin");
    CHECK(made->GetFunction("of_plugin", true).value()().cast<int>() == 11);
    module->ImportModule(made);
    made = module;
    CHECK(module->GetFunction("of_plugin", true).value()().cast<int>() == 11);
    module->ClearImports();
    CHECK(array[2].cast<Map<String, int>>()["key"] == 5);
    array.push_back(adder);
    CHECK(Call("ffi.ArraySize", array).cast<int>() == 4);
  }
  CHECK(InMemory());
  {
    // Loading the library again gives another module with the same code.
    Module again = Module::LoadFromFile(path);
    Call("ffi.ModuleGlobalsAdd", again);
    Call("ffi.ModuleGlobalsRemove", again);
  }
  CHECK(InMemory());
}

/*! \brief Tests that a module in an import tree lives as long as the tree. */
void ImportsHoldTheCode() {
  Module root = Call("ffi.SystemLib", "cxx_test_unload_imports_").cast<Module>();
  std::string other = check::Setting("CHECK_PLUGIN_COPY");
  std::swap(path, other);
  CHECK(!InMemory());
  root->ImportModule(Module::LoadFromFile(path));
  CHECK(InMemory());
  Function add = root->GetFunction("add", true).value();
  root->ClearImports();
  CHECK(InMemory() && add(1, 1).cast<int>() == 2);
  add = Function(nullptr);
  CHECK(!InMemory());
  std::swap(path, other);
}

}  // namespace

int main() {
  path = check::Setting("CHECK_PLUGIN");
  FunctionsHoldTheCode();
  ValuesOfTheLibraryNeedNoCode();
  ImportsHoldTheCode();
  KeptModulesKeepTheCode();
  return check::Report("unload");
}
